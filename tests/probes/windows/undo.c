/* SPDX-License-Identifier: Apache-2.0 */
/* Random changes of the current folder, for the test of --undo: change-random SEED COUNT. Every
   step may fail, as when a name is not there. */
#include "probe.h"

#include <stdio.h>
#include <stdlib.h>

enum { SHARE = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE };

static uint64_t state;

static unsigned chance(unsigned below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33) % below;
}

/* Few names, so that they meet; each in two spellings. */
static const wchar_t *some_name(bool folder)
{
    static wchar_t names[4][64];
    static unsigned turn;
    static const wchar_t *const folders[] = {L"", L"", L"d1\\", L"d1\\s\\", L"D2\\", L"d3\\"};
    static const wchar_t *const leaves[] = {L"a", L"b.txt", L"c", L"E e", L"\x00fc"};
    wchar_t *out = names[turn++ % 4];
    swprintf(out, 64, L"%ls%ls", folders[chance(6)],
             folder ? (chance(2) ? L"d1" : L"sub") : leaves[chance(5)]);
    return out;
}

static HANDLE open_some(const wchar_t *name, DWORD access, DWORD disposition, DWORD flags)
{
    return CreateFileW(name, access, SHARE, NULL, disposition, flags, NULL);
}

static void write_some(HANDLE file, unsigned size)
{
    static char bytes[200000];
    DWORD done;
    if (file == INVALID_HANDLE_VALUE)
        return;
    for (unsigned i = 0; i < size; i++)
        bytes[i] = (char)('a' + (i * 7 + state) % 26);
    WriteFile(file, bytes, size, &done, NULL);
    CloseHandle(file);
}

static void write_at(const wchar_t *name, DWORD from)
{
    HANDLE file = open_some(name, GENERIC_WRITE, OPEN_EXISTING, 0);
    if (file != INVALID_HANDLE_VALUE)
        SetFilePointer(file, from == FILE_END ? 0 : 5, NULL, from);
    write_some(file, 1 + chance(50));
}

static void cut(const wchar_t *name)
{
    HANDLE file = open_some(name, GENERIC_WRITE, OPEN_EXISTING, 0);
    if (file == INVALID_HANDLE_VALUE)
        return;
    SetFilePointer(file, (LONG)chance(20), NULL, FILE_BEGIN);
    SetEndOfFile(file);
    CloseHandle(file);
}

static void write_mapped(const wchar_t *name)
{
    HANDLE file = open_some(name, GENERIC_READ | GENERIC_WRITE, OPEN_EXISTING, 0);
    HANDLE map = file == INVALID_HANDLE_VALUE
                     ? NULL
                     : CreateFileMappingW(file, NULL, PAGE_READWRITE, 0, 100, NULL);
    char *view = map ? MapViewOfFile(map, FILE_MAP_WRITE, 0, 0, 100) : NULL;
    if (view) {
        view[chance(100)] = (char)('A' + chance(26));
        UnmapViewOfFile(view);
    }
    if (map)
        CloseHandle(map);
    if (file != INVALID_HANDLE_VALUE)
        CloseHandle(file);
}

static void set_times(const wchar_t *name, bool write)
{
    HANDLE file = open_some(name, write ? GENERIC_WRITE : FILE_WRITE_ATTRIBUTES, OPEN_EXISTING,
                            FILE_FLAG_BACKUP_SEMANTICS);
    FILETIME time = {chance(1 << 30), 0x01C00000 + chance(0x10000)};
    if (file != INVALID_HANDLE_VALUE) {
        SetFileTime(file, NULL, &time, &time);
        CloseHandle(file);
    }
}

static void other_case(const wchar_t *name)
{
    wchar_t other[64];
    size_t leaf = 0;
    for (size_t i = 0; name[i]; i++)
        leaf = name[i] == '\\' ? i + 1 : leaf;
    swprintf(other, 64, L"%ls", name);
    other[leaf] = (wchar_t)(other[leaf] ^ 0x20);
    MoveFileW(name, other);
}

static void make_deep(const wchar_t *name)
{
    wchar_t path[128];
    swprintf(path, 128, L"%ls", name);
    for (int i = 0; i < 3; i++) {
        CreateDirectoryW(path, NULL);
        wcscat(path, L"\\sub");
    }
    write_some(open_some(path, GENERIC_WRITE, CREATE_ALWAYS, 0), 10);
}

static void remove_all(const wchar_t *folder, int depth)
{
    WIN32_FIND_DATAW found;
    wchar_t name[600];
    swprintf(name, 600, L"%ls\\*", folder);
    HANDLE find = FindFirstFileW(name, &found);
    if (find != INVALID_HANDLE_VALUE) {
        do {
            if (wcscmp(found.cFileName, L".") == 0 || wcscmp(found.cFileName, L"..") == 0)
                continue;
            swprintf(name, 600, L"%.300ls\\%ls", folder, found.cFileName);
            if (!(found.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY))
                DeleteFileW(name);
            else if (depth < 8)
                remove_all(name, depth + 1);
        } while (FindNextFileW(find, &found));
        FindClose(find);
    }
    RemoveDirectoryW(folder);
}

static void step(void)
{
    const wchar_t *a = some_name(false), *b = some_name(false);
    switch (chance(30)) {
    case 0: write_some(open_some(a, GENERIC_WRITE, CREATE_NEW, 0), chance(100)); break;
    case 1: write_some(open_some(a, GENERIC_WRITE, CREATE_ALWAYS, 0), chance(100)); break;
    case 2: write_some(open_some(a, GENERIC_WRITE, OPEN_ALWAYS, 0), chance(100)); break;
    case 3: write_some(open_some(a, GENERIC_WRITE, TRUNCATE_EXISTING, 0), chance(9)); break;
    case 4: write_some(open_some(a, FILE_APPEND_DATA, OPEN_ALWAYS, 0), chance(50)); break;
    case 5: write_some(open_some(a, GENERIC_WRITE, CREATE_ALWAYS, 0), 65536 + chance(90000)); break;
    case 6: write_at(a, FILE_BEGIN); break;
    case 7: write_at(a, FILE_END); break;
    case 8: cut(a); break;
    case 9: write_mapped(a); break;
    case 10: DeleteFileW(a); break;
    case 11:
        write_some(open_some(a, GENERIC_WRITE | DELETE, OPEN_EXISTING, FILE_FLAG_DELETE_ON_CLOSE),
                   3);
        break;
    case 12: MoveFileW(a, b); break;
    case 13: MoveFileExW(a, b, MOVEFILE_REPLACE_EXISTING); break;
    case 14: other_case(a); break;
    /* Only names that the run itself gave are all known to the journal (docs/undo.md). */
    case 15:
        if (!word(2)[0])
            CreateHardLinkW(a, b, NULL);
        break;
    case 16: CopyFileW(a, b, FALSE); break;
    case 17: ReplaceFileW(a, b, NULL, 0, NULL, NULL); break;
    case 18: SetFileAttributesW(a, FILE_ATTRIBUTE_READONLY); break;
    case 19: SetFileAttributesW(a, FILE_ATTRIBUTE_NORMAL); break;
    case 20: SetFileAttributesW(a, FILE_ATTRIBUTE_HIDDEN | FILE_ATTRIBUTE_ARCHIVE); break;
    case 21: set_times(a, false); break;
    case 22: set_times(a, true); break;
    case 23: CreateDirectoryW(some_name(true), NULL); break;
    case 24: RemoveDirectoryW(some_name(true)); break;
    case 25: MoveFileW(some_name(true), some_name(true)); break;
    case 26: other_case(some_name(true)); break;
    case 27: make_deep(some_name(true)); break;
    case 28: remove_all(some_name(true), 0); break;
    case 29: set_times(some_name(true), false); break;
    }
}

int do_change_random(void)
{
    static const wchar_t *const folders[] = {L"d1", L"d1\\s", L"D2", L"d3"};
    state = (uint64_t)_wtoi(word(0)) * 2654435761u + 1;
    for (int i = 0; i < 4 && word(2)[0]; i++)
        CreateDirectoryW(folders[i], NULL);
    for (int left = _wtoi(word(1)); left > 0; left--)
        step();
    return 0;
}
