/* SPDX-License-Identifier: Apache-2.0 */
/* The C runtime's rules for a Windows command line: splitting it into arguments and quoting one. */
#include "guard/effects.h"

/*
 * The program's name: up to a blank, quotes toggle and are dropped, backslashes are ordinary.
 * After it: n backslashes before a quote are n/2 backslashes and, if n is odd, a plain quote; two
 * quotes inside quotes are one quote and the quoted part goes on; blanks and tabs end an argument.
 */
static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static size_t split_name(struct str line, char *out, struct word *w)
{
    size_t i = 0, n = 0;
    bool quoted = false;
    for (; i < line.n && (quoted || !is_blank(line.p[i])); i++) {
        if (line.p[i] == '"') {
            quoted = !quoted;
            w->quoted = true;
        } else {
            out[n++] = line.p[i];
        }
    }
    w->text = (struct str){out, n};
    w->end = (uint32_t)i;
    return i;
}

static size_t split_argument(struct str line, size_t i, char *out, struct word *w)
{
    size_t n = 0;
    bool quoted = false;
    w->start = (uint32_t)i;
    while (i < line.n && (quoted || !is_blank(line.p[i]))) {
        if (line.p[i] != '\\' && line.p[i] != '"') {
            out[n++] = line.p[i++];
            continue;
        }
        size_t slashes = 0;
        while (i < line.n && line.p[i] == '\\') {
            slashes++;
            i++;
        }
        if (i >= line.n || line.p[i] != '"') {
            memset(out + n, '\\', slashes);
            n += slashes;
            continue;
        }
        memset(out + n, '\\', slashes / 2);
        n += slashes / 2;
        i++;
        if (slashes % 2) {
            out[n++] = '"';
        } else if (quoted && i < line.n && line.p[i] == '"') {
            out[n++] = '"';
            i++;
        } else {
            quoted = !quoted;
            w->quoted = true;
        }
    }
    w->text = (struct str){out, n};
    w->end = (uint32_t)i;
    return i;
}

struct word *winargv_split(struct arena *arena, struct str line, size_t *count)
{
    size_t blanks = 0;
    for (size_t i = 0; i < line.n; i++)
        blanks += is_blank(line.p[i]) && (i == 0 || !is_blank(line.p[i - 1]));
    struct word *words = ARENA_ARRAY(arena, blanks + 1, struct word);
    char *text = arena_alloc(arena, line.n + 1);
    if (!words || !text)
        return NULL;
    size_t n = 1;
    size_t i = split_name(line, text, &words[0]);
    text += words[0].text.n;
    for (;;) {
        while (i < line.n && is_blank(line.p[i]))
            i++;
        if (i >= line.n)
            break;
        i = split_argument(line, i, text, &words[n]);
        text += words[n++].text.n;
    }
    *count = n;
    return words;
}

void winargv_quote(struct buf *out, struct str argument)
{
    bool plain = argument.n > 0;
    for (size_t i = 0; i < argument.n && plain; i++)
        plain = !ascii_is_in(argument.p[i], " \t\n\v\"");
    if (plain) {
        buf_add(out, argument);
        return;
    }
    buf_char(out, '"');
    for (size_t from = 0; from < argument.n;) {
        size_t quote = str_find_char(argument, '"', from), slashes = 0;
        while (slashes < quote - from && argument.p[quote - slashes - 1] == '\\')
            slashes++;
        buf_add(out, str_slice(argument, from, quote));
        buf_fill(out, '\\', slashes);
        if (quote < argument.n)
            buf_add(out, STR("\\\""));
        from = quote + 1;
    }
    buf_char(out, '"');
}
