/* SPDX-License-Identifier: Apache-2.0 */
/* 8.3 names: could this be the short name of that file? Case does not matter. */
#ifndef CORDON_POLICY_ALIAS_H
#define CORDON_POLICY_ALIAS_H

#include "base/str.h"

/* True if it has the shape of a short name: a tilde inside and at most 12 characters. */
bool alias_like(struct str component);

/* True if component could be the short name that Windows or Wine generates for the long one. */
bool alias_could_be(struct str component, struct str name);

#endif
