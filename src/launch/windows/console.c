/* SPDX-License-Identifier: Apache-2.0 */
/* See console.h. The functions are looked up: Windows before 1809 does not have them. */
#include "launch/windows/console.h"

#include "base/utf.h"
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

bool console_is_there(void)
{
    HANDLE input = CreateFileW(L"CONIN$", GENERIC_READ | GENERIC_WRITE,
                               FILE_SHARE_READ | FILE_SHARE_WRITE, NULL, OPEN_EXISTING, 0, NULL);
    DWORD mode;
    bool there = GetConsoleMode(input, &mode);
    if (input != INVALID_HANDLE_VALUE)
        CloseHandle(input);
    return there;
}

static COORD caller_size(void)
{
    CONSOLE_SCREEN_BUFFER_INFO info;
    if (!GetConsoleScreenBufferInfo(GetStdHandle(STD_OUTPUT_HANDLE), &info))
        return (COORD){120, 30};
    return (COORD){(SHORT)(info.srWindow.Right - info.srWindow.Left + 1),
                   (SHORT)(info.srWindow.Bottom - info.srWindow.Top + 1)};
}

/* ---- the caller's console ---- */

static SRWLOCK screen = SRWLOCK_INIT, keyboard = SRWLOCK_INIT;

bool console_take_turn(void)
{
    if (!TryAcquireSRWLockExclusive(&keyboard))
        return false;
    AcquireSRWLockExclusive(&screen);
    return true;
}

void console_give_turn(void)
{
    ReleaseSRWLockExclusive(&screen);
    ReleaseSRWLockExclusive(&keyboard);
}

bool console_write(HANDLE console, const void *bytes, DWORD n, DWORD *written)
{
    AcquireSRWLockExclusive(&screen);
    bool done = WriteFile(console, bytes, n, written, NULL);
    ReleaseSRWLockExclusive(&screen);
    return done;
}

/* A character that was typed by its number arrives when Alt is let go. */
static bool is_typed(const INPUT_RECORD *record)
{
    const KEY_EVENT_RECORD *key = &record->Event.KeyEvent;
    return record->EventType == KEY_EVENT &&
           (key->bKeyDown || (key->wVirtualKeyCode == VK_MENU && key->uChar.UnicodeChar));
}

/* True if a key waits; everything before it (the mouse, the focus, keys let go) is thrown away. */
static bool key_waits(HANDLE console)
{
    INPUT_RECORD record;
    DWORD n = 0;
    while (PeekConsoleInputW(console, &record, 1, &n) && n == 1) {
        if (is_typed(&record))
            return true;
        ReadConsoleInputW(console, &record, 1, &n);
    }
    return false;
}

bool console_read_line(HANDLE console, HANDLE stop, void *bytes, DWORD capacity, DWORD *n)
{
    enum { TURN_MS = 20 };
    HANDLE either[] = {stop, console};
    for (;;) {
        if (WaitForMultipleObjects(2, either, FALSE, INFINITE) != WAIT_OBJECT_0 + 1)
            return false;
        if (!TryAcquireSRWLockExclusive(&keyboard)) {
            Sleep(TURN_MS);
            continue;
        }
        bool typed = key_waits(console);
        bool read = typed && ReadFile(console, bytes, capacity, n, NULL);
        ReleaseSRWLockExclusive(&keyboard);
        if (typed)
            return read;
    }
}

bool console_read_keys(HANDLE input, struct buf *out)
{
    enum { MOST = 128, MOST_UNITS = 4 * MOST };
    INPUT_RECORD records[MOST];
    uint16_t units[MOST_UNITS];
    DWORD n = 0;
    size_t count = 0;
    if (!GetNumberOfConsoleInputEvents(input, &n))
        return false;
    if (n && !ReadConsoleInputW(input, records, n < MOST ? n : MOST, &n))
        return false;
    for (DWORD i = 0; i < n; i++) {
        const KEY_EVENT_RECORD *key = &records[i].Event.KeyEvent;
        if (!is_typed(&records[i]) || !key->uChar.UnicodeChar)
            continue;
        for (WORD times = key->wRepeatCount; times > 0 && count < MOST_UNITS; times--)
            units[count++] = key->uChar.UnicodeChar;
    }
    utf_from16(out, units, count);
    return !out->failed;
}

/* ---- the run's console ---- */

static DWORD WINAPI drain(void *context)
{
    struct console *c = context;
    char block[4096];
    DWORD n, written;
    while (ReadFile(c->screen, block, sizeof block, &n, NULL) && n > 0)
        if (c->attached)
            console_write(GetStdHandle(STD_OUTPUT_HANDLE), block, n, &written);
    return 0;
}

bool console_type(const struct console *c, struct str keys)
{
    DWORD written;
    return keys.n == 0 || WriteFile(c->keys, keys.p, (DWORD)keys.n, &written, NULL);
}

void console_fit(struct console *c)
{
    resize_console *resize = (resize_console *)function("ResizePseudoConsole");
    COORD now = caller_size();
    if (!resize || (now.X == c->size.X && now.Y == c->size.Y))
        return;
    c->size = now;
    resize(c->pseudo, now);
}

/* Sends keys as terminal sequences, Ctrl-C included, and the window's size four times a second. */
static DWORD WINAPI type(void *context)
{
    struct console *c = context;
    HANDLE input = GetStdHandle(STD_INPUT_HANDLE), either[] = {c->stop, input};
    auto_buf struct buf keys = {0};
    for (;;) {
        DWORD got = WaitForMultipleObjects(2, either, FALSE, 250);
        console_fit(c);
        if (got == WAIT_OBJECT_0 || got == WAIT_FAILED)
            return 0;
        buf_reset(&keys);
        if (got == WAIT_OBJECT_0 + 1 &&
            (!console_read_keys(input, &keys) || !console_type(c, buf_str(&keys))))
            return 0;
    }
}

static void attach(struct console *c, bool with_typist)
{
    HANDLE input = GetStdHandle(STD_INPUT_HANDLE), output = GetStdHandle(STD_OUTPUT_HANDLE);
    GetConsoleMode(input, &c->input_mode);
    GetConsoleMode(output, &c->output_mode);
    SetConsoleMode(input, ENABLE_VIRTUAL_TERMINAL_INPUT);
    SetConsoleMode(output, ENABLE_PROCESSED_OUTPUT | ENABLE_VIRTUAL_TERMINAL_PROCESSING |
                               DISABLE_NEWLINE_AUTO_RETURN);
    c->changed = true;
    c->typist = with_typist ? CreateThread(NULL, 0, type, c, 0, NULL) : NULL;
}

int console_open(struct console *c, unsigned how, struct launch_failure *f)
{
    create_console *create = (create_console *)function("CreatePseudoConsole");
    HANDLE keys_end = NULL, screen_end = NULL;
    *c = (struct console){.attached = how & CONSOLE_ATTACHED, .size = caller_size()};
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
    else if (c->attached)
        attach(c, !(how & CONSOLE_QUESTIONS));
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
    }
    if (c->changed)
        SetConsoleMode(GetStdHandle(STD_INPUT_HANDLE), c->input_mode);
    /* Returns once the whole screen has been read. */
    if (c->pseudo && close)
        close(c->pseudo);
    if (c->drain) {
        if (WaitForSingleObject(c->drain, PATIENCE_MS) != WAIT_OBJECT_0)
            CancelSynchronousIo(c->drain);
        CloseHandle(c->drain);
    }
    if (c->changed)
        SetConsoleMode(GetStdHandle(STD_OUTPUT_HANDLE), c->output_mode);
    HANDLE handles[] = {c->keys, c->screen, c->stop};
    for (size_t i = 0; i < sizeof handles / sizeof *handles; i++)
        if (handles[i])
            CloseHandle(handles[i]);
    *c = (struct console){0};
}
