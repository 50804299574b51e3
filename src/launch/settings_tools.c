/* SPDX-License-Identifier: Apache-2.0 */
/* --for TOOL: the hosts of a tool, the folders that it needs, and a cache for the runs of this
   project alone. */
#include "base/sha256.h"
#include "launch/disk.h"
#include "launch/settings_inside.h"
#include "policy/presets.h"

/* Creates a folder for a tool, and remembers where it began: if the run leaves it empty, it is removed
   again. */
static int make_folder(struct settings *s, struct str path, const char *tool)
{
    struct disk_facts before = {0};
    struct policy_entry made = {.path = path};
    bool is_new = disk_look(&s->arena, path, &before) == 0 && !before.exists && !before.link;
    if (!disk_make(&s->arena, before.final.n ? before.final : path))
        return settings_fail(s, CORDON_E_OPEN, "--for %s: cannot create %.*s", tool, STR_ARG(path));
    made.given = before.existing;
    if (is_new && before.existing.n && policy_list_add(&s->arena, &s->made, made))
        return settings_fail(s, CORDON_E_NOMEM, "out of memory");
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

/* A root for the tool, created by a run. Where it lies is in *final, behind links. */
static int open_folder(struct settings *s, const char *tool, struct str given, bool create,
                       struct str *final)
{
    struct path path = {0};
    struct disk_facts facts = {0};
    auto_buf struct buf from = {0};
    buf_fmt(&from, "--for %s", tool);
    int rc = settings_path(s, given, &path);
    if (rc == 0 && s->make_temp && create)
        rc = make_folder(s, path.text, tool);
    if (rc == 0 && disk_look(&s->arena, path.text, &facts) == 0 && facts.exists)
        path.text = facts.final;
    *final = path.text;
    return rc ? rc : settings_add(s, &s->extra_roots, path.text, buf_str(&from));
}

static int open_shared(struct settings *s, const struct preset *preset)
{
    struct str word, final;
    int rc = 0;
    bool posix = s->policy.paths.dialect == PATH_POSIX;
    for (size_t at = 0; posix && rc == 0 && preset_word(preset->opened, &at, &word);) {
        const char *folder = arena_copy(&s->arena, word).p;
        if (!folder)
            return settings_fail(s, CORDON_E_NOMEM, "out of memory");
        if (disk_is_trusted_folder(folder))
            rc = open_folder(s, preset->name, word, false, &final);
    }
    return rc;
}

/* Where the caches of all projects are: by the variable, or the usual place. Links up to there are a
   person's own; they are not looked for where no cache is wanted. */
static bool find_place(struct settings *s, bool usual, bool wanted, struct str *out)
{
    bool windows = s->policy.paths.dialect == PATH_WINDOWS;
    struct str home = s->policy.machine.home, place;
    struct disk_facts facts = {0};
    auto_buf struct buf text = {0};
    if (usual) {
        buf_fmt(&text, "%.*s%s", STR_ARG(home), windows ? "\\AppData\\Local" : "/.cache");
        place = buf_str(&text);
    } else if (!disk_variable(&s->arena, windows ? STR("LOCALAPPDATA") : STR("XDG_CACHE_HOME"),
                              &place)) {
        return false;
    }
    bool whole = windows ? place.n > 2 && place.p[1] == ':' : str_starts(place, STR("/"));
    if (text.failed || !whole || (usual && home.n == 0))
        return false;
    bool looks = wanted || (!usual && !windows);
    if (looks && disk_look(&s->arena, place, &facts))
        return false;
    place = looks ? facts.final : arena_copy(&s->arena, place);
    buf_reset(&text);
    buf_fmt(&text, "%.*s%ccordon-tools", STR_ARG(place), windows ? '\\' : '/');
    *out = arena_copy(&s->arena, buf_str(&text));
    return !text.failed && out->p;
}

/* A run with such a root could put links or code there for later runs. */
static bool is_in_roots(const struct settings *s, struct str place)
{
    const struct policy_settings *p = &s->policy;
    for (size_t i = 0; i < p->roots.count; i++)
        if (policy_is_below(p->paths.dialect, p->roots.items[i].path, place) ||
            policy_is_below(p->paths.dialect, place, p->roots.items[i].path))
            return true;
    return false;
}

/* The place for this run's caches. The others are closed to it where a root would open them. */
static int choose_place(struct settings *s, const char *tool, struct str *out)
{
    struct str place;
    int rc = 0;
    bool any = false;
    *out = STR_NONE;
    for (int usual = 0; usual < 2 && rc == 0; usual++) {
        if (!find_place(s, usual, tool != NULL, &place))
            continue;
        any = true;
        if (is_in_roots(s, place))
            rc = settings_protect_final(s, place);
        else if (!out->n)
            *out = place;
    }
    if (rc || !tool || out->n)
        return rc;
    return settings_fail(
        s, CORDON_E_REFUSED,
        any ? "--for %s: its cache would lie inside a root, where a run could "
              "prepare it; set %s to another folder"
            : "--for %s: there is no place for its cache; set %s",
        tool, s->policy.paths.dialect == PATH_WINDOWS ? "LOCALAPPDATA" : "XDG_CACHE_HOME");
}

/* Every folder from the place on is the caller's own, and none is a link. */
static bool is_own(const struct settings *s, struct str place, struct str path)
{
    enum { LONGEST = 4096 };
    char text[LONGEST];
    if (s->policy.paths.dialect == PATH_WINDOWS || !s->make_temp)
        return true;
    if (path.n >= LONGEST)
        return false;
    for (size_t i = place.n; i <= path.n; i++) {
        if (i < path.n && path.p[i] != '/')
            continue;
        memcpy(text, path.p, i);
        text[i] = '\0';
        if (!disk_is_trusted_folder(text))
            return false;
    }
    return true;
}

/* The variable with the folder in the place of @. */
static int add_variable(struct settings *s, struct str word, struct str folder)
{
    auto_buf struct buf text = {0};
    size_t at = str_find_char(word, '@', 0);
    bool windows = s->policy.paths.dialect == PATH_WINDOWS;
    buf_fmt(&text, "%.*s%.*s", STR_ARG(str_slice(word, 0, at)), STR_ARG(folder));
    for (size_t i = at + 1; i < word.n; i++)
        buf_char(&text, windows && word.p[i] == '/' ? '\\' : word.p[i]);
    return settings_add(s, &s->variables, buf_str(&text), STR("--for"));
}

static int open_cache(struct settings *s, const struct preset *preset, struct str place,
                      struct str project)
{
    auto_buf struct buf text = {0}, id = {0};
    char separator = path_separator(s->policy.paths.dialect);
    struct disk_facts facts = {0};
    struct str word, final = STR_NONE;
    sha256_hex(&id, project);
    buf_fmt(&text, "%.*s%c%.*s%c%s", STR_ARG(place), separator,
            STR_ARG(str_slice(buf_str(&id), 0, 16)), separator, preset->name);
    if (text.failed || id.failed)
        return settings_fail(s, CORDON_E_NOMEM, "out of memory");
    /* Nothing is created behind a link. */
    bool straight = disk_look(&s->arena, buf_str(&text), &facts) == 0 && !facts.link &&
                    str_eq(facts.final, buf_str(&text));
    int rc = straight ? open_folder(s, preset->name, buf_str(&text), true, &final) : 0;
    if (rc == 0 && (!straight || !str_eq(final, buf_str(&text)) || !is_own(s, place, final)))
        rc = settings_fail(
            s, CORDON_E_REFUSED,
            "--for %s: %s is a link or belongs to somebody else, or a folder on the way "
            "to it does; remove it, or set XDG_CACHE_HOME",
            preset->name, buf_cstr(&text));
    for (size_t at = 0; rc == 0 && preset_word(preset->variables, &at, &word);)
        rc = add_variable(s, word, final);
    return rc;
}

/* The first tool that has a cache; NULL: none has. */
static const char *first_cached(const struct settings *s)
{
    for (size_t i = 0; i < s->tools.count; i++) {
        const struct preset *preset = preset_find(s->tools.items[i].given);
        if (preset && preset->variables[0])
            return preset->name;
    }
    return NULL;
}

int settings_open_caches(struct settings *s, struct str project)
{
    struct str place;
    if (s->foreign)
        return 0;
    int rc = choose_place(s, first_cached(s), &place);
    for (size_t i = 0; i < s->tools.count && rc == 0; i++) {
        const struct preset *preset = preset_find(s->tools.items[i].given);
        rc = preset ? open_shared(s, preset) : 0;
        if (rc == 0 && preset && preset->variables[0])
            rc = open_cache(s, preset, place, project);
    }
    return rc;
}

static int add_tool(struct settings *s, const struct settings_option *o)
{
    const struct preset *preset = preset_find(o->value);
    auto_buf struct buf text = {0};
    struct str host;
    if (!preset) {
        preset_names(&text);
        return settings_bad_value(s, o, buf_cstr(&text));
    }
    buf_fmt(&text, "--for %s", preset->name);
    int rc = settings_add(s, &s->tools, str_of(preset->name), buf_str(&text));
    for (size_t at = 0; rc == 0 && preset_word(preset->hosts, &at, &host);)
        rc = settings_add(s, &s->policy.net_allow, host, buf_str(&text));
    s->with_hosts = true;
    return rc;
}

/* --for npm,git is --for npm --for git. */
int settings_add_tools(struct settings *s, const struct settings_option *o)
{
    int rc = 0;
    for (size_t at = 0, end; rc == 0 && at <= o->value.n; at = end + 1) {
        struct settings_option one = *o;
        end = str_find_char(o->value, ',', at);
        one.value = str_slice(o->value, at, end);
        rc = add_tool(s, &one);
    }
    return rc;
}
