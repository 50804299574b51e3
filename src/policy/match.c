/* Opening and searching an image. No allocation, no libc beyond memcmp: the agent links this. */
#include "policy/image.h"

#include "cordon.h"
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
        if (i > 0 && image_hash(node->parent, key) != node->hash)
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
    if (!nodes_are_sound(&image) || !slots_are_sound(&image) || !entries_are_sound(&image))
        return CORDON_E_IMAGE;
    *out = image;
    return 0;
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
        struct str way = prefix;
        if (text.n == way.n + 1 && text.p[way.n] == path_separator(dialect))
            text.n--;
        if (is_allow(entry->kind) &&
            !(exact ? str_eq(text, way) : fold_equal(dialect, FOLD_NARROW, text, way)))
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

void image_search(const struct image *image, struct str normal, bool exact,
                  struct image_match *match)
{
    struct path_cursor cursor = {.dialect = image->header->dialect, .path = normal};
    struct str component;
    uint32_t node = 0;
    *match = (struct image_match){0};
    while (path_next(&cursor, &component)) {
        char key[IMAGE_MAX_KEY];
        size_t n = fold_text(cursor.dialect, FOLD_WIDE, component, key, sizeof key);
        if (n == SIZE_MAX)
            return; /* longer than any key */
        node = find_child(image, node, (struct str){key, n});
        if (!node)
            return;
        take_entries(image, node, str_slice(normal, 0, cursor.pos), exact, match);
    }
    match->complete = true;
    match->below = image->nodes[node].below;
}

bool image_denies_read(const struct image *image, const struct path *path)
{
    switch (path->class) {
    case PATH_FILE:
    case PATH_STREAM:
    case PATH_UNC:
    case PATH_WSL:
    case PATH_RESERVED:
    case PATH_UNIX: break;
    /* A name with a trailing dot may or may not be the denied one: where anything is denied, it is.
     */
    case PATH_TRAILING: return image->nodes[0].below >> IMAGE_DENY_READ & 1;
    default: return false;
    }
    struct image_match match;
    image_search(image, path->base, false, &match);
    return match.hit[IMAGE_DENY_READ] &&
           (!match.hit[IMAGE_ALLOW_READ] ||
            match.end[IMAGE_DENY_READ] >= match.end[IMAGE_ALLOW_READ]);
}
