/* SPDX-License-Identifier: Apache-2.0 */
/* The summary of a run: denials grouped by remedy, the most important first. */
#include "report/summary.h"

#include <stdio.h>

#include "base/json.h"
#include "policy/rules.h"
#include "report/answers.h"
#include "report/collect.h"

void summary_free(struct summary *s)
{
    arena_free(&s->arena);
}

static void add_repository(struct summary *s, struct summary_repositories *list, struct str path)
{
    for (size_t i = 0; i < list->count; i++)
        if (str_eq(list->items[i], path))
            return;
    struct str copy = list->count < SUMMARY_KEPT ? arena_copy(&s->arena, path) : STR_NONE;
    if (copy.p)
        list->items[list->count++] = copy;
}

bool summary_is_lost(const struct audit_event *e)
{
    return e->notable && str_eq(e->rule, str_of(policy_rule_id(RULE_UNDO_LOST)));
}

static bool is_option(struct str fix)
{
    return str_starts(fix, STR("--"));
}

static bool removes_git(enum audit_op op, struct str rule)
{
    return op == AUDIT_FILE_DELETE && str_eq(rule, str_of(policy_rule_id(RULE_PROTECTED_GIT)));
}

void summary_add(struct summary *s, const struct audit_event *e)
{
    if (e->notable && e->op == AUDIT_NET_CONNECT) {
        if (!s->unreached[0])
            snprintf(s->unreached, sizeof s->unreached, "%.*s: %.*s", STR_ARG(e->target),
                     STR_ARG(e->why));
    } else if (e->notable && !summary_is_lost(e))
        add_repository(s, e->op == AUDIT_FILE_DELETE ? &s->headless : &s->made, e->target);
    if (e->type == AUDIT_ANSWER)
        answers_add(s, e);
    if (e->type != AUDIT_DENY || e->quiet)
        return;
    s->denied++;
    s->resolved = s->resolved || e->op == AUDIT_NET_RESOLVE;
    s->removes_git = s->removes_git || (removes_git(e->op, e->rule) && !is_option(e->fix));
    for (size_t i = 0; i < s->kept; i++) {
        struct summary_denial *d = &s->denials[i];
        if (d->op == e->op && str_eq(d->target, e->target) && str_eq(d->rule, e->rule)) {
            d->count++;
            return;
        }
    }
    s->different++;
    if (s->kept == SUMMARY_KEPT)
        return;
    struct summary_denial d = {.op = e->op,
                               .target = arena_copy(&s->arena, e->target),
                               .rule = arena_copy(&s->arena, e->rule),
                               .fix = arena_copy(&s->arena, e->fix),
                               .count = 1,
                               .minor = e->minor,
                               .named = e->named,
                               .said = e->said,
                               .unasked = e->unasked};
    if (d.target.p && d.rule.p && d.fix.p)
        s->denials[s->kept++] = d;
}

void summary_hush(struct summary *s)
{
    for (size_t i = 0; i < s->kept; i++)
        s->denials[i].said = true;
    s->different = s->kept;
}

struct str summary_verb(enum audit_op op)
{
    struct str name = str_of(audit_op_name(op));
    return op == AUDIT_GUARD ? STR("run") : str_from(name, str_find_char(name, '.', 0) + 1);
}

static size_t at_most(size_t count, size_t most)
{
    return count < most ? count : most;
}

static void add_rest(struct buf *out, uint64_t count, struct str audit)
{
    if (count == 0)
        return;
    buf_fmt(out, "cordon: \xE2\x80\xA6 and %llu more, see --audit ", (unsigned long long)count);
    report_clean(out, audit.n ? audit : STR("FILE"));
    buf_char(out, '\n');
}

/* Only a Linux broker removes a HEAD. */
static void headless_line(struct str folder, struct buf *out)
{
    auto_buf struct buf word = {0};
    bool inside = str_ends(folder, STR("/.git"));
    policy_add_word(&word, PATH_POSIX, inside ? path_parent(PATH_POSIX, folder) : folder);
    buf_add(out, STR("cordon: the run deleted a part of a git repository, and its HEAD with it: "));
    report_clean(out, folder);
    buf_fmt(out,
            " (rule git.removed); look at its hooks and config, then repair it with: git init %s",
            inside ? "" : "--bare ");
    report_clean(out, buf_str(&word));
    buf_char(out, '\n');
}

static void repository_lines(const struct summary *s, struct str audit, struct buf *out)
{
    const struct summary_repositories *made = &s->made, *headless = &s->headless;
    size_t there = made->count - made->gone, shown = at_most(there, SUMMARY_LINES);
    for (size_t i = 0; i < shown; i++) {
        buf_add(out, STR("cordon: the run made a git repository: "));
        report_clean(out, made->items[i]);
        buf_add(out, STR(" (rule git.new); git and editors run what its config says\n"));
    }
    add_rest(out, there - shown, audit);
    if (made->gone)
        buf_fmt(out, "cordon: the run made %u git %s, deleted or moved since\n",
                (unsigned)made->gone, made->gone == 1 ? "repository" : "repositories");
    for (size_t i = 0; i + headless->gone < headless->count && i < SUMMARY_LINES; i++)
        headless_line(headless->items[i], out);
}

enum rank { RANK_NAMED = 0, RANK_PLAIN, RANK_TOOL, RANK_MINOR, RANK_NEVER };

/* A socket that a resolver tries is of no interest beside the name that it asked for. */
static bool is_resolver(const struct summary *s, const struct summary_denial *d)
{
    return s->resolved && d->op == AUDIT_NET_SEND && str_eq(d->target, STR("UDP"));
}

/* A command that deletes a whole repository is not led on by the option that opens half of it. */
static bool is_rest_of_git(const struct summary *s, const struct summary_denial *d)
{
    return s->removes_git && removes_git(d->op, d->rule) && is_option(d->fix);
}

static enum rank rank_of(const struct summary *s, const struct summary_denial *d)
{
    /* The preset of a tool stands in the hint already. */
    if (d->said || is_resolver(s, d) || is_rest_of_git(s, d) ||
        (s->hint[0] && str_starts(d->fix, STR("--for "))))
        return RANK_NEVER;
    if (d->named || !d->minor)
        return d->named ? RANK_NAMED : RANK_PLAIN;
    /* A cache of the tool that ran. */
    return str_starts(d->fix, STR("--for ")) ? RANK_TOOL : RANK_MINOR;
}

static bool same_remedy(const struct summary_denial *a, const struct summary_denial *b)
{
    return str_eq(a->fix, b->fix) && (is_option(a->fix) || str_eq(a->rule, b->rule));
}

/* How many different denials share this one's remedy; 0 if an earlier one stands for
   them. */
static size_t group_of(const struct summary *s, size_t at, enum rank rank)
{
    size_t count = 0;
    for (size_t i = 0; i < s->kept; i++) {
        enum rank other = rank_of(s, &s->denials[i]);
        if (other == RANK_NEVER || !same_remedy(&s->denials[i], &s->denials[at]))
            continue;
        if (other < rank || (other == rank && i < at))
            return 0;
        count++;
    }
    return count;
}

void summary_give(struct summary *s, struct str name, struct str value)
{
    struct summary_given given = {arena_copy(&s->arena, name), arena_copy(&s->arena, value)};
    if (s->given_count < SUMMARY_GIVEN && given.name.p && given.value.p)
        s->given[s->given_count++] = given;
}

static bool is_first_word(struct str text, struct str word)
{
    return str_starts(text, word) && (text.n == word.n || text.p[word.n] == ' ');
}

/* "--git=full instead of --git=commit": both together would be refused. */
static void add_replaced(const struct summary *s, struct str fix, struct buf *out)
{
    const char *between = " instead of ";
    for (size_t i = 0; i < s->given_count; i++) {
        auto_buf struct buf option = {0};
        buf_fmt(&option, "--%.*s", STR_ARG(s->given[i].name));
        size_t at = str_find(fix, buf_str(&option), 0), end = at + option.n;
        if ((at > 0 && at < fix.n && fix.p[at - 1] != ' ') || end >= fix.n ||
            (fix.p[end] != '=' && fix.p[end] != ' ') ||
            is_first_word(str_from(fix, end + 1), s->given[i].value))
            continue;
        buf_fmt(out, "%s%s=", between, buf_cstr(&option));
        report_clean(out, s->given[i].value);
        between = " and ";
    }
}

static void denial_line(const struct summary *s, const struct summary_denial *d, size_t group,
                        struct buf *out)
{
    buf_add(out, STR("cordon: sandbox denied: "));
    buf_add(out, summary_verb(d->op));
    buf_char(out, ' ');
    report_clean(out, d->target);
    if (group > 1)
        buf_fmt(out, " and %u more", (unsigned)(group - 1));
    buf_add(out, STR(" (rule "));
    report_clean(out, d->rule);
    buf_char(out, ')');
    if (d->fix.n) {
        /* A remedy is the options to type, or a sentence that there is none. */
        buf_add(out, is_option(d->fix) ? STR("; allow with ") : STR("; "));
        report_clean(out, d->fix);
        if (s && is_option(d->fix))
            add_replaced(s, d->fix, out);
    }
    if (d->unasked)
        buf_add(out, STR("; nobody can be asked about this"));
    buf_char(out, '\n');
}

void summary_line(const struct audit_event *e, struct buf *out)
{
    denial_line(NULL,
                &(struct summary_denial){.op = e->op,
                                         .target = e->target,
                                         .rule = e->rule,
                                         .fix = e->fix,
                                         .unasked = e->unasked},
                1, out);
}

/* On a copy, because joining changes remedies. */
static void denial_lines(const struct summary *given, struct str audit, bool failed,
                         struct buf *out)
{
    auto_arena struct arena arena = {0};
    struct summary joined = *given, *s = &joined;
    summary_join(s, &arena);
    size_t shown = 0;
    uint64_t left = s->different - s->kept;
    enum rank last = failed ? RANK_MINOR : RANK_PLAIN;
    for (int rank = RANK_NAMED; rank <= (int)last; rank++) {
        /* Caches and logs are of interest where nothing else explains the failure. */
        if (rank >= RANK_TOOL && shown)
            break;
        for (size_t i = 0; i < s->kept; i++) {
            if (rank_of(s, &s->denials[i]) != (enum rank)rank)
                continue;
            size_t group = group_of(s, i, (enum rank)rank);
            if (group == 0)
                continue;
            if (shown++ < SUMMARY_LINES)
                denial_line(s, &s->denials[i], group, out);
            else
                left += group;
        }
    }
    add_rest(out, left, audit);
}

void summary_lines(const struct summary *s, struct str audit, bool failed, struct buf *out)
{
    if (s->hint[0])
        buf_fmt(out, "cordon: %s\n", s->hint);
    if (failed && s->unreached[0]) {
        buf_add(out, STR("cordon: not reached, although it is allowed: "));
        report_clean(out, str_of(s->unreached));
        buf_char(out, '\n');
    }
    if (s->kept)
        denial_lines(s, audit, failed, out);
    answers_lines(s, out);
    repository_lines(s, audit, out);
}

void summary_lost_line(const struct audit_event *e, struct buf *out)
{
    buf_add(out, STR("cordon: cannot be taken back: "));
    report_clean(out, e->target);
    buf_add(out, STR(": "));
    report_clean(out, e->why);
    buf_char(out, '\n');
}

void summary_changes_lines(const struct summary_changes *c, struct buf *out)
{
    const struct {
        uint64_t count;
        const char *word;
    } parts[] = {{c->created, "created"},
                 {c->modified, "modified"},
                 {c->deleted, "deleted"},
                 {c->renamed, "renamed"}};
    bool first = true;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i].count) {
            buf_fmt(out, "%s%llu %s", first ? "cordon: " : ", ", (unsigned long long)parts[i].count,
                    parts[i].word);
            first = false;
        }
    if (!first)
        buf_fmt(out, "; take back with: cordon undo%s%s\n", c->here ? "" : " ",
                c->here ? "" : c->run);
    if (c->lost)
        buf_fmt(out, "cordon: %llu of them cannot be taken back (%s); cordon changes names them\n",
                (unsigned long long)c->lost, c->why);
    summary_dropped_line(c->dropped, c->dropped_root, c->dropped_others, out);
}

void summary_dropped_line(uint64_t count, const char *root, bool others, struct buf *out)
{
    if (!count)
        return;
    if (count == 1)
        buf_add(out, STR("cordon: dropped the journal of 1 older run in "));
    else
        buf_fmt(out, "cordon: dropped the journals of %llu older runs in ",
                (unsigned long long)count);
    report_clean(out, str_of(root));
    buf_fmt(out, "%s, to stay within the limit (--undo-limit)\n",
            others ? " and other folders" : "");
}

static void changes_json(struct json_writer *w, const struct summary_changes *c)
{
    json_key(w, STR("undo"));
    json_open(w, '{');
    json_put(w, STR("run"), str_of(c->run));
    json_put_number(w, STR("created"), (long long)c->created);
    json_put_number(w, STR("modified"), (long long)c->modified);
    json_put_number(w, STR("deleted"), (long long)c->deleted);
    json_put_number(w, STR("renamed"), (long long)c->renamed);
    json_put_number(w, STR("lost"), (long long)c->lost);
    if (c->lost)
        json_put(w, STR("why"), str_of(c->why));
    json_put_number(w, STR("dropped"), (long long)c->dropped);
    if (c->dropped)
        json_put(w, STR("dropped_root"), str_of(c->dropped_root));
    json_close(w, '}');
}

void summary_json(const struct summary *s, const struct summary_end *end, struct buf *out)
{
    struct json_writer w = {.out = out};
    json_open(&w, '{');
    json_put(&w, STR("type"), STR("summary"));
    json_put(&w, STR("reason"), end->reason);
    json_put_number(&w, STR("exit"), end->exit);
    json_put(&w, STR("boundary"), end->boundary);
    json_put_number(&w, STR("duration_ms"), (long long)end->duration_ms);
    if (end->message.n)
        json_put(&w, STR("message"), end->message);
    json_put_number(&w, STR("denied"), (long long)s->denied);
    json_key(&w, STR("denials"));
    json_open(&w, '[');
    for (size_t i = 0; i < s->kept; i++) {
        const struct summary_denial *d = &s->denials[i];
        json_open(&w, '{');
        json_put(&w, STR("op"), str_of(audit_op_name(d->op)));
        json_put(&w, STR("target"), d->target);
        json_put(&w, STR("rule"), d->rule);
        json_put(&w, STR("fix"), d->fix);
        json_put_number(&w, STR("count"), (long long)d->count);
        if (d->minor)
            json_put_bool(&w, STR("minor"), true);
        json_close(&w, '}');
    }
    json_close(&w, ']');
    answers_summary(s, &w);
    if (s->hint[0])
        json_put(&w, STR("hint"), str_of(s->hint));
    if (s->unreached[0])
        json_put(&w, STR("unreached"), str_of(s->unreached));
    json_key(&w, STR("repositories"));
    json_open(&w, '[');
    for (size_t i = 0; i < s->made.count; i++)
        json_string(&w, s->made.items[i]);
    json_close(&w, ']');
    if (s->headless.count > s->headless.gone) {
        json_key(&w, STR("headless"));
        json_open(&w, '[');
        for (size_t i = 0; i + s->headless.gone < s->headless.count; i++)
            json_string(&w, s->headless.items[i]);
        json_close(&w, ']');
    }
    if (end->changes)
        changes_json(&w, end->changes);
    json_close(&w, '}');
    buf_char(out, '\n');
}
