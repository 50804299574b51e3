/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --learn=allow: answers the questions of a run so that files below the home folder can be changed,
 * which then become options. It opens nothing that no option could, no keys, and nothing that
 * programs outside run or obey later.
 */
#ifndef CORDON_LEARN_LINUX_ALLOW_H
#define CORDON_LEARN_LINUX_ALLOW_H

#include "base/str.h"
#include "cordon.h"

struct learn_allow {
    struct str home; /* final */
    bool strict;     /* a command about which the guard says "ask" is refused */
};

/* The parts of a question's JSON. */
struct learn_question {
    struct str op, target, rule, fix;
};

/* True if the run may do it. */
bool learn_allows(const struct learn_allow *a, const struct learn_question *q);

/* A cordon_ask function; context is the struct learn_allow. */
void learn_answer(void *context, struct cordon_question *question);

#endif
