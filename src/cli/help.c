/* SPDX-License-Identifier: Apache-2.0 */
/* cordon help: what there is, with an example each, from the tables. */
#include "cli/commands.h"
#include "launch/disk.h"
#include "launch/settings.h"

const struct cli_command cli_commands[] = {
#define COMMAND(name, summary, usage, example, about, codes, policy) \
    {#name, command_##name, summary, usage, example, about, codes, policy},
#include "cli/commands.def"
#undef COMMAND
};
const size_t cli_command_count = sizeof cli_commands / sizeof *cli_commands;

const struct command_option cli_options[] = {
#define COMMAND_OPTION(command, name, letter, value, help) {#command, name, letter, value, help},
#include "cli/options.def"
#undef COMMAND_OPTION
};
const size_t cli_option_count = sizeof cli_options / sizeof *cli_options;

static const struct topic {
    const char *name, *summary, *text;
} topics[] = {
#define TOPIC(name, summary, text) {#name, summary, text},
#include "cli/topics.def"
#undef TOPIC
};
static const size_t topic_count = sizeof topics / sizeof *topics;

/* NULL, or the topic of that name; "policy" finds "policies". */
static const struct topic *find_topic(const char *name)
{
    for (size_t i = 0; i < topic_count; i++)
        if (strcmp(name, topics[i].name) == 0 ||
            (strlen(name) >= 3 && strncmp(name, topics[i].name, strlen(name) - 1) == 0))
            return &topics[i];
    return NULL;
}

const struct cli_command *cli_find(const char *name)
{
    for (size_t i = 0; i < cli_command_count; i++)
        if (strcmp(name, cli_commands[i].name) == 0)
            return &cli_commands[i];
    return NULL;
}

/* Lines of at most 96 columns; every character counts as one. */
static void print_wrapped(const char *text, const char *first, const char *indent)
{
    enum { WIDTH = 96 };
    size_t column = strlen(first);
    bool begin = true;
    fputs(first, stdout);
    for (const char *p = text; *p;) {
        size_t n = strcspn(p, " ");
        if (!begin && column + 1 + n > WIDTH) {
            printf("\n%s", indent);
            column = strlen(indent);
            begin = true;
        }
        printf("%s%.*s", begin ? "" : " ", (int)n, p);
        column += n + (begin ? 0 : 1);
        begin = false;
        p += n + (p[n] == ' ');
    }
    putchar('\n');
}

static void print_option(const char *name, char letter, const char *value, const char *help)
{
    char left[64];
    if (letter)
        snprintf(left, sizeof left, "  -%c, --%s%s%s", letter, name, *value ? " " : "", value);
    else
        snprintf(left, sizeof left, "  --%s%s%s", name, *value ? " " : "", value);
    char padded[96];
    snprintf(padded, sizeof padded, "%-23s ", left);
    print_wrapped(help, padded, "                        ");
}

int cli_help(const char *topic)
{
    const struct cli_command *c = cli_find(topic);
    printf("cordon %s: %s\n\n", c->name, c->summary);
    for (const char *p = c->usage; *p;) {
        size_t n = strcspn(p, "\n");
        printf("  %.*s\n", (int)n, p);
        p += n + (p[n] == '\n');
    }
    printf("\nExample:\n  %s\n\n", c->example);
    print_wrapped(c->about, "", "");
    putchar('\n');
    print_wrapped(c->codes, "Exit codes: ", "  ");
    bool any = false;
    for (size_t i = 0; i < cli_option_count; i++) {
        const struct command_option *o = &cli_options[i];
        if (strcmp(o->command, topic) != 0)
            continue;
        fputs(any ? "" : "\n", stdout);
        print_option(o->name, o->letter, o->value, o->help);
        any = true;
    }
    for (size_t i = 0; c->policy && i < settings_info_count; i++) {
        const struct settings_info *info = &settings_infos[i];
        fputs(i ? "" : "\nPolicy options:\n", stdout);
        print_option(info->name.p, 0, info->value.p, info->help.p);
    }
    return 0;
}

static int print_manual(void)
{
    auto_buf struct buf out = {0};
    manual_write(&out);
    return !out.failed && print_out(buf_str(&out)) ? 0 : print_failure("cannot write it");
}

int command_help(struct arguments *args)
{
    const char *names[32];
    bool man = false, help = false;
    const struct cli_option own[] = {{.name = "man", .flag = &man},
                                     {.name = "help", .flag = &help}};
    int rc = options_take(args, own, sizeof own / sizeof *own, NULL, NULL);
    if (rc)
        return rc;
    if (man)
        return print_manual();
    const char *topic = args->next < args->count ? args->items[args->next] : NULL;
    if (help && !topic)
        topic = "help";
    if (topic && cli_find(topic))
        return cli_help(topic);
    if (topic && find_topic(topic))
        return fputs(find_topic(topic)->text, stdout), 0;
    if (topic) {
        size_t count = 0;
        for (size_t i = 0; i < cli_command_count && count < 32; i++)
            names[count++] = cli_commands[i].name;
        for (size_t i = 0; i < topic_count && count < 32; i++)
            names[count++] = topics[i].name;
        const char *nearest = print_nearest(topic, names, count);
        return print_failure("no help on \"%s\"; %s%s%s", topic,
                             nearest ? "did you mean cordon help " : "see cordon help",
                             nearest ? nearest : "", nearest ? "?" : "");
    }
    printf("cordon %s: runs commands that an AI agent wrote so that they cannot leave their "
           "folders\n\n",
           cordon_version());
    for (size_t i = 0; i < cli_command_count; i++)
        printf("  cordon %-11s %s\n", cli_commands[i].name, cli_commands[i].summary);
    printf("  cordon --version\n\n");
    for (size_t i = 0; i < topic_count; i++)
        printf("  cordon help %-8s %s\n", topics[i].name, topics[i].summary);
    printf("\nTry:\n  cordon run -- npm test\n");
    if (disk_dialect() == PATH_WINDOWS)
        printf("  cordon check -- cmd /c start https://example.com\n"
               "  cordon why write .git\\config --root .\n");
    else
        printf("  cordon check -- xdg-open https://example.com\n"
               "  cordon why write .git/config --root .\n");
    return 0;
}
