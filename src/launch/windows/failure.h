/* SPDX-License-Identifier: Apache-2.0 */
/* Why a step of the launch failed, in a sentence that names the step and Windows' own words. */
#ifndef CORDON_LAUNCH_WINDOWS_FAILURE_H
#define CORDON_LAUNCH_WINDOWS_FAILURE_H

#include <windows.h>

struct launch_failure {
    char text[512]; /* UTF-8, one line, no full stop */
};

/* "cannot make the token (CreateRestrictedToken): Access is denied (Windows error 5)" from the
   thread's last error. Returns CORDON_E_CONFINE, so that callers can return the result directly. */
int launch_fail(struct launch_failure *f, const char *step);

/* The same for an error code, and for an NTSTATUS of a native call. */
int launch_fail_error(struct launch_failure *f, const char *step, DWORD error);
int launch_fail_status(struct launch_failure *f, const char *step, LONG status);

/* A sentence of our own, where Windows has none. */
int launch_fail_words(struct launch_failure *f, const char *sentence);

#endif
