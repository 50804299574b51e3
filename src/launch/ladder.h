/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ladder: no single way to start a confined program is known to work on every Windows, so the
 * strongest one that works is found by trying. A rung has one level per factor, 0 being the
 * strongest; the rung that is chosen weakens as few factors as possible. Portable.
 */
#ifndef CORDON_LAUNCH_LADDER_H
#define CORDON_LAUNCH_LADDER_H

#include "base/buf.h"

enum ladder_factor {
    LADDER_CONSOLE = 0, /* three ways, see below; the other factors have two */
    LADDER_WINDOWS,     /* the job limits windows, clipboard and atoms; or not */
    LADDER_DESKTOP,     /* a private desktop; or the caller's */
    LADDER_EVERYONE,    /* Everyone is not a restricting SID; or it is one */
    LADDER_INTERACTIVE, /* INTERACTIVE is deny-only; or it grants access too */
    LADDER_FACTORS
};

/* The levels of LADDER_CONSOLE. */
enum ladder_console {
    LADDER_PSEUDO = 0, /* the launcher's pseudoconsole */
    LADDER_INHERITED,  /* the hidden console in which a second launcher lives */
    LADDER_OWN,        /* a hidden console of the program's own */
    LADDER_CONSOLES
};

struct ladder_rung {
    unsigned char level[LADDER_FACTORS]; /* below LADDER_CONSOLES; 0 or 1 for the others */
};

enum ladder_result {
    LADDER_STARTS,
    LADDER_FAILS,
    LADDER_HANGS /* it may have worked: nothing is weakened because of it */
};

typedef enum ladder_result ladder_trial(void *context, const struct ladder_rung *rung);

/* Finds the strongest rung that starts: the top first, and again before anything is weakened, then
   every single factor, level by level, then pairs, and so on. False if none starts, or if the top hangs. */
bool ladder_find(ladder_trial *trial, void *context, struct ladder_rung *out);

/* Every rung in the order in which they are tried; false after the last. */
bool ladder_rung_at(unsigned number, struct ladder_rung *out);
bool ladder_is_top(const struct ladder_rung *rung);

/* Converts to a number below LADDER_RUNGS and back. */
enum { LADDER_RUNGS = LADDER_CONSOLES << (LADDER_FACTORS - 1) };
unsigned ladder_pack(const struct ladder_rung *rung);
struct ladder_rung ladder_unpack(unsigned number);

/* Describes what is weaker than at the top: "with Everyone, without window limits"; empty for the
   top. */
void ladder_words(const struct ladder_rung *rung, struct buf *out);

#endif
