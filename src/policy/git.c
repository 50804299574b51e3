/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files that a commit writes below a git folder. A list of what may be written, not of what may
 * not: git gains files that it runs or obeys, and an alias of a denied name is not on the list
 * either.
 *
 * Not on it, because git or its user runs what they say: hooks, config and config.worktree,
 * commondir and gitdir (another repository's hooks), info/attributes (filters), rebase-merge and
 * rebase-apply (exec lines, a strategy), sequencer/opts (a strategy), remotes and branches
 * (addresses), objects/info/alternates (another repository's objects), fsmonitor--daemon.ipc (whom
 * git asks). sequencer/todo is: outside of a rebase git takes no exec line.
 */
#include "policy/names.h"

#include "policy/casefold.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Files, and folders with everything below; "*" at either end matches any characters. */
static const char *const written[] = {
    "objects",      "refs",     "logs",          "HEAD",
    "index",        "index.*",  "packed-refs",   "packed-refs.new",
    "*_HEAD",       "*_MSG",    "MERGE_MODE",    "MERGE_AUTOSTASH",
    "*_EDITMSG",    "BISECT_*", "AUTO_MERGE",    "shallow",
    "gc.pid",       "gc.log",   "sharedindex.*", "sharedindex_*",
    "next-index-*", "reftable", "lfs",           "ORIG_HEAD",
};

static const char *const written_info[] = {"exclude", "refs", "refs_*", "sparse-checkout"};
static const char *const written_sequencer[] = {"head", "todo", "abort-safety"};

/* Below objects/info. */
static const char *const denied_objects[] = {"alternates", "http-alternates"};

/* Submodules and worktrees: what remains denied, at any depth. */
static const char *const planted[] = {
    "hooks", "config*", "commondir", "gitdir", "attributes", "rebase-merge", "rebase-apply", ".git",
};

static bool is_like(enum path_dialect dialect, struct str name, const char *pattern)
{
    /* Where case matters most names are told apart by their first letter. */
    if (dialect == PATH_POSIX && pattern[0] != '*' && (name.n == 0 || name.p[0] != pattern[0]))
        return false;
    struct str p = str_of(pattern);
    if (p.p[0] == '*') {
        p = str_from(p, 1);
        return name.n >= p.n && fold_equal(dialect, FOLD_NARROW, str_from(name, name.n - p.n), p);
    }
    if (p.p[p.n - 1] == '*') {
        p.n--;
        /* For denied names: a folded name may be longer or shorter than its spelling. */
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
    /* In any case: Linux, too, has file systems that ignore it. */
    for (size_t i = 0; i < COUNT(planted); i++)
        if (is_like(PATH_WINDOWS, name, planted[i]) ||
            fold_equal(PATH_WINDOWS, FOLD_WIDE, name, str_of(planted[i])))
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

/* Folders of which only some files are written; those after rest. */
static bool writes_part(enum path_dialect dialect, struct str rest, const char *const *list,
                        size_t count)
{
    struct str name = cut(dialect, &rest);
    return name.n == 0 || is_listed(dialect, name, list, count);
}

static bool writes_object(enum path_dialect dialect, struct str rest)
{
    struct str folder = cut(dialect, &rest), name = cut(dialect, &rest);
    for (size_t i = 0; i < COUNT(denied_objects); i++)
        if (fold_equal(dialect, FOLD_WIDE, folder, STR("info")) &&
            fold_equal(dialect, FOLD_WIDE, name, str_of(denied_objects[i])))
            return false;
    /* ALTERN~1 */
    return dialect != PATH_WINDOWS || !str_has_char(name, '~');
}

/* "sequencer/opts" and "info/alternates" at any depth of a submodule's folder. */
static bool no_pair_planted(enum path_dialect dialect, struct str rest)
{
    struct str before = STR_NONE;
    while (rest.n) {
        struct str name = cut(dialect, &rest);
        bool info = fold_equal(dialect, FOLD_WIDE, before, STR("info"));
        if (fold_equal(dialect, FOLD_WIDE, before, STR("sequencer")) &&
            !is_listed(dialect, name, written_sequencer, COUNT(written_sequencer)))
            return false;
        for (size_t i = 0; info && i < COUNT(denied_objects); i++)
            if (fold_equal(dialect, FOLD_WIDE, name, str_of(denied_objects[i])))
                return false;
        before = name;
    }
    return true;
}

bool git_commit_writes(enum path_dialect dialect, struct str below)
{
    struct str rest = below, first = cut(dialect, &rest);
    if (is_like(dialect, first, "modules"))
        return nothing_planted(dialect, rest) && no_pair_planted(dialect, rest);
    if (is_like(dialect, first, "worktrees")) {
        cut(dialect, &rest);
        if (rest.n == 0 || !nothing_planted(dialect, rest))
            return false;
        first = cut(dialect, &rest);
    }
    if (is_like(dialect, first, "info"))
        return writes_part(dialect, rest, written_info, COUNT(written_info));
    if (is_like(dialect, first, "sequencer"))
        return writes_part(dialect, rest, written_sequencer, COUNT(written_sequencer));
    if (is_like(dialect, first, "objects"))
        return writes_object(dialect, rest);
    /* Git shows and checks out other content for what one of these names. */
    if (is_like(dialect, first, "refs") &&
        fold_equal(dialect, FOLD_WIDE, cut(dialect, &rest), STR("replace")))
        return false;
    return is_listed(dialect, first, written, COUNT(written));
}

/* Closed even where a commit may write. These are found in any folder that has the form of a
   repository. */
static const char *const obeyed[] = {
    "hooks",        "config",     "config.worktree", "commondir", "gitdir",
    "info",         "remotes",    "branches",        "sequencer", "rebase-merge",
    "rebase-apply", "fsmonitor*", "MERGE_RR",        "rr-cache",
};

/* The same; but these names are common elsewhere. */
static const char *const common[] = {"modules", "worktrees", "description"};

bool git_knows(enum path_dialect dialect, struct str below)
{
    struct str first = cut(dialect, &below);
    bool alias = dialect == PATH_WINDOWS && str_has_char(first, '~');
    return first.n == 0 || alias || is_listed(dialect, first, obeyed, COUNT(obeyed)) ||
           is_listed(dialect, first, common, COUNT(common)) ||
           is_listed(dialect, first, written, COUNT(written));
}

bool git_tells(struct str name)
{
    static const char *const form[] = {"HEAD", "objects", "refs", "index", "sharedindex.*"};
    return is_listed(PATH_POSIX, name, obeyed, COUNT(obeyed)) ||
           is_listed(PATH_POSIX, name, form, COUNT(form));
}

/* A submodule can have any name, so any folder of modules may be the one of a submodule; a branch
   of it that is called "index" is taken for one too. */
bool git_is_index(enum path_dialect dialect, struct str below)
{
    struct str rest = below, first = cut(dialect, &rest), last = path_leaf(dialect, below);
    if (is_like(dialect, first, "worktrees")) {
        cut(dialect, &rest);
        first = cut(dialect, &rest);
    }
    bool modules = fold_equal(dialect, FOLD_WIDE, first, STR("modules"));
    struct str name = modules ? last : rest.n ? STR_NONE : first;
    bool shared = is_like(dialect, name, "sharedindex.*") && !str_endsi(name, STR(".lock"));
    return shared || fold_equal(dialect, FOLD_WIDE, name, STR("index"));
}

static const char *const shared[] = {
    "objects", "refs",     "packed-refs", "packed-refs.new", "shallow", "gc.pid",
    "gc.log",  "reftable", "lfs",         "rr-cache",
};

/* Below refs: each worktree has its own of these. */
static const char *const unshared[] = {"bisect", "worktree", "rewritten"};

bool git_shared_writes(enum path_dialect dialect, struct str below)
{
    struct str rest = below, first = cut(dialect, &rest);
    bool other = is_like(dialect, first, "worktrees");
    if (other) {
        cut(dialect, &rest);
        first = cut(dialect, &rest);
    }
    /* gc shortens the logs of all, each of them under the lock of its HEAD. */
    if (is_like(dialect, first, "HEAD.lock") || is_like(dialect, first, "logs"))
        return true;
    if (other || !is_listed(dialect, first, shared, COUNT(shared)))
        return false;
    struct str second = cut(dialect, &rest);
    for (size_t i = 0; is_like(dialect, first, "refs") && i < COUNT(unshared); i++)
        if (fold_equal(dialect, FOLD_WIDE, second, str_of(unshared[i])))
            return false;
    return true;
}

/* The files that --git=full opens in addition: those of a rebase, whose exec lines git runs when it
   continues, and the files of a new worktree. Anything planted once and obeyed ever after remains
   closed. */
bool git_full_writes(enum path_dialect dialect, struct str below, bool exists)
{
    struct str rest = below, first = cut(dialect, &rest);
    if (is_like(dialect, first, "rebase-merge") || is_like(dialect, first, "rebase-apply") ||
        is_like(dialect, first, "sequencer"))
        return true;
    if (is_like(dialect, first, "worktrees")) {
        struct str name = cut(dialect, &rest), file = cut(dialect, &rest);
        if (name.n == 0 || file.n == 0 || is_like(dialect, file, "locked") ||
            is_like(dialect, file, "rebase-merge") || is_like(dialect, file, "rebase-apply"))
            return true;
        if (is_like(dialect, file, "commondir") || is_like(dialect, file, "gitdir"))
            return rest.n == 0 && !exists;
    }
    return git_commit_writes(dialect, below);
}

/* Folders of data: a branch may be named like a file that git obeys. */
static const char *const data[] = {"objects", "refs", "logs", "reftable", "lfs"};

static bool is_data(struct str first)
{
    for (size_t i = 0; i < COUNT(data); i++)
        if (str_eq(first, str_of(data[i])))
            return true;
    return false;
}

static bool is_name(enum path_dialect dialect, struct str name, const char *other)
{
    return fold_equal(dialect, FOLD_WIDE, name, str_of(other));
}

/* An unfinished rebase names commands, and the options of an unfinished cherry-pick a program. */
static bool is_unfinished(enum path_dialect dialect, struct str before, struct str name)
{
    return is_name(dialect, name, "rebase-merge") || is_name(dialect, name, "rebase-apply") ||
           (is_name(dialect, before, "sequencer") &&
            !is_listed(dialect, name, written_sequencer, COUNT(written_sequencer)));
}

/* Conflicts that git resolves again when it commits: it reads and writes the files named there,
   wherever they are. */
static bool is_rerere(enum path_dialect dialect, struct str name)
{
    return is_like(dialect, name, "MERGE_RR") || is_name(dialect, name, "rr-cache");
}

/* At any depth, because the folders of submodules and worktrees have a config of their own. */
enum git_part git_new_part(enum path_dialect dialect, struct str below, bool full)
{
    struct str rest = below, first = cut(dialect, &rest);
    struct str before = STR_NONE;
    bool worktrees = is_name(dialect, first, "worktrees");
    if (is_data(first))
        return GIT_KEEPS;
    for (struct str name = first; name.n; before = name, name = cut(dialect, &rest)) {
        if ((!full && is_unfinished(dialect, before, name)) || is_rerere(dialect, name))
            return GIT_OBEYS;
        if (is_name(dialect, name, "config"))
            return rest.n ? GIT_OBEYS : GIT_CONFIG;
        if (is_name(dialect, name, "config.worktree"))
            return GIT_OBEYS;
        if (is_name(dialect, name, "commondir") || is_name(dialect, name, "gitdir"))
            return full && worktrees ? GIT_KEEPS : GIT_OBEYS;
        if (is_name(dialect, name, "hooks"))
            return !rest.n                                         ? GIT_HOOKS
                   : str_ends(cut(dialect, &rest), STR(".sample")) ? GIT_KEEPS
                                                                   : GIT_OBEYS;
    }
    return GIT_KEEPS;
}
