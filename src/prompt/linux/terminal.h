/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --ask on a terminal. The command gets a pseudo-terminal and a session of its own; this relays
 * between it and the caller's terminal, and stops while a question stands there.
 */
#ifndef CORDON_PROMPT_LINUX_TERMINAL_H
#define CORDON_PROMPT_LINUX_TERMINAL_H

#include <sys/types.h>

#include "broker/desk.h"

struct terminal;

/* NULL if this process has no terminal in the foreground. */
struct terminal *terminal_open(void);

/* For the command: its end of the pseudo-terminal, and the device that it is. */
int terminal_slave(const struct terminal *t);
dev_t terminal_device(const struct terminal *t);

/* The command runs: the caller's terminal is in raw mode from now on. */
void terminal_begin(struct terminal *t, pid_t command);

/* Relays and asks until stop becomes readable; then passes on what is left to say. */
void terminal_serve(struct terminal *t, struct desk *desk, int stop);

/* Puts the caller's terminal back as it was. NULL is fine. */
void terminal_close(struct terminal *t);

#endif
