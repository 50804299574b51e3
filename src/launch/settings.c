/* SPDX-License-Identifier: Apache-2.0 */
/* From options to policy: names and values first, then roots and folders resolved on the disk. */
#include "launch/settings.h"

#include <stdarg.h>
#include <stdio.h>

#include "launch/disk.h"
#include "launch/worktree.h"
#include "policy/load.h"
#include "policy/presets.h"

enum option_id {
#define OPTION(id, name, value, repeats, help) OPTION_##id,
#include "launch/options.def"
#undef OPTION
};

const struct settings_info settings_infos[] = {
#define OPTION(id, name, value, repeats, help) {STR(name), STR(value), STR(help), repeats},
#include "launch/options.def"
#undef OPTION
};
const size_t settings_info_count = sizeof settings_infos / sizeof *settings_infos;

struct settings_option {
    enum option_id id;
    struct str value, from;
};

void settings_free(struct settings *s)
{
    arena_free(&s->arena);
    buf_free(&s->error);
}

PRINTF_LIKE(3, 4) static int fail(struct settings *s, int code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char text[1024];
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    buf_reset(&s->error);
    buf_add(&s->error, str_of(text));
    return code;
}

const struct settings_info *settings_find(struct str name)
{
    for (size_t i = 0; i < settings_info_count; i++)
        if (str_eq(settings_infos[i].name, name))
            return &settings_infos[i];
    return NULL;
}

/* A remedy may strengthen an option that is there already: the message says which one to keep. */
static int fail_twice(struct settings *s, struct str name, struct str first, struct str second)
{
    enum policy_git a, b;
    const struct str allow = STR("allow=");
    bool hosts = str_eq(name, STR("net")) && str_starts(first, allow) &&
                 str_starts(second, allow) && !str_has_char(first, ';') &&
                 !str_has_char(second, ';');
    if (str_eq(name, STR("git")) && policy_read_git(first, &a) == 0 &&
        policy_read_git(second, &b) == 0 && a != b)
        return fail(s, CORDON_E_CONFLICT,
                    "--git was given twice, as %.*s and as %.*s; keep --git=%s, which allows both",
                    STR_ARG(first), STR_ARG(second), policy_git_word(a > b ? a : b));
    if (hosts)
        return fail(s, CORDON_E_CONFLICT,
                    "--net was given twice; keep one with both lists: --net=%.*s,%.*s",
                    STR_ARG(first), STR_ARG(str_from(second, allow.n)));
    if (first.n == 0 || str_eq(first, second))
        return fail(s, CORDON_E_CONFLICT, "--%.*s was given twice; leave one out", STR_ARG(name));
    return fail(s, CORDON_E_CONFLICT, "--%.*s was given twice, as %.*s and as %.*s; keep one",
                STR_ARG(name), STR_ARG(first), STR_ARG(second));
}

int settings_set(struct settings *s, struct str name, struct str value, struct str from)
{
    const struct settings_info *info = settings_find(name);
    if (!info)
        return fail(s, CORDON_E_UNKNOWN, "unknown option --%.*s", STR_ARG(name));
    enum option_id id = (enum option_id)(info - settings_infos);
    for (size_t i = 0; i < s->count && !info->repeats; i++)
        if (s->options[i].id == id)
            return fail_twice(s, name, s->options[i].value, value);
    if (s->count == s->capacity) {
        void *grown = arena_grow(&s->arena, s->options, &s->capacity, sizeof *s->options);
        if (!grown)
            return fail(s, CORDON_E_NOMEM, "out of memory");
        s->options = grown;
    }
    struct settings_option o = {id, arena_copy(&s->arena, value), arena_copy(&s->arena, from)};
    if (!o.value.p || !o.from.p)
        return fail(s, CORDON_E_NOMEM, "out of memory");
    s->options[s->count++] = o;
    return 0;
}

int settings_pair(struct settings *s, struct str pair)
{
    if (s->pair_count == s->pair_capacity) {
        void *grown = arena_grow(&s->arena, s->pairs, &s->pair_capacity, sizeof *s->pairs);
        if (!grown)
            return fail(s, CORDON_E_NOMEM, "out of memory");
        s->pairs = grown;
    }
    struct str copy = arena_copy(&s->arena, pair);
    if (!copy.p)
        return fail(s, CORDON_E_NOMEM, "out of memory");
    s->pairs[s->pair_count++] = copy;
    return 0;
}

int settings_copy(const struct settings *from, struct settings *to, const struct str *without,
                  size_t count)
{
    int rc = 0;
    to->codex = from->codex;
    for (size_t i = 0; i < from->pair_count && rc == 0; i++)
        rc = settings_pair(to, from->pairs[i]);
    for (size_t i = 0; i < from->count && rc == 0; i++) {
        const struct settings_option *o = &from->options[i];
        struct str name = settings_infos[o->id].name;
        bool skipped = false;
        for (size_t j = 0; j < count; j++)
            skipped = skipped || str_eq(name, without[j]);
        if (!skipped)
            rc = settings_set(to, name, o->value, o->from);
    }
    return rc;
}

bool settings_has(const struct settings *s, struct str name)
{
    for (size_t i = 0; i < s->count; i++)
        if (str_eq(settings_infos[s->options[i].id].name, name))
            return true;
    return false;
}

struct str settings_value(const struct settings *s, struct str name)
{
    for (size_t i = 0; i < s->count; i++)
        if (str_eq(settings_infos[s->options[i].id].name, name))
            return s->options[i].value;
    return STR_NONE;
}

int settings_protect(struct settings *s, struct str path)
{
    return policy_list_add(&s->arena, &s->policy.self,
                           (struct policy_entry){.given = path, .from = STR("cordon")});
}

int settings_protect_final(struct settings *s, struct str path)
{
    struct policy_entry entry = {.given = path, .path = path, .from = STR("cordon")};
    return policy_list_add(&s->arena, &s->policy.self, entry);
}

static const struct settings_option *option_of(const struct settings *s, enum option_id id)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->options[i].id == id)
            return &s->options[i];
    return NULL;
}

static int bad_value(struct settings *s, const struct settings_option *o, const char *expected)
{
    return fail(s, CORDON_E_VALUE, "%.*s does not take \"%.*s\"; it takes %s", STR_ARG(o->from),
                STR_ARG(o->value), expected);
}

static int add(struct settings *s, struct policy_list *list, struct str given, struct str from)
{
    struct policy_entry entry = {.given = given, .from = from};
    if (policy_list_add(&s->arena, list, entry))
        return fail(s, CORDON_E_NOMEM, "out of memory");
    return 0;
}

static int set_number(struct settings *s, const struct settings_option *o, uint64_t scale,
                      const char *what, uint64_t *out)
{
    uint64_t number = 0;
    size_t i = 0;
    for (; i < o->value.n && i < 12 && ascii_is_digit(o->value.p[i]); i++)
        number = number * 10 + (uint64_t)(o->value.p[i] - '0');
    if (i == 0 || i < o->value.n || number == 0)
        return bad_value(s, o, what);
    *out = number * scale;
    return 0;
}

/* Creates a folder for a tool, and remembers where it began: if the run leaves it empty, it is removed
   again. */
static int make_cache(struct settings *s, struct str path, const char *tool)
{
    struct disk_facts before = {0};
    struct policy_entry made = {.path = path};
    bool is_new = disk_look(&s->arena, path, &before) == 0 && !before.exists && !before.link;
    if (!disk_make(&s->arena, path))
        return fail(s, CORDON_E_OPEN, "--for %s: cannot create %.*s", tool, STR_ARG(path));
    made.given = before.existing;
    if (is_new && before.existing.n && policy_list_add(&s->arena, &s->made, made))
        return fail(s, CORDON_E_NOMEM, "out of memory");
    return 0;
}

void settings_unmake(struct settings *s)
{
    /* The last ones first: the folder around several belongs to the first of them. */
    for (; s->made.count; s->made.count--) {
        const struct policy_entry *made = &s->made.items[s->made.count - 1];
        disk_unmake(&s->arena, made->path, made->given);
    }
}

/* Folders below the home folder and hosts of a known tool. */
static int add_preset(struct settings *s, const struct settings_option *o)
{
    const struct preset *preset = preset_find(o->value);
    struct policy_settings *p = &s->policy;
    struct str home = p->machine.home, word, name;
    auto_buf struct buf text = {0}, from = {0};
    int rc = 0;
    if (!preset) {
        preset_names(&text);
        return bad_value(s, o, buf_cstr(&text));
    }
    buf_fmt(&from, "--for %s", preset->name);
    for (size_t at = 0; rc == 0 && preset_word(preset->hosts, &at, &word);)
        rc = add(s, &p->net_allow, word, buf_str(&from));
    s->with_hosts = true;
    if (s->foreign || home.n == 0)
        return rc;
    for (size_t at = 0; rc == 0 && preset_word(preset->folders[p->paths.dialect], &at, &word);) {
        struct path path = {0};
        struct disk_facts facts = {0};
        buf_reset(&text);
        buf_fmt(&text, "%.*s/%.*s", STR_ARG(home), STR_ARG(word));
        rc = settings_path(s, buf_str(&text), &path);
        /* Only a run creates them; a link that was there before is followed. */
        if (rc == 0 && s->make_temp)
            rc = make_cache(s, path.text, preset->name);
        if (rc)
            return rc;
        if (rc == 0 && disk_look(&s->arena, path.text, &facts) == 0 && facts.exists)
            path.text = facts.final;
        if (rc == 0)
            rc = add(s, &s->extra_roots, path.text, buf_str(&from));
        for (size_t in = 0; rc == 0 && preset_word(preset->closed, &in, &name);) {
            buf_reset(&text);
            buf_fmt(&text, "%.*s%c%.*s", STR_ARG(path.text), path_separator(p->paths.dialect),
                    STR_ARG(name));
            rc = add(s, &p->deny_write, buf_str(&text), buf_str(&from));
        }
    }
    return rc;
}

/* --for npm,git is --for npm --for git. */
static int add_presets(struct settings *s, const struct settings_option *o)
{
    int rc = 0;
    for (size_t at = 0, end; rc == 0 && at <= o->value.n; at = end + 1) {
        struct settings_option one = *o;
        end = str_find_char(o->value, ',', at);
        one.value = str_slice(o->value, at, end);
        rc = add_preset(s, &one);
    }
    return rc;
}

/* A pattern would be taken for a name that no file has. */
static int add_rule_path(struct settings *s, struct policy_list *list,
                         const struct settings_option *o)
{
    bool extended = str_starts(o->value, STR("\\\\?\\"));
    if (str_has_char(o->value, '*') || str_find_char(o->value, '?', extended ? 4 : 0) < o->value.n)
        return fail(s, CORDON_E_VALUE,
                    "%.*s %.*s: wildcards are not supported; name the file, or the folder with "
                    "everything below it",
                    STR_ARG(o->from), STR_ARG(o->value));
    return add(s, list, o->value, o->from);
}

static int apply(struct settings *s, const struct settings_option *o)
{
    struct policy_settings *p = &s->policy;
    switch (o->id) {
    case OPTION_MODE:
        p->mode_from = o->from;
        return policy_read_mode(o->value, &p->mode)
                   ? bad_value(s, o, "read-only, workspace-write or full-access")
                   : 0;
    case OPTION_GIT:
        p->git_from = o->from;
        return policy_read_git(o->value, &p->git) ? bad_value(s, o, "protect, commit or full") : 0;
    case OPTION_NET:
        p->net_from = o->from;
        return policy_read_net(&s->arena, o->value, o->from, p)
                   ? bad_value(s, o, "off, loopback, on, proxy=HOST:PORT or allow=DOMAIN,DOMAIN")
                   : 0;
    case OPTION_TEMP:
        p->temp_from = o->from;
        return policy_read_temp(&s->arena, o->value, p)
                   ? bad_value(s, o, "private, own, shared or session=ID")
                   : 0;
    case OPTION_SESSION:
        if (p->temp == POLICY_TEMP_SESSION && !str_eq(p->session, o->value))
            return fail(s, CORDON_E_CONFLICT, "--session and --temp name two sessions");
        return policy_read_session(&s->arena, o->value, &p->session)
                   ? bad_value(s, o, "letters, digits, dashes and underscores, at most 64")
                   : 0;
    case OPTION_MAX_MEMORY:
        return policy_read_memory(o->value, &p->limits.memory)
                   ? bad_value(s, o, "a size like 512M or 4G")
                   : 0;
    case OPTION_STRICT:
        p->strict = true;
        p->strict_from = o->from;
        return 0;
    case OPTION_ALLOW_BROAD_ROOT: p->allow_broad_root = true; return 0;
    case OPTION_ROOT:
    case OPTION_CREATE_ROOT: return add(s, &p->roots, o->value, o->from);
    case OPTION_FOR: return add_presets(s, o);
    case OPTION_DENY_WRITE: return add_rule_path(s, &p->deny_write, o);
    case OPTION_DENY_READ: return add_rule_path(s, &p->deny_read, o);
    case OPTION_ALLOW_READ: return add_rule_path(s, &p->allow_read, o);
    case OPTION_ALLOW_SOCKET:
        if (p->paths.dialect == PATH_WINDOWS)
            return fail(s, CORDON_E_VALUE, "--allow-socket is for Linux");
        return add_rule_path(s, &p->sockets, o);
    case OPTION_UNPROTECT: return add(s, &p->unprotect, o->value, o->from);
    case OPTION_ALLOW_TOOL: return add(s, &p->allow_tools, o->value, o->from);
    case OPTION_DENY_TOOL: return add(s, &p->deny_tools, o->value, o->from);
    case OPTION_TIMEOUT:
        return set_number(s, o, 1000, "seconds, a whole number from 1", &p->limits.timeout_ms);
    case OPTION_MAX_PROCS:
        return set_number(s, o, 1, "a whole number from 1", &p->limits.processes);
    case OPTION_CWD:
    case OPTION_PATHS:
    case OPTION_POLICY: return 0; /* applied before the others */
    }
    return 0;
}

static bool looks_like_windows(struct str path)
{
    return str_starts(path, STR("\\\\")) ||
           (path.n >= 2 && ascii_is_alpha(path.p[0]) && path.p[1] == ':');
}

static int choose_dialect(struct settings *s, struct str hint)
{
    const struct settings_option *paths = option_of(s, OPTION_PATHS);
    const struct settings_option *root = option_of(s, OPTION_ROOT);
    enum path_dialect dialect = disk_dialect();
    if (paths && str_eq(paths->value, STR("windows")))
        dialect = PATH_WINDOWS;
    else if (paths && str_eq(paths->value, STR("posix")))
        dialect = PATH_POSIX;
    else if (paths)
        return bad_value(s, paths, "windows or posix");
    else if (looks_like_windows(root ? root->value : hint))
        dialect = PATH_WINDOWS;
    s->policy.paths.dialect = dialect;
    s->foreign = s->unseen || dialect != disk_dialect();
    return 0;
}

int settings_path(struct settings *s, struct str given, struct path *out)
{
    size_t room = given.n + s->policy.paths.cwd.n + 16;
    char *p = arena_alloc(&s->arena, room);
    if (!p)
        return CORDON_E_NOMEM;
    return path_normalize(&s->policy.paths, given, p, room, out);
}

/* A link on the way from the folder, which has none itself, down to the path: an earlier run may have
   put it there. */
static bool has_link_below(struct str folder, struct str path, struct str final)
{
    return disk_dialect() == PATH_POSIX && folder.n && path_is_below(PATH_POSIX, folder, path) &&
           !str_eq(path, final);
}

/* --cwd, or the current directory, which does not exist in a foreign dialect. */
static int choose_cwd(struct settings *s)
{
    const struct settings_option *o = option_of(s, OPTION_CWD);
    if (!s->foreign) {
        s->policy.paths.cwd = disk_cwd(&s->arena);
        s->cwd_is_link = !o && disk_cwd_is_link();
    }
    if (o) {
        struct path path = {0};
        struct disk_facts facts;
        if (settings_path(s, o->value, &path) || path.class == PATH_MALFORMED)
            return bad_value(s, o, "a folder");
        if (!s->foreign &&
            (disk_look(&s->arena, path.text, &facts) || !facts.exists || !facts.directory))
            return fail(s, CORDON_E_VALUE, "--cwd %.*s: folder not found", STR_ARG(o->value));
        s->cwd_is_link = !s->foreign && (facts.link || has_link_below(s->policy.paths.cwd,
                                                                      path.text, facts.final));
        s->policy.paths.cwd = s->foreign ? path.text : facts.final;
    }
    s->cwd = s->policy.paths.cwd;
    return 0;
}

/* A suggestion for a folder that does not exist; NULL if there is none. */
static const char *folder_hint(struct settings *s, struct str given)
{
    struct path path = {0};
    struct disk_facts facts;
    char *copy = (char *)arena_copy(&s->arena, given).p;
    if (str_has_char(given, '*'))
        return "wildcards are not supported; name the folder";
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

/* A root must exist; everything is compared with its final path. */
static int resolve_root(struct settings *s, struct policy_entry *root)
{
    struct path path = {0};
    struct disk_facts facts;
    if (settings_path(s, root->given, &path) || path.class == PATH_MALFORMED)
        return fail(s, CORDON_E_VALUE, "%.*s %.*s: this is not a path", STR_ARG(root->from),
                    STR_ARG(root->given));
    if (s->foreign)
        return 0;
    bool created = root->create || str_eq(root->from, STR("--create-root"));
    bool looked = disk_look(&s->arena, path.text, &facts) == 0, found = looked && facts.exists;
    if (looked && !facts.link && !s->policy.allow_broad_root &&
        has_link_below(s->cwd, path.text, facts.final))
        return fail(s, CORDON_E_REFUSED,
                    "%.*s %.*s: a link on the way leads to %.*s; name that (a planted link would "
                    "widen the sandbox)",
                    STR_ARG(root->from), STR_ARG(root->given), STR_ARG(facts.final));
    /* Only a run creates it, and nothing that would be refused then. */
    if (!found && created && s->make_temp &&
        (s->policy.allow_broad_root ||
         !policy_broad_root(s->policy.paths.dialect, &s->policy.machine, path.text)) &&
        disk_make(&s->arena, path.text))
        root->made = found = disk_look(&s->arena, path.text, &facts) == 0 && facts.exists;
    if (!found && !s->make_temp && (created || str_starts(root->from, STR("--for ")))) {
        root->path = path.text;
        return 0;
    }
    if (!found) {
        const char *hint = folder_hint(s, root->given);
        return fail(s, CORDON_E_VALUE, "%.*s %.*s: folder not found; %s", STR_ARG(root->from),
                    STR_ARG(root->given), hint ? hint : "create it first, or use --create-root");
    }
    if (!facts.directory)
        return fail(s, CORDON_E_VALUE, "%.*s %.*s: this is a file; a root is a folder",
                    STR_ARG(root->from), STR_ARG(root->given));
    root->path = facts.final;
    root->link = facts.link || (s->cwd_is_link && str_eq(path.text, s->cwd));
    struct worktree git;
    if (!worktree_find(&s->arena, &s->policy.paths, root->path, &git))
        return 0;
    int rc = add(s, &s->policy.git_dirs, git.shared, root->from);
    return rc ? rc : add(s, &s->policy.git_dirs, git.own, root->from);
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

/* Inside another run TMPDIR names a folder that that run made, and goes on naming it; the temp folder
   is the one around it. */
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
            return fail(s, CORDON_E_VALUE, "--temp=own is for Linux; take private or session=ID");
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
        return fail(s, CORDON_E_OPEN, "--temp: folder not found: %.*s", STR_ARG(value));
    if (made)
        return s->make_temp(s, facts.final, &s->policy.temp_path);
    const char *why = there ? broad_temp(s, value, &facts) : NULL;
    if (why)
        return fail(s, CORDON_E_REFUSED,
                    "the temp folder %.*s: %s; set %.*s to another one, or use --temp=private",
                    STR_ARG(value), why, STR_ARG(variable));
    if (!there)
        return 0;
    s->policy.temp_path =
        s->policy.temp == POLICY_TEMP_OWN ? caller_temp(s, facts.final) : facts.final;
    return choose_own_temp(s);
}

static bool look_up(void *context, struct str name, struct str *value)
{
    return disk_variable(context, name, value);
}

/* The file that confines the run, and every link on the way to it: redirecting one would choose the
   next run's policy. path is normalized. */
static int protect_way(struct settings *s, struct str path)
{
    enum { MOST_LINKS = 40 };
    struct path_context here = s->policy.paths;
    for (int links = 0; links < MOST_LINKS; links++) {
        struct path_cursor cursor = {.dialect = here.dialect, .path = path};
        struct str component, target;
        bool found = false;
        while (!found && path_next(&cursor, &component))
            found = cursor.pos > path_root_length(here.dialect, path) &&
                    disk_link(&s->arena, str_slice(path, 0, cursor.pos), &target);
        int rc = settings_protect_final(s, found ? str_slice(path, 0, cursor.pos) : path);
        if (rc || !found)
            return rc;
        struct str rest = str_from(path, cursor.pos);
        here.cwd = path_parent(here.dialect, str_slice(path, 0, cursor.pos));
        size_t room = here.cwd.n + target.n + rest.n + 16;
        char *joined = arena_alloc(&s->arena, 2 * room);
        struct path next;
        if (!joined)
            return CORDON_E_NOMEM;
        memcpy(joined, target.p, target.n);
        memcpy(joined + target.n, rest.p, rest.n);
        rc = path_normalize(&here, (struct str){joined, target.n + rest.n}, joined + room, room,
                            &next);
        if (rc || next.class != PATH_FILE)
            return rc;
        path = next.text;
    }
    return 0;
}

/* The file's settings come first, so that the command line wins. */
static int load_file(struct settings *s)
{
    const struct settings_option *o = option_of(s, OPTION_POLICY);
    if (!o)
        return 0;
    auto_buf struct buf text = {0};
    struct path path = {0};
    struct disk_facts facts = {0};
    struct path_context own = s->policy.paths;
    own.dialect = disk_dialect();
    own.cwd = disk_cwd(&s->arena);
    size_t room = o->value.n + own.cwd.n + 16;
    char *p = arena_alloc(&s->arena, room);
    int rc = p ? path_normalize(&own, o->value, p, room, &path) : CORDON_E_NOMEM;
    if (rc == 0)
        rc = disk_read(o->value, POLICY_MAX_FILE, &text);
    if (rc)
        return fail(s, rc, "--policy %.*s: %s", STR_ARG(o->value), cordon_strerror(rc));
    struct str folder = path_parent(own.dialect, path.text);
    if (disk_look(&s->arena, path.text, &facts) == 0)
        folder = path_parent(own.dialect, facts.final);
    struct policy_source source = {.name = o->value,
                                   .folder = s->foreign ? s->policy.paths.cwd : folder,
                                   .lookup = look_up,
                                   .context = &s->arena};
    struct str content = arena_copy(&s->arena, buf_str(&text));
    if (!s->foreign && path.class == PATH_FILE && (rc = protect_way(s, path.text)))
        return fail(s, rc, "--policy: %s", cordon_strerror(rc));
    buf_reset(&s->error);
    return policy_load(&s->arena, &source, content, &s->policy, &s->error);
}

static int load_pairs(struct settings *s)
{
    struct policy_source source = {
        .name = STR("-c"), .folder = s->policy.paths.cwd, .lookup = look_up, .context = &s->arena};
    int rc = 0;
    buf_reset(&s->error);
    for (size_t i = 0; i < s->pair_count && rc == 0; i++)
        rc = policy_load_pair(&s->arena, &source, s->pairs[i], &s->policy, &s->error);
    return rc;
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

static int resolve(struct settings *s)
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
        rc = add(s, &p->roots, STR("."), STR("the current directory"));
    for (size_t i = 0; i < s->extra_roots.count && rc == 0; i++)
        rc = add(s, &p->roots, s->extra_roots.items[i].given, s->extra_roots.items[i].from);
    for (size_t i = 0; i < p->roots.count && rc == 0; i++)
        rc = resolve_root(s, &p->roots.items[i]);
    resolve_entries(s, &p->deny_write);
    resolve_entries(s, &p->deny_read);
    resolve_entries(s, &p->allow_read);
    resolve_entries(s, &p->sockets);
    resolve_entries(s, &p->self);
    return rc ? rc : choose_temp(s);
}

int settings_map_roots(struct settings *s,
                       bool (*map)(void *context, struct arena *arena, struct str given,
                                   struct str *out),
                       void *context)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->options[i].id == OPTION_ROOT &&
            !map(context, &s->arena, s->options[i].value, &s->options[i].value))
            return CORDON_E_VALUE;
    return 0;
}

/* The paths of the policy in force are final and were accepted before. */
static int compile_in_force(struct settings *s, struct policy **out)
{
    s->policy.paths.dialect = disk_dialect();
    int rc = choose_cwd(s);
    disk_machine(&s->arena, &s->policy.machine);
    s->policy.allow_broad_root = true;
    if (rc == 0 && (rc = s->in_force(s)))
        return fail(s, rc, "the policy of this run is not understood");
    buf_reset(&s->error);
    return rc ? rc : policy_compile(&s->policy, out, &s->error);
}

int settings_compile(struct settings *s, struct str hint, struct policy **out)
{
    if (s->in_force && !looks_like_windows(hint))
        return compile_in_force(s, out);
    int rc = choose_dialect(s, hint);
    /* Only a run creates a folder; a question may be about another system. */
    if (rc == 0 && s->foreign && s->make_temp)
        return fail(s, CORDON_E_VALUE,
                    "the roots are paths of another system; name folders of this one");
    if (rc == 0)
        rc = choose_cwd(s);
    if (rc)
        return rc;
    s->policy.mode = s->codex ? POLICY_READ_ONLY : POLICY_WORKSPACE_WRITE;
    s->policy.temp =
        s->policy.paths.dialect == PATH_WINDOWS ? POLICY_TEMP_PRIVATE : POLICY_TEMP_OWN;
    disk_machine(&s->arena, &s->policy.machine);
    /* The list names files in the home folder, which another system's paths do not have here. */
    if (s->policy.paths.dialect == PATH_WINDOWS && !s->foreign)
        rc = add(s, &s->policy.deny_read, STR("@credentials"), STR("default"));
    if (rc == 0)
        rc = load_file(s);
    if (rc == 0)
        rc = load_pairs(s);
    for (size_t i = 0; i < s->count && rc == 0; i++)
        rc = apply(s, &s->options[i]);
    if (rc == 0)
        rc = resolve(s);
    if (rc)
        return rc;
    buf_reset(&s->error);
    return policy_compile(&s->policy, out, &s->error);
}
