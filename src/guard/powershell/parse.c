/* SPDX-License-Identifier: Apache-2.0 */
/* The parser's statements: keywords and the blocks after them. */
#include "guard/powershell/parse.h"

static const char *const keywords[] = {
    "",        "begin", "break",        "class", "clean", "configuration", "continue", "data",
    "define",  "do",    "dynamicparam", "end",   "enum",  "exit",          "filter",   "for",
    "foreach", "from",  "function",     "if",    "param", "process",       "return",   "switch",
    "throw",   "trap",  "try",          "using", "var",   "while",         "workflow"};

enum keyword ps_keyword(struct str word)
{
    if (word.n < 2 || word.n > 13)
        return K_NONE;
    size_t low = 1, high = sizeof keywords / sizeof *keywords;
    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = str_cmpi(word, str_of(keywords[middle]));
        if (order == 0)
            return (enum keyword)middle;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return K_NONE;
}

bool ps_is_word(struct ps_parser *p, struct ps_token t, struct str word)
{
    return t.kind == T_IDENTIFIER && str_eqi(ps_source(p, t), word);
}

void ps_expect(struct ps_parser *p, uint8_t kind)
{
    if (ps_peek(p).kind == kind)
        ps_next(p);
    else
        p->error = true;
}

void ps_close_at(struct ps_parser *p, struct ps_node *node)
{
    if (node && !p->fixed)
        node->end = p->pos;
}

/* { statements } */
struct ps_node *ps_parse_body(struct ps_parser *p)
{
    p->mode = PS_COMMAND_MODE;
    ps_skip_newlines(p);
    struct ps_token t = ps_peek(p);
    if (t.kind != T_LCURLY) {
        p->error = true;
        return NULL;
    }
    if (!ps_enter(p))
        return NULL;
    ps_next(p);
    struct ps_node *body = ps_node(p, PS_BODY, t.start, t.end);
    struct ps_node *statements = ps_parse_statements(p, T_RCURLY);
    ps_expect(p, T_RCURLY);
    ps_leave(p);
    if (!body)
        return NULL;
    body->a = statements;
    ps_close_at(p, body);
    return body;
}

/* ( pipeline ) after a keyword; NULL after an error. */
static struct ps_node *parse_condition(struct ps_parser *p)
{
    ps_skip_newlines(p);
    if (ps_peek(p).kind != T_LPAREN) {
        p->error = true;
        return NULL;
    }
    ps_next(p);
    ps_skip_newlines(p);
    struct ps_node *condition = ps_parse_pipeline(p);
    if (!condition)
        p->error = true;
    p->mode = PS_COMMAND_MODE;
    ps_skip_newlines(p);
    ps_expect(p, T_RPAREN);
    return condition;
}

static struct ps_node *parse_if(struct ps_parser *p, struct ps_token t)
{
    struct ps_node *head = NULL, *last = NULL;
    for (;;) {
        struct ps_node *node = ps_node(p, PS_IF, t.start, t.end);
        if (!node)
            return head;
        if (!head)
            head = node;
        else
            last->c = node;
        last = node;
        node->a = parse_condition(p);
        if (!node->a)
            return head;
        node->b = ps_parse_body(p);
        ps_close_at(p, node);
        if (!node->b)
            return head;
        uint32_t pos = p->pos;
        ps_skip_newlines(p);
        t = ps_peek(p);
        if (ps_is_word(p, t, STR("elseif"))) {
            ps_next(p);
            continue;
        }
        if (ps_is_word(p, t, STR("else"))) {
            ps_next(p);
            last->c = ps_parse_body(p);
        } else {
            p->pos = pos;
        }
        ps_close_at(p, head);
        return head;
    }
}

static struct ps_node *parse_switch(struct ps_parser *p, struct ps_token t)
{
    struct ps_node *node = ps_node(p, PS_SWITCH, t.start, t.end);
    if (!node)
        return NULL;
    while (ps_peek(p).kind == T_PARAMETER) { /* -regex -wildcard -file … */
        bool file = str_startsi(ps_source(p, ps_next(p)), STR("-f"));
        if (file && ps_peek(p).kind != T_LPAREN)
            ps_parse_primary(p, true);
    }
    if (ps_peek(p).kind == T_LPAREN || ps_peek(p).kind == T_NEWLINE)
        node->a = parse_condition(p);
    ps_skip_newlines(p);
    if (ps_peek(p).kind != T_LCURLY || !ps_enter(p)) {
        p->error = true;
        return node;
    }
    ps_next(p);
    struct ps_list clauses = {0};
    while (!p->stopped) {
        p->mode = PS_COMMAND_MODE;
        ps_skip_separators(p);
        t = ps_peek(p);
        if (t.kind == T_RCURLY || t.kind == T_END)
            break;
        struct ps_node *clause = ps_node(p, PS_PAIR, t.start, t.end);
        if (!clause)
            break;
        if (t.kind == T_GENERIC || t.kind == T_IDENTIFIER || t.kind == T_OPERATOR ||
            t.kind == T_PARAMETER || t.kind == T_LABEL) {
            ps_next(p);
            clause->a = ps_word(p, t, false);
        } else {
            clause->a = ps_parse_primary(p, true);
        }
        ps_append(&clauses, clause);
        if (!clause->a) {
            p->error = true;
            break;
        }
        clause->b = ps_parse_body(p);
        if (!clause->b)
            break;
    }
    p->mode = PS_COMMAND_MODE;
    ps_expect(p, T_RCURLY);
    ps_leave(p);
    node->b = clauses.first;
    ps_close_at(p, node);
    return node;
}

static struct ps_node *parse_for(struct ps_parser *p, struct ps_token t)
{
    struct ps_node *node = ps_node(p, PS_FOR, t.start, t.end);
    if (!node)
        return NULL;
    ps_skip_newlines(p);
    if (ps_peek(p).kind != T_LPAREN) {
        p->error = true;
        return node;
    }
    ps_next(p);
    struct ps_node **parts[] = {&node->a, &node->b, &node->c};
    for (size_t i = 0; i < 3; i++) {
        ps_skip_newlines(p);
        p->mode = PS_COMMAND_MODE;
        if (ps_peek(p).kind != T_SEMI && ps_peek(p).kind != T_RPAREN)
            *parts[i] = ps_parse_pipeline(p);
        p->mode = PS_COMMAND_MODE;
        if (ps_peek(p).kind == T_SEMI && i < 2)
            ps_next(p);
    }
    ps_skip_newlines(p);
    ps_expect(p, T_RPAREN);
    node->d = ps_parse_body(p);
    ps_close_at(p, node);
    return node;
}

static struct ps_node *parse_foreach(struct ps_parser *p, struct ps_token t)
{
    struct ps_node *node = ps_node(p, PS_FOREACH, t.start, t.end);
    if (!node)
        return NULL;
    ps_skip_newlines(p);
    while (ps_peek(p).kind == T_PARAMETER) /* -parallel, in workflows */
        ps_next(p);
    if (ps_peek(p).kind != T_LPAREN) {
        p->error = true;
        return node;
    }
    ps_next(p);
    ps_skip_newlines(p);
    p->mode = PS_EXPRESSION_MODE;
    t = ps_peek(p);
    if (t.kind == T_VARIABLE) {
        ps_next(p);
        node->a = ps_variable(p, t);
    } else {
        p->error = true;
    }
    p->mode = PS_COMMAND_MODE;
    ps_skip_newlines(p);
    t = ps_peek(p);
    if (ps_is_word(p, t, STR("in")))
        ps_next(p);
    else
        p->error = true;
    ps_skip_newlines(p);
    node->b = ps_parse_pipeline(p);
    if (!node->b)
        p->error = true;
    p->mode = PS_COMMAND_MODE;
    ps_skip_newlines(p);
    ps_expect(p, T_RPAREN);
    node->d = ps_parse_body(p);
    ps_close_at(p, node);
    return node;
}

static struct ps_node *parse_while(struct ps_parser *p, struct ps_token t)
{
    struct ps_node *node = ps_node(p, PS_WHILE, t.start, t.end);
    if (!node)
        return NULL;
    node->b = parse_condition(p);
    if (node->b)
        node->d = ps_parse_body(p);
    ps_close_at(p, node);
    return node;
}

static struct ps_node *parse_do(struct ps_parser *p, struct ps_token t)
{
    struct ps_node *node = ps_node(p, PS_WHILE, t.start, t.end);
    if (!node)
        return NULL;
    node->flags = PS_POST;
    node->d = ps_parse_body(p);
    ps_skip_newlines(p);
    t = ps_peek(p);
    if (ps_is_word(p, t, STR("while")) || ps_is_word(p, t, STR("until"))) {
        ps_next(p);
        node->b = parse_condition(p);
    } else {
        p->error = true;
    }
    ps_close_at(p, node);
    return node;
}

static struct ps_node *parse_try(struct ps_parser *p, struct ps_token t)
{
    struct ps_node *node = ps_node(p, PS_TRY, t.start, t.end);
    if (!node)
        return NULL;
    node->a = ps_parse_body(p);
    struct ps_list catches = {0};
    bool any = false;
    for (;;) {
        uint32_t pos = p->pos;
        p->mode = PS_COMMAND_MODE;
        ps_skip_newlines(p);
        t = ps_peek(p);
        if (ps_is_word(p, t, STR("catch"))) {
            ps_next(p);
            any = true;
            for (;;) {
                ps_parse_attributes(p);
                ps_skip_newlines(p);
                if (ps_peek(p).kind != T_COMMA)
                    break;
                ps_next(p);
            }
            struct ps_node *body = ps_parse_body(p);
            if (!body)
                break;
            ps_append(&catches, body);
            continue;
        }
        if (ps_is_word(p, t, STR("finally"))) {
            ps_next(p);
            any = true;
            node->c = ps_parse_body(p);
        } else {
            p->pos = pos;
        }
        break;
    }
    if (!any)
        p->error = true;
    node->b = catches.first;
    ps_close_at(p, node);
    return node;
}

static bool ends_statement(uint8_t kind)
{
    return kind == T_END || kind == T_NEWLINE || kind == T_SEMI || kind == T_RPAREN ||
           kind == T_RCURLY;
}

static struct ps_node *parse_flow(struct ps_parser *p, struct ps_token t, enum keyword keyword)
{
    struct ps_node *node = ps_node(p, PS_FLOW, t.start, t.end);
    if (!node)
        return NULL;
    node->op = keyword == K_RETURN ? 'r' : keyword == K_THROW ? 't' : keyword == K_EXIT ? 'e' : 0;
    t = ps_peek(p);
    if (keyword == K_BREAK || keyword == K_CONTINUE) {
        if (t.kind == T_IDENTIFIER || t.kind == T_GENERIC)
            ps_next(p);
        else if (t.kind == T_VARIABLE || t.kind == T_SINGLE || t.kind == T_DOUBLE)
            ps_parse_primary(p, true);
    } else if (!ends_statement(t.kind)) {
        node->a = ps_parse_pipeline(p);
        p->mode = PS_COMMAND_MODE;
        if (node->a)
            node->end = node->a->end;
    }
    return node;
}

static struct ps_node *parse_keyword(struct ps_parser *p, struct ps_token t, enum keyword keyword)
{
    switch (keyword) {
    case K_IF: return parse_if(p, t);
    case K_SWITCH: return parse_switch(p, t);
    case K_FOR: return parse_for(p, t);
    case K_FOREACH: return parse_foreach(p, t);
    case K_WHILE: return parse_while(p, t);
    case K_DO: return parse_do(p, t);
    case K_TRY: return parse_try(p, t);
    case K_TRAP: {
        struct ps_node *node = ps_node(p, PS_TRAP, t.start, t.end);
        ps_parse_attributes(p);
        struct ps_node *body = ps_parse_body(p);
        if (node)
            node->a = body;
        return node;
    }
    case K_FUNCTION:
    case K_FILTER:
    case K_WORKFLOW:
    case K_CONFIGURATION: return ps_parse_function(p, t);
    case K_CLASS: return ps_parse_class(p, t, false);
    case K_ENUM: return ps_parse_class(p, t, true);
    case K_USING: return ps_parse_using(p, t);
    case K_DATA: return ps_parse_data(p, t);
    case K_BEGIN:
    case K_PROCESS:
    case K_END:
    case K_CLEAN:
    case K_DYNAMICPARAM: return ps_parse_body(p);
    case K_DEFINE:
    case K_FROM:
    case K_VAR: /* reserved */ p->error = true; return NULL;
    case K_PARAM: { /* out of its place */
        ps_skip_newlines(p);
        p->error = true;
        if (ps_peek(p).kind == T_LPAREN)
            ps_parse_primary(p, false);
        return NULL;
    }
    default: return parse_flow(p, t, keyword);
    }
}

struct ps_node *ps_parse_statement(struct ps_parser *p)
{
    p->mode = PS_COMMAND_MODE;
    struct ps_token t = ps_peek(p);
    if (t.kind == T_LABEL) { /* :label while … */
        uint32_t pos = p->pos;
        ps_next(p);
        ps_skip_newlines(p);
        struct ps_token loop = ps_peek(p);
        enum keyword keyword = loop.kind == T_IDENTIFIER ? ps_keyword(ps_source(p, loop)) : K_NONE;
        if (keyword == K_FOR || keyword == K_FOREACH || keyword == K_WHILE || keyword == K_DO ||
            keyword == K_SWITCH)
            t = loop;
        else
            p->pos = pos;
    }
    enum keyword keyword = t.kind == T_IDENTIFIER ? ps_keyword(ps_source(p, t)) : K_NONE;
    /* In classes and named blocks the word after decides; `clean` is new in PowerShell 7. */
    if (keyword == K_CLEAN) {
        p->differs = true;
        if (p->version < 7)
            keyword = K_NONE;
    }
    if (keyword == K_NONE) {
        struct ps_node *node = ps_parse_pipeline(p);
        p->mode = PS_COMMAND_MODE;
        return node;
    }
    ps_next(p);
    struct ps_node *node = parse_keyword(p, t, keyword);
    p->mode = PS_COMMAND_MODE;
    return node;
}

/* True if the next statement may follow without a separator. */
static bool ends_itself(const struct ps_node *node)
{
    switch (node->kind) {
    case PS_IF:
    case PS_SWITCH:
    case PS_FOR:
    case PS_FOREACH:
    case PS_TRY:
    case PS_TRAP:
    case PS_FUNCTION:
    case PS_CLASS: return true;
    case PS_BODY:
        return node->a == NULL || node->a->next == NULL || !(node->a->next->flags & PS_CHAINED);
    case PS_WHILE: return !(node->flags & PS_POST);
    case PS_ASSIGN: return node->b && ends_itself(node->b);
    default: return (node->flags & PS_BACKGROUND) != 0;
    }
}

struct ps_node *ps_parse_statements(struct ps_parser *p, uint8_t end)
{
    struct ps_list list = {0};
    while (!p->stopped) {
        p->mode = PS_COMMAND_MODE;
        ps_skip_separators(p);
        struct ps_token t = ps_peek(p);
        if (t.kind == T_END || t.kind == end)
            break;
        if (t.kind == T_RPAREN || t.kind == T_RCURLY) {
            p->error = true;
            if (end != T_END)
                break;
            ps_next(p);
            continue;
        }
        uint32_t pos = p->pos;
        struct ps_node *statement = ps_parse_statement(p);
        ps_append(&list, statement);
        p->mode = PS_COMMAND_MODE;
        if (p->pos == pos) { /* nothing begins here */
            p->error = true;
            ps_next(p);
            continue;
        }
        if (statement && !ends_statement(ps_peek(p).kind) && !ends_itself(statement))
            p->error = true;
    }
    return list.first;
}
