/* SPDX-License-Identifier: Apache-2.0 */
/* Environment blocks, both ways. */
#include "launch/windows/block.h"

#include <stdlib.h>

#include "cordon.h"
#include "launch/windows/wide.h"

/* Length of the name, whose first character may itself be = (=C:). 0: there is no name. */
static size_t name_length(const wchar_t *variable)
{
    const wchar_t *end = variable[0] ? wcschr(variable + 1, L'=') : NULL;
    return end ? (size_t)(end - variable) : 0;
}

/* By name, ignoring case and language, as Windows sorts and searches it. */
static int compare(const void *a, const void *b)
{
    const wchar_t *x = *(const wchar_t *const *)a, *y = *(const wchar_t *const *)b;
    return CompareStringOrdinal(x, (int)name_length(x), y, (int)name_length(y), TRUE) - CSTR_EQUAL;
}

int block_make(struct arena *arena, const char *const *variables, wchar_t **out)
{
    size_t count = 0, size = 2;
    while (variables[count])
        count++;
    wchar_t **items = ARENA_ARRAY(arena, count + 1, wchar_t *);
    if (!items)
        return CORDON_E_NOMEM;
    for (size_t i = 0; i < count; i++) {
        items[i] = wide_of(arena, str_of(variables[i]));
        if (!items[i])
            return CORDON_E_ENCODING;
        if (name_length(items[i]) == 0)
            return CORDON_E_VALUE;
        size += wcslen(items[i]) + 1;
    }
    qsort(items, count, sizeof *items, compare);
    wchar_t *block = ARENA_ARRAY(arena, size, wchar_t); /* zeroed: its end is there already */
    if (!block)
        return CORDON_E_NOMEM;
    wchar_t *next = block;
    for (size_t i = 0; i < count; i++) {
        size_t n = wcslen(items[i]) + 1;
        memcpy(next, items[i], n * sizeof *next);
        next += n;
    }
    *out = block;
    return 0;
}

const char *const *block_read(struct arena *arena)
{
    wchar_t *block = GetEnvironmentStringsW();
    size_t count = 0, i = 0;
    for (const wchar_t *p = block; p && *p; p += wcslen(p) + 1)
        count++;
    const char **items = block ? ARENA_ARRAY(arena, count + 1, const char *) : NULL;
    for (const wchar_t *p = block; items && *p; p += wcslen(p) + 1) {
        items[i] = wide_narrow(arena, p, wcslen(p)).p;
        if (!items[i++]) {
            items = NULL;
            break;
        }
    }
    if (block)
        FreeEnvironmentStringsW(block);
    return items;
}
