/* SPDX-License-Identifier: Apache-2.0 */
/* ROOT/.git says "gitdir: REPO/.git/worktrees/NAME"; the file gitdir in that folder points back to
   ROOT/.git. */
#include "launch/worktree.h"

enum { MOST_BYTES = 4096 };

struct str worktree_join(struct arena *arena, enum path_dialect dialect, struct str folder,
                         struct str name)
{
    char *p = arena_alloc(arena, folder.n + name.n + 2);
    if (!p)
        return STR_NONE;
    str_copy(p, folder);
    p[folder.n] = path_separator(dialect);
    str_copy(p + folder.n + 1, name);
    p[folder.n + 1 + name.n] = '\0';
    return (struct str){p, folder.n + 1 + name.n};
}

bool worktree_look_from(struct arena *arena, const struct path_context *paths, struct str folder,
                        struct str given, struct disk_facts *facts)
{
    struct path path = {0};
    struct path_context here = *paths;
    here.cwd = folder;
    size_t room = given.n + here.cwd.n + 16;
    char *p = arena_alloc(arena, room);
    return given.n && p && path_normalize(&here, given, p, room, &path) == 0 &&
           path.class == PATH_FILE && disk_look(arena, path.text, facts) == 0 && facts->exists;
}

bool worktree_look(struct arena *arena, const struct path_context *paths, struct str file,
                   struct str word, struct disk_facts *facts)
{
    auto_buf struct buf text = {0};
    if (disk_read(file, MOST_BYTES, &text) || !str_starts(buf_str(&text), word))
        return false;
    return worktree_look_from(arena, paths, path_parent(paths->dialect, file),
                              str_trim(str_from(buf_str(&text), word.n)), facts);
}

bool worktree_find(struct arena *arena, const struct path_context *paths, struct str root,
                   struct worktree *out)
{
    struct disk_facts named, back;
    struct str file = worktree_join(arena, paths->dialect, root, STR(".git"));
    if (!file.n || !worktree_look(arena, paths, file, STR("gitdir: "), &named) || !named.directory)
        return false;
    struct str list = path_parent(paths->dialect, named.final);
    struct str back_file = worktree_join(arena, paths->dialect, named.final, STR("gitdir"));
    if (!str_eq(path_leaf(paths->dialect, list), STR("worktrees")) || !back_file.n ||
        !worktree_look(arena, paths, back_file, STR(""), &back) || !str_eq(back.final, file))
        return false;
    *out = (struct worktree){path_parent(paths->dialect, list), named.final};
    return true;
}
