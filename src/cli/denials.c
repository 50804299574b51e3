/* SPDX-License-Identifier: Apache-2.0 */
/* cordon denials: inside a run, what it was denied so far, with the remedies. */
#include "cli/cli.h"
#include "cli/commands.h"

int command_denials(struct arguments *args)
{
    bool json = false, help = false;
    const struct cli_option own[] = {{.name = "json", .flag = &json},
                                     {.name = "help", .flag = &help}};
    int rc = options_take(args, own, sizeof own / sizeof *own, NULL, NULL);
    if (rc)
        return rc;
    if (help)
        return cli_help("denials");
    if (args->next < args->count)
        return print_failure("denials takes no words; leave out %s", args->items[args->next]);
    /* No file has this name: the broker of the run answers. To be seen by it, the open asks for
       writing, too. */
    FILE *f = system_fopen(json ? "/proc/cordon/denials.json" : "/proc/cordon/denials", "r+b");
    if (!f)
        return print_failure("this is not inside a run of cordon on Linux");
    char piece[4096];
    bool good = true;
    for (size_t n; good && (n = fread(piece, 1, sizeof piece, f)) > 0;)
        good = print_out((struct str){piece, n});
    fclose(f);
    return good ? 0 : print_failure("cannot write the answer");
}
