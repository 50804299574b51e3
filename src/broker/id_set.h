/* SPDX-License-Identifier: Apache-2.0 */
/* A set of files, identified by device, inode and birth time, each with a count: files that this
   run linked, created or bound. */
#ifndef CORDON_BROKER_ID_SET_H
#define CORDON_BROKER_ID_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct file_id {
    uint64_t volume, id;
    uint64_t birth; /* inode numbers are reused once a file is gone; 0: unknown */
};

struct id_set {
    struct id_entry {
        struct file_id file;
        uint32_t count; /* 0: a free place */
    } * entries;
    size_t used, capacity; /* a power of two */
};

/* 0 if it is not in the set. */
uint32_t id_set_count(const struct id_set *set, struct file_id file);
/* Increments the count; returns false, with nothing changed, if memory runs out. */
bool id_set_add(struct id_set *set, struct file_id file);
/* Decrements the count; the entry is removed when it reaches zero. */
void id_set_take(struct id_set *set, struct file_id file);
void id_set_drop(struct id_set *set, struct file_id file);
void id_set_free(struct id_set *set);

#endif
