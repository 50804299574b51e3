/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PowerShell's tokens. The same characters are different tokens in the two modes: in an expression
 * `-1`, `foo.bar` and `a+b` are several, as arguments of a command each is one bare word.
 * Tokens are only spans; powershell_word.c says what they mean.
 */
#include "guard/powershell/powershell.h"

static uint32_t peek_char(struct str text, uint32_t pos)
{
    return ps_char(text, &pos);
}

static bool ends_word(struct str text, uint32_t pos)
{
    return pos >= text.n || (ps_class(peek_char(text, pos)) & PS_ENDS_WORD);
}

static uint32_t skip_block_comment(struct ps_parser *p, uint32_t pos)
{
    for (; pos + 1 < p->text.n; pos++)
        if (p->text.p[pos] == '#' && p->text.p[pos + 1] == '>')
            return pos + 2;
    p->error = true;
    return (uint32_t)p->text.n;
}

static char byte_at(const struct ps_parser *p, uint32_t pos)
{
    return pos < p->text.n ? p->text.p[pos] : 0;
}

/* The end of a number at pos, or 0 if the word is none. */
static uint32_t scan_number(struct ps_parser *p, uint32_t pos)
{
    const uint32_t start = pos;
    bool number = true;
    if (byte_at(p, pos) == '0' && (byte_at(p, pos + 1) | 32) == 'x') {
        for (pos += 2; ascii_hex(byte_at(p, pos)) >= 0;)
            pos++;
        number = pos - start <= 18;
    } else if (byte_at(p, pos) == '0' && (byte_at(p, pos + 1) | 32) == 'b' &&
               (byte_at(p, pos + 2) == '0' || byte_at(p, pos + 2) == '1')) {
        p->differs = true;
        if (p->version < 7)
            return 0;
        for (pos += 2; byte_at(p, pos) == '0' || byte_at(p, pos) == '1';)
            pos++;
    } else {
        while (ascii_is_digit(byte_at(p, pos)))
            pos++;
        if (byte_at(p, pos) == '.' && byte_at(p, pos + 1) != '.') {
            pos++;
            while (ascii_is_digit(byte_at(p, pos)))
                pos++;
        }
        if ((byte_at(p, pos) | 32) == 'e') {
            pos++;
            uint32_t sign = pos;
            if (ps_is_dash(ps_char(p->text, &sign)) || byte_at(p, pos) == '+')
                pos = sign;
            if (!ascii_is_digit(byte_at(p, pos)))
                number = false;
            while (ascii_is_digit(byte_at(p, pos)))
                pos++;
        }
    }
    char suffix = ascii_lower(byte_at(p, pos));
    if (suffix == 'u' || suffix == 's' || suffix == 'y' || suffix == 'n') {
        p->differs = true;
        if (p->version < 7)
            return 0;
        pos++;
        char second = ascii_lower(byte_at(p, pos));
        if (suffix == 'u' && (second == 'l' || second == 's' || second == 'y'))
            pos++;
    } else if (suffix == 'l' || suffix == 'd') {
        pos++;
    }
    suffix = ascii_lower(byte_at(p, pos));
    if (ascii_is_in(suffix, "kmgtp")) {
        if (ascii_lower(byte_at(p, pos + 1)) != 'b')
            return 0;
        pos += 2;
    }
    if (pos < p->text.n) {
        uint32_t c = peek_char(p->text, pos);
        unsigned class = ps_class(c);
        bool ends = (class & PS_ENDS_WORD) || (p->mode == PS_EXPRESSION_MODE &&
                                               ((class & PS_AFTER_NUMBER) || c == '?' || c == ':'));
        if (!ends)
            return 0;
    }
    return number ? pos : 0;
}

static const struct {
    const char *name;
    uint8_t length;
    uint8_t op;
} operators[] = {
#define OPERATOR(name, spelling, precedence, case_sensitive) \
    {spelling, sizeof(spelling) - 1, OP_##name},
#include "guard/tables/ps_operators.def"
#undef OPERATOR
};

static uint8_t find_operator(struct str name)
{
    for (size_t low = 0, high = OP_XOR; low < high;) { /* OP_XOR is the last with a spelling */
        size_t middle = (low + high) / 2;
        struct str candidate = {operators[middle].name, operators[middle].length};
        int order = str_cmpi(name, candidate);
        if (order == 0)
            return operators[middle].op;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return OP_NONE;
}

static struct ps_token token(struct ps_parser *p, uint8_t kind, uint32_t start, uint32_t end)
{
    p->pos = end;
    return (struct ps_token){.kind = kind, .start = start, .end = end};
}

static struct ps_token generic(struct ps_parser *p, uint32_t start, uint32_t from)
{
    return token(p, T_GENERIC, start, ps_skip_generic(p->text, from));
}

/* A sign: alone it is the operator, in an argument with something stuck to it a bare word. */
static struct ps_token sign(struct ps_parser *p, uint8_t kind, uint8_t op, uint32_t start,
                            uint32_t end)
{
    if (p->mode == PS_COMMAND_MODE && !ends_word(p->text, end))
        return generic(p, start, end);
    struct ps_token t = token(p, kind, start, end);
    t.op = op;
    return t;
}

/* After a dash: a parameter, or in an expression an operator. */
static struct ps_token scan_parameter(struct ps_parser *p, uint32_t start, uint32_t name)
{
    uint32_t pos = name;
    bool colon = false;
    const bool command = p->mode == PS_COMMAND_MODE;
    while (pos < p->text.n) {
        uint32_t next = pos;
        uint32_t c = ps_char(p->text, &next);
        if ((ps_class(c) & PS_ENDS_WORD) || c == '.' || c == '[')
            break;
        if (c == ':') {
            colon = true;
            break;
        }
        if (ps_is_single_quote(c) || ps_is_double_quote(c)) {
            if (command)
                return generic(p, start, pos);
            break;
        }
        if (!command && !(c < 128 && ascii_is_alpha((char)c)))
            break;
        pos = next;
    }
    if (!command) {
        uint8_t op = find_operator(str_slice(p->text, name, pos));
        if (op) {
            struct ps_token t = token(p, T_OPERATOR, start, pos);
            t.op = op;
            return t;
        }
        colon = false;
    }
    struct ps_token t = token(p, T_PARAMETER, start, pos + (colon ? 1 : 0));
    t.colon = colon;
    return t;
}

static struct ps_token scan_variable(struct ps_parser *p, uint32_t start, uint8_t kind)
{
    uint32_t pos = start + 1;
    uint32_t c = peek_char(p->text, pos);
    bool closed = true;
    const bool command = p->mode == PS_COMMAND_MODE;
    if (c == '{' && kind == T_VARIABLE) {
        pos = ps_skip_braced(p->text, pos + 1, false, &closed);
    } else if (pos >= p->text.n || !(ps_class(c) & PS_VARIABLE_START)) {
        return generic(p, start, pos);
    } else {
        pos = ps_skip_name(p->text, pos);
        /* "$a=": an assignment even where words go on. */
        if (command && peek_char(p->text, pos) == '=' && pos < p->text.n)
            return token(p, kind, start, pos);
    }
    if (command && !ends_word(p->text, pos)) {
        c = peek_char(p->text, pos);
        bool member = c == '.' || c == '[' || (c == ':' && byte_at(p, pos + 1) == ':');
        if (!member && kind == T_VARIABLE)
            return generic(p, start, start);
    }
    return token(p, kind, start, pos);
}

static struct ps_token scan_redirect(struct ps_parser *p, uint32_t start, uint32_t pos)
{
    /* pos is after the first '>' */
    if (byte_at(p, pos) == '>')
        return token(p, T_REDIRECT, start, pos + 1);
    if (byte_at(p, pos) == '&' && (byte_at(p, pos + 1) == '1' || byte_at(p, pos + 1) == '2')) {
        if (byte_at(p, start) == '1' || (byte_at(p, pos + 1) == '2' && byte_at(p, start) != '2'))
            p->error = true; /* PowerShell only merges into the output stream */
        return token(p, T_MERGE, start, pos + 2);
    }
    return token(p, T_REDIRECT, start, pos);
}

static struct ps_token scan_identifier(struct ps_parser *p, uint32_t start, uint32_t pos)
{
    for (;;) {
        uint32_t next = pos;
        uint32_t c = ps_char(p->text, &next);
        if (!(ps_class(c) & (PS_LETTER | PS_DIGIT)))
            break;
        pos = next;
    }
    if (p->mode == PS_COMMAND_MODE && !ends_word(p->text, pos))
        return generic(p, start, pos);
    return token(p, T_IDENTIFIER, start, pos);
}

static struct ps_token scan_at(struct ps_parser *p, uint32_t start)
{
    uint32_t pos = start + 1;
    bool closed;
    uint32_t body, body_end;
    uint32_t c = ps_char(p->text, &pos);
    if (c == '{')
        return token(p, T_AT_CURLY, start, pos);
    if (c == '(')
        return token(p, T_AT_PAREN, start, pos);
    if (ps_is_single_quote(c))
        return token(p, T_HERE_SINGLE, start,
                     ps_skip_here(p->text, pos, false, &closed, &body, &body_end));
    if (ps_is_double_quote(c))
        return token(p, T_HERE_DOUBLE, start,
                     ps_skip_here(p->text, pos, true, &closed, &body, &body_end));
    if (start + 1 < p->text.n && (ps_class(c) & PS_VARIABLE_START))
        return scan_variable(p, start, T_SPLAT);
    return token(p, T_UNKNOWN, start, start + 1);
}

static struct ps_token scan_dash(struct ps_parser *p, uint32_t start, uint32_t pos)
{
    uint32_t next = pos;
    uint32_t c = ps_char(p->text, &next);
    if (ps_is_dash(c))
        return sign(p, T_MINUS_MINUS, 0, start, next);
    if (c == '=')
        return sign(p, T_ASSIGN, OP_SUB, start, next);
    if ((ps_class(c) & PS_LETTER) || c == '?')
        return scan_parameter(p, start, pos);
    return sign(p, T_OPERATOR, OP_SUB, start, pos);
}

static struct ps_token scan_dot(struct ps_parser *p, uint32_t start)
{
    uint32_t pos = start + 1;
    uint32_t c = peek_char(p->text, pos);
    if (c == '.') {
        if (p->mode == PS_COMMAND_MODE && !ends_word(p->text, pos + 1))
            return generic(p, start, pos);
        struct ps_token t = token(p, T_OPERATOR, start, pos + 1);
        t.op = OP_RANGE;
        return t;
    }
    if (c < 128 && ascii_is_digit((char)c)) {
        uint32_t end = scan_number(p, start);
        return end ? token(p, T_NUMBER, start, end) : generic(p, start, pos);
    }
    if (p->mode == PS_COMMAND_MODE && !ends_word(p->text, pos) && c != '$' && c != '"' && c != '\'')
        return generic(p, start, pos);
    return token(p, T_DOT, start, pos);
}

static struct ps_token scan_question(struct ps_parser *p, uint32_t start)
{
    if (byte_at(p, start + 1) == '?') {
        bool assign = byte_at(p, start + 2) == '=';
        struct ps_token t = token(p, assign ? T_ASSIGN : T_OPERATOR, start, start + 2 + assign);
        t.op = OP_COALESCE;
        return t;
    }
    return token(p, T_QUESTION, start, start + 1);
}

static struct ps_token scan_colon(struct ps_parser *p, uint32_t start)
{
    const bool command = p->mode == PS_COMMAND_MODE;
    if (byte_at(p, start + 1) == ':') {
        if (command && !ends_word(p->text, start + 2))
            return generic(p, start, start + 2);
        return token(p, T_COLON_COLON, start, start + 2);
    }
    if (!command)
        return token(p, T_COLON, start, start + 1);
    uint32_t pos = start + 1;
    while (pos < p->text.n) {
        uint32_t next = pos;
        if (!(ps_class(ps_char(p->text, &next)) & (PS_LETTER | PS_DIGIT)))
            break;
        pos = next;
    }
    if (pos == start + 1 || !ends_word(p->text, pos))
        return generic(p, start, pos);
    return token(p, T_LABEL, start, pos);
}

/* The end of a backtick that stands for a blank: before a line end or a blank; 0 if it escapes a
   character of a word. */
static uint32_t skip_continuation(struct ps_parser *p, uint32_t pos)
{
    uint32_t next = pos;
    uint32_t escaped = ps_char(p->text, &next);
    if (escaped == '\r' && byte_at(p, next) == '\n')
        next++;
    return escaped == '\r' || escaped == '\n' || (ps_class(escaped) & PS_BLANK) ? next : 0;
}

/* Moves to the next token, past blanks, comments and continued lines; true if it follows a
   blank. */
static bool skip_to_token(struct ps_parser *p)
{
    struct str text = p->text;
    bool blank = false;
    for (;;) {
        uint32_t pos = p->pos, end;
        if (pos >= text.n)
            return blank;
        uint32_t c = ps_char(text, &pos);
        if (ps_class(c) & PS_BLANK) {
            blank = true;
            p->pos = pos;
        } else if (c == '#') {
            while (p->pos < text.n && text.p[p->pos] != '\n' && text.p[p->pos] != '\r')
                p->pos++;
        } else if (c == '<' && byte_at(p, pos) == '#') {
            p->pos = skip_block_comment(p, pos + 1);
        } else if (c == '`' && pos >= text.n) {
            p->error = true;
            p->pos = pos;
        } else if (c == '`' && (end = skip_continuation(p, pos)) != 0) {
            blank = true;
            p->pos = end;
        } else {
            return blank;
        }
    }
}

/* An operator, or with "=" after it an assignment. */
static struct ps_token scan_arithmetic(struct ps_parser *p, uint8_t operator, uint32_t start,
                                       uint32_t pos)
{
    return byte_at(p, pos) == '=' ? sign(p, T_ASSIGN, operator, start, pos + 1)
                                  : sign(p, T_OPERATOR, operator, start, pos);
}

/* The longer token if the next byte is this one. */
static struct ps_token scan_pair(struct ps_parser *p, char next, uint8_t pair, uint8_t single,
                                 uint32_t start, uint32_t pos)
{
    return byte_at(p, pos) == next ? token(p, pair, start, pos + 1) : token(p, single, start, pos);
}

static struct ps_token scan_not(struct ps_parser *p, uint32_t start, uint32_t pos)
{
    bool word = p->mode == PS_COMMAND_MODE ? !ends_word(p->text, pos)
                                           : (ps_class(peek_char(p->text, pos)) & PS_LETTER) != 0;
    return word ? generic(p, start, pos) : token(p, T_NOT, start, pos);
}

static struct ps_token scan_digit(struct ps_parser *p, uint32_t c, uint32_t start, uint32_t pos)
{
    if (c >= '1' && c <= '6' && byte_at(p, pos) == '>')
        return scan_redirect(p, start, pos + 1);
    uint32_t end = scan_number(p, start);
    return end ? token(p, T_NUMBER, start, end) : generic(p, start, pos);
}

/* The token at start, whose first character c ends at pos. */
static struct ps_token scan_token(struct ps_parser *p, uint32_t c, uint32_t start, uint32_t pos)
{
    struct str text = p->text;
    bool closed;
    switch (c) {
    case '\'':
    case 0x2018:
    case 0x2019:
    case 0x201A:
    case 0x201B: return token(p, T_SINGLE, start, ps_skip_single(text, pos, &closed));
    case '"':
    case 0x201C:
    case 0x201D:
    case 0x201E: return token(p, T_DOUBLE, start, ps_skip_double(text, pos, &closed));
    case '@': return scan_at(p, start);
    case '\r': return scan_pair(p, '\n', T_NEWLINE, T_NEWLINE, start, pos);
    case '\n': return token(p, T_NEWLINE, start, pos);
    case '`': return generic(p, start, start);
    case '=': return sign(p, T_ASSIGN, OP_NONE, start, pos);
    case '+':
        return byte_at(p, pos) == '+' ? sign(p, T_PLUS_PLUS, 0, start, pos + 1)
                                      : scan_arithmetic(p, OP_ADD, start, pos);
    case '-':
    case 0x2013:
    case 0x2014:
    case 0x2015: return scan_dash(p, start, pos);
    case '*':
        return byte_at(p, pos) == '>' ? scan_redirect(p, start, pos + 1)
                                      : scan_arithmetic(p, OP_MUL, start, pos);
    case '/': return scan_arithmetic(p, OP_DIV, start, pos);
    case '%': return scan_arithmetic(p, OP_REM, start, pos);
    case '$':
        return byte_at(p, pos) == '(' ? token(p, T_DOLLAR_PAREN, start, pos + 1)
                                      : scan_variable(p, start, T_VARIABLE);
    case '<': return token(p, T_INPUT, start, pos);
    case '>': return scan_redirect(p, start, pos);
    case '(': return token(p, T_LPAREN, start, pos);
    case ')': return token(p, T_RPAREN, start, pos);
    case '[':
        return p->mode == PS_COMMAND_MODE && !ends_word(text, pos)
                   ? generic(p, start, pos)
                   : token(p, T_LBRACKET, start, pos);
    case ']': return token(p, T_RBRACKET, start, pos);
    case '{': return token(p, T_LCURLY, start, pos);
    case '}': return token(p, T_RCURLY, start, pos);
    case '.': return scan_dot(p, start);
    case ';': return token(p, T_SEMI, start, pos);
    case ',': return token(p, T_COMMA, start, pos);
    case '&': return scan_pair(p, '&', T_AND_AND, T_AMPERSAND, start, pos);
    case '|': return scan_pair(p, '|', T_OR_OR, T_PIPE, start, pos);
    case '!': return scan_not(p, start, pos);
    case ':': return scan_colon(p, start);
    case '?':
        return p->mode == PS_EXPRESSION_MODE ? scan_question(p, start) : generic(p, start, pos);
    default: return ps_class(c) & PS_DIGIT ? scan_digit(p, c, start, pos) : generic(p, start, pos);
    }
}

static struct ps_token scan(struct ps_parser *p)
{
    bool blank = skip_to_token(p);
    uint32_t start = p->pos, pos = start;
    if (start >= p->text.n)
        return token(p, T_END, start, start);
    uint32_t c = ps_char(p->text, &pos);
    struct ps_token t =
        ps_class(c) & PS_LETTER ? scan_identifier(p, start, pos) : scan_token(p, c, start, pos);
    t.after_blank = blank;
    return t;
}

void ps_read_token(struct ps_parser *p)
{
    uint32_t pos = p->pos;
    if (p->stopped) {
        p->peeked = token(p, T_END, pos, pos);
    } else {
        p->peeked = scan(p);
        p->scanned += p->pos - pos;
        if (p->scanned > PS_MAX_SCANS * (size_t)p->length + 65536) {
            p->stopped = true;
            guard_limit(p->g, (struct word){.start = p->fixed ? p->fixed_start : pos,
                                            .end = p->fixed ? p->fixed_end : pos});
        }
    }
    p->peeked_behind = p->pos + 1; /* never 0 */
    p->peeked_at = pos;
    p->peeked_mode = (int)p->mode;
    p->pos = pos;
}

struct ps_token ps_next(struct ps_parser *p)
{
    struct ps_token t = ps_peek(p);
    p->pos = p->peeked_behind - 1;
    return t;
}

void ps_skip_newlines(struct ps_parser *p)
{
    while (ps_peek(p).kind == T_NEWLINE)
        ps_next(p);
}

void ps_skip_separators(struct ps_parser *p)
{
    for (struct ps_token t = ps_peek(p); t.kind == T_NEWLINE || t.kind == T_SEMI; t = ps_peek(p))
        ps_next(p);
}

void ps_skip_block_comments(struct ps_parser *p)
{
    while (byte_at(p, p->pos) == '<' && byte_at(p, p->pos + 1) == '#')
        p->pos = skip_block_comment(p, p->pos + 2);
}

uint32_t ps_verbatim_end(struct ps_parser *p)
{
    while (p->pos < p->text.n) {
        uint32_t next = p->pos;
        if (!(ps_class(ps_char(p->text, &next)) & PS_BLANK))
            break;
        p->pos = next;
    }
    bool quoted = false;
    uint32_t pos = p->pos;
    while (pos < p->text.n) {
        uint32_t next = pos;
        uint32_t c = ps_char(p->text, &next);
        if (c == '\r' || c == '\n')
            break;
        if (ps_is_double_quote(c))
            quoted = !quoted;
        else if (!quoted && (c == '|' || (c == '&' && byte_at(p, next) == '&')))
            break;
        pos = next;
    }
    return pos;
}
