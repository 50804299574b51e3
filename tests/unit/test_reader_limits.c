/* SPDX-License-Identifier: Apache-2.0 */
/* The cmd and bash readers are linear: a megabyte of anything, and eight times as much is not
 * sixty. */
#include "guard/guard.h"
#include "tap.h"

#include <stdlib.h>
#include <time.h>

static const char *const pieces[] = {
    " ",           "\"",
    "'",           "^",
    "`",           "(",
    "{",           "$(",
    "%",           "&",
    "<<",          "!",
    "${",          "for %i in (",
    "\\",          "|",
    ";",           "\n",
    "a;",          "a\n",
    "$x",          "%a%",
    "!a!",         "set a=b&",
    "[[ ",         "((",
    "case x in ",  "if ",
    "if 1==1 ",    "while ",
    "{a,",         "{a,b}",
    "<(",          "`a`",
    "a&&",         "a||b&&",
    "call ",       "^\n",
    "(a)",         "a[",
    "@(",          " <<x\n",
    "set a=%a%x&", "x=$x$x;",
    "eval ",       "echo a|",
    "start ",      "rd /s ",
    "$((",         "f(){ :;};f;",
    "f(){",        "$'",
    "\"$(",        "\"${x:-",
    "cmd /c ",     "bash -c ",
    "env ",        "command ",
    ":a\n",        "rem x\n",
    "${a[",        "if a;then b;fi;",
    "a=(b);",      "x=1;",
};

static char text[1024 * 1024];

static double milliseconds(struct guard *g, enum guard_shell shell, size_t size)
{
    struct guard_answer a;
    clock_t start = clock();
    if (guard_check(g, &(struct guard_question){.shell = shell, .text = {text, size}}, &a))
        return 1e9;
    return (double)(clock() - start) * 1000.0 / CLOCKS_PER_SEC;
}

static void fill(const char *piece)
{
    size_t n = strlen(piece);
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = piece[i % n];
}

static void check(struct guard *g, enum guard_shell shell, const char *name)
{
    double small = milliseconds(g, shell, sizeof text / 8);
    double large = milliseconds(g, shell, sizeof text);
    /* generous: sanitizers, Wine and busy machines; a quadratic reader needs minutes */
    if (!ok(large < small * 24 + 400, "%s: 1 MiB of %s", shell == GUARD_CMD ? "cmd" : "bash", name))
        note("%.1f ms for 1/8, %.1f ms for all", small, large);
}

static bool is_limit(const struct guard_answer *a)
{
    for (size_t i = 0; i < a->finding_count; i++)
        if (a->findings[i].rule == GUARD_OPAQUE_LIMIT)
            return true;
    return false;
}

/* The most that is read, and one more. */
static void check_most(struct guard *g)
{
    struct guard_answer a;
    for (size_t more = 0; more < 2; more++) {
        size_t count = GUARD_MAX_COMMANDS + more;
        for (size_t i = 0; i < count; i++)
            memcpy(text + 2 * i, "a\n", 2);
        int rc = guard_check(
            g, &(struct guard_question){.shell = GUARD_BASH, .text = {text, 2 * count}}, &a);
        ok(rc == 0 && is_limit(&a) == (more == 1), "%u commands", (unsigned)count);
    }
    memset(text, 'a', sizeof text);
    for (size_t more = 0; more < 2; more++) {
        /* Each word counts with one byte after it. */
        const struct str argv[] = {{"a", 1}, {text, GUARD_MAX_INPUT - 3 + more}};
        int rc = guard_check(g, &(struct guard_question){.argv = argv, .argc = 2}, &a);
        ok(rc == 0 && is_limit(&a) == (more == 1), "argv of %u bytes",
           (unsigned)(GUARD_MAX_INPUT + more));
    }
}

int main(void)
{
    struct guard *g;
    if (guard_new(&g))
        return 1;
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        fill(pieces[i]);
        check(g, GUARD_CMD, pieces[i][0] == '\n' ? "new lines" : pieces[i]);
        check(g, GUARD_BASH, pieces[i][0] == '\n' ? "new lines" : pieces[i]);
    }
    unsigned state = 1;
    for (size_t i = 0; i < sizeof text; i++) {
        state = state * 1103515245u + 12345u;
        text[i] = (char)(state >> 16);
    }
    check(g, GUARD_CMD, "random bytes");
    check(g, GUARD_BASH, "random bytes");
    check_most(g);
    guard_free(g);
    return tap_done();
}
