/* SPDX-License-Identifier: Apache-2.0 */
/* Decoding of words and quoted strings: escapes, doubled quotes, variables, $( ). */
#include "base/utf.h"
#include "guard/powershell/powershell.h"

/* A word under construction. Decoded text is never longer than its source. */
struct word_build {
    struct ps_parser *p;
    char *out;
    size_t n, from; /* from: where the current piece of plain text begins */
    uint32_t piece_start;
    struct ps_list parts;
    bool expand; /* variables are looked at */
};

static void add_char(struct word_build *b, uint32_t c, struct str source, uint32_t start,
                     uint32_t end)
{
    if (c == 0xFFFD) { /* a hole, a stray byte, or really U+FFFD: keep the bytes */
        str_copy(b->out + b->n, str_slice(source, start, end));
        b->n += end - start;
    } else {
        b->n += utf_encode(c, b->out + b->n);
    }
}

static void end_piece(struct word_build *b, uint32_t end)
{
    if (b->n == b->from)
        return;
    struct ps_node *piece = ps_node(b->p, PS_STRING, b->piece_start, end);
    if (piece)
        piece->text = (struct str){b->out + b->from, b->n - b->from};
    ps_append(&b->parts, piece);
    b->from = b->n;
}

/* `x, pos after the backtick. Returns the character that is meant. */
static uint32_t escape(struct ps_parser *p, struct str text, uint32_t *pos, uint32_t *start)
{
    *start = *pos;
    uint32_t c = ps_char(text, pos);
    switch (c) {
    case '0': return 0;
    case 'a': return '\a';
    case 'b': return '\b';
    case 'f': return '\f';
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    case 'v': return '\v';
    case 'e': p->differs = true; return p->version >= 7 ? 0x1B : c;
    case 'u': {
        p->differs = true;
        if (p->version < 7)
            return c;
        if (*pos >= text.n || text.p[*pos] != '{') {
            p->error = true;
            return c;
        }
        uint32_t at = *pos + 1, code = 0, digits = 0;
        while (at < text.n && ascii_hex(text.p[at]) >= 0 && digits < 7) {
            code = code * 16 + (uint32_t)ascii_hex(text.p[at]);
            at++;
            digits++;
        }
        if (at >= text.n || text.p[at] != '}' || digits == 0 || digits > 6 || code > 0x10FFFF) {
            p->error = true;
            return c;
        }
        *pos = at + 1;
        return code;
    }
    default: return c;
    }
}

static struct ps_node *braced_variable(struct ps_parser *p, uint32_t start, uint32_t end,
                                       bool closed)
{
    struct ps_node *node = ps_node(p, PS_VARIABLE, start, end);
    uint32_t pos = start + 2, stop = closed ? end - 1 : end;
    char *out = arena_alloc(p->arena, end - start + 1);
    if (!node || !out)
        return node;
    size_t n = 0;
    struct word_build b = {.p = p, .out = out};
    while (pos < stop) {
        uint32_t from = pos;
        uint32_t c = ps_char(p->text, &pos);
        if (c == '`' && pos < stop)
            c = escape(p, p->text, &pos, &from);
        else if (c == '{')
            p->error = true;
        add_char(&b, c, p->text, from, pos);
        n = b.n;
    }
    node->text = (struct str){out, n};
    if (n == 0 || !closed || out[n - 1] == ':')
        p->error = true;
    return node;
}

struct ps_node *ps_variable(struct ps_parser *p, struct ps_token t)
{
    if (t.end > t.start + 1 && p->text.p[t.start + 1] == '{' && p->text.p[t.start] == '$')
        return braced_variable(p, t.start, t.end,
                               t.end > t.start + 2 && p->text.p[t.end - 1] == '}');
    struct ps_node *node = ps_node(p, t.kind == T_SPLAT ? PS_SPLAT : PS_VARIABLE, t.start, t.end);
    if (!node)
        return NULL;
    node->text = str_slice(p->text, t.start + 1, t.end);
    if (node->text.n && node->text.p[node->text.n - 1] == ':')
        p->error = true; /* "$x: y" */
    return node;
}

/* $( … ) inside a string: parsed on its own, with doubled quotes undone. */
static struct ps_node *subexpression(struct ps_parser *p, uint32_t start, uint32_t end, bool here,
                                     bool closed)
{
    struct ps_node *node = ps_node(p, PS_SUBEXPR, start, end);
    if (!node || !ps_enter(p))
        return node;
    if (!closed)
        p->error = true;
    if (p->strings >= PS_MAX_STRINGS) {
        p->stopped = true;
        guard_limit(p->g, (struct word){.start = node->start, .end = node->end});
        ps_leave(p);
        return node;
    }
    uint32_t inner = start + 2, stop = closed ? end - 1 : end;
    struct ps_parser saved = *p;
    bool skipped = false;
    for (uint32_t pos = inner; !here && pos < stop && !skipped;) {
        uint32_t c = ps_char(p->text, &pos), next = pos;
        skipped = (c == '`' || ps_is_double_quote(c)) && pos < stop &&
                  ps_is_double_quote(ps_char(p->text, &next));
    }
    if (skipped) {
        char *copy = arena_alloc(p->arena, stop - inner + 1);
        if (!copy) {
            ps_leave(p);
            return node;
        }
        size_t n = 0;
        for (uint32_t pos = inner; pos < stop;) {
            uint32_t from = pos;
            uint32_t c = ps_char(p->text, &pos), next = pos;
            if ((c == '`' || ps_is_double_quote(c)) && pos < stop &&
                ps_is_double_quote(ps_char(p->text, &next))) {
                from = pos;
                pos = next;
            }
            memcpy(copy + n, p->text.p + from, pos - from);
            n += pos - from;
        }
        if (!guard_spend(p->g, n)) {
            p->stopped = true;
            ps_leave(p);
            return node;
        }
        p->text = (struct str){copy, n};
        p->pos = 0;
        p->fixed = true;
        p->fixed_start = node->start;
        p->fixed_end = node->end;
    } else {
        p->text.n = stop;
        p->pos = inner;
    }
    p->strings++;
    p->mode = PS_COMMAND_MODE;
    p->no_comma = p->in_ternary = false;
    p->peeked_behind = 0;
    node->a = ps_parse_statements(p, T_END);
    saved.error = p->error;
    saved.differs = p->differs;
    saved.stopped = p->stopped;
    saved.nodes = p->nodes;
    saved.commands = p->commands;
    saved.scanned = p->scanned;
    *p = saved;
    p->peeked_behind = 0;
    ps_leave(p);
    return node;
}

/* $x, ${x} or $( … ) at pos (after the dollar); false if the dollar is only a dollar. */
static bool add_dollar(struct word_build *b, uint32_t *pos, bool here)
{
    struct ps_parser *p = b->p;
    bool closed;
    uint32_t start = *pos - 1;
    uint32_t end = ps_skip_dollar(p->text, *pos, here, &closed);
    if (end == *pos)
        return false;
    if (!closed)
        p->error = true;
    if (!b->expand) {
        memcpy(b->out + b->n, p->text.p + start, end - start);
        b->n += end - start;
    } else {
        end_piece(b, start);
        struct ps_token t = {.kind = T_VARIABLE, .start = start, .end = end};
        struct ps_node *part = p->text.p[start + 1] == '('
                                   ? subexpression(p, start, end, here, closed)
                                   : ps_variable(p, t);
        ps_append(&b->parts, part);
        b->piece_start = end;
    }
    *pos = end;
    return true;
}

/* The inside of "…": pos after the quote; returns after the closing one. */
static uint32_t add_double(struct word_build *b, uint32_t pos, uint32_t end)
{
    struct str text = b->p->text;
    while (pos < end) {
        uint32_t from = pos;
        uint32_t c = ps_char(text, &pos);
        if (ps_is_double_quote(c)) {
            uint32_t next = pos, second_at = pos;
            uint32_t second = ps_char(text, &next);
            if (!ps_is_double_quote(second))
                return pos;
            pos = next;
            add_char(b, second, text, second_at, next);
            continue;
        }
        if (c == '$' && add_dollar(b, &pos, false))
            continue;
        if (c == '`' && pos < text.n)
            c = escape(b->p, text, &pos, &from);
        add_char(b, c, text, from, pos);
    }
    b->p->error = true;
    return pos;
}

static uint32_t add_single(struct word_build *b, uint32_t pos, uint32_t end)
{
    struct str text = b->p->text;
    while (pos < end) {
        uint32_t from = pos;
        uint32_t c = ps_char(text, &pos);
        if (ps_is_single_quote(c)) {
            uint32_t next = pos;
            from = pos;
            c = ps_char(text, &next);
            if (!ps_is_single_quote(c))
                return pos;
            pos = next;
        }
        add_char(b, c, text, from, pos);
    }
    b->p->error = true;
    return pos;
}

static void add_here(struct word_build *b, uint32_t pos, uint32_t end)
{
    struct str text = b->p->text;
    while (pos < end) {
        uint32_t from = pos;
        uint32_t c = ps_char(text, &pos);
        if (c == '$' && add_dollar(b, &pos, true))
            continue;
        if (c == '`' && pos < end)
            c = escape(b->p, text, &pos, &from);
        add_char(b, c, text, from, pos);
    }
}

/* A word that begins like a parameter is one up to its first quote: no escapes in it. */
static uint32_t add_parameter(struct word_build *b, uint32_t pos, uint32_t end)
{
    struct str text = b->p->text;
    uint32_t name = pos;
    if (!ps_is_dash(ps_char(text, &name)))
        return pos;
    uint32_t second = name;
    uint32_t first = ps_char(text, &second);
    if (name >= end || !((ps_class(first) & PS_LETTER) || first == '?'))
        return pos;
    while (pos < end) {
        uint32_t next = pos;
        uint32_t c = ps_char(text, &next);
        if (ps_is_single_quote(c) || ps_is_double_quote(c))
            break;
        add_char(b, c, text, pos, next);
        pos = next;
    }
    return pos;
}

static void add_generic(struct word_build *b, uint32_t pos, uint32_t end)
{
    struct str text = b->p->text;
    pos = add_parameter(b, pos, end);
    while (pos < end) {
        uint32_t from = pos;
        uint32_t c = ps_char(text, &pos);
        if (ps_is_single_quote(c)) {
            pos = add_single(b, pos, end);
            continue;
        }
        if (ps_is_double_quote(c)) {
            pos = add_double(b, pos, end);
            continue;
        }
        if (c == '$' && add_dollar(b, &pos, false))
            continue;
        if (c == '`' && pos < text.n)
            c = escape(b->p, text, &pos, &from);
        add_char(b, c, text, from, pos);
    }
}

/* True if the source means itself. */
static bool plain(struct str source)
{
    for (size_t i = 0; i < source.n; i++) {
        unsigned char c = (unsigned char)source.p[i];
        if (c == '`' || c == '$' || c == '\'' || c == '"' || c >= 0x80)
            return false;
    }
    return true;
}

struct ps_node *ps_word(struct ps_parser *p, struct ps_token t, bool bare)
{
    struct ps_node *node = ps_node(p, PS_STRING, t.start, t.end);
    if (!node)
        return NULL;
    struct str source = ps_source(p, t);
    bool quoted = t.kind == T_SINGLE || t.kind == T_DOUBLE || t.kind == T_HERE_SINGLE ||
                  t.kind == T_HERE_DOUBLE;
    if (quoted)
        node->flags |= PS_QUOTED;
    uint32_t body = t.start, body_end = t.end;
    bool closed = true;
    if (t.kind == T_HERE_SINGLE || t.kind == T_HERE_DOUBLE) {
        uint32_t pos = t.start + 1;
        ps_char(p->text, &pos);
        ps_skip_here(p->text, pos, t.kind == T_HERE_DOUBLE, &closed, &body, &body_end);
        if (!closed)
            p->error = true;
    } else if (t.kind == T_SINGLE || t.kind == T_DOUBLE) {
        ps_char(p->text, &body);
        source = str_slice(p->text, body, t.end);
        if ((t.kind == T_SINGLE || t.kind == T_DOUBLE) && source.n &&
            (source.p[source.n - 1] == '\'' || source.p[source.n - 1] == '"') &&
            plain(str_slice(source, 0, source.n - 1)) &&
            (source.p[source.n - 1] == '"') == (t.kind == T_DOUBLE)) {
            node->text = str_slice(source, 0, source.n - 1);
            return node;
        }
    } else if (plain(source)) {
        node->text = source;
        return node;
    }
    if (t.kind == T_HERE_SINGLE) {
        node->text = str_slice(p->text, body, body_end);
        return node;
    }
    struct word_build b = {.p = p, .piece_start = body, .expand = !bare || quoted};
    b.out = arena_alloc(p->arena, t.end - t.start + 4);
    if (!b.out)
        return node;
    switch (t.kind) {
    case T_SINGLE: add_single(&b, body, t.end); break;
    case T_DOUBLE: add_double(&b, body, t.end); break;
    case T_HERE_DOUBLE: add_here(&b, body, body_end); break;
    default: add_generic(&b, body, t.end); break;
    }
    if (!b.parts.first) {
        node->text = (struct str){b.out, b.n};
        return node;
    }
    end_piece(&b, t.end);
    node->kind = PS_EXPAND;
    node->a = b.parts.first;
    return node;
}
