/* SPDX-License-Identifier: Apache-2.0 */
/* The options of a run that asks. */
#include "cli/cli.h"
#include "launch/windows/console.h"
#include "lib/run.h"

int cli_ask(struct run_options *o, const char *fds, const char *pipe, const char *timeout)
{
    if (fds)
        return print_failure("--ask-fd is for Linux; here it is --ask-pipe");
    if (pipe && o->ask_terminal)
        return print_failure("--ask and --ask-pipe: only one can answer");
    bool asks = pipe || o->ask_terminal;
    if (timeout && (!asks || run_read_ask_timeout(timeout, &o->ask_timeout_ms)))
        return print_failure(asks ? "--ask-timeout takes seconds, 1 to 86400"
                                  : "--ask-timeout belongs to --ask; add that");
    /* Nobody sees the console of a second process, and the first has said so. */
    if (o->ask_terminal && (cli_is_second() || !console_is_there())) {
        if (!cli_is_second())
            print_error("--ask: there is no console, so nobody is asked");
        o->ask_terminal = false;
    }
    o->ask_pipe = pipe;
    return 0;
}
