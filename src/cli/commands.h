/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of subcommands and their options, and what is made of them. */
#ifndef CORDON_CLI_COMMANDS_H
#define CORDON_CLI_COMMANDS_H

#include "cli/cli.h"

struct cli_command {
    const char *name;
    int (*run)(struct arguments *args);
    const char *summary, *usage, *example, *about, *codes;
    bool policy; /* takes the options of a policy too */
};
extern const struct cli_command cli_commands[];
extern const size_t cli_command_count;

struct command_option {
    const char *command, *name;
    char letter; /* 0: none */
    const char *value, *help;
};
extern const struct command_option cli_options[];
extern const size_t cli_option_count;

/* NULL if there is none of that name. */
const struct cli_command *cli_find(const char *name);

/* ---- manual.c ---- */

/* The page cordon.1. */
void manual_write(struct buf *out);

#endif
