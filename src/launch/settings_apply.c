/* SPDX-License-Identifier: Apache-2.0 */
/* Puts the options that were given into the policy. */
#include "launch/settings_inside.h"
#include "policy/load.h"

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
    case OPTION_FOR: return settings_add_tools(s, o);
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
