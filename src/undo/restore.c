/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Taking a run back, in this order: decide for every object whether it can be restored; take away
 * what the run made and move aside what it renamed, deepest names first; put every object back
 * under its old name, outermost first; then contents, and the times of folders last. Every step
 * goes into a journal of its own, so that the undo can be taken back like any other run.
 *
 * Objects on their way lie in a folder of the root, under a number: from there a rename puts them
 * into place at once.
 */
#include "undo/restore.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "cordon.h"
#include "undo/restore_inside.h"

/* ---- paths ---- */

bool undoing_is_ready(const struct undoing *u, uint32_t object)
{
    const struct restore_task *t = &u->tasks[object];
    return t->wanted && !t->left && !t->failed;
}

int undoing_final_path(const struct undoing *u, uint32_t entry, struct buf *out)
{
    uint32_t chain[UNDO_LONGEST_PATH];
    size_t count = 0;
    for (uint32_t at = entry; at;) {
        uint32_t folder = u->m->entries[at].folder;
        const struct undo_object *o = &u->m->objects[folder];
        if (count == UNDO_LONGEST_PATH)
            return -1;
        chain[count++] = at;
        if (!o->root) {
            bool back = o->before && (undoing_is_ready(u, folder) || !o->after);
            at = back ? o->before : o->after;
            continue;
        }
        while (count-- > 0) {
            buf_add(out, u->m->entries[chain[count]].name);
            if (count)
                buf_char(out, '/');
        }
        return (int)folder - 1;
    }
    return -1;
}

int undoing_find(const struct undoing *u, uint32_t entry, bool final, struct restore_spot *spot)
{
    auto_buf struct buf path = {0};
    int root =
        final ? undoing_final_path(u, entry, &path) : undo_model_path(u->m, entry, false, &path);
    spot->parent = -1;
    spot->exists = false;
    if (root < 0 || path.failed)
        return -ENOENT;
    return restore_find(&u->m->head, u->roots, (uint32_t)root, buf_str(&path), spot);
}

struct keep_place undoing_place(const struct restore_spot *spot)
{
    return (struct keep_place){spot->parent, spot->leaf, spot->path,
                               spot->exists ? &spot->st : NULL};
}

/* ---- saying ---- */

void undoing_say_name(struct undoing *u, uint32_t object, uint32_t entry,
                      enum restore_result result, const char *why)
{
    auto_buf struct buf path = {0}, from = {0}, plain = {0};
    const struct undo_object *o = &u->m->objects[object];
    bool before = entry && u->m->entries[entry].before == object;
    bool stays = result == RESTORE_CONFLICT || result == RESTORE_FAILED;
    int root = o->root ? (int)object - 1 : undo_model_path(u->m, entry, before, &plain);
    if (u->m->head.root_count > 1 && root >= 0)
        buf_fmt(&path, "%.*s%s", STR_ARG(u->m->head.roots[root].path), o->root ? "" : "/");
    else if (o->root)
        buf_char(&path, '.');
    buf_add(&path, buf_str(&plain));
    if (result == RESTORE_MOVED)
        undo_model_path(u->m, undo_new_name(u->m, object), false, &from);
    /* Where it stays, if a folder on the way went back to its old name, or it did not itself. */
    uint32_t now = undo_new_name(u->m, object);
    if (!now && entry && u->m->entries[entry].after == object)
        now = entry;
    if (stays && now && undoing_final_path(u, now, &from) >= 0 &&
        str_eq(buf_str(&from), buf_str(&plain)))
        buf_reset(&from);
    if (stays && u->tasks[object].stranded) {
        buf_reset(&from);
        buf_fmt(&from, "%s/%u", u->stage_name, (unsigned)object);
    }
    if (o->folder)
        buf_char(&path, '/');
    switch (result) {
    case RESTORE_FAILED: u->counts->failed++; break;
    case RESTORE_CONFLICT: u->counts->conflicts++; break;
    case RESTORE_REMOVED:
    case RESTORE_RESTORED:
    case RESTORE_MOVED: u->counts->done++; break;
    }
    auto_buf struct buf part = {0};
    const struct undo_record *partial = undo_model_record(u->m, o->partial);
    if (result == RESTORE_RESTORED && partial && !why)
        buf_add(&part, partial->text);
    if (u->o->said)
        u->o->said(u->o->context, &(struct restore_item){result, buf_cstr(&path), buf_cstr(&from),
                                                         why ? why : buf_cstr(&part)});
}

/* By the name that it lost; else one that it has. */
static uint32_t name_of(const struct undo_model *m, uint32_t object)
{
    const struct undo_object *o = &m->objects[object];
    uint32_t lost = undo_lost_name(m, object);
    if (lost || o->made)
        return lost ? lost : o->after;
    uint32_t gained = o->meta ? 0 : undo_new_name(m, object);
    return gained ? gained : o->before ? o->before : o->after;
}

void undoing_say(struct undoing *u, uint32_t object, enum restore_result result, const char *why)
{
    if (u->tasks[object].told)
        return;
    u->tasks[object].told = true;
    undoing_say_name(u, object, name_of(u->m, object), result, why);
}

void undoing_leave(struct undoing *u, uint32_t object, const char *why)
{
    u->tasks[object].left = true;
    u->tasks[object].why = why;
}

void undoing_fail(struct undoing *u, uint32_t object, int error)
{
    u->tasks[object].failed = true;
    u->tasks[object].told = false;
    undoing_say(u, object, RESTORE_FAILED, strerror(error < 0 ? -error : error));
}

/* The journal's own names of inodes that are in the tree again, whose times that changes. */
static void release_inodes(struct undoing *u)
{
    for (uint32_t i = 1; i < u->m->object_count; i++)
        if (undoing_is_ready(u, i) && restore_release(u->j, i, NULL))
            undoing_note_equal(u, i);
    undoing_write_equals(u);
}

/* ---- all of it ---- */

static void tell_left(struct undoing *u)
{
    for (uint32_t i = 1; i < u->m->object_count; i++) {
        const struct undo_object *o = &u->m->objects[i];
        /* The file that it replaced is said to be left. */
        uint32_t was = o->made && o->after ? u->m->entries[o->after].before : 0;
        bool replacing = was && u->tasks[was].left && u->m->objects[was].before == o->after;
        if (u->tasks[i].wanted && u->tasks[i].left && !replacing) {
            u->counts->changed += u->tasks[i].forceable;
            undoing_say(u, i, RESTORE_CONFLICT, u->tasks[i].why);
        }
    }
}

/* The names of a file that come back, and those that go. */
static void tell_names(struct undoing *u, uint32_t object)
{
    const struct undo_object *o = &u->m->objects[object];
    bool moves = o->after && undo_new_name(u->m, object), first = true;
    for (uint32_t i = o->before; i; i = u->m->entries[i].next_before)
        if (u->m->entries[i].after != object) {
            undoing_say_name(u, object, i, moves && first ? RESTORE_MOVED : RESTORE_RESTORED, NULL);
            first = false;
        }
    /* The first of them is moved back, if one was lost. */
    for (uint32_t i = o->after; i; i = u->m->entries[i].next_after)
        if (u->m->entries[i].before != object && (first || i != undo_new_name(u->m, object)) &&
            !undoing_is_overwritten(u, i)) /* then the file that comes back is said */
            undoing_say_name(u, object, i, RESTORE_REMOVED, NULL);
    u->tasks[object].told = true;
}

static bool folder_differs(const struct undoing *u, uint32_t object)
{
    const struct undo_object *o = &u->m->objects[object];
    const struct undo_record *meta = undo_model_record(u->m, o->meta);
    struct restore_spot spot = {.parent = -1};
    bool differs = meta && undoing_find(u, o->after, false, &spot) == 0 && spot.exists &&
                   undoing_meta_differs(meta, &spot);
    restore_leave(&spot);
    return differs;
}

/* Plans an undo without carrying it out. */
static void tell_plan(struct undoing *u)
{
    for (uint32_t i = 1; i < u->m->object_count; i++) {
        const struct undo_object *o = &u->m->objects[i];
        if (!undoing_is_ready(u, i) || (o->made && u->tasks[i].adopted))
            continue;
        struct undo_change change = {.kind = UNDO_MODIFIED, .was = i, .in_doubt = true};
        auto_buf struct buf path = {0};
        bool moved = !o->made && o->after && undoing_names_differ(u->m, i);
        if (!o->made && o->after && !moved) {
            int root = undo_model_path(u->m, o->after, false, &path);
            change.root = root < 0 ? 0 : (uint32_t)root;
            change.path = buf_str(&path);
            if (root < 0 ||
                (o->folder ? !folder_differs(u, i) : !restore_differs(u->j, u->roots, &change)))
                continue;
        }
        if (u->tasks[i].told)
            continue;
        if (o->made && o->folder && undoing_is_full(u, i))
            undoing_say(u, i, RESTORE_CONFLICT, u->tasks[i].why);
        else if (o->made || moved || !o->after)
            tell_names(u, i);
        else
            undoing_say(u, i, RESTORE_RESTORED, NULL);
    }
}

static void note_equals(struct undoing *u)
{
    for (uint32_t i = 1; i < u->m->object_count; i++)
        undoing_note_equal(u, i);
    undoing_write_equals(u);
}

static bool is_clean(const struct undoing *u)
{
    bool clean = !u->counts->conflicts && !u->counts->failed;
    for (uint32_t i = 1; i < u->m->object_count; i++)
        clean = clean && !(u->tasks[i].wanted && u->tasks[i].left);
    return clean;
}

/* After the undo of a part: nothing else of the run is left to take back. */
static bool is_all_back(const struct undoing *u, const char *id)
{
    struct restore_options options = {.dry = true};
    struct restore_counts left;
    char why[512];
    return restore_run(u->store, id, &options, &left, why, sizeof why) == 0 &&
           !(left.done + left.conflicts + left.failed);
}

static int work(struct undoing *u, const char *id)
{
    int rc = undoing_restore_names(u);
    if (rc)
        return rc;
    undoing_restore_present(u);
    undoing_remove_staging(u);
    u->all = u->o->path_count == 0;
    rc = undoing_restore_folders(u);
    keep_settle(u->keep);
    note_equals(u);
    if (rc || u->all || !is_clean(u) || !is_all_back(u, id))
        return rc;
    u->all = true;
    rc = undoing_restore_folders(u);
    note_equals(u);
    return rc;
}

static int mark_undone(struct undoing *u, const char *id, char *why, size_t capacity)
{
    const char *run = keep_run(u->keep);
    fs_remove(u->j->folder, "undone", false);
    fs_file file = fs_open_file(u->j->folder, "undone", FS_CREATE);
    bool written = file >= 0 && fs_write(file, run, strlen(run), 0) == 0;
    fs_close(file);
    if (written)
        return 0;
    fs_remove(u->j->folder, "undone", false); /* half a mark is none */
    snprintf(
        why, capacity,
        "everything is restored, but the journal cannot be written, so run %s is not marked as "
        "undone; to forget the run: cordon runs --drop %s",
        id, id);
    return CORDON_E_OPEN;
}

static int open_own_journal(struct undoing *u, const char *id, char *why, size_t capacity)
{
    const char *roots[UNDO_MOST_ROOTS];
    auto_arena struct arena arena = {0};
    char command[RESTORE_COMMAND];
    const struct undo_head *h = &u->m->head;
    size_t count = 0;
    for (uint32_t i = 0; i < h->root_count; i++)
        if (u->roots[i] >= 0 && !(roots[count++] = arena_copy(&arena, h->roots[i].path).p))
            return CORDON_E_NOMEM;
    struct str session = arena_copy(&arena, h->session);
    restore_command(id, u->o->force, command);
    /* What is left of an undo that was killed is no run that somebody wants back. */
    const char *undoes = u->j->half ? arena_copy(&arena, h->undoes).p : NULL;
    struct keep_options options = {.roots = roots,
                                   .root_count = count,
                                   .session = session.p ? session.p : "",
                                   .command = command,
                                   .undoes = undoes ? undoes : id,
                                   .limit = UINT64_MAX,
                                   .strict = true};
    return keep_open(&options, &u->keep, why, capacity);
}

int restore_run(fs_file store, const char *id, const struct restore_options *options,
                struct restore_counts *counts, char *why, size_t capacity)
{
    auto_store_journal struct store_journal j = {
        .folder = -1, .pack = -1, .objects = -1, .lock = -1};
    *counts = (struct restore_counts){0};
    int rc = store_read(store, id, &j, why, capacity);
    if (rc)
        return rc;
    counts->cut_off = j.cut_off;
    struct undoing u = {.store = store, .j = &j, .m = &j.model, .o = options, .counts = counts};
    rc = restore_open_roots(u.m, u.roots, why, capacity);
    if (rc)
        return rc;
    struct equal *equals = undoing_read_equals(store, &u.equal_count);
    u.equals = equals;
    ends_read(&j, &u.ends);
    u.tasks = calloc(u.m->object_count, sizeof *u.tasks);
    snprintf(why, capacity, "out of memory");
    rc = u.tasks ? 0 : CORDON_E_NOMEM;
    size_t unknown = undoing_unknown(&u);
    if (rc == 0 && unknown < options->path_count) {
        snprintf(why, capacity, "\"%.200s\" is neither a run nor a path that run %s changed",
                 options->given[unknown], id);
        rc = CORDON_E_UNKNOWN;
    }
    if (rc == 0) {
        undoing_decide(&u);
        for (uint32_t i = 0; i < u.m->head.root_count; i++) {
            struct fs_stat st;
            u.tasks[i + 1].quiet =
                fs_stat(u.roots[i], "", &st) == 0 && (j.half || undoing_is_untouched(&u, &st));
        }
        if (options->dry) {
            tell_plan(&u);
            rc = undoing_assume(&u);
        } else
            rc = open_own_journal(&u, id, why, capacity);
    }
    if (rc == 0 && !options->dry) {
        restore_stage_name(str_of(keep_run(u.keep)), u.stage_name);
        rc = work(&u, id);
        bool clean = rc == 0 && is_clean(&u);
        counts->already = clean && u.all && !counts->done && u.gone;
        bool kept = counts->done || u.torn || (clean && u.all && !counts->already);
        if (kept)
            snprintf(counts->run, sizeof counts->run, "%s", keep_run(u.keep));
        /* Conflicts that were left alone can be tried again, with --force or when there is room. */
        if (clean && u.all && !counts->already)
            rc = mark_undone(&u, id, why, capacity);
        /* Until here a kill means that the undo is taken back: from here on that it is finished. */
        keep_commit(u.keep);
        release_inodes(&u);
        keep_end(u.keep);
        keep_close(u.keep, !kept);
    }
    if (rc == 0)
        tell_left(&u);
    free(u.tasks);
    free(equals);
    ends_free(&u.ends);
    buf_free(&u.same);
    restore_close_roots(&u.m->head, u.roots);
    return rc;
}
