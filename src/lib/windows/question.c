/* SPDX-License-Identifier: Apache-2.0 */
/* Nothing is asked on Windows yet: there are no questions, and no options about them. */
#include "lib/run.h"

const char *cordon_question_json(const struct cordon_question *question)
{
    (void)question;
    return "";
}

int cordon_question_answer(struct cordon_question *question, const char *answer, const char *scope)
{
    (void)question;
    (void)answer;
    (void)scope;
    return CORDON_E_CONFLICT;
}

int run_read_ask_fds(const char *text, int out[2])
{
    (void)text;
    (void)out;
    return CORDON_E_VALUE;
}

int run_read_ask_timeout(const char *text, uint64_t *out_ms)
{
    (void)text;
    (void)out_ms;
    return CORDON_E_VALUE;
}

bool question_supported(void)
{
    return false;
}
