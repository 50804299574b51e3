/* SPDX-License-Identifier: Apache-2.0 */
/* The order of the promises, the counts, and how they are worded. */
#include "selftest/selftest.h"

#include <stdio.h>

#include "cordon.h"
#include "launch/disk.h"

enum force { NONE = 0, KERNEL, SERVICE, INTERPOSED };

static const struct promise {
    unsigned n;
    enum force by[2]; /* Linux, Windows */
    const char *name;
} promises[] = {
#define PROMISE(n, linux, windows, name) {n, {linux, windows}, name},
#include "selftest/promises.def"
};

enum { COUNT = sizeof promises / sizeof *promises };

const char *selftest_result_name(enum selftest_result result)
{
    static const char *const names[] = {"not_proven", "pass", "fail", "not_tried"};
    return names[result];
}

static bool is_wanted(const struct selftest_options *o, unsigned n)
{
    for (size_t i = 0; i < o->only_count; i++)
        if (o->only[i] == n)
            return true;
    return o->only_count == 0;
}

static void count(struct selftest_counts *counts, enum selftest_result result)
{
    switch (result) {
    case SELFTEST_PASS: counts->pass++; return;
    case SELFTEST_FAIL: counts->fail++; return;
    case SELFTEST_NOT_PROVEN: counts->not_proven++; return;
    case SELFTEST_NOT_TRIED: counts->not_tried++; return;
    }
}

int selftest_run(const struct selftest_options *o, struct selftest_counts *counts,
                 struct buf *error)
{
    static const char *const forces[] = {"", "kernel", "service", "interposed"};
    struct selftest_world *world = NULL;
    *counts = (struct selftest_counts){0};
    for (size_t i = 0; i < o->only_count; i++) {
        bool known = false;
        for (size_t j = 0; j < COUNT; j++)
            known = known || promises[j].n == o->only[i];
        if (!known) {
            buf_fmt(error, "unknown promise %u; they are numbered 1 to %u", o->only[i],
                    promises[COUNT - 1].n);
            return CORDON_E_VALUE;
        }
    }
    bool windows = disk_dialect() == PATH_WINDOWS;
    int rc = selftest_open(o, &world, error);
    for (size_t i = 0; i < COUNT && rc == 0; i++) {
        const struct promise *p = &promises[i];
        if (!is_wanted(o, p->n))
            continue;
        struct selftest_line line = {
            .n = p->n, .name = p->name, .enforced_by = forces[p->by[windows]]};
        if (o->begin)
            o->begin(o->context, p->n, p->name);
        if (p->by[windows] == NONE) {
            line.result = SELFTEST_NOT_TRIED;
            snprintf(line.why, sizeof line.why, "this has a meaning on %s only",
                     windows ? "Linux" : "Windows");
        } else {
            selftest_try(world, p->n, &line);
        }
        count(counts, line.result);
        o->line(o->context, &line);
    }
    if (world)
        selftest_close(world);
    return rc;
}

void selftest_tap(const struct selftest_line *line, struct buf *out)
{
    bool untried = line->result == SELFTEST_NOT_TRIED;
    buf_fmt(out, "%sok %u - %s", line->result == SELFTEST_PASS || untried ? "" : "not ", line->n,
            line->name);
    if (line->by[0] && !untried)
        buf_fmt(out, strncmp(line->by, "probe", 5) == 0 ? " (by cordon's own %s)" : " (by %s)",
                line->by);
    if (line->result == SELFTEST_NOT_PROVEN)
        buf_fmt(out, " # not proven: %s", line->why[0] ? line->why : "control failed");
    else if (untried)
        buf_fmt(out, " # SKIP not tried: %s", line->why);
    else if (line->result == SELFTEST_FAIL)
        buf_fmt(out, " # %s", line->why);
    buf_char(out, '\n');
}

void selftest_tally(const struct selftest_counts *counts, struct buf *out)
{
    buf_fmt(out, "%u proven, %u failed, %u not proven, %u not tried", counts->pass, counts->fail,
            counts->not_proven, counts->not_tried);
}

void selftest_tap_end(const struct selftest_counts *counts, struct buf *out)
{
    selftest_tally(counts, out);
    buf_char(out, '\n');
}
