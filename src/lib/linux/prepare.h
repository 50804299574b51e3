/* SPDX-License-Identifier: Apache-2.0 */
/* Additions to the policy of a run on Linux before it is compiled: stubs, and Wine's prefix. */
#ifndef CORDON_LIB_LINUX_PREPARE_H
#define CORDON_LIB_LINUX_PREPARE_H

#include "launch/linux/wine.h"
#include "lib/system.h"

struct system_prepared {
    struct wine_run wine;
    const char *stubs; /* the folder for PATH; NULL: none */
    bool inside;       /* another run of Cordon */
};

/* The policy of the run around this one as a descriptor; -1 outside any run. */
int prepare_outer_policy(void);

#endif
