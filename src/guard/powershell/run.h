/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Following a PowerShell script without running it: variables with every value they may have,
 * statements in order, both sides of every branch, functions where they are called.
 *
 * A variable that may have several values is tried with each: a statement is judged once for every
 * "world", in which each such variable has one of its values. Where there are too many
 * combinations, they are not known in the last world.
 */
#ifndef CORDON_GUARD_POWERSHELL_RUN_H
#define CORDON_GUARD_POWERSHELL_RUN_H

#include "guard/powershell/fold.h"
#include "guard/powershell/powershell.h"

enum {
    RUN_MAX_VALUES = 8,        /* of one variable */
    RUN_MAX_DEPTH = 400,       /* tree levels, calls included */
    RUN_MAX_CALLS = 6,         /* functions in functions */
    RUN_MAX_MIXED = 4,         /* variables with several values that one statement combines */
    RUN_MAX_WORLDS = 24,       /* combinations of them that are tried */
    RUN_MAX_ITERATIONS = 16384 /* of all loops together */
};

enum ps_space { SPACE_VARIABLE = 'v', SPACE_ENV = 'e', SPACE_FUNCTION = 'f', SPACE_ALIAS = 'a' };
/* In capitals: what a function sets outside itself, until it returns. */
enum { SPACE_IS_OUTER = 'a' - 'A' };

struct ps_var {
    struct ps_var *chain;
    struct str name;
    uint32_t hash;
    uint8_t space;
    uint8_t count; /* of values; 0: not set */
    bool fixed;    /* an assignment may fail: read-only, constant */
    uint32_t stamp, hits;
    struct ps_value *values;
};

struct ps_change {
    struct ps_var *var;
    struct ps_value *values;
    uint8_t count;
};

struct ps_run {
    struct ps_fold f;
    struct guard *g;
    struct ps_var **buckets;
    size_t bucket_count, var_count;
    struct ps_change *log; /* the values that assignments replaced */
    size_t log_count, log_capacity;
    size_t doubted; /* what was assigned before this place of the log is in doubt already */
    struct ps_node **defined; /* script blocks that nothing has run yet */
    size_t defined_count, defined_capacity;
    struct ps_node *active[RUN_MAX_CALLS];
    unsigned calls, depth, loops;
    unsigned deepest; /* RUN_MAX_DEPTH, less in nested code: the stack is shared */
    unsigned world, worlds;
    struct ps_var *mixed[RUN_MAX_MIXED]; /* by the statement that is being judged */
    unsigned mixed_count;
    unsigned iterations;
    unsigned codes;           /* text run as code, inside such text */
    unsigned breaks, returns; /* met in the loop and in the block that are being followed */
    uint32_t stamp;
    bool in_world;
    bool quiet;                /* code that is only defined: unknown commands in it do not count */
    bool broken;               /* the text has syntax errors */
    struct str pushed;         /* see guard_folder: where Pop-Location goes */
    struct str process_folder; /* the same: where .NET's own relative paths start */
    struct str namespaces[8];
    size_t namespace_count;
};

void powershell_run(struct guard *g, struct ps_node *tree, size_t nodes, bool broken);

/* ---- scope.c ---- */

struct ps_value scope_get(struct ps_run *r, enum ps_space space, struct str name, bool *set);
void scope_set(struct ps_run *r, enum ps_space space, struct str name, struct ps_value v);
void scope_set_any(struct ps_run *r, enum ps_space space, struct str name,
                   const struct ps_value *values, size_t count);
/* The variable behind a name as written: global:x, env:x, function:x. */
struct ps_value variable_get(struct ps_run *r, struct str name, bool *set);
void variable_set(struct ps_run *r, struct str name, struct ps_value v);
/* The name says that it is one of another scope. */
bool variable_is_outer(struct str name);
/* $env:PAGER = …: some variables of the environment hold commands, which are judged. */
void variable_judge(struct ps_run *r, struct str name, struct word value);
enum ps_space variable_space(struct str *name);

struct ps_branches {
    struct ps_change *changes;
    size_t count, capacity;
    uint32_t branches;
};
void scope_undo(struct ps_run *r, size_t mark);
/* The same at the end of a function: what it set outside itself stays. */
void scope_leave(struct ps_run *r, size_t mark);
/* In a function: $script:x, Set-Variable -Scope 1. */
void scope_set_outer(struct ps_run *r, enum ps_space space, struct str name, struct ps_value v);
/* The variable cannot be set, or not always. */
void scope_fix(struct ps_run *r, struct str name);
/* Undoes the assignments since mark and remembers them as one branch. */
void scope_branch(struct ps_run *r, size_t mark, struct ps_branches *b);
/* What was assigned since mark was only perhaps assigned. */
void scope_maybe(struct ps_run *r, size_t mark);
/* Whatever was assigned since mark may also be something else. */
void scope_doubt(struct ps_run *r, size_t mark);
/* The same of everything that is set. */
void scope_doubt_all(struct ps_run *r, const struct ps_node *at);
/* Every branch may have been taken; none, too, unless one must. */
void scope_merge(struct ps_run *r, struct ps_branches *b, bool one_must);

/* ---- run.c ---- */

struct ps_value ps_run_statement(struct ps_run *r, struct ps_node *node);
struct ps_value ps_run_list(struct ps_run *r, struct ps_node *list);
/* Appends the output of a statement to that of the ones before it. */
struct ps_value ps_run_collect(struct ps_run *r, struct ps_value all, struct ps_value v);

struct ps_arg {
    struct ps_node *node;  /* for its place */
    struct str name;       /* of a parameter, or p NULL */
    struct ps_value value; /* VALUE_VOID: a parameter without a value */
    bool glued;            /* -x:y */
    bool quoted;
};

struct ps_value ps_run_block(struct ps_run *r, struct ps_node *block, const struct ps_arg *args,
                             size_t count, struct ps_value input, bool own_scope);
void ps_run_remember(struct ps_run *r, struct ps_node *block);
/* Runs a block with $_ set. */
struct ps_value ps_run_block_on(struct ps_run *r, struct ps_node *block, struct ps_value item);

/* ---- eval.c ---- */

struct ps_value eval(struct ps_run *r, struct ps_node *node);
void eval_assign(struct ps_run *r, struct ps_node *target, struct ps_value v);
struct word eval_word(struct ps_run *r, const struct ps_node *node, struct ps_value v);

/* ---- invoke.c ---- */

struct ps_value ps_run_command(struct ps_run *r, struct ps_node *node, struct ps_value input);
struct ps_value ps_run_named(struct ps_run *r, struct str name, struct ps_node *at,
                             struct ps_arg *args, size_t count, struct ps_value input);
/* A value that is called: a block, code, a command, a name. */
struct ps_value ps_run_value(struct ps_run *r, struct ps_value v, struct ps_node *at,
                             struct ps_arg *args, size_t count, struct ps_value input, bool dot);
/* Blocks among the arguments, which the command may run, with the piped input. */
void ps_run_blocks(struct ps_run *r, const struct ps_arg *args, size_t count,
                   struct ps_value input);
/* Remembers text that is written to a file; the same by > or >>. */
void ps_run_write(struct ps_run *r, struct word path, struct ps_value content, bool append);
void ps_run_redirect(struct ps_run *r, struct ps_node *target, struct ps_value content);
void ps_run_code(struct ps_run *r, struct ps_node *at, struct ps_value text, struct str who);

/* ---- powershell.c ---- */

/* The text as PowerShell 7 and, where it differs, as Windows PowerShell reads it. */
struct ps_versions {
    struct ps_node *tree[2];
    size_t nodes[2];
    bool runs[2]; /* this version accepts it, or neither does */
    size_t count;
    bool broken; /* neither accepts it */
};
bool powershell_parse(struct guard *g, struct str text, struct ps_versions *out);
void powershell_show(struct guard *g, const struct ps_node *tree);

struct ps_words {
    struct ps_run *r;
    struct word *words;
    size_t count, capacity;
};
/* Appends a value as the words that a native program would get; lists are several. */
void words_add(struct ps_words *w, const struct ps_node *at, struct ps_value v);
void words_split(struct ps_words *w, const struct ps_node *at, struct str line);

/* Judgements that do not count for code that is only defined. */
void ps_run_opaque_command(struct ps_run *r, struct word at);
void ps_run_program(struct ps_run *r, struct word *words, size_t count, struct ps_value input);
void ps_run_open(struct ps_run *r, struct str who, struct word target, struct word *args,
                 size_t count);
void ps_run_delete(struct ps_run *r, struct str who, struct word target, unsigned flags);

/* ---- bind.c ---- */

enum { BIND_MAX = 24 };

struct ps_bound {
    struct ps_run *r;
    struct str who;
    struct ps_node *at;
    struct ps_value values[BIND_MAX];
    struct ps_node *nodes[BIND_MAX];
    bool present[BIND_MAX];
    struct ps_arg *args;
    size_t count;
    struct ps_value input; /* VALUE_VOID: nothing is piped in */
    const char *spec;
};

/* spec: "Name|Alias:position Other Switch! …"; the n-th name is values[n]. */
void bind_parameters(struct ps_bound *b, const char *spec);
struct word bound_word(struct ps_bound *b, size_t index);
bool bound_switch(struct ps_bound *b, size_t index);
bool bound_text_is(struct ps_bound *b, size_t index, const char *text);
struct word bound_command(struct ps_bound *b); /* the whole command */
bool bound_what_if(struct ps_bound *b);
struct str bound_class(struct ps_bound *b, size_t text, size_t object);

/* ---- cmdlets.c, starting.c, deleting.c ---- */

bool cmdlet_find(struct str name, size_t *index);
struct ps_value cmdlet_run(struct ps_run *r, size_t index, struct ps_node *at, struct ps_arg *args,
                           size_t count, struct ps_value input);
/* The cmdlet's name for an alias; p is NULL if there is none. old: only Windows PowerShell has
   it. */
struct str cmdlet_alias(struct str alias, bool *old);
/* The first command that a pattern with wildcards finds, the dangerous ones first. */
struct str cmdlet_match(struct str pattern);

/* ---- dotnet.c ---- */

struct str dotnet_type(struct ps_run *r, struct str name);
/* [Environment]::CurrentDirectory = folder */
void dotnet_set_folder(struct ps_run *r, struct ps_value folder);
/* True if a table of members has a row for exactly this type. */
bool dotnet_is_known(struct str type);
struct ps_value dotnet_new(struct ps_run *r, struct ps_node *at, struct str type,
                           const struct ps_value *args, size_t count);
struct ps_value dotnet_com(struct ps_run *r, struct ps_node *at, struct str progid);
struct ps_value dotnet_call(struct ps_run *r, struct ps_node *node, struct ps_value object,
                            struct str member, struct ps_value *args, size_t count, bool is_static);
struct ps_value dotnet_property(struct ps_run *r, struct ps_node *node, struct ps_value object,
                                struct str member, bool is_static);
void dotnet_wmi(struct ps_run *r, struct ps_node *at, struct str class, struct str method,
                struct str who);

#endif
