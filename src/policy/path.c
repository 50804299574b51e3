/* SPDX-License-Identifier: Apache-2.0 */
/* Taking normal paths apart. No libc: the agent links this. */
#include "policy/path.h"

/* The next separator at or after from, or the end. */
static size_t component_end(struct str path, char separator, size_t from)
{
    while (from < path.n && path.p[from] != separator)
        from++;
    return from;
}

size_t path_root_length(enum path_dialect dialect, struct str normal)
{
    if (dialect == PATH_POSIX || normal.n < 2)
        return 0;
    if (normal.p[1] == ':')
        return 2;
    if (normal.p[0] != '\\' || normal.p[1] != '\\')
        return 0;
    size_t server = component_end(normal, '\\', 2);
    return server < normal.n ? component_end(normal, '\\', server + 1) : normal.n;
}

bool path_is_below(enum path_dialect dialect, struct str folder, struct str path)
{
    char separator = path_separator(dialect);
    return folder.n && str_starts(path, folder) &&
           (path.n == folder.n || path.p[folder.n] == separator ||
            folder.p[folder.n - 1] == separator);
}

struct str path_parent(enum path_dialect dialect, struct str normal)
{
    char separator = path_separator(dialect);
    size_t root = path_root_length(dialect, normal), n = normal.n;
    while (n > root && normal.p[n - 1] != separator)
        n--;
    if (n <= root || n == normal.n)
        return STR_NONE;
    /* The separator is part of the name only in C:\ and /. */
    bool top = n == root + 1 && (root == 0 || normal.p[root - 1] == ':');
    return str_slice(normal, 0, top ? n : n - 1);
}

struct str path_leaf(enum path_dialect dialect, struct str normal)
{
    char separator = path_separator(dialect);
    size_t root = path_root_length(dialect, normal), n = normal.n;
    while (n > root && normal.p[n - 1] != separator)
        n--;
    return n > root ? str_from(normal, n) : STR_NONE;
}

bool path_next(struct path_cursor *cursor, struct str *component)
{
    struct str path = cursor->path;
    if (!cursor->started) {
        cursor->started = true;
        cursor->pos = path_root_length(cursor->dialect, path);
        *component = str_slice(path, 0, cursor->pos);
        return true;
    }
    if (cursor->pos + 1 >= path.n)
        return false;
    size_t start = cursor->pos + 1;
    size_t end = component_end(path, path_separator(cursor->dialect), start);
    *component = str_slice(path, start, end);
    cursor->pos = end;
    return true;
}

bool path_is_zone(const struct path *path)
{
    return path->class == PATH_STREAM &&
           str_eqi(str_from(path->text, path->base.n), STR(":Zone.Identifier"));
}
