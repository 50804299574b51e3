/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --learn: turns what a run was denied into the smallest set of options that would have allowed it.
 * It is never wider than what was asked for: no parent folder, protected name or whole network; of
 * git as much as helps, which never includes hooks and config. The set is checked by asking the
 * policy that results from it.
 */
#ifndef CORDON_LEARN_LEARN_H
#define CORDON_LEARN_LEARN_H

#include "audit/event.h"
#include "lib/api.h"

enum { LEARN_MOST = 4096 /* different denials */ };

struct learn_denial {
    enum audit_op op;
    struct str target, target2, rule, fix;
    bool answered; /* it was asked about, and allowed */
    bool helped;   /* the options allow it */
};

struct learn {
    struct arena arena;
    struct learn_denial *denials;
    uint16_t *buckets; /* index + 1 */
    size_t count;
    uint64_t left_out; /* when it was full */
    struct str closed; /* of --learn=allow: what is denied below this folder stays closed */
};

int learn_new(struct learn **out);
void learn_free(struct learn *l);

/* Takes every event and uses the denials that are not quiet, and what was allowed by an answer.
   context is the struct learn, so that this can be the observer of a run. */
void learn_add(void *context, const struct audit_event *event);

/* After the run: options are what to type; policy is the text of a file equivalent to base and
   options together. Fails with a sentence in the policy's error. */
int learn_finish(struct learn *l, struct cordon_policy *base, struct buf *options,
                 struct buf *policy);

#endif
