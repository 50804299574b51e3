/* SPDX-License-Identifier: Apache-2.0 */
/* Questions about calls that would be denied; see ask.c. */
#ifndef CORDON_BROKER_WINDOWS_ASK_H
#define CORDON_BROKER_WINDOWS_ASK_H

#include "broker/desk.h"
#include "broker/windows/broker.h"

/* Zero is the safe answer. After ASK_WAITS the handler returns as after a denial, without reporting
   it: the call comes again. */
enum ask_ruling { ASK_DENIES = 0, ASK_WAITS, ASK_GRANTS };

/* NULL: nobody is asked. */
struct desk *broker_ask_desk(const struct broker *b);

/* The files that a question is about. */
struct ask_objects {
    HANDLE files[2]; /* of one that does not exist its folder; NULL: none */
    bool exists[2];
};

enum ask_ruling broker_ask_rule(struct request *r, const struct ask_subject *subject,
                                const struct ask_objects *objects);

/* True if an option could allow the denied change, so that it can be asked about. */
bool broker_ask_may_change(struct request *r, const struct policy_request *question,
                           const struct policy_answer *answer);

/* After ASK_GRANTS *answer is the permission. */
enum ask_ruling broker_ask_change(struct request *r, HANDLE file,
                                  const struct policy_request *question,
                                  struct policy_answer *answer, enum audit_op op);
/* A rename, from the first to the second; otherwise *answer is what denies it. */
enum ask_ruling broker_ask_pair(struct request *r, const HANDLE files[2],
                                const struct policy_request questions[2],
                                struct policy_answer *answer);
enum ask_ruling broker_ask_read(struct request *r, HANDLE file,
                                const struct policy_request *question,
                                const struct policy_answer *answer);

/* The request has its answer. */
void broker_ask_served(struct request *r);
void broker_ask_client_gone(struct broker_client *c);

/* The desk outlives the broker. Before the first request; ask_stop after the last. */
int broker_ask_start(struct broker *b, struct desk *desk);
void broker_ask_stop(struct broker *b);

#endif
