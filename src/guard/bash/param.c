/* SPDX-License-Identifier: Apache-2.0 */
/* Variables of bash and the operators of ${…}. What is not constant is a hole. */
#include "base/glob.h"
#include "guard/bash/bash.h"
#include "guard/names.h"

enum { LONGEST_PATTERN_TEXT = 512, MAX_REFERENCES = 64 };

#define HOLE STR("\xFF")

struct str bash_concat(struct bash_reader *b, struct str x, struct str y)
{
    if (!guard_spend(b->g, x.n + y.n))
        return HOLE;
    char *p = arena_alloc(b->arena, x.n + y.n + 1);
    if (!p)
        return HOLE;
    if (x.n)
        memcpy(p, x.p, x.n);
    if (y.n)
        memcpy(p + x.n, y.p, y.n);
    return (struct str){p, x.n + y.n};
}

struct str bash_join(struct bash_reader *b, const struct str *values, size_t count, char separator)
{
    size_t size = 0;
    for (size_t i = 0; i < count; i++)
        size += values[i].n + 1;
    if (!guard_spend(b->g, size))
        return HOLE;
    char *p = arena_alloc(b->arena, size + 1);
    if (!p)
        return HOLE;
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        if (i)
            p[n++] = separator;
        if (values[i].n)
            memcpy(p + n, values[i].p, values[i].n);
        n += values[i].n;
    }
    return (struct str){p, n};
}

/* ---- variables ---- */

/* Values that every bash has, or that stand for one program wherever they are set. */
static bool well_known(struct str name, struct str *value)
{
    static const struct {
        struct str name, value;
    } known[] = {
#define VARIABLE(name, value) {{name, sizeof(name) - 1}, {value, sizeof(value) - 1}},
#include "guard/tables/bash_variables.def"
#undef VARIABLE
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (str_eq(name, known[i].name)) {
            *value = known[i].value;
            return true;
        }
    for (size_t i = 0; i < name.n; i++)
        if (name.p[i] >= 'a' && name.p[i] <= 'z')
            return false;
    return guard_environment(name, value);
}

struct var *bash_variable(struct bash_reader *b, struct str name)
{
    struct var *var = vars_find(&b->vars, name);
    if (var)
        return var;
    struct str value;
    struct var_state state = {.unknown = true};
    if (well_known(name, &value))
        state = vars_one(&b->vars, value);
    return vars_make(&b->vars, name, state);
}

static struct str array_name(struct bash_reader *b, struct str name)
{
    return bash_concat(b, name, STR("[@]"));
}

/* A name that refers to another one changes that. */
static void change_target(struct bash_reader *b, struct str name)
{
    for (const struct bash_reference *r = b->references; r; r = r->next)
        if (str_eq(r->name, name) && !str_eq(r->target, name))
            vars_assign(&b->vars, bash_variable(b, r->target), (struct var_state){.unknown = true});
}

static void set_state(struct bash_reader *b, struct str name, struct var_state state)
{
    struct var *var = bash_variable(b, name);
    vars_assign(&b->vars, var, bash_special_state(b, var, state));
    change_target(b, name);
}

void bash_refer(struct bash_reader *b, struct str name, struct str target)
{
    struct bash_reference *r = ARENA_NEW(b->arena, struct bash_reference);
    if (!r || b->reference_count++ >= MAX_REFERENCES) {
        guard_limit(b->g, (struct word){0});
        return;
    }
    *r = (struct bash_reference){b->references, name, target};
    b->references = r;
}

static void set_array(struct bash_reader *b, struct str name, struct var_state state)
{
    b->arrays = true;
    set_state(b, array_name(b, name), state);
}

/* The variable, and the array of this name if there is one. */
static void set_both(struct bash_reader *b, struct str name, struct var_state state)
{
    set_state(b, name, state);
    if (b->arrays && vars_find(&b->vars, array_name(b, name)))
        set_array(b, name, state);
}

void bash_set(struct bash_reader *b, struct str name, struct str value)
{
    set_both(b, name, vars_one(&b->vars, value));
}

void bash_set_unknown(struct bash_reader *b, struct str name)
{
    set_both(b, name, (struct var_state){.unknown = true});
}

/* One value, or a hole; notes a variable that may hold several. */
static struct str value_of(struct bash_reader *b, struct var *var)
{
    if (!var)
        return HOLE;
    if (vars_constant(var->state))
        return var->state.values[0];
    if (var->state.count && !b->ambiguous)
        b->ambiguous = var;
    return HOLE;
}

void bash_run_index(struct bash_reader *b, struct word text)
{
    size_t bracket = str_find_char(text.text, '[', 0);
    if (bracket == 0 || bracket >= text.text.n || !bash_is_name_char(text.text.p[bracket - 1]) ||
        str_find_char(text.text, ']', bracket) >= text.text.n)
        return;
    size_t tick = str_find_char(text.text, '`', bracket);
    if (str_find(text.text, STR("$("), bracket) < text.text.n ||
        str_find_char(text.text, '`', tick + 1) < text.text.n)
        guard_expanded(b->g, text);
}

static void assign_array(struct bash_reader *b, const struct bash_assign *a)
{
    struct bash_fields fields = {0};
    bool keyed = false;
    for (const struct bash_word *w = a->value; w; w = w->next) {
        keyed |= !w->quoted && w->parts && w->parts->kind == BASH_LITERAL && w->parts->text.n &&
                 w->parts->text.p[0] == '[';
        bash_expand(b, w, &fields);
    }
    struct str *values = ARENA_ARRAY(b->arena, fields.count + 1, struct str);
    if (!values || keyed) {
        bash_set_unknown(b, a->name);
        set_array(b, a->name, (struct var_state){.unknown = true});
        return;
    }
    for (size_t i = 0; i < fields.count; i++) {
        values[i] = fields.list[i].text;
        bash_run_index(b, fields.list[i]);
        if (str_has_char(values[i], BASH_ELEMENT))
            values[i] = HOLE;
    }
    struct str all = bash_join(b, values, fields.count, BASH_ELEMENT);
    if (a->append) {
        struct var *var = bash_variable(b, array_name(b, a->name));
        if (var && vars_constant(var->state) && var->state.values[0].n) {
            struct str old[2] = {var->state.values[0], all};
            all = bash_join(b, old, 2, BASH_ELEMENT);
        } else if (!var || !vars_constant(var->state)) {
            struct str old[2] = {HOLE, all};
            all = bash_join(b, old, 2, BASH_ELEMENT);
        }
    }
    set_array(b, a->name, vars_one(&b->vars, all));
    struct str first = str_slice(all, 0, str_find_char(all, BASH_ELEMENT, 0));
    set_state(b, a->name, vars_one(&b->vars, first));
}

/* x=$(command -v a || command -v b): one of two outputs, each kept as a value. */
static bool assign_either(struct bash_reader *b, const struct bash_assign *a)
{
    const struct bash_part *part = a->value ? a->value->parts : NULL;
    if (!part || part->kind != BASH_COMMAND || part->next || !part->list)
        return false;
    const struct bash_node *first = part->list, *second = first->next;
    if (!second || second->join != BASH_OR || second->next)
        return false;
    struct var_state state = {0};
    for (const struct bash_node *node = first; node; node = node->next) {
        struct str output = str_trim(bash_node_output(b, node, STR_NONE));
        state = vars_union(&b->vars, state, vars_one(&b->vars, output));
    }
    set_state(b, a->name, state);
    return true;
}

void bash_assign(struct bash_reader *b, const struct bash_assign *a)
{
    if (a->array) {
        assign_array(b, a);
        return;
    }
    if (a->index.n) { /* one element: the array as a whole is not followed any more */
        if (a->value && name_is_one_of(a->name, STR("BASH_CMDS|BASH_ALIASES|commands|functions|"
                                                    "aliases|galiases")))
            bash_add_alias(b, a->index, bash_expand_text(b, a->value));
        bash_set_unknown(b, a->name);
        set_array(b, a->name, (struct var_state){.unknown = true});
        return;
    }
    if (!a->append && assign_either(b, a))
        return;
    struct str value = bash_expand_text(b, a->value);
    if (a->append) {
        struct var *var = bash_variable(b, a->name);
        value = bash_concat(b, value_of(b, var), value);
    }
    bash_set(b, a->name, value);
    if (a->value)
        bash_run_index(
            b, (struct word){.text = value, .start = a->value->start, .end = a->value->end});
}

/* ---- patterns ---- */

static struct str remove_prefix(struct str value, struct str pattern, bool longest)
{
    for (size_t k = 0; k <= value.n; k++) {
        size_t n = longest ? value.n - k : k;
        if (glob_match(GLOB_BASH, pattern, str_slice(value, 0, n)))
            return str_from(value, n);
    }
    return value;
}

static struct str remove_suffix(struct str value, struct str pattern, bool longest)
{
    for (size_t k = 0; k <= value.n; k++) {
        size_t from = longest ? k : value.n - k;
        if (glob_match(GLOB_BASH, pattern, str_from(value, from)))
            return str_slice(value, 0, from);
    }
    return value;
}

/* The longest match at from, or SIZE_MAX. */
static size_t match_at(struct str value, struct str pattern, size_t from)
{
    for (size_t to = value.n; to > from; to--)
        if (glob_match(GLOB_BASH, pattern, str_slice(value, from, to)))
            return to;
    return SIZE_MAX;
}

static struct str replace(struct bash_reader *b, struct str value, struct str pattern,
                          struct str by, char mode)
{
    if (mode == '#' || mode == '%') {
        for (size_t k = 0; k <= value.n; k++) {
            if (mode == '#' && glob_match(GLOB_BASH, pattern, str_slice(value, 0, value.n - k)))
                return bash_concat(b, by, str_from(value, value.n - k));
            if (mode == '%' && glob_match(GLOB_BASH, pattern, str_from(value, k)))
                return bash_concat(b, str_slice(value, 0, k), by);
        }
        return value;
    }
    struct str out = STR("");
    size_t i = 0, copied = 0;
    while (i < value.n) {
        size_t end = match_at(value, pattern, i);
        if (end == SIZE_MAX) {
            i++;
            continue;
        }
        out = bash_concat(b, bash_concat(b, out, str_slice(value, copied, i)), by);
        i = copied = end;
        if (mode != '/')
            break;
    }
    return copied || out.n ? bash_concat(b, out, str_from(value, copied)) : value;
}

static bool read_number(struct str s, long *out)
{
    s = str_trim(s);
    if (s.n >= 2 && s.p[0] == '(' && s.p[s.n - 1] == ')')
        s = str_trim(str_slice(s, 1, s.n - 1));
    size_t i = s.n && s.p[0] == '-';
    if (i == s.n || s.n > 9)
        return false;
    long value = 0;
    for (; i < s.n; i++) {
        if (!ascii_is_digit(s.p[i]))
            return false;
        value = value * 10 + (s.p[i] - '0');
    }
    *out = s.p[0] == '-' ? -value : value;
    return true;
}

/* ${x:offset:length} */
static struct str slice(struct str value, struct str spec)
{
    size_t colon = str_find_char(spec, ':', 0);
    long offset, length, size = (long)value.n;
    if (!read_number(str_slice(spec, 0, colon), &offset)) {
        if (str_trim(str_slice(spec, 0, colon)).n)
            return HOLE;
        offset = 0;
    }
    if (offset < 0)
        offset += size;
    if (offset < 0 || offset > size)
        return STR("");
    long end = size;
    if (colon < spec.n) {
        if (!read_number(str_from(spec, colon + 1), &length))
            return HOLE;
        end = length < 0 ? size + length : offset + length;
    }
    if (end > size)
        end = size;
    return end > offset ? str_slice(value, (size_t)offset, (size_t)end) : STR("");
}

static struct str change_case(struct bash_reader *b, struct str value, char mode, bool all)
{
    struct str copy = bash_concat(b, value, STR(""));
    if (!copy.n || copy.n != value.n)
        return copy;
    char *p = (char *)copy.p;
    for (size_t i = 0; i < copy.n && (all || i == 0); i++) {
        if (mode == ',')
            p[i] = ascii_lower(p[i]);
        else if (p[i] >= 'a' && p[i] <= 'z')
            p[i] = (char)(p[i] - 32);
    }
    return copy;
}

/* ---- ${…} ---- */

static struct str apply(struct bash_reader *b, const struct bash_param *param, struct str value)
{
    if (str_has_char(value, GUARD_HOLE))
        return HOLE;
    char op = param->op[0];
    struct str argument = param->argument ? bash_expand_text(b, param->argument) : STR("");
    bool unknown = str_has_char(argument, GUARD_HOLE);
    switch (op) {
    case '#':
    case '%':
        if (unknown || value.n > LONGEST_PATTERN_TEXT || !guard_spend(b->g, value.n * argument.n))
            return HOLE;
        return op == '#' ? remove_prefix(value, argument, param->op[1])
                         : remove_suffix(value, argument, param->op[1]);
    case '/': {
        struct str by = param->replacement ? bash_expand_text(b, param->replacement) : STR("");
        if (unknown || value.n > LONGEST_PATTERN_TEXT || argument.n == 0 ||
            !guard_spend(b->g, value.n * (argument.n + by.n)))
            return HOLE;
        return replace(b, value, argument, by, param->op[1]);
    }
    case ':': return unknown ? HOLE : slice(value, argument);
    case '^':
    case ',': return argument.n ? HOLE : change_case(b, value, op, param->op[1] != 0);
    default: return HOLE;
    }
}

static bool is_default(const struct bash_param *param)
{
    char op = param->op[0] == ':' ? param->op[1] : param->op[0];
    return ascii_is_in(op, "-=+?") && (param->op[0] != ':' || param->op[1]);
}

/* ${x:-y} and its like. */
static struct str choose(struct bash_reader *b, const struct bash_param *param, struct var *var,
                         struct str value)
{
    char op = param->op[0] == ':' ? param->op[1] : param->op[0];
    if (var && var->state.count == 0 && var->state.unknown && !var->state.set && op != '?') {
        /* it may be unset: that case is judged too */
        struct var_state empty = vars_one(&b->vars, STR(""));
        empty.unknown = true;
        var->state = empty;
        value = value_of(b, var);
    }
    if (str_has_char(value, GUARD_HOLE))
        return op == '+' ? HOLE : value;
    if (op == '+')
        return value.n ? bash_expand_text(b, param->argument) : STR("");
    if (value.n || op == '?')
        return value;
    struct str other = bash_expand_text(b, param->argument);
    if (op == '=')
        bash_set(b, param->name, other);
    return other;
}

static struct bash_values one(struct str value)
{
    return (struct bash_values){.one = value};
}

static struct bash_values split_elements(struct bash_reader *b, struct str all)
{
    size_t count = 1;
    for (size_t i = 0; i < all.n; i++)
        count += all.p[i] == BASH_ELEMENT;
    struct str *values = ARENA_ARRAY(b->arena, count, struct str);
    if (!values || !guard_spend(b->g, all.n))
        return one(HOLE);
    size_t n = 0, i = 0;
    while (n < count) {
        size_t end = str_find_char(all, BASH_ELEMENT, i);
        values[n++] = str_slice(all, i, end);
        i = end + 1;
    }
    return (struct bash_values){.many = values, .count = all.n ? n : 0};
}

/* "${x[*]}" where the text says what stands between the elements. */
static struct bash_values joined(struct bash_reader *b, struct bash_values elements)
{
    struct var *ifs = vars_find(&b->vars, STR("IFS"));
    if (!ifs || !vars_constant(ifs->state) || !elements.many)
        return elements;
    struct str between = ifs->state.values[0], all = STR("");
    if (between.n)
        return one(bash_join(b, elements.many, elements.count, between.p[0]));
    for (size_t i = 0; i < elements.count; i++)
        all = bash_concat(b, all, elements.many[i]);
    return one(all);
}

static struct bash_values arguments_of(struct bash_reader *b, const struct bash_param *param)
{
    if (!b->arguments.known || param->length || param->op[0])
        return one(HOLE);
    if (str_eq(param->name, STR("*")))
        return one(bash_join(b, b->arguments.values, b->arguments.count, ' '));
    /* never NULL, so that no argument at all is no word at all */
    static struct str none[1];
    return (struct bash_values){.many =
                                    b->arguments.count ? (struct str *)b->arguments.values : none,
                                .count = b->arguments.count};
}

struct bash_values bash_param_values(struct bash_reader *b, const struct bash_param *param)
{
    struct str name = param->name;
    if (name.n == 0) /* the text ended here */
        return one(HOLE);
    if (str_eq(name, STR("@")) || str_eq(name, STR("*")))
        return arguments_of(b, param);
    if (name.n == 1 && ascii_is_in(name.p[0], "?$!-#"))
        return one(HOLE);
    bool many = str_eq(param->index, STR("@")) || str_eq(param->index, STR("*"));
    struct str value;
    struct var *var = NULL;
    if (ascii_is_digit(name.p[0]) && !(name.n == 1 && name.p[0] == '0')) {
        long k = 0;
        if (!b->arguments.known || !read_number(name, &k) || k < 1)
            value = HOLE;
        else
            value = (size_t)k <= b->arguments.count ? b->arguments.values[k - 1] : STR("");
    } else {
        if (str_eq(name, STR("PWD")) && !vars_find(&b->vars, name) && !param->op[0] &&
            !param->index.n && !param->length && !param->indirect)
            return one(guard_current(b->g));
        var = bash_variable(b, str_eq(name, STR("0")) ? STR("BASH_ARGV0") : name);
        if (param->index.n) {
            struct var *array = vars_find(&b->vars, array_name(b, name));
            if (array)
                var = array;
        }
        value = value_of(b, var);
    }
    if (param->indirect) {
        if (many || param->op[0] || str_has_char(value, GUARD_HOLE) || value.n == 0)
            return one(HOLE);
        value = value_of(b, bash_variable(b, value));
    }
    if (param->index.n && !str_has_char(value, GUARD_HOLE)) {
        struct bash_values elements = split_elements(b, value);
        long k;
        if (param->length)
            return one(HOLE);
        if (many && !param->op[0])
            return str_eq(param->index, STR("*")) ? joined(b, elements) : elements;
        if (many || !read_number(param->index, &k))
            return one(HOLE);
        if (k < 0)
            k += (long)elements.count;
        value = k >= 0 && (size_t)k < elements.count ? elements.many[k] : STR("");
    } else if (many && str_has_char(value, BASH_ELEMENT) && !param->length && !param->op[0]) {
        return split_elements(b, value);
    } else if (str_has_char(value, BASH_ELEMENT)) {
        value = HOLE;
    }
    if (param->length)
        return one(HOLE);
    if (is_default(param))
        return one(choose(b, param, var, value));
    if (param->op[0])
        return one(apply(b, param, value));
    return one(value);
}
