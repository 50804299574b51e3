/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that are set aside, unanswered, while the broker serves others: for an answer of --ask, or
 * until the journal has its copy of a large file. Later they are served again, from their start.
 */
#ifndef CORDON_BROKER_LINUX_PARK_H
#define CORDON_BROKER_LINUX_PARK_H

#include "broker/linux/broker.h"

enum { PARKED_MOST_ANSWERS = 4 };

struct broker_parked {
    struct request request;
    bool waits;                /* it is in the list */
    bool copying;              /* for a copy of object; otherwise for an answer to question */
    struct keep_object object; /* of the journal */
    char granted[PATH_MAX];    /* the last path that was reported as allowed before that copy */
    uint64_t question;         /* at the desk */
    unsigned rounds;           /* of questions */
    size_t answers;
    struct {
        char key[65]; /* of the subject and its objects */
        int held[2];  /* the objects, so that their numbers go to no others; -1: not held */
        bool allowed;
        enum audit_op op; /* of the question */
        char *target;     /* owned; NULL: out of memory */
    } said[PARKED_MOST_ANSWERS];
};

/* Where to note for what this call waits; NULL if no more can be set aside. Goes to one of the other
   two. */
struct broker_parked *parked_take(struct broker *b, struct request *r);
void parked_add(struct broker *b, struct request *r, struct broker_parked *p);
void parked_drop(const struct request *r, struct broker_parked *p);

/* Lets go of the objects of the last answer, and of the answer. */
void parked_forget_answer(struct broker_parked *p);

/* What somebody allowed about this call when asked, for a thread that goes on with it; the caller
   frees it. NULL: nothing. */
char *parked_yes(const struct request *r, enum audit_op *op);

/* Serves the calls again whose wait is over. */
void parked_resume(struct broker *b, void (*serve)(struct broker *b, struct request *r));

/* Drops the calls whose callers are gone, or all. */
void parked_look(struct broker *b, bool all);

/* True if the question is decided; the decision is noted. */
bool broker_ask_decided(struct broker *b, struct broker_parked *p);

#endif
