/* SPDX-License-Identifier: Apache-2.0 */
/* Calls the program as a person or an agent calls it: one command line, stdin from text, both
   outputs read back. The arguments stand in quotes that both systems' shells read alike. */
#ifndef CORDON_TESTS_E2E_PROGRAM_H
#define CORDON_TESTS_E2E_PROGRAM_H

#include <stdlib.h>

#include "base/buf.h"
#include "tap.h"

#ifdef _WIN32
#define popen _popen
#define pclose _pclose
#define EXIT_OF(status) (status)
#else
#include <sys/wait.h>
#define EXIT_OF(status) (WIFEXITED(status) ? WEXITSTATUS(status) : -1)
#endif

/* A file of this test program's own below build/. */
__attribute__((unused)) static bool write_file(const char *path, struct str content)
{
    FILE *f = fopen(path, "wb");
    bool done = f && fwrite(content.p ? content.p : "", 1, content.n, f) == content.n;
    return f && fclose(f) == 0 && done;
}

__attribute__((unused)) static bool read_back(const char *path, struct buf *out)
{
    FILE *f = fopen(path, "rb");
    char chunk[4096];
    buf_reset(out);
    for (size_t n; f && (n = fread(chunk, 1, sizeof chunk, f)) > 0;)
        buf_add(out, (struct str){chunk, n});
    if (f)
        fclose(f);
    return f != NULL;
}

/* Takes a variable of an agent that runs the tests out of their way. */
__attribute__((unused)) static void forget_variable(const char *name)
{
#ifdef _WIN32
    char text[128];
    snprintf(text, sizeof text, "%s=", name);
    _putenv(text);
#else
    unsetenv(name);
#endif
}

/* The exit code; -1 if it could not be started. input may be NULL. */
__attribute__((unused)) static int program_run(const char *arguments, const char *input,
                                               struct buf *out)
{
    char command[4096], file[128] = "";
    const char *program = getenv("CORDON_EXE");
    if (input) {
        snprintf(file, sizeof file, "build/e2e-input-%p", (void *)out);
        if (!write_file(file, str_of(input)))
            return -1;
    }
    snprintf(command, sizeof command, "%s %s %s%s 2>&1", program ? program : CORDON_EXE, arguments,
             input ? "< " : "", file);
    buf_reset(out);
    FILE *pipe = popen(command, "r");
    if (!pipe)
        return -1;
    char chunk[4096];
    for (size_t n; (n = fread(chunk, 1, sizeof chunk, pipe)) > 0;)
        buf_add(out, (struct str){chunk, n});
    int status = pclose(pipe);
    if (input)
        remove(file);
    return EXIT_OF(status);
}

__attribute__((unused)) static bool says(const struct buf *out, const char *words)
{
    return str_find(buf_str(out), str_of(words), 0) < out->n || words[0] == '\0';
}

/* One call: its exit code, and words that must stand in what it says. */
__attribute__((unused)) static void expect(const char *what, const char *arguments,
                                           const char *input, int code, const char *words)
{
    auto_buf struct buf out = {0};
    int got = program_run(arguments, input, &out);
    if (!ok(got == code && says(&out, words), "%s", what))
        note("exit code %d, expected %d and \"%s\"; output: %s", got, code, words, buf_cstr(&out));
}

#endif
