/* SPDX-License-Identifier: Apache-2.0 */
/* Expressions of PowerShell, evaluated as far as their values are known. */
#include "guard/names.h"
#include "guard/powershell/run.h"

struct word eval_word(struct ps_run *r, const struct ps_node *node, struct ps_value v)
{
    return (struct word){.text = value_text(&r->f, v),
                         .start = node->start,
                         .end = node->end,
                         .quoted = (node->flags & PS_QUOTED) != 0};
}

static struct ps_value eval_expand(struct ps_run *r, struct ps_node *node)
{
    struct fold_buffer t = {0};
    for (struct ps_node *part = node->a; part; part = part->next) {
        struct ps_value v = eval(r, part);
        fold_add(&r->f, &t, value_text(&r->f, v));
    }
    return value_string(fold_result(&t));
}

static struct ps_value eval_variable(struct ps_run *r, struct ps_node *node)
{
    bool set;
    struct ps_value v = variable_get(r, node->text, &set);
    return set ? v : value_unknown();
}

static struct ps_value eval_list(struct ps_run *r, struct ps_node *node)
{
    size_t count = 0;
    for (struct ps_node *item = node->a; item; item = item->next)
        count++;
    struct ps_value list = value_list(&r->f, count);
    size_t i = 0;
    for (struct ps_node *item = node->a; item; item = item->next) {
        struct ps_value v = eval(r, item);
        if (list.kind == VALUE_LIST)
            list.items[i++] = v;
    }
    return list;
}

/* $object.Value = v, where the object stands for a variable. */
static bool assign_through(struct ps_run *r, struct ps_value object, struct ps_value key,
                           struct ps_value v)
{
    bool is_ref = str_eq(object.object->type, STR("ref"));
    if ((!is_ref && !str_eq(object.object->type, STR("variable"))) ||
        (value_known(key) && !str_eqi(value_text(&r->f, key), STR("value"))))
        return false;
    struct str name = object.object->text;
    enum ps_space space = variable_space(&name);
    if (name.n)
        scope_set_outer(r, space, name, v);
    return is_ref;
}

static struct ps_value eval_hash(struct ps_run *r, struct ps_node *node)
{
    struct ps_value v = value_kind(VALUE_HASH);
    v.hash = ARENA_NEW(r->f.arena, struct value_hash);
    if (!v.hash)
        return value_unknown();
    for (struct ps_node *pair = node->a; pair && !guard_stopped(r->g); pair = pair->next) {
        struct ps_value key = pair->a ? eval(r, pair->a) : value_unknown();
        struct ps_value item = pair->b ? ps_run_statement(r, pair->b) : value_unknown();
        if (item.kind == VALUE_VOID)
            item = value_kind(VALUE_NULL);
        if (!value_known(key) || v.hash->count >= 512)
            v.hash->open = true;
        else
            value_put(&r->f, v.hash, value_text(&r->f, key), item);
    }
    return v;
}

/* The right side of an operator; of -and, -or and ?? it may not be evaluated. */
static struct ps_value eval_right(struct ps_run *r, struct ps_node *node, struct ps_value left)
{
    size_t mark = r->log_count;
    struct ps_value right = node->b ? eval(r, node->b) : value_unknown();
    int truth = fold_truth(left);
    bool null = left.kind == VALUE_NULL || left.kind == VALUE_VOID;
    int runs = node->op == OP_AND                ? truth
               : node->op == OP_OR               ? (truth < 0 ? -1 : !truth)
               : node->op != OP_COALESCE || null ? 1
               : left.kind == VALUE_UNKNOWN      ? -1
                                                 : 0;
    if (runs == 0)
        scope_undo(r, mark);
    else if (runs < 0)
        scope_maybe(r, mark);
    return right;
}

/* A long chain like 'a'+'b'+… is deep on its left side: walked in a loop, and text only grows. */
static struct ps_value eval_binary(struct ps_run *r, struct ps_node *node)
{
    size_t count = 0;
    struct ps_node *leaf = node;
    for (; leaf && leaf->kind == PS_BINARY; leaf = leaf->a)
        count++;
    struct ps_node *few[32], **chain = few;
    if (count > 32 && !(chain = ARENA_ARRAY(r->f.arena, count, struct ps_node *)))
        return value_unknown();
    size_t i = count;
    for (leaf = node; leaf && leaf->kind == PS_BINARY; leaf = leaf->a)
        chain[--i] = leaf;
    struct ps_value v = leaf ? eval(r, leaf) : value_unknown();
    struct fold_buffer grown = {0};
    for (i = 0; i < count && !guard_stopped(r->g); i++) {
        struct ps_value right = eval_right(r, chain[i], v);
        if (chain[i]->op == OP_ADD && v.kind == VALUE_STRING && count > 2) {
            if (!grown.text.p || v.text.p != grown.text.p) {
                grown = (struct fold_buffer){0};
                fold_add(&r->f, &grown, v.text);
            }
            fold_add(&r->f, &grown, value_text(&r->f, right));
            v = value_string(fold_result(&grown));
            continue;
        }
        v = fold_binary(&r->f, chain[i]->op, v, right);
    }
    return v;
}

static struct ps_value eval_unary(struct ps_run *r, struct ps_node *node)
{
    if (!node->a)
        return value_unknown();
    struct ps_value v = eval(r, node->a);
    if (node->op != OP_INCREMENT && node->op != OP_DECREMENT)
        return fold_unary(&r->f, node->op, v);
    double x;
    struct ps_value next = v.kind != VALUE_UNKNOWN && fold_number(v, &x)
                               ? value_number(node->op == OP_INCREMENT ? x + 1 : x - 1)
                               : value_unknown();
    eval_assign(r, node->a, next);
    return node->flags & PS_POST ? v : next;
}

static struct ps_value eval_member(struct ps_run *r, struct ps_node *node)
{
    struct ps_value object = node->a ? eval(r, node->a) : value_unknown();
    struct ps_value name = node->b ? eval(r, node->b) : value_unknown();
    if (name.kind == VALUE_BLOCK && node->b->kind == PS_SCRIPTBLOCK)
        name = value_unknown();
    bool call = node->kind == PS_CALL;
    size_t count = 0;
    for (struct ps_node *arg = node->c; call && arg; arg = arg->next)
        count++;
    struct ps_value few[8], *args = few;
    if (count > 8 && !(args = ARENA_ARRAY(r->f.arena, count, struct ps_value)))
        return value_unknown();
    size_t i = 0;
    for (struct ps_node *arg = node->c; call && arg; arg = arg->next)
        args[i++] = eval(r, arg);
    if (guard_stopped(r->g))
        return value_unknown();
    struct str member = value_known(name) ? value_text(&r->f, name) : STR("\xFF");
    bool is_static = (node->flags & PS_STATIC) != 0;
    for (i = 0; i < count; i++) /* a method may set it */
        if (args[i].kind == VALUE_OBJECT && str_eq(args[i].object->type, STR("ref")))
            variable_set(r, args[i].object->text, value_unknown());
    return call ? dotnet_call(r, node, object, member, args, count, is_static)
                : dotnet_property(r, node, object, member, is_static);
}

static struct ps_value eval_group(struct ps_run *r, struct ps_node *node)
{
    struct ps_value v = ps_run_list(r, node->a);
    if (node->kind == PS_ARRAY && v.kind != VALUE_LIST && v.kind != VALUE_UNKNOWN) {
        struct ps_value list = value_list(&r->f, v.kind == VALUE_VOID ? 0 : 1);
        if (list.kind == VALUE_LIST && list.count)
            list.items[0] = v;
        return list;
    }
    return v.kind == VALUE_VOID ? value_kind(VALUE_NULL) : v;
}

/* A cast to a type that the folder does not know calls its constructor. */
static struct ps_value cast(struct ps_run *r, struct ps_node *at, struct str name,
                            struct ps_value v)
{
    if (str_startsi(name, STR("wmi")) || !str_has_char(name, '.'))
        return fold_cast(&r->f, name, v);
    struct str type = dotnet_type(r, name);
    if (!dotnet_is_known(type) || (v.kind != VALUE_STRING && v.kind != VALUE_HASH))
        return fold_cast(&r->f, type, v);
    if (v.kind == VALUE_STRING)
        return dotnet_new(r, at, type, &v, 1);
    struct ps_value made = dotnet_new(r, at, type, NULL, 0); /* a table holds its properties */
    if (made.kind == VALUE_OBJECT)
        made.object->properties = *v.hash;
    return made;
}

/* One side of a ? b : c; taken: 1 it is, 0 it is not, -1 nobody knows. */
static struct ps_value eval_choice(struct ps_run *r, struct ps_node *node, int taken)
{
    size_t mark = r->log_count;
    struct ps_value v = node ? eval(r, node) : value_unknown();
    if (taken == 0)
        scope_undo(r, mark);
    else if (taken < 0)
        scope_maybe(r, mark);
    return v;
}

/* [ref]$x */
static struct ps_value reference(struct ps_run *r, struct ps_node *target)
{
    while (target && target->kind == PS_PAREN)
        target = target->a;
    if (!target || target->kind != PS_VARIABLE)
        return value_unknown();
    return value_object(&r->f, STR("ref"), target->text);
}

static struct ps_value eval_node(struct ps_run *r, struct ps_node *node)
{
    struct ps_value v;
    bool real;
    switch (node->kind) {
    case PS_STRING: return value_string(node->text);
    case PS_NUMBER:
        v = value_number(0);
        if (!ps_number(node->text, &v.number, &real))
            return value_unknown();
        v.real = real;
        return v;
    case PS_EXPAND: return eval_expand(r, node);
    case PS_VARIABLE:
    case PS_SPLAT: return eval_variable(r, node);
    case PS_SCRIPTBLOCK:
        v = value_kind(VALUE_BLOCK);
        v.node = node;
        ps_run_remember(r, node);
        return v;
    case PS_HASH: return eval_hash(r, node);
    case PS_ARRAY:
    case PS_SUBEXPR: return eval_group(r, node);
    case PS_PAREN:
        v = !node->a                    ? value_unknown()
            : node->a->kind == PS_UNARY ? eval(r, node->a)
                                        : ps_run_statement(r, node->a);
        if (node->a && node->a->kind == PS_ASSIGN)
            return eval(r, node->a->a);
        return v.kind == VALUE_VOID ? value_kind(VALUE_NULL) : v;
    case PS_LIST: return eval_list(r, node);
    case PS_BINARY: return eval_binary(r, node);
    case PS_UNARY: return eval_unary(r, node);
    case PS_CAST:
        if (name_is_one_of(node->text, STR("ref|psreference|"
                                           "System.Management.Automation.PSReference")))
            return reference(r, node->a);
        return cast(r, node, node->text, node->a ? eval(r, node->a) : value_unknown());
    case PS_TYPE:
        v = value_kind(VALUE_TYPE);
        v.text = dotnet_type(r, node->text);
        return v;
    case PS_MEMBER:
    case PS_CALL: return eval_member(r, node);
    case PS_INDEX: {
        struct ps_value object = node->a ? eval(r, node->a) : value_unknown();
        struct ps_value index = node->b ? eval(r, node->b) : value_unknown();
        return fold_index(&r->f, object, index);
    }
    case PS_TERNARY: {
        int truth = fold_truth(eval(r, node->a));
        struct ps_value yes = eval_choice(r, node->b, truth);
        struct ps_value no = eval_choice(r, node->c, truth < 0 ? truth : !truth);
        if (truth >= 0)
            return truth ? yes : no;
        /* Two worlds of its own. */
        if (r->worlds < 2)
            r->worlds = 2;
        return r->world % 2 ? no : yes;
    }
    case PS_PARAMETER: return node->a ? eval(r, node->a) : value_kind(VALUE_VOID);
    case PS_COMMAND:
    case PS_PIPELINE:
    case PS_ASSIGN:
    case PS_BODY:
    case PS_IF:
    case PS_SWITCH:
    case PS_FOR:
    case PS_FOREACH:
    case PS_WHILE:
    case PS_TRY:
    case PS_FLOW: return ps_run_statement(r, node);
    default: return value_unknown();
    }
}

struct ps_value eval(struct ps_run *r, struct ps_node *node)
{
    if (!node || guard_stopped(r->g))
        return value_unknown();
    if (r->depth >= r->deepest || !fold_step(&r->f, 1)) {
        guard_limit(r->g, (struct word){.text = STR(""), .start = node->start, .end = node->end});
        return value_unknown();
    }
    r->depth++;
    struct ps_value v = eval_node(r, node);
    r->depth--;
    return v;
}

static void assign_list(struct ps_run *r, struct ps_node *targets, struct ps_value v)
{
    size_t i = 0;
    for (struct ps_node *target = targets; target; target = target->next, i++) {
        struct ps_value item = value_unknown();
        if (v.kind == VALUE_LIST)
            item = i < v.count ? v.items[i] : value_kind(VALUE_NULL);
        else if (v.kind != VALUE_UNKNOWN)
            item = i == 0 ? v : value_kind(VALUE_NULL);
        eval_assign(r, target, item);
    }
}

void eval_assign(struct ps_run *r, struct ps_node *target, struct ps_value v)
{
    switch (target->kind) {
    case PS_VARIABLE:
        variable_judge(r, target->text, eval_word(r, target, v));
        variable_set(r, target->text, v);
        return;
    case PS_CAST:
        /* [ValidateScript({…})]$x = 1 runs the block */
        for (struct ps_node *arg = target->b ? target->b->a : NULL; arg; arg = arg->next)
            eval(r, arg);
        if (target->a)
            eval_assign(r, target->a, target->b ? v : cast(r, target, target->text, v));
        return;
    case PS_PAREN:
        if (target->a)
            eval_assign(r, target->a, v);
        return;
    case PS_LIST: assign_list(r, target->a, v); return;
    case PS_INDEX:
    case PS_MEMBER: {
        struct ps_value object = target->a ? eval(r, target->a) : value_unknown();
        struct ps_value key = target->b ? eval(r, target->b) : value_unknown();
        if (target->kind == PS_MEMBER && target->b && target->b->kind == PS_STRING)
            key = value_string(target->b->text);
        if (object.kind == VALUE_TYPE && str_eqi(object.text, STR("environment")) &&
            str_eqi(value_text(&r->f, key), STR("currentdirectory"))) {
            dotnet_set_folder(r, v);
        } else if (object.kind == VALUE_HASH) {
            if (value_known(key))
                value_put(&r->f, object.hash, value_text(&r->f, key), v);
            else
                object.hash->open = true;
        } else if (object.kind == VALUE_OBJECT) {
            if (assign_through(r, object, key, v))
                return;
            value_put(&r->f, &object.object->properties, fold_lower(&r->f, value_text(&r->f, key)),
                      v);
        } else if (object.kind == VALUE_LIST) {
            double x;
            if (fold_number(key, &x) && x >= 0 && x < (double)object.count)
                object.items[(size_t)x] = v;
        } else if (target->a && target->a->kind == PS_VARIABLE && target->kind == PS_INDEX) {
            /* $PSDefaultParameterValues['Start-Process:FilePath'] = … */
            struct ps_value hash = value_kind(VALUE_HASH);
            hash.hash = ARENA_NEW(r->f.arena, struct value_hash);
            if (hash.hash && str_eqi(target->a->text, STR("PSDefaultParameterValues"))) {
                value_put(&r->f, hash.hash, value_text(&r->f, key), v);
                variable_set(r, target->a->text, hash);
            }
        }
        return;
    }
    default: return;
    }
}
