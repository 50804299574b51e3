/* SPDX-License-Identifier: Apache-2.0 */
/* The report for a terminal, and as JSON for programs. */
#include "audit/jsonl.h"
#include "report/answers.h"
#include "report/tree.h"

enum { SHOWN_TARGETS = 10, SHOWN_FILES = 20, SHOWN_PROCESSES = 40, DEEPEST = 20, SHOWN_JSON = 200 };

static void line(struct buf *out, const char *name, uint64_t n)
{
    buf_fmt(out, "  %-18s ", name);
    report_number(out, n);
    buf_char(out, '\n');
}

static void more(struct buf *out, uint64_t n)
{
    if (!n)
        return;
    buf_add(out, STR("    \xE2\x80\xA6 and "));
    report_number(out, n);
    buf_add(out, STR(" more\n"));
}

static void text_rule(const struct report *r, const struct report_tally *rule, struct buf *out)
{
    size_t shown[SHOWN_TARGETS];
    size_t n = report_of_rule(r, rule, shown, SHOWN_TARGETS);
    uint64_t listed = 0;
    buf_add(out, STR("  "));
    report_clean(out, rule->rule);
    buf_add(out, STR(": "));
    report_number(out, rule->count);
    buf_char(out, '\n');
    for (size_t i = 0; i < n; i++) {
        const struct report_tally *t = &r->denials.items[shown[i]];
        listed += t->count;
        buf_add(out, STR("    "));
        report_clean(out, t->op);
        buf_char(out, ' ');
        report_clean(out, t->target);
        if (t->target2.n) {
            buf_add(out, STR(" to "));
            report_clean(out, t->target2);
        }
        if (t->count > 1)
            buf_fmt(out, " (%llu times)", (unsigned long long)t->count);
        buf_char(out, '\n');
        if (t->fix.n) {
            buf_add(out, str_starts(t->fix, STR("--")) ? STR("      allow with ") : STR("      "));
            report_clean(out, t->fix);
            buf_char(out, '\n');
        }
    }
    more(out, rule->count > listed ? rule->count - listed : 0);
}

static void text_rules(const struct report *r, const char *title, bool ask, struct buf *out)
{
    for (size_t i = 0; i < r->rules.count; i++)
        if (r->rules.items[i].ask == ask) {
            buf_add(out, str_of(title));
            title = "";
            text_rule(r, &r->rules.items[i], out);
        }
}

static void text_process(const struct report_process *p, struct buf *out, unsigned depth)
{
    buf_add(out, STR("  "));
    buf_fill(out, ' ', 2 * (size_t)(depth < DEEPEST ? depth : DEEPEST));
    report_clean(out, p->cmdline.n ? p->cmdline : p->image);
    buf_add(out, STR("  (from "));
    report_duration(out, p->start);
    if (p->ended) {
        buf_add(out, STR(", for "));
        report_duration(out, p->end - p->start);
        buf_fmt(out, ", exit code %lld", p->code);
    }
    buf_add(out, STR(")\n"));
}

/* Each program with those that it started below it. */
static void text_children(const struct report *r, struct buf *out, size_t first, unsigned depth,
                          size_t *left)
{
    for (size_t i = first; i && *left; i = r->processes[i - 1].next) {
        text_process(&r->processes[i - 1], out, depth);
        (*left)--;
        text_children(r, out, r->processes[i - 1].first, depth + 1, left);
    }
}

static void text_processes(const struct report *r, struct buf *out)
{
    size_t left = SHOWN_PROCESSES;
    if (r->process_count)
        buf_add(out, STR("\nPrograms\n"));
    for (size_t i = 0; i < r->run_count; i++)
        text_children(r, out, r->runs[i].first, 0, &left);
    uint64_t hidden = r->process_count > SHOWN_PROCESSES ? r->process_count - SHOWN_PROCESSES : 0;
    more(out, hidden + r->processes_left_out);
}

void report_text(const struct report *r, struct str source, struct buf *out)
{
    report_clean(out, source);
    buf_char(out, '\n');
    line(out, "denied", r->totals[REPORT_DENY]);
    if (r->quiet)
        line(out, "known harmless", r->quiet);
    line(out, "for a person", r->totals[REPORT_ASK]);
    line(out, "allowed (listed)", r->totals[REPORT_ALLOW]);
    line(out, "programs started", r->spawned);
    line(out, "runs", r->run_count + r->runs_left_out);
    line(out, "events", r->events - r->malformed);
    if (r->malformed)
        line(out, "unreadable lines", r->malformed);
    if (r->cut)
        buf_add(out, STR("  the last line is cut: the run may have been killed\n"));
    for (size_t i = 0; i < r->run_count; i++) {
        const struct report_run *run = &r->runs[i];
        buf_fmt(out, "\nRun %u: ", (unsigned)i + 1);
        struct str command = report_command(r, run);
        report_clean(out, command);
        if (command.n)
            buf_add(out, STR("\n  "));
        if (run->start)
            audit_spell_time(out, run->start);
        if (run->ended) {
            buf_fmt(out, ", exit code %lld after ", run->exit);
            report_duration(out, run->duration_ms);
        } else {
            buf_add(out, STR(", no end was written"));
        }
        buf_add(out, STR("\n  "));
        report_clean(out, run->mode);
        buf_add(out, STR(", network "));
        report_clean(out, run->net);
        buf_add(out, STR(", "));
        report_clean(out, run->roots);
        buf_char(out, '\n');
    }
    text_rules(r, "\nDenied, by rule\n", false, out);
    text_rules(r, "\nFor a person to look at, by rule\n", true, out);
    answers_text(r, out);
    tree_text(r, out);
    text_processes(r, out);
    if (r->files.count)
        buf_add(out, STR("\nFiles changed\n"));
    uint64_t hidden = r->files.left_out;
    for (size_t i = 0; i < r->files.count; i++) {
        if (i >= SHOWN_FILES) {
            hidden += r->files.items[i].count;
            continue;
        }
        buf_add(out, STR("    "));
        report_clean(out, r->files.items[i].op);
        buf_char(out, ' ');
        report_clean(out, r->files.items[i].target);
        buf_char(out, '\n');
    }
    more(out, hidden);
}

/* ---- JSON ---- */

static void put_number(struct json_writer *w, const char *key, uint64_t n)
{
    json_put_number(w, str_of(key), (long long)n);
}

static void json_tally(struct json_writer *w, const struct report_tally *t)
{
    json_open(w, '{');
    json_put(w, STR("op"), t->op);
    json_put(w, STR("target"), t->target);
    if (t->target2.n)
        json_put(w, STR("target2"), t->target2);
    if (t->fix.n)
        json_put(w, STR("fix"), t->fix);
    put_number(w, "count", t->count);
    json_close(w, '}');
}

static void json_runs(const struct report *r, struct json_writer *w)
{
    json_key(w, STR("runs"));
    json_open(w, '[');
    for (size_t i = 0; i < r->run_count; i++) {
        const struct report_run *run = &r->runs[i];
        auto_buf struct buf time = {0};
        audit_spell_time(&time, run->start);
        json_open(w, '{');
        json_put(w, STR("run"), run->id);
        if (run->start)
            json_put(w, STR("time"), buf_str(&time));
        json_put(w, STR("mode"), run->mode);
        json_put(w, STR("net"), run->net);
        json_put(w, STR("boundary"), run->boundary);
        json_put_bool(w, STR("ended"), run->ended);
        if (run->ended) {
            json_put_number(w, STR("exit"), run->exit);
            put_number(w, "duration_ms", run->duration_ms);
            put_number(w, "denied", run->denied);
        }
        json_close(w, '}');
    }
    json_close(w, ']');
}

static void json_processes(const struct report *r, struct json_writer *w)
{
    json_key(w, STR("processes"));
    json_open(w, '[');
    for (size_t i = 0; i < r->process_count; i++) {
        const struct report_process *p = &r->processes[i];
        json_open(w, '{');
        json_put(w, STR("run"), r->runs[p->run].id);
        put_number(w, "pid", p->pid);
        if (p->parent)
            put_number(w, "ppid", r->processes[p->parent - 1].pid);
        json_put(w, STR("image"), p->image);
        if (p->cmdline.n)
            json_put(w, STR("cmdline"), p->cmdline);
        put_number(w, "start_ms", p->start);
        if (p->ended) {
            put_number(w, "duration_ms", p->end - p->start);
            json_put_number(w, STR("code"), p->code);
        }
        put_number(w, "denied", p->denied);
        json_close(w, '}');
    }
    json_close(w, ']');
}

void report_json(const struct report *r, struct str source, struct buf *out)
{
    struct json_writer w = {.out = out};
    json_open(&w, '{');
    json_put(&w, STR("source"), source);
    put_number(&w, "events", r->events - r->malformed);
    put_number(&w, "malformed", r->malformed);
    json_put_bool(&w, STR("cut"), r->cut);
    put_number(&w, "denied", r->totals[REPORT_DENY]);
    put_number(&w, "quiet", r->quiet);
    put_number(&w, "asked", r->totals[REPORT_ASK]);
    put_number(&w, "allowed", r->totals[REPORT_ALLOW]);
    put_number(&w, "spawned", r->spawned);
    json_runs(r, &w);
    json_key(&w, STR("rules"));
    json_open(&w, '[');
    for (size_t i = 0; i < r->rules.count; i++) {
        const struct report_tally *rule = &r->rules.items[i];
        size_t shown[SHOWN_JSON], n = report_of_rule(r, rule, shown, SHOWN_JSON);
        json_open(&w, '{');
        json_put(&w, STR("rule"), rule->rule);
        put_number(&w, "count", rule->count);
        json_put(&w, STR("verdict"), rule->ask ? STR("ask") : STR("deny"));
        json_key(&w, STR("denials"));
        json_open(&w, '[');
        for (size_t j = 0; j < n; j++)
            json_tally(&w, &r->denials.items[shown[j]]);
        json_close(&w, ']');
        json_close(&w, '}');
    }
    json_close(&w, ']');
    answers_json(r, &w);
    tree_json(r, &w);
    json_processes(r, &w);
    json_key(&w, STR("files"));
    json_open(&w, '[');
    for (size_t i = 0; i < r->files.count && i < SHOWN_JSON; i++)
        json_tally(&w, &r->files.items[i]);
    json_close(&w, ']');
    json_close(&w, '}');
    buf_char(out, '\n');
}
