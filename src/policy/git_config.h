/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a git config without git. */
#ifndef CORDON_POLICY_GIT_CONFIG_H
#define CORDON_POLICY_GIT_CONFIG_H

#include "base/str.h"

enum { GIT_CONFIG_MOST = 65536, GIT_CONFIG_KEY = 128 };

/* True if every key in it is in git_config.def. Otherwise *key is the first that is not, or says
   that a line cannot be read. tree: if not NULL, core.worktree may be there once, and its value is
   for the caller to judge. */
bool git_config_is_harmless(struct str text, struct str *tree, char key[GIT_CONFIG_KEY]);

/* True if new is old without some sections of branches, or with other names for them, as git branch
   -d and -m write it: nothing is added, and nothing else changes. */
bool git_config_keeps_all_but_branches(struct str old, struct str new);

/* True if new is old with more keys that are harmless, and no other address for what was there. */
bool git_config_only_adds(struct str old, struct str new, struct str *tree,
                          char key[GIT_CONFIG_KEY]);

/* True if every line of old is in new, in the same order. */
bool git_config_keeps_lines(struct str old, struct str new);

/* A file or folder that a config names and that git runs or obeys. */
enum git_config_named {
    GIT_CONFIG_HOOKS,   /* core.hooksPath: below the working tree */
    GIT_CONFIG_COMMAND, /* core.fsmonitor: a word of a command, likewise */
    GIT_CONFIG_INCLUDE  /* include.path: beside the config */
};
struct git_config_use {
    void (*named)(void *context, enum git_config_named kind, struct str path);
    void *context;
};

/* Calls use->named for each of them. This is about a person's own config, in whatever form git would
   read. */
void git_config_names(struct str text, const struct git_config_use *use);

/* The same for one key, as section.key or section.subsection.key, with its plain value. */
void git_config_name(struct str name, struct str value, const struct git_config_use *use);

#endif
