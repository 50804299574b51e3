/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/undo.h"

#include <stdio.h>

#include "lib/changes.h"
#include "undo/restore.h"

static uint64_t limit_of(const struct run_options *o)
{
    return o->undo_limit ? o->undo_limit : (uint64_t)RUN_UNDO_LIMIT_GIB << 30;
}

int run_undo_begin(struct run *run, bool confined, bool inside, struct arena *arena,
                   struct keep **out)
{
    const struct run_options *o = run->options;
    const struct policy_settings *s = policy_settings_of(run->policy->policy);
    char why[512] = "out of memory";
    auto_buf struct buf command = {0};
    if (!confined || inside)
        return api_fail(run->policy, CORDON_E_CONFLICT,
                        inside ? "--undo: this runs inside another run of Cordon; give --undo to "
                                 "that one"
                               : "--undo and --mode full-access contradict each other: nothing "
                                 "sees the changes then");
    const char **roots = ARENA_ARRAY(arena, s->roots.count + 1, const char *);
    for (size_t i = 0; roots && i < s->roots.count; i++) {
        char *path = (char *)arena_copy(arena, s->roots.items[i].path).p;
        if (!path)
            return api_fail(run->policy, CORDON_E_NOMEM, why);
        fs_use_slashes(path);
        roots[i] = path;
    }
    for (size_t i = 0; i < o->argc; i++)
        buf_fmt(&command, "%s%s", i ? " " : "", o->argv[i]);
    struct str session = arena_copy(arena, s->session);
    if (!roots || !session.p)
        return api_fail(run->policy, CORDON_E_NOMEM, why);
    struct keep_options options = {.roots = roots,
                                   .root_count = s->roots.count,
                                   .session = session.p,
                                   .command = buf_cstr(&command),
                                   .undoes = "",
                                   .limit = limit_of(o),
                                   .strict = strcmp(o->undo, "strict") == 0};
    int rc = keep_open(&options, out, why, sizeof why);
    return rc ? api_fail(run->policy, rc, why) : 0;
}

/* Counts what really changed. */
static int count_changes(fs_file store, const char *id, struct summary_changes *out, bool *any)
{
    auto_store_journal struct store_journal j = {
        .folder = -1, .pack = -1, .objects = -1, .lock = -1};
    fs_file roots[UNDO_MOST_ROOTS];
    struct undo_change *changes;
    char why[256];
    size_t count;
    uint64_t *const places[UNDO_KINDS] = {NULL, &out->created, &out->modified, &out->deleted,
                                          &out->renamed};
    int rc = store_read(store, id, &j, why, sizeof why);
    if (rc == 0)
        rc = restore_open_roots(&j.model.head, roots, why, sizeof why);
    if (rc)
        return rc;
    rc = undo_model_changes(&j.model, &changes, &count);
    for (size_t i = 0; rc == 0 && i < count; i++)
        if (restore_differs(&j, roots, &changes[i]))
            ++*places[changes[i].kind];
    *any = out->created || out->modified || out->deleted || out->renamed || restore_any(&j, roots);
    restore_close_roots(&j.model.head, roots);
    return rc;
}

/* Whether this run is the one that cordon undo takes in the current folder. */
static bool is_found_here(fs_file store, const char *run)
{
    struct changes_choice choice;
    char why[256];
    return changes_choose(store, NULL, NULL, &choice, why, sizeof why) == 0 &&
           strcmp(choice.id, run) == 0;
}

void run_undo_finish(struct run *run, struct keep *journal)
{
    struct summary_changes *c = &run->result->changes;
    char why[256];
    bool whole = keep_end(journal);
    const char *reason = keep_lost(journal, &c->lost);
    snprintf(c->run, sizeof c->run, "%s", keep_run(journal));
    snprintf(c->why, sizeof c->why, "%s",
             reason  ? reason
             : whole ? ""
                     : "the journal could not be written");
    fs_file store = store_open(false, why, sizeof why);
    keep_release(journal);
    if (store < 0) {
        keep_close(journal, false);
        return;
    }
    bool any = true;
    int rc = count_changes(store, c->run, c, &any);
    if (rc == 0 && whole && !c->lost && !any && store_drop(store, c->run))
        c->run[0] = '\0';
    store_prune(store, limit_of(run->options), c->run);
    c->here = is_found_here(store, c->run);
    fs_close(store);
    keep_close(journal, false);
}
