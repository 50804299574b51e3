/* SPDX-License-Identifier: Apache-2.0 */
/* The options of a run that asks. */
#include <fcntl.h>
#include <unistd.h>

#include "cli/cli.h"
#include "lib/run.h"

int cli_ask(struct run_options *o, const char *fds, const char *pipe, const char *timeout)
{
    static int both[2]; /* the run is the process's only one */
    if (pipe)
        return print_failure("--ask-pipe is for Windows; here it is --ask-fd");
    if (fds && run_read_ask_fds(fds, both))
        return print_failure("--ask-fd takes two descriptors, IN,OUT, none below 3");
    if (fds && o->ask_terminal)
        return print_failure("--ask and --ask-fd: only one can answer");
    o->ask_fds = fds ? both : NULL;
    bool asks = fds || o->ask_terminal;
    if (timeout && (!asks || run_read_ask_timeout(timeout, &o->ask_timeout_ms)))
        return print_failure(asks ? "--ask-timeout takes seconds, 1 to 86400"
                                  : "--ask-timeout belongs to --ask; add that");
    int tty = o->ask_terminal ? open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC) : -1;
    if (o->ask_terminal && (tty < 0 || tcgetpgrp(tty) != getpgrp())) {
        print_error("--ask: there is no terminal in the foreground, so nobody is asked");
        o->ask_terminal = false;
    }
    if (tty >= 0)
        close(tty);
    return 0;
}
