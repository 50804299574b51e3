/* SPDX-License-Identifier: Apache-2.0 */
#include "base/glob.h"

enum { MOST_STEPS = 100 * 1000 };

static char plain(enum glob_kind kind, char c)
{
    return kind == GLOB_BASH ? c : ascii_lower(c);
}

static bool is_in_set(enum glob_kind kind, struct str set, char c)
{
    bool negated = kind == GLOB_BASH && set.n && (set.p[0] == '!' || set.p[0] == '^');
    bool hit = false;
    for (size_t i = negated; i < set.n; i++) {
        char first = plain(kind, set.p[i]), last = first;
        if (i + 2 < set.n && set.p[i + 1] == '-') {
            last = plain(kind, set.p[i + 2]);
            i += 2;
        }
        hit |= c >= first && c <= last;
    }
    return hit != negated;
}

/* How much of the pattern at p matches this one character; 0 if it does not match. */
static size_t takes(enum glob_kind kind, struct str pattern, size_t p, char c)
{
    c = plain(kind, c);
    if (p == pattern.n)
        return 0;
    if (kind != GLOB_STARS && pattern.p[p] == '?')
        return 1;
    if (kind != GLOB_STARS && pattern.p[p] == '[') {
        /* the first character of a set may be the bracket itself, in bash also after the
           negation */
        size_t from = p + 2;
        if (kind == GLOB_BASH && p + 1 < pattern.n && ascii_is_in(pattern.p[p + 1], "!^"))
            from++;
        size_t close = str_find_char(pattern, ']', from);
        if (close < pattern.n)
            return is_in_set(kind, str_slice(pattern, p + 1, close), c) ? close + 1 - p : 0;
        if (kind == GLOB_POWERSHELL)
            return 0;
    }
    return plain(kind, pattern.p[p]) == c;
}

bool glob_match(enum glob_kind kind, struct str pattern, struct str text)
{
    size_t p = 0, t = 0, star = SIZE_MAX, mark = 0, steps = 0;
    while (t < text.n) {
        if (++steps > MOST_STEPS)
            return false;
        if (p < pattern.n && pattern.p[p] == '*') {
            star = p++;
            mark = t;
            continue;
        }
        size_t taken = takes(kind, pattern, p, text.p[t]);
        if (taken) {
            p += taken;
            t++;
        } else if (star != SIZE_MAX) {
            p = star + 1;
            t = ++mark;
        } else {
            return false;
        }
    }
    while (p < pattern.n && pattern.p[p] == '*')
        p++;
    return p == pattern.n;
}
