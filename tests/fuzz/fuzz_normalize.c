/* SPDX-License-Identifier: Apache-2.0 */
/* A normal spelling is its own normal spelling, and a plain path holds nothing special. */
#include <stdint.h>
#include <stdlib.h>

#include "policy/path.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_plain(enum path_dialect dialect, struct str text)
{
    struct path_cursor cursor = {.dialect = dialect, .path = text};
    struct str c;
    bool first = true;
    while (path_next(&cursor, &c)) {
        if (!first && (c.n == 0 || str_eq(c, STR(".")) || str_eq(c, STR(".."))))
            abort();
        if (!first && dialect == PATH_WINDOWS &&
            (str_has_char(c, ':') || str_has_char(c, '/') || c.p[c.n - 1] == '.' ||
             c.p[c.n - 1] == ' ' || str_has_char(c, '\0')))
            abort();
        first = false;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct path_map maps[] = {
        {{"\\Device\\HarddiskVolume3", 23}, {"D:", 2}},
        {{"\\\\?\\Volume{1}", 13}, {"E:", 2}},
    };
    static const struct str cwds[] = {{"C:\\ws", 5}, {"", 0}, {"\\\\h\\s\\d", 7}, {"D:\\", 3}};
    if (size == 0)
        return 0;
    struct path_context context = {.maps = maps, .map_count = 2};
    context.dialect = data[0] & 1 ? PATH_POSIX : PATH_WINDOWS;
    context.cwd = context.dialect == PATH_POSIX ? STR("/w") : cwds[data[0] >> 1 & 3];
    context.nt = data[0] >> 3 & 1;
    context.unix_drive = data[0] >> 4 & 1 ? 'Z' : 0;
    size_t capacity = size + 64;
    char *room = malloc(capacity), *again = malloc(capacity);
    struct path one, two;
    struct str given = {(const char *)data + 1, size - 1};
    if (room && again && path_normalize(&context, given, room, capacity, &one) == 0) {
        if (path_normalize(&context, one.text, again, capacity, &two) != 0 ||
            one.class != two.class || !str_eq(one.text, two.text) || one.base.n != two.base.n)
            abort();
        if (one.class == PATH_FILE)
            check_plain(context.dialect, one.text);
        /* Too little room fails and nothing else. */
        struct path cut;
        size_t less = data[0];
        if (less < one.text.n && path_normalize(&context, given, again, less, &cut) == 0)
            abort();
    }
    free(room);
    free(again);
    return 0;
}
