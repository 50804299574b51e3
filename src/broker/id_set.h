/* SPDX-License-Identifier: Apache-2.0 */
/* Files by volume, number and birth, each with a count: what this run linked, made or bound. */
#ifndef CORDON_BROKER_ID_SET_H
#define CORDON_BROKER_ID_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct file_id {
    uint64_t volume, id;
    uint64_t birth; /* a number comes back when its file is gone; 0: not known */
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
/* Counts one more; false without memory, and then it is as it was. */
bool id_set_add(struct id_set *set, struct file_id file);
/* Counts one less; with none left it is gone. */
void id_set_take(struct id_set *set, struct file_id file);
void id_set_drop(struct id_set *set, struct file_id file);
void id_set_free(struct id_set *set);

#endif
