/* SPDX-License-Identifier: Apache-2.0 */
/* Looks at a tree beneath its roots, and compares it with what a journal kept. Changes nothing. */
#include <errno.h>
#include <stdio.h>

#include "cordon.h"
#include "undo/restore.h"

/* Nothing was changed beneath this root, nor the root itself. */
static bool is_unused(const struct undo_model *m, uint32_t root)
{
    for (uint32_t i = 1; i < m->entry_count; i++)
        if (m->entries[i].folder == root + 1)
            return false;
    return !m->objects[root + 1].meta;
}

int restore_open_roots(const struct undo_model *m, fs_file *roots, char *why, size_t capacity)
{
    const struct undo_head *head = &m->head;
    struct fs_stat st;
    for (uint32_t i = 0; i < head->root_count; i++)
        roots[i] = -1;
    for (uint32_t i = 0; i < head->root_count; i++) {
        char path[UNDO_LONGEST_PATH + 1];
        snprintf(path, sizeof path, "%.*s", STR_ARG(head->roots[i].path));
        roots[i] = fs_open_root(path);
        if (roots[i] >= 0 && fs_stat(roots[i], "", &st) == 0 && st.inode == head->roots[i].inode &&
            st.device == head->roots[i].device)
            continue;
        if (is_unused(m, i)) {
            fs_close(roots[i]);
            roots[i] = -1;
            continue;
        }
        snprintf(why, capacity, "the root %.200s %s", path,
                 roots[i] < 0 ? "is gone" : "is another folder now");
        restore_close_roots(head, roots);
        return CORDON_E_OPEN;
    }
    return 0;
}

void restore_close_roots(const struct undo_head *head, const fs_file *roots)
{
    for (uint32_t i = 0; i < head->root_count; i++)
        fs_close(roots[i]);
}

int restore_find(const struct undo_head *head, const fs_file *roots, uint32_t root, struct str path,
                 struct restore_spot *out)
{
    char folder[UNDO_LONGEST_PATH + 1];
    size_t at = path.n;
    out->parent = -1;
    out->exists = false;
    while (at > 0 && path.p[at - 1] != '/')
        at--;
    struct str leaf = str_from(path, at);
    if (leaf.n > UNDO_LONGEST_NAME || at > UNDO_LONGEST_PATH)
        return -ENAMETOOLONG;
    snprintf(folder, sizeof folder, "%.*s", at ? (int)at - 1 : 0, path.p);
    snprintf(out->leaf, sizeof out->leaf, "%.*s", STR_ARG(leaf));
    snprintf(out->path, sizeof out->path, "%.*s%s%.*s", STR_ARG(head->roots[root].path),
             path.n ? "/" : "", STR_ARG(path));
    out->parent = fs_open_beneath(roots[root], folder);
    if (out->parent < 0)
        return (int)out->parent;
    out->exists = fs_stat(out->parent, out->leaf, &out->st) == 0;
    return 0;
}

int restore_find_next(const struct undo_head *head, const fs_file *roots, uint32_t root,
                      struct str path, struct restore_spot *spot)
{
    struct str start = head->roots[root].path;
    size_t at = path.n, last = strlen(spot->path) - strlen(spot->leaf);
    while (at > 0 && path.p[at - 1] != '/')
        at--;
    struct str leaf = str_from(path, at);
    if (spot->parent < 0 || last != start.n + 1 + at || leaf.n == 0 || leaf.n > UNDO_LONGEST_NAME ||
        memcmp(spot->path, start.p, start.n) != 0 ||
        memcmp(spot->path + start.n + 1, path.p, at) != 0) {
        restore_leave(spot);
        return restore_find(head, roots, root, path, spot);
    }
    snprintf(spot->leaf, sizeof spot->leaf, "%.*s", STR_ARG(leaf));
    snprintf(spot->path + last, sizeof spot->path - last, "%.*s", STR_ARG(leaf));
    spot->exists = fs_stat(spot->parent, spot->leaf, &spot->st) == 0;
    return 0;
}

void restore_leave(struct restore_spot *spot)
{
    fs_close(spot->parent);
    spot->parent = -1;
}

static bool same_time(struct undo_time a, struct undo_time b)
{
    return undo_time_compare(a, b) == 0;
}

/* Compares a file with what was kept of it. */
static bool same_content(const struct store_journal *j, const struct undo_record *kept,
                         const struct restore_spot *spot)
{
    enum { PIECE = 1 << 16 };
    char name[24], ours[PIECE], theirs[PIECE];
    uint64_t from = kept->how == UNDO_PACK ? kept->place : 0, at = 0;
    snprintf(name, sizeof name, "%llu", (unsigned long long)kept->place);
    fs_file source = kept->how == UNDO_PACK ? fs_duplicate(j->pack)
                     : kept->how == UNDO_COPY || kept->how == UNDO_LINKED
                         ? fs_open_file(j->objects, name, FS_READ_KEPT)
                         : -1;
    fs_file file = fs_open_file(spot->parent, spot->leaf, FS_READ);
    bool same = source >= 0 && file >= 0 && spot->st.size == kept->size;
    while (same && at < kept->size) {
        uint64_t left = kept->size - at;
        size_t want = left < PIECE ? (size_t)left : PIECE;
        int64_t n = fs_read(source, ours, want, from + at), m = fs_read(file, theirs, want, at);
        same = n > 0 && n == m && memcmp(ours, theirs, (size_t)n) == 0;
        at += n > 0 ? (uint64_t)n : 0;
    }
    fs_close(source);
    fs_close(file);
    return same;
}

bool restore_is_as_before(const struct store_journal *j, uint32_t object,
                          const struct restore_spot *spot)
{
    const struct undo_object *o = &j->model.objects[object];
    const struct undo_record *meta = undo_model_record(&j->model, o->meta);
    const struct undo_record *data = undo_model_record(&j->model, o->data);
    return meta && data && spot->exists && fs_is_file(spot->st.mode) &&
           spot->st.mode == meta->ident.mode && spot->st.user == meta->user &&
           spot->st.group == meta->group && same_content(j, data, spot);
}

bool restore_differs_at(const struct store_journal *j, const struct undo_change *change,
                        const struct restore_spot *spot)
{
    const struct undo_object *o = &j->model.objects[change->was];
    const struct undo_record *meta = undo_model_record(&j->model, o->meta);
    const struct undo_record *data = undo_model_record(&j->model, o->data);
    const struct fs_stat *st = &spot->st;
    if (!change->in_doubt || !meta || !spot->exists)
        return true;
    if (st->inode == meta->ident.inode && same_time(meta->ident.changed, st->changed))
        return false;
    if (st->mode != meta->ident.mode || st->user != meta->user || st->group != meta->group)
        return true;
    return !fs_is_folder(st->mode) &&
           (!same_time(meta->modified, st->modified) ||
            (data && data->how != UNDO_LOST && !same_content(j, data, spot)));
}

bool restore_differs(const struct store_journal *j, const fs_file *roots,
                     const struct undo_change *change)
{
    struct restore_spot spot;
    if (!change->in_doubt || restore_find(&j->model.head, roots, change->root, change->path, &spot))
        return true;
    bool differs = restore_differs_at(j, change, &spot);
    restore_leave(&spot);
    return differs;
}

/* Takes size bytes and closes the file. */
static bool read_part(fs_file file, uint64_t at, uint64_t size, size_t limit, struct buf *out)
{
    bool good = file >= 0 && size <= limit && buf_reserve(out, (size_t)size + 1) &&
                fs_read(file, out->p + out->n, (size_t)size, at) == (int64_t)size;
    out->n += good ? (size_t)size : 0;
    fs_close(file);
    return good;
}

bool restore_read_before(const struct store_journal *j, uint32_t object, size_t limit,
                         struct buf *out)
{
    const struct undo_object *o = &j->model.objects[object];
    const struct undo_record *data = undo_model_record(&j->model, o->data);
    char name[24];
    struct fs_stat st;
    if (!data)
        return false;
    if (data->how == UNDO_PACK)
        return read_part(fs_duplicate(j->pack), data->place, data->size, limit, out);
    if (data->how != UNDO_COPY && data->how != UNDO_LINKED)
        return false;
    snprintf(name, sizeof name, "%llu", (unsigned long long)data->place);
    fs_file file = fs_open_file(j->objects, name, FS_READ_KEPT);
    return read_part(file, 0, file >= 0 && fs_stat(file, "", &st) == 0 ? st.size : 0, limit, out);
}

bool restore_read_after(const struct restore_spot *spot, size_t limit, struct buf *out)
{
    return fs_is_file(spot->st.mode) &&
           read_part(fs_open_file(spot->parent, spot->leaf, FS_READ), 0, spot->st.size, limit, out);
}

bool restore_any(const struct store_journal *j, const fs_file *roots)
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
                    spot.exists && spot.st.inode == meta->ident.inode &&
                    same_time(meta->ident.changed, spot.st.changed);
        restore_leave(&spot);
        if (!same)
            return true;
    }
    return false;
}
