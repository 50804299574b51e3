/* SPDX-License-Identifier: Apache-2.0 */
/* Decides for every object of a run whether it can be restored. Changes nothing. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "cordon.h"
#include "undo/restore_inside.h"

bool undoing_names_differ(const struct undo_model *m, uint32_t object)
{
    const struct undo_object *o = &m->objects[object];
    for (uint32_t i = o->before; i; i = m->entries[i].next_before)
        if (m->entries[i].after != object)
            return true;
    for (uint32_t i = o->after; i; i = m->entries[i].next_after)
        if (m->entries[i].before != object)
            return true;
    return false;
}

/* Earlier undos made this state out of what was kept of the object. */
static bool is_state_before(const struct undoing *u, uint32_t object, const struct fs_stat *st)
{
    const struct undo_ident *was = &u->m->objects[object].ident;
    uint64_t inode = st->inode;
    struct undo_time time = st->changed;
    for (int i = 0; i < UNDOING_MOST_STEPS; i++) {
        if (!undoing_step_back(u, st->device, &inode, &time))
            return false;
        if (inode == was->inode && undo_time_compare(time, was->changed) == 0)
            return true;
    }
    return false;
}

/* An earlier undo of a part has put it back, and nothing changed it since. */
static bool is_back(const struct undoing *u, uint32_t object)
{
    const struct undo_object *o = &u->m->objects[object];
    struct restore_spot spot = {.parent = -1};
    if (o->made || o->folder || !o->before)
        return false;
    bool back = undoing_find(u, o->before, true, &spot) == 0 && spot.exists &&
                is_state_before(u, object, &spot.st);
    restore_leave(&spot);
    return back;
}

/* Somebody has put back what was there before the run, by other means: nothing is left to do. */
static bool was_put_back(struct undoing *u, uint32_t object, uint32_t entry,
                         const struct restore_spot *spot)
{
    uint32_t was = u->m->objects[object].made ? u->m->entries[entry].before : object;
    if (!was || (was == object && u->m->objects[was].after && undoing_names_differ(u->m, was)) ||
        !restore_is_as_before(u->j, was, spot))
        return false;
    /* The end of the run is a guess: it may have been the run, whose time is then on it. */
    if (!u->j->known_end && was == object && spot->st.inode == u->m->objects[was].ident.inode)
        return true;
    u->tasks[object].wanted = u->tasks[was].wanted = false;
    u->gone = true;
    return true;
}

/* Left alone unless --force is given. */
static void leave_unless_forced(struct undoing *u, uint32_t object, const char *why)
{
    u->counts->forced = u->counts->forced || u->o->force;
    if (u->o->force)
        return;
    undoing_leave(u, object, why);
    u->tasks[object].forceable = true;
}

/* Nothing of the run has the entry now, nor the place of a folder on the way to it. */
static bool is_free_of_run(const struct undo_model *m, uint32_t entry)
{
    for (size_t depth = 0; depth < UNDO_LONGEST_PATH; depth++) {
        uint32_t folder = m->entries[entry].folder;
        const struct undo_object *o = &m->objects[folder];
        if (o->root)
            return true;
        if (!o->before ||
            (o->after ? undoing_names_differ(m, folder) : m->entries[o->before].after))
            return false;
        entry = o->before;
    }
    return false;
}

/* A folder that the run removed, and one that has its name now. As it was before the run, it needs
   nothing itself and takes what was in it. */
static void look_for_folder(struct undoing *u, uint32_t object)
{
    const struct undo_object *o = &u->m->objects[object];
    const struct undo_record *meta = undo_model_record(u->m, o->meta);
    struct restore_task *t = &u->tasks[object];
    struct restore_spot spot = {.parent = -1};
    if (!o->folder || o->made || o->after || !o->before || u->m->entries[o->before].after ||
        !is_free_of_run(u->m, o->before))
        return;
    if (undoing_find(u, o->before, true, &spot) == 0 && spot.exists) {
        bool folder = fs_is_folder(spot.st.mode);
        t->adopted = folder;
        t->stands = t->told = folder && meta && spot.st.mode == meta->ident.mode &&
                              spot.st.user == meta->user && spot.st.group == meta->group;
        t->quiet = t->stands && is_state_before(u, object, &spot.st);
        if (!folder)
            undoing_leave(u, object, "something new has its name");
        else if (!t->stands)
            leave_unless_forced(u, object, "something new has its name");
    }
    restore_leave(&spot);
}

/* Another file has the name of this one: somebody replaced it after the run. */
static bool is_other(const struct undoing *u, uint32_t object, const struct fs_stat *st)
{
    const struct undo_object *o = &u->m->objects[object];
    return o->ident.links && !o->made && !o->folder &&
           (st->inode != o->ident.inode || st->device != o->ident.device) &&
           !undoing_is_untouched(u, st);
}

/* It may be so that nothing but the name of a large file was recorded, and the file was
   written to. */
static bool is_content_gone(const struct undoing *u, uint32_t object, const struct fs_stat *st)
{
    const struct undo_object *o = &u->m->objects[object];
    const struct undo_record *meta = undo_model_record(u->m, o->meta);
    return !o->made && !o->folder && !o->data && meta && undo_lost_name(u->m, object) &&
           (st->size != meta->size || undo_time_compare(st->modified, meta->modified) != 0);
}

/* What the object held is in the journal. Its own name of an inode goes when another is known. */
static bool is_kept(const struct undoing *u, uint32_t object)
{
    const struct undo_object *o = &u->m->objects[object];
    const struct undo_record *handle = undo_model_record(u->m, o->handle);
    struct fs_stat st;
    char name[24];
    if (o->data || !handle)
        return o->data != 0;
    snprintf(name, sizeof name, "%llu", (unsigned long long)handle->place);
    return fs_stat(u->j->objects, name, &st) == 0;
}

/* A file whose names the run changed, and one of them that somebody took from it since: the name is
   left alone, and the file goes back to its others. What is left of it is in the journal, or under
   another name. */
static void disown(struct undoing *u, uint32_t object, uint32_t entry, bool gone)
{
    static const char *const reasons[2][2][2] = {
        {{"another file has its name since the run", "another file has its name since the run"},
         {"its other name is another file now, and what it held was not kept",
          "its other name is another file now"}},
        {{"it is gone", "it is gone"},
         {"its other name is gone, and what it held was not kept", "its other name is gone"}}};
    const struct undo_object *o = &u->m->objects[object];
    const struct undo_entry *e = &u->m->entries[entry];
    bool can = is_kept(u, object) || o->after != entry || e->next_after;
    const char *why = reasons[gone][e->before == object][can];
    if (!can) {
        undoing_leave(u, object, why);
        return;
    }
    leave_unless_forced(u, object, why);
    if (!u->tasks[object].left)
        undo_model_disown(u->m, entry);
}

/* The run put a new object in the place of an old one, and an earlier undo has put the old one back. */
static bool was_given_back(const struct undoing *u, uint32_t entry, const struct fs_stat *st)
{
    uint32_t was = u->m->entries[entry].before, made = u->m->entries[entry].after;
    return was && was != made && u->m->objects[made].made && is_state_before(u, was, st);
}

/* Such names are no longer the object's. True if it has none left: then nothing is to be done. */
static bool gave_all_back(struct undoing *u, uint32_t object)
{
    const struct undo_object *o = &u->m->objects[object];
    struct restore_spot spot;
    for (uint32_t i = o->made ? o->after : 0, next; i; i = next) {
        next = u->m->entries[i].next_after;
        bool back =
            undoing_find(u, i, false, &spot) == 0 && spot.exists && was_given_back(u, i, &spot.st);
        restore_leave(&spot);
        if (back)
            undo_model_disown(u->m, i);
    }
    return o->made && !o->after;
}

static bool is_ident(const struct undo_ident *ident, const struct fs_stat *st)
{
    return ident->links && ident->inode == st->inode && ident->device == st->device;
}

/* The journal's further name of a file is gone: at its end an undo gives these up, without records. */
static bool was_settled(const struct undoing *u, const struct undo_object *o)
{
    const struct undo_record *handle = undo_model_record(u->m, o->handle);
    struct fs_stat st;
    char name[24];
    if (!handle)
        return false;
    snprintf(name, sizeof name, "%llu", (unsigned long long)handle->place);
    return fs_stat(u->j->objects, name, &st) != 0;
}

/* The last step of an undo that was killed is later than the last record, which names its object. All
   other objects are older than that record. */
static bool is_of_last_step(const struct undoing *u, const struct undo_object *o,
                            const struct fs_stat *st)
{
    const struct undo_record *last =
        u->m->record_count ? &u->m->records[u->m->record_count - 1] : NULL;
    return is_ident(&o->ident, st) && undo_time_compare(st->modified, u->j->end) <= 0 &&
           ((last && (is_ident(&last->ident, st) || is_ident(&last->replaced, st))) ||
            was_settled(u, o));
}

/* The last step was to make the object of this entry. */
static bool is_last_made(const struct undoing *u, uint32_t entry)
{
    const struct undo_record *last =
        u->m->record_count ? &u->m->records[u->m->record_count - 1] : NULL;
    auto_buf struct buf path = {0};
    return last && last->type == UNDO_CREATE &&
           undo_model_path(u->m, entry, false, &path) == (int)last->path.root &&
           str_eq(buf_str(&path), last->path.text);
}

/* As the run left it. */
static bool is_as_left(const struct undoing *u, uint32_t entry, const struct fs_stat *st)
{
    const struct undo_object *o = &u->m->objects[u->m->entries[entry].after];
    return undoing_is_untouched(u, st) ||
           (u->j->half &&
            (fs_is_folder(st->mode) || is_last_made(u, entry) || is_of_last_step(u, o, st)));
}

/* Neither the file that the run changed, nor what an undo of a later run made of it, and it has further
   names. */
static bool is_name_of_other(const struct undoing *u, uint32_t object, const struct fs_stat *st)
{
    const struct undo_object *o = &u->m->objects[object];
    return !o->made && !o->folder && st->links > 1 && !is_ident(&o->ident, st) &&
           !undoing_is_untouched(u, st);
}

/* What is there now under the names that it gets back. */
static void look_at_old_names(struct undoing *u, uint32_t object)
{
    const struct undo_object *o = &u->m->objects[object];
    const struct restore_task *t = &u->tasks[object];
    struct restore_spot spot;
    for (uint32_t i = o->before; i && !t->left && !o->folder; i = u->m->entries[i].next_before) {
        uint32_t folder = u->m->entries[i].folder;
        const struct undo_object *f = &u->m->objects[folder];
        bool stands = u->tasks[folder].stands;
        if (u->m->entries[i].after || (!f->root && !f->after && !stands))
            continue;
        int rc = undoing_find(u, i, stands, &spot);
        bool there = rc == 0 && spot.exists;
        if (rc == -ELOOP || rc == -EXDEV || rc == -ENOTDIR)
            undoing_leave(u, object, "a folder on the way to it is something else now");
        else if (rc == -ENOENT)
            leave_unless_forced(u, object, "its folder is gone");
        else if (there && fs_is_folder(spot.st.mode))
            undoing_leave(u, object, "something new has its name");
        else if (there && !was_put_back(u, object, i, &spot))
            leave_unless_forced(u, object, "something new has its name");
        restore_leave(&spot);
    }
}

/* Looks at the object's names on the disk. */
static void look_for_conflicts(struct undoing *u, uint32_t object)
{
    if ((undoing_names_differ(u->m, object) && is_back(u, object)) || gave_all_back(u, object)) {
        u->tasks[object].wanted = false;
        return;
    }
    const struct undo_object *o = &u->m->objects[object];
    struct restore_task *t = &u->tasks[object];
    struct restore_spot spot;
    bool gone = o->made;
    for (uint32_t i = o->after, next; i && !t->left; i = next) {
        int rc = undoing_find(u, i, false, &spot);
        bool there = rc == 0 && spot.exists;
        bool moved = undo_lost_name(u->m, object) != 0;
        bool same = there && is_as_left(u, i, &spot.st);
        t->foreign = t->foreign || (there && is_name_of_other(u, object, &spot.st));
        next = u->m->entries[i].next_after;
        gone = gone && !there;
        if (rc == -ELOOP || rc == -EXDEV || rc == -ENOTDIR)
            undoing_leave(u, object, "a folder on the way to it is something else now");
        else if (!there && !o->made && !undoing_names_differ(u->m, object) &&
                 (o->data || o->folder))
            leave_unless_forced(u, object, "it is gone");
        else if (!there && !o->made && moved && !o->folder)
            disown(u, object, i, true);
        else if (!there && !o->made)
            undoing_leave(u, object, "it is gone");
        else if (there && moved && is_other(u, object, &spot.st))
            disown(u, object, i, false);
        else if (there && !same && is_content_gone(u, object, &spot.st))
            undoing_leave(u, object, "it was changed after the run, and what it held was not kept");
        else if (t->foreign && !o->data) /* not even --force gives that file a mode */
            undoing_leave(u, object, "its name is one of another file now");
        else if (there && fs_is_folder(spot.st.mode) != o->folder)
            undoing_leave(u, object, "something else has its name");
        else if (there && !same) {
            if (!o->folder && !ends_match(&u->ends, i, &spot) && !was_put_back(u, object, i, &spot))
                leave_unless_forced(u, object, "it was changed after the run");
        } else if (there)
            t->quiet = true;
        restore_leave(&spot);
    }
    t->told = t->told || (gone && !t->left); /* somebody took it away already */
    u->gone = u->gone || (gone && !t->left);
    /* Names were taken from it, and what was relied on is not there. */
    if (!t->left && !o->made && !o->folder && !o->after && o->before && !is_kept(u, object))
        undoing_leave(u, object, "it is gone, and what it held was not kept");
    look_at_old_names(u, object);
}

/* Everything needed to restore it must be in the journal. */
static void look_for_content(struct undoing *u, uint32_t object)
{
    const struct undo_object *o = &u->m->objects[object];
    const struct undo_record *data = undo_model_record(u->m, o->data);
    if (o->made || o->folder)
        return;
    if (data && data->how == UNDO_LOST) {
        auto_buf struct buf why = {0};
        buf_fmt(&why, "it was not kept: %.*s", STR_ARG(data->text));
        const char *text = arena_copy(&u->m->arena, buf_str(&why)).p;
        undoing_leave(u, object, text ? text : "it was not kept");
    } else if (!o->after && !data && !o->handle)
        undoing_leave(u, object, "it was not kept");
}

static bool is_below(const char *path, const struct restore_options *o)
{
    for (size_t i = 0; i < o->path_count; i++)
        if (store_below(str_of(o->paths[i]), str_of(path)))
            return true;
    return o->path_count == 0;
}

static bool whole_path(const struct undoing *u, uint32_t entry, bool before, struct buf *out)
{
    auto_buf struct buf rest = {0};
    int root = undo_model_path(u->m, entry, before, &rest);
    if (root >= 0)
        buf_fmt(out, "%.*s/%s", STR_ARG(u->m->head.roots[root].path), buf_cstr(&rest));
    return root >= 0 && !out->failed;
}

static bool is_asked_for(const struct undoing *u, const struct restore_options *options,
                         uint32_t object)
{
    const struct undo_object *o = &u->m->objects[object];
    for (int before = 0; before < 2; before++)
        for (uint32_t i = before ? o->before : o->after; i;
             i = before ? u->m->entries[i].next_before : u->m->entries[i].next_after) {
            auto_buf struct buf path = {0};
            if (whole_path(u, i, before, &path) && is_below(buf_cstr(&path), options))
                return true;
        }
    return options->path_count == 0;
}

/* ---- runs that would be taken back before this one ---- */

static int compare_paths(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

int undoing_assume(struct undoing *u)
{
    struct restore_assumed *a = u->o->assumed;
    for (uint32_t e = 1; a && e < u->m->entry_count; e++) {
        const struct undo_entry *entry = &u->m->entries[e];
        bool same = entry->before == entry->after;
        for (int before = 0; before < 2; before++) {
            auto_buf struct buf path = {0};
            uint32_t object = before ? entry->before : entry->after;
            /* A folder that kept its name has other times at most. */
            if (!undoing_is_ready(u, object) || (same && u->m->objects[object].folder) ||
                !whole_path(u, e, before, &path))
                continue;
            if (a->count == a->capacity) {
                const char **more = arena_grow(&a->arena, a->paths, &a->capacity, sizeof *a->paths);
                if (!more)
                    return CORDON_E_NOMEM;
                a->paths = more;
            }
            if (!(a->paths[a->count] = arena_copy(&a->arena, buf_str(&path)).p))
                return CORDON_E_NOMEM;
            a->count++;
        }
    }
    if (a && a->count)
        qsort(a->paths, a->count, sizeof *a->paths, compare_paths);
    return 0;
}

bool undoing_is_assumed(const struct undoing *u, struct str path)
{
    const struct restore_assumed *a = u->o->assumed;
    bool found = false;
    for (size_t end = path.n; a && a->count && end > 0 && !found; end--)
        if (end == path.n || path.p[end] == '/') {
            auto_buf struct buf part = {0};
            buf_add(&part, str_slice(path, 0, end));
            const char *key = buf_cstr(&part);
            found = bsearch(&key, a->paths, a->count, sizeof key, compare_paths) != NULL;
        }
    return found;
}

static bool is_assumed(const struct undoing *u, uint32_t object)
{
    const struct undo_object *o = &u->m->objects[object];
    bool found = false;
    for (int before = 0; u->o->assumed && before < 2; before++)
        for (uint32_t i = before ? o->before : o->after; i && !found;
             i = before ? u->m->entries[i].next_before : u->m->entries[i].next_after) {
            auto_buf struct buf path = {0};
            found = whole_path(u, i, before, &path) && undoing_is_assumed(u, buf_str(&path));
        }
    return found;
}

bool undoing_was_changed(const struct undo_model *m, uint32_t object)
{
    const struct undo_object *o = &m->objects[object];
    return !o->root && !o->foreign &&
           (o->made ? o->after != 0 : o->meta || undoing_names_differ(m, object));
}

size_t undoing_unknown(const struct undoing *u)
{
    size_t at = 0;
    for (bool found = true; at < u->o->path_count; at += found) {
        struct restore_options one = {.paths = u->o->paths + at, .path_count = 1};
        found = false;
        for (uint32_t i = 1; i < u->m->object_count && !found; i++)
            found = undoing_was_changed(u->m, i) && is_asked_for(u, &one, i);
        if (!found)
            break;
    }
    return at;
}

/* A folder that is gone is needed again for what was in it. */
static void want_parents(struct undoing *u, uint32_t object)
{
    for (uint32_t e = u->m->objects[object].before; e;) {
        uint32_t folder = u->m->entries[e].folder;
        if (u->m->objects[folder].root || u->tasks[folder].wanted)
            return;
        if (!u->m->objects[folder].after)
            u->tasks[folder].wanted = true;
        e = u->m->objects[folder].before;
    }
}

/* The object that has the entry now gives it up. */
static bool gives_up(const struct undoing *u, uint32_t entry)
{
    uint32_t now = u->m->entries[entry].after;
    return !now || undoing_is_ready(u, now);
}

/* One round; true if something was found that is in the way of something else. */
static bool find_blocked(struct undoing *u)
{
    bool found = false;
    for (uint32_t i = 1; i < u->m->object_count; i++) {
        const struct undo_object *o = &u->m->objects[i];
        if (!undoing_is_ready(u, i) || o->made)
            continue;
        for (uint32_t e = o->before; e && !u->tasks[i].left; e = u->m->entries[e].next_before) {
            uint32_t folder = u->m->entries[e].folder;
            const struct undo_object *f = &u->m->objects[folder];
            const struct restore_task *now = &u->tasks[u->m->entries[e].after];
            if (!f->root && !f->after && !undoing_is_ready(u, folder))
                undoing_leave(u, i, "its folder cannot be restored");
            else if (u->m->entries[e].after != i && !u->tasks[i].adopted && !gives_up(u, e)) {
                undoing_leave(u, i,
                              now->left && now->why ? now->why : "something else has its name");
                u->tasks[i].forceable = now->left && now->forceable;
            }
            found = found || u->tasks[i].left;
        }
    }
    return found;
}

void undoing_decide(struct undoing *u)
{
    struct undo_model *m = u->m;
    for (uint32_t i = 1; i < m->object_count; i++) {
        const struct undo_object *o = &m->objects[i];
        u->tasks[i].wanted = undoing_was_changed(m, i) && is_asked_for(u, u->o, i);
        if (u->tasks[i].wanted && !o->made)
            want_parents(u, i);
    }
    for (uint32_t i = 1; i < m->object_count; i++) {
        const struct undo_object *o = &m->objects[i];
        /* A folder that was removed and made again stays. */
        if (o->folder && !o->made && !o->after && o->before) {
            uint32_t now = m->entries[o->before].after;
            if (now && m->objects[now].made && m->objects[now].folder)
                u->tasks[i].adopted = u->tasks[now].adopted = true;
        }
    }
    for (uint32_t i = 1; i < m->object_count; i++)
        if (u->tasks[i].wanted && !is_assumed(u, i))
            look_for_folder(u, i);
    for (uint32_t i = 1; i < m->object_count; i++)
        if (u->tasks[i].wanted && !u->tasks[i].left) {
            look_for_content(u, i);
            if (!u->tasks[i].left && !is_assumed(u, i))
                look_for_conflicts(u, i);
        }
    while (find_blocked(u))
        ;
}
