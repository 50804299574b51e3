/* SPDX-License-Identifier: Apache-2.0 */
/* Words of bash: quotes, escapes and everything that starts with a dollar. Parts of a word are
 * slices of the source wherever possible. */
#include "guard/bash/bash.h"

bool bash_is_meta(char c)
{
    switch (c) {
    case ' ':
    case '\t':
    case '\n':
    case ';':
    case '&':
    case '|':
    case '(':
    case ')':
    case '<':
    case '>': return true;
    default: return false;
    }
}

void bash_fail(struct bash_parser *p)
{
    if (!p->failed)
        p->error = p->pos;
    p->failed = true;
    p->pos = p->end;
}

bool bash_enter(struct bash_parser *p)
{
    if (++p->nesting <= BASH_MAX_NESTING)
        return true;
    uint32_t at = bash_place(p, p->pos);
    guard_limit(p->g, word_unknown(at, at));
    bash_fail(p);
    return false;
}

uint32_t bash_place(const struct bash_parser *p, size_t pos)
{
    return p->fixed ? p->fixed_start : (uint32_t)pos;
}

uint32_t bash_end_place(const struct bash_parser *p, size_t pos)
{
    return p->fixed ? p->fixed_end : (uint32_t)pos;
}

void *bash_new(struct bash_parser *p, size_t size)
{
    void *thing = arena_alloc(p->arena, size);
    if (!thing) {
        uint32_t at = bash_place(p, p->pos);
        guard_limit(p->g, word_unknown(at, at));
        bash_fail(p);
    }
    return thing;
}

void bash_skip(struct bash_parser *p, bool newlines)
{
    while (!bash_ended(p)) {
        char c = bash_at(p, 0);
        if (c == ' ' || c == '\t' || c == '\r') {
            p->pos++;
        } else if (c == '\\' && bash_at(p, 1) == '\n') {
            p->pos += 2;
        } else if (c == '\\' && bash_at(p, 1) == '\r' && bash_at(p, 2) == '\n') {
            p->pos += 3;
        } else if (c == '#') {
            p->pos = str_find_char(str_slice(p->src, 0, p->end), '\n', p->pos);
        } else if (c == '\n' && newlines) {
            p->pos++;
            bash_read_documents(p);
        } else {
            break;
        }
    }
}

/* ---- parts ---- */

struct bash_builder {
    struct bash_parser *p;
    struct bash_word *word;
    struct bash_part **tail;
};

static struct bash_part *add_part(struct bash_builder *b, enum bash_part_kind kind, bool quoted)
{
    struct bash_part *part = bash_new(b->p, sizeof *part);
    if (!part)
        return NULL;
    part->kind = kind;
    part->quoted = quoted;
    *b->tail = part;
    b->tail = &part->next;
    return part;
}

static void add_literal(struct bash_builder *b, struct str text, bool quoted)
{
    struct bash_part *part = add_part(b, BASH_LITERAL, quoted);
    if (part)
        part->text = text;
}

/* $'…' at pos: after the opening quote. */
static void parse_ansi(struct bash_builder *b)
{
    struct bash_parser *p = b->p;
    size_t start = p->pos;
    while (!bash_ended(p) && bash_at(p, 0) != '\'') {
        if (bash_at(p, 0) == '\\')
            p->pos++;
        p->pos++;
    }
    if (bash_ended(p)) {
        bash_fail(p);
        return;
    }
    bool stop;
    struct str text = str_slice(p->src, start, p->pos++);
    text = bash_unescape(p->arena, text, true, &stop);
    /* a NUL ends the string */
    add_literal(b, str_slice(text, 0, str_find_char(text, '\0', 0)), true);
}

/* `…` at pos: the command is read in place, or from a copy where \ stands before ` \ or $. */
static void parse_backticks(struct bash_builder *b, bool quoted)
{
    struct bash_parser *p = b->p;
    size_t start = ++p->pos;
    bool escapes = false;
    while (!bash_ended(p) && bash_at(p, 0) != '`') {
        if (bash_at(p, 0) == '\\') {
            escapes = true;
            p->pos++;
        }
        p->pos++;
    }
    if (bash_ended(p)) {
        bash_fail(p);
        return;
    }
    size_t end = p->pos;
    struct bash_part *part = add_part(b, BASH_COMMAND, quoted);
    if (!part || !bash_enter(p))
        return;
    struct bash_parser inner = *p;
    inner.pending = NULL;
    inner.pending_tail = &inner.pending;
    inner.pos = start;
    inner.end = end;
    if (escapes) {
        char *copy = bash_new(p, end - start + 1);
        if (!copy || !guard_spend(p->g, end - start))
            return;
        size_t n = 0;
        for (size_t i = start; i < end; i++) {
            if (p->src.p[i] == '\\' && i + 1 < end && ascii_is_in(p->src.p[i + 1], "`\\$"))
                i++;
            else if (quoted && p->src.p[i] == '\\' && i + 1 < end && p->src.p[i + 1] == '"')
                i++;
            copy[n++] = p->src.p[i];
        }
        inner.src = (struct str){copy, n};
        inner.pos = 0;
        inner.end = n;
        if (!inner.fixed) {
            inner.fixed = true;
            inner.fixed_start = (uint32_t)start - 1;
            inner.fixed_end = (uint32_t)end + 1;
        }
    }
    part->list = bash_parse(&inner);
    p->nesting--;
    p->nodes = inner.nodes;
    if (inner.failed)
        bash_fail(p);
    else
        p->pos = end + 1;
}

/* The end of (( … )) that starts at pos, which is after the two parentheses; end if there is
   none. */
static size_t arithmetic_end(struct bash_parser *p)
{
    size_t depth = 0;
    for (size_t i = p->pos; i < p->end; i++) {
        char c = p->src.p[i];
        if (c == '(') {
            depth++;
        } else if (c == ')') {
            if (depth == 0)
                return i + 1 < p->end && p->src.p[i + 1] == ')' ? i : p->end;
            depth--;
        } else if (c == '\\') {
            i++;
        } else if (c == '\'' || c == '"') {
            size_t close = str_find_char(str_slice(p->src, 0, p->end), c, i + 1);
            if (close < p->end)
                i = close;
        }
    }
    p->no_arithmetic_end = true;
    return p->end;
}

bool bash_parse_arithmetic(struct bash_parser *p, struct bash_word **out)
{
    size_t start = p->pos;
    p->pos += 2;
    size_t end = p->no_arithmetic_end ? p->end : arithmetic_end(p);
    if (end >= p->end) {
        p->pos = start;
        return false;
    }
    size_t outer = p->end;
    p->end = end;
    *out = bash_parse_word(p, BASH_IN_ARITHMETIC);
    p->end = outer;
    if (p->failed)
        p->pos = p->end;
    else
        p->pos = end + 2;
    return true;
}

/* $[…], the old arithmetic: at the dollar. */
static bool parse_old_arithmetic(struct bash_builder *b, bool quoted)
{
    struct bash_parser *p = b->p;
    size_t depth = 0, end = p->pos + 2;
    for (; end < p->end && !(p->src.p[end] == ']' && depth == 0); end++)
        depth += (p->src.p[end] == '[') - (p->src.p[end] == ']');
    if (end >= p->end || !bash_enter(p)) {
        p->no_bracket_end = true;
        return false;
    }
    struct bash_part *part = add_part(b, BASH_ARITHMETIC, quoted);
    size_t outer = p->end;
    p->pos += 2;
    p->end = end;
    struct bash_word *word = bash_parse_word(p, BASH_IN_ARITHMETIC);
    p->end = outer;
    p->nesting--;
    p->pos = p->failed ? p->end : end + 1;
    if (part)
        part->word = word;
    return true;
}

/* $(…), <(…) and >(…): after the opening parenthesis. */
static void parse_substitution(struct bash_builder *b, enum bash_part_kind kind, bool quoted)
{
    struct bash_parser *p = b->p;
    struct bash_part *part = add_part(b, kind, quoted);
    if (!part || !bash_enter(p))
        return;
    part->list = bash_parse_list(p);
    p->nesting--;
    if (bash_at(p, 0) != ')') {
        bash_fail(p);
        return;
    }
    p->pos++;
}

static bool is_special(char c)
{
    return ascii_is_in(c, "@*#?-$!");
}

static void read_operator(struct bash_parser *p, struct bash_param *param)
{
    static const char *const two[] = {":-", ":=", ":+", ":?", "##", "%%",
                                      "//", "/#", "/%", "^^", ",,"};
    for (size_t i = 0; i < sizeof two / sizeof *two; i++)
        if (bash_at(p, 0) == two[i][0] && bash_at(p, 1) == two[i][1]) {
            memcpy(param->op, two[i], 2);
            p->pos += 2;
            return;
        }
    if (!bash_ended(p) && ascii_is_in(bash_at(p, 0), "-=+?#%/:^,@"))
        param->op[0] = p->src.p[p->pos++];
}

/* ${…}: after the opening brace. */
static void parse_braced(struct bash_builder *b, bool quoted)
{
    struct bash_parser *p = b->p;
    struct bash_part *part = add_part(b, BASH_PARAM, quoted);
    struct bash_param *param = part ? bash_new(p, sizeof *param) : NULL;
    if (!param)
        return;
    part->param = param;
    if (!bash_enter(p))
        return;
    if (bash_at(p, 0) == '#' && bash_at(p, 1) != '}' &&
        (bash_is_name_char(bash_at(p, 1)) || (is_special(bash_at(p, 1)) && bash_at(p, 2) == '}'))) {
        param->length = true;
        p->pos++;
    } else if (bash_at(p, 0) == '!' && bash_at(p, 1) != '}' && bash_at(p, 1) != ':') {
        param->indirect = true;
        p->pos++;
    }
    size_t start = p->pos;
    if (is_special(bash_at(p, 0)))
        p->pos++;
    else
        while (bash_is_name_char(bash_at(p, 0)))
            p->pos++;
    param->name = str_slice(p->src, start, p->pos);
    if (bash_at(p, 0) == '[') {
        size_t from = ++p->pos;
        struct bash_word **tail = &param->index_words;
        for (size_t opened = 0;; opened--) { /* a[b[0]] */
            size_t segment = p->pos;
            struct bash_word *word = bash_parse_word(p, BASH_IN_INDEX);
            if (!word || bash_at(p, 0) != ']') {
                bash_fail(p);
                return;
            }
            *tail = word;
            tail = &word->next;
            for (size_t i = segment; i < p->pos; i++)
                opened += p->src.p[i] == '[';
            p->pos++;
            if (opened == 0 || bash_at(p, 0) == '}')
                break;
        }
        param->index = str_slice(p->src, from, p->pos - 1);
    }
    if (param->name.n == 0) {
        bash_fail(p);
        return;
    }
    if (bash_at(p, 0) != '}' && !bash_ended(p)) {
        read_operator(p, param);
        if (!param->op[0]) {
            bash_fail(p);
            return;
        }
        bool replaces = param->op[0] == '/';
        enum bash_context context = replaces
                                        ? (quoted ? BASH_IN_QUOTED_PATTERN : BASH_IN_PATTERN)
                                        : (quoted ? BASH_IN_QUOTED_ARGUMENT : BASH_IN_ARGUMENT);
        param->argument = bash_parse_word(p, context);
        if (replaces && bash_at(p, 0) == '/') {
            p->pos++;
            param->replacement =
                bash_parse_word(p, quoted ? BASH_IN_QUOTED_ARGUMENT : BASH_IN_ARGUMENT);
        }
    }
    if (bash_at(p, 0) != '}') {
        bash_fail(p);
        return;
    }
    p->pos++;
    p->nesting--;
}

static void add_name(struct bash_builder *b, size_t start, bool quoted)
{
    struct bash_part *part = add_part(b, BASH_PARAM, quoted);
    if (part)
        part->text = str_slice(b->p->src, start, b->p->pos);
}

/* At a dollar; false if it is a plain one. */
static bool parse_dollar(struct bash_builder *b, bool quoted)
{
    struct bash_parser *p = b->p;
    char c = bash_at(p, 1);
    if (c == '(') {
        if (bash_at(p, 2) == '(') {
            size_t start = p->pos++;
            struct bash_word *word;
            if (!bash_enter(p))
                return true;
            bool is_arithmetic = bash_parse_arithmetic(p, &word);
            p->nesting--;
            if (is_arithmetic) {
                struct bash_part *part = add_part(b, BASH_ARITHMETIC, quoted);
                if (part)
                    part->word = word;
                return true;
            }
            p->pos = start;
        }
        p->pos += 2;
        parse_substitution(b, BASH_COMMAND, quoted);
        return true;
    }
    if (c == '{') {
        p->pos += 2;
        parse_braced(b, quoted);
        return true;
    }
    if (c == '[')
        return !p->no_bracket_end && parse_old_arithmetic(b, quoted);
    if (ascii_is_digit(c) || is_special(c)) {
        p->pos += 2;
        add_name(b, p->pos - 1, quoted);
        return true;
    }
    if (bash_is_name_char(c)) {
        size_t start = ++p->pos;
        while (bash_is_name_char(bash_at(p, 0)))
            p->pos++;
        add_name(b, start, quoted);
        return true;
    }
    return false;
}

/* ---- words ---- */

static void parse_parts(struct bash_builder *b, enum bash_context context);

static void parse_double_quotes(struct bash_builder *b)
{
    struct bash_parser *p = b->p;
    b->word->quoted = true;
    p->pos++;
    struct bash_part **before = b->tail;
    parse_parts(b, BASH_IN_QUOTES);
    if (b->tail == before)
        add_literal(b, STR(""), true);
    if (bash_at(p, 0) != '"') {
        bash_fail(p);
        return;
    }
    p->pos++;
}

static void parse_single_quotes(struct bash_builder *b)
{
    struct bash_parser *p = b->p;
    b->word->quoted = true;
    size_t close = str_find_char(str_slice(p->src, 0, p->end), '\'', p->pos + 1);
    if (close >= p->end) {
        bash_fail(p);
        return;
    }
    add_literal(b, str_slice(p->src, p->pos + 1, close), true);
    p->pos = close + 1;
}

/* In quotes and documents a backslash is plain unless it stands before one of these. */
static bool escapes_in_quotes(char c, enum bash_context context)
{
    if (c == '$' || c == '`' || c == '\\' || c == '\n')
        return true;
    if (context == BASH_IN_QUOTED_ARGUMENT || context == BASH_IN_QUOTED_PATTERN)
        return c == '"' || c == '}' || c == '/';
    return c == '"' && context == BASH_IN_QUOTES;
}

static bool is_quoted_context(enum bash_context context)
{
    return context == BASH_IN_QUOTES || context == BASH_IN_DOCUMENT ||
           context == BASH_IN_QUOTED_ARGUMENT || context == BASH_IN_QUOTED_PATTERN ||
           context == BASH_IN_ARITHMETIC || context == BASH_IN_INDEX;
}

/* ?(…) *(…) +(…) @(…) !(…): the parentheses belong to the word. */
static bool parse_extended_glob(struct bash_builder *b)
{
    struct bash_parser *p = b->p;
    size_t depth = 0;
    for (size_t i = p->pos; i < p->end; i++) {
        char c = p->src.p[i];
        if (c == '\n' || c == '\'' || c == '"' || c == '`')
            return false;
        if (c == '$') /* expansions inside are rare; the text is opaque then */
            continue;
        depth += c == '(';
        if (c == ')' && --depth == 0) {
            add_literal(b, str_slice(p->src, p->pos, i + 1), false);
            p->pos = i + 1;
            return true;
        }
    }
    return false;
}

/* True where an unquoted stretch of literal text ends in this context. */
static bool ends_parts(const struct bash_parser *p, char c, enum bash_context context)
{
    switch (context) {
    case BASH_IN_WORD: return bash_is_meta(c);
    case BASH_IN_TEST: return c == ' ' || c == '\t' || c == '\n';
    case BASH_IN_QUOTES: return c == '"';
    case BASH_IN_INDEX: return c == ']';
    case BASH_IN_PATTERN:
    case BASH_IN_QUOTED_PATTERN: return c == '}' || c == '/';
    case BASH_IN_ARGUMENT:
    case BASH_IN_QUOTED_ARGUMENT: return c == '}';
    default: break;
    }
    (void)p;
    return false;
}

static bool is_stop(char c)
{
    return c == '\\' || c == '\'' || c == '"' || c == '$' || c == '`';
}

static void parse_escape(struct bash_builder *b, enum bash_context context, bool quoted)
{
    struct bash_parser *p = b->p;
    char c = bash_at(p, 1);
    if (p->pos + 1 >= p->end) {
        add_literal(b, STR("\\"), true);
        p->pos++;
        return;
    }
    if (quoted && !escapes_in_quotes(c, context)) {
        add_literal(b, str_slice(p->src, p->pos, p->pos + 2), true);
    } else if (c != '\n') {
        b->word->quoted = true;
        add_literal(b, str_slice(p->src, p->pos + 1, p->pos + 2), true);
    }
    p->pos += 2;
}

/* The file through which <(…) is read has a name of its own, by its place in the text. */
static void parse_process(struct bash_builder *b, bool reads)
{
    enum { ROOM = 32 };
    static const struct str folder = STR("/dev/fd/");
    struct bash_parser *p = b->p;
    char digits[STR_NUMBER_ROOM], *name = reads ? bash_new(p, ROOM) : NULL;
    struct str number = str_of_number((long long)bash_place(p, p->pos), digits);
    struct bash_part **part = b->tail;
    parse_substitution(b, BASH_PROCESS, false);
    if (!name || !*part)
        return;
    memcpy(name, folder.p, folder.n);
    memcpy(name + folder.n, number.p, number.n);
    (*part)->text = (struct str){name, folder.n + number.n};
}

static void parse_parts(struct bash_builder *b, enum bash_context context)
{
    struct bash_parser *p = b->p;
    bool quoted = is_quoted_context(context);
    while (!bash_ended(p) && !p->failed) {
        char c = bash_at(p, 0);
        if (ends_parts(p, c, context)) {
            if (context == BASH_IN_WORD && (c == '<' || c == '>') && bash_at(p, 1) == '(') {
                p->pos += 2;
                parse_process(b, c == '<');
                continue;
            }
            if (context == BASH_IN_WORD && c == '(' && p->pos > 0 && p->src.p[p->pos - 1] != '\\' &&
                b->word->parts && ascii_is_in(p->src.p[p->pos - 1], "?*+@!") &&
                parse_extended_glob(b))
                continue;
            return;
        }
        switch (c) {
        case '\\': parse_escape(b, context, quoted); continue;
        case '`': parse_backticks(b, quoted); continue;
        case '\'':
            if (!quoted) {
                parse_single_quotes(b);
                continue;
            }
            break;
        case '"':
            if (context != BASH_IN_DOCUMENT) {
                parse_double_quotes(b);
                continue;
            }
            break;
        case '$':
            if (!quoted && bash_at(p, 1) == '\'') {
                b->word->quoted = true;
                p->pos += 2;
                parse_ansi(b);
                continue;
            }
            if (!quoted && bash_at(p, 1) == '"') {
                p->pos++;
                continue;
            }
            if (parse_dollar(b, quoted))
                continue;
            break;
        default: break;
        }
        size_t start = p->pos++;
        while (!bash_ended(p) && !is_stop(bash_at(p, 0)) && !ends_parts(p, bash_at(p, 0), context))
            p->pos++;
        struct str text = str_slice(p->src, start, p->pos);
        if (!quoted && str_has_char(text, '{'))
            b->word->braces = true;
        add_literal(b, text, quoted);
    }
}

struct bash_word *bash_parse_word(struct bash_parser *p, enum bash_context context)
{
    struct bash_word *word = bash_new(p, sizeof *word);
    if (!word)
        return NULL;
    word->start = bash_place(p, p->pos);
    struct bash_builder b = {p, word, &word->parts};
    parse_parts(&b, context);
    word->end = bash_end_place(p, p->pos);
    return word;
}

struct str bash_plain(const struct bash_word *w)
{
    if (!w || w->quoted || !w->parts || w->parts->next || w->parts->kind != BASH_LITERAL)
        return STR("");
    return w->parts->text;
}

void bash_parse_parts(struct bash_parser *p, struct bash_word *word, struct bash_part ***tail,
                      enum bash_context context)
{
    struct bash_builder b = {p, word, *tail};
    parse_parts(&b, context);
    *tail = b.tail;
}
