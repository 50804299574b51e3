/* SPDX-License-Identifier: Apache-2.0 */
/* Redirections of bash, and the bodies of here-documents, which follow the line. */
#include "guard/bash/bash.h"

/* The length of a redirection operator at pos, with a handle before it; 0 if there is none. */
static size_t redirect_length(const struct bash_parser *p, size_t *handle)
{
    size_t i = 0;
    while (ascii_is_digit(bash_at(p, i)))
        i++;
    if (i == 0 && bash_at(p, 0) == '{') { /* {name}> */
        for (i = 1; bash_is_name_char(bash_at(p, i)); i++)
            ;
        if (i == 1 || bash_at(p, i++) != '}')
            return 0;
    }
    *handle = i;
    char c = bash_at(p, i), d = bash_at(p, i + 1), e = bash_at(p, i + 2);
    if (c == '&' && d == '>')
        return i ? 0 : (e == '>' ? 3 : 2);
    if (c != '<' && c != '>')
        return 0;
    if (d == '(')
        return 0;
    if (c == '<' && d == '<')
        return i + (e == '<' || e == '-' ? 3 : 2);
    if (d == '>' || d == '&' || d == '|')
        return i + 2;
    return i + 1;
}

/* The delimiter of a document: the text of the word without its quotes. */
static struct str delimiter_of(struct bash_parser *p, const struct bash_word *w, size_t start)
{
    if (!w->quoted)
        return str_slice(p->src, start, p->pos);
    size_t n = 0;
    for (const struct bash_part *part = w->parts; part; part = part->next)
        n += part->kind == BASH_LITERAL ? part->text.n : 0;
    char *text = bash_new(p, n + 1);
    if (!text)
        return STR("");
    n = 0;
    for (const struct bash_part *part = w->parts; part; part = part->next) {
        if (part->kind != BASH_LITERAL || part->text.n == 0)
            continue;
        memcpy(text + n, part->text.p, part->text.n);
        n += part->text.n;
    }
    return (struct str){text, n};
}

/* Takes a redirection if one stands at pos. */
bool bash_parse_redirect(struct bash_parser *p, struct bash_redirect ***tail)
{
    size_t handle;
    size_t length = redirect_length(p, &handle);
    if (length == 0)
        return false;
    struct bash_redirect *r = bash_new(p, sizeof *r);
    if (!r)
        return true;
    struct str op = str_slice(p->src, p->pos + handle, p->pos + length);
    bool other_handle = handle > 0 && !(handle == 1 && bash_at(p, 0) == '0');
    r->append = str_ends(op, STR(">>"));
    r->writes = handle == 0 && (r->append || str_eq(op, STR(">")) || str_eq(op, STR(">|")));
    r->opens = str_has_char(op, '>');
    p->pos += length;
    if (str_starts(op, STR("<<")))
        r->kind = str_eq(op, STR("<<<")) ? BASH_HERESTRING : BASH_HEREDOC;
    else
        r->kind = op.p[0] == '<' ? BASH_INPUT : BASH_OUTPUT;
    r->other = other_handle;
    r->copies = str_ends(op, STR("&"));
    if (other_handle && r->kind == BASH_INPUT)
        r->kind = BASH_OUTPUT; /* not the standard input */
    bash_skip(p, false);
    if (str_ends(op, STR("&")) && bash_at(p, 0) == '-') {
        p->pos++;
    } else {
        size_t start = p->pos;
        if (bash_is_meta(bash_at(p, 0)) && bash_at(p, 1) != '(') {
            bash_fail(p);
            return true;
        }
        r->word = bash_parse_word(p, BASH_IN_WORD);
        if (!r->word || p->pos == start) {
            bash_fail(p);
            return true;
        }
        if (r->kind == BASH_HEREDOC) {
            r->strip_tabs = str_eq(op, STR("<<-"));
            r->literal = r->word->quoted;
            r->delimiter = delimiter_of(p, r->word, start);
            r->word = NULL;
            *p->pending_tail = r;
            p->pending_tail = &r->pending;
        } else if (str_ends(op, STR("&")) && r->kind == BASH_INPUT) {
            r->kind = BASH_OUTPUT; /* <&3: a handle that is open already */
        }
    }
    **tail = r;
    *tail = &r->next;
    return true;
}

void bash_parse_redirects(struct bash_parser *p, struct bash_node *node)
{
    struct bash_redirect **tail = &node->redirects;
    while (*tail)
        tail = &(*tail)->next;
    for (;;) {
        bash_skip(p, false);
        if (p->failed || !bash_parse_redirect(p, &tail))
            return;
    }
}

/* ---- here-documents ---- */

static void add_line(struct bash_parser *p, struct bash_part ***tail, struct str text)
{
    struct bash_part *part = bash_new(p, sizeof *part);
    if (!part)
        return;
    part->text = text;
    part->quoted = true;
    **tail = part;
    *tail = &part->next;
}

static void read_document(struct bash_parser *p, struct bash_redirect *r)
{
    struct bash_word *word = bash_new(p, sizeof *word);
    if (!word)
        return;
    struct bash_part **tail = &word->parts;
    word->start = bash_place(p, p->pos);
    size_t begin = p->pos, outer = p->end;
    while (p->pos < outer) {
        size_t line = p->pos;
        if (r->strip_tabs)
            while (line < outer && p->src.p[line] == '\t')
                line++;
        size_t end = str_find_char(str_slice(p->src, 0, outer), '\n', line);
        size_t text_end = end;
        if (text_end > line && p->src.p[text_end - 1] == '\r')
            text_end--;
        size_t next = end < outer ? end + 1 : end;
        struct str text = str_slice(p->src, line, text_end);
        bool last =
            str_eq(text, r->delimiter) || str_eq(str_slice(p->src, line, end), r->delimiter);
        if (last) {
            if (!r->literal && !r->strip_tabs && p->pos > begin) {
                size_t stop = p->pos;
                p->pos = begin;
                p->end = stop;
                bash_parse_parts(p, word, &tail, BASH_IN_DOCUMENT);
                p->end = outer;
            }
            word->end = bash_end_place(p, line);
            p->pos = next;
            r->word = word;
            return;
        }
        if (r->literal) {
            add_line(p, &tail, str_slice(p->src, line, next));
        } else if (r->strip_tabs) {
            p->pos = line;
            p->end = next;
            bash_parse_parts(p, word, &tail, BASH_IN_DOCUMENT);
            p->end = outer;
        }
        if (p->failed)
            return;
        p->pos = next;
    }
    /* no delimiter: it ends with the text */
    if (!r->literal && !r->strip_tabs) {
        p->pos = begin;
        bash_parse_parts(p, word, &tail, BASH_IN_DOCUMENT);
    }
    word->end = bash_end_place(p, p->pos);
    r->word = word;
}

void bash_read_documents(struct bash_parser *p)
{
    struct bash_redirect *r = p->pending;
    p->pending = NULL; /* a document inside a document has its own */
    p->pending_tail = &p->pending;
    for (; r && !p->failed; r = r->pending)
        read_document(p, r);
}
