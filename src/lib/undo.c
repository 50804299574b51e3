/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/undo.h"

#include <stdio.h>

#include "lib/changes.h"
#include "undo/ends.h"
#include "undo/restore.h"

static uint64_t limit_of(const struct run_options *o)
{
    return o->undo_limit ? o->undo_limit : RUN_UNDO_LIMIT;
}

/* The limit of this run is no reason to drop the journals of others. */
static void prune(struct run *run, fs_file store, const char *id, struct summary_changes *c)
{
    uint64_t limit = limit_of(run->options);
    struct store_pruned pruned;
    store_prune(store,
                &(struct store_limits){limit > RUN_UNDO_LIMIT ? limit : RUN_UNDO_LIMIT, limit, id},
                &pruned);
    c->dropped = pruned.count;
    c->dropped_others = pruned.others;
    snprintf(c->dropped_root, sizeof c->dropped_root, "%s", pruned.root);
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
                                   .strict = strcmp(o->undo, "strict") == 0,
                                   .waits = true};
    int rc = keep_open(&options, out, why, sizeof why);
    return rc ? api_fail(run->policy, rc, why) : 0;
}

enum { MOST_NAMED = 2000 /* changes in the audit; the others are in its counts */ };

/* Names one change in the audit, if one is written. */
static void tell_change(struct run *run, const struct undo_model *m, const struct undo_change *c)
{
    static const enum audit_op ops[UNDO_KINDS] = {AUDIT_NO_OP, AUDIT_FILE_CREATE, AUDIT_FILE_WRITE,
                                                  AUDIT_FILE_DELETE, AUDIT_FILE_RENAME};
    const struct summary_changes *counts = &run->result->changes;
    auto_buf struct buf path = {0}, from = {0};
    if ((run->audit_file == MACHINE_NO_FILE && !run->options->event) ||
        counts->created + counts->modified + counts->deleted + counts->renamed > MOST_NAMED)
        return;
    buf_fmt(&path, "%.*s/%.*s", STR_ARG(m->head.roots[c->root].path), STR_ARG(c->path));
    if (c->kind == UNDO_RENAMED)
        buf_fmt(&from, "%.*s/%.*s", STR_ARG(m->head.roots[c->root].path), STR_ARG(c->from));
    /* As for other renames, the new name comes second. */
    bool moved = from.n > 0;
    audit_add(run->audit, &(struct audit_event){.type = AUDIT_CHANGE,
                                                .op = ops[c->kind],
                                                .time = machine_now_ms(),
                                                .target = buf_str(moved ? &from : &path),
                                                .target2 = moved ? buf_str(&path) : STR_NONE});
}

/* Counts what really changed, and notes how the run left it. */
static int count_changes(struct run *run, fs_file store, const char *id,
                         struct summary_changes *out, bool *any)
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
        rc = restore_open_roots(&j.model, roots, why, sizeof why);
    if (rc)
        return rc;
    rc = undo_model_changes(&j.model, &changes, &count);
    struct restore_spot spot = {.parent = -1};
    struct ends_writer ends;
    ends_begin(&ends);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        const struct undo_change *c = &changes[i];
        bool found =
            c->after && restore_find_next(&j.model.head, roots, c->root, c->path, &spot) == 0;
        bool same = found && !restore_differs_at(&j, c, &spot);
        if (!same) {
            ++*places[c->kind];
            tell_change(run, &j.model, c);
        }
        if (found)
            ends_add(&ends, &j, c->after, &spot, same);
    }
    restore_leave(&spot);
    ends_finish(&ends, &j);
    *any = out->created || out->modified || out->deleted || out->renamed || restore_any(&j, roots);
    restore_close_roots(&j.model.head, roots);
    return rc;
}

/* Whether this run is the one that cordon undo takes in the current folder, and none is taken above
   its roots, where a person may go before typing it. */
static bool is_found_here(fs_file store, const struct policy_settings *s, const char *run)
{
    struct changes_choice choice;
    char why[256];
    bool found = changes_choose(store, NULL, NULL, false, &choice, why, sizeof why) == 0 &&
                 strcmp(choice.run.id, run) == 0;
    for (size_t i = 0; i < s->roots.count && found; i++) {
        auto_buf struct buf above = {0};
        buf_fmt(&above, "%.*s/..", STR_ARG(s->roots.items[i].path));
        found = changes_choose(store, NULL, buf_cstr(&above), true, &choice, why, sizeof why) != 0;
    }
    return found;
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
    int rc = count_changes(run, store, c->run, c, &any);
    bool nothing = rc == 0 && whole && !c->lost && !any;
    bool noted = store_note_empty(store, c->run, !nothing);
    prune(run, store, c->run, c);
    if (nothing && (noted || store_drop(store, c->run)))
        c->run[0] = '\0';
    c->here = is_found_here(store, policy_settings_of(run->policy->policy), c->run);
    fs_close(store);
    keep_close(journal, false);
}
