/* SPDX-License-Identifier: Apache-2.0 */
/* The variables of a script: a hash table with a log of changes, so that branches can be undone. */
#include "guard/vars.h"

enum { FIRST_BUCKETS = 32 }; /* always a power of two */

static unsigned hash_name(const struct vars *v, struct str name)
{
    unsigned hash = 2166136261u;
    for (size_t i = 0; i < name.n; i++) {
        char c = v->fold_case ? ascii_lower(name.p[i]) : name.p[i];
        hash = (hash ^ (unsigned char)c) * 16777619u;
    }
    return hash;
}

struct var *vars_find(const struct vars *v, struct str name)
{
    if (!v->bucket_count)
        return NULL;
    unsigned hash = hash_name(v, name);
    for (struct var *var = v->buckets[hash & (v->bucket_count - 1)]; var; var = var->next)
        if (var->hash == hash &&
            (v->fold_case ? str_eqi(var->name, name) : str_eq(var->name, name)))
            return var;
    return NULL;
}

static bool grow(struct vars *v)
{
    size_t count = v->bucket_count ? v->bucket_count * 4 : FIRST_BUCKETS;
    struct var **buckets = ARENA_ARRAY(v->arena, count, struct var *);
    if (!buckets)
        return false;
    for (size_t i = 0; i < v->bucket_count; i++) {
        for (struct var *var = v->buckets[i], *next; var; var = next) {
            next = var->next;
            var->next = buckets[var->hash & (count - 1)];
            buckets[var->hash & (count - 1)] = var;
        }
    }
    v->buckets = buckets;
    v->bucket_count = count;
    return true;
}

struct var *vars_make(struct vars *v, struct str name, struct var_state initial)
{
    struct var *var = vars_find(v, name);
    if (var)
        return var;
    if (v->count >= v->bucket_count * 2 && !grow(v)) {
        v->failed = true;
        return NULL;
    }
    var = ARENA_NEW(v->arena, struct var);
    struct str copy = arena_copy(v->arena, name);
    if (!var || !copy.p) {
        v->failed = true;
        return NULL;
    }
    var->name = copy;
    var->hash = hash_name(v, name);
    var->state = initial;
    var->next = v->buckets[var->hash & (v->bucket_count - 1)];
    v->buckets[var->hash & (v->bucket_count - 1)] = var;
    v->count++;
    return var;
}

static struct var_change *push(struct vars *v, struct var_change *older, struct var *var)
{
    struct var_change *change = ARENA_NEW(v->arena, struct var_change);
    if (!change) {
        v->failed = true;
        return older;
    }
    *change = (struct var_change){older, var, var->state};
    return change;
}

void vars_assign(struct vars *v, struct var *var, struct var_state state)
{
    if (!var)
        return;
    if (v->forks)
        v->log = push(v, v->log, var);
    var->state = state;
}

struct var_state vars_one(struct vars *v, struct str value)
{
    struct str *copy = ARENA_NEW(v->arena, struct str);
    if (!copy) {
        v->failed = true;
        return (struct var_state){.unknown = true};
    }
    *copy = value;
    return (struct var_state){.values = copy, .count = 1};
}

static bool holds(struct var_state s, struct str value)
{
    for (unsigned i = 0; i < s.count; i++)
        if (str_eq(s.values[i], value))
            return true;
    return false;
}

struct var_state vars_union(struct vars *v, struct var_state a, struct var_state b)
{
    struct str all[VARS_MAX_VALUES];
    struct var_state sum = {
        .values = all, .unknown = a.unknown || b.unknown, .set = a.set && b.set};
    for (unsigned i = 0; i < a.count + b.count; i++) {
        struct str value = i < a.count ? a.values[i] : b.values[i - a.count];
        if (holds(sum, value))
            continue;
        if (sum.count == VARS_MAX_VALUES) {
            sum.unknown = true;
            break;
        }
        all[sum.count++] = value;
    }
    if (sum.count == a.count && sum.unknown == a.unknown) {
        a.set = sum.set;
        return a;
    }
    struct str *kept = ARENA_ARRAY(v->arena, sum.count, struct str);
    if (!kept) {
        v->failed = true;
        return (struct var_state){.unknown = true};
    }
    memcpy(kept, all, sum.count * sizeof *kept);
    sum.values = kept;
    return sum;
}

void vars_fork_begin(struct vars *v, struct vars_fork *f)
{
    *f = (struct vars_fork){.mark = v->log};
    v->forks++;
}

void vars_branch_end(struct vars *v, struct vars_fork *f)
{
    unsigned stamp = ++v->stamp;
    for (struct var_change *c = v->log; c && c != f->mark; c = c->older) {
        if (c->var->branch_stamp != stamp) {
            c->var->branch_stamp = stamp;
            f->results = push(v, f->results, c->var);
        }
        c->var->state = c->state;
    }
    v->log = f->mark;
    f->branches++;
}

void vars_fork_end(struct vars *v, struct vars_fork *f, bool exhaustive)
{
    unsigned stamp = ++v->stamp;
    for (struct var_change *r = f->results; r; r = r->older) {
        if (r->var->fork_stamp != stamp) {
            r->var->fork_stamp = stamp;
            r->var->merged = r->state;
            r->var->merged_count = 1;
        } else {
            r->var->merged = vars_union(v, r->var->merged, r->state);
            r->var->merged_count++;
        }
    }
    v->forks--;
    for (struct var_change *r = f->results; r; r = r->older) {
        if (r->var->fork_stamp != stamp)
            continue;
        r->var->fork_stamp = 0;
        struct var_state merged = r->var->merged;
        if (!exhaustive || r->var->merged_count < f->branches)
            merged = vars_union(v, r->var->state, merged);
        vars_assign(v, r->var, merged);
    }
}

void vars_fork_drop(struct vars *v, struct vars_fork *f)
{
    f->results = NULL;
    v->forks--;
}
