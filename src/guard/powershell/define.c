/* SPDX-License-Identifier: Apache-2.0 */
/* The parser's definitions: parameters, script blocks, functions, classes. */
#include "guard/powershell/parse.h"

/* ( [type]$name = default, … ), pos after the bracket. */
struct ps_node *ps_parse_params(struct ps_parser *p)
{
    struct ps_list params = {0};
    enum ps_mode saved = p->mode;
    for (;;) {
        p->mode = PS_EXPRESSION_MODE;
        struct ps_node *attributes = ps_parse_attributes(p);
        ps_skip_newlines(p);
        struct ps_token t = ps_peek(p);
        if (t.kind != T_VARIABLE) {
            if (attributes || t.kind != T_RPAREN)
                p->error = true;
            break;
        }
        ps_next(p);
        struct ps_node *variable = ps_variable(p, t);
        struct ps_node *param = ps_node(p, PS_PARAM, t.start, t.end);
        if (!variable || !param)
            break;
        param->text = variable->text;
        param->b = attributes;
        ps_skip_newlines(p);
        t = ps_peek(p);
        if (t.kind == T_ASSIGN && t.op == OP_NONE) {
            ps_next(p);
            ps_skip_newlines(p);
            bool comma = p->no_comma;
            p->no_comma = true;
            param->a = ps_parse_expression(p);
            p->no_comma = comma;
            if (!param->a)
                p->error = true;
        }
        ps_append(&params, param);
        ps_skip_newlines(p);
        if (ps_peek(p).kind != T_COMMA)
            break;
        ps_next(p);
    }
    p->mode = PS_EXPRESSION_MODE;
    ps_expect(p, T_RPAREN);
    p->mode = saved;
    return params.first;
}

/* True if `[…]…` at pos are attributes of param(). Looks at brackets only, and not far. */
static bool param_behind_attributes(struct ps_parser *p)
{
    enum { FARTHEST = 2000 };
    uint32_t pos = ps_peek(p).start;
    uint32_t end = pos + FARTHEST < p->text.n ? pos + FARTHEST : (uint32_t)p->text.n;
    if (pos >= end || p->text.p[pos] != '[')
        return false;
    for (unsigned depth = 0; pos < end; pos++) {
        char c = p->text.p[pos];
        if (c == '[' || c == '(' || c == '{')
            depth++;
        else if (c == ']' || c == ')' || c == '}') {
            if (depth-- == 0)
                return false;
        } else if (depth == 0 && c != ' ' && c != '\t' && c != '\r' && c != '\n') {
            return str_startsi(str_slice(p->text, pos, end), STR("param"));
        }
    }
    return false;
}

/* The inside of a script block or a script: param(), then named blocks or statements. */
static void parse_script_body(struct ps_parser *p, struct ps_node *block, uint8_t end)
{
    struct ps_list statements = {0};
    p->mode = PS_COMMAND_MODE;
    ps_skip_separators(p);
    for (struct ps_token t = ps_peek(p); ps_is_word(p, t, STR("using")); t = ps_peek(p)) {
        ps_append(&statements, ps_parse_statement(p));
        ps_skip_separators(p);
    }
    struct ps_node *attributes = NULL;
    if (param_behind_attributes(p)) {
        attributes = ps_parse_attributes(p);
        ps_skip_newlines(p);
        p->mode = PS_COMMAND_MODE;
    }
    if (ps_is_word(p, ps_peek(p), STR("param"))) {
        uint32_t pos = p->pos;
        ps_next(p);
        ps_skip_newlines(p);
        if (ps_peek(p).kind == T_LPAREN) {
            ps_next(p);
            struct ps_node *params = ps_parse_params(p);
            if (attributes) {
                struct ps_node *holder = ps_node(p, PS_PARAM, pos, pos);
                if (holder) {
                    holder->b = attributes;
                    holder->next = params;
                    params = holder;
                }
            }
            block->a = params;
        } else {
            p->pos = pos;
        }
    }
    p->mode = PS_COMMAND_MODE;
    struct ps_node *rest = ps_parse_statements(p, end);
    if (!statements.first)
        block->b = rest;
    else {
        ps_append(&statements, rest);
        block->b = statements.first;
    }
}

struct ps_node *ps_parse_block(struct ps_parser *p, uint32_t start)
{
    struct ps_node *block = ps_node(p, PS_SCRIPTBLOCK, start, p->pos);
    if (!block || !ps_enter(p))
        return block;
    bool comma = p->no_comma, ternary = p->in_ternary;
    enum ps_mode saved = p->mode;
    p->no_comma = p->in_ternary = false;
    parse_script_body(p, block, T_RCURLY);
    p->mode = PS_COMMAND_MODE;
    ps_expect(p, T_RCURLY);
    p->no_comma = comma;
    p->in_ternary = ternary;
    p->mode = saved;
    ps_leave(p);
    ps_close_at(p, block);
    return block;
}

struct ps_node *ps_parse_script(struct ps_parser *p)
{
    struct ps_node *block = ps_node(p, PS_SCRIPTBLOCK, 0, (uint32_t)p->text.n);
    if (block)
        parse_script_body(p, block, T_END);
    return block;
}

struct ps_node *ps_parse_function(struct ps_parser *p, struct ps_token t)
{
    struct ps_node *node = ps_node(p, PS_FUNCTION, t.start, t.end);
    if (!node)
        return NULL;
    ps_skip_newlines(p);
    t = ps_peek(p);
    if (t.kind == T_END || t.kind == T_LCURLY || t.kind == T_LPAREN || t.kind == T_SEMI) {
        p->error = true;
        return node;
    }
    ps_next(p);
    struct ps_node *name = ps_word(p, t, true);
    if (name)
        node->text = name->text;
    ps_skip_newlines(p);
    struct ps_node *params = NULL;
    if (ps_peek(p).kind == T_LPAREN) {
        ps_next(p);
        params = ps_parse_params(p);
        p->mode = PS_COMMAND_MODE;
        ps_skip_newlines(p);
    }
    t = ps_peek(p);
    if (t.kind != T_LCURLY) {
        p->error = true;
        return node;
    }
    ps_next(p);
    node->a = ps_parse_block(p, t.start);
    if (node->a && params)
        node->a->a = params;
    ps_close_at(p, node);
    return node;
}

/* The script blocks among the arguments of attributes: code that runs when a property is set. */
static void add_blocks(struct ps_list *members, struct ps_node *attributes)
{
    for (struct ps_node *attribute = attributes; attribute; attribute = attribute->next)
        for (struct ps_node *arg = attribute->a, *next; arg; arg = next) {
            next = arg->next;
            arg->next = NULL;
            if (arg->kind == PS_SCRIPTBLOCK)
                ps_append(members, arg);
        }
}

static struct ps_node *parse_class_member(struct ps_parser *p, struct ps_list *members)
{
    add_blocks(members, ps_parse_attributes(p));
    p->mode = PS_COMMAND_MODE;
    ps_skip_newlines(p);
    struct ps_token t = ps_peek(p);
    while (ps_is_word(p, t, STR("static")) || ps_is_word(p, t, STR("hidden"))) {
        ps_next(p);
        add_blocks(members, ps_parse_attributes(p));
        p->mode = PS_COMMAND_MODE;
        ps_skip_newlines(p);
        t = ps_peek(p);
    }
    if (t.kind == T_VARIABLE) {
        ps_next(p);
        p->mode = PS_EXPRESSION_MODE;
        struct ps_node *property = ps_variable(p, t);
        if (ps_peek(p).kind == T_ASSIGN) {
            ps_next(p);
            ps_skip_newlines(p);
            struct ps_node *value = ps_parse_expression(p);
            if (!value)
                p->error = true;
            property = value;
        }
        p->mode = PS_COMMAND_MODE;
        return property;
    }
    struct ps_node *method = ps_node(p, PS_FUNCTION, t.start, t.end);
    if (!method || t.kind != T_IDENTIFIER) {
        p->error = true;
        return NULL;
    }
    ps_next(p);
    method->text = ps_source(p, t);
    p->mode = PS_EXPRESSION_MODE;
    if (ps_peek(p).kind != T_LPAREN) {
        p->error = true;
        return NULL;
    }
    ps_next(p);
    struct ps_node *params = ps_parse_params(p);
    p->mode = PS_EXPRESSION_MODE;
    ps_skip_newlines(p);
    if (ps_peek(p).kind == T_COLON) { /* : base(…) */
        ps_next(p);
        if (ps_peek(p).kind == T_IDENTIFIER)
            ps_next(p);
        ps_parse_primary(p, false);
        ps_skip_newlines(p);
    }
    p->mode = PS_COMMAND_MODE;
    t = ps_peek(p);
    if (t.kind != T_LCURLY) {
        p->error = true;
        return method;
    }
    ps_next(p);
    method->a = ps_parse_block(p, t.start);
    if (method->a)
        method->a->a = params;
    ps_close_at(p, method);
    return method;
}

struct ps_node *ps_parse_class(struct ps_parser *p, struct ps_token t, bool enumeration)
{
    struct ps_node *node = ps_node(p, PS_CLASS, t.start, t.end);
    if (!node)
        return NULL;
    ps_skip_newlines(p);
    if (ps_peek(p).kind != T_IDENTIFIER) {
        p->error = true;
        return node;
    }
    node->text = ps_source(p, ps_next(p));
    p->mode = PS_EXPRESSION_MODE;
    while (!p->stopped) { /* : base, interface */
        ps_skip_newlines(p);
        t = ps_peek(p);
        if (t.kind == T_LCURLY || t.kind == T_END || t.kind == T_SEMI || t.kind == T_RCURLY)
            break;
        ps_next(p);
    }
    if (t.kind != T_LCURLY || !ps_enter(p)) {
        p->error = true;
        return node;
    }
    ps_next(p);
    struct ps_list members = {0};
    while (!p->stopped) {
        p->mode = PS_COMMAND_MODE;
        ps_skip_separators(p);
        t = ps_peek(p);
        if (t.kind == T_RCURLY || t.kind == T_END)
            break;
        uint32_t pos = p->pos;
        if (enumeration) {
            p->mode = PS_EXPRESSION_MODE;
            t = ps_next(p);
            if (t.kind != T_IDENTIFIER)
                p->error = true;
            if (ps_peek(p).kind == T_ASSIGN) {
                ps_next(p);
                ps_append(&members, ps_parse_expression(p));
            }
        } else {
            struct ps_node *member = parse_class_member(p, &members);
            ps_append(&members, member);
        }
        if (p->pos == pos)
            ps_next(p);
    }
    p->mode = PS_COMMAND_MODE;
    ps_expect(p, T_RCURLY);
    ps_leave(p);
    node->a = members.first;
    ps_close_at(p, node);
    return node;
}

struct ps_node *ps_parse_using(struct ps_parser *p, struct ps_token t)
{
    struct ps_node *node = ps_node(p, PS_USING, t.start, t.end);
    struct ps_token kind = ps_peek(p);
    bool namespace = ps_is_word(p, kind, STR("namespace"));
    if (!namespace && !ps_is_word(p, kind, STR("module")) &&
        !ps_is_word(p, kind, STR("assembly")) && !ps_is_word(p, kind, STR("type")) &&
        !ps_is_word(p, kind, STR("command")))
        p->error = true;
    else
        ps_next(p);
    t = ps_peek(p);
    if (t.kind == T_GENERIC || t.kind == T_IDENTIFIER) {
        ps_next(p);
        if (node && namespace)
            node->text = ps_source(p, t);
    } else if (t.kind != T_NEWLINE && t.kind != T_END && t.kind != T_SEMI) {
        ps_parse_primary(p, true);
    } else {
        p->error = true;
    }
    return node;
}

struct ps_node *ps_parse_data(struct ps_parser *p, struct ps_token t)
{
    while (ps_peek(p).kind != T_LCURLY) {
        t = ps_peek(p);
        if (t.kind == T_END || t.kind == T_NEWLINE || t.kind == T_SEMI || p->stopped) {
            p->error = true;
            return NULL;
        }
        ps_next(p);
    }
    return ps_parse_body(p);
}
