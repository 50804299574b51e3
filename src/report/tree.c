/* SPDX-License-Identifier: Apache-2.0 */
/* The changes of files as a tree. Its depth is bounded; deeper names stay whole. */
#include "report/tree.h"

#include <stdlib.h>

#include "report/answers.h"
#include "report/html.h"

enum { DEEPEST = 32, OPEN_UP_TO = 40 };

static const struct {
    const char *op, *word, *class;
} kinds[REPORT_CHANGES] = {{"file.create", "created", "allow"},
                           {"file.write", "modified", "process"},
                           {"file.delete", "deleted", "deny"},
                           {"file.rename", "renamed", "ask"}};

const char *tree_word(enum report_change change)
{
    return kinds[change].word;
}

static enum report_change kind_of(const struct report_tally *t)
{
    for (int i = 0; i < REPORT_CHANGES; i++)
        if (str_eq(t->op, str_of(kinds[i].op)))
            return (enum report_change)i;
    return REPORT_MODIFIED;
}

/* The name that it has now; of a deleted one, the last. */
static struct str name_of(const struct report_tally *t)
{
    return t->target2.n ? t->target2 : t->target;
}

void tree_take(struct report *r, const struct json_value *event)
{
    struct report_tally t = {.rule = STR(""),
                             .op = report_text_of(event, STR("op")),
                             .target = report_text_of(event, STR("target")),
                             .target2 = report_text_of(event, STR("target2")),
                             .why = STR(""),
                             .fix = STR(""),
                             .image = STR(""),
                             .count = 1};
    if (t.target.n)
        report_tally(r, &r->changes, &t);
}

/* ---- order ---- */

static bool is_slash(char c)
{
    return c == '/' || c == '\\';
}

/* A folder stands before what is in it, and that before its neighbours; what several runs did to
   one path stands together. */
static int by_path(const void *a, const void *b)
{
    struct str x = name_of(a), y = name_of(b);
    for (size_t i = 0; i < x.n && i < y.n; i++) {
        int p = is_slash(x.p[i]) ? 0 : (unsigned char)x.p[i] + 1;
        int q = is_slash(y.p[i]) ? 0 : (unsigned char)y.p[i] + 1;
        if (p != q)
            return p - q;
    }
    if (x.n != y.n)
        return x.n < y.n ? -1 : 1;
    return (int)kind_of(a) - (int)kind_of(b);
}

void tree_sort(struct report *r)
{
    if (r->changes.count)
        qsort(r->changes.items, r->changes.count, sizeof *r->changes.items, by_path);
}

/* ---- counts ---- */

static uint64_t sum(const uint64_t counts[REPORT_CHANGES])
{
    uint64_t all = 0;
    for (int i = 0; i < REPORT_CHANGES; i++)
        all += counts[i];
    return all;
}

/* As the ends of the runs say; of a run without an end, what was named. */
static void count_all(const struct report *r, uint64_t out[REPORT_CHANGES])
{
    uint64_t named[REPORT_CHANGES] = {0};
    for (int i = 0; i < REPORT_CHANGES; i++)
        out[i] = 0;
    for (size_t i = 0; i < r->run_count; i++)
        for (int k = 0; k < REPORT_CHANGES; k++)
            out[k] += r->runs[i].changes[k];
    for (size_t i = 0; i < r->changes.count; i++)
        named[kind_of(&r->changes.items[i])] += r->changes.items[i].count;
    for (int k = 0; k < REPORT_CHANGES; k++)
        out[k] = out[k] > named[k] ? out[k] : named[k];
}

static void spell(struct buf *out, const uint64_t counts[REPORT_CHANGES])
{
    bool first = true;
    for (int i = 0; i < REPORT_CHANGES; i++)
        if (counts[i]) {
            buf_add(out, first ? STR("") : STR(", "));
            report_number(out, counts[i]);
            buf_fmt(out, " %s", kinds[i].word);
            first = false;
        }
}

uint64_t tree_count(const struct report *r)
{
    uint64_t all[REPORT_CHANGES];
    count_all(r, all);
    return sum(all);
}

/* ---- text and JSON ---- */

void tree_text(const struct report *r, struct buf *out)
{
    uint64_t all[REPORT_CHANGES];
    count_all(r, all);
    if (!sum(all))
        return;
    buf_add(out, STR("\nChanges that --undo recorded: "));
    spell(out, all);
    buf_char(out, '\n');
    for (size_t i = 0; i < r->run_count; i++)
        if (r->runs[i].undo.n) {
            buf_add(out, STR("    take back with: cordon undo "));
            report_clean(out, r->runs[i].undo);
            buf_char(out, '\n');
        }
}

void tree_json(const struct report *r, struct json_writer *w)
{
    uint64_t all[REPORT_CHANGES];
    count_all(r, all);
    json_key(w, STR("changes"));
    json_open(w, '{');
    for (int i = 0; i < REPORT_CHANGES; i++)
        json_put_number(w, str_of(kinds[i].word), (long long)all[i]);
    json_key(w, STR("files"));
    json_open(w, '[');
    for (size_t i = 0; i < r->changes.count; i++) {
        const struct report_tally *t = &r->changes.items[i];
        json_open(w, '{');
        json_put(w, STR("kind"), str_of(kinds[kind_of(t)].word));
        json_put(w, STR("path"), name_of(t));
        if (t->target2.n)
            json_put(w, STR("from"), t->target);
        json_close(w, '}');
    }
    json_close(w, ']');
    json_close(w, '}');
}

/* ---- the tree ---- */

/* Where the next name ends. */
static size_t end_of_name(struct str path, size_t at)
{
    while (at < path.n && !is_slash(path.p[at]))
        at++;
    return at;
}

static void put_change(const struct report_tally *t, size_t at, struct buf *out)
{
    enum report_change kind = kind_of(t);
    buf_fmt(out, "<li><span class=\"%s\">%s</span> <code>", kinds[kind].class, kinds[kind].word);
    html_put(out, str_from(name_of(t), at));
    html_add(out, "</code>");
    if (t->target2.n) {
        html_add(out, " <span class=\"dim\">from</span> <code>");
        html_put(out, t->target);
        html_add(out, "</code>");
    }
    html_add(out, "</li>\n");
}

/* The items from one to another, whose names are the same up to at. */
static void put_level(const struct report *r, size_t from, size_t to, size_t at, unsigned depth,
                      struct buf *out)
{
    html_add(out, depth ? "<ul>\n" : "<ul class=\"tree\">\n");
    for (size_t i = from; i < to;) {
        const struct report_tally *items = r->changes.items;
        struct str path = name_of(&items[i]);
        size_t end = end_of_name(path, at), next = i;
        uint64_t counts[REPORT_CHANGES] = {0};
        while (next < to && end_of_name(name_of(&items[next]), at) == end &&
               memcmp(name_of(&items[next]).p + at, path.p + at, end - at) == 0)
            counts[kind_of(&items[next++])]++;
        /* Several runs may have changed the folder, or the one file, itself. */
        size_t inside = i;
        while (inside < next && name_of(&items[inside]).n == end)
            inside++;
        if (inside == next || next == i + 1 || depth == DEEPEST) {
            for (size_t last = depth == DEEPEST ? i + 1 : next; i < last; i++)
                put_change(&items[i], at, out);
            continue;
        }
        html_add(out, sum(counts) <= OPEN_UP_TO ? "<li><details open><summary><code>"
                                                : "<li><details><summary><code>");
        html_put(out, str_slice(path, at, end));
        html_add(out, "/</code> <span class=\"dim\">");
        spell(out, counts);
        for (size_t own = i; own < inside; own++) {
            html_add(out, own == i ? "; the folder itself: " : ", ");
            html_add(out, kinds[kind_of(&items[own])].word);
        }
        html_add(out, "</span></summary>\n");
        put_level(r, inside, next, end + 1, depth + 1, out);
        html_add(out, "</details></li>\n");
        i = next;
    }
    html_add(out, "</ul>\n");
}

/* The folder that holds all of them: so much of the paths is said once. */
static size_t common_folder(const struct report *r)
{
    struct str first = name_of(&r->changes.items[0]);
    size_t same = first.n, folder = 0;
    for (size_t i = 0; i < r->changes.count; i++) {
        struct str path = name_of(&r->changes.items[i]);
        size_t n = 0;
        while (n < same && n < path.n && path.p[n] == first.p[n])
            n++;
        same = n;
    }
    for (size_t i = 0; i < same; i++)
        folder = is_slash(first.p[i]) ? i + 1 : folder;
    return folder;
}

void tree_html(const struct report *r, struct buf *out)
{
    uint64_t all[REPORT_CHANGES];
    count_all(r, all);
    if (!sum(all))
        return;
    html_add(out, "<section id=\"changes\" aria-labelledby=\"h-changes\"><h2 "
                  "id=\"h-changes\">Changes</h2>\n<p>");
    spell(out, all);
    size_t at = r->changes.count ? common_folder(r) : 0;
    if (at) {
        html_add(out, " in <code>");
        html_put(out, str_slice(name_of(&r->changes.items[0]), 0, at));
        html_add(out, "</code>");
    }
    html_add(out, ".</p>\n");
    for (size_t i = 0; i < r->run_count; i++)
        if (r->runs[i].undo.n) {
            html_add(out, "<p class=\"fix\">take back with <code tabindex=\"0\" title=\"click to "
                          "copy\">cordon undo ");
            html_put(out, r->runs[i].undo);
            html_add(out, "</code></p>\n");
        }
    if (r->changes.count)
        put_level(r, 0, r->changes.count, at, 0, out);
    uint64_t named = 0;
    for (size_t i = 0; i < r->changes.count; i++)
        named += r->changes.items[i].count;
    html_more(out, sum(all) > named ? sum(all) - named : 0, "changes; cordon changes lists them");
    html_add(out, "</section>\n");
}
