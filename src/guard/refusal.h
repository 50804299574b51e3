/* SPDX-License-Identifier: Apache-2.0 */
/* The message for a command that the guard did not allow. */
#ifndef CORDON_GUARD_REFUSAL_H
#define CORDON_GUARD_REFUSAL_H

#include "guard/guard.h"

/*
 * The finding that decided, or NULL. target: the command, cut if it is long, with what it means
 * where that cannot be read in it (an encoded URL). fix: what to do instead under this policy.
 */
const struct guard_finding *guard_refusal(const struct guard_answer *answer,
                                          const struct policy *policy, struct buf *target,
                                          struct buf *fix);

#endif
