/* SPDX-License-Identifier: Apache-2.0 */
/* Roots that are worktrees of git: where their repository really lies. */
#ifndef CORDON_LAUNCH_WORKTREE_H
#define CORDON_LAUNCH_WORKTREE_H

#include "base/arena.h"
#include "policy/path.h"

/*
 * The git folder of a root whose .git is a file, final; empty if it is none, or if the repository
 * does not name this root as its worktree: a file in a workspace alone must not open a folder
 * elsewhere.
 */
struct str worktree_git_dir(struct arena *arena, const struct path_context *paths, struct str root);

#endif
