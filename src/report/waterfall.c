/* SPDX-License-Identifier: Apache-2.0 */
/* The programs of a run: a row each with a bar over time and marks where it was denied something;
   what a program started can be folded away. */
#include "report/html.h"

/* Beyond so many programs, only what was denied something is unfolded. */
enum { UNFOLDED = 150, DEEPEST = 12, SHOWN_COMMAND = 240 };

static struct str leaf_of(struct str path)
{
    size_t at = path.n;
    while (at > 0 && path.p[at - 1] != '/' && path.p[at - 1] != '\\')
        at--;
    return at < path.n ? str_from(path, at) : path;
}

/* Percent of the run's time, within the lane. */
static double place(uint64_t ms, uint64_t whole)
{
    double at = whole ? (double)ms * 100 / (double)whole : 0;
    return at > 99 ? 99 : at;
}

static void put_lane(struct buf *out, const struct report_process *p, uint64_t whole)
{
    uint64_t end = p->ended && p->end > p->start ? p->end : p->ended ? p->start : whole;
    double from = place(p->start, whole), width = place(end, whole) - from;
    buf_fmt(out, "<span class=\"lane\"><i style=\"left:%.2f%%;width:%.2f%%\"></i>", from,
            width < .6 ? .6 : width);
    for (size_t i = 0; i < p->mark_count; i++)
        buf_fmt(out, "<b style=\"left:%.2f%%\"></b>", place(p->marks[i], whole));
    html_add(out, "</span>");
}

static void put_row(struct buf *out, const struct report_process *p, uint64_t whole)
{
    html_add(out, "<span class=\"who\"><strong>");
    html_put(out, p->image.n ? leaf_of(p->image) : STR("(unknown)"));
    html_add(out, "</strong>");
    if (p->denied) {
        html_add(out, " <span class=\"deny\">denied ");
        report_number(out, p->denied);
        html_add(out, "</span>");
    }
    struct str line = p->cmdline.n ? p->cmdline : p->image, shown = str_cut(line, SHOWN_COMMAND);
    if (line.n) {
        html_add(out, " <code>");
        html_put(out, shown);
        html_add(out, shown.n < line.n ? "\xE2\x80\xA6</code>" : "</code>");
    }
    buf_fmt(out, " <span class=\"dim\">pid %u, from ", (unsigned)p->pid);
    report_duration(out, p->start);
    if (p->ended) {
        html_add(out, ", for ");
        report_duration(out, p->end - p->start);
        buf_fmt(out, ", exit code %lld", p->code);
    }
    html_add(out, "</span></span>");
    put_lane(out, p, whole);
}

/* Deeper levels share one indentation, so that the page does not grow wider. */
static void put_children(const struct report *r, struct buf *out, size_t first, uint64_t whole,
                         unsigned depth)
{
    if (first && depth <= DEEPEST)
        html_add(out, depth ? "<ul>" : "<ul class=\"tree\">");
    for (size_t i = first; i; i = r->processes[i - 1].next) {
        const struct report_process *p = &r->processes[i - 1];
        bool folds = p->first && depth < DEEPEST;
        bool open = r->process_count <= UNFOLDED || p->denied_below;
        html_add(out, "<li>");
        html_add(out, !folds ? "<div class=\"row\">"
                      : open ? "<details open><summary class=\"row\">"
                             : "<details><summary class=\"row\">");
        put_row(out, p, whole);
        html_add(out, folds ? "</summary>" : "</div></li>\n");
        put_children(r, out, p->first, whole, depth + 1);
        html_add(out, folds ? "</details></li>\n" : "");
    }
    if (first && depth <= DEEPEST)
        html_add(out, "</ul>\n");
}

void html_programs(const struct report *r, struct buf *out)
{
    html_add(out, "<section id=\"processes\" aria-labelledby=\"h-processes\"><h2 "
                  "id=\"h-processes\">Programs</h2>\n");
    if (r->process_count == 0)
        html_add(out, "<p>No program was started.</p>\n");
    for (size_t i = 0; i < r->run_count; i++) {
        const struct report_run *run = &r->runs[i];
        uint64_t whole = run->last > run->start ? run->last - run->start : 0;
        whole = run->ended && run->duration_ms > whole ? run->duration_ms : whole;
        if (run->first && r->run_count > 1)
            buf_fmt(out, "<h3>Run %u</h3>\n", (unsigned)i + 1);
        if (run->first) {
            html_add(out, "<p class=\"axis\"><span>0</span><span>");
            report_duration(out, whole);
            html_add(out, "</span></p>\n");
        }
        put_children(r, out, run->first, whole, 0);
    }
    html_more(out, r->processes_left_out, "programs");
    html_add(out, "</section>\n");
}
