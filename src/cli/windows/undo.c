/* SPDX-License-Identifier: Apache-2.0 */
/* Journals of changes exist on Linux only. */
#include "cli/cli.h"

static int refuse(struct arguments *args)
{
    (void)args;
    return print_failure("--undo is not built for Windows yet");
}

int command_changes(struct arguments *args)
{
    return refuse(args);
}

int command_undo(struct arguments *args)
{
    return refuse(args);
}

int command_runs(struct arguments *args)
{
    return refuse(args);
}
