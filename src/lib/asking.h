/* SPDX-License-Identifier: Apache-2.0 */
/* The questions of a run on their way to whoever answers: as JSON lines, or by calling a function
   of the host. It neither reads nor writes anything itself. */
#ifndef CORDON_LIB_ASKING_H
#define CORDON_LIB_ASKING_H

#include "broker/desk.h"
#include "lib/run.h"

enum { ASKING_LONGEST_LINE = 65536 };

struct asking {
    struct desk *desk;
    cordon_ask *function; /* NULL: lines */
    void *context;
    enum ask_by by;    /* of answers in lines */
    struct buf output; /* lines to write, the first sent bytes of them written */
    size_t sent;
    size_t length;
    bool too_long;
    char line[ASKING_LONGEST_LINE];
};

/* Asks whatever can be asked now, and denies what nobody answered in time; the milliseconds until
   that is to be done again, -1: when the desk's bell rings. False in *goes_on if memory ran out. */
int asking_look(struct asking *a, bool *goes_on);

/* Bytes that were read, and a piece of the output that was written. */
void asking_take(struct asking *a, struct str bytes);
void asking_sent(struct asking *a, size_t n);
struct str asking_rest(const struct asking *a);

/* Makes the question an object of the host's, for its function. With the desk's lock. */
struct cordon_question *question_new(struct desk *desk, const struct ask_question *q);

#endif
