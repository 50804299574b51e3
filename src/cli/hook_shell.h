/* SPDX-License-Identifier: Apache-2.0 */
/*
 * With --wrap Claude Code starts its shell by a file of ours, so that all of its commands run
 * confined while its own rules see them as they are. On Windows it takes no such file.
 */
#ifndef CORDON_CLI_HOOK_SHELL_H
#define CORDON_CLI_HOOK_SHELL_H

#include "hook/hook.h"

/* True if --wrap means such a file for this agent. */
bool shell_is_used(enum hook_agent agent);

/* Writes and shows the file; path gets its name. words are options of run, of which one is a root if
   has_roots is set. An exit code. */
int shell_install(const char *const *words, size_t count, bool project, bool has_roots,
                  struct buf *path);

/* Takes it away, if it is there. */
void shell_remove(bool project);

#endif
