/* SPDX-License-Identifier: Apache-2.0 */
/* Clock, random numbers, the audit file and the program's own path on Windows. */
#include "launch/machine.h"

#include <stdio.h>
#include <windows.h>

#include <ntsecapi.h>

#include "base/utf.h"
#include "launch/windows/failure.h"
#include "launch/windows/token.h"
#include "launch/windows/wide.h"

enum { LONGEST_PATH = 32768 };

uint64_t machine_now_ms(void)
{
    FILETIME now;
    GetSystemTimeAsFileTime(&now);
    uint64_t units = (uint64_t)now.dwHighDateTime << 32 | now.dwLowDateTime;
    return units / 10000 - 11644473600000ULL;
}

bool machine_random(void *out, size_t count)
{
    return count <= 4096 && RtlGenRandom(out, (ULONG)count);
}

/* Append access only, so that each write lands whole at the end, whoever else appends. */
intptr_t machine_append_open(const char *path, char *why, size_t capacity)
{
    auto_arena struct arena arena = {0};
    struct token_descriptor owner_only;
    struct launch_failure failure = {""};
    wchar_t *name = wide_of(&arena, str_of(path));
    HANDLE file = INVALID_HANDLE_VALUE;
    if (!name) {
        snprintf(why, capacity, "not a file name");
        return MACHINE_NO_FILE;
    }
    if (token_describe_own(FILE_ALL_ACCESS, &owner_only, &failure) == 0) {
        file = CreateFileW(name, FILE_APPEND_DATA | FILE_READ_ATTRIBUTES | SYNCHRONIZE,
                           FILE_SHARE_READ | FILE_SHARE_WRITE, &owner_only.attributes, OPEN_ALWAYS,
                           FILE_ATTRIBUTE_NORMAL, NULL);
        if (file == INVALID_HANDLE_VALUE)
            launch_fail(&failure, "cannot open it");
    }
    if (file == INVALID_HANDLE_VALUE) {
        snprintf(why, capacity, "%s", failure.text);
        return MACHINE_NO_FILE;
    }
    return (intptr_t)file;
}

bool machine_append(intptr_t file, struct str bytes)
{
    DWORD written = 0;
    return bytes.n <= MAXDWORD &&
           WriteFile((HANDLE)file, bytes.p, (DWORD)bytes.n, &written, NULL) && written == bytes.n;
}

void machine_append_close(intptr_t file)
{
    CloseHandle((HANDLE)file);
}

bool machine_own_path(struct buf *out)
{
    auto_arena struct arena arena = {0};
    wchar_t *path = ARENA_ARRAY(&arena, LONGEST_PATH, wchar_t);
    DWORD n = path ? GetModuleFileNameW(NULL, path, LONGEST_PATH) : 0;
    if (n == 0 || n >= LONGEST_PATH)
        return false;
    utf_from16(out, (const uint16_t *)path, n);
    return !out->failed;
}
