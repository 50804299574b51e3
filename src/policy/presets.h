/* SPDX-License-Identifier: Apache-2.0 */
/* Tools that are known by name: the hosts and caches that they need. */
#ifndef CORDON_POLICY_PRESETS_H
#define CORDON_POLICY_PRESETS_H

#include "policy/path.h"

/* Lists of words with blanks between them. */
struct preset {
    const char *name, *programs;
    const char *words[2]; /* by path_dialect */
    const char *hosts;
    const char *variables; /* NAME=VALUE, NAME+=VALUE with @ for the folder of its own cache */
    const char *caches[2]; /* below the home folder or with a /, by path_dialect */
    const char *opened;    /* on Linux: folders that all users of the machine share */
};

/* NULL if there is none of that name. */
const struct preset *preset_find(struct str name);

/* Appends the names of all: "npm, pip or cargo". */
struct buf;
void preset_names(struct buf *out);

/* The tool that this command starts, by its own name or as the script or module of an interpreter;
   NULL if it is none. *gives_up: without the network it fails before it asks for a name. */
const struct preset *preset_of(const struct str *words, size_t count, enum path_dialect dialect,
                               bool *gives_up);

/* True if it needs this host. */
bool preset_has_host(const struct preset *preset, struct str host);

/* The next word of a list from *at on; false at the end. */
bool preset_word(const char *list, size_t *at, struct str *word);

#endif
