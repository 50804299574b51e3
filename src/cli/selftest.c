/* SPDX-License-Identifier: Apache-2.0 */
/* cordon selftest: proves every promise on this machine, one line each. */
#include "selftest/command.h"

#include "cli/cli.h"
#include "lib/run.h"

int command_selftest(struct arguments *args)
{
    struct selftest_request request = {0};
    const char *probe = NULL;
    bool help = false, dashes = false;
    const struct cli_option own[] = {{.name = "json", .flag = &request.json},
                                     {.name = "keep", .flag = &request.keep},
                                     {.name = "help", .flag = &help},
                                     {.name = "only", .value = &request.only},
                                     {.name = "probe", .value = &probe}};
    int rc = options_take(args, own, sizeof own / sizeof *own, NULL, &dashes);
    if (rc)
        return rc;
    if (help)
        return cli_help("selftest");
    if (probe)
        return cli_selftest_probe(probe);
    if (args->next < args->count)
        return print_failure("selftest takes options only, not %s", args->items[args->next]);
    auto_buf struct buf boundary = {0};
    run_describe(&boundary);
    request.boundary = str_starts(buf_str(&boundary), STR("kernel")) ? "kernel" : "interposed";
    request.progress = cli_is_terminal(stderr) && !request.json;
    return cli_selftest(&request);
}
