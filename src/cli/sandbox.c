/* SPDX-License-Identifier: Apache-2.0 */
/* cordon sandbox: the command line that Codex users know, in front of run. */
#include <stdlib.h>

#include "cli/cli.h"
#include "launch/disk.h"
#include "lib/api.h"
#include "policy/net.h"

/* "windows" and "linux" name the system this is; another one cannot be had. */
static int take_system(struct arguments *args)
{
    static const char *const systems[] = {"windows", "linux", "macos"};
    const char *own = disk_dialect() == PATH_WINDOWS ? "windows" : "linux";
    const char *word = args->next < args->count ? args->items[args->next] : "";
    for (size_t i = 0; i < sizeof systems / sizeof *systems; i++)
        if (strcmp(word, systems[i]) == 0) {
            args->next++;
            return strcmp(word, own) == 0
                       ? 0
                       : print_failure("this is %s; leave out %s, or write %s", own, word, own);
        }
    return 0;
}

/* True if the next word is the value of this option of run. */
static bool has_value(struct str word)
{
    static const struct {
        const char *name;
        char letter;
        bool value;
    } own[] = {
#define COMMAND_OPTION(command, name, letter, value, help) OPTION_OF_##command(name, letter, value)
#define OPTION_OF_run(name, letter, value) {name, letter, sizeof(value) > 1},
#define OPTION_OF_check(name, letter, value)
#define OPTION_OF_why(name, letter, value)
#define OPTION_OF_denials(name, letter, value)
#define OPTION_OF_changes(name, letter, value)
#define OPTION_OF_undo(name, letter, value)
#define OPTION_OF_runs(name, letter, value)
#define OPTION_OF_explain(name, letter, value)
#define OPTION_OF_sandbox(name, letter, value)
#define OPTION_OF_hook(name, letter, value)
#define OPTION_OF_report(name, letter, value)
#define OPTION_OF_selftest(name, letter, value)
#define OPTION_OF_doctor(name, letter, value)
#define OPTION_OF_help(name, letter, value)
#include "cli/options.def"
    };
    bool is_long = str_starts(word, STR("--"));
    struct str name = str_from(word, is_long ? 2 : 1);
    const struct settings_info *info = is_long ? settings_find(name) : NULL;
    if (info)
        return info->value.n > 0;
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (is_long ? str_eq(name, str_of(own[i].name)) : name.n == 1 && own[i].letter == name.p[0])
            return own[i].value;
    return false;
}

/* A setting of Codex. Those that are not about its sandbox change nothing here. */
static int take_pair(struct cordon_policy *p, struct str pair)
{
    static const struct str refused[] = {STR("permissions"), STR("default_permissions"),
                                         STR("shell_environment_policy")};
    struct str key = str_trim(str_slice(pair, 0, str_find_char(pair, '=', 0)));
    struct str first = str_slice(key, 0, str_find_char(key, '.', 0));
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (str_eq(first, refused[i]))
            return print_failure(
                "-c %.*s: cordon has no such setting; use its own options (cordon help "
                "sandbox)",
                STR_ARG(key));
    bool ours = key.n == pair.n || str_find(key, STR("box"), 0) < key.n ||
                str_find(key, STR("write"), 0) < key.n;
    if (!ours)
        return 0;
    return settings_pair(&p->settings, pair) ? print_failure("out of memory") : 0;
}

static int take_profile(struct cordon_policy *p, struct str name)
{
    static const struct {
        struct str name;
        const char *pair;
    } profiles[] = {{STR(":read-only"), "sandbox_mode=read-only"},
                    {STR(":workspace"), "sandbox_mode=workspace-write"},
                    {STR(":danger-full-access"), "sandbox_mode=danger-full-access"}};
    for (size_t i = 0; i < sizeof profiles / sizeof *profiles; i++)
        if (str_eq(name, profiles[i].name))
            return take_pair(p, str_of(profiles[i].pair));
    return print_failure(
        "-P %.*s: cordon does not read the profiles of Codex; it knows :read-only, "
        ":workspace and :danger-full-access, and a policy file (--policy)",
        STR_ARG(name));
}

/* Options of Codex that have a value, and what becomes of them. */
static int take_codex(struct cordon_policy *p, struct arguments *rest, char what, const char *value)
{
    switch (what) {
    case 'c': return take_pair(p, str_of(value));
    case 'P': return take_profile(p, str_of(value));
    case 'C':
        rest->items[rest->count++] = "--cwd";
        rest->items[rest->count++] = value;
        return 0;
    case 'e': return 0; /* features of Codex itself */
    case 'p':
        return print_failure("-p %s: cordon does not read the configuration of Codex; name its "
                             "settings with -c",
                             value);
    default:
        return print_failure("cordon does not read the sandbox state of Codex; use --mode, --root "
                             "and --net");
    }
}

/* Takes what is Codex's out of the words in front of the command; the rest is for run. */
static int take_words(struct cordon_policy *p, struct arguments *args, struct arguments *rest)
{
    static const struct {
        const char *name;
        char letter, what;
        bool value;
    } own[] = {{"--config", 'c', 'c', true},
               {"--permission-profile", 'P', 'P', true},
               {"--profile", 'p', 'p', true},
               {"--cd", 'C', 'C', true},
               {"--enable", 0, 'e', true},
               {"--disable", 0, 'e', true},
               {"--sandbox-state-json", 0, 's', true},
               {"--sandbox-state-readable-root", 0, 's', true},
               {"--sandbox-state-disable-network", 0, 's', false},
               {"--include-managed-config", 0, 's', false}};
    for (; args->next < args->count; args->next++) {
        const char *word = args->items[args->next];
        struct str text = str_of(word);
        size_t equals = str_find_char(text, '=', 0), i = 0;
        if (word[0] != '-' || strcmp(word, "--") == 0)
            break;
        if (strcmp(word, "--full-auto") == 0) {
            if (settings_pair(&p->settings, STR("sandbox_mode=workspace-write")))
                return print_failure("out of memory");
            continue;
        }
        for (; i < sizeof own / sizeof *own; i++)
            if (str_eq(str_slice(text, 0, equals), str_of(own[i].name)) ||
                (own[i].letter && text.n == 2 && word[1] == own[i].letter))
                break;
        if (i == sizeof own / sizeof *own) {
            rest->items[rest->count++] = word;
            if (equals == text.n && has_value(text) && args->next + 1 < args->count)
                rest->items[rest->count++] = args->items[++args->next];
            continue;
        }
        const char *value = equals < text.n ? word + equals + 1 : "";
        if (own[i].value && equals == text.n) {
            if (args->next + 1 >= args->count || strcmp(args->items[args->next + 1], "--") == 0)
                return own[i].what == 'c' ? print_failure("%s needs KEY=VALUE, for example %s "
                                                          "sandbox_mode=workspace-write",
                                                          word, word)
                                          : print_failure("%s needs a value", word);
            value = args->items[++args->next];
        }
        int code = take_codex(p, rest, own[i].what, value);
        if (code)
            return code;
    }
    for (; args->next < args->count; args->next++)
        rest->items[rest->count++] = args->items[args->next];
    return 0;
}

/* A proxy on this machine that the environment names can be reached, as Codex has it: whoever set
   it decides there what else can be. */
static int take_proxy(struct cordon_policy *p)
{
    static const struct str names[] = {STR("HTTPS_PROXY"), STR("https_proxy"), STR("HTTP_PROXY"),
                                       STR("http_proxy"),  STR("ALL_PROXY"),   STR("all_proxy")};
    auto_arena struct arena arena = {0};
    for (size_t i = 0; i < p->settings.pair_count; i++)
        if (str_find(p->settings.pairs[i], STR("network_access"), 0) < p->settings.pairs[i].n)
            return 0;
    for (size_t i = 0; i < sizeof names / sizeof *names && !api_has(p, "net"); i++) {
        auto_buf struct buf net = {0};
        struct policy_peer peer;
        struct str value;
        if (!disk_variable(&arena, names[i], &value))
            continue;
        size_t scheme = str_find(value, STR("://"), 0);
        value = scheme < value.n ? str_from(value, scheme + 3) : value;
        value = str_slice(value, 0, str_find_char(value, '/', 0));
        size_t at = str_find_char(value, '@', 0);
        value = at < value.n ? str_from(value, at + 1) : value;
        if (policy_parse_peer(value, &peer))
            continue;
        struct net_host host = net_read_host(peer.host);
        if (!net_is_loopback(&host))
            continue;
        buf_add(&net, STR("proxy="));
        buf_add(&net, value);
        if (net.failed || cordon_policy_set(p, "net", buf_cstr(&net)))
            return print_failure("%s: %s", names[i].p, cordon_policy_error(p));
    }
    return 0;
}

int command_sandbox(struct arguments *args)
{
    struct cordon_policy *p;
    struct arguments rest = {calloc(2 * args->count + 1, sizeof *rest.items), 0, 0, args->raw};
    if (!rest.items || cordon_policy_new(&p)) {
        free(rest.items);
        return print_failure("out of memory");
    }
    p->settings.codex = true;
    int code = take_system(args);
    if (code == 0)
        code = take_words(p, args, &rest);
    if (code == 0)
        code = take_proxy(p);
    if (code == 0)
        code = cli_run(p, &rest, "sandbox");
    cordon_policy_free(p);
    free(rest.items);
    return code;
}
