/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Standard input, output and error of a run. Files and Windows pipes are passed to the tree
 * unchanged. A console never is: the tree could type into the shell that waits outside. It is
 * replaced by a pipe, and a thread here carries the bytes.
 */
#ifndef CORDON_LAUNCH_WINDOWS_STDIO_H
#define CORDON_LAUNCH_WINDOWS_STDIO_H

#include <stdbool.h>
#include <windows.h>

#include "launch/windows/failure.h"

struct stdio_relay;

struct stdio {
    HANDLE child[3];              /* inheritable, for STARTUPINFO and the handle list */
    struct stdio_relay *relay[3]; /* NULL: the tree has what the launcher has */
};

/* Opens the child's ends of the launcher's own standard handles; a missing one becomes NUL. */
int stdio_open(struct stdio *s, struct launch_failure *f);

/* The same for any three handles, which remain the caller's. */
int stdio_open_handles(struct stdio *s, const HANDLE own[3], struct launch_failure *f);

/* Replaces one of the child's ends (0 to 2) with a pipe and relays own, whatever it is. */
int stdio_relay(struct stdio *s, int which, HANDLE own, struct launch_failure *f);

/* Closes the child's ends here, so that the end of the tree is the end of its output. Call it once
   the first process has started or failed to. */
void stdio_started(struct stdio *s);

/* Once the tree is dead: delivers everything it wrote, then ends the relays. Waits for a slow
   reader on our side, but not for anybody who still holds the other end. */
void stdio_finish(struct stdio *s);

/* A run that wants to be told of console events; zero: none. */
struct stdio_watch {
    HANDLE end;
    struct stdio_watch *next;
};

/* Until unwatched, Ctrl-C, Ctrl-Break, closing the console, logoff and shutdown signal the event of
   every run instead of ending the launcher. */
int stdio_watch_console(struct stdio_watch *w, HANDLE end);
void stdio_unwatch_console(struct stdio_watch *w);

/* From now on the console's events tell nothing: the tree could send them. */
void stdio_ignore_console(void);

/* Signals the event of every run of this process, and of every one to come. */
void stdio_end_runs(void);

#endif
