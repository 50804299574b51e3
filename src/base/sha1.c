/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-1 as in FIPS 180-4. */
#include "base/sha1.h"

#include <stdint.h>

enum { BLOCK = 64, LENGTH_AT = 56 };

static uint32_t rotate(uint32_t x, int by)
{
    return x << by | x >> (32 - by);
}

static uint32_t load(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static uint32_t mix(int step, uint32_t b, uint32_t c, uint32_t d)
{
    static const uint32_t constants[] = {0x5A827999, 0x6ED9EBA1, 0x8F1BBCDC, 0xCA62C1D6};
    uint32_t f = step < 20   ? (b & c) | (~b & d)
                 : step < 40 ? b ^ c ^ d
                 : step < 60 ? (b & c) | (b & d) | (c & d)
                             : b ^ c ^ d;
    return f + constants[step / 20];
}

static void add_block(uint32_t h[5], const unsigned char *block)
{
    uint32_t w[80], v[5];
    for (int i = 0; i < 16; i++)
        w[i] = load(block + 4 * i);
    for (int i = 16; i < 80; i++)
        w[i] = rotate(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
    memcpy(v, h, sizeof v);
    for (int i = 0; i < 80; i++) {
        uint32_t next = rotate(v[0], 5) + mix(i, v[1], v[2], v[3]) + v[4] + w[i];
        v[4] = v[3];
        v[3] = v[2];
        v[2] = rotate(v[1], 30);
        v[1] = v[0];
        v[0] = next;
    }
    for (int i = 0; i < 5; i++)
        h[i] += v[i];
}

void sha1(struct str s, unsigned char out[SHA1_SIZE])
{
    uint32_t h[5] = {0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476, 0xC3D2E1F0};
    unsigned char last[2 * BLOCK] = {0};
    const unsigned char *p = (const unsigned char *)s.p;
    size_t whole = s.n / BLOCK, rest = s.n % BLOCK;
    for (size_t i = 0; i < whole; i++)
        add_block(h, p + i * BLOCK);
    if (rest)
        memcpy(last, p + whole * BLOCK, rest);
    last[rest] = 0x80;
    size_t end = rest < LENGTH_AT ? BLOCK : 2 * BLOCK;
    uint64_t bits = (uint64_t)s.n * 8;
    for (size_t i = 0; i < 8; i++)
        last[end - 1 - i] = (unsigned char)(bits >> (8 * i));
    for (size_t at = 0; at < end; at += BLOCK)
        add_block(h, last + at);
    for (size_t i = 0; i < SHA1_SIZE; i++)
        out[i] = (unsigned char)(h[i / 4] >> (24 - 8 * (i % 4)));
}
