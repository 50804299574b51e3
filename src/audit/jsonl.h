/* SPDX-License-Identifier: Apache-2.0 */
/* How one event is spelled as a JSON line. */
#ifndef CORDON_AUDIT_JSONL_H
#define CORDON_AUDIT_JSONL_H

#include "audit/audit.h"

struct audit_line {
    const struct audit_event *event;
    struct str run;
    uint64_t sequence;
    uint64_t count, first; /* of a repeat; 0: none */
    struct audit_totals totals;
    bool raw;
};

/* Appends the line with its newline. */
void audit_spell(struct buf *out, const struct audit_line *line);

/* Appends milliseconds since 1970 as RFC 3339 in UTC: 2026-01-31T08:05:09.120Z. */
void audit_spell_time(struct buf *out, uint64_t ms);

#endif
