/* SPDX-License-Identifier: Apache-2.0 */
/* A diff by the greedy algorithm of Myers, with a limit on the differences; beyond it everything
   between the first and the last difference counts as replaced. */
#include "undo/diff.h"

#include <stdlib.h>

enum { MOST_EDITS = 1000, CONTEXT = 3 };

struct diff_lines {
    struct str *items;
    size_t count;
};

static bool split(struct str text, struct diff_lines *out)
{
    size_t count = 0;
    for (size_t i = 0; i < text.n; i++)
        count += text.p[i] == '\n' || i + 1 == text.n;
    out->items = calloc(count + 1, sizeof *out->items);
    out->count = 0;
    for (size_t at = 0; out->items && at < text.n;) {
        size_t end = str_find_char(text, '\n', at);
        end += end < text.n;
        out->items[out->count++] = str_slice(text, at, end);
        at = end;
    }
    return out->items != NULL;
}

/* One byte for each step: '=' both, '-' only before, '+' only after. */
struct script {
    char *steps;
    size_t count;
};

static void fill(struct script *s, char step, size_t count)
{
    memset(s->steps + s->count, step, count);
    s->count += count;
}

/* The middle part, whose first and last lines differ; false: too many differences. */
static bool middle(const struct str *a, size_t n, const struct str *b, size_t m, struct script *s,
                   bool *memory)
{
    size_t most = n + m < MOST_EDITS ? n + m : MOST_EDITS, width = 2 * most + 3, edits = 0;
    long *trace = malloc((most + 1) * width * sizeof *trace), *v = calloc(width, sizeof *v);
    long offset = (long)most + 1, k = 0;
    bool found = false;
    *memory = trace && v;
    for (size_t d = 0; *memory && !found && d <= most; d++) {
        memcpy(trace + d * width, v, width * sizeof *v);
        for (k = -(long)d; k <= (long)d; k += 2) {
            long x = k == -(long)d || (k != (long)d && v[offset + k - 1] < v[offset + k + 1])
                         ? v[offset + k + 1]
                         : v[offset + k - 1] + 1;
            long y = x - k;
            while (x < (long)n && y < (long)m && y >= 0 && str_eq(a[x], b[y]))
                x++, y++;
            v[offset + k] = x;
            if (k == (long)n - (long)m && x >= (long)n) {
                found = true;
                edits = d;
                break;
            }
        }
    }
    /* Backwards along the trace; the steps come out in reverse. */
    size_t begin = s->count;
    long x = (long)n, y = (long)m;
    for (size_t d = edits; found; d--) {
        const long *before = trace + d * width;
        long diagonal = x - y;
        bool down =
            diagonal == -(long)d ||
            (diagonal != (long)d && before[offset + diagonal - 1] < before[offset + diagonal + 1]);
        long from = d == 0 ? 0
                    : down ? before[offset + diagonal + 1]
                           : before[offset + diagonal - 1];
        long from_y = d == 0 ? 0 : from - (down ? diagonal + 1 : diagonal - 1);
        long stop_x = d == 0 ? 0 : down ? from : from + 1;
        while (x > stop_x && y > (d == 0 ? 0 : stop_x - diagonal)) {
            s->steps[s->count++] = '=';
            x--, y--;
        }
        if (d == 0)
            break;
        s->steps[s->count++] = down ? '+' : '-';
        x = from;
        y = from_y;
    }
    for (size_t i = begin, j = s->count; found && i + 1 < j;) {
        char other = s->steps[i];
        s->steps[i++] = s->steps[--j];
        s->steps[j] = other;
    }
    free(trace);
    free(v);
    return found;
}

static void put_line(struct buf *out, char step, struct str line)
{
    buf_char(out, step == '=' ? ' ' : step);
    buf_add(out, line);
    if (!str_ends(line, STR("\n")))
        buf_add(out, STR("\n\\ No newline at end of file\n"));
}

/* The script as hunks with lines around each. */
static void write_hunks(const struct script *s, const struct diff_lines *a,
                        const struct diff_lines *b, struct buf *out)
{
    size_t x = 0, y = 0;
    for (size_t i = 0; i < s->count;) {
        size_t first = i;
        while (first < s->count && s->steps[first] == '=')
            first++;
        if (first == s->count)
            return;
        size_t begin = first - i > CONTEXT ? first - CONTEXT : i, end = first, same = 0;
        x += begin - i;
        y += begin - i;
        for (size_t k = first; k < s->count && same <= 2 * CONTEXT; k++) {
            same = s->steps[k] == '=' ? same + 1 : 0;
            if (!same)
                end = k + 1;
        }
        end = s->count - end > CONTEXT ? end + CONTEXT : s->count;
        size_t removed = 0, added = 0;
        for (size_t k = begin; k < end; k++) {
            removed += s->steps[k] != '+';
            added += s->steps[k] != '-';
        }
        buf_fmt(out, "@@ -%zu,%zu +%zu,%zu @@\n", removed ? x + 1 : x, removed, added ? y + 1 : y,
                added);
        for (size_t k = begin; k < end; k++) {
            put_line(out, s->steps[k], s->steps[k] == '+' ? b->items[y] : a->items[x]);
            x += s->steps[k] != '+';
            y += s->steps[k] != '-';
        }
        i = end;
    }
}

bool diff_lines(struct str before, struct str after, struct diff_counts *counts, struct buf *out)
{
    struct diff_lines a = {0}, b = {0};
    *counts =
        (struct diff_counts){.binary = str_has_char(before, '\0') || str_has_char(after, '\0')};
    if (counts->binary)
        return true;
    struct script s = {0};
    bool good =
        split(before, &a) && split(after, &b) && (s.steps = malloc(a.count + b.count + 1)) != NULL;
    if (good) {
        size_t head = 0, tail = 0;
        while (head < a.count && head < b.count && str_eq(a.items[head], b.items[head]))
            head++;
        while (tail < a.count - head && tail < b.count - head &&
               str_eq(a.items[a.count - 1 - tail], b.items[b.count - 1 - tail]))
            tail++;
        size_t n = a.count - head - tail, m = b.count - head - tail;
        fill(&s, '=', head);
        if (!middle(a.items + head, n, b.items + head, m, &s, &good)) {
            counts->too_large = true;
            fill(&s, '-', n);
            fill(&s, '+', m);
        }
        fill(&s, '=', tail);
        for (size_t i = 0; i < s.count; i++) {
            counts->removed += s.steps[i] == '-';
            counts->added += s.steps[i] == '+';
        }
        if (good && out)
            write_hunks(&s, &a, &b, out);
    }
    free(s.steps);
    free(a.items);
    free(b.items);
    return good;
}
