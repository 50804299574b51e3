/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the page (page.c) and what they share. */
#ifndef CORDON_REPORT_HTML_H
#define CORDON_REPORT_HTML_H

#include "report/collect.h"

/* Foreign text: cleaned, then escaped for content and attributes alike. */
void html_put(struct buf *out, struct str s);

/* Words of our own. */
void html_add(struct buf *out, const char *html);

/* "… and 12 more WHAT." */
void html_more(struct buf *out, uint64_t n, const char *what);

/* Programs over time, each with those that it started below it (waterfall.c). */
void html_programs(const struct report *r, struct buf *out);

#endif
