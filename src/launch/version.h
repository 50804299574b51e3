/* SPDX-License-Identifier: Apache-2.0 */
/* The original file name in a program's version resource, which a copy under another name still
   has. Portable: the file is read in bounded pieces; nothing of it is mapped or run. */
#ifndef CORDON_LAUNCH_VERSION_H
#define CORDON_LAUNCH_VERSION_H

#include "base/arena.h"

/* Reads exactly count bytes at an offset; false if they are not there. */
typedef bool version_read(void *context, uint64_t at, void *out, size_t count);

/* Empty if there is none, or if its structure is broken. */
struct str version_find(struct arena *arena, version_read *read, void *context);

#endif
