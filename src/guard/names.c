/* SPDX-License-Identifier: Apache-2.0 */
/* Splitting and comparing the names of programs and files. */
#include "guard/names.h"

struct str name_leaf(struct str path)
{
    for (size_t i = path.n; i > 0; i--)
        if (path.p[i - 1] == '/' || path.p[i - 1] == '\\')
            return str_from(path, i);
    return path;
}

struct str name_extension(struct str path)
{
    enum { LONGEST_LEAF = 260 }; /* no file has a longer name */
    size_t first = path.n > LONGEST_LEAF ? path.n - LONGEST_LEAF : 0;
    for (size_t i = path.n; i > first && path.p[i - 1] != '/' && path.p[i - 1] != '\\'; i--)
        if (path.p[i - 1] == '.')
            return str_from(path, i);
    return STR_NONE;
}

struct str name_program(struct str path)
{
    static const struct str extensions[] = {STR(".exe"), STR(".com"), STR(".cmd"), STR(".bat"),
                                            STR(".scr")};
    struct str leaf = name_leaf(path);
    while (leaf.n && (leaf.p[leaf.n - 1] == '.' || leaf.p[leaf.n - 1] == ' '))
        leaf.n--;
    for (size_t i = 0; i < sizeof extensions / sizeof *extensions; i++)
        if (leaf.n > extensions[i].n && str_endsi(leaf, extensions[i]))
            return str_slice(leaf, 0, leaf.n - extensions[i].n);
    return leaf;
}

enum { LONGEST_NAME = 63 };

/* Compares the row's name, without case, with one in lower case; a row is not measured first. */
static inline int compare_row(const void *pool, const void *rows, size_t size, size_t i,
                              struct str name)
{
    uint16_t place;
    memcpy(&place, (const char *)rows + i * size, sizeof place);
    const char *row = (const char *)pool + place;
    for (size_t k = 0; k < name.n; k++) {
        unsigned char x = (unsigned char)row[k], y = (unsigned char)name.p[k];
        if (x == y && x != '\0')
            continue;
        x = (unsigned char)ascii_lower(row[k]);
        if (x == '\0' || x < y)
            return -1; /* a row that ends here is the shorter one */
        if (x > y)
            return 1;
    }
    return row[name.n] != '\0';
}

size_t name_row(const void *pool, const void *rows, size_t count, size_t size, struct str name)
{
    char lower[LONGEST_NAME];
    if (name.n > sizeof lower)
        return count; /* longer than any row */
    for (size_t i = 0; i < name.n; i++)
        lower[i] = ascii_lower(name.p[i]);
    name.p = lower;
    size_t low = 0, high = count;
    bool found = false; /* the row at high has the name */
    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = compare_row(pool, rows, size, middle, name);
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
            found = order == 0;
        }
    }
    return found ? low : count;
}

/* The next bar at or after at, or end; eight characters at a time. */
static inline const char *next_bar(const char *at, const char *end)
{
    const uint64_t ones = 0x0101010101010101u, bars = ones * '|';
    for (uint64_t piece; end - at >= (ptrdiff_t)sizeof piece; at += sizeof piece) {
        memcpy(&piece, at, sizeof piece);
        piece ^= bars;
        uint64_t hits = (piece - ones) & ~piece & ones << 7;
        if (hits)
            return at + __builtin_ctzll(hits) / 8;
    }
    while (at < end && *at != '|')
        at++;
    return at;
}

bool name_is_one_of_parts(const char *p, size_t n, const char *alternatives_p,
                          size_t alternatives_n)
{
    const char *at = alternatives_p, *end = alternatives_p + alternatives_n;
    for (; at < end; at = next_bar(at, end) + 1) {
        size_t same = 0;
        for (; at < end && *at != '|' && same < n && ascii_lower(*at) == ascii_lower(p[same]); at++)
            same++;
        if ((at == end || *at == '|') && (same == n || p[same] == '=' || p[same] == ':'))
            return true;
    }
    return false;
}

bool name_has_one_of(struct str text, struct str words)
{
    const char *at = words.p, *end = words.p + words.n;
    for (const char *bar; at < end; at = bar + 1) {
        bar = next_bar(at, end);
        if (str_findi(text, (struct str){at, (size_t)(bar - at)}, 0) < text.n)
            return true;
    }
    return false;
}

bool name_ends_in_one_of(struct str name, struct str ends)
{
    const char *at = ends.p, *end = ends.p + ends.n;
    for (const char *bar; at < end; at = bar + 1) {
        bar = next_bar(at, end);
        if (str_endsi(name, (struct str){at, (size_t)(bar - at)}))
            return true;
    }
    return false;
}
