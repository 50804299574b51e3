/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stub folder: a small script named after every tool that must not run, placed in PATH just
 * before the first entry outside the workspace. It only prints the reason: the tools themselves are
 * refused wherever they are.
 */
#ifndef CORDON_LAUNCH_LINUX_STUBS_H
#define CORDON_LAUNCH_LINUX_STUBS_H

#include <stdbool.h>

#include "policy/rules.h"

enum { STUBS_LONGEST = 512 };

/* An unused name in a folder in memory, or else in the temp folder; false if there is none. */
bool stubs_name(char *out, size_t capacity);

/* Creates and fills it. A run works without it: stubs only explain. */
void stubs_make(const char *folder, const struct policy *policy);

/* Removes it with everything in it. */
void stubs_remove(const char *folder, const struct policy *policy);

#endif
