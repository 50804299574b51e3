/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Long copies for the journal of --undo. Each has a thread, and only the calls on that file wait
 * for it: they are set aside, and served again when the copy is there.
 */
#include <stdio.h>
#include <unistd.h>

#include "broker/gate.h"
#include "broker/linux/park.h"

enum { LOOK_US = 1000 };

static void *make(void *context)
{
    struct broker_copy *copy = context;
    intptr_t bell = copy->all->ended;
    keep_make_copy(copy->what);
    atomic_store(&copy->ended, true);
    bell_ring(bell);
    return NULL;
}

void copies_open(struct broker *b)
{
    b->copies.ended = b->undo ? bell_new() : -1;
}

/* False if it cannot have a thread. */
static bool start(struct broker_copies *all, struct keep_copying *what, struct keep_object object)
{
    size_t i = 0;
    while (i < KEEP_MOST_COPIES && all->items[i].used)
        i++;
    if (all->ended < 0 || i == KEEP_MOST_COPIES)
        return false;
    struct broker_copy *copy = &all->items[i];
    copy->all = all;
    copy->what = what;
    copy->object = object;
    atomic_init(&copy->ended, false);
    copy->used = pthread_create(&copy->thread, NULL, make, copy) == 0;
    return copy->used;
}

bool copies_wait(struct broker *b, struct request *r)
{
    struct keep_object object = keep_awaited(b->undo);
    struct keep_copying *what = keep_next_copy(b->undo);
    if (what && !start(&b->copies, what, object)) {
        keep_make_copy(what);
        return false;
    }
    struct broker_parked *p = parked_take(b, r);
    if (!p) {
        usleep(LOOK_US);
        return false;
    }
    p->copying = true;
    p->object = object;
    snprintf(p->granted, sizeof p->granted, "%s", b->told);
    parked_add(b, r, p);
    return true;
}

size_t copies_collect(struct broker *b, struct keep_object ended[KEEP_MOST_COPIES])
{
    size_t count = 0;
    for (size_t i = 0; i < KEEP_MOST_COPIES; i++) {
        struct broker_copy *copy = &b->copies.items[i];
        if (!copy->used || !atomic_load(&copy->ended))
            continue;
        pthread_join(copy->thread, NULL);
        copy->used = false;
        ended[count++] = copy->object;
    }
    return count;
}

static bool is_awaited(const struct broker *b, struct keep_object object)
{
    for (size_t i = 0; i < b->parked.count; i++) {
        const struct broker_parked *p = b->parked.items[i];
        if (p->copying && p->object.device == object.device && p->object.inode == object.inode)
            return true;
    }
    return false;
}

void copies_drop(struct broker *b, const struct keep_object *ended, size_t count)
{
    bool waiting = false;
    for (size_t i = 0; i < count; i++)
        if (!is_awaited(b, ended[i]))
            keep_drop_copy(b->undo, ended[i]);
    for (size_t i = 0; i < b->parked.count; i++) {
        const struct broker_parked *p = b->parked.items[i];
        waiting = waiting || (p->copying && !keep_is_copying(b->undo, p->object));
    }
    /* There is room now for a copy that had to wait for others. */
    if (count && waiting)
        bell_ring(b->copies.ended);
}

void copies_look(struct broker *b)
{
    for (size_t i = 0; i < KEEP_MOST_COPIES; i++) {
        const struct broker_copy *copy = &b->copies.items[i];
        if (copy->used && !is_awaited(b, copy->object))
            keep_stop_copy(b->undo, copy->object);
    }
}

void copies_close(struct broker *b)
{
    if (!b->undo)
        return;
    keep_stop_copies(b->undo);
    for (size_t i = 0; i < KEEP_MOST_COPIES; i++) {
        struct broker_copy *copy = &b->copies.items[i];
        if (copy->used)
            pthread_join(copy->thread, NULL);
        copy->used = false;
    }
    bell_free(b->copies.ended);
}
