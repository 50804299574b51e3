/* SPDX-License-Identifier: Apache-2.0 */
/* Files that the command line writes, on Windows. */
#include <windows.h>

#include "base/utf.h"
#include "cli/cli.h"
#include "launch/windows/wine.h"

/* A NUL-terminated UTF-16 copy; NULL if that cannot be had. */
static wchar_t *wide(struct arena *arena, struct str s)
{
    size_t count;
    if (utf_length16(s, &count))
        return NULL;
    uint16_t *out = ARENA_ARRAY(arena, count + 1, uint16_t);
    return out && utf_to16(s, out, count, &count) == 0 ? (wchar_t *)out : NULL;
}

void cli_begin_why(struct cordon_policy *p, bool own)
{
    (void)p;
    (void)own;
}

void cli_end_why(void)
{
    wchar_t folder[MAX_PATH];
    if (GetCurrentDirectoryW(MAX_PATH, folder) && folder[0] == (wchar_t)wine_unix_drive())
        print_error("this is Wine's drive Z:, where run refuses to work; ask from a folder on C:");
}

int cli_learn_allow(struct cordon_policy *p, struct run_options *o, struct learn *l)
{
    (void)p;
    (void)o;
    (void)l;
    return print_failure("--learn=allow is for Linux");
}

bool cli_is_link(const char *path)
{
    auto_arena struct arena arena = {0};
    wchar_t *name = wide(&arena, str_of(path));
    DWORD attributes = name ? GetFileAttributesW(name) : INVALID_FILE_ATTRIBUTES;
    return attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_REPARSE_POINT);
}

FILE *system_fopen(const char *path, const char *mode)
{
    auto_arena struct arena arena = {0};
    wchar_t *name = wide(&arena, str_of(path)), *how = wide(&arena, str_of(mode));
    return name && how ? _wfopen(name, how) : NULL;
}

bool cli_remove_file(const char *path)
{
    auto_arena struct arena arena = {0};
    wchar_t *name = wide(&arena, str_of(path));
    return name && DeleteFileW(name);
}

static void make_parents(wchar_t *path)
{
    for (wchar_t *p = path; *p; p++) {
        if ((*p != L'\\' && *p != L'/') || p == path || p[-1] == L':')
            continue;
        wchar_t separator = *p;
        *p = L'\0';
        CreateDirectoryW(path, NULL);
        *p = separator;
    }
}

static bool write_all(const wchar_t *name, struct str content)
{
    DWORD written = 0;
    HANDLE file =
        CreateFileW(name, GENERIC_WRITE, 0, NULL, CREATE_NEW, FILE_ATTRIBUTE_NORMAL, NULL);
    if (file == INVALID_HANDLE_VALUE)
        return false;
    bool done = WriteFile(file, content.p, (DWORD)content.n, &written, NULL) &&
                written == content.n && FlushFileBuffers(file);
    CloseHandle(file);
    if (!done)
        DeleteFileW(name);
    return done;
}

bool cli_replace_file(const char *path, struct str content, char *why, size_t capacity)
{
    auto_arena struct arena arena = {0};
    auto_buf struct buf temp = {0};
    buf_add(&temp, str_of(path));
    buf_add(&temp, STR(".cordon-new"));
    wchar_t *name = wide(&arena, str_of(path)), *new_name = wide(&arena, buf_str(&temp));
    bool done = name && new_name && !temp.failed;
    if (done) {
        make_parents(name);
        done = write_all(new_name, content);
    }
    if (done) {
        bool is_old = GetFileAttributesW(name) != INVALID_FILE_ATTRIBUTES;
        done = is_old ? ReplaceFileW(name, new_name, NULL, 0, NULL, NULL)
                      : MoveFileExW(new_name, name, 0);
        if (!done)
            DeleteFileW(new_name);
    }
    if (!done)
        snprintf(why, capacity, "it cannot be written (error %lu)", GetLastError());
    return done;
}
