/* SPDX-License-Identifier: Apache-2.0 */
/* Where the program begins on Windows: UTF-16 in, WTF-8 from here on. */
#include <fcntl.h>
#include <io.h>
#include <windows.h>

#include "base/utf.h"
#include "cli/cli.h"
#include "launch/windows/second.h"

bool cli_is_terminal(FILE *file)
{
    DWORD mode;
    HANDLE handle = (HANDLE)_get_osfhandle(_fileno(file));
    return GetConsoleMode(handle, &mode) &&
           SetConsoleMode(handle, mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING);
}

/* Keys that end a command must not end this program before it has said how the command ended. */
static BOOL WINAPI stay(DWORD event)
{
    return event == CTRL_C_EVENT || event == CTRL_BREAK_EVENT;
}

void cli_ignore_signals(void)
{
    SetConsoleCtrlHandler(stay, TRUE);
}

void cli_restore_signals(void)
{
    SetConsoleCtrlHandler(stay, FALSE);
}

bool cli_is_second(void)
{
    return second_is_here(NULL);
}

int wmain(int argc, wchar_t **argv);

int wmain(int argc, wchar_t **argv)
{
    auto_arena struct arena arena = {0};
    struct arguments args = {ARENA_ARRAY(&arena, (size_t)argc + 1, const char *), 0, 0, NULL};
    _setmode(_fileno(stdin), _O_BINARY);
    _setmode(_fileno(stdout), _O_BINARY);
    _setmode(_fileno(stderr), _O_BINARY);
    SetConsoleOutputCP(CP_UTF8);
    if (argc > 2 && wcscmp(argv[1], L"" SECOND_WORD) == 0) {
        if (!second_begin(argv[2]))
            return print_failure(SECOND_WORD " is for cordon itself");
        argc -= 2;
        argv += 2;
    }
    for (int i = 1; i < argc && args.items; i++) {
        auto_buf struct buf text = {0};
        utf_from16(&text, (const uint16_t *)argv[i], wcslen(argv[i]));
        args.items[args.count] = text.failed ? NULL : arena_copy(&arena, buf_str(&text)).p;
        if (!args.items[args.count++])
            return print_failure("out of memory");
    }
    auto_buf struct buf line = {0};
    utf_from16(&line, (const uint16_t *)GetCommandLineW(), wcslen(GetCommandLineW()));
    args.raw = buf_cstr(&line);
    return args.items && !line.failed ? cli_main(&args) : print_failure("out of memory");
}
