/* SPDX-License-Identifier: Apache-2.0 */
/* Variables that a run sets, and those that lead to servers outside and are removed. */
#include "launch/environment.h"

#include <string.h>

#include "audit/audit.h"
#include "base/glob.h"

/* Servers that act for whoever asks; the tree must not learn their addresses. */
static const char *const outside[] = {
    "SSH_AUTH_SOCK",         "SSH_AGENT_PID",  "DBUS_SESSION_BUS_ADDRESS", "VSCODE_IPC_HOOK_CLI",
    "VSCODE_GIT_IPC_HANDLE", "GPG_AGENT_INFO", "_MSPDBSRV_ENDPOINT_"};

/* Daemons that would outlive the run, or that already run outside it. */
static const char *const always[] = {"CORDON=1", "MSBUILDDISABLENODEREUSE=1",
                                     "DOTNET_CLI_USE_MSBUILD_SERVER=0",
                                     "UseSharedCompilation=false"};

/* So that tools fail at once instead of after a time-out. */
static const char *const offline[] = {"CODEX_SANDBOX_NETWORK_DISABLED=1", "CARGO_NET_OFFLINE=true",
                                      "GIT_TERMINAL_PROMPT=0"};

/* Where nothing beyond this machine can be reached: a server here answers at once or not at all. */
static const char *const impatient[] = {"npm_config_fetch_retries=0", "PIP_RETRIES=0",
                                        "UV_HTTP_RETRIES=0", "CARGO_NET_RETRY=0"};

/* How programs learn of a proxy; curl reads only the lower-case form of the first. */
static const char *const proxies[] = {"http_proxy",
                                      "HTTP_PROXY",
                                      "https_proxy",
                                      "HTTPS_PROXY",
                                      "all_proxy",
                                      "ALL_PROXY",
                                      "ftp_proxy",
                                      "FTP_PROXY",
                                      "npm_config_proxy",
                                      "npm_config_https_proxy",
                                      "YARN_HTTP_PROXY",
                                      "YARN_HTTPS_PROXY",
                                      "PIP_PROXY",
                                      "CARGO_HTTP_PROXY",
                                      "GLOBAL_AGENT_HTTP_PROXY"};

/* Proxy exceptions, which could only fail; and node, which needs a switch. */
static const char *const proxied[] = {"no_proxy=", "NO_PROXY=", "npm_config_noproxy=",
                                      "NODE_USE_ENV_PROXY=1", "GIT_TERMINAL_PROMPT=0"};

/* Set where the temp folder is the run's own. */
static const char *const temps[] = {"TMPDIR", "TEMP", "TMP"};

#define COUNT(array) (sizeof(array) / sizeof *(array))

struct environment_builder {
    struct arena *arena;
    const char **items;
    size_t count, capacity;
    bool ignore_case, failed;
};

static struct str name_of(const char *variable)
{
    struct str text = str_of(variable);
    /* Windows keeps the current directory of each drive in names like =C: */
    return str_slice(text, 0, str_find_char(text, '=', 1));
}

static bool same(const struct environment_builder *b, struct str a, struct str c)
{
    return b->ignore_case ? str_eqi(a, c) : str_eq(a, c);
}

static bool matches(const struct environment_builder *b, struct str pattern, struct str name)
{
    if (str_has_char(pattern, '*'))
        return glob_match(b->ignore_case ? GLOB_STARS : GLOB_BASH, pattern, name);
    return same(b, pattern, name);
}

static void add(struct environment_builder *b, const char *variable)
{
    if (b->count + 1 >= b->capacity) {
        size_t capacity = b->capacity ? b->capacity * 2 : 128;
        const char **items = ARENA_ARRAY(b->arena, capacity, const char *);
        b->failed = b->failed || !items;
        if (b->failed)
            return;
        if (b->count)
            memcpy(items, b->items, b->count * sizeof *items);
        b->items = items;
        b->capacity = capacity;
    }
    b->items[b->count++] = variable;
}

static void drop(struct environment_builder *b, struct str pattern)
{
    size_t kept = 0;
    /* Most variables begin otherwise. */
    bool plain = !b->ignore_case && pattern.n && !str_has_char(pattern, '*');
    for (size_t i = 0; i < b->count; i++)
        if ((plain && strncmp(b->items[i], pattern.p, pattern.n) != 0) ||
            !matches(b, pattern, name_of(b->items[i])))
            b->items[kept++] = b->items[i];
    b->count = kept;
}

/* Variables that are masked in the audit, by their name or by the shape of their value. */
static void drop_secrets(struct environment_builder *b)
{
    size_t kept = 0;
    for (size_t i = 0; i < b->count; i++)
        if (!environment_is_secret(b->items[i]))
            b->items[kept++] = b->items[i];
    b->count = kept;
}

bool environment_is_secret(const char *variable)
{
    auto_buf struct buf masked = {0};
    /* Folders: in a command line pwd= is a password. */
    if (strncmp(variable, "PWD=", 4) == 0 || strncmp(variable, "OLDPWD=", 7) == 0)
        return false;
    audit_mask(&masked, str_of(variable));
    return masked.failed || !str_eq(buf_str(&masked), str_of(variable));
}

static void set(struct environment_builder *b, const char *variable)
{
    drop(b, name_of(variable));
    add(b, variable);
}

static void set_value(struct environment_builder *b, const char *name, struct str value)
{
    auto_buf struct buf text = {0};
    buf_fmt(&text, "%s=%.*s", name, STR_ARG(value));
    const char *copy = text.failed ? NULL : arena_copy(b->arena, buf_str(&text)).p;
    b->failed = b->failed || !copy;
    if (copy)
        set(b, copy);
}

/* True if the variable names this address already, perhaps with another scheme (socks5h://). */
static bool leads_to(const struct environment_builder *b, const char *name, struct str proxy)
{
    size_t scheme = str_find(proxy, STR("://"), 0);
    struct str address = scheme < proxy.n ? str_from(proxy, scheme + 3) : proxy;
    for (size_t i = 0; i < b->count; i++)
        if (b->items[i] && str_eq(name_of(b->items[i]), str_of(name)))
            return str_find(str_of(b->items[i]), address, 0) < strlen(b->items[i]);
    return false;
}

/* NAME=VALUE; NAME+=VALUE is added to what the variable holds, after a blank, which so cannot be in
   the value. */
static void set_tool(struct environment_builder *b, struct str text)
{
    size_t equals = str_find_char(text, '=', 0);
    bool adds = equals && equals < text.n && text.p[equals - 1] == '+';
    const char *name = arena_copy(b->arena, str_slice(text, 0, equals - adds)).p;
    struct str value = str_from(text, equals + 1);
    auto_buf struct buf all = {0};
    b->failed = b->failed || !name;
    if (b->failed || (adds && str_has_char(value, ' ')))
        return;
    for (size_t i = 0; i < b->count && adds; i++)
        if (same(b, name_of(b->items[i]), str_of(name)))
            buf_fmt(&all, "%.*s ", STR_ARG(str_from(str_of(b->items[i]), strlen(name) + 1)));
    buf_add(&all, value);
    b->failed = b->failed || all.failed;
    set_value(b, name, buf_str(&all));
}

static bool in_a_root(const struct policy_settings *s, struct str folder)
{
    for (size_t i = 0; i < s->roots.count; i++) {
        if (policy_is_below(s->paths.dialect, s->roots.items[i].path, folder))
            return true;
    }
    return false;
}

/* A shim from the workspace may run, since it is confined anyway; the host's own tool may not. */
static void put_stubs(struct environment_builder *b, const struct policy_settings *s,
                      struct str stubs)
{
    char separator = s->paths.dialect == PATH_WINDOWS ? ';' : ':';
    auto_buf struct buf text = {0};
    struct str path = STR_NONE;
    for (size_t i = 0; i < b->count; i++)
        if (same(b, name_of(b->items[i]), STR("PATH")))
            path = str_from(str_of(b->items[i]), sizeof "PATH");
    size_t at = 0;
    if (path.n == 0)
        return; /* programs then look in default places */
    while (at < path.n) {
        size_t end = str_find_char(path, separator, at);
        if (!in_a_root(s, str_slice(path, at, end)))
            break;
        at = end + 1;
    }
    buf_add(&text, str_slice(path, 0, at));
    buf_add(&text, stubs);
    if (at < path.n) {
        buf_char(&text, separator);
        buf_add(&text, str_from(path, at));
    }
    if (text.failed)
        b->failed = true;
    else
        set_value(b, "PATH", buf_str(&text));
}

static bool has_temp_of_its_own(enum policy_temp temp)
{
    switch (temp) {
    case POLICY_TEMP_PRIVATE:
    case POLICY_TEMP_SESSION: return true;
    case POLICY_TEMP_SHARED:
    case POLICY_TEMP_OWN: break;
    }
    return false;
}

const char *const *environment_make(struct arena *arena, const struct policy_settings *settings,
                                    const struct environment_plan *plan)
{
    struct environment_builder b = {.arena = arena, .ignore_case = plan->ignore_case};
    for (size_t i = 0; plan->inherited[i]; i++)
        add(&b, plan->inherited[i]);
    for (size_t i = 0; i < COUNT(outside); i++)
        drop(&b, str_of(outside[i]));
    for (size_t i = 0; i < plan->unset_count; i++) {
        if (str_eq(str_of(plan->unset[i]), STR("@secrets")))
            drop_secrets(&b);
        else
            drop(&b, str_of(plan->unset[i]));
    }
    for (size_t i = 0; i < COUNT(always); i++)
        set(&b, always[i]);
    /* git status and git diff do without the lock that they would be refused. */
    if (settings->git == POLICY_GIT_PROTECT && settings->mode != POLICY_FULL_ACCESS)
        set(&b, "GIT_OPTIONAL_LOCKS=0");
    bool alone = !plan->proxy && settings->mode != POLICY_FULL_ACCESS;
    for (size_t i = 0; alone && settings->net <= POLICY_NET_LOOPBACK && i < COUNT(impatient); i++)
        set(&b, impatient[i]);
    if (alone && settings->net == POLICY_NET_OFF) {
        for (size_t i = 0; i < COUNT(offline); i++)
            set(&b, offline[i]);
        for (size_t i = 0; plan->offline && plan->offline[i]; i++)
            set(&b, plan->offline[i]);
    }
    for (size_t i = 0; i < COUNT(proxies) && plan->proxy; i++)
        if (!leads_to(&b, proxies[i], str_of(plan->proxy)))
            set_value(&b, proxies[i], str_of(plan->proxy));
    for (size_t i = 0; i < COUNT(proxied) && plan->proxy; i++)
        set(&b, proxied[i]);
    struct str temp =
        has_temp_of_its_own(settings->temp) ? settings->temp_path : settings->temp_own;
    for (size_t i = 0; i < COUNT(temps) && temp.n; i++)
        set_value(&b, temps[i], temp);
    if (plan->stubs.n)
        put_stubs(&b, settings, plan->stubs);
    for (size_t i = 0; plan->tools && i < plan->tools->count; i++)
        set_tool(&b, plan->tools->items[i].given);
    for (size_t i = 0; i < plan->set_count; i++)
        set(&b, plan->set[i]);
    add(&b, NULL);
    return b.failed ? NULL : b.items;
}
