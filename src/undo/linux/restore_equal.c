/* SPDX-License-Identifier: Apache-2.0 */
/* States of files that are the same although their times say otherwise: what an undo made of them,
   so that several runs taken back in order do not conflict. */
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include "undo/linux/restore_inside.h"

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

bool undoing_is_untouched(const struct undoing *u, const struct stat *st)
{
    enum { MOST_STEPS = 64 };
    uint64_t inode = st->st_ino;
    struct undo_time time = {st->st_ctim.tv_sec, (uint32_t)st->st_ctim.tv_nsec};
    for (int i = 0; i < MOST_STEPS; i++) {
        if (undo_time_compare(time, u->j->end) <= 0)
            return true;
        if (!undoing_step_back(u, st->st_dev, &inode, &time))
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
    const struct task *t = &u->tasks[object];
    /* The run left its time on it and nothing else. */
    bool same = !o->root && !undoing_was_changed(u->m, object);
    if (!old->links || o->made || (t->stands && !t->quiet) ||
        (!o->root && ((!same && !undoing_is_ready(u, object)) || !o->before)))
        return;
    int rc = o->root ? restore_find(&u->m->head, u->roots, object - 1, STR_NONE, &spot)
                     : undoing_find(u, o->before, true, &spot);
    if (rc == 0 && spot.exists &&
        (!same || (spot.st.st_ino == old->inode && undoing_is_untouched(u, &spot.st)))) {
        struct equal e = {spot.st.st_dev,
                          spot.st.st_ino,
                          (uint64_t)spot.st.st_ctim.tv_sec,
                          (uint64_t)spot.st.st_ctim.tv_nsec,
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
    int fd =
        openat(u->store, ".same", O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
    struct stat st;
    if (fd < 0)
        return;
    /* A piece that an undo wrote before it was killed would shift all that come after it. */
    bool whole = fstat(fd, &st) == 0;
    off_t end = whole ? st.st_size - st.st_size % (off_t)sizeof(struct equal) : 0;
    if (end > (off_t)(MOST_EQUALS * sizeof(struct equal)))
        end = 0;
    whole = whole && (end == st.st_size || ftruncate(fd, end) == 0);
    if (whole && !u->same.failed && u->same.n)
        (void)!write(fd, u->same.p, u->same.n);
    close(fd);
}

struct equal *undoing_read_equals(int store, size_t *count)
{
    struct stat st;
    int fd = openat(store, ".same", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    struct equal *out = NULL;
    *count = 0;
    if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 0 &&
        (uint64_t)st.st_size <= 2 * (uint64_t)MOST_EQUALS * sizeof *out)
        out = malloc((size_t)st.st_size);
    ssize_t n = out ? read(fd, out, (size_t)st.st_size) : 0;
    if (n > 0)
        *count = (size_t)n / sizeof *out;
    if (fd >= 0)
        close(fd);
    if (*count)
        qsort(out, *count, sizeof *out, compare_equals);
    return out;
}
