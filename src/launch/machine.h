/* SPDX-License-Identifier: Apache-2.0 */
/* Clock, random bytes, this program's path and append-only files: one implementation for each
   system, in linux/ and windows/. */
#ifndef CORDON_LAUNCH_MACHINE_H
#define CORDON_LAUNCH_MACHINE_H

#include "base/buf.h"

enum { MACHINE_NO_FILE = -1 };

/* Milliseconds since 1970, UTC. */
uint64_t machine_now_ms(void);
bool machine_random(void *out, size_t count);

/* Opens a file for appending, readable by its owner only; MACHINE_NO_FILE and a sentence on
   failure. */
intptr_t machine_append_open(const char *path, char *why, size_t capacity);
bool machine_append(intptr_t file, struct str bytes);
void machine_append_close(intptr_t file);

/* The path of this program; false if it cannot be determined. */
bool machine_own_path(struct buf *out);

#endif
