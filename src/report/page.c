/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report as one HTML file: nothing loaded, readable without scripts, in dark and light, on
 * paper, by keyboard and by screen readers. Everything from the audit goes through html_put(). The
 * one script copies a remedy that is clicked; the page allows no other.
 */
#include "audit/jsonl.h"
#include "guard/guard.h"
#include "policy/rules.h"
#include "report/answers.h"
#include "report/html.h"
#include "report/tree.h"

enum { SHOWN_FIRST = 6, SHOWN_OF_GROUP = 50, SHOWN_FILES = 300 };

static const char script[] =
    "addEventListener('click',e=>{const c=e.target.closest('.fix code');if(!c)return;"
    "getSelection().selectAllChildren(c);if(document.execCommand('copy'))"
    "c.classList.add('copied')})";
/* Of the script, base64: what the page's policy allows to run. */
#define SCRIPT_SHA256 "2GrnGQTjpScXWpZJ5zcUGp1WkMchAbF7xo5FgIgMIvs="

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
    "margin:1.25rem 0 .5rem}.cards div{background:var(--panel);border:1px solid "
    "var(--line);border-radius:.5rem;"
    "padding:.6rem .8rem}.cards dt{color:var(--dim);font-size:.85rem}.cards dd{margin:0;"
    "font-size:1.35rem;font-weight:600}\n"
    ".facts{display:grid;grid-template-columns:minmax(5rem,max-content) 1fr;gap:.15rem 1rem;"
    "margin:0 0 1rem}.facts dt{color:var(--dim)}.facts dd{margin:0}\n"
    "table{border-collapse:collapse;width:100%;table-layout:fixed}caption{text-align:left;"
    "color:var(--dim);padding-bottom:.25rem}th,td{text-align:left;vertical-align:top;padding:.4rem "
    ".5rem .4rem 0;border-top:1px solid var(--line)}th{font-weight:600;font-size:.85rem;"
    "color:var(--dim)}.n{width:6.5rem;text-align:right;padding-right:0;font-variant-numeric:"
    "tabular-nums}\n"
    ".fix{margin:0}.fix code{user-select:all;cursor:copy;background:var(--panel);"
    "border:1px solid var(--line);border-radius:.3rem;padding:.05rem .35rem}.copied::after{"
    "content:\" \\2713\";color:var(--allow)}\n"
    ".group{border:1px solid var(--line);border-left:.25rem solid var(--deny);border-radius:.5rem;"
    "padding:.6rem .8rem;margin:0 0 .75rem}.group.look{border-left-color:var(--ask)}"
    ".group ul{margin:.35rem 0 0;padding-left:1.1rem}.group details{margin-top:.35rem}"
    "summary{cursor:pointer}\n"
    ".deny{color:var(--deny)}.ask{color:var(--ask)}.allow{color:var(--allow)}.process{color:"
    "var(--process)}.count{font-weight:600}\n"
    "ul.tree,ul.tree ul{list-style:none;margin:0;padding:0}ul.tree ul{padding-left:.7rem;"
    "border-left:1px solid var(--line);margin-left:.3rem}ul.tree li{margin:.15rem 0}"
    "ul.tree .dim{font-size:.85rem}\n"
    ".row{display:grid;grid-template-columns:minmax(0,1fr) 18rem;gap:.75rem;align-items:center}"
    "summary.row::before{content:\"\\25B8\";position:absolute;margin-left:-.75rem;color:var(--dim)}"
    "details[open]>summary.row::before{content:\"\\25BE\"}summary.row{list-style:none}"
    ".who code{color:var(--dim)}"
    ".lane{position:relative;height:.9rem;background:var(--panel);border-radius:.2rem;"
    "overflow:hidden}.lane i{position:absolute;top:.15rem;bottom:.15rem;border-radius:.15rem;"
    "background:var(--process)}.lane b{position:absolute;top:0;bottom:0;width:3px;"
    "background:var(--deny)}ul.tree{padding-left:.9rem}\n"
    "@media(max-width:44rem){.row{grid-template-columns:minmax(0,1fr);gap:.1rem}}\n"
    "figure{margin:0}svg{display:block;width:100%;height:8rem;background:var(--panel);border:1px "
    "solid var(--line);border-radius:.5rem}.axis,.legend{display:flex;justify-content:"
    "space-between;flex-wrap:wrap;gap:0 1rem;color:var(--dim);font-size:.85rem}.legend{"
    "justify-content:flex-start;margin-top:.3rem}p.axis{margin:0 0 .25rem "
    "auto;max-width:18rem}.legend span::before{content:\"\\25A0\\00A0\"}\n"
    "@media print{:root{color-scheme:light;--ink:#000;--dim:#444;--paper:#fff;--panel:#fff;"
    "--line:#999;--deny:#900;--ask:#640;--allow:#063;--process:#036}nav{display:none}"
    "body{max-width:none;padding:0}h2,h3{break-after:avoid}tr,li{break-inside:avoid}}\n";

void html_put(struct buf *out, struct str s)
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

void html_add(struct buf *out, const char *html)
{
    buf_add(out, str_of(html));
}

static void card(struct buf *out, const char *name, const char *class, uint64_t n)
{
    buf_fmt(out, "<div><dt>%s</dt><dd class=\"%s\">", name, n ? class : "");
    report_number(out, n);
    html_add(out, "</dd></div>\n");
}

static void fact(struct buf *out, const char *name, struct str value)
{
    if (!value.n)
        return;
    buf_fmt(out, "<dt>%s</dt><dd>", name);
    for (size_t pos = 0; pos < value.n;) {
        size_t end = str_find_char(value, '\n', pos);
        if (pos)
            html_add(out, "<br>");
        html_put(out, str_slice(value, pos, end));
        pos = end + 1;
    }
    html_add(out, "</dd>\n");
}

void html_more(struct buf *out, uint64_t n, const char *what)
{
    if (!n)
        return;
    html_add(out, "<p class=\"dim\">\xE2\x80\xA6 and ");
    report_number(out, n);
    buf_fmt(out, " more %s.</p>\n", what);
}

/* ---- parts ---- */

static void put_end(struct buf *out, const struct report_run *run)
{
    if (!run->ended) {
        html_add(out, "no end was written: it was killed, or is still running");
        return;
    }
    buf_fmt(out, "exit code %lld after ", run->exit);
    report_duration(out, run->duration_ms);
}

/* The command and its end; for several runs, their number. */
static void put_heading(const struct report *r, struct str source, struct buf *out)
{
    uint64_t runs = r->run_count + r->runs_left_out;
    struct str command = r->run_count == 1 ? report_command(r, &r->runs[0]) : STR("");
    html_add(out, "<header><h1>");
    if (command.n) {
        struct str shown = str_cut(command, 200);
        html_add(out, "<code>");
        html_put(out, shown);
        html_add(out, shown.n < command.n ? "\xE2\x80\xA6</code>" : "</code>");
    } else if (runs > 1) {
        report_number(out, runs);
        html_add(out, " runs in the sandbox");
    } else {
        html_add(out, "What happened in the sandbox");
    }
    html_add(out, "</h1>\n<p class=\"dim\">");
    if (r->run_count == 1) {
        put_end(out, &r->runs[0]);
        html_add(out, " \xC2\xB7 ");
    }
    html_add(out, "from <code>");
    html_put(out, source);
    html_add(out, "</code></p>\n");
}

static void put_totals(const struct report *r, struct buf *out)
{
    html_add(out, "<section id=\"totals\" aria-label=\"Totals\">\n<dl class=\"cards\">\n");
    card(out, "Denied", "deny", r->totals[REPORT_DENY]);
    card(out, "For a person", "ask", r->totals[REPORT_ASK]);
    card(out, tree_count(r) ? "Changed" : "Changed (listed)", "allow",
         tree_count(r) ? tree_count(r) : r->files.count);
    card(out, "Programs started", "process", r->spawned);
    html_add(out, "</dl>\n");
    if (r->quiet) {
        html_add(out, "<p class=\"dim\">");
        report_number(out, r->quiet);
        html_add(out, r->quiet == 1 ? " more denial is a known harmless write"
                                    : " more denials are known harmless writes");
        html_add(out, " that programs make at start.</p>\n");
    }
    if (r->malformed) {
        html_add(out, "<p class=\"deny\">");
        report_number(out, r->malformed);
        html_add(out, " lines could not be read and are not in this report.</p>\n");
    }
    if (r->cut)
        html_add(out, "<p class=\"dim\">The last line is cut: the run may have been killed.</p>\n");
    html_add(out, "</section>\n");
}

/* The purpose of a rule; empty if it is unknown. */
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

static void put_target(struct buf *out, const struct report_tally *t)
{
    if (t->op.n) {
        html_add(out, "<span class=\"dim\">");
        html_put(out, report_verb(t->op));
        html_add(out, "</span> ");
    }
    html_add(out, "<code>");
    html_put(out, t->target);
    html_add(out, "</code>");
    if (t->target2.n) {
        html_add(out, " to <code>");
        html_put(out, t->target2);
        html_add(out, "</code>");
    }
}

static void put_denial(struct buf *out, const struct report_tally *t)
{
    html_add(out, "<li>");
    put_target(out, t);
    if (t->rule.n) {
        html_add(out, " <span class=\"dim\">");
        html_put(out, t->rule);
        html_add(out, "</span>");
    }
    if (t->count > 1) {
        html_add(out, " <span class=\"dim\">\xC3\x97");
        report_number(out, t->count);
        html_add(out, "</span>");
    }
    html_add(out, "</li>\n");
}

/* An option allows all that shares it; a sentence belongs to its rule. */
static bool same_remedy(const struct report_tally *a, const struct report_tally *b)
{
    return a->ask == b->ask && str_eq(a->fix, b->fix) &&
           (str_starts(a->fix, STR("--")) || str_eq(a->rule, b->rule));
}

/* All denials from here on that share this one's remedy. */
static void put_group(const struct report *r, size_t at, bool *done, struct buf *out)
{
    const struct report_tally *first = &r->denials.items[at];
    bool options = str_starts(first->fix, STR("--"));
    html_add(out, first->ask ? "<div class=\"group look\">" : "<div class=\"group\">");
    if (options)
        html_add(out, "<p class=\"fix\">allow with <code tabindex=\"0\" title=\"click to copy\">");
    else
        html_add(out, "<p class=\"dim\">");
    html_put(out, first->fix.n ? first->fix : first->why);
    html_add(out, options ? "</code></p>\n<ul>\n" : "</p>\n<ul>\n");
    size_t shown = 0;
    uint64_t rest = 0;
    for (size_t i = at; i < r->denials.count; i++) {
        if (done[i] || !same_remedy(first, &r->denials.items[i]))
            continue;
        done[i] = true;
        if (shown == SHOWN_FIRST)
            html_add(out, "</ul>\n<details><summary>more</summary><ul>\n");
        if (shown++ < SHOWN_OF_GROUP)
            put_denial(out, &r->denials.items[i]);
        else
            rest += r->denials.items[i].count;
    }
    html_add(out, "</ul>\n");
    html_more(out, rest, "denials");
    html_add(out, shown > SHOWN_FIRST ? "</details></div>\n" : "</div>\n");
}

static void put_groups(const struct report *r, bool ask, struct buf *out)
{
    bool done[REPORT_DENIALS] = {0};
    for (size_t i = 0; i < r->denials.count; i++)
        if (!done[i] && r->denials.items[i].ask == ask)
            put_group(r, i, done, out);
    bool any = false;
    for (size_t i = 0; i < r->rules.count; i++) {
        const struct report_tally *rule = &r->rules.items[i];
        struct str about = about_rule(rule->rule);
        if (rule->ask != ask || (!about.n && !rule->why.n))
            continue;
        html_add(out, any ? ""
                          : "<details><summary>What these rules are for</summary><dl "
                            "class=\"facts\">\n");
        any = true;
        html_add(out, "<dt><code>");
        html_put(out, rule->rule);
        html_add(out, "</code> <span class=\"count\">");
        report_number(out, rule->count);
        html_add(out, "</span></dt><dd>");
        html_put(out, about.n ? about : rule->why);
        html_add(out, "</dd>\n");
    }
    html_add(out, any ? "</dl></details>\n" : "");
}

static void put_denied(const struct report *r, struct buf *out)
{
    html_add(out, "<section id=\"denied\" aria-labelledby=\"h-denied\"><h2 "
                  "id=\"h-denied\">Denied</h2>\n");
    if (r->totals[REPORT_DENY] == 0)
        html_add(out, "<p>Nothing was denied.</p>\n");
    put_groups(r, false, out);
    html_more(out, r->denials.left_out, "denials that are not named here");
    html_add(out, "</section>\n");
    if (r->totals[REPORT_ASK] == 0)
        return;
    html_add(out,
             "<section id=\"asked\" aria-labelledby=\"h-asked\"><h2 id=\"h-asked\">For a person "
             "to look at</h2>\n<p>These ran: nobody was asked. <code>--strict</code> refuses "
             "them.</p>\n");
    put_groups(r, true, out);
    html_add(out, "</section>\n");
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
        html_add(out, "\"/>");
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
    html_add(out,
             "<section id=\"timeline\" aria-labelledby=\"h-timeline\"><h2 id=\"h-timeline\">Time "
             "line</h2>\n<figure><svg viewBox=\"0 0 960 100\" preserveAspectRatio=\"none\" "
             "role=\"img\" aria-label=\"Events over ");
    report_duration(out, r->longest);
    html_add(out, ", at most ");
    report_number(out, highest);
    html_add(out, " in ");
    report_duration(out, r->bin_ms);
    html_add(out, "\">");
    put_bars(r, out, used, highest);
    html_add(out, "</svg>\n<div class=\"axis\"><span>0</span><span>");
    report_duration(out, r->longest / 2);
    html_add(out, "</span><span>");
    report_duration(out, r->longest);
    html_add(out, "</span></div>\n<figcaption class=\"legend\"><span class=\"deny\">denied</span>"
                  "<span class=\"ask\">for a person</span><span class=\"allow\">allowed</span>"
                  "<span class=\"process\">programs started</span></figcaption></figure>\n"
                  "<p class=\"dim\">Time since the run began");
    html_add(out, r->run_count > 1 ? "; runs stand one after the other. " : ". ");
    html_add(out, "One bar is ");
    report_duration(out, r->bin_ms);
    html_add(out, "; the highest stands for ");
    report_number(out, highest);
    html_add(out, highest == 1 ? " event.</p>\n</section>\n" : " events.</p>\n</section>\n");
}

static void put_file(struct buf *out, const struct report_tally *t)
{
    html_add(out, "<tr><td>");
    put_target(out, t);
    html_add(out, "</td><td class=\"n\">");
    report_number(out, t->count);
    html_add(out, "</td></tr>\n");
}

/* The tree says more, and needs no --audit-all. */
static bool lists_files(const struct report *r)
{
    return r->files.count || !tree_count(r);
}

static void put_files(const struct report *r, struct buf *out)
{
    if (!lists_files(r))
        return;
    html_add(out, "<section id=\"files\" aria-labelledby=\"h-files\"><h2 id=\"h-files\">Files "
                  "changed</h2>\n");
    if (r->files.count == 0) {
        html_add(out, r->totals[REPORT_ALLOW]
                          ? "<p>No change of a file was allowed.</p>\n</section>\n"
                          : "<p>This audit does not list what was allowed; run with "
                            "<code>--audit-all</code> to have it.</p>\n</section>\n");
        return;
    }
    html_add(out,
             "<table><caption>What was allowed to change, most often first</caption><thead><tr>"
             "<th scope=\"col\">File</th><th scope=\"col\" class=\"n\">Times</th></tr></thead>"
             "<tbody>\n");
    uint64_t left_out = r->files.left_out;
    for (size_t i = 0; i < r->files.count; i++)
        if (i < SHOWN_FILES)
            put_file(out, &r->files.items[i]);
        else
            left_out += r->files.items[i].count;
    html_add(out, "</tbody></table>\n");
    html_more(out, left_out, "changes");
    html_add(out, "</section>\n");
}

static void put_runs(const struct report *r, struct buf *out)
{
    html_add(out, "<section id=\"runs\" aria-labelledby=\"h-runs\"><h2 id=\"h-runs\">Runs</h2>\n");
    for (size_t i = 0; i < r->run_count; i++) {
        const struct report_run *run = &r->runs[i];
        auto_buf struct buf time = {0}, end = {0}, boundary = {0};
        if (run->start)
            audit_spell_time(&time, run->start);
        put_end(&end, run);
        if (run->ended)
            buf_fmt(&end, "; %llu denied, %llu for a person, %llu allowed",
                    (unsigned long long)run->denied, (unsigned long long)run->asked,
                    (unsigned long long)run->allowed);
        buf_add(&boundary, run->boundary);
        if (run->boundary_detail.n) {
            buf_add(&boundary, STR(" ("));
            buf_add(&boundary, run->boundary_detail);
            buf_char(&boundary, ')');
        }
        buf_fmt(out, "<h3>Run %u</h3>\n<dl class=\"facts\">\n", (unsigned)i + 1);
        fact(out, "Command", report_command(r, run));
        fact(out, "Id", run->id);
        fact(out, "Began", buf_str(&time));
        fact(out, "Ended", buf_str(&end));
        fact(out, "Mode", run->mode);
        fact(out, "Folders", run->roots);
        fact(out, "Network", run->net);
        fact(out, "Git", run->git);
        fact(out, "Boundary", buf_str(&boundary));
        fact(out, "Version", run->version);
        html_add(out, "</dl>\n");
    }
    html_more(out, r->runs_left_out, "runs");
    html_add(out, "</section>\n");
}

void report_page(const struct report *r, struct str source, struct buf *out)
{
    html_add(out,
             "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
             "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
             "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
             "'unsafe-inline'; img-src data:; script-src 'sha256-" SCRIPT_SHA256 "'\">\n"
             "<link rel=\"icon\" href=\"data:,\">\n<title>");
    html_put(out, source);
    html_add(out, " \xE2\x80\x93 Cordon</title>\n<style>\n");
    html_add(out, style);
    html_add(out, "</style>\n</head>\n<body>\n");
    put_heading(r, source, out);
    html_add(out, "<nav aria-label=\"Parts of this page\"><a href=\"#denied\">Denied</a>");
    html_add(out, r->totals[REPORT_ASK] ? "<a href=\"#asked\">For a person</a>" : "");
    html_add(out, tree_count(r) ? "<a href=\"#changes\">Changes</a>" : "");
    html_add(out, lists_files(r) ? "<a href=\"#files\">Changed</a>" : "");
    html_add(out, "<a href=\"#processes\">Programs</a>"
                  "<a href=\"#timeline\">Time line</a><a href=\"#runs\">Runs</a></nav></header>\n"
                  "<main>\n");
    put_totals(r, out);
    put_denied(r, out);
    answers_html(r, out);
    tree_html(r, out);
    put_files(r, out);
    html_programs(r, out);
    put_timeline(r, out);
    put_runs(r, out);
    html_add(out, "</main>\n<script>");
    html_add(out, script);
    html_add(out, "</script>\n</body>\n</html>\n");
}
