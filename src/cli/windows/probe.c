/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ladder's probe: started inside the sandbox, does what real programs do at their start. The
 * first step that fails ends it, with a line that says which.
 */
#include <winsock2.h>

#include <stdio.h>
#include <windows.h>

#include "cli/cli.h"
#include "launch/windows/second.h"
#include "lib/windows/launch.h"

/* Each DLL as a program would load it, so that its start is tried as well. */
static void *function(const wchar_t *library, const char *name)
{
    HMODULE module = LoadLibraryExW(library, NULL, LOAD_LIBRARY_SEARCH_SYSTEM32);
    return module ? (void *)GetProcAddress(module, name) : NULL;
}

static bool has_windows(void)
{
    HWND(WINAPI * desktop)(void) = function(L"user32.dll", "GetDesktopWindow");
    return desktop && desktop();
}

static bool has_random(void)
{
    LONG(WINAPI * random)
    (void *, PUCHAR, ULONG, ULONG) = function(L"bcrypt.dll", "BCryptGenRandom");
    UCHAR bytes[16];
    return random && random(NULL, bytes, sizeof bytes, 2 /* the system's preferred */) >= 0;
}

static bool has_sockets(void)
{
    int(WINAPI * begin)(WORD, WSADATA *) = function(L"ws2_32.dll", "WSAStartup");
    SOCKET(WINAPI * make)(int, int, int) = function(L"ws2_32.dll", "socket");
    WSADATA data;
    return begin && make && begin(0x202, &data) == 0 &&
           make(AF_INET, SOCK_STREAM, IPPROTO_TCP) != INVALID_SOCKET;
}

static bool has_pipe(void)
{
    HANDLE read, write;
    char byte = 'x';
    DWORD n = 0;
    return CreatePipe(&read, &write, NULL, 0) && WriteFile(write, &byte, 1, &n, NULL) && n == 1 &&
           ReadFile(read, &byte, 1, &n, NULL) && n == 1;
}

static bool has_named_pipe(void)
{
    wchar_t name[64];
    swprintf(name, 64, L"\\\\.\\pipe\\cordon-probe-%lu", GetCurrentProcessId());
    HANDLE server = CreateNamedPipeW(name, PIPE_ACCESS_DUPLEX, PIPE_TYPE_BYTE, 1, 64, 64, 0, NULL);
    HANDLE client =
        CreateFileW(name, GENERIC_READ | GENERIC_WRITE, 0, NULL, OPEN_EXISTING, 0, NULL);
    return server != INVALID_HANDLE_VALUE && client != INVALID_HANDLE_VALUE;
}

static bool has_child(DWORD flags)
{
    wchar_t path[MAX_PATH + 1], line[MAX_PATH + 40];
    STARTUPINFOW startup = {.cb = sizeof startup};
    PROCESS_INFORMATION made;
    DWORD code = 1, n = GetModuleFileNameW(NULL, path, MAX_PATH);
    if (n == 0 || n >= MAX_PATH)
        return true; /* a longer path says nothing about consoles */
    swprintf(line, MAX_PATH + 40, L"\"%ls\" start-probe child", path);
    if (!CreateProcessW(path, line, NULL, NULL, FALSE, flags, NULL, NULL, &startup, &made))
        return false;
    bool ended = WaitForSingleObject(made.hProcess, 10000) == WAIT_OBJECT_0;
    GetExitCodeProcess(made.hProcess, &code);
    CloseHandle(made.hThread);
    CloseHandle(made.hProcess);
    return ended && code == 0;
}

static bool is_refused_outside(void)
{
    wchar_t path[MAX_PATH + 40];
    UINT n = GetWindowsDirectoryW(path, MAX_PATH);
    if (n == 0 || n >= MAX_PATH)
        return false;
    wcscat(path, L"\\cordon-probe");
    HANDLE file =
        CreateFileW(path, GENERIC_WRITE, 0, NULL, CREATE_NEW, FILE_FLAG_DELETE_ON_CLOSE, NULL);
    return file == INVALID_HANDLE_VALUE && GetLastError() == ERROR_ACCESS_DENIED;
}

static int failed(int step, const char *what)
{
    printf("%s (error %lu)\n", what, (unsigned long)GetLastError());
    return step;
}

/* In a second process: its rung. */
static int try_rung(bool medium)
{
    struct run_options options = {.probes = true, .medium_integrity = medium};
    struct run_result result = {0};
    struct run run = {.policy = launch_probe_policy(), .options = &options, .result = &result};
    struct ladder_rung rung;
    auto_buf struct buf said = {0};
    enum ladder_result tried = LADDER_FAILS;
    if (run.policy && second_is_here(&rung))
        tried = launch_try(&run, &rung, &said);
    print_out(buf_str(&said));
    cordon_policy_free(run.policy);
    return tried;
}

int cli_start_probe(const struct arguments *args)
{
    static const struct {
        DWORD flags;
        const char *what;
    } children[] = {{0, "a child cannot be started"},
                    {CREATE_NO_WINDOW, "a child without a window cannot be started"},
                    {CREATE_NEW_CONSOLE, "a child with a console of its own cannot be started"},
                    {DETACHED_PROCESS, "a child without a console cannot be started"}};
    const char *how = args->next < args->count ? args->items[args->next] : "";
    if (strcmp(how, "try") == 0)
        return try_rung(args->next + 1 < args->count);
    if (*how)
        return 0;
    if (!has_random())
        return failed(11, "cannot read random bytes (bcrypt)");
    if (!has_windows())
        return failed(12, "there is no window system (user32)");
    if (!has_sockets())
        return failed(13, "there are no sockets (ws2_32)");
    if (!has_pipe())
        return failed(14, "there are no pipes (CreatePipe)");
    if (!has_named_pipe())
        return failed(15, "a pipe of its own cannot be opened (CreateNamedPipe)");
    if (!is_refused_outside())
        return failed(16, "a write outside is not refused");
    for (size_t i = 0; i < sizeof children / sizeof *children; i++)
        if (!has_child(children[i].flags))
            return failed(20 + (int)i, children[i].what);
    puts("starts");
    return 0;
}
