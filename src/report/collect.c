/* SPDX-License-Identifier: Apache-2.0 */
/* Adds up an audit. Values come from confined programs: nothing is trusted. */
#include "report/collect.h"

#include <stdlib.h>

#include "cordon.h"
#include "report/answers.h"
#include "report/tree.h"

static bool set_new(struct report_set *set, size_t most)
{
    set->items = calloc(most, sizeof *set->items);
    set->buckets = calloc(2 * most, sizeof *set->buckets);
    set->most = most;
    return set->items && set->buckets;
}

int report_new(struct report **out)
{
    struct report *r = calloc(1, sizeof *r);
    if (!r)
        return CORDON_E_NOMEM;
    r->bin_ms = 1;
    if (!set_new(&r->rules, REPORT_RULES) || !set_new(&r->denials, REPORT_DENIALS) ||
        !set_new(&r->files, REPORT_FILES) || !set_new(&r->answers, REPORT_FILES) ||
        !set_new(&r->changes, REPORT_FILES)) {
        report_free(r);
        return CORDON_E_NOMEM;
    }
    *out = r;
    return 0;
}

void report_free(struct report *r)
{
    if (!r)
        return;
    struct report_set *sets[] = {&r->rules, &r->denials, &r->files, &r->answers, &r->changes};
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        free(sets[i]->items);
        free(sets[i]->buckets);
    }
    arena_free(&r->arena);
    arena_free(&r->line);
    free(r);
}

/* ---- values of a line ---- */

struct str report_text_of(const struct json_value *event, struct str key)
{
    const struct json_value *v = json_get(event, key);
    return v && v->type == JSON_STRING && v->text.p ? v->text : STR("");
}

/* Whole numbers up to 15 digits; else 0. */
static uint64_t number_of(const struct json_value *event, struct str key)
{
    const struct json_value *v = json_get(event, key);
    uint64_t n = 0;
    if (!v || v->type != JSON_NUMBER || v->text.n > 15)
        return 0;
    for (size_t i = 0; i < v->text.n; i++) {
        if (!ascii_is_digit(v->text.p[i]))
            return 0;
        n = n * 10 + (uint64_t)(v->text.p[i] - '0');
    }
    return n;
}

static unsigned digits(struct str s, size_t at, size_t count)
{
    unsigned n = 0;
    for (size_t i = at; i < at + count && i < s.n && ascii_is_digit(s.p[i]); i++)
        n = n * 10 + (unsigned)(s.p[i] - '0');
    return n;
}

/* 2026-01-31T08:05:09.120Z in ms since 1970; 0 if it is not of this form. */
static uint64_t time_of(struct str s)
{
    if (s.n < 20 || s.p[4] != '-' || s.p[7] != '-' || s.p[10] != 'T' || s.p[13] != ':')
        return 0;
    uint64_t year = digits(s, 0, 4);
    unsigned month = digits(s, 5, 2), day = digits(s, 8, 2);
    if (year < 1970 || month < 1 || month > 12 || day < 1)
        return 0;
    /* Days by the civil calendar; years begin in March. */
    uint64_t y = year - (month <= 2);
    uint64_t of_year = (153 * (uint64_t)(month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
    uint64_t days = y * 365 + y / 4 - y / 100 + y / 400 + of_year - 719468;
    uint64_t seconds =
        days * 86400 + digits(s, 11, 2) * 3600 + digits(s, 14, 2) * 60 + digits(s, 17, 2);
    return seconds * 1000 + (s.p[19] == '.' ? digits(s, 20, 3) : 0);
}

static struct str cut_text(struct str s)
{
    return str_cut(s, REPORT_MAX_TEXT);
}

static struct str keep(struct report *r, struct str s)
{
    struct str copy = arena_copy(&r->arena, cut_text(s));
    if (!copy.p) {
        r->failed = true;
        return STR("");
    }
    return copy;
}

/* ---- sets ---- */

static uint64_t hash_add(uint64_t hash, struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        hash = (hash ^ (unsigned char)s.p[i]) * 1099511628211u;
    return (hash ^ 0xFF) * 1099511628211u;
}

void report_tally(struct report *r, struct report_set *set, const struct report_tally *t)
{
    struct str op = t->op, rule = cut_text(t->rule), target = cut_text(t->target);
    struct str target2 = cut_text(t->target2);
    uint64_t hash =
        hash_add(hash_add(hash_add(hash_add(14695981039346656037u, rule), op), target), target2);
    size_t at = (size_t)(hash % (2 * set->most));
    for (; set->buckets[at]; at = (at + 1) % (2 * set->most)) {
        struct report_tally *known = &set->items[set->buckets[at] - 1];
        if (str_eq(known->rule, rule) && str_eq(known->op, op) && str_eq(known->target, target) &&
            str_eq(known->target2, target2) && known->ask == t->ask) {
            known->count += t->count;
            return;
        }
    }
    if (set->count == set->most) {
        set->left_out += t->count;
        return;
    }
    set->items[set->count++] =
        (struct report_tally){keep(r, rule),     keep(r, op),     keep(r, target),
                              keep(r, target2),  keep(r, t->why), keep(r, t->fix),
                              keep(r, t->image), t->count,        t->ask};
    set->buckets[at] = (uint32_t)set->count;
}

/* ---- runs and processes ---- */

static struct report_run *run_of(struct report *r, struct str id, uint64_t time)
{
    id = str_slice(id, 0, sizeof r->current_text);
    bool same = str_eq(id, r->current_id) && r->events > 1;
    if (!same) {
        r->run_base = r->longest;
        r->current_start = time;
        r->current = REPORT_RUNS;
        for (size_t i = 0; i < r->run_count; i++)
            if (str_eq(r->runs[i].id, id)) {
                r->current = i;
                r->current_start = r->runs[i].start;
            }
        if (r->current == REPORT_RUNS && r->run_count < REPORT_RUNS) {
            r->current = r->run_count++;
            r->runs[r->current] = (struct report_run){.id = keep(r, id), .start = time};
        } else if (r->current == REPORT_RUNS) {
            r->runs_left_out++;
        }
        if (id.n)
            memcpy(r->current_text, id.p, id.n);
        r->current_id = (struct str){r->current_text, id.n};
    }
    struct report_run *run = r->current < REPORT_RUNS ? &r->runs[r->current] : NULL;
    if (run && time > run->last)
        run->last = time;
    return run;
}

static void start_run(struct report *r, struct report_run *run, const struct json_value *e)
{
    auto_buf struct buf roots = {0};
    const struct json_value *list = json_get(e, STR("roots"));
    for (size_t i = 0; list && list->type == JSON_ARRAY && i < list->count; i++)
        if (list->items[i].type == JSON_STRING) {
            if (roots.n)
                buf_char(&roots, '\n');
            buf_add(&roots, list->items[i].text);
        }
    run->command = keep(r, report_text_of(e, STR("cmdline")));
    run->version = keep(r, report_text_of(e, STR("version")));
    run->mode = keep(r, report_text_of(e, STR("mode")));
    run->net = keep(r, report_text_of(e, STR("net")));
    run->git = keep(r, report_text_of(e, STR("git")));
    run->boundary = keep(r, report_text_of(e, STR("boundary")));
    run->boundary_detail = keep(r, report_text_of(e, STR("boundary_detail")));
    run->roots = keep(r, roots.n ? buf_str(&roots) : STR(""));
}

struct str report_command(const struct report *r, const struct report_run *run)
{
    if (run->command.n || !run->first)
        return run->command;
    const struct report_process *p = &r->processes[run->first - 1];
    return p->cmdline.n ? p->cmdline : p->image;
}

static size_t process_bucket(const struct report *r, size_t run, uint32_t pid)
{
    size_t size = sizeof r->process_buckets / sizeof *r->process_buckets;
    size_t at = (pid * 2654435761u ^ run) % size;
    for (; r->process_buckets[at]; at = (at + 1) % size) {
        const struct report_process *p = &r->processes[r->process_buckets[at] - 1];
        if (p->pid == pid && p->run == run)
            break;
    }
    return at;
}

static struct report_process *process_of(struct report *r, uint64_t pid)
{
    size_t at = process_bucket(r, r->current, (uint32_t)pid);
    return pid && r->process_buckets[at] ? &r->processes[r->process_buckets[at] - 1] : NULL;
}

/* Appends it to the children of its parent, or to the first programs of its run. */
static void link_process(struct report *r, size_t number)
{
    struct report_process *p = &r->processes[number - 1];
    struct report_process *parent = p->parent ? &r->processes[p->parent - 1] : NULL;
    struct report_run *run = &r->runs[p->run];
    size_t *first = parent ? &parent->first : &run->first;
    size_t *last = parent ? &parent->last : &run->last_first;
    if (*first)
        r->processes[*last - 1].next = number;
    else
        *first = number;
    *last = number;
}

static void spawned(struct report *r, const struct json_value *e, uint64_t at_ms)
{
    uint64_t pid = number_of(e, STR("pid")), ppid = number_of(e, STR("ppid"));
    r->spawned++;
    if (r->process_count == REPORT_PROCESSES || r->current == REPORT_RUNS) {
        r->processes_left_out++;
        return;
    }
    /* On Linux a program may replace itself with another, which is shown below it. A pid that is
       reused belongs to the new process from here on. */
    const struct report_process *before = process_of(r, pid);
    const struct report_process *parent = before && !before->ended ? before : process_of(r, ppid);
    size_t bucket = process_bucket(r, r->current, (uint32_t)pid);
    struct str image = report_text_of(e, STR("image"));
    r->processes[r->process_count] = (struct report_process){
        .run = r->current,
        .parent = parent ? (size_t)(parent - r->processes) + 1 : 0,
        .pid = (uint32_t)pid,
        .image = keep(r, image.n ? image : report_text_of(e, STR("target"))),
        .cmdline = keep(r, report_text_of(e, STR("cmdline"))),
        .start = at_ms};
    r->process_buckets[bucket] = (uint16_t)++r->process_count;
    link_process(r, r->process_count);
}

/* The programs that ran in the process before end with it. */
static void ended(struct report *r, struct report_process *p, uint64_t at_ms, long long code)
{
    while (p && !p->ended) {
        p->ended = true;
        p->end = at_ms;
        p->code = code;
        struct report_process *above = p->parent ? &r->processes[p->parent - 1] : NULL;
        p = above && above->pid == p->pid ? above : NULL;
    }
}

/* ---- the time line ---- */

static void mark(struct report *r, enum report_kind kind, uint64_t at_ms, uint64_t count)
{
    uint64_t at = r->run_base + at_ms;
    if (at > r->longest)
        r->longest = at;
    while (at / r->bin_ms >= REPORT_BINS) {
        for (size_t i = 0; i < REPORT_BINS; i++) {
            struct report_bin b = r->bins[i];
            r->bins[i] = (struct report_bin){0};
            for (size_t k = 0; k < REPORT_KINDS; k++)
                r->bins[i / 2].count[k] += b.count[k];
        }
        r->bin_ms *= 2;
    }
    r->bins[at / r->bin_ms].count[kind] += count;
}

/* ---- events ---- */

static bool changes_file(struct str op)
{
    return str_starts(op, STR("file.")) && !str_eq(op, STR("file.read"));
}

static void decided(struct report *r, const struct json_value *e, enum report_kind kind,
                    uint64_t at_ms)
{
    uint64_t count = number_of(e, STR("count"));
    const struct json_value *quiet = json_get(e, STR("quiet"));
    struct report_tally t = {.rule = report_text_of(e, STR("rule")),
                             .op = report_text_of(e, STR("op")),
                             .target = report_text_of(e, STR("target")),
                             .target2 = report_text_of(e, STR("target2")),
                             .why = report_text_of(e, STR("why")),
                             .fix = report_text_of(e, STR("fix")),
                             .image = report_text_of(e, STR("image")),
                             .count = count ? count : 1,
                             .ask = kind == REPORT_ASK};
    /* Known harmless writes that programs make at start are counted and not shown, as in the
       summary of a run. */
    if (kind == REPORT_DENY && quiet && quiet->type == JSON_TRUE) {
        r->quiet += t.count;
        return;
    }
    r->totals[kind] += t.count;
    mark(r, kind, at_ms, t.count);
    if (kind == REPORT_ALLOW) {
        t.rule = STR("");
        if (changes_file(t.op))
            report_tally(r, &r->files, &t);
        return;
    }
    struct report_process *p = process_of(r, number_of(e, STR("pid")));
    if (p && kind == REPORT_DENY) {
        p->denied += t.count;
        if (p->mark_count < REPORT_MARKS)
            p->marks[p->mark_count++] = (uint32_t)at_ms;
    }
    report_tally(r, &r->denials, &t);
    struct report_tally rule = {.rule = t.rule,
                                .op = STR(""),
                                .target = STR(""),
                                .target2 = STR(""),
                                .why = t.why,
                                .fix = STR(""),
                                .image = STR(""),
                                .count = t.count,
                                .ask = t.ask};
    report_tally(r, &r->rules, &rule);
}

static void take_event(struct report *r, const struct json_value *e)
{
    struct str type = report_text_of(e, STR("type"));
    uint64_t time = time_of(report_text_of(e, STR("time")));
    struct report_run *run = run_of(r, report_text_of(e, STR("run")), time);
    uint64_t at_ms = time > r->current_start ? time - r->current_start : 0;
    if (str_eq(type, STR("deny"))) {
        decided(r, e, REPORT_DENY, at_ms);
    } else if (str_eq(type, STR("ask"))) {
        decided(r, e, REPORT_ASK, at_ms);
    } else if (str_eq(type, STR("allow"))) {
        decided(r, e, REPORT_ALLOW, at_ms);
    } else if (str_eq(type, STR("answer"))) {
        answers_take(r, e);
    } else if (str_eq(type, STR("change"))) {
        tree_take(r, e);
    } else if (str_eq(type, STR("spawn"))) {
        r->totals[REPORT_PROCESS]++;
        mark(r, REPORT_PROCESS, at_ms, 1);
        spawned(r, e, at_ms);
    } else if (str_eq(type, STR("exit"))) {
        ended(r, process_of(r, number_of(e, STR("pid"))), at_ms,
              (long long)number_of(e, STR("code")));
    } else if (str_eq(type, STR("start")) && run) {
        start_run(r, run, e);
    } else if (str_eq(type, STR("end")) && run) {
        run->ended = true;
        run->exit = (long long)number_of(e, STR("exit"));
        run->duration_ms = number_of(e, STR("duration_ms"));
        run->denied = number_of(e, STR("denied"));
        run->asked = number_of(e, STR("asked"));
        run->allowed = number_of(e, STR("allowed"));
        run->undo = keep(r, report_text_of(e, STR("undo")));
        for (int i = 0; i < REPORT_CHANGES; i++)
            run->changes[i] = number_of(e, str_of(tree_word((enum report_change)i)));
    }
}

void report_line(struct report *r, struct str line, bool last)
{
    struct json_value event;
    struct json_error error;
    line = str_trim(line);
    if (line.n == 0)
        return;
    arena_reset(&r->line);
    bool good = line.n <= REPORT_MAX_LINE && json_read(&r->line, line, &event, &error) == 0 &&
                event.type == JSON_OBJECT && report_text_of(&event, STR("type")).n;
    if (!good && last) {
        r->cut = true;
        return;
    }
    r->events++;
    if (good) {
        take_event(r, &event);
        return;
    }
    r->malformed++;
    if (!r->first_malformed)
        r->first_malformed = r->events;
}

/* ---- order ---- */

static int by_count(const void *a, const void *b)
{
    const struct report_tally *x = a, *y = b;
    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    int rule = str_cmp(x->rule, y->rule);
    return rule ? rule : str_cmp(x->target, y->target);
}

/* A socket that a resolver tries needs no more than the name that it asked for, as in the summary of
   a run. */
static void join_resolver(struct report *r)
{
    struct str name = {0};
    for (size_t i = 0; i < r->denials.count && !name.n; i++)
        if (str_eq(r->denials.items[i].op, STR("net.resolve")))
            name = r->denials.items[i].fix;
    for (size_t i = 0; i < r->denials.count && name.n; i++)
        if (str_eq(r->denials.items[i].op, STR("net.send")) &&
            str_eq(r->denials.items[i].target, STR("UDP")))
            r->denials.items[i].fix = name;
}

void report_finish(struct report *r)
{
    join_resolver(r);
    struct report_set *sets[] = {&r->rules, &r->denials, &r->files, &r->answers};
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        qsort(sets[i]->items, sets[i]->count, sizeof *sets[i]->items, by_count);
    tree_sort(r);
    /* A parent stands before its children. */
    for (size_t i = r->process_count; i-- > 0;) {
        const struct report_process *p = &r->processes[i];
        if (p->parent)
            r->processes[p->parent - 1].denied_below += p->denied + p->denied_below;
    }
}

struct str report_verb(struct str op)
{
    size_t dot = str_find_char(op, '.', 0);
    return str_eq(op, STR("guard")) ? STR("run") : dot < op.n ? str_from(op, dot + 1) : op;
}

size_t report_of_rule(const struct report *r, const struct report_tally *rule, size_t *out,
                      size_t most)
{
    size_t n = 0;
    for (size_t i = 0; i < r->denials.count && n < most; i++)
        if (str_eq(r->denials.items[i].rule, rule->rule) && r->denials.items[i].ask == rule->ask)
            out[n++] = i;
    return n;
}
