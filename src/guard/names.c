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

static struct str name_of_row(const void *pool, const void *rows, size_t size, size_t i)
{
    uint16_t place;
    memcpy(&place, (const char *)rows + i * size, sizeof place);
    return name_at(pool, place);
}

size_t name_row(const void *pool, const void *rows, size_t count, size_t size, struct str name)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (str_cmpi(name_of_row(pool, rows, size, middle), name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && str_eqi(name_of_row(pool, rows, size, low), name) ? low : count;
}

bool name_is_one_of(struct str text, struct str alternatives)
{
    while (alternatives.n) {
        size_t bar = str_find_char(alternatives, '|', 0);
        struct str one = str_slice(alternatives, 0, bar);
        if (str_startsi(text, one) &&
            (text.n == one.n || text.p[one.n] == '=' || text.p[one.n] == ':'))
            return true;
        alternatives = str_from(alternatives, bar + 1);
    }
    return false;
}
