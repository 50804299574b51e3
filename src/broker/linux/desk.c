/* SPDX-License-Identifier: Apache-2.0 */
/* The desk: questions and answers, shared between threads. */
#include "broker/linux/desk.h"

#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

enum { LOOK_MS = 200 };

uint64_t desk_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

void desk_ring(int bell)
{
    uint64_t one = 1;
    (void)!write(bell, &one, sizeof one);
}

void desk_hush(int bell)
{
    uint64_t count;
    (void)!read(bell, &count, sizeof count);
}

/* Called with the lock held, by whatever decides. */
static void wake(void *context, const struct ask_question *q)
{
    struct desk *d = context;
    (void)q;
    desk_ring(d->answered);
    pthread_cond_broadcast(&d->decided);
}

/* Without the lock: whoever hears of events may answer a question in the same breath. */
static void tell(struct desk *d, const struct ask_question *q)
{
    const struct ask_subject *s = &q->subject;
    const struct ask_decision *decision = &q->decision;
    d->event(d->context,
             &(struct audit_event){
                 .type = AUDIT_ANSWER,
                 .op = s->op,
                 .time = d->now(),
                 .pid = s->pid,
                 .image = s->image,
                 .target = s->target,
                 .verdict = decision->allowed ? CORDON_ALLOW : CORDON_DENY,
                 .rule = s->rule,
                 .why = s->why,
                 .fix = s->fix,
                 .choice = str_of(ask_answer_name(decision->answer)),
                 .scope = decision->allowed ? str_of(ask_scope_name(decision->scope)) : STR_NONE,
                 .by = str_of(ask_by_name(decision->by))});
}

bool desk_take(struct desk *d, uint64_t id, struct ask_decision *out)
{
    bool first;
    pthread_mutex_lock(&d->lock);
    const struct ask_question *q = ask_take(d->ask, id, &first);
    pthread_mutex_unlock(&d->lock);
    if (!q)
        return false;
    if (first)
        tell(d, q);
    *out = q->decision;
    out->again = !first && q->decision.answer == ASK_ONCE;
    out->allowed = out->allowed && !out->again;
    desk_leave(d, id);
    return true;
}

void desk_leave(struct desk *d, uint64_t id)
{
    pthread_mutex_lock(&d->lock);
    ask_leave(d->ask, id);
    pthread_mutex_unlock(&d->lock);
    desk_ring(d->asked); /* it may be closed now */
}

struct desk *desk_new(const struct policy *policy, bool serial, uint64_t timeout_ms)
{
    struct desk *d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    pthread_condattr_t how;
    pthread_condattr_init(&how);
    pthread_condattr_setclock(&how, CLOCK_MONOTONIC);
    pthread_mutex_init(&d->lock, NULL);
    pthread_cond_init(&d->decided, &how);
    pthread_condattr_destroy(&how);
    d->references = 1;
    d->ask = ask_new(serial, timeout_ms);
    d->asked = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    d->answered = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (!d->ask || d->asked < 0 || d->answered < 0 || ask_wide_policy(policy, &d->wide)) {
        desk_drop(d);
        return NULL;
    }
    ask_on_decision(d->ask, wake, d);
    return d;
}

struct desk *desk_hold(struct desk *d)
{
    pthread_mutex_lock(&d->lock);
    d->references++;
    pthread_mutex_unlock(&d->lock);
    return d;
}

void desk_drop(struct desk *d)
{
    if (!d)
        return;
    pthread_mutex_lock(&d->lock);
    bool last = --d->references == 0;
    pthread_mutex_unlock(&d->lock);
    if (!last)
        return;
    if (d->asked >= 0)
        close(d->asked);
    if (d->answered >= 0)
        close(d->answered);
    policy_free(d->wide);
    ask_free(d->ask);
    pthread_cond_destroy(&d->decided);
    pthread_mutex_destroy(&d->lock);
    free(d);
}

void desk_close(struct desk *d)
{
    pthread_mutex_lock(&d->lock);
    ask_close(d->ask);
    pthread_mutex_unlock(&d->lock);
}

static bool has_closed(int peer)
{
    struct pollfd watch = {peer, POLLRDHUP, 0};
    return peer >= 0 && poll(&watch, 1, 0) == 1;
}

enum ask_answer desk_join(struct desk *d, const struct ask_subject *subject, uint64_t *id)
{
    pthread_mutex_lock(&d->lock);
    enum ask_answer said = ask_remembered(d->ask, subject);
    if (said == ASK_NO)
        said = ask_join(d->ask, subject, id) ? ASK_NEVER : ASK_NO;
    pthread_mutex_unlock(&d->lock);
    if (said == ASK_NO)
        desk_ring(d->asked);
    return said;
}

bool desk_allows(struct desk *d, const struct ask_subject *subject)
{
    pthread_mutex_lock(&d->lock);
    bool allowed = ask_remembered(d->ask, subject) == ASK_RUN;
    pthread_mutex_unlock(&d->lock);
    return allowed;
}

/* Until something was decided, or for a moment. */
static void wait_for_decision(struct desk *d, uint64_t id)
{
    struct timespec until;
    pthread_mutex_lock(&d->lock);
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += LOOK_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    if (!ask_is_decided(d->ask, id))
        pthread_cond_timedwait(&d->decided, &d->lock, &until);
    pthread_mutex_unlock(&d->lock);
}

bool desk_ask(struct desk *d, const struct ask_subject *subject, int peer)
{
    struct ask_decision decision;
    do {
        uint64_t id;
        enum ask_answer said = desk_join(d, subject, &id);
        if (said != ASK_NO)
            return said == ASK_RUN;
        while (!desk_take(d, id, &decision)) {
            if (has_closed(peer)) {
                desk_leave(d, id);
                return false;
            }
            wait_for_decision(d, id);
        }
    } while (decision.again);
    return decision.allowed;
}
