/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Questions on a console: this program makes one, reads its screen and presses its keys. The
 * command's own standard handles are elsewhere, or the console itself.
 */
#include "harness.h"
#include "windows/console.h"

static HANDLE keys, screen;

/* Everything on the screen. */
static void read_screen(struct buf *out)
{
    CONSOLE_SCREEN_BUFFER_INFO info;
    char row[512];
    DWORD n;
    if (!GetConsoleScreenBufferInfo(screen, &info))
        return;
    for (SHORT y = 0; y <= info.dwCursorPosition.Y; y++) {
        DWORD width = info.dwSize.X < (SHORT)sizeof row ? (DWORD)info.dwSize.X : sizeof row;
        if (ReadConsoleOutputCharacterA(screen, row, width, (COORD){0, y}, &n))
            buf_add(out, (struct str){row, n});
    }
}

static bool shows(const char *text)
{
    auto_buf struct buf all = {0};
    for (int i = 0; i < 200; i++) {
        buf_reset(&all);
        read_screen(&all);
        if (has(&all, text))
            return true;
        Sleep(50);
    }
    note("the screen has no \"%s\":", text);
    note_output(&all);
    return false;
}

static void press(const char *text)
{
    DWORD n;
    for (; *text; text++) {
        INPUT_RECORD key = {.EventType = KEY_EVENT,
                            .Event.KeyEvent = {.bKeyDown = TRUE,
                                               .wRepeatCount = 1,
                                               .wVirtualKeyCode = *text == '\r' ? VK_RETURN : 0,
                                               .uChar.AsciiChar = *text}};
        WriteConsoleInputA(keys, &key, 1, &n);
    }
}

static void clear_screen(void)
{
    DWORD n;
    FlushConsoleInputBuffer(keys);
    FillConsoleOutputCharacterA(screen, ' ', 200 * 300, (COORD){0, 0}, &n);
    SetConsoleCursorPosition(screen, (COORD){0, 0});
}

enum { QUIET_MS = 900 }; /* longer than keys count as typed ahead */

/* The command wants to make ..\out\new; ahead is typed before the question, answer after it. */
static int asked(const char *options, const char *ahead, const char *answer, struct buf *out)
{
    auto_buf struct buf all = {0};
    clear_screen();
    fresh();
    press(ahead);
    buf_fmt(&all, "--ask %s", options);
    struct command c = confined_start(buf_cstr(&all), "%P% write ..\\out\\new");
    bool shown = answer[0] && shows("wants to create") && shows("Enter");
    if (shown)
        Sleep(QUIET_MS);
    press(shown ? answer : "");
    int code = command_end(&c, 60000, out);
    if (answer[0] && !shown) {
        note("exit code %d", code);
        note_output(out);
    }
    return code;
}

static void test_answers(void)
{
    auto_buf struct buf out = {0}, all = {0};
    int code = asked("", "", "o\r", &out);
    ok(code == 0 && exists("out\\new"), "once, typed on the console");
    code = asked("", "", "n\r", &out);
    ok(code != 0 && !exists("out\\new"), "no, typed on the console");
    code = asked("--ask-timeout 2", "", "\r", &out);
    ok(code != 0 && !exists("out\\new"), "nobody answers in time: no");
    read_screen(&all);
    ok(has(&all, "no answer: no"), "and the screen says so");
    code = asked("--ask-timeout 3", "o\r", "x", &out);
    ok(code != 0 && !exists("out\\new"), "an answer typed ahead is none");
}

/* Keys that were no answers are there for whoever reads next. */
static void test_typed_ahead(void)
{
    INPUT_RECORD records[64];
    DWORD n = 0;
    unsigned found = 0;
    auto_buf struct buf out = {0};
    asked("--ask-timeout 2", "dir", "\r", &out);
    PeekConsoleInputA(keys, records, 64, &n);
    for (DWORD i = 0; i < n && found < 3; i++)
        if (records[i].EventType == KEY_EVENT && records[i].Event.KeyEvent.bKeyDown)
            found += records[i].Event.KeyEvent.uChar.AsciiChar == "dir"[found];
    ok(found == 3, "keys typed before the question stay in the console");
}

static void test_mode(void)
{
    DWORD before = 0, after = 0;
    auto_buf struct buf out = {0};
    GetConsoleMode(keys, &before);
    asked("", "", "o\r", &out);
    GetConsoleMode(keys, &after);
    ok(before == after && before & ENABLE_LINE_INPUT, "the console is as before");
}

/* The console is the command's input and output as well. */
static void test_relayed(void)
{
    auto_buf struct buf line = {0};
    PROCESS_INFORMATION process;
    DWORD code = 999;
    SECURITY_ATTRIBUTES inherit = {sizeof inherit, NULL, TRUE};
    HANDLE in = CreateFileA("CONIN$", GENERIC_READ | GENERIC_WRITE,
                            FILE_SHARE_READ | FILE_SHARE_WRITE, &inherit, OPEN_EXISTING, 0, NULL);
    HANDLE out = CreateFileA("CONOUT$", GENERIC_READ | GENERIC_WRITE,
                             FILE_SHARE_READ | FILE_SHARE_WRITE, &inherit, OPEN_EXISTING, 0, NULL);
    STARTUPINFOA startup = {.cb = sizeof startup,
                            .dwFlags = STARTF_USESTDHANDLES,
                            .hStdInput = in,
                            .hStdOutput = out,
                            .hStdError = out};
    clear_screen();
    fresh();
    expand(&line, "\"");
    buf_fmt(&line, "%s\" run --ask -- ", cordon);
    expand(&line, "cmd /v:on /c \"%P% write ..\\out\\new && set /p line= && echo said !line!\"");
    if (!ok(CreateProcessA(NULL, (char *)buf_cstr(&line), NULL, NULL, TRUE, 0, NULL, path_of("ws"),
                           &startup, &process),
            "a command on the console"))
        return;
    bool shown = shows("wants to create") && shows("Enter");
    Sleep(QUIET_MS);
    press("o\r");
    ok(shown && shows("once"), "its question is answered there");
    Sleep(QUIET_MS);
    press("hello\r");
    bool read = shows("said hello");
    ok(read, "and it reads its own line afterwards");
    if (WaitForSingleObject(process.hProcess, 20000) != WAIT_OBJECT_0)
        TerminateProcess(process.hProcess, 998);
    GetExitCodeProcess(process.hProcess, &code);
    ok(code == 0 && exists("out\\new"), "and the file is there");
    CloseHandle(process.hProcess);
    CloseHandle(process.hThread);
    CloseHandle(in);
    CloseHandle(out);
}

/* What follows is done by a process of the console. */
static int inside(void)
{
    DWORD mode;
    keys = CreateFileA("CONIN$", GENERIC_READ | GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_WRITE,
                       NULL, OPEN_EXISTING, 0, NULL);
    screen = CreateFileA("CONOUT$", GENERIC_READ | GENERIC_WRITE,
                         FILE_SHARE_READ | FILE_SHARE_WRITE, NULL, OPEN_EXISTING, 0, NULL);
    if (!GetConsoleMode(keys, &mode) || !GetConsoleMode(screen, &mode)) {
        skip("questions on a console", "no console can be made here");
        return harness_done();
    }
    test_answers();
    test_typed_ahead();
    test_mode();
    test_relayed();
    return harness_done();
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "inside") == 0) {
        harness_make("ask-console");
        return inside();
    }
    return (int)console_start("inside");
}
