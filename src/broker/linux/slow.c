/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that may block: a FIFO opens when its other end does, a connection when the server accepts.
 * Each has a thread of its own, so that no other call waits for it. A thread whose caller died is
 * cancelled, and no thread outlives the run.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "broker/desk.h"
#include "broker/linux/broker.h"
#include "broker/linux/park.h"

static void end(void *context)
{
    struct slow_call *call = context;
    for (size_t i = 0; i < sizeof call->held / sizeof *call->held; i++)
        if (call->held[i] >= 0)
            close(call->held[i]);
    free(call->answered);
    atomic_store(&call->done, true);
}

static void *run_call(void *context)
{
    struct slow_call *call = context;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    pthread_cleanup_push(end, call);
    call->work(call);
    pthread_cleanup_pop(1);
    return NULL;
}

void slow_may_wait(bool may)
{
    pthread_setcancelstate(may ? PTHREAD_CANCEL_ENABLE : PTHREAD_CANCEL_DISABLE, NULL);
}

void slow_collect(struct broker_slow *slow, bool all)
{
    for (size_t i = slow->count; i-- > 0;) {
        struct slow_call *call = slow->items[i];
        bool done = atomic_load(&call->done);
        if (!done && (all || !request_alive(&call->request))) {
            pthread_cancel(call->thread);
            done = all;
        }
        if (!done)
            continue;
        pthread_join(call->thread, NULL);
        free(call);
        slow->items[i] = slow->items[--slow->count];
    }
}

void slow_start(struct broker *b, struct request *r, const struct slow_call *what)
{
    struct broker_slow *slow = &b->slow;
    int error = 0;
    if (slow->count == BROKER_MOST_SLOW)
        slow_collect(slow, false);
    struct slow_call *call = slow->count < BROKER_MOST_SLOW ? malloc(sizeof *call) : NULL;
    if (call) {
        *call = *what;
        call->request = *r;
        call->answered = parked_yes(r, &call->op);
        call->desk = b->asks.desk;
        call->caller = call->answered ? process_caller(b, r) : 0;
        atomic_init(&call->done, false);
        error = pthread_create(&call->thread, NULL, run_call, call);
    }
    if (call && !error) {
        slow->items[slow->count++] = call;
        r->answered = true; /* by the thread */
        return;
    }
    for (size_t i = 0; i < sizeof what->held / sizeof *what->held; i++)
        if (what->held[i] >= 0)
            close(what->held[i]);
    if (call)
        free(call->answered);
    free(call);
    request_fail(r, EAGAIN);
}

void slow_fail(struct slow_call *call, int error)
{
    /* A connection that goes on is no failure. */
    if (call->answered && error != EINPROGRESS)
        desk_failed(call->desk, call->caller, call->op, str_of(call->answered),
                    str_of(strerror(error)));
    request_fail(&call->request, error);
}
