/* SPDX-License-Identifier: Apache-2.0 */
/* The first process of a run: suspended, in its job, with its token, inheriting only standard
   input, output and error. */
#ifndef CORDON_LAUNCH_WINDOWS_SPAWN_H
#define CORDON_LAUNCH_WINDOWS_SPAWN_H

#include <stdbool.h>

#include "launch/windows/failure.h"

enum spawn_console {
    SPAWN_OWN_CONSOLE = 0,  /* hidden; under Wine none where none is needed */
    SPAWN_HIDDEN_CONSOLE,   /* hidden, whatever system this is */
    SPAWN_INHERITED_CONSOLE /* that of this process */
};

struct spawn_plan {
    const wchar_t *image;
    wchar_t *cmdline;
    wchar_t *environment, *desktop;
    const wchar_t *cwd;
    HANDLE token;        /* NULL: the launcher's own, for --mode full-access */
    HANDLE job;          /* NULL: none */
    const HANDLE *stdio; /* three, inheritable */
    const HANDLE *more;  /* two more that it inherits; NULL: none */
    enum spawn_console console;
    void *pseudo;    /* a pseudoconsole instead; NULL: none */
    bool on_console; /* its standard handles are that console's */
};

/* The caller owns both handles; the thread has not run. */
int spawn_suspended(const struct spawn_plan *plan, HANDLE *process, HANDLE *thread,
                    struct launch_failure *f);

#endif
