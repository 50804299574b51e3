/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Limits on processes and memory by a control group of the run's own: made beside or below the
 * caller's, joined by the command before it is confined, removed at the end. Of the machine's other
 * groups only one is changed: the one around it counts processes and memory from then on.
 */
#ifndef CORDON_LAUNCH_LINUX_LIMITS_H
#define CORDON_LAUNCH_LINUX_LIMITS_H

#include <limits.h>

#include "policy/rules.h"

enum { LIMITS_MOST_GROUPS = 2 };

struct limits {
    struct limits_group {
        char path[PATH_MAX];
        int members; /* of its list of processes, to be written to */
        bool unified, processes, memory;
    } groups[LIMITS_MOST_GROUPS];
    size_t count;
};

/* Where the kernel says which groups there are. */
struct limits_source {
    const char *mounts;    /* /proc/self/mountinfo */
    const char *own_group; /* /proc/self/cgroup */
};

/* CORDON_E_CONFINE with a sentence if there is no group that can be written; nothing is left
   then. */
int limits_open(const struct policy_limits *wanted, const struct limits_source *source,
                struct limits *out, char *message, size_t capacity);

/* The calling process goes in, and with it what it starts. 0 or a negative errno. */
int limits_join(const struct limits *l);

struct limits_reached {
    bool processes, memory;
};

/* Removes the groups, which must be empty by then, and says what was reached. */
void limits_close(struct limits *l, struct limits_reached *reached);

#endif
