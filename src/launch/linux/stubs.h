/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stub folder: a small script under the name of every tool that must not run, placed in PATH
 * right before the first entry that is not the workspace's. It only speaks: the tools themselves
 * are refused wherever they lie.
 */
#ifndef CORDON_LAUNCH_LINUX_STUBS_H
#define CORDON_LAUNCH_LINUX_STUBS_H

#include <stdbool.h>

#include "policy/rules.h"

enum { STUBS_LONGEST = 512 };

/* A name that nothing has, in a folder in memory or else in the temp folder; false without one. */
bool stubs_name(char *out, size_t capacity);

/* Makes and fills it. Without a folder runs go on: stubs only explain. */
void stubs_make(const char *folder, const struct policy *policy);

/* Removes it with all that is in it. */
void stubs_remove(const char *folder, const struct policy *policy);

#endif
