/* SPDX-License-Identifier: Apache-2.0 */
/* cordon-selftest.exe: started by `cordon selftest`, and the probe of its own attempts. */
#include <fcntl.h>
#include <io.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

#include "base/json.h"
#include "selftest/command.h"

enum { EXIT_FAILED = 125 };

static int fail(const char *sentence)
{
    fflush(stdout);
    fprintf(stderr, "cordon: %s\n", sentence);
    return EXIT_FAILED;
}

/* Ends with the cordon.exe that started it, however that ends. */
static DWORD WINAPI end_with(void *parent)
{
    WaitForSingleObject(parent, INFINITE);
    ExitProcess(EXIT_FAILED);
}

static void watch_parent(const char *pid)
{
    HANDLE parent = OpenProcess(SYNCHRONIZE, FALSE, strtoul(pid, NULL, 10));
    HANDLE thread = parent ? CreateThread(NULL, 0, end_with, parent, 0, NULL) : NULL;
    if (thread)
        CloseHandle(thread);
}

/* As every command of cordon ends that cannot answer with --json. */
static void print_error_object(struct str sentence)
{
    auto_buf struct buf out = {0};
    struct json_writer w = {.out = &out};
    json_open(&w, '{');
    json_put(&w, STR("error"), sentence);
    json_put_number(&w, STR("exit"), EXIT_FAILED);
    json_close(&w, '}');
    puts(buf_cstr(&out));
}

int main(int argc, char **argv)
{
    auto_buf struct buf error = {0};
    struct selftest_request request = {.boundary = "interposed"};
    _setmode(_fileno(stdin), _O_BINARY);
    _setmode(_fileno(stdout), _O_BINARY);
    _setmode(_fileno(stderr), _O_BINARY);
    if (argc == 3 && strcmp(argv[1], "--probe") == 0)
        return selftest_probe(argv[2]);
    for (int i = 1; i < argc; i++) {
        bool more = i + 1 < argc;
        if (strcmp(argv[i], "--program") == 0 && more)
            request.program = argv[++i];
        else if (strcmp(argv[i], "--only") == 0 && more)
            request.only = argv[++i];
        else if (strcmp(argv[i], "--parent") == 0 && more)
            watch_parent(argv[++i]);
        else if (strcmp(argv[i], "--kernel") == 0)
            request.boundary = "kernel";
        else if (strcmp(argv[i], "--json") == 0)
            request.json = true;
        else if (strcmp(argv[i], "--keep") == 0)
            request.keep = true;
        else if (strcmp(argv[i], "--progress") == 0)
            request.progress = true;
    }
    if (!request.program)
        return fail("this program is a part of cordon.exe; type: cordon selftest");
    int code = selftest_command(&request, &error);
    if (code >= 0)
        return code;
    if (request.json)
        print_error_object(buf_str(&error));
    return fail(buf_cstr(&error));
}
