/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command lines of powershell.exe and pwsh: their options by any prefix that they accept, with
 * any dash or a slash, and the code or script that they name.
 */
#include "base/utf.h"
#include "guard/names.h"
#include "guard/powershell/fold.h"
#include "guard/powershell/powershell.h"

enum ps_option {
    OPTION_NONE = 0,
    OPTION_SWITCH, /* takes nothing */
    OPTION_VALUE,  /* takes the next argument */
    OPTION_COMMAND,
    OPTION_COMMAND_WITH_ARGS,
    OPTION_ENCODED,
    OPTION_FILE,
    OPTION_VERSION,
    OPTION_HELP
};

/* In the order in which PowerShell compares: name, shortest prefix that is accepted. */
static const struct {
    const char *name;
    uint8_t shortest;
    enum ps_option option;
} options[] = {
    {"version", 1, OPTION_VERSION},
    {"help", 1, OPTION_HELP},
    {"?", 1, OPTION_HELP},
    {"nologo", 3, OPTION_SWITCH},
    {"noninteractive", 4, OPTION_SWITCH},
    {"noexit", 3, OPTION_SWITCH},
    {"noprofileloadtime", 10, OPTION_SWITCH},
    {"noprofile", 3, OPTION_SWITCH},
    {"sshservermode", 3, OPTION_SWITCH},
    {"sta", 3, OPTION_SWITCH},
    {"mta", 3, OPTION_SWITCH},
    {"servermode", 1, OPTION_SWITCH},
    {"interactive", 1, OPTION_SWITCH},
    {"importsystemmodules", 2, OPTION_SWITCH},
    {"login", 1, OPTION_SWITCH},
    {"configurationname", 6, OPTION_VALUE},
    {"configurationfile", 14, OPTION_VALUE},
    {"custompipename", 3, OPTION_VALUE},
    {"commandwithargs", 8, OPTION_COMMAND_WITH_ARGS},
    {"cwa", 3, OPTION_COMMAND_WITH_ARGS},
    {"command", 1, OPTION_COMMAND},
    {"windowstyle", 1, OPTION_VALUE},
    {"file", 1, OPTION_FILE},
    {"executionpolicy", 2, OPTION_VALUE},
    {"ep", 2, OPTION_VALUE},
    {"encodedarguments", 8, OPTION_VALUE},
    {"ea", 2, OPTION_VALUE},
    {"encodedcommand", 1, OPTION_ENCODED},
    {"ec", 2, OPTION_ENCODED},
    {"inputformat", 2, OPTION_VALUE},
    {"if", 2, OPTION_VALUE},
    {"outputformat", 1, OPTION_VALUE},
    {"of", 2, OPTION_VALUE},
    {"settingsfile", 3, OPTION_VALUE},
    {"workingdirectory", 2, OPTION_VALUE},
    {"wd", 2, OPTION_VALUE},
    {"psconsolefile", 1, OPTION_VALUE},
    {"token", 2, OPTION_VALUE},
    {"utctimestamp", 2, OPTION_VALUE},
    {"removeworkingdirectorytrailingcharacter", 1, OPTION_SWITCH},
};

/* Without its dash or slash; p is NULL if it has none. */
static struct str option_name(struct str arg)
{
    arg = str_trim(arg);
    uint32_t pos = 0;
    uint32_t c = ps_char(arg, &pos);
    if (!ps_is_dash(c) && c != '/')
        return STR_NONE;
    uint32_t second = pos;
    if (c != '/' && ps_is_dash(ps_char(arg, &second)))
        pos = second;
    return str_from(arg, pos);
}

static enum ps_option find_option(struct str name)
{
    if (name.n && name.p[name.n - 1] == ':') /* -Command: text */
        name.n--;
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (name.n >= options[i].shortest && str_startsi(str_of(options[i].name), name))
            return options[i].option;
    return OPTION_NONE;
}

/* The words from an index on, joined by blanks, as one piece of code. */
static struct word join_words(struct guard *g, const struct guard_call *call, size_t from)
{
    struct ps_fold f = {.g = g, .arena = guard_arena(g), .steps = SIZE_MAX};
    struct word code = {
        .start = call->words[from].start, .end = call->words[call->count - 1].end, .quoted = true};
    if (from + 1 == call->count) {
        code.text = call->words[from].text;
        return code;
    }
    struct fold_buffer t = {0};
    for (size_t i = from; i < call->count; i++) {
        if (i > from)
            fold_add(&f, &t, STR(" "));
        fold_add(&f, &t, call->words[i].text);
    }
    code.text = fold_result(&t);
    return code;
}

static void read_input(struct guard *g, const struct guard_call *call)
{
    if (!call->input.text.p) {
        if (call->count > 1)
            guard_opaque_text(g, call->words[call->count - 1], name_leaf(call->words[0].text));
        return;
    }
    if (!word_known(call->input))
        guard_opaque_text(g, call->input, name_leaf(call->words[0].text));
    if (!str_eq(call->input.text, STR("\xFF")))
        guard_nested(g, GUARD_POWERSHELL, call->input);
}

static void read_command(struct guard *g, const struct guard_call *call, size_t from)
{
    if (from >= call->count)
        return;
    struct word code = join_words(g, call, from);
    if (str_eq(str_trim(code.text), STR("-"))) {
        read_input(g, call);
        return;
    }
    if (str_eq(str_trim(code.text), STR("\xFF"))) {
        guard_opaque_text(g, code, name_leaf(call->words[0].text));
        return;
    }
    guard_nested(g, GUARD_POWERSHELL, code);
}

/* -CommandWithArgs: the rest are $args of the code. */
static void read_command_with_args(struct guard *g, const struct guard_call *call, size_t at)
{
    if (at >= call->count)
        return;
    struct ps_fold f = {.g = g, .arena = guard_arena(g), .steps = SIZE_MAX};
    struct fold_buffer t = {0};
    fold_add(&f, &t, STR("& {"));
    fold_add(&f, &t, call->words[at].text);
    fold_add(&f, &t, STR("\n}"));
    for (size_t i = at + 1; i < call->count; i++) {
        fold_add(&f, &t, STR(" '"));
        for (size_t k = 0; k < call->words[i].text.n; k++)
            fold_add(&f, &t,
                     call->words[i].text.p[k] == '\'' ? STR("''")
                                                      : str_slice(call->words[i].text, k, k + 1));
        fold_add(&f, &t, STR("'"));
    }
    struct word code = call->words[at];
    code.end = call->words[call->count - 1].end;
    code.text = fold_result(&t);
    guard_nested(g, GUARD_POWERSHELL, code);
}

static void read_encoded(struct guard *g, const struct guard_call *call, size_t at)
{
    if (at >= call->count)
        return;
    struct word code = call->words[at];
    struct ps_fold f = {.g = g, .arena = guard_arena(g), .steps = 4 * code.text.n + 16};
    struct ps_value bytes, text, argument = value_string(str_trim(code.text));
    if (!word_known(code)) {
        guard_opaque_text(g, code, name_leaf(call->words[0].text));
        return;
    }
    fold_static(&f, STR("convert"), STR("frombase64string"), &argument, 1, &bytes);
    fold_static(&f, STR("encoding/unicode"), STR("getstring"), &bytes, 1, &text);
    if (text.kind != VALUE_STRING) {
        guard_opaque_text(g, code, name_leaf(call->words[0].text));
        return;
    }
    code.text = text.text;
    if (code.text.n)
        guard_nested(g, GUARD_POWERSHELL, code);
}

static void read_script(struct guard *g, const struct guard_call *call, size_t at)
{
    if (at >= call->count)
        return;
    struct word path = call->words[at];
    if (str_eq(path.text, STR("-"))) {
        read_input(g, call);
        return;
    }
    if (str_has_char(name_leaf(path.text), GUARD_HOLE)) {
        guard_opaque_command(g, path, STR_NONE);
        return;
    }
    if (!guard_script(g, path))
        guard_program(g,
                      &(struct guard_call){.words = call->words + at, .count = call->count - at});
}

void powershell_program(struct guard *g, const struct guard_call *call)
{
    bool core = str_startsi(name_leaf(call->words[0].text), STR("pwsh"));
    size_t i = 1;
    for (; i < call->count && !guard_stopped(g); i++) {
        struct str arg = str_trim(call->words[i].text);
        if (str_eq(arg, STR("-"))) {
            read_input(g, call);
            return;
        }
        struct str name = option_name(arg);
        enum ps_option option = name.n ? find_option(name) : OPTION_NONE;
        /* An unknown option is taken as the command itself. */
        switch (option) {
        case OPTION_SWITCH: continue;
        case OPTION_HELP: return;
        case OPTION_VERSION:
            if (core)
                return;
            i++;
            continue;
        case OPTION_VALUE: i++; continue;
        case OPTION_COMMAND: read_command(g, call, i + 1); return;
        case OPTION_COMMAND_WITH_ARGS: read_command_with_args(g, call, i + 1); return;
        case OPTION_ENCODED: read_encoded(g, call, i + 1); return;
        case OPTION_FILE: read_script(g, call, i + 1); return;
        case OPTION_NONE: break;
        }
        if (arg.n == 0)
            continue;
        if (core)
            read_script(g, call, i);
        else
            read_command(g, call, i);
        return;
    }
    /* Nothing to run: it reads commands from its input. */
    if (call->input.text.p)
        read_input(g, call);
}
