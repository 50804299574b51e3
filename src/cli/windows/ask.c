/* SPDX-License-Identifier: Apache-2.0 */
/* Nothing is asked on Windows yet. */
#include "cli/cli.h"
#include "lib/run.h"

int cli_ask(struct run_options *o, const char *fds, const char *timeout)
{
    (void)o;
    (void)fds;
    (void)timeout;
    return print_failure("--ask is not built for Windows yet");
}
