/* SPDX-License-Identifier: Apache-2.0 */
/* Options of a subcommand and of the policy, with a suggestion for a mistyped one. */
#include "cli/cli.h"
#include "launch/settings.h"

static const struct cli_option *own_option(const struct cli_option *own, size_t count,
                                           struct str name)
{
    for (size_t i = 0; i < count; i++)
        if (str_eq(str_of(own[i].name), name))
            return &own[i];
    return NULL;
}

/* Words that people try, and the right ones here. */
static const struct {
    const char *tried, *option;
} synonyms[] = {{"allow-write", "root"},
                {"writable", "root"},
                {"workspace", "root"},
                {"dir", "root"},
                {"directory", "root"},
                {"add-dir", "root"},
                {"network", "net"},
                {"no-network", "net=off"},
                {"allow-net", "net=allow=HOST"},
                {"allow-network", "net=allow=HOST"},
                {"allow-host", "net=allow=HOST"},
                {"write", "root"},
                {"rw", "root"},
                {"offline", "net=off"},
                {"read-only", "mode read-only"},
                {"readonly", "mode read-only"},
                {"sandbox", "mode"},
                {"sandbox-mode", "mode"},
                {"log", "audit"},
                {"config", "policy"},
                {"env", "unset"},
                {"memory", "max-memory"},
                {"chdir", "cwd"},
                {"silent", "quiet"},
                {"version", "version in front of a command"}};

static const char *synonym_of(struct str name)
{
    for (size_t i = 0; i < sizeof synonyms / sizeof *synonyms; i++)
        if (str_eq(name, str_of(synonyms[i].tried)))
            return synonyms[i].option;
    return NULL;
}

static int unknown(const char *word, struct str name, const struct cli_option *own,
                   size_t own_count, bool with_policy)
{
    enum { MOST = 64 };
    const char *names[MOST];
    char copy[64];
    size_t count = 0;
    for (size_t i = 0; i < own_count && count < MOST; i++)
        names[count++] = own[i].name;
    for (size_t i = 0; with_policy && i < settings_info_count && count < MOST; i++)
        names[count++] = settings_infos[i].name.p;
    snprintf(copy, sizeof copy, "%.*s", (int)(name.n < 60 ? name.n : 60), name.p);
    const char *nearest = with_policy ? synonym_of(name) : NULL;
    if (str_eq(name, STR("uninstall")) && own_option(own, own_count, STR("remove")))
        nearest = "remove NAME";
    if (!nearest)
        nearest = print_nearest(copy, names, count);
    if (nearest)
        return print_failure("unknown option %s; did you mean --%s?", word, nearest);
    return print_failure("unknown option %s; see cordon help", word);
}

/* "-o" is the option of that letter; NULL if there is none. */
static const struct cli_option *letter_option(const struct cli_option *own, size_t count,
                                              const char *word)
{
    if (strcmp(word, "-h") == 0)
        return own_option(own, count, STR("help"));
    for (size_t i = 0; i < count && word[1] != '-' && word[2] == '\0'; i++)
        if (own[i].letter == word[1])
            return &own[i];
    return NULL;
}

static int take_one(struct arguments *args, const struct cli_option *own, size_t own_count,
                    struct cordon_policy *policy)
{
    const char *word = args->items[args->next++];
    const struct cli_option *short_one = letter_option(own, own_count, word);
    struct str text = short_one ? str_of(short_one->name) : str_from(str_of(word), 2);
    size_t equals = str_find_char(text, '=', 0);
    struct str name = str_slice(text, 0, equals);
    const char *value = equals < text.n ? text.p + equals + 1 : NULL;
    const struct cli_option *option = own_option(own, own_count, name);
    const struct settings_info *info = policy && !option ? settings_find(name) : NULL;
    if (!option && !info)
        return unknown(word, name, own, own_count, policy != NULL);
    /* With both, the value is optional: --undo, --undo=strict. */
    bool optional = option && option->value && option->flag;
    bool takes_value = option ? option->value && (!optional || value) : info->value.n > 0;
    if (!takes_value && value)
        return print_failure("--%.*s takes no value", STR_ARG(name));
    if (takes_value && !value) {
        if (args->next >= args->count)
            return print_failure("--%.*s needs a value", STR_ARG(name));
        value = args->items[args->next++];
        /* "--net -- ls": the dashes are the end of the options, never a value. */
        if (strcmp(value, "--") == 0)
            return print_failure("--%.*s needs a value before --", STR_ARG(name));
    }
    if (option && option->count) {
        if (*option->count == option->most)
            return print_failure("--%.*s was given more than %u times", STR_ARG(name),
                                 (unsigned)option->most);
        option->value[(*option->count)++] = value;
    } else if (option && takes_value) {
        *option->value = value;
        if (optional)
            *option->flag = true;
    } else if (option)
        *option->flag = true;
    else {
        char option_name[64];
        snprintf(option_name, sizeof option_name, "%.*s", STR_ARG(name));
        if (cordon_policy_set(policy, option_name, value))
            return print_failure("%s", cordon_policy_error(policy));
    }
    return 0;
}

static bool long_dash(const char *word)
{
    return str_starts(str_of(word), STR("\xE2\x80\x93")) ||
           str_starts(str_of(word), STR("\xE2\x80\x94"));
}

/* Long ones and short ones, in any order: a chat replaces one of two hyphens, or both. */
static const char *without_dashes(const char *word)
{
    while (*word == '-' || long_dash(word))
        word += *word == '-' ? 1 : 3;
    return word;
}

int options_take(struct arguments *args, const struct cli_option *own, size_t own_count,
                 struct cordon_policy *policy, bool *dashes)
{
    while (args->next < args->count) {
        const char *word = args->items[args->next];
        if (strcmp(word, "--") == 0) {
            args->next++;
            if (dashes)
                *dashes = true;
            return 0;
        }
        /* A dash that word processors substitute for two hyphens. */
        if (long_dash(word))
            return print_failure("%s begins with a long dash; type two short ones: --%s", word,
                                 without_dashes(word));
        if (word[0] != '-' || word[1] == '\0')
            return 0;
        if (strcmp(word, "-v") == 0 && !letter_option(own, own_count, word))
            return print_failure("unknown option -v; did you mean --verbose, or cordon --version?");
        if (word[1] != '-' && !letter_option(own, own_count, word))
            return print_failure("unknown option %s; options begin with two dashes", word);
        int rc = take_one(args, own, own_count, policy);
        if (rc)
            return rc;
    }
    return 0;
}
