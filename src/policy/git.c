/*
 * What a commit writes below a git folder. A list of what may be written, not of what may not: git
 * gains files that it runs or obeys, and an alias of a denied name is not on the list either.
 */
#include "policy/names.h"

#include "policy/casefold.h"

/* Files, and folders with all that is below; "*" at an end stands for any characters there. */
static const char *const written[] = {
    "objects",         "refs",        "logs",          "HEAD",          "index",
    "index.*",         "packed-refs", "*_HEAD",        "*_MSG",         "MERGE_MODE",
    "MERGE_AUTOSTASH", "*_EDITMSG",   "BISECT_*",      "AUTO_MERGE",    "shallow",
    "gc.pid",          "gc.log",      "sharedindex.*", "sharedindex_*", "next-index-*",
    "sequencer",       "reftable",    "lfs",           "ORIG_HEAD",
};

static const char *const written_info[] = {"exclude", "refs", "sparse-checkout"};

/* Submodules and worktrees: what stays denied, in any depth. */
static const char *const planted[] = {
    "hooks", "config*", "commondir", "gitdir", "attributes", "rebase-merge", "rebase-apply", ".git",
};

static bool is_like(enum path_dialect dialect, struct str name, const char *pattern)
{
    struct str p = str_of(pattern);
    if (p.p[0] == '*') {
        p = str_from(p, 1);
        return name.n >= p.n && fold_equal(dialect, FOLD_NARROW, str_from(name, name.n - p.n), p);
    }
    if (p.p[p.n - 1] == '*') {
        p.n--;
        /* For what is denied here: a folded name may be longer or shorter than its spelling. */
        char folded[64];
        size_t n =
            fold_text(dialect, FOLD_WIDE, str_slice(name, 0, 3 * p.n), folded, sizeof folded);
        return n != SIZE_MAX && n >= p.n &&
               fold_equal(dialect, FOLD_WIDE, (struct str){folded, p.n}, p);
    }
    return fold_equal(dialect, FOLD_NARROW, name, p);
}

static bool is_planted(enum path_dialect dialect, struct str name)
{
    for (size_t i = 0; i < sizeof planted / sizeof *planted; i++)
        if (is_like(dialect, name, planted[i]) ||
            fold_equal(dialect, FOLD_WIDE, name, str_of(planted[i])))
            return true;
    /* COMMON~1, ATTRIB~1, REBASE~1 */
    return dialect == PATH_WINDOWS && str_has_char(name, '~');
}

static bool is_listed(enum path_dialect dialect, struct str name, const char *const *list,
                      size_t count)
{
    if (str_endsi(name, STR(".lock")))
        name.n -= 5;
    for (size_t i = 0; i < count; i++)
        if (is_like(dialect, name, list[i]))
            return true;
    return false;
}

/* Cuts the first component off. */
static struct str cut(enum path_dialect dialect, struct str *rest)
{
    size_t end = str_find_char(*rest, path_separator(dialect), 0);
    struct str first = str_slice(*rest, 0, end);
    *rest = str_from(*rest, end + 1);
    return first;
}

static bool nothing_planted(enum path_dialect dialect, struct str rest)
{
    while (rest.n)
        if (is_planted(dialect, cut(dialect, &rest)))
            return false;
    return true;
}

bool git_commit_writes(enum path_dialect dialect, struct str below)
{
    struct str rest = below, first = cut(dialect, &rest);
    if (is_like(dialect, first, "modules"))
        return nothing_planted(dialect, rest);
    if (is_like(dialect, first, "worktrees")) {
        cut(dialect, &rest);
        if (rest.n == 0 || !nothing_planted(dialect, rest))
            return false;
        first = cut(dialect, &rest);
    }
    if (is_like(dialect, first, "info")) {
        struct str name = cut(dialect, &rest);
        return name.n == 0 ||
               is_listed(dialect, name, written_info, sizeof written_info / sizeof *written_info);
    }
    return is_listed(dialect, first, written, sizeof written / sizeof *written);
}
