/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that start the program named in their arguments: env, nohup, timeout, xargs … */
#include "guard/judges/judges.h"
#include "guard/names.h"
#include "guard/state.h"

#define WRAPPER_UNIX(name, options, skip, flags) UNIX_ROW(WRAPPER(name, options, skip, flags))

enum { WRAP_ASSIGNS = 1, WRAP_SHELL = 2, WRAP_VERB = 4 };

static const struct wrapper_pool {
#define WRAPPER(name, options, skip, flags) char ROW(n)[sizeof name], ROW(o)[sizeof options];
#include "guard/tables/wrappers.def"
#undef WRAPPER
} wrapper_pool = {
#define WRAPPER(name, options, skip, flags) name, options,
#include "guard/tables/wrappers.def"
#undef WRAPPER
};

static const struct wrapper {
    uint16_t name, value_options;
    uint8_t skip, flags;
} wrappers[] = {
#define WRAPPER(name, options, skip, flags) \
    {PLACE(wrapper_pool, ROW(n)), PLACE(wrapper_pool, ROW(o)), skip, flags},
#include "guard/tables/wrappers.def"
#undef WRAPPER
};

bool is_wrapper(struct str name)
{
    return NAME_KNOWN(wrapper_pool, wrappers, name);
}

size_t wrapped_program(const struct guard_call *call, size_t from, struct str value_options)
{
    size_t i = from;
    for (; i < call->count; i++) {
        struct str arg = call->words[i].text;
        if (arg.n < 2 || (arg.p[0] != '-' && arg.p[0] != '+'))
            return i;
        if (name_is_one_of(arg, value_options) && !str_has_char(arg, '='))
            i++;
    }
    return i;
}

/* null: only a zero ends an item, not blanks and lines. */
static bool xargs_ends(char c, bool null)
{
    return c == 0 || (!null && (c == ' ' || c == '\t' || c == '\n'));
}

static bool xargs_by_null(const struct guard_call *call, size_t program)
{
    for (size_t i = 1; i < program; i++)
        if (name_is_one_of(call->words[i].text, STR("-0|--null|-d|--delimiter")) ||
            str_starts(call->words[i].text, STR("-d")) ||
            str_starts(call->words[i].text, STR("-0")))
            return true;
    return false;
}

/* The text that xargs -I replaces by what it reads; "" without that option. */
static struct str xargs_mark(const struct guard_call *call, size_t program)
{
    for (size_t i = 1; i < program; i++) {
        struct str arg = call->words[i].text;
        if (str_eq(arg, STR("-I")) || str_eq(arg, STR("--replace")))
            return i + 1 < program ? call->words[i + 1].text : STR("{}");
        if (str_eq(arg, STR("-i")))
            return STR("{}");
        if (str_starts(arg, STR("-I")))
            return str_from(arg, 2);
    }
    return STR("");
}

/* xargs appends what it reads: the program is judged with its input as the last arguments. */
static void judge_xargs(struct guard *g, const struct guard_call *call, size_t program)
{
    enum { MOST_ITEMS = 64 };
    if (program >= call->count)
        return;
    struct word item = word_unknown(call->words[0].start, call->words[0].end);
    if (call->input.text.p) {
        item = call->input;
        item.text = str_trim(call->input.text);
    }
    size_t count = call->count - program, own = count;
    struct word *words = ARENA_ARRAY(guard_arena(g), count + MOST_ITEMS, struct word);
    if (!words) {
        guard_limit(g, call->words[0]);
        return;
    }
    memcpy(words, call->words + program, count * sizeof *words);
    struct str mark = xargs_mark(call, program);
    for (size_t j = 0; mark.n && j < own; j++)
        if (str_eq(words[j].text, mark))
            words[j] = item;
    bool null = xargs_by_null(call, program);
    for (size_t from = 0, end; from < item.text.n && count < own + MOST_ITEMS; from = end + 1) {
        for (end = from; end < item.text.n && !xargs_ends(item.text.p[end], null); end++)
            ;
        words[count] = item;
        words[count].text = str_slice(item.text, from, end);
        count += end > from;
    }
    guard_program(g, &(struct guard_call){.from = call->from, .words = words, .count = count});
}

/* NAME=value in front of the program, from i on; where they end. */
static size_t judge_assignments(struct guard *g, const struct guard_call *call, size_t i)
{
    for (; i < call->count && str_has_char(call->words[i].text, '='); i++) {
        struct word value = call->words[i];
        size_t equals = str_find_char(value.text, '=', 0);
        value.text = str_from(value.text, equals + 1);
        guard_variable(g, str_slice(call->words[i].text, 0, equals), value);
    }
    return i;
}

/* strace -o '|command': output that goes into a pipe. */
static void judge_output_pipe(struct guard *g, const struct guard_call *call, size_t program)
{
    for (size_t k = 1; k < program && k < call->count; k++) {
        struct word command = call->words[k];
        if (str_starts(command.text, STR("-o")))
            command.text = str_from(command.text, 2);
        else if (str_starts(command.text, STR("--output=")))
            command.text = str_from(command.text, 9);
        bool output = command.text.n < call->words[k].text.n ||
                      name_is_one_of(call->words[k - 1].text, STR("-o|--output"));
        if (!output || command.text.n == 0 || !ascii_is_in(command.text.p[0], "|!"))
            continue;
        command.text = str_from(command.text, 1);
        guard_nested(g, GUARD_BASH, command);
    }
}

/* The program of a wrapper, in the folder that the wrapper's options name. */
static void judge_wrapped(struct guard *g, const struct guard_call *call,
                          const struct wrapper *wrapper, size_t program)
{
    struct str folder = guard_folder(g);
    bool changes = !str_eqi(name_at(&wrapper_pool, wrapper->name), STR("doas"));
    for (size_t k = 1; changes && k < program && k < call->count; k++)
        if (str_starts(call->words[k].text, STR("--chdir=")))
            guard_change_folder(g, str_from(call->words[k].text, 8));
        else if (k + 1 < program && name_is_one_of(call->words[k].text, STR("-C|--chdir|-D")))
            guard_change_folder(g, call->words[k + 1].text);
    if ((wrapper->flags & WRAP_SHELL) && program < call->count &&
        str_has_char(call->words[program].text, ' '))
        guard_nested(g, GUARD_BASH, call->words[program]);
    else
        judge_rest(g, call, program);
    guard_set_folder(g, folder);
}

void judge_wrapper(struct guard *g, const struct guard_call *call, struct str name)
{
    const struct wrapper *wrapper = &wrappers[NAME_ROW(wrapper_pool, wrappers, name)];
    struct str options = name_at(&wrapper_pool, wrapper->value_options);
    size_t i = wrapped_program(call, 1, options);
    if (wrapper->flags & WRAP_ASSIGNS)
        i = judge_assignments(g, call, i);
    if ((wrapper->flags & WRAP_VERB) &&
        !(i < call->count &&
          name_is_one_of(call->words[i].text, STR("run|exec|x|tool|shell|enter"))))
        return;
    for (unsigned skip = wrapper->skip; skip > 0 && i < call->count; skip--)
        i = wrapped_program(call, i + 1, options);
    judge_output_pipe(g, call, i);
    if (str_eqi(name_at(&wrapper_pool, wrapper->name), STR("xargs")))
        judge_xargs(g, call, i);
    else
        judge_wrapped(g, call, wrapper, i);
}
