/* A rule may name a link, or a folder behind one: what counts is where it leads. */
#include "launch/linux/secrets.h"

#include "launch/disk.h"

bool secrets_below(struct str folder, struct str path)
{
    if (folder.n == 1 && folder.p[0] == '/')
        return path.n > 0 && path.p[0] == '/';
    return str_starts(path, folder) && (path.n == folder.n || path.p[folder.n] == '/');
}

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
        if (secrets_below(s->roots.items[i].path, path))
            return true;
    return s->temp_path.n && !s->no_temp && secrets_below(s->temp_path, path);
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
    for (size_t i = 0; i < s->allow_read.count; i++) {
        struct str path = final_path(arena, s->allow_read.items[i].path);
        if (!path.p)
            return false;
        found.allowed[found.allowed_count++] = path;
    }
    *out = found;
    return true;
}
