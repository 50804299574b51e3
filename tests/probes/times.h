/* SPDX-License-Identifier: Apache-2.0 */
/* Repetitions of a probe: fewer where the tests say that the machine is slow (box_slow in
   box.h). */
#ifndef CORDON_TESTS_TIMES_H
#define CORDON_TESTS_TIMES_H

#include <stdlib.h>

static inline int times(int usual)
{
    const char *given = getenv("CORDON_TEST_SLOW");
    int factor = given ? atoi(given) : 1;
    return factor > 1 ? usual / factor : usual;
}

#endif
