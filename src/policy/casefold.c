/* SPDX-License-Identifier: Apache-2.0 */
/* Case folding. No libc beyond memcmp and memcpy: the agent links this. */
#include "policy/casefold.h"

#include "base/utf.h"
#include "policy/casefold_table.h"

uint16_t fold_unit(uint16_t unit, enum casefold fold)
{
    if (unit < 0x80)
        return unit >= 'a' && unit <= 'z' ? (uint16_t)(unit - 32) : unit;
    if (fold == FOLD_WIDE) {
        size_t low = 0, high = sizeof fold_extra / sizeof *fold_extra;
        while (low < high) {
            size_t middle = (low + high) / 2;
            if (fold_extra[middle].from < unit)
                low = middle + 1;
            else
                high = middle;
        }
        if (low < sizeof fold_extra / sizeof *fold_extra && fold_extra[low].from == unit)
            return fold_extra[low].to;
    }
    return (uint16_t)(unit + fold_pages[fold_index[unit >> 8]][unit & 0xFF]);
}

/* Folds the character at *pos into out, moves *pos past it and returns the length. Characters
   beyond the first plane are two units, which fold to themselves. */
static size_t fold_next(enum casefold fold, struct str s, size_t *pos, char out[4])
{
    unsigned char c = (unsigned char)s.p[*pos];
    if (c < 0x80) {
        out[0] = (char)fold_unit(c, fold);
        (*pos)++;
        return 1;
    }
    int32_t code = utf_decode(s, pos);
    if (code < 0) {
        out[0] = (char)c;
        return 1;
    }
    if (code <= 0xFFFF)
        code = fold_unit((uint16_t)code, fold);
    return utf_encode((uint32_t)code, out);
}

size_t fold_text(enum path_dialect dialect, enum casefold fold, struct str s, char *out,
                 size_t capacity)
{
    if (dialect == PATH_POSIX) {
        if (s.n > capacity)
            return SIZE_MAX;
        if (s.n)
            memcpy(out, s.p, s.n);
        return s.n;
    }
    size_t n = 0;
    for (size_t pos = 0; pos < s.n;) {
        char bytes[4];
        size_t length = fold_next(fold, s, &pos, bytes);
        if (length > capacity - n)
            return SIZE_MAX;
        for (size_t i = 0; i < length; i++)
            out[n++] = bytes[i];
    }
    return n;
}

bool fold_equal(enum path_dialect dialect, enum casefold fold, struct str a, struct str b)
{
    if (dialect == PATH_POSIX)
        return str_eq(a, b);
    size_t i = 0, k = 0;
    while (i < a.n && k < b.n) {
        char one[4], other[4];
        size_t length = fold_next(fold, a, &i, one);
        if (length != fold_next(fold, b, &k, other) || memcmp(one, other, length) != 0)
            return false;
    }
    return i == a.n && k == b.n;
}
