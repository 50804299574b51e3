/* SPDX-License-Identifier: Apache-2.0 */
/* cordon changes: what a run with --undo changed. */
#include "cli/journals.h"
#include "report/collect.h"
#include "undo/restore.h"

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
                        const struct cli_words *only, const char *id)
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
        return print_failure("\"%s\" is neither a run nor a path that run %s changed",
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
    struct cli_words words = {.count = 0};
    auto_arena struct arena arena = {0};
    const struct cli_option own[] = {{.name = "json", .flag = &json},
                                     {.name = "diff", .flag = &diff},
                                     {.name = "help", .flag = &help}};
    struct changes_choice choice;
    char why[512];
    int code = cli_take_words(args, own, sizeof own / sizeof *own, &words);
    if (code || help)
        return code ? code : cli_help("changes");
    fs_file store = cli_open_store(&code);
    if (store < 0)
        return code;
    auto_store_journal struct store_journal j = {
        .folder = -1, .pack = -1, .objects = -1, .lock = -1};
    struct showing s = {.diff = diff, .json = json};
    fs_file roots[UNDO_MOST_ROOTS];
    if (cli_choose_run(store, &arena, &words, true, &choice, &code)) {
        if (store_read(store, choice.run.id, &j, why, sizeof why) ||
            restore_open_roots(&j.model, roots, why, sizeof why))
            code = print_failure("%s", why);
        else {
            code = show_changes(&s, &j, roots, &words, choice.run.id);
            if (code == 0 && !json) {
                cli_tell_cut_off(choice.run.id, j.cut_off);
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
