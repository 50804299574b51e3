/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a git config without git. */
#ifndef CORDON_BROKER_LINUX_GIT_CONFIG_H
#define CORDON_BROKER_LINUX_GIT_CONFIG_H

#include "base/str.h"

enum { GIT_CONFIG_MOST = 65536, GIT_CONFIG_KEY = 128 };

/* True if every key in it is in git_config.def. Otherwise *key is the first that is not, or says
   that a line cannot be read. */
bool git_config_is_harmless(struct str text, char key[GIT_CONFIG_KEY]);

/* True if new is old without some sections of branches, or with other names for them, as git branch
   -d and -m write it: nothing is added, and nothing else changes. */
bool git_config_keeps_all_but_branches(struct str old, struct str new);

#endif
