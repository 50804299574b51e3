/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the kernel holds a run's token to what the design says: found out by trying. */
#ifndef CORDON_LAUNCH_WINDOWS_BOUNDARY_H
#define CORDON_LAUNCH_WINDOWS_BOUNDARY_H

#include <stdbool.h>
#include <windows.h>

struct boundary {
    bool files;     /* a write outside was refused */
    bool deletes;   /* a delete outside was refused */
    bool processes; /* another process of the user could not be opened for writing */
};

/* Under the token, on a file that is made for this and removed again. What could not be tried
   counts as not held. */
void boundary_try(HANDLE token, struct boundary *out);

static inline bool boundary_is_kernel(const struct boundary *b)
{
    return b->files && b->deletes && b->processes;
}

#endif
