/* SPDX-License-Identifier: Apache-2.0 */
/* States of files that are the same although their times say otherwise: what an undo made of them,
   so that several runs taken back in order do not conflict. */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include "undo/restore_inside.h"

/* By the state that the undo made. */
static int compare_equals(const void *a, const void *b)
{
    const uint64_t *left = a, *right = b;
    for (size_t i = 0; i < offsetof(struct equal, old_inode) / sizeof *left; i++)
        if (left[i] != right[i])
            return left[i] < right[i] ? -1 : 1;
    return 0;
}

bool undoing_step_back(const struct undoing *u, uint64_t device, uint64_t *inode,
                       struct undo_time *time)
{
    struct equal key = {device, *inode, (uint64_t)time->seconds, time->nanoseconds, 0, 0, 0};
    const struct equal *e =
        u->equal_count ? bsearch(&key, u->equals, u->equal_count, sizeof key, compare_equals)
                       : NULL;
    if (!e)
        return false;
    *inode = e->old_inode;
    *time = (struct undo_time){(int64_t)e->old_seconds, (uint32_t)e->old_nanoseconds};
    return true;
}

bool undoing_is_untouched(const struct undoing *u, const struct fs_stat *st)
{
    uint64_t inode = st->inode;
    struct undo_time time = st->changed;
    for (int i = 0; i < UNDOING_MOST_STEPS; i++) {
        if (undo_time_compare(time, u->j->end) <= 0)
            return true;
        if (!undoing_step_back(u, st->device, &inode, &time))
            return false;
    }
    return false;
}

void undoing_note_equal(struct undoing *u, uint32_t object)
{
    const struct undo_object *o = &u->m->objects[object];
    const struct undo_record *meta = undo_model_record(u->m, o->meta);
    /* At the first record that names it. */
    const struct undo_ident *old = o->root && meta ? &meta->ident : &o->ident;
    struct restore_spot spot = {.parent = -1};
    const struct restore_task *t = &u->tasks[object];
    /* The run left its time on it and nothing else. */
    bool same = !o->root && !undoing_was_changed(u->m, object);
    if (!old->links || o->made || (t->stands && !t->quiet) ||
        (!o->root && ((!same && !undoing_is_ready(u, object)) || !o->before)))
        return;
    int rc = o->root ? restore_find(&u->m->head, u->roots, object - 1, STR_NONE, &spot)
                     : undoing_find(u, o->before, true, &spot);
    if (rc == 0 && spot.exists &&
        (!same || (spot.st.inode == old->inode && undoing_is_untouched(u, &spot.st)))) {
        struct equal e = {spot.st.device,
                          spot.st.inode,
                          (uint64_t)spot.st.changed.seconds,
                          spot.st.changed.nanoseconds,
                          old->inode,
                          (uint64_t)old->changed.seconds,
                          old->changed.nanoseconds};
        buf_add(&u->same, (struct str){(const char *)&e, sizeof e});
    }
    restore_leave(&spot);
}

enum { MOST_EQUALS = 1 << 20 };

void undoing_write_equals(struct undoing *u)
{
    struct fs_stat st;
    fs_file file = fs_open_file(u->store, ".same", FS_CREATE);
    if (file == -EEXIST)
        file = fs_open_file(u->store, ".same", FS_CHANGE);
    if (file < 0)
        return;
    /* A piece that an undo wrote before it was killed would shift all that come after it. */
    bool whole = fs_stat(file, "", &st) == 0;
    uint64_t end = whole ? st.size - st.size % sizeof(struct equal) : 0;
    if (end > MOST_EQUALS * sizeof(struct equal))
        end = 0;
    whole = whole && (end == st.size || fs_truncate(file, end) == 0);
    if (whole && !u->same.failed && u->same.n)
        fs_write(file, u->same.p, u->same.n, end);
    fs_close(file);
    buf_reset(&u->same);
}

struct equal *undoing_read_equals(fs_file store, size_t *count)
{
    struct fs_stat st;
    fs_file file = fs_open_file(store, ".same", FS_READ);
    struct equal *out = NULL;
    *count = 0;
    if (file >= 0 && fs_stat(file, "", &st) == 0 && st.size > 0 &&
        st.size <= 2 * (uint64_t)MOST_EQUALS * sizeof *out)
        out = malloc((size_t)st.size);
    int64_t n = out ? fs_read(file, out, (size_t)st.size, 0) : 0;
    if (n > 0)
        *count = (size_t)n / sizeof *out;
    fs_close(file);
    if (*count)
        qsort(out, *count, sizeof *out, compare_equals);
    return out;
}
