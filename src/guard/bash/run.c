/* SPDX-License-Identifier: Apache-2.0 */
/* Walks the tree in the order bash runs it, follows variables and functions, and hands every
 * command to its judge. */
#include "base/glob.h"
#include "guard/bash/bash.h"

#include "guard/names.h"

/* ---- functions ---- */

static size_t bucket_of(struct str name)
{
    unsigned hash = 2166136261u;
    for (size_t i = 0; i < name.n; i++)
        hash = (hash ^ (unsigned char)name.p[i]) * 16777619u;
    return hash % BASH_FUNCTION_BUCKETS;
}

struct bash_function *bash_function_find(const struct bash_functions *all, struct str name)
{
    if (!all->buckets)
        return NULL;
    for (struct bash_function *f = all->buckets[bucket_of(name)]; f; f = f->next)
        if (str_eq(f->name, name))
            return f->gone ? NULL : f;
    return NULL;
}

bool bash_function_add(struct arena *arena, struct bash_functions *all, struct str name,
                       struct bash_node *body, bool maybe)
{
    if (!all->buckets)
        all->buckets = ARENA_ARRAY(arena, BASH_FUNCTION_BUCKETS, struct bash_function *);
    struct bash_function *f = ARENA_NEW(arena, struct bash_function);
    if (!f || !all->buckets)
        return false;
    struct bash_function **bucket = &all->buckets[bucket_of(name)];
    *f = (struct bash_function){.next = *bucket, .name = name, .body = body, .maybe = maybe};
    *bucket = f;
    return true;
}

static void run_function(struct bash_reader *b, struct bash_function *f, const struct word *words,
                         size_t count, struct word input)
{
    if (!f->body)
        return;
    if (b->calls >= BASH_MAX_CALLS || !guard_spend(b->g, f->body->end - f->body->start + 1)) {
        if (f->owed) /* otherwise its body was judged where it is defined */
            guard_limit(b->g, words[0]);
        return;
    }
    struct str *values = ARENA_ARRAY(b->arena, count, struct str);
    if (!values) {
        guard_limit(b->g, words[0]);
        return;
    }
    for (size_t i = 1; i < count; i++)
        values[i - 1] = words[i].text;
    struct bash_arguments outer = b->arguments;
    struct bash_local *locals = b->locals;
    unsigned left_loop = b->left_loop, left_function = b->left_function;
    b->arguments = (struct bash_arguments){values, count - 1, true};
    b->calls++;
    b->in_function++;
    bash_run_node(b, f->body, input);
    b->in_function--;
    b->calls--;
    bash_restore(b, locals);
    b->left_loop = left_loop;
    b->left_function = left_function;
    b->arguments = outer;
}

/* ---- commands ---- */

static const struct bash_alias *find_alias(const struct bash_reader *b, struct str name)
{
    for (const struct bash_alias *a = b->aliases; a; a = a->next)
        if (str_eq(a->name, name))
            return a;
    return NULL;
}

/* An alias is text: its words and the arguments are read again. */
static void run_alias(struct bash_reader *b, const struct bash_alias *alias,
                      const struct word *words, size_t count, struct word input)
{
    struct bash_fields fields = {0};
    size_t i = 0;
    while (i < alias->value.n) {
        while (i < alias->value.n && alias->value.p[i] == ' ')
            i++;
        size_t end = str_find_char(alias->value, ' ', i);
        if (end > i)
            bash_field_add(b, &fields,
                           (struct word){str_slice(alias->value, i, end), words[0].start,
                                         words[0].end, false});
        i = end;
    }
    for (size_t k = 1; k < count; k++)
        bash_field_add(b, &fields, words[k]);
    if (fields.count && !guard_stopped(b->g))
        bash_run_words(b, fields.list, fields.count, input, true);
}

/* x$@dg-open: where nothing stands for the unknown, this is the command. */
static void judge_without_holes(struct bash_reader *b, const struct word *words, size_t count,
                                struct word input)
{
    struct word *copy = ARENA_ARRAY(b->arena, count, struct word);
    char *p = arena_alloc(b->arena, words[0].text.n);
    if (!copy || !p) {
        guard_limit(b->g, words[0]);
        return;
    }
    memcpy(copy, words, count * sizeof *copy);
    size_t n = 0;
    for (size_t i = 0; i < words[0].text.n; i++)
        if (words[0].text.p[i] != GUARD_HOLE)
            p[n++] = words[0].text.p[i];
    copy[0].text = (struct str){p, n};
    if (n)
        guard_program(b->g, &(struct guard_call){
                                .from = GUARD_BASH, .words = copy, .count = count, .input = input});
}

void bash_run_words(struct bash_reader *b, const struct word *words, size_t count,
                    struct word input, bool plain)
{
    if (guard_stopped(b->g) || count == 0)
        return;
    struct str name = words[0].text;
    if (!plain) {
        const struct bash_alias *alias = b->aliases ? find_alias(b, name) : NULL;
        if (alias)
            run_alias(b, alias, words, count, input);
        /* A function may be called after others are defined: inside it, all of them count. */
        struct bash_function *f =
            bash_function_find(b->defining ? &b->functions : &b->defined, name);
        if (f) {
            if (!b->defining)
                run_function(b, f, words, count, input);
            if (!f->maybe || b->defining)
                return;
        }
    }
    if (b->nesting >= BASH_MAX_NESTING) { /* command command command … */
        guard_limit(b->g, words[0]);
        return;
    }
    b->nesting++;
    bool builtin = bash_builtin(b, words, count, input);
    b->nesting--;
    if (builtin)
        return;
    if (str_has_char(name, GUARD_HOLE))
        judge_without_holes(b, words, count, input);
    bool path =
        str_has_char(name, '/') || (guard_path_changed(b->g) && guard_written(b->g, name).p);
    if (!(path && guard_script_as(b->g, words[0], GUARD_BASH)))
        guard_program(b->g,
                      &(struct guard_call){
                          .from = GUARD_BASH, .words = words, .count = count, .input = input});
}

void bash_run_text(struct bash_reader *b, struct word code, struct str who)
{
    bool unknown = str_has_char(code.text, GUARD_HOLE);
    if (unknown)
        guard_opaque_text(b->g, code, who);
    if (b->calls >= BASH_MAX_CALLS) {
        guard_limit(b->g, code);
        return;
    }
    if (!guard_spend(b->g, code.text.n + 1))
        return;
    struct bash_parser p = {.g = b->g,
                            .arena = b->arena,
                            .src = code.text,
                            .end = code.text.n,
                            .fixed = true,
                            .fixed_start = code.start,
                            .fixed_end = code.end,
                            .functions = &b->functions};
    p.pending_tail = &p.pending;
    struct bash_node *list = bash_parse(&p);
    bool silent = b->silent;
    b->silent = true;
    b->calls++;
    bash_run_list(b, list);
    b->calls--;
    b->silent = silent;
    if (p.failed && !unknown)
        guard_find(b->g, GUARD_OPAQUE_SYNTAX, code, who, NULL, NULL);
}

/* ---- substitutions ---- */

static void run_subshell(struct bash_reader *b, struct bash_node *list)
{
    struct vars_fork fork;
    struct bash_arguments arguments = b->arguments;
    struct word input = b->input;
    struct str folder = guard_folder(b->g);
    vars_fork_begin(&b->vars, &fork);
    bash_run_list(b, list);
    guard_set_folder(b->g, folder);
    vars_branch_end(&b->vars, &fork);
    vars_fork_drop(&b->vars, &fork);
    b->arguments = arguments;
    b->input = input;
}

/* ${x@P}: the value is expanded like a prompt. */
static void run_prompt(struct bash_reader *b, const struct bash_param *param,
                       const struct bash_word *word)
{
    struct bash_param plain = {.name = param->name, .index = param->index};
    struct bash_values values = bash_param_values(b, &plain);
    if (!values.many && values.one.n)
        guard_variable(b->g, STR("PS1"),
                       (struct word){.text = values.one, .start = word->start, .end = word->end});
}

/* A word that bash takes for a number. */
static void run_number(struct bash_reader *b, const struct bash_word *word)
{
    struct var *ambiguous = b->ambiguous;
    struct str text = bash_expand_text(b, word);
    bash_run_index(b, (struct word){.text = text, .start = word->start, .end = word->end});
    bash_run_arithmetic(b, text);
    b->ambiguous = ambiguous;
}

/* Runs the commands that stand inside words. */
void bash_run_substitutions(struct bash_reader *b, const struct bash_word *word)
{
    for (; word && !guard_stopped(b->g); word = word->next) {
        const struct bash_part *parts = word->assignment ? NULL : word->parts;
        for (const struct bash_part *part = parts; part; part = part->next) {
            switch (part->kind) {
            case BASH_LITERAL: break;
            case BASH_PARAM:
                if (!part->param)
                    break;
                if (part->param->op[0] == '@')
                    run_prompt(b, part->param, word);
                bash_run_substitutions(b, part->param->index_words);
                bash_run_substitutions(b, part->param->argument);
                bash_run_substitutions(b, part->param->replacement);
                break;
            case BASH_ARITHMETIC:
                bash_run_substitutions(b, part->word);
                if (part->word)
                    run_number(b, part->word);
                break;
            case BASH_COMMAND: run_subshell(b, part->list); break;
            case BASH_PROCESS: { /* the input of >(…) is not followed */
                struct word input = b->input;
                b->input = word_unknown(word->start, word->end);
                run_subshell(b, part->list);
                b->input = input;
                break;
            }
            }
        }
    }
}

static void run_redirects(struct bash_reader *b, const struct bash_node *node)
{
    for (const struct bash_redirect *r = node->redirects; r; r = r->next) {
        bash_run_substitutions(b, r->word);
        if (!r->opens || !r->word)
            continue;
        struct word file = {bash_expand_text(b, r->word), r->word->start, r->word->end, false};
        guard_protects(b->g, STR("the redirection"), file, false);
    }
}

/* echo code > a.sh: if the script runs the file later, this is its content. */
static void note_files(struct bash_reader *b, const struct bash_node *node, struct str input)
{
    for (const struct bash_redirect *r = node->redirects; r; r = r->next) {
        if (!r->writes || !r->word)
            continue;
        struct word file = {bash_expand_text(b, r->word), r->word->start, r->word->end, false};
        struct str content = bash_node_output(b, node, input);
        guard_write(b->g, STR("the redirection"), file, !guard_is_confined(b->g));
        if (str_eq(content, STR("\xFF")))
            guard_wrote_unknown(b->g, file.text);
        else if (content.n)
            guard_wrote(b->g, file.text, content, r->append);
    }
}

/* bash -i >& /dev/tcp/host/port: a shell for whoever answers there. */
static void judge_connected(struct bash_reader *b, const struct bash_node *node,
                            const struct bash_fields *fields)
{
    if (fields->count == 0 ||
        !name_is_one_of(name_program(fields->list[0].text), STR("bash|sh|dash|zsh|ksh|ash")))
        return;
    for (const struct bash_redirect *r = node->redirects; r; r = r->next) {
        struct str file = r->word ? bash_expand_text(b, r->word) : STR("");
        if (str_starts(file, STR("/dev/tcp/")) || str_starts(file, STR("/dev/udp/")))
            guard_find(b->g, GUARD_LAUNCH_OUTSIDE, fields->list[0], STR("bash"),
                       "hands a shell to another machine", "run the program directly");
    }
}

/* ---- simple commands ---- */

/* For --show: the words as they are written, without splitting. */
static void show(struct bash_reader *b, struct bash_node *node, const struct bash_fields *fields)
{
    if (b->silent || node->shown || !node->words)
        return;
    node->shown = true;
    const struct word *words = fields->list;
    if (fields->count != node->word_count) {
        struct word *written = ARENA_ARRAY(b->arena, node->word_count, struct word);
        if (!written) {
            guard_limit(b->g, word_unknown(node->start, node->end));
            return;
        }
        size_t n = 0;
        for (const struct bash_word *w = node->words; w; w = w->next)
            written[n++] = (struct word){bash_expand_text(b, w), w->start, w->end, w->quoted};
        words = written;
    }
    guard_command(b->g, GUARD_BASH, words[0], words + 1, node->word_count - 1, node->start,
                  node->end);
}

static bool is_shell(struct str name)
{
    size_t i = name.n;
    while (i > 0 && name.p[i - 1] != '/')
        i--;
    name = str_from(name, i);
    return str_eq(name, STR("bash")) || str_eq(name, STR("sh")) || str_eq(name, STR("zsh")) ||
           str_eq(name, STR("dash")) || str_eq(name, STR("ksh"));
}

/* source <(…) and bash <(…): the output of the substitution is the script. */
static bool run_process_script(struct bash_reader *b, const struct bash_node *node,
                               const struct bash_fields *fields)
{
    struct str name = fields->list[0].text;
    bool sources = str_eq(name, STR("source")) || str_eq(name, STR("."));
    if (!sources && !is_shell(name))
        return false;
    for (const struct bash_word *w = node->words->next; w; w = w->next) {
        if (!w->parts || w->parts->kind != BASH_PROCESS || w->parts->next) {
            struct str plain = bash_plain(w);
            if (plain.n && plain.p[0] == '-' && plain.p[1 % plain.n] != 'c')
                continue;
            return false;
        }
        struct word code = {
            .text = bash_output(b, w->parts->list), .start = w->start, .end = w->end};
        bash_run_text(b, code, name);
        return true;
    }
    return false;
}

/* /usr/bin/xdg-ope?: a name with wildcards, which bash looks up among the files. */
static bool is_pattern(struct word w)
{
    if (w.quoted || w.text.n < 2)
        return false;
    return str_has_char(w.text, '*') || str_has_char(w.text, '?') ||
           (str_has_char(w.text, '[') && str_find_char(w.text, ']', 0) <= w.text.n - 1 &&
            str_find(w.text, STR("[]"), 0) >= w.text.n);
}

/* The first program of the table that the pattern fits; a hole if there is none. */
static struct str match_program(struct str pattern)
{
    static const struct str programs[] = {
#define PROGRAM(name) {name, sizeof(name) - 1},
#include "guard/tables/bash_globs.def"
#undef PROGRAM
    };
    size_t leaf = pattern.n;
    while (leaf > 0 && pattern.p[leaf - 1] != '/')
        leaf--;
    pattern = str_from(pattern, leaf);
    for (size_t i = 0; i < sizeof programs / sizeof *programs && pattern.n <= 64; i++)
        if (glob_match(GLOB_BASH, pattern, programs[i]))
            return programs[i];
    return STR("\xFF");
}

static void judge_simple(struct bash_reader *b, struct bash_node *node, struct word input);

/* Judges the command for each value that a variable in it may hold. */
static void judge_each(struct bash_reader *b, struct bash_node *node, struct word input,
                       struct var *var)
{
    struct var_state state = var->state;
    struct vars_fork fork;
    vars_fork_begin(&b->vars, &fork);
    if (state.unknown) {
        vars_assign(&b->vars, var, (struct var_state){.unknown = true, .set = true});
        judge_simple(b, node, input);
        vars_branch_end(&b->vars, &fork);
    }
    for (unsigned i = 0; i < state.count && !guard_stopped(b->g); i++) {
        vars_assign(&b->vars, var, vars_one(&b->vars, state.values[i]));
        judge_simple(b, node, input);
        vars_branch_end(&b->vars, &fork);
    }
    vars_fork_end(&b->vars, &fork, true);
}

/* The command's words; the first variable among them that may hold several values, or NULL. */
static struct var *expand_words(struct bash_reader *b, const struct bash_node *node,
                                struct bash_fields *fields)
{
    b->ambiguous = NULL;
    for (const struct bash_word *w = node->words; w && !guard_stopped(b->g); w = w->next)
        bash_expand(b, w, fields);
    struct var *var = b->ambiguous;
    b->ambiguous = NULL;
    return var;
}

/* name=value f: the function, or read, sees the value, and nothing does afterwards. */
static void assign_for(struct bash_reader *b, const struct bash_node *node, struct str name)
{
    bool calls = bash_function_find(&b->defined, name) != NULL;
    for (const struct bash_assign *a = node->assigns; a; a = a->next) {
        if (str_eq(a->name, STR("IFS")) && !a->array)
            b->separators = bash_expand_text(b, a->value);
        if (!calls)
            continue;
        bash_save(b, a->name);
        bash_assign(b, a);
    }
}

static void judge_fields(struct bash_reader *b, struct bash_node *node, struct word input,
                         struct bash_fields *fields, struct var *var)
{
    b->ambiguous = var;
    if (node->declares)
        bash_save_declared(b, fields);
    if (!node->words || node->declares)
        for (const struct bash_assign *a = node->assigns; a; a = a->next)
            bash_assign(b, a);
    struct word own = bash_redirected_input(b, node);
    if (own.text.p)
        input = own;
    var = b->ambiguous;
    b->ambiguous = NULL;
    if (var && var->state.count && b->retries + var->state.count < BASH_MAX_RETRIES &&
        guard_spend(b->g, 32 * (size_t)var->state.count)) {
        b->retries += var->state.count;
        judge_each(b, node, input, var);
        return;
    }
    if (fields->count == 0 || guard_stopped(b->g) || run_process_script(b, node, fields))
        return;
    if (is_pattern(fields->list[0]))
        fields->list[0].text = match_program(fields->list[0].text);
    struct bash_local *locals = b->locals;
    if (node->assigns && !node->declares)
        assign_for(b, node, fields->list[0].text);
    bash_run_words(b, fields->list, fields->count, input, false);
    b->separators = STR_NONE;
    bash_restore(b, locals);
}

static void judge_simple(struct bash_reader *b, struct bash_node *node, struct word input)
{
    if (guard_stopped(b->g))
        return;
    struct bash_fields fields = {0};
    struct var *var = expand_words(b, node, &fields);
    judge_fields(b, node, input, &fields, var);
}

static void run_simple(struct bash_reader *b, struct bash_node *node, struct word input)
{
    struct bash_fields fields = {0};
    struct var *var = expand_words(b, node, &fields);
    if (guard_stopped(b->g))
        return;
    show(b, node, &fields);
    if (node->redirects) {
        note_files(b, node, input.text);
        judge_connected(b, node, &fields);
    }
    for (const struct bash_assign *a = node->assigns; a; a = a->next) {
        if (a->value && !a->array && a->name.n > 1 &&
            (a->name.p[0] <= '_' || str_starts(a->name, STR("npm_config_"))))
            guard_variable(b->g, a->name,
                           (struct word){.text = bash_expand_text(b, a->value),
                                         .start = a->value->start,
                                         .end = a->value->end});
        bash_run_substitutions(b, a->index_word);
        bash_run_substitutions(b, a->value);
    }
    bash_run_substitutions(b, node->words);
    run_redirects(b, node);
    if (fields.count == 1 && str_eq(fields.list[0].text, STR("exec")))
        bash_open_handles(b, node);
    judge_fields(b, node, input, &fields, var);
}

void bash_run_node(struct bash_reader *b, struct bash_node *node, struct word input)
{
    if (guard_stopped(b->g))
        return;
    if (b->vars.failed) {
        guard_limit(b->g, word_unknown(node->start, node->end));
        return;
    }
    if (node->kind == BASH_SIMPLE) {
        run_simple(b, node, input);
        return;
    }
    struct word outer = b->input;
    struct word own = bash_redirected_input(b, node);
    b->input = node->fed ? word_unknown(node->start, node->end) : own.text.p ? own : input;
    switch (node->kind) {
    case BASH_GROUP:
        bash_run_list(b, node->body);
        note_files(b, node, input.text);
        break;
    case BASH_SUBSHELL: run_subshell(b, node->body); break;
    case BASH_IF:
    case BASH_WHILE:
    case BASH_FOR:
    case BASH_CASE:
    case BASH_FUNCTION: bash_run_compound(b, node); break;
    case BASH_WORDS:
        bash_run_substitutions(b, node->words);
        for (const struct bash_word *w = node->words; w; w = w->next)
            run_number(b, w);
        break;
    case BASH_SIMPLE: break;
    }
    b->input = outer;
    if (node->kind != BASH_GROUP && node->kind != BASH_FUNCTION && node->redirects)
        note_files(b, node, input.text);
    run_redirects(b, node);
}

/* ---- lists ---- */

/* True if the command cannot fail, so that what follows && runs for certain. */
static bool always_succeeds(const struct bash_node *node)
{
    if (node->kind != BASH_SIMPLE)
        return false;
    if (!node->words)
        return true;
    struct str name = bash_plain(node->words);
    return node->declares || str_eq(name, STR("echo")) || str_eq(name, STR(":")) ||
           str_eq(name, STR("true")) || str_eq(name, STR("printf"));
}

void bash_run_list(struct bash_reader *b, struct bash_node *list)
{
    struct vars_fork chain;
    struct str folder = STR_NONE; /* in front of the chain */
    bool open = false;
    struct bash_node *before = NULL;
    struct str piped = STR_NONE;
    struct bash_scope scope;
    bash_scope_begin(b, &scope);
    for (struct bash_node *node = list; node && !guard_stopped(b->g); node = node->next) {
        bool feeds = node->next && node->next->join == BASH_PIPE;
        if (open && (node->join == BASH_THEN || node->join == BASH_OR)) {
            vars_branch_end(&b->vars, &chain);
            vars_fork_end(&b->vars, &chain, false);
            bash_settle_folder(b, folder);
            open = false;
        }
        if (node->join == BASH_THEN)
            bash_scope_next(b, &scope, node);
        if (node->join == BASH_OR ||
            (node->join == BASH_AND && !open && before && !always_succeeds(before))) {
            vars_fork_begin(&b->vars, &chain);
            folder = guard_folder(b->g);
            open = true;
        }
        struct word input = b->input;
        if (node->join == BASH_PIPE && before)
            input = (struct word){.text = piped, .start = before->start, .end = before->end};
        struct vars_fork stage;
        struct str here = guard_folder(b->g);
        bool in_pipe = feeds || node->join == BASH_PIPE;
        if (in_pipe)
            vars_fork_begin(&b->vars, &stage);
        bash_run_node(b, node, input);
        if (in_pipe) {
            vars_branch_end(&b->vars, &stage);
            if (feeds)
                piped = bash_node_output(b, node, input.text);
            vars_branch_end(&b->vars, &stage);
            if (b->last_pipe && !feeds)
                vars_fork_end(&b->vars, &stage, false);
            else
                vars_fork_drop(&b->vars, &stage);
            guard_set_folder(b->g, here);
        }
        before = node;
    }
    if (open) {
        vars_branch_end(&b->vars, &chain);
        vars_fork_end(&b->vars, &chain, false);
        bash_settle_folder(b, folder);
    }
    bash_scope_end(b, &scope);
}
