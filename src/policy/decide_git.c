/* SPDX-License-Identifier: Apache-2.0 */
/* The decision about a name in a git folder: what a commit needs, what would run commands later. */
#include "policy/decide_inside.h"

/* The folder or file .git itself. */
static enum cordon_verdict decide_git(struct policy_question *q, bool top)
{
    const struct policy_request *r = q->request;
    bool folder = r->facts.directory || r->path.folder;
    /* A folder, or the file of a worktree or submodule. */
    bool made = r->access == POLICY_CREATE;
    bool moved_in = r->access == POLICY_RENAME_TO && folder && r->facts.seen;
    bool full = q->policy->settings.git == POLICY_GIT_FULL;
    bool new = !top || full;
    /* Git goes where a link or such a file leads, and that may be a folder with any config. */
    if (q->guarded && (r->facts.symlink || (!folder && !full)))
        new = false;
    if (new && !r->facts.exists && (made || moved_in))
        return allow(q, RULE_GIT_NEW, ZONE_GIT_NEW, 0);
    if (made && folder && r->facts.exists) /* made before */
        return allow(q, RULE_GIT_COMMIT, ZONE_GIT, 0);
    if (!top && r->access == POLICY_DELETE && r->facts.directory && r->facts.takes_head)
        return allow(q, RULE_GIT_REMOVED, ZONE_GIT, 0);
    return deny_name(q, RULE_PROTECTED_GIT, protected_spelled(PROTECTED_GIT));
}

static bool appears(const struct policy_request *r)
{
    return r->access == POLICY_CREATE || r->access == POLICY_RENAME_TO ||
           r->access == POLICY_LINK_TO;
}

/* To git a folder without HEAD is not a repository; one that was disabled is not revived. */
static bool revives(const struct policy_request *r, struct str below)
{
    return r->facts.takes_head && appears(r) && !r->facts.exists && str_eqi(below, STR("HEAD"));
}

/* When the user commits, git writes through a symbolic link in its folder: to its own config, or
   anywhere outside. It never creates one itself. */
static bool leads_away(const struct policy_request *r)
{
    return r->facts.symlink && appears(r);
}

/* With a HEAD in it the root itself becomes a bare repository to git, which runs the commands in
   its config. */
bool decide_makes_bare(const struct policy_question *q, struct str component, bool last)
{
    bool posix = q->policy->settings.paths.dialect == PATH_POSIX;
    bool head = posix ? str_eq(component, STR("HEAD")) : str_eqi(component, STR("HEAD"));
    return head && last && q->policy->settings.git != POLICY_GIT_FULL &&
           (appears(q->request) || q->request->access == POLICY_WRITE);
}

/* Git writes to and reads from the names in an index, wherever they lead. So one only comes by a
   move of a file whose names were judged, and gets no second name by which it could be changed. */
static bool forges_index(const struct policy_question *q, struct str below)
{
    const struct policy_request *r = q->request;
    enum path_dialect dialect = q->policy->settings.paths.dialect;
    bool takes = appears(r) || r->access == POLICY_WRITE || r->access == POLICY_LINK_FROM ||
                 r->access == POLICY_REPARSE;
    /* On Windows a name that ends in a separator can become a file. */
    bool folder = r->path.folder && (dialect == PATH_POSIX || r->facts.directory);
    if (r->access == POLICY_CREATE && folder) /* of a submodule with that name */
        return false;
    return takes && git_is_index(dialect, below) &&
           (r->access != POLICY_RENAME_TO || !r->facts.index_judged);
}

/* git branch -d and -m write config.lock and rename it; nobody reads it under that name, and it
   becomes the config only if the broker has seen that nothing but sections of branches differs, or,
   with --git=full, that only harmless keys are added. */
static bool is_branch_config(const struct policy_request *r, struct str below)
{
    if (!r->facts.guards_new || r->facts.symlink || r->facts.directory || r->path.folder)
        return false;
    if (str_eq(below, STR("config")))
        return r->access == POLICY_RENAME_TO && r->facts.config_judged;
    return str_eq(below, STR("config.lock")) &&
           (r->access == POLICY_CREATE || r->access == POLICY_WRITE || r->access == POLICY_DELETE ||
            r->access == POLICY_RENAME_FROM || r->access == POLICY_ATTRIBUTES);
}

/* git init tries whether links work, by one with a random name: t and six more. */
static bool is_trial(struct str below)
{
    bool trial = below.n == 7 && below.p[0] == 't';
    for (size_t i = 1; i < below.n && trial; i++)
        trial = ascii_is_alnum(below.p[i]);
    return trial;
}

/* The parts of a submodule's git folder that git submodule add makes, beside its data. */
static bool adds_submodule(const struct policy_question *q, struct str below)
{
    const struct policy_request *r = q->request;
    struct str leaf = path_leaf(PATH_POSIX, below);
    struct str folder = path_leaf(PATH_POSIX, path_parent(PATH_POSIX, below));
    if (!r->facts.guards_new || q->policy->settings.git != POLICY_GIT_FULL ||
        !str_starts(below, STR("modules/")))
        return false;
    if (r->facts.symlink)
        return r->access == POLICY_CREATE && is_trial(leaf);
    if (str_eq(leaf, STR("hooks")))
        return r->access == POLICY_CREATE && r->path.folder;
    if (str_eq(folder, STR("hooks")) && str_ends(leaf, STR(".sample")))
        return r->access == POLICY_CREATE && !r->facts.exists && !r->path.folder;
    bool planted = !git_commit_writes(PATH_POSIX, path_parent(PATH_POSIX, below));
    return !planted && (is_branch_config(r, leaf) ||
                        (r->access == POLICY_ATTRIBUTES && str_eq(leaf, STR("config"))));
}

/* Below a git folder under the rules of a commit; below is empty for the folder itself. */
enum cordon_verdict decide_commit(struct policy_question *q, struct str below, bool top)
{
    const struct policy_request *r = q->request;
    enum path_dialect dialect = q->policy->settings.paths.dialect;
    if (below.n == 0)
        return decide_git(q, top);
    /* Existing files of a nested repository can be removed, so nothing in one counts as new. */
    bool written = q->policy->settings.git == POLICY_GIT_FULL
                       ? git_full_writes(dialect, below, r->facts.exists || !top)
                       : git_commit_writes(dialect, below);
    if (r->access != POLICY_REPARSE && r->access != POLICY_SECURITY && written && !leads_away(r) &&
        (top || !revives(r, below)))
        return forges_index(q, below) ? deny(q, RULE_GIT_INDEX, 0)
                                      : allow(q, RULE_GIT_COMMIT, ZONE_GIT, 0);
    if (top && (is_branch_config(r, below) || adds_submodule(q, below)))
        return allow(q, RULE_GIT_COMMIT, ZONE_GIT, 0);
    if (!top && r->access == POLICY_DELETE && r->facts.takes_head)
        return allow(q, RULE_GIT_REMOVED, ZONE_GIT, 0);
    return deny_name(q, RULE_PROTECTED_GIT, protected_spelled(PROTECTED_GIT));
}

enum cordon_verdict decide_found(struct policy_question *q, struct str below)
{
    const struct policy_request *r = q->request;
    enum path_dialect dialect = q->policy->settings.paths.dialect;
    bool form =
        str_eq(below, STR("HEAD")) || str_eq(below, STR("objects")) || str_eq(below, STR("refs"));
    bool full = q->policy->settings.git == POLICY_GIT_FULL;
    bool written = full ? git_full_writes(dialect, below, true) : git_commit_writes(dialect, below);
    bool branch = q->policy->settings.git != POLICY_GIT_PROTECT && is_branch_config(r, below);
    if (forges_index(q, below))
        return deny(q, RULE_GIT_INDEX, 0);
    bool taken = r->access == POLICY_DELETE || r->access == POLICY_RENAME_FROM;
    if (branch || (written && !leads_away(r) && r->access != POLICY_REPARSE && !(form && taken)))
        return allow(q, RULE_ROOTS_INSIDE, ZONE_ROOT, q->match.hit[IMAGE_ROOT]);
    if (r->access == POLICY_DELETE)
        return allow(q, RULE_GIT_REMOVED, ZONE_ROOT, 0);
    return deny_name(q, RULE_PROTECTED_GIT, protected_spelled(PROTECTED_GIT));
}

/* In a repository that this run made: git enters it if the one around it lists it, and runs what
   its config and its hooks say. */
enum cordon_verdict decide_new(struct policy_question *q, struct str below)
{
    const struct policy_request *r = q->request;
    bool full = q->policy->settings.git == POLICY_GIT_FULL;
    bool changes = appears(r) || r->access == POLICY_WRITE || r->access == POLICY_REPARSE;
    if (below.n == 0)
        return r->facts.symlink && changes ? deny_name(q, RULE_GIT_COMMANDS, "this link")
                                           : CORDON_ALLOW;
    enum git_part part = git_new_part(q->policy->settings.paths.dialect, below, full);
    if (part == GIT_CONFIG && r->access == POLICY_LINK_FROM)
        return deny_name(q, RULE_GIT_COMMANDS, "its config");
    if (forges_index(q, below))
        return deny(q, RULE_GIT_INDEX, 0);
    if (!changes)
        return CORDON_ALLOW;
    if (r->facts.symlink && appears(r) && !is_trial(below))
        return deny_name(q, RULE_GIT_COMMANDS, "this link");
    switch (part) {
    case GIT_KEEPS: return CORDON_ALLOW;
    case GIT_HOOKS:
        return r->access == POLICY_CREATE && r->path.folder
                   ? CORDON_ALLOW
                   : deny_name(q, RULE_GIT_COMMANDS, "its hooks");
    case GIT_CONFIG:
        return (r->access == POLICY_RENAME_TO ||
                (r->access == POLICY_CREATE && !r->facts.exists)) &&
                       r->facts.config_judged
                   ? CORDON_ALLOW
                   : deny_name(q, RULE_GIT_COMMANDS, "its config");
    case GIT_OBEYS: break;
    }
    return deny_name(q, RULE_GIT_COMMANDS, "this file");
}
