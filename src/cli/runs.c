/* SPDX-License-Identifier: Apache-2.0 */
/* cordon runs: lists the runs with --undo that are kept, and drops them. */
#include <time.h>

#include "cli/journals.h"
#include "lib/run.h"
#include "report/collect.h"
#include "report/summary.h"

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
    struct cli_words words = {.count = 0};
    const struct cli_option own[] = {{.name = "json", .flag = &json},
                                     {.name = "drop", .value = &gone},
                                     {.name = "help", .flag = &help}};
    int code = cli_take_words(args, own, sizeof own / sizeof *own, &words);
    if (code || help)
        return code ? code : cli_help("runs");
    if (words.count)
        return print_failure("runs takes no words; leave out %s", words.items[0]);
    fs_file store = cli_open_store(&code);
    if (store < 0)
        return code;
    code = gone ? drop(store, gone) : list_runs(store, json);
    if (gone && json && code == 0)
        tell_dropped(gone);
    fs_close(store);
    return code;
}
