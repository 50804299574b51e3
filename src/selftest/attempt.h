/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attempts, the same on every system: rows of data that are tried with their control, and how a
 * line gets its result. What differs (folders, servers, how a line is run) is the world of linux/
 * and windows/.
 */
#ifndef CORDON_SELFTEST_ATTEMPT_H
#define CORDON_SELFTEST_ATTEMPT_H

#include "selftest/selftest.h"

#define RO "--mode read-only"

/* DENIED_IF_POSSIBLE: an additional way, skipped on a machine where it cannot be done at all. */
enum selftest_kind { DENIED, ALLOWED, DENIED_IF_POSSIBLE };

/* A denied attempt must have its effect without the sandbox (the control) and none with it; an
   allowed one must have it with the options given, and none with those of its control. */
struct selftest_row {
    unsigned n;
    enum selftest_kind kind;
    const char *options, *script, *effect;
    const char *control; /* options of the control; NULL: without the sandbox (DENIED), read-only */
    const char *tool;    /* who does it where it is found; NULL: the probe */
    const char *line;    /* what it does, in the system's own words */
};

/* Records who tried what, and against which control; the probe if nobody has been named yet. */
void attempt_say(struct selftest_line *line, const char *attempt, const char *control);

/* Concludes from the control, the attempt, and the write outside that each run tries. */
void attempt_conclude(struct selftest_line *line, bool escaped, bool controlled, bool kept,
                      const char *why);

void attempt_not_tried(struct selftest_line *line, const char *why);

/* Launches in turns with and without a folder of many files, so that what else the machine does
   weighs on both alike; the medians may differ by half and by slack. inside: where the folder is,
   in the workspace; beside: where it is moved meanwhile. */
void attempt_launches(struct selftest_world *w, struct selftest_line *line, const char *inside,
                      const char *beside, double (*seconds)(void), double slack);

/* ---- windows/ and linux/ ---- */

extern const struct selftest_row selftest_rows[];
extern const size_t selftest_row_count;

/* Promises that need more than a row; false if the number is none of them. */
bool special_try(struct selftest_world *w, unsigned n, struct selftest_line *line);

/* Recreates the folders. */
void world_fresh(const struct selftest_world *w);

/* Runs a probe's script without the sandbox; its exit code. */
int world_run_free(const struct selftest_world *w, const char *script);

/* The same with it. *escaped is set if the script could write outside, which it tries first. */
int world_run(const struct selftest_world *w, const char *options, const char *script,
              bool *escaped);

/* A line for the system's shell instead of the probe; options NULL: without the sandbox. */
int world_tool(const struct selftest_world *w, const char *options, const char *line,
               bool *escaped);

/* Looks at the machine; the words are in the systems' world.h. */
bool world_check(const struct selftest_world *w, const char *effect);

/* True if the files outside are as they were made. */
bool world_outside_unchanged(const struct selftest_world *w);

/* True if a program of this name is found along PATH. */
bool world_has_tool(const char *name);

#endif
