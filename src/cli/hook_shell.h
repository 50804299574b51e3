/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command lines that agents' settings hold, as this system spells them.
 *
 * With --wrap Claude Code and OpenCode start their shell by a file of ours, so that all of their
 * commands run confined while their own rules see them as they are. On Windows they take no such
 * file.
 */
#ifndef CORDON_CLI_HOOK_SHELL_H
#define CORDON_CLI_HOOK_SHELL_H

#include "hook/hook.h"

/* Appends a word of a command that bash, cmd and PowerShell read alike; false if there is no such
   form. */
bool line_word(struct buf *out, struct str word);

/* The same as the shell of this agent reads it. */
bool line_argument(struct buf *out, enum hook_agent agent, struct str word);

/* The line that an agent's shell runs: what stands in front of the program, the program, and the
   end. An agent takes most ways to fail for "go on", so the line ends with 2 and a reason instead.
   line_program() names no folder of one person in a project's file. */
enum line_form { LINE_GOOD, LINE_NO_FORM, LINE_PRIVATE };
#define LINE_NO_ANSWER "cordon: sandbox denied: the hook of cordon did not run"
struct str line_begin(enum hook_agent agent);
enum line_form line_program(struct buf *out, enum hook_agent agent, struct str path, bool project);
void line_end(struct buf *out, enum hook_agent agent);

/* True if the agent has to be told that PowerShell reads it. */
bool line_is_powershell(enum hook_agent agent);

/* True if --wrap means such a file for this agent. */
bool shell_is_used(enum hook_agent agent);

/* Writes and shows the file; path gets its name. words are options of run, of which one is a root
   if has_roots is set. An exit code. */
int shell_install(enum hook_agent agent, const char *const *words, size_t count, bool project,
                  bool has_roots, struct buf *path);

/* Takes it away, if it is there. */
void shell_remove(enum hook_agent agent, bool project);

/* OpenCode has no settings for hooks: it loads a file of JavaScript, which is all Cordon's. This is
   its text; exit codes. */
int plugin_text(const struct hook_entry *entry, struct buf *out);

/* Writes that file, which is old now, or takes it away if entry is NULL, and shows the change; any
   is set if there was one. */
int plugin_change(const char *file, struct str old, const struct hook_entry *entry, bool *any);

#endif
