/* SPDX-License-Identifier: Apache-2.0 */
/* The journal of a run with --undo: opened before the command starts, closed when its tree is
   dead. */
#ifndef CORDON_LIB_UNDO_H
#define CORDON_LIB_UNDO_H

#include "lib/system.h"
#include "undo/keep.h"

/* Opens the journal. Returns a code with a sentence in the policy's error. */
int run_undo_begin(struct run *run, bool confined, bool inside, struct arena *arena,
                   struct keep **out);

/* Ends the journal, or removes it if nothing changed, and counts the changes for the result. */
void run_undo_finish(struct run *run, struct keep *journal);

#endif
