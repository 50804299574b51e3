/* SPDX-License-Identifier: Apache-2.0 */
/* The rights of opened handles, and who opened them. */
#include "wire/windows/nt.h"

#include <sddl.h>
#include <stdio.h>

#include "probe.h"

enum { SHARE = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE };

/* Opens each name with every right and prints which of them the handle has. */
int do_rights(void)
{
    enum { WRITES = FILE_WRITE_DATA | FILE_APPEND_DATA | FILE_WRITE_EA | FILE_WRITE_ATTRIBUTES };
    for (int i = 0; word(i)[0]; i++) {
        PUBLIC_OBJECT_BASIC_INFORMATION info;
        HANDLE file = CreateFileW(word(i), GENERIC_ALL, SHARE, NULL, OPEN_EXISTING,
                                  FILE_FLAG_BACKUP_SEMANTICS, NULL);
        if (file == INVALID_HANDLE_VALUE)
            return last_error();
        NTSTATUS status = NtQueryObject(file, ObjectBasicInformation, &info, sizeof info, NULL);
        if (status < 0)
            return status_result(status);
        printf("%ls delete %d, security %d, write %d\n", word(i),
               (info.GrantedAccess & DELETE) != 0,
               (info.GrantedAccess & (WRITE_DAC | WRITE_OWNER)) != 0,
               (info.GrantedAccess & WRITES) != 0);
        CloseHandle(file);
    }
    return 0;
}

/* Makes a file that nobody else may open meanwhile. */
int do_hold(void)
{
    HANDLE file =
        CreateFileW(word(0), GENERIC_READ | GENERIC_WRITE, 0, NULL, CREATE_ALWAYS, 0, NULL);
    if (file == INVALID_HANDLE_VALUE)
        return last_error();
    Sleep((DWORD)_wtoi(word(1)));
    return 0;
}

/* A pipe's server and its client in one process: whom does the server see? */
int do_pipe_who(void)
{
    ULONG client = 0;
    HANDLE server =
        CreateNamedPipeW(word(0), PIPE_ACCESS_DUPLEX, PIPE_TYPE_BYTE, 1, 64, 64, 0, NULL);
    HANDLE end =
        CreateFileW(word(0), GENERIC_READ | GENERIC_WRITE, 0, NULL, OPEN_EXISTING, 0, NULL);
    if (end == INVALID_HANDLE_VALUE || !GetNamedPipeClientProcessId(server, &client))
        return last_error();
    printf("client is %s\n", client == GetCurrentProcessId() ? "the program" : "somebody else");
    return 0;
}

/* Makes a file, with an access list for Administrators alone if a second word says so, and prints
   the one it has then. */
int do_listed(void)
{
    PSECURITY_DESCRIPTOR back = NULL;
    SECURITY_ATTRIBUTES attributes = {.nLength = sizeof attributes};
    unsigned char bytes[1024];
    char *text = NULL;
    DWORD size;
    if (word(1)[0])
        ConvertStringSecurityDescriptorToSecurityDescriptorW(
            L"D:P(A;;FA;;;BA)", SDDL_REVISION_1, &attributes.lpSecurityDescriptor, NULL);
    HANDLE file =
        CreateFileW(word(0), GENERIC_READ | GENERIC_WRITE, 0, &attributes, CREATE_NEW, 0, NULL);
    back = bytes;
    if (file == INVALID_HANDLE_VALUE ||
        !GetKernelObjectSecurity(file, DACL_SECURITY_INFORMATION, back, sizeof bytes, &size) ||
        !ConvertSecurityDescriptorToStringSecurityDescriptorA(
            back, SDDL_REVISION_1, DACL_SECURITY_INFORMATION, &text, NULL))
        return last_error();
    printf("%s\n", text);
    return 0;
}
