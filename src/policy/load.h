/* SPDX-License-Identifier: Apache-2.0 */
/* Settings from a JSON policy file and from Codex's `-c key=value`. Takes text and produces
   settings: the caller reads the file and the environment. */
#ifndef CORDON_POLICY_LOAD_H
#define CORDON_POLICY_LOAD_H

#include "policy/rules.h"

struct policy_source {
    struct str name;   /* of the file, for messages and `from` */
    struct str folder; /* normal; relative paths are relative to it */
    /* The value of a variable, false if there is none; NULL: no variable is known. */
    bool (*lookup)(void *context, struct str name, struct str *value);
    void *context;
};

enum { POLICY_MAX_FILE = 16 * 1024 * 1024 };

/*
 * Adds what the text says to the settings: lists grow, single values are replaced. Uses the
 * settings' dialect, volume names and home folder. Strings go into the arena. On failure the
 * settings are unchanged and *error holds one line with file, line and column.
 */
int policy_load(struct arena *arena, const struct policy_source *source, struct str text,
                struct policy_settings *settings, struct buf *error);

/* One KEY=VALUE of Codex, VALUE in TOML. */
int policy_load_pair(struct arena *arena, const struct policy_source *source, struct str pair,
                     struct policy_settings *settings, struct buf *error);

/* The words of options and keys, shared with the command line: 0 or CORDON_E_VALUE. */
int policy_read_mode(struct str word, enum policy_mode *mode);
int policy_read_git(struct str word, enum policy_git *git);

/* off, on, loopback, proxy=HOST:PORT, allow=NAME,NAME: names go to net_allow. */
int policy_read_net(struct arena *arena, struct str word, struct str from,
                    struct policy_settings *settings);

/* private, shared, session=ID */
int policy_read_temp(struct arena *arena, struct str word, struct policy_settings *settings);

/* The id of a session. */
int policy_read_session(struct arena *arena, struct str word, struct str *id);

/* 512, 512K, 512M, 2G in bytes. */
int policy_read_memory(struct str word, uint64_t *bytes);

#endif
