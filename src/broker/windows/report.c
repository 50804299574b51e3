/* SPDX-License-Identifier: Apache-2.0 */
/* Reports refusals: one event each, in words, and the status that the program gets. */
#include "audit/audit.h"
#include "broker/windows/ask.h"

void request_event(struct request *r, struct audit_event *event)
{
    struct broker *b = r->broker;
    event->time = b->now();
    event->pid = r->client->pid;
    event->image = r->client->image;
    event->quiet = audit_is_quiet(event);
    EnterCriticalSection(&b->lock);
    b->event(b->context, event);
    LeaveCriticalSection(&b->lock);
}

void request_deny_text(struct request *r, enum audit_op op, struct str target, struct str rule,
                       struct str why, struct str fix)
{
    request_event(r, &(struct audit_event){.type = AUDIT_DENY,
                                           .op = op,
                                           .target = target,
                                           .verdict = CORDON_DENY,
                                           .rule = rule,
                                           .why = why,
                                           .fix = fix});
    request_answer(r, STATUS_ACCESS_DENIED);
}

void request_deny(struct request *r, enum audit_op op, const struct policy_request *question,
                  const struct policy_answer *answer, struct str target2)
{
    auto_buf struct buf why = {0}, fix = {0};
    policy_explain(r->broker->policy, question, answer, &why, &fix);
    request_event(r, &(struct audit_event){.type = AUDIT_DENY,
                                           .op = op,
                                           .target = question->path.text,
                                           .target2 = target2,
                                           .verdict = CORDON_DENY,
                                           .rule = str_of(policy_rule_id(answer->rule)),
                                           .why = buf_str(&why),
                                           .fix = buf_str(&fix)});
    request_answer(r, answer->other_device ? STATUS_NOT_SAME_DEVICE : STATUS_ACCESS_DENIED);
}

void request_deny_unknown(struct request *r, enum audit_op op, struct str target, const char *why)
{
    request_deny_text(r, op, target, str_of(policy_rule_id(RULE_PATH_UNKNOWN)), str_of(why),
                      STR(POLICY_NO_REMEDY));
}

void request_grant(struct request *r, enum audit_op op, const struct policy_request *question,
                   const struct policy_answer *answer)
{
    bool notable = answer->rule == RULE_GIT_NEW;
    if (r->broker->report_grants || notable)
        request_event(r, &(struct audit_event){.type = AUDIT_ALLOW,
                                               .op = op,
                                               .target = question->path.text,
                                               .verdict = CORDON_ALLOW,
                                               .notable = notable,
                                               .rule = str_of(policy_rule_id(answer->rule))});
}

bool request_allows(struct request *r, const struct policy_request *question, enum audit_op op)
{
    return request_allows_change(r, NULL, question, op);
}

bool request_allows_change(struct request *r, HANDLE file, const struct policy_request *question,
                           enum audit_op op)
{
    struct policy_answer answer = {0};
    policy_decide(r->broker->policy, question, &answer);
    if (answer.verdict != CORDON_ALLOW && file &&
        broker_ask_change(r, file, question, &answer, op) == ASK_WAITS)
        return false;
    if (answer.verdict == CORDON_ALLOW) {
        request_grant(r, op, question, &answer);
        return true;
    }
    request_deny(r, op, question, &answer, STR_NONE);
    return false;
}
