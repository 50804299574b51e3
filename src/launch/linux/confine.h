/* SPDX-License-Identifier: Apache-2.0 */
/* The last steps of a process before it becomes the command: it drops all its rights here. */
#ifndef CORDON_LAUNCH_LINUX_CONFINE_H
#define CORDON_LAUNCH_LINUX_CONFINE_H

#include <stdbool.h>

#include "launch/linux/secrets.h"

struct confine_plan {
    int landlock_abi;              /* of the kernel, or a lower cap */
    const char *granted;           /* a folder where everything may be changed; NULL: none */
    const struct secrets *secrets; /* must not be read; NULL or empty: reads are unrestricted */
    bool datagrams;                /* the network is on */
};

/*
 * While the supervisor acts for the tree it uses no more capabilities than the tree has: what root
 * can open with the others (kernel memory, logs) is off limits to the tree. Applies to this thread
 * and those it creates, for their lifetime.
 */
void confine_lower_supervisor(void);

/* The kernel's Landlock ABI, 0 if it has none. */
int confine_landlock_abi(void);

/* From here on this process can signal only itself and its descendants; false: this kernel
   (Landlock before ABI 6) does not support that. */
bool confine_signals(void);

/* True for a device of the list that Landlock leaves open. */
bool confine_allows_device(const char *path);

/*
 * Permanently takes writes, privileges and dangerous calls away from this process and returns the
 * listener on which its calls arrive. On failure *step names the step, errno says why, and the
 * process must not continue.
 */
int confine_self(const struct confine_plan *plan, int *listener, const char **step);

#endif
