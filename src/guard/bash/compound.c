/* SPDX-License-Identifier: Apache-2.0 */
/* Branches, loops and definitions of bash: every path is read, with its own values of variables. */
#include "guard/bash/bash.h"

void bash_settle_folder(struct bash_reader *b, struct str before)
{
    if (guard_folder(b->g).p != before.p)
        guard_set_folder(b->g, STR("\xFF"));
}

/* The arms of an if or a case: each starts where the first one did. */
static void run_arms(struct bash_reader *b, struct bash_node *node)
{
    bool otherwise = false;
    struct str folder = guard_folder(b->g), changed = folder;
    struct vars_fork fork;
    vars_fork_begin(&b->vars, &fork);
    for (struct bash_arm *arm = node->arms; arm; arm = arm->next) {
        bash_run_substitutions(b, arm->patterns);
        if (arm != node->arms)
            bash_run_list(b, arm->condition);
        bash_run_list(b, arm->body);
        vars_branch_end(&b->vars, &fork);
        otherwise |= arm->otherwise;
        changed = guard_folder(b->g).p == folder.p ? changed : STR("\xFF");
        guard_set_folder(b->g, folder);
    }
    guard_set_folder(b->g, changed);
    vars_fork_end(&b->vars, &fork, otherwise);
}

static void run_if(struct bash_reader *b, struct bash_node *node)
{
    if (node->arms)
        bash_run_list(b, node->arms->condition);
    run_arms(b, node);
}

static void run_case(struct bash_reader *b, struct bash_node *node)
{
    bash_run_substitutions(b, node->words);
    run_arms(b, node);
}

/* A body that runs any number of times is read twice: the second round sees the values of the
   first. */
static void run_repeated(struct bash_reader *b, struct bash_node *node)
{
    struct vars_fork fork;
    struct str folder = guard_folder(b->g);
    unsigned left = b->left_loop;
    b->loops++;
    for (int round = 0; round < 2 && !guard_stopped(b->g); round++) {
        bool known = b->arguments.known;
        vars_fork_begin(&b->vars, &fork);
        bash_run_list(b, node->condition);
        bash_run_list(b, node->body);
        vars_branch_end(&b->vars, &fork);
        bool changed = fork.results != NULL || guard_folder(b->g).p != folder.p ||
                       b->arguments.known != known; /* shift, set */
        vars_fork_end(&b->vars, &fork, false);
        bash_settle_folder(b, folder);
        if (!changed || b->loops > 2 || !guard_spend(b->g, node->end - node->start + 1))
            break;
    }
    b->loops--;
    b->left_loop = left;
}

static void run_for(struct bash_reader *b, struct bash_node *node)
{
    struct bash_fields fields = {0};
    bash_run_substitutions(b, node->words);
    b->ambiguous = NULL;
    for (const struct bash_word *w = node->words; w; w = w->next)
        bash_expand(b, w, &fields);
    if (node->all_arguments && b->arguments.known)
        for (size_t i = 0; i < b->arguments.count; i++)
            bash_field_add(b, &fields,
                           (struct word){b->arguments.values[i], node->start, node->end, false});
    bool known = fields.count > 0 && !b->ambiguous;
    b->ambiguous = NULL;
    for (size_t i = 0; i < fields.count && known; i++)
        known = !str_has_char(fields.list[i].text, GUARD_HOLE) &&
                !str_has_char(fields.list[i].text, '*');
    if (!known || b->loops > 1 || b->rounds + fields.count > BASH_MAX_ROUNDS) {
        bash_set_unknown(b, node->name);
        /* each known word is a possible value too */
        struct var *var = bash_variable(b, node->name);
        for (size_t i = 0; i < fields.count && i < VARS_MAX_VALUES && var; i++)
            if (!str_has_char(fields.list[i].text, GUARD_HOLE))
                var->state =
                    vars_union(&b->vars, var->state, vars_one(&b->vars, fields.list[i].text));
        run_repeated(b, node);
        return;
    }
    unsigned left = b->left_loop;
    b->loops++;
    for (size_t i = 0; i < fields.count && !guard_stopped(b->g); i++) {
        if (!guard_spend(b->g, node->end - node->start + 1))
            break;
        b->rounds++;
        bash_set(b, node->name, fields.list[i].text);
        bash_run_list(b, node->body);
    }
    b->loops--;
    b->left_loop = left;
}

static void run_definition(struct bash_reader *b, struct bash_node *node)
{
    struct bash_arguments outer = b->arguments;
    struct bash_local *locals = b->locals;
    unsigned left_loop = b->left_loop, left_function = b->left_function;
    const struct bash_function *f = bash_function_find(&b->functions, node->name);
    bool known_later = f && f->used && f->body == node->body && !b->functions.exported;
    bool outer_later = guard_skip_unknown(b->g, known_later);
    unsigned skipped = guard_skipped(b->g);
    b->arguments = (struct bash_arguments){0};
    b->defining++;
    b->in_function++;
    if (node->body) {
        struct vars_fork fork;
        struct str folder = guard_folder(b->g);
        vars_fork_begin(&b->vars, &fork);
        bash_run_node(b, node->body, (struct word){.text = STR_NONE});
        guard_set_folder(b->g, folder);
        vars_branch_end(&b->vars, &fork);
        vars_fork_drop(&b->vars, &fork);
    }
    guard_skip_unknown(b->g, outer_later);
    b->in_function--;
    b->defining--;
    b->locals = locals; /* the fork took everything back */
    b->left_loop = left_loop;
    b->left_function = left_function;
    b->arguments = outer;
    if (!node->name.n || !node->body)
        return;
    if (bash_function_add(b->arena, &b->defined, node->name, node->body, b->vars.forks > 0))
        bash_function_find(&b->defined, node->name)->owed = guard_skipped(b->g) != skipped;
    else
        guard_limit(b->g, word_unknown(node->start, node->end));
}

void bash_run_compound(struct bash_reader *b, struct bash_node *node)
{
    switch (node->kind) {
    case BASH_IF: run_if(b, node); break;
    case BASH_CASE: run_case(b, node); break;
    case BASH_WHILE: run_repeated(b, node); break;
    case BASH_FOR: run_for(b, node); break;
    case BASH_FUNCTION: run_definition(b, node); break;
    default: break;
    }
}
