/* SPDX-License-Identifier: Apache-2.0 */
/* The small language of conditions on arguments, described in tables/programs.def. */
#include "guard/judges/condition.h"

#include "guard/names.h"
#include "guard/state.h"

static bool is_option(struct str text)
{
    return text.n > 1 && (text.p[0] == '-' || text.p[0] == '/');
}

/* MSYS writes //x for an option that would otherwise be taken for a path. */
static struct str option_of(struct word arg)
{
    return str_starts(arg.text, STR("//")) ? str_from(arg.text, 1) : arg.text;
}

/* The option, without a value that sticks to it, is one of these, and is not switched off. */
static bool option_is(struct word arg, struct str alternatives)
{
    struct str option = option_of(arg);
    return is_option(option) && name_is_one_of(option, alternatives) &&
           !str_endsi(option, STR("=false"));
}

static bool any_option(const struct word *args, size_t count, struct str alternatives)
{
    for (size_t i = 0; i < count; i++)
        if (option_is(args[i], alternatives))
            return true;
    return false;
}

/* "-H*": an option that begins so. */
static bool any_beginning(const struct word *args, size_t count, struct str beginning)
{
    for (size_t i = 0; i < count; i++)
        if (str_starts(args[i].text, beginning))
            return true;
    return false;
}

/* "+ief": the letter i in a bundle: -i, -ni.bak, -0777pi; behind e and f stand their values. */
static bool any_letter(const struct word *args, size_t count, struct str letters)
{
    for (size_t i = 0; i < count; i++) {
        struct str text = args[i].text;
        for (size_t k = 1; k < text.n && text.p[0] == '-'; k++) {
            if (text.p[k] == letters.p[0])
                return true;
            if (!ascii_is_alnum(text.p[k]) || str_has_char(letters, text.p[k]))
                break;
        }
    }
    return false;
}

static bool any_argument(const struct word *args, size_t count, struct str alternatives)
{
    for (size_t i = 0; i < count; i++)
        if (name_is_one_of(option_of(args[i]), alternatives))
            return true;
    return false;
}

/* "-m=a|b": the option with one of these values, joined or as the next argument. */
static bool option_with_value(const struct word *args, size_t count, struct str clause)
{
    size_t equals = str_find_char(clause, '=', 0);
    struct str name = str_slice(clause, 0, equals), values = str_from(clause, equals + 1);
    for (size_t i = 0; i < count; i++) {
        struct str option = option_of(args[i]);
        if (!str_starts(option, name))
            continue;
        struct str value = str_from(option, name.n);
        if (value.n == 0 && i + 1 < count)
            value = args[i + 1].text;
        else if (value.n && (value.p[0] == '=' || value.p[0] == ':'))
            value = str_from(value, 1);
        if (name_is_one_of(value, values))
            return true;
    }
    return false;
}

static bool first_is(const struct word *args, size_t count, struct str alternatives)
{
    size_t i = 0;
    while (i < count && str_starts(args[i].text, STR("\\\\")))
        i++;
    return i < count && name_is_one_of(option_of(args[i]), alternatives);
}

static bool any_url(const struct word *args, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct str text = args[i].text;
        /* An option may carry it: /i:https://… */
        if (is_option(text))
            text = str_from(text, str_find_char(text, ':', 0) + 1);
        if (guard_is_url(args[i].text) || guard_is_url(text) || guard_is_share(text))
            return true;
    }
    return false;
}

/* Unix sockets of services that act for whoever connects. */
static bool any_server(const struct word *args, size_t count)
{
    static const struct str sockets[] = {
        STR("docker.sock"),  STR("podman.sock"),       STR("containerd.sock"),
        STR("crio.sock"),    STR("buildkitd.sock"),    STR("libvirt-sock"),
        STR("snapd.socket"), STR("system_bus_socket"), STR("systemd/private"),
        STR("X11-unix"),
    };
    for (size_t i = 0; i < count; i++) {
        struct str text = args[i].text;
        for (size_t k = 0; k < NAME_ROWS(sockets); k++)
            if (str_find(text, sockets[k], 0) < text.n)
                return true;
        if (str_starts(text, STR("/run/user/")) || str_find(text, STR(":/run/user/"), 0) < text.n)
            return true; /* the bus of the session, agents, sound */
    }
    return false;
}

/* The next positional argument at or after *next is one of these; moves *next past it. */
static bool positional_is(const struct word *args, size_t count, size_t *next,
                          struct str alternatives)
{
    while (*next < count && is_option(args[*next].text))
        (*next)++;
    if (*next >= count)
        return false;
    struct str text = args[(*next)++].text;
    return str_eq(alternatives, STR("*")) || name_is_one_of(text, alternatives);
}

static bool clause_holds(struct str clause, const struct word *args, size_t count, size_t *next)
{
    switch (clause.p[0]) {
    case '!': return !any_argument(args, count, str_from(clause, 1));
    case '+': return any_letter(args, count, str_from(clause, 1));
    case '~': return any_argument(args, count, str_from(clause, 1));
    case '^': return !first_is(args, count, str_from(clause, 1));
    case '@':
        return str_eq(clause, STR("@server")) ? any_server(args, count) : any_url(args, count);
    case '-':
    case '/':
        if (clause.p[clause.n - 1] == '*')
            return any_beginning(args, count, str_slice(clause, 0, clause.n - 1));
        if (str_has_char(clause, '='))
            return option_with_value(args, count, clause);
        return any_option(args, count, clause);
    default:
        if (str_eq(clause, STR("*")) && *next == 0)
            return count > 0;
        return positional_is(args, count, next, clause);
    }
}

bool condition_holds(struct str condition, const struct word *args, size_t count)
{
    size_t next = 0;
    while (condition.n) {
        size_t blank = str_find_char(condition, ' ', 0);
        if (blank && !clause_holds(str_slice(condition, 0, blank), args, count, &next))
            return false;
        condition = str_from(condition, blank + 1);
    }
    return true;
}
