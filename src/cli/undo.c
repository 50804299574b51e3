/* SPDX-License-Identifier: Apache-2.0 */
/* cordon undo: takes back what runs with --undo changed. */
#include "cli/journals.h"
#include "lib/run.h"
#include "report/collect.h"
#include "report/summary.h"

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
    bool no_halves; /* no undo was killed, as somebody looked already */
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

/* undo: the journal of what was restored over; "": nothing was. */
static void close_half(struct telling *t, const char *undo)
{
    if (t->json && t->half) {
        json_close(t->w, ']');
        if (undo[0])
            json_put(t->w, STR("undo"), str_of(undo));
        json_close(t->w, '}');
    }
    t->half = false;
}

static void begin_half(void *context, const struct restore_half *half)
{
    struct telling *t = context;
    close_half(t, "");
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
    if (q->no_halves)
        return 0;
    if (q->restore.dry)
        return plan_half(store, id, &q->telling);
    int rc = restore_finish(store, id, &q->restore, begin_half, &counts, why, sizeof why);
    close_half(&q->telling, rc ? "" : counts.run);
    if (rc)
        return print_failure("%s", why);
    fs_file run = store_open_run(store, id);
    *gone = run < 0;
    fs_close(run);
    if (!(counts.conflicts + counts.failed)) {
        if (counts.run[0] && !q->telling.json)
            print_error("what this restored over is kept; to bring a file back: cordon undo "
                        "--force %s FILE",
                        counts.run);
        return 0;
    }
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
    cli_tell_cut_off(id, counts.cut_off && !q->telling.json);
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
    q->no_halves = true;
    for (size_t i = 0; i < count; i++)
        q->no_halves = q->no_halves && !runs[i].half;
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
    struct cli_words words = {.count = 0};
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
    int code = cli_take_words(args, own, sizeof own / sizeof *own, &words);
    if (code || help)
        return code ? code : cli_help("undo");
    if (to && !session)
        return print_failure("--to belongs to --session");
    if (session && words.count)
        return print_failure("--session takes back whole runs; leave out %s", words.items[0]);
    fs_file store = cli_open_store(&code);
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
    else if (cli_choose_run(store, &arena, &words, false, &choice, &code)) {
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
