/* SPDX-License-Identifier: Apache-2.0 */
/* The name that a program's author gave it, which a copy under another name still has. */
#ifndef CORDON_LAUNCH_WINDOWS_VERSION_H
#define CORDON_LAUNCH_WINDOWS_VERSION_H

#include "base/arena.h"

/* OriginalFilename of its version resource; empty if it has none. */
struct str version_original_name(struct arena *arena, struct str path);

#endif
