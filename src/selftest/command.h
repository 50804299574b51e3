/* SPDX-License-Identifier: Apache-2.0 */
/* The whole of `cordon selftest` after its options: tries, prints, exit code. On Linux a part of
   cordon, on Windows a program beside it. */
#ifndef CORDON_SELFTEST_COMMAND_H
#define CORDON_SELFTEST_COMMAND_H

#include "selftest/selftest.h"

struct selftest_request {
    const char *program, *boundary; /* as in selftest_options */
    const char *only;               /* "3,17"; NULL: all */
    bool json, keep;
    bool progress; /* the promise that is being tried is shown on stderr */
};

/* Prints to stdout. 0, 1 if a promise was not proven, or -1 with a sentence if none was tried. */
int selftest_command(const struct selftest_request *request, struct buf *error);

#endif
