/*
 * The stub folder: a small program under the name of every tool that must not run, placed in PATH
 * right before the first entry that is not the workspace's. It only speaks: the tools themselves
 * are refused wherever they lie.
 */
#ifndef CORDON_LAUNCH_WINDOWS_STUBS_H
#define CORDON_LAUNCH_WINDOWS_STUBS_H

#include "base/arena.h"
#include "policy/rules.h"

#include <windows.h>

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
