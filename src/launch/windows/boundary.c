/* SPDX-License-Identifier: Apache-2.0 */
/* The trial runs on a thread of the launcher that impersonates the run's token: the kernel makes
   the same checks as for a process, and no process has to be started. */
#include "launch/windows/boundary.h"

#include <ntsecapi.h>
#include <stdio.h>

/* Opens as the token would; true only if Windows says that access is denied. */
static bool is_denied(const wchar_t *path, DWORD access)
{
    HANDLE file = CreateFileW(path, access, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                              NULL, OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, NULL);
    if (file != INVALID_HANDLE_VALUE) {
        CloseHandle(file);
        return false;
    }
    return GetLastError() == ERROR_ACCESS_DENIED;
}

static bool is_process_denied(void)
{
    HANDLE process =
        OpenProcess(PROCESS_VM_WRITE | PROCESS_VM_OPERATION, FALSE, GetCurrentProcessId());
    if (process) {
        CloseHandle(process);
        return false;
    }
    return GetLastError() == ERROR_ACCESS_DENIED;
}

void boundary_try(HANDLE token, struct boundary *out)
{
    wchar_t folder[MAX_PATH + 1], path[MAX_PATH + 40];
    ULONG random[2];
    HANDLE worn = NULL;
    *out = (struct boundary){0};
    if (!GetTempPathW(MAX_PATH, folder) || !RtlGenRandom(random, sizeof random))
        return;
    swprintf(path, MAX_PATH + 40, L"%lscordon-%08lx%08lx.tmp", folder, random[0], random[1]);
    /* That this one may write and delete the file is the control. */
    HANDLE file = CreateFileW(path, GENERIC_WRITE | DELETE,
                              FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
                              CREATE_NEW, FILE_FLAG_DELETE_ON_CLOSE, NULL);
    if (file == INVALID_HANDLE_VALUE)
        return;
    if (DuplicateTokenEx(token, TOKEN_ALL_ACCESS, NULL, SecurityImpersonation, TokenImpersonation,
                         &worn) &&
        SetThreadToken(NULL, worn)) {
        struct boundary tried = {.files = is_denied(path, GENERIC_WRITE),
                                 .deletes = is_denied(path, DELETE),
                                 .processes = is_process_denied()};
        if (SetThreadToken(NULL, NULL))
            *out = tried;
    }
    if (worn)
        CloseHandle(worn);
    CloseHandle(file);
}
