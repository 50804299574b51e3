/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Variables of a script as the readers follow them: what each may hold at this point. A variable
 * that was set differently in branches keeps every value, up to a limit, so that each can be
 * judged.
 */
#ifndef CORDON_GUARD_VARS_H
#define CORDON_GUARD_VARS_H

#include "base/arena.h"

enum { VARS_MAX_VALUES = 8 };

/* The possible values of a variable: one of values or, if unknown, anything else too. */
struct var_state {
    const struct str *values;
    unsigned count;
    bool unknown;
    bool set; /* whatever it holds, it is not empty */
};

struct var {
    struct var *next; /* in its bucket */
    struct str name;
    struct var_state state;
    struct var_state merged; /* scratch of vars_fork_end */
    unsigned hash, branch_stamp, fork_stamp, merged_count;
};

struct var_change {
    struct var_change *older;
    struct var *var;
    struct var_state state;
};

struct vars {
    struct arena *arena;
    struct var **buckets;
    size_t bucket_count, count;
    struct var_change *log; /* kept while forks is not 0 */
    unsigned forks, stamp;
    bool fold_case;
    bool failed; /* out of memory: the caller must stop */
};

/* The variable, or NULL if the script has not set it yet. */
struct var *vars_find(const struct vars *v, struct str name);
/* The variable, made with the given state if it is new. */
struct var *vars_make(struct vars *v, struct str name, struct var_state initial);
void vars_assign(struct vars *v, struct var *var, struct var_state state);

/* A state of one value; values with holes are allowed. Unknown when memory is used up. */
struct var_state vars_one(struct vars *v, struct str value);
struct var_state vars_union(struct vars *v, struct var_state a, struct var_state b);

static inline bool vars_constant(struct var_state s)
{
    return s.count == 1 && !s.unknown;
}

/*
 * Branches: begin, then for each branch run it and call vars_branch_end, then vars_fork_end. Each
 * branch starts from the state before the fork. exhaustive: one of the branches certainly ran.
 */
struct vars_fork {
    struct var_change *mark;
    struct var_change *results;
    unsigned branches;
};
void vars_fork_begin(struct vars *v, struct vars_fork *f);
void vars_branch_end(struct vars *v, struct vars_fork *f);
void vars_fork_end(struct vars *v, struct vars_fork *f, bool exhaustive);
/* Instead of vars_fork_end: nothing that the branches set is seen outside. */
void vars_fork_drop(struct vars *v, struct vars_fork *f);

#endif
