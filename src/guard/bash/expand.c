/* SPDX-License-Identifier: Apache-2.0 */
/* Expansion of words before a command runs: braces, parameters, substitutions, splitting. */
#include "guard/bash/bash.h"

static void put(struct bash_reader *b, struct arena_text *t, struct str s)
{
    if (s.n == 0)
        return;
    if (!t->p) { /* the first part is not copied before another one follows */
        *t = (struct arena_text){.p = (char *)(uintptr_t)s.p, .n = s.n, .capacity = s.n};
        return;
    }
    if (!arena_append(b->arena, t, s))
        guard_limit(b->g, word_unknown(0, 0));
}

void bash_field_add(struct bash_reader *b, struct bash_fields *f, struct word w)
{
    if (f->count == f->capacity) {
        struct word *list = arena_grow(b->arena, f->list, &f->capacity, sizeof *list);
        if (!list) {
            guard_limit(b->g, w);
            return;
        }
        f->list = list;
    }
    f->list[f->count++] = w;
}

/* ---- fields ---- */

struct splitter {
    struct bash_reader *b;
    struct bash_fields *out; /* NULL: one text */
    const struct bash_word *word;
    struct arena_text text;
    bool open; /* the field exists even if it is empty */
    bool quoted;
};

static void close_field(struct splitter *s)
{
    if (!s->open && s->text.n == 0)
        return;
    struct str text = {s->text.p ? s->text.p : "", s->text.n};
    bash_field_add(s->b, s->out, (struct word){text, s->word->start, s->word->end, s->quoted});
    s->text = (struct arena_text){0};
    s->open = s->quoted = false;
}

/* Whether a character separates fields: by IFS, if the script sets it to something known; room for
   that case. */
static const bool *separators(const struct bash_reader *b, bool room[256])
{
    static const bool blanks[256] = {[' '] = true, ['\t'] = true, ['\n'] = true};
    const struct var *ifs = vars_find(&b->vars, STR("IFS"));
    if (!ifs || !vars_constant(ifs->state))
        return blanks;
    memset(room, 0, 256 * sizeof *room);
    struct str own = ifs->state.values[0];
    for (size_t i = 0; i < own.n; i++)
        room[(unsigned char)own.p[i]] = true;
    return room;
}

/* A value that is not quoted falls apart at blanks. */
static void put_split(struct splitter *s, struct str value)
{
    if (!s->out) {
        put(s->b, &s->text, value);
        return;
    }
    bool room[256];
    const bool *separates = value.n ? separators(s->b, room) : NULL;
    size_t i = 0;
    while (i < value.n) {
        if (separates[(unsigned char)value.p[i]]) {
            close_field(s);
            i++;
            continue;
        }
        size_t start = i;
        while (i < value.n && !separates[(unsigned char)value.p[i]])
            i++;
        put(s->b, &s->text, str_slice(value, start, i));
    }
}

static void put_value(struct splitter *s, struct str value, bool quoted)
{
    if (value.n > 64 && !guard_spend(s->b->g, value.n))
        return;
    if (quoted) {
        put(s->b, &s->text, value);
        s->open = s->quoted = true;
    } else {
        put_split(s, value);
    }
}

/* Bash leaves zero bytes out of what a substitution prints. */
static struct str without_zeros(struct bash_reader *b, struct str text)
{
    char *p = str_has_char(text, '\0') && guard_spend(b->g, text.n) ? arena_alloc(b->arena, text.n)
                                                                    : NULL;
    size_t n = 0;
    for (size_t i = 0; p && i < text.n; i++)
        if (text.p[i])
            p[n++] = text.p[i];
    return p ? (struct str){p, n} : text;
}

static struct str trim_newlines(struct str s)
{
    while (s.n && s.p[s.n - 1] == '\n')
        s.n--;
    return s;
}

static void put_param(struct splitter *s, const struct bash_part *part)
{
    struct bash_param plain = {.name = part->text};
    struct bash_values v = bash_param_values(s->b, part->param ? part->param : &plain);
    if (!v.many) {
        put_value(s, v.one, part->quoted);
        return;
    }
    for (size_t i = 0; i < v.count; i++) {
        if (i && s->out)
            close_field(s);
        else if (i)
            put(s->b, &s->text, STR(" "));
        put_value(s, v.many[i], part->quoted);
    }
}

/* The output of <(…) is in a file, which the command may run. */
static struct str process_file(struct bash_reader *b, const struct bash_part *part)
{
    if (!part->text.n)
        return STR("\xFF"); /* >(…) */
    guard_wrote(b->g, part->text, bash_output(b, part->list), false);
    return part->text;
}

static void put_parts(struct splitter *s, const struct bash_part *parts)
{
    for (const struct bash_part *part = parts; part && !guard_stopped(s->b->g); part = part->next) {
        switch (part->kind) {
        case BASH_LITERAL:
            put(s->b, &s->text, part->text);
            s->open |= part->quoted;
            s->quoted |= part->quoted;
            break;
        case BASH_PARAM: put_param(s, part); break;
        case BASH_COMMAND:
            put_value(s, trim_newlines(without_zeros(s->b, bash_output(s->b, part->list))),
                      part->quoted);
            break;
        case BASH_PROCESS: put_value(s, process_file(s->b, part), true); break;
        case BASH_ARITHMETIC: put_value(s, STR("\xFF"), true); break;
        }
    }
}

struct str bash_expand_text(struct bash_reader *b, const struct bash_word *w)
{
    if (!w || !w->parts)
        return STR("");
    if (!w->parts->next && w->parts->kind == BASH_LITERAL)
        return w->parts->text;
    struct splitter s = {.b = b, .word = w};
    put_parts(&s, w->parts);
    return (struct str){s.text.p ? s.text.p : "", s.text.n};
}

static void expand_parts(struct bash_reader *b, const struct bash_word *w,
                         const struct bash_part *parts, struct bash_fields *out)
{
    if (parts && !parts->next && parts->kind == BASH_LITERAL) {
        bash_field_add(b, out, (struct word){parts->text, w->start, w->end, w->quoted});
        return;
    }
    struct splitter s = {.b = b, .out = out, .word = w};
    put_parts(&s, parts);
    close_field(&s);
}

/* ---- braces ---- */

/* One unquoted character, or a part that braces cannot split. */
struct item {
    const struct bash_part *part;
    char c;
};

struct braces {
    struct bash_reader *b;
    const struct bash_word *word;
    struct bash_fields *out;
    size_t made;
    unsigned depth;
};

static struct bash_part *to_parts(struct bash_reader *b, const struct item *items, size_t count)
{
    struct bash_part *first = NULL, **tail = &first;
    for (size_t i = 0; i < count;) {
        struct bash_part *part = ARENA_NEW(b->arena, struct bash_part);
        if (!part) {
            guard_limit(b->g, word_unknown(0, 0));
            return first;
        }
        if (items[i].part) {
            *part = *items[i++].part;
        } else {
            size_t start = i;
            while (i < count && !items[i].part)
                i++;
            char *text = arena_alloc(b->arena, i - start);
            if (!text) {
                guard_limit(b->g, word_unknown(0, 0));
                return first;
            }
            for (size_t k = start; k < i; k++)
                text[k - start] = items[k].c;
            part->text = (struct str){text, i - start};
        }
        part->next = NULL;
        *tail = part;
        tail = &part->next;
    }
    return first;
}

/* The first { with its } and a comma, or two dots, between them; false if there is none. */
static bool find_braces(struct bash_reader *b, const struct item *items, size_t count, size_t *open,
                        size_t *close, bool *comma)
{
    enum { DEEPEST = 32 };
    size_t stack[DEEPEST], depth = 0, best = count;
    bool commas[DEEPEST] = {0}, dots[DEEPEST] = {0};
    if (!guard_spend(b->g, count))
        return false;
    for (size_t i = 0; i < count; i++) {
        if (items[i].part)
            continue;
        char c = items[i].c;
        if (c == '{' && depth < DEEPEST) {
            stack[depth] = i;
            commas[depth] = dots[depth] = false;
            depth++;
        } else if (c == ',' && depth) {
            commas[depth - 1] = true;
        } else if (c == '.' && depth && i + 1 < count && !items[i + 1].part &&
                   items[i + 1].c == '.') {
            dots[depth - 1] = true;
        } else if (c == '}' && depth) {
            depth--;
            if ((commas[depth] || dots[depth]) && stack[depth] < best) {
                best = stack[depth];
                *open = best;
                *close = i;
                *comma = commas[depth];
            }
        }
    }
    return best < count;
}

static void expand_items(struct braces *x, const struct item *items, size_t count);

/* prefix + middle + suffix, expanded further. */
static void expand_joined(struct braces *x, const struct item *items, size_t count, size_t open,
                          size_t close, const struct item *middle, size_t middle_count)
{
    size_t size = open + middle_count + (count - close - 1);
    struct item *joined = ARENA_ARRAY(x->b->arena, size + 1, struct item);
    if (!joined || !guard_spend(x->b->g, size)) {
        guard_limit(x->b->g, word_unknown(x->word->start, x->word->end));
        return;
    }
    memcpy(joined, items, open * sizeof *joined);
    if (middle_count)
        memcpy(joined + open, middle, middle_count * sizeof *joined);
    memcpy(joined + open + middle_count, items + close + 1, (count - close - 1) * sizeof *joined);
    expand_items(x, joined, size);
}

/* {a..e} and {1..9..2}; false if it is neither. */
static bool expand_range(struct braces *x, const struct item *items, size_t count, size_t open,
                         size_t close)
{
    char text[48] = {0};
    size_t n = 0;
    for (size_t i = open + 1; i < close; i++) {
        if (items[i].part || n + 1 >= sizeof text)
            return false;
        text[n++] = items[i].c;
    }
    struct str s = {text, n};
    size_t dots = str_find(s, STR(".."), 0);
    if (dots >= n)
        return false;
    struct str ends[2] = {str_slice(s, 0, dots), str_from(s, dots + 2)};
    ends[1] = str_slice(ends[1], 0, str_find(ends[1], STR(".."), 0));
    long value[2] = {0, 0};
    bool letters = ends[0].n == 1 && ends[1].n == 1 && ascii_is_alpha(ends[0].p[0]) &&
                   ascii_is_alpha(ends[1].p[0]);
    for (int k = 0; k < 2; k++) {
        if (letters) {
            value[k] = (unsigned char)ends[k].p[0];
            continue;
        }
        size_t i = ends[k].n && ends[k].p[0] == '-';
        if (i == ends[k].n)
            return false;
        for (; i < ends[k].n; i++) {
            if (!ascii_is_digit(ends[k].p[i]) || value[k] > 1000 * 1000)
                return false;
            value[k] = value[k] * 10 + (ends[k].p[i] - '0');
        }
        if (ends[k].p[0] == '-')
            value[k] = -value[k];
    }
    long step = value[0] <= value[1] ? 1 : -1;
    for (long v = value[0];; v += step) {
        struct item middle[32];
        size_t m = 0;
        if (letters) {
            middle[m++] = (struct item){NULL, (char)v};
        } else {
            char room[STR_NUMBER_ROOM];
            struct str number = str_of_number(v, room);
            for (; m < number.n; m++)
                middle[m] = (struct item){NULL, number.p[m]};
        }
        expand_joined(x, items, count, open, close, middle, m);
        if (v == value[1] || x->made >= BASH_MAX_BRACES || guard_stopped(x->b->g))
            return true;
    }
}

static void expand_items(struct braces *x, const struct item *items, size_t count)
{
    if (guard_stopped(x->b->g))
        return;
    if (x->made >= BASH_MAX_BRACES || x->depth >= BASH_MAX_NESTING) {
        if (x->made++ == BASH_MAX_BRACES)
            bash_field_add(x->b, x->out, word_unknown(x->word->start, x->word->end));
        return;
    }
    size_t open = 0, close = 0;
    bool comma = false;
    if (!find_braces(x->b, items, count, &open, &close, &comma)) {
        x->made++;
        expand_parts(x->b, x->word, to_parts(x->b, items, count), x->out);
        return;
    }
    x->depth++;
    if (!comma) {
        if (!expand_range(x, items, count, open, close)) {
            x->made++;
            expand_parts(x->b, x->word, to_parts(x->b, items, count), x->out);
        }
        x->depth--;
        return;
    }
    size_t depth = 0, start = open + 1;
    for (size_t i = open + 1; i <= close && !guard_stopped(x->b->g); i++) {
        if (items[i].part)
            continue;
        char c = items[i].c;
        if ((c == ',' && depth == 0) || i == close) {
            expand_joined(x, items, count, open, close, items + start, i - start);
            start = i + 1;
        } else if (c == '{') {
            depth++;
        } else if (c == '}' && depth) {
            depth--;
        }
    }
    x->depth--;
}

static bool may_have_braces(const struct bash_word *w)
{
    bool open = false, between = false, close = false;
    for (const struct bash_part *part = w->parts; part; part = part->next) {
        if (part->kind != BASH_LITERAL || part->quoted)
            continue;
        open |= str_has_char(part->text, '{');
        between |= str_has_char(part->text, ',') || str_has_char(part->text, '.');
        close |= str_has_char(part->text, '}');
    }
    return open && between && close;
}

static void expand_braces(struct bash_reader *b, const struct bash_word *w, struct bash_fields *out)
{
    size_t count = 0;
    for (const struct bash_part *part = w->parts; part; part = part->next)
        count += part->kind == BASH_LITERAL && !part->quoted ? part->text.n : 1;
    struct item *items = ARENA_ARRAY(b->arena, count + 1, struct item);
    if (!items) {
        guard_limit(b->g, word_unknown(w->start, w->end));
        return;
    }
    size_t n = 0;
    for (const struct bash_part *part = w->parts; part; part = part->next) {
        if (part->kind == BASH_LITERAL && !part->quoted) {
            for (size_t i = 0; i < part->text.n; i++)
                items[n++] = (struct item){NULL, part->text.p[i]};
        } else {
            items[n++] = (struct item){part, 0};
        }
    }
    struct braces x = {.b = b, .word = w, .out = out};
    expand_items(&x, items, n);
}

void bash_expand(struct bash_reader *b, const struct bash_word *w, struct bash_fields *out)
{
    if (w->braces && may_have_braces(w))
        expand_braces(b, w, out);
    else
        expand_parts(b, w, w->parts, out);
}
