/* SPDX-License-Identifier: Apache-2.0 */
/* What a run says about a command that the guard did not allow. */
#ifndef CORDON_GUARD_TOLD_H
#define CORDON_GUARD_TOLD_H

#include "guard/guard.h"

/*
 * The finding that decided, or NULL. target: the command, cut if it is long, with what it means
 * where that cannot be read in it (an encoded URL). fix: what to do instead under this policy.
 */
const struct guard_finding *guard_told(const struct guard_answer *answer,
                                       const struct policy *policy, struct buf *target,
                                       struct buf *fix);

#endif
