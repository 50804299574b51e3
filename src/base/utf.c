/* SPDX-License-Identifier: Apache-2.0 */
/* Code points of WTF-8. No allocation: the agent uses it too. */
#include "base/utf.h"

#include "cordon.h"

static bool is_high(uint32_t c)
{
    return c >= 0xD800 && c <= 0xDBFF;
}

static bool is_low(uint32_t c)
{
    return c >= 0xDC00 && c <= 0xDFFF;
}

/*
 *  bytes   first      rest        smallest
 *  1       0xxxxxxx               U+0000
 *  2       110xxxxx   10xxxxxx    U+0080
 *  3       1110xxxx   10xxxxxx    U+0800
 *  4       11110xxx   10xxxxxx    U+10000
 */
static int32_t decode_one(struct str s, size_t *pos)
{
    static const uint32_t smallest[5] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned char first = (unsigned char)s.p[*pos];
    if (first < 0x80) {
        (*pos)++;
        return first;
    }
    size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    if (first < 0xC2 || first > 0xF4 || length > s.n - *pos) {
        (*pos)++;
        return -1;
    }
    uint32_t code = first & (0xFFu >> (length + 1));
    for (size_t i = 1; i < length; i++) {
        unsigned char c = (unsigned char)s.p[*pos + i];
        if ((c & 0xC0) != 0x80) {
            (*pos)++;
            return -1;
        }
        code = code << 6 | (c & 0x3Fu);
    }
    if (code < smallest[length] || code > 0x10FFFF) {
        (*pos)++;
        return -1;
    }
    *pos += length;
    return (int32_t)code;
}

int32_t utf_decode(struct str s, size_t *pos)
{
    size_t start = *pos;
    int32_t code = decode_one(s, pos);
    if (code < 0 || !is_high((uint32_t)code) || *pos >= s.n)
        return code;
    /* A surrogate pair in two three-byte forms would be a second spelling of a four-byte form. */
    size_t ahead = *pos;
    int32_t next = decode_one(s, &ahead);
    if (next >= 0 && is_low((uint32_t)next)) {
        *pos = start + 1;
        return -1;
    }
    return code;
}

size_t utf_encode(uint32_t code, char out[4])
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xC0 | code >> 6);
        out[1] = (char)(0x80 | (code & 0x3F));
        return 2;
    }
    if (code < 0x10000) {
        out[0] = (char)(0xE0 | code >> 12);
        out[1] = (char)(0x80 | (code >> 6 & 0x3F));
        out[2] = (char)(0x80 | (code & 0x3F));
        return 3;
    }
    out[0] = (char)(0xF0 | code >> 18);
    out[1] = (char)(0x80 | (code >> 12 & 0x3F));
    out[2] = (char)(0x80 | (code >> 6 & 0x3F));
    out[3] = (char)(0x80 | (code & 0x3F));
    return 4;
}

bool utf_valid(struct str s)
{
    for (size_t pos = 0; pos < s.n;)
        if (utf_decode(s, &pos) < 0)
            return false;
    return true;
}
