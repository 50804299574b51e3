/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that the policy refuses by their name. */
#include "guard/state.h"
#include "policy/rules.h"

void guard_tool(struct guard *g, struct word program)
{
    const struct policy *policy = g->question.tools;
    if (g->stopped || !policy)
        return;
    struct policy_program named = {.name = program.text};
    struct policy_answer answer = {0};
    policy_tool_decide(policy, &named, &answer);
    if (answer.verdict == CORDON_ALLOW)
        return;
    /* A program that the workspace brings along is not the tool. */
    bool path = str_has_char(program.text, '/') || str_has_char(program.text, '\\');
    if (path && answer.rule != RULE_TOOL_DENIED &&
        guard_place_in(g, policy, program.text) == GUARD_PLACE_INSIDE)
        return;
    struct guard_finding f = {.rule = GUARD_LAUNCH_OUTSIDE,
                              .id = str_of(policy_rule_id(answer.rule)),
                              .verdict = answer.verdict,
                              .resolved = program.text};
    guard_outer_span(g, program, &f.start, &f.end);
    struct guard_finding *kept = guard_keep(g, &f);
    if (!kept)
        return;
    auto_buf struct buf why = {0}, fix = {0};
    policy_tool_explain(policy, &named, &answer, &why, &fix);
    kept->why = arena_copy(&g->arena, buf_str(&why));
    kept->fix = arena_copy(&g->arena, buf_str(&fix));
}
