/* SPDX-License-Identifier: Apache-2.0 */
/* Whole paths on Windows, with '/' between names. */
#include "launch/windows/wide.h"
#include "undo/windows/fs_inside.h"

wchar_t *fs_wide_path(struct arena *arena, struct str path)
{
    auto_buf struct buf whole = {0};
    bool share = path.n > 1 && path.p[1] != ':';
    buf_add(&whole, share ? STR("\\\\?\\UNC") : STR("\\\\?\\"));
    buf_add(&whole, share ? str_from(path, 1) : path);
    for (size_t i = 0; i < whole.n; i++)
        if (whole.p[i] == '/')
            whole.p[i] = '\\';
    return whole.failed ? NULL : wide_of(arena, buf_str(&whole));
}

void fs_use_slashes(char *path)
{
    for (; *path; path++)
        if (*path == '\\')
            *path = '/';
}

int fs_final_path(const char *folder, char *out, size_t capacity)
{
    auto_arena struct arena arena = {0};
    enum { MOST = 32768 };
    wchar_t *name = folder ? wide_of(&arena, str_of(folder)) : L".";
    wchar_t *text = ARENA_ARRAY(&arena, MOST, wchar_t);
    HANDLE file = name && text ? CreateFileW(name, FILE_READ_ATTRIBUTES, FS_SHARE, NULL,
                                             OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, NULL)
                               : INVALID_HANDLE_VALUE;
    if (file == INVALID_HANDLE_VALUE)
        return -ENOENT;
    DWORD n = GetFinalPathNameByHandleW(file, text, MOST, FILE_NAME_NORMALIZED);
    CloseHandle(file);
    struct str path = n && n < MOST ? wide_narrow(&arena, text, n) : STR_NONE;
    bool share = str_startsi(path, STR("\\\\?\\UNC\\"));
    path = share ? str_from(path, 7) : str_starts(path, STR("\\\\?\\")) ? str_from(path, 4) : path;
    if (path.n == 0 || path.n + 2 > capacity)
        return -ENAMETOOLONG;
    out[0] = '\\';
    memcpy(out + share, path.p, path.n);
    out[share + path.n] = '\0';
    fs_use_slashes(out);
    return 0;
}

bool fs_absolute(const char *folder, const char *word, struct buf *out)
{
    enum { MOST_PARTS = 2048 };
    struct str parts[MOST_PARTS];
    size_t count = 0;
    auto_buf struct buf whole = {0};
    bool drive = word[0] && word[1] == ':', root = word[0] == '\\' || word[0] == '/';
    if (!drive && root && word[1] != '\\' && word[1] != '/' && folder[0] && folder[1] == ':')
        buf_add(&whole, (struct str){folder, 2});
    else if (!drive && !root)
        buf_fmt(&whole, "%s/", folder);
    buf_add(&whole, str_of(word));
    fs_use_slashes(whole.p ? (char *)buf_cstr(&whole) : (char[1]){0});
    if (whole.n > 1 && whole.p[0] == '/' && whole.p[1] == '/')
        buf_char(out, '/');
    for (size_t at = 0; at < whole.n;) {
        size_t end = str_find_char(buf_str(&whole), '/', at);
        struct str part = str_slice(buf_str(&whole), at, end);
        if (str_eq(part, STR("..")))
            count -= count > 1;
        else if (part.n && !str_eq(part, STR(".")) && count < MOST_PARTS)
            parts[count++] = part;
        at = end + 1;
    }
    for (size_t i = 0; i < count; i++) {
        if (i || out->n)
            buf_char(out, '/');
        buf_add(out, parts[i]);
    }
    if (count == 1)
        buf_char(out, '/');
    return !out->failed && !whole.failed;
}

bool fs_path_starts(struct str path, struct str start)
{
    return str_startsi(path, start);
}
