/* SPDX-License-Identifier: Apache-2.0 */
/* Services called by RPC: judged by the interface, which the agent read from the message. */
#include "broker/windows/broker.h"

void service_handle(struct request *r)
{
    struct policy_service service = {.procedure = (uint32_t)r->wire.numbers[0]};
    struct policy_answer answer;
    if (r->wire.text[0].n != sizeof service.id) {
        request_answer(r, STATUS_INVALID_PARAMETER);
        return;
    }
    memcpy(service.id, r->wire.text[0].p, sizeof service.id);
    policy_service_decide(r->broker->policy, &service, &answer);
    if (answer.verdict == CORDON_ALLOW) {
        request_answer(r, STATUS_SUCCESS);
        return;
    }
    auto_buf struct buf why = {0}, fix = {0};
    policy_service_explain(&service, &answer, &why, &fix);
    enum audit_op op = answer.rule == RULE_SERVICE_OUTSIDE ? AUDIT_RPC_CONNECT : AUDIT_NET_RESOLVE;
    request_deny_text(r, op, str_of(answer.name), str_of(policy_rule_id(answer.rule)),
                      buf_str(&why), buf_str(&fix));
}
