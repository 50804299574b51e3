/* SPDX-License-Identifier: Apache-2.0 */
/* Opening and searching an image. No allocation, no libc beyond memcmp: the agent links this. */
#include "policy/image.h"

#include "cordon.h"
#include "policy/alias.h"
#include "policy/casefold.h"

uint32_t image_hash(uint32_t parent, struct str key)
{
    uint32_t hash = 2166136261u ^ parent * 0x9E3779B1u;
    for (size_t i = 0; i < key.n; i++)
        hash = (hash ^ (unsigned char)key.p[i]) * 16777619u;
    return hash ^ hash >> 15;
}

uint32_t image_checksum(const void *bytes, size_t count)
{
    const unsigned char *p = bytes;
    uint32_t a = 1, b = 0;
    for (size_t i = 0; i < count; i++) {
        a = (a ^ p[i]) * 16777619u;
        b = (b << 5 | b >> 27) + a;
    }
    return a ^ b;
}

/* A table of count elements that starts at a multiple of four and lies inside the block. */
static bool table_fits(const struct image_header *h, uint32_t at, uint32_t count, size_t element)
{
    return at % 4 == 0 && at >= sizeof *h && at <= h->size && count <= (h->size - at) / element;
}

static bool text_fits(const struct image_header *h, uint32_t at, uint32_t size)
{
    return at <= h->pool_size && size <= h->pool_size - at;
}

static bool nodes_are_sound(const struct image *image)
{
    const struct image_header *h = image->header;
    for (uint32_t i = 0; i < h->node_count; i++) {
        const struct image_node *node = &image->nodes[i];
        if ((i > 0 && node->parent >= i) || node->first_entry > h->entry_count ||
            node->key_size > IMAGE_MAX_KEY || !text_fits(h, node->key_at, node->key_size) ||
            node->below >> IMAGE_KINDS)
            return false;
        struct str key = {image->pool + node->key_at, node->key_size};
        if (i > 0 ? image_hash(node->parent, key) != node->hash
                  : node->parent || node->hash || node->key_size || node->first_entry)
            return false;
    }
    return true;
}

static bool slots_are_sound(const struct image *image)
{
    const struct image_header *h = image->header;
    uint32_t filled = 0;
    for (uint32_t i = 0; i < h->slot_count; i++) {
        if (image->slots[i] >= h->node_count)
            return false;
        filled += image->slots[i] != 0;
    }
    return filled == h->node_count - 1 && filled < h->slot_count;
}

static bool entries_are_sound(const struct image *image)
{
    const struct image_header *h = image->header;
    for (uint32_t i = 0; i < h->entry_count; i++) {
        const struct image_entry *entry = &image->entries[i];
        if (entry->kind >= IMAGE_KINDS || entry->index == 0 || entry->next > h->entry_count ||
            (entry->next && entry->next <= i + 1) ||
            !text_fits(h, entry->text_at, entry->text_size))
            return false;
    }
    return true;
}

/* The child of parent with this folded key, or 0. */
static uint32_t find_child(const struct image *image, uint32_t parent, struct str key)
{
    uint32_t mask = image->header->slot_count - 1, hash = image_hash(parent, key);
    for (uint32_t at = hash & mask; image->slots[at]; at = (at + 1) & mask) {
        const struct image_node *node = &image->nodes[image->slots[at]];
        if (node->hash == hash && node->parent == parent && node->key_size == key.n &&
            memcmp(image->pool + node->key_at, key.p, key.n) == 0)
            return image->slots[at];
    }
    return 0;
}

/* A rule that cannot be found is a rule that does not apply. */
static bool nodes_are_found(const struct image *image)
{
    for (uint32_t i = 1; i < image->header->node_count; i++) {
        const struct image_node *node = &image->nodes[i];
        struct str key = {image->pool + node->key_at, node->key_size};
        if (find_child(image, node->parent, key) != i)
            return false;
    }
    return true;
}

/* Every entry is attached to one node, and the nodes above record that. */
static bool entries_are_found(const struct image *image)
{
    uint32_t reached = 0;
    for (uint32_t i = 1; i < image->header->node_count; i++)
        for (uint32_t at = image->nodes[i].first_entry; at; at = image->entries[at - 1].next) {
            uint32_t kind = image->entries[at - 1].kind;
            if (++reached > image->header->entry_count)
                return false;
            for (uint32_t up = i; up != 0;) {
                up = image->nodes[up].parent;
                if (!(image->nodes[up].below >> kind & 1))
                    return false;
            }
        }
    return reached == image->header->entry_count;
}

int image_open(const void *block, size_t size, struct image *out)
{
    const struct image_header *h = block;
    if (!block || (uintptr_t)block % _Alignof(uint32_t) || size < sizeof *h ||
        size > IMAGE_MAX_BYTES || h->magic != IMAGE_MAGIC || h->version != IMAGE_VERSION ||
        h->size != size)
        return CORDON_E_IMAGE;
    size_t head = offsetof(struct image_header, dialect);
    if (image_checksum((const char *)block + head, size - head) != h->checksum)
        return CORDON_E_IMAGE;
    if (h->dialect > PATH_POSIX || h->mode > 2 || h->node_count == 0 || h->slot_count == 0 ||
        (h->slot_count & (h->slot_count - 1)) ||
        !table_fits(h, h->node_at, h->node_count, sizeof(struct image_node)) ||
        !table_fits(h, h->slot_at, h->slot_count, sizeof(uint32_t)) ||
        !table_fits(h, h->entry_at, h->entry_count, sizeof(struct image_entry)) ||
        !table_fits(h, h->pool_at, h->pool_size, 1))
        return CORDON_E_IMAGE;
    const char *base = block;
    struct image image = {
        .header = h,
        .nodes = (const void *)(base + h->node_at),
        .slots = (const void *)(base + h->slot_at),
        .entries = (const void *)(base + h->entry_at),
        .pool = base + h->pool_at,
    };
    if (!nodes_are_sound(&image) || !slots_are_sound(&image) || !nodes_are_found(&image) ||
        !entries_are_sound(&image) || !entries_are_found(&image))
        return CORDON_E_IMAGE;
    *out = image;
    return 0;
}

static bool is_allow(uint32_t kind)
{
    return kind == IMAGE_ROOT || kind == IMAGE_TEMP || kind == IMAGE_GIT_DIR ||
           kind == IMAGE_ALLOW_READ;
}

static void take_entries(const struct image *image, uint32_t node, struct str prefix, bool exact,
                         struct image_match *match)
{
    enum path_dialect dialect = image->header->dialect;
    for (uint32_t at = image->nodes[node].first_entry; at; at = image->entries[at - 1].next) {
        const struct image_entry *entry = &image->entries[at - 1];
        struct str text = {image->pool + entry->text_at, entry->text_size};
        /* C:\ is spelled with its separator, which the walk leaves out. */
        if (text.n == prefix.n + 1 && text.p[prefix.n] == path_separator(dialect))
            text.n--;
        if (is_allow(entry->kind) &&
            !(exact ? str_eq(text, prefix) : fold_equal(dialect, FOLD_NARROW, text, prefix)))
            continue;
        /* Entries found along two paths: the deeper one counts. */
        if (match->hit[entry->kind] && match->end[entry->kind] > prefix.n)
            continue;
        match->hit[entry->kind] = entry->index;
        match->end[entry->kind] = prefix.n;
        if (entry->kind == IMAGE_ROOT) {
            if (match->root_count < IMAGE_MAX_NESTED)
                match->root_ends[match->root_count] = prefix.n;
            match->root_count++;
        }
    }
}

/* True if something at the node or below it is denied. */
static bool carries_denial(const struct image *image, const struct image_node *node)
{
    uint32_t kinds = node->below;
    for (uint32_t at = node->first_entry; at; at = image->entries[at - 1].next)
        kinds |= 1u << image->entries[at - 1].kind;
    return kinds & (1u << IMAGE_SELF | 1u << IMAGE_GIT_OBEYS | 1u << IMAGE_DENY_WRITE |
                    1u << IMAGE_DENY_READ);
}

static void walk(const struct image *image, struct path_cursor cursor, uint32_t node, bool exact,
                 unsigned *budget, struct image_match *match);

/*
 * A component such as SECRET~1 may be another name of a child that carries rules. Every possible
 * child is followed as well; nothing is allowed that way, because the spellings differ. This scans
 * all nodes, bounded, and only for such components.
 */
static void walk_aliases(const struct image *image, struct path_cursor cursor, uint32_t node,
                         struct str key, bool exact, unsigned *budget, struct image_match *match)
{
    for (uint32_t i = node + 1; i < image->header->node_count; i++) {
        const struct image_node *child = &image->nodes[i];
        struct str name = {image->pool + child->key_at, child->key_size};
        if (child->parent != node || !alias_could_be(key, name) || !carries_denial(image, child))
            continue;
        if (*budget == 0) {
            /* Too many to follow: whatever could be denied is. */
            for (int kind = 0; kind < IMAGE_KINDS; kind++)
                if (!is_allow((uint32_t)kind) && image->nodes[0].below >> kind & 1) {
                    match->hit[kind] = 1;
                    match->end[kind] = cursor.path.n;
                }
            return;
        }
        --*budget;
        take_entries(image, i, str_slice(cursor.path, 0, cursor.pos), exact, match);
        walk(image, cursor, i, exact, budget, match);
    }
}

static void walk(const struct image *image, struct path_cursor cursor, uint32_t node, bool exact,
                 unsigned *budget, struct image_match *match)
{
    struct str component;
    while (path_next(&cursor, &component)) {
        char folded[IMAGE_MAX_KEY];
        size_t n = fold_text(cursor.dialect, FOLD_WIDE, component, folded, sizeof folded);
        if (n == SIZE_MAX)
            return; /* longer than any key */
        struct str key = {folded, n};
        if (cursor.dialect == PATH_WINDOWS && alias_like(key))
            walk_aliases(image, cursor, node, key, exact, budget, match);
        node = find_child(image, node, key);
        if (!node)
            return;
        take_entries(image, node, str_slice(cursor.path, 0, cursor.pos), exact, match);
    }
    match->complete = true;
    match->below |= image->nodes[node].below;
}

void image_search(const struct image *image, struct str normal, bool exact,
                  struct image_match *match)
{
    struct path_cursor cursor = {.dialect = image->header->dialect, .path = normal};
    unsigned budget = IMAGE_MAX_ALIASES;
    *match = (struct image_match){0};
    walk(image, cursor, 0, exact, &budget, match);
}

static bool starts(struct str s, struct str prefix)
{
    for (size_t i = 0; i < prefix.n; i++)
        if (i >= s.n || ascii_lower(s.p[i]) != ascii_lower(prefix.p[i]))
            return false;
    return true;
}

bool image_is_obscure(const struct path *path)
{
    size_t depth = 0;
    switch (path->class) {
    case PATH_MALFORMED:
    case PATH_TRAILING:
    case PATH_RESERVED:
    case PATH_VOLUME:
    case PATH_UNIX: return true;
    case PATH_UNC: return !starts(path->text, STR("\\\\"));
    case PATH_DEVICE: break;
    default: return false;
    }
    /* Anyone can give a volume another name (\\.\name\file); \Device belongs to the system. */
    if (starts(path->text, STR("\\Device\\")))
        return starts(path->text, STR("\\Device\\Harddisk"));
    for (size_t i = 4; i < path->text.n; i++)
        depth += path->text.p[i] == '\\';
    return depth > 0 || path->folder || !starts(path->text, STR("\\\\.\\"));
}

bool image_denies_read(const struct image *image, const struct path *path)
{
    struct image_match match;
    if (image_is_obscure(path))
        return image->nodes[0].below >> IMAGE_DENY_READ & 1;
    if (path->class == PATH_DEVICE || path->class == PATH_NUL || path->class == PATH_CONSOLE ||
        path->class == PATH_PIPE || path->class == PATH_MAILSLOT)
        return false;
    image_search(image, path->base, false, &match);
    return match.hit[IMAGE_DENY_READ] &&
           (!match.hit[IMAGE_ALLOW_READ] ||
            match.end[IMAGE_DENY_READ] >= match.end[IMAGE_ALLOW_READ]);
}
