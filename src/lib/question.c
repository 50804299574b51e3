/* SPDX-License-Identifier: Apache-2.0 */
/* A question in the hands of the host: it may be answered by any thread, even after the run. */
#include <stdlib.h>

#include "lib/asking.h"

struct cordon_question {
    struct desk *desk;
    uint64_t id;
    struct buf json;
};

struct cordon_question *question_new(struct desk *desk, const struct ask_question *q)
{
    struct cordon_question *question = calloc(1, sizeof *question);
    if (!question)
        return NULL;
    ask_spell(q, &question->json);
    if (question->json.n)
        question->json.n--; /* the line's end */
    question->id = q->id;
    if (question->json.failed || !buf_cstr(&question->json)[0]) {
        buf_free(&question->json);
        free(question);
        return NULL;
    }
    desk->references++; /* the lock is the caller's */
    question->desk = desk;
    return question;
}

const char *cordon_question_json(const struct cordon_question *question)
{
    return question->json.p;
}

int cordon_question_answer(struct cordon_question *question, const char *answer, const char *scope)
{
    struct desk *desk = question->desk;
    enum ask_answer word = ASK_NO;
    enum ask_scope reach = ASK_CALL;
    desk_lock(desk);
    const struct ask_question *q = ask_shown(desk->ask, question->id);
    int rc =
        q ? ask_read_words(q, str_of(answer), str_of(scope), &word, &reach) : CORDON_E_CONFLICT;
    if (rc == 0)
        rc = ask_answer(desk->ask, question->id, word, reach, ASK_BY_CALLBACK);
    desk_unlock(desk);
    if (rc == CORDON_E_VALUE)
        return rc;
    desk_drop(desk);
    buf_free(&question->json);
    free(question);
    return rc;
}
