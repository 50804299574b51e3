/* SPDX-License-Identifier: Apache-2.0 */
/* cordon changes, undo and runs: what runs with --undo changed, and taking it back. */
#include <time.h>

#include "cli/cli.h"
#include "lib/changes.h"
#include "lib/run.h"
#include "report/collect.h"
#include "report/summary.h"

enum { MOST_WORDS = 1024 };

struct words {
    const char *items[MOST_WORDS];
    const char **paths; /* the same, absolute */
    size_t count;
};

/* Options and words in any order. */
static int take_all(struct arguments *args, const struct cli_option *own, size_t own_count,
                    struct words *words)
{
    bool dashes = false;
    while (args->next < args->count) {
        int rc = dashes ? 0 : options_take(args, own, own_count, NULL, &dashes);
        if (rc)
            return rc;
        if (args->next < args->count) {
            if (words->count == MOST_WORDS)
                return print_failure("more than %d words", MOST_WORDS);
            words->items[words->count++] = args->items[args->next++];
        }
    }
    return 0;
}

/* Opens the store; negative after a message. */
static fs_file open_store(int *code)
{
    char why[512];
    fs_file store = changes_open_store(why, sizeof why);
    if (store < 0)
        *code = print_failure("%s", why);
    return store;
}

/* Takes the run's id out of the words, if it comes first, finds the run that is meant, and makes
   the other words absolute. */
static bool choose(fs_file store, struct arena *arena, struct words *words, bool shows,
                   struct changes_choice *choice, int *code)
{
    char why[512];
    const char *wanted = NULL;
    if (words->count && store_is_id(words->items[0])) {
        wanted = words->items[0];
        memmove(words->items, words->items + 1, --words->count * sizeof *words->items);
    }
    if (changes_choose(store, wanted, NULL, shows, choice, why, sizeof why)) {
        *code = print_failure("%s", why);
        return false;
    }
    words->paths = changes_paths(arena, choice->folder, words->items, words->count);
    if (!words->paths)
        *code = print_failure("out of memory");
    return words->paths != NULL;
}

static void tell_cut_off(const char *id, bool cut_off)
{
    if (!cut_off)
        return;
    fflush(stdout);
    print_error("run %s was not ended: cordon was killed during it", id);
}

/* ---- changes ---- */

struct showing {
    bool diff, json;
    struct json_writer w;
    struct buf out;
};

static void add_side(struct buf *out, const char *mark, const char *folder, const char *missing,
                     struct str path, bool there)
{
    buf_fmt(out, "%s %s", mark, there ? folder : missing);
    if (there)
        report_clean(out, path);
    buf_char(out, '\n');
}

static void show_diff(const struct changes_item *item, struct buf *out)
{
    const struct undo_change *c = item->change;
    if (item->folder || !item->altered)
        return;
    add_side(out, "---", "a/", "/dev/null", c->kind == UNDO_RENAMED ? c->from : c->path,
             c->kind != UNDO_CREATED);
    add_side(out, "+++", "b/", "/dev/null", c->path, c->kind != UNDO_DELETED);
    if (item->since.n)
        buf_fmt(out, "(%.*s since the run)\n", STR_ARG(item->since));
    else if (item->counted && cli_is_terminal(stdout))
        report_clean_lines(out, item->diff);
    else if (item->counted)
        buf_add(out, item->diff);
    else
        buf_add(out, STR("(no text, too large, or not kept)\n"));
}

static void show_line(const struct changes_item *item, struct buf *out)
{
    const struct undo_change *c = item->change;
    buf_fmt(out, "%-9s ", undo_kind_word(c->kind));
    if (c->root) {
        report_clean(out, item->root);
        buf_char(out, '/');
    }
    report_clean(out, c->path);
    if (item->folder)
        buf_char(out, '/');
    if (c->kind == UNDO_RENAMED) {
        buf_add(out, STR(" (was "));
        report_clean(out, c->from);
        buf_char(out, ')');
    }
    if (item->counted)
        buf_fmt(out, " +%zu -%zu", item->added, item->removed);
    else if (item->has_size && item->regular && item->altered)
        buf_fmt(out, " %llu %s", (unsigned long long)item->size,
                item->size == 1 ? "byte" : "bytes");
    if (item->mode[0])
        buf_fmt(out, " mode %s -> %s", item->mode_before, item->mode);
    if (item->link_before.n || item->link.n) {
        buf_add(out, item->link_before.n ? STR(" link ") : STR(" link to "));
        report_clean(out, item->link_before);
        if (item->link_before.n && item->link.n)
            buf_add(out, STR(" -> "));
        report_clean(out, item->link);
    }
    if (item->since.n)
        buf_fmt(out, " (%.*s since the run)", STR_ARG(item->since));
    if (item->lost.n)
        buf_fmt(out, " (cannot be taken back: %.*s)", STR_ARG(item->lost));
    buf_char(out, '\n');
}

static bool show_change(void *context, const struct changes_item *item)
{
    struct showing *s = context;
    if (s->json) {
        changes_json(item, &s->w);
        return true;
    }
    if (s->diff)
        show_diff(item, &s->out);
    else
        show_line(item, &s->out);
    bool good = !s->out.failed && print_out(buf_str(&s->out));
    buf_reset(&s->out);
    s->out.failed = !good;
    return good;
}

static void begin_json(struct json_writer *w, const struct store_journal *j, const char *id)
{
    const struct undo_head *h = &j->model.head;
    json_open(w, '{');
    json_put(w, STR("run"), str_of(id));
    json_put(w, STR("command"), h->command);
    json_put_number(w, STR("time"), (long long)h->time);
    json_put(w, STR("root"), h->roots[0].path);
    json_put_bool(w, STR("ended"), !j->cut_off);
    json_key(w, STR("changes"));
    json_open(w, '[');
}

static int show_changes(struct showing *s, struct store_journal *j, const fs_file *roots,
                        const struct words *only, const char *id)
{
    uint64_t counts[UNDO_KINDS] = {0};
    struct changes_query q = {.only = only->paths,
                              .only_count = only->count,
                              .diff = s->diff,
                              .each = show_change,
                              .context = s};
    size_t unknown;
    if (changes_unknown(j, &q, &unknown))
        return print_failure("out of memory");
    if (unknown < only->count)
        return print_failure("\"%s\" is no run, and run %s changed nothing of that name",
                             only->items[unknown], id);
    s->w.out = &s->out;
    if (s->json)
        begin_json(&s->w, j, id);
    if (changes_each(j, roots, &q, counts))
        return print_failure("out of memory");
    if (s->json) {
        json_close(&s->w, ']');
        for (int k = UNDO_CREATED; k < UNDO_KINDS; k++)
            json_put_number(&s->w, str_of(undo_kind_word(k)), (long long)counts[k]);
        json_close(&s->w, '}');
        buf_char(&s->out, '\n');
    } else if (!s->diff && !counts[UNDO_CREATED] && !counts[UNDO_MODIFIED] &&
               !counts[UNDO_DELETED] && !counts[UNDO_RENAMED]) {
        buf_fmt(&s->out, "no changes by run %s: ", id);
        report_clean(&s->out, j->model.head.command);
        buf_char(&s->out, '\n');
    } else if (!s->diff) {
        buf_fmt(&s->out, "%llu created, %llu modified, %llu deleted, %llu renamed by run %s: ",
                (unsigned long long)counts[UNDO_CREATED], (unsigned long long)counts[UNDO_MODIFIED],
                (unsigned long long)counts[UNDO_DELETED], (unsigned long long)counts[UNDO_RENAMED],
                id);
        report_clean(&s->out, j->model.head.command);
        buf_char(&s->out, '\n');
    }
    return !s->out.failed && print_out(buf_str(&s->out)) ? 0
                                                         : print_failure("cannot write the answer");
}

static void tell_half(fs_file store, const char *id)
{
    struct restore_half half;
    if (restore_find_half(store, id, &half) || !half.id[0])
        return;
    fflush(stdout);
    print_error("the undo %s of run %s was interrupted: the next cordon undo takes back what it "
                "did",
                half.id, half.of);
}

/* Nobody named the run, and another one might be meant. */
static void tell_other(const struct store_choice *run)
{
    fflush(stdout);
    if (run->other[0] && run->below)
        print_error("a newer run changed something below this folder: cordon changes %s",
                    run->other);
    else if (run->other[0])
        print_error("of the run before it: cordon changes %s", run->other);
}

int command_changes(struct arguments *args)
{
    bool json = false, help = false, diff = false;
    struct words words = {.count = 0};
    auto_arena struct arena arena = {0};
    const struct cli_option own[] = {{.name = "json", .flag = &json},
                                     {.name = "diff", .flag = &diff},
                                     {.name = "help", .flag = &help}};
    struct changes_choice choice;
    char why[512];
    int code = take_all(args, own, sizeof own / sizeof *own, &words);
    if (code || help)
        return code ? code : cli_help("changes");
    fs_file store = open_store(&code);
    if (store < 0)
        return code;
    auto_store_journal struct store_journal j = {
        .folder = -1, .pack = -1, .objects = -1, .lock = -1};
    struct showing s = {.diff = diff, .json = json};
    fs_file roots[UNDO_MOST_ROOTS];
    if (choose(store, &arena, &words, true, &choice, &code)) {
        if (store_read(store, choice.run.id, &j, why, sizeof why) ||
            restore_open_roots(&j.model, roots, why, sizeof why))
            code = print_failure("%s", why);
        else {
            code = show_changes(&s, &j, roots, &words, choice.run.id);
            if (code == 0 && !json) {
                tell_cut_off(choice.run.id, j.cut_off);
                tell_half(store, choice.run.id);
                tell_other(&choice.run);
            }
            restore_close_roots(&j.model.head, roots);
            buf_free(&s.out);
        }
    }
    fs_close(store);
    return code;
}

/* ---- undo ---- */

struct telling {
    bool json, dry;
    bool half; /* an undo that was killed is being taken back: only what stays is told */
    struct json_writer *w;
};

static void tell(void *context, const struct restore_item *item)
{
    static const char *const words[] = {
        [RESTORE_REMOVED] = "removed", [RESTORE_RESTORED] = "restored", [RESTORE_MOVED] = "moved"};
    static const char *const would[] = {[RESTORE_FAILED] = "would fail",
                                        [RESTORE_CONFLICT] = "would leave alone",
                                        [RESTORE_REMOVED] = "would remove",
                                        [RESTORE_RESTORED] = "would restore",
                                        [RESTORE_MOVED] = "would move"};
    struct telling *t = context;
    auto_buf struct buf line = {0};
    if (t->json) {
        changes_restored_json(item, t->dry, t->w);
        return;
    }
    bool bad = item->result == RESTORE_CONFLICT || item->result == RESTORE_FAILED;
    report_clean(&line, str_of(item->path));
    if (bad && item->from[0]) {
        buf_add(&line, STR(" (now "));
        report_clean(&line, str_of(item->from));
        buf_char(&line, ')');
    }
    if (bad && item->why[0]) {
        buf_add(&line, STR(": "));
        report_clean(&line, str_of(item->why));
    }
    if (bad) {
        print_error("%s: %s",
                    t->dry                             ? would[item->result]
                    : item->result == RESTORE_CONFLICT ? "left alone"
                                                       : "not restored",
                    buf_cstr(&line));
        return;
    }
    if (t->half)
        return;
    printf("%s ", t->dry ? would[item->result] : words[item->result]);
    if (item->from[0]) {
        auto_buf struct buf from = {0};
        report_clean(&from, str_of(item->from));
        printf("%s back to ", buf_cstr(&from));
    }
    if (item->why[0])
        buf_fmt(&line, " (%s)", item->why);
    printf("%s\n", buf_cstr(&line));
}

struct undo_request {
    struct restore_options restore;
    struct telling telling;
    uint64_t done, conflicts;
};

static void open_items(const struct telling *t, const char *id)
{
    json_open(t->w, '{');
    json_put(t->w, STR("run"), str_of(id));
    if (t->dry)
        json_put_bool(t->w, STR("dry"), true);
    if (t->half)
        json_put_bool(t->w, STR("interrupted"), true);
    json_key(t->w, STR("items"));
    json_open(t->w, '[');
}

/* ---- undos that were killed ---- */

static void close_half(struct telling *t)
{
    if (t->json && t->half) {
        json_close(t->w, ']');
        json_close(t->w, '}');
    }
    t->half = false;
}

static void begin_half(void *context, const struct restore_half *half)
{
    struct telling *t = context;
    close_half(t);
    t->half = true;
    if (t->json)
        open_items(t, half->id);
    else
        print_error("the undo %s of run %s was interrupted: what it did is taken back first",
                    half->id, half->of);
}

static int plan_half(fs_file store, const char *id, const struct telling *t)
{
    struct restore_half half;
    if (restore_find_half(store, id, &half))
        return print_failure("cannot read the folder of journals");
    if (half.id[0] && !t->json)
        print_error("the undo %s of run %s was interrupted: cordon undo takes back what it did "
                    "first, and this is said of the folder as it is",
                    half.id, half.of);
    return 0;
}

/* Before a run is taken back. *gone: it was such an undo itself, and is. */
static int finish_halves(fs_file store, const char *id, struct undo_request *q, bool *gone)
{
    struct restore_counts counts;
    struct restore_half half;
    char why[640];
    *gone = false;
    if (q->restore.dry)
        return plan_half(store, id, &q->telling);
    int rc = restore_finish(store, id, &q->restore, begin_half, &counts, why, sizeof why);
    close_half(&q->telling);
    if (rc)
        return print_failure("%s", why);
    fs_file run = store_open_run(store, id);
    *gone = run < 0;
    fs_close(run);
    if (!(counts.conflicts + counts.failed))
        return 0;
    q->conflicts += counts.conflicts + counts.failed;
    if (!q->telling.json && restore_find_half(store, id, &half) == 0 && half.id[0])
        print_error("the undo %s could not be taken back completely, and run %s waits for it; to "
                    "restore over what was changed since: cordon undo --force; to leave things "
                    "as they are: cordon runs --drop %s",
                    half.id, half.of, half.id);
    return 1;
}

/* ---- one run ---- */

/* Takes one run back; its part of the answer is one object of --json. */
static int undo_one(fs_file store, const char *id, struct undo_request *q)
{
    struct restore_counts counts;
    char why[512];
    bool gone;
    struct json_writer *w = q->telling.w;
    int rc = finish_halves(store, id, q, &gone);
    if (rc || gone)
        return rc;
    if (q->telling.json)
        open_items(&q->telling, id);
    rc = restore_run(store, id, &q->restore, &counts, why, sizeof why);
    if (q->telling.json) {
        json_close(w, ']');
        if (rc)
            json_put(w, STR("error"), str_of(why));
        json_put_number(w, STR("done"), (long long)counts.done);
        json_put_number(w, STR("conflicts"), (long long)(counts.conflicts + counts.failed));
        if (counts.cut_off)
            json_put_bool(w, STR("ended"), false);
        if (counts.run[0])
            json_put(w, STR("undo"), str_of(counts.run));
        json_close(w, '}');
    }
    if (rc)
        return print_failure("%s", why);
    q->done += counts.done;
    q->conflicts += counts.conflicts + counts.failed;
    tell_cut_off(id, counts.cut_off && !q->telling.json);
    if (!q->telling.json && !q->restore.dry) {
        fflush(stdout);
        if (counts.run[0])
            print_error("run %s: %llu restored, %llu left alone; take this back with: cordon undo "
                        "%s",
                        id, (unsigned long long)counts.done,
                        (unsigned long long)(counts.conflicts + counts.failed), counts.run);
        else if (counts.already)
            print_error("run %s: everything is as it was before the run already; to forget the "
                        "run: cordon runs --drop %s",
                        id, id);
        else
            print_error("run %s: nothing was restored", id);
        if (counts.changed)
            print_error("to restore over what was changed since: cordon undo --force %s", id);
    }
    return counts.conflicts + counts.failed ? 1 : 0;
}

/* All runs of a session, newest first, until one cannot be taken back completely. */
static int undo_session(fs_file store, const char *session, const char *to, struct undo_request *q)
{
    auto_arena struct arena arena = {0};
    struct store_run *runs;
    size_t count, found = 0;
    int code = 0;
    struct restore_assumed assumed = {.count = 0};
    if (store_list(store, &arena, &runs, &count))
        return print_failure("cannot read the folder of journals");
    q->restore.assumed = q->restore.dry ? &assumed : NULL;
    bool last = false;
    for (size_t i = 0; i < count && code == 0 && !last; i++) {
        if (!str_eq(runs[i].head.session, str_of(session)) || runs[i].undone.n || runs[i].empty ||
            !store_is_forward(runs, count, &runs[i]))
            continue;
        found++;
        code = undo_one(store, runs[i].id, q);
        last = to && strcmp(to, runs[i].id) == 0;
    }
    arena_free(&assumed.arena);
    q->restore.assumed = NULL;
    if (last)
        return code;
    if (!found)
        return print_failure("no run of session %s is left to take back", session);
    return code == 0 && to ? print_failure("run %s is not in session %s", to, session) : code;
}

/* Nobody named the run: where it would change something. */
static void tell_choice(const struct store_choice *run)
{
    auto_buf struct buf root = {0};
    report_clean(&root, str_of(run->root));
    print_error("run %s in %s", run->id, buf_cstr(&root));
}

/* The last run changed nothing. An older one is not taken in its place: a script that takes back its
   own run would lose somebody's work. */
static int undo_nothing(const struct store_choice *run, struct telling *t)
{
    if (t->json) {
        json_open(t->w, '{');
        json_put(t->w, STR("run"), str_of(run->id));
        if (t->dry)
            json_put_bool(t->w, STR("dry"), true);
        json_key(t->w, STR("items"));
        json_open(t->w, '[');
        json_close(t->w, ']');
        json_put_number(t->w, STR("done"), 0);
        json_put_number(t->w, STR("conflicts"), 0);
        if (run->other[0])
            json_put(t->w, STR("before"), str_of(run->other));
        json_close(t->w, '}');
        return 0;
    }
    if (run->other[0])
        print_error("it changed nothing, so nothing is taken back; for the run before it: cordon "
                    "undo %s",
                    run->other);
    else
        print_error("it changed nothing, so nothing is taken back");
    return 0;
}

static void prune(fs_file store, bool json)
{
    auto_buf struct buf line = {0};
    struct store_pruned pruned;
    store_prune(store, &(struct store_limits){.all = RUN_UNDO_LIMIT}, &pruned);
    summary_dropped_line(json ? 0 : pruned.count, pruned.root, pruned.others, &line);
    fwrite(line.p ? line.p : "", 1, line.n, stderr);
}

int command_undo(struct arguments *args)
{
    bool json = false, help = false;
    const char *session = NULL, *to = NULL;
    struct words words = {.count = 0};
    struct undo_request q = {.done = 0};
    auto_arena struct arena arena = {0};
    auto_buf struct buf out = {0};
    struct json_writer w = {.out = &out};
    const struct cli_option own[] = {{.name = "json", .flag = &json},
                                     {.name = "dry-run", .flag = &q.restore.dry},
                                     {.name = "force", .flag = &q.restore.force},
                                     {.name = "session", .value = &session},
                                     {.name = "to", .value = &to},
                                     {.name = "help", .flag = &help}};
    struct changes_choice choice;
    int code = take_all(args, own, sizeof own / sizeof *own, &words);
    if (code || help)
        return code ? code : cli_help("undo");
    if (to && !session)
        return print_failure("--to belongs to --session");
    if (session && words.count)
        return print_failure("--session takes back whole runs; leave out %s", words.items[0]);
    fs_file store = open_store(&code);
    if (store < 0)
        return code;
    q.telling = (struct telling){.json = json, .dry = q.restore.dry, .w = &w};
    q.restore.said = tell;
    q.restore.context = &q.telling;
    if (json) {
        json_open(&w, '{');
        json_key(&w, STR("runs"));
        json_open(&w, '[');
    }
    restore_tidy(store);
    if (session)
        code = undo_session(store, session, to, &q);
    else if (choose(store, &arena, &words, false, &choice, &code)) {
        q.restore.paths = words.paths;
        q.restore.given = words.items;
        q.restore.path_count = words.count;
        if (choice.run.root[0] && !json)
            tell_choice(&choice.run);
        code = choice.run.empty && !words.count ? undo_nothing(&choice.run, &q.telling)
                                                : undo_one(store, choice.run.id, &q);
    }
    prune(store, json);
    fs_close(store);
    if (json) {
        json_close(&w, ']');
        if (code == EXIT_FAILED)
            json_put(&w, STR("error"), str_of(print_last()));
        json_put_number(&w, STR("exit"), code);
        json_close(&w, '}');
        buf_char(&out, '\n');
        if (out.failed || !print_out(buf_str(&out)))
            return print_failure("cannot write the answer");
    }
    return code;
}

/* ---- runs ---- */

static int drop(fs_file store, const char *which)
{
    auto_arena struct arena arena = {0};
    struct store_run *runs;
    size_t count, live = 0;
    if (strcmp(which, "all") != 0)
        return store_is_id(which) && store_drop(store, which)
                   ? 0
                   : print_failure("run %s was not dropped: there is no such run, or it has not "
                                   "ended",
                                   which);
    if (store_list(store, &arena, &runs, &count))
        return print_failure("cannot read the folder of journals");
    for (size_t i = 0; i < count; i++)
        if (!store_drop(store, runs[i].id))
            live++;
    if (!live)
        fs_remove(store, ".same", false);
    if (live == 1)
        return print_failure("1 run has not ended and was not dropped");
    return live ? print_failure("%zu runs have not ended and were not dropped", live) : 0;
}

static void tell_dropped(const char *which)
{
    auto_buf struct buf out = {0};
    struct json_writer w = {.out = &out};
    json_open(&w, '{');
    json_put(&w, STR("dropped"), str_of(which));
    json_close(&w, '}');
    buf_char(&out, '\n');
    print_out(buf_str(&out));
}

static void show_run(const struct store_run *r, struct buf *out)
{
    time_t seconds = (time_t)(r->head.time / 1000);
    char when[32] = "", size[32];
    const struct tm *parts = r->head.time ? localtime(&seconds) : NULL;
    if (parts)
        strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S", parts);
    snprintf(size, sizeof size, "%llu KiB", (unsigned long long)((r->bytes + 1023) / 1024));
    buf_fmt(out, "%s  %-19s  %10s  ", r->id, when, size);
    if (r->damaged || r->other)
        buf_add(out, r->other ? STR("(written by another version)") : STR("(damaged)"));
    else
        report_clean(out, str_slice(r->head.command, 0, 60));
    if (r->head.root_count) {
        buf_add(out, STR("  in "));
        report_clean(out, r->head.roots[0].path);
    }
    if (r->live)
        buf_add(out, STR("  (running)"));
    if (r->undone.n)
        buf_fmt(out, "  (taken back by %.*s)", STR_ARG(r->undone));
    if (r->half)
        buf_add(out, STR("  (interrupted: the next cordon undo takes back what it did)"));
    buf_char(out, '\n');
}

static int list_runs(fs_file store, bool json)
{
    auto_arena struct arena arena = {0};
    auto_buf struct buf out = {0};
    struct json_writer w = {.out = &out};
    struct store_run *runs;
    size_t count, shown = 0;
    restore_tidy(store);
    if (store_list(store, &arena, &runs, &count))
        return print_failure("cannot read the folder of journals");
    if (json) {
        json_open(&w, '{');
        json_key(&w, STR("runs"));
        json_open(&w, '[');
    }
    for (size_t i = 0; i < count; i++) {
        if (runs[i].empty)
            continue;
        shown++;
        if (json)
            changes_run_json(&runs[i], &w);
        else
            show_run(&runs[i], &out);
    }
    if (json) {
        json_close(&w, ']');
        json_close(&w, '}');
        buf_char(&out, '\n');
    }
    if (!shown && !json)
        print_error("no runs with --undo are kept");
    return !out.failed && print_out(buf_str(&out)) ? 0 : print_failure("cannot write the answer");
}

int command_runs(struct arguments *args)
{
    bool json = false, help = false;
    const char *gone = NULL;
    struct words words = {.count = 0};
    const struct cli_option own[] = {{.name = "json", .flag = &json},
                                     {.name = "drop", .value = &gone},
                                     {.name = "help", .flag = &help}};
    int code = take_all(args, own, sizeof own / sizeof *own, &words);
    if (code || help)
        return code ? code : cli_help("runs");
    if (words.count)
        return print_failure("runs takes no words; leave out %s", words.items[0]);
    fs_file store = open_store(&code);
    if (store < 0)
        return code;
    code = gone ? drop(store, gone) : list_runs(store, json);
    if (gone && json && code == 0)
        tell_dropped(gone);
    fs_close(store);
    return code;
}
