/* SPDX-License-Identifier: Apache-2.0 */
/* Arena: many small allocations that are freed together, with a limit on the whole. */
#ifndef CORDON_BASE_ARENA_H
#define CORDON_BASE_ARENA_H

#include "base/str.h"

struct arena_block;

struct arena {
    struct arena_block *blocks; /* newest first */
    char *next, *end;           /* free part of the newest block */
    size_t used;                /* bytes handed out since the last reset */
    size_t limit;               /* 0: limited only by memory */
};

/* Zeroed memory, aligned for any type; NULL if memory or the limit is exhausted. */
void *arena_alloc(struct arena *a, size_t size);

/* Room for count elements, NULL also when count * size overflows. */
void *arena_array(struct arena *a, size_t count, size_t size);
#define ARENA_NEW(a, type) ((type *)arena_alloc((a), sizeof(type)))
#define ARENA_ARRAY(a, count, type) ((type *)arena_array((a), (count), sizeof(type)))

/* Doubles a full array: returns the new array with the old elements and updates *capacity. NULL if
   memory runs out; the old array stays valid. */
void *arena_grow(struct arena *a, void *array, size_t *capacity, size_t size);

/* Text that grows. Its bytes do not move until the next append. */
struct arena_text {
    char *p;
    size_t n, capacity;
};
/* Makes room for more bytes; false if memory runs out, and the text is unchanged. */
bool arena_extend(struct arena *a, struct arena_text *text, size_t more);

static inline bool arena_append(struct arena *a, struct arena_text *text, struct str s)
{
    if (s.n > text->capacity - text->n && !arena_extend(a, text, s.n))
        return false;
    str_copy(text->p + text->n, s);
    text->n += s.n;
    return true;
}

/* A NUL-terminated copy that lives as long as the arena; p is NULL if memory runs out. */
struct str arena_copy(struct arena *a, struct str s);

/* Releases everything except one block, so that the next use needs no malloc. */
void arena_reset(struct arena *a);
void arena_free(struct arena *a);
#define auto_arena __attribute__((cleanup(arena_free)))

#endif
