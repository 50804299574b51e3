/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a policy that is already in force allows no more than another one asks for: a sandbox
 * inside a sandbox may rely on the outer one then. The outer policy is told as text, one "key
 * value" a line.
 */
#ifndef CORDON_POLICY_NARROW_H
#define CORDON_POLICY_NARROW_H

#include "policy/rules.h"

/* Appends the outline of a policy: everything that could make it wider than another. */
void policy_outline(const struct policy *policy, struct buf *out);

/* True if the outlined policy is at least as narrow; else why says what it lets through. Text that
   is not understood is not narrow. */
bool policy_is_narrow(struct str outline, const struct policy *wanted, struct buf *why);

#endif
