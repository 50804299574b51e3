/* SPDX-License-Identifier: Apache-2.0 */
/* Lines that differ between two texts, within limits. */
#ifndef CORDON_UNDO_DIFF_H
#define CORDON_UNDO_DIFF_H

#include "base/buf.h"

struct diff_counts {
    size_t added, removed;
    bool binary;    /* one of them is no text: nothing is counted */
    bool too_large; /* all lines between the first and the last difference are counted */
};

/* Counts, and writes a unified diff to out if out is not NULL (without its two head lines). Returns
   false if memory runs out. */
bool diff_lines(struct str before, struct str after, struct diff_counts *counts, struct buf *out);

#endif
