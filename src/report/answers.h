/* SPDX-License-Identifier: Apache-2.0 */
/* Answers to questions of --ask, in summary and report. */
#ifndef CORDON_REPORT_ANSWERS_H
#define CORDON_REPORT_ANSWERS_H

#include "base/json.h"
#include "report/collect.h"
#include "report/summary.h"

void answers_add(struct summary *s, const struct audit_event *event);
void answers_lines(const struct summary *s, struct buf *out);
void answers_summary(const struct summary *s, struct json_writer *w);

void answers_take(struct report *r, const struct json_value *event);
void answers_text(const struct report *r, struct buf *out);
void answers_json(const struct report *r, struct json_writer *w);
void answers_html(const struct report *r, struct buf *out);

/* ---- what those need of the others ---- */

/* The last word of the name of an operation: "file.write" is "write" for people. */
struct str summary_verb(enum audit_op op);

/* A member of an event; empty if it has none of this name. */
struct str report_text_of(const struct json_value *event, struct str key);

/* Counts one more of these. */
void report_tally(struct report *r, struct report_set *set, const struct report_tally *t);

#endif
