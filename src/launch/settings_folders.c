/* SPDX-License-Identifier: Apache-2.0 */
/* The folders of a policy: the current one, the roots, the paths of rules and the temp folder,
   looked up on the disk. */
#include "launch/disk.h"
#include "launch/repositories.h"
#include "launch/settings_inside.h"

int settings_path(struct settings *s, struct str given, struct path *out)
{
    size_t room = given.n + s->policy.paths.cwd.n + 16;
    char *p = arena_alloc(&s->arena, room);
    if (!p)
        return CORDON_E_NOMEM;
    return path_normalize(&s->policy.paths, given, p, room, out);
}

/* A link on the way from the folder, which has none itself, down to the path: an earlier run may
   have put it there. */
static bool has_link_below(struct str folder, struct str path, struct str final)
{
    return disk_dialect() == PATH_POSIX && folder.n && path_is_below(PATH_POSIX, folder, path) &&
           !str_eq(path, final);
}

/* --cwd, or the current directory, which does not exist in a foreign dialect. */
int settings_choose_cwd(struct settings *s)
{
    const struct settings_option *o = settings_option_of(s, OPTION_CWD);
    if (!s->foreign) {
        s->policy.paths.cwd = disk_cwd(&s->arena);
        s->cwd_is_link = !o && disk_cwd_is_link();
    }
    if (o) {
        struct path path = {0};
        struct disk_facts facts;
        if (settings_path(s, o->value, &path) || path.class == PATH_MALFORMED)
            return settings_bad_value(s, o, "a folder");
        if (!s->foreign &&
            (disk_look(&s->arena, path.text, &facts) || !facts.exists || !facts.directory))
            return settings_fail(s, CORDON_E_VALUE, "--cwd %.*s: folder not found",
                                 STR_ARG(o->value));
        s->cwd_is_link = !s->foreign && (facts.link || has_link_below(s->policy.paths.cwd,
                                                                      path.text, facts.final));
        s->policy.paths.cwd = s->foreign ? path.text : facts.final;
    }
    s->cwd = s->policy.paths.cwd;
    return 0;
}

/* A mistake in the spelling of a folder that does not exist; NULL if there is none. */
static const char *spelling_hint(struct settings *s, struct str given)
{
    struct path path = {0};
    struct disk_facts facts;
    char *copy = (char *)arena_copy(&s->arena, given).p;
    if (str_has_char(given, '*'))
        return "wildcards are not supported; name the folder";
    if (str_starts(given, STR("~")))
        return "the shell expands ~ only at the start of a word: leave a blank before it";
    if (str_has_char(given, ','))
        return "give --root once for each folder";
    if (str_starts(given, STR("\xE2\x80\x9C")) || str_starts(given, STR("'")))
        return "its quotes are not those of this shell; type \"…\"";
    if (disk_dialect() != PATH_POSIX || !copy || !str_has_char(given, '\\'))
        return NULL;
    for (size_t i = 0; i < given.n; i++)
        copy[i] = copy[i] == '\\' ? '/' : copy[i];
    bool there = settings_path(s, (struct str){copy, given.n}, &path) == 0 &&
                 disk_look(&s->arena, path.text, &facts) == 0 && facts.exists;
    return there ? "folders are separated by / here" : NULL;
}

/* What to do about a root that does not exist: an option, or the key of a policy file. */
static const char *folder_hint(struct settings *s, const struct policy_entry *root)
{
    const char *spelling = spelling_hint(s, root->given);
    if (spelling)
        return spelling;
    return str_starts(root->from, STR("--")) ? "create it first, or use --create-root"
                                             : "create it first, or list it in createRoots";
}

/* A root must exist; everything is compared with its final path. */
static int resolve_root(struct settings *s, struct policy_entry *root)
{
    struct path path = {0};
    struct disk_facts facts;
    if (settings_path(s, root->given, &path) || path.class == PATH_MALFORMED)
        return settings_fail(s, CORDON_E_VALUE, "%.*s %.*s: this is not a path",
                             STR_ARG(root->from), STR_ARG(root->given));
    if (s->foreign)
        return 0;
    bool created = root->create || str_eq(root->from, STR("--create-root"));
    bool looked = disk_look(&s->arena, path.text, &facts) == 0, found = looked && facts.exists;
    if (looked && !facts.link && !s->policy.allow_broad_root &&
        has_link_below(s->cwd, path.text, facts.final))
        return settings_fail(
            s, CORDON_E_REFUSED,
            "%.*s %.*s: a link on the way leads to %.*s; name that (a planted link would "
            "widen the sandbox)",
            STR_ARG(root->from), STR_ARG(root->given), STR_ARG(facts.final));
    /* Only a run creates it, and nothing that would be refused then. */
    if (looked && !found && created && s->make_temp &&
        (s->policy.allow_broad_root ||
         !policy_broad_root(s->policy.paths.dialect, &s->policy.machine, path.text)) &&
        disk_make(&s->arena, facts.final)) {
        struct str made = facts.final;
        root->made = found = disk_look(&s->arena, path.text, &facts) == 0 && facts.exists;
        /* A run that goes on elsewhere may have exchanged a folder on the way for a link. */
        if (found && !str_eq(facts.final, made))
            return settings_fail(s, CORDON_E_REFUSED,
                                 "%.*s %.*s: a folder on the way became a link meanwhile",
                                 STR_ARG(root->from), STR_ARG(root->given));
    }
    /* What was looked at when the cache was chosen. */
    if (found && str_starts(root->from, STR("--for ")) && !str_eq(facts.final, path.text))
        return settings_fail(s, CORDON_E_REFUSED, "%.*s: %.*s became a link meanwhile",
                             STR_ARG(root->from), STR_ARG(root->given));
    if (!found && !s->make_temp && (created || str_starts(root->from, STR("--for ")))) {
        root->path = path.text;
        return 0;
    }
    if (!found)
        return settings_fail(s, CORDON_E_VALUE, "%.*s %.*s: folder not found; %s",
                             STR_ARG(root->from), STR_ARG(root->given), folder_hint(s, root));
    if (!facts.directory)
        return settings_fail(s, CORDON_E_VALUE, "%.*s %.*s: this is a file; a root is a folder",
                             STR_ARG(root->from), STR_ARG(root->given));
    root->path = facts.final;
    /* A person who names the whole path means that folder. */
    root->link = facts.link || (s->cwd_is_link && str_eq(path.text, s->cwd) &&
                                !str_starts(root->given, STR("/")));
    return 0;
}

/* Where a rule's path ends; what does not exist yet keeps its spelling. */
static void resolve_entries(struct settings *s, struct policy_list *list)
{
    for (size_t i = 0; i < list->count && !s->foreign; i++) {
        struct policy_entry *entry = &list->items[i];
        struct path path = {0};
        struct disk_facts facts;
        if (entry->path.n || str_starts(entry->given, STR("@")))
            continue;
        if (settings_path(s, entry->given, &path) == 0 && path.class == PATH_FILE &&
            disk_look(&s->arena, path.text, &facts) == 0)
            entry->path = facts.final;
    }
}

/* Why the caller's temp folder cannot be used as it is; NULL if it can. The usual ones may be links
   made by the system. */
static const char *broad_temp(const struct settings *s, struct str given,
                              const struct disk_facts *facts)
{
    const struct policy_settings *p = &s->policy;
    if (p->allow_broad_root || p->no_temp || p->mode != POLICY_WORKSPACE_WRITE)
        return NULL;
    if (facts->link && !str_eq(given, STR("/tmp")) && !str_eq(given, STR("/var/tmp")))
        return "it is a link";
    return policy_broad_root(p->paths.dialect, &p->machine, facts->final);
}

/* Inside another run TMPDIR names a folder that that run made, and goes on naming it; the temp
   folder is the one around it. */
static struct str caller_temp(struct settings *s, struct str folder)
{
    struct str above = path_parent(disk_dialect(), folder), name = str_from(folder, above.n + 1);
    bool made = disk_dialect() == PATH_POSIX && above.n > 1 &&
                (str_starts(name, STR("cordon-run-")) || str_starts(name, STR("cordon-session-")));
    s->keeps_temp = s->keeps_temp || made;
    return made ? above : folder;
}

/* With --temp=own a session's runs have a folder of their own as TMPDIR, and a single run has where
   it needs one; temp_make() decides. Where none can be made, TMPDIR stays as it is. */
static int choose_own_temp(struct settings *s)
{
    const struct policy_settings *p = &s->policy;
    if (p->temp != POLICY_TEMP_OWN || !s->make_temp || s->keeps_temp || p->no_temp ||
        p->mode != POLICY_WORKSPACE_WRITE)
        return 0;
    for (size_t i = 0; i < p->roots.count; i++)
        if (path_is_below(PATH_POSIX, p->roots.items[i].path, p->temp_path))
            return 0;
    int rc = s->make_temp(s, p->temp_path, &s->policy.temp_own);
    if (rc != CORDON_E_OPEN)
        return rc;
    buf_reset(&s->error);
    return 0;
}

static int choose_temp(struct settings *s)
{
    struct str value;
    struct disk_facts facts;
    struct str variable = disk_dialect() == PATH_WINDOWS ? STR("TEMP") : STR("TMPDIR");
    bool made = false;
    switch (s->policy.temp) {
    case POLICY_TEMP_PRIVATE:
    case POLICY_TEMP_SESSION: made = true; break;
    case POLICY_TEMP_SHARED: break;
    case POLICY_TEMP_OWN:
        /* Only on Linux is it known who created what there. */
        if (s->policy.paths.dialect == PATH_WINDOWS)
            return settings_fail(s, CORDON_E_VALUE,
                                 "--temp=own is for Linux; take private or session=ID");
        break;
    }
    if (s->foreign || (made && !s->make_temp))
        return 0;
    if (!disk_variable(&s->arena, variable, &value)) {
        if (disk_dialect() == PATH_WINDOWS)
            return 0;
        value = STR("/tmp");
    }
    bool there = disk_look(&s->arena, value, &facts) == 0 && facts.exists;
    if (made && !there)
        return settings_fail(s, CORDON_E_OPEN, "--temp: folder not found: %.*s", STR_ARG(value));
    if (made)
        return s->make_temp(s, facts.final, &s->policy.temp_path);
    const char *why = there ? broad_temp(s, value, &facts) : NULL;
    if (why)
        return settings_fail(
            s, CORDON_E_REFUSED,
            "the temp folder %.*s: %s; set %.*s to another one, or use --temp=private",
            STR_ARG(value), why, STR_ARG(variable));
    if (!there)
        return 0;
    s->policy.temp_path =
        s->policy.temp == POLICY_TEMP_OWN ? caller_temp(s, facts.final) : facts.final;
    return choose_own_temp(s);
}

/* The broad folders of another system, at their usual places. */
static struct policy_machine assumed_machine(enum path_dialect dialect)
{
    struct policy_machine windows = {.windows = STR("C:\\Windows"),
                                     .program_files = STR("C:\\Program Files"),
                                     .program_files_x86 = STR("C:\\Program Files (x86)"),
                                     .program_data = STR("C:\\ProgramData")};
    return dialect == PATH_WINDOWS ? windows : (struct policy_machine){0};
}

int settings_resolve(struct settings *s)
{
    struct policy_settings *p = &s->policy;
    int rc = 0;
    if (s->foreign)
        p->machine = assumed_machine(p->paths.dialect);
    bool current = p->roots.count == 0 || (s->codex && p->mode == POLICY_WORKSPACE_WRITE);
    /* A network that was switched off explicitly stays off. */
    if (s->with_hosts && p->net == POLICY_NET_OFF && p->net_from.n == 0) {
        p->net = POLICY_NET_ALLOW;
        p->net_from = STR("--for");
    }
    if (current && p->paths.cwd.n)
        rc = settings_add(s, &p->roots, STR("."), STR("the current directory"));
    size_t given = p->roots.count;
    for (size_t i = 0; i < given && rc == 0; i++)
        rc = resolve_root(s, &p->roots.items[i]);
    if (rc == 0)
        rc = settings_open_caches(s, given ? p->roots.items[0].path : p->paths.cwd);
    for (size_t i = 0; i < s->extra_roots.count && rc == 0; i++)
        rc =
            settings_add(s, &p->roots, s->extra_roots.items[i].given, s->extra_roots.items[i].from);
    for (size_t i = given; i < p->roots.count && rc == 0; i++)
        rc = resolve_root(s, &p->roots.items[i]);
    if (rc == 0 && !p->git_later)
        rc = repositories_find(s);
    resolve_entries(s, &p->deny_write);
    resolve_entries(s, &p->deny_read);
    resolve_entries(s, &p->allow_read);
    resolve_entries(s, &p->sockets);
    resolve_entries(s, &p->self);
    return rc ? rc : choose_temp(s);
}
