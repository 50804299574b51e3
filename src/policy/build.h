/* SPDX-License-Identifier: Apache-2.0 */
/* Building an image, and the inside of a policy; only for files of this folder and its tests. */
#ifndef CORDON_POLICY_BUILD_H
#define CORDON_POLICY_BUILD_H

#include "policy/image.h"
#include "policy/names.h"
#include "policy/rules.h"

struct image_build {
    struct arena *arena;
    enum path_dialect dialect;
    struct image_node *nodes;
    size_t node_count, node_capacity;
    uint32_t *slots;
    size_t slot_count;
    struct image_entry *entries;
    size_t entry_count, entry_capacity;
    struct buf pool; /* freed by the caller, also after a failure */
};

int build_start(struct image_build *b, struct arena *arena, enum path_dialect dialect);
int build_add(struct image_build *b, enum image_kind kind, uint32_t index, struct str normal);
int build_finish(struct image_build *b, unsigned mode, void **block, size_t *size);

struct policy {
    struct arena arena;
    struct policy_settings settings; /* every string in the arena */
    struct str block;                /* the image's bytes */
    struct image image;
    bool unprotected[PROTECTED_COUNT];
    policy_whole *whole; /* of policy_find_later() */
    void *whole_context;
};

#endif
