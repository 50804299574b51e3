/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/asking.h"

#include <limits.h>

static void take_line(struct asking *a)
{
    const char *why = "the line is longer than 65535 bytes";
    uint64_t id = 0;
    int rc = CORDON_E_TOOBIG;
    if (!a->too_long) {
        desk_lock(a->desk);
        rc = ask_take_line(a->desk->ask, (struct str){a->line, a->length}, a->by, &id, &why);
        desk_unlock(a->desk);
    }
    if (rc)
        ask_spell_error(id, why, &a->output);
    a->length = 0;
    a->too_long = false;
}

void asking_take(struct asking *a, struct str bytes)
{
    for (size_t i = 0; i < bytes.n; i++) {
        if (bytes.p[i] == '\n')
            take_line(a);
        else if (a->length == sizeof a->line)
            a->too_long = true;
        else
            a->line[a->length++] = bytes.p[i];
    }
}

struct str asking_rest(const struct asking *a)
{
    return (struct str){a->output.p + a->sent, a->output.n - a->sent};
}

void asking_sent(struct asking *a, size_t n)
{
    a->sent += n;
    if (a->sent == a->output.n) {
        buf_reset(&a->output);
        a->sent = 0;
    }
}

/* One question for the function; false if there is none. */
static bool call_function(struct asking *a)
{
    desk_lock(a->desk);
    const struct ask_question *q = ask_next(a->desk->ask, gate_clock());
    struct cordon_question *question = q ? question_new(a->desk, q) : NULL;
    if (q && !question)
        ask_answer(a->desk->ask, q->id, ASK_NO, ASK_CALL, ASK_BY_CLOSED);
    desk_unlock(a->desk);
    if (question)
        a->function(a->context, question);
    return q != NULL;
}

int asking_look(struct asking *a, bool *goes_on)
{
    const struct ask_question *q;
    struct ask_closed closed;
    while (a->function && call_function(a))
        ;
    desk_lock(a->desk);
    ask_expire(a->desk->ask, gate_clock());
    while (ask_next_closed(a->desk->ask, &closed))
        if (!a->function)
            ask_spell_closed(&closed, &a->output);
    while (!a->function && (q = ask_next(a->desk->ask, gate_clock())))
        ask_spell(q, &a->output);
    uint64_t until = ask_deadline(a->desk->ask), now = gate_clock();
    desk_unlock(a->desk);
    *goes_on = !a->output.failed;
    if (until == UINT64_MAX)
        return -1;
    return until <= now ? 0 : until - now > INT_MAX ? INT_MAX : (int)(until - now);
}
