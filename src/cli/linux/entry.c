/* Where the program begins on Linux. */
#include <signal.h>
#include <unistd.h>

#include "cli/cli.h"

bool system_is_terminal(FILE *file)
{
    return isatty(fileno(file));
}

int main(int argc, char **argv)
{
    struct arguments args = {(const char **)argv + 1, argc > 0 ? (size_t)argc - 1 : 0, 0, NULL};
    signal(SIGPIPE, SIG_IGN);
    return cli_main(&args);
}
