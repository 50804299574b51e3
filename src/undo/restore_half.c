/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Undos that were killed on their way. Until its journal says that all is restored, such an undo is
 * taken back by its journal like a run, and both journals go: the run that it took back is whole and
 * can be taken back again. After that only names of the journal have to be given up.
 */
#include <stdio.h>

#include "cordon.h"
#include "undo/keep_inside.h"
#include "undo/restore_inside.h"

enum { MOST_HALVES = 64 };

void restore_stage_name(struct str run, char out[RESTORE_STAGE_NAME])
{
    snprintf(out, RESTORE_STAGE_NAME, ".cordon-undo-%.*s", STR_ARG(run));
}

void restore_command(const char *id, bool force, char out[RESTORE_COMMAND])
{
    snprintf(out, RESTORE_COMMAND, "cordon undo %s%s", force ? "--force " : "", id);
}

/* ---- names of the journal ---- */

bool restore_release(const struct store_journal *j, uint32_t object, const struct restore_spot *at)
{
    const struct undo_object *o = &j->model.objects[object];
    const struct undo_record *data = undo_model_record(&j->model, o->data);
    const struct undo_record *kept[2] = {undo_model_record(&j->model, o->handle),
                                         data && data->how == UNDO_LINKED ? data : NULL};
    bool any = false;
    for (int k = 0; k < 2; k++) {
        struct fs_stat st;
        char name[24];
        if (!kept[k])
            continue;
        keep_object_name(kept[k]->place, name);
        if (at && (fs_stat(j->objects, name, &st) || st.inode != at->st.inode ||
                   st.device != at->st.device))
            continue;
        any = fs_remove(j->objects, name, false) == 0 || any;
    }
    return any;
}

/* Of every object that has its old name again. */
static void release_all(const struct store_journal *j)
{
    const struct undo_model *m = &j->model;
    fs_file roots[UNDO_MOST_ROOTS];
    char why[256];
    if (restore_open_roots(m, roots, why, sizeof why))
        return;
    for (uint32_t i = 1; i < m->object_count; i++)
        for (uint32_t e = m->objects[i].before; e && (m->objects[i].handle || m->objects[i].data);
             e = m->entries[e].next_before) {
            struct restore_spot spot = {.parent = -1};
            auto_buf struct buf path = {0};
            int root = undo_model_path(m, e, true, &path);
            if (root >= 0 && !path.failed &&
                restore_find(&m->head, roots, (uint32_t)root, buf_str(&path), &spot) == 0 &&
                spot.exists)
                restore_release(j, i, &spot);
            restore_leave(&spot);
        }
    restore_close_roots(&m->head, roots);
}

/* ---- cleaning up ---- */

/* The run that it has taken back, as that one's mark or its own head says. */
static struct store_run *target_of(struct store_run *runs, size_t count,
                                   const struct store_run *half)
{
    struct store_run *target = NULL;
    for (size_t i = 0; i < count; i++)
        if (str_eq(runs[i].undone, str_of(half->id)))
            return &runs[i];
        else if (str_eq(str_of(runs[i].id), half->head.undoes))
            target = &runs[i];
    return target;
}

/* Everything is restored, as its journal says or the mark of the run: the names of the other journal
   go, and this one has ended. */
static bool clean_up(fs_file store, struct store_run *half, struct store_run *target)
{
    auto_store_journal struct store_journal own = {
        .folder = -1, .pack = -1, .objects = -1, .lock = -1};
    auto_store_journal struct store_journal other = {
        .folder = -1, .pack = -1, .objects = -1, .lock = -1};
    char why[256];
    bool marked = target && str_eq(target->undone, str_of(half->id));
    bool read = store_read(store, half->id, &own, why, sizeof why) == 0;
    if (!marked && !(read && own.model.ended))
        return false;
    if (target && store_read(store, target->id, &other, why, sizeof why) == 0)
        release_all(&other);
    if (read)
        store_put_length(own.lock, own.size);
    return true;
}

/* It took back a part of another undo of the same run: nothing is left of either. */
static void drop_both(fs_file store, struct store_run *half, struct store_run *target)
{
    if (!target || !str_eq(target->undone, str_of(half->id)) ||
        !str_eq(target->head.undoes, half->head.undoes))
        return;
    target->half = false;
    store_drop(store, target->id);
    store_drop(store, half->id);
}

/* All runs; those that had only to clean up have ended. */
static int list(fs_file store, struct arena *arena, struct store_run **runs, size_t *count)
{
    int rc = store_list(store, arena, runs, count);
    for (size_t i = 0; rc == 0 && i < *count; i++) {
        struct store_run *half = &(*runs)[i];
        struct store_run *target = half->half ? target_of(*runs, *count, half) : NULL;
        if (!half->half || !clean_up(store, half, target))
            continue;
        half->half = false;
        drop_both(store, half, target);
    }
    return rc;
}

void restore_tidy(fs_file store)
{
    auto_arena struct arena arena = {0};
    struct store_run *runs;
    size_t count;
    list(store, &arena, &runs, &count);
}

/* ---- taking back ---- */

/* The newest of them; NULL: there is none. */
static const struct store_run *newest_half(const struct store_run *runs, size_t count,
                                           const char *run)
{
    const struct store_run *half = NULL;
    for (size_t i = 0; i < count; i++)
        if (strcmp(runs[i].id, run) == 0) {
            for (size_t k = 0; k <= i && !half; k++)
                if (runs[k].half && store_overlap(&runs[k].head, &runs[i].head))
                    half = &runs[k];
            break;
        }
    return half;
}

static void describe(const struct store_run *run, struct restore_half *out)
{
    *out = (struct restore_half){.id = ""};
    if (!run)
        return;
    snprintf(out->id, sizeof out->id, "%s", run->id);
    snprintf(out->of, sizeof out->of, "%.*s", STR_ARG(run->head.undoes));
}

int restore_find_half(fs_file store, const char *run, struct restore_half *out)
{
    auto_arena struct arena arena = {0};
    struct store_run *runs;
    size_t count;
    int rc = list(store, &arena, &runs, &count);
    if (rc == 0)
        describe(newest_half(runs, count, run), out);
    return rc;
}

/* It is taken back completely. Of the attempts only what was restored over is of use: an attempt
   without --force has nothing that is not in the folder, and its journal goes. */
static void drop_attempts(fs_file store, const struct store_run *runs, size_t count,
                          const struct store_run *half, struct restore_counts *counts)
{
    char command[RESTORE_COMMAND];
    restore_command(half->id, false, command);
    for (size_t i = 0; i < count; i++)
        if (str_eq(runs[i].head.command, str_of(command)) && !runs[i].undone.n && !runs[i].half &&
            str_eq(runs[i].head.undoes, half->head.undoes))
            store_drop(store, runs[i].id);
    store_drop(store, half->id);
    if (counts->run[0] && !counts->forced && store_drop(store, counts->run))
        counts->run[0] = '\0';
}

/* The newest one. *found: there was one. */
static int finish_one(fs_file store, const char *run, const struct restore_options *options,
                      void (*begun)(void *context, const struct restore_half *half),
                      struct restore_counts *counts, bool *found, char *why, size_t capacity)
{
    auto_arena struct arena arena = {0};
    struct store_run *runs;
    size_t count;
    snprintf(why, capacity, "cannot read the folder of journals");
    int rc = list(store, &arena, &runs, &count);
    const struct store_run *half = rc ? NULL : newest_half(runs, count, run);
    *found = half != NULL;
    if (!half)
        return rc;
    struct restore_half what;
    describe(half, &what);
    if (begun)
        begun(options->context, &what);
    struct restore_options all = {.force = options->force && !options->path_count,
                                  .said = options->said,
                                  .context = options->context};
    char reason[512];
    rc = restore_run(store, half->id, &all, counts, reason, sizeof reason);
    if (rc)
        snprintf(why, capacity, "%s; to leave things as they are: cordon runs --drop %s", reason,
                 half->id);
    if (rc == 0 && !(counts->conflicts + counts->failed))
        drop_attempts(store, runs, count, half, counts);
    return rc;
}

int restore_finish(fs_file store, const char *run, const struct restore_options *options,
                   void (*begun)(void *context, const struct restore_half *half),
                   struct restore_counts *counts, char *why, size_t capacity)
{
    bool found = true;
    int rc = 0;
    *counts = (struct restore_counts){0};
    for (int i = 0; i < MOST_HALVES && found && rc == 0 && !(counts->conflicts + counts->failed);
         i++)
        rc = finish_one(store, run, options, begun, counts, &found, why, capacity);
    return rc;
}
