/* SPDX-License-Identifier: Apache-2.0 */
/* Interpreters: code, modules and scripts among their arguments. */
#include "guard/judges/judges.h"
#include "guard/names.h"
#include "guard/state.h"

/* The option's value is code: -e, -c, --eval, and letters in front of them (-lane, -Ic). */
static bool takes_code(struct str who, struct str arg)
{
    if (str_eq(arg, STR("-r")))
        return str_eqi(who, STR("php")); /* elsewhere the name of a module */
    if (name_is_one_of(arg, STR("-e|--eval|-p|--print|-c|-E|eval|-B|-R")))
        return true;
    /* letters whose value sticks to them; python has others */
    struct str valued = str_startsi(who, STR("py")) ? STR("-mWX") : STR("-MmIrWXCD");
    if (arg.n < 3 || arg.p[0] != '-' || str_has_char(valued, arg.p[1]))
        return false;
    for (size_t i = 1; i < arg.n; i++)
        if (!ascii_is_alnum(arg.p[i]))
            return false;
    char last = arg.p[arg.n - 1];
    return last == 'e' || last == 'E' || last == 'c';
}

/* python -c 'run(sys.argv[1:])' PROGRAM …: code that starts programs and looks at its arguments may
   start them. */
static void judge_arguments(struct guard *g, const struct guard_call *call, size_t code)
{
    if (code + 1 < call->count &&
        name_has_one_of(call->words[code].text,
                        STR("sys.argv|process.argv|@argv|$argv|deno.args|bun.argv")) &&
        name_has_one_of(call->words[code].text,
                        STR("subprocess|system|exec|spawn|popen|proc_open|passthru|call|run|"
                            "command|startfile")))
        judge_rest(g, call, code + 1 + str_eq(call->words[code + 1].text, STR("--")));
}

/* An interpreter's script: read if the text wrote it; deno and bun take a verb in front of it. */
static void judge_script(struct guard *g, const struct guard_call *call, size_t i)
{
    struct word script = call->words[i];
    for (size_t k = i + 1; k + 1 < call->count; k++) { /* deno task --eval, deno repl --eval */
        if (!str_eq(call->words[k].text, STR("--eval")))
            continue;
        if (str_eq(script.text, STR("task")))
            guard_nested(g, GUARD_BASH, call->words[k + 1]);
        else
            guard_code(g, STR("this script"), call->words[k + 1]);
    }
    if (name_is_one_of(script.text, STR("run|x|exec|test|repl|serve|dlx")) &&
        name_is_one_of(name_program(call->words[0].text), STR("deno|bun|npm|tsx"))) {
        size_t next = wrapped_program(call, i + 1, STR("-c|--config|--import-map"));
        if (next >= call->count) {
            if (call->input.text.p)
                guard_code(g, STR("this script"), call->input);
            return;
        }
        script = call->words[next];
        if (str_eq(call->words[i].text, STR("exec")) && str_has_char(script.text, ' ')) {
            guard_nested(g, GUARD_BASH, script); /* bun exec 'a && b' */
            return;
        }
        struct guard_call inner = {
            .from = call->from, .words = call->words + next, .count = call->count - next};
        struct word *words = NULL;
        if (str_starts(script.text, STR("npm:")))
            words = ARENA_ARRAY(guard_arena(g), inner.count, struct word);
        if (words) { /* the package's own program */
            memcpy(words, inner.words, inner.count * sizeof *words);
            words[0].text = str_from(script.text, 4);
            inner.words = words;
            guard_program(g, &inner);
            return;
        }
        if (str_eq(script.text, STR("-")) && call->input.text.p)
            guard_code(g, STR("this script"), call->input);
        else if (!guard_script_as(g, script, GUARD_NO_SHELL) &&
                 !name_is_one_of(call->words[i].text, STR("run|test")))
            guard_program(g, &inner);
        else
            judge_carried(g, call, next);
        return;
    }
    if (str_eqi(name_leaf(script.text), STR("webbrowser.py")))
        guard_find(g, GUARD_LAUNCH_TOOL, script, name_program(call->words[0].text),
                   "opens a page in the browser", "print the address instead");
    guard_script_as(g, script, GUARD_NO_SHELL);
}

/* python -m MODULE …: modules that open pages, and those that run other code. */
static void judge_module(struct guard *g, const struct guard_call *call, size_t at,
                         struct str module)
{
    struct str who = name_program(call->words[0].text);
    bool opens = name_is_one_of(module, STR("webbrowser|antigravity|idlelib|idle"));
    bool pydoc = name_is_one_of(module, STR("pydoc"));
    if (name_is_one_of(module,
                       STR("jupyter|jupyterlab|notebook|streamlit|bokeh|mkdocs|marimo|panel|"
                           "snakeviz|voila|scalene|scrapy|pyinstrument|pdoc")))
        judge_rest(g, call, at); /* also programs of their own */
    bool runs = name_is_one_of(module, STR("code|asyncio|pdb|timeit|trace|cProfile|profile|runpy|"
                                           "IPython|ptpython|bpython|coverage|viztracer"));
    for (size_t i = at + 1; i < call->count && !guard_stopped(g); i++) {
        struct str arg = call->words[i].text;
        opens |= pydoc && str_starts(arg, STR("-b"));
        if (!runs || !word_known(call->words[i]))
            continue;
        guard_code(g, who, call->words[i]);
        opens |= name_is_one_of(name_leaf(arg), STR("webbrowser|webbrowser.py|antigravity"));
    }
    if (opens)
        guard_find(g, GUARD_LAUNCH_TOOL, call->words[at], who, "opens a page in the browser",
                   "print the address instead");
    if (call->input.text.p && runs)
        guard_code(g, who, call->input);
}

/* -m, -Im, -mNAME among python's options: where the module's name stands, or 0. */
static size_t module_of(const struct guard_call *call, size_t i, struct str *module)
{
    struct str arg = call->words[i].text;
    size_t m = 1;
    while (m < arg.n && arg.p[0] == '-' && ascii_is_in(arg.p[m], "bBdEhiIOPqsSuvVx3"))
        m++;
    if (m >= arg.n || arg.p[0] != '-' || arg.p[m] != 'm')
        return 0;
    *module = str_from(arg, m + 1);
    if (module->n)
        return i;
    if (i + 1 < call->count)
        *module = call->words[i + 1].text;
    return i + 1 < call->count ? i + 1 : 0;
}

/* ruby -run -e rm -- -rf x: the library un has the commands of a shell. False without it. */
static bool judge_ruby_un(struct guard *g, const struct guard_call *call)
{
    size_t name = 0;
    bool un = false;
    for (size_t i = 1; i + 1 < call->count && !name; i++) {
        struct str arg = call->words[i].text;
        un |= str_eq(arg, STR("-run")) ||
              (str_eq(arg, STR("-r")) && str_eq(call->words[i + 1].text, STR("un")));
        if (un && str_eq(arg, STR("-e")))
            name = i + 1;
    }
    struct word *words = name ? ARENA_ARRAY(guard_arena(g), call->count, struct word) : NULL;
    if (!words)
        return false;
    size_t count = 0;
    for (size_t i = name; i < call->count; i++)
        if (i != name + 1 || !str_eq(call->words[i].text, STR("--")))
            words[count++] = call->words[i];
    guard_program(g, &(struct guard_call){.from = call->from, .words = words, .count = count});
    return true;
}

void judge_interpreter(struct guard *g, const struct guard_call *call)
{
    judge_agent_script(g, call);
    struct str who = name_program(call->words[0].text);
    bool python = str_startsi(who, STR("py"));
    if (str_startsi(who, STR("ruby")) && judge_ruby_un(g, call))
        return;
    for (size_t i = 1; i < call->count; i++) {
        struct str arg = call->words[i].text, module = STR("");
        size_t at = python ? module_of(call, i, &module) : 0;
        if (at) {
            judge_module(g, call, at, module);
            return;
        }
        if (takes_code(who, arg) && i + 1 < call->count) {
            guard_code(g, who, call->words[i + 1]);
            judge_arguments(g, call, i + 1);
            return;
        }
        if (arg.n > 2 && (str_starts(arg, STR("-c")) || str_starts(arg, STR("-e")) ||
                          str_starts(arg, STR("--eval=")) || str_starts(arg, STR("--print=")))) {
            guard_code(g, who, call->words[i]);
            return;
        }
        bool module_code = str_startsi(who, STR("perl")) &&
                           ascii_is_in(arg.n > 1 ? arg.p[1] : 0, "mM") && arg.p[0] == '-' &&
                           str_has_char(arg, ';');
        if (module_code || str_find(arg, STR("data:"), 0) < arg.n)
            guard_code(g, who, call->words[i]);
        if (name_is_one_of(arg, STR("-X|-W|-r|-I|-C|--require|--import|--loader")) &&
            !str_has_char(arg, '=')) {
            if (i + 1 < call->count)
                guard_code(g, who, call->words[i + 1]); /* data: holds a module's text */
            i++;
            continue;
        }
        if (arg.n == 0 || arg.p[0] != '-') {
            judge_script(g, call, i);
            return;
        }
        if (name_is_one_of(arg, STR("--version|-V|--help|-h|-v|--test")))
            return;
    }
    if (call->input.text.p)
        guard_code(g, who, call->input);
}

/* wscript and cscript: script and options in any order. */
void judge_script_host(struct guard *g, const struct guard_call *call)
{
    for (size_t i = 1; i < call->count; i++) {
        struct word script = call->words[i];
        if (script.text.n && script.text.p[0] == '/')
            continue;
        if (str_has_char(name_leaf(script.text), GUARD_HOLE))
            guard_opaque_command(g, script, STR_NONE);
        else if (guard_is_share(script.text))
            guard_opaque_command(g, script, STR("this script, which lies on another machine,"));
        else if (!guard_script_as(g, script, GUARD_NO_SHELL))
            judge_rest(g, call, i);
        return;
    }
}
