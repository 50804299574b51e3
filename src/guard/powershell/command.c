/* SPDX-License-Identifier: Apache-2.0 */
/* The parser's pipelines and commands: names, arguments, redirections, chains. */
#include "guard/powershell/powershell.h"

static struct ps_node *stop_at(struct ps_parser *p)
{
    p->error = true;
    return NULL;
}

/* An argument without the comma: a bare word, or an expression with members stuck to it. */
static struct ps_node *parse_single(struct ps_parser *p, bool name)
{
    p->mode = PS_COMMAND_MODE;
    struct ps_token t = ps_peek(p);
    switch (t.kind) {
    case T_END:
    case T_NEWLINE:
    case T_SEMI:
    case T_RPAREN:
    case T_RCURLY:
    case T_PIPE:
    case T_AND_AND:
    case T_OR_OR:
    case T_AMPERSAND:
    case T_COMMA:
    case T_REDIRECT:
    case T_MERGE:
    case T_INPUT: return NULL;
    case T_NUMBER:
    case T_SINGLE:
    case T_DOUBLE:
    case T_HERE_SINGLE:
    case T_HERE_DOUBLE:
    case T_VARIABLE:
    case T_SPLAT:
    case T_LPAREN:
    case T_AT_PAREN:
    case T_DOLLAR_PAREN:
    case T_AT_CURLY:
    case T_LCURLY: {
        struct ps_node *node = ps_parse_primary(p, true);
        p->mode = PS_COMMAND_MODE;
        return node;
    }
    case T_UNKNOWN: p->error = true; break;
    default: break;
    }
    ps_next(p);
    return ps_word(p, t, name);
}

static struct ps_node *parse_argument(struct ps_parser *p)
{
    struct ps_node *first = parse_single(p, false);
    if (!first || ps_peek(p).kind != T_COMMA)
        return first;
    struct ps_list items = {0};
    struct ps_node *list = ps_node(p, PS_LIST, first->start, first->end);
    ps_append(&items, first);
    while (ps_peek(p).kind == T_COMMA && !p->stopped) {
        ps_next(p);
        ps_skip_newlines(p);
        struct ps_node *item = parse_single(p, false);
        if (!item) {
            p->error = true;
            break;
        }
        ps_append(&items, item);
    }
    if (!list)
        return NULL;
    list->a = items.first;
    if (items.last)
        list->end = items.last->end;
    return list;
}

static struct ps_node *parse_parameter(struct ps_parser *p, struct ps_token t)
{
    struct ps_node *node = ps_node(p, PS_PARAMETER, t.start, t.end);
    ps_next(p);
    if (!node)
        return NULL;
    uint32_t name = t.start;
    ps_char(p->text, &name); /* the dash may be three bytes long */
    node->text = str_slice(p->text, name, t.colon ? t.end - 1 : t.end);
    if (t.colon) {
        node->a = parse_argument(p);
        if (!node->a)
            p->error = true;
        else
            node->end = node->a->end;
    }
    return node;
}

static void parse_redirection(struct ps_parser *p, struct ps_token t, struct ps_list *list)
{
    ps_next(p);
    if (t.kind == T_MERGE)
        return;
    if (t.kind == T_INPUT)
        p->error = true;
    struct ps_node *target = parse_single(p, false);
    if (!target) {
        p->error = true;
    } else if (t.kind == T_REDIRECT) {
        struct str sign = ps_source(p, t);
        target->op = ascii_is_digit(sign.p[0]) && sign.p[0] != '1' ? PS_OTHER_STREAM
                     : str_ends(sign, STR(">>"))                   ? PS_APPEND
                                                                   : 0;
    }
    ps_append(list, target);
}

/* --% and everything after it. */
static bool parse_verbatim(struct ps_parser *p, struct ps_node *word, struct ps_list *elements)
{
    if (!word || word->kind != PS_STRING || (word->flags & PS_QUOTED) ||
        !str_eq(word->text, STR("--%")) || p->pos < 3 ||
        !str_eq(str_slice(p->text, p->pos - 3, p->pos), STR("--%")))
        return false;
    uint32_t end = ps_verbatim_end(p);
    if (end > p->pos) {
        struct ps_node *rest = ps_node(p, PS_STRING, p->pos, end);
        if (rest)
            rest->text = str_slice(p->text, p->pos, end);
        ps_append(elements, rest);
    }
    p->pos = end;
    return true;
}

static struct ps_node *parse_command(struct ps_parser *p)
{
    p->mode = PS_COMMAND_MODE;
    struct ps_token t = ps_peek(p);
    uint32_t start = t.start;
    struct ps_node *command = ps_node(p, PS_COMMAND, start, t.end);
    if (!command)
        return NULL;
    if (++p->commands > GUARD_MAX_COMMANDS) {
        p->stopped = true;
        guard_limit(p->g, (struct word){.start = command->start, .end = command->end});
        return NULL;
    }
    struct ps_list elements = {0}, redirections = {0};
    if (t.kind == T_AMPERSAND || t.kind == T_DOT) {
        command->op = t.kind == T_DOT ? '.' : '&';
        ps_next(p);
        struct ps_node *name = parse_single(p, false);
        if (!name) {
            p->error = true;
            return NULL;
        }
        ps_append(&elements, name);
    }
    bool no_parameters = false;
    while (!p->stopped) {
        t = ps_peek(p);
        if (t.kind == T_INPUT && !elements.first) { /* as a name it is only a sign */
            ps_next(p);
            ps_append(&elements, ps_word(p, t, true));
            continue;
        }
        if (t.kind == T_REDIRECT || t.kind == T_MERGE || t.kind == T_INPUT) {
            parse_redirection(p, t, &redirections);
            continue;
        }
        if (t.kind == T_COMMA) {
            p->error = true;
            ps_next(p);
            continue;
        }
        bool name = !elements.first;
        struct ps_node *element;
        if (t.kind == T_PARAMETER && !name && !no_parameters) {
            element = parse_parameter(p, t);
        } else if (t.kind == T_MINUS_MINUS && !name && !no_parameters) {
            element = parse_parameter(p, t);
            no_parameters = true;
        } else if (name) {
            element = parse_single(p, true);
        } else {
            element = parse_argument(p);
        }
        if (!element)
            break;
        ps_append(&elements, element);
        if (parse_verbatim(p, element, &elements))
            break;
    }
    if (!elements.first) {
        if (!redirections.first)
            return NULL;
        p->error = true;
    }
    command->a = elements.first;
    command->b = redirections.first;
    if (elements.last && elements.last->end > command->end)
        command->end = elements.last->end;
    if (redirections.last && redirections.last->end > command->end)
        command->end = redirections.last->end;
    return command;
}

/* PowerShell 7 lets a pipeline go on at a '|' on the next line. */
static bool pipe_on_next_line(struct ps_parser *p)
{
    if (ps_peek(p).kind != T_NEWLINE)
        return false;
    uint32_t pos = p->pos;
    ps_skip_newlines(p);
    if (ps_peek(p).kind == T_PIPE) {
        p->differs = true;
        if (p->version >= 7)
            return true;
    }
    p->pos = pos;
    return false;
}

static bool assignable(const struct ps_node *node)
{
    switch (node->kind) {
    case PS_VARIABLE:
    case PS_MEMBER:
    case PS_INDEX: return true;
    case PS_CAST:
    case PS_PAREN: return node->a && assignable(node->a);
    case PS_LIST:
        for (const struct ps_node *item = node->a; item; item = item->next)
            if (!assignable(item))
                return false;
        return true;
    default: return false;
    }
}

/* target = value, from the operator on. */
static struct ps_node *parse_assignment(struct ps_parser *p, struct ps_node *target)
{
    struct ps_token t = ps_next(p);
    if (t.op == OP_COALESCE) {
        p->differs = true;
        if (p->version < 7)
            p->error = true;
    }
    if (!assignable(target))
        p->error = true;
    ps_skip_newlines(p);
    p->mode = PS_COMMAND_MODE;
    struct ps_node *assign = ps_node(p, PS_ASSIGN, target->start, t.end);
    struct ps_node *value = ps_enter(p) ? ps_parse_statement(p) : NULL;
    if (!p->stopped)
        ps_leave(p);
    if (!value)
        p->error = true;
    if (!assign)
        return NULL;
    assign->op = t.op;
    assign->a = target;
    assign->b = value;
    if (value)
        assign->end = value->end;
    return assign;
}

/* The redirections of an expression that stands first. */
static struct ps_list parse_redirections(struct ps_parser *p, struct ps_node *first)
{
    struct ps_list redirections = {0};
    for (struct ps_token t = ps_peek(p);
         t.kind == T_REDIRECT || t.kind == T_MERGE || t.kind == T_INPUT; t = ps_peek(p)) {
        parse_redirection(p, t, &redirections);
        first->flags |= PS_REDIRECTED;
    }
    return redirections;
}

/* The commands after the first one, each behind a |. */
static struct ps_node *parse_elements(struct ps_parser *p, struct ps_node *first, uint32_t start)
{
    struct ps_list elements = {0};
    struct ps_node *pipeline = ps_node(p, PS_PIPELINE, start, p->pos);
    ps_append(&elements, first);
    while (!p->stopped && (ps_peek(p).kind == T_PIPE || pipe_on_next_line(p))) {
        ps_next(p);
        ps_skip_newlines(p);
        struct ps_token t = ps_peek(p);
        if (t.kind == T_VARIABLE || t.kind == T_SINGLE || t.kind == T_DOUBLE ||
            t.kind == T_NUMBER || t.kind == T_LPAREN || t.kind == T_LCURLY)
            p->error = true; /* an expression may only come first */
        struct ps_node *command = parse_command(p);
        if (!command) {
            p->error = true;
            break;
        }
        ps_append(&elements, command);
        p->mode = PS_COMMAND_MODE;
    }
    if (!pipeline)
        return NULL;
    pipeline->a = elements.first;
    if (elements.last)
        pipeline->end = elements.last->end;
    return pipeline;
}

/* One pipeline without && and ||. */
static struct ps_node *parse_one(struct ps_parser *p)
{
    p->mode = PS_EXPRESSION_MODE;
    uint32_t start = ps_peek(p).start;
    struct ps_node *first = ps_parse_expression(p);
    p->mode = PS_EXPRESSION_MODE;
    if (first && ps_peek(p).kind == T_ASSIGN)
        return parse_assignment(p, first);
    if (first) {
        p->mode = PS_COMMAND_MODE;
        struct ps_list redirections = parse_redirections(p, first);
        if (redirections.first) {
            struct ps_node *pipeline = ps_node(p, PS_PIPELINE, start, p->pos);
            if (!pipeline)
                return NULL;
            pipeline->b = redirections.first;
            pipeline->a = first;
            if (ps_peek(p).kind != T_PIPE)
                return pipeline;
        }
    } else {
        first = parse_command(p);
        if (!first)
            return NULL;
    }
    p->mode = PS_COMMAND_MODE;
    if (ps_peek(p).kind != T_PIPE && !pipe_on_next_line(p))
        return first;
    return parse_elements(p, first, start);
}

struct ps_node *ps_parse_pipeline(struct ps_parser *p)
{
    struct ps_node *first = parse_one(p);
    if (!first)
        return NULL;
    struct ps_list chain = {0};
    ps_append(&chain, first);
    for (;;) {
        p->mode = PS_COMMAND_MODE;
        struct ps_token t = ps_peek(p);
        if (p->stopped)
            break;
        if (t.kind == T_AMPERSAND && first->kind != PS_ASSIGN) {
            p->differs = true;
            if (p->version < 7)
                p->error = true;
            ps_next(p);
            first->flags |= PS_BACKGROUND;
            break;
        }
        if (t.kind != T_AND_AND && t.kind != T_OR_OR)
            break;
        p->differs = true;
        if (p->version < 7)
            p->error = true;
        ps_next(p);
        ps_skip_newlines(p);
        struct ps_node *next = parse_one(p);
        if (!next) {
            stop_at(p);
            break;
        }
        next->flags |= PS_CHAINED;
        ps_append(&chain, next);
    }
    if (chain.first == chain.last)
        return first;
    struct ps_node *body = ps_node(p, PS_BODY, first->start, chain.last->end);
    if (!body)
        return NULL;
    body->a = chain.first;
    return body;
}
