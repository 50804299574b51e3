/* SPDX-License-Identifier: Apache-2.0 */
/* Images that policy_compile() would not write: made by hand, each with one thing that is wrong. */
#include <stdlib.h>

#include "cordon.h"
#include "policy/image.h"
#include "tap.h"

/* The nodes lie last: a sanitizer sees who reads one more than there are. */
struct parts {
    struct image_header head;
    uint32_t slots[4];
    struct image_entry entries[1];
    char pool[IMAGE_MAX_KEY + 4];
    struct image_node nodes[3];
};

/* A root C: and, with three nodes, a folder in it. */
static struct parts sound(uint32_t nodes, uint32_t slots)
{
    struct parts p = {
        .head = {.magic = IMAGE_MAGIC, .version = IMAGE_VERSION, .mode = 1},
        .entries = {{.kind = IMAGE_ROOT, .index = 1, .text_size = 2}},
        .pool = "C:x",
        .nodes = {{.below = 1u << IMAGE_ROOT},
                  {.key_size = 2, .first_entry = 1},
                  {.parent = 1, .key_at = 2, .key_size = 1}},
    };
    p.head.node_count = nodes;
    p.head.node_at = offsetof(struct parts, nodes);
    p.head.slot_count = slots;
    p.head.slot_at = offsetof(struct parts, slots);
    p.head.entry_count = 1;
    p.head.entry_at = offsetof(struct parts, entries);
    p.head.pool_size = sizeof p.pool;
    p.head.pool_at = offsetof(struct parts, pool);
    p.head.size = p.head.node_at + nodes * (uint32_t)sizeof *p.nodes;
    return p;
}

/* Gives every node its hash and its slot. */
static void place(struct parts *p)
{
    uint32_t mask = p->head.slot_count - 1;
    for (uint32_t i = 1; i < p->head.node_count; i++) {
        struct image_node *node = &p->nodes[i];
        node->hash = image_hash(node->parent, (struct str){p->pool + node->key_at, node->key_size});
        uint32_t at = node->hash & mask;
        while (p->slots[at])
            at = (at + 1) & mask;
        p->slots[at] = i;
    }
}

static bool opens(const struct parts *p, size_t size)
{
    struct image image;
    struct image_header *block = calloc(1, size);
    size_t head = offsetof(struct image_header, dialect);
    memcpy(block, p, size < sizeof *p ? size : sizeof *p);
    block->size = (uint32_t)size;
    block->checksum = image_checksum((char *)block + head, size - head);
    int rc = image_open(block, size, &image);
    free(block);
    return rc == 0;
}

static void test_nodes(void)
{
    struct parts p = sound(2, 4);
    place(&p);
    ok(opens(&p, p.head.size), "an image made by hand opens");
    for (uint32_t parent = 0; parent < 2; parent++) {
        p = sound(2, 4), p.nodes[1].parent = parent, p.nodes[1].first_entry = 0;
        p.head.entry_count = 0, place(&p);
        ok(opens(&p, p.head.size) == (parent == 0), "node 1 below node %u", (unsigned)parent);
    }
    p = sound(2, 4), p.nodes[1].key_size = IMAGE_MAX_KEY, place(&p);
    ok(opens(&p, p.head.size), "a name of as many bytes as there may be");
    p = sound(2, 4), p.nodes[1].key_size = IMAGE_MAX_KEY + 1, place(&p);
    ok(!opens(&p, p.head.size), "a name of one more");
    p = sound(2, 4), place(&p);
    for (size_t i = 0; i < 4; i++)
        p.slots[i] *= 2;
    ok(!opens(&p, p.head.size), "a slot leads to a node that there is");
    p = sound(3, 4), place(&p);
    ok(opens(&p, p.head.size), "a table of slots that has room");
    p = sound(3, 2), place(&p);
    ok(!opens(&p, p.head.size), "a table without room: a search would not end");
    p = sound(2, 4), place(&p);
    ok(opens(&p, IMAGE_MAX_BYTES), "an image as large as it may be");
    ok(!opens(&p, IMAGE_MAX_BYTES + 4), "a larger one");
}

/* A text ends where its length says, whatever follows it. */
static void test_counted(void)
{
    struct path path = {.class = PATH_DEVICE, .text = STR("\\Device\\Harddisk")};
    ok(image_is_obscure(&path), "a disk");
    path.text.n--;
    ok(!image_is_obscure(&path), "a device with a shorter name");
}

int main(void)
{
    test_nodes();
    test_counted();
    return tap_done();
}
