/* SPDX-License-Identifier: Apache-2.0 */
/* Loops of cmd: constant sets are walked value by value, everything else is a hole. */
#include "guard/cmd/cmd.h"

struct for_options {
    struct str delims;
    char eol;
    bool tokens[32];
    unsigned token_count; /* variables that are set, without the rest */
    bool rest, usebackq;
    unsigned skip;
};

static bool has_wildcard(struct str s)
{
    return str_has_char(s, '*') || str_has_char(s, '?');
}

/* Runs the body once with the variable bound. */
static void run_body(struct cmd_reader *r, struct cmd_node *node, const struct str *values,
                     unsigned count, bool last)
{
    struct cmd_loop loops[32];
    struct cmd_loop *outer = r->loops;
    for (unsigned i = 0; i < count; i++) {
        loops[i] = (struct cmd_loop){r->loops, (char)(node->variable + (char)i), values[i]};
        r->loops = &loops[i];
    }
    bool last_round = r->last_round;
    r->last_round = last && (!outer || last_round);
    r->maybe++;
    cmd_run_list(r, node->body);
    r->maybe--;
    r->last_round = last_round;
    r->loops = outer;
}

/* With values that are not known, and perhaps not even once. */
static void run_once(struct cmd_reader *r, struct cmd_node *node, unsigned count)
{
    struct str holes[32];
    struct cmd_fork fork;
    if (count == 0)
        count = 1;
    for (unsigned i = 0; i < count; i++)
        holes[i] = STR("\xFF");
    cmd_fork_begin(r, &fork);
    run_body(r, node, holes, count, true);
    cmd_branch_end(r, &fork);
    cmd_fork_end(r, &fork, false);
}

/* True while another round is within the limits. */
static bool may_repeat(struct cmd_reader *r, const struct cmd_node *node)
{
    size_t size = node->end > node->start ? node->end - node->start : 1;
    return ++r->iterations <= CMD_MAX_ITERATIONS && !guard_stopped(r->g) && guard_spend(r->g, size);
}

static bool read_number(struct str s, size_t *i, long *out)
{
    while (*i < s.n && cmd_is_blank(s.p[*i]))
        ++*i;
    bool negative = *i < s.n && s.p[*i] == '-';
    if (negative || (*i < s.n && s.p[*i] == '+'))
        ++*i;
    if (*i >= s.n || !ascii_is_digit(s.p[*i]))
        return false;
    long value = 0;
    for (; *i < s.n && ascii_is_digit(s.p[*i]) && value < 100 * 1000 * 1000; ++*i)
        value = value * 10 + (s.p[*i] - '0');
    *out = negative ? -value : value;
    return true;
}

static void run_numbers(struct cmd_reader *r, struct cmd_node *node, struct str set)
{
    long from, step, to;
    size_t i = 0;
    if (!read_number(set, &i, &from) || !read_number(set, &i, &step) ||
        !read_number(set, &i, &to) || step == 0) {
        run_once(r, node, 1);
        return;
    }
    if (step > 0 ? from > to : from < to) { /* never runs: read it all the same */
        run_once(r, node, 1);
        return;
    }
    for (long value = from; step > 0 ? value <= to : value >= to; value += step) {
        bool last = step > 0 ? value + step > to : value + step < to;
        if (!may_repeat(r, node)) {
            run_once(r, node, 1);
            return;
        }
        char room[STR_NUMBER_ROOM];
        struct str text = arena_copy(r->arena, str_of_number(value, room));
        run_body(r, node, &text, 1, last);
    }
}

static void run_words(struct cmd_reader *r, struct cmd_node *node, const struct cmd_text *set)
{
    size_t i = cmd_skip_blanks(set, 0);
    if (i >= set->n) {
        run_once(r, node, 1);
        return;
    }
    while (i < set->n) {
        size_t end = cmd_token_end(set, i);
        struct str value = str_slice(cmd_str(set), i, end);
        i = cmd_skip_blanks(set, end);
        if (has_wildcard(value)) {
            run_once(r, node, 1);
            continue;
        }
        if (!may_repeat(r, node)) {
            run_once(r, node, 1);
            return;
        }
        run_body(r, node, &value, 1, i >= set->n);
    }
}

static void read_tokens(struct for_options *o, struct str spec)
{
    memset(o->tokens, 0, sizeof o->tokens);
    o->token_count = 0;
    o->rest = false;
    size_t i = 0;
    while (i < spec.n) {
        long from, to;
        if (spec.p[i] == '*') {
            o->rest = true;
            i++;
        } else if (read_number(spec, &i, &from)) {
            to = from;
            if (i < spec.n && spec.p[i] == '-') {
                i++;
                read_number(spec, &i, &to);
            }
            for (long k = from; k <= to && k > 0 && k <= 31; k++) {
                o->token_count += !o->tokens[k];
                o->tokens[k] = true;
            }
        } else {
            i++;
        }
    }
}

static struct for_options read_options(struct str text)
{
    struct for_options o = {.delims = STR(" \t"), .eol = ';', .token_count = 1};
    o.tokens[1] = true;
    if (text.n && text.p[0] == '"')
        text = str_slice(text, 1, text.p[text.n - 1] == '"' ? text.n - 1 : text.n);
    size_t i = 0;
    while (i < text.n) {
        if (text.p[i] == ' ') {
            i++;
            continue;
        }
        struct str rest = str_from(text, i);
        size_t end = str_find_char(text, ' ', i);
        if (str_startsi(rest, STR("tokens="))) {
            size_t from = i + 7;
            while (from < text.n && text.p[from] == ' ')
                from++;
            end = str_find_char(text, ' ', from);
            read_tokens(&o, str_slice(text, from, end));
        } else if (str_startsi(rest, STR("delims="))) {
            /* a blank belongs to them only at the end */
            size_t stop = i + 7;
            while (stop < text.n && text.p[stop] != ' ')
                stop++;
            if (str_trim(str_from(text, stop)).n == 0)
                stop = text.n;
            o.delims = str_slice(text, i + 7, stop);
            end = stop;
        } else if (str_startsi(rest, STR("eol="))) {
            o.eol = rest.n > 4 ? rest.p[4] : 0;
            end = i + 5;
        } else if (str_startsi(rest, STR("skip="))) {
            long skip;
            end = i + 5;
            if (read_number(text, &end, &skip) && skip > 0)
                o.skip = (unsigned)skip;
        } else if (str_startsi(rest, STR("usebackq"))) {
            o.usebackq = true;
        }
        i = end;
    }
    return o;
}

/* Binds the tokens of one line and runs the body. */
static void run_line(struct cmd_reader *r, struct cmd_node *node, const struct for_options *o,
                     struct str line, bool last)
{
    struct str values[32];
    unsigned count = 0, number = 0;
    size_t i = 0;
    bool unknown = false;
    while (i < line.n && count < 31) {
        while (i < line.n && str_has_char(o->delims, line.p[i]))
            i++;
        if (i >= line.n)
            break;
        size_t start = i;
        while (i < line.n && !str_has_char(o->delims, line.p[i]))
            i++;
        number++;
        unknown |= str_has_char(str_slice(line, start, i), GUARD_HOLE);
        bool all = o->delims.n == 0;
        if (number <= 31 && o->tokens[number])
            values[count++] = unknown && !all ? STR("\xFF") : str_slice(line, start, i);
        if (o->rest && count == o->token_count) {
            while (i < line.n && str_has_char(o->delims, line.p[i]))
                i++;
            values[count++] = str_from(line, i);
            break;
        }
    }
    if (o->token_count == 0 && o->rest) {
        values[0] = line;
        count = 1;
    }
    while (count < o->token_count + o->rest && count < 31)
        values[count++] = unknown ? STR("\xFF") : STR("");
    run_body(r, node, values, count, last);
}

static void run_lines(struct cmd_reader *r, struct cmd_node *node, const struct for_options *o,
                      struct str text)
{
    size_t i = 0;
    bool any = false;
    unsigned skip = o->skip;
    while (i < text.n) {
        size_t end = str_find_char(text, '\n', i);
        struct str line = str_slice(text, i, end);
        i = end + 1;
        if (skip) {
            skip--;
            continue;
        }
        if (line.n == 0 || (o->eol && line.p[0] == o->eol))
            continue;
        if (!may_repeat(r, node)) {
            any = false;
            break;
        }
        any = true;
        run_line(r, node, o, line, i >= text.n);
    }
    if (!any)
        run_once(r, node, o->token_count + o->rest);
}

/* The output of the command of for /f, as far as it is known without running it. */
static struct str command_output(struct cmd_reader *r, struct word code)
{
    struct cmd_reader inner = {
        .g = r->g, .arena = r->arena, .source = code.text, .delayed = false, .vars = r->vars};
    struct cmd_node *list = cmd_parse_unit(&inner);
    if (!list || inner.next < inner.source.n)
        return STR("\xFF\n");
    struct cmd_node all = {.kind = CMD_BLOCK, .body = list};
    return cmd_output(&inner, &all);
}

static void run_file(struct cmd_reader *r, struct cmd_node *node, const struct cmd_text *set)
{
    struct for_options o = read_options(cmd_str(&node->left));
    size_t from = 0, to = set->n;
    while (from < to && cmd_is_blank(set->p[from]))
        from++;
    while (to > from && cmd_is_blank(set->p[to - 1]))
        to--;
    char quote = to > from + 1 && set->p[from] == set->p[to - 1] ? set->p[from] : 0;
    if (quote == (o.usebackq ? '`' : '\'')) {
        struct word code = {.text = str_slice(cmd_str(set), from + 1, to - 1),
                            .start = set->at[from],
                            .end = set->at[to - 1] + 1};
        if (code.end < code.start)
            code.end = code.start;
        code.text = cmd_strip_quotes(r->g, code.text, false);
        guard_nested(r->g, GUARD_CMD, code);
        run_lines(r, node, &o, command_output(r, code));
    } else if (quote == (o.usebackq ? '\'' : '"')) {
        run_lines(r, node, &o, str_slice(cmd_str(set), from + 1, to - 1));
    } else {
        run_once(r, node, o.token_count + o.rest);
    }
}

void cmd_run_for(struct cmd_reader *r, struct cmd_node *node)
{
    struct cmd_text set = cmd_expand_late(r, &node->text);
    switch (node->switches) {
    case 'l': run_numbers(r, node, cmd_str(&set)); break;
    case 'f': run_file(r, node, &set); break;
    case 'r':
    case 'd': run_once(r, node, 1); break;
    default: run_words(r, node, &set); break;
    }
}
