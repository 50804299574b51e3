/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the subcommand. */
#include "cli/commands.h"

int cli_main(struct arguments *args)
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
        return system_start_probe(args->next < args->count);
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "/?") == 0)
        return command_help(args);
    const struct command *command = cli_find(name);
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
