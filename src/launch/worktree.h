/* SPDX-License-Identifier: Apache-2.0 */
/* Roots that are git worktrees: where their repository really is. */
#ifndef CORDON_LAUNCH_WORKTREE_H
#define CORDON_LAUNCH_WORKTREE_H

#include "base/arena.h"
#include "launch/disk.h"
#include "policy/path.h"

/* folder and name with a separator between them, ending in a NUL; empty: out of memory. */
struct str worktree_join(struct arena *arena, enum path_dialect dialect, struct str folder,
                         struct str name);

/* Inspects a path that is given from this folder; false if nothing is there. */
bool worktree_look_from(struct arena *arena, const struct path_context *paths, struct str folder,
                        struct str given, struct disk_facts *facts);

/* The same for the path that a one-line file names after a word. */
bool worktree_look(struct arena *arena, const struct path_context *paths, struct str file,
                   struct str word, struct disk_facts *facts);

/*
 * The git folders of a root whose .git is a file, final: the one that all worktrees share, and the
 * one in it that is this worktree's own. False if it is not a worktree, or if the repository does
 * not list this root as one: a file in a workspace alone must not open a folder elsewhere.
 */
struct worktree {
    struct str shared, own;
};
bool worktree_find(struct arena *arena, const struct path_context *paths, struct str root,
                   struct worktree *out);

#endif
