/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a run: a few lines for people and agents, or one JSON object. */
#ifndef CORDON_REPORT_SUMMARY_H
#define CORDON_REPORT_SUMMARY_H

#include "audit/event.h"
#include "base/arena.h"
#include "base/buf.h"

enum { SUMMARY_LINES = 5, SUMMARY_KEPT = 256 /* different ones that are told apart */ };

struct summary_denial {
    enum audit_op op;
    struct str target, rule, fix;
    uint64_t count;
    bool minor, named, said, unasked;
    /* of an answer */
    struct str failed; /* why the call that it allowed failed all the same; empty: it did not */
    uint64_t failures;
    bool lasts; /* it holds for the rest of the run */
};

/* An option of the command line that can be given once: a remedy with the same option replaces
   it. */
struct summary_given {
    struct str name, value;
};

enum { SUMMARY_GIVEN = 8 };

struct summary_repositories {
    struct str items[SUMMARY_KEPT];
    size_t count;
    size_t gone; /* of those, at the end of the list: not where they were any more */
};

struct summary {
    struct arena arena;
    struct summary_denial denials[SUMMARY_KEPT];
    size_t kept;
    uint64_t different;                   /* kept or not */
    uint64_t denied;                      /* all, quiet ones not counted */
    bool resolved;                        /* among them a name that was looked up */
    bool removes_git;                     /* among them a deletion in .git without a remedy */
    struct summary_repositories made;     /* by the run: editors run what they say */
    struct summary_repositories headless; /* parts of them were deleted, and HEAD with these */
    struct summary_denial answered[SUMMARY_KEPT]; /* allowed when somebody was asked */
    size_t answered_count;
    struct summary_given given[SUMMARY_GIVEN]; /* options that a remedy would take the place of */
    size_t given_count;
    struct str inner[SUMMARY_GIVEN]; /* the home folder and the roots: no remedy contains one */
    size_t inner_count;
    char hint[160];      /* what explains a failure first; may be empty */
    char unreached[200]; /* the first host that is allowed and could not be reached, and why */
};

void summary_free(struct summary *s);

/* Takes every event of the run; denials that are not quiet, what was allowed by an answer and what
   is notable matter. */
void summary_add(struct summary *s, const struct audit_event *event);

/* The denials so far were told in other words: they get no line. */
void summary_hush(struct summary *s);

/* An option that was given; it is copied. */
void summary_give(struct summary *s, struct str name, struct str value);

/* A folder that must not lie in one that several remedies are joined to; it is copied. */
void summary_keep_out(struct summary *s, struct str folder);

/* Remedies that differ in their last root become one: it lists up to three roots, or names the
   folder around all of them. New texts are in the arena. */
void summary_join(struct summary *s, struct arena *arena);

/* The line of one denial. */
void summary_line(const struct audit_event *event, struct buf *out);

/* Lines that begin with "cordon: ", one for each remedy, at most SUMMARY_LINES of a kind and one
   for the rest: first what the command names itself, last what is minor, which is left out unless
   the command failed. audit is the file that --audit named, or empty. */
void summary_lines(const struct summary *s, struct str audit, bool failed, struct buf *out);

/* The event and the line of an object that --undo could not keep. */
bool summary_is_lost(const struct audit_event *event);
void summary_lost_line(const struct audit_event *event, struct buf *out);

/* The changes that --undo can take back. */
struct summary_changes {
    char run[48]; /* empty: nothing was changed, or there is no journal */
    bool here;    /* cordon undo finds it from the current folder without being told the run */
    uint64_t created, modified, deleted, renamed;
    uint64_t lost;    /* cannot be taken back */
    char why[96];     /* the last of those */
    uint64_t dropped; /* older runs whose journals had to go for this one */
    char dropped_root[4096];
    bool dropped_others; /* some of them had other roots */
};

/* "cordon: 3 created, 12 modified; take back with: cordon undo", if there is anything to say. The
   run is named where cordon undo alone would not find it. */
void summary_changes_lines(const struct summary_changes *c, struct buf *out);

/* "cordon: dropped the journals of 3 older runs in /ws, …"; nothing for none. others: some had other
   roots. */
void summary_dropped_line(uint64_t count, const char *root, bool others, struct buf *out);

struct summary_end {
    struct str reason; /* exited, signal, timeout, refused, failed */
    struct str boundary;
    uint32_t exit;
    uint64_t duration_ms;
    struct str message;                    /* why it failed; may be empty */
    const struct summary_changes *changes; /* NULL: without --undo */
};

/* One JSON object on a line of its own. */
void summary_json(const struct summary *s, const struct summary_end *end, struct buf *out);

#endif
