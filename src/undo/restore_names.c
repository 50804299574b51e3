/* SPDX-License-Identifier: Apache-2.0 */
/* Gives every name the object that it had. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "cordon.h"
#include "undo/restore_inside.h"

/* ---- steps, each with its record ---- */

int undoing_rename(struct undoing *u, struct restore_spot *from, struct restore_spot *to, bool over)
{
    struct keep_place first = undoing_place(from), second = undoing_place(to);
    int rc = keep_rename(u->keep, &first, &second, false);
    if (rc)
        return rc;
    rc = fs_rename(from->parent, from->leaf, to->parent, to->leaf, over);
    keep_after(u->keep, -rc, NULL);
    return rc;
}

int undoing_remove(struct undoing *u, struct restore_spot *spot)
{
    struct keep_place place = undoing_place(spot);
    int rc = keep_remove(u->keep, &place);
    if (rc)
        return rc;
    rc = fs_remove(spot->parent, spot->leaf, fs_is_folder(spot->st.mode));
    keep_after(u->keep, -rc, NULL);
    return rc;
}

static int make_link(struct undoing *u, struct restore_spot *from, struct restore_spot *to)
{
    struct keep_place first = undoing_place(from), second = undoing_place(to);
    int rc = keep_link(u->keep, &first, &second);
    if (rc)
        return rc;
    rc = fs_link(from->parent, from->leaf, to->parent, to->leaf);
    keep_after(u->keep, -rc, NULL);
    return rc;
}

static int make_folder(struct undoing *u, struct restore_spot *spot)
{
    struct keep_place place = undoing_place(spot);
    int rc = keep_create(u->keep, &place, FS_FOLDER);
    if (rc)
        return rc;
    rc = fs_make_folder(spot->parent, spot->leaf);
    keep_after(u->keep, -rc, &place);
    return rc;
}

int undoing_make_parents(struct undoing *u, uint32_t entry)
{
    auto_buf struct buf path = {0};
    int root = undoing_final_path(u, entry, &path), rc = 0;
    struct str whole = buf_str(&path);
    if (root < 0 || path.failed)
        return -ENOENT;
    for (size_t end = str_find_char(whole, '/', 0); rc == 0 && end < whole.n;
         end = str_find_char(whole, '/', end + 1)) {
        struct restore_spot spot;
        rc = restore_find(&u->m->head, u->roots, (uint32_t)root, str_slice(whole, 0, end), &spot);
        if (rc == 0 && !spot.exists)
            rc = make_folder(u, &spot);
        restore_leave(&spot);
    }
    return rc;
}

/* ---- the staging folder ---- */

int undoing_stage(struct undoing *u, uint32_t root, uint64_t number, struct restore_spot *out)
{
    char path[STORE_LONGEST_ID + 48];
    if (!u->staging[root]) {
        struct restore_spot spot;
        int rc = restore_find(&u->m->head, u->roots, root, str_of(u->stage_name), &spot);
        if (rc == 0)
            rc = fs_stat(u->roots[root], "", &u->before[root]);
        if (rc == 0)
            rc = make_folder(u, &spot);
        restore_leave(&spot);
        if (rc)
            return rc;
        u->staging[root] = true;
    }
    snprintf(path, sizeof path, "%s/%llu", u->stage_name, (unsigned long long)number);
    return restore_find(&u->m->head, u->roots, root, str_of(path), out);
}

uint32_t undoing_root(const struct undoing *u, uint32_t object)
{
    auto_buf struct buf path = {0};
    const struct undo_object *o = &u->m->objects[object];
    int root = undo_model_path(u->m, o->before ? o->before : o->after, o->before != 0, &path);
    return root < 0 ? 0 : (uint32_t)root;
}

void undoing_remove_staging(struct undoing *u)
{
    struct restore_spot spot;
    for (uint32_t i = 0; i < u->m->head.root_count; i++)
        if (u->staging[i] &&
            restore_find(&u->m->head, u->roots, i, str_of(u->stage_name), &spot) == 0) {
            if (spot.exists)
                undoing_remove(u, &spot); /* not if something had to stay in it */
            restore_leave(&spot);
        }
}

/* ---- the passes ---- */

int undoing_deepest_first(const void *a, const void *b)
{
    const struct order *left = a, *right = b;
    if (left->depth != right->depth)
        return left->depth > right->depth ? -1 : 1;
    return left->entry < right->entry ? -1 : left->entry > right->entry;
}

static int outermost_first(const void *a, const void *b)
{
    return undoing_deepest_first(b, a);
}

bool undoing_is_overwritten(const struct undoing *u, uint32_t entry)
{
    const struct undo_entry *e = &u->m->entries[entry];
    return e->before && undoing_is_ready(u, e->before) && !u->m->objects[e->before].folder &&
           u->m->objects[e->after].made && !u->m->objects[e->after].folder;
}

/* The object of this entry gives the name up, and something else does not replace it. */
static bool is_vacated(const struct undoing *u, uint32_t entry)
{
    const struct undo_entry *e = &u->m->entries[entry];
    return e->after && e->after != e->before && undoing_is_ready(u, e->after) &&
           !undoing_is_overwritten(u, entry) &&
           !(u->m->objects[e->after].made && u->tasks[e->after].adopted);
}

bool undoing_is_full(struct undoing *u, uint32_t object)
{
    struct restore_task *t = &u->tasks[object];
    auto_arena struct arena arena = {0};
    const char **names;
    size_t count = 0;
    struct restore_spot spot = {.parent = -1};
    if (t->listed)
        return t->full;
    t->listed = true;
    fs_file folder = undoing_find(u, u->m->objects[object].after, false, &spot) == 0
                         ? fs_open_folder(spot.parent, spot.leaf)
                         : -1;
    restore_leave(&spot);
    if (folder >= 0 && fs_list(folder, &arena, &names, &count))
        count = 0;
    fs_close(folder);
    for (size_t i = 0; i < count && !t->full; i++) {
        auto_buf struct buf path = {0};
        buf_fmt(&path, "%s/%s", spot.path, names[i]);
        if (undoing_is_assumed(u, buf_str(&path)))
            continue;
        uint32_t entry = undo_model_entry(u->m, object, str_of(names[i]));
        uint32_t inner = entry && is_vacated(u, entry) ? u->m->entries[entry].after : 0;
        t->full = !inner || (u->m->objects[inner].made && u->m->objects[inner].folder &&
                             undoing_is_full(u, inner));
        auto_buf struct buf why = {0};
        buf_fmt(&why, "something new is in it; move %.200s away and undo again", names[i]);
        if (t->full)
            t->why = arena_copy(&u->m->arena, buf_str(&why)).p;
    }
    return t->full;
}

/* The object leaves a name that it did not have before. */
static void vacate(struct undoing *u, uint32_t entry)
{
    uint32_t object = u->m->entries[entry].after;
    struct restore_task *t = &u->tasks[object];
    struct restore_spot spot, stage = {.parent = -1};
    int rc = undoing_find(u, entry, false, &spot);
    if (rc == 0 && !spot.exists)
        rc = -ENOENT;
    if (rc) {
        if (!u->m->objects[object].made)
            undoing_fail(u, object, rc);
    } else if (u->m->objects[object].made) {
        rc = undoing_remove(u, &spot);
        if (rc == -ENOTEMPTY || rc == -EEXIST)
            undoing_say(u, object, RESTORE_CONFLICT,
                        undoing_is_full(u, object) ? t->why : "something new is in it");
        else if (rc)
            undoing_fail(u, object, rc);
        else
            undoing_say_name(u, object, entry, RESTORE_REMOVED, NULL);
    } else if (undo_lost_name(u->m, object) && !t->staged) {
        rc = undoing_stage(u, undoing_root(u, object), object, &stage);
        if (rc == 0)
            rc = undoing_rename(u, &spot, &stage, false);
        t->staged = rc == 0;
        if (rc)
            undoing_fail(u, object, rc);
    } else {
        rc = undoing_remove(u, &spot);
        if (rc)
            undoing_fail(u, object, rc);
        else
            undoing_say_name(u, object, entry, RESTORE_REMOVED, NULL);
    }
    restore_leave(&spot);
    restore_leave(&stage);
}

/* A file that is in place but has one name too few: staging gets a further one. */
static int stage_present(struct undoing *u, uint32_t object, struct restore_spot *stage)
{
    struct restore_spot spot;
    int rc = undoing_find(u, u->m->objects[object].after, true, &spot);
    if (rc == 0)
        rc = spot.exists ? make_link(u, &spot, stage) : -ENOENT;
    restore_leave(&spot);
    return rc;
}

/* Puts the object under a name that it had. */
static int attach(struct undoing *u, uint32_t entry, bool last)
{
    uint32_t object = u->m->entries[entry].before;
    const struct undo_object *o = &u->m->objects[object];
    struct restore_task *t = &u->tasks[object];
    struct restore_spot spot, stage = {.parent = -1}, extra = {.parent = -1};
    int rc = undoing_find(u, entry, true, &spot);
    uint32_t root = undoing_root(u, object);
    if (rc == -ENOENT && u->o->force && undoing_make_parents(u, entry) == 0)
        rc = undoing_find(u, entry, true, &spot);
    bool over = spot.parent >= 0 && spot.exists &&
                (u->o->force || undoing_is_overwritten(u, entry)) && !fs_is_folder(spot.st.mode);
    if (rc == 0 && o->folder && t->adopted) {
        rc = spot.exists && fs_is_folder(spot.st.mode) ? 0 : make_folder(u, &spot);
    } else if (rc == 0 && o->folder && !t->staged) {
        rc = make_folder(u, &spot);
    } else if (rc == 0) {
        rc = undoing_stage(u, root, object, &stage);
        if (rc == 0 && !t->staged) {
            rc = o->after ? stage_present(u, object, &stage)
                          : undoing_make_object(u, object, &stage);
            t->staged = rc == 0;
        }
        if (rc == 0) {
            restore_leave(&stage);
            rc = undoing_stage(u, root, object, &stage);
        }
        if (rc == 0 && !last) {
            rc = undoing_stage(u, root, u->m->object_count + u->spare++, &extra);
            if (rc == 0)
                rc = make_link(u, &stage, &extra);
            restore_leave(&extra);
            if (rc == 0)
                rc = undoing_stage(u, root, u->m->object_count + u->spare - 1, &extra);
        }
        if (rc == 0)
            rc = undoing_rename(u, last ? &stage : &extra, &spot, over);
        if (rc && extra.parent >= 0 && extra.exists)
            undoing_remove(u, &extra);
    }
    restore_leave(&extra);
    restore_leave(&stage);
    restore_leave(&spot);
    return rc;
}

/* It could not go back: better its last place than none. */
static void put_back(struct undoing *u, uint32_t object)
{
    const struct undo_object *o = &u->m->objects[object];
    struct restore_spot spot = {.parent = -1}, stage = {.parent = -1};
    if (undoing_stage(u, undoing_root(u, object), object, &stage) == 0 && stage.exists) {
        bool found = o->after && undoing_find(u, o->after, true, &spot) == 0;
        if (!o->after || (found && spot.exists && spot.st.inode == stage.st.inode))
            undoing_remove(u, &stage); /* the journal has it still, or it never left its place */
        else if (found)
            undoing_rename(u, &stage, &spot, false);
    }
    restore_leave(&spot);
    restore_leave(&stage);
    if (undoing_stage(u, undoing_root(u, object), object, &stage) == 0)
        u->tasks[object].stranded = stage.exists;
    restore_leave(&stage);
}

static void attach_all(struct undoing *u, struct order *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t object = u->m->entries[list[i].entry].before;
        bool last = --u->tasks[object].missing == 0;
        if (!undoing_is_ready(u, object))
            continue;
        int rc = attach(u, list[i].entry, last);
        if (rc) {
            if (u->tasks[object].staged)
                put_back(u, object);
            undoing_fail(u, object, rc);
        } else if (!u->tasks[object].told) {
            bool moved = last && u->m->objects[object].after && undo_new_name(u->m, object);
            u->tasks[object].told = last;
            undoing_say_name(u, object, list[i].entry, moved ? RESTORE_MOVED : RESTORE_RESTORED,
                             NULL);
        }
    }
}

int undoing_restore_names(struct undoing *u)
{
    struct undo_model *m = u->m;
    size_t away = 0, back = 0;
    struct order *list = calloc(m->entry_count + 1, sizeof *list);
    if (!list)
        return CORDON_E_NOMEM;
    for (uint32_t i = 1; i < m->entry_count; i++) {
        if (is_vacated(u, i))
            list[away++] = (struct order){i, undo_model_depth(m, i, false)};
    }
    qsort(list, away, sizeof *list, undoing_deepest_first);
    for (size_t i = 0; i < away; i++)
        if (undoing_is_ready(u, m->entries[list[i].entry].after))
            vacate(u, list[i].entry);
    for (uint32_t i = 1; i < m->entry_count; i++) {
        const struct undo_entry *e = &m->entries[i];
        if (e->before && e->after != e->before && undoing_is_ready(u, e->before)) {
            /* Folders first: a file may get a further name from one that lies in them. */
            unsigned later = m->objects[e->before].folder ? 0 : UNDO_LONGEST_PATH;
            list[back++] = (struct order){i, undo_model_depth(m, i, true) + later};
            u->tasks[e->before].missing++;
        }
    }
    qsort(list, back, sizeof *list, outermost_first);
    attach_all(u, list, back);
    free(list);
    return 0;
}
