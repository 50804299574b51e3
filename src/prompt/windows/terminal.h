/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --ask on a console. Where the command has a pseudoconsole that the caller's console displays, the
 * keys pass through here; otherwise they are read only while a question stands there. The tree's
 * output waits meanwhile.
 */
#ifndef CORDON_PROMPT_WINDOWS_TERMINAL_H
#define CORDON_PROMPT_WINDOWS_TERMINAL_H

#include "broker/desk.h"
#include "launch/windows/console.h"

struct terminal;

/* NULL if this process has no console. The run's console outlives it. */
struct terminal *terminal_open(struct console *console);

/* Asks until stop is set. */
void terminal_serve(struct terminal *t, struct desk *desk, HANDLE stop);

void terminal_close(struct terminal *t); /* NULL is fine */

#endif
