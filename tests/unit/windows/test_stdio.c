/* SPDX-License-Identifier: Apache-2.0 */
/* Standard handles: what is passed on, what is relayed, byte for byte, and when a relay ends. */
#include <windows.h>

#include "child.h"
#include "launch/windows/stdio.h"
#include "launch/windows/wine.h"
#include "windows/console.h"

enum { MEGABYTE = 1 << 20 };

static struct launch_failure failure;
static unsigned char block[MEGABYTE];

/* Every byte value, no short period. */
static void fill(size_t from)
{
    uint32_t x = (uint32_t)from * 2654435761u + 1;
    for (size_t i = 0; i < sizeof block; i++) {
        x = x * 1664525u + 1013904223u;
        block[i] = (unsigned char)(x >> 24);
    }
}

static bool write_all(HANDLE file, const unsigned char *p, size_t size)
{
    for (DWORD n; size > 0; p += n, size -= n)
        if (!WriteFile(file, p, size < 100000 ? (DWORD)size : 100000, &n, NULL) || n == 0)
            return false;
    return true;
}

static bool write_megabytes(HANDLE file, size_t count)
{
    bool all = true;
    for (size_t i = 0; i < count && all; i++) {
        fill(i);
        all = write_all(file, block, sizeof block);
    }
    return all;
}

/* True if the file holds exactly what write_megabytes wrote. */
static bool read_megabytes(HANDLE file, size_t count)
{
    static unsigned char got[MEGABYTE];
    DWORD n = 0;
    for (size_t i = 0; i < count; i++) {
        for (size_t have = 0; have < sizeof got; have += n)
            if (!ReadFile(file, got + have, (DWORD)(sizeof got - have), &n, NULL) || n == 0)
                return false;
        fill(i);
        if (memcmp(got, block, sizeof got) != 0)
            return false;
    }
    return !ReadFile(file, got, 1, &n, NULL) || n == 0;
}

static HANDLE scratch(void)
{
    wchar_t path[MAX_PATH];
    static int number;
    wchar_t leaf[16];
    swprintf(leaf, 16, L"%d.bin", number++);
    child_folder(path, leaf);
    return CreateFileW(path, GENERIC_READ | GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_WRITE, NULL,
                       CREATE_ALWAYS, FILE_FLAG_DELETE_ON_CLOSE, NULL);
}

static void rewind_file(HANDLE file)
{
    SetFilePointer(file, 0, NULL, FILE_BEGIN);
}

static DWORD run_with(struct stdio *s, const char *words)
{
    PROCESS_INFORMATION child;
    bool started = child_start(words, NULL, 0, s->child, &child);
    stdio_started(s);
    return started ? child_end(&child) : 9998;
}

static void test_passing(void)
{
    HANDLE file = scratch(), pipe_read, pipe_write;
    CreatePipe(&pipe_read, &pipe_write, NULL, 0);
    HANDLE own[] = {NULL, file, pipe_write};
    struct stdio s;
    char text[16] = "";
    DWORD n, flags = 0;
    ok(stdio_open_handles(&s, own, &failure) == 0, "no input, a file and a pipe");
    ok(!s.relay[0] && !s.relay[1] && !s.relay[2], "nothing is relayed");
    ok(s.child[1] != file && GetHandleInformation(s.child[1], &flags) &&
           (flags & HANDLE_FLAG_INHERIT) && GetHandleInformation(file, &flags) &&
           !(flags & HANDLE_FLAG_INHERIT),
       "the child's handle is inherited, ours is not");
    ok(run_with(&s, "say") == 0, "a child reads the end of NUL and writes to both");
    stdio_finish(&s);
    CloseHandle(pipe_write);
    ok(ReadFile(pipe_read, text, sizeof text, &n, NULL) && n == 3 && memcmp(text, "err", 3) == 0,
       "the pipe has what it wrote");
    ok(!ReadFile(pipe_read, text, sizeof text, &n, NULL) && GetLastError() == ERROR_BROKEN_PIPE,
       "and then its end");
    rewind_file(file);
    ok(ReadFile(file, text, sizeof text, &n, NULL) && n == 3 && memcmp(text, "out", 3) == 0,
       "the file, too");
    CloseHandle(pipe_read);
    CloseHandle(file);
}

static void test_relays(void)
{
    HANDLE input = scratch(), output = scratch();
    HANDLE own[] = {NULL, NULL, NULL};
    struct stdio s;
    ok(write_megabytes(input, 10), "ten megabytes of input");
    rewind_file(input);
    bool opened = stdio_open_handles(&s, own, &failure) == 0 &&
                  stdio_relay(&s, 0, input, &failure) == 0 &&
                  stdio_relay(&s, 1, output, &failure) == 0;
    if (!ok(opened, "input and output are relayed")) {
        note("%s", failure.text);
        return;
    }
    DWORD code = run_with(&s, "copy 10");
    stdio_finish(&s);
    ok(code == 0, "the child got them byte for byte (%lu)", code);
    rewind_file(output);
    ok(read_megabytes(output, 10), "and its own ten came back byte for byte");
    CloseHandle(input);
    CloseHandle(output);
}

static void test_ends(void)
{
    HANDLE output = scratch(), held = NULL, input_read, input_write;
    HANDLE own[] = {NULL, NULL, NULL};
    struct stdio s;
    char text[16] = "";
    DWORD n;
    CreatePipe(&input_read, &input_write, NULL, 0);
    bool opened = stdio_open_handles(&s, own, &failure) == 0 &&
                  stdio_relay(&s, 0, input_read, &failure) == 0 &&
                  stdio_relay(&s, 1, output, &failure) == 0;
    ok(opened && DuplicateHandle(GetCurrentProcess(), s.child[1], GetCurrentProcess(), &held, 0,
                                 FALSE, DUPLICATE_SAME_ACCESS),
       "somebody else holds the output, and the input never ends");
    ok(run_with(&s, "out") == 0, "the child writes and ends");
    ULONGLONG begin = GetTickCount64();
    stdio_finish(&s);
    ok(GetTickCount64() - begin < 3000, "the relays end all the same (%llu ms)",
       GetTickCount64() - begin);
    rewind_file(output);
    ok(ReadFile(output, text, sizeof text, &n, NULL) && n == 3, "nothing was lost");
    ok(!WriteFile(held, "late", 4, &n, NULL), "who still holds it writes to nobody");
    CloseHandle(held);
    /* A read that Windows did not take back would swallow this. */
    CloseHandle(input_write);
    CloseHandle(input_read);
    CloseHandle(output);
}

/* A child whose reader has gone sees what it would have seen without the relay. */
static void test_broken(void)
{
    HANDLE pipe_read, pipe_write;
    HANDLE own[] = {NULL, NULL, NULL};
    struct stdio s;
    CreatePipe(&pipe_read, &pipe_write, NULL, 0);
    CloseHandle(pipe_read);
    ok(stdio_open_handles(&s, own, &failure) == 0 &&
           stdio_relay(&s, 1, pipe_write, &failure) == 0 && run_with(&s, "forever") == 0,
       "the child's write fails when nobody reads any more");
    stdio_finish(&s);
    CloseHandle(pipe_write);
}

/* Printed, not judged: the benchmark does that. */
static void test_speed(void)
{
    for (int relayed = 0; relayed < 2; relayed++) {
        HANDLE output = CreateFileW(L"NUL", GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_WRITE, NULL,
                                    OPEN_EXISTING, 0, NULL);
        HANDLE pipe_read = NULL, pipe_write = NULL;
        HANDLE own[] = {NULL, output, NULL};
        struct stdio s;
        CreatePipe(&pipe_read, &pipe_write, NULL, 65536);
        own[1] = pipe_write;
        if (stdio_open_handles(&s, own, &failure) ||
            (relayed && stdio_relay(&s, 1, pipe_write, &failure)))
            break;
        PROCESS_INFORMATION child;
        ULONGLONG begin = GetTickCount64();
        child_start("flood 100", NULL, 0, s.child, &child);
        stdio_started(&s);
        CloseHandle(relayed ? NULL : pipe_write);
        size_t total = 0;
        DWORD n;
        while (total < 100u * MEGABYTE && ReadFile(pipe_read, block, 65536, &n, NULL) && n > 0)
            total += n;
        note("100 MB %s: %llu ms", relayed ? "relayed" : "direct", GetTickCount64() - begin);
        if (relayed)
            ok(total == 100u * MEGABYTE, "100 MB arrive");
        child_end(&child);
        stdio_finish(&s);
        if (relayed)
            CloseHandle(pipe_write);
        CloseHandle(pipe_read);
        CloseHandle(output);
    }
}

/* In a process of a console: a bit for each that failed. */
static int press_ctrl_c(void)
{
    HANDLE ends[] = {CreateEventW(NULL, TRUE, FALSE, NULL), CreateEventW(NULL, TRUE, FALSE, NULL)};
    struct stdio_watch watches[2];
    int failed = stdio_watch_console(&watches[0], ends[0]) == 0 &&
                         stdio_watch_console(&watches[1], ends[1]) == 0
                     ? 0
                     : 1;
    if (!GenerateConsoleCtrlEvent(CTRL_C_EVENT, 0))
        return CONSOLE_NONE;
    failed |= WaitForMultipleObjects(2, ends, TRUE, 3000) == WAIT_OBJECT_0 ? 0 : 2;
    ResetEvent(ends[0]);
    ResetEvent(ends[1]);
    stdio_unwatch_console(&watches[0]);
    GenerateConsoleCtrlEvent(CTRL_C_EVENT, 0);
    failed |= WaitForSingleObject(ends[1], 3000) == WAIT_OBJECT_0 ? 0 : 4;
    failed |= WaitForSingleObject(ends[0], 0) == WAIT_TIMEOUT ? 0 : 8;
    stdio_unwatch_console(&watches[1]);
    return failed;
}

static void test_console(void)
{
    DWORD failed = console_start("ctrl-c");
    if (failed == CONSOLE_NONE) {
        skip("Ctrl-C on a console", "no console can be made here");
    } else {
        ok(!(failed & 1), "the console is watched by two runs");
        ok(!(failed & 2), "Ctrl-C sets the events of both");
        ok(!(failed & 4), "and of the second after the first has gone");
        ok(!(failed & 8), "and not of the first then");
    }
    if (wine_is_here() && GetFileType(GetStdHandle(STD_OUTPUT_HANDLE)) == FILE_TYPE_PIPE) {
        HANDLE pipe_read, pipe_write;
        CreatePipe(&pipe_read, &pipe_write, NULL, 0);
        ok(wine_is_unix_pipe(GetStdHandle(STD_OUTPUT_HANDLE)) && !wine_is_unix_pipe(pipe_read) &&
               !wine_is_unix_pipe(pipe_write),
           "a pipe of the Unix side is told from one of Windows");
        CloseHandle(pipe_read);
        CloseHandle(pipe_write);
    } else {
        skip("a pipe of the Unix side", "standard output is none");
    }
}

static int child_main(char **argv)
{
    HANDLE in = GetStdHandle(STD_INPUT_HANDLE), out = GetStdHandle(STD_OUTPUT_HANDLE);
    size_t count = argv[2] ? (size_t)atoi(argv[2]) : 0;
    DWORD n = 0;
    char c;
    if (strcmp(argv[1], "ctrl-c") == 0)
        return press_ctrl_c();
    if (strcmp(argv[1], "say") == 0)
        return ReadFile(in, &c, 1, &n, NULL) && n == 0 && WriteFile(out, "out", 3, &n, NULL) &&
                       WriteFile(GetStdHandle(STD_ERROR_HANDLE), "err", 3, &n, NULL)
                   ? 0
                   : 1;
    if (strcmp(argv[1], "copy") == 0)
        return read_megabytes(in, count) && write_megabytes(out, count) ? 0 : 1;
    if (strcmp(argv[1], "flood") == 0) {
        for (size_t i = 0; i < count; i++)
            if (!write_all(out, block, sizeof block))
                return 1;
        return 0;
    }
    if (strcmp(argv[1], "out") == 0)
        return WriteFile(out, "out", 3, &n, NULL) ? 0 : 1;
    if (strcmp(argv[1], "forever") == 0) {
        for (int i = 0; i < 1000; i++)
            if (!write_all(out, block, sizeof block))
                return 0;
        return 1;
    }
    return 99;
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return child_main(argv);
    test_passing();
    test_relays();
    test_ends();
    test_broken();
    test_speed();
    test_console();
    return tap_done();
}
