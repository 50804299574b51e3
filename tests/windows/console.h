/* SPDX-License-Identifier: Apache-2.0 */
/* Starts the test again in a console without a window, so that a test has one wherever it runs. */
#ifndef CORDON_TESTS_WINDOWS_CONSOLE_H
#define CORDON_TESTS_WINDOWS_CONSOLE_H

#include <stdio.h>
#include <windows.h>

typedef HRESULT WINAPI console_create(COORD size, HANDLE in, HANDLE out, DWORD flags,
                                      void **pseudo);

static DWORD WINAPI console_drain(void *pipe)
{
    char piece[4096];
    DWORD n;
    while (ReadFile(pipe, piece, sizeof piece, &n, NULL) && n > 0)
        ;
    return 0;
}

/* With this argument; its exit code, CONSOLE_NONE if no console can be made. */
enum { CONSOLE_NONE = 999 };
static DWORD console_start(const char *argument)
{
    enum { PSEUDOCONSOLE = 0x20016 }; /* PROC_THREAD_ATTRIBUTE_PSEUDOCONSOLE */
    console_create *create = (console_create *)(void *)GetProcAddress(GetModuleHandleA("kernel32"),
                                                                      "CreatePseudoConsole");
    HANDLE in[2], out[2];
    void *pseudo = NULL;
    char self[MAX_PATH], line[MAX_PATH + 64];
    unsigned char space[256];
    SIZE_T size = sizeof space;
    DWORD code = CONSOLE_NONE;
    PROCESS_INFORMATION process;
    STARTUPINFOEXA startup = {.StartupInfo = {.cb = sizeof startup,
                                              .dwFlags = STARTF_USESTDHANDLES,
                                              .hStdOutput = GetStdHandle(STD_OUTPUT_HANDLE),
                                              .hStdError = GetStdHandle(STD_ERROR_HANDLE)},
                              .lpAttributeList = (void *)space};
    GetModuleFileNameA(NULL, self, sizeof self);
    snprintf(line, sizeof line, "\"%s\" %s", self, argument);
    SetHandleInformation(startup.StartupInfo.hStdOutput, HANDLE_FLAG_INHERIT, HANDLE_FLAG_INHERIT);
    if (!create || !CreatePipe(&in[0], &in[1], NULL, 0) || !CreatePipe(&out[0], &out[1], NULL, 0) ||
        create((COORD){200, 300}, in[0], out[1], 0, &pseudo) < 0 ||
        !InitializeProcThreadAttributeList(startup.lpAttributeList, 1, 0, &size) ||
        !UpdateProcThreadAttribute(startup.lpAttributeList, 0, PSEUDOCONSOLE, pseudo, sizeof pseudo,
                                   NULL, NULL))
        return code;
    CreateThread(NULL, 0, console_drain, out[0], 0, NULL);
    if (CreateProcessA(NULL, line, NULL, NULL, TRUE, EXTENDED_STARTUPINFO_PRESENT, NULL, NULL,
                       &startup.StartupInfo, &process)) {
        WaitForSingleObject(process.hProcess, 240000);
        GetExitCodeProcess(process.hProcess, &code);
    }
    return code;
}

#endif
