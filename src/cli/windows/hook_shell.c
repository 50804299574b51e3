/* SPDX-License-Identifier: Apache-2.0 */
/* Agents start Git's bash and PowerShell by their own names here. */
#include "cli/hook_shell.h"

#include "cli/cli.h"

bool shell_is_used(enum hook_agent agent)
{
    (void)agent;
    return false;
}

int shell_install(enum hook_agent agent, const char *const *words, size_t count, bool project,
                  bool has_roots, struct buf *path)
{
    (void)agent;
    (void)words;
    (void)count;
    (void)project;
    (void)has_roots;
    (void)path;
    return EXIT_FAILED;
}

void shell_remove(enum hook_agent agent, bool project)
{
    (void)agent;
    (void)project;
}

int plugin_text(const struct hook_entry *entry, struct buf *out)
{
    (void)entry;
    (void)out;
    return print_failure("on Windows copy examples/opencode/cordon.js");
}

int plugin_change(const char *file, struct str old, const struct hook_entry *entry, bool *any)
{
    (void)file;
    (void)old;
    (void)any;
    return plugin_text(entry, NULL);
}
