/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unpacks deflate (RFC 1951), plain or inside gzip or zlib, so that code packed by DeflateStream
 * and GZipStream can be read. Bounded by FOLD_MAX_TEXT; every bit comes from the input or the
 * result is not known. Checksums are not looked at.
 */
#include "guard/powershell/fold.h"

enum { MOST_BITS = 15, LITERALS = 288, DISTANCES = 30 };

struct bits {
    struct str in;
    size_t pos;
    uint32_t held;
    unsigned count;
    bool failed;
};

struct codes {
    uint16_t count[MOST_BITS + 1]; /* of codes of each length */
    uint16_t symbol[LITERALS];     /* in the order of their codes */
};

static uint32_t take(struct bits *b, unsigned count)
{
    while (b->count < count) {
        if (b->pos >= b->in.n) {
            b->failed = true;
            return 0;
        }
        b->held |= (uint32_t)(unsigned char)b->in.p[b->pos++] << b->count;
        b->count += 8;
    }
    uint32_t value = b->held & ((1u << count) - 1);
    b->held >>= count;
    b->count -= count;
    return value;
}

static void make_codes(struct codes *c, const uint8_t *lengths, size_t n)
{
    uint16_t next[MOST_BITS + 2] = {0};
    memset(c->count, 0, sizeof c->count);
    for (size_t i = 0; i < n; i++)
        c->count[lengths[i]]++;
    c->count[0] = 0;
    for (unsigned i = 1; i <= MOST_BITS; i++)
        next[i + 1] = (uint16_t)(next[i] + c->count[i]);
    for (size_t i = 0; i < n; i++)
        if (lengths[i])
            c->symbol[next[lengths[i]]++] = (uint16_t)i;
}

static unsigned symbol(struct bits *b, const struct codes *c)
{
    unsigned code = 0, first = 0, index = 0;
    for (unsigned length = 1; length <= MOST_BITS; length++) {
        code |= take(b, 1);
        unsigned count = c->count[length];
        if (b->failed)
            return 0;
        if (code < first + count)
            return c->symbol[index + code - first];
        index += count;
        first = (first + count) << 1;
        code <<= 1;
    }
    b->failed = true;
    return 0;
}

static void copy_back(struct ps_fold *f, struct bits *b, struct fold_buffer *out, size_t length,
                      size_t distance)
{
    if (distance == 0 || distance > out->text.n) {
        b->failed = true;
        return;
    }
    while (length-- && !out->failed) {
        char c = out->text.p[out->text.n - distance];
        fold_add(f, out, (struct str){&c, 1});
    }
}

static void read_block(struct ps_fold *f, struct bits *b, struct fold_buffer *out,
                       const struct codes *literals, const struct codes *distances)
{
    while (!b->failed && !out->failed) {
        unsigned s = symbol(b, literals);
        if (b->failed || s == 256)
            return;
        if (s < 256) {
            char c = (char)s;
            fold_add(f, out, (struct str){&c, 1});
            continue;
        }
        /* 8 lengths of one each, then groups of four with one more extra bit per group */
        s -= 257;
        if (s > 28) {
            b->failed = true;
            return;
        }
        unsigned extra = s < 8 || s == 28 ? 0 : (s - 4) / 4;
        size_t length = s == 28 ? 258 : s < 8 ? s + 3 : ((size_t)(4 + s % 4) << extra) + 3;
        length += take(b, extra);
        unsigned d = symbol(b, distances);
        if (b->failed || d >= DISTANCES) {
            b->failed = true;
            return;
        }
        extra = d < 4 ? 0 : (d - 2) / 2;
        size_t distance = d < 4 ? d + 1 : ((size_t)(2 + d % 2) << extra) + 1;
        distance += take(b, extra);
        copy_back(f, b, out, length, distance);
    }
}

static void fixed_block(struct ps_fold *f, struct bits *b, struct fold_buffer *out)
{
    struct codes literals, distances;
    uint8_t lengths[LITERALS];
    for (size_t i = 0; i < LITERALS; i++)
        lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
    make_codes(&literals, lengths, LITERALS);
    memset(lengths, 5, DISTANCES);
    make_codes(&distances, lengths, DISTANCES);
    read_block(f, b, out, &literals, &distances);
}

static void dynamic_block(struct ps_fold *f, struct bits *b, struct fold_buffer *out)
{
    static const uint8_t order[19] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                      11, 4,  12, 3, 13, 2, 14, 1, 15};
    struct codes literals, distances;
    uint8_t lengths[LITERALS + 32] = {0};
    size_t literal_count = take(b, 5) + 257, distance_count = take(b, 5) + 1;
    size_t order_count = take(b, 4) + 4, n = 0;
    for (size_t i = 0; i < order_count; i++)
        lengths[order[i]] = (uint8_t)take(b, 3);
    if (b->failed || literal_count > 286 || distance_count > DISTANCES) {
        b->failed = true;
        return;
    }
    make_codes(&literals, lengths, 19);
    memset(lengths, 0, sizeof lengths);
    while (n < literal_count + distance_count && !b->failed) {
        unsigned s = symbol(b, &literals);
        size_t times = 1;
        uint8_t length = (uint8_t)s;
        if (s >= 16) {
            length = s == 16 && n ? lengths[n - 1] : 0;
            times = s == 16 ? 3 + take(b, 2) : s == 17 ? 3 + take(b, 3) : 11 + take(b, 7);
        }
        if (n + times > literal_count + distance_count)
            b->failed = true;
        while (times-- && !b->failed)
            lengths[n++] = length;
    }
    if (b->failed)
        return;
    make_codes(&literals, lengths, literal_count);
    make_codes(&distances, lengths + literal_count, distance_count);
    read_block(f, b, out, &literals, &distances);
}

static void stored_block(struct ps_fold *f, struct bits *b, struct fold_buffer *out)
{
    b->held = b->count = 0;
    size_t length = take(b, 16);
    take(b, 16);
    if (b->failed || b->in.n - b->pos < length) {
        b->failed = true;
        return;
    }
    fold_add(f, out, str_slice(b->in, b->pos, b->pos + length));
    b->pos += length;
}

/* The beginning of deflate data: after the header of gzip or zlib, if there is one. */
static size_t header(struct str packed)
{
    if (packed.n > 18 && (unsigned char)packed.p[0] == 0x1F && (unsigned char)packed.p[1] == 0x8B &&
        packed.p[3] == 0)
        return 10;
    unsigned first = packed.n > 2 ? (unsigned char)packed.p[0] : 0;
    bool zlib = (first & 15) == 8 && (first << 8 | (unsigned char)packed.p[1]) % 31 == 0;
    return zlib ? 2 : 0;
}

bool fold_inflate(struct ps_fold *f, struct str packed, struct str *out)
{
    struct bits b = {.in = packed, .pos = header(packed)};
    struct fold_buffer text = {0};
    bool last = false;
    while (!last && !b.failed && !text.failed && fold_step(f, 64)) {
        last = take(&b, 1);
        switch (take(&b, 2)) {
        case 0: stored_block(f, &b, &text); break;
        case 1: fixed_block(f, &b, &text); break;
        case 2: dynamic_block(f, &b, &text); break;
        default: b.failed = true; break;
        }
    }
    if (b.failed || text.failed || !last)
        return false;
    *out = fold_result(&text);
    return true;
}
