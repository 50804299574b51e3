/* SPDX-License-Identifier: Apache-2.0 */
/* Puts the options that were given into the policy. */
#include "launch/disk.h"
#include "launch/settings_inside.h"
#include "policy/load.h"
#include "policy/presets.h"

static int set_number(struct settings *s, const struct settings_option *o, uint64_t scale,
                      const char *what, uint64_t *out)
{
    uint64_t number = 0;
    size_t i = 0;
    for (; i < o->value.n && i < 12 && ascii_is_digit(o->value.p[i]); i++)
        number = number * 10 + (uint64_t)(o->value.p[i] - '0');
    if (i == 0 || i < o->value.n || number == 0)
        return settings_bad_value(s, o, what);
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
        return settings_bad_value(s, o, buf_cstr(&text));
    }
    buf_fmt(&from, "--for %s", preset->name);
    for (size_t at = 0; rc == 0 && preset_word(preset->hosts, &at, &word);)
        rc = settings_add(s, &p->net_allow, word, buf_str(&from));
    s->with_hosts = true;
    if (s->foreign || home.n == 0)
        return rc;
    for (size_t at = 0; rc == 0 && preset_word(preset->folders[p->paths.dialect], &at, &word);) {
        struct path path = {0};
        struct disk_facts facts = {0};
        bool shared = str_starts(word, STR("/"));
        buf_reset(&text);
        buf_fmt(&text, "%.*s%s%.*s", STR_ARG(shared ? STR_NONE : home), shared ? "" : "/",
                STR_ARG(word));
        if (shared && !disk_is_trusted_folder(buf_cstr(&text)))
            continue;
        rc = settings_path(s, buf_str(&text), &path);
        /* Only a run creates them; a link that was there before is followed. */
        if (rc == 0 && s->make_temp && !shared)
            rc = make_cache(s, path.text, preset->name);
        if (rc)
            return rc;
        if (rc == 0 && disk_look(&s->arena, path.text, &facts) == 0 && facts.exists)
            path.text = facts.final;
        if (rc == 0)
            rc = settings_add(s, &s->extra_roots, path.text, buf_str(&from));
        for (size_t in = 0; rc == 0 && preset_word(preset->closed, &in, &name);) {
            buf_reset(&text);
            buf_fmt(&text, "%.*s%c%.*s", STR_ARG(path.text), path_separator(p->paths.dialect),
                    STR_ARG(name));
            rc = settings_add(s, &p->deny_write, buf_str(&text), buf_str(&from));
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
        return settings_fail(
            s, CORDON_E_VALUE,
            "%.*s %.*s: wildcards are not supported; name the file, or the folder with "
            "everything below it",
            STR_ARG(o->from), STR_ARG(o->value));
    return settings_add(s, list, o->value, o->from);
}

int settings_apply(struct settings *s, const struct settings_option *o)
{
    struct policy_settings *p = &s->policy;
    switch (o->id) {
    case OPTION_MODE:
        p->mode_from = o->from;
        return policy_read_mode(o->value, &p->mode)
                   ? settings_bad_value(s, o, "read-only, workspace-write or full-access")
                   : 0;
    case OPTION_GIT:
        p->git_from = o->from;
        return policy_read_git(o->value, &p->git)
                   ? settings_bad_value(s, o, "protect, commit or full")
                   : 0;
    case OPTION_NET:
        p->net_from = o->from;
        return policy_read_net(&s->arena, o->value, o->from, p)
                   ? settings_bad_value(s, o,
                                        "off, loopback, on, proxy=HOST:PORT or allow=DOMAIN,DOMAIN")
                   : 0;
    case OPTION_TEMP:
        p->temp_from = o->from;
        return policy_read_temp(&s->arena, o->value, p)
                   ? settings_bad_value(s, o, "private, own, shared or session=ID")
                   : 0;
    case OPTION_SESSION:
        if (p->temp == POLICY_TEMP_SESSION && !str_eq(p->session, o->value))
            return settings_fail(s, CORDON_E_CONFLICT, "--session and --temp name two sessions");
        return policy_read_session(&s->arena, o->value, &p->session)
                   ? settings_bad_value(s, o, "letters, digits, dashes and underscores, at most 64")
                   : 0;
    case OPTION_MAX_MEMORY:
        return policy_read_memory(o->value, &p->limits.memory)
                   ? settings_bad_value(s, o, "a size like 512M or 4G")
                   : 0;
    case OPTION_STRICT:
        p->strict = true;
        p->strict_from = o->from;
        return 0;
    case OPTION_ALLOW_BROAD_ROOT: p->allow_broad_root = true; return 0;
    case OPTION_ROOT:
    case OPTION_CREATE_ROOT: return settings_add(s, &p->roots, o->value, o->from);
    case OPTION_FOR: return add_presets(s, o);
    case OPTION_DENY_WRITE: return add_rule_path(s, &p->deny_write, o);
    case OPTION_DENY_READ: return add_rule_path(s, &p->deny_read, o);
    case OPTION_ALLOW_READ: return add_rule_path(s, &p->allow_read, o);
    case OPTION_ALLOW_SOCKET:
        if (p->paths.dialect == PATH_WINDOWS)
            return settings_fail(s, CORDON_E_VALUE, "--allow-socket is for Linux");
        return add_rule_path(s, &p->sockets, o);
    case OPTION_UNPROTECT: return settings_add(s, &p->unprotect, o->value, o->from);
    case OPTION_ALLOW_TOOL: return settings_add(s, &p->allow_tools, o->value, o->from);
    case OPTION_DENY_TOOL: return settings_add(s, &p->deny_tools, o->value, o->from);
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
