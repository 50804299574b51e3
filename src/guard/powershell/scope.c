/* SPDX-License-Identifier: Apache-2.0 */
/* Variables, environment, functions and aliases of a PowerShell script, with undo and merging. */
#include "guard/names.h"
#include "guard/powershell/run.h"

static uint32_t hash_name(enum ps_space space, struct str name)
{
    uint32_t hash = 2166136261u ^ (uint32_t)space;
    for (size_t i = 0; i < name.n; i++)
        hash = (hash ^ (unsigned char)ascii_lower(name.p[i])) * 16777619u;
    return hash;
}

static struct ps_var *find(struct ps_run *r, enum ps_space space, struct str name, uint32_t hash)
{
    if (!r->bucket_count)
        return NULL;
    struct ps_var *var = r->buckets[hash & (r->bucket_count - 1)];
    while (var && (var->hash != hash || var->space != space || !str_eqi(var->name, name)))
        var = var->chain;
    return var;
}

static struct ps_var *make(struct ps_run *r, enum ps_space space, struct str name)
{
    uint32_t hash = hash_name(space, name);
    struct ps_var *var = find(r, space, name, hash);
    if (var)
        return var;
    if (r->var_count >= r->bucket_count) {
        size_t count = r->bucket_count ? r->bucket_count * 4 : 16;
        struct ps_var **buckets = ARENA_ARRAY(r->f.arena, count, struct ps_var *);
        if (!buckets)
            return NULL;
        for (size_t i = 0; i < r->bucket_count; i++) {
            for (struct ps_var *v = r->buckets[i], *next; v; v = next) {
                next = v->chain;
                v->chain = buckets[v->hash & (count - 1)];
                buckets[v->hash & (count - 1)] = v;
            }
        }
        r->buckets = buckets;
        r->bucket_count = count;
    }
    var = ARENA_NEW(r->f.arena, struct ps_var);
    if (!var)
        return NULL;
    *var = (struct ps_var){.name = name, .hash = hash, .space = (uint8_t)space};
    struct ps_var **bucket = &r->buckets[hash & (r->bucket_count - 1)];
    var->chain = *bucket;
    *bucket = var;
    r->var_count++;
    return var;
}

/* $OFS stands between the items of every list that becomes text. */
static void change(struct ps_run *r, struct ps_var *var, struct ps_value *values, size_t count)
{
    var->values = values;
    var->count = (uint8_t)count;
    if (var->space != SPACE_VARIABLE || !str_eqi(var->name, STR("ofs")))
        return;
    r->f.ofs = count == 0 ? STR(" ") : count == 1 ? value_text(&r->f, values[0]) : STR("\xFF");
}

static void put(struct ps_run *r, struct ps_var *var, struct ps_value *values, size_t count)
{
    if (r->log_count == r->log_capacity) {
        struct ps_change *log = arena_grow(r->f.arena, r->log, &r->log_capacity, sizeof *log);
        if (!log) {
            guard_limit(r->g, (struct word){0});
            return;
        }
        r->log = log;
    }
    r->log[r->log_count++] = (struct ps_change){var, var->values, var->count};
    change(r, var, values, count);
}

/* Chooses one of the several values of a variable for this pass. */
static unsigned chosen(struct ps_run *r, struct ps_var *var)
{
    unsigned worlds = 1, i = 0;
    while (i < r->mixed_count && r->mixed[i] != var)
        worlds *= r->mixed[i++]->count;
    if (i == r->mixed_count && i < RUN_MAX_MIXED)
        r->mixed[r->mixed_count++] = var;
    if (i < RUN_MAX_MIXED && worlds <= RUN_MAX_WORLDS) {
        if (r->worlds < worlds * var->count)
            r->worlds = worlds * var->count < RUN_MAX_WORLDS ? worlds * var->count : RUN_MAX_WORLDS;
        return r->world / worlds % var->count;
    }
    r->worlds = RUN_MAX_WORLDS;
    return r->world % var->count;
}

struct ps_value scope_get(struct ps_run *r, enum ps_space space, struct str name, bool *set)
{
    struct ps_var *var = find(r, space, name, hash_name(space, name));
    *set = var && var->count;
    if (!*set)
        return value_unknown();
    if (var->count == 1)
        return var->values[0];
    unsigned index = chosen(r, var);
    return r->world == RUN_MAX_WORLDS - 1 ? value_unknown() : var->values[index];
}

void scope_set_any(struct ps_run *r, enum ps_space space, struct str name,
                   const struct ps_value *values, size_t count)
{
    struct ps_var *var = make(r, space, name);
    if (count > RUN_MAX_VALUES)
        count = RUN_MAX_VALUES;
    struct ps_value *copy = ARENA_ARRAY(r->f.arena, count, struct ps_value);
    if (!var || !copy) {
        guard_limit(r->g, (struct word){0});
        return;
    }
    memcpy(copy, values, count * sizeof *copy);
    put(r, var, copy, count);
}

static void unite(struct ps_run *r, struct ps_var *var, const struct ps_value *values,
                  size_t count);

void scope_set(struct ps_run *r, enum ps_space space, struct str name, struct ps_value v)
{
    struct ps_var *var = find(r, space, name, hash_name(space, name));
    if (var && var->fixed && var->count)
        unite(r, var, &v, 1);
    else
        scope_set_any(r, space, name, &v, 1);
}

void scope_fix(struct ps_run *r, struct str name)
{
    enum ps_space space = variable_space(&name);
    struct ps_var *var = make(r, space, name);
    if (var)
        var->fixed = true;
}

/* The function may have a variable of its own with that name, which is read before this one. */
void scope_set_outer(struct ps_run *r, enum ps_space space, struct str name, struct ps_value v)
{
    struct ps_var *var = find(r, space, name, hash_name(space, name));
    if (!r->calls || space == SPACE_ENV || !var || !var->count)
        scope_set(r, space, name, v);
    else
        unite(r, var, &v, 1);
    if (r->calls && space != SPACE_ENV)
        scope_set_any(r, (enum ps_space)(space - SPACE_IS_OUTER), name, &v, 1);
}

enum ps_space variable_space(struct str *name)
{
    size_t colon = str_find_char(*name, ':', 0);
    if (colon == name->n || colon == 0)
        return SPACE_VARIABLE;
    struct str scope = str_slice(*name, 0, colon);
    struct str rest = str_from(*name, colon + 1);
    if (rest.n && (rest.p[0] == '\\' || rest.p[0] == '/'))
        rest = str_from(rest, 1);
    if (str_eqi(scope, STR("env"))) {
        *name = rest;
        return SPACE_ENV;
    }
    if (str_eqi(scope, STR("function"))) {
        static const char *const scopes[] = {"global:", "script:", "local:", "private:"};
        for (size_t i = 0; i < sizeof scopes / sizeof *scopes; i++)
            if (str_startsi(rest, str_of(scopes[i])))
                rest = str_from(rest, strlen(scopes[i]));
        *name = rest;
        return SPACE_FUNCTION;
    }
    if (str_eqi(scope, STR("alias"))) {
        *name = rest;
        return SPACE_ALIAS;
    }
    if (str_eqi(scope, STR("variable"))) {
        *name = rest;
        return variable_space(name);
    }
    if (str_eqi(scope, STR("global")) || str_eqi(scope, STR("script")) ||
        str_eqi(scope, STR("local")) || str_eqi(scope, STR("private")) ||
        str_eqi(scope, STR("using")))
        *name = rest;
    return SPACE_VARIABLE;
}

/* The variables that PowerShell sets before the script begins. */
static bool automatic(struct ps_run *r, struct str name, struct ps_value *out)
{
    static const struct variable_pool {
#define AUTOMATIC(name, value) char ROW(n)[sizeof name], ROW(v)[sizeof value];
#include "guard/tables/ps_variables.def"
#undef AUTOMATIC
    } pool = {
#define AUTOMATIC(name, value) name, value,
#include "guard/tables/ps_variables.def"
#undef AUTOMATIC
    };
    static const struct {
        uint16_t name, value;
    } variables[] = {
#define AUTOMATIC(name, value) {PLACE(variable_pool, ROW(n)), PLACE(variable_pool, ROW(v))},
#include "guard/tables/ps_variables.def"
#undef AUTOMATIC
    };
    if (str_eqi(name, STR("true")) || str_eqi(name, STR("false"))) {
        *out = value_bool(name.n == 4);
        return true;
    }
    if (str_eq(name, STR("?"))) { /* the last command's success: two worlds of its own */
        if (r->worlds < 2)
            r->worlds = 2;
        *out = value_bool(r->world % 2 == 0);
        return true;
    }
    if (str_eqi(name, STR("null"))) {
        *out = value_kind(VALUE_NULL);
        return true;
    }
    size_t row = NAME_ROW(pool, variables, name);
    if (row < NAME_ROWS(variables)) {
        *out = value_string(name_at(&pool, variables[row].value));
        return true;
    }
    if (str_eqi(name, STR("pscmdlet"))) {
        *out = value_object(&r->f, STR("pscmdlet"), STR_NONE);
        return true;
    }
    if (str_eqi(name, STR("executioncontext"))) {
        *out = value_object(&r->f, STR("executioncontext"), STR_NONE);
        return true;
    }
    return false;
}

struct ps_value variable_get(struct ps_run *r, struct str name, bool *set)
{
    enum ps_space space = variable_space(&name);
    struct ps_value v = scope_get(r, space, name, set);
    if (*set)
        return v;
    struct str text;
    if (space == SPACE_ENV && guard_environment(name, &text)) {
        *set = true;
        return value_string(text);
    }
    if (space == SPACE_VARIABLE && automatic(r, name, &v)) {
        *set = true;
        return v;
    }
    return value_unknown();
}

bool variable_is_outer(struct str name)
{
    size_t colon = str_find_char(name, ':', 0);
    struct str scope = str_slice(name, 0, colon);
    if (name_is_one_of(scope, STR("function|variable|alias")))
        scope = str_slice(name, colon + 1, str_find_char(name, ':', colon + 1));
    return name_is_one_of(scope, STR("global|script"));
}

/* Variables that no script can set. */
static bool is_constant(struct str name)
{
    return name_is_one_of(name, STR("true|false|null|PSHOME|PID|ShellId|HOME|Host|"
                                    "ExecutionContext|PSVersionTable|PSEdition|PSCulture|"
                                    "PSUICulture"));
}

void variable_set(struct ps_run *r, struct str name, struct ps_value v)
{
    bool outer = variable_is_outer(name);
    enum ps_space space = variable_space(&name);
    if (space == SPACE_VARIABLE && is_constant(name))
        return;
    if (outer)
        scope_set_outer(r, space, name, v);
    else
        scope_set(r, space, name, v);
}

void variable_judge(struct ps_run *r, struct str name, struct word value)
{
    if (!r->quiet && variable_space(&name) == SPACE_ENV)
        guard_variable(r->g, name, value);
}

void scope_undo(struct ps_run *r, size_t mark)
{
    if (r->doubted > mark)
        r->doubted = 0;
    while (r->log_count > mark) {
        struct ps_change *old = &r->log[--r->log_count];
        change(r, old->var, old->values, old->count);
    }
}

/* A variable of the environment, or of another scope, that the function has set. */
struct outer {
    struct outer *next;
    struct ps_var *var;
    struct ps_value *values;
    uint8_t count;
};

static struct outer *outer_since(struct ps_run *r, size_t mark)
{
    struct outer *first = NULL;
    uint32_t stamp = ++r->stamp;
    for (size_t i = mark; i < r->log_count; i++) {
        struct ps_var *var = r->log[i].var;
        bool outer = var->space == SPACE_ENV || (var->space >= 'A' && var->space <= 'Z');
        if (!outer || var->stamp == stamp || !var->count)
            continue;
        var->stamp = stamp;
        struct outer *o = ARENA_NEW(r->f.arena, struct outer);
        if (!o) {
            guard_limit(r->g, (struct word){0});
            break;
        }
        *o = (struct outer){first, var, var->values, var->count};
        first = o;
    }
    return first;
}

void scope_leave(struct ps_run *r, size_t mark)
{
    struct outer *first = outer_since(r, mark);
    scope_undo(r, mark);
    for (struct outer *o = first; o && !guard_stopped(r->g); o = o->next) {
        if (o->var->space == SPACE_ENV) {
            put(r, o->var, o->values, o->count);
            continue;
        }
        enum ps_space space = (enum ps_space)(o->var->space + SPACE_IS_OUTER);
        struct ps_var *var = make(r, space, o->var->name);
        bool perhaps = o->values[0].kind == VALUE_VOID; /* see scope_merge */
        if (!var)
            return;
        if ((perhaps && var->count) || var->fixed)
            unite(r, var, o->values + perhaps, o->count - perhaps);
        else
            put(r, var, o->values + perhaps, (size_t)(o->count - perhaps));
        if (r->calls)
            put(r, o->var, o->values, o->count);
    }
}

void scope_branch(struct ps_run *r, size_t mark, struct ps_branches *b)
{
    uint32_t stamp = ++r->stamp;
    b->branches++;
    for (size_t i = mark; i < r->log_count; i++) {
        struct ps_var *var = r->log[i].var;
        if (var->stamp == stamp)
            continue;
        var->stamp = stamp;
        if (b->count == b->capacity) {
            struct ps_change *changes =
                arena_grow(r->f.arena, b->changes, &b->capacity, sizeof *changes);
            if (!changes) {
                guard_limit(r->g, (struct word){0});
                return;
            }
            b->changes = changes;
        }
        b->changes[b->count++] = (struct ps_change){var, var->values, var->count};
    }
    scope_undo(r, mark);
}

static bool same(struct ps_value a, struct ps_value b)
{
    if (a.kind != b.kind)
        return false;
    switch (a.kind) {
    case VALUE_STRING:
    case VALUE_TYPE: return str_eq(a.text, b.text);
    case VALUE_NUMBER:
    case VALUE_BOOL:
    case VALUE_CHAR: return a.number == b.number;
    case VALUE_UNKNOWN:
    case VALUE_VOID:
    case VALUE_NULL: return true;
    case VALUE_LIST: return a.items == b.items && a.count == b.count;
    default: return a.node == b.node;
    }
}

static void unite(struct ps_run *r, struct ps_var *var, const struct ps_value *values, size_t count)
{
    if (!var->count) {
        scope_set_any(r, var->space, var->name, values, count);
        return;
    }
    struct ps_value all[RUN_MAX_VALUES];
    size_t n = var->count;
    bool changed = false;
    memcpy(all, var->values, n * sizeof *all);
    for (size_t i = 0; i < count; i++) {
        size_t k = 0;
        while (k < n && !same(all[k], values[i]))
            k++;
        if (k < n)
            continue;
        changed = true;
        if (n < RUN_MAX_VALUES)
            all[n++] = values[i];
        else
            all[RUN_MAX_VALUES - 1] = value_unknown();
    }
    if (changed)
        scope_set_any(r, var->space, var->name, all, n);
}

void scope_maybe(struct ps_run *r, size_t mark)
{
    if (r->log_count == mark)
        return;
    struct ps_branches branches = {0};
    scope_branch(r, mark, &branches);
    scope_merge(r, &branches, false);
}

void scope_doubt(struct ps_run *r, size_t mark)
{
    struct ps_value unknown = value_unknown();
    uint32_t stamp = ++r->stamp;
    for (size_t i = mark, end = r->log_count; i < end && !guard_stopped(r->g); i++) {
        struct ps_var *var = r->log[i].var;
        if (var->stamp == stamp || var->count == 0 ||
            (var->space != SPACE_VARIABLE && var->space != SPACE_ENV))
            continue;
        var->stamp = stamp;
        unite(r, var, &unknown, 1);
    }
}

void scope_doubt_all(struct ps_run *r, const struct ps_node *at)
{
    size_t from = r->doubted < r->log_count ? r->doubted : r->log_count;
    if (!fold_step(&r->f, r->log_count - from)) {
        guard_limit(r->g, (struct word){.text = STR(""), .start = at->start, .end = at->end});
        return;
    }
    scope_doubt(r, from);
    r->doubted = r->log_count;
}

void scope_merge(struct ps_run *r, struct ps_branches *b, bool one_must)
{
    for (size_t i = 0; i < b->count; i++)
        b->changes[i].var->hits = 0;
    for (size_t i = 0; i < b->count; i++)
        b->changes[i].var->hits++;
    uint32_t stamp = ++r->stamp;
    for (size_t i = 0; i < b->count && !guard_stopped(r->g); i++) {
        struct ps_change *branch = &b->changes[i];
        struct ps_var *var = branch->var;
        if (var->stamp != stamp && one_must && var->hits == b->branches) {
            put(r, var, branch->values, branch->count);
        } else if (var->count == 0 && var->space >= 'A' && var->space <= 'Z') {
            /* the first value says that the function may also have left it alone */
            struct ps_value left = value_kind(VALUE_VOID);
            put(r, var, branch->values, branch->count);
            struct ps_value all[RUN_MAX_VALUES + 1] = {left};
            size_t n = branch->count < RUN_MAX_VALUES ? branch->count : RUN_MAX_VALUES - 1;
            memcpy(all + 1, branch->values, n * sizeof *all);
            if (branch->values[0].kind != VALUE_VOID)
                scope_set_any(r, var->space, var->name, all, n + 1);
        } else if (var->count == 0) {
            put(r, var, branch->values, branch->count);
        } else {
            unite(r, var, branch->values, branch->count);
        }
        var->stamp = stamp;
    }
}
