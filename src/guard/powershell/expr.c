/* SPDX-License-Identifier: Apache-2.0 */
/* The parser's expressions: operators by precedence, casts, members, calls, literals. */
#include "guard/powershell/powershell.h"

static const uint8_t precedences[] = {
    0,
#define OPERATOR(name, spelling, precedence, case_sensitive) precedence,
#include "guard/tables/ps_operators.def"
#undef OPERATOR
};

struct ps_node *ps_node(struct ps_parser *p, enum ps_kind kind, uint32_t start, uint32_t end)
{
    struct ps_node *node = NULL;
    if (!p->stopped && ++p->nodes <= PS_MAX_NODES)
        node = ARENA_NEW(p->arena, struct ps_node);
    if (!node) {
        if (!p->stopped)
            guard_limit(p->g, (struct word){.start = p->fixed ? p->fixed_start : start,
                                            .end = p->fixed ? p->fixed_end : end});
        p->stopped = true;
        return NULL;
    }
    node->kind = (uint8_t)kind;
    node->start = p->fixed ? p->fixed_start : start;
    node->end = p->fixed ? p->fixed_end : end;
    return node;
}

bool ps_enter(struct ps_parser *p)
{
    if (p->stopped)
        return false;
    if (p->nesting >= PS_MAX_NESTING) {
        p->stopped = true;
        guard_limit(p->g, (struct word){.start = p->fixed ? p->fixed_start : p->pos,
                                        .end = p->fixed ? p->fixed_end : p->pos});
        return false;
    }
    p->nesting++;
    return true;
}

void ps_append(struct ps_list *list, struct ps_node *node)
{
    if (!node)
        return;
    if (list->last)
        list->last->next = node;
    else
        list->first = node;
    list->last = node;
}

struct str ps_source(const struct ps_parser *p, struct ps_token t)
{
    return str_slice(p->text, t.start, t.end);
}

static void set_end(struct ps_parser *p, struct ps_node *node)
{
    if (node && !p->fixed)
        node->end = p->pos;
}

static char here(const struct ps_parser *p, uint32_t offset)
{
    return p->pos + offset < p->text.n ? p->text.p[p->pos + offset] : 0;
}

static void expect(struct ps_parser *p, uint8_t kind)
{
    if (ps_peek(p).kind == kind)
        ps_next(p);
    else
        p->error = true;
}

/* After '[': the name up to its ']', generic arguments and array ranks included. */
struct ps_node *ps_parse_type(struct ps_parser *p)
{
    uint32_t start = p->pos, pos = start;
    unsigned depth = 1;
    for (; pos < p->text.n; pos++) {
        unsigned char c = (unsigned char)p->text.p[pos];
        if (c == '[')
            depth++;
        else if (c == ']' && --depth == 0)
            break;
        else if (c == '\n' || c == '\r' || ascii_is_in(c, "(){};|&$@'\"<>!"))
            break;
    }
    struct ps_node *node = ps_node(p, PS_TYPE, start, pos);
    if (node)
        node->text = str_trim(str_slice(p->text, start, pos));
    if (pos == start && node)
        p->error = true;
    p->pos = pos;
    return node;
}

static struct ps_node *parse_arguments(struct ps_parser *p, uint8_t end, bool attribute)
{
    struct ps_list list = {0};
    bool saved_comma = p->no_comma, saved_ternary = p->in_ternary;
    enum ps_mode saved_mode = p->mode;
    p->no_comma = true;
    p->in_ternary = false;
    p->mode = PS_EXPRESSION_MODE;
    for (;;) {
        ps_skip_newlines(p);
        if (ps_peek(p).kind == end)
            break;
        struct ps_token name = ps_peek(p);
        struct ps_node *argument;
        if (attribute && name.kind == T_IDENTIFIER) { /* Mandatory, or Name = value */
            ps_next(p);
            argument = ps_word(p, name, true);
        } else {
            argument = ps_parse_expression(p);
        }
        if (!argument) {
            p->error = true;
            break;
        }
        ps_append(&list, argument);
        ps_skip_newlines(p);
        struct ps_token t = ps_peek(p);
        if (attribute && t.kind == T_ASSIGN && t.op == OP_NONE) {
            ps_next(p);
            ps_skip_newlines(p);
            ps_append(&list, ps_parse_expression(p));
            ps_skip_newlines(p);
        }
        if (ps_peek(p).kind != T_COMMA)
            break;
        ps_next(p);
    }
    expect(p, end);
    p->no_comma = saved_comma;
    p->in_ternary = saved_ternary;
    p->mode = saved_mode;
    return list.first;
}

/* After '[': a type, or an attribute with its arguments; *attribute says which. */
static struct ps_node *parse_bracket(struct ps_parser *p, bool *attribute)
{
    struct ps_node *type = ps_parse_type(p);
    *attribute = false;
    if (here(p, 0) == '(') {
        *attribute = true;
        p->pos++;
        if (type)
            type->a = parse_arguments(p, T_RPAREN, true);
        while (here(p, 0) == ' ' || here(p, 0) == '\t' || here(p, 0) == '\n' || here(p, 0) == '\r')
            p->pos++;
    }
    if (here(p, 0) == ']' && p->pos < p->text.n)
        p->pos++;
    else
        p->error = true;
    return type;
}

struct ps_node *ps_parse_attributes(struct ps_parser *p)
{
    struct ps_list list = {0};
    enum ps_mode saved = p->mode;
    p->mode = PS_EXPRESSION_MODE;
    for (;;) {
        ps_skip_newlines(p);
        if (ps_peek(p).kind != T_LBRACKET || p->stopped)
            break;
        ps_next(p);
        bool attribute;
        ps_append(&list, parse_bracket(p, &attribute));
    }
    p->mode = saved;
    return list.first;
}

struct ps_node *ps_parse_hash(struct ps_parser *p, uint32_t start)
{
    struct ps_node *hash = ps_node(p, PS_HASH, start, p->pos);
    struct ps_list pairs = {0};
    bool saved_comma = p->no_comma, saved_ternary = p->in_ternary;
    enum ps_mode saved_mode = p->mode;
    p->no_comma = p->in_ternary = false;
    while (!p->stopped) {
        p->mode = PS_COMMAND_MODE;
        ps_skip_separators(p);
        p->mode = PS_EXPRESSION_MODE;
        struct ps_token t = ps_peek(p);
        if (t.kind == T_RCURLY || t.kind == T_END)
            break;
        struct ps_node *key;
        if (t.kind == T_IDENTIFIER || t.kind == T_GENERIC) {
            ps_next(p);
            key = ps_word(p, t, true);
        } else {
            key = ps_parse_unary(p);
        }
        if (!key) {
            p->error = true;
            break;
        }
        struct ps_node *pair = ps_node(p, PS_PAIR, t.start, t.end);
        if (!pair)
            break;
        pair->a = key;
        ps_skip_newlines(p);
        t = ps_peek(p);
        if (t.kind != T_ASSIGN) {
            p->error = true;
            ps_append(&pairs, pair);
            break;
        }
        ps_next(p);
        ps_skip_newlines(p);
        p->mode = PS_COMMAND_MODE;
        pair->b = ps_parse_statement(p);
        if (!pair->b)
            p->error = true;
        ps_append(&pairs, pair);
        p->mode = PS_COMMAND_MODE;
        t = ps_peek(p);
        if (t.kind != T_NEWLINE && t.kind != T_SEMI && t.kind != T_RCURLY) {
            p->error = true;
            break;
        }
    }
    p->mode = PS_COMMAND_MODE;
    expect(p, T_RCURLY);
    p->no_comma = saved_comma;
    p->in_ternary = saved_ternary;
    p->mode = saved_mode;
    if (hash)
        hash->a = pairs.first;
    set_end(p, hash);
    return hash;
}

static struct ps_node *parse_group(struct ps_parser *p, struct ps_token t, enum ps_kind kind)
{
    struct ps_node *node = ps_node(p, kind, t.start, t.end);
    bool saved_comma = p->no_comma, saved_ternary = p->in_ternary;
    enum ps_mode saved_mode = p->mode;
    p->no_comma = p->in_ternary = false;
    p->mode = PS_COMMAND_MODE;
    struct ps_node *inner;
    if (kind == PS_PAREN) {
        ps_skip_newlines(p);
        inner = ps_parse_pipeline(p);
        if (!inner)
            p->error = true;
        p->mode = PS_COMMAND_MODE;
        ps_skip_newlines(p);
    } else {
        inner = ps_parse_statements(p, T_RPAREN);
    }
    p->mode = PS_COMMAND_MODE;
    expect(p, T_RPAREN);
    p->no_comma = saved_comma;
    p->in_ternary = saved_ternary;
    p->mode = saved_mode;
    if (node)
        node->a = inner;
    set_end(p, node);
    return node;
}

static struct ps_node *parse_atom(struct ps_parser *p)
{
    struct ps_token t = ps_peek(p);
    struct ps_node *node;
    switch (t.kind) {
    case T_VARIABLE: ps_next(p); return ps_variable(p, t);
    case T_SPLAT: ps_next(p); return ps_variable(p, t);
    case T_NUMBER:
        ps_next(p);
        node = ps_node(p, PS_NUMBER, t.start, t.end);
        if (node)
            node->text = ps_source(p, t);
        return node;
    case T_SINGLE:
    case T_DOUBLE:
    case T_HERE_SINGLE:
    case T_HERE_DOUBLE: ps_next(p); return ps_word(p, t, false);
    case T_LPAREN: ps_next(p); return parse_group(p, t, PS_PAREN);
    case T_AT_PAREN: ps_next(p); return parse_group(p, t, PS_ARRAY);
    case T_DOLLAR_PAREN: ps_next(p); return parse_group(p, t, PS_SUBEXPR);
    case T_AT_CURLY: ps_next(p); return ps_parse_hash(p, t.start);
    case T_LCURLY: ps_next(p); return ps_parse_block(p, t.start);
    default: return NULL;
    }
}

/* The name after '.' or '::'. */
static struct ps_node *parse_member_name(struct ps_parser *p)
{
    uint32_t start = p->pos, pos = start;
    while (pos < p->text.n) {
        uint32_t next = pos;
        if (!(ps_class(ps_char(p->text, &next)) & (PS_LETTER | PS_DIGIT)))
            break;
        pos = next;
    }
    if (pos > start) {
        struct ps_node *name = ps_node(p, PS_STRING, start, pos);
        if (name)
            name->text = str_slice(p->text, start, pos);
        p->pos = pos;
        return name;
    }
    enum ps_mode saved = p->mode;
    p->mode = PS_EXPRESSION_MODE;
    ps_skip_newlines(p);
    struct ps_token t = ps_peek(p);
    struct ps_node *name = NULL;
    if (t.kind == T_IDENTIFIER || t.kind == T_NUMBER) {
        ps_next(p);
        name = ps_node(p, PS_STRING, t.start, t.end);
        if (name)
            name->text = ps_source(p, t);
    } else if (t.kind != T_AT_CURLY && t.kind != T_AT_PAREN) {
        name = parse_atom(p);
    }
    p->mode = saved;
    if (!name) {
        p->error = true;
        name = ps_node(p, PS_ERROR, start, start);
    }
    return name;
}

/* The expression in an index, behind its bracket. */
static struct ps_node *parse_index_value(struct ps_parser *p)
{
    bool saved_comma = p->no_comma, saved_ternary = p->in_ternary;
    enum ps_mode saved_mode = p->mode;
    p->no_comma = p->in_ternary = false;
    p->mode = PS_EXPRESSION_MODE;
    ps_skip_newlines(p);
    struct ps_node *inner = ps_parse_expression(p);
    if (!inner)
        p->error = true;
    ps_skip_newlines(p);
    expect(p, T_RBRACKET);
    p->no_comma = saved_comma;
    p->in_ternary = saved_ternary;
    p->mode = saved_mode;
    return inner;
}

/* node[…], of which length characters are the bracket; NULL without memory. */
static struct ps_node *parse_index(struct ps_parser *p, struct ps_node *node, uint32_t length,
                                   uint8_t flags)
{
    p->pos += length;
    struct ps_node *index = ps_node(p, PS_INDEX, node->start, p->pos);
    struct ps_node *inner = parse_index_value(p);
    if (!index)
        return NULL;
    index->a = node;
    index->b = inner;
    index->flags = flags;
    /* $x.Foo[int](…): type arguments, then the call */
    if (here(p, 0) == '(' && node->kind == PS_MEMBER) {
        index = node;
        index->kind = PS_CALL;
        p->pos++;
        index->c = parse_arguments(p, T_RPAREN, false);
    }
    set_end(p, index);
    return index;
}

/* node.name or node::name, of which length characters are the dots, with its arguments; NULL
   without memory. */
static struct ps_node *parse_member(struct ps_parser *p, struct ps_node *node, uint32_t length,
                                    uint8_t flags)
{
    p->pos += length;
    struct ps_node *member = ps_node(p, PS_MEMBER, node->start, p->pos);
    if (!member)
        return NULL;
    member->a = node;
    member->flags = flags;
    member->b = parse_member_name(p);
    if (here(p, 0) == '(') {
        p->pos++;
        member->kind = PS_CALL;
        member->c = parse_arguments(p, T_RPAREN, false);
    } else if (here(p, 0) == '{' && p->mode == PS_EXPRESSION_MODE) {
        member->kind = PS_CALL;
        enum ps_mode saved = p->mode;
        struct ps_token t = ps_next(p);
        member->c = ps_parse_block(p, t.start);
        p->mode = saved;
    }
    set_end(p, member);
    return member;
}

/* In an argument a dot at its end is text: blanks or the line's end follow the length
   characters. */
static bool ends_argument(const struct ps_parser *p, uint32_t length)
{
    uint32_t after = p->pos + length;
    return p->mode == PS_COMMAND_MODE &&
           (after >= p->text.n || (ps_class(ps_char(p->text, &after)) & PS_BLANK) ||
            here(p, length) == '\n' || here(p, length) == '\r');
}

/* Members, calls and indexes stuck to a primary expression. */
static struct ps_node *parse_members(struct ps_parser *p, struct ps_node *node)
{
    for (unsigned links = 0; node && !p->stopped; links++) {
        if (links > PS_MAX_LINKS) {
            p->stopped = true;
            guard_limit(p->g, (struct word){.start = node->start, .end = node->end});
            break;
        }
        if (here(p, 0) == '<')
            ps_skip_block_comments(p);
        char c = here(p, 0);
        uint8_t flags = 0;
        uint32_t length = 1;
        if (c == '?' && (here(p, 1) == '.' || here(p, 1) == '[')) {
            p->differs = true;
            if (p->version < 7)
                break;
            flags = PS_SAFE;
            c = here(p, 1);
            length = 2;
        } else if (c == ':' && here(p, 1) == ':') {
            flags = PS_STATIC;
            length = 2;
        }
        bool dot = c == '.' && !(flags == 0 && here(p, 1) == '.'); /* .. is a range */
        if (c != '[' && ((!dot && flags != PS_STATIC) || ends_argument(p, length)))
            break;
        struct ps_node *longer =
            c == '[' ? parse_index(p, node, length, flags) : parse_member(p, node, length, flags);
        if (!longer)
            return node;
        node = longer;
    }
    return node;
}

struct ps_node *ps_parse_primary(struct ps_parser *p, bool members)
{
    if (!ps_enter(p))
        return NULL;
    struct ps_node *node = parse_atom(p);
    if (node && members)
        node = parse_members(p, node);
    ps_leave(p);
    return node;
}

static struct ps_node *unary(struct ps_parser *p, struct ps_token t, uint8_t op)
{
    struct ps_node *node = ps_node(p, PS_UNARY, t.start, t.end);
    ps_next(p);
    ps_skip_newlines(p);
    struct ps_node *operand = ps_parse_unary(p);
    if (!operand)
        p->error = true;
    if (!node)
        return NULL;
    node->op = op;
    node->a = operand;
    set_end(p, node);
    return node;
}

static struct ps_node *parse_cast(struct ps_parser *p)
{
    struct ps_token t = ps_next(p);
    bool attribute;
    struct ps_node *type = parse_bracket(p, &attribute);
    if (!type)
        return NULL;
    if (!p->fixed) {
        type->start = t.start;
        type->end = p->pos;
    }
    if (here(p, 0) == '.' || (here(p, 0) == ':' && here(p, 1) == ':'))
        return parse_members(p, type);
    uint32_t behind = p->pos;
    if (attribute)
        ps_skip_newlines(p);
    struct ps_token after = ps_peek(p);
    struct ps_node *operand = NULL;
    if (after.kind != T_COMMA && !(after.kind == T_OPERATOR && after.after_blank &&
                                   (after.op == OP_SUB || after.op == OP_ADD)))
        operand = ps_parse_unary(p);
    if (!operand) {
        if (attribute)
            p->error = true;
        p->pos = behind;
        return type;
    }
    struct ps_node *cast = ps_node(p, PS_CAST, t.start, p->pos);
    if (!cast)
        return NULL;
    cast->text = attribute ? STR("attribute") : type->text;
    cast->a = operand;
    cast->b = attribute ? type : NULL;
    return cast;
}

struct ps_node *ps_parse_unary(struct ps_parser *p)
{
    if (!ps_enter(p))
        return NULL;
    struct ps_token t = ps_peek(p);
    struct ps_node *node = NULL;
    switch (t.kind) {
    case T_NOT: node = unary(p, t, OP_NOT); break;
    case T_PLUS_PLUS: node = unary(p, t, OP_INCREMENT); break;
    case T_MINUS_MINUS: node = unary(p, t, OP_DECREMENT); break;
    case T_OPERATOR:
        if (t.op == OP_NOT || t.op == OP_BNOT || t.op == OP_ADD || t.op == OP_SUB ||
            t.op == OP_JOIN || t.op == OP_SPLIT || t.op == OP_ISPLIT || t.op == OP_CSPLIT)
            node = unary(p, t, t.op);
        break;
    case T_COMMA:
        if (!p->no_comma)
            node = unary(p, t, OP_COMMA);
        break;
    case T_LBRACKET: node = parse_cast(p); break;
    default:
        node = parse_atom(p);
        if (node)
            node = parse_members(p, node);
        break;
    }
    if (node && (t.kind != T_OPERATOR)) {
        struct ps_token after = ps_peek(p);
        if ((after.kind == T_PLUS_PLUS || after.kind == T_MINUS_MINUS) && node->kind != PS_UNARY) {
            ps_next(p);
            struct ps_node *postfix = ps_node(p, PS_UNARY, node->start, after.end);
            if (postfix) {
                postfix->op = after.kind == T_PLUS_PLUS ? OP_INCREMENT : OP_DECREMENT;
                postfix->flags = PS_POST;
                postfix->a = node;
                node = postfix;
            }
        }
    }
    ps_leave(p);
    return node;
}

static struct ps_node *parse_comma_list(struct ps_parser *p)
{
    struct ps_node *first = ps_parse_unary(p);
    if (!first || p->no_comma || ps_peek(p).kind != T_COMMA)
        return first;
    struct ps_node *list = ps_node(p, PS_LIST, first->start, first->end);
    struct ps_list items = {0};
    ps_append(&items, first);
    while (ps_peek(p).kind == T_COMMA && !p->stopped) {
        ps_next(p);
        ps_skip_newlines(p);
        struct ps_node *item = ps_parse_unary(p);
        if (!item) {
            p->error = true;
            break;
        }
        ps_append(&items, item);
    }
    if (!list)
        return NULL;
    list->a = items.first;
    set_end(p, list);
    return list;
}

static struct ps_node *parse_binary(struct ps_parser *p, uint8_t minimum)
{
    struct ps_node *left = parse_comma_list(p);
    while (left && !p->stopped) {
        struct ps_token t = ps_peek(p);
        if (t.kind != T_OPERATOR || precedences[t.op] == 0 || precedences[t.op] < minimum)
            break;
        if (t.op == OP_COALESCE) {
            p->differs = true;
            if (p->version < 7)
                break;
        }
        ps_next(p);
        ps_skip_newlines(p);
        struct ps_node *right = parse_binary(p, (uint8_t)(precedences[t.op] + 1));
        if (!right)
            p->error = true;
        struct ps_node *node = ps_node(p, PS_BINARY, left->start, t.end);
        if (!node)
            return NULL;
        node->op = t.op;
        node->a = left;
        node->b = right;
        set_end(p, node);
        left = node;
    }
    return left;
}

struct ps_node *ps_parse_expression(struct ps_parser *p)
{
    enum ps_mode saved = p->mode;
    p->mode = PS_EXPRESSION_MODE;
    struct ps_node *node = parse_binary(p, 1);
    if (node && ps_peek(p).kind == T_QUESTION) {
        p->differs = true;
        if (p->version >= 7 && ps_enter(p)) {
            ps_next(p);
            ps_skip_newlines(p);
            struct ps_node *ternary = ps_node(p, PS_TERNARY, node->start, node->end);
            struct ps_node *yes = ps_parse_expression(p), *no = NULL;
            ps_skip_newlines(p);
            if (yes && ps_peek(p).kind == T_COLON) {
                ps_next(p);
                ps_skip_newlines(p);
                no = ps_parse_expression(p);
            }
            if (!yes || !no)
                p->error = true;
            if (ternary) {
                ternary->a = node;
                ternary->b = yes;
                ternary->c = no;
                set_end(p, ternary);
                node = ternary;
            }
            ps_leave(p);
        }
    }
    p->mode = saved;
    return node;
}
