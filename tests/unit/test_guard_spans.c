/* SPDX-License-Identifier: Apache-2.0 */
/* The span of a finding: the part of the command that is underlined. And where words end. */
#include <stdlib.h>

#include "guard/guard.h"
#include "tap.h"

static const struct {
    enum guard_shell shell;
    const char *text, *underlined;
} rows[] = {
    {GUARD_CMD, "dir & start https://page.test", "https://page.test"},
    {GUARD_CMD, "start \"\" /b https://page.test now", "https://page.test"},
    {GUARD_CMD, "explorer /select,x https://page.test", "https://page.test"},
    {GUARD_CMD, "forfiles /p x /c \"cmd /c start https://page.test\" /s",
     "\"cmd /c start https://page.test\""},
    {GUARD_CMD, "forfiles /c \"xdg-open https://page.test\"", "\"xdg-open https://page.test\""},
    {GUARD_CMD, "msedge https://page.test --new-window", "https://page.test"},
    {GUARD_CMD, "rundll32 url.dll,OpenURL https://page.test", "https://page.test"},
    {GUARD_CMD, "rd /s /q C:\\x", "C:\\x"},
    {GUARD_BASH, "ls; xdg-open --manual https://page.test", "https://page.test"},
    {GUARD_BASH, "gio open https://page.test", "https://page.test"},
    {GUARD_BASH, "python -c 'import webbrowser; webbrowser.open(1)'",
     "'import webbrowser; webbrowser.open(1)'"},
    {GUARD_BASH, "npm exec -c 'start https://page.test' x", "'start https://page.test'"},
    {GUARD_BASH, "rm -rf build ~/x", "build"},
    {GUARD_BASH, "git clean -fdx", "clean"},
    {GUARD_BASH, "dd if=/dev/zero of=/dev/sda bs=1M", "of=/dev/sda"},
};

/* A word ends where its length says, whatever follows it. */
static void test_counted(struct guard *guard)
{
    struct str argv[] = {STR("env"), STR("-iS"), STR("xdg-open www.page.test")};
    struct guard_question q = {.argv = argv, .argc = 3};
    struct guard_answer a = {0};
    ok(guard_check(guard, &q, &a) == 0 && a.verdict == CORDON_DENY, "env -iS reads its word");
    q.argc = 0;
    ok(guard_check(guard, &q, &a) == 0 && a.verdict == CORDON_ALLOW, "no words are nothing");
    q.argc = 3;
    argv[1].n--;
    ok(guard_check(guard, &q, &a) == 0 && a.verdict == CORDON_ALLOW, "env -i does not");
    /* In a buffer of exactly its size. */
    static const char code[] = "os.system('start https://page.test\\";
    char *copy = malloc(sizeof code - 1);
    memcpy(copy, code, sizeof code - 1);
    argv[0] = STR("python");
    argv[1] = STR("-c");
    argv[2] = (struct str){copy, sizeof code - 1};
    ok(guard_check(guard, &q, &a) == 0 && a.verdict == CORDON_DENY, "code that ends in the middle");
    free(copy);
}

int main(void)
{
    struct guard *guard;
    if (guard_new(&guard))
        return 1;
    test_counted(guard);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct guard_answer a = {0};
        struct str text = str_of(rows[i].text), got = STR_NONE;
        if (guard_check(guard, &(struct guard_question){.shell = rows[i].shell, .text = text},
                        &a) == 0 &&
            a.finding_count && a.findings[0].end <= text.n)
            got = str_slice(text, a.findings[0].start, a.findings[0].end);
        if (!ok(str_eq(got, str_of(rows[i].underlined)), "%s", rows[i].text))
            note("underlined: %.*s", STR_ARG(got));
    }
    guard_free(guard);
    return tap_done();
}
