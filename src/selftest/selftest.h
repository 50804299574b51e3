/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The promises, tried on this machine: an attempt inside the sandbox, its effect looked for on the
 * machine, and a control that shows that the attempt would have had its effect. One implementation
 * in linux/ and one in windows/.
 */
#ifndef CORDON_SELFTEST_SELFTEST_H
#define CORDON_SELFTEST_SELFTEST_H

#include "base/buf.h"

/* Zero is the result that needs no proof. */
enum selftest_result {
    SELFTEST_NOT_PROVEN = 0, /* a control failed */
    SELFTEST_PASS,
    SELFTEST_FAIL,
    SELFTEST_NOT_TRIED /* it has no meaning here, or cannot be tried; why says it */
};

struct selftest_line {
    unsigned n;
    const char *name;
    const char *enforced_by; /* "kernel", "service" or "interposed"; "" where it has no meaning */
    enum selftest_result result;
    char by[32]; /* who made the attempt: "probe", "git", … */
    char why[400], attempt[300], control[300];
};

struct selftest_counts {
    unsigned pass, fail, not_proven, not_tried;
};

struct selftest_options {
    const char *program;  /* cordon itself */
    const char *boundary; /* "kernel" or "interposed", as run says */
    const unsigned *only; /* numbers; none: all */
    size_t only_count;
    bool keep; /* keep the folders that were used, for inspection */
    void (*line)(void *context, const struct selftest_line *line);
    void (*begin)(void *context, unsigned n, const char *name); /* before each; NULL: nobody asks */
    void *context;
};

/* Tries the promises in order. A code with a sentence if not one could be tried. */
int selftest_run(const struct selftest_options *o, struct selftest_counts *counts,
                 struct buf *error);

/* "pass", "fail", "not_proven", "not_tried". */
const char *selftest_result_name(enum selftest_result result);

/* One line of TAP, and the last one. */
void selftest_tap(const struct selftest_line *line, struct buf *out);
void selftest_tap_end(const struct selftest_counts *counts, struct buf *out);

/* "58 proven, 0 failed, 0 not proven, 2 not tried" */
void selftest_tally(const struct selftest_counts *counts, struct buf *out);

/* ---- windows/ and linux/ ---- */

struct selftest_world;

/* Folders and servers for the attempts; a code with a sentence. */
int selftest_open(const struct selftest_options *o, struct selftest_world **out, struct buf *error);
void selftest_close(struct selftest_world *w);

/* Tries one; fills everything of the line but number, name and enforced_by. */
void selftest_try(struct selftest_world *w, unsigned n, struct selftest_line *line);

/* Makes the calls of an attempt, inside or as a control: an exit code. The words are of the
   system's own small language; nobody but selftest_try speaks it. */
int selftest_probe(const char *script);

#endif
