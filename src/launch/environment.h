/* SPDX-License-Identifier: Apache-2.0 */
/* The environment of a confined command. */
#ifndef CORDON_LAUNCH_ENVIRONMENT_H
#define CORDON_LAUNCH_ENVIRONMENT_H

#include "base/arena.h"
#include "policy/rules.h"

struct environment_plan {
    const char *const *inherited; /* NAME=VALUE, NULL at the end */
    const char *const *unset;     /* names, with * for any text; @secrets */
    size_t unset_count;
    bool ignore_case;           /* of names, as on Windows */
    const char *const *offline; /* NAME=VALUE where the network is off, NULL at the end; or NULL */
    const struct policy_list *tools; /* given: NAME=VALUE, NAME+=VALUE; or NULL */
    const char *const *set;          /* NAME=VALUE, applied last */
    size_t set_count;
    struct str
        stubs; /* inserted into PATH before its first entry outside the roots; may be empty */
    const char *proxy; /* URL of the proxy that is the only way out; NULL: none */
};

/* True if NAME=VALUE looks like a secret, by its name or the shape of its value. */
bool environment_is_secret(const char *variable);

/* The inherited variables with a run's own added and those of outside servers removed;
   NULL-terminated, in the arena; NULL if memory runs out. */
const char *const *environment_make(struct arena *arena, const struct policy_settings *settings,
                                    const struct environment_plan *plan);

#endif
