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
    struct str leaf = name_leaf(path);
    for (size_t i = leaf.n; i > 0; i--)
        if (leaf.p[i - 1] == '.')
            return str_from(leaf, i);
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

/* As str_cmpi of the row's name with the other; a row's name is not measured first. */
static int compare_row(const void *pool, const void *rows, size_t size, size_t i, struct str name)
{
    uint16_t place;
    memcpy(&place, (const char *)rows + i * size, sizeof place);
    const char *row = (const char *)pool + place;
    for (size_t k = 0; k < name.n; k++) {
        unsigned char x = (unsigned char)ascii_lower(row[k]);
        unsigned char y = (unsigned char)ascii_lower(name.p[k]);
        if (x == '\0' || x < y)
            return -1; /* a row that ends here is the shorter one */
        if (x > y)
            return 1;
    }
    return row[name.n] != '\0';
}

size_t name_row(const void *pool, const void *rows, size_t count, size_t size, struct str name)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (compare_row(pool, rows, size, middle, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && compare_row(pool, rows, size, low, name) == 0 ? low : count;
}

bool name_is_one_of_parts(const char *p, size_t n, const char *alternatives_p,
                          size_t alternatives_n)
{
    const char *at = alternatives_p, *end = alternatives_p + alternatives_n;
    for (; at < end; at++) {
        size_t same = 0;
        for (; at < end && *at != '|' && same < n && ascii_lower(*at) == ascii_lower(p[same]); at++)
            same++;
        if ((at == end || *at == '|') && (same == n || p[same] == '=' || p[same] == ':'))
            return true;
        while (at < end && *at != '|')
            at++;
    }
    return false;
}
