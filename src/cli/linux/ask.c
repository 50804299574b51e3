/* SPDX-License-Identifier: Apache-2.0 */
/* The options of a run that asks. */
#include "cli/cli.h"
#include "lib/run.h"

int cli_ask(struct run_options *o, const char *fds, const char *timeout)
{
    static int both[2]; /* the run is the process's only one */
    if (fds && run_read_ask_fds(fds, both))
        return print_failure("--ask-fd takes two descriptors, IN,OUT, none below 3");
    o->ask_fds = fds ? both : NULL;
    if (timeout && (!fds || run_read_ask_timeout(timeout, &o->ask_timeout_ms)))
        return print_failure(fds ? "--ask-timeout takes seconds, 1 to 86400"
                                 : "--ask-timeout belongs to --ask-fd; add that");
    return 0;
}
