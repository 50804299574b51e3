/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the broker opens files, point by point: the numbers are those of the list in
 * docs/architecture.md, "Opening without a race". Points 3 (links that are turned) and 6 (statuses)
 * have programs of their own: test_race, test_run; so has point 1 for messages: test_hostile.
 */
#include "harness.h"

/* 1: a handle is checked before anything is asked of it, and the message is read once. */
static void test_handles_named(void)
{
    auto_buf struct buf out = {0};
    fresh();
    confined("--quiet", "%P% hostile handles", &out);
    ok(has(&out, "own file 00000000"), "1 control: a handle of an own file is taken");
    static const char *const kinds[] = {"current process", "current thread", "odd",  "zero",
                                        "beyond",          "event",          "pipe", "process"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        char line[80];
        snprintf(line, sizeof line, "%s 00000000", kinds[i]);
        bool asked = has(&out, kinds[i]);
        if (!ok(asked && !has(&out, line), "1 refused as a file: %s", kinds[i]))
            note_output(&out);
    }
}

/* 2: roots are open from the start, and letters are not the tree's to change. */
static void test_roots(void)
{
    char target[80];
    fresh();
    confined("--quiet", "%P% subst \\??\\%T%\\out", NULL);
    bool stopped = QueryDosDeviceA("Q:", target, sizeof target) == 0;
    run("%P% subst \\??\\%T%\\out", NULL);
    bool possible = QueryDosDeviceA("Q:", target, sizeof target) != 0 ||
                    GetLastError() == ERROR_INSUFFICIENT_BUFFER;
    ok(stopped && possible, "2 the tree cannot make a drive letter");
    DefineDosDeviceA(DDD_REMOVE_DEFINITION, "Q:", NULL);
    fresh();
    ok(confined("--quiet", "cmd /c \"%P% relative sub new && %P% write sub\\..\\other\"", NULL) ==
               0 &&
           exists("ws\\sub\\new") && exists("ws\\other"),
       "2 names below a folder's handle and with dots are found below the root");
}

/* 4: nothing is truncated, overwritten or deleted before it is judged. */
static void test_untouched(void)
{
    static const struct {
        const char *what, *line;
    } ways[] = {{"overwritten", "%P% overwrite hard"},
                {"truncated", "%P% truncate hard"},
                {"made anew", "cmd /c echo x> hard"},
                {"overwritten outside", "%P% overwrite ..\\out\\file"},
                {"deleted on close outside", "%P% delete-on-close ..\\out\\file"}};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        fresh();
        confined("--quiet", ways[i].line, NULL);
        bool same = is_text("out\\file", "old");
        fresh();
        run(ways[i].line, NULL);
        ok(same && !is_text("out\\file", "old"), "4 a file outside is not %s on the way in",
           ways[i].what);
    }
}

/* 5: what the program gets is less than it asked for, and it does not notice. */
static void test_reduced(void)
{
    auto_buf struct buf with = {0}, without = {0};
    fresh();
    run("%P% rights file sub", &without);
    confined("--quiet", "%P% rights file sub", &with);
    ok(has(&without, "file delete 1, security 1") && has(&without, "sub delete 1, security 1"),
       "5 control: without the sandbox everything is granted");
    ok(has(&with, "file delete 0, security 0, write 1"),
       "5 a file's handle has no DELETE, WRITE_DAC or WRITE_OWNER");
    ok(has(&with, "sub delete 0, security 0, write 0"), "5 a folder's handle has no write right");
    fresh();
    ok(confined("--quiet", "%P% rename-granted file g", NULL) == 0 && exists("ws\\g"),
       "5 and yet its file can be renamed, by the broker");
}

/* 7: what the program holds blocks nobody. */
static void test_blocked(void)
{
    auto_buf struct buf out = {0};
    fresh();
    struct command holder = confined_start("--quiet", "%P% hold sub\\held 6000");
    for (int i = 0; i < 500 && !exists("ws\\sub\\held"); i++)
        Sleep(10);
    uint64_t begin = GetTickCount64();
    confined("--quiet", "cmd /c \"%P% write sub\\held & %P% write new\"", &out);
    uint64_t took = GetTickCount64() - begin;
    ok(exists("ws\\new") && took < 5000, "7 a file that is held by another is refused at once");
    ok(command_end(&holder, 30000, NULL) == 0, "7 and its holder goes on");
}

/* 8: the broker is nobody's client. */
static void test_pipes(void)
{
    auto_buf struct buf out = {0};
    fresh();
    int code = confined("--quiet", "%P% pipe-who \\\\.\\pipe\\cordon-test-who", &out);
    if (!ok(code == 0 && has(&out, "client is the program"),
            "8 who opens a pipe for writing is the program itself"))
        note_output(&out);
}

int main(void)
{
    harness_make("open");
    test_handles_named();
    test_roots();
    test_untouched();
    test_reduced();
    test_blocked();
    test_pipes();
    return harness_done();
}
