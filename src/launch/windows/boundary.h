/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the kernel enforces what the design expects of a run's token: found out by trying. */
#ifndef CORDON_LAUNCH_WINDOWS_BOUNDARY_H
#define CORDON_LAUNCH_WINDOWS_BOUNDARY_H

#include <stdbool.h>
#include <windows.h>

struct boundary {
    bool files;     /* a write outside was refused */
    bool deletes;   /* a delete outside was refused */
    bool processes; /* another process of the user could not be opened for writing */
};

/* Tried under the token, on a file created for this and removed afterwards. What could not be tried
   counts as not enforced. */
void boundary_try(HANDLE token, struct boundary *out);

static inline bool boundary_is_kernel(const struct boundary *b)
{
    return b->files && b->deletes && b->processes;
}

#endif
