/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The audit: events in, JSON lines out. A denial that repeats becomes a count, so a program that
 * loops over a denied path makes one line a second. A failing sink is remembered, never silent.
 */
#ifndef CORDON_AUDIT_AUDIT_H
#define CORDON_AUDIT_AUDIT_H

#include "audit/event.h"
#include "base/json.h"

enum { AUDIT_REPEATS = 1024 /* different denials counted at a time */ };

/* Writes one line, including the newline, in one piece; 0 or a negative code. */
typedef int audit_sink(void *context, struct str line);

/* NULL where nobody reads the lines: the functions that take events do nothing then. */
struct audit;

struct audit_options {
    audit_sink *sink;
    void *context;
    struct str run; /* random id of the run */
    bool all;       /* allow events too */
    bool raw;       /* command lines unmasked, including secrets */
};

int audit_new(const struct audit_options *options, struct audit **out);
void audit_free(struct audit *a);

/* Takes an event; the audit decides what is written and when. The caller serializes calls. */
void audit_add(struct audit *a, const struct audit_event *event);

/* Writes the counts that are due; call it about once a second. */
void audit_tick(struct audit *a, uint64_t now_ms);

/* Writes all counts; then the end event with the totals. */
void audit_end(struct audit *a, const struct audit_event *end);

struct audit_totals {
    uint64_t denied, asked, allowed;
};
struct audit_totals audit_totals_of(const struct audit *a);

/* 0, or the sink's first error: lines are missing from then on. */
int audit_failure(const struct audit *a);

/* ---- quiet.c ---- */

/* True if this refusal is of a write that programs make at every start (quiet.def). */
bool audit_is_quiet(const struct audit_event *event);

/* ---- mask.c ---- */

/* Appends a command line with what looks like a secret replaced by "***". */
void audit_mask(struct buf *out, struct str cmdline);

/* ---- reader.c ---- */

/* Reads lines from memory in pieces; a truncated last line is not an error. */
struct audit_reader {
    struct str text;
    size_t pos;
    unsigned line; /* of the value returned last */
    bool cut;      /* the last line has no end and does not parse */
};

/* 1: *event holds the next line's object (in the arena, reset by the caller); 0: the end; negative:
   this line is malformed, *error says where, and reading can continue. */
int audit_read(struct audit_reader *reader, struct arena *arena, struct json_value *event,
               struct json_error *error);

#endif
