/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Standard input, output and error of a run. Files and Windows pipes go to the tree as they are. A
 * console never does: the tree could type into the shell that waits outside. It is replaced by a
 * pipe, and a thread here carries the bytes.
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

/* Opens the child's ends of the launcher's own standard handles; a missing one is NUL. */
int stdio_open(struct stdio *s, struct launch_failure *f);

/* The same for any three handles, which stay the caller's. */
int stdio_open_handles(struct stdio *s, const HANDLE own[3], struct launch_failure *f);

/* Replaces one of the child's ends (0 to 2) by a pipe and relays own, whatever it is. */
int stdio_relay(struct stdio *s, int which, HANDLE own, struct launch_failure *f);

/* Closes the child's ends here, so that the end of the tree is the end of its output. Call it when
   the first process has been started, or could not be. */
void stdio_started(struct stdio *s);

/* When the tree is dead: everything it wrote is delivered, then the relays end. Waits for a slow
   reader of ours, but for nobody who still holds the other end. */
void stdio_finish(struct stdio *s);

/* One run that wants to know of the console's events; zero: none. */
struct stdio_watch {
    HANDLE end;
    struct stdio_watch *next;
};

/* Ctrl-C, Ctrl-Break, the console's closing, logoff and shutdown signal the event of every run
   instead of ending the launcher, until it is unwatched. */
int stdio_watch_console(struct stdio_watch *w, HANDLE end);
void stdio_unwatch_console(struct stdio_watch *w);

#endif
