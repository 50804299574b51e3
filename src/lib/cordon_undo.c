/* SPDX-License-Identifier: Apache-2.0 */
/* cordon_changes, cordon_undo, cordon_runs: the journals of runs, for other programs. */
#include <stdio.h>

#include "lib/changes.h"
#include "lib/run.h"

enum { LONGEST_WHY = 512 };

/* The state of one call. */
struct undo_call {
    char why[LONGEST_WHY];
    fs_file store;
    struct changes_choice choice;
    struct arena arena;
    cordon_event *each;
    void *context;
    bool failed; /* out of memory for a line */
};

static int begin(struct undo_call *t, cordon_event *each, void *context)
{
    *t = (struct undo_call){.store = -1, .each = each, .context = context};
    t->store = changes_open_store(t->why, sizeof t->why);
    return t->store < 0 ? CORDON_E_OPEN : 0;
}

static int choose(struct undo_call *t, const char *run, const char *folder, bool shows)
{
    return changes_choose(t->store, run, folder, shows, &t->choice, t->why, sizeof t->why);
}

static int end(struct undo_call *t, int rc, char *why, size_t capacity)
{
    if (rc == 0 && t->failed)
        rc = CORDON_E_NOMEM;
    if (rc == CORDON_E_NOMEM)
        snprintf(t->why, sizeof t->why, "out of memory");
    if (why && capacity)
        snprintf(why, capacity, "%s", rc < 0 ? t->why : "");
    fs_close(t->store);
    arena_free(&t->arena);
    return rc;
}

static bool pass_on(struct undo_call *t, struct buf *line)
{
    const char *text = buf_cstr(line);
    t->failed = t->failed || line->failed || !text[0];
    if (!t->failed && t->each)
        t->each(t->context, text);
    return !t->failed;
}

/* ---- changes ---- */

static bool each_change(void *context, const struct changes_item *item)
{
    auto_buf struct buf line = {0};
    struct json_writer w = {.out = &line};
    changes_json(item, &w);
    return pass_on(context, &line);
}

int cordon_changes(const char *run, const char *folder, unsigned flags, cordon_event *each,
                   void *context, char *why, size_t capacity)
{
    auto_store_journal struct store_journal j = {
        .folder = -1, .pack = -1, .objects = -1, .lock = -1};
    fs_file roots[UNDO_MOST_ROOTS];
    uint64_t counts[UNDO_KINDS] = {0};
    struct undo_call t;
    int rc = begin(&t, each, context);
    struct changes_query q = {
        .diff = (flags & CORDON_DIFF) != 0, .each = each_change, .context = &t};
    if (rc == 0)
        rc = choose(&t, run, folder, true);
    if (rc == 0)
        rc = store_read(t.store, t.choice.run.id, &j, t.why, sizeof t.why);
    if (rc == 0)
        rc = restore_open_roots(&j.model, roots, t.why, sizeof t.why);
    if (rc == 0) {
        rc = changes_each(&j, roots, &q, counts);
        restore_close_roots(&j.model.head, roots);
    }
    return end(&t, rc, why, capacity);
}

/* ---- undo ---- */

static void each_restored(void *context, const struct restore_item *item)
{
    auto_buf struct buf line = {0};
    struct json_writer w = {.out = &line};
    changes_restored_json(item, false, &w);
    pass_on(context, &line);
}

static void each_planned(void *context, const struct restore_item *item)
{
    auto_buf struct buf line = {0};
    struct json_writer w = {.out = &line};
    changes_restored_json(item, true, &w);
    pass_on(context, &line);
}

static void each_left(void *context, const struct restore_item *item)
{
    if (item->result == RESTORE_CONFLICT || item->result == RESTORE_FAILED)
        each_restored(context, item);
}

/* Takes back what an undo did that was killed. True if there is still something to do. */
static bool finish(struct undo_call *t, const struct restore_options *options,
                   struct restore_counts *counts, int *rc)
{
    struct restore_options o = *options;
    o.said = each_left;
    *rc = restore_finish(t->store, t->choice.run.id, &o, NULL, counts, t->why, sizeof t->why);
    fs_file run = store_open_run(t->store, t->choice.run.id);
    bool there = run >= 0;
    fs_close(run);
    return *rc == 0 && there && !(counts->conflicts + counts->failed);
}

int cordon_undo(const char *run, const char *folder, size_t count, const char *const *paths,
                unsigned flags, cordon_event *each, void *context, char *why, size_t capacity)
{
    struct restore_counts counts = {0};
    const char **list = NULL;
    struct undo_call t;
    int rc = begin(&t, each, context);
    if (rc == 0)
        rc = choose(&t, run, folder, false);
    if (rc == 0 && !(list = changes_paths(&t.arena, t.choice.folder, paths, count)))
        rc = CORDON_E_NOMEM;
    struct restore_options o = {.paths = list,
                                .given = paths,
                                .path_count = count,
                                .force = (flags & CORDON_FORCE) != 0,
                                .dry = (flags & CORDON_DRY_RUN) != 0,
                                .said = flags & CORDON_DRY_RUN ? each_planned : each_restored,
                                .context = &t};
    if (rc == 0 && (!t.choice.run.empty || count) && (o.dry || finish(&t, &o, &counts, &rc)))
        rc = restore_run(t.store, t.choice.run.id, &o, &counts, t.why, sizeof t.why);
    if (rc == 0 && !o.dry)
        store_prune(t.store, &(struct store_limits){.all = RUN_UNDO_LIMIT}, NULL);
    if (rc == 0 && counts.conflicts + counts.failed)
        rc = 1;
    return end(&t, rc, why, capacity);
}

/* ---- runs ---- */

int cordon_runs(cordon_event *each, void *context, char *why, size_t capacity)
{
    struct store_run *runs;
    size_t count = 0;
    struct undo_call t;
    int rc = begin(&t, each, context);
    if (rc == 0)
        restore_tidy(t.store);
    if (rc == 0 && (rc = store_list(t.store, &t.arena, &runs, &count)))
        snprintf(t.why, sizeof t.why, "cannot read the folder of journals");
    for (size_t i = 0; rc == 0 && i < count && !t.failed; i++) {
        auto_buf struct buf line = {0};
        struct json_writer w = {.out = &line};
        if (runs[i].empty)
            continue;
        changes_run_json(&runs[i], &w);
        pass_on(&t, &line);
    }
    return end(&t, rc, why, capacity);
}

int cordon_runs_drop(const char *run, char *why, size_t capacity)
{
    struct undo_call t;
    int rc = begin(&t, NULL, NULL);
    if (rc == 0 && !(store_is_id(run) && store_drop(t.store, run))) {
        rc = CORDON_E_UNKNOWN;
        snprintf(t.why, sizeof t.why,
                 "run %.60s was not dropped: there is no such run, or it has not ended", run);
    }
    return end(&t, rc, why, capacity);
}
