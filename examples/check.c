/* SPDX-License-Identifier: Apache-2.0 */
#include <cordon.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    struct cordon_policy *policy;
    struct cordon_answer *answer;
    if (cordon_policy_new(&policy) != 0)
        return 125;
    if (cordon_check(policy, (size_t)argc - 1, (const char **)argv + 1, 0, &answer) != 0)
        return fprintf(stderr, "%s\n", cordon_policy_error(policy)), 125;
    for (size_t i = 0; i < cordon_answer_count(answer); i++)
        printf("%s: %s\n", cordon_answer_rule(answer, i), cordon_answer_why(answer, i));
    int code = cordon_answer_verdict(answer) == CORDON_DENY ? 126 : 0;
    cordon_answer_free(answer);
    cordon_policy_free(policy);
    return code;
}
