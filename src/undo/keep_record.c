/* SPDX-License-Identifier: Apache-2.0 */
/* Records of the journal, and what is known of the inodes of a run. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "undo/keep_inside.h"

/* ---- inodes ---- */

struct known *keep_find_known(const struct keep *k, uint64_t device, uint64_t inode)
{
    size_t mask = k->known_size - 1;
    size_t i = (size_t)((inode * 0x9e3779b97f4a7c15u) >> 20 ^ device) & mask;
    while (k->known[i].bits && (k->known[i].inode != inode || k->known[i].device != device))
        i = (i + 1) & mask;
    return &k->known[i];
}

unsigned keep_bits(const struct keep *k, const struct fs_stat *st)
{
    return keep_find_known(k, st->device, st->inode)->bits & ~(unsigned)KEEP_USED;
}

bool keep_set_bits(struct keep *k, const struct fs_stat *st, unsigned bits)
{
    if (k->known_used * 2 >= k->known_size) {
        size_t size = k->known_size * 2, old = k->known_size;
        struct known *before = k->known, *table = calloc(size, sizeof *table);
        if (!table)
            return false;
        k->known = table;
        k->known_size = size;
        k->known_used = 0;
        for (size_t i = 0; i < old; i++)
            if (before[i].bits & ~KEEP_USED) {
                *keep_find_known(k, before[i].device, before[i].inode) = before[i];
                k->known_used++;
            }
        free(before);
    }
    struct known *place = keep_find_known(k, st->device, st->inode);
    k->known_used += place->bits == 0;
    *place = (struct known){st->device, st->inode, (unsigned char)(place->bits | bits | KEEP_USED)};
    return true;
}

unsigned keep_handles(const struct keep *k, const struct fs_stat *st)
{
    return st->links > 1 && (keep_bits(k, st) & KEEP_HANDLE) ? 1 : 0;
}

/* ---- records ---- */

/* 0, or -ENOSPC: the change is not covered. A record that was written in part is taken back, so
   that later ones can be read. */
static int append(struct keep *k)
{
    if (k->broken)
        return k->strict ? -ENOSPC : 0;
    uint64_t end = k->log_end + k->record.n;
    if (!k->record.failed && end < STORE_LARGEST_LOG &&
        fs_write(k->log, k->record.p, k->record.n, k->log_end) == 0) {
        k->log_end = end;
        return 0;
    }
    k->broken = fs_truncate(k->log, k->log_end) != 0 || !k->strict;
    k->lost += !k->strict;
    snprintf(k->reason, sizeof k->reason, "%s",
             end >= STORE_LARGEST_LOG ? "too many changes for one journal"
                                      : "the journal cannot be written");
    return k->strict ? -ENOSPC : 0;
}

int keep_add(struct keep *k, const struct undo_record *record)
{
    buf_reset(&k->record);
    undo_put(&k->record, record);
    return append(k);
}

bool keep_below_root(const struct keep *k, const char *path, struct undo_path *out)
{
    size_t best = 0;
    bool found = false;
    for (uint32_t i = 0; i < k->head.root_count; i++) {
        struct str root = k->head.roots[i].path;
        size_t n = root.n - (root.p[root.n - 1] == '/');
        if (n < best || !fs_path_starts(str_of(path), str_slice(root, 0, n)) ||
            (path[n] != '/' && path[n] != '\0'))
            continue;
        best = n;
        found = true;
        *out = (struct undo_path){i, str_of(path[n] ? path + n + 1 : path + n)};
    }
    return found && out->text.n <= UNDO_LONGEST_PATH;
}

static struct undo_path parent_of(struct undo_path path)
{
    size_t n = path.text.n;
    while (n > 0 && path.text.p[n - 1] != '/')
        n--;
    return (struct undo_path){path.root, str_slice(path.text, 0, n ? n - 1 : 0)};
}

struct undo_ident keep_ident(const struct fs_stat *st)
{
    return (struct undo_ident){st->device, st->inode, st->links ? st->links : 1, st->mode,
                               st->changed};
}

struct undo_record keep_record(const struct undo_path *path, const struct fs_stat *st)
{
    return (struct undo_record){.type = UNDO_KEEP,
                                .path = *path,
                                .ident = keep_ident(st),
                                .how = UNDO_META,
                                .size = st->size,
                                .user = st->user,
                                .group = st->group,
                                .modified = st->modified,
                                .accessed = st->accessed};
}

int keep_note_again(struct keep *k, const struct undo_path *path, const struct fs_stat *st)
{
    if (!k->head.undoes.n || fs_is_folder(st->mode) ||
        (keep_bits(k, st) & (KEEP_MADE | KEEP_META)) != KEEP_META)
        return 0;
    struct undo_record record = keep_record(path, st);
    return keep_add(k, &record);
}

int keep_note_meta(struct keep *k, fs_file file, const struct undo_path *path,
                   const struct fs_stat *st)
{
    auto_buf struct buf attributes = {0};
    if (keep_bits(k, st) & (KEEP_MADE | KEEP_META))
        return keep_note_again(k, path, st);
    struct undo_record record = keep_record(path, st);
    fs_take_attributes(file, &attributes);
    record.attributes = buf_str(&attributes);
    int rc = keep_add(k, &record);
    if (rc == 0)
        keep_set_bits(k, st, KEEP_META);
    return rc;
}

int keep_note_folder(struct keep *k, const struct keep_place *place, const struct undo_path *path)
{
    struct fs_stat st;
    if (!place->leaf[0] || fs_stat(place->parent, "", &st))
        return 0;
    struct undo_path folder = parent_of(*path);
    return keep_note_meta(k, place->parent, &folder, &st);
}
