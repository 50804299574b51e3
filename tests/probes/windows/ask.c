/* SPDX-License-Identifier: Apache-2.0 */
/* While somebody is asked: many calls that wait at once, threads that are ended while they wait,
   and attempts to answer a question of its own. */
#include "probe.h"

#include <stdio.h>

static volatile LONG made;

static DWORD WINAPI make(void *context)
{
    wchar_t path[600];
    swprintf(path, 600, L"%ls\\%d", word(0), (int)(intptr_t)context);
    HANDLE file = CreateFileW(path, GENERIC_WRITE, 0, NULL, CREATE_NEW, 0, NULL);
    if (file != INVALID_HANDLE_VALUE) {
        InterlockedIncrement(&made);
        CloseHandle(file);
    }
    return 0;
}

/* FOLDER N: each of N threads makes a file there; meanwhile this one writes here, and says so in
   the file "served". */
int do_ask_many(void)
{
    enum { MOST = 2000, STACK = 65536 };
    static HANDLE threads[MOST];
    int count = _wtoi(word(1)), started = 0;
    for (; started < count && started < MOST; started++) {
        threads[started] = CreateThread(NULL, STACK, make, (void *)(intptr_t)(started + 1),
                                        STACK_SIZE_PARAM_IS_A_RESERVATION, NULL);
        if (!threads[started])
            break;
    }
    for (int i = 0; i <= 100; i++) {
        HANDLE file = CreateFileW(i < 100 ? L"meanwhile" : L"served", GENERIC_WRITE, 0, NULL,
                                  CREATE_ALWAYS, 0, NULL);
        if (file == INVALID_HANDLE_VALUE)
            return last_error();
        CloseHandle(file);
    }
    for (int i = 0; i < started; i++)
        WaitForSingleObject(threads[i], INFINITE);
    printf("%ld of %d\n", made, started);
    return started == count ? 0 : 3;
}

/* FOLDER: a thread is ended while its call waits; then the same is tried again. */
int do_ask_ended(void)
{
    HANDLE thread = CreateThread(NULL, 0, make, (void *)1, 0, NULL);
    Sleep(1000);
    TerminateThread(thread, 1);
    Sleep(1500);
    make((void *)2);
    printf("%ld made\n", made);
    return 0;
}

/* PIPE FILE: makes a call that is asked about, and meanwhile tries to answer it. Prints how many
   ways there were. */
int do_ask_itself(void)
{
    static const char line[] = "{\"id\":1,\"answer\":\"run\"}\n";
    DWORD access[] = {GENERIC_READ | GENERIC_WRITE, GENERIC_WRITE, GENERIC_READ, MAXIMUM_ALLOWED};
    int ways = 0;
    DWORD n;
    HANDLE thread = CreateThread(NULL, 0, make, (void *)1, 0, NULL);
    Sleep(500);
    for (size_t i = 0; i < 4; i++) {
        HANDLE pipe = CreateFileW(word(1), access[i], FILE_SHARE_READ | FILE_SHARE_WRITE, NULL,
                                  OPEN_EXISTING, 0, NULL);
        if (pipe == INVALID_HANDLE_VALUE)
            continue;
        WriteFile(pipe, line, sizeof line - 1, &n, NULL);
        ways++;
    }
    HANDLE server = CreateNamedPipeW(word(1), PIPE_ACCESS_DUPLEX, 0, PIPE_UNLIMITED_INSTANCES, 4096,
                                     4096, 0, NULL);
    ways += server != INVALID_HANDLE_VALUE;
    /* Every handle that this process has. */
    for (uintptr_t value = 4; value < 4096; value += 4)
        if (GetFileType((HANDLE)value) == FILE_TYPE_PIPE && (HANDLE)value != server &&
            (HANDLE)value != GetStdHandle(STD_OUTPUT_HANDLE) &&
            (HANDLE)value != GetStdHandle(STD_ERROR_HANDLE))
            ways += WriteFile((HANDLE)value, line, sizeof line - 1, &n, NULL);
    printf("%d ways\n", ways);
    fflush(stdout);
    WaitForSingleObject(thread, INFINITE);
    printf("%ld made\n", made);
    return 0;
}

static DWORD WINAPI say_yes(void *pipe)
{
    static const char line[] = "{\"id\":1,\"answer\":\"once\"}\n";
    char piece[4096];
    DWORD n;
    if (ConnectNamedPipe(pipe, NULL) || GetLastError() == ERROR_PIPE_CONNECTED)
        while (ReadFile(pipe, piece, sizeof piece, &n, NULL) && n > 0)
            WriteFile(pipe, line, sizeof line - 1, &n, NULL);
    return 0;
}

/* PIPE: serves it as whoever answers would, says so in the file "serves", and ends with it. In the
   file stands whether its token is restricted: stock Wine restricts none. */
int do_ask_serve(void)
{
    HANDLE token;
    HANDLE pipe = CreateNamedPipeW(word(0), PIPE_ACCESS_DUPLEX | FILE_FLAG_FIRST_PIPE_INSTANCE, 0,
                                   PIPE_UNLIMITED_INSTANCES, 4096, 4096, 0, NULL);
    if (pipe == INVALID_HANDLE_VALUE)
        return last_error();
    CreateThread(NULL, 0, say_yes, pipe, 0, NULL);
    FILE *f =
        OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &token) ? fopen("serving", "w") : NULL;
    if (!f)
        return last_error();
    fputs(IsTokenRestricted(token) ? "restricted" : "plain", f);
    fclose(f);
    MoveFileW(L"serving", L"serves");
    for (int i = 0; i < 2000 && GetFileAttributesW(L"serves") != INVALID_FILE_ATTRIBUTES; i++)
        Sleep(10);
    return 0;
}

/* MS LINE: a child that is killed after so long. */
int do_kill_child(void)
{
    wchar_t line[1024] = L"";
    STARTUPINFOW startup = {.cb = sizeof startup};
    PROCESS_INFORMATION child;
    for (int i = 1; word(i)[0]; i++) {
        wcscat(line, word(i));
        wcscat(line, L" ");
    }
    if (!CreateProcessW(NULL, line, NULL, NULL, TRUE, 0, NULL, NULL, &startup, &child))
        return last_error();
    Sleep((DWORD)_wtoi(word(0)));
    TerminateProcess(child.hProcess, 9);
    Sleep(1000);
    return 0;
}

/* ---- another file behind the handle of a call that waits ---- */

static HANDLE swapped_file;
static DWORD rename_error;

static HANDLE open_to_rename(const wchar_t *path)
{
    return CreateFileW(path, DELETE | SYNCHRONIZE, 7, NULL, OPEN_EXISTING, 0, NULL);
}

static DWORD WINAPI rename_held(void *context)
{
    union {
        FILE_RENAME_INFO info;
        unsigned char bytes[sizeof(FILE_RENAME_INFO) + 1024];
    } to = {0};
    wchar_t whole[500];
    DWORD n = GetFullPathNameW(context, 500, whole, NULL);
    to.info.FileNameLength = n * sizeof *whole;
    memcpy(to.info.FileName, whole, n * sizeof *whole);
    rename_error = SetFileInformationByHandle(swapped_file, FileRenameInfo, &to, sizeof to)
                       ? 0
                       : GetLastError();
    return 0;
}

static bool put_file(const wchar_t *path, const char *text)
{
    DWORD n;
    HANDLE file = CreateFileW(path, GENERIC_WRITE, 0, NULL, CREATE_ALWAYS, 0, NULL);
    bool good =
        file != INVALID_HANDLE_VALUE && WriteFile(file, text, (DWORD)strlen(text), &n, NULL);
    CloseHandle(file);
    return good;
}

/* TO swap|keep: renames "own" to TO by its handle; while that waits, another file gets the name and
   the handle, or not. Says so in the file "swapped". */
int do_ask_swap(void)
{
    bool swaps = wcscmp(word(1), L"swap") == 0, same = !swaps;
    if (!put_file(L"own", "first") ||
        (swapped_file = open_to_rename(L"own")) == INVALID_HANDLE_VALUE)
        return last_error();
    HANDLE thread = CreateThread(NULL, 0, rename_held, (void *)word(0), 0, NULL);
    Sleep(1500);
    if (swaps) {
        HANDLE old = swapped_file, others[64];
        int count = 0;
        if (!MoveFileW(L"own", L"away") || !put_file(L"own", "other"))
            return last_error();
        CloseHandle(old);
        while (count < 64 && !same) {
            others[count] = open_to_rename(L"own");
            same = others[count++] == old;
        }
    }
    printf("%s\n", same ? "ready" : "the handle did not come back");
    fflush(stdout);
    put_file(L"swapped", "");
    WaitForSingleObject(thread, INFINITE);
    return (int)rename_error;
}

/* FROM TO handle|view: holds FROM open, or mapped, for writing, renames it to TO, and writes. */
int do_ask_leave(void)
{
    DWORD n = 0;
    HANDLE file =
        CreateFileW(word(0), GENERIC_READ | GENERIC_WRITE, 7, NULL, OPEN_EXISTING, 0, NULL);
    if (wcscmp(word(2), L"view") == 0) {
        HANDLE map = CreateFileMappingW(file, NULL, PAGE_READWRITE, 0, 0, NULL);
        if (!map || !MapViewOfFile(map, FILE_MAP_WRITE, 0, 0, 0))
            return last_error();
    }
    if (!MoveFileExW(word(0), word(1), 0))
        return last_error();
    SetFilePointer(file, 1, NULL, FILE_BEGIN);
    WriteFile(file, "D", 1, &n, NULL);
    printf("left, %lu written\n", n);
    return 0;
}
