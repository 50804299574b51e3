/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The console of a run: a pseudoconsole that the launcher creates and the tree is attached to. A
 * program with a run's token may be refused a console of its own, and the caller's is never passed
 * on: the tree could type into the shell that waits outside. The tree's output is drained; where
 * the caller's standard handles are all consoles, keys, output and size are carried between the
 * two.
 */
#ifndef CORDON_LAUNCH_WINDOWS_CONSOLE_H
#define CORDON_LAUNCH_WINDOWS_CONSOLE_H

#include <stdbool.h>
#include <windows.h>

#include "launch/windows/failure.h"

/* Zero: none. */
struct console {
    void *pseudo; /* for PROC_THREAD_ATTRIBUTE_PSEUDOCONSOLE */
    HANDLE keys;  /* what is written here is typed there */
    HANDLE screen, drain, typist, stop;
    bool attached; /* to the caller's console */
    DWORD input_mode, output_mode;
    COORD size;
};

/* attached: the caller's console displays it and types into it. */
int console_open(struct console *c, bool attached, struct launch_failure *f);

/* True if standard input, output and error of this process are consoles. */
bool console_is_caller(void);

/* The tree is dead: its remaining output is shown, and the caller's console is restored. */
void console_close(struct console *c);

#endif
