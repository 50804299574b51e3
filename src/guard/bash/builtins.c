/* SPDX-License-Identifier: Apache-2.0 */
/* Commands of bash itself: those that run text or other commands, and those that set variables. */
#include "guard/bash/bash.h"
#include "guard/names.h"

enum { MAX_ALIASES = 64 };

enum builtin_kind {
    HARMLESS = 0,
    CALLBACK,
    ALIAS,
    CD,
    COMMAND,
    DECLARE,
    EVAL,
    EXEC,
    GETOPTS,
    HASH,
    LEAVE,
    LET,
    POPD,
    PREFIX,
    PRINTF,
    READ,
    SET,
    SHIFT,
    SHOPT,
    SOURCE,
    TRAP,
    UNSET
};

static const struct builtin_pool {
#define BUILTIN(name, kind) char ROW(n)[sizeof name];
#include "guard/tables/bash_builtins.def"
#undef BUILTIN
} pool = {
#define BUILTIN(name, kind) name,
#include "guard/tables/bash_builtins.def"
#undef BUILTIN
};

static const struct {
    uint16_t name;
    uint8_t kind;
} builtins[] = {
#define BUILTIN(name, kind) {PLACE(builtin_pool, ROW(n)), kind},
#include "guard/tables/bash_builtins.def"
#undef BUILTIN
};

static bool is_option(struct str s)
{
    return s.n > 1 && s.p[0] == '-';
}

static void run_eval(struct bash_reader *b, const struct word *words, size_t count)
{
    size_t from = 1;
    while (from < count &&
           (str_eq(words[from].text, STR("--")) || str_eq(words[from].text, STR("eval"))))
        from++;
    if (from >= count)
        return;
    struct str *values = ARENA_ARRAY(b->arena, count, struct str);
    if (!values) {
        guard_limit(b->g, words[0]);
        return;
    }
    for (size_t i = from; i < count; i++)
        values[i - from] = words[i].text;
    struct word code = {.text = bash_join(b, values, count - from, ' '),
                        .start = words[from].start,
                        .end = words[count - 1].end};
    bash_run_text(b, code, STR("eval"));
}

static void run_cd(struct bash_reader *b, const struct word *words, size_t count)
{
    size_t i = 1;
    while (i < count && is_option(words[i].text))
        i++;
    bool elsewhere = i >= count || str_eq(words[i].text, STR("-")) ||
                     (words[i].text.n && words[i].text.p[0] == '~');
    bool home = i < count && str_starts(words[i].text, STR("~"));
    if (elsewhere) /* home, or where it was before; what lies below is still known by its names */
        guard_set_folder(b->g,
                         bash_concat(b, STR("\xFF"), home ? str_from(words[i].text, 1) : STR("")));
    else
        guard_change_folder(b->g, words[i].text);
}

static void run_exec(struct bash_reader *b, const struct word *words, size_t count,
                     struct word input)
{
    size_t i = 1;
    for (; i < count && is_option(words[i].text); i++) {
        if (str_eq(words[i].text, STR("--"))) {
            i++;
            break;
        }
        if (str_eq(words[i].text, STR("-a")))
            i++;
    }
    if (i < count)
        guard_program(
            b->g, &(struct guard_call){
                      .from = GUARD_BASH, .words = words + i, .count = count - i, .input = input});
}

static void run_command(struct bash_reader *b, const struct word *words, size_t count,
                        struct word input)
{
    size_t i = 1;
    for (; i < count && is_option(words[i].text); i++) {
        if (str_has_char(words[i].text, 'v') || str_has_char(words[i].text, 'V'))
            return;
        if (str_eq(words[i].text, STR("--"))) {
            i++;
            break;
        }
    }
    if (i < count)
        bash_run_words(b, words + i, count - i, input, true);
}

void bash_add_alias(struct bash_reader *b, struct str name, struct str value)
{
    struct bash_alias *alias = ARENA_NEW(b->arena, struct bash_alias);
    if (!alias || b->alias_count >= MAX_ALIASES) {
        guard_limit(b->g, (struct word){0});
        return;
    }
    *alias = (struct bash_alias){b->aliases, name, value};
    b->aliases = alias;
    b->alias_count++;
}

static void run_alias(struct bash_reader *b, const struct word *words, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        size_t equals = str_find_char(words[i].text, '=', 0);
        if (equals >= words[i].text.n)
            continue;
        struct word code = words[i];
        code.text = str_from(code.text, equals + 1);
        bash_add_alias(b, str_slice(words[i].text, 0, equals), code.text);
        if (!str_has_char(code.text, GUARD_HOLE))
            bash_run_text(b, code, STR("alias"));
    }
}

/* hash -p /path name */
static void run_hash(struct bash_reader *b, const struct word *words, size_t count)
{
    if (count == 4 && str_eq(words[1].text, STR("-p")))
        bash_add_alias(b, words[3].text, words[2].text);
}

/* declare "$1=value", builtin declare a=b, declare -a a='(x y)': to the parser these assign nothing,
   or a text. */
static void declare_computed(struct bash_reader *b, struct str name, struct str value, bool array,
                             bool local)
{
    struct var *var = bash_variable(b, name);
    bool same = var && vars_constant(var->state) && str_eq(var->state.values[0], value);
    bool list = value.n && value.p[0] == '(';
    if (str_has_char(name, GUARD_HOLE) || str_ends(name, STR("+")))
        return;
    if (list && array && same) {
        struct bash_assign element = {.name = name, .index = STR("x")};
        bash_assign(b, &element);
    } else if (!list && !same) {
        if (local && b->in_function)
            bash_save(b, name);
        bash_set(b, name, value);
    }
}

static void run_declare(struct bash_reader *b, const struct word *words, size_t count)
{
    bool reference = false, array = false;
    bool local = name_is_one_of(words[0].text, STR("declare|local|typeset"));
    for (size_t i = 1; i < count; i++) {
        struct str text = words[i].text;
        if (is_option(text)) {
            array |= str_has_char(text, 'a') || str_has_char(text, 'A');
            reference |= local && str_has_char(text, 'n');
            local = local && !str_has_char(text, 'g');
            continue;
        }
        size_t equals = str_find_char(text, '=', 0);
        struct str name = str_slice(text, 0, equals), target = str_from(text, equals + 1);
        if (reference && target.n && !str_has_char(target, GUARD_HOLE))
            bash_refer(b, name, target);
        if (reference)
            bash_set_unknown(b, name);
        else if (equals < text.n)
            declare_computed(b, name, target, array, local);
        else if (equals == text.n && text.n && str_eq(words[0].text, STR("local")) &&
                 !str_has_char(text, GUARD_HOLE))
            bash_set(b, text, STR(""));
    }
    bash_note_special(b, words, count);
}

static size_t find_separator(struct str line, struct str separators)
{
    size_t i = 0;
    while (i < line.n && !str_has_char(separators, line.p[i]))
        i++;
    return i;
}

/* Assigns the words of the input to the variables in order. */
static void read_into(struct bash_reader *b, const struct word *names, size_t count,
                      struct str input, struct str separators)
{
    struct str line = str_slice(input, 0, str_find_char(input, '\n', 0));
    bool blanks = !separators.p || str_has_char(separators, ' ');
    line = blanks ? str_trim(line) : line;
    for (size_t i = 0; i < count; i++) {
        bool last = i + 1 == count;
        size_t end = last ? line.n : find_separator(line, separators.p ? separators : STR(" \t"));
        struct word value = names[i];
        value.text = str_slice(line, 0, end);
        bash_set(b, names[i].text, value.text);
        bash_run_index(b, value);
        line = str_from(line, end < line.n ? end + 1 : end);
        line = blanks ? str_trim(line) : line;
    }
}

/* IFS of this command or of the shell; p NULL: the usual one. */
static bool separators_of(struct bash_reader *b, struct str *separators)
{
    struct var *var = vars_find(&b->vars, STR("IFS"));
    *separators = b->separators;
    if (!separators->p && var && !vars_constant(var->state))
        return false;
    if (!separators->p && var)
        *separators = var->state.values[0];
    return !separators->p || !str_has_char(*separators, GUARD_HOLE);
}

static void run_read(struct bash_reader *b, const struct word *words, size_t count,
                     struct word input)
{
    size_t i = 1;
    bool plain = str_eq(words[0].text, STR("read"));
    struct str valued = plain ? STR("dinNptu") : STR("dnOsuCc");
    for (; i < count && is_option(words[i].text); i++) {
        char last = words[i].text.p[words[i].text.n - 1];
        if (last == 'a') {
            plain = false;
            continue;
        }
        plain &= last == 'r';
        if (str_has_char(valued, last) && words[i].text.n == 2)
            i++;
    }
    if (i >= count)
        return;
    struct str separators;
    if (plain && b->loops == 0 && input.text.p && !str_has_char(input.text, GUARD_HOLE) &&
        separators_of(b, &separators)) {
        read_into(b, words + i, count - i, input.text, separators);
        return;
    }
    for (; i < count; i++) {
        struct bash_assign array = {.name = words[i].text, .index = STR("x")};
        bash_assign(b, &array);
    }
}

static void run_printf(struct bash_reader *b, const struct word *words, size_t count)
{
    if (count > 3 && str_eq(words[1].text, STR("-v")))
        bash_set(b, words[2].text, bash_printf(b, words + 3, count - 3));
}

static void run_set(struct bash_reader *b, const struct word *words, size_t count)
{
    size_t i = 1;
    while (i < count && !str_eq(words[i].text, STR("--"))) {
        if (words[i].text.n == 0 || !ascii_is_in(words[i].text.p[0], "-+"))
            break;
        if (str_eqi(words[i].text, STR("-o")) || str_eq(words[i].text, STR("+o")))
            i++;
        i++;
    }
    if (i >= count)
        return;
    if (str_eq(words[i].text, STR("--")))
        i++;
    struct str *values = ARENA_ARRAY(b->arena, count, struct str);
    if (!values) {
        guard_limit(b->g, words[0]);
        return;
    }
    for (size_t k = i; k < count; k++)
        values[k - i] = words[k].text;
    b->arguments = (struct bash_arguments){values, count - i, true};
}

static void run_shift(struct bash_reader *b, const struct word *words, size_t count)
{
    size_t by = 1;
    if (count > 1)
        by = words[1].text.n == 1 && ascii_is_digit(words[1].text.p[0])
                 ? (size_t)(words[1].text.p[0] - '0')
                 : SIZE_MAX;
    if (!b->arguments.known || by > b->arguments.count || b->loops) {
        b->arguments = (struct bash_arguments){0};
        return;
    }
    b->arguments.values += by;
    b->arguments.count -= by;
}

static void run_source(struct bash_reader *b, const struct word *words, size_t count,
                       struct word input)
{
    if (count < 2)
        return;
    if (bash_is_input(words[1].text) && input.text.p) {
        bash_run_text(b, input, STR("source"));
        return;
    }
    struct word script = words[1];
    if (guard_script_opens(b->g, &script))
        guard_callback(b->g, script);
    guard_script_as(b->g, words[1], GUARD_BASH);
}

static void run_trap(struct bash_reader *b, const struct word *words, size_t count)
{
    size_t i = 1;
    if (i < count && str_eq(words[i].text, STR("--")))
        i++;
    if (i + 1 >= count || words[i].text.n == 0 || words[i].text.p[0] == '-')
        return;
    /* a trap runs later: names in it that are not set yet are no secret */
    if (str_has_char(words[i].text, GUARD_HOLE)) {
        struct word code = words[i];
        guard_nested(b->g, GUARD_BASH, code);
        return;
    }
    /* It runs at any time, or never. */
    struct vars_fork fork;
    vars_fork_begin(&b->vars, &fork);
    bash_run_text(b, words[i], STR("trap"));
    vars_branch_end(&b->vars, &fork);
    vars_fork_end(&b->vars, &fork, false);
}

static void run_unset(struct bash_reader *b, const struct word *words, size_t count)
{
    bool functions = false;
    for (size_t i = 1; i < count; i++) {
        if (is_option(words[i].text)) {
            functions |= str_has_char(words[i].text, 'f');
            continue;
        }
        struct bash_function *f;
        if (functions && (f = bash_function_find(&b->defined, words[i].text)) != NULL)
            f->gone = true;
        size_t bracket = str_find_char(words[i].text, '[', 0);
        if (!functions && bracket < words[i].text.n) {
            struct bash_assign element = {.name = str_slice(words[i].text, 0, bracket),
                                          .index = STR("x")};
            bash_assign(b, &element);
        } else if (!functions && !str_has_char(words[i].text, GUARD_HOLE)) {
            bash_set(b, words[i].text, STR(""));
        }
        if (!functions)
            guard_unset(b->g, words[i].text);
    }
}

/* Names and numbers that these commands are given. */
static void run_indexes(struct bash_reader *b, const struct word *words, size_t count)
{
    for (size_t i = 1; i < count; i++)
        bash_run_index(b, words[i]);
}

/* mapfile -C code, complete -C code, bind -x keys:code, fc -e editor; enable -f loads a library. */
static void run_callback(struct bash_reader *b, const struct word *words, size_t count)
{
    for (size_t i = 1; i + 1 < count; i++) {
        bool fc = str_eq(words[0].text, STR("fc"));
        if (str_eq(words[i].text, STR("-C")) || (fc && str_eq(words[i].text, STR("-e")))) {
            guard_callback(b->g, words[i + 1]);
        } else if (str_eq(words[i].text, STR("-W")) || str_eq(words[i].text, STR("-P")) ||
                   str_eq(words[i].text, STR("-S"))) {
            guard_expanded(b->g, words[i + 1]);
        } else if (str_eq(words[i].text, STR("-x"))) {
            struct word code = words[i + 1];
            code.text = str_from(code.text, str_find_char(code.text, ':', 0) + 1);
            if (code.text.n > 1 && code.text.p[0] == '"')
                code.text = str_slice(code.text, 1, code.text.n - 1);
            guard_nested(b->g, GUARD_BASH, code);
        } else if (str_eq(words[i].text, STR("-f")) && str_eq(words[0].text, STR("enable"))) {
            guard_opaque_command(b->g, words[i + 1], STR("the library"));
        }
    }
    if (count > 1 && str_eq(words[0].text, STR("fc")) && str_eq(words[1].text, STR("-s")))
        guard_opaque_command(b->g, words[1], STR_NONE);
}

/* Options that change how the rest is read. */
static void run_shopt(struct bash_reader *b, const struct word *words, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        b->last_pipe |= str_eq(words[i].text, STR("lastpipe"));
        if (str_eq(words[i].text, STR("dotglob")) && !str_eq(words[1].text, STR("-u")))
            guard_find_dots(b->g);
    }
}

bool bash_builtin(struct bash_reader *b, const struct word *words, size_t count, struct word input)
{
    size_t row = NAME_ROW(pool, builtins, words[0].text);
    if (row == NAME_ROWS(builtins) || !str_eq(name_at(&pool, builtins[row].name), words[0].text))
        return false;
    enum builtin_kind kind = (enum builtin_kind)builtins[row].kind;
    if (kind != PRINTF && kind != EVAL && kind != ALIAS && !str_eq(words[0].text, STR("echo")))
        run_indexes(b, words, count);
    else if (count > 2 && str_eq(words[1].text, STR("-v"))) /* of printf */
        run_indexes(b, words, 3);
    switch (kind) {
    case HARMLESS: break;
    case CALLBACK: run_callback(b, words, count); break;
    case ALIAS: run_alias(b, words, count); break;
    case CD: run_cd(b, words, count); break;
    case POPD: guard_set_folder(b->g, STR("\xFF")); break;
    case COMMAND: run_command(b, words, count, input); break;
    case DECLARE: run_declare(b, words, count); break;
    case EVAL: run_eval(b, words, count); break;
    case EXEC: run_exec(b, words, count, input); break;
    case GETOPTS:
        if (count > 2)
            bash_set_unknown(b, words[2].text);
        break;
    case HASH: run_hash(b, words, count); break;
    case LEAVE:
        if (str_eq(words[0].text, STR("return")))
            b->left_function++;
        else
            b->left_loop++;
        break;
    case LET:
        for (size_t i = 1; i < count; i++)
            bash_set_unknown(b, str_slice(words[i].text, 0, str_find_char(words[i].text, '=', 0)));
        break;
    case PREFIX:
        if (count > 1)
            bash_run_words(b, words + 1, count - 1, input, true);
        break;
    case PRINTF: run_printf(b, words, count); break;
    case READ:
        run_callback(b, words, count);
        run_read(b, words, count, input);
        break;
    case SET: run_set(b, words, count); break;
    case SHIFT: run_shift(b, words, count); break;
    case SHOPT: run_shopt(b, words, count); break;
    case SOURCE: run_source(b, words, count, input); break;
    case TRAP: run_trap(b, words, count); break;
    case UNSET: run_unset(b, words, count); break;
    }
    return true;
}
