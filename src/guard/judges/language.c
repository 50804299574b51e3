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
    if (str_eqi(who, STR("socat")))
        judge_socat(g, call);
    if (name_is_one_of(who, STR("make|gmake|nmake")))
        for (size_t i = 0; i < sizeof makefiles / sizeof *makefiles; i++)
            judge_written(g, who, call->words[0], makefiles[i]);
    if (call->input.text.p)
        guard_embedded(g, who, call->input);
}

/* awk runs the first argument that is no option; system() and pipes start programs. */
void judge_awk(struct guard *g, const struct guard_call *call)
{
    for (size_t i = 1; i + 1 < call->count; i++)
        if (name_is_one_of(call->words[i].text, STR("-f|--file")))
            guard_script_as(g, call->words[i + 1], GUARD_NO_SHELL);
    size_t i = wrapped_program(call, 1, STR("-F|-v|--field-separator|--assign|-f|--file|-i|-l"));
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
