/* SPDX-License-Identifier: Apache-2.0 */
/* Opens files that Cordon itself writes where an earlier run may have planted links. */
#ifndef CORDON_LAUNCH_LINUX_OUTPUT_H
#define CORDON_LAUNCH_LINUX_OUTPUT_H

#include <sys/types.h>

/* As open, but no link is followed: neither the last name nor, for a path that is relative or lies
   below the current folder, any folder on the way (ELOOP). /dev and /proc are the system's own. */
int output_open(const char *path, int flags, mode_t mode);

#endif
