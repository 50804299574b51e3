/* SPDX-License-Identifier: Apache-2.0 */
/* Each kind of change: the object is kept, then the change is recorded. */
#include "undo/keep.h"

#include <errno.h>

#include "undo/keep_inside.h"

/* -EALREADY: the object, or one of the two, is being copied. */
static int begin(struct keep *k, const struct keep_place *place, const struct keep_place *other)
{
    k->pending = false;
    k->linked = 0;
    k->gone.links = 0;
    int rc = place->st ? keep_wait_for(k, place->st) : 0;
    return rc == 0 && other && other->st ? keep_wait_for(k, other->st) : rc;
}

/* The kept link is not needed: the change is not made. */
static void drop_linked(struct keep *k)
{
    char name[24];
    if (!k->linked)
        return;
    keep_object_name(k->linked - 1, name);
    fs_remove(k->objects, name, false);
    k->used -= k->linked_of.taken;
    k->linked = 0;
}

static int record_change(struct keep *k, const struct undo_record *record)
{
    int rc = keep_add(k, record);
    if (rc)
        drop_linked(k);
    k->pending = rc == 0;
    return rc;
}

int keep_write(struct keep *k, const struct keep_place *place)
{
    struct undo_path path;
    int rc = begin(k, place, NULL);
    if (rc)
        return rc;
    /* A fifo stores no data, but writing to it changes its times. */
    if (!fs_is_file(place->st->mode))
        return keep_attributes(k, place);
    if (!keep_below_root(k, place->path, &path))
        return 0;
    if (keep_bits(k, place->st) & (KEEP_MADE | KEEP_DATA))
        return keep_note_again(k, &path, place->st);
    return keep_copy(k, place, &path);
}

int keep_attributes(struct keep *k, const struct keep_place *place)
{
    struct undo_path path;
    int rc = begin(k, place, NULL);
    if (rc || !keep_below_root(k, place->path, &path))
        return rc;
    fs_file file = fs_open_object(place->parent, place->leaf);
    rc = file < 0 ? -EAGAIN : keep_note_meta(k, file, &path, place->st);
    fs_close(file);
    return rc;
}

int keep_create(struct keep *k, const struct keep_place *place, uint32_t mode)
{
    struct undo_record record = {.type = UNDO_CREATE, .ident.mode = mode};
    int rc = begin(k, place, NULL);
    if (rc || !keep_below_root(k, place->path, &record.path))
        return rc;
    rc = keep_note_folder(k, place, &record.path);
    return rc ? rc : record_change(k, &record);
}

int keep_replace(struct keep *k, const struct keep_place *place, uint32_t mode)
{
    struct undo_record record = {.type = UNDO_CREATE, .ident.mode = mode};
    int rc = begin(k, place, NULL);
    if (rc || !keep_below_root(k, place->path, &record.path))
        return rc;
    rc = keep_note_folder(k, place, &record.path);
    if (rc == 0)
        rc = keep_away(k, place, &record.path);
    return rc ? rc : record_change(k, &record);
}

int keep_remove(struct keep *k, const struct keep_place *place)
{
    struct undo_record record = {.type = UNDO_REMOVE, .ident = keep_ident(place->st)};
    int rc = begin(k, place, NULL);
    if (rc || !keep_below_root(k, place->path, &record.path))
        return rc;
    record.ident.links -= keep_handles(k, place->st);
    rc = keep_note_folder(k, place, &record.path);
    if (rc == 0)
        rc = keep_away(k, place, &record.path);
    return rc ? rc : record_change(k, &record);
}

/* Whether both ends are covered: *rc is 0 if neither is, and -EXDEV if one is, so that programs
   copy instead and every file is seen. */
static bool are_below(const struct keep *k, const struct keep_place *from,
                      const struct keep_place *to, struct undo_record *record, int *rc)
{
    bool first = keep_below_root(k, from->path, &record->path);
    bool second = keep_below_root(k, to->path, &record->to);
    *rc = first == second ? 0 : -EXDEV;
    return first && second;
}

int keep_rename(struct keep *k, const struct keep_place *from, const struct keep_place *to,
                bool exchange)
{
    struct undo_record record = {.type = exchange ? UNDO_EXCHANGE : UNDO_RENAME,
                                 .ident = keep_ident(from->st)};
    int rc = begin(k, from, to);
    if (rc || !are_below(k, from, to, &record, &rc))
        return rc;
    if (to->st && to->st->device == from->st->device && to->st->inode == from->st->inode)
        return 0; /* two names of one file: nothing happens */
    /* The kernel refuses this: nothing is to be kept. */
    if (to->st && !exchange && fs_is_folder(to->st->mode) != fs_is_folder(from->st->mode))
        return 0;
    record.ident.links -= keep_handles(k, from->st);
    if (to->st) {
        record.replaced = keep_ident(to->st);
        record.replaced.links -= keep_handles(k, to->st);
    }
    rc = keep_note_folder(k, from, &record.path);
    if (rc == 0)
        rc = keep_note_folder(k, to, &record.to);
    /* A folder's own entry for the one above it changes. */
    if (rc == 0 && fs_is_folder(from->st->mode))
        rc = keep_attributes(k, from);
    if (rc == 0 && exchange && fs_is_folder(to->st->mode))
        rc = keep_attributes(k, to);
    if (rc == 0 && to->st && !exchange)
        rc = keep_away(k, to, &record.to);
    return rc ? rc : record_change(k, &record);
}

int keep_link(struct keep *k, const struct keep_place *from, const struct keep_place *to)
{
    struct undo_record record = {.type = UNDO_LINK, .ident = keep_ident(from->st)};
    int rc = begin(k, from, to);
    if (rc || !are_below(k, from, to, &record, &rc))
        return rc;
    rc = keep_note_folder(k, to, &record.to);
    return rc ? rc : record_change(k, &record);
}

void keep_after(struct keep *k, int error, const struct keep_place *made)
{
    struct fs_stat st;
    char name[24];
    if (!k->pending)
        return;
    k->pending = false;
    if (error) {
        keep_add(k, &(struct undo_record){.type = UNDO_FAILED});
        drop_linked(k);
        return;
    }
    if (k->gone.links)
        keep_find_known(k, k->gone.device, k->gone.inode)->bits &= KEEP_USED;
    if (k->linked) {
        /* Only now: while it had a name in the tree, others could open it. */
        keep_object_name(k->linked - 1, name);
        fs_shut(k->objects, name);
        k->linked = 0;
    }
    if (made && fs_stat(made->parent, made->leaf, &st) == 0)
        keep_set_bits(k, &st, KEEP_MADE);
}

const char *keep_lost(const struct keep *k, uint64_t *count)
{
    *count = k->lost;
    return k->reason[0] ? k->reason : NULL;
}
