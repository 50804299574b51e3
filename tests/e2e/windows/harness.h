/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A harness for end-to-end tests on Windows: a folder of its own under the temp folder with ws (the
 * workspace) and out (beside it), commands that run in ws with and without the sandbox, and looks
 * at the disk and at processes. In command lines %P% is the probe, %C% the program under test,
 * %S% the selftest beside it, %T% the folder.
 */
#ifndef CORDON_TESTS_HARNESS_H
#define CORDON_TESTS_HARNESS_H

#include "wire/windows/nt.h"

#include <psapi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tlhelp32.h>

#include "base/buf.h"
#include "tap.h"

#define HARNESS __attribute__((unused)) static

static char top[MAX_PATH], cordon[MAX_PATH], probe[MAX_PATH], selftest_program[MAX_PATH];

HARNESS void expand(struct buf *out, const char *text)
{
    for (; *text; text++) {
        const char *value = NULL;
        if (text[0] == '%' && text[1] && text[2] == '%')
            value = text[1] == 'P'   ? probe
                    : text[1] == 'C' ? cordon
                    : text[1] == 'S' ? selftest_program
                    : text[1] == 'T' ? top
                                     : NULL;
        if (value) {
            buf_add(out, str_of(value));
            text += 2;
        } else {
            buf_char(out, *text);
        }
    }
}

/* The path of a name in the bed; four may be in use at once. */
HARNESS const char *path_of(const char *name)
{
    static char paths[4][2 * MAX_PATH];
    static unsigned turn;
    char *path = paths[turn++ % 4];
    snprintf(path, sizeof paths[0], "%s\\%s", top, name);
    return path;
}

/* ---- commands ---- */

struct command {
    HANDLE process, output;
    DWORD pid;
};

static DWORD command_flags; /* for CreateProcess */

/* Starts a command line in ws; stdout and stderr go to one file, stdin is empty. */
HARNESS struct command command_start(const char *line)
{
    static unsigned number;
    struct command c = {0};
    auto_buf struct buf text = {0};
    char file[2 * MAX_PATH];
    SECURITY_ATTRIBUTES inherit = {sizeof inherit, NULL, TRUE};
    PROCESS_INFORMATION process;
    expand(&text, line);
    snprintf(file, sizeof file, "%s\\output-%u", top, number++);
    c.output = CreateFileA(file, GENERIC_READ | GENERIC_WRITE,
                           FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, &inherit,
                           CREATE_ALWAYS, FILE_FLAG_DELETE_ON_CLOSE, NULL);
    HANDLE input = CreateFileA("NUL", GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE, &inherit,
                               OPEN_EXISTING, 0, NULL);
    STARTUPINFOA startup = {.cb = sizeof startup,
                            .dwFlags = STARTF_USESTDHANDLES,
                            .hStdInput = input,
                            .hStdOutput = c.output,
                            .hStdError = c.output};
    if (CreateProcessA(NULL, (char *)buf_cstr(&text), NULL, NULL, TRUE, command_flags, NULL,
                       path_of("ws"), &startup, &process)) {
        CloseHandle(process.hThread);
        c.process = process.hProcess;
        c.pid = process.dwProcessId;
    }
    CloseHandle(input);
    return c;
}

HARNESS int command_end(struct command *c, DWORD patience, struct buf *out)
{
    char chunk[4096];
    DWORD n, code = 999;
    if (c->process) {
        if (WaitForSingleObject(c->process, patience) != WAIT_OBJECT_0) {
            TerminateProcess(c->process, 998);
            WaitForSingleObject(c->process, 5000);
        }
        GetExitCodeProcess(c->process, &code);
        CloseHandle(c->process);
    }
    SetFilePointer(c->output, 0, NULL, FILE_BEGIN);
    while (out && ReadFile(c->output, chunk, sizeof chunk, &n, NULL) && n > 0)
        buf_add(out, (struct str){chunk, n});
    CloseHandle(c->output);
    *c = (struct command){0};
    return (int)code;
}

HARNESS int run(const char *line, struct buf *out)
{
    struct command c = command_start(line);
    return command_end(&c, 120000, out);
}

HARNESS struct command confined_start(const char *options, const char *line)
{
    auto_buf struct buf command = {0};
    buf_fmt(&command, "\"%s\" run %s -- %s", cordon, options ? options : "", line);
    return command_start(buf_cstr(&command));
}

HARNESS int confined(const char *options, const char *line, struct buf *out)
{
    struct command c = confined_start(options, line);
    return command_end(&c, 120000, out);
}

HARNESS bool has(const struct buf *out, const char *text)
{
    return str_find(buf_str(out), str_of(text), 0) < out->n;
}

HARNESS void note_output(const struct buf *out)
{
    note("%.*s", (int)(out->n < 1200 ? out->n : 1200), out->n ? out->p : "");
}

/* ---- files ---- */

HARNESS void put_at(const char *path, const char *text)
{
    FILE *f = fopen(path, "wb");
    if (f) {
        fputs(text, f);
        fclose(f);
    }
}

HARNESS void put(const char *name, const char *text)
{
    put_at(path_of(name), text);
}

HARNESS bool exists(const char *name)
{
    return GetFileAttributesA(path_of(name)) != INVALID_FILE_ATTRIBUTES;
}

/* True if the file is there and holds exactly this. */
HARNESS bool is_text(const char *name, const char *text)
{
    char found[512] = "";
    FILE *f = fopen(path_of(name), "rb");
    if (!f)
        return false;
    size_t n = fread(found, 1, sizeof found - 1, f);
    fclose(f);
    return n == strlen(text) && memcmp(found, text, n) == 0;
}

/* An effect: + it exists, - it does not, = it holds the text after |, ! it is read-only, < it is
   from before 2010, K the key below HKCU exists. */
HARNESS bool holds(const char *effect)
{
    char name[256], text[512] = "";
    const char *bar = strchr(effect, '|');
    WIN32_FILE_ATTRIBUTE_DATA data = {0};
    HKEY key;
    snprintf(name, sizeof name, "%.*s", (int)(bar ? bar - effect - 1 : (int)strlen(effect) - 1),
             effect + 1);
    if (effect[0] == 'K') {
        bool there = RegOpenKeyExA(HKEY_CURRENT_USER, name, 0, KEY_READ, &key) == 0;
        if (there)
            RegCloseKey(key);
        return there;
    }
    bool there = GetFileAttributesExA(path_of(name), GetFileExInfoStandard, &data);
    FILE *f = effect[0] == '=' ? fopen(path_of(name), "rb") : NULL;
    if (f) {
        fread(text, 1, sizeof text - 1, f);
        fclose(f);
    }
    switch (effect[0]) {
    case '+': return there;
    case '-': return !there;
    case '!': return there && data.dwFileAttributes & FILE_ATTRIBUTE_READONLY;
    case '<': return there && data.ftLastWriteTime.dwHighDateTime < 0x01CA8A00;
    default: return f && bar && strstr(text, bar + 1);
    }
}

/* Links are removed, never followed. */
HARNESS void remove_wide(const wchar_t *path)
{
    WIN32_FIND_DATAW found;
    wchar_t name[2 * MAX_PATH];
    swprintf(name, 2 * MAX_PATH, L"%ls\\*", path);
    HANDLE find = FindFirstFileW(name, &found);
    if (find != INVALID_HANDLE_VALUE) {
        do {
            if (wcscmp(found.cFileName, L".") == 0 || wcscmp(found.cFileName, L"..") == 0)
                continue;
            swprintf(name, 2 * MAX_PATH, L"%ls\\%ls", path, found.cFileName);
            SetFileAttributesW(name, FILE_ATTRIBUTE_NORMAL);
            if (!DeleteFileW(name) && !RemoveDirectoryW(name) &&
                !(found.dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT))
                remove_wide(name);
        } while (FindNextFileW(find, &found));
        FindClose(find);
    }
    RemoveDirectoryW(path);
}

/* Names of any letters: a hostile program makes some. */
HARNESS void remove_tree(const char *path)
{
    wchar_t wide[2 * MAX_PATH];
    swprintf(wide, 2 * MAX_PATH, L"%hs", path);
    remove_wide(wide);
}

/* Every file below a folder as a line "name size hash", sorted by walking order of the names. */
HARNESS void list_tree(const char *path, const char *prefix, struct buf *out)
{
    enum { MOST = 4096 };
    char pattern[2 * MAX_PATH], (*names)[MAX_PATH] = malloc(MOST * sizeof *names);
    size_t count = 0;
    WIN32_FIND_DATAA found;
    snprintf(pattern, sizeof pattern, "%s\\*", path);
    HANDLE find = names ? FindFirstFileA(pattern, &found) : INVALID_HANDLE_VALUE;
    if (find != INVALID_HANDLE_VALUE) {
        do
            if (strcmp(found.cFileName, ".") != 0 && strcmp(found.cFileName, "..") != 0)
                snprintf(names[count++], MAX_PATH, "%s", found.cFileName);
        while (FindNextFileA(find, &found) && count < MOST);
        FindClose(find);
        qsort(names, count, sizeof *names, (int (*)(const void *, const void *))strcmp);
    }
    for (size_t i = 0; i < count; i++) {
        char full[2 * MAX_PATH], shown[2 * MAX_PATH];
        snprintf(full, sizeof full, "%s\\%s", path, names[i]);
        snprintf(shown, sizeof shown, "%s%s", prefix, names[i]);
        DWORD attributes = GetFileAttributesA(full);
        if (attributes & FILE_ATTRIBUTE_DIRECTORY) {
            buf_fmt(out, "%s\\\n", shown);
            if (!(attributes & FILE_ATTRIBUTE_REPARSE_POINT)) {
                snprintf(shown, sizeof shown, "%s%s\\", prefix, names[i]);
                list_tree(full, shown, out);
            }
            continue;
        }
        uint64_t hash = 14695981039346656037u;
        size_t size = 0, n;
        unsigned char chunk[4096];
        FILE *f = fopen(full, "rb");
        while (f && (n = fread(chunk, 1, sizeof chunk, f)) > 0)
            for (size += n; n > 0; n--)
                hash = (hash ^ chunk[n - 1]) * 1099511628211u;
        if (f)
            fclose(f);
        buf_fmt(out, "%s %u %08x%08x %lx\n", shown, (unsigned)size, (unsigned)(hash >> 32),
                (unsigned)hash, (unsigned long)(attributes & FILE_ATTRIBUTE_READONLY));
    }
    free(names);
}

/* ws and out as every test finds them. */
HARNESS void fresh(void)
{
    static const char *const folders[] = {
        "ws",  "ws\\sub",    "ws\\repo",  "ws\\repo\\.git", "ws\\repo\\.git\\hooks",
        "out", "out\\empty", "ws\\linked"};
    /* A process that is just ending may hold a folder for a moment. */
    for (int tries = 0; tries < 3; tries++) {
        remove_tree(path_of("ws"));
        remove_tree(path_of("out"));
        if (!exists("ws") && !exists("out"))
            break;
        Sleep(20);
    }
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        for (int tries = 0; tries < 100 && !CreateDirectoryA(path_of(folders[i]), NULL) &&
                            GetLastError() != ERROR_ALREADY_EXISTS;
             tries++)
            Sleep(20);
    put("ws\\file", "old");
    put("out\\file", "old");
    put("out\\secret", "secret");
    put("ws\\repo\\.git\\config", "old");
    put("ws\\linked\\.git", "old");
    CreateHardLinkA(path_of("ws\\hard"), path_of("out\\file"), NULL);
}

/* The next command line for the probe's serve-lines; it may be reading the last one. */
HARNESS void tell_line(const char *text)
{
    put("lines.new", text);
    for (int i = 0; i < 500; i++) {
        if (MoveFileExA(path_of("lines.new"), path_of("lines"), MOVEFILE_REPLACE_EXISTING))
            return;
        Sleep(5);
    }
}

/* The line's output, once it is done; the program that renamed the file may still hold it. */
HARNESS size_t read_done(char *text, size_t size)
{
    size_t n = 0;
    for (int waited = 0; waited < 12000 && n == 0; waited++) {
        FILE *f = fopen(path_of("ws\\done"), "rb");
        n = f ? fread(text, 1, size - 1, f) : 0;
        if (f)
            fclose(f);
        if (n == 0)
            Sleep(10);
    }
    text[n] = 0;
    /* A hostile child may have made it read-only. */
    for (int tries = 0; tries < 500 && exists("ws\\done"); tries++) {
        SetFileAttributesA(path_of("ws\\done"), FILE_ATTRIBUTE_NORMAL);
        if (!DeleteFileA(path_of("ws\\done")))
            Sleep(5);
    }
    return n;
}

/* ---- processes ---- */

/* Handles that a process holds, as the kernel counts them; 0 if it cannot be told. */
HARNESS unsigned handles_of(DWORD pid)
{
    struct entry {
        void *object;
        ULONG_PTR pid, handle;
        ULONG access;
        USHORT trace, type;
        ULONG attributes, reserved;
    };
    struct table {
        ULONG_PTR count, reserved;
        struct entry entries[];
    };
    enum { EXTENDED_HANDLES = 64, MOST = 16 << 20 };
    unsigned count = 0;
    struct table *table = malloc(MOST);
    if (table && NtQuerySystemInformation((SYSTEM_INFORMATION_CLASS)EXTENDED_HANDLES, table, MOST,
                                          NULL) >= 0)
        for (ULONG_PTR i = 0; i < table->count; i++)
            count += table->entries[i].pid == pid;
    free(table);
    return count;
}

/* Bytes that a process has in memory; 0 if it cannot be told. */
HARNESS size_t memory_of(DWORD pid)
{
    PROCESS_MEMORY_COUNTERS counters = {.cb = sizeof counters};
    HANDLE process = OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, FALSE, pid);
    if (!process)
        return 0;
    if (!GetProcessMemoryInfo(process, &counters, sizeof counters))
        counters.WorkingSetSize = 0;
    CloseHandle(process);
    return counters.WorkingSetSize;
}

/* Processes of this program's name. */
HARNESS unsigned processes_named(const char *name)
{
    wchar_t wide[64];
    unsigned count = 0;
    PROCESSENTRY32W entry = {.dwSize = sizeof entry};
    swprintf(wide, 64, L"%hs", name);
    HANDLE all = CreateToolhelp32Snapshot(TH32CS_SNAPPROCESS, 0);
    if (all == INVALID_HANDLE_VALUE)
        return 0;
    if (Process32FirstW(all, &entry))
        do
            count += _wcsicmp(entry.szExeFile, wide) == 0;
        while (Process32NextW(all, &entry));
    CloseHandle(all);
    return count;
}

/* True as soon as no process of this name is left, false after so many milliseconds. */
HARNESS bool gone_within(const char *name, unsigned ms)
{
    uint64_t begin = GetTickCount64();
    while (processes_named(name) > 0) {
        if (GetTickCount64() - begin > ms)
            return false;
        Sleep(10);
    }
    return true;
}

/* ---- the bed itself ---- */

/* Makes the bed; the probe gets a name of its own, so that its processes can be told apart. */
HARNESS void harness_make(const char *name)
{
    char temp[MAX_PATH];
    GetTempPathA(MAX_PATH, temp);
    GetLongPathNameA(temp, temp, MAX_PATH);
    snprintf(top, sizeof top, "%scordon-%s-%lu", temp, name, (unsigned long)GetCurrentProcessId());
    CreateDirectoryA(top, NULL);
    GetFullPathNameA(CORDON_EXE, MAX_PATH, cordon, NULL);
    snprintf(selftest_program, sizeof selftest_program, "%.*scordon-selftest.exe",
             (int)(strrchr(cordon, '\\') + 1 - cordon), cordon);
    snprintf(probe, sizeof probe, "%s\\probe-%s.exe", top, name);
    CopyFileA(CORDON_PROBE, probe, FALSE);
}

HARNESS int harness_done(void)
{
    remove_tree(top);
    return tap_done();
}

/* The long form of a test, for `make soak`: CORDON_SOAK is set. */
HARNESS bool harness_soak(void)
{
    const char *value = getenv("CORDON_SOAK");
    return value && *value;
}

#endif
