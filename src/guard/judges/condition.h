/* SPDX-License-Identifier: Apache-2.0 */
/* Conditions on a program's arguments, as tables/programs.def writes them. */
#ifndef CORDON_GUARD_JUDGES_CONDITION_H
#define CORDON_GUARD_JUDGES_CONDITION_H

#include "guard/effects.h"

bool condition_holds(struct str condition, const struct word *args, size_t count);

#endif
