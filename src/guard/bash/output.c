/* SPDX-License-Identifier: Apache-2.0 */
/* Constant output of commands: echo, printf, cat of a document, and a few filters. */
#include "guard/bash/bash.h"

#define HOLE STR("\xFF")

static struct str echo(struct bash_reader *b, const struct word *args, size_t count)
{
    bool newline = true, escapes = false, stop = false;
    size_t i = 0;
    for (; i < count; i++) {
        struct str a = args[i].text;
        if (a.n < 2 || a.p[0] != '-')
            break;
        bool options = true;
        for (size_t k = 1; k < a.n; k++)
            options &= a.p[k] == 'n' || a.p[k] == 'e' || a.p[k] == 'E';
        if (!options)
            break;
        newline &= !str_has_char(a, 'n');
        escapes |= str_has_char(a, 'e');
    }
    struct str *values = ARENA_ARRAY(b->arena, count + 1, struct str);
    if (!values)
        return HOLE;
    for (size_t k = i; k < count; k++)
        values[k - i] = args[k].text;
    struct str text = bash_join(b, values, count - i, ' ');
    if (escapes)
        text = bash_unescape(b->arena, text, false, &stop);
    return newline && !stop ? bash_concat(b, text, STR("\n")) : text;
}

/* One round of a format; *used counts the arguments it takes. */
static struct str format_once(struct bash_reader *b, struct str format, const struct word *args,
                              size_t count, size_t *used)
{
    struct str out = STR("");
    size_t i = 0;
    while (i < format.n && !guard_stopped(b->g)) {
        size_t percent = str_find_char(format, '%', i);
        bool end = false; /* escapes make text, never a directive */
        if (percent > i)
            out = bash_concat(b, out,
                              bash_unescape(b->arena, str_slice(format, i, percent), false, &end));
        if (percent >= format.n)
            break;
        i = percent + 1;
        if (i < format.n && format.p[i] == '%') {
            out = bash_concat(b, out, STR("%"));
            i++;
            continue;
        }
        while (i < format.n && ascii_is_in(format.p[i], "-+ 0#'.123456789"))
            i++;
        char c = i < format.n ? format.p[i++] : 0;
        struct str value = *used < count ? args[*used].text : STR("");
        ++*used;
        bool stop = false;
        if (c == 'b')
            value = bash_unescape(b->arena, value, false, &stop);
        else if (c != 's' && c != 'd' && c != 'i' && c != 'q')
            value = HOLE;
        out = bash_concat(b, out, value);
    }
    return out;
}

struct str bash_printf(struct bash_reader *b, const struct word *args, size_t count)
{
    if (count && str_eq(args[0].text, STR("--"))) {
        args++;
        count--;
    }
    if (count == 0)
        return STR("");
    struct str format = args[0].text;
    struct str out = STR("");
    size_t used = 1, before;
    do {
        before = used;
        out = bash_concat(b, out, format_once(b, format, args, count, &used));
    } while (used < count && used > before && !guard_stopped(b->g));
    return out;
}

/* ---- filters ---- */

static struct str decode_base64(struct bash_reader *b, struct str s)
{
    char *out = arena_alloc(b->arena, s.n + 1);
    if (!out || !guard_spend(b->g, s.n))
        return HOLE;
    size_t n = 0;
    unsigned bits = 0, count = 0;
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        int value = c >= 'A' && c <= 'Z'   ? c - 'A'
                    : c >= 'a' && c <= 'z' ? c - 'a' + 26
                    : ascii_is_digit(c)    ? c - '0' + 52
                    : c == '+' || c == '-' ? 62
                    : c == '/' || c == '_' ? 63
                                           : -1;
        if (value < 0)
            continue;
        bits = bits << 6 | (unsigned)value;
        count += 6;
        if (count >= 8) {
            count -= 8;
            out[n++] = (char)(bits >> count);
        }
    }
    return (struct str){out, n};
}

static struct str decode_hex(struct bash_reader *b, struct str s)
{
    char *out = arena_alloc(b->arena, s.n + 1);
    if (!out || !guard_spend(b->g, s.n))
        return HOLE;
    size_t n = 0;
    int high = -1;
    for (size_t i = 0; i < s.n; i++) {
        int digit = ascii_hex(s.p[i]);
        if (digit < 0)
            continue;
        if (high >= 0)
            out[n++] = (char)(high * 16 + digit);
        high = high < 0 ? digit : -1;
    }
    return (struct str){out, n};
}

static struct str reverse_lines(struct bash_reader *b, struct str s)
{
    char *out = arena_alloc(b->arena, s.n + 1);
    if (!out || !guard_spend(b->g, s.n))
        return HOLE;
    size_t i = 0;
    while (i < s.n) {
        size_t end = str_find_char(s, '\n', i);
        for (size_t k = i; k < end; k++)
            out[k] = s.p[end - 1 - (k - i)];
        if (end < s.n)
            out[end] = '\n';
        i = end + 1;
    }
    return (struct str){out, s.n};
}

/* A set of tr: ranges written out; 0 if it holds a class. */
static size_t read_set(struct str spec, char set[512])
{
    size_t n = 0;
    if (str_has_char(spec, ':'))
        return 0;
    for (size_t i = 0; i < spec.n && n < 256; i++) {
        char c = spec.p[i];
        if (c == '\\' && i + 1 < spec.n) {
            c = spec.p[++i];
            c = c == 'n' ? '\n' : c == 't' ? '\t' : c;
        } else if (i + 2 < spec.n && spec.p[i + 1] == '-') {
            for (int k = (unsigned char)c; k <= (unsigned char)spec.p[i + 2] && n < 256; k++)
                set[n++] = (char)k;
            i += 2;
            continue;
        }
        set[n++] = c;
    }
    return n;
}

static struct str translate(struct bash_reader *b, struct str s, const struct word *args,
                            size_t count)
{
    bool deletes = count && str_eq(args[0].text, STR("-d"));
    char from[512], to[512];
    if (count != 2)
        return HOLE;
    size_t from_count = read_set(args[deletes ? 1 : 0].text, from);
    size_t to_count = deletes ? 1 : read_set(args[1].text, to);
    char *out = arena_alloc(b->arena, s.n + 1);
    if (!from_count || !to_count || !out || !guard_spend(b->g, s.n))
        return HOLE;
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++) {
        const char *hit = memchr(from, s.p[i], from_count);
        if (!hit) {
            out[n++] = s.p[i];
        } else if (!deletes) {
            size_t k = (size_t)(hit - from);
            out[n++] = to[k < to_count ? k : to_count - 1];
        }
    }
    return (struct str){out, n};
}

static bool has_option(const struct word *args, size_t count, const char *options)
{
    for (size_t i = 0; i < count; i++) {
        struct str a = args[i].text;
        if (a.n > 1 && a.p[0] == '-' && a.p[1] != '-' && str_has_char(str_of(options), a.p[1]))
            return true;
        if (str_eq(a, STR("--decode")))
            return true;
    }
    return false;
}

/* ---- commands ---- */

/* The content of a file, if the text wrote it. */
static struct str written_text(struct bash_reader *b, struct str path)
{
    struct str text = guard_written(b->g, path);
    return text.p ? text : HOLE;
}

/* What is read through a redirection. */
static struct str read_text(struct bash_reader *b, const struct bash_redirect *r)
{
    const struct bash_part *part = r->word ? r->word->parts : NULL;
    if (!r->word)
        return HOLE;
    if (r->kind == BASH_HEREDOC)
        return bash_expand_text(b, r->word);
    if (r->kind == BASH_HERESTRING)
        return bash_concat(b, bash_expand_text(b, r->word), STR("\n"));
    if (part && part->kind == BASH_PROCESS && !part->next)
        return bash_output(b, part->list);
    return part ? written_text(b, bash_expand_text(b, r->word)) : HOLE;
}

struct word bash_redirected_input(struct bash_reader *b, const struct bash_node *node)
{
    struct word input = {.text = STR_NONE, .start = node->start, .end = node->end};
    for (const struct bash_redirect *r = node->redirects; r; r = r->next) {
        bool opened = r->copies && !r->opens && !r->other && b->opened.p;
        if (r->kind == BASH_OUTPUT && !opened)
            continue;
        input.text = opened ? b->opened : read_text(b, r);
        if (!r->word)
            continue;
        input.start = r->word->start;
        input.end = r->word->end;
    }
    return input;
}

void bash_open_handles(struct bash_reader *b, const struct bash_node *node)
{
    for (const struct bash_redirect *r = node->redirects; r; r = r->next) {
        if (r->copies || !r->word)
            continue;
        if (r->opens) {
            if (r->other)
                guard_wrote_unknown(b->g, bash_expand_text(b, r->word));
            continue;
        }
        struct word text = {read_text(b, r), r->word->start, r->word->end, false};
        if (!r->other)
            b->input = text;
        else
            b->opened = b->opened.p ? bash_concat(b, b->opened, text.text) : text.text;
    }
}

/* Some folder of programs. */
static struct str found_on_path(struct bash_reader *b, struct str name)
{
    return str_has_char(name, '/') ? name : bash_concat(b, STR("\xFF/bin/"), name);
}

static struct str command_output(struct bash_reader *b, const struct word *words, size_t count,
                                 struct str input)
{
    struct str name = words[0].text;
    const struct word *args = words + 1;
    count--;
    if (str_eq(name, STR("echo")))
        return echo(b, args, count);
    if (str_eq(name, STR("printf")))
        return count && str_eq(args[0].text, STR("-v")) ? STR("") : bash_printf(b, args, count);
    if (str_eq(name, STR("which")) && count == 1)
        return found_on_path(b, args[0].text);
    if (str_eq(name, STR("command")) && count == 2 && str_eq(args[0].text, STR("-v")))
        return found_on_path(b, args[1].text);
    if (str_eq(name, STR("type")) && count == 2 && str_eqi(args[0].text, STR("-p")))
        return found_on_path(b, args[1].text);
    if (str_eq(name, STR("mktemp")))
        return guard_temporary(b->g);
    if (str_eq(name, STR("pwd")))
        return guard_current(b->g);
    if (str_eq(name, STR(":")) || str_eq(name, STR("true")) || str_eq(name, STR("set")))
        return STR("");
    if (str_eq(name, STR("cat")) && count == 1 && !str_eq(args[0].text, STR("-")))
        return written_text(b, args[0].text);
    if (!input.p || str_has_char(input, GUARD_HOLE))
        return HOLE;
    if (str_eq(name, STR("tee")) ||
        (str_eq(name, STR("cat")) && (count == 0 || str_eq(args[0].text, STR("-")))))
        return input;
    if (str_eq(name, STR("base64")) && has_option(args, count, "dD"))
        return decode_base64(b, input);
    if (str_eq(name, STR("openssl")) && has_option(args, count, "d") &&
        (str_eq(args[0].text, STR("base64")) || str_eq(args[0].text, STR("enc"))))
        return decode_base64(b, input);
    if (str_eq(name, STR("xxd")) && has_option(args, count, "r"))
        return decode_hex(b, input);
    if (str_eq(name, STR("rev")) && count == 0)
        return reverse_lines(b, input);
    if (str_eq(name, STR("tr")))
        return translate(b, input, args, count);
    return HOLE;
}

struct str bash_node_output(struct bash_reader *b, const struct bash_node *node, struct str input)
{
    struct word own = bash_redirected_input(b, node);
    if (own.text.p)
        input = own.text;
    if (node->kind == BASH_GROUP || node->kind == BASH_SUBSHELL)
        return bash_output(b, node->body);
    if (node->kind == BASH_FUNCTION)
        return STR("");
    if (node->kind != BASH_SIMPLE)
        return HOLE;
    if (!node->words) {
        for (const struct bash_assign *a = node->assigns; a; a = a->next)
            bash_assign(b, a);
        /* $(<file) */
        return own.text.p ? own.text : STR("");
    }
    struct bash_fields fields = {0};
    for (const struct bash_word *w = node->words; w; w = w->next)
        bash_expand(b, w, &fields);
    if (!fields.count || guard_stopped(b->g))
        return HOLE;
    if (bash_function_find(&b->functions, fields.list[0].text))
        return HOLE;
    return command_output(b, fields.list, fields.count, input);
}

struct str bash_output(struct bash_reader *b, const struct bash_node *list)
{
    if (!list)
        return STR("");
    if (b->nesting >= BASH_MAX_NESTING || !guard_spend(b->g, 16))
        return HOLE;
    b->nesting++;
    struct vars_fork fork;
    vars_fork_begin(&b->vars, &fork);
    struct str all = STR(""), last = STR_NONE;
    for (const struct bash_node *node = list; node && !guard_stopped(b->g); node = node->next) {
        last = bash_node_output(b, node, node->join == BASH_PIPE ? last : STR_NONE);
        if (node->next && node->next->join == BASH_PIPE)
            continue;
        if (node->join == BASH_OR && last.n && all.n)
            last = HOLE; /* one or the other */
        all = all.n ? bash_concat(b, all, last) : last;
    }
    vars_branch_end(&b->vars, &fork);
    vars_fork_drop(&b->vars, &fork);
    b->nesting--;
    return all;
}
