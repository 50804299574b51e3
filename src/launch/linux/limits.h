/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Limits on processes and memory through a control group of the run's own: created beside or below
 * the caller's, joined by the command before it is confined, removed at the end. Only one other
 * group is changed: the enclosing one then counts processes and memory.
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

/* CORDON_E_CONFINE with a sentence if no writable group exists; then nothing is left behind. */
int limits_open(const struct policy_limits *wanted, const struct limits_source *source,
                struct limits *out, char *message, size_t capacity);

/* Moves the calling process, and so its future children, into the group. 0 or a negative errno. */
int limits_join(const struct limits *l);

struct limits_reached {
    bool processes, memory;
};

/* Removes the groups, which must be empty by then, and tells which limits were reached. */
void limits_close(struct limits *l, struct limits_reached *reached);

#endif
