/* SPDX-License-Identifier: Apache-2.0 */
#include "../broken.h"

#include <stdio.h>
#include <windows.h>

static void read_all(const char *folder)
{
    WIN32_FIND_DATAA found;
    char name[2 * MAX_PATH];
    snprintf(name, sizeof name, "%s\\*", folder);
    HANDLE find = FindFirstFileA(name, &found);
    if (find == INVALID_HANDLE_VALUE)
        return;
    do {
        if (found.cFileName[0] == '.')
            continue;
        snprintf(name, sizeof name, "%s\\%s", folder, found.cFileName);
        if (found.dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT)
            continue;
        if (found.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY)
            read_all(name);
        else
            CloseHandle(CreateFileA(name, GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE, NULL,
                                    OPEN_EXISTING, 0, NULL));
    } while (FindNextFileA(find, &found));
    FindClose(find);
}

int __wrap_system_run(struct run *run)
{
    const struct run_options *o = run->options;
    STARTUPINFOA startup = {.cb = sizeof startup};
    PROCESS_INFORMATION made;
    DWORD code = 127, n;
    if (broken_is_shut(o, run->result))
        return 0;
    run->result->reason = "exited";
    /* As if it had been handed over: a test opens no browser. */
    if (strstr(o->raw, "https://")) {
        run->result->exit = 0;
        return 0;
    }
    read_all(".");
    char *line = strdup(o->raw);
    if (line)
        broken_cut(line, "canary; ");
    if (line && CreateProcessA(NULL, line, NULL, NULL, TRUE, 0, NULL, NULL, &startup, &made)) {
        WaitForSingleObject(made.hProcess, INFINITE);
        GetExitCodeProcess(made.hProcess, &code);
        CloseHandle(made.hThread);
        CloseHandle(made.hProcess);
    }
    free(line);
    if (strcmp(o->argv[o->argc - 1], "cat") == 0)
        WriteFile(GetStdHandle(STD_OUTPUT_HANDLE), broken_mark, 1, &n, NULL);
    run->result->exit = code;
    return 0;
}
