/* SPDX-License-Identifier: Apache-2.0 */
/* The answers given during a run: lines of its summary, and a part of the report. */
#include "report/answers.h"

#include "report/html.h"

enum { SHOWN = 20, SHOWN_JSON = 200 };

static bool is_failure(struct str choice)
{
    return str_eq(choice, STR(AUDIT_FAILED));
}

static struct summary_denial *find(struct summary *s, const struct audit_event *e)
{
    for (size_t i = 0; i < s->answered_count; i++)
        if (s->answered[i].op == e->op && str_eq(s->answered[i].target, e->target))
            return &s->answered[i];
    return NULL;
}

void answers_add(struct summary *s, const struct audit_event *e)
{
    struct summary_denial *known = find(s, e);
    if (known && is_failure(e->choice)) {
        known->failed = arena_copy(&s->arena, e->why);
        known->failures++;
    }
    if (e->verdict != CORDON_ALLOW)
        return;
    bool lasts = !str_eq(e->choice, STR("once"));
    if (known) {
        known->count++;
        known->lasts = known->lasts || lasts;
        return;
    }
    struct summary_denial d = {.op = e->op,
                               .target = arena_copy(&s->arena, e->target),
                               .rule = arena_copy(&s->arena, e->rule),
                               .fix = arena_copy(&s->arena, e->fix),
                               .count = 1,
                               .lasts = lasts};
    if (s->answered_count < SUMMARY_KEPT && d.target.p && d.rule.p && d.fix.p)
        s->answered[s->answered_count++] = d;
}

/* True if nothing came of a yes. */
static bool was_in_vain(const struct summary_denial *d)
{
    return !d->lasts && d->failures >= d->count;
}

/* One line stands for both. */
static bool is_alike(const struct summary_denial *a, const struct summary_denial *b)
{
    return was_in_vain(a) ? was_in_vain(b) && str_eq(a->failed, b->failed)
                          : !was_in_vain(b) && str_eq(a->fix, b->fix);
}

/* One line for each set of options that gives the same. */
void answers_lines(const struct summary *s, struct buf *out)
{
    size_t shown = 0;
    for (size_t i = 0; i < s->answered_count && shown < SUMMARY_LINES; i++) {
        const struct summary_denial *d = &s->answered[i];
        size_t before = 0, more = 0;
        for (size_t j = 0; j < s->answered_count; j++) {
            before += j < i && is_alike(&s->answered[j], d);
            more += j > i && is_alike(&s->answered[j], d);
        }
        if (before)
            continue;
        shown++;
        bool vain = was_in_vain(d);
        buf_add(out, vain ? STR("cordon: allowed when asked, but it failed: ")
                          : STR("cordon: allowed when asked: "));
        buf_add(out, summary_verb(d->op));
        buf_char(out, ' ');
        report_clean(out, d->target);
        if (more)
            buf_fmt(out, " and %u more", (unsigned)more);
        if (vain) {
            buf_add(out, STR(" ("));
            report_clean(out, d->failed);
            buf_char(out, ')');
        } else if (str_starts(d->fix, STR("--"))) {
            buf_add(out, STR("; without asking: "));
            report_clean(out, d->fix);
        }
        buf_char(out, '\n');
    }
}

void answers_summary(const struct summary *s, struct json_writer *w)
{
    if (s->answered_count == 0)
        return;
    json_key(w, STR("answered"));
    json_open(w, '[');
    for (size_t i = 0; i < s->answered_count; i++) {
        const struct summary_denial *d = &s->answered[i];
        json_open(w, '{');
        json_put(w, STR("op"), str_of(audit_op_name(d->op)));
        json_put(w, STR("target"), d->target);
        json_put(w, STR("rule"), d->rule);
        json_put(w, STR("fix"), d->fix);
        json_put_number(w, STR("count"), (long long)d->count);
        if (d->failures) {
            json_put(w, STR("failed"), d->failed);
            json_put_number(w, STR("failures"), (long long)d->failures);
        }
        json_close(w, '}');
    }
    json_close(w, ']');
}

/* Kept as "run folder, by terminal", or "failed: No such file or directory". */
void answers_take(struct report *r, const struct json_value *e)
{
    auto_buf struct buf said = {0};
    struct str scope = report_text_of(e, STR("scope"));
    buf_add(&said, report_text_of(e, STR("choice")));
    buf_add(&said, scope.n ? STR(" ") : STR_NONE);
    buf_add(&said, scope);
    bool failure = is_failure(report_text_of(e, STR("choice")));
    buf_add(&said, failure ? STR(": ") : STR(", by "));
    buf_add(&said, report_text_of(e, failure ? STR("why") : STR("by")));
    struct report_tally t = {.rule = buf_str(&said),
                             .op = report_text_of(e, STR("op")),
                             .target = report_text_of(e, STR("target")),
                             .target2 = STR(""),
                             .why = STR(""),
                             .fix = STR(""),
                             .image = STR(""),
                             .count = 1};
    if (!said.failed)
        report_tally(r, &r->answers, &t);
}

void answers_text(const struct report *r, struct buf *out)
{
    if (r->answers.count)
        buf_add(out, STR("\nAnswered while it ran\n"));
    for (size_t i = 0; i < r->answers.count && i < SHOWN; i++) {
        const struct report_tally *t = &r->answers.items[i];
        buf_add(out, STR("    "));
        report_clean(out, t->op);
        buf_char(out, ' ');
        report_clean(out, t->target);
        buf_add(out, STR(": "));
        report_clean(out, t->rule);
        buf_char(out, '\n');
    }
}

void answers_json(const struct report *r, struct json_writer *w)
{
    json_key(w, STR("answers"));
    json_open(w, '[');
    for (size_t i = 0; i < r->answers.count && i < SHOWN_JSON; i++) {
        const struct report_tally *t = &r->answers.items[i];
        json_open(w, '{');
        json_put(w, STR("op"), t->op);
        json_put(w, STR("target"), t->target);
        json_put(w, STR("answer"), t->rule);
        json_put_number(w, STR("count"), (long long)t->count);
        json_close(w, '}');
    }
    json_close(w, ']');
}

void answers_html(const struct report *r, struct buf *out)
{
    if (r->answers.count == 0)
        return;
    html_add(out, "<section id=\"answers\" aria-labelledby=\"h-answers\"><h2 id=\"h-answers\">"
                  "Answered while it ran</h2>\n<ul>\n");
    for (size_t i = 0; i < r->answers.count && i < SHOWN_JSON; i++) {
        html_add(out, "<li><span class=\"dim\">");
        html_put(out, report_verb(r->answers.items[i].op));
        html_add(out, "</span> <code>");
        html_put(out, r->answers.items[i].target);
        html_add(out, "</code> <span class=\"dim\">");
        html_put(out, r->answers.items[i].rule);
        html_add(out, "</span></li>\n");
    }
    html_add(out, "</ul></section>\n");
}
