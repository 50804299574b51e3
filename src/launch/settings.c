/* SPDX-License-Identifier: Apache-2.0 */
/* From options to policy: names and values first, then roots and folders resolved on the disk. */
#include "launch/settings_inside.h"

#include <stdarg.h>
#include <stdio.h>

#include "launch/disk.h"
#include "launch/repositories.h"
#include "policy/load.h"

const struct settings_info settings_infos[] = {
#define OPTION(id, name, value, repeats, help) {STR(name), STR(value), STR(help), repeats},
#include "launch/options.def"
#undef OPTION
};
const size_t settings_info_count = sizeof settings_infos / sizeof *settings_infos;

void settings_free(struct settings *s)
{
    arena_free(&s->arena);
    buf_free(&s->error);
}

PRINTF_LIKE(3, 4) int settings_fail(struct settings *s, int code, const char *format, ...)
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
        return settings_fail(
            s, CORDON_E_CONFLICT,
            "--git was given twice, as %.*s and as %.*s; keep --git=%s, which allows both",
            STR_ARG(first), STR_ARG(second), policy_git_word(a > b ? a : b));
    if (hosts)
        return settings_fail(s, CORDON_E_CONFLICT,
                             "--net was given twice; keep one with both lists: --net=%.*s,%.*s",
                             STR_ARG(first), STR_ARG(str_from(second, allow.n)));
    if (first.n == 0 || str_eq(first, second))
        return settings_fail(s, CORDON_E_CONFLICT, "--%.*s was given twice; leave one out",
                             STR_ARG(name));
    return settings_fail(s, CORDON_E_CONFLICT,
                         "--%.*s was given twice, as %.*s and as %.*s; keep one", STR_ARG(name),
                         STR_ARG(first), STR_ARG(second));
}

int settings_set(struct settings *s, struct str name, struct str value, struct str from)
{
    const struct settings_info *info = settings_find(name);
    if (!info)
        return settings_fail(s, CORDON_E_UNKNOWN, "unknown option --%.*s", STR_ARG(name));
    enum option_id id = (enum option_id)(info - settings_infos);
    for (size_t i = 0; i < s->count && !info->repeats; i++)
        if (s->options[i].id == id)
            return fail_twice(s, name, s->options[i].value, value);
    if (s->count == s->capacity) {
        void *grown = arena_grow(&s->arena, s->options, &s->capacity, sizeof *s->options);
        if (!grown)
            return settings_fail(s, CORDON_E_NOMEM, "out of memory");
        s->options = grown;
    }
    struct settings_option o = {id, arena_copy(&s->arena, value), arena_copy(&s->arena, from)};
    if (!o.value.p || !o.from.p)
        return settings_fail(s, CORDON_E_NOMEM, "out of memory");
    s->options[s->count++] = o;
    return 0;
}

int settings_pair(struct settings *s, struct str pair)
{
    if (s->pair_count == s->pair_capacity) {
        void *grown = arena_grow(&s->arena, s->pairs, &s->pair_capacity, sizeof *s->pairs);
        if (!grown)
            return settings_fail(s, CORDON_E_NOMEM, "out of memory");
        s->pairs = grown;
    }
    struct str copy = arena_copy(&s->arena, pair);
    if (!copy.p)
        return settings_fail(s, CORDON_E_NOMEM, "out of memory");
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

const struct settings_option *settings_option_of(const struct settings *s, enum option_id id)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->options[i].id == id)
            return &s->options[i];
    return NULL;
}

int settings_bad_value(struct settings *s, const struct settings_option *o, const char *expected)
{
    return settings_fail(s, CORDON_E_VALUE, "%.*s does not take \"%.*s\"; it takes %s",
                         STR_ARG(o->from), STR_ARG(o->value), expected);
}

int settings_add(struct settings *s, struct policy_list *list, struct str given, struct str from)
{
    struct policy_entry entry = {.given = given, .from = from};
    if (policy_list_add(&s->arena, list, entry))
        return settings_fail(s, CORDON_E_NOMEM, "out of memory");
    return 0;
}

static bool looks_like_windows(struct str path)
{
    return str_starts(path, STR("\\\\")) ||
           (path.n >= 2 && ascii_is_alpha(path.p[0]) && path.p[1] == ':');
}

static int choose_dialect(struct settings *s, struct str hint)
{
    const struct settings_option *paths = settings_option_of(s, OPTION_PATHS);
    const struct settings_option *root = settings_option_of(s, OPTION_ROOT);
    enum path_dialect dialect = disk_dialect();
    if (paths && str_eq(paths->value, STR("windows")))
        dialect = PATH_WINDOWS;
    else if (paths && str_eq(paths->value, STR("posix")))
        dialect = PATH_POSIX;
    else if (paths)
        return settings_bad_value(s, paths, "windows or posix");
    else if (looks_like_windows(root ? root->value : hint))
        dialect = PATH_WINDOWS;
    s->policy.paths.dialect = dialect;
    s->foreign = s->unseen || dialect != disk_dialect();
    return 0;
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
    const struct settings_option *o = settings_option_of(s, OPTION_POLICY);
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
        return settings_fail(s, rc, "--policy %.*s: %s", STR_ARG(o->value), cordon_strerror(rc));
    struct str folder = path_parent(own.dialect, path.text);
    if (disk_look(&s->arena, path.text, &facts) == 0)
        folder = path_parent(own.dialect, facts.final);
    struct policy_source source = {.name = o->value,
                                   .folder = s->foreign ? s->policy.paths.cwd : folder,
                                   .lookup = look_up,
                                   .context = &s->arena};
    struct str content = arena_copy(&s->arena, buf_str(&text));
    if (!s->foreign && path.class == PATH_FILE && (rc = protect_way(s, path.text)))
        return settings_fail(s, rc, "--policy: %s", cordon_strerror(rc));
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
    int rc = settings_choose_cwd(s);
    disk_machine(&s->arena, &s->policy.machine);
    s->policy.allow_broad_root = true;
    if (rc == 0 && (rc = s->in_force(s)))
        return settings_fail(s, rc, "the policy of this run is not understood");
    buf_reset(&s->error);
    return rc ? rc : policy_compile(&s->policy, out, &s->error);
}

static bool is_typed(struct str from)
{
    return str_starts(from, STR("--"));
}

/* Full access confines nothing. A limit that was given together with it would be void; one of a
   policy file is set aside by --mode full-access on the command line, which is a choice. */
static int refuse_void_limits(struct settings *s)
{
    const struct policy_settings *p = &s->policy;
    const struct policy_list *const lists[] = {&p->deny_read, &p->deny_write};
    struct str limit = p->net == POLICY_NET_ON || p->net_from.n == 0 ? STR_NONE : p->net_from;
    if (p->mode != POLICY_FULL_ACCESS || s->codex)
        return 0;
    if (is_typed(limit) != is_typed(p->mode_from))
        limit = STR_NONE;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        for (size_t k = 0; k < lists[i]->count; k++) {
            struct str from = lists[i]->items[k].from;
            if (!str_eq(from, STR("default")) && is_typed(from) == is_typed(p->mode_from))
                limit = from;
        }
    return limit.n == 0 ? 0
                        : settings_fail(s, CORDON_E_CONFLICT,
                                        "%.*s and %.*s contradict each other: full access means no "
                                        "sandbox, so nothing would enforce this limit",
                                        STR_ARG(limit), STR_ARG(p->mode_from));
}

int settings_compile(struct settings *s, struct str hint, struct policy **out)
{
    if (s->in_force && !looks_like_windows(hint))
        return compile_in_force(s, out);
    int rc = choose_dialect(s, hint);
    /* Only a run creates a folder; a question may be about another system. */
    if (rc == 0 && s->foreign && s->make_temp)
        return settings_fail(s, CORDON_E_VALUE,
                             "the roots are paths of another system; name folders of this one");
    if (rc == 0)
        rc = settings_choose_cwd(s);
    if (rc)
        return rc;
    s->policy.mode = s->codex ? POLICY_READ_ONLY : POLICY_WORKSPACE_WRITE;
    s->policy.temp =
        s->policy.paths.dialect == PATH_WINDOWS ? POLICY_TEMP_PRIVATE : POLICY_TEMP_OWN;
    disk_machine(&s->arena, &s->policy.machine);
    /* The list names files in the home folder, which another system's paths do not have here. */
    if (s->policy.paths.dialect == PATH_WINDOWS && !s->foreign)
        rc = settings_add(s, &s->policy.deny_read, STR("@credentials"), STR("default"));
    if (rc == 0)
        rc = load_file(s);
    if (rc == 0)
        rc = load_pairs(s);
    for (size_t i = 0; i < s->count && rc == 0; i++)
        rc = settings_apply(s, &s->options[i]);
    if (rc == 0)
        rc = refuse_void_limits(s);
    if (rc == 0)
        rc = settings_resolve(s);
    if (rc)
        return rc;
    buf_reset(&s->error);
    return policy_compile(&s->policy, out, &s->error);
}

int settings_complete(struct settings *s, struct policy **out)
{
    s->policy.git_later = false;
    int rc = repositories_find(s);
    if (rc)
        return rc;
    buf_reset(&s->error);
    return policy_compile(&s->policy, out, &s->error);
}
