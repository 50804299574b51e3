/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where strings, here-strings, variables and bare words of PowerShell end, and what digits are
 * worth. Nothing is decoded here.
 */
#include "guard/powershell/powershell.h"

static uint32_t peek_char(struct str text, uint32_t pos)
{
    return ps_char(text, &pos);
}

/* Bytes at which a search stops. U+2018 to U+201E, which are quotes, begin with E2. */
enum { STOPS_SINGLE = 1, STOPS_DOUBLE = 2, STOPS_SUBEXPRESSION = 4 };
static const uint8_t stops[256] = {
    ['\''] = STOPS_SINGLE,
    ['$'] = STOPS_DOUBLE,
    ['('] = STOPS_SUBEXPRESSION,
    [')'] = STOPS_SUBEXPRESSION,
    ['`'] = STOPS_DOUBLE | STOPS_SUBEXPRESSION,
    ['"'] = STOPS_DOUBLE | STOPS_SUBEXPRESSION,
    [0xE2] = STOPS_SINGLE | STOPS_DOUBLE | STOPS_SUBEXPRESSION,
};

static uint32_t skip_plain(struct str text, uint32_t pos, unsigned until)
{
    size_t i = pos;
    while (i < text.n && !(stops[(unsigned char)text.p[i]] & until))
        i++;
    return (uint32_t)i;
}

uint32_t ps_skip_single(struct str text, uint32_t pos, bool *closed)
{
    *closed = false;
    while ((pos = skip_plain(text, pos, STOPS_SINGLE)) < text.n) {
        if (!ps_is_single_quote(ps_char(text, &pos)))
            continue;
        uint32_t second = pos;
        if (!ps_is_single_quote(ps_char(text, &second))) {
            *closed = true;
            break;
        }
        pos = second;
    }
    return pos;
}

/* After "$(": brackets are counted without regard to quotes; that is how PowerShell finds the
   end. */
static uint32_t skip_subexpression(struct str text, uint32_t pos, bool here, bool *closed)
{
    unsigned depth = 1;
    while ((pos = skip_plain(text, pos, STOPS_SUBEXPRESSION)) < text.n) {
        uint32_t c = ps_char(text, &pos);
        if (c == '(') {
            depth++;
        } else if (c == ')') {
            if (--depth == 0) {
                *closed = true;
                return pos;
            }
        } else if (!here && (c == '`' || ps_is_double_quote(c))) {
            uint32_t second = pos;
            if (ps_is_double_quote(ps_char(text, &second)))
                pos = second;
        }
    }
    *closed = false;
    return pos;
}

uint32_t ps_skip_braced(struct str text, uint32_t pos, bool in_string, bool *closed)
{
    while (pos < text.n) {
        uint32_t c = ps_char(text, &pos);
        if (c == '}') {
            *closed = true;
            return pos;
        }
        if (c == '`')
            ps_char(text, &pos);
        else if (in_string && ps_is_double_quote(c)) {
            uint32_t second = pos;
            if (ps_is_double_quote(ps_char(text, &second)))
                pos = second;
        }
    }
    *closed = false;
    return pos;
}

/* The name of an unbraced variable, after the dollar. */
uint32_t ps_skip_name(struct str text, uint32_t pos)
{
    uint32_t first = ps_char(text, &pos);
    if (first == '$' || first == '?' || first == '^')
        return pos;
    if (first == ':')
        first = 0;
    for (;;) {
        uint32_t next = pos;
        uint32_t c = ps_char(text, &next);
        if (c == ':') {
            if (peek_char(text, next) == ':')
                return pos;
        } else if (c != '?' && c != '_' && !(ps_class(c) & (PS_LETTER | PS_DIGIT))) {
            return pos;
        }
        pos = next;
    }
}

uint32_t ps_skip_dollar(struct str text, uint32_t pos, bool here, bool *closed)
{
    uint32_t c = peek_char(text, pos);
    *closed = true;
    if (pos >= text.n)
        return pos;
    if (c == '(')
        return skip_subexpression(text, pos + 1, here, closed);
    if (c == '{')
        return ps_skip_braced(text, pos + 1, true, closed);
    if (ps_class(c) & PS_VARIABLE_START)
        return ps_skip_name(text, pos);
    return pos;
}

uint32_t ps_skip_double(struct str text, uint32_t pos, bool *closed)
{
    bool inner;
    *closed = false;
    while ((pos = skip_plain(text, pos, STOPS_DOUBLE)) < text.n) {
        uint32_t c = ps_char(text, &pos);
        if (c == '`') {
            ps_char(text, &pos);
        } else if (c == '$') {
            pos = ps_skip_dollar(text, pos, false, &inner);
        } else if (ps_is_double_quote(c)) {
            uint32_t second = pos;
            if (!ps_is_double_quote(ps_char(text, &second))) {
                *closed = true;
                break;
            }
            pos = second;
        }
    }
    return pos;
}

/* At the start of a line in a here-string: after the footer, or 0. */
static uint32_t here_footer(struct str text, uint32_t pos, bool expandable)
{
    uint32_t c = ps_char(text, &pos);
    if ((expandable ? ps_is_double_quote(c) : ps_is_single_quote(c)) && peek_char(text, pos) == '@')
        return pos + 1;
    return 0;
}

uint32_t ps_skip_here(struct str text, uint32_t pos, bool expandable, bool *closed, uint32_t *body,
                      uint32_t *body_end)
{
    *closed = false;
    uint32_t c;
    uint32_t at = pos;
    do {
        pos = at;
        c = ps_char(text, &at);
    } while (ps_class(c) & PS_BLANK);
    if (c != '\n' && c != '\r') {
        /* Not a header: an error; the rest of the line belongs to nothing. */
        while (pos < text.n && text.p[pos] != '\n' && text.p[pos] != '\r')
            pos++;
        *body = *body_end = pos;
        return pos;
    }
    pos = at;
    if (c == '\r' && peek_char(text, pos) == '\n')
        pos++;
    *body = pos;
    uint32_t footer = here_footer(text, pos, expandable);
    if (footer) {
        *body_end = pos;
        *closed = true;
        return footer;
    }
    while (pos < text.n) {
        uint32_t line_end = pos;
        c = ps_char(text, &pos);
        if (c == '\n' || c == '\r') {
            if (c == '\r' && peek_char(text, pos) == '\n')
                pos++;
            footer = here_footer(text, pos, expandable);
            if (footer) {
                *body_end = line_end;
                *closed = true;
                return footer;
            }
        } else if (expandable && c == '`') {
            ps_char(text, &pos);
        } else if (expandable && c == '$') {
            bool inner;
            pos = ps_skip_dollar(text, pos, true, &inner);
        }
    }
    *body_end = pos;
    return pos;
}

uint32_t ps_skip_generic(struct str text, uint32_t pos)
{
    bool closed;
    while (pos < text.n) {
        uint32_t next = pos;
        uint32_t c = ps_char(text, &next);
        if (ps_class(c) & PS_ENDS_WORD)
            break;
        pos = next;
        if (c == '`')
            ps_char(text, &pos);
        else if (c == '$')
            pos = ps_skip_dollar(text, pos, false, &closed);
        else if (ps_is_single_quote(c))
            pos = ps_skip_single(text, pos, &closed);
        else if (ps_is_double_quote(c))
            pos = ps_skip_double(text, pos, &closed);
    }
    return pos;
}

bool ps_number(struct str s, double *value, bool *real)
{
    size_t i = 0;
    double number = 0;
    *real = false;
    bool negative = s.n && s.p[0] == '-';
    if (negative)
        i++;
    if (s.n >= i + 2 && s.p[i] == '0' && (s.p[i + 1] | 32) == 'x') {
        for (i += 2; i < s.n && ascii_hex(s.p[i]) >= 0; i++)
            number = number * 16 + ascii_hex(s.p[i]);
    } else if (s.n >= i + 3 && s.p[i] == '0' && (s.p[i + 1] | 32) == 'b') {
        for (i += 2; i < s.n && (s.p[i] == '0' || s.p[i] == '1'); i++)
            number = number * 2 + (s.p[i] - '0');
    } else {
        size_t digits = i;
        for (; i < s.n && ascii_is_digit(s.p[i]); i++)
            number = number * 10 + (s.p[i] - '0');
        if (i < s.n && s.p[i] == '.') {
            *real = true;
            double unit = 0.1;
            for (i++; i < s.n && ascii_is_digit(s.p[i]); i++, unit /= 10)
                number += (s.p[i] - '0') * unit;
        }
        if (i == digits)
            return false;
        if (i < s.n && (s.p[i] | 32) == 'e') {
            *real = true;
            i++;
            bool minus = i < s.n && s.p[i] == '-';
            if (i < s.n && (s.p[i] == '-' || s.p[i] == '+'))
                i++;
            int exponent = 0;
            for (; i < s.n && ascii_is_digit(s.p[i]); i++)
                exponent = exponent < 400 ? exponent * 10 + (s.p[i] - '0') : exponent;
            for (; exponent > 0 && exponent < 400; exponent--)
                number = minus ? number / 10 : number * 10;
        }
    }
    for (; i < s.n; i++) {
        switch (ascii_lower(s.p[i])) {
        case 'p': number *= 1024; /* fall through */
        case 't': number *= 1024; /* fall through */
        case 'g': number *= 1024; /* fall through */
        case 'm': number *= 1024; /* fall through */
        case 'k': number *= 1024; break;
        case 'u':
        case 'l':
        case 's':
        case 'y':
        case 'n':
        case 'd':
        case 'b': break;
        default: return false;
        }
    }
    *value = negative ? -number : number;
    return true;
}
