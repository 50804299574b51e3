/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stub folder: a small program that says that a tool does not run here. Under its own name the
 * broker substitutes it for a tool that is called; links give it the names of the remote login
 * tools. The folder comes in PATH just before the first entry outside the workspace. Nothing is
 * created under the name of one of Windows' own programs.
 */
#ifndef CORDON_LAUNCH_WINDOWS_STUBS_H
#define CORDON_LAUNCH_WINDOWS_STUBS_H

#include "base/arena.h"
#include "policy/rules.h"

#include <windows.h>

#define STUBS_NEUTRAL "cordon-blocked"

struct stubs {
    struct str folder; /* normalized; empty: none was created */
    HANDLE maker;      /* the thread that fills it */
    const struct policy *policy;
};

/* Creates the folder; a thread fills it while the program is being started. A run works without it:
   stubs only explain. */
void stubs_make(struct stubs *s, struct arena *arena, const struct policy *policy);

/* Removes it with everything in it. */
void stubs_remove(struct stubs *s);

#endif
