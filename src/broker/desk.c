/* SPDX-License-Identifier: Apache-2.0 */
/* The desk: questions and answers, shared between threads. */
#include "broker/desk.h"

#include <stdlib.h>

enum { LOOK_MS = 200 };

void desk_lock(struct desk *d)
{
    gate_lock(d->gate);
}

void desk_unlock(struct desk *d)
{
    gate_unlock(d->gate);
}

/* Called with the lock held, by whatever decides. */
static void wake(void *context, const struct ask_question *q)
{
    struct desk *d = context;
    (void)q;
    bell_ring(d->answered);
    gate_call(d->gate);
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

void desk_failed(struct desk *d, uint32_t pid, enum audit_op op, struct str target, struct str why)
{
    d->event(d->context, &(struct audit_event){.type = AUDIT_ANSWER,
                                               .op = op,
                                               .time = d->now(),
                                               .pid = pid,
                                               .target = target,
                                               .why = why,
                                               .choice = STR(AUDIT_FAILED)});
}

bool desk_take(struct desk *d, uint64_t id, struct ask_decision *out)
{
    bool first;
    desk_lock(d);
    const struct ask_question *q = ask_take(d->ask, id, &first);
    desk_unlock(d);
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
    desk_lock(d);
    ask_leave(d->ask, id);
    desk_unlock(d);
    bell_ring(d->asked); /* it may be closed now */
}

struct desk *desk_new(const struct policy *policy, bool serial, uint64_t timeout_ms)
{
    struct desk *d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    d->gate = gate_new();
    d->references = 1;
    d->ask = ask_new(serial, timeout_ms);
    d->asked = bell_new();
    d->answered = bell_new();
    if (!d->gate || !d->ask || d->asked == -1 || d->answered == -1 ||
        ask_wide_policy(policy, &d->wide)) {
        desk_drop(d);
        return NULL;
    }
    ask_on_decision(d->ask, wake, d);
    return d;
}

struct desk *desk_hold(struct desk *d)
{
    desk_lock(d);
    d->references++;
    desk_unlock(d);
    return d;
}

void desk_drop(struct desk *d)
{
    if (!d)
        return;
    if (d->gate)
        desk_lock(d);
    bool last = --d->references == 0;
    if (d->gate)
        desk_unlock(d);
    if (!last)
        return;
    bell_free(d->asked);
    bell_free(d->answered);
    policy_free(d->wide);
    ask_free(d->ask);
    gate_free(d->gate);
    free(d);
}

void desk_close(struct desk *d)
{
    desk_lock(d);
    ask_close(d->ask);
    desk_unlock(d);
}

enum ask_answer desk_join(struct desk *d, const struct ask_subject *subject, uint64_t *id)
{
    desk_lock(d);
    enum ask_answer said = ask_remembered(d->ask, subject);
    if (said == ASK_NO)
        said = ask_join(d->ask, subject, id) ? ASK_NEVER : ASK_NO;
    desk_unlock(d);
    if (said == ASK_NO)
        bell_ring(d->asked);
    return said;
}

bool desk_allows(struct desk *d, const struct ask_subject *subject)
{
    desk_lock(d);
    bool allowed = ask_remembered(d->ask, subject) == ASK_RUN;
    desk_unlock(d);
    return allowed;
}

bool desk_keeps(struct desk *d, enum audit_op op, struct str path)
{
    if (op != AUDIT_FILE_RENAME)
        return false;
    desk_lock(d);
    bool keeps = ask_holds_allowed(d->ask, path);
    desk_unlock(d);
    return keeps;
}

/* Until something was decided, or for a moment. */
static void wait_for_decision(struct desk *d, uint64_t id)
{
    desk_lock(d);
    if (!ask_is_decided(d->ask, id))
        gate_wait(d->gate, LOOK_MS);
    desk_unlock(d);
}

bool desk_ask(struct desk *d, const struct ask_subject *subject, bool (*gone)(void *context),
              void *context)
{
    struct ask_decision decision;
    do {
        uint64_t id;
        enum ask_answer said = desk_join(d, subject, &id);
        if (said != ASK_NO)
            return said == ASK_RUN;
        while (!desk_take(d, id, &decision)) {
            if (gone(context)) {
                desk_leave(d, id);
                return false;
            }
            wait_for_decision(d, id);
        }
    } while (decision.again);
    return decision.allowed;
}

bool desk_ask_host(struct desk *d, const struct ask_subject *caller, const struct policy_peer *peer,
                   struct str target, const struct policy_answer *answer,
                   bool (*gone)(void *context), void *context)
{
    auto_buf struct buf why = {0}, fix = {0};
    struct ask_subject s = *caller;
    if (!d || !ask_can_lift(ASK_CONNECT, answer->rule))
        return false;
    policy_net_explain(d->wide, peer, answer, &why, &fix);
    /* A name that was allowed leads into a private network: another question, about that address. */
    auto_buf struct buf address = {0};
    if (answer->rule == RULE_NET_PRIVATE) {
        if (!str_starts(buf_str(&fix), STR("--net=allow=")))
            return false;
        buf_fmt(&address, "%.*s (%.*s)", STR_ARG(target), STR_ARG(peer->found));
        target = buf_str(&address);
    }
    s.kind = ASK_CONNECT;
    s.op = AUDIT_NET_CONNECT;
    s.target = target;
    s.host = address.n ? STR_NONE : peer->host;
    s.rule = str_of(policy_rule_id(answer->rule));
    s.why = buf_str(&why);
    s.fix = buf_str(&fix);
    return desk_ask(d, &s, gone, context);
}
