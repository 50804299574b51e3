/* SPDX-License-Identifier: Apache-2.0 */
/* Records of the journal, and what is known of the inodes of a run. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "undo/linux/keep_inside.h"

/* ---- inodes ---- */

struct known *keep_find_known(const struct keep *k, uint64_t device, uint64_t inode)
{
    size_t mask = k->known_size - 1;
    size_t i = (size_t)((inode * 0x9e3779b97f4a7c15u) >> 20 ^ device) & mask;
    while (k->known[i].bits && (k->known[i].inode != inode || k->known[i].device != device))
        i = (i + 1) & mask;
    return &k->known[i];
}

unsigned keep_bits(const struct keep *k, const struct stat *st)
{
    return keep_find_known(k, st->st_dev, st->st_ino)->bits & ~(unsigned)KEEP_USED;
}

bool keep_set_bits(struct keep *k, const struct stat *st, unsigned bits)
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
    struct known *place = keep_find_known(k, st->st_dev, st->st_ino);
    k->known_used += place->bits == 0;
    *place =
        (struct known){st->st_dev, st->st_ino, (unsigned char)(place->bits | bits | KEEP_USED)};
    return true;
}

unsigned keep_handles(const struct keep *k, const struct stat *st)
{
    return st->st_nlink > 1 && (keep_bits(k, st) & KEEP_HANDLE) ? 1 : 0;
}

/* ---- records ---- */

bool keep_write_all(int fd, const char *p, size_t n)
{
    while (n) {
        ssize_t done = write(fd, p, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        p += done;
        n -= (size_t)done;
    }
    return true;
}

/* 0, or -ENOSPC: the change is not covered. A record that was written in part is taken back, so
   that later ones can be read. */
static int append(struct keep *k)
{
    if (k->broken)
        return k->strict ? -ENOSPC : 0;
    uint64_t end = k->log_end + k->record.n;
    if (!k->record.failed && end < STORE_LARGEST_LOG &&
        keep_write_all(k->log, k->record.p, k->record.n)) {
        k->log_end = end;
        return 0;
    }
    k->broken = ftruncate(k->log, (off_t)k->log_end) != 0 || !k->strict ||
                lseek(k->log, (off_t)k->log_end, SEEK_SET) < 0;
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
        size_t n = root.n == 1 ? 0 : root.n;
        if (n < best || strncmp(path, root.p, n) != 0 || (path[n] != '/' && path[n] != '\0'))
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

struct undo_time keep_time(struct timespec t)
{
    return (struct undo_time){t.tv_sec, (uint32_t)t.tv_nsec};
}

struct undo_ident keep_ident(const struct stat *st)
{
    return (struct undo_ident){st->st_dev, st->st_ino,
                               st->st_nlink > UINT32_MAX ? UINT32_MAX
                               : st->st_nlink            ? (uint32_t)st->st_nlink
                                                         : 1,
                               st->st_mode, keep_time(st->st_ctim)};
}

struct undo_record keep_record(const struct undo_path *path, const struct stat *st)
{
    return (struct undo_record){.type = UNDO_KEEP,
                                .path = *path,
                                .ident = keep_ident(st),
                                .how = UNDO_META,
                                .size = (uint64_t)st->st_size,
                                .user = st->st_uid,
                                .group = st->st_gid,
                                .modified = keep_time(st->st_mtim),
                                .accessed = keep_time(st->st_atim)};
}

void keep_take_attributes(int fd, struct buf *out)
{
    char path[64], names[4096], value[UNDO_LONGEST_ATTRIBUTES];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    ssize_t n = listxattr(path, names, sizeof names);
    for (char *name = names; n > 0 && name < names + n; name += strlen(name) + 1) {
        struct str text = str_of(name);
        if (!str_starts(text, STR("user.")) && !str_starts(text, STR("system.posix_acl_")))
            continue;
        ssize_t size = getxattr(path, name, value, sizeof value);
        if (size < 0 || out->n + text.n + 5 + (size_t)size > UNDO_LONGEST_ATTRIBUTES)
            continue;
        buf_add(out, (struct str){name, text.n + 1});
        for (int i = 0; i < 4; i++)
            buf_char(out, (char)((size_t)size >> (8 * i)));
        buf_add(out, (struct str){value, (size_t)size});
    }
}

int keep_note_meta(struct keep *k, int fd, const struct undo_path *path, const struct stat *st)
{
    auto_buf struct buf attributes = {0};
    if (keep_bits(k, st) & (KEEP_MADE | KEEP_META))
        return 0;
    struct undo_record record = keep_record(path, st);
    if (!S_ISLNK(st->st_mode))
        keep_take_attributes(fd, &attributes);
    record.attributes = buf_str(&attributes);
    int rc = keep_add(k, &record);
    if (rc == 0)
        keep_set_bits(k, st, KEEP_META);
    return rc;
}

int keep_note_folder(struct keep *k, const struct keep_place *place, const struct undo_path *path)
{
    struct stat st;
    if (!place->leaf[0] || fstat(place->parent, &st))
        return 0;
    struct undo_path folder = parent_of(*path);
    return keep_note_meta(k, place->parent, &folder, &st);
}
