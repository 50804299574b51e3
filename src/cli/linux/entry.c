/* SPDX-License-Identifier: Apache-2.0 */
/* Program entry on Linux. */
#include <signal.h>
#include <unistd.h>

#include "cli/cli.h"

bool cli_is_terminal(FILE *file)
{
    return isatty(fileno(file));
}

/* Output that nobody reads, or beyond the file size limit, must not end this program before it has
   answered. */
static const int ignored[] = {SIGPIPE, SIGXFSZ};
enum { IGNORED = sizeof ignored / sizeof *ignored };
static void (*given[IGNORED])(int);

void cli_ignore_signals(void)
{
    for (int i = 0; i < IGNORED; i++)
        given[i] = signal(ignored[i], SIG_IGN);
}

void cli_restore_signals(void)
{
    for (int i = 0; i < IGNORED; i++)
        signal(ignored[i], given[i]);
}

int main(int argc, char **argv)
{
    struct arguments args = {(const char **)argv + 1, argc > 0 ? (size_t)argc - 1 : 0, 0, NULL};
    cli_ignore_signals();
    return cli_main(&args);
}

int cli_start_probe(const struct arguments *args)
{
    (void)args;
    return EXIT_FAILED;
}

bool cli_is_second(void)
{
    return false;
}
