/* Promises that need more than an attempt and a look. */
#ifndef CORDON_SELFTEST_LINUX_SPECIAL_H
#define CORDON_SELFTEST_LINUX_SPECIAL_H

#include "selftest/linux/world.h"

/* False if the number is not one of these. */
bool special_try(struct selftest_world *w, unsigned n, struct selftest_line *line);

#endif
