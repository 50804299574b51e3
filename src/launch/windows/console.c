/* SPDX-License-Identifier: Apache-2.0 */
/* See console.h. The functions are looked up: Windows before 1809 does not have them. */
#include "launch/windows/console.h"

#include "cordon.h"

typedef HRESULT WINAPI create_console(COORD size, HANDLE in, HANDLE out, DWORD flags,
                                      void **pseudo);
typedef HRESULT WINAPI resize_console(void *pseudo, COORD size);
typedef void WINAPI close_console(void *pseudo);

static void *function(const char *name)
{
    return (void *)GetProcAddress(GetModuleHandleW(L"kernel32.dll"), name);
}

bool console_is_caller(void)
{
    DWORD mode;
    return GetConsoleMode(GetStdHandle(STD_INPUT_HANDLE), &mode) &&
           GetConsoleMode(GetStdHandle(STD_OUTPUT_HANDLE), &mode) &&
           GetConsoleMode(GetStdHandle(STD_ERROR_HANDLE), &mode);
}

static COORD caller_size(void)
{
    CONSOLE_SCREEN_BUFFER_INFO info;
    if (!GetConsoleScreenBufferInfo(GetStdHandle(STD_OUTPUT_HANDLE), &info))
        return (COORD){120, 30};
    return (COORD){(SHORT)(info.srWindow.Right - info.srWindow.Left + 1),
                   (SHORT)(info.srWindow.Bottom - info.srWindow.Top + 1)};
}

static DWORD WINAPI drain(void *context)
{
    struct console *c = context;
    char block[4096];
    DWORD n, written;
    while (ReadFile(c->screen, block, sizeof block, &n, NULL) && n > 0)
        if (c->attached)
            WriteFile(GetStdHandle(STD_OUTPUT_HANDLE), block, n, &written, NULL);
    return 0;
}

/* Sends keys as terminal sequences, Ctrl-C included, and the window's size four times a second. */
static DWORD WINAPI type(void *context)
{
    struct console *c = context;
    resize_console *resize = (resize_console *)function("ResizePseudoConsole");
    HANDLE input = GetStdHandle(STD_INPUT_HANDLE), either[] = {c->stop, input};
    for (;;) {
        char block[512];
        DWORD n = 0, written;
        DWORD got = WaitForMultipleObjects(2, either, FALSE, 250);
        COORD now = caller_size();
        if (resize && (now.X != c->size.X || now.Y != c->size.Y)) {
            c->size = now;
            resize(c->pseudo, now);
        }
        if (got == WAIT_OBJECT_0 || got == WAIT_FAILED)
            return 0;
        if (got == WAIT_OBJECT_0 + 1 && (!ReadFile(input, block, sizeof block, &n, NULL) ||
                                         (n && !WriteFile(c->keys, block, n, &written, NULL))))
            return 0;
    }
}

static void attach(struct console *c)
{
    HANDLE input = GetStdHandle(STD_INPUT_HANDLE), output = GetStdHandle(STD_OUTPUT_HANDLE);
    GetConsoleMode(input, &c->input_mode);
    GetConsoleMode(output, &c->output_mode);
    SetConsoleMode(input, ENABLE_VIRTUAL_TERMINAL_INPUT);
    SetConsoleMode(output, ENABLE_PROCESSED_OUTPUT | ENABLE_VIRTUAL_TERMINAL_PROCESSING |
                               DISABLE_NEWLINE_AUTO_RETURN);
    c->typist = CreateThread(NULL, 0, type, c, 0, NULL);
}

int console_open(struct console *c, bool attached, struct launch_failure *f)
{
    create_console *create = (create_console *)function("CreatePseudoConsole");
    HANDLE keys_end = NULL, screen_end = NULL;
    *c = (struct console){.attached = attached, .size = caller_size()};
    if (!create)
        return launch_fail_words(f, "this Windows has no pseudoconsole");
    c->stop = CreateEventW(NULL, TRUE, FALSE, NULL);
    int rc = 0;
    if (!c->stop || !CreatePipe(&keys_end, &c->keys, NULL, 0) ||
        !CreatePipe(&c->screen, &screen_end, NULL, 0))
        rc = launch_fail(f, "cannot make the console's pipes (CreatePipe)");
    HRESULT made = rc ? 0 : create(c->size, keys_end, screen_end, 0, &c->pseudo);
    if (rc == 0 && made < 0) {
        SetLastError((DWORD)made);
        rc = launch_fail(f, "cannot make a pseudoconsole (CreatePseudoConsole)");
    }
    /* The console has duplicates of these. */
    if (keys_end)
        CloseHandle(keys_end);
    if (screen_end)
        CloseHandle(screen_end);
    if (rc == 0 && !(c->drain = CreateThread(NULL, 0, drain, c, 0, NULL)))
        rc = launch_fail(f, "cannot serve the console (CreateThread)");
    if (rc)
        console_close(c);
    else if (attached)
        attach(c);
    return rc;
}

void console_close(struct console *c)
{
    enum { PATIENCE_MS = 2000 };
    close_console *close = (close_console *)function("ClosePseudoConsole");
    if (c->stop)
        SetEvent(c->stop);
    if (c->typist) {
        WaitForSingleObject(c->typist, PATIENCE_MS);
        CloseHandle(c->typist);
        SetConsoleMode(GetStdHandle(STD_INPUT_HANDLE), c->input_mode);
    }
    /* Returns once the whole screen has been read. */
    if (c->pseudo && close)
        close(c->pseudo);
    if (c->drain) {
        if (WaitForSingleObject(c->drain, PATIENCE_MS) != WAIT_OBJECT_0)
            CancelSynchronousIo(c->drain);
        CloseHandle(c->drain);
    }
    if (c->attached && c->typist)
        SetConsoleMode(GetStdHandle(STD_OUTPUT_HANDLE), c->output_mode);
    HANDLE handles[] = {c->keys, c->screen, c->stop};
    for (size_t i = 0; i < sizeof handles / sizeof *handles; i++)
        if (handles[i])
            CloseHandle(handles[i]);
    *c = (struct console){0};
}
