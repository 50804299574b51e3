/* SPDX-License-Identifier: Apache-2.0 */
/* Comparison and search on counted strings. */
#include "base/str.h"

bool str_eq_parts(const char *a, size_t a_n, const char *b, size_t b_n)
{
    return a_n == b_n && (a_n == 0 || memcmp(a, b, a_n) == 0);
}

bool str_eqi_parts(const char *a, size_t a_n, const char *b, size_t b_n)
{
    if (a_n != b_n)
        return false;
    for (size_t i = 0; i < a_n; i++)
        if (ascii_lower(a[i]) != ascii_lower(b[i]))
            return false;
    return true;
}

bool str_is_parts(const char *a, size_t a_n, const char *b)
{
    return str_eqi_parts(a, a_n, b, strlen(b));
}

int str_cmp(struct str a, struct str b)
{
    size_t n = a.n < b.n ? a.n : b.n;
    int order = n ? memcmp(a.p, b.p, n) : 0;
    if (order != 0)
        return order;
    return (a.n > b.n) - (a.n < b.n);
}

int str_cmpi(struct str a, struct str b)
{
    size_t n = a.n < b.n ? a.n : b.n;
    for (size_t i = 0; i < n; i++) {
        unsigned char x = (unsigned char)ascii_lower(a.p[i]);
        unsigned char y = (unsigned char)ascii_lower(b.p[i]);
        if (x != y)
            return x < y ? -1 : 1;
    }
    return (a.n > b.n) - (a.n < b.n);
}

bool str_starts_parts(const char *s, size_t n, const char *prefix, size_t prefix_n)
{
    return n >= prefix_n && (prefix_n == 0 || memcmp(s, prefix, prefix_n) == 0);
}

bool str_startsi_parts(const char *s, size_t n, const char *prefix, size_t prefix_n)
{
    return n >= prefix_n && str_eqi_parts(s, prefix_n, prefix, prefix_n);
}

bool str_ends_parts(const char *s, size_t n, const char *suffix, size_t suffix_n)
{
    return n >= suffix_n && (suffix_n == 0 || memcmp(s + (n - suffix_n), suffix, suffix_n) == 0);
}

bool str_endsi_parts(const char *s, size_t n, const char *suffix, size_t suffix_n)
{
    return n >= suffix_n &&
           (suffix_n == 0 || str_eqi_parts(s + (n - suffix_n), suffix_n, suffix, suffix_n));
}

/* The first byte at or after from that is c but for the bits of loose; or s.n. Eight at a time: not
   every C library's search is fast, and most texts are short pieces. */
static inline size_t find_byte(struct str s, unsigned char c, unsigned char loose, size_t from)
{
    const uint64_t ones = 0x0101010101010101u, mask = ones * loose, wanted = ones * (c | loose);
    for (uint64_t piece; from + sizeof piece <= s.n; from += sizeof piece) {
        memcpy(&piece, s.p + from, sizeof piece);
        piece = (piece | mask) ^ wanted;
        uint64_t hits = (piece - ones) & ~piece & ones << 7; /* the lowest one is exact */
        if (hits)
            return from + (size_t)__builtin_ctzll(hits) / 8;
    }
    if (from < s.n && s.n >= sizeof(uint64_t)) { /* the last eight, without those before from */
        const uint64_t low = ~(ones << 7);
        uint64_t piece;
        memcpy(&piece, s.p + s.n - sizeof piece, sizeof piece);
        piece = (piece | mask) ^ wanted;
        uint64_t hits = ~(((piece & low) + low) | piece | low) >> 8 * (from + sizeof piece - s.n);
        return hits ? from + (size_t)__builtin_ctzll(hits) / 8 : s.n;
    }
    for (; from < s.n; from++)
        if (((unsigned char)s.p[from] | loose) == (c | loose))
            return from;
    return s.n;
}

size_t str_find_char_parts(const char *s, size_t n, char c, size_t from)
{
    return find_byte((struct str){s, n}, (unsigned char)c, 0, from);
}

size_t str_find_parts(const char *p, size_t n, const char *needle_p, size_t needle_n, size_t from)
{
    struct str s = {p, n}, needle = {needle_p, needle_n};
    if (needle.n == 0)
        return from < s.n ? from : s.n;
    for (size_t i = from; i + needle.n <= s.n; i++) {
        i = str_find_char(s, needle.p[0], i);
        if (i + needle.n > s.n)
            break;
        if (memcmp(s.p + i, needle.p, needle.n) == 0)
            return i;
    }
    return s.n;
}

size_t str_findi_parts(const char *p, size_t n, const char *needle_p, size_t needle_n, size_t from)
{
    struct str s = {p, n}, needle = {needle_p, needle_n};
    if (needle.n == 0)
        return from < s.n ? from : s.n;
    unsigned char first = (unsigned char)needle.p[0];
    unsigned char loose = ascii_is_alpha(needle.p[0]) ? 0x20 : 0;
    for (size_t i = from; i + needle.n <= s.n; i++) {
        i = find_byte(s, first, loose, i);
        if (i + needle.n > s.n)
            break;
        if (str_eqi(str_slice(s, i, i + needle.n), needle))
            return i;
    }
    return s.n;
}

struct str str_cut(struct str s, size_t most)
{
    size_t n = s.n < most ? s.n : most;
    while (n > 0 && n < s.n && ((unsigned char)s.p[n] & 0xC0) == 0x80)
        n--;
    return str_slice(s, 0, n);
}

struct str str_trim(struct str s)
{
    size_t from = 0, to = s.n;
    while (from < to && ascii_is_in(s.p[from], " \t\r\n"))
        from++;
    while (to > from && ascii_is_in(s.p[to - 1], " \t\r\n"))
        to--;
    return str_slice(s, from, to);
}

struct str str_of_number(long long number, char *room)
{
    size_t from = STR_NUMBER_ROOM;
    unsigned long long rest =
        number < 0 ? 0 - (unsigned long long)number : (unsigned long long)number;
    do {
        room[--from] = (char)('0' + rest % 10);
    } while ((rest /= 10) != 0);
    if (number < 0)
        room[--from] = '-';
    return (struct str){room + from, STR_NUMBER_ROOM - from};
}

size_t str_distance(struct str a, struct str b, size_t max)
{
    enum { LONGEST = 64 };
    if (a.n > LONGEST || b.n > LONGEST)
        return max + 1;
    size_t row[LONGEST + 1];
    for (size_t j = 0; j <= b.n; j++)
        row[j] = j;
    for (size_t i = 1; i <= a.n; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b.n; j++) {
            size_t best = diagonal + (ascii_lower(a.p[i - 1]) != ascii_lower(b.p[j - 1]));
            diagonal = row[j];
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    return row[b.n] <= max ? row[b.n] : max + 1;
}
