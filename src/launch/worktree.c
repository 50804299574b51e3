/* SPDX-License-Identifier: Apache-2.0 */
/* ROOT/.git says "gitdir: REPO/.git/worktrees/NAME"; the file gitdir in that folder points back to
   ROOT/.git. */
#include "launch/worktree.h"

#include "launch/disk.h"

enum { MOST_BYTES = 4096 };

static struct str join(struct arena *arena, enum path_dialect dialect, struct str folder,
                       const char *name)
{
    struct str tail = str_of(name);
    char *p = arena_alloc(arena, folder.n + tail.n + 1);
    if (!p)
        return STR_NONE;
    memcpy(p, folder.p, folder.n);
    p[folder.n] = path_separator(dialect);
    memcpy(p + folder.n + 1, tail.p, tail.n);
    return (struct str){p, folder.n + 1 + tail.n};
}

/* Inspects the path that a one-line file names after a keyword; false if there is none. */
static bool look_at_named(struct arena *arena, const struct path_context *paths, struct str file,
                          struct str word, struct disk_facts *facts)
{
    auto_buf struct buf text = {0};
    struct path path = {0};
    struct path_context here = *paths;
    if (disk_read(file, MOST_BYTES, &text))
        return false;
    struct str line = buf_str(&text);
    if (!str_starts(line, word))
        return false;
    line = str_trim(str_from(line, word.n));
    here.cwd = path_parent(paths->dialect, file);
    size_t room = line.n + here.cwd.n + 16;
    char *p = arena_alloc(arena, room);
    return line.n && p && path_normalize(&here, line, p, room, &path) == 0 &&
           path.class == PATH_FILE && disk_look(arena, path.text, facts) == 0 && facts->exists;
}

bool worktree_find(struct arena *arena, const struct path_context *paths, struct str root,
                   struct worktree *out)
{
    struct disk_facts named, back;
    struct str file = join(arena, paths->dialect, root, ".git");
    if (!file.n || !look_at_named(arena, paths, file, STR("gitdir: "), &named) || !named.directory)
        return false;
    struct str list = path_parent(paths->dialect, named.final);
    struct str back_file = join(arena, paths->dialect, named.final, "gitdir");
    if (!str_eq(path_leaf(paths->dialect, list), STR("worktrees")) || !back_file.n ||
        !look_at_named(arena, paths, back_file, STR(""), &back) || !str_eq(back.final, file))
        return false;
    *out = (struct worktree){path_parent(paths->dialect, list), named.final};
    return true;
}
