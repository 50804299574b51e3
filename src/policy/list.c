/* SPDX-License-Identifier: Apache-2.0 */
/* The effective policy, line by line, in the order in which it is applied. */
#include "policy/build.h"

struct list_lines {
    struct arena *arena;
    struct policy_line *items;
    size_t count, capacity;
    bool failed;
    bool posix;
};

static void add(struct list_lines *l, enum policy_rule rule, const char *effect, struct str what,
                struct str from)
{
    if (l->count == l->capacity) {
        void *grown = arena_grow(l->arena, l->items, &l->capacity, sizeof *l->items);
        if (!grown) {
            l->failed = true;
            return;
        }
        l->items = grown;
    }
    what = arena_copy(l->arena, what);
    from = arena_copy(l->arena, from.n ? from : STR("default"));
    if (!what.p || !from.p)
        l->failed = true;
    l->items[l->count] =
        (struct policy_line){(unsigned)l->count + 1, rule, effect, what, from, false};
    l->count++;
}

/* A rule that has a meaning on Windows only. */
static void add_of_windows(struct list_lines *l, enum policy_rule rule, const char *effect,
                           struct str what, struct str from)
{
    add(l, rule, effect, what, from);
    if (!l->failed)
        l->items[l->count - 1].elsewhere = l->posix;
}

static void add_list(struct list_lines *l, enum policy_rule rule, const char *effect,
                     const struct policy_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        add(l, rule, effect, list->items[i].path.n ? list->items[i].path : list->items[i].given,
            list->items[i].from);
}

/* Rules that hold for whole kinds of paths. */
static void add_kinds(struct list_lines *l)
{
    static const struct {
        enum policy_rule rule;
        const char *effect, *what;
    } kinds[] = {
        {RULE_DEVICE_NUL, "allow", "\\\\.\\NUL"},
        {RULE_DEVICE_CONSOLE, "allow", "the run's console"},
        {RULE_PIPE_OUTSIDE, "deny", "pipes of programs outside"},
        {RULE_PATH_MAILSLOT, "deny", "mailslots"},
        {RULE_PATH_RESERVED, "deny", "aux, com1 and the like"},
        {RULE_PATH_STREAM, "deny", "changing a:b"},
        {RULE_PATH_TRAILING, "deny", "changing \\\\?\\C:\\a."},
        {RULE_PATH_WSL, "deny", "\\\\wsl$"},
    };
    add(l, RULE_PATH_MALFORMED, "deny", STR("malformed paths"), STR_NONE);
    add(l, RULE_PATH_DEVICE, "deny", STR("disks, volumes, ports"), STR_NONE);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        add_of_windows(l, kinds[i].rule, kinds[i].effect, str_of(kinds[i].what), STR_NONE);
}

static void add_protected(struct list_lines *l, const struct policy *policy)
{
    const struct policy_settings *s = &policy->settings;
    add(l, RULE_PROTECTED_GIT, "deny",
        s->git == POLICY_GIT_PROTECT  ? STR(".git")
        : s->git == POLICY_GIT_COMMIT ? STR(".git, except the files that a commit writes")
                                      : STR("hooks and configuration of .git"),
        s->git_from);
    if (s->git != POLICY_GIT_PROTECT) {
        add(l, RULE_GIT_COMMIT, "allow",
            s->git == POLICY_GIT_FULL ? STR("the rest of .git, a rebase's commands too")
                                      : STR("objects, refs, index, logs, HEAD of .git"),
            s->git_from);
    }
    add_list(l, s->git == POLICY_GIT_PROTECT ? RULE_PROTECTED_GIT : RULE_GIT_COMMIT,
             s->git == POLICY_GIT_PROTECT ? "deny" : "allow", &s->git_dirs);
    add_list(l, RULE_PROTECTED_GIT, "deny", &s->git_obeys);
    for (int i = PROTECTED_GIT + 1; i < PROTECTED_COUNT; i++)
        if (!policy->unprotected[i])
            add(l, RULE_PROTECTED_NAME, "deny", str_of(protected_spelled((enum protected_name)i)),
                STR_NONE);
}

static void add_net(struct list_lines *l, const struct policy_settings *s)
{
    switch (s->net) {
    case POLICY_NET_ON: add(l, RULE_NET_ON, "allow", STR("network"), s->net_from); return;
    case POLICY_NET_LOOPBACK:
        add(l, RULE_NET_LOOPBACK, "allow", STR("this machine"), s->net_from);
        break;
    case POLICY_NET_PROXY: add(l, RULE_NET_PROXY, "allow", s->proxy, s->net_from); break;
    case POLICY_NET_ALLOW:
        for (size_t i = 0; i < s->net_allow.count; i++) {
            const struct policy_entry *e = &s->net_allow.items[i];
            bool refuses = str_starts(e->given, STR("!"));
            add(l, refuses ? RULE_NET_DENIED : RULE_NET_ALLOW, refuses ? "deny" : "allow",
                str_from(e->given, refuses), e->from);
        }
        break;
    default: break;
    }
    add(l, RULE_NET_OFF, "deny", STR("network"), s->net_from);
}

static void add_sockets(struct list_lines *l, const struct policy_settings *s)
{
    add_list(l, RULE_PIPE_ALLOWED, "allow", &s->sockets);
    if (l->posix)
        add(l, RULE_PIPE_OUTSIDE, "deny", STR("local sockets of programs outside"), STR_NONE);
}

static void add_files(struct list_lines *l, const struct policy *policy)
{
    const struct policy_settings *s = &policy->settings;
    add_kinds(l);
    add_sockets(l, s);
    add_list(l, RULE_READ_DENIED, "deny", &s->deny_read);
    add_list(l, RULE_READ_ALLOWED, "allow", &s->allow_read);
    if (s->net != POLICY_NET_ON)
        add_of_windows(l, RULE_PATH_UNC, "deny", STR("reading network shares"), s->net_from);
    add(l, RULE_READ_ALLOWED, "allow", STR("reading everything else"), STR_NONE);
    add_list(l, RULE_PROTECTED_SELF, "deny", &s->self);
    add_list(l, RULE_WRITE_DENIED, "deny", &s->deny_write);
    if (s->mode == POLICY_READ_ONLY) {
        add_of_windows(l, RULE_TEMP_PROBE, "allow", STR("PowerShell's test file in temp"),
                       STR_NONE);
        add(l, RULE_MODE_READ_ONLY, "deny", STR("changing anything"), s->mode_from);
        return;
    }
    add_list(l, RULE_ROOTS_ITSELF, "deny", &s->roots);
    add_protected(l, policy);
    add(l, RULE_LINK_HARD, "deny", STR("files with another name, if it may be outside"), STR_NONE);
    add(l, RULE_LINK_REPARSE, "deny", STR("links that lead outside"), STR_NONE);
    if (s->temp_path.n && s->temp == POLICY_TEMP_OWN) {
        add(l, RULE_TEMP_TRUSTED, "deny", STR("names in temp that other programs trust"),
            s->temp_from);
        add(l, RULE_TEMP_FOREIGN, "deny", STR("what others made in temp"), s->temp_from);
    }
    if (s->temp_path.n)
        add(l, RULE_TEMP_INSIDE, "allow", s->temp_path, s->temp_from);
    if (s->paths.dialect == PATH_POSIX && !s->no_temp)
        add(l, RULE_TEMP_INSIDE, "allow", STR("the run's own semaphores, /dev/shm/sem.*"),
            STR_NONE);
    add_list(l, RULE_ROOTS_INSIDE, "allow", &s->roots);
    add(l, RULE_ROOTS_OUTSIDE, "deny", STR("everything else"), STR_NONE);
}

static bool is_allowed_tool(const struct policy_settings *s, const char *name)
{
    for (size_t i = 0; i < s->allow_tools.count; i++)
        if (str_eqi(s->allow_tools.items[i].given, str_of(name)))
            return true;
    return false;
}

static void add_tools(struct list_lines *l, const struct policy_settings *s)
{
    enum { EVERYWHERE, LOGIN, DESKTOP_TOO, WINDOWS, DESKTOP };
    static const struct {
        const char *name;
        enum policy_rule rule;
        int where;
    } tools[] = {
#define POLICY_TOOL(name, id, where, text) {id, RULE_TOOL_##name, where},
#include "policy/tools.def"
#undef POLICY_TOOL
    };
    add_list(l, RULE_TOOL_DENIED, "deny", &s->deny_tools);
    add_list(l, RULE_TOOL_ALLOWED, "allow", &s->allow_tools);
    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++)
        if (!is_allowed_tool(s, tools[i].name))
            (tools[i].where >= WINDOWS ? add_of_windows : add)(l, tools[i].rule, "deny",
                                                               str_of(tools[i].name), STR_NONE);
}

int policy_list_rules(const struct policy *policy, struct arena *arena, struct policy_line **lines,
                      size_t *count)
{
    struct list_lines l = {.arena = arena, .posix = policy->settings.paths.dialect == PATH_POSIX};
    if (policy->settings.mode == POLICY_FULL_ACCESS) {
        add(&l, RULE_MODE_FULL, "allow", STR("everything"), policy->settings.mode_from);
    } else {
        add_files(&l, policy);
        add_net(&l, &policy->settings);
        add_tools(&l, &policy->settings);
    }
    if (l.failed)
        return CORDON_E_NOMEM;
    *lines = l.items;
    *count = l.count;
    return 0;
}
