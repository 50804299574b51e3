/* SPDX-License-Identifier: Apache-2.0 */
/* One remedy for many folders: a command that deletes a tree is denied in each folder of it. */
#include "policy/rules.h"
#include "report/summary.h"

enum { MOST_LISTED = 3, LEAST_DEPTH = 3, LONGEST = 1024 };

static const struct str option = {" --root ", 8};

void summary_keep_out(struct summary *s, struct str folder)
{
    struct str copy = s->inner_count < SUMMARY_GIVEN ? arena_copy(&s->arena, folder) : STR_NONE;
    if (copy.p)
        s->inner[s->inner_count++] = copy;
}

/* Where the last root of a remedy begins, if it is the end of the remedy and needs no quotes. */
static bool find_root(const struct summary_denial *d, size_t *at)
{
    size_t last = d->fix.n;
    if (d->said || !str_eq(d->rule, str_of(policy_rule_id(RULE_ROOTS_OUTSIDE))) ||
        !str_starts(d->fix, STR("--root ")))
        return false;
    for (size_t i = str_find(d->fix, option, 0); i < d->fix.n; i = str_find(d->fix, option, i + 1))
        last = i;
    *at = last + option.n;
    struct str root = last < d->fix.n ? str_from(d->fix, *at) : STR_NONE;
    return root.n && !str_has_char(root, ' ') && !str_has_char(root, '\'') &&
           !str_has_char(root, '"');
}

static bool is_separator(char c)
{
    return c == '/' || c == '\\';
}

static bool is_below(struct str folder, struct str path)
{
    bool windows = str_has_char(path, '\\');
    return (windows ? str_startsi(path, folder) : str_starts(path, folder)) &&
           (path.n == folder.n || is_separator(path.p[folder.n]));
}

/* The folder that contains both. */
static struct str common(struct str a, struct str b)
{
    size_t n = a.n;
    while (n && !is_below(str_slice(a, 0, n), b))
        do
            n--;
        while (n && !is_separator(a.p[n]));
    return str_slice(a, 0, n);
}

/* Deep enough to be meant, and without the home folder or a root in it. */
static bool is_narrow(const struct summary *s, struct str folder)
{
    size_t depth = 0;
    for (size_t i = 0; i < folder.n; i++)
        depth += is_separator(folder.p[i]);
    for (size_t i = 0; i < s->inner_count; i++)
        if (is_below(folder, s->inner[i]))
            return false;
    return depth >= LEAST_DEPTH;
}

struct join {
    struct str before; /* the part that they share */
    struct str roots[MOST_LISTED];
    size_t count; /* different ones */
    struct str around;
};

static void add_root(struct join *j, struct str root)
{
    j->around = j->count ? common(j->around, root) : root;
    for (size_t i = 0; i < j->count && i < MOST_LISTED; i++) {
        if (is_below(root, j->roots[i]))
            j->roots[i] = root; /* and all that is in it */
        if (is_below(j->roots[i], root))
            return;
    }
    if (j->count < MOST_LISTED)
        j->roots[j->count] = root;
    j->count++;
}

/* Empty: they stay apart. */
static struct str joined_fix(const struct summary *s, const struct join *j, struct arena *arena)
{
    auto_buf struct buf fix = {0};
    bool few = j->count <= MOST_LISTED;
    if (j->count < 2 || (!few && !is_narrow(s, j->around)))
        return STR_NONE;
    buf_add(&fix, j->before);
    for (size_t i = 0; few && i < j->count; i++)
        buf_fmt(&fix, "%s%.*s", i ? option.p : "", STR_ARG(j->roots[i]));
    if (!few)
        buf_add(&fix, j->around);
    return fix.failed || fix.n > LONGEST ? STR_NONE : arena_copy(arena, buf_str(&fix));
}

void summary_join(struct summary *s, struct arena *arena)
{
    bool done[SUMMARY_KEPT] = {false};
    for (size_t i = 0; i < s->kept; i++) {
        struct join j = {0};
        bool member[SUMMARY_KEPT] = {false};
        size_t at, other;
        if (done[i] || !find_root(&s->denials[i], &at))
            continue;
        j.before = str_slice(s->denials[i].fix, 0, at);
        for (size_t k = i; k < s->kept; k++) {
            member[k] = !done[k] && find_root(&s->denials[k], &other) &&
                        s->denials[k].minor == s->denials[i].minor &&
                        str_eq(str_slice(s->denials[k].fix, 0, other), j.before);
            if (member[k])
                add_root(&j, str_from(s->denials[k].fix, other));
        }
        struct str fix = joined_fix(s, &j, arena);
        for (size_t k = i; k < s->kept; k++) {
            done[k] = done[k] || member[k];
            if (member[k] && fix.p)
                s->denials[k].fix = fix;
        }
    }
}
