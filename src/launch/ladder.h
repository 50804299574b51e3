/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ladder: no single way to start a program in a sandbox is known to work on every Windows, so
 * the strongest one that does is found by trying. A rung is one level for each factor, 0 is the
 * strongest; the rung that is taken weakens as few factors as possible. Portable.
 */
#ifndef CORDON_LAUNCH_LADDER_H
#define CORDON_LAUNCH_LADDER_H

#include "base/buf.h"

enum ladder_factor {
    LADDER_CONSOLE =
        0,           /* a pseudoconsole of the launcher's; or a hidden one of the program's own */
    LADDER_WINDOWS,  /* the job limits windows, clipboard and atoms; or not */
    LADDER_DESKTOP,  /* a private desktop; or the caller's */
    LADDER_EVERYONE, /* Everyone is no restricting SID; or it is one */
    LADDER_INTERACTIVE, /* INTERACTIVE only denies; or it allows, too */
    LADDER_FACTORS
};

struct ladder_rung {
    unsigned char level[LADDER_FACTORS]; /* 0 or 1 */
};

enum ladder_result {
    LADDER_STARTS,
    LADDER_FAILS,
    LADDER_HANGS /* it may have worked: nothing is weakened for it */
};

typedef enum ladder_result ladder_trial(void *context, const struct ladder_rung *rung);

/*
 * The strongest rung that starts: the top first, and again before anything is weakened for its
 * sake, then every single factor, then two of them, and so on. False if none does, or if the top
 * hangs.
 */
bool ladder_find(ladder_trial *trial, void *context, struct ladder_rung *out);

/* Every rung in the order in which they are tried; false behind the last. */
bool ladder_rung_at(unsigned number, struct ladder_rung *out);
bool ladder_is_top(const struct ladder_rung *rung);

/* As a number, and back. */
unsigned ladder_pack(const struct ladder_rung *rung);
struct ladder_rung ladder_unpack(unsigned number);

/* What is weaker than at the top: "with Everyone, without window limits"; nothing for the top. */
void ladder_words(const struct ladder_rung *rung, struct buf *out);

#endif
