/* SPDX-License-Identifier: Apache-2.0 */
#include "prompt/windows/terminal.h"

#include <stdlib.h>

#include "base/utf.h"
#include "prompt/prompt.h"

enum { LOOK_MS = 250, PIECE = 1024, CTRL_C = 3 };

struct terminal {
    struct console *console; /* the run's; its keys are typed here if it is attached */
    HANDLE input, output;
    DWORD input_mode, output_mode; /* before a question */
    bool turn;                     /* a question may be shown, or is */
    bool gone;
    struct prompt prompt;
};

struct terminal *terminal_open(struct console *console)
{
    DWORD mode;
    struct terminal *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    t->console = console;
    t->input = CreateFileW(L"CONIN$", GENERIC_READ | GENERIC_WRITE,
                           FILE_SHARE_READ | FILE_SHARE_WRITE, NULL, OPEN_EXISTING, 0, NULL);
    t->output = CreateFileW(L"CONOUT$", GENERIC_READ | GENERIC_WRITE,
                            FILE_SHARE_READ | FILE_SHARE_WRITE, NULL, OPEN_EXISTING, 0, NULL);
    if (GetConsoleMode(t->input, &mode) && GetConsoleMode(t->output, &mode))
        return t;
    terminal_close(t);
    return NULL;
}

void terminal_close(struct terminal *t)
{
    if (!t)
        return;
    if (t->input != INVALID_HANDLE_VALUE)
        CloseHandle(t->input);
    if (t->output != INVALID_HANDLE_VALUE)
        CloseHandle(t->output);
    prompt_free(&t->prompt);
    free(t);
}

/* Puts on the screen whatever the questions have to say. */
static void put_prompt(struct terminal *t)
{
    uint16_t units[PIECE];
    struct str rest = buf_str(&t->prompt.screen);
    t->gone = t->gone || t->prompt.screen.failed;
    while (rest.n && !t->gone) {
        struct str piece = str_cut(rest, PIECE);
        size_t n = 0;
        DWORD written;
        if (utf_to16(piece, units, PIECE, &n) ||
            !WriteConsoleW(t->output, units, (DWORD)n, &written, NULL))
            t->gone = true;
        rest = str_from(rest, piece.n);
    }
    buf_reset(&t->prompt.screen);
}

/* Keys as they are pressed, and the sequences of a terminal on the screen. */
static void take_turn(struct terminal *t)
{
    t->turn = console_take_turn();
    if (!t->turn || t->console->attached)
        return;
    GetConsoleMode(t->input, &t->input_mode);
    GetConsoleMode(t->output, &t->output_mode);
}

static void begin_question(struct terminal *t)
{
    if (t->console->attached)
        return;
    SetConsoleMode(t->input, 0);
    SetConsoleMode(t->output, ENABLE_PROCESSED_OUTPUT | ENABLE_WRAP_AT_EOL_OUTPUT |
                                  ENABLE_VIRTUAL_TERMINAL_PROCESSING);
}

/* Keys that edit a line are known by their code alone. */
static WORD code_of(uint16_t unit)
{
    switch (unit) {
    case '\r': return VK_RETURN;
    case '\b': return VK_BACK;
    case '\t': return VK_TAB;
    case 0x1B: return VK_ESCAPE;
    default: return 0;
    }
}

/* What was typed for the command goes back to where it will be read. */
static void type_back(struct terminal *t)
{
    uint16_t units[PIECE];
    size_t n = 0;
    DWORD written;
    if (utf_to16(str_cut(buf_str(&t->prompt.typed), PIECE), units, PIECE, &n))
        n = 0;
    for (size_t i = 0; i < n; i++) {
        INPUT_RECORD key = {.EventType = KEY_EVENT,
                            .Event.KeyEvent = {.bKeyDown = TRUE,
                                               .wRepeatCount = 1,
                                               .wVirtualKeyCode = code_of(units[i]),
                                               .uChar.UnicodeChar = units[i]}};
        if (units[i] == CTRL_C)
            GenerateConsoleCtrlEvent(CTRL_C_EVENT, 0);
        else
            WriteConsoleInputW(t->input, &key, 1, &written);
    }
}

static void give_turn(struct terminal *t)
{
    if (!t->turn)
        return;
    if (!t->console->attached) {
        SetConsoleMode(t->input, t->input_mode);
        SetConsoleMode(t->output, t->output_mode);
        type_back(t);
        buf_reset(&t->prompt.typed);
    }
    console_give_turn();
    t->turn = false;
}

static void look(struct terminal *t, struct desk *desk, int *timeout)
{
    bool before = t->prompt.shown != 0;
    *timeout = LOOK_MS;
    if (!t->turn)
        take_turn(t);
    if (!t->turn)
        return;
    *timeout = prompt_look(&t->prompt, desk, t->gone, LOOK_MS);
    if (t->prompt.shown && !before)
        begin_question(t);
    put_prompt(t);
    if (!t->prompt.shown)
        give_turn(t);
}

static void take_keys(struct terminal *t, struct desk *desk)
{
    auto_buf struct buf keys = {0};
    if (!console_read_keys(t->input, &keys))
        t->gone = true;
    for (size_t i = 0; i < keys.n && !t->gone; i++)
        if (t->prompt.shown)
            prompt_key(&t->prompt, desk, keys.p[i]);
        else
            buf_char(&t->prompt.typed, keys.p[i]);
    put_prompt(t);
    if (!t->console->attached)
        return;
    t->gone = t->gone || !console_type(t->console, buf_str(&t->prompt.typed));
    buf_reset(&t->prompt.typed);
}

void terminal_serve(struct terminal *t, struct desk *desk, HANDLE stop)
{
    HANDLE events[] = {stop, (HANDLE)desk->asked, t->input};
    for (;;) {
        int timeout;
        look(t, desk, &timeout);
        if (t->console->attached)
            console_fit(t->console);
        bool reads = !t->gone && (t->console->attached || t->prompt.shown);
        DWORD got = WaitForMultipleObjects(reads ? 3 : 2, events, FALSE, (DWORD)timeout);
        if (got == WAIT_OBJECT_0 || got == WAIT_FAILED)
            break;
        if (got == WAIT_OBJECT_0 + 1)
            bell_hush(desk->asked);
        if (got == WAIT_OBJECT_0 + 2)
            take_keys(t, desk);
    }
    prompt_end(&t->prompt);
    put_prompt(t);
    give_turn(t);
}
