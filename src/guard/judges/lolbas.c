/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that run what they are given, by tables/lolbas.def. */
#include "guard/judges/condition.h"
#include "guard/judges/judges.h"
#include "guard/names.h"
#include "guard/state.h"

enum decision {
    DECIDE_LEAVES,
    DECIDE_STARTS,
    DECIDE_PASSES,
    DECIDE_RUNS_CODE,
    DECIDE_LOADS,
    DECIDE_CARRIES,
    DECIDE_BUILDS
};

#define CHILD(name)
#define ELSEWHERE(name)

static const struct lolbas_pool {
#define LEAVES(name, condition) char ROW(n)[sizeof name], ROW(c)[sizeof condition];
#define STARTS(name, condition) LEAVES(name, condition)
#define PASSES(name, condition) LEAVES(name, condition)
#define RUNS_CODE(name, condition) LEAVES(name, condition)
#define LOADS(name, condition) LEAVES(name, condition)
#define CARRIES(name, condition) UNIX_ROW(LEAVES(name, condition))
#define BUILDS(name, condition) LEAVES(name, condition)
#include "guard/tables/lolbas.def"
#undef LEAVES
} pool = {
#define LEAVES(name, condition) name, condition,
#include "guard/tables/lolbas.def"
#undef LEAVES
#undef STARTS
#undef PASSES
#undef RUNS_CODE
#undef LOADS
#undef CARRIES
#undef BUILDS
};

static const struct lolbas {
    uint16_t name, condition;
    uint8_t decision;
} rows[] = {
#define DECIDED(decision) {PLACE(lolbas_pool, ROW(n)), PLACE(lolbas_pool, ROW(c)), decision},
#define LEAVES(name, condition) DECIDED(DECIDE_LEAVES)
#define STARTS(name, condition) DECIDED(DECIDE_STARTS)
#define PASSES(name, condition) DECIDED(DECIDE_PASSES)
#define RUNS_CODE(name, condition) DECIDED(DECIDE_RUNS_CODE)
#define LOADS(name, condition) DECIDED(DECIDE_LOADS)
#define CARRIES(name, condition) UNIX_ROW(DECIDED(DECIDE_CARRIES))
#define BUILDS(name, condition) DECIDED(DECIDE_BUILDS)
#include "guard/tables/lolbas.def"
#undef DECIDED
#undef LEAVES
#undef STARTS
#undef PASSES
#undef RUNS_CODE
#undef LOADS
#undef CARRIES
#undef BUILDS
};

/* The command line inside an argument, with the arguments after it. */
static void judge_inner(struct guard *g, const struct guard_call *call, size_t at, struct str text)
{
    size_t count = 0, rest = call->count - at - 1;
    struct word *split = winargv_split(guard_arena(g), text, &count);
    struct word *words = ARENA_ARRAY(guard_arena(g), count + rest + 1, struct word);
    if (!split || !words) {
        guard_limit(g, call->words[at]);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        words[i] = split[i];
        words[i].start = call->words[at].start;
        words[i].end = call->words[at].end;
    }
    memcpy(words + count, call->words + at + 1, rest * sizeof *words);
    if (count && !(words[0].text.n && (words[0].text.p[0] == '-' || words[0].text.p[0] == '/')))
        guard_program(g, &(struct guard_call){.words = words, .count = count + rest});
}

/* Any argument may name the program, also after the sign in -x:y and -x=y. */
static void judge_arguments(struct guard *g, const struct guard_call *call)
{
    enum { MOST = 12 };
    for (size_t i = 1; i < call->count && i <= MOST && !guard_stopped(g); i++) {
        struct str text = call->words[i].text;
        bool option = text.n && (text.p[0] == '-' || text.p[0] == '/');
        struct str behind_equals = str_from(text, str_find_char(text, '=', 0) + 1);
        struct str behind_colon =
            option ? str_from(text, str_find_char(text, ':', 0) + 1) : STR("");
        struct str found = guard_is_url(text)            ? text
                           : guard_is_url(behind_equals) ? behind_equals
                           : guard_is_url(behind_colon)  ? behind_colon
                                                         : STR("");
        if (found.n) {
            struct word url = call->words[i];
            url.text = found;
            guard_open(g, name_program(call->words[0].text), url, NULL, 0, call->from);
            return;
        }
        if (!option)
            judge_inner(g, call, i, text);
        if (behind_equals.n)
            judge_inner(g, call, i, behind_equals);
        if (behind_colon.n)
            judge_inner(g, call, i, behind_colon);
    }
}

/* A program stands somewhere among the arguments, alone or in a text. */
static void judge_carrier(struct guard *g, const struct guard_call *call)
{
    for (size_t i = 1; i < call->count && !guard_stopped(g); i++)
        if (guard_is_launcher(g, call->words[i].text))
            judge_rest(g, call, i);
        else
            guard_commands(g, call->words[i]);
}

/* The arguments as PowerShell code, each on its own. */
static void judge_code(struct guard *g, const struct guard_call *call)
{
    for (size_t i = 1; i < call->count && !guard_stopped(g); i++)
        guard_nested(g, GUARD_POWERSHELL, call->words[i]);
}

static void decide(struct guard *g, const struct guard_call *call, enum decision decision)
{
    static const char *const directly = "run the program directly";
    struct word at = call->words[0];
    struct str who = name_program(at.text);
    if (decision == DECIDE_LEAVES) {
        guard_find(g, GUARD_LAUNCH_OUTSIDE, at, who, NULL, directly);
        return;
    }
    if (decision == DECIDE_CARRIES) {
        judge_carrier(g, call);
        return;
    }
    if (decision == DECIDE_BUILDS) {
        guard_build(g, call);
        if (call->input.text.p && word_known(call->input))
            guard_code(g, who, call->input);
        return;
    }
    if (decision == DECIDE_RUNS_CODE)
        judge_code(g, call);
    else if (decision != DECIDE_LOADS)
        judge_arguments(g, call);
    if (decision == DECIDE_LOADS)
        guard_find(g, GUARD_OPAQUE_COMMAND, at, who,
                   "loads code that the guard does not read, which can do anything", NULL);
    else if (decision != DECIDE_PASSES)
        guard_find(g, GUARD_OPAQUE_COMMAND, at, who, "starts a program that its arguments name",
                   directly);
}

/* Chromium and every program built on it: --gpu-launcher=…, --renderer-cmd-prefix=… */
static bool names_launcher(const struct guard_call *call)
{
    for (size_t i = 1; i < call->count; i++) {
        struct str arg = call->words[i].text;
        if (arg.n > 2 && arg.p[0] == '-' && arg.p[1] == '-' &&
            (str_findi(arg, STR("-launcher="), 0) < arg.n ||
             str_findi(arg, STR("cmd-prefix="), 0) < arg.n))
            return true;
    }
    return false;
}

size_t lolbas_row(struct str name)
{
    return NAME_ROW(pool, rows, name);
}

void judge_lolbas(struct guard *g, const struct guard_call *call, struct str name, size_t row)
{
    for (size_t i = row; i < NAME_ROWS(rows) && str_eqi(name_at(&pool, rows[i].name), name); i++)
        if (condition_holds(name_at(&pool, rows[i].condition), call->words + 1, call->count - 1)) {
            decide(g, call, (enum decision)rows[i].decision);
            return;
        }
    if (names_launcher(call))
        decide(g, call, DECIDE_STARTS);
}
