/* SPDX-License-Identifier: Apache-2.0 */
/* The content of an audit file, added up while it is read: one line at a time, in bounded memory.
   Beyond the limits below things are counted but no longer named. */
#ifndef CORDON_REPORT_COLLECT_H
#define CORDON_REPORT_COLLECT_H

#include "base/json.h"

enum {
    REPORT_MAX_LINE = 1024 * 1024,
    REPORT_MAX_TEXT = 600, /* bytes kept of one value */
    REPORT_RUNS = 64,
    REPORT_PROCESSES = 2000,
    REPORT_MARKS = 6, /* denials of a process whose time is kept */
    REPORT_RULES = 128,
    REPORT_DENIALS = 2000,
    REPORT_FILES = 2000,
    REPORT_BINS = 240
};

/* What --undo recorded of a file. */
enum report_change {
    REPORT_CREATED = 0,
    REPORT_MODIFIED,
    REPORT_DELETED,
    REPORT_RENAMED,
    REPORT_CHANGES
};

struct report_run {
    struct str id, version, mode, net, git, boundary, boundary_detail;
    struct str command; /* as it was typed; audits of before do not tell it */
    struct str roots;   /* joined by line breaks */
    uint64_t start;     /* ms since 1970; 0: no start was seen */
    uint64_t last;      /* of its events */
    bool ended;
    long long exit;
    uint64_t duration_ms, denied, asked, allowed;
    struct str undo; /* the run of --undo; empty: none */
    uint64_t changes[REPORT_CHANGES];
    size_t first, last_first; /* of its programs that no other one started: index + 1 */
};

struct report_process {
    size_t run;    /* index */
    size_t parent; /* index + 1; 0: none that is known */
    uint32_t pid;
    struct str image, cmdline;
    uint64_t start, end; /* ms since the run began; end 0: not seen */
    bool ended;
    long long code;
    uint64_t denied, denied_below; /* by itself; by those that it started */
    uint32_t marks[REPORT_MARKS];  /* when, in ms since the run began */
    size_t mark_count;
    size_t first, last, next; /* of its children, and beside it: index + 1 */
};

/* Something that is counted, usually identified by several texts together. */
struct report_tally {
    struct str rule, op, target, target2, why, fix, image;
    uint64_t count;
    bool ask; /* a person should look; nothing was denied */
};

/* A bounded set of tallies. */
struct report_set {
    struct report_tally *items;
    uint32_t *buckets; /* index + 1 */
    size_t count, most;
    uint64_t left_out; /* added when it was full */
};

enum report_kind { REPORT_DENY = 0, REPORT_ASK, REPORT_ALLOW, REPORT_PROCESS, REPORT_KINDS };

struct report_bin {
    uint64_t count[REPORT_KINDS];
};

struct report {
    struct arena arena; /* holds what is kept */
    struct arena line;  /* reset with every line */
    struct report_run runs[REPORT_RUNS];
    size_t run_count;
    uint64_t runs_left_out;
    struct report_process processes[REPORT_PROCESSES];
    uint16_t process_buckets[2 * REPORT_PROCESSES];
    size_t process_count;
    uint64_t processes_left_out;
    struct report_set rules, denials, files, answers; /* of answers, rule says what was answered */
    struct report_set changes;                        /* of --undo, in order of path */
    struct report_bin bins[REPORT_BINS];
    uint64_t bin_ms;            /* how long a bin is; doubles when the time runs out of bins */
    uint64_t run_base, longest; /* runs follow one another on the time line */
    uint64_t events, malformed, first_malformed;
    uint64_t totals[REPORT_KINDS], spawned, quiet;
    bool cut; /* the last line has no end */
    bool failed;
    char current_text[64]; /* the run of the last line */
    struct str current_id;
    size_t current;
    uint64_t current_start;
};

/* CORDON_E_NOMEM. The report is large: keep it off the stack. */
int report_new(struct report **out);
void report_free(struct report *r);

/* One line without its newline; last: there is nothing after it, so it may be cut. */
void report_line(struct report *r, struct str line, bool last);

/* "write" of "file.write", as the summary of a run says it. */
struct str report_verb(struct str op);

/* The denials of a rule, most frequent first: up to most indices into denials. */
size_t report_of_rule(const struct report *r, const struct report_tally *rule, size_t *out,
                      size_t most);

/* Sorts rules and files by count; call it once, after the last line. */
void report_finish(struct report *r);

/* ---- page.c, text.c ---- */

/* Appends; the caller writes. source is the name of the audit file. */
void report_page(const struct report *r, struct str source, struct buf *out);
void report_text(const struct report *r, struct str source, struct buf *out);
void report_json(const struct report *r, struct str source, struct buf *out);

/* Foreign text for people: characters that would end the line, move the cursor or change the
   reading direction are spelled out, and invalid Unicode is marked. */
void report_clean(struct buf *out, struct str s);
/* The same, but line breaks and tabs stay. */
void report_clean_lines(struct buf *out, struct str s);

/* The command of a run; empty if the audit does not tell it. */
struct str report_command(const struct report *r, const struct report_run *run);

/* "1.2 s", "340 ms", "2 min 5 s" */
void report_duration(struct buf *out, uint64_t ms);

/* 1,234,567 */
void report_number(struct buf *out, uint64_t n);

#endif
