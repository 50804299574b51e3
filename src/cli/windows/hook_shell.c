/* SPDX-License-Identifier: Apache-2.0 */
/* Claude Code starts Git's bash and PowerShell by their own names here. */
#include "cli/hook_shell.h"

#include "cli/cli.h"

bool shell_is_used(enum hook_agent agent)
{
    (void)agent;
    return false;
}

int shell_install(const char *const *words, size_t count, bool project, bool has_roots,
                  struct buf *path)
{
    (void)words;
    (void)count;
    (void)project;
    (void)has_roots;
    (void)path;
    return EXIT_FAILED;
}

void shell_remove(bool project)
{
    (void)project;
}
