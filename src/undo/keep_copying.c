/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Long copies. The journal begins one and the caller makes it, in a thread of its own, on
 * descriptors that are held open. Until it is done every question about that object is answered
 * with -EALREADY; the first one afterwards takes the copy, and only then is there a record of it.
 */
#include <errno.h>
#include <stdlib.h>

#include "undo/keep_inside.h"

enum { MOST_TRIES = 3, MOST_LOOKS = 50 };

struct keep_copying {
    struct keep_copying *next;
    struct fs_stat st; /* of the object, when the copy began */
    fs_file from, to;
    uint64_t object, size;
    unsigned tries, looks;
    bool begun;
    int rc;
    atomic_bool stop, done;
};

static struct keep_copying **find(struct keep *k, struct keep_object object)
{
    struct keep_copying **at = &k->copies;
    while (*at && ((*at)->st.inode != object.inode || (*at)->st.device != object.device))
        at = &(*at)->next;
    return at;
}

static struct keep_object object_of(const struct fs_stat *st)
{
    return (struct keep_object){st->device, st->inode};
}

struct keep_object keep_awaited(const struct keep *k)
{
    return k->awaited;
}

bool keep_is_copying(const struct keep *k, struct keep_object object)
{
    const struct keep_copying *c = *find((struct keep *)k, object);
    return c && !atomic_load(&c->done);
}

int keep_wait_for(struct keep *k, const struct fs_stat *st)
{
    k->awaited = object_of(st);
    return k->copies && keep_is_copying(k, k->awaited) ? -EALREADY : 0;
}

/* Closes it and, unless its file belongs to a record now, removes that. */
static void let_go(struct keep *k, struct keep_copying **at, bool taken)
{
    struct keep_copying *c = *at;
    char name[24];
    fs_close(c->from);
    fs_close(c->to);
    if (!taken) {
        keep_object_name(c->object, name);
        fs_remove(k->objects, name, false);
        k->used -= c->st.taken;
    }
    *at = c->next;
    k->copy_count--;
    free(c);
}

/* A copy that is done belongs to a call that is about to take it, unless that gave up: then it is
   still here after many looks. */
static void drop_abandoned(struct keep *k)
{
    for (struct keep_copying **at = &k->copies; *at;)
        if (atomic_load(&(*at)->done) && ++(*at)->looks > MOST_LOOKS)
            let_go(k, at, false);
        else
            at = &(*at)->next;
}

static int begin(struct keep *k, fs_file file, const struct fs_stat *st, unsigned tries)
{
    char name[24];
    k->awaited = object_of(st);
    if (k->copy_count == KEEP_MOST_COPIES)
        drop_abandoned(k);
    if (k->copy_count == KEEP_MOST_COPIES)
        return -EALREADY; /* later */
    struct keep_copying *c = calloc(1, sizeof *c);
    if (!c)
        return -ENOMEM;
    keep_object_name(k->objects_made, name);
    *c = (struct keep_copying){.next = k->copies, .st = *st, .tries = tries};
    atomic_init(&c->stop, false);
    atomic_init(&c->done, false);
    c->object = k->objects_made;
    c->from = fs_duplicate(file);
    c->to = c->from < 0 ? -1 : fs_open_file(k->objects, name, FS_CREATE_KEPT);
    int rc = c->from < 0 ? (int)c->from : c->to < 0 ? (int)c->to : 0;
    if (rc) {
        fs_close(c->from);
        free(c);
        return rc;
    }
    k->objects_made++;
    k->used += st->taken;
    k->copies = c;
    k->copy_count++;
    return -EALREADY;
}

int keep_begin_copy(struct keep *k, fs_file file, const struct fs_stat *st)
{
    return begin(k, file, st, 1);
}

static bool is_unchanged(const struct fs_stat *a, const struct fs_stat *b)
{
    return a->size == b->size && undo_time_compare(a->modified, b->modified) == 0 &&
           undo_time_compare(a->changed, b->changed) == 0;
}

int keep_take_copy(struct keep *k, fs_file file, const struct fs_stat *st,
                   struct undo_record *record)
{
    struct keep_copying **at = find(k, object_of(st)), *c = *at;
    if (!c)
        return 1;
    int rc = c->rc;
    unsigned tries = c->tries;
    /* Something outside the run changed it, so that the copy may be half old, half new; or it was
       stopped before this call came. */
    bool again = rc == 0 || rc == -EAGAIN ? !is_unchanged(&c->st, st) && tries < MOST_TRIES
                                          : rc == -ECANCELED && !k->stopped;
    if (rc == 0 && !again) {
        record->how = UNDO_COPY;
        record->place = c->object;
        record->size = c->size;
    }
    let_go(k, at, rc == 0 && !again);
    return again ? begin(k, file, st, tries + 1) : rc;
}

struct keep_copying *keep_next_copy(struct keep *k)
{
    struct keep_copying *c = *find(k, k->awaited);
    if (!c || c->begun)
        return NULL;
    c->begun = true;
    return c;
}

void keep_make_copy(struct keep_copying *c)
{
    struct fs_stat copy = {0};
    int rc = fs_copy(c->from, c->to, &c->stop);
    if (rc == 0)
        rc = fs_stat(c->to, "", &copy);
    c->size = copy.size;
    c->rc = rc;
    atomic_store(&c->done, true);
}

void keep_stop_copy(struct keep *k, struct keep_object object)
{
    struct keep_copying *c = *find(k, object);
    if (c)
        atomic_store(&c->stop, true);
}

void keep_stop_copies(struct keep *k)
{
    k->stopped = true;
    for (struct keep_copying *c = k->copies; c; c = c->next)
        atomic_store(&c->stop, true);
}

void keep_drop_copy(struct keep *k, struct keep_object object)
{
    struct keep_copying **at = find(k, object);
    if (*at && atomic_load(&(*at)->done))
        let_go(k, at, false);
}

void keep_drop_copies(struct keep *k)
{
    for (struct keep_copying **at = &k->copies; *at;)
        if (atomic_load(&(*at)->done))
            let_go(k, at, false);
        else
            at = &(*at)->next;
}
