/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy image: every path rule in one flat, relocatable, read-only block. The broker's process
 * and the agent in the sandboxed one search it in place; match.c needs no libc beyond memcmp.
 *
 * Layout, all numbers 32 bits in the machine's order, all places as offsets from the start:
 *
 *   header | nodes[] | slots[] | entries[] | pool
 *
 * Nodes are path components in a tree (node 0 is above every path), found through slots[], a hash
 * table over (parent, folded component). Entries hang on nodes, one per rule. The pool holds folded
 * keys and the rules' exact spellings.
 */
#ifndef CORDON_POLICY_IMAGE_H
#define CORDON_POLICY_IMAGE_H

#include "policy/path.h"

enum image_kind {
    IMAGE_ROOT = 0,
    IMAGE_TEMP,
    IMAGE_GIT_DIR,
    IMAGE_GIT_OBEYS,
    IMAGE_SELF,
    IMAGE_DENY_WRITE,
    IMAGE_DENY_READ,
    IMAGE_ALLOW_READ,
    IMAGE_KINDS
};

enum {
    IMAGE_MAGIC = 0x4E445243, /* "CRDN" */
    IMAGE_VERSION = 1,
    IMAGE_MAX_BYTES = 64 * 1024 * 1024,
    IMAGE_MAX_KEY = 1024,  /* bytes of a folded component */
    IMAGE_MAX_NESTED = 8,  /* roots inside roots that a match remembers */
    IMAGE_MAX_ALIASES = 16 /* nodes followed in one search because of 8.3 names */
};

struct image_header {
    uint32_t magic, version, size, checksum; /* the checksum covers what follows it */
    uint32_t dialect, mode;
    uint32_t node_count, node_at;
    uint32_t slot_count, slot_at; /* a power of two, at least one slot is empty */
    uint32_t entry_count, entry_at;
    uint32_t pool_size, pool_at;
};

struct image_node {
    uint32_t parent; /* smaller than its own number */
    uint32_t hash;
    uint32_t key_at, key_size;
    uint32_t first_entry; /* number + 1, 0: none */
    uint32_t below;       /* 1 << kind for every entry strictly below */
};

struct image_entry {
    uint32_t kind;
    uint32_t index; /* which entry of the settings' list, from 1 */
    uint32_t text_at, text_size;
    uint32_t next; /* number + 1, larger than its own; 0: none */
};

/* An opened image: pointers into the block, which must outlive it and must not change. */
struct image {
    const struct image_header *header;
    const struct image_node *nodes;
    const uint32_t *slots;
    const struct image_entry *entries;
    const char *pool;
};

/* Checks everything before the first search; CORDON_E_IMAGE for a damaged block, which must be
   aligned for uint32_t. */
int image_open(const void *block, size_t size, struct image *image);

/* Detects damage, not malice: anyone who can write the image controls the policy. */
uint32_t image_checksum(const void *bytes, size_t count);
uint32_t image_hash(uint32_t parent, struct str key);

/* The rules' answer for one path. */
struct image_match {
    uint32_t hit[IMAGE_KINDS]; /* the index of the deepest entry on the way, 0: none */
    size_t end[IMAGE_KINDS];   /* length of the path up to that entry */
    size_t root_ends[IMAGE_MAX_NESTED];
    size_t root_count; /* may exceed IMAGE_MAX_NESTED: then only some are remembered */
    uint32_t below;    /* 1 << kind for entries strictly below this very path */
    bool complete;     /* the path itself is a node */
};

/* exact: allowing rules must match the spelling (a final path against a final path); otherwise case
   is ignored. Denying rules are always compared folded. */
void image_search(const struct image *image, struct str normal, bool exact,
                  struct image_match *match);

/* True if the spelling does not identify the file, so that no path rule can be matched: where any
   read is denied, such a path is too. */
bool image_is_obscure(const struct path *path);

/* For the agent: true if reading it is denied by a deny-read rule. */
bool image_denies_read(const struct image *image, const struct path *path);

#endif
