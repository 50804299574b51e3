/* SPDX-License-Identifier: Apache-2.0 */
/* Services outside the run: whether they may be asked, and why not. */
#include "policy/build.h"
#include "policy/interfaces.h"

static const struct {
    const char *name, *why;
} texts[] = {
#define INTERFACE(id, kind, name, why) {name, why},
#define INTERFACE_LOOK(procedure)
#include "policy/interfaces.def"
};

void policy_service_decide(const struct policy *policy, const struct policy_service *service,
                           struct policy_answer *answer)
{
    static const enum policy_rule of_net[] = {[POLICY_NET_OFF] = RULE_NET_OFF,
                                              [POLICY_NET_LOOPBACK] = RULE_NET_LOOPBACK,
                                              [POLICY_NET_PROXY] = RULE_NET_PROXY,
                                              [POLICY_NET_ALLOW] = RULE_NET_ALLOW,
                                              [POLICY_NET_ON] = RULE_NET_ON};
    const struct policy_settings *s = &policy->settings;
    int row = interface_find(service->id);
    bool allowed = row < 0;
    *answer = (struct policy_answer){.rule = RULE_SERVICE_OUTSIDE};
    if (s->mode == POLICY_FULL_ACCESS) {
        answer->rule = RULE_MODE_FULL;
        allowed = true;
    } else if (row < 0) {
        answer->rule = RULE_SERVICE_OTHER;
    } else {
        answer->name = texts[row].name;
        if (interface_kind_of(row) == INTERFACE_NAMES) {
            answer->rule = of_net[s->net];
            allowed = s->net == POLICY_NET_ON;
        } else if (interface_kind_of(row) == INTERFACE_LOOKS &&
                   interface_only_looks(service->procedure)) {
            answer->rule = RULE_SERVICE_OTHER;
            allowed = true;
        }
    }
    answer->verdict = allowed ? CORDON_ALLOW : CORDON_DENY;
}

void policy_service_explain(const struct policy_service *service,
                            const struct policy_answer *answer, struct buf *why, struct buf *fix)
{
    int row = interface_find(service->id);
    if (answer->verdict == CORDON_ALLOW || row < 0) {
        buf_fmt(why, "allowed: %s", policy_rule_text(answer->rule));
        return;
    }
    buf_fmt(why, "cannot call %s: %s", texts[row].name, texts[row].why);
    buf_add(fix,
            interface_kind_of(row) == INTERFACE_NAMES ? STR("--net=on") : STR(POLICY_NO_REMEDY));
}
