/* SPDX-License-Identifier: Apache-2.0 */
/* npm and its kind: scripts of packages, and programs that they run. */
#include "guard/judges/judges.h"
#include "guard/names.h"
#include "guard/state.h"

/* True if npm runs the script of this key as the command, before it or after it. */
static bool script_runs(struct str key, struct str command)
{
    if (str_starts(key, STR("pre")) && !str_eq(key, command))
        return str_eq(str_from(key, 3), command) || str_eq(key, STR("prepare"));
    if (str_starts(key, STR("post")) && !str_eq(key, command))
        return str_eq(str_from(key, 4), command);
    return str_eq(key, command);
}

/* The end of a text in quotes that begins at from. */
static size_t json_text_end(struct str text, size_t from)
{
    while (from < text.n && text.p[from] != '"')
        from += text.p[from] == '\\' ? 2 : 1;
    return from < text.n ? from : text.n;
}

/* A package.json that the text wrote: the scripts that this command of npm runs. */
static void judge_package(struct guard *g, const struct guard_call *call, struct str command)
{
    struct str text = guard_written(g, STR("package.json")), key = STR("");
    size_t at = text.p ? str_find(text, STR("\"scripts\""), 0) : text.n;
    at = str_find_char(text, '{', at);
    size_t close = str_find_char(text, '}', at);
    bool value = false;
    for (size_t i = at; i < close && !guard_stopped(g); i++) {
        value |= text.p[i] == ':';
        if (text.p[i] != '"')
            continue;
        size_t end = json_text_end(text, i + 1);
        struct word code = call->words[0];
        code.text = str_slice(text, i + 1, end);
        if (!value)
            key = code.text;
        else if (script_runs(key, command))
            guard_nested(g, call->from == GUARD_BASH ? GUARD_BASH : GUARD_CMD, code);
        value = false;
        i = end;
    }
}

/* npm pkg set scripts.x=CODE, npm set-script x CODE, npm config set editor PROGRAM. */
static void judge_npm_setting(struct guard *g, const struct guard_call *call)
{
    for (size_t i = 2; i < call->count; i++) {
        struct word word = call->words[i];
        size_t equals = str_find_char(word.text, '=', 0);
        bool script = str_starts(word.text, STR("scripts."));
        if (equals < word.text.n)
            word.text = str_from(word.text, equals + 1);
        if (script || (i == 3 && str_eqi(call->words[1].text, STR("set-script"))))
            guard_nested(g, GUARD_BASH, word);
        else if (guard_starts_launcher(g, word.text))
            guard_callback(g, word);
    }
}

static void judge_npm_command(struct guard *g, const struct guard_call *call)
{
    struct str command = call->words[1].text;
    if (name_is_one_of(command, STR("pkg|set-script|config|set"))) {
        judge_npm_setting(g, call);
        return;
    }
    if (name_is_one_of(command, STR("explore")))
        for (size_t i = 2; i + 1 < call->count; i++)
            if (str_eq(call->words[i].text, STR("--")))
                judge_rest(g, call, i + 1);
    if (name_is_one_of(command, STR("run|run-script|rum|urn")) && call->count > 2)
        command =
            call->words[wrapped_program(call, 2, STR("-w|--workspace|--prefix")) % call->count]
                .text;
    if (name_is_one_of(command, STR("i|ci|add|install|it|clean-install")))
        command = STR("install");
    if (name_is_one_of(command, STR("t|tst")))
        command = STR("test");
    if (g->files.newest)
        judge_package(g, call, command);
}

/* npm exec, pnpm dlx, yarn dlx … run a program; corepack runs a package manager. */
void judge_npm(struct guard *g, const struct guard_call *call)
{
    if (call->count < 2)
        return;
    judge_npm_command(g, call);
    if (str_eqi(name_program(call->words[0].text), STR("corepack"))) {
        judge_rest(g, call, 1);
        return;
    }
    if (!name_is_one_of(call->words[1].text, STR("exec|x|dlx")))
        return;
    for (size_t i = 2; i + 1 < call->count; i++)
        if (name_is_one_of(call->words[i].text, STR("-c|--call")))
            guard_nested(g, GUARD_CMD, call->words[i + 1]);
    judge_rest(g, call, wrapped_program(call, 2, STR("-p|--package|-c|--call|-w|--workspace")));
}
