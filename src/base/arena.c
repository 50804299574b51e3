/* SPDX-License-Identifier: Apache-2.0 */
/* Arena of linked blocks; each block is twice the one before, up to a maximum. */
#include "base/arena.h"

#include <stdlib.h>

/* Under AddressSanitizer unallocated memory is poisoned, with a gap between two pieces. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer) && !defined(__SANITIZE_ADDRESS__)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
void __asan_poison_memory_region(const volatile void *p, size_t n);
void __asan_unpoison_memory_region(const volatile void *p, size_t n);
enum { GAP = 16 };
__attribute__((noinline)) static void mark(void *p, size_t n, bool permitted)
{
    if (permitted)
        __asan_unpoison_memory_region(p, n);
    else
        __asan_poison_memory_region(p, n);
}
#else
enum { GAP = 0 };
static inline void mark(void *p, size_t n, bool permitted)
{
    (void)p, (void)n, (void)permitted;
}
#endif

enum { FIRST_BLOCK = 1008, LARGEST_BLOCK = 1024 * 1024, ALIGNMENT = 16, SMALL = 96 };

struct arena_block {
    struct arena_block *older;
    size_t size;
    _Alignas(ALIGNMENT) char bytes[];
};

static bool add_block(struct arena *a, size_t at_least)
{
    size_t size = a->blocks ? a->blocks->size * 2 : FIRST_BLOCK;
    if (size > LARGEST_BLOCK)
        size = LARGEST_BLOCK;
    if (size < at_least)
        size = at_least;
    struct arena_block *block = malloc(sizeof *block + size);
    if (!block)
        return false;
    block->older = a->blocks;
    block->size = size;
    a->blocks = block;
    a->next = block->bytes;
    a->end = block->bytes + size;
    mark(block->bytes, size, false);
    return true;
}

void *arena_alloc(struct arena *a, size_t size)
{
    size_t given = size + !size; /* NULL means failure only */
    if (given > SIZE_MAX / 4)
        return NULL;
    size = (given + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    if (a->limit && size > a->limit - a->used)
        return NULL;
    if (size + GAP > (size_t)(a->end - a->next) && !add_block(a, size + GAP))
        return NULL;
    void *p = a->next;
    a->next += size + GAP;
    a->used += size;
    mark(p, given, true);
    if (GAP || size > SMALL) {
        memset(p, 0, given);
        return p;
    }
    for (size_t i = 0; i < size; i += ALIGNMENT) /* most pieces are small: no call for them */
        memset((char *)p + i, 0, ALIGNMENT);
    return p;
}

void *arena_array(struct arena *a, size_t count, size_t size)
{
    if (size && count > SIZE_MAX / size)
        return NULL;
    return arena_alloc(a, count * size);
}

void *arena_grow(struct arena *a, void *array, size_t *capacity, size_t size)
{
    size_t larger = *capacity ? *capacity * 2 : 8;
    void *p = arena_array(a, larger, size);
    if (!p)
        return NULL;
    if (*capacity)
        memcpy(p, array, *capacity * size);
    *capacity = larger;
    return p;
}

bool arena_extend(struct arena *a, struct arena_text *text, size_t more)
{
    size_t capacity = text->capacity ? text->capacity : 32;
    if (more > SIZE_MAX / 4 - text->n)
        return false;
    while (capacity < text->n + more)
        capacity *= 2;
    char *p = arena_alloc(a, capacity);
    if (!p)
        return false;
    str_copy(p, (struct str){text->p, text->n});
    text->p = p;
    text->capacity = capacity;
    return true;
}

struct str arena_copy(struct arena *a, struct str s)
{
    char *p = arena_alloc(a, s.n + 1);
    if (!p)
        return STR_NONE;
    if (s.n)
        str_copy(p, s);
    return (struct str){p, s.n};
}

void arena_reset(struct arena *a)
{
    struct arena_block *keep = a->blocks;
    if (!keep)
        return;
    for (struct arena_block *b = keep->older, *older; b; b = older) {
        older = b->older;
        free(b);
    }
    keep->older = NULL;
    a->next = keep->bytes;
    a->end = keep->bytes + keep->size;
    a->used = 0;
    mark(keep->bytes, keep->size, false);
}

void arena_free(struct arena *a)
{
    arena_reset(a);
    free(a->blocks);
    *a = (struct arena){.limit = a->limit};
}
