/* SPDX-License-Identifier: Apache-2.0 */
/* Programs whose arguments or input hold commands of a language of their own. */
#include "guard/judges/judges.h"
#include "guard/names.h"
#include "guard/state.h"

/* A file that the text wrote is read by a program that runs its content. */
static void judge_written(struct guard *g, struct str who, struct word at, struct str path)
{
    at.text = guard_written(g, path);
    if (at.text.p)
        guard_embedded(g, who, at);
}

/* socat EXEC:sh TCP:host:port, also with further options behind a comma. */
static void judge_socat(struct guard *g, const struct guard_call *call)
{
    struct word program = {.text = STR_NONE};
    bool connects = false;
    for (size_t i = 1; i < call->count; i++) {
        struct str arg = call->words[i].text, kind = str_slice(arg, 0, str_find_char(arg, ':', 0));
        if (name_is_one_of(kind, STR("exec|system|shell")))
            program = call->words[i];
        else
            connects |= kind.n < arg.n && !name_is_one_of(kind, STR("stdio|file|open|pipe|pty"));
    }
    if (program.text.p && connects)
        guard_find(g, GUARD_LAUNCH_OUTSIDE, program, STR("socat"),
                   "hands a program to whoever connects", "run the program directly");
}

/* man looks these up; what follows other options may be a pager. */
static bool is_page(struct str who, const struct guard_call *call, size_t i)
{
    struct str before = call->words[i - 1].text;
    return str_eq(who, STR("man")) && !str_starts(call->words[i].text, STR("-")) &&
           (!str_starts(before, STR("-")) || name_is_one_of(before, STR("-a|-f|-k|-K|-w")));
}

/* tclsh, guile -, make -f -, gdb -x <(…): what is read there is code, and it is not known. */
static void judge_unknown_code(struct guard *g, const struct guard_call *call, struct str who)
{
    bool reads = name_is_one_of(who, STR("tclsh|wish|expect|guile|ghci|gnuplot|r|ed|ex|m4|gp"));
    bool unknown = call->input.text.p && str_has_char(call->input.text, GUARD_HOLE);
    for (size_t i = 1; i < call->count; i++) {
        struct word word = call->words[i];
        bool taken = name_is_one_of(call->words[i - 1].text,
                                    STR("-f|--file|-x|--command|-l|--load|-s|-S|-i|--eval-file"));
        bool here = name_is_one_of(word.text, STR("-|/dev/stdin"));
        reads = (reads && (here || word.text.n == 0 || word.text.p[0] == '-')) || (taken && here);
        if (taken && str_starts(word.text, STR("/dev/fd/"))) {
            struct str text = guard_written(g, word.text);
            if (!text.p || str_has_char(text, GUARD_HOLE))
                guard_opaque_text(g, word, who);
        }
    }
    if (reads && unknown)
        guard_opaque_text(g, call->input, who);
}

/* Arguments or input may hold commands of a language of their own (vim -c, gdb -ex). */
void judge_embedded(struct guard *g, const struct guard_call *call)
{
    static const struct str makefiles[] = {STR("Makefile"), STR("GNUmakefile")};
    struct str who = name_program(call->words[0].text);
    bool shows = name_is_one_of(who, STR("less|man|more|most|nc|ncat|socat"));
    for (size_t i = 1; i < call->count && !guard_stopped(g); i++) {
        if (is_page(who, call, i))
            continue;
        if (i + 1 < call->count && guard_is_opener(call->words[i].text) &&
            guard_is_url(call->words[i + 1].text))
            judge_rest(g, call, i);
        guard_embedded(g, who, call->words[i]);
        if (!shows)
            judge_written(g, who, call->words[i], call->words[i].text);
    }
    if (!shows)
        judge_unknown_code(g, call, who);
    if (str_eqi(who, STR("socat")))
        judge_socat(g, call);
    if (name_is_one_of(who, STR("make|gmake|nmake")))
        for (size_t i = 0; i < sizeof makefiles / sizeof *makefiles; i++)
            judge_written(g, who, call->words[0], makefiles[i]);
    if (call->input.text.p)
        guard_embedded(g, who, call->input);
}

/* What is fed to a program as its code. */
static void judge_code_input(struct guard *g, const struct guard_call *call)
{
    if (str_has_char(call->input.text, GUARD_HOLE))
        guard_opaque_text(g, call->input, name_program(call->words[0].text));
    else
        guard_code(g, name_program(call->words[0].text), call->input);
}

/* awk runs the first argument that is no option; system() and pipes start programs. */
void judge_awk(struct guard *g, const struct guard_call *call)
{
    for (size_t i = 1; i + 1 < call->count; i++)
        if (name_is_one_of(call->words[i].text, STR("-f|--file")))
            guard_script_as(g, call->words[i + 1], GUARD_NO_SHELL);
    size_t i = wrapped_program(call, 1, STR("-F|-v|--field-separator|--assign|-f|--file|-i|-l"));
    for (size_t k = 1; k + 1 < call->count && call->input.text.p; k++)
        if (name_is_one_of(call->words[k].text, STR("-f|--file")) &&
            name_is_one_of(call->words[k + 1].text, STR("-|/dev/stdin")))
            judge_code_input(g, call);
    if (i >= call->count)
        return;
    struct str code = call->words[i].text, who = name_program(call->words[0].text);
    guard_code(g, who, call->words[i]);
    bool pipes = str_has_char(code, '|') || str_find(code, STR("system"), 0) < code.n;
    static const struct str shells[] = {STR("\"sh\""), STR("\"bash\""), STR("\"/bin/sh\""),
                                        STR("\"/bin/bash\"")};
    for (size_t k = 0; k < NAME_ROWS(shells) && pipes; k++)
        if (str_find(code, shells[k], 0) < code.n) {
            guard_opaque_text(g, call->words[i], who);
            if (call->input.text.p)
                guard_nested(g, GUARD_BASH, call->input);
        }
    for (size_t k = 1; k < call->count && pipes; k++) { /* the command may be a variable */
        struct word value = call->words[k];
        value.text = str_from(value.text, str_find_char(value.text, '=', 0) + 1);
        if (guard_starts_launcher(g, value.text))
            guard_callback(g, value);
    }
}
