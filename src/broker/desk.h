/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The desk between those who ask (the broker's calls, the proxy's clients) and whoever answers. All
 * of it can be used by any thread. It is shared: each holder takes a reference and drops it.
 */
#ifndef CORDON_BROKER_DESK_H
#define CORDON_BROKER_DESK_H

#include "ask/ask.h"
#include "broker/gate.h"

struct desk {
    struct gate *gate; /* its lock is for all that follows; called when something is decided */
    struct ask *ask;
    intptr_t asked;    /* a bell: there is something for whoever answers */
    intptr_t answered; /* a bell: there is something for the broker */
    unsigned references;
    struct policy *wide; /* the run's, with every folder a root; lives as long as the desk */
    void (*event)(void *context, const struct audit_event *event); /* set before anybody asks */
    void *context;
    uint64_t (*now)(void); /* milliseconds since 1970, for events */
};

/* With one reference; NULL if it cannot. */
struct desk *desk_new(const struct policy *policy, bool serial, uint64_t timeout_ms);
struct desk *desk_hold(struct desk *d);
void desk_drop(struct desk *d); /* NULL is fine */

void desk_lock(struct desk *d);
void desk_unlock(struct desk *d);

/* No to all that is open and to all that follows. */
void desk_close(struct desk *d);

/* ASK_RUN or ASK_NEVER if that is settled without asking; ASK_NO: a question was asked, or an equal
   one joined. */
enum ask_answer desk_join(struct desk *d, const struct ask_subject *subject, uint64_t *id);

/* True if an earlier answer allows it for the whole run. */
bool desk_allows(struct desk *d, const struct ask_subject *subject);

/* True if this is about a rename that would give another object a name that an answer allows. */
bool desk_keeps(struct desk *d, enum audit_op op, struct str path);

/* The decision, if there is one: it is reported, and the call no longer waits. One for this call
   only goes to the first that takes it. */
bool desk_take(struct desk *d, uint64_t id, struct ask_decision *out);

/* A call that answers allowed failed all the same, and why: the event that says so. */
void desk_failed(struct desk *d, uint32_t pid, enum audit_op op, struct str target, struct str why);

/* The caller is gone. */
void desk_leave(struct desk *d, uint64_t id);

/* Asks and waits for the answer; true if it is allowed. gone says whether the client that waits has
   left, and then its question goes with it. */
bool desk_ask(struct desk *d, const struct ask_subject *subject, bool (*gone)(void *context),
              void *context);

/* The same about a host that the proxy would refuse with this answer. caller says who connects:
   pid, image, cmdline. */
bool desk_ask_host(struct desk *d, const struct ask_subject *caller, const struct policy_peer *peer,
                   struct str target, const struct policy_answer *answer,
                   bool (*gone)(void *context), void *context);

#endif
