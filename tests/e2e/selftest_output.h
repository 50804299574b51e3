/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The output of a selftest, line by line, and whether each promise that the real program keeps is
 * called broken when a program that keeps none (tests/doubles) says that it keeps it.
 */
#ifndef CORDON_TESTS_SELFTEST_OUTPUT_H
#define CORDON_TESTS_SELFTEST_OUTPUT_H

#include "base/str.h"
#include "tap.h"

enum { PROMISE_MOST = 100 };

/* Zero: there is no such line. */
enum promise_result { PROMISE_ABSENT = 0, PROMISE_OK, PROMISE_NOT_OK, PROMISE_NOT_TRIED };

struct promise_lines {
    enum promise_result results[PROMISE_MOST];
    bool powerless[PROMISE_MOST]; /* "it had no effect" */
    unsigned ok, not_ok, not_tried;
};

/* Promises that programs work: nothing confined breaks none of them, everything refused does. */
static const unsigned promise_when_shut[] = {22, 66};

/* These and those that something is allowed: refusing everything must break them. */
#define PROMISE_SHUT "2,4,6,8,10,12,13,14,16,19,22,23,25,26,49,55,59,66"

static inline void promise_read(struct str tap, struct promise_lines *out)
{
    *out = (struct promise_lines){0};
    for (size_t at = 0, end; at < tap.n; at = end + 1) {
        end = str_find(tap, STR("\n"), at);
        struct str line = {tap.p + at, end - at};
        bool not_ok = str_starts(line, STR("not ok "));
        unsigned n = 0;
        if (!not_ok && !str_starts(line, STR("ok ")))
            continue;
        for (size_t i = not_ok ? 7 : 3; i < line.n && line.p[i] >= '0' && line.p[i] <= '9'; i++)
            n = 10 * n + (unsigned)(line.p[i] - '0');
        if (n == 0 || n >= PROMISE_MOST)
            continue;
        bool untried = str_find(line, STR("# SKIP not tried: "), 0) < line.n;
        out->results[n] = untried ? PROMISE_NOT_TRIED : not_ok ? PROMISE_NOT_OK : PROMISE_OK;
        out->powerless[n] = str_find(line, STR("it had no effect"), 0) < line.n;
        out->ok += !not_ok && !untried;
        out->not_ok += not_ok;
        out->not_tried += untried;
    }
}

/* One test for each promise that the real program keeps. */
static inline void promise_compare(const struct promise_lines *real,
                                   const struct promise_lines *open,
                                   const struct promise_lines *shut)
{
    for (unsigned n = 1; n < PROMISE_MOST; n++) {
        bool when_shut = false;
        if (real->results[n] != PROMISE_OK)
            continue;
        for (size_t i = 0; i < sizeof promise_when_shut / sizeof *promise_when_shut; i++)
            when_shut = when_shut || promise_when_shut[i] == n;
        if (when_shut)
            ok(shut->results[n] == PROMISE_NOT_OK,
               "promise %u is broken where everything is refused", n);
        else
            ok(open->results[n] == PROMISE_NOT_OK, "promise %u is broken where nothing is confined",
               n);
    }
}

/* Promises that something is allowed: refusing everything must break them by their own effect. */
static inline bool promise_allowed(const struct promise_lines *shut)
{
    static const unsigned allowed[] = {2, 4, 6, 8, 10, 12, 13, 14, 16, 19, 23, 25, 26, 49, 55, 59};
    bool all = true;
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++)
        if (!shut->powerless[allowed[i]]) {
            note("promise %u", allowed[i]);
            all = false;
        }
    return all;
}

#endif
