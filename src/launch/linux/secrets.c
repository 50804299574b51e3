/* SPDX-License-Identifier: Apache-2.0 */
/* A rule may name a link, or a folder behind one: its target counts. */
#include "launch/linux/secrets.h"

#include <stdio.h>
#include <stdlib.h>

#include "launch/disk.h"

static struct str final_path(struct arena *arena, struct str path)
{
    struct disk_facts facts;
    return disk_look(arena, path, &facts) == 0 ? facts.final : arena_copy(arena, path);
}

static bool is_writable_place(const struct policy_settings *s, struct str path)
{
    if (s->mode == POLICY_READ_ONLY)
        return false;
    for (size_t i = 0; i < s->roots.count; i++)
        if (path_is_below(PATH_POSIX, s->roots.items[i].path, path))
            return true;
    return s->temp_path.n && !s->no_temp && path_is_below(PATH_POSIX, s->temp_path, path);
}

/* A file system, or a part of one, mounted at some place. */
struct mount {
    unsigned major, minor;
    struct str root, point; /* which part of it is mounted, and where */
};

struct mounts {
    struct mount *items;
    size_t count, capacity;
};

/* "\040" is a blank. */
static struct str unescape(struct arena *arena, const char *text)
{
    char *out = arena_alloc(arena, strlen(text) + 1);
    size_t n = 0;
    for (const char *p = text; out && *p; p++) {
        unsigned code;
        bool octal = *p == '\\' && sscanf(p + 1, "%3o", &code) == 1;
        out[n++] = octal ? (char)code : *p;
        p += octal ? 3 : 0;
    }
    if (out)
        out[n] = '\0';
    return (struct str){out, n};
}

/* False without memory. */
static bool read_mounts(struct arena *arena, struct mounts *out)
{
    FILE *f = fopen("/proc/self/mountinfo", "re");
    char *line = NULL;
    size_t room = 0;
    bool good = true;
    while (good && f && getline(&line, &room, f) > 0) {
        struct mount m;
        char *root = NULL, *point = NULL;
        if (sscanf(line, "%*d %*d %u:%u %ms %ms", &m.major, &m.minor, &root, &point) == 4) {
            m.root = unescape(arena, root);
            m.point = unescape(arena, point);
            if (out->count == out->capacity) {
                void *grown = arena_grow(arena, out->items, &out->capacity, sizeof *out->items);
                good = grown != NULL;
                out->items = good ? grown : out->items;
            }
            good = good && m.root.p && m.point.p;
            if (good)
                out->items[out->count++] = m;
        }
        free(root);
        free(point);
    }
    free(line);
    if (f)
        fclose(f);
    return good;
}

/* Translates a path seen from one mount into the path seen from another. */
static struct str move(struct arena *arena, struct str path, struct str from, struct str to)
{
    struct str rest = str_from(path, from.n > 1 ? from.n : 0);
    char *out = arena_alloc(arena, to.n + rest.n + 2);
    if (!out)
        return STR_NONE;
    size_t n = to.n > 1 ? to.n : 0;
    memcpy(out, to.p, n);
    memcpy(out + n, rest.p, rest.n);
    n += rest.n;
    if (n > 1 && out[n - 1] == '/')
        n--;
    out[n] = '\0';
    return (struct str){out, n};
}

/* The same secret at the other places where its file system is mounted. */
static bool add_mounted(struct arena *arena, const struct policy_settings *s,
                        const struct mounts *mounts, const struct secret *secret,
                        struct secrets *out, size_t *capacity)
{
    const struct mount *own = NULL;
    for (size_t i = 0; i < mounts->count; i++)
        if (path_is_below(PATH_POSIX, mounts->items[i].point, secret->path) &&
            (!own || mounts->items[i].point.n >= own->point.n))
            own = &mounts->items[i];
    if (!own)
        return true;
    struct str inner = move(arena, secret->path, own->point, own->root);
    struct secret original = *secret;
    for (size_t i = 0; inner.p && i < mounts->count; i++) {
        const struct mount *m = &mounts->items[i];
        struct secret also = original;
        if (m == own || m->major != own->major || m->minor != own->minor)
            continue;
        if (path_is_below(PATH_POSIX, m->root, inner))
            also.path = move(arena, inner, m->root, m->point);
        else if (path_is_below(PATH_POSIX, inner, m->root))
            also.path = m->point;
        else
            continue;
        if (!also.path.p)
            return false;
        if (path_is_below(PATH_POSIX, original.path, also.path))
            continue;
        also.fixed = !is_writable_place(s, also.path);
        if (out->count == *capacity) {
            void *grown = arena_grow(arena, out->items, capacity, sizeof *out->items);
            if (!grown)
                return false;
            out->items = grown;
        }
        out->items[out->count++] = also;
    }
    return inner.p != NULL;
}

bool secrets_find(struct arena *arena, const struct policy_settings *s, struct secrets *out)
{
    struct secrets found = {.items = ARENA_ARRAY(arena, s->deny_read.count + 1, struct secret),
                            .allowed = ARENA_ARRAY(arena, s->allow_read.count + 1, struct str)};
    if (!found.items || !found.allowed)
        return false;
    for (size_t i = 0; i < s->deny_read.count; i++) {
        struct secret *secret = &found.items[found.count++];
        struct stat st;
        *secret = (struct secret){.path = final_path(arena, s->deny_read.items[i].path),
                                  .entry = (uint32_t)i + 1};
        if (!secret->path.p)
            return false;
        secret->exists = stat(secret->path.p, &st) == 0;
        if (secret->exists) {
            secret->device = st.st_dev;
            secret->inode = st.st_ino;
        }
        secret->fixed = !is_writable_place(s, secret->path);
    }
    size_t named = found.count, capacity = s->deny_read.count + 1;
    struct mounts mounts = {0};
    if (named && !read_mounts(arena, &mounts))
        return false;
    for (size_t i = 0; i < named; i++)
        if (!add_mounted(arena, s, &mounts, &found.items[i], &found, &capacity))
            return false;
    for (size_t i = 0; i < s->allow_read.count; i++) {
        struct str path = final_path(arena, s->allow_read.items[i].path);
        if (!path.p)
            return false;
        found.allowed[found.allowed_count++] = path;
    }
    *out = found;
    return true;
}
