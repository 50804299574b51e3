/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps what an object holds before it changes: a copy, a clone, or the inode itself. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "undo/keep_inside.h"

static int lose(struct keep *k, struct undo_record *record, const struct fs_stat *st,
                const char *why)
{
    snprintf(k->reason, sizeof k->reason, "%s", why);
    if (k->strict)
        return -ENOSPC;
    k->lost++;
    record->how = UNDO_LOST;
    record->text = str_of(why);
    int rc = keep_add(k, record);
    keep_set_bits(k, st, KEEP_META | KEEP_DATA);
    return rc;
}

void keep_object_name(uint64_t number, char out[24])
{
    snprintf(out, 24, "%llu", (unsigned long long)number);
}

/* cheap: only if the file system clones it. */
static int keep_large(struct keep *k, fs_file file, struct undo_record *record, bool cheap)
{
    char name[24];
    keep_object_name(k->objects_made, name);
    fs_file to = fs_open_file(k->objects, name, FS_CREATE_KEPT);
    if (to < 0)
        return (int)to;
    struct fs_stat copy;
    int rc = cheap ? fs_clone(file, to) : fs_copy(file, to, NULL);
    if (rc == 0)
        rc = fs_stat(to, "", &copy);
    fs_close(to);
    if (rc) {
        fs_remove(k->objects, name, false);
        return rc;
    }
    record->how = UNDO_COPY;
    record->place = k->objects_made++;
    record->size = copy.size;
    return 0;
}

static int keep_small(struct keep *k, fs_file file, struct undo_record *record)
{
    int64_t got = fs_read(file, k->content, sizeof k->content, 0);
    if (got < 0)
        return (int)got;
    size_t n = (size_t)got;
    if (n == sizeof k->content)
        return -EFBIG; /* it has grown */
    int rc = fs_write(k->pack, k->content, n, k->pack_end);
    if (rc)
        return rc;
    record->how = UNDO_PACK;
    record->place = k->pack_end;
    record->size = n;
    record->hash = undo_hash((struct str){k->content, n});
    k->pack_end += n;
    return 0;
}

/* The content, to the pack or to a file of its own. *over: it does not fit in the limit. */
static int keep_content(struct keep *k, fs_file file, const struct fs_stat *st,
                        struct undo_record *record, bool cheap, bool *over)
{
    uint64_t taken = st->size < UNDO_SMALL ? st->size : st->taken;
    int rc;
    *over = k->used + taken > k->limit;
    if (*over)
        return -ENOSPC;
    bool later = k->waits && st->size >= KEEP_LONG;
    if (st->size >= UNDO_SMALL || (rc = keep_small(k, file, record)) == -EFBIG)
        rc = keep_large(k, file, record, cheap || later);
    if (rc && rc != -ENOSPC && later && !cheap)
        return keep_begin_copy(k, file, st);
    if (rc == 0)
        k->used += taken;
    return rc;
}

static bool is_same_object(const struct fs_stat *a, const struct fs_stat *b)
{
    return a->device == b->device && a->inode == b->inode;
}

/* A file loses one of several names. Its content is kept if that costs little, so that the undo
   need not rely on the others; if it is not, it does. */
static int keep_cheaply(struct keep *k, const struct keep_place *place,
                        const struct undo_path *path)
{
    auto_buf struct buf attributes = {0};
    struct fs_stat st;
    bool over, again = false;
    fs_file file = fs_open_file(place->parent, place->leaf, FS_READ);
    if (file < 0)
        return 0;
    int rc = fs_stat(file, "", &st);
    if (rc == 0)
        again = !is_same_object(&st, place->st);
    struct undo_record record = keep_record(path, rc == 0 ? &st : place->st);
    if (rc == 0 && !again) {
        fs_take_attributes(file, &attributes);
        record.attributes = buf_str(&attributes);
        rc = keep_content(k, file, &st, &record, true, &over);
    }
    fs_close(file);
    if (rc || again)
        return again ? -EAGAIN : 0;
    rc = keep_add(k, &record);
    if (rc == 0)
        keep_set_bits(k, &st, KEEP_META | KEEP_DATA);
    return rc;
}

int keep_copy(struct keep *k, const struct keep_place *place, const struct undo_path *path)
{
    auto_buf struct buf attributes = {0};
    struct fs_stat st;
    struct undo_record record = keep_record(path, place->st);
    fs_file file = fs_open_file(place->parent, place->leaf, FS_READ);
    if (file < 0)
        return file == -ENOENT || file == -ELOOP
                   ? -EAGAIN
                   : lose(k, &record, place->st, "it could not be read");
    if (fs_stat(file, "", &st) || !is_same_object(&st, place->st)) {
        fs_close(file);
        return -EAGAIN;
    }
    record = keep_record(path, &st);
    fs_take_attributes(file, &attributes);
    record.attributes = buf_str(&attributes);
    bool over = false;
    int rc = keep_take_copy(k, file, &st, &record);
    if (rc == 1)
        rc = keep_content(k, file, &st, &record, false, &over);
    fs_close(file);
    if (rc == -EALREADY || rc == -ECANCELED)
        return rc;
    if (rc)
        return lose(k, &record, &st,
                    over            ? "over --undo-limit"
                    : rc == -ENOSPC ? "the disk is full"
                                    : "it could not be copied");
    rc = keep_add(k, &record);
    if (rc == 0)
        keep_set_bits(k, &st, KEEP_META | KEEP_DATA);
    return rc;
}

/* Keeps the inode itself under a name of the journal. 0; 1 if that is impossible here. */
static int keep_inode(struct keep *k, const struct keep_place *place, const struct undo_path *path,
                      enum undo_how how)
{
    char name[24];
    struct fs_stat st;
    struct undo_record record = keep_record(path, place->st);
    uint64_t size = place->st->taken;
    if (how == UNDO_LINKED && k->used + size > k->limit)
        return 1;
    keep_object_name(k->objects_made, name);
    int again = keep_note_again(k, path, place->st);
    if (again)
        return again;
    int linked = fs_link_kept(place->parent, place->leaf, k->objects, name);
    if (linked)
        return linked == -ENOENT ? -EAGAIN : 1;
    if (fs_stat(k->objects, name, &st) || st.inode != place->st->inode ||
        st.device != place->st->device) {
        fs_remove(k->objects, name, false);
        return -EAGAIN;
    }
    record.how = how;
    record.place = k->objects_made++;
    auto_buf struct buf attributes = {0};
    fs_file file = how == UNDO_HANDLE ? fs_open_object(k->objects, name) : -1;
    if (file >= 0)
        fs_take_attributes(file, &attributes);
    fs_close(file);
    record.attributes = buf_str(&attributes);
    int rc = keep_add(k, &record);
    if (rc) {
        fs_remove(k->objects, name, false);
        return rc;
    }
    if (how == UNDO_HANDLE) {
        if (k->handle_count == k->handle_capacity) {
            size_t more = k->handle_capacity ? k->handle_capacity * 2 : 64;
            struct handle *bigger = realloc(k->handles, more * sizeof *bigger);
            if (!bigger)
                return 0; /* the name stays */
            k->handles = bigger;
            k->handle_capacity = more;
        }
        k->handles[k->handle_count++] = (struct handle){record.place, st};
        keep_set_bits(k, &st, KEEP_META | KEEP_HANDLE);
        return 0;
    }
    k->used += size;
    k->linked = record.place + 1;
    k->linked_of = *place->st;
    return 0;
}

/* A file goes whose alternate streams are not kept: it can be restored without them. */
static int note_streams(struct keep *k, const struct keep_place *place,
                        const struct undo_path *path)
{
    static const char why[] = "its alternate streams are not kept";
    struct undo_record record = keep_record(path, place->st);
    snprintf(k->reason, sizeof k->reason, "%s", why);
    if (k->strict)
        return -ENOSPC;
    k->lost++;
    record.text = str_of(why);
    return keep_add(k, &record);
}

int keep_away(struct keep *k, const struct keep_place *place, const struct undo_path *path)
{
    const struct fs_stat *st = place->st;
    unsigned bits = keep_bits(k, st);
    bool last = fs_is_folder(st->mode) || st->links <= 1 + keep_handles(k, st);
    if (last)
        k->gone = *st;
    if (bits & KEEP_MADE)
        return 0;
    if (fs_is_folder(st->mode)) {
        fs_file file = fs_open_object(place->parent, place->leaf);
        int rc = file < 0 ? -EAGAIN : keep_note_meta(k, file, path, st);
        fs_close(file);
        return rc;
    }
    if (last && fs_is_file(st->mode) && fs_has_streams(place->parent, place->leaf, false)) {
        int rc = note_streams(k, place, path);
        if (rc)
            return rc;
    }
    if (st->links > 1 && (bits & KEEP_HANDLE))
        return 0;
    if (st->links > 1) {
        int rc = fs_is_file(st->mode) && !(bits & KEEP_DATA) ? keep_cheaply(k, place, path) : 0;
        if (rc == 0)
            rc = keep_inode(k, place, path, UNDO_HANDLE);
        if (rc <= 0)
            return rc;
        bits = keep_bits(k, st);
    }
    if (bits & KEEP_DATA)
        return 0;
    if (fs_is_file(st->mode)) {
        int rc = st->links > 1 ? 1 : keep_inode(k, place, path, UNDO_LINKED);
        return rc <= 0 ? rc : keep_copy(k, place, path);
    }
    char target[UNDO_LONGEST_TEXT];
    struct undo_record record = keep_record(path, st);
    int n =
        fs_is_link(st->mode) ? fs_read_link(place->parent, place->leaf, target, sizeof target) : 0;
    if (n < 0 || n == (int)sizeof target)
        return lose(k, &record, st, "the link could not be read");
    record.how = UNDO_TARGET;
    record.text = (struct str){target, (size_t)n};
    int rc = keep_add(k, &record);
    if (rc == 0)
        keep_set_bits(k, st, KEEP_META | KEEP_DATA);
    return rc;
}
