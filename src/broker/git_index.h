/* SPDX-License-Identifier: Apache-2.0 */
/* Reads git's index without git. */
#ifndef CORDON_BROKER_GIT_INDEX_H
#define CORDON_BROKER_GIT_INDEX_H

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

#endif
