/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a policy already in force allows no more than another one asks for: then a nested sandbox
   may rely on the outer one. The outer policy is passed as text, one "key value" per line. */
#ifndef CORDON_POLICY_NARROW_H
#define CORDON_POLICY_NARROW_H

#include "policy/rules.h"

/* Appends the outline of a policy: everything that could make it wider than another. */
void policy_outline(const struct policy *policy, struct buf *out);

/* True if the outlined policy is at least as narrow; otherwise why says what it allows. Text that
   is not understood does not count as narrow. */
bool policy_is_narrow(struct str outline, const struct policy *wanted, struct buf *why);

/* Reads an outline back into settings, for questions about the policy in force. Strings go into the
   arena. CORDON_E_VALUE for text that is not understood. */
int policy_read_outline(struct arena *arena, struct str outline, struct policy_settings *settings);

#endif
