/* SPDX-License-Identifier: Apache-2.0 */
/* Statements of PowerShell, followed in order: both sides of branches, loops, functions. */
#include "guard/powershell/run.h"

static bool enter(struct ps_run *r, const struct ps_node *node)
{
    if (guard_stopped(r->g))
        return false;
    if (r->depth >= r->deepest || !fold_step(&r->f, 1)) {
        guard_limit(r->g, (struct word){.text = STR(""), .start = node->start, .end = node->end});
        return false;
    }
    r->depth++;
    return true;
}

/* Room at the end of a list of which nothing else holds a longer part. */
static bool make_room(struct ps_run *r, struct ps_value *list, size_t more)
{
    size_t capacity = list->room ? (size_t)1 << list->room : 0;
    if (list->count + more <= capacity)
        return true;
    uint8_t room = 4;
    while ((size_t)1 << room < list->count + more)
        room++;
    struct ps_value larger = value_list(&r->f, (size_t)1 << room);
    if (larger.kind != VALUE_LIST)
        return false;
    memcpy(larger.items, list->items, list->count * sizeof *list->items);
    larger.count = list->count;
    larger.room = room;
    *list = larger;
    return true;
}

struct ps_value ps_run_collect(struct ps_run *r, struct ps_value all, struct ps_value v)
{
    if (v.kind == VALUE_VOID)
        return all;
    if (all.kind == VALUE_VOID) {
        v.room = 0; /* it may be another's list */
        return v;
    }
    struct ps_value only = all;
    if (all.kind != VALUE_LIST)
        all = (struct ps_value){.kind = VALUE_LIST, .items = &only, .count = 1};
    size_t more = v.kind == VALUE_LIST ? v.count : 1;
    if (!fold_step(&r->f, more) || !make_room(r, &all, more))
        return value_unknown();
    for (size_t i = 0; i < more; i++)
        all.items[all.count++] = v.kind == VALUE_LIST ? v.items[i] : v;
    return all;
}

struct ps_value ps_run_list(struct ps_run *r, struct ps_node *list)
{
    struct ps_value all = value_kind(VALUE_VOID);
    unsigned left = r->breaks + r->returns;
    unsigned returns = r->returns;
    bool ended = false, may_have_returned = false;
    size_t mark = 0; /* of what was assigned behind that; a loop looks after its breaks itself */
    for (; list && !guard_stopped(r->g); list = list->next) {
        bool may_have_ended = r->breaks + r->returns != left;
        if (!may_have_returned && r->returns != returns) {
            may_have_returned = true;
            mark = r->log_count;
        }
        size_t before = r->log_count;
        struct ps_value v = ps_run_statement(r, list);
        if (list->flags & PS_CHAINED) /* behind && or || */
            scope_maybe(r, before);
        all = may_have_ended && v.kind != VALUE_VOID ? value_unknown() : ps_run_collect(r, all, v);
        if (list->kind == PS_FLOW && !ended && list->next) { /* nothing behind it runs */
            if (may_have_returned)
                scope_maybe(r, mark);
            ended = may_have_returned = true;
            mark = r->log_count;
        }
    }
    if (ended)
        scope_undo(r, mark);
    else if (may_have_returned)
        scope_maybe(r, mark);
    return all;
}

static struct ps_value run_body(struct ps_run *r, struct ps_node *body)
{
    if (!body)
        return value_kind(VALUE_VOID);
    return body->kind == PS_BODY ? ps_run_list(r, body->a) : ps_run_statement(r, body);
}

void ps_run_remember(struct ps_run *r, struct ps_node *block)
{
    if (!block || (block->flags & PS_JUDGED))
        return;
    if (r->defined_count == r->defined_capacity) {
        struct ps_node **defined =
            arena_grow(r->f.arena, r->defined, &r->defined_capacity, sizeof *defined);
        if (!defined) {
            guard_limit(r->g, (struct word){.start = block->start, .end = block->end});
            return;
        }
        r->defined = defined;
    }
    r->defined[r->defined_count++] = block;
}

/* ---- blocks and functions ---- */

/* [ValidateScript({…})]$x: the block runs on what the parameter gets; value NULL: some time. */
static void run_attributes(struct ps_run *r, struct ps_node *param, const struct ps_value *value)
{
    for (struct ps_node *attribute = param->b; attribute; attribute = attribute->next)
        for (struct ps_node *arg = attribute->a; arg; arg = arg->next) {
            if (arg->kind != PS_SCRIPTBLOCK)
                continue;
            size_t mark = r->log_count;
            if (value)
                ps_run_block_on(r, arg, *value);
            else
                ps_run_remember(r, arg);
            scope_undo(r, mark);
        }
}

static bool param_matches(struct str name, struct str given)
{
    return given.n && str_startsi(name, given);
}

static void bind_params(struct ps_run *r, struct ps_node *block, const struct ps_arg *args,
                        size_t count, struct ps_value input)
{
    bool few[16] = {0}, *taken = few;
    if (count > 16 && !(taken = ARENA_ARRAY(r->f.arena, count, bool)))
        return;
    struct ps_value rest = value_list(&r->f, count);
    size_t rest_count = 0;
    bool fed = input.kind == VALUE_VOID;
    /* By name first. */
    for (struct ps_node *p = block->a; p; p = p->next) {
        if (!p->text.n)
            continue;
        struct ps_value v = value_unknown();
        bool set = false;
        for (size_t i = 0; i < count && !set; i++) {
            if (taken[i] || !args[i].name.p || !param_matches(p->text, args[i].name))
                continue;
            taken[i] = set = true;
            v = args[i].value;
            if (v.kind == VALUE_VOID && i + 1 < count && !args[i + 1].name.p && !taken[i + 1]) {
                bool is_switch = false;
                for (struct ps_node *a = p->b; a; a = a->next)
                    is_switch |= str_eqi(a->text, STR("switch"));
                if (!is_switch) {
                    taken[i + 1] = true;
                    v = args[i + 1].value;
                }
            }
            if (v.kind == VALUE_VOID)
                v = value_bool(true);
        }
        p->flags = set ? p->flags | PS_JUDGED : p->flags & (uint8_t)~PS_JUDGED;
        if (set)
            scope_set(r, SPACE_VARIABLE, p->text, v);
    }
    size_t next = 0;
    for (struct ps_node *p = block->a; p; p = p->next) {
        if (!p->text.n || (p->flags & PS_JUDGED))
            continue;
        while (next < count && (taken[next] || args[next].name.p))
            next++;
        if (next < count) {
            taken[next] = true;
            scope_set(r, SPACE_VARIABLE, p->text, args[next].value);
        } else if (!fed) {
            fed = true;
            scope_set(r, SPACE_VARIABLE, p->text, input);
        } else if (p->a) {
            scope_set(r, SPACE_VARIABLE, p->text, eval(r, p->a));
        } else {
            scope_set(r, SPACE_VARIABLE, p->text, value_unknown());
        }
    }
    for (size_t i = 0; i < count && rest.kind == VALUE_LIST; i++)
        if (!taken[i])
            rest.items[rest_count++] = args[i].value;
    if (rest.kind == VALUE_LIST)
        rest.count = rest_count;
    scope_set(r, SPACE_VARIABLE, STR("args"), rest);
    for (struct ps_node *p = block->a; p; p = p->next) {
        bool set;
        struct ps_value v =
            p->b && p->text.n ? scope_get(r, SPACE_VARIABLE, p->text, &set) : value_unknown();
        if (p->b)
            run_attributes(r, p, &v);
    }
}

struct ps_value ps_run_block(struct ps_run *r, struct ps_node *block, const struct ps_arg *args,
                             size_t count, struct ps_value input, bool own_scope)
{
    if (!block)
        return value_unknown();
    for (unsigned i = 0; i < r->calls; i++)
        if (r->active[i] == block)
            return value_unknown();
    if (r->calls >= RUN_MAX_CALLS || !enter(r, block))
        return value_unknown();
    block->flags |= PS_JUDGED;
    r->active[r->calls++] = block;
    size_t mark = r->log_count;
    unsigned returns = r->returns;
    struct ps_value out = value_kind(VALUE_VOID);
    bool each = input.kind == VALUE_LIST && input.count > 1 && input.count <= 16;
    for (size_t i = 0; i < (each ? input.count : 1) && !guard_stopped(r->g); i++) {
        struct ps_value item = each ? input.items[i] : input;
        bind_params(r, block, args, count, item);
        if (input.kind != VALUE_VOID) {
            scope_set(r, SPACE_VARIABLE, STR("_"), item);
            scope_set(r, SPACE_VARIABLE, STR("PSItem"), item);
            scope_set(r, SPACE_VARIABLE, STR("input"), input);
        }
        out = ps_run_collect(r, out, ps_run_list(r, block->b));
    }
    r->returns = returns;
    r->calls--;
    if (own_scope)
        scope_leave(r, mark);
    r->depth--;
    return out;
}

struct ps_value ps_run_block_on(struct ps_run *r, struct ps_node *block, struct ps_value item)
{
    if (!block || guard_stopped(r->g))
        return value_unknown();
    if (!enter(r, block))
        return value_unknown();
    block->flags |= PS_JUDGED;
    scope_set(r, SPACE_VARIABLE, STR("_"), item);
    scope_set(r, SPACE_VARIABLE, STR("PSItem"), item);
    unsigned returns = r->returns;
    struct ps_value out = ps_run_list(r, block->b);
    r->returns = returns;
    r->depth--;
    return out;
}

/* ---- branches and loops ---- */

static struct ps_value run_if(struct ps_run *r, struct ps_node *node)
{
    struct ps_branches branches = {0};
    bool must = false;
    struct ps_value all = value_kind(VALUE_VOID);
    for (; node && !guard_stopped(r->g); node = node->c) {
        bool last = node->kind != PS_IF;
        if (!last)
            ps_run_statement(r, node->a);
        size_t mark = r->log_count;
        struct ps_value v = last ? run_body(r, node) : run_body(r, node->b);
        all = ps_run_collect(r, all, v);
        scope_branch(r, mark, &branches);
        must |= last;
        if (last)
            break;
    }
    scope_merge(r, &branches, must);
    return all;
}

/* Something that may run or not. */
static void run_maybe(struct ps_run *r, struct ps_node *body, bool must)
{
    struct ps_branches branches = {0};
    size_t mark = r->log_count;
    run_body(r, body);
    scope_branch(r, mark, &branches);
    scope_merge(r, &branches, must);
}

static struct ps_value run_switch(struct ps_run *r, struct ps_node *node)
{
    struct ps_value subject = node->a ? ps_run_statement(r, node->a) : value_unknown();
    struct ps_branches branches = {0};
    struct ps_value all = value_kind(VALUE_VOID);
    for (struct ps_node *clause = node->b; clause && !guard_stopped(r->g); clause = clause->next) {
        if (clause->a && clause->a->kind == PS_SCRIPTBLOCK)
            ps_run_block_on(r, clause->a, subject);
        else
            eval(r, clause->a);
        size_t mark = r->log_count;
        scope_set(r, SPACE_VARIABLE, STR("_"), subject);
        all = ps_run_collect(r, all, run_body(r, clause->b));
        scope_branch(r, mark, &branches);
    }
    scope_merge(r, &branches, false);
    return all;
}

static void run_unknown_loop(struct ps_run *r, struct ps_node *body)
{
    /* Twice, so that what one round assigns is seen by the next; more rounds can make anything. */
    size_t mark = r->log_count;
    r->loops++;
    run_maybe(r, body, false);
    scope_doubt(r, mark);
    if (r->loops <= 2)
        run_maybe(r, body, false);
    scope_doubt(r, mark);
    r->loops--;
}

static struct ps_value run_foreach(struct ps_run *r, struct ps_node *node)
{
    struct ps_value items = node->b ? ps_run_statement(r, node->b) : value_unknown();
    struct str name = node->a ? node->a->text : STR("");
    struct ps_value all = value_kind(VALUE_VOID);
    if (items.kind == VALUE_STRING || items.kind == VALUE_NUMBER || items.kind == VALUE_OBJECT)
        items = value_items(&r->f, items);
    if (items.kind == VALUE_LIST && r->iterations + items.count <= RUN_MAX_ITERATIONS) {
        r->iterations += (unsigned)items.count;
        for (size_t i = 0; i < items.count && !guard_stopped(r->g); i++) {
            variable_set(r, name, items.items[i]);
            all = ps_run_collect(r, all, run_body(r, node->d));
        }
        if (items.count == 0)
            run_maybe(r, node->d, false);
        return all;
    }
    if (items.kind == VALUE_LIST && items.count) {
        size_t count = items.count < RUN_MAX_VALUES ? items.count : RUN_MAX_VALUES;
        struct ps_value some[RUN_MAX_VALUES];
        memcpy(some, items.items, count * sizeof *some);
        if (items.count > count)
            some[count - 1] = value_unknown();
        enum ps_space space = variable_space(&name);
        scope_set_any(r, space, name, some, count);
    } else {
        variable_set(r, name, items.kind == VALUE_LIST ? value_unknown() : items);
    }
    run_unknown_loop(r, node->d);
    return value_unknown();
}

static struct ps_value run_for(struct ps_run *r, struct ps_node *node)
{
    struct ps_value all = value_kind(VALUE_VOID);
    if (node->kind == PS_FOR && node->a)
        ps_run_statement(r, node->a);
    bool ran = false;
    /* while (1) ends by something inside, which is not followed. */
    bool endless =
        node->b && (node->b->kind == PS_NUMBER || node->b->kind == PS_STRING ||
                    (node->b->kind == PS_VARIABLE && str_eqi(node->b->text, STR("true"))));
    for (unsigned rounds = 0; rounds < RUN_MAX_ITERATIONS; rounds++) {
        int truth = -1;
        if (node->b && !(node->flags & PS_POST) && !endless)
            truth = fold_truth(ps_run_statement(r, node->b));
        if (truth == 0 && ran)
            return all;
        if (truth != 1 || r->iterations >= RUN_MAX_ITERATIONS || guard_stopped(r->g))
            break;
        ran = true;
        r->iterations++;
        all = ps_run_collect(r, all, run_body(r, node->d));
        if (node->kind == PS_FOR && node->c)
            ps_run_statement(r, node->c);
    }
    if (node->flags & PS_POST) {
        run_body(r, node->d);
        if (node->b)
            ps_run_statement(r, node->b);
    }
    run_unknown_loop(r, node->d);
    if (node->kind == PS_FOR && node->c)
        ps_run_statement(r, node->c);
    return value_unknown();
}

/* A loop that may end early may not have assigned everything. */
static struct ps_value run_loop(struct ps_run *r, struct ps_node *node)
{
    size_t mark = r->log_count;
    unsigned left = r->breaks + r->returns, breaks = r->breaks;
    struct ps_value v = node->kind == PS_FOREACH ? run_foreach(r, node) : run_for(r, node);
    if (r->breaks + r->returns != left) {
        scope_doubt(r, mark);
        v = v.kind == VALUE_VOID ? v : value_unknown();
    }
    r->breaks = breaks;
    return v;
}

static struct ps_value run_try(struct ps_run *r, struct ps_node *node)
{
    size_t mark = r->log_count;
    struct ps_value all = run_body(r, node->a);
    scope_maybe(r, mark); /* any statement may have failed */
    for (struct ps_node *body = node->b; body; body = body->next)
        run_maybe(r, body, false);
    if (node->c)
        all = ps_run_collect(r, all, run_body(r, node->c));
    return all;
}

/* ---- pipelines ---- */

static struct ps_value run_pipeline(struct ps_run *r, struct ps_node *node)
{
    struct ps_value v = value_kind(VALUE_VOID);
    bool first = true;
    for (struct ps_node *element = node->a; element && !guard_stopped(r->g);
         element = element->next) {
        if (first)
            v = element->kind == PS_COMMAND ? ps_run_command(r, element, value_kind(VALUE_VOID))
                                            : eval(r, element);
        else if (element->kind == PS_COMMAND)
            v = ps_run_command(r, element, v.kind == VALUE_VOID ? value_unknown() : v);
        first = false;
    }
    for (struct ps_node *target = node->b; target; target = target->next)
        ps_run_redirect(r, target, v);
    return v;
}

static void run_assignment(struct ps_run *r, struct ps_node *node)
{
    /* ++$i puts nothing out as a statement, but has a value here */
    bool counts = node->b && node->b->kind == PS_UNARY;
    struct ps_value v = counts ? eval(r, node->b) : ps_run_statement(r, node->b);
    if (v.kind == VALUE_VOID)
        v = value_kind(VALUE_NULL);
    if (node->op != OP_NONE) {
        struct ps_value old = eval(r, node->a);
        v = node->op == OP_COALESCE && old.kind != VALUE_NULL && old.kind != VALUE_UNKNOWN
                ? old
                : fold_binary(&r->f, node->op, old, v);
    }
    eval_assign(r, node->a, v);
}

static struct ps_value run_once(struct ps_run *r, struct ps_node *node)
{
    switch (node->kind) {
    case PS_COMMAND: return ps_run_command(r, node, value_kind(VALUE_VOID));
    case PS_PIPELINE: return run_pipeline(r, node);
    case PS_ASSIGN: run_assignment(r, node); return value_kind(VALUE_VOID);
    case PS_FLOW:
        /* break and continue end a loop's round, the others a block */
        if (node->op == 0)
            r->breaks++;
        else
            r->returns++;
        return node->a ? ps_run_statement(r, node->a) : value_kind(VALUE_VOID);
    default: {
        struct ps_value v = eval(r, node);
        if (node->kind == PS_UNARY && (node->op == OP_INCREMENT || node->op == OP_DECREMENT))
            return value_kind(VALUE_VOID);
        return v;
    }
    }
}

/* In every world: the first one counts for what follows, the others are only judged. */
static struct ps_value run_in_worlds(struct ps_run *r, struct ps_node *node)
{
    if (r->in_world)
        return run_once(r, node);
    r->in_world = true;
    r->world = 0;
    r->worlds = 1;
    r->mixed_count = 0;
    struct ps_value values[RUN_MAX_WORLDS];
    size_t start = r->log_count;
    struct ps_branches first = {0};
    values[0] = run_once(r, node);
    size_t count = 1;
    bool assign = node->kind == PS_ASSIGN && node->a->kind == PS_VARIABLE;
    struct str name = assign ? node->a->text : STR("");
    enum ps_space space = assign ? variable_space(&name) : SPACE_VARIABLE;
    bool set;
    if (assign)
        values[0] = scope_get(r, space, name, &set);
    bool several = r->worlds > 1 && r->log_count > start;
    if (several) /* every world begins with what was set before */
        scope_branch(r, start, &first);
    for (unsigned world = 1; world < r->worlds && world < RUN_MAX_WORLDS; world++) {
        if (guard_stopped(r->g))
            break;
        r->world = world;
        size_t mark = r->log_count;
        run_once(r, node);
        if (assign)
            values[count++] = scope_get(r, space, name, &set);
        scope_undo(r, mark);
    }
    r->world = 0;
    r->in_world = false;
    if (several)
        scope_merge(r, &first, true);
    if (assign && count > RUN_MAX_VALUES)
        values[RUN_MAX_VALUES - 1] = value_unknown();
    if (assign && count > 1)
        scope_set_any(r, space, name, values, count);
    return assign ? value_kind(VALUE_VOID) : values[0];
}

struct ps_value ps_run_statement(struct ps_run *r, struct ps_node *node)
{
    if (!node || !enter(r, node))
        return value_unknown();
    struct ps_value v = value_kind(VALUE_VOID);
    switch (node->kind) {
    case PS_IF: v = run_if(r, node); break;
    case PS_SWITCH: v = run_switch(r, node); break;
    case PS_FOR:
    case PS_WHILE:
    case PS_FOREACH: v = run_loop(r, node); break;
    case PS_TRY: v = run_try(r, node); break;
    case PS_TRAP: run_maybe(r, node->a, false); break;
    case PS_BODY: v = ps_run_list(r, node->a); break;
    case PS_FUNCTION: {
        struct str name = node->text;
        struct ps_value block = value_kind(VALUE_BLOCK);
        block.node = node->a;
        bool outer = variable_is_outer(name);
        variable_space(&name);
        if (node->a) {
            if (outer)
                scope_set_outer(r, SPACE_FUNCTION, name, block);
            else
                scope_set(r, SPACE_FUNCTION, name, block);
            ps_run_remember(r, node->a);
            for (struct ps_node *p = node->a->a; p; p = p->next)
                run_attributes(r, p, NULL);
        }
        break;
    }
    case PS_CLASS:
        for (struct ps_node *member = node->a; member; member = member->next) {
            if (member->kind == PS_FUNCTION && member->a) {
                struct ps_value block = value_kind(VALUE_BLOCK);
                block.node = member->a;
                struct str name = fold_concat(&r->f, node->text, STR("::"));
                scope_set(r, SPACE_FUNCTION, fold_concat(&r->f, name, member->text), block);
                ps_run_remember(r, member->a);
            } else
                eval(r, member);
        }
        break;
    case PS_USING:
        if (node->text.n && r->namespace_count < 8)
            r->namespaces[r->namespace_count++] = node->text;
        break;
    default: v = run_in_worlds(r, node); break;
    }
    r->depth--;
    return v;
}

void powershell_run(struct guard *g, struct ps_node *tree, size_t nodes, bool broken)
{
    struct ps_run run = {.g = g, .broken = broken, .process_folder = guard_folder(g)};
    struct ps_run *r = &run;
    r->deepest = RUN_MAX_DEPTH / (guard_depth(g) + 1);
    if (r->deepest < 32)
        r->deepest = 32;
    r->f = (struct ps_fold){
        .g = g, .arena = guard_arena(g), .ofs = STR(" "), .steps = 400000 + 16 * nodes};
    for (struct ps_node *p = tree->a; p; p = p->next) {
        for (struct ps_node *attribute = p->b; attribute; attribute = attribute->next)
            for (struct ps_node *arg = attribute->a; arg; arg = arg->next)
                eval(r, arg);
        if (p->a && p->text.n)
            scope_set(r, SPACE_VARIABLE, p->text, eval(r, p->a));
    }
    ps_run_list(r, tree->b);
    /* A function that is only defined may be called by code that is not read here: known commands
       in it count, unknown ones do not. */
    r->quiet = true;
    for (size_t i = 0; i < r->defined_count && !guard_stopped(g); i++) {
        struct ps_node *block = r->defined[i];
        if (block->flags & PS_JUDGED)
            continue;
        r->calls = 0;
        r->depth = 0;
        ps_run_block(r, block, NULL, 0, value_kind(VALUE_VOID), true);
    }
}
