/* SPDX-License-Identifier: Apache-2.0 */
/* Variables of cmd: %NAME% before a line is parsed, loop variables and !NAME! before it runs. */
#include "guard/cmd/cmd.h"

bool cmd_reserve(struct cmd_reader *r, struct cmd_text *t, size_t more, uint32_t at)
{
    if (t->n + more > t->capacity) {
        size_t capacity = t->capacity ? t->capacity * 2 : 16;
        if (capacity < t->n + more)
            capacity = t->n + more;
        char *p = arena_alloc(r->arena, capacity);
        uint32_t *places = ARENA_ARRAY(r->arena, capacity, uint32_t);
        if (!p || !places) {
            guard_limit(r->g, word_unknown(at, at));
            return false;
        }
        if (t->n) {
            memcpy(p, t->p, t->n);
            memcpy(places, t->at, t->n * sizeof *places);
        }
        t->p = p;
        t->at = places;
        t->capacity = capacity;
    }
    return true;
}

bool cmd_put_part(struct cmd_reader *r, struct cmd_text *t, const struct cmd_text *from,
                  size_t begin, size_t end)
{
    size_t n = end - begin;
    if (n == 0)
        return true;
    if (!cmd_reserve(r, t, n, from->at[begin]))
        return false;
    memcpy(t->p + t->n, from->p + begin, n);
    memcpy(t->at + t->n, from->at + begin, n * sizeof *t->at);
    t->n += n;
    return true;
}

bool cmd_put_str(struct cmd_reader *r, struct cmd_text *t, struct str s, uint32_t at)
{
    if (!cmd_reserve(r, t, s.n, at))
        return false;
    for (size_t i = 0; i < s.n; i++) {
        t->p[t->n] = s.p[i];
        t->at[t->n++] = at;
    }
    return true;
}

struct cmd_text cmd_part(const struct cmd_text *t, size_t from, size_t to)
{
    if (to > t->n)
        to = t->n;
    if (from >= to)
        return (struct cmd_text){0};
    return (struct cmd_text){t->p + from, t->at + from, to - from, to - from};
}

size_t cmd_skip_blanks(const struct cmd_text *t, size_t from)
{
    while (from < t->n && cmd_is_blank(t->p[from]))
        from++;
    return from;
}

size_t cmd_token_end(const struct cmd_text *t, size_t from)
{
    static const bool ends[256] = {[' '] = true, ['\t'] = true, [','] = true,  [';'] = true,
                                   ['='] = true, ['\v'] = true, ['\f'] = true, ['"'] = true};
    for (; from < t->n; from++) {
        if (!ends[(unsigned char)t->p[from]])
            continue;
        if (t->p[from] != '"')
            break;
        from = str_find_char(cmd_str(t), '"', from + 1);
    }
    return from < t->n ? from : t->n;
}

struct word cmd_word(struct cmd_reader *r, const struct cmd_text *t, size_t from, size_t to)
{
    if (to > t->n)
        to = t->n;
    if (from >= to)
        return (struct word){.text = STR("")};
    struct word w = {.start = t->at[from], .end = t->at[to - 1] + 1};
    if (w.end < w.start)
        w.end = w.start;
    w.text = (struct str){t->p + from, to - from};
    if (!str_has_char(w.text, '"'))
        return w;
    char *p = arena_alloc(r->arena, to - from);
    if (!p) {
        guard_limit(r->g, w);
        return word_unknown(w.start, w.end);
    }
    size_t n = 0;
    for (size_t i = from; i < to; i++)
        if (t->p[i] != '"')
            p[n++] = t->p[i];
    w.text = (struct str){p, n};
    w.quoted = true;
    return w;
}

/* An empty text with room for a copy of s, charged to the expansion budget. */
static bool start_copy(struct cmd_reader *r, struct cmd_text *out, struct str s)
{
    if ((r->loops || r->retries) && !guard_spend(r->g, s.n))
        return false;
    return cmd_reserve(r, out, s.n + 16, 0);
}

/* ---- values ---- */

struct var *cmd_variable(struct cmd_reader *r, struct str name)
{
    struct var *var = vars_find(&r->vars, name);
    if (var)
        return var;
    struct str value;
    struct var_state state = {.unknown = true};
    if (guard_environment(name, &value))
        state = vars_one(&r->vars, value);
    return vars_make(&r->vars, name, state);
}

/* ~start,length as in %VAR:~-3,2%; false if it is none. */
static bool slice_of(struct str value, struct str spec, struct str *out)
{
    long long number[2] = {0, 0};
    unsigned count = 0;
    size_t i = 0;
    for (; count < 2; count++) {
        bool negative = false, any = false;
        while (i < spec.n && (spec.p[i] == ' ' || spec.p[i] == '+'))
            i++;
        if (i < spec.n && spec.p[i] == '-') {
            negative = true;
            i++;
        }
        for (; i < spec.n && ascii_is_digit(spec.p[i]) && number[count] < 1000 * 1000 * 100; i++) {
            number[count] = number[count] * 10 + (spec.p[i] - '0');
            any = true;
        }
        while (i < spec.n && spec.p[i] == ' ')
            i++;
        if (!any && count == 0 && i < spec.n && spec.p[i] != ',')
            return false;
        if (negative)
            number[count] = -number[count];
        if (i >= spec.n || spec.p[i] != ',') {
            count++;
            break;
        }
        i++;
    }
    long long size = (long long)value.n;
    long long from = number[0] < 0 ? size + number[0] : number[0];
    if (from < 0)
        from = 0;
    if (from > size)
        from = size;
    long long to = size;
    if (count == 2)
        to = number[1] < 0 ? size + number[1] : from + number[1];
    if (to > size)
        to = size;
    *out = str_slice(value, (size_t)from, to < from ? (size_t)from : (size_t)to);
    return true;
}

/* x=y as in %VAR:x=y%, without case; *x replaces all up to the first x. */
static struct str replace_in(struct cmd_reader *r, struct str value, struct str from, struct str to)
{
    bool up_to = from.n > 1 && from.p[0] == '*';
    if (up_to)
        from = str_from(from, 1);
    if (from.n == 0 || !guard_spend(r->g, value.n + 1))
        return value;
    size_t hits = 0;
    for (size_t i = 0; i + from.n <= value.n;) {
        size_t hit = str_findi(value, from, i);
        if (hit >= value.n)
            break;
        hits++;
        i = hit + from.n;
        if (up_to)
            break;
    }
    if (hits == 0)
        return value;
    if (!guard_spend(r->g, hits * to.n))
        return value;
    char *p = arena_alloc(r->arena, value.n + hits * to.n + 1);
    if (!p)
        return STR("\xFF");
    size_t n = 0, i = 0;
    while (hits--) {
        size_t hit = str_findi(value, from, i);
        if (!up_to) {
            memcpy(p + n, value.p + i, hit - i);
            n += hit - i;
        }
        if (to.n)
            memcpy(p + n, to.p, to.n);
        n += to.n;
        i = hit + from.n;
    }
    memcpy(p + n, value.p + i, value.n - i);
    n += value.n - i;
    return (struct str){p, n};
}

/* The value of NAME or NAME:modifier; p NULL if the variable is not known to have one. */
static struct str value_of(struct cmd_reader *r, struct str inside)
{
    size_t colon = str_find_char(inside, ':', 1);
    struct str name = str_slice(inside, 0, colon);
    struct var *var = cmd_variable(r, name);
    if (!var)
        return STR("\xFF");
    struct var_state state = var->state;
    if (state.count > 1 || (state.count == 1 && state.unknown)) {
        if (!r->ambiguous)
            r->ambiguous = var;
        return STR("\xFF");
    }
    if (state.count == 0)
        return STR_NONE;
    struct str value = state.values[0];
    if (colon >= inside.n)
        return value;
    struct str modifier = str_from(inside, colon + 1);
    struct str out;
    if (str_has_char(value, GUARD_HOLE))
        return STR("\xFF");
    if (modifier.n && modifier.p[0] == '~')
        return slice_of(value, str_from(modifier, 1), &out) ? out : value;
    size_t equals = str_find_char(modifier, '=', 1);
    if (equals >= modifier.n)
        return value;
    return replace_in(r, value, str_slice(modifier, 0, equals), str_from(modifier, equals + 1));
}

/* ---- %NAME% ---- */

static bool is_name(struct str s)
{
    static const bool never[256] = {
        ['&'] = true, ['|'] = true,  ['<'] = true, ['>'] = true,  ['^'] = true,
        ['"'] = true, ['@'] = true,  [';'] = true, [','] = true,  ['='] = true,
        [' '] = true, ['\t'] = true, ['/'] = true, ['\\'] = true, ['\''] = true,
        ['`'] = true, ['*'] = true,  ['?'] = true, ['!'] = true};
    if (s.n == 0 || s.n > 256 || s.p[0] == '(' || s.p[0] == ')')
        return false;
    for (size_t i = 0; i < s.n; i++)
        if (never[(unsigned char)s.p[i]])
            return false;
    return true;
}

/* The end of %~dpnx1 or %1 or %* of a batch file at i (after the %), or 0. */
static size_t argument_end(struct str s, size_t i)
{
    if (i < s.n && (ascii_is_digit(s.p[i]) || s.p[i] == '*'))
        return i + 1;
    if (i >= s.n || s.p[i] != '~')
        return 0;
    size_t limit = i + 16 < s.n ? i + 16 : s.n;
    for (i++; i < limit && ascii_is_alpha(s.p[i]); i++)
        ;
    if (i < limit && s.p[i] == '$') {
        i = str_find_char(str_slice(s, 0, limit), ':', i) + 1;
        if (i > limit)
            return 0;
    }
    return i < limit && ascii_is_digit(s.p[i]) ? i + 1 : 0;
}

static struct str modify(struct cmd_reader *r, struct str value, struct str modifiers);

/* The value of an argument of a batch file. One that is not known is a hole; a folder ends in a
   backslash, so that the name of a program behind it stays readable. */
static struct str argument_value(struct cmd_reader *r, struct str spec)
{
    size_t index = (size_t)(spec.p[spec.n - 1] - '0'); /* of * it is larger than all others */
    bool folder = spec.n > 2 && spec.p[0] == '~' && ascii_lower(spec.p[spec.n - 2]) == 'p';
    if (!r->arguments.known || index == 0)
        return folder ? STR("\xFF\\") : STR("\xFF");
    if (spec.p[0] == '*')
        return r->arguments.all;
    struct str value = index <= r->arguments.count ? r->arguments.values[index - 1] : STR("");
    return spec.p[0] == '~' && value.n ? modify(r, value, str_slice(spec, 1, spec.n - 1)) : value;
}

/*
 * At a % in s: 0 if it is a plain %, else the length of what it replaces and its value. Where a
 * variable may or may not be set (on the command line an unset one stays as it is, in a file it
 * vanishes), the value is a hole; a name that is not in use anywhere is taken as unset.
 */
static size_t expand_percent(struct cmd_reader *r, struct str s, size_t i, struct str *value)
{
    if (r->batch) {
        if (i + 1 < s.n && s.p[i + 1] == '%') {
            *value = STR("%");
            return 2;
        }
        size_t end = argument_end(s, i + 1);
        if (end) {
            *value = argument_value(r, str_slice(s, i + 1, end));
            return end - i;
        }
    }
    size_t close = i + 1 < s.n && s.p[i + 1] == '%' ? s.n : str_find_char(s, '%', i + 1);
    if (close >= s.n)
        return 0;
    struct str inside = str_slice(s, i + 1, close);
    struct str name = str_slice(inside, 0, str_find_char(inside, ':', 1));
    if (!is_name(name)) {
        *value = STR("");
        return r->batch ? close + 1 - i : 0;
    }
    if (!r->batch && (name.n == 1 || name.p[0] == '~' || ascii_is_digit(name.p[0])) &&
        !vars_find(&r->vars, name))
        return 0; /* a loop variable, which is not replaced here */
    *value = value_of(r, inside);
    if (!value->p) {
        *value = STR("\xFF");
        return r->batch ? close + 1 - i : 0; /* call may yet read it again */
    }
    return close + 1 - i;
}

/* Copies t, with its variables replaced; a run of plain text is copied at once. */
static void expand(struct cmd_reader *r, struct cmd_text *out, const struct cmd_text *t)
{
    struct str s = cmd_str(t);
    size_t plain = 0;
    for (size_t i = str_find_char(s, '%', 0); i < s.n;) {
        struct str value;
        size_t length = expand_percent(r, s, i, &value);
        if (length) {
            if ((value.n > length && !guard_spend(r->g, value.n)) ||
                !cmd_put_part(r, out, t, plain, i) || !cmd_put_str(r, out, value, t->at[i]))
                return;
            plain = i + length;
        }
        i = length ? plain : i + 1;
        if (i < s.n && s.p[i] != '%')
            i = str_find_char(s, '%', i);
    }
    cmd_put_part(r, out, t, plain, s.n);
}

/* A line of the source with its places. */
static void put_line(struct cmd_text *out, struct str line, size_t from)
{
    for (size_t i = 0; i < line.n; i++) {
        if (line.p[i] == '\r') /* cmd reads over it, in words, too */
            continue;
        bool no_break = line.p[i] == '\xC2' && i + 1 < line.n && line.p[i + 1] == '\xA0';
        i += no_break; /* for cmd a no-break space is a blank */
        out->p[out->n] = no_break ? ' ' : line.p[i];
        out->at[out->n++] = (uint32_t)(from + i);
    }
}

void cmd_expand_line(struct cmd_reader *r, struct cmd_text *out, size_t from, size_t to)
{
    struct str line = str_slice(r->source, from, to);
    struct cmd_text written = {0};
    bool varies = str_has_char(line, '%');
    struct cmd_text *room = varies ? &written : out;
    if (!cmd_reserve(r, room, line.n + 1, (uint32_t)from))
        return;
    put_line(room, line, from);
    if (varies && cmd_reserve(r, out, line.n + 1, (uint32_t)from))
        expand(r, out, &written);
}

struct cmd_text cmd_expand_again(struct cmd_reader *r, const struct cmd_text *t)
{
    struct cmd_text out = {0};
    if (!str_has_char(cmd_str(t), '%'))
        return *t;
    expand(r, &out, t);
    return out;
}

/* ---- loop variables and !NAME! ---- */

static const struct cmd_loop *find_loop(const struct cmd_reader *r, char name)
{
    for (const struct cmd_loop *loop = r->loops; loop; loop = loop->outer)
        if (loop->name == name)
            return loop;
    return NULL;
}

/* %~dpnxi: parts of a path; the folder is not known unless it is written out. */
static struct str modify(struct cmd_reader *r, struct str value, struct str modifiers)
{
    while (value.n && value.p[0] == '"')
        value = str_from(value, 1);
    while (value.n && value.p[value.n - 1] == '"')
        value.n--;
    if (modifiers.n == 0)
        return value;
    bool folder = false, name = false, ending = false;
    for (size_t i = 0; i < modifiers.n; i++) {
        char c = ascii_lower(modifiers.p[i]);
        folder |= c == 'd' || c == 'p' || c == 'f' || c == 's';
        name |= c == 'n' || c == 'f' || c == 's';
        ending |= c == 'x' || c == 'f' || c == 's';
        if (!ascii_is_in(c, "dpfsnx"))
            return STR("\xFF");
    }
    if (!guard_spend(r->g, value.n + 2))
        return STR("\xFF");
    size_t base = value.n;
    while (base > 0 && !ascii_is_in(value.p[base - 1], "\\/:"))
        base--;
    size_t dot = value.n;
    while (dot > base && value.p[dot - 1] != '.')
        dot--;
    dot = dot > base ? dot - 1 : value.n;
    char *p = arena_alloc(r->arena, value.n + 3);
    if (!p)
        return STR("\xFF");
    size_t n = 0;
    if (folder) {
        p[n++] = GUARD_HOLE;
        p[n++] = '\\';
    }
    if (name && dot > base) {
        memcpy(p + n, value.p + base, dot - base);
        n += dot - base;
    }
    if (ending && value.n > dot) {
        memcpy(p + n, value.p + dot, value.n - dot);
        n += value.n - dot;
    }
    return (struct str){p, n};
}

/* At a % in s: the length of a loop variable there, and its value; 0 if there is none. */
static size_t expand_loop(struct cmd_reader *r, struct str s, size_t i, struct str *value)
{
    size_t start = i++;
    if (i < s.n && s.p[i] == '%')
        i++;
    if (i >= s.n)
        return 0;
    const struct cmd_loop *loop;
    if (s.p[i] == '~') {
        size_t limit = i + 10 < s.n ? i + 10 : s.n, best = 0;
        for (size_t j = i + 1; j < limit; j++) {
            if (find_loop(r, s.p[j]))
                best = j;
            if (!ascii_is_alpha(s.p[j]) || !ascii_is_in(ascii_lower(s.p[j]), "dpfsnxatz"))
                break;
        }
        if (!best)
            return 0;
        loop = find_loop(r, s.p[best]);
        *value = modify(r, loop->value, str_slice(s, i + 1, best));
        return best + 1 - start;
    }
    loop = find_loop(r, s.p[i]);
    if (!loop)
        return 0;
    *value = loop->value;
    return i + 1 - start;
}

static struct cmd_text expand_loops(struct cmd_reader *r, const struct cmd_text *t)
{
    struct str s = cmd_str(t);
    if (!r->loops || !str_has_char(s, '%'))
        return *t;
    struct cmd_text out = {0};
    if (!start_copy(r, &out, s))
        return out;
    for (size_t i = 0; i < s.n;) {
        struct str value;
        size_t length = s.p[i] == '%' ? expand_loop(r, s, i, &value) : 0;
        if (!length) {
            size_t next = str_find_char(s, '%', i + 1);
            if (!cmd_put_part(r, &out, t, i, next))
                break;
            i = next;
            continue;
        }
        if (!guard_spend(r->g, value.n) || !cmd_put_str(r, &out, value, t->at[i]))
            break;
        i += length;
    }
    return out;
}

struct cmd_text cmd_expand_rest(struct cmd_reader *r, const struct cmd_text *t, bool keep)
{
    struct str s = cmd_str(t);
    if (r->batch || !str_has_char(s, '%'))
        return *t;
    struct cmd_text out = {0};
    if (!start_copy(r, &out, s))
        return out;
    size_t command_end = cmd_token_end(t, cmd_skip_blanks(t, 0)), plain = 0;
    for (size_t i = str_find_char(s, '%', 0); i < s.n;) {
        if (i + 1 < s.n && s.p[i + 1] == '%') {
            i++;
            continue;
        }
        size_t close = str_find_char(s, '%', i + 1);
        struct str inside = str_slice(s, i + 1, close);
        size_t argument = r->lines ? argument_end(s, i + 1) : 0;
        if (argument) { /* of a batch file that this text becomes */
            if (!cmd_put_part(r, &out, t, plain, i) || !cmd_put_str(r, &out, STR("\xFF"), t->at[i]))
                return out;
            plain = argument;
            i = str_find_char(s, '%', plain);
            continue;
        }
        if (close == s.n || !is_name(str_slice(inside, 0, str_find_char(inside, ':', 1)))) {
            i = close;
            continue;
        }
        /* after the command word a cmd /c may stand that inherits what was set here */
        struct str value = i >= command_end ? value_of(r, inside) : STR_NONE;
        if (!value.p && keep && i >= command_end)
            value = str_slice(s, i, close + 1);
        else if (!value.p)
            value = STR("\xFF");
        if (!guard_spend(r->g, value.n) || !cmd_put_part(r, &out, t, plain, i) ||
            !cmd_put_str(r, &out, value, t->at[i]))
            return out;
        plain = close + 1;
        i = str_find_char(s, '%', plain);
    }
    cmd_put_part(r, &out, t, plain, s.n);
    return out;
}

struct cmd_text cmd_expand_late(struct cmd_reader *r, const struct cmd_text *t)
{
    struct cmd_text text = expand_loops(r, t);
    struct str s = cmd_str(&text);
    if (!r->delayed || !str_has_char(s, '!'))
        return text;
    struct cmd_text out = {0};
    if (!start_copy(r, &out, s))
        return out;
    for (size_t i = 0; i < s.n; i++) {
        size_t plain = i;
        while (i < s.n && s.p[i] != '^' && s.p[i] != '!')
            i++;
        if (!cmd_put_part(r, &out, &text, plain, i) || i == s.n)
            break;
        if (s.p[i] == '^' && i + 1 < s.n) {
            i++; /* with a ! in the text, carets are read a second time */
        } else if (s.p[i] == '!') {
            size_t close = str_find_char(s, '!', i + 1);
            if (close >= s.n)
                continue; /* a single ! vanishes */
            struct str inside = str_slice(s, i + 1, close);
            if (inside.n) {
                struct str value = value_of(r, inside);
                if (!value.p)
                    value = is_name(str_slice(inside, 0, str_find_char(inside, ':', 1)))
                                ? STR("\xFF")
                                : STR("");
                if (!guard_spend(r->g, value.n) || !cmd_put_str(r, &out, value, text.at[i]))
                    break;
            }
            i = close;
            continue;
        }
        if (!cmd_put(r, &out, s.p[i], text.at[i]))
            break;
    }
    return out;
}
