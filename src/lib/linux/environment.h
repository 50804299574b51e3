/* The environment of a confined command on Linux. */
#ifndef CORDON_LIB_LINUX_ENVIRONMENT_H
#define CORDON_LIB_LINUX_ENVIRONMENT_H

#include "base/arena.h"
#include "policy/rules.h"

/* The caller's environment with the variables of a run set and those of outside servers removed;
   NULL-terminated, in the arena; NULL without memory. */
const char *const *environment_make(struct arena *arena, const struct policy_settings *settings,
                                    const char *const *unset, size_t unset_count);

#endif
