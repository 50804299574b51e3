/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stub folder: a small program that says that a tool does not run here. It has a name of its
 * own, by which the broker puts it in the place of a tool that is called, and links under the names
 * of the remote logins; the folder stands in PATH right before the first entry that is not the
 * workspace's. Nothing is made under a name of Windows' own programs.
 */
#ifndef CORDON_LAUNCH_WINDOWS_STUBS_H
#define CORDON_LAUNCH_WINDOWS_STUBS_H

#include "base/arena.h"
#include "policy/rules.h"

#include <windows.h>

#define STUBS_NEUTRAL "cordon-blocked"

struct stubs {
    struct str folder; /* normal; empty: none was made */
    HANDLE maker;      /* the thread that fills it */
    const struct policy *policy;
};

/* Makes the folder; a thread fills it while the program is being started. Without a folder runs go
   on: stubs only explain. */
void stubs_make(struct stubs *s, struct arena *arena, const struct policy *policy);

/* Removes it with all that is in it. */
void stubs_remove(struct stubs *s);

#endif
