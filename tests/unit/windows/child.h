/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that start themselves again: a child is this program with a word that says what to do. */
#ifndef CORDON_TESTS_CHILD_H
#define CORDON_TESTS_CHILD_H

#include <stdio.h>
#include <windows.h>

#include "tap.h"

/* Starts this program with the words; token and handles (stdin, stdout, stderr) may be NULL. */
__attribute__((unused)) static bool child_start(const char *words, HANDLE token, DWORD flags,
                                                const HANDLE *handles, PROCESS_INFORMATION *out)
{
    wchar_t image[MAX_PATH], line[2 * MAX_PATH];
    STARTUPINFOW startup = {.cb = sizeof startup};
    GetModuleFileNameW(NULL, image, MAX_PATH);
    swprintf(line, 2 * MAX_PATH, L"\"%ls\" %hs", image, words);
    if (handles) {
        startup.dwFlags = STARTF_USESTDHANDLES;
        startup.hStdInput = handles[0];
        startup.hStdOutput = handles[1];
        startup.hStdError = handles[2];
    }
    return token ? CreateProcessAsUserW(token, image, line, NULL, NULL, handles != NULL, flags,
                                        NULL, NULL, &startup, out)
                 : CreateProcessW(image, line, NULL, NULL, handles != NULL, flags, NULL, NULL,
                                  &startup, out);
}

/* The exit code, or 9999 after ten seconds; closes the handles. */
__attribute__((unused)) static DWORD child_end(PROCESS_INFORMATION *child)
{
    DWORD code = 9999;
    if (WaitForSingleObject(child->hProcess, 10000) == WAIT_OBJECT_0)
        GetExitCodeProcess(child->hProcess, &code);
    else
        TerminateProcess(child->hProcess, 9999);
    CloseHandle(child->hProcess);
    CloseHandle(child->hThread);
    return code;
}

/* A folder below the temp folder, with a name of the test's own. */
__attribute__((unused)) static void child_folder(wchar_t *out, const wchar_t *name)
{
    wchar_t temp[MAX_PATH];
    GetTempPathW(MAX_PATH, temp);
    swprintf(out, MAX_PATH, L"%lscordon-test-%lu-%ls", temp, GetCurrentProcessId(), name);
}

#endif
