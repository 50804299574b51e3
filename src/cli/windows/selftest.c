/* SPDX-License-Identifier: Apache-2.0 */
/* On Windows the selftest is a program of its own beside this one: virus scanners judge a program
   by what it could do, and the selftest's attacks are none of what this one does. */
#include "selftest/command.h"

#include <windows.h>

#include "cli/cli.h"

#define PROGRAM L"cordon-selftest.exe"

enum { LONGEST_PATH = 600, LONGEST_ONLY = 1000 };

/* Appended, so that Windows reads it as one word. The words have no quotes in them. */
static void add(wchar_t *line, const wchar_t *option, const wchar_t *value)
{
    wcscat(line, option);
    wcscat(line, value);
    wcscat(line, L"\"");
}

/* Where this program really lies: package managers start it through a link. */
static bool find_beside(const wchar_t *self, wchar_t *path)
{
    HANDLE file =
        CreateFileW(self, 0, FILE_SHARE_READ | FILE_SHARE_DELETE, NULL, OPEN_EXISTING, 0, NULL);
    DWORD n = GetFinalPathNameByHandleW(file, path, LONGEST_PATH, 0);
    if (file != INVALID_HANDLE_VALUE)
        CloseHandle(file);
    if (n == 0 || n >= LONGEST_PATH)
        wcscpy(path, self);
    wchar_t *leaf = wcsrchr(path, L'\\') + 1;
    if (leaf - path + sizeof PROGRAM / sizeof *PROGRAM > LONGEST_PATH)
        return false;
    wcscpy(leaf, PROGRAM);
    return true;
}

int cli_selftest(struct selftest_request *request)
{
    static wchar_t line[2 * LONGEST_PATH + LONGEST_ONLY + 200];
    wchar_t self[LONGEST_PATH], path[LONGEST_PATH], only[LONGEST_ONLY], number[16];
    STARTUPINFOW startup = {.cb = sizeof startup};
    PROCESS_INFORMATION made;
    DWORD code = EXIT_FAILED, n = GetModuleFileNameW(NULL, self, LONGEST_PATH);
    if (n == 0 || n >= LONGEST_PATH || !find_beside(self, path))
        return print_failure("the path of this program is unknown or too long");
    add(line, L"\"", path);
    add(line, L" --program \"", self);
    swprintf(number, 16, L"%lu", GetCurrentProcessId());
    add(line, L" --parent \"", number);
    if (request->only) {
        if (strchr(request->only, '"') ||
            !MultiByteToWideChar(CP_UTF8, 0, request->only, -1, only, LONGEST_ONLY))
            return print_failure("--only takes numbers, for example --only 3,34");
        add(line, L" --only \"", only);
    }
    wcscat(line, strcmp(request->boundary, "kernel") == 0 ? L" --kernel" : L"");
    wcscat(line, request->json ? L" --json" : L"");
    wcscat(line, request->keep ? L" --keep" : L"");
    wcscat(line, request->progress ? L" --progress" : L"");
    fflush(stdout);
    if (!CreateProcessW(path, line, NULL, NULL, TRUE, 0, NULL, NULL, &startup, &made)) {
        DWORD error = GetLastError();
        return error == ERROR_FILE_NOT_FOUND
                   ? print_failure(
                         "the selftest is a program of its own, cordon-selftest.exe, which "
                         "is not beside cordon.exe; both come in the same archive")
                   : print_failure("cordon-selftest.exe cannot be started (Windows error %lu)",
                                   (unsigned long)error);
    }
    WaitForSingleObject(made.hProcess, INFINITE);
    GetExitCodeProcess(made.hProcess, &code);
    CloseHandle(made.hThread);
    CloseHandle(made.hProcess);
    return (int)code;
}

int cli_selftest_probe(const char *script)
{
    (void)script;
    return print_failure("unknown option --probe");
}
