/* SPDX-License-Identifier: Apache-2.0 */
/* Load inside the sandbox: many threads and processes that ask at once, many short processes. */
#include "probe.h"

#include <stdio.h>

static HANDLE go;
static int process_number;
static volatile LONG failed;

static DWORD WINAPI ask(void *context)
{
    wchar_t path[600];
    char text[40], back[40] = "";
    DWORD n;
    swprintf(path, 600, L"%ls\\%d-%d", word(0), process_number, (int)(intptr_t)context);
    int length = snprintf(text, sizeof text, "%d/%d", process_number, (int)(intptr_t)context);
    WaitForSingleObject(go, 120000);
    HANDLE file = CreateFileW(path, GENERIC_READ | GENERIC_WRITE, 0, NULL, CREATE_NEW, 0, NULL);
    bool good = file != INVALID_HANDLE_VALUE && WriteFile(file, text, (DWORD)length, &n, NULL) &&
                SetFilePointer(file, 0, NULL, FILE_BEGIN) == 0 &&
                ReadFile(file, back, sizeof back - 1, &n, NULL) && strcmp(text, back) == 0;
    CloseHandle(file);
    /* And what must be refused is. */
    file = CreateFileW(L"..\\out\\crowd", GENERIC_WRITE, 0, NULL, CREATE_ALWAYS, 0, NULL);
    if (!good || file != INVALID_HANDLE_VALUE)
        InterlockedIncrement(&failed);
    return 0;
}

static bool start(const wchar_t *line, HANDLE *process)
{
    wchar_t text[1400];
    STARTUPINFOW startup = {.cb = sizeof startup};
    PROCESS_INFORMATION child;
    wcscpy(text, line);
    if (!CreateProcessW(NULL, text, NULL, NULL, TRUE, 0, NULL, NULL, &startup, &child))
        return false;
    CloseHandle(child.hThread);
    *process = child.hProcess;
    return true;
}

/* crowd FOLDER PROCESSES THREADS: all of them ask at the same moment; each makes a file. */
int do_crowd(void)
{
    enum { MOST = 512 };
    static HANDLE all[MOST];
    int processes = _wtoi(word(1)), threads = _wtoi(word(2)), made = 0;
    SECURITY_ATTRIBUTES inherit = {sizeof inherit, NULL, TRUE};
    wchar_t self[600], line[1400];
    if (word(3)[0]) { /* one of them: crowd FOLDER 1 THREADS EVENT READY NUMBER */
        go = (HANDLE)(uintptr_t)_wtoi(word(3));
        process_number = _wtoi(word(5));
        for (int i = 0; i < threads && i < MOST; i++, made++)
            if (!(all[i] = CreateThread(NULL, 0, ask, (void *)(intptr_t)i, 0, NULL)))
                break;
        ReleaseSemaphore((HANDLE)(uintptr_t)_wtoi(word(4)), 1, NULL);
        for (int i = 0; i < made; i++)
            WaitForSingleObject(all[i], INFINITE);
        return failed || made != threads ? 1 : 0;
    }
    HANDLE event = CreateEventW(&inherit, TRUE, FALSE, NULL);
    HANDLE ready = CreateSemaphoreW(&inherit, 0, MOST, NULL);
    GetModuleFileNameW(NULL, self, 600);
    for (int i = 0; i < processes && i < MOST; i++, made++) {
        swprintf(line, 1400, L"\"%ls\" crowd %ls 1 %d %d %d %d", self, word(0), threads,
                 (int)(intptr_t)event, (int)(intptr_t)ready, i);
        if (!start(line, &all[i]))
            break;
    }
    for (int i = 0; i < made; i++)
        WaitForSingleObject(ready, 120000);
    Sleep(100);
    SetEvent(event);
    int wrong = processes - made;
    for (int i = 0; i < made; i++) {
        DWORD code = 1;
        WaitForSingleObject(all[i], 120000);
        GetExitCodeProcess(all[i], &code);
        wrong += code != 0;
    }
    printf("wrong %d of %d\n", wrong, processes);
    return wrong ? 1 : 0;
}

/* short FOLDER COUNT: so many processes, eight at once; each makes a file and ends. */
int do_short(void)
{
    enum { AT_ONCE = 8 };
    HANDLE running[AT_ONCE] = {0};
    int count = _wtoi(word(1)), wrong = 0;
    wchar_t self[600], line[1400];
    GetModuleFileNameW(NULL, self, 600);
    for (int i = 0; i < count + AT_ONCE; i++) {
        HANDLE *slot = &running[i % AT_ONCE];
        DWORD code = 1;
        if (*slot) {
            WaitForSingleObject(*slot, 60000);
            GetExitCodeProcess(*slot, &code);
            CloseHandle(*slot);
            *slot = NULL;
            wrong += code != 0;
        }
        swprintf(line, 1400, L"\"%ls\" write %ls\\p%d", self, word(0), i);
        if (i < count && !start(line, slot))
            wrong++;
    }
    printf("wrong %d of %d\n", wrong, count);
    return wrong ? 1 : 0;
}
