/* SPDX-License-Identifier: Apache-2.0 */
/* The names by which people know a process. */
#ifndef CORDON_BROKER_LINUX_CALLER_H
#define CORDON_BROKER_LINUX_CALLER_H

#include <sys/types.h>

#include "base/buf.h"

/* Its program; empty if it has ended. */
struct str caller_image(pid_t pid, char *out, size_t capacity);

/* Its command line, in one line and without what looks like a secret. */
void caller_cmdline(pid_t pid, struct buf *out);

#endif
