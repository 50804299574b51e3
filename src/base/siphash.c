/* SPDX-License-Identifier: Apache-2.0 */
#include "base/siphash.h"

static uint64_t rotated(uint64_t x, unsigned by)
{
    return x << by | x >> (64 - by);
}

static void turn(uint64_t v[4])
{
    v[0] += v[1];
    v[2] += v[3];
    v[1] = rotated(v[1], 13) ^ v[0];
    v[3] = rotated(v[3], 16) ^ v[2];
    v[0] = rotated(v[0], 32) + v[3];
    v[2] += v[1];
    v[3] = rotated(v[3], 21) ^ v[0];
    v[1] = rotated(v[1], 17) ^ v[2];
    v[2] = rotated(v[2], 32);
}

static void take(uint64_t v[4], uint64_t word)
{
    v[3] ^= word;
    turn(v);
    turn(v);
    v[0] ^= word;
}

/* At most eight bytes, the first one lowest. */
static uint64_t word_of(const char *p, size_t n)
{
    uint64_t word = 0;
    for (size_t i = 0; i < n; i++)
        word |= (uint64_t)(unsigned char)p[i] << 8 * i;
    return word;
}

uint64_t siphash(const uint64_t key[2], struct str s)
{
    uint64_t v[4] = {key[0] ^ 0x736f6d6570736575u, key[1] ^ 0x646f72616e646f6du,
                     key[0] ^ 0x6c7967656e657261u, key[1] ^ 0x7465646279746573u};
    size_t whole = s.n / 8 * 8;
    for (size_t i = 0; i < whole; i += 8)
        take(v, word_of(s.p + i, 8));
    take(v, (uint64_t)s.n << 56 | (s.n > whole ? word_of(s.p + whole, s.n - whole) : 0));
    v[2] ^= 0xff;
    for (int i = 0; i < 4; i++)
        turn(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}
