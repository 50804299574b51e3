/* SPDX-License-Identifier: Apache-2.0 */
/* Reads git's index without git. */
#ifndef CORDON_BROKER_GIT_INDEX_H
#define CORDON_BROKER_GIT_INDEX_H

#include "base/buf.h"
#include "policy/path.h"

enum {
    GIT_INDEX_MOST = 256 << 20,          /* bytes; beyond, an index is refused */
    GIT_INDEX_CONFIG_MOST = 4096 * 1024, /* of a config that is asked for the hash */
    GIT_INDEX_WHY = 128
};

/* The length of an object's name, which the index itself does not tell. */
enum git_hash { GIT_HASH_UNKNOWN = 0, GIT_HASH_SHA1 = 20, GIT_HASH_SHA256 = 32 };

/* By the config of the repository. */
enum git_hash git_index_hash(struct str config);

/* What two configs say together; a missing one says nothing (present false). */
enum git_hash git_index_hash_of_both(const struct str config[2], const bool present[2]);

/* True if git would find in it only entries that it would add itself: relative names that stay in
   the working tree and out of .git. Otherwise *why completes "this index holds ". */
bool git_index_is_harmless(enum path_dialect dialect, struct str index, enum git_hash hash,
                           char why[GIT_INDEX_WHY]);

/* The entries of an index whose names other programs obey. */
struct git_index_obeyed {
    bool (*is_obeyed)(const void *context, struct str name);
    const void *context;
    struct buf entries; /* freed by the caller; for git_index_next() */
    bool replaces;      /* it changes entries of the shared index, by their numbers */
    char shared[2 * GIT_HASH_SHA256 + 1]; /* in digits, the name of the shared index; empty: none */
};

/* The same, and collects those; zero but for the first two. */
bool git_index_read(enum path_dialect dialect, struct str index, enum git_hash hash,
                    struct git_index_obeyed *obeyed, char why[GIT_INDEX_WHY]);

struct git_index_entry {
    struct str name;
    uint32_t mode;
    struct str object; /* its name, in bytes */
    struct str whole;  /* all of it, to be compared */
};

/* Cuts the first entry off the rest; false at the end. */
bool git_index_next(struct str *rest, struct git_index_entry *out);

/* Moves on to the entry of that name in a list in git's order; true if it is there and the same. */
bool git_index_has(struct str *rest, const struct git_index_entry *entry);

#endif
