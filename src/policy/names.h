/* SPDX-License-Identifier: Apache-2.0 */
/* Protected names and what a commit writes: questions about components, without a policy. */
#ifndef CORDON_POLICY_NAMES_H
#define CORDON_POLICY_NAMES_H

#include "policy/path.h"

enum protected_name {
    PROTECTED_NONE = 0,
#define POLICY_PROTECTED(name, spelled) PROTECTED_##name,
#include "policy/protected.def"
#undef POLICY_PROTECTED
    PROTECTED_COUNT
};

/* ".git"; "" for PROTECTED_NONE. */
const char *protected_spelled(enum protected_name name);

/* Which protected name this component is, or could be an 8.3 alias of. */
enum protected_name protected_find(enum path_dialect dialect, struct str component);

/* Whether this component is a folder of other people's packages (packages.def): PACKAGES_BELOW if
   that matters for what lies below it only, PACKAGES_ABOVE if also for a root inside it. */
enum packages_kind { PACKAGES_NONE = 0, PACKAGES_BELOW, PACKAGES_ABOVE };
enum packages_kind packages_find(enum path_dialect dialect, struct str component);

/* The pattern of a name that programs trust in a shared temp folder; NULL: not one of those. */
const char *trusted_find(struct str component);

/* The same for a cache of code that is named after the number of a user other than this one. */
const char *trusted_of_others(struct str component, uint32_t user);

/* True if a commit may write it. below is the path below the git folder, without the separator in
   front, not empty. */
bool git_commit_writes(enum path_dialect dialect, struct str below);

/* The same for what a worktree writes in the folder that it shares with the main checkout and with
   other worktrees, apart from its own folder in there. */
bool git_shared_writes(enum path_dialect dialect, struct str below);

/* As git_commit_writes, for --git=full. */
bool git_full_writes(enum path_dialect dialect, struct str below, bool exists);

/* True for a name that git has for a part of its folder: of a repository that is a root at once,
   the rest is not git's. */
bool git_knows(enum path_dialect dialect, struct str below);

/* True for a name that belongs to the form of a repository or that git obeys in one. */
bool git_tells(struct str name);

/* True for an index, at whatever depth: git writes to and reads from the names in it. */
bool git_is_index(enum path_dialect dialect, struct str below);

/* How git uses a file of a repository that the run makes. below as above; full: --git=full. */
enum git_part {
    GIT_KEEPS = 0, /* data */
    GIT_HOOKS,     /* the folder of hooks */
    GIT_CONFIG,    /* obeys what it says */
    GIT_OBEYS      /* runs it, or finds another repository by it */
};
enum git_part git_new_part(enum path_dialect dialect, struct str below, bool full);

#endif
