/* SPDX-License-Identifier: Apache-2.0 */
/* Commands of PowerShell: their names are resolved, their arguments bound, and each is judged. */
#include "guard/names.h"
#include "guard/powershell/run.h"

/* ---- words for programs ---- */

static void add_word(struct ps_words *w, struct word word)
{
    if (w->count == w->capacity) {
        struct word *words = arena_grow(w->r->f.arena, w->words, &w->capacity, sizeof *words);
        if (!words) {
            guard_limit(w->r->g, word);
            return;
        }
        w->words = words;
    }
    w->words[w->count++] = word;
}

void words_add(struct ps_words *w, const struct ps_node *at, struct ps_value v)
{
    if (v.kind == VALUE_LIST) {
        for (size_t i = 0; i < v.count && i < 256; i++)
            words_add(w, at, v.items[i]);
        return;
    }
    if (v.kind == VALUE_NULL || v.kind == VALUE_VOID)
        return;
    struct word word = eval_word(w->r, at, v);
    if (at->kind == PS_NUMBER)
        word.text = at->text;  /* programs get the digits as written */
    if (v.kind == VALUE_BLOCK) /* read on its own */
        word.text = STR("{}");
    add_word(w, word);
}

void words_split(struct ps_words *w, const struct ps_node *at, struct str line)
{
    size_t count = 0;
    struct word *words = winargv_split(w->r->f.arena, line, &count);
    for (size_t i = 0; words && i < count; i++) {
        words[i].start = at->start;
        words[i].end = at->end;
        add_word(w, words[i]);
    }
}

void ps_run_opaque_command(struct ps_run *r, struct word at)
{
    if (!r->quiet)
        guard_opaque_command(r->g, at, STR_NONE);
}

void ps_run_program(struct ps_run *r, struct word *words, size_t count, struct ps_value input)
{
    if (count == 0 || guard_stopped(r->g))
        return;
    if (r->quiet && str_has_char(name_leaf(words[0].text), GUARD_HOLE))
        return;
    struct guard_call call = {.from = GUARD_POWERSHELL, .words = words, .count = count};
    if (input.kind != VALUE_VOID) {
        call.input =
            (struct word){.text = STR("\xFF"), .start = words[0].start, .end = words[0].end};
        if (input.kind == VALUE_LIST)
            call.input.text =
                value_text(&r->f, fold_binary(&r->f, OP_JOIN, input, value_string(STR("\n"))));
        else
            call.input.text = value_text(&r->f, input);
    }
    guard_program(r->g, &call);
}

void ps_run_open(struct ps_run *r, struct str who, struct word target, struct word *args,
                 size_t count)
{
    if (r->quiet && str_has_char(name_leaf(target.text), GUARD_HOLE) && !guard_is_url(target.text))
        return;
    guard_open(r->g, who, target, args, count, GUARD_POWERSHELL);
}

void ps_run_delete(struct ps_run *r, struct str who, struct word target, unsigned flags)
{
    if (!r->quiet)
        guard_delete(r->g, who, target, flags);
}

/* ---- code from text ---- */

static void read_text(struct ps_run *r, struct word word, struct str who)
{
    struct ps_versions trees;
    if (!powershell_parse(r->g, word.text, &trees))
        return;
    if (trees.broken && !r->quiet)
        guard_find(r->g, GUARD_OPAQUE_SYNTAX, word, who, NULL, NULL);
    powershell_show(r->g, trees.tree[0]);
    r->codes++;
    for (size_t i = 0; i < trees.count; i++)
        if (trees.runs[i])
            ps_run_list(r, trees.tree[i]->b);
    r->codes--;
}

static void run_text(struct ps_run *r, struct ps_node *at, struct str text, struct str who)
{
    struct word word = {.text = text, .start = at->start, .end = at->end};
    if (str_has_char(text, GUARD_HOLE) && !r->quiet)
        guard_opaque_text(r->g, word, who);
    if (text.n == 0 || str_eq(text, STR("\xFF")) || !guard_spend(r->g, text.n))
        return;
    struct guard_frame outer;
    if (!guard_enter(r->g, word, &outer))
        return;
    read_text(r, word, who);
    guard_leave(r->g, outer);
}

void ps_run_code(struct ps_run *r, struct ps_node *at, struct ps_value text, struct str who)
{
    switch (text.kind) {
    case VALUE_BLOCK: ps_run_block(r, text.node, NULL, 0, value_kind(VALUE_VOID), false); return;
    case VALUE_LIST:
        for (size_t i = 0; i < text.count; i++)
            ps_run_code(r, at, text.items[i], who);
        return;
    case VALUE_NULL:
    case VALUE_VOID:
    case VALUE_UNKNOWN:
        if (!r->quiet)
            guard_opaque_text(r->g, word_unknown(at->start, at->end), who);
        return;
    default: run_text(r, at, value_text(&r->f, text), who); return;
    }
}

/* ---- names ---- */

/* Module\Name, if the module's name cannot be a folder in front of a program. */
static struct str without_module(struct str name)
{
    size_t slash = str_find_char(name, '\\', 0);
    if (slash == name.n || slash == 0)
        return name;
    struct str module = str_slice(name, 0, slash), rest = str_from(name, slash + 1);
    if (str_has_char(module, ':') || module.p[0] == '.' || str_has_char(rest, '\\') ||
        str_has_char(rest, '/') || str_has_char(rest, '.'))
        return name;
    size_t index;
    bool old;
    return cmdlet_find(rest, &index) || cmdlet_alias(rest, &old).p ? rest : name;
}

static void run_blocks_in(struct ps_run *r, struct ps_node *at, struct ps_value v,
                          struct ps_value input, int depth)
{
    if (v.kind == VALUE_BLOCK)
        ps_run_block(r, v.node, NULL, 0, input, true);
    else if (v.kind == VALUE_OBJECT && str_eq(v.object->type, STR("code")))
        ps_run_value(r, v, at, NULL, 0, input, true);
    else if (v.kind == VALUE_LIST && depth)
        for (size_t i = 0; i < v.count; i++)
            run_blocks_in(r, at, v.items[i], input, depth - 1);
    else if (v.kind == VALUE_HASH && depth) /* @{ Name = 'x'; Expression = { … } } */
        for (size_t i = 0; i < v.hash->count; i++)
            run_blocks_in(r, at, v.hash->pairs[i].value, input, depth - 1);
}

void ps_run_blocks(struct ps_run *r, const struct ps_arg *args, size_t count, struct ps_value input)
{
    if (input.kind == VALUE_VOID)
        input = value_unknown();
    for (size_t i = 0; i < count; i++)
        run_blocks_in(r, args[i].node, args[i].value, input, 2);
}

void ps_run_write(struct ps_run *r, struct word path, struct ps_value content, bool append)
{
    if (r->quiet)
        return;
    guard_write(r->g, STR("this"), path, false);
    if (content.kind == VALUE_LIST)
        content = fold_binary(&r->f, OP_JOIN, content, value_string(STR("\n")));
    struct str text = content.kind == VALUE_VOID ? STR("") : value_text(&r->f, content);
    guard_wrote(r->g, path.text, fold_concat(&r->f, text, STR("\n")), append);
}

void ps_run_redirect(struct ps_run *r, struct ps_node *target, struct ps_value content)
{
    struct word path = eval_word(r, target, eval(r, target));
    if (target->op != PS_OTHER_STREAM)
        ps_run_write(r, path, content, target->op == PS_APPEND);
    else if (!r->quiet)
        guard_protects(r->g, STR("the redirection"), path, false);
}

static struct ps_value call_program(struct ps_run *r, struct word name, const struct ps_arg *args,
                                    size_t count, struct ps_value input)
{
    struct ps_words w = {.r = r};
    add_word(&w, name);
    for (size_t i = 0; i < count; i++) {
        const struct ps_arg *arg = &args[i];
        if (arg->name.p) {
            struct word word = {.start = arg->node->start, .end = arg->node->end};
            word.text = fold_concat(&r->f, STR("-"), arg->name);
            if (arg->glued && arg->value.kind != VALUE_VOID) {
                word.text = fold_concat(&r->f, word.text, STR(":"));
                word.text = fold_concat(&r->f, word.text, value_text(&r->f, arg->value));
                add_word(&w, word);
                continue;
            }
            add_word(&w, word);
            if (arg->value.kind != VALUE_VOID)
                words_add(&w, arg->node, arg->value);
            continue;
        }
        if (arg->node->kind == PS_STRING && !arg->quoted && str_eq(arg->node->text, STR("--%"))) {
            for (i++; i < count; i++)
                words_split(&w, args[i].node, value_text(&r->f, args[i].value));
            break;
        }
        words_add(&w, arg->node, arg->value);
    }
    ps_run_program(r, w.words, w.count, input);
    ps_run_blocks(r, args, count, input);
    return value_unknown();
}

/* global:name and script:name, which only functions have. */
static bool without_scope(struct str *name)
{
    static const char *const scopes[] = {"global:", "script:", "local:", "private:"};
    for (size_t i = 0; i < sizeof scopes / sizeof *scopes; i++) {
        if (str_startsi(*name, str_of(scopes[i])) && name->n > strlen(scopes[i])) {
            *name = str_from(*name, strlen(scopes[i]));
            return true;
        }
    }
    return false;
}

/* text | sc file: the program of that name takes only these words and reads no text. */
static bool is_piped_content(struct ps_run *r, struct str name, const struct ps_arg *args,
                             size_t count, struct ps_value input)
{
    static const struct str verbs = STR(
        "start|stop|pause|continue|control|config|create|delete|failure|failureflag|description|"
        "sdset|triggerinfo|preferrednode|privs|sidtype|boot|lock|managedaccount");
    if (!str_eqi(name, STR("sc")) || input.kind == VALUE_VOID)
        return false;
    for (size_t i = 0; i < count; i++) {
        struct str text = value_text(&r->f, args[i].value);
        if (name_is_one_of(text, verbs) || str_starts(text, STR("\\\\")))
            return false;
    }
    return true;
}

struct ps_value ps_run_named(struct ps_run *r, struct str name, struct ps_node *at,
                             struct ps_arg *args, size_t count, struct ps_value input)
{
    struct str written = name;
    struct ps_node *first = at->kind == PS_COMMAND && at->a ? at->a : at;
    name = without_module(str_trim(name));
    bool set = false;
    bool scoped = without_scope(&name);
    for (int i = 0; i < 4; i++) { /* an alias of an alias */
        struct ps_value alias = scope_get(r, SPACE_ALIAS, name, &set);
        if (!set)
            break;
        if (!value_known(alias)) {
            ps_run_opaque_command(r, eval_word(r, first, alias));
            ps_run_blocks(r, args, count, input);
            return value_unknown();
        }
        name = without_module(value_text(&r->f, alias));
    }
    bool old = false;
    struct str builtin = scoped ? STR_NONE : cmdlet_alias(name, &old);
    if (old && !is_piped_content(r, name, args, count, input)) {
        /* in PowerShell 7 it is the program of that name */
        struct word program = {.text = name, .start = first->start, .end = first->end};
        call_program(r, program, args, count, input);
    }
    if (builtin.p)
        name = builtin;
    struct ps_value function = scope_get(r, SPACE_FUNCTION, name, &set);
    if (set && function.kind == VALUE_BLOCK) {
        struct ps_value out = ps_run_block(r, function.node, args, count, input, true);
        ps_run_blocks(r, args, count, input);
        return out;
    }
    if (set) {
        ps_run_code(r, at, function, STR("the function"));
        ps_run_blocks(r, args, count, input);
        return value_unknown();
    }
    size_t index;
    if (cmdlet_find(name, &index))
        return cmdlet_run(r, index, at, args, count, input);
    /* A name that nothing has is tried once more with Get- in front. */
    if (!builtin.p && cmdlet_find(fold_concat(&r->f, STR("Get-"), name), &index))
        return cmdlet_run(r, index, at, args, count, input);
    if (builtin.p || scoped) {
        ps_run_blocks(r, args, count, input);
        return value_unknown();
    }
    struct word word = {.text = name.n ? name : written, .start = first->start, .end = first->end};
    return call_program(r, word, args, count, input);
}

struct ps_value ps_run_value(struct ps_run *r, struct ps_value v, struct ps_node *at,
                             struct ps_arg *args, size_t count, struct ps_value input, bool dot)
{
    struct ps_node *first = at->kind == PS_COMMAND && at->a ? at->a : at;
    switch (v.kind) {
    case VALUE_BLOCK: {
        struct ps_value out = ps_run_block(r, v.node, args, count, input, !dot);
        return out;
    }
    case VALUE_STRING:
        if (value_known(v))
            return ps_run_named(r, v.text, at, args, count, input);
        return call_program(r, eval_word(r, first, v), args, count, input);
    case VALUE_OBJECT:
        if (str_eq(v.object->type, STR("command")))
            return ps_run_named(r, v.object->text, at, args, count, input);
        if (str_eq(v.object->type, STR("code"))) {
            scope_set(r, SPACE_VARIABLE, STR("args"), value_unknown());
            ps_run_code(r, at, value_string(v.object->text), STR("the script block"));
            return value_unknown();
        }
        if (str_eq(v.object->type, STR("module"))) { /* & (module) { … } */
            ps_run_blocks(r, args, count, input);
            return value_unknown();
        }
        break;
    case VALUE_LIST:
        if (v.count == 1)
            return ps_run_value(r, v.items[0], at, args, count, input, dot);
        break;
    case VALUE_CHAR: return ps_run_named(r, value_text(&r->f, v), at, args, count, input);
    case VALUE_METHOD: /* & $object.Method */
        if (!count)
            return dotnet_call(r, at, v, STR("invoke"), NULL, 0, false);
        break;
    default: break;
    }
    ps_run_opaque_command(r, word_unknown(first->start, first->end));
    ps_run_blocks(r, args, count, input);
    return value_unknown();
}

/* ---- arguments ---- */

struct start_arguments {
    struct ps_arg *args;
    size_t count, capacity;
};

static void add_argument(struct ps_run *r, struct start_arguments *a, struct ps_arg arg)
{
    if (a->count == a->capacity) {
        struct ps_arg *args = arena_grow(r->f.arena, a->args, &a->capacity, sizeof *args);
        if (!args) {
            guard_limit(r->g, (struct word){.start = arg.node->start, .end = arg.node->end});
            return;
        }
        a->args = args;
    }
    a->args[a->count++] = arg;
}

static void add_splat(struct ps_run *r, struct start_arguments *a, struct ps_node *node)
{
    struct ps_value v = eval(r, node);
    if (v.kind == VALUE_HASH) {
        for (size_t i = 0; i < v.hash->count; i++)
            add_argument(r, a,
                         (struct ps_arg){.node = node,
                                         .name = v.hash->pairs[i].key,
                                         .value = v.hash->pairs[i].value,
                                         .glued = true});
        if (v.hash->open) /* it may hold more */
            add_argument(r, a, (struct ps_arg){.node = node, .value = value_unknown()});
        return;
    }
    if (v.kind == VALUE_LIST) {
        for (size_t i = 0; i < v.count && i < 256; i++)
            add_argument(r, a, (struct ps_arg){.node = node, .value = v.items[i]});
        return;
    }
    add_argument(r, a, (struct ps_arg){.node = node, .value = v});
}

static struct str without_backticks(struct ps_run *r, struct str name)
{
    struct str copy = arena_copy(r->f.arena, name);
    size_t n = 0;
    for (size_t i = 0; copy.p && i < copy.n; i++)
        if (copy.p[i] != '`')
            ((char *)copy.p)[n++] = copy.p[i];
    return (struct str){copy.p, n};
}

/* The variable that -OutVariable and its like name; *output: it gets what the command puts out. */
static bool names_variable(struct str parameter, bool *output)
{
    enum { SHORTEST = 4 }; /* prefix of such a name that fits no other */
    static const struct str outputs[] = {STR("OutVariable"), STR("PipelineVariable")};
    static const struct str others[] = {STR("ErrorVariable"), STR("WarningVariable"),
                                        STR("InformationVariable"), STR("SessionVariable"),
                                        STR("BindingVariable")};
    *output = name_is_one_of(parameter, STR("ov|pv"));
    for (size_t i = 0; i < NAME_ROWS(outputs); i++)
        *output |= parameter.n >= SHORTEST && str_startsi(outputs[i], parameter);
    bool other = name_is_one_of(parameter, STR("ev|wv|iv|sv|rhv")) ||
                 (parameter.n > SHORTEST && str_endsi(parameter, STR("Variable")));
    for (size_t i = 0; i < NAME_ROWS(others); i++)
        other |= parameter.n >= SHORTEST && str_startsi(others[i], parameter);
    return *output || other;
}

/* Sets the variables that such parameters name. */
static void set_named_variables(struct ps_run *r, const struct ps_arg *args, size_t count,
                                struct ps_value out)
{
    for (size_t i = 0; i < count; i++) {
        bool output;
        struct ps_value name = args[i].value;
        if (!args[i].name.p || !names_variable(args[i].name, &output))
            continue;
        if (name.kind == VALUE_VOID && i + 1 < count && !args[i + 1].name.p)
            name = args[i + 1].value;
        if (name.kind != VALUE_STRING || !value_known(name))
            continue;
        bool adds = str_starts(name.text, STR("+"));
        struct ps_value value = output && !adds ? out : value_unknown();
        if (value.kind == VALUE_LIST && value.count && value.count <= RUN_MAX_VALUES &&
            value.items[0].kind == VALUE_STRING)
            scope_set_any(r, SPACE_VARIABLE, name.text, value.items, value.count);
        else
            variable_set(r, str_from(name.text, adds),
                         value.kind == VALUE_VOID ? value_unknown() : value);
    }
}

struct ps_value ps_run_command(struct ps_run *r, struct ps_node *node, struct ps_value input)
{
    struct start_arguments a = {0};
    struct ps_value callee = value_unknown();
    bool plain = node->a && node->a->kind == PS_STRING;
    if (node->a && !plain)
        callee = eval(r, node->a);
    for (struct ps_node *n = node->a ? node->a->next : NULL; n && !guard_stopped(r->g);
         n = n->next) {
        if (n->kind == PS_SPLAT) {
            add_splat(r, &a, n);
            continue;
        }
        struct ps_arg arg = {.node = n, .quoted = (n->flags & PS_QUOTED) != 0};
        arg.value = eval(r, n);
        if (n->kind == PS_PARAMETER) {
            /* A backtick stays in a parameter's name, which then fits nothing; read it away. */
            arg.name = str_has_char(n->text, '`') ? without_backticks(r, n->text) : n->text;
            arg.glued = n->a != NULL;
            if (n->a)
                arg.node = n->a;
        }
        add_argument(r, &a, arg);
    }
    if (!node->a || guard_stopped(r->g))
        return value_unknown();
    struct ps_value out =
        plain ? ps_run_named(r, node->a->text, node, a.args, a.count, input)
              : ps_run_value(r, callee, node, a.args, a.count, input, node->op == '.');
    if (node->op == '.' && (plain || callee.kind == VALUE_STRING)) {
        struct str file = plain ? node->a->text : callee.text;
        if (str_endsi(file, STR(".ps1"))) /* its variables are those of this script */
            scope_doubt_all(r, node);
    }
    bool tees = plain && name_is_one_of(node->a->text, STR("tee|Tee-Object"));
    if (!tees)
        set_named_variables(r, a.args, a.count, out);
    for (struct ps_node *target = node->b; target; target = target->next)
        ps_run_redirect(r, target, out);
    return out;
}
