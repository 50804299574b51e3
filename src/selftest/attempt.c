/* SPDX-License-Identifier: Apache-2.0 */
/* Tries rows with their controls, and records the results. */
#include "selftest/attempt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void attempt_say(struct selftest_line *line, const char *attempt, const char *control)
{
    snprintf(line->attempt, sizeof line->attempt, "%s", attempt);
    snprintf(line->control, sizeof line->control, "%s", control);
    if (!line->by[0])
        snprintf(line->by, sizeof line->by, "probe");
}

void attempt_conclude(struct selftest_line *line, bool escaped, bool controlled, bool kept,
                      const char *why)
{
    line->result = escaped || (controlled && !kept) ? SELFTEST_FAIL
                   : !controlled                    ? SELFTEST_NOT_PROVEN
                                                    : SELFTEST_PASS;
    if (escaped)
        why = "the run was not confined: it could write outside";
    else if (!controlled)
        why = "control failed";
    snprintf(line->why, sizeof line->why, "%s", line->result == SELFTEST_PASS ? "" : why);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void attempt_launches(struct selftest_world *w, struct selftest_line *line, const char *inside,
                      const char *beside, double (*seconds)(void), double slack)
{
    enum { TURNS = 9 };
    double took[2][TURNS];
    bool escaped = false, moved = true;
    char why[80];
    for (int i = 0; i < 2 * TURNS; i++) {
        bool many = i % 2;
        moved = rename(many ? beside : inside, many ? inside : beside) == 0 && moved;
        double begin = seconds();
        world_run(w, "", "code 0", &escaped);
        took[many][i / 2] = seconds() - begin;
    }
    qsort(took[0], TURNS, sizeof **took, compare);
    qsort(took[1], TURNS, sizeof **took, compare);
    double few = took[0][TURNS / 2], many = took[1][TURNS / 2];
    snprintf(why, sizeof why, "it takes longer with many files: %.0f ms instead of %.0f",
             many * 1000, few * 1000);
    attempt_conclude(line, escaped, moved, many < 1.5 * few + slack, why);
}

void attempt_not_tried(struct selftest_line *line, const char *why)
{
    line->result = SELFTEST_NOT_TRIED;
    snprintf(line->why, sizeof line->why, "%s", why);
}

static int run_row(const struct selftest_world *w, const struct selftest_row *row,
                   const char *options, bool tool, bool *escaped)
{
    if (tool)
        return world_tool(w, options, row->line, escaped);
    return options ? world_run(w, options, row->script, escaped) : world_run_free(w, row->script);
}

static void try_row(const struct selftest_world *w, const struct selftest_row *row, bool tool,
                    struct selftest_line *line)
{
    const char *control = row->control ? row->control : row->kind == ALLOWED ? RO : NULL;
    bool escaped = false, free_escape = false;
    const char *words = tool ? row->line : row->script;
    world_fresh(w);
    world_check(w, "tcp");
    world_check(w, "udp");
    bool before = world_check(w, row->effect);
    run_row(w, row, control, tool, row->kind == ALLOWED ? &escaped : &free_escape);
    bool controlled = world_check(w, row->effect) == (row->kind != ALLOWED);
    world_fresh(w);
    run_row(w, row, row->options, tool, &escaped);
    bool effect = world_check(w, row->effect);
    snprintf(line->attempt, sizeof line->attempt, "%s: %s", row->options[0] ? row->options : "run",
             words);
    snprintf(line->control, sizeof line->control, "%s: %s",
             control ? control[0] ? control : "run" : "without", words);
    if (escaped || free_escape) {
        line->result = SELFTEST_FAIL;
        snprintf(line->why, sizeof line->why, "the run was not confined: it could write outside");
    } else if (before || !controlled) {
        line->result = SELFTEST_NOT_PROVEN;
        snprintf(line->why, sizeof line->why, "control failed: %.300s", line->control);
    } else if (effect != (row->kind == ALLOWED) ||
               (row->kind != ALLOWED && !world_outside_unchanged(w))) {
        line->result = SELFTEST_FAIL;
        snprintf(line->why, sizeof line->why, "%.300s: %s", line->attempt,
                 row->kind == ALLOWED ? "it had no effect" : "it had its effect");
    } else {
        line->result = SELFTEST_PASS;
    }
}

void selftest_try(struct selftest_world *w, unsigned n, struct selftest_line *line)
{
    if (special_try(w, n, line))
        return;
    bool tried = false;
    for (size_t i = 0; i < selftest_row_count; i++) {
        if (selftest_rows[i].n != n)
            continue;
        struct selftest_line one = *line;
        bool tool = selftest_rows[i].tool && world_has_tool(selftest_rows[i].tool);
        /* Two tools for one promise: if one is missing the other decides. */
        if (tried && selftest_rows[i].tool && !tool)
            continue;
        try_row(w, &selftest_rows[i], tool, &one);
        if (tried && selftest_rows[i].kind == DENIED_IF_POSSIBLE &&
            one.result == SELFTEST_NOT_PROVEN)
            continue;
        if (one.result != SELFTEST_PASS || !tried)
            *line = one;
        if (tool)
            snprintf(line->by, sizeof line->by, "%s", selftest_rows[i].tool);
        else if (!tried || one.result != SELFTEST_PASS)
            snprintf(line->by, sizeof line->by, selftest_rows[i].tool ? "probe: no %s" : "probe",
                     selftest_rows[i].tool ? selftest_rows[i].tool : "");
        tried = true;
        if (one.result != SELFTEST_PASS)
            return;
    }
    if (!tried) {
        line->result = SELFTEST_NOT_TRIED;
        snprintf(line->why, sizeof line->why, "nothing tries it");
    }
}
