/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Git finds a repository by the name .git, by a file or a link of that name that leads elsewhere, or by
 * the form of a folder; and it obeys files elsewhere that its config names or that are links in its
 * folder. What of that lies in a root is found here, once, at the start. On Linux the broker
 * recognizes deeper ones by their form when something in them is changed.
 */
#include "launch/repositories.h"

#include <stdio.h>

#include "launch/disk.h"
#include "launch/settings_inside.h"
#include "launch/worktree.h"
#include "policy/git_config.h"
#include "policy/names.h"

/* A start takes no longer in a large folder: so many names are read, and so many folders looked at;
   --verbose says when there are more. */
enum { MOST_CHILDREN = 4096, MOST_FOLDERS = 512 };

/* Beyond these limits the run is refused, because files past them would stay unprotected: names in a
   folder of hooks, bytes of a config, files that the configs of a repository include, keys of the
   environment, relative names that hold in every working tree. git itself goes no deeper and follows
   no more links. */
enum {
    MOST_HOOKS = 4096,
    MOST_CONFIG = 1 << 20,
    MOST_INCLUDED = 256,
    MOST_KEYS = 256,
    MOST_EVERYWHERE = 256,
    GIT_DEPTH = 10,
    GIT_LINKS = 40
};

struct named {
    enum git_config_named kind;
    struct str path;
};

struct search {
    struct settings *s;
    struct arena arena; /* for what is not kept */
    struct str root, from;
    struct str folder; /* of the config that is being read, final */
    struct str tree;   /* its working tree; empty: it holds in all of them */
    struct str git;    /* the git folder at hand, closed by other rules; or empty */
    struct str home;
    size_t folders; /* looked at */
    size_t depth, included;
    struct named everywhere[MOST_EVERYWHERE];
    size_t everywhere_count;
    int rc;
};

static struct str join(struct search *f, struct str folder, struct str name)
{
    return worktree_join(&f->arena, f->s->policy.paths.dialect, folder, name);
}

static bool look(struct search *f, struct str folder, const char *name, struct disk_facts *facts)
{
    struct str path = join(f, folder, str_of(name));
    return path.n && disk_look(&f->arena, path, facts) == 0 && facts->exists;
}

static bool there(struct search *f, struct str folder, const char *name)
{
    struct str path = join(f, folder, str_of(name));
    return path.n && disk_there(path.p);
}

/* The files that git obeys are not all known: the command does not run. */
static void exceed(struct search *f, const char *what, size_t most)
{
    if (f->rc == 0)
        f->rc = settings_fail(
            f->s, CORDON_E_TOOBIG,
            "cannot protect every file that git obeys: %s, and at most %zu are read", what, most);
}

/* ---- what is kept ---- */

static bool is_in_root(const struct search *f, struct str path)
{
    const struct policy_settings *p = &f->s->policy;
    for (size_t i = 0; i < p->roots.count; i++)
        if (path_is_below(p->paths.dialect, p->roots.items[i].path, path))
            return true;
    return false;
}

/* True for a root or a folder around one: closing it would close everything. */
static bool holds_root(const struct search *f, struct str path)
{
    const struct policy_settings *p = &f->s->policy;
    for (size_t i = 0; i < p->roots.count; i++)
        if (path_is_below(p->paths.dialect, path, p->roots.items[i].path))
            return true;
    return false;
}

/* The first protected name on the way from the root. It closes the path already, unless the person
   opened it. */
static enum protected_name name_on_way(const struct search *f, struct str path)
{
    const struct policy_settings *p = &f->s->policy;
    struct path_cursor cursor = {.dialect = p->paths.dialect, .path = path, .pos = path.n};
    enum protected_name name = PROTECTED_NONE;
    struct str component;
    for (size_t i = 0; i < p->roots.count; i++)
        if (path_is_below(cursor.dialect, p->roots.items[i].path, path) &&
            p->roots.items[i].path.n < cursor.pos)
            cursor.pos = p->roots.items[i].path.n;
    cursor.started = true;
    while (name == PROTECTED_NONE && path_next(&cursor, &component))
        name = protected_find(cursor.dialect, component);
    return name;
}

static void keep(struct search *f, struct policy_list *list, struct str path)
{
    for (size_t i = 0; i < list->count; i++)
        if (str_eq(list->items[i].given, path))
            return;
    if (f->rc == 0)
        f->rc = settings_add(f->s, list, path, f->from);
}

static void keep_folder(struct search *f, struct str path)
{
    if (is_in_root(f, path) && name_on_way(f, path) != PROTECTED_GIT)
        keep(f, &f->s->policy.git_dirs, path);
}

static void keep_obeyed(struct search *f, struct str path)
{
    if (f->git.n && path_is_below(f->s->policy.paths.dialect, f->git, path))
        return;
    if (path.n && is_in_root(f, path) && !holds_root(f, path) &&
        name_on_way(f, path) == PROTECTED_NONE)
        keep(f, &f->s->policy.git_obeys, path);
}

/* ---- where a name leads ---- */

/* One step further: the name in the folder, or the folder above. */
static struct str step(struct search *f, struct str folder, struct str name)
{
    if (!name.n || str_eq(name, STR(".")))
        return folder;
    if (str_eq(name, STR("..")))
        return path_parent(PATH_POSIX, folder);
    return join(f, str_eq(folder, STR("/")) ? STR("") : folder, name);
}

/* As the kernel goes, whether or not something is there. Links on the way are kept: whoever exchanges one
   chooses the file. */
static struct str walk_posix(struct search *f, struct str from, struct str given)
{
    struct str at = str_starts(given, STR("/")) ? STR("/") : from, rest = given;
    for (size_t links = 0; rest.n && at.n;) {
        struct str target, name = str_slice(rest, 0, str_find_char(rest, '/', 0));
        struct str next = step(f, at, name);
        rest = str_from(rest, name.n + 1);
        bool link = next.n > at.n && disk_link(&f->arena, next, &target);
        if (!link) {
            at = next.n ? next : STR("/");
            continue;
        }
        keep_obeyed(f, next);
        if (++links > GIT_LINKS)
            return STR_NONE;
        at = str_starts(target, STR("/")) ? STR("/") : at;
        rest = join(f, target, rest);
    }
    return at;
}

/* The path that is given from a folder, which is final; empty: none. */
static struct str walk(struct search *f, struct str from, struct str given)
{
    struct disk_facts facts = {0};
    if (str_starts(given, STR("~/")) && f->home.n)
        given = join(f, f->home, str_from(given, 2));
    if (!given.n)
        return STR_NONE;
    if (disk_dialect() == PATH_POSIX)
        return walk_posix(f, from, given);
    worktree_look_from(&f->arena, &f->s->policy.paths, from, given, &facts);
    return facts.final;
}

/* ---- what a config names ---- */

static void look_at_config(struct search *f, struct str folder, struct str given);

/* A word of a command may be a folder, which git does not run. */
static void keep_named(struct search *f, const struct named *named, struct str tree)
{
    struct disk_facts facts;
    struct str path = walk(f, tree, named->path);
    bool folder = named->kind == GIT_CONFIG_COMMAND && path.n &&
                  disk_look(&f->arena, path, &facts) == 0 && facts.directory;
    if (!folder)
        keep_obeyed(f, path);
}

static void look_at_named(void *context, enum git_config_named kind, struct str path)
{
    struct search *f = context;
    struct named named = {kind, path};
    if (kind == GIT_CONFIG_INCLUDE) {
        if (!f->folder.n || f->depth > GIT_DEPTH)
            return;
        if (f->included++ < MOST_INCLUDED)
            look_at_config(f, f->folder, path);
        else
            exceed(f, "its configs include more files", MOST_INCLUDED);
    } else if (f->tree.n) {
        keep_named(f, &named, f->tree);
    } else if (f->everywhere_count < MOST_EVERYWHERE) {
        named.path = arena_copy(&f->arena, path);
        f->everywhere[f->everywhere_count++] = named;
    } else {
        exceed(f, "your configs name more hooks and programs", MOST_EVERYWHERE);
    }
}

/* A config by its name from a folder. Git looks for the files that it includes beside that name. */
static void look_at_config(struct search *f, struct str folder, struct str given)
{
    auto_buf struct buf text = {0}, what = {0};
    struct git_config_use use = {look_at_named, f};
    struct str before = f->folder, path = walk(f, folder, given);
    size_t name = given.n;
    keep_obeyed(f, path);
    int rc = path.n ? disk_read(path, MOST_CONFIG, &text) : CORDON_E_OPEN;
    if (rc == CORDON_E_TOOBIG)
        buf_fmt(&what, "%.*s has more bytes", STR_ARG(path));
    if (rc == CORDON_E_TOOBIG)
        exceed(f, buf_cstr(&what), MOST_CONFIG);
    if (rc)
        return;
    while (name && given.p[name - 1] != path_separator(disk_dialect()) && given.p[name - 1] != '/')
        name--;
    f->folder = name ? walk(f, folder, str_slice(given, 0, name)) : folder;
    f->depth++;
    git_config_names(buf_str(&text), &use);
    f->depth--;
    f->folder = before;
}

/* ---- configs that hold in every repository ---- */

static void look_at_variable(struct search *f, const char *variable, const char *below)
{
    struct str value;
    if (!disk_variable(&f->arena, str_of(variable), &value) || !value.n)
        return;
    if (below[0])
        value = join(f, value, str_of(below));
    if (value.n)
        look_at_config(f, f->s->policy.paths.cwd, value);
}

static bool numbered(struct search *f, const char *variable, size_t number, struct str *value)
{
    char name[64];
    snprintf(name, sizeof name, "%s%zu", variable, number);
    return disk_variable(&f->arena, str_of(name), value);
}

/* GIT_CONFIG_COUNT says how many there are. */
static void look_at_keys(struct search *f)
{
    struct git_config_use use = {look_at_named, f};
    struct str key, value;
    if (!disk_variable(&f->arena, STR("GIT_CONFIG_COUNT"), &value))
        return;
    for (size_t i = 0; f->rc == 0 && numbered(f, "GIT_CONFIG_KEY_", i, &key); i++) {
        if (i == MOST_KEYS)
            exceed(f, "GIT_CONFIG_COUNT has more keys", MOST_KEYS);
        if (numbered(f, "GIT_CONFIG_VALUE_", i, &value))
            git_config_name(key, value, &use);
    }
}

static void look_everywhere(struct search *f)
{
    f->tree = STR_NONE;
    f->included = 0;
    if (f->home.n) {
        look_at_config(f, f->home, STR(".gitconfig"));
        look_at_config(f, f->home, STR(".config/git/config"));
    }
    if (disk_dialect() == PATH_POSIX)
        look_at_config(f, STR("/"), STR("etc/gitconfig"));
    look_at_variable(f, "XDG_CONFIG_HOME", "git/config");
    look_at_variable(f, "GIT_CONFIG_GLOBAL", "");
    look_at_variable(f, "GIT_CONFIG_SYSTEM", "");
    f->folder = f->s->policy.paths.cwd;
    look_at_keys(f);
}

/* ---- what a git folder leads to ---- */

struct hooks {
    struct search *f;
    struct str folder;
};

static void look_at_hook(void *context, struct str name)
{
    struct hooks *h = context;
    struct str path = join(h->f, h->folder, name), target;
    if (path.n && disk_link(&h->f->arena, path, &target))
        keep_obeyed(h->f, walk(h->f, h->folder, name));
}

/* A git folder, final. Links in it lead to files that git obeys, as its config does. */
static void look_inside(struct search *f, struct str git, struct str tree)
{
    static const char *const obeyed[] = {"hooks", "info", "info/attributes", "config",
                                         "config.worktree"};
    f->git = git;
    f->tree = tree;
    f->included = 0;
    for (size_t i = 0; i < sizeof obeyed / sizeof *obeyed; i++) {
        struct str name = str_of(obeyed[i]);
        if (str_starts(name, STR("config"))) {
            look_at_config(f, git, name);
            continue;
        }
        struct str path = walk(f, git, name);
        keep_obeyed(f, path);
        if (i == 0 && path.n &&
            !disk_children(&f->arena, path, MOST_HOOKS, look_at_hook, &(struct hooks){f, path}))
            exceed(f, "its folder of hooks cannot be read, or has more names", MOST_HOOKS);
    }
    f->git = STR_NONE;
}

/* ---- where git folders are ---- */

/* A folder that git takes for a repository by its form. */
static bool is_repository(struct search *f, struct str folder)
{
    return there(f, folder, "HEAD") && (there(f, folder, "commondir") ||
                                        (there(f, folder, "objects") && there(f, folder, "refs")));
}

/* The folder that a .git leads to, or a bare repository. */
static void look_at_folder(struct search *f, struct str git, struct str tree)
{
    struct disk_facts shared;
    struct str name = join(f, git, STR("commondir"));
    keep_folder(f, git);
    look_inside(f, git, tree);
    if (name.n && worktree_look(&f->arena, &f->s->policy.paths, name, STR(""), &shared) &&
        shared.directory) {
        keep_folder(f, shared.final);
        look_inside(f, shared.final, tree);
    }
}

/* A working tree, if there is a .git in it, or a bare repository. A bare one in a root is like a nested
   one: on Linux the broker knows it by its form, and a push to it works. */
static void look_at_tree(struct search *f, struct str folder)
{
    struct disk_facts git, named;
    bool bare = is_repository(f, folder);
    for (size_t i = 0; i < f->everywhere_count; i++)
        keep_named(f, &f->everywhere[i], folder);
    if (bare && (str_eq(folder, f->root) || disk_dialect() == PATH_WINDOWS))
        look_at_folder(f, folder, folder);
    else if (bare)
        look_inside(f, folder, folder);
    if (!there(f, folder, ".git") || !look(f, folder, ".git", &git))
        return;
    if (git.directory) {
        look_at_folder(f, git.final, folder);
        return;
    }
    if (git.link)
        keep_obeyed(f, git.final);
    if (worktree_look(&f->arena, &f->s->policy.paths, git.final, STR("gitdir: "), &named) &&
        named.directory)
        look_at_folder(f, named.final, folder);
}

static void look_at_child(void *context, struct str name)
{
    struct search *f = context;
    struct disk_facts facts;
    struct str path = ++f->folders <= MOST_FOLDERS ? join(f, f->root, name) : STR_NONE;
    if (!path.n || str_eq(name, STR(".git")) || !(there(f, path, "HEAD") || there(f, path, ".git")))
        return;
    if (disk_look(&f->arena, path, &facts) == 0 && facts.exists && facts.directory)
        look_at_tree(f, facts.final);
}

/* The repository around a root: its config may name files in the root. */
static void look_above(struct search *f)
{
    struct str folder = path_parent(f->s->policy.paths.dialect, f->root);
    while (folder.n) {
        if (there(f, folder, ".git")) {
            look_at_tree(f, folder);
            return;
        }
        folder = path_parent(f->s->policy.paths.dialect, folder);
    }
}

/* A root that is a worktree leads to the git folder of its repository. */
static int add_worktree(struct settings *s, const struct policy_entry *root)
{
    struct worktree git;
    if (!root->path.n || !worktree_find(&s->arena, &s->policy.paths, root->path, &git))
        return 0;
    int rc = settings_add(s, &s->policy.git_dirs, git.shared, root->from);
    return rc ? rc : settings_add(s, &s->policy.git_dirs, git.own, root->from);
}

int repositories_find(struct settings *s)
{
    int rc = 0;
    for (size_t i = 0; i < s->policy.roots.count && rc == 0 && !s->foreign; i++)
        rc = add_worktree(s, &s->policy.roots.items[i]);
    for (size_t i = 0; i < s->policy.roots.count && rc == 0 && !s->foreign; i++) {
        struct search f = {.s = s,
                           .root = s->policy.roots.items[i].path,
                           .from = s->policy.roots.items[i].from,
                           .home = s->policy.machine.home};
        if (!f.root.n)
            continue;
        look_everywhere(&f);
        look_at_tree(&f, f.root);
        look_above(&f);
        bool all = disk_children(&f.arena, f.root, MOST_CHILDREN, look_at_child, &f);
        if (!all || f.folders > MOST_FOLDERS)
            s->policy.large_root = f.root;
        arena_free(&f.arena);
        rc = f.rc;
    }
    return rc;
}
