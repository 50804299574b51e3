/* SPDX-License-Identifier: Apache-2.0 */
/* cordon why: the decision that run would make, offline, with its rule and remedy. */
#include "cli/cli.h"
#include "launch/disk.h"
#include "lib/api.h"

/* Leaves out the lines that mean nothing on this system, and numbers the rest. */
static size_t keep_own(struct policy_line *lines, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (!lines[i].elsewhere) {
            lines[kept] = lines[i];
            lines[kept].order = (unsigned)kept + 1;
            kept++;
        }
    return kept;
}

static int print_list(struct cordon_policy *p, bool json, bool all)
{
    static const char *const modes[] = {"read-only", "workspace-write", "full-access"};
    auto_arena struct arena arena = {0};
    struct policy_line *lines;
    size_t count;
    if (api_prepare(p, STR_NONE))
        return print_failure("%s", cordon_policy_error(p));
    int rc = policy_list_rules(p->policy, &arena, &lines, &count);
    if (rc)
        return print_failure("%s", cordon_strerror(rc));
    if (!all)
        count = keep_own(lines, count);
    const char *mode = modes[policy_settings_of(p->policy)->mode];
    if (!json) {
        printf("mode %s\n", mode);
        for (size_t i = 0; i < count; i++)
            printf("%3u  %-5s  %-20s %.*s%s%.*s%s\n", lines[i].order, lines[i].effect,
                   policy_rule_id(lines[i].rule), STR_ARG(lines[i].what),
                   lines[i].from.n ? "  (" : "", STR_ARG(lines[i].from),
                   lines[i].from.n ? ")" : "");
        return 0;
    }
    auto_buf struct buf out = {0};
    struct json_writer w = {.out = &out};
    json_open(&w, '{');
    json_put(&w, STR("mode"), str_of(mode));
    json_key(&w, STR("rules"));
    json_open(&w, '[');
    for (size_t i = 0; i < count; i++) {
        json_open(&w, '{');
        json_put_number(&w, STR("order"), lines[i].order);
        json_put(&w, STR("rule"), str_of(policy_rule_id(lines[i].rule)));
        json_put(&w, STR("effect"), str_of(lines[i].effect));
        json_put(&w, STR("what"), lines[i].what);
        json_put(&w, STR("from"), lines[i].from);
        json_close(&w, '}');
    }
    json_close(&w, ']');
    json_close(&w, '}');
    buf_char(&out, '\n');
    return !out.failed && print_out(buf_str(&out)) ? 0 : print_failure("cannot write the answer");
}

static void print_answer(const struct cordon_answer *a)
{
    for (size_t i = 0; i < cordon_answer_count(a); i++) {
        printf("%s%s%s %s", print_style(print_verdict_style(a->verdict)), verdict_name(a->verdict),
               print_style(PRINT_PLAIN), cordon_answer_rule(a, i));
        print_row(": ", str_of(cordon_answer_why(a, i)), "\n");
        if (cordon_answer_fix(a, i)[0])
            print_row("  to change it: ", str_of(cordon_answer_fix(a, i)), "\n");
    }
    if (cordon_answer_count(a) == 0)
        printf("%s\n", verdict_name(a->verdict));
}

/* Options may stand before, between and after the words; after `run PROGRAM` they are its own. */
static int take_words(struct arguments *args, const struct cli_option *own, size_t own_count,
                      struct cordon_policy *p, const char **words, size_t most, size_t *count)
{
    bool dashes = false;
    while (args->next < args->count) {
        bool program = *count > 1 && strcmp(words[0], "run") == 0;
        if (!dashes && !program) {
            int rc = options_take(args, own, own_count, p, &dashes);
            if (rc)
                return rc;
        }
        if (args->next >= args->count)
            break;
        if (*count == most)
            return print_failure("there are too many words");
        words[(*count)++] = args->items[args->next++];
    }
    return 0;
}

/* Options make a policy of their own; only the directory of a question is none. */
static bool has_own_policy(const struct cordon_policy *p)
{
    return p->settings.count > (settings_has(&p->settings, STR("cwd")) ? 1 : 0);
}

static int why(struct cordon_policy *p, struct arguments *args)
{
    enum { MOST = 4096 };
    const char *words[MOST];
    size_t count = 0;
    bool json = false, list = false, all = false, help = false;
    const struct cli_option own[] = {{.name = "json", .flag = &json},
                                     {.name = "list", .flag = &list},
                                     {.name = "all", .flag = &all},
                                     {.name = "help", .flag = &help}};
    int rc = take_words(args, own, sizeof own / sizeof *own, p, words, MOST, &count);
    if (rc)
        return rc;
    if (help)
        return cli_help("why");
    cli_begin_why(p, has_own_policy(p));
    if (list && count == 0)
        return print_list(p, json, all);
    if (all && !list)
        return print_failure("--all belongs to --list; add --list");
    if (list)
        return print_failure("--list takes no question; leave out %s", words[0]);
    if (count < 2)
        return print_failure(disk_dialect() == PATH_POSIX
                                 ? "ask like this: cordon why write /etc/hosts"
                                 : "ask like this: cordon why write C:\\data\\x.txt --root C:\\ws");
    struct cordon_answer *a = NULL;
    if (cordon_why(p, words[0], count - 1, words + 1, &a))
        return print_failure("%s", cordon_policy_error(p));
    cli_end_why();
    if (json)
        printf("%s\n", cordon_answer_json(a));
    else
        print_answer(a);
    bool refused = a->verdict == CORDON_DENY ||
                   (a->verdict == CORDON_ASK && policy_settings_of(p->policy)->strict);
    cordon_answer_free(a);
    return refused ? EXIT_REFUSED : 0;
}

int command_why(struct arguments *args)
{
    struct cordon_policy *p;
    if (cordon_policy_new(&p))
        return print_failure("out of memory");
    int code = why(p, args);
    cordon_policy_free(p);
    return code;
}
