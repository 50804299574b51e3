/* SPDX-License-Identifier: Apache-2.0 */
/* The changes of files that --undo recorded, in the report. */
#ifndef CORDON_REPORT_TREE_H
#define CORDON_REPORT_TREE_H

#include "base/json.h"
#include "report/collect.h"

/* "created", in the audit and for people. */
const char *tree_word(enum report_change change);

void tree_take(struct report *r, const struct json_value *event);
/* Once, after the last line. */
void tree_sort(struct report *r);

/* All changes, named or not. */
uint64_t tree_count(const struct report *r);
void tree_text(const struct report *r, struct buf *out);
void tree_json(const struct report *r, struct json_writer *w);
/* A tree, each folder with its counts. */
void tree_html(const struct report *r, struct buf *out);

#endif
