/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/linux/park.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "broker/desk.h"

static void forget(struct broker_parked *p)
{
    while (p->answers)
        parked_forget_answer(p);
    free(p);
}

void parked_forget_answer(struct broker_parked *p)
{
    const int *held = p->said[--p->answers].held;
    free(p->said[p->answers].target);
    for (int i = 0; i < 2; i++)
        if (held[i] >= 0)
            close(held[i]);
}

struct broker_parked *parked_take(struct broker *b, struct request *r)
{
    if (b->parked.count == ASK_MOST_WAITING)
        return NULL;
    return r->parked ? r->parked : calloc(1, sizeof(struct broker_parked));
}

void parked_drop(const struct request *r, struct broker_parked *p)
{
    if (p != r->parked)
        forget(p);
}

void parked_add(struct broker *b, struct request *r, struct broker_parked *p)
{
    p->waits = true;
    p->request = *r;
    p->request.parked = NULL;
    p->request.detail = NULL;
    b->parked.items[b->parked.count++] = p;
    r->answered = true; /* later */
}

static bool is_over(struct broker *b, struct broker_parked *p)
{
    return p->copying ? !keep_is_copying(b->undo, p->object) : broker_ask_decided(b, p);
}

/* A yes is no success: the summary says what came of it. */
static void tell_failure(struct broker *b, const struct broker_parked *p, const struct request *r)
{
    for (size_t i = 0; i < p->answers && r->failed; i++)
        if (p->said[i].allowed && p->said[i].target)
            desk_failed(b->asks.desk, process_caller(b, r), p->said[i].op,
                        str_of(p->said[i].target), str_of(strerror(r->failed)));
}

char *parked_yes(const struct request *r, enum audit_op *op)
{
    const struct broker_parked *p = r->parked;
    for (size_t i = 0; p && i < p->answers; i++)
        if (p->said[i].allowed && p->said[i].target) {
            *op = p->said[i].op;
            return strdup(p->said[i].target);
        }
    return NULL;
}

void parked_resume(struct broker *b, void (*serve)(struct broker *b, struct request *r))
{
    struct broker_park *park = &b->parked;
    size_t ready = 0, left = 0;
    for (size_t i = 0; i < park->count; i++) {
        struct broker_parked *p = park->items[i];
        if (!is_over(b, p)) {
            park->items[left++] = p;
            continue;
        }
        p->waits = p->copying = false;
        park->ready[ready++] = p;
    }
    park->count = left;
    for (size_t i = 0; i < ready; i++) {
        struct broker_parked *p = park->ready[i];
        struct request r = p->request;
        r.parked = p;
        r.answered = false;
        r.failed = 0;
        if (request_alive(&r))
            serve(b, &r);
        else
            r.failed = ESRCH;
        if (!p->waits) {
            tell_failure(b, p, &r);
            forget(p);
        }
    }
}

void parked_look(struct broker *b, bool all)
{
    struct broker_park *park = &b->parked;
    size_t left = 0;
    for (size_t i = 0; i < park->count; i++) {
        struct broker_parked *p = park->items[i];
        if (!all && request_alive(&p->request)) {
            park->items[left++] = p;
            continue;
        }
        if (!p->copying)
            desk_leave(b->asks.desk, p->question);
        forget(p);
    }
    park->count = left;
}
