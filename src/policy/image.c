/* SPDX-License-Identifier: Apache-2.0 */
/* Building an image from rules. */
#include "policy/build.h"

#include "cordon.h"
#include "policy/casefold.h"

int build_start(struct image_build *b, struct arena *arena, enum path_dialect dialect)
{
    *b = (struct image_build){.arena = arena, .dialect = dialect, .slot_count = 64};
    b->slots = ARENA_ARRAY(arena, b->slot_count, uint32_t);
    b->nodes = arena_grow(arena, NULL, &b->node_capacity, sizeof *b->nodes);
    if (!b->slots || !b->nodes)
        return CORDON_E_NOMEM;
    b->node_count = 1;
    return 0;
}

static int add_text(struct image_build *b, struct str s, uint32_t *at)
{
    if (s.n > IMAGE_MAX_BYTES / 2 || b->pool.n > IMAGE_MAX_BYTES / 2)
        return CORDON_E_TOOBIG;
    *at = (uint32_t)b->pool.n;
    buf_add(&b->pool, s);
    return b->pool.failed ? CORDON_E_NOMEM : 0;
}

static struct str key_of(const struct image_build *b, uint32_t node)
{
    return (struct str){b->pool.p + b->nodes[node].key_at, b->nodes[node].key_size};
}

static uint32_t *find_slot(const struct image_build *b, uint32_t parent, struct str key,
                           uint32_t hash)
{
    size_t at = hash & (b->slot_count - 1);
    while (b->slots[at] &&
           !(b->nodes[b->slots[at]].hash == hash && b->nodes[b->slots[at]].parent == parent &&
             str_eq(key_of(b, b->slots[at]), key)))
        at = (at + 1) & (b->slot_count - 1);
    return &b->slots[at];
}

static int grow_slots(struct image_build *b)
{
    if (b->node_count * 2 < b->slot_count)
        return 0;
    size_t count = b->slot_count * 4;
    uint32_t *slots = ARENA_ARRAY(b->arena, count, uint32_t);
    if (!slots)
        return CORDON_E_NOMEM;
    b->slots = slots;
    b->slot_count = count;
    for (uint32_t i = 1; i < b->node_count; i++)
        *find_slot(b, b->nodes[i].parent, key_of(b, i), b->nodes[i].hash) = i;
    return 0;
}

static int add_node(struct image_build *b, uint32_t parent, struct str key, uint32_t *out)
{
    uint32_t hash = image_hash(parent, key);
    uint32_t *slot = find_slot(b, parent, key, hash);
    if (*slot) {
        *out = *slot;
        return 0;
    }
    if (b->node_count == b->node_capacity) {
        void *grown = arena_grow(b->arena, b->nodes, &b->node_capacity, sizeof *b->nodes);
        if (!grown)
            return CORDON_E_NOMEM;
        b->nodes = grown;
    }
    struct image_node node = {.parent = parent, .hash = hash, .key_size = (uint32_t)key.n};
    int rc = add_text(b, key, &node.key_at);
    if (rc)
        return rc;
    *slot = *out = (uint32_t)b->node_count;
    b->nodes[b->node_count++] = node;
    return grow_slots(b);
}

int build_add(struct image_build *b, enum image_kind kind, uint32_t index, struct str normal)
{
    struct path_cursor cursor = {.dialect = b->dialect, .path = normal};
    struct str component;
    uint32_t node = 0;
    while (path_next(&cursor, &component)) {
        char key[IMAGE_MAX_KEY];
        size_t n = fold_text(b->dialect, FOLD_WIDE, component, key, sizeof key);
        if (n == SIZE_MAX)
            return CORDON_E_TOOBIG;
        b->nodes[node].below |= 1u << kind;
        int rc = add_node(b, node, (struct str){key, n}, &node);
        if (rc)
            return rc;
    }
    if (b->entry_count == b->entry_capacity) {
        void *grown = arena_grow(b->arena, b->entries, &b->entry_capacity, sizeof *b->entries);
        if (!grown)
            return CORDON_E_NOMEM;
        b->entries = grown;
    }
    struct image_entry entry = {.kind = kind, .index = index, .text_size = (uint32_t)normal.n};
    int rc = add_text(b, normal, &entry.text_at);
    if (rc)
        return rc;
    uint32_t number = (uint32_t)++b->entry_count;
    b->entries[number - 1] = entry;
    /* Appended, so that every next is larger than its own index. */
    uint32_t *link = &b->nodes[node].first_entry;
    while (*link)
        link = &b->entries[*link - 1].next;
    *link = number;
    return 0;
}

int build_finish(struct image_build *b, unsigned mode, void **block, size_t *size)
{
    struct image_header h = {.magic = IMAGE_MAGIC, .version = IMAGE_VERSION};
    size_t nodes = b->node_count * sizeof *b->nodes, slots = b->slot_count * sizeof *b->slots;
    size_t entries = b->entry_count * sizeof *b->entries;
    size_t total = sizeof h + nodes + slots + entries + b->pool.n;
    if (b->pool.failed)
        return CORDON_E_NOMEM;
    if (total > IMAGE_MAX_BYTES)
        return CORDON_E_TOOBIG;
    char *p = arena_alloc(b->arena, total);
    if (!p)
        return CORDON_E_NOMEM;
    h.size = (uint32_t)total;
    h.dialect = b->dialect;
    h.mode = mode;
    h.node_count = (uint32_t)b->node_count;
    h.node_at = sizeof h;
    h.slot_count = (uint32_t)b->slot_count;
    h.slot_at = h.node_at + (uint32_t)nodes;
    h.entry_count = (uint32_t)b->entry_count;
    h.entry_at = h.slot_at + (uint32_t)slots;
    h.pool_size = (uint32_t)b->pool.n;
    h.pool_at = h.entry_at + (uint32_t)entries;
    memcpy(p + h.node_at, b->nodes, nodes);
    memcpy(p + h.slot_at, b->slots, slots);
    if (entries)
        memcpy(p + h.entry_at, b->entries, entries);
    if (b->pool.n)
        memcpy(p + h.pool_at, b->pool.p, b->pool.n);
    memcpy(p, &h, sizeof h);
    size_t head = offsetof(struct image_header, dialect);
    h.checksum = image_checksum(p + head, total - head);
    memcpy(p, &h, sizeof h);
    *block = p;
    *size = total;
    return 0;
}
