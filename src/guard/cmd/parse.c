/* SPDX-License-Identifier: Apache-2.0 */
/* The grammar of cmd: one unit of the source becomes a list of commands, carets and
   redirections removed, quotes kept. Nothing is an error here: what cmd would refuse is read as
   far as it goes. */
#include "guard/cmd/cmd.h"

#include <string.h>

/*
 *   list     = command { ( & | && | || | "|" | newline in parentheses ) command }
 *   command  = @ ... | ( list ) redirections | if condition command [ else command ]
 *            | for [ switches ] %v in ( set ) do command | rem ... | words and redirections
 */
static struct cmd_node *parse_list(struct cmd_reader *r, bool in_parens);
static struct cmd_node *parse_command(struct cmd_reader *r, bool in_parens);

/* Appends the next line of the source to the unit; false at the end. */
static bool next_line(struct cmd_reader *r)
{
    if (r->next >= r->source.n)
        return false;
    size_t end = str_find_char(r->source, '\n', r->next);
    size_t text_end = end;
    if (text_end > r->next && r->source.p[text_end - 1] == '\r')
        text_end--;
    cmd_expand_line(r, &r->unit, r->next, text_end);
    if (end < r->source.n)
        cmd_put(r, &r->unit, '\n', (uint32_t)end);
    r->next = end < r->source.n ? end + 1 : end;
    return true;
}

static char peek(const struct cmd_reader *r)
{
    return r->pos < r->unit.n ? r->unit.p[r->pos] : '\0';
}

static bool at_end(const struct cmd_reader *r)
{
    return r->pos >= r->unit.n;
}

static uint32_t place(const struct cmd_reader *r)
{
    if (r->pos < r->unit.n)
        return r->unit.at[r->pos];
    return r->unit.n ? r->unit.at[r->unit.n - 1] + 1 : (uint32_t)r->source.n;
}

static void skip_blanks(struct cmd_reader *r)
{
    for (;;) {
        while (!at_end(r) && cmd_is_blank(peek(r)))
            r->pos++;
        if (peek(r) != '^' || r->pos + 1 >= r->unit.n || r->unit.p[r->pos + 1] != '\n')
            return;
        r->pos += 2; /* the line goes on */
        if (r->pos >= r->unit.n && !next_line(r))
            return;
    }
}

/* Skips a caret; true if a plain character follows, whatever it is. */
static bool take_caret(struct cmd_reader *r)
{
    r->pos++;
    if (at_end(r) || peek(r) != '\n')
        return !at_end(r);
    r->pos++; /* the line goes on */
    if (at_end(r))
        next_line(r);
    return !at_end(r) && peek(r) != '\n';
}

static void take_plain(struct cmd_reader *r, struct cmd_text *out)
{
    if (peek(r) == '^' && !take_caret(r))
        return;
    cmd_put(r, out, peek(r), place(r));
    r->pos++;
}

static bool ends_command(char c, bool in_parens)
{
    return c == '&' || c == '|' || c == '\n' || (c == ')' && in_parens);
}

/* Takes a quoted part, quotes included; it ends with the line at the latest. */
static void take_quoted(struct cmd_reader *r, struct cmd_text *out)
{
    do {
        cmd_put(r, out, peek(r), place(r));
        r->pos++;
    } while (!at_end(r) && peek(r) != '"' && peek(r) != '\n');
    if (peek(r) == '"' && !at_end(r)) {
        cmd_put(r, out, '"', place(r));
        r->pos++;
    }
}

/* One token: up to a blank, an operator or a redirection. */
static struct cmd_text take_token(struct cmd_reader *r, bool in_parens)
{
    struct cmd_text out = {0};
    while (!at_end(r) && !guard_stopped(r->g)) {
        char c = peek(r);
        if (cmd_is_blank(c) || ends_command(c, in_parens) || c == '<' || c == '>')
            break;
        if (c == '"')
            take_quoted(r, &out);
        else
            take_plain(r, &out);
    }
    return out;
}

/* At < or >: takes the redirection and its target; own: of the standard handles. */
static void skip_redirection(struct cmd_reader *r, struct cmd_node *node, bool in_parens, bool own)
{
    char c = peek(r);
    size_t start = r->pos;
    while (peek(r) == c && !at_end(r))
        r->pos++;
    bool append = r->pos > start + 1;
    if (peek(r) == '&') { /* >&2 */
        r->pos++;
        skip_blanks(r);
        while (ascii_is_digit(peek(r)))
            r->pos++;
        return;
    }
    skip_blanks(r);
    struct cmd_text target = take_token(r, in_parens);
    if (c == '<') {
        node->input_file = true;
        return;
    }
    if (own) { /* the last one gets the output */
        struct cmd_text before = node->output;
        node->output = target;
        node->append = append;
        target = before;
    }
    struct cmd_emptied *emptied = target.n ? ARENA_NEW(r->arena, struct cmd_emptied) : NULL;
    if (emptied) {
        *emptied = (struct cmd_emptied){.file = target, .next = node->emptied};
        node->emptied = emptied;
    } else if (target.n) {
        guard_limit(r->g, word_unknown(place(r), place(r)));
    }
}

/*
 * Words up to the end of the command. They are shorter than what they are made from, so they are
 * written over it: the text from first on belongs to this command alone.
 */
static void take_words(struct cmd_reader *r, struct cmd_node *node, bool in_parens)
{
    static const bool special[256] = {['\n'] = true, ['&'] = true, ['|'] = true, [')'] = true,
                                      ['<'] = true,  ['>'] = true, ['^'] = true, ['"'] = true};
    size_t first = r->pos, n = first;
    bool quoted = false;
    while (!at_end(r) && !guard_stopped(r->g)) {
        char c = peek(r);
        if (!special[(unsigned char)c]) {
            r->unit.p[n] = c;
            r->unit.at[n++] = r->unit.at[r->pos++];
            continue;
        }
        if (c == '\n' || (!quoted && ends_command(c, in_parens)))
            break;
        if (!quoted && (c == '<' || c == '>')) {
            /* a digit of its own names the handle */
            bool own = true;
            if (n > first && ascii_is_digit(r->unit.p[n - 1]) &&
                (n == first + 1 || cmd_is_blank(r->unit.p[n - 2])) &&
                r->unit.at[n - 1] + 1 == place(r)) {
                n--;
                own = r->unit.p[n] == '1';
            }
            skip_redirection(r, node, in_parens, own);
            continue;
        }
        if (!quoted && c == '^') {
            if (!take_caret(r))
                continue;
            c = peek(r);
        } else {
            quoted ^= c == '"';
        }
        r->unit.p[n] = c;
        r->unit.at[n++] = place(r);
        r->pos++;
    }
    node->text = cmd_part(&r->unit, first, n);
}

static struct cmd_node *new_node(struct cmd_reader *r, enum cmd_kind kind)
{
    struct cmd_node *node =
        ++r->nodes > GUARD_MAX_COMMANDS ? NULL : ARENA_NEW(r->arena, struct cmd_node);
    if (!node) {
        guard_limit(r->g, word_unknown(place(r), place(r)));
        return NULL;
    }
    node->kind = kind;
    node->start = place(r);
    return node;
}

/* Takes the next token if it is this one; it may hold carets. */
static bool take_keyword(struct cmd_reader *r, const char *name, bool in_parens)
{
    size_t before = r->pos, n = 0;
    skip_blanks(r);
    while (!at_end(r)) {
        char c = peek(r);
        if (cmd_is_blank(c) || ends_command(c, in_parens) || c == '<' || c == '>' || c == '"' ||
            c == '(')
            break;
        if (c == '^') {
            r->pos++;
            if (at_end(r) || peek(r) == '\n')
                break;
            c = peek(r);
        }
        if (!name[n] || ascii_lower(c) != name[n]) {
            n = 0;
            break;
        }
        n++;
        r->pos++;
    }
    if (n && !name[n])
        return true;
    r->pos = before;
    return false;
}

/* A body of if, else and for: the rest of the list, or what stands in parentheses. */
static struct cmd_node *parse_body(struct cmd_reader *r, bool in_parens)
{
    skip_blanks(r);
    while (peek(r) == '@' && !at_end(r)) {
        r->pos++;
        skip_blanks(r);
    }
    if (peek(r) == '(')
        return parse_command(r, in_parens);
    return parse_list(r, in_parens);
}

/* One operand of a comparison: up to a blank or ==. */
static struct cmd_text take_operand(struct cmd_reader *r, bool in_parens)
{
    skip_blanks(r);
    return take_token(r, in_parens);
}

static struct cmd_node *parse_if(struct cmd_reader *r, struct cmd_node *node, bool in_parens)
{
    node->kind = CMD_IF;
    for (;;) {
        if (take_keyword(r, "/i", in_parens))
            node->fold_case = true;
        else if (take_keyword(r, "not", in_parens))
            node->negated = !node->negated;
        else
            break;
    }
    static const char *const unary[] = {"exist", "defined", "errorlevel", "cmdextversion"};
    bool found = false;
    for (size_t i = 0; i < sizeof unary / sizeof *unary && !found; i++)
        found = take_keyword(r, unary[i], in_parens);
    if (found) {
        take_operand(r, in_parens);
    } else {
        node->left = take_operand(r, in_parens);
        if (peek(r) == '=') {
            memcpy(node->op, "==", 3);
        } else {
            static const char *const binary[] = {"equ", "neq", "lss", "leq", "gtr", "geq"};
            /* == may follow blanks: they, and it, are blanks themselves */
            size_t look = r->pos;
            while (look < r->unit.n && (r->unit.p[look] == ' ' || r->unit.p[look] == '\t'))
                look++;
            if (look < r->unit.n && r->unit.p[look] == '=')
                memcpy(node->op, "==", 3);
            for (size_t i = 0; i < sizeof binary / sizeof *binary && !node->op[0]; i++)
                if (take_keyword(r, binary[i], in_parens))
                    memcpy(node->op, binary[i], 4);
        }
        if (node->op[0])
            node->right = take_operand(r, in_parens);
    }
    node->body = parse_body(r, in_parens);
    if (take_keyword(r, "else", in_parens))
        node->other = parse_body(r, in_parens);
    return node;
}

static struct cmd_node *parse_for(struct cmd_reader *r, struct cmd_node *node, bool in_parens)
{
    node->kind = CMD_FOR;
    for (;;) { /* switches, options and folders, up to the variable */
        skip_blanks(r);
        if (at_end(r) || peek(r) == '(' || ends_command(peek(r), in_parens))
            break;
        struct cmd_text token = take_token(r, in_parens);
        if (token.n == 0) {
            if (peek(r) == '<' || peek(r) == '>')
                r->pos++;
            continue;
        }
        if (token.p[0] == '%') {
            size_t last = token.n > 1 && token.p[1] == '%' ? 2 : 1;
            if (last < token.n)
                node->variable = token.p[last];
            break;
        }
        if (token.p[0] == '/' && token.n > 1) {
            node->switches = ascii_lower(token.p[1]);
            if (token.n > 2)
                node->left = cmd_part(&token, 2, token.n);
        } else {
            node->left = token;
        }
    }
    take_keyword(r, "in", in_parens);
    skip_blanks(r);
    if (peek(r) == '(') {
        r->pos++;
        while (!guard_stopped(r->g)) {
            if (at_end(r) && !next_line(r))
                break;
            char c = peek(r);
            if (c == ')')
                break;
            if (c == '"')
                take_quoted(r, &node->text);
            else if (c == '\n')
                r->pos++;
            else
                take_plain(r, &node->text);
        }
        if (peek(r) == ')')
            r->pos++;
    }
    take_keyword(r, "do", in_parens);
    node->body = parse_body(r, in_parens);
    return node;
}

/* The rest of the line is a comment, unless an operator ends the first word. */
static void skip_comment(struct cmd_reader *r)
{
    skip_blanks(r);
    while (!at_end(r) && !ascii_is_in(peek(r), " \t,;=\"^\n&|)"))
        r->pos++;
    if (!at_end(r) && ascii_is_in(peek(r), "&|)"))
        return;
    while (!at_end(r) && peek(r) != '\n')
        r->pos++;
}

/* The redirections in front of a command or behind a block. */
static void skip_redirections(struct cmd_reader *r, struct cmd_node *node, bool in_parens)
{
    while (!guard_stopped(r->g)) {
        skip_blanks(r);
        bool own = true;
        if (ascii_is_digit(peek(r)) && r->pos + 1 < r->unit.n &&
            (r->unit.p[r->pos + 1] == '>' || r->unit.p[r->pos + 1] == '<')) {
            own = peek(r) == '1';
            r->pos++;
        }
        if (at_end(r) || (peek(r) != '>' && peek(r) != '<'))
            return;
        skip_redirection(r, node, in_parens, own);
    }
}

static struct cmd_node *parse_command(struct cmd_reader *r, bool in_parens)
{
    skip_blanks(r);
    while ((peek(r) == '@' || peek(r) == ')') && !at_end(r)) {
        if (peek(r) == ')' && in_parens)
            return NULL;
        r->pos++;
        skip_blanks(r);
    }
    if (at_end(r) || ends_command(peek(r), in_parens))
        return NULL;
    struct cmd_node *node = new_node(r, CMD_SIMPLE);
    if (!node)
        return NULL;
    if (++r->nesting > CMD_MAX_NESTING) {
        guard_limit(r->g, word_unknown(place(r), place(r)));
        return NULL;
    }
    skip_redirections(r, node, in_parens);
    if (peek(r) == '(') {
        r->pos++;
        node->kind = CMD_BLOCK;
        node->body = parse_list(r, true);
        if (peek(r) == ')' && !at_end(r))
            r->pos++;
        skip_redirections(r, node, in_parens);
    } else if (take_keyword(r, "if", in_parens)) {
        parse_if(r, node, in_parens);
    } else if (take_keyword(r, "for", in_parens)) {
        parse_for(r, node, in_parens);
    } else if (take_keyword(r, "rem", in_parens)) {
        skip_comment(r);
        node->kind = CMD_BLOCK; /* an empty one */
    } else {
        take_words(r, node, in_parens);
    }
    node->end = place(r);
    r->nesting--;
    return node;
}

static struct cmd_node *parse_list(struct cmd_reader *r, bool in_parens)
{
    struct cmd_node *first = NULL, **tail = &first;
    enum cmd_join join = CMD_THEN;
    while (!guard_stopped(r->g)) {
        if (at_end(r) && !(in_parens && next_line(r)))
            break;
        skip_blanks(r);
        char c = peek(r);
        if (c == ')' && in_parens)
            break;
        if (c == '\n') {
            if (!in_parens)
                break;
            r->pos++;
            join = CMD_THEN;
            /* labels inside parentheses */
            skip_blanks(r);
            if (peek(r) == ':' && !at_end(r))
                while (!at_end(r) && peek(r) != '\n')
                    r->pos++;
            continue;
        }
        if (c == '&' || c == '|') {
            bool twice = r->pos + 1 < r->unit.n && r->unit.p[r->pos + 1] == c;
            r->pos += twice ? 2 : 1;
            join = c == '&' ? (twice ? CMD_AND : CMD_THEN) : (twice ? CMD_OR : CMD_PIPE);
            continue;
        }
        if (at_end(r))
            continue;
        size_t before = r->pos;
        struct cmd_node *node = parse_command(r, in_parens);
        if (node) {
            node->join = join;
            join = CMD_THEN;
            *tail = node;
            tail = &node->next;
        } else if (r->pos == before) {
            r->pos++;
        }
    }
    return first;
}

struct cmd_node *cmd_parse_unit(struct cmd_reader *r)
{
    r->unit = (struct cmd_text){0};
    r->pos = 0;
    r->nesting = 0;
    while (r->next < r->source.n && ascii_is_in(r->source.p[r->next], " \t\r\n"))
        r->next++;
    if (!next_line(r))
        return NULL;
    skip_blanks(r);
    if (peek(r) == ':' && !at_end(r))
        return NULL; /* a label, or a comment as :: */
    struct cmd_node *list = parse_list(r, false);
    if (r->unit.n == 0)
        return NULL;
    return list;
}
