/* Promises that need more than an attempt and its effect. */
#ifndef CORDON_SELFTEST_WINDOWS_SPECIAL_H
#define CORDON_SELFTEST_WINDOWS_SPECIAL_H

#include "selftest/windows/world.h"

/* False if the promise is none of them. */
bool special_try(struct selftest_world *w, unsigned n, struct selftest_line *line);

#endif
