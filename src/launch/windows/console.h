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

#include "base/buf.h"
#include "launch/windows/failure.h"

/* Zero: none. */
struct console {
    void *pseudo; /* for PROC_THREAD_ATTRIBUTE_PSEUDOCONSOLE */
    HANDLE keys;  /* what is written here is typed there */
    HANDLE screen, drain, typist, stop;
    bool attached; /* to the caller's console */
    bool changed;  /* the caller's modes were, and are put back */
    DWORD input_mode, output_mode;
    COORD size;
};

/* The bits that are set in how say what the run needs of the caller's console. */
enum {
    CONSOLE_ATTACHED = 1, /* it displays the run's console and types into it */
    CONSOLE_QUESTIONS =
        2 /* whoever asks there reads the keys, and passes on those of the command */
};
int console_open(struct console *c, unsigned how, struct launch_failure *f);

/* True if standard input, output and error of this process are consoles. */
bool console_is_caller(void);

/* Types bytes into an attached console, and gives it the size of the caller's window. */
bool console_type(const struct console *c, struct str keys);
void console_fit(struct console *c);

/* Appends the keys that wait in a console's input, as a terminal would send them: never waits. */
bool console_read_keys(HANDLE input, struct buf *out);

/* ---- the caller's console, which the whole process shares ---- */

/* While somebody has the turn, nobody else writes to the console or reads a line from it. False: a
   line is being typed. */
bool console_take_turn(void);
void console_give_turn(void);

/* Output of the tree, and a line for it that a person types; the line's reading ends if stop is set
   before its first key. */
bool console_write(HANDLE console, const void *bytes, DWORD n, DWORD *written);
bool console_read_line(HANDLE console, HANDLE stop, void *bytes, DWORD capacity, DWORD *n);

/* True if this process has a console, whatever its standard handles are. */
bool console_is_there(void);

/* The tree is dead: its remaining output is shown, and the caller's console is restored. */
void console_close(struct console *c);

#endif
