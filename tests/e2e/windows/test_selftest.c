/* SPDX-License-Identifier: Apache-2.0 */
/* cordon selftest proves every promise that this machine can show, each line can fail, what is not
   tried says why, and nothing stays behind. */
#include "../selftest_output.h"
#include "harness.h"

/* Folders of a selftest under the temp folder. */
static unsigned folders_left(void)
{
    char temp[MAX_PATH], pattern[MAX_PATH + 40];
    unsigned count = 0;
    WIN32_FIND_DATAA found;
    GetTempPathA(MAX_PATH, temp);
    snprintf(pattern, sizeof pattern, "%s\\cordon-selftest-*", temp);
    HANDLE find = FindFirstFileA(pattern, &found);
    if (find == INVALID_HANDLE_VALUE)
        return 0;
    do
        count++;
    while (FindNextFileA(find, &found));
    FindClose(find);
    return count;
}

static bool file_holds(const char *path, const char *text)
{
    auto_buf struct buf all = {0};
    char chunk[4096];
    FILE *f = fopen(path, "rb");
    for (size_t n; f && (n = fread(chunk, 1, sizeof chunk, f)) > 0;)
        buf_add(&all, (struct str){chunk, n});
    if (f)
        fclose(f);
    return has(&all, text);
}

static int selftest(const char *program, const char *words, struct promise_lines *lines,
                    struct buf *out)
{
    auto_buf struct buf line = {0};
    buf_fmt(&line, "\"%s\" selftest %s", program, words);
    struct command c = command_start(buf_cstr(&line));
    int code = command_end(&c, 400000, out);
    promise_read(buf_str(out), lines);
    return code;
}

/* Which promises are not tried here, and that only Windows itself can remove the reason. */
static void check_not_tried(const struct promise_lines *real)
{
    static const unsigned only_windows[] = {41, 61, 62, 64};
    unsigned other = 0;
    for (unsigned n = 1; n <= 66; n++) {
        bool known = false;
        for (size_t i = 0; i < sizeof only_windows / sizeof *only_windows; i++)
            known = known || only_windows[i] == n;
        if (real->results[n] == PROMISE_NOT_TRIED && !known) {
            note("promise %u is not tried", n);
            other++;
        }
    }
    ok(real->ok >= 62 && other == 0, "selftest: nothing but 41, 61, 62 and 64 is not tried");
}

static void check_each_can_fail(const struct promise_lines *real)
{
    static char open_build[MAX_PATH];
    struct promise_lines open, shut, canary;
    auto_buf struct buf out = {0};
    GetFullPathNameA(CORDON_OPEN, sizeof open_build, open_build, NULL);
    int code = selftest(open_build, "", &open, &out);
    buf_reset(&out);
    SetEnvironmentVariableA("CORDON_TEST_RUN", "shut");
    int other = selftest(open_build, "--only " PROMISE_SHUT, &shut, &out);
    SetEnvironmentVariableA("CORDON_TEST_RUN", NULL);
    ok(code == 1 && other == 1, "a program that keeps no promise fails");
    promise_compare(real, &open, &shut);
    ok(promise_allowed(&shut), "what must be possible is missed where nothing is");
    buf_reset(&out);
    SetEnvironmentVariableA("CORDON_TEST_CANARY", "1");
    code = selftest(open_build, "--only 2,43,58", &canary, &out);
    SetEnvironmentVariableA("CORDON_TEST_CANARY", NULL);
    ok(code == 1 && canary.not_ok == 3 && has(&out, "could write outside"),
       "an attempt that was not confined breaks every promise");
    ok(file_holds(open_build, "confines nothing") && file_holds(open_build, "CORDON_TEST") &&
           !file_holds(cordon, "confines nothing") && !file_holds(cordon, "CORDON_TEST"),
       "the program that is shipped has no such switch");
}

/* Killed at some moment, with a run under way: after a while nothing of it is there. */
static void check_killed(DWORD milliseconds)
{
    struct command c = command_start("%C% selftest");
    Sleep(milliseconds);
    bool began = folders_left() == 1;
    TerminateProcess(c.process, 9);
    command_end(&c, 5000, NULL);
    for (int i = 0; i < 300 && folders_left() > 0; i++)
        Sleep(100);
    ok(began && folders_left() == 0, "selftest: killed after %lu ms it leaves nothing",
       (unsigned long)milliseconds);
}

int main(void)
{
    auto_buf struct buf out = {0};
    struct promise_lines real;
    harness_make("proves");
    fresh();
    uint64_t begin = GetTickCount64();
    int code = selftest(cordon, "", &real, &out);
    unsigned seconds = (unsigned)((GetTickCount64() - begin) / 1000);
    if (!ok(code == 0 && real.not_ok == 0, "selftest: %u proven, %u not, %u not tried, %u s",
            real.ok, real.not_ok, real.not_tried, seconds))
        for (size_t at = 0; (at = str_find(buf_str(&out), STR("\nnot ok"), at)) < out.n; at++)
            note("%.300s", out.p + at + 1);
    ok(has(&out, " proven, 0 failed, 0 not proven, "), "selftest: the last line counts");
    check_not_tried(&real);
    ok(folders_left() == 0, "selftest: cleans up after itself");
    check_each_can_fail(&real);
    check_killed(3000);
    check_killed(9000);
    buf_reset(&out);
    ok(run("%S%", &out) == 125 && has(&out, "type: cordon selftest"),
       "selftest: its program alone says what to type");
    buf_reset(&out);
    CopyFileA(cordon, path_of("ws\\alone.exe"), FALSE);
    ok(run("%T%\\ws\\alone.exe selftest --only 3", &out) == 125 && has(&out, "cordon-selftest.exe"),
       "selftest: without that program cordon says what is missing");
    buf_reset(&out);
    ok(run("%C% selftest --only 999", &out) == 125 && has(&out, "unknown promise 999"),
       "selftest: a number that is none");
    buf_reset(&out);
    ok(run("%C% selftest --json --only 3,34", &out) == 0 && has(&out, "\"pass\":2,\"fail\":0"),
       "selftest: --json and --only");
    return harness_done();
}
