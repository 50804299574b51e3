/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the subcommand. */
#include "base/json.h"
#include "cli/commands.h"

static int choose(struct arguments *args)
{
    if (args->count == 0) {
        command_help(args);
        return EXIT_FAILED;
    }
    const char *name = args->items[args->next++];
    if (strcmp(name, "--version") == 0 || strcmp(name, "version") == 0 || strcmp(name, "-v") == 0 ||
        strcmp(name, "-V") == 0) {
        printf("cordon %s\n", cordon_version());
        return 0;
    }
    if (strcmp(name, "start-probe") == 0)
        return cli_start_probe(args);
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "/?") == 0)
        return command_help(args);
    const struct cli_command *command = cli_find(name);
    if (command)
        return command->run(args);
    const char *names[32];
    for (size_t i = 0; i < cli_command_count && i < 32; i++)
        names[i] = cli_commands[i].name;
    const char *nearest = print_nearest(name, names, cli_command_count);
    if (nearest)
        return print_failure("unknown command \"%s\"; did you mean cordon %s?", name, nearest);
    const char *program = strcmp(name, "--") ? name : args->count > 1 ? args->items[1] : "PROGRAM";
    if (name[0] == '-' && strcmp(name, "--") != 0)
        return print_failure("name a command before the options: cordon run %s …; see cordon help",
                             name);
    return print_failure("unknown command \"%s\"; to run a program: cordon run -- %s …", name,
                         program);
}

/* Whether an answer as JSON was asked for. Words after "--" belong to another program; run and
   sandbox leave stdout to their command and report on stderr, and a hook's output is for the
   agent. */
static bool answers_json(const struct arguments *args)
{
    static const char *const others[] = {"run", "sandbox", "hook"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(args->items[0], others[i]) == 0)
            return false;
    for (size_t i = 1; i < args->count && strcmp(args->items[i], "--") != 0; i++)
        if (strcmp(args->items[i], "--json") == 0)
            return true;
    return false;
}

/* A question without an answer is a denial, for programs that look at the verdict alone. */
static void tell_failure(const char *name)
{
    auto_buf struct buf out = {0};
    struct json_writer w = {.out = &out};
    json_open(&w, '{');
    json_put(&w, STR("error"), str_of(print_last()));
    if (strcmp(name, "check") == 0 || strcmp(name, "why") == 0)
        json_put(&w, STR("verdict"), STR("deny"));
    json_put_number(&w, STR("exit"), EXIT_FAILED);
    json_close(&w, '}');
    buf_char(&out, '\n');
    print_out(buf_str(&out));
}

int cli_main(struct arguments *args)
{
    int code = choose(args);
    if (code == EXIT_FAILED && args->count && *print_last() && !print_answered() &&
        answers_json(args))
        tell_failure(args->items[0]);
    return code;
}
