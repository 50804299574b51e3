/* SPDX-License-Identifier: Apache-2.0 */
/* Turns settings into an immutable policy: every path normalized, every contradiction refused. */
#include "policy/build.h"

#include <stdlib.h>

#include "policy/casefold.h"
#include "policy/net.h"

enum { MAX_ENTRIES = 65536, MAX_NAMES = 4096 };

struct compiler {
    const struct policy_settings *given;
    struct policy *policy;
    struct image_build build;
    struct buf *error;
    char *room; /* PATH_MAX_BYTES */
};

enum { DENY = true, ALLOW = false };

/* The id and, one after the other, the other texts. */
static const char *const rule_texts[POLICY_RULE_COUNT] = {
    "\0\0\0\0",
#define POLICY_RULE(name, id, effect, text, fix, denied, allowed) \
    id "\0" text "\0" fix "\0" denied "\0" allowed,
#include "policy/rules.def"
};

static const bool rule_denies[POLICY_RULE_COUNT] = {
    false,
#define POLICY_RULE(name, id, effect, text, fix, denied, allowed) effect,
#include "policy/rules.def"
};

const char *policy_rule_id(enum policy_rule rule)
{
    return rule_texts[rule < POLICY_RULE_COUNT ? rule : RULE_NONE];
}

static const char *next_text(const char *text)
{
    return text + strlen(text) + 1;
}

const char *policy_rule_text(enum policy_rule rule)
{
    return next_text(policy_rule_id(rule));
}

struct policy_rule_info policy_rule_info(enum policy_rule rule)
{
    struct policy_rule_info info = {.id = policy_rule_id(rule),
                                    .denies = rule < POLICY_RULE_COUNT && rule_denies[rule]};
    info.text = next_text(info.id);
    info.fix = next_text(info.text);
    info.denied = next_text(info.fix);
    info.allowed = next_text(info.denied);
    return info;
}

int policy_list_add(struct arena *arena, struct policy_list *list, struct policy_entry entry)
{
    struct str *strings[] = {&entry.given, &entry.path, &entry.from};
    for (size_t i = 0; i < 3; i++) {
        *strings[i] = arena_copy(arena, *strings[i]);
        if (!strings[i]->p)
            return CORDON_E_NOMEM;
    }
    if (list->count == list->capacity) {
        void *grown = arena_grow(arena, list->items, &list->capacity, sizeof *list->items);
        if (!grown)
            return CORDON_E_NOMEM;
        list->items = grown;
    }
    list->items[list->count++] = entry;
    return 0;
}

bool policy_is_below(enum path_dialect dialect, struct str folder, struct str path)
{
    struct path_cursor a = {.dialect = dialect, .path = folder}, b = a;
    struct str one, other;
    b.path = path;
    while (path_next(&a, &one))
        if (!path_next(&b, &other) || !fold_equal(dialect, FOLD_WIDE, one, other))
            return false;
    return true;
}

bool policy_is_kernels(enum path_dialect dialect, struct str folder)
{
    static const char *const folders[] = {"/proc", "/sys", "/dev"};
    if (dialect != PATH_POSIX || policy_is_below(PATH_POSIX, STR("/dev/shm"), folder))
        return false;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (policy_is_below(PATH_POSIX, str_of(folders[i]), folder))
            return true;
    return false;
}

/* Folders of the system on Linux. */
static const char *broad_posix(struct str normal)
{
    static const char *const itself[] = {"/etc",     "/usr",      "/bin",     "/sbin", "/lib",
                                         "/lib32",   "/lib64",    "/libx32",  "/boot", "/var",
                                         "/usr/bin", "/usr/sbin", "/usr/lib", "/run"};
    if (policy_is_kernels(PATH_POSIX, normal))
        return "it belongs to the kernel and its devices";
    for (size_t i = 0; i < sizeof itself / sizeof *itself; i++)
        if (str_eq(normal, str_of(itself[i])))
            return "it is a folder of the system";
    return NULL;
}

const char *policy_broad_root(enum path_dialect dialect, const struct policy_machine *machine,
                              struct str normal)
{
    const struct {
        struct str path;
        const char *why;
    } broad[] = {
        {machine->home, "it is or contains the home folder"},
        {machine->windows, "it is or contains the system folder"},
        {machine->program_files, "it is or contains the folder of installed programs"},
        {machine->program_files_x86, "it is or contains the folder of installed programs"},
        {machine->program_data, "it is or contains the folder of shared program data"},
    };
    if (path_parent(dialect, normal).n == 0)
        return dialect == PATH_WINDOWS ? "it is a whole drive or share"
                                       : "it is the whole file system";
    for (size_t i = 0; i < sizeof broad / sizeof *broad; i++)
        if (broad[i].path.n && policy_is_below(dialect, normal, broad[i].path))
            return broad[i].why;
    return dialect == PATH_POSIX ? broad_posix(normal) : NULL;
}

/* Copies a list of names. */
static int copy_list(struct compiler *c, const struct policy_list *from, struct policy_list *to)
{
    *to = (struct policy_list){0};
    if (from->count > MAX_NAMES) {
        buf_fmt(c->error, "more than %d names in one list", MAX_NAMES);
        return CORDON_E_TOOBIG;
    }
    for (size_t i = 0; i < from->count; i++) {
        int rc = policy_list_add(&c->policy->arena, to, from->items[i]);
        if (rc)
            return rc;
    }
    return 0;
}

static void name_entry(struct compiler *c, const char *what, const struct policy_entry *entry)
{
    if (entry->from.n && !str_starts(entry->from, STR("--")))
        buf_fmt(c->error, "%.*s: ", STR_ARG(entry->from));
    buf_fmt(c->error, "%s %.*s: ", what, STR_ARG(entry->given.n ? entry->given : entry->path));
}

/* One path of a list into its normal spelling and into the image. */
static int add_path(struct compiler *c, const char *what, enum image_kind kind,
                    struct policy_list *to, struct policy_entry entry)
{
    struct path path;
    int rc = path_normalize(&c->given->paths, entry.path.n ? entry.path : entry.given, c->room,
                            PATH_MAX_BYTES, &path);
    if (rc)
        return rc;
    if (path.class != PATH_FILE && path.class != PATH_UNC) {
        name_entry(c, what, &entry);
        if (str_has_char(path.text, '*') || str_has_char(path.text, '?'))
            buf_add(c->error, STR("wildcards are not supported; name the folder, everything below "
                                  "it is included"));
        else
            buf_fmt(c->error, "not a plain path (%s)", path_class_name(path.class));
        return CORDON_E_VALUE;
    }
    entry.path = path.text;
    rc = policy_list_add(&c->policy->arena, to, entry);
    if (rc)
        return rc;
    rc = build_add(&c->build, kind, (uint32_t)to->count, to->items[to->count - 1].path);
    if (rc == CORDON_E_TOOBIG) {
        name_entry(c, what, &entry);
        buf_add(c->error, STR("too long"));
    }
    return rc;
}

/* Naming a file of the built-in list in allow-read lifts that entry; with a path that the same
   person put under deny-read it would be a contradiction. */
static bool is_lifted(const struct compiler *c, struct str path)
{
    const struct policy_list *allow = &c->given->allow_read;
    bool windows = c->given->paths.dialect == PATH_WINDOWS;
    for (size_t i = 0; i < allow->count; i++) {
        const struct policy_entry *e = &allow->items[i];
        struct path named;
        if (path_normalize(&c->given->paths, e->path.n ? e->path : e->given, c->room,
                           PATH_MAX_BYTES, &named))
            continue;
        if (windows ? str_eqi(named.text, path) : str_eq(named.text, path))
            return true;
    }
    return false;
}

static int add_credentials(struct compiler *c, struct policy_entry entry)
{
    enum { ANYWHERE, WINDOWS };
    static const struct {
        int where;
        const char *path;
    } below[] = {
#define POLICY_CREDENTIAL(where, path) {where, path},
#include "policy/credentials.def"
#undef POLICY_CREDENTIAL
    };
    char separator = path_separator(c->given->paths.dialect);
    if (c->given->machine.home.n == 0) {
        name_entry(c, "deny-read", &entry);
        buf_add(c->error, STR("the home folder is unknown"));
        return CORDON_E_VALUE;
    }
    for (size_t i = 0; i < sizeof below / sizeof *below; i++) {
        auto_buf struct buf path = {0};
        if (below[i].where == WINDOWS && c->given->paths.dialect != PATH_WINDOWS)
            continue;
        buf_add(&path, c->given->machine.home);
        buf_char(&path, separator);
        for (const char *p = below[i].path; *p; p++)
            buf_char(&path, *p == '\\' ? separator : *p);
        if (path.failed)
            return CORDON_E_NOMEM;
        entry.path = buf_str(&path);
        if (is_lifted(c, entry.path))
            continue;
        int rc = add_path(c, "deny-read", IMAGE_DENY_READ, &c->policy->settings.deny_read, entry);
        if (rc)
            return rc;
    }
    return 0;
}

static int add_paths(struct compiler *c, const char *what, enum image_kind kind,
                     const struct policy_list *from, struct policy_list *to)
{
    *to = (struct policy_list){0};
    if (from->count > MAX_ENTRIES) {
        buf_fmt(c->error, "more than %d entries of %s", MAX_ENTRIES, what);
        return CORDON_E_TOOBIG;
    }
    for (size_t i = 0; i < from->count; i++) {
        const struct policy_entry *entry = &from->items[i];
        int rc;
        if (kind == IMAGE_DENY_READ && str_eq(entry->given, STR("@credentials"))) {
            rc = add_credentials(c, *entry);
        } else if (kind == IMAGE_DENY_READ && str_starts(entry->given, STR("@"))) {
            name_entry(c, what, entry);
            buf_add(c->error, STR("unknown set; there is @credentials"));
            rc = CORDON_E_UNKNOWN;
        } else {
            rc = add_path(c, what, kind, to, *entry);
        }
        if (rc)
            return rc;
    }
    return 0;
}

/* why: what is too much about it; NULL: it is only a link. */
static void refuse_root(struct compiler *c, const struct policy_entry *root, const char *why)
{
    enum path_dialect dialect = c->policy->settings.paths.dialect;
    if (root->link) {
        buf_add(c->error, STR("it is a link to "));
        policy_add_word(c->error, dialect, root->path);
        if (why)
            buf_fmt(c->error, ": %s", why);
        buf_add(c->error, STR("; a planted link would widen the sandbox"));
    } else {
        buf_fmt(c->error, "%s (too much for one run)", why);
    }
    if (why) {
        buf_add(c->error, STR("; --allow-broad-root accepts it"));
        return;
    }
    buf_add(c->error, STR(", so name the folder itself: --root "));
    policy_add_word(c->error, dialect, root->path);
}

static int check_roots(struct compiler *c)
{
    const struct policy_settings *s = &c->policy->settings;
    for (size_t i = 0; i < s->roots.count; i++) {
        const struct policy_entry *root = &s->roots.items[i];
        const char *why = policy_broad_root(s->paths.dialect, &s->machine, root->path);
        if ((why || root->link) && !s->allow_broad_root) {
            name_entry(c, "root", root);
            refuse_root(c, root, why);
            return CORDON_E_REFUSED;
        }
        struct image_match match;
        image_search(&c->policy->image, root->path, false, &match);
        if (match.hit[IMAGE_DENY_WRITE]) {
            name_entry(c, "root", root);
            buf_add(c->error, STR("it lies inside a deny-write path, so nothing in it could be "
                                  "written"));
            return CORDON_E_CONFLICT;
        }
    }
    for (size_t i = 0; i < s->allow_read.count; i++) {
        struct image_match match;
        image_search(&c->policy->image, s->allow_read.items[i].path, false, &match);
        if (match.hit[IMAGE_DENY_READ] &&
            match.end[IMAGE_DENY_READ] == match.end[IMAGE_ALLOW_READ]) {
            name_entry(c, "allow-read", &s->allow_read.items[i]);
            buf_add(c->error, STR("the same path is under deny-read"));
            return CORDON_E_CONFLICT;
        }
    }
    return 0;
}

static int read_unprotect(struct compiler *c)
{
    const struct policy_list *list = &c->policy->settings.unprotect;
    for (size_t i = 0; i < list->count; i++) {
        struct str name = list->items[i].given;
        int found = 0;
        for (int k = 1; k < PROTECTED_COUNT; k++)
            if (str_eqi(name, str_of(protected_spelled((enum protected_name)k))))
                found = k;
        if (found > PROTECTED_GIT) {
            c->policy->unprotected[found] = true;
            continue;
        }
        name_entry(c, "unprotect", &list->items[i]);
        if (found == PROTECTED_GIT) {
            buf_add(c->error, STR("use --git=commit, which lets commits through"));
            return CORDON_E_VALUE;
        }
        buf_add(c->error, STR("not a protected name; there are"));
        for (int k = PROTECTED_GIT + 1; k < PROTECTED_COUNT; k++)
            buf_fmt(c->error, " %s", protected_spelled((enum protected_name)k));
        return CORDON_E_UNKNOWN;
    }
    return 0;
}

static int check_lists(struct compiler *c)
{
    const struct policy_settings *s = &c->policy->settings;
    for (size_t i = 0; i < s->allow_tools.count; i++)
        for (size_t k = 0; k < s->deny_tools.count; k++)
            if (str_eqi(s->allow_tools.items[i].given, s->deny_tools.items[k].given)) {
                name_entry(c, "allow-tool", &s->allow_tools.items[i]);
                buf_add(c->error, STR("the same program is under deny-tool"));
                return CORDON_E_CONFLICT;
            }
    size_t names = 0;
    for (size_t i = 0; i < s->net_allow.count; i++) {
        struct net_rule rule;
        if (!net_read_rule(s->net_allow.items[i].given, &rule)) {
            name_entry(c, "network allow", &s->net_allow.items[i]);
            buf_add(c->error, STR("not a name such as example.com, *.example.com, example.com:443 "
                                  "or example.com@10.0.0.0/8 (a private network)"));
            return CORDON_E_VALUE;
        }
        names += !rule.refuses;
        if (rule.refuses && (s->net == POLICY_NET_ON || s->net == POLICY_NET_PROXY)) {
            name_entry(c, "network deny", &s->net_allow.items[i]);
            buf_add(c->error,
                    STR("only network mode allow knows names; allow \"*\" and deny these"));
            return CORDON_E_CONFLICT;
        }
    }
    if (s->net == POLICY_NET_ALLOW && names == 0) {
        buf_add(c->error, STR("network mode allow needs at least one name"));
        return CORDON_E_VALUE;
    }
    struct policy_peer proxy;
    if (s->net == POLICY_NET_PROXY && policy_parse_peer(s->proxy, &proxy)) {
        buf_fmt(c->error, "proxy %.*s: not HOST:PORT", STR_ARG(s->proxy));
        return CORDON_E_VALUE;
    }
    return 0;
}

static int copy_strings(struct compiler *c)
{
    struct policy_settings *s = &c->policy->settings;
    struct str *strings[] = {
        &s->paths.cwd,
        &s->machine.home,
        &s->machine.windows,
        &s->machine.program_files,
        &s->machine.program_files_x86,
        &s->machine.program_data,
        &s->temp_path,
        &s->large_root,
        &s->temp_own,
        &s->session,
        &s->proxy,
        &s->mode_from,
        &s->git_from,
        &s->temp_from,
        &s->net_from,
        &s->strict_from,
    };
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++) {
        *strings[i] = arena_copy(&c->policy->arena, *strings[i]);
        if (!strings[i]->p)
            return CORDON_E_NOMEM;
    }
    struct path_map *maps = ARENA_ARRAY(&c->policy->arena, s->paths.map_count, struct path_map);
    if (!maps)
        return CORDON_E_NOMEM;
    for (size_t i = 0; i < s->paths.map_count; i++) {
        maps[i].prefix = arena_copy(&c->policy->arena, s->paths.maps[i].prefix);
        maps[i].drive = arena_copy(&c->policy->arena, s->paths.maps[i].drive);
        if (!maps[i].prefix.p || !maps[i].drive.p)
            return CORDON_E_NOMEM;
    }
    s->paths.maps = maps;
    return 0;
}

static int add_temp(struct compiler *c)
{
    struct policy_list list = {0};
    struct policy_settings *s = &c->policy->settings;
    if (s->temp_path.n == 0)
        return 0;
    int rc = add_path(c, "temp", IMAGE_TEMP, &list, (struct policy_entry){.given = s->temp_path});
    if (rc == 0)
        s->temp_path = list.items[0].path;
    return rc;
}

static int compile(struct compiler *c)
{
    const struct policy_settings *g = c->given;
    struct policy_settings *s = &c->policy->settings;
    void *block;
    size_t size;
    int rc = build_start(&c->build, &c->policy->arena, g->paths.dialect);
    if (!rc)
        rc = copy_strings(c);
    if (!rc)
        rc = add_paths(c, "root", IMAGE_ROOT, &g->roots, &s->roots);
    if (!rc)
        rc = add_paths(c, "deny-write", IMAGE_DENY_WRITE, &g->deny_write, &s->deny_write);
    if (!rc)
        rc = add_paths(c, "deny-read", IMAGE_DENY_READ, &g->deny_read, &s->deny_read);
    if (!rc)
        rc = add_paths(c, "allow-read", IMAGE_ALLOW_READ, &g->allow_read, &s->allow_read);
    if (!rc)
        rc = add_paths(c, "own file", IMAGE_SELF, &g->self, &s->self);
    if (!rc)
        rc = add_paths(c, "git folder", IMAGE_GIT_DIR, &g->git_dirs, &s->git_dirs);
    if (!rc)
        rc = add_paths(c, "file that git obeys", IMAGE_GIT_OBEYS, &g->git_obeys, &s->git_obeys);
    if (!rc)
        rc = add_temp(c);
    if (!rc)
        rc = copy_list(c, &g->unprotect, &s->unprotect);
    if (!rc)
        rc = copy_list(c, &g->net_allow, &s->net_allow);
    if (!rc)
        rc = copy_list(c, &g->allow_tools, &s->allow_tools);
    if (!rc)
        rc = copy_list(c, &g->deny_tools, &s->deny_tools);
    if (!rc)
        rc = copy_list(c, &g->sockets, &s->sockets);
    if (!rc)
        rc = build_finish(&c->build, s->mode, &block, &size);
    if (!rc)
        rc = image_open(block, size, &c->policy->image);
    if (rc)
        return rc;
    c->policy->block = (struct str){block, size};
    rc = check_roots(c);
    if (!rc)
        rc = read_unprotect(c);
    return rc ? rc : check_lists(c);
}

int policy_compile(const struct policy_settings *settings, struct policy **out, struct buf *error)
{
    struct compiler c = {.given = settings, .error = error};
    c.policy = calloc(1, sizeof *c.policy);
    c.room = malloc(PATH_MAX_BYTES);
    int rc = CORDON_E_NOMEM;
    if (c.policy && c.room) {
        c.policy->settings = *settings;
        rc = compile(&c);
    }
    buf_free(&c.build.pool);
    free(c.room);
    if (rc) {
        if (error->n == 0)
            buf_add(error, str_of(cordon_strerror(rc)));
        policy_free(c.policy);
        return rc;
    }
    *out = c.policy;
    return 0;
}

void policy_free(struct policy *policy)
{
    if (!policy)
        return;
    arena_free(&policy->arena);
    free(policy);
}

const struct policy_settings *policy_settings_of(const struct policy *policy)
{
    return &policy->settings;
}

void policy_find_later(struct policy *policy, policy_whole *whole, void *context)
{
    policy->whole = whole;
    policy->whole_context = context;
}

struct str policy_image(const struct policy *policy)
{
    return policy->block;
}
