/* SPDX-License-Identifier: Apache-2.0 */
/* Roots that are git worktrees: where their repository really is. */
#ifndef CORDON_LAUNCH_WORKTREE_H
#define CORDON_LAUNCH_WORKTREE_H

#include "base/arena.h"
#include "policy/path.h"

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
