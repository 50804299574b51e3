/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Indexes of git. One that is found harmless is read a second time as git reads it, which trusts
 * more: from the start, and by the tables for threads. It then holds no name that leads away.
 */
#include <stdlib.h>

#include "broker/git_index.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEADER = 12, MOST = 65536 };

struct index {
    const uint8_t *p;
    size_t n, hash; /* n: without the checksum */
    unsigned version;
    uint32_t count;
};

static uint32_t number(const uint8_t *p, int size)
{
    uint32_t value = 0;
    for (int i = 0; i < size; i++)
        value = value << 8 | p[i];
    return value;
}

static void check(struct str name)
{
    size_t at = 0;
    if (str_starts(name, STR("/")))
        abort();
    for (size_t end; at < name.n; at = end + 1) {
        end = str_find_char(name, '/', at);
        struct str component = str_slice(name, at, end);
        if (str_eqi(component, STR(".git")) || str_eq(component, STR("..")))
            abort();
    }
}

/* Reads count entries from at, as git does; returns where they end. */
static size_t read_block(const struct index *x, size_t at, uint32_t count)
{
    static char name[2 * MOST];
    size_t before = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t *p = x->p + at + 40 + x->hash;
        if (at + 40 + x->hash + 4 > x->n)
            abort();
        uint32_t flags = number(p, 2);
        size_t length = flags & 0xFFF, kept = 0;
        p += flags & 0x4000 ? 4 : 2;
        if (x->version == 4) {
            uint64_t dropped = *p & 127;
            while (*p++ & 128)
                dropped = ((dropped + 1) << 7) + (*p & 127);
            /* The first of a block has no name before it. */
            if (i && dropped > before)
                abort();
            kept = i ? before - (size_t)dropped : 0;
        }
        if (length == 0xFFF)
            length = strlen((const char *)p) + kept;
        if (kept > length || (size_t)(p - x->p) + length - kept >= x->n)
            abort();
        memcpy(name + kept, p, length - kept);
        check((struct str){name, length});
        before = length;
        size_t whole = (size_t)(p - (x->p + at)) + length;
        at = x->version == 4 ? (size_t)(p - x->p) + length - kept + 1 : at + ((whole + 8) & ~7u);
    }
    return at;
}

static void read_threads(const struct index *x, size_t end)
{
    size_t size = 4 + x->hash;
    if (x->n < HEADER + size + 8)
        return;
    const uint8_t *last = x->p + x->n - size - 8;
    if (memcmp(last, "EOIE", 4) != 0 || number(last + 4, 4) != size)
        return;
    if (number(last + 8, 4) != end)
        abort();
    for (size_t at = end; at + 8 <= x->n; at += 8 + (size_t)number(x->p + at + 4, 4))
        if (memcmp(x->p + at, "IEOT", 4) == 0) {
            uint32_t total = 0, bytes = number(x->p + at + 4, 4);
            for (size_t i = 4; i + 8 <= bytes; i += 8) {
                uint32_t count = number(x->p + at + 8 + i + 4, 4);
                read_block(x, number(x->p + at + 8 + i, 4), count);
                total += count;
            }
            if (total != x->count)
                abort();
            return;
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char why[GIT_INDEX_WHY];
    static uint8_t copy[MOST];
    git_index_hash((struct str){(const char *)data, size});
    if (size < HEADER || size > MOST)
        return 0;
    enum git_hash hash = data[0] & 1 ? GIT_HASH_SHA256 : GIT_HASH_SHA1;
    enum path_dialect dialect = data[0] & 2 ? PATH_WINDOWS : PATH_POSIX;
    memcpy(copy, data, size);
    memcpy(copy, "DIRC\0\0", 7);
    memset(copy + 8, 0, 3);
    copy[7] = (uint8_t)(2 + data[1] % 3);
    struct index x = {copy, size - (size_t)hash, (size_t)hash, copy[7], copy[11]};
    if (!git_index_is_harmless(dialect, (struct str){(const char *)copy, size}, hash, why))
        return 0;
    read_threads(&x, read_block(&x, HEADER, x.count));
    return 0;
}
