/* SPDX-License-Identifier: Apache-2.0 */
/* The version resource of a file on a disk of this machine. */
#include "launch/windows/version.h"

#include <windows.h>

#include "launch/version.h"
#include "launch/windows/wide.h"

/* The structures are small and lie close together: they are read by the page. */
struct pages {
    HANDLE file;
    uint64_t from;
    DWORD n;
    char bytes[4096];
};

static bool read_at(void *context, uint64_t at, void *out, size_t count)
{
    struct pages *p = context;
    if (count > sizeof p->bytes)
        return false;
    if (at < p->from || at - p->from > p->n || count > p->n - (at - p->from)) {
        OVERLAPPED where = {.Offset = (DWORD)at, .OffsetHigh = (DWORD)(at >> 32)};
        p->from = at;
        p->n = 0;
        if (!ReadFile(p->file, p->bytes, sizeof p->bytes, &p->n, &where) || p->n < count)
            return false;
    }
    memcpy(out, p->bytes + (at - p->from), count);
    return true;
}

struct str version_original_name(struct arena *arena, struct str path)
{
    wchar_t *text = wide_of(arena, path);
    HANDLE file = text && !str_starts(path, STR("\\\\"))
                      ? CreateFileW(text, GENERIC_READ,
                                    FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
                                    OPEN_EXISTING, 0, NULL)
                      : INVALID_HANDLE_VALUE;
    if (file == INVALID_HANDLE_VALUE)
        return STR_NONE;
    struct pages pages = {.file = file};
    struct str name =
        GetFileType(file) == FILE_TYPE_DISK ? version_find(arena, read_at, &pages) : STR_NONE;
    CloseHandle(file);
    return name;
}
