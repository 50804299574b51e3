/* SPDX-License-Identifier: Apache-2.0 */
/* How far an assignment reaches: locals of functions, background jobs, what follows a return or a
   break, and names whose later values are not the text that is assigned. */
#include "guard/bash/bash.h"
#include "guard/names.h"

enum { MAX_SPECIAL = 256 };

static void save(struct bash_reader *b, struct var *var)
{
    struct bash_local *local = ARENA_NEW(b->arena, struct bash_local);
    if (!local || !var) {
        guard_limit(b->g, (struct word){0});
        return;
    }
    *local = (struct bash_local){b->locals, var, var->state};
    b->locals = local;
}

void bash_save(struct bash_reader *b, struct str name)
{
    save(b, bash_variable(b, name));
    if (b->arrays)
        save(b, bash_variable(b, bash_concat(b, name, STR("[@]"))));
}

void bash_restore(struct bash_reader *b, struct bash_local *until)
{
    for (; b->locals && b->locals != until; b->locals = b->locals->next)
        vars_assign(&b->vars, b->locals->var, b->locals->state);
}

/* declare -g in a function means the variable outside; readonly and export make no new one. */
static bool makes_locals(struct bash_reader *b, const struct bash_fields *fields)
{
    if (!b->in_function || fields->count == 0 ||
        !name_is_one_of(fields->list[0].text, STR("local|declare|typeset")))
        return false;
    for (size_t i = 1; i < fields->count; i++) {
        struct str text = fields->list[i].text;
        if (text.n > 1 && text.p[0] == '-' && str_has_char(text, 'g'))
            return false;
    }
    return true;
}

void bash_save_declared(struct bash_reader *b, const struct bash_fields *fields)
{
    if (!makes_locals(b, fields))
        return;
    for (size_t i = 1; i < fields->count; i++) {
        struct str text = fields->list[i].text;
        struct str name = str_slice(text, 0, str_find_char(text, '=', 0));
        if (name.n && name.p[0] != '-' && !str_has_char(name, GUARD_HOLE))
            bash_save(b, name);
    }
}

static struct bash_special *find_special(const struct bash_reader *b, struct str name)
{
    for (struct bash_special *s = b->special; s; s = s->next)
        if (str_eq(s->name, name))
            return s;
    return NULL;
}

void bash_note_special(struct bash_reader *b, const struct word *words, size_t count)
{
    bool fixed = str_eq(words[0].text, STR("readonly")), number = false;
    for (size_t i = 1; i < count; i++) {
        struct str text = words[i].text;
        if (text.n > 1 && text.p[0] == '-') {
            fixed |= str_has_char(text, 'r');
            number |= str_has_char(text, 'i');
            continue;
        }
        struct str name = str_slice(text, 0, str_find_char(text, '=', 0));
        if ((!fixed && !number) || name.n == 0)
            continue;
        struct bash_special *s = find_special(b, name);
        if (!s && b->special_count < MAX_SPECIAL &&
            (s = ARENA_NEW(b->arena, struct bash_special)) != NULL) {
            *s = (struct bash_special){.next = b->special, .name = name};
            b->special = s;
            b->special_count++;
        }
        if (!s) {
            guard_limit(b->g, words[i]);
            return;
        }
        s->fixed |= fixed;
        s->number |= number;
        if (number)
            bash_set_unknown(b, name);
    }
}

struct var_state bash_special_state(struct bash_reader *b, struct var *var, struct var_state state)
{
    const struct bash_special *s = b->special && var ? find_special(b, var->name) : NULL;
    if (!s)
        return state;
    return s->number ? (struct var_state){.unknown = true}
                     : vars_union(&b->vars, var->state, state);
}

/* i=…, i+=…, i++ and --i in arithmetic: the names get numbers. */
void bash_run_arithmetic(struct bash_reader *b, struct str text)
{
    for (size_t i = 0; i < text.n;) {
        if (!bash_is_name_char(text.p[i]) || ascii_is_digit(text.p[i])) {
            i++;
            continue;
        }
        size_t start = i;
        while (i < text.n && bash_is_name_char(text.p[i]))
            i++;
        size_t after = i;
        while (after < text.n && text.p[after] == ' ')
            after++;
        struct str rest = str_from(text, after), name = str_slice(text, start, i);
        bool plain = str_starts(rest, STR("=")) && !str_starts(rest, STR("=="));
        bool changes = rest.n > 1 && ascii_is_in(rest.p[0], "+-*/%&|^") && rest.p[1] == '=';
        bool shifts = str_starts(rest, STR("<<=")) || str_starts(rest, STR(">>="));
        bool counts = str_starts(rest, STR("++")) || str_starts(rest, STR("--")) ||
                      (start > 1 && text.p[start - 1] == text.p[start - 2] &&
                       ascii_is_in(text.p[start - 1], "+-"));
        if (plain || changes || shifts || counts)
            bash_set_unknown(b, name);
    }
}

/* ---- lists ---- */

static unsigned left(const struct bash_reader *b)
{
    return b->left_loop + b->left_function;
}

void bash_scope_begin(struct bash_reader *b, struct bash_scope *s)
{
    *s = (struct bash_scope){.left = left(b)};
}

/* What a job in the background sets and where it goes stays its own. */
static void end_job(struct bash_reader *b, struct bash_scope *s)
{
    if (!s->in_job)
        return;
    vars_branch_end(&b->vars, &s->job);
    vars_fork_drop(&b->vars, &s->job);
    guard_set_folder(b->g, s->job_folder);
    s->in_job = false;
}

void bash_scope_next(struct bash_reader *b, struct bash_scope *s, const struct bash_node *node)
{
    end_job(b, s);
    if (!s->maybe && left(b) != s->left) {
        vars_fork_begin(&b->vars, &s->rest);
        s->rest_folder = guard_folder(b->g);
        s->maybe = true;
    }
    if (node->background) {
        vars_fork_begin(&b->vars, &s->job);
        s->job_folder = guard_folder(b->g);
        s->in_job = true;
    }
}

void bash_scope_end(struct bash_reader *b, struct bash_scope *s)
{
    end_job(b, s);
    if (!s->maybe)
        return;
    vars_branch_end(&b->vars, &s->rest);
    vars_fork_end(&b->vars, &s->rest, false);
    bash_settle_folder(b, s->rest_folder);
}
