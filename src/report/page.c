/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report as one HTML file: no script, nothing loaded, readable in dark and light, on paper, by
 * keyboard and by screen readers. Everything from the audit goes through put().
 */
#include "audit/jsonl.h"
#include "guard/guard.h"
#include "policy/rules.h"
#include "report/collect.h"

enum { SHOWN_DENIALS = 50, SHOWN_FILES = 300, DEEPEST = 12 };

static const char style[] =
    ":root{color-scheme:light dark;--ink:#1b1f24;--dim:#57606a;--paper:#fff;--panel:#f3f5f7;"
    "--line:#d0d7de;--deny:#b3261e;--ask:#8a5a00;--allow:#1a6b3c;--process:#2f5fb3}\n"
    "@media(prefers-color-scheme:dark){:root{--ink:#e6e9ec;--dim:#9aa4ae;--paper:#14171a;"
    "--panel:#1e2327;--line:#39424a;--deny:#ff8a80;--ask:#e3b341;--allow:#6fce91;"
    "--process:#8ab4f8}}\n"
    "*{box-sizing:border-box}\n"
    "body{margin:0 auto;max-width:68rem;padding:1.25rem 1rem 4rem;font:1rem/1.5 system-ui,"
    "sans-serif;color:var(--ink);background:var(--paper)}\n"
    "h1{font-size:1.6rem;line-height:1.2;margin:0}h2{font-size:1.2rem;margin:2.25rem 0 .75rem;"
    "border-bottom:1px solid var(--line);padding-bottom:.25rem}h3{font-size:1rem;margin:1.5rem 0 "
    ".25rem}\n"
    "p{margin:.25rem 0 .75rem}.dim{color:var(--dim)}\n"
    "h1,h3,p,dd,td,li,code{overflow-wrap:anywhere}\n"
    "code{font:.9em ui-monospace,Consolas,monospace}\n"
    "nav{display:flex;flex-wrap:wrap;gap:.25rem 1rem;margin-top:.75rem}a{color:var(--process)}\n"
    "a:focus-visible,code:focus-visible{outline:2px solid var(--process);outline-offset:2px}\n"
    ".cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(9rem,1fr));gap:.75rem;"
    "margin:0}.cards div{background:var(--panel);border:1px solid var(--line);border-radius:.5rem;"
    "padding:.6rem .8rem}.cards dt{color:var(--dim);font-size:.85rem}.cards dd{margin:0;"
    "font-size:1.35rem;font-weight:600}\n"
    ".facts{display:grid;grid-template-columns:minmax(5rem,max-content) 1fr;gap:.15rem 1rem;"
    "margin:0 0 1rem}.facts dt{color:var(--dim)}.facts dd{margin:0}\n"
    "table{border-collapse:collapse;width:100%;table-layout:fixed}caption{text-align:left;"
    "color:var(--dim);padding-bottom:.25rem}th,td{text-align:left;vertical-align:top;padding:.4rem "
    ".5rem .4rem 0;border-top:1px solid var(--line)}th{font-weight:600;font-size:.85rem;"
    "color:var(--dim)}.n{width:6.5rem;text-align:right;padding-right:0;font-variant-numeric:"
    "tabular-nums}\n"
    ".fix{display:block;margin-top:.2rem}.fix code{user-select:all;background:var(--panel);"
    "border:1px solid var(--line);border-radius:.3rem;padding:.05rem .35rem}\n"
    ".deny{color:var(--deny)}.ask{color:var(--ask)}.allow{color:var(--allow)}.process{color:"
    "var(--process)}.count{font-weight:600}\n"
    "ul.tree,ul.tree ul{list-style:none;margin:0;padding:0}ul.tree ul{padding-left:.7rem;"
    "border-left:1px solid var(--line);margin-left:.3rem}ul.tree li{margin:.3rem 0}"
    "ul.tree .dim{font-size:.85rem}\n"
    "figure{margin:0}svg{display:block;width:100%;height:8rem;background:var(--panel);border:1px "
    "solid var(--line);border-radius:.5rem}.axis,.legend{display:flex;justify-content:"
    "space-between;flex-wrap:wrap;gap:0 1rem;color:var(--dim);font-size:.85rem}.legend{"
    "justify-content:flex-start;margin-top:.3rem}.legend span::before{content:\"\\25A0\\00A0\"}\n"
    "@media print{:root{color-scheme:light;--ink:#000;--dim:#444;--paper:#fff;--panel:#fff;"
    "--line:#999;--deny:#900;--ask:#640;--allow:#063;--process:#036}nav{display:none}"
    "body{max-width:none;padding:0}h2,h3{break-after:avoid}tr,li{break-inside:avoid}}\n";

/* Foreign text: cleaned, then escaped for content and attributes alike. */
static void put(struct buf *out, struct str s)
{
    auto_buf struct buf clean = {0};
    report_clean(&clean, s);
    out->failed = out->failed || clean.failed;
    for (size_t i = 0; i < clean.n; i++)
        switch (clean.p[i]) {
        case '&': buf_add(out, STR("&amp;")); break;
        case '<': buf_add(out, STR("&lt;")); break;
        case '>': buf_add(out, STR("&gt;")); break;
        case '"': buf_add(out, STR("&quot;")); break;
        case '\'': buf_add(out, STR("&#39;")); break;
        default: buf_char(out, clean.p[i]);
        }
}

/* Words of our own. */
static void add(struct buf *out, const char *html)
{
    buf_add(out, str_of(html));
}

static void card(struct buf *out, const char *name, const char *class, uint64_t n)
{
    buf_fmt(out, "<div><dt>%s</dt><dd class=\"%s\">", name, n ? class : "");
    report_number(out, n);
    add(out, "</dd></div>\n");
}

static void fact(struct buf *out, const char *name, struct str value)
{
    if (!value.n)
        return;
    buf_fmt(out, "<dt>%s</dt><dd>", name);
    for (size_t pos = 0; pos < value.n;) {
        size_t end = str_find_char(value, '\n', pos);
        if (pos)
            add(out, "<br>");
        put(out, str_slice(value, pos, end));
        pos = end + 1;
    }
    add(out, "</dd>\n");
}

static void more(struct buf *out, uint64_t n, const char *what)
{
    if (!n)
        return;
    add(out, "<p class=\"dim\">\xE2\x80\xA6 and ");
    report_number(out, n);
    buf_fmt(out, " more %s.</p>\n", what);
}

/* ---- parts ---- */

static void put_totals(const struct report *r, struct buf *out)
{
    add(out, "<section id=\"totals\" aria-labelledby=\"h-totals\"><h2 id=\"h-totals\">Totals</h2>\n"
             "<dl class=\"cards\">\n");
    card(out, "Denied", "deny", r->totals[REPORT_DENY]);
    card(out, "For a person", "ask", r->totals[REPORT_ASK]);
    card(out, "Allowed (listed)", "allow", r->totals[REPORT_ALLOW]);
    card(out, "Programs started", "process", r->spawned);
    card(out, "Runs", "", r->run_count + r->runs_left_out);
    card(out, "Events", "", r->events - r->malformed);
    add(out, "</dl>\n");
    if (r->quiet) {
        add(out, "<p class=\"dim\">");
        report_number(out, r->quiet);
        add(out, " more denials are known harmless writes that programs make at start.</p>\n");
    }
    if (r->malformed) {
        add(out, "<p class=\"deny\">");
        report_number(out, r->malformed);
        add(out, " lines could not be read and are not in this report.</p>\n");
    }
    if (r->cut)
        add(out, "<p class=\"dim\">The last line is cut: the run may have been killed.</p>\n");
    add(out, "</section>\n");
}

/* What a rule is for; empty if it is unknown. */
static struct str about_rule(struct str id)
{
    for (int i = 1; i < POLICY_RULE_COUNT; i++)
        if (str_eq(id, str_of(policy_rule_id((enum policy_rule)i))))
            return str_of(policy_rule_text((enum policy_rule)i));
    for (size_t i = 0; i < GUARD_RULE_COUNT; i++)
        if (str_eq(id, guard_rules[i].id))
            return str_of(guard_rules[i].about);
    return STR("");
}

static void put_denial(struct buf *out, const struct report_tally *t)
{
    add(out, "<tr><td>");
    if (t->op.n) {
        add(out, "<span class=\"dim\">");
        put(out, t->op);
        add(out, "</span> ");
    }
    add(out, "<code>");
    put(out, t->target);
    add(out, "</code>");
    if (t->target2.n) {
        add(out, " to <code>");
        put(out, t->target2);
        add(out, "</code>");
    }
    if (t->fix.n) {
        bool options = str_starts(t->fix, STR("--"));
        add(out, options ? "<span class=\"fix\">allow with <code tabindex=\"0\">"
                         : "<span class=\"fix dim\">");
        put(out, t->fix);
        add(out, options ? "</code></span>" : "</span>");
    }
    add(out, "</td><td class=\"n\">");
    report_number(out, t->count);
    add(out, "</td></tr>\n");
}

static void put_denied(const struct report *r, struct buf *out)
{
    add(out, "<section id=\"denied\" aria-labelledby=\"h-denied\"><h2 id=\"h-denied\">Denied, by "
             "rule</h2>\n");
    if (r->rules.count == 0)
        add(out, "<p>Nothing was denied.</p>\n");
    for (size_t i = 0; i < r->rules.count; i++) {
        const struct report_tally *rule = &r->rules.items[i];
        size_t shown[SHOWN_DENIALS];
        size_t n = report_of_rule(r, rule->rule, shown, SHOWN_DENIALS);
        struct str about = about_rule(rule->rule);
        add(out, "<h3><code>");
        put(out, rule->rule.n ? rule->rule : STR("(no rule)"));
        add(out, "</code> <span class=\"count deny\">");
        report_number(out, rule->count);
        add(out, "</span></h3>\n<p>");
        put(out, about.n ? about : rule->why);
        add(out, "</p>\n<table><caption>What was asked for, most often first</caption><thead><tr>"
                 "<th scope=\"col\">What</th><th scope=\"col\" class=\"n\">Times</th></tr></thead>"
                 "<tbody>\n");
        uint64_t listed = 0;
        for (size_t j = 0; j < n; j++) {
            put_denial(out, &r->denials.items[shown[j]]);
            listed += r->denials.items[shown[j]].count;
        }
        add(out, "</tbody></table>\n");
        more(out, rule->count - (listed < rule->count ? listed : rule->count), "denials");
    }
    more(out, r->rules.left_out, "denials by other rules");
    add(out, "</section>\n");
}

static void put_bars(const struct report *r, struct buf *out, size_t used, uint64_t highest)
{
    static const char *const names[REPORT_KINDS] = {"deny", "ask", "allow", "process"};
    for (int kind = REPORT_KINDS - 1; kind >= 0; kind--) {
        buf_fmt(out, "<path fill=\"var(--%s)\" d=\"", names[kind]);
        for (size_t i = 0; i < used; i++) {
            uint64_t below = 0;
            for (int k = REPORT_KINDS - 1; k > kind; k--)
                below += r->bins[i].count[k];
            uint64_t here = r->bins[i].count[kind];
            if (!here)
                continue;
            double from = (double)below * 96 / (double)highest;
            double height = (double)here * 96 / (double)highest;
            buf_fmt(out, "M%.2f %.2fh%.2fv%.2fh-%.2fz", (double)i * 960 / (double)used, 100 - from,
                    960 / (double)used * .9, -(height < 1.5 ? 1.5 : height),
                    960 / (double)used * .9);
        }
        add(out, "\"/>");
    }
}

static void put_timeline(const struct report *r, struct buf *out)
{
    size_t used = (size_t)(r->longest / r->bin_ms) + 1;
    uint64_t highest = 1;
    for (size_t i = 0; i < used; i++) {
        uint64_t sum = 0;
        for (size_t k = 0; k < REPORT_KINDS; k++)
            sum += r->bins[i].count[k];
        highest = sum > highest ? sum : highest;
    }
    add(out, "<section id=\"timeline\" aria-labelledby=\"h-timeline\"><h2 id=\"h-timeline\">Time "
             "line</h2>\n<figure><svg viewBox=\"0 0 960 100\" preserveAspectRatio=\"none\" "
             "role=\"img\" aria-label=\"Events over ");
    report_duration(out, r->longest);
    add(out, ", at most ");
    report_number(out, highest);
    add(out, " in ");
    report_duration(out, r->bin_ms);
    add(out, "\">");
    put_bars(r, out, used, highest);
    add(out, "</svg>\n<div class=\"axis\"><span>0</span><span>");
    report_duration(out, r->longest / 2);
    add(out, "</span><span>");
    report_duration(out, r->longest);
    add(out, "</span></div>\n<figcaption class=\"legend\"><span class=\"deny\">denied</span>"
             "<span class=\"ask\">for a person</span><span class=\"allow\">allowed</span>"
             "<span class=\"process\">programs started</span></figcaption></figure>\n"
             "<p class=\"dim\">Time since the run began");
    add(out, r->run_count > 1 ? "; runs stand one behind the other. " : ". ");
    add(out, "One bar is ");
    report_duration(out, r->bin_ms);
    add(out, "; the highest stands for ");
    report_number(out, highest);
    add(out, highest == 1 ? " event.</p>\n</section>\n" : " events.</p>\n</section>\n");
}

static struct str leaf_of(struct str path)
{
    size_t at = path.n;
    while (at > 0 && path.p[at - 1] != '/' && path.p[at - 1] != '\\')
        at--;
    return at < path.n ? str_from(path, at) : path;
}

static void put_process(const struct report *r, struct buf *out, const struct report_process *p)
{
    add(out, "<strong>");
    put(out, p->image.n ? leaf_of(p->image) : STR("(unknown)"));
    buf_fmt(out, "</strong> <span class=\"dim\">pid %u, from ", (unsigned)p->pid);
    report_duration(out, p->start);
    if (p->ended) {
        add(out, ", for ");
        report_duration(out, p->end - p->start);
        buf_fmt(out, ", exit code %lld", p->code);
    }
    add(out, "</span>");
    if (p->denied) {
        add(out, " <span class=\"deny\">denied ");
        report_number(out, p->denied);
        add(out, "</span>");
    }
    struct str line = p->cmdline.n ? p->cmdline : p->image;
    if (line.n) {
        add(out, "<br><code>");
        put(out, line);
        add(out, "</code>");
    }
    (void)r;
}

static void put_children(const struct report *r, struct buf *out, size_t parent, size_t run,
                         unsigned depth)
{
    bool any = false;
    for (size_t i = parent; i < r->process_count; i++) {
        const struct report_process *p = &r->processes[i];
        if (p->parent != parent || (parent == 0 && p->run != run))
            continue;
        if (!any && depth <= DEEPEST)
            add(out, depth ? "<ul>" : "<ul class=\"tree\">");
        any = true;
        add(out, "<li>");
        put_process(r, out, p);
        /* Deeper levels share one indentation, so that the page does not grow wider. */
        if (depth >= DEEPEST)
            add(out, "</li>\n");
        put_children(r, out, i + 1, run, depth + 1);
        if (depth < DEEPEST)
            add(out, "</li>\n");
    }
    if (any && depth <= DEEPEST)
        add(out, "</ul>\n");
}

static void put_processes(const struct report *r, struct buf *out)
{
    add(out, "<section id=\"processes\" aria-labelledby=\"h-processes\"><h2 id=\"h-processes\">"
             "Programs</h2>\n");
    if (r->process_count == 0)
        add(out, "<p>No program was started.</p>\n");
    for (size_t run = 0; run < r->run_count && r->process_count; run++) {
        bool any = false;
        for (size_t i = 0; i < r->process_count; i++)
            any = any || r->processes[i].run == run;
        if (any && r->run_count > 1)
            buf_fmt(out, "<h3>Run %u</h3>\n", (unsigned)run + 1);
        if (any)
            put_children(r, out, 0, run, 0);
    }
    more(out, r->processes_left_out, "programs");
    add(out, "</section>\n");
}

static void put_files(const struct report *r, struct buf *out)
{
    add(out, "<section id=\"files\" aria-labelledby=\"h-files\"><h2 id=\"h-files\">Files "
             "changed</h2>\n");
    if (r->files.count == 0) {
        add(out, r->totals[REPORT_ALLOW]
                     ? "<p>No change of a file was allowed.</p>\n</section>\n"
                     : "<p>This audit does not list what was allowed; run with "
                       "<code>--audit-all</code> to have it.</p>\n</section>\n");
        return;
    }
    add(out, "<table><caption>What was allowed to change, most often first</caption><thead><tr>"
             "<th scope=\"col\">File</th><th scope=\"col\" class=\"n\">Times</th></tr></thead>"
             "<tbody>\n");
    uint64_t left_out = r->files.left_out;
    for (size_t i = 0; i < r->files.count; i++)
        if (i < SHOWN_FILES)
            put_denial(out, &r->files.items[i]);
        else
            left_out += r->files.items[i].count;
    add(out, "</tbody></table>\n");
    more(out, left_out, "changes");
    add(out, "</section>\n");
}

static void put_runs(const struct report *r, struct buf *out)
{
    add(out, "<section id=\"runs\" aria-labelledby=\"h-runs\"><h2 id=\"h-runs\">Runs</h2>\n");
    for (size_t i = 0; i < r->run_count; i++) {
        const struct report_run *run = &r->runs[i];
        auto_buf struct buf time = {0}, end = {0}, boundary = {0};
        if (run->start)
            audit_spell_time(&time, run->start);
        if (run->ended) {
            buf_fmt(&end, "exit code %lld after ", run->exit);
            report_duration(&end, run->duration_ms);
            buf_fmt(&end, "; %llu denied, %llu for a person, %llu allowed",
                    (unsigned long long)run->denied, (unsigned long long)run->asked,
                    (unsigned long long)run->allowed);
        } else {
            buf_add(&end, STR("no end was written: it was killed, or is still running"));
        }
        buf_add(&boundary, run->boundary);
        if (run->boundary_detail.n) {
            buf_add(&boundary, STR(" ("));
            buf_add(&boundary, run->boundary_detail);
            buf_char(&boundary, ')');
        }
        buf_fmt(out, "<h3>Run %u</h3>\n<dl class=\"facts\">\n", (unsigned)i + 1);
        fact(out, "Id", run->id);
        fact(out, "Began", buf_str(&time));
        fact(out, "Ended", buf_str(&end));
        fact(out, "Mode", run->mode);
        fact(out, "Folders", run->roots);
        fact(out, "Network", run->net);
        fact(out, "Git", run->git);
        fact(out, "Boundary", buf_str(&boundary));
        fact(out, "Version", run->version);
        add(out, "</dl>\n");
    }
    more(out, r->runs_left_out, "runs");
    add(out, "</section>\n");
}

void report_page(const struct report *r, struct str source, struct buf *out)
{
    add(out, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
             "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
             "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
             "'unsafe-inline'; img-src data:\">\n<link rel=\"icon\" href=\"data:,\">\n<title>");
    put(out, source);
    add(out, " \xE2\x80\x93 Cordon</title>\n<style>\n");
    add(out, style);
    add(out, "</style>\n</head>\n<body>\n<header><h1>What happened in the sandbox</h1>\n"
             "<p class=\"dim\">from <code>");
    put(out, source);
    add(out, "</code></p>\n<nav aria-label=\"Parts of this page\"><a href=\"#totals\">Totals</a>"
             "<a href=\"#denied\">Denied</a><a href=\"#timeline\">Time line</a>"
             "<a href=\"#processes\">Programs</a><a href=\"#files\">Files</a>"
             "<a href=\"#runs\">Runs</a></nav></header>\n<main>\n");
    put_totals(r, out);
    put_denied(r, out);
    put_timeline(r, out);
    put_processes(r, out);
    put_files(r, out);
    put_runs(r, out);
    add(out, "</main>\n</body>\n</html>\n");
}
