/* Chooses the subcommand. */
#include "cli/cli.h"

static const struct {
    const char *name;
    int (*run)(struct arguments *args);
} commands[] = {{"run", cmd_run},       {"check", cmd_check}, {"sandbox", cmd_sandbox},
                {"why", cmd_why},       {"hook", cmd_hook},   {"report", cmd_report},
                {"doctor", cmd_doctor}, {"help", cmd_help}};

int cli_main(struct arguments *args)
{
    if (args->count == 0) {
        cmd_help(args);
        return EXIT_FAILED;
    }
    const char *name = args->items[args->next++];
    if (strcmp(name, "--version") == 0 || strcmp(name, "version") == 0) {
        printf("cordon %s\n", cordon_version());
        return 0;
    }
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "/?") == 0)
        return cmd_help(args);
    const char *names[sizeof commands / sizeof *commands];
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (strcmp(name, commands[i].name) == 0)
            return commands[i].run(args);
        names[i] = commands[i].name;
    }
    const char *nearest = print_nearest(name, names, sizeof names / sizeof *names);
    if (nearest)
        return print_failure("there is no command %s; did you mean cordon %s?", name, nearest);
    return print_failure("there is no command %s; see cordon help", name);
}
