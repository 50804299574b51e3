/* SPDX-License-Identifier: Apache-2.0 */
/* The version resource of a file on a disk of this machine. */
#include "launch/windows/version.h"

#include <windows.h>

#include "launch/version.h"
#include "launch/windows/wide.h"

static bool read_at(void *context, uint64_t at, void *out, size_t count)
{
    OVERLAPPED where = {.Offset = (DWORD)at, .OffsetHigh = (DWORD)(at >> 32)};
    DWORD n = 0;
    return ReadFile(context, out, (DWORD)count, &n, &where) && n == count;
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
    struct str name =
        GetFileType(file) == FILE_TYPE_DISK ? version_find(arena, read_at, file) : STR_NONE;
    CloseHandle(file);
    return name;
}
