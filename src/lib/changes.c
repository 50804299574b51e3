/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/changes.h"

#include <stdio.h>

#include "cordon.h"
#include "lib/system.h"
#include "undo/diff.h"
#include "undo/ends.h"

enum { LARGEST_DIFF = 8 << 20 };

fs_file changes_open_store(char *why, size_t capacity)
{
    if (!system_is_inside())
        return store_open(true, why, capacity);
    snprintf(why, capacity, "journals are out of reach inside a run");
    return -1;
}

int changes_choose(fs_file store, const char *wanted, const char *folder, bool shows,
                   struct changes_choice *out, char *why, size_t capacity)
{
    int rc = fs_final_path(folder, out->folder, sizeof out->folder);
    if (rc && folder) {
        snprintf(why, capacity, "%.200s: %s", folder, strerror(-rc));
        return CORDON_E_OPEN;
    }
    if (rc)
        out->folder[0] = '\0';
    return store_choose(store, wanted, out->folder, shows, &out->run, why, capacity)
               ? 0
               : CORDON_E_UNKNOWN;
}

const char **changes_paths(struct arena *arena, const char *folder, const char *const *words,
                           size_t count)
{
    const char **list = ARENA_ARRAY(arena, count + 1, const char *);
    for (size_t i = 0; list && i < count; i++) {
        auto_buf struct buf path = {0};
        if (!fs_absolute(folder, words[i], &path) ||
            !(list[i] = arena_copy(arena, buf_str(&path)).p))
            return NULL;
    }
    return list;
}

/* ---- changes ---- */

static bool is_below(const char *only, struct str root, struct str path)
{
    auto_buf struct buf whole = {0};
    buf_fmt(&whole, "%.*s/%.*s", STR_ARG(root), STR_ARG(path));
    return store_below(str_of(only), buf_str(&whole));
}

/* By its name now or, if it was renamed, by the one before. */
static bool is_meant(const struct store_journal *j, const char *only, const struct undo_change *c)
{
    struct str root = j->model.head.roots[c->root].path;
    return is_below(only, root, c->path) ||
           (c->kind == UNDO_RENAMED && is_below(only, root, c->from));
}

static bool is_wanted(const struct store_journal *j, const struct changes_query *q,
                      const struct undo_change *c)
{
    for (size_t i = 0; i < q->only_count; i++)
        if (is_meant(j, q->only[i], c))
            return true;
    return q->only_count == 0;
}

int changes_unknown(struct store_journal *j, const struct changes_query *q, size_t *unknown)
{
    struct undo_change *changes;
    size_t count, at = 0;
    bool found = true;
    int rc = undo_model_changes(&j->model, &changes, &count);
    while (rc == 0 && found && at < q->only_count) {
        found = false;
        for (size_t i = 0; i < count && !found; i++)
            found = is_meant(j, q->only[at], &changes[i]);
        at += found;
    }
    *unknown = at;
    return rc;
}

/* What happened to it after the run. */
static struct str since_of(const struct store_journal *j, const struct ends *ends,
                           const struct undo_change *c, const struct restore_spot *spot, bool there)
{
    if (!j->known_end)
        return STR_NONE;
    if (!c->after)
        return there ? STR("there again") : STR_NONE;
    if (!there)
        return STR("gone");
    bool same = fs_is_folder(spot->st.mode) || undo_time_compare(spot->st.changed, j->end) <= 0 ||
                ends_match(ends, c->after, spot);
    return same ? STR_NONE : STR("changed");
}

/* Mode and link target: as they were, and as the run left them. */
static void compare_rest(const struct store_journal *j, const struct ends *ends,
                         const struct undo_change *c, const struct restore_spot *spot, char *target,
                         size_t capacity, struct changes_item *item)
{
    const struct undo_object *was = &j->model.objects[c->was];
    const struct undo_record *meta = c->was ? undo_model_record(&j->model, was->meta) : NULL;
    const struct undo_record *data = c->was ? undo_model_record(&j->model, was->data) : NULL;
    struct ends_state left;
    bool known = ends_of(ends, c->after, &left);
    uint32_t mode = known ? left.mode : spot->st.mode;
    if (meta && data && data->how == UNDO_TARGET && fs_is_link(meta->ident.mode))
        item->link_before = data->text;
    if (!c->after || (!known && (item->since.n || !spot->exists)))
        return;
    if (fs_is_link(mode) && !item->since.n) {
        int n = fs_read_link(spot->parent, spot->leaf, target, capacity);
        item->link = (struct str){target, n > 0 && (size_t)n < capacity ? (size_t)n : 0};
    }
    if (!meta || (meta->ident.mode & FS_TYPE) != (mode & FS_TYPE) || fs_is_link(mode))
        return;
    fs_mode_text(meta->ident.mode, item->mode_before);
    fs_mode_text(mode, item->mode);
    if (strcmp(item->mode_before, item->mode) == 0)
        item->mode_before[0] = item->mode[0] = '\0';
}

/* Looks at one change; false: stop. */
static bool look(const struct store_journal *j, const struct ends *ends, const fs_file *roots,
                 const struct changes_query *q, const struct undo_change *c)
{
    char target[UNDO_LONGEST_TEXT];
    struct ends_state left;
    auto_buf struct buf before = {0}, after = {0}, lines = {0};
    struct restore_spot spot = {.parent = -1};
    struct diff_counts counts = {0};
    const struct undo_model *m = &j->model;
    const struct undo_object *was = &m->objects[c->was];
    const struct undo_record *meta = c->was ? undo_model_record(m, was->meta) : NULL;
    const struct undo_record *data = c->was ? undo_model_record(m, was->data) : NULL;
    struct changes_item item = {.change = c,
                                .root = m->head.roots[c->root].path,
                                .folder = m->objects[c->is ? c->is : c->was].folder};
    bool there = restore_find(&m->head, roots, c->root, c->path, &spot) == 0 && spot.exists;
    item.since = since_of(j, ends, c, &spot, there);
    compare_rest(j, ends, c, &spot, target, sizeof target, &item);
    there = there && c->after && !item.since.n;
    bool had = c->kind == UNDO_CREATED || restore_read_before(j, c->was, LARGEST_DIFF, &before);
    bool has =
        c->kind == UNDO_DELETED || (there && restore_read_after(&spot, LARGEST_DIFF, &after));
    /* A file that was only renamed is not kept, or is the same. */
    item.altered =
        c->kind != UNDO_RENAMED ||
        (data && !item.folder && !(had && has && str_eq(buf_str(&before), buf_str(&after))));
    item.counted =
        !item.folder && had && has && item.altered &&
        diff_lines(buf_str(&before), buf_str(&after), &counts, q->diff ? &lines : NULL) &&
        !counts.binary;
    item.had_size = !item.folder && meta;
    item.size_before = data ? data->size : meta ? meta->size : 0;
    bool known = ends_of(ends, c->after, &left);
    item.has_size = !item.folder && (there || known);
    item.size = known ? left.size : there ? spot.st.size : 0;
    item.regular = known ? fs_is_file(left.mode) : there && fs_is_file(spot.st.mode);
    item.added = counts.added;
    item.removed = counts.removed;
    item.diff = buf_str(&lines);
    const struct undo_record *partial = c->was ? undo_model_record(m, was->partial) : NULL;
    item.lost = data && data->how == UNDO_LOST ? data->text : partial ? partial->text : STR_NONE;
    restore_leave(&spot);
    return q->each(q->context, &item);
}

int changes_each(struct store_journal *j, const fs_file *roots, const struct changes_query *q,
                 uint64_t counts[UNDO_KINDS])
{
    struct undo_change *changes;
    struct ends ends;
    struct ends_state left;
    size_t count;
    int rc = undo_model_changes(&j->model, &changes, &count);
    ends_read(j, &ends);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        const struct undo_change *c = &changes[i];
        /* The disk says what is there now; the run's own end was noted. */
        if (!is_wanted(j, q, c) ||
            (ends_of(&ends, c->after, &left) ? left.same : !restore_differs(j, roots, c)))
            continue;
        counts[c->kind]++;
        if (!look(j, &ends, roots, q, c))
            break;
    }
    ends_free(&ends);
    return rc;
}

/* ---- JSON ---- */

void changes_json(const struct changes_item *item, struct json_writer *w)
{
    const struct undo_change *c = item->change;
    json_open(w, '{');
    json_put(w, STR("kind"), str_of(undo_kind_word(c->kind)));
    json_put(w, STR("path"), c->path);
    if (c->root)
        json_put(w, STR("root"), item->root);
    if (c->kind == UNDO_RENAMED)
        json_put(w, STR("from"), c->from);
    json_put_bool(w, STR("folder"), item->folder);
    if (item->had_size)
        json_put_number(w, STR("size_before"), (long long)item->size_before);
    if (item->has_size)
        json_put_number(w, STR("size"), (long long)item->size);
    if (item->mode[0]) {
        json_put(w, STR("mode_before"), str_of(item->mode_before));
        json_put(w, STR("mode"), str_of(item->mode));
    }
    if (item->link_before.n)
        json_put(w, STR("link_before"), item->link_before);
    if (item->link.n)
        json_put(w, STR("link"), item->link);
    if (item->since.n)
        json_put(w, STR("since"), item->since);
    if (item->counted) {
        json_put_number(w, STR("added"), (long long)item->added);
        json_put_number(w, STR("removed"), (long long)item->removed);
        if (item->diff.n)
            json_put(w, STR("diff"), item->diff);
    }
    if (item->lost.n)
        json_put(w, STR("lost"), item->lost);
    json_close(w, '}');
}

void changes_restored_json(const struct restore_item *item, bool dry, struct json_writer *w)
{
    static const char *const words[] = {[RESTORE_FAILED] = "failed",
                                        [RESTORE_CONFLICT] = "conflict",
                                        [RESTORE_REMOVED] = "removed",
                                        [RESTORE_RESTORED] = "restored",
                                        [RESTORE_MOVED] = "moved"};
    json_open(w, '{');
    json_put(w, STR("result"), str_of(words[item->result]));
    if (dry)
        json_put_bool(w, STR("dry"), true);
    json_put(w, STR("path"), str_of(item->path));
    if (item->from[0])
        json_put(w, STR("from"), str_of(item->from));
    if (item->why[0])
        json_put(w, STR("why"), str_of(item->why));
    json_close(w, '}');
}

void changes_run_json(const struct store_run *r, struct json_writer *w)
{
    json_open(w, '{');
    json_put(w, STR("run"), str_of(r->id));
    json_put_number(w, STR("time"), (long long)r->head.time);
    json_put_number(w, STR("bytes"), (long long)r->bytes);
    json_put(w, STR("command"), r->head.command);
    json_put(w, STR("session"), r->head.session);
    json_put(w, STR("undoes"), r->head.undoes);
    json_put(w, STR("undone"), r->undone);
    json_put_bool(w, STR("live"), r->live);
    if (r->half)
        json_put_bool(w, STR("interrupted"), true);
    json_put_bool(w, STR("damaged"), r->damaged || r->other);
    json_key(w, STR("roots"));
    json_open(w, '[');
    for (uint32_t i = 0; i < r->head.root_count; i++)
        json_string(w, r->head.roots[i].path);
    json_close(w, ']');
    json_close(w, '}');
}
