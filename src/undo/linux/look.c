/* SPDX-License-Identifier: Apache-2.0 */
/* Looks at a tree beneath its roots, and compares it with what a journal kept. Changes nothing. */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "cordon.h"
#include "undo/linux/restore.h"

int restore_open_roots(const struct undo_head *head, int *roots, char *why, size_t capacity)
{
    struct stat st;
    for (uint32_t i = 0; i < head->root_count; i++)
        roots[i] = -1;
    for (uint32_t i = 0; i < head->root_count; i++) {
        char path[UNDO_LONGEST_PATH + 1];
        snprintf(path, sizeof path, "%.*s", STR_ARG(head->roots[i].path));
        roots[i] = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (roots[i] >= 0 && fstat(roots[i], &st) == 0 && st.st_ino == head->roots[i].inode &&
            st.st_dev == head->roots[i].device)
            continue;
        snprintf(why, capacity, "the root %.200s %s", path,
                 roots[i] < 0 ? "is gone" : "is another folder now");
        restore_close_roots(head, roots);
        return CORDON_E_OPEN;
    }
    return 0;
}

void restore_close_roots(const struct undo_head *head, const int *roots)
{
    for (uint32_t i = 0; i < head->root_count; i++)
        if (roots[i] >= 0)
            close(roots[i]);
}

static int open_beneath(int root, const char *path, uint64_t flags)
{
    struct open_how how = {.flags = flags | O_CLOEXEC | O_NOFOLLOW,
                           .resolve =
                               RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};
    for (int tries = 0;; tries++) {
        int fd = (int)syscall(SYS_openat2, root, path, &how, sizeof how);
        if (fd >= 0 || errno != EAGAIN || tries == 100)
            return fd;
    }
}

int restore_find(const struct undo_head *head, const int *roots, uint32_t root, struct str path,
                 struct restore_spot *out)
{
    char folder[UNDO_LONGEST_PATH + 1];
    size_t at = path.n;
    while (at > 0 && path.p[at - 1] != '/')
        at--;
    struct str leaf = str_from(path, at);
    if (leaf.n > UNDO_LONGEST_NAME || at > UNDO_LONGEST_PATH)
        return -ENAMETOOLONG;
    snprintf(folder, sizeof folder, "%.*s", at ? (int)at - 1 : 1, at ? path.p : ".");
    snprintf(out->leaf, sizeof out->leaf, "%.*s", STR_ARG(leaf));
    snprintf(out->path, sizeof out->path, "%.*s%s%.*s", STR_ARG(head->roots[root].path),
             path.n ? "/" : "", STR_ARG(path));
    out->parent = open_beneath(roots[root], folder, O_PATH | O_DIRECTORY);
    if (out->parent < 0)
        return -errno;
    out->exists = (out->leaf[0] ? fstatat(out->parent, out->leaf, &out->st, AT_SYMLINK_NOFOLLOW)
                                : fstat(out->parent, &out->st)) == 0;
    return 0;
}

void restore_leave(struct restore_spot *spot)
{
    if (spot->parent >= 0)
        close(spot->parent);
    spot->parent = -1;
}

static bool same_time(struct undo_time a, struct timespec b)
{
    return a.seconds == b.tv_sec && a.nanoseconds == (uint32_t)b.tv_nsec;
}

/* Compares a file with what was kept of it. */
static bool same_content(const struct store_journal *j, const struct undo_record *kept,
                         const struct restore_spot *spot)
{
    enum { PIECE = 1 << 16 };
    char name[24], ours[PIECE], theirs[PIECE];
    off_t from = kept->how == UNDO_PACK ? (off_t)kept->place : 0, at = 0;
    snprintf(name, sizeof name, "%llu", (unsigned long long)kept->place);
    int source = kept->how == UNDO_PACK ? dup(j->pack)
                 : kept->how == UNDO_COPY || kept->how == UNDO_LINKED
                     ? store_open_file(j->objects, name)
                     : -1;
    int fd = openat(spot->parent, spot->leaf, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    bool same = source >= 0 && fd >= 0 && (uint64_t)spot->st.st_size == kept->size;
    while (same && (uint64_t)at < kept->size) {
        uint64_t left = kept->size - (uint64_t)at;
        size_t want = left < PIECE ? (size_t)left : PIECE;
        ssize_t n = pread(source, ours, want, from + at), m = pread(fd, theirs, want, at);
        same = n > 0 && n == m && memcmp(ours, theirs, (size_t)n) == 0;
        at += n > 0 ? n : 0;
    }
    if (source >= 0)
        close(source);
    if (fd >= 0)
        close(fd);
    return same;
}

bool restore_is_as_before(const struct store_journal *j, uint32_t object,
                          const struct restore_spot *spot)
{
    const struct undo_object *o = &j->model.objects[object];
    const struct undo_record *meta = undo_model_record(&j->model, o->meta);
    const struct undo_record *data = undo_model_record(&j->model, o->data);
    return meta && data && spot->exists && S_ISREG(spot->st.st_mode) &&
           spot->st.st_mode == meta->ident.mode && spot->st.st_uid == meta->user &&
           spot->st.st_gid == meta->group && same_content(j, data, spot);
}

bool restore_differs(const struct store_journal *j, const int *roots,
                     const struct undo_change *change)
{
    const struct undo_model *m = &j->model;
    const struct undo_object *o = &m->objects[change->was];
    const struct undo_record *meta = undo_model_record(m, o->meta);
    const struct undo_record *data = undo_model_record(m, o->data);
    struct restore_spot spot;
    if (!change->in_doubt || !meta)
        return true;
    if (restore_find(&m->head, roots, change->root, change->path, &spot))
        return true;
    bool differs = true;
    const struct stat *st = &spot.st;
    if (spot.exists && st->st_ino == meta->ident.inode &&
        same_time(meta->ident.changed, st->st_ctim))
        differs = false;
    else if (spot.exists && st->st_mode == meta->ident.mode && st->st_uid == meta->user &&
             st->st_gid == meta->group)
        differs = !S_ISDIR(st->st_mode) &&
                  (!same_time(meta->modified, st->st_mtim) ||
                   (data && data->how != UNDO_LOST && !same_content(j, data, &spot)));
    restore_leave(&spot);
    return differs;
}

/* Takes size bytes; owns the descriptor. */
static bool read_part(int fd, off_t at, uint64_t size, size_t limit, struct buf *out)
{
    bool good = fd >= 0 && size <= limit && buf_reserve(out, (size_t)size + 1);
    for (uint64_t done = 0; good && done < size;) {
        ssize_t n = pread(fd, out->p + out->n, (size_t)(size - done), at + (off_t)done);
        good = n > 0;
        out->n += good ? (size_t)n : 0;
        done += good ? (uint64_t)n : 0;
    }
    if (fd >= 0)
        close(fd);
    return good;
}

bool restore_read_before(const struct store_journal *j, uint32_t object, size_t limit,
                         struct buf *out)
{
    const struct undo_object *o = &j->model.objects[object];
    const struct undo_record *data = undo_model_record(&j->model, o->data);
    char name[24];
    struct stat st;
    if (!data)
        return false;
    if (data->how == UNDO_PACK)
        return read_part(dup(j->pack), (off_t)data->place, data->size, limit, out);
    if (data->how != UNDO_COPY && data->how != UNDO_LINKED)
        return false;
    snprintf(name, sizeof name, "%llu", (unsigned long long)data->place);
    int fd = store_open_file(j->objects, name);
    return read_part(fd, 0, fd >= 0 && fstat(fd, &st) == 0 ? (uint64_t)st.st_size : 0, limit, out);
}

bool restore_read_after(const struct restore_spot *spot, size_t limit, struct buf *out)
{
    int fd = openat(spot->parent, spot->leaf, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    return S_ISREG(spot->st.st_mode) && read_part(fd, 0, (uint64_t)spot->st.st_size, limit, out);
}

bool restore_any(const struct store_journal *j, const int *roots)
{
    const struct undo_model *m = &j->model;
    for (uint32_t i = 1; i < m->object_count; i++) {
        const struct undo_object *o = &m->objects[i];
        const struct undo_record *meta = undo_model_record(m, o->meta);
        struct restore_spot spot = {.parent = -1};
        auto_buf struct buf path = {0};
        if (!meta)
            continue;
        int root = o->root ? (int)i - 1 : undo_model_path(m, o->before, true, &path);
        bool same = root >= 0 &&
                    restore_find(&m->head, roots, (uint32_t)root, buf_str(&path), &spot) == 0 &&
                    spot.exists && spot.st.st_ino == meta->ident.inode &&
                    same_time(meta->ident.changed, spot.st.st_ctim);
        restore_leave(&spot);
        if (!same)
            return true;
    }
    return false;
}
