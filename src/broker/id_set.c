/* SPDX-License-Identifier: Apache-2.0 */
/* Open addressing: probing starts at the slot of the hash and continues to the first free slot. */
#include "broker/id_set.h"

#include <stdlib.h>

enum { SMALLEST = 64 };

static size_t home_of(const struct id_set *set, struct file_id file)
{
    uint64_t hash = (file.id ^ file.volume * 0x9E3779B97F4A7C15u) * 0xD6E8FEB86659FD93u;
    return (size_t)(hash ^ hash >> 32) & (set->capacity - 1);
}

/* The slot that holds the id, or the free slot where it belongs; there is always one. */
static struct id_entry *find(const struct id_set *set, struct file_id file)
{
    size_t at = home_of(set, file);
    while (set->entries[at].count &&
           (set->entries[at].file.id != file.id || set->entries[at].file.volume != file.volume ||
            set->entries[at].file.birth != file.birth))
        at = (at + 1) & (set->capacity - 1);
    return &set->entries[at];
}

uint32_t id_set_count(const struct id_set *set, struct file_id file)
{
    return set->used ? find(set, file)->count : 0;
}

static bool grow(struct id_set *set)
{
    struct id_set larger = {.capacity = set->capacity ? 2 * set->capacity : SMALLEST,
                            .used = set->used};
    larger.entries = calloc(larger.capacity, sizeof *larger.entries);
    if (!larger.entries)
        return false;
    for (size_t i = 0; i < set->capacity; i++)
        if (set->entries[i].count)
            *find(&larger, set->entries[i].file) = set->entries[i];
    free(set->entries);
    *set = larger;
    return true;
}

bool id_set_add(struct id_set *set, struct file_id file)
{
    if (2 * (set->used + 1) > set->capacity && !grow(set))
        return false;
    struct id_entry *entry = find(set, file);
    set->used += entry->count == 0;
    entry->file = file;
    entry->count++;
    return true;
}

/* Frees a slot and moves up the entries after it whose probe sequence would now end there. */
static void remove_entry(struct id_set *set, struct id_entry *entry)
{
    size_t mask = set->capacity - 1, gap = (size_t)(entry - set->entries);
    for (size_t at = (gap + 1) & mask; set->entries[at].count; at = (at + 1) & mask) {
        size_t home = home_of(set, set->entries[at].file);
        if (((at - home) & mask) >= ((at - gap) & mask)) {
            set->entries[gap] = set->entries[at];
            gap = at;
        }
    }
    set->entries[gap].count = 0;
    set->used--;
}

void id_set_take(struct id_set *set, struct file_id file)
{
    struct id_entry *entry = set->used ? find(set, file) : NULL;
    if (!entry || entry->count == 0)
        return;
    if (entry->count > 1)
        entry->count--;
    else
        remove_entry(set, entry);
}

void id_set_drop(struct id_set *set, struct file_id file)
{
    struct id_entry *entry = set->used ? find(set, file) : NULL;
    if (entry && entry->count)
        remove_entry(set, entry);
}

void id_set_free(struct id_set *set)
{
    free(set->entries);
    *set = (struct id_set){0};
}
