/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that take code, or another program's command line, as an argument. */
#include "guard/judges/judges.h"
#include "guard/names.h"
#include "guard/state.h"

static int hex_digit(char c)
{
    return ascii_is_digit(c)                      ? c - '0'
           : ascii_is_alpha(c) && (c | 32) <= 'f' ? (c | 32) - 'a' + 10
                                                  : -1;
}

/* forfiles takes 0x41 for the character A. */
static struct str without_hex(struct guard *g, struct str text)
{
    char *out = arena_alloc(guard_arena(g), text.n + 1);
    size_t n = 0;
    for (size_t i = 0; out && i < text.n; i++) {
        int high = -1, low = -1;
        if (i + 3 < text.n && text.p[i] == '0' && (text.p[i + 1] | 32) == 'x') {
            high = hex_digit(text.p[i + 2]);
            low = hex_digit(text.p[i + 3]);
        }
        bool code = high >= 0 && low >= 0;
        out[n++] = code ? (char)(high * 16 + low) : text.p[i];
        i += code ? 3 : 0;
    }
    return (struct str){out, n};
}

void judge_forfiles(struct guard *g, const struct guard_call *call)
{
    for (size_t i = 1; i + 1 < call->count; i++) {
        if (!name_is_one_of(call->words[i].text, STR("/c|-c|//c")))
            continue;
        size_t count;
        struct str line = without_hex(g, call->words[i + 1].text);
        struct word *words = winargv_split(guard_arena(g), line, &count);
        if (!words) {
            guard_limit(g, call->words[i + 1]);
            return;
        }
        for (size_t j = 0; j < count; j++) {
            words[j].start = call->words[i + 1].start;
            words[j].end = call->words[i + 1].end;
        }
        if (count)
            guard_program(g, &(struct guard_call){.words = words, .count = count});
        return;
    }
}

/* git -c alias.x=!code, and settings whose value git runs in a shell. */
static void judge_git_setting(struct guard *g, struct str name, struct word value)
{
    static const char *const ends[] = {".cmd",     ".textconv", ".clean",      ".smudge",
                                       ".process", ".program",  ".command",    ".driver",
                                       ".hook",    ".filter",   ".uploadpack", ".receivepack"};
    bool named = false;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        named |= str_ends(name, str_of(ends[i]));
    if (str_eqi(name, STR("core.hookspath")) && value.text.n &&
        !str_starts(value.text, STR("/dev/")) &&
        (value.text.p[0] == '/' || value.text.p[0] == '~' || str_has_char(value.text, ':')))
        guard_find(g, GUARD_PLANT_STARTUP, value, STR("git"), NULL, NULL);
    bool runs = name_is_one_of(name, STR("core.sshcommand|core.pager|core.editor|core.fsmonitor|"
                                         "sequence.editor|diff.external|web.browser|help.browser|"
                                         "credential.helper|core.askpass|core.gitproxy|"
                                         "interactive.difffilter|uploadpack.packobjectshook"));
    if (str_startsi(name, STR("alias.")) || name_is_one_of(name, STR("credential.helper"))) {
        runs = value.text.n && value.text.p[0] == '!';
        value.text = str_from(value.text, 1);
    }
    if (runs || named || str_startsi(name, STR("pager.")))
        guard_callback(g, value);
}

/* git config [options] NAME VALUE */
static void judge_git_config(struct guard *g, const struct guard_call *call, size_t i)
{
    while (i < call->count && (str_starts(call->words[i].text, STR("-")) ||
                               name_is_one_of(call->words[i].text, STR("set"))))
        i += 1 + name_is_one_of(call->words[i].text, STR("-f|--file"));
    if (i + 1 < call->count)
        judge_git_setting(g, call->words[i].text, call->words[i + 1]);
}

/* git clean: verb is its index. */
static void judge_git_clean(struct guard *g, const struct guard_call *call, size_t verb)
{
    if (!str_eqi(call->words[verb].text, STR("clean")))
        return;
    unsigned flags = 0;
    for (size_t j = verb + 1; j < call->count; j++) {
        struct str arg = call->words[j].text;
        if (arg.n < 2 || arg.p[0] != '-')
            continue;
        bool is_short = arg.p[1] != '-';
        if (name_is_one_of(arg, STR("--dry-run")) || (is_short && str_has_char(arg, 'n')))
            return;
        if (name_is_one_of(arg, STR("--force")) || (is_short && str_has_char(arg, 'f')))
            flags = GUARD_FORCE | GUARD_RECURSE;
    }
    struct word everything = call->words[verb];
    everything.text = STR("./*");
    for (size_t j = verb + 1; j < call->count; j++)
        if (call->words[j].text.n && call->words[j].text.p[0] != '-')
            everything = call->words[j];
    guard_delete(g, STR("git clean"), everything, flags);
}

/* Commands that throw away changes of the work tree, where that lies outside the roots. */
static void judge_git_discard(struct guard *g, const struct guard_call *call, size_t verb)
{
    struct str name = call->words[verb].text;
    bool discards = name_is_one_of(name, STR("rm")), staged = false;
    for (size_t i = verb + 1; i < call->count; i++) {
        struct str arg = call->words[i].text;
        staged |= name_is_one_of(arg, STR("--staged|--cached"));
        discards |= name_is_one_of(name, STR("reset")) && name_is_one_of(arg, STR("--hard"));
        discards |= name_is_one_of(name, STR("checkout|switch")) &&
                    name_is_one_of(arg, STR("-f|--force|--discard-changes|--|."));
        discards |= name_is_one_of(name, STR("restore"));
    }
    struct word tree = call->words[verb];
    tree.text = STR("./*");
    if (discards && !staged && guard_folder(g).p)
        guard_write(g, STR("git"), tree, true);
}

static void judge_git_command(struct guard *g, const struct guard_call *call)
{
    size_t i = 1;
    for (; i < call->count && call->words[i].text.n && call->words[i].text.p[0] == '-'; i++) {
        struct str option = call->words[i].text;
        if (str_eq(option, STR("-c")) && i + 1 < call->count) {
            struct word value = call->words[++i];
            size_t equals = str_find_char(value.text, '=', 0);
            struct str name = str_slice(value.text, 0, equals);
            value.text = str_from(value.text, equals + 1);
            judge_git_setting(g, name, value);
        } else if (str_eq(option, STR("-C")) && i + 1 < call->count)
            guard_change_folder(g, call->words[++i].text);
        else if (str_starts(option, STR("--work-tree=")))
            guard_change_folder(g, str_from(option, 12));
        else if (name_is_one_of(option, STR("--git-dir|--work-tree|--namespace|--exec-path")) &&
                 !str_has_char(option, '='))
            i++;
    }
    if (i < call->count && str_eqi(call->words[i].text, STR("config")))
        judge_git_config(g, call, i + 1);
    bool greps = i < call->count && str_eqi(call->words[i].text, STR("grep"));
    for (size_t k = i; k < call->count; k++) {
        struct word word = call->words[k];
        bool remote = str_starts(word.text, STR("ext::"));
        word.text = str_from(word.text, remote ? 5 : 2);
        if (remote || (greps && str_starts(call->words[k].text, STR("-O"))))
            guard_callback(g, word);
    }
    if (i < call->count &&
        name_is_one_of(call->words[i].text,
                       STR("bisect|rebase|difftool|submodule|filter-branch|ls-remote|clone|fetch|"
                           "pull|push|archive|mergetool|grep")))
        judge_carried(g, call, i + 1); /* --exec, --upload-pack, -x and their like */
    if (i < call->count) {
        judge_git_clean(g, call, i);
        judge_git_discard(g, call, i);
    }
}

void judge_git(struct guard *g, const struct guard_call *call)
{
    struct str folder = guard_folder(g);
    judge_git_command(g, call);
    guard_set_folder(g, folder);
}

/* gh alias set NAME '!code', gh alias set --shell NAME code. */
void judge_gh(struct guard *g, const struct guard_call *call)
{
    judge_carried(g, call, 1);
    if (call->count < 5 || !str_eqi(call->words[1].text, STR("alias")) ||
        !name_is_one_of(call->words[2].text, STR("set|import")))
        return;
    bool shell = false;
    for (size_t i = 3; i < call->count; i++)
        shell |= name_is_one_of(call->words[i].text, STR("-s|--shell"));
    for (size_t i = 4; i < call->count; i++) {
        struct word code = call->words[i];
        bool marked = str_starts(code.text, STR("!"));
        code.text = str_from(code.text, marked);
        if (marked || (shell && !str_starts(code.text, STR("-"))))
            guard_callback(g, code);
    }
}

/* The option's value is code: -e, -c, --eval, and letters in front of them (-lane, -Ic). */
static bool takes_code(struct str who, struct str arg)
{
    if (str_eq(arg, STR("-r")))
        return str_eqi(who, STR("php")); /* elsewhere the name of a module */
    if (name_is_one_of(arg, STR("-e|--eval|-p|--print|-c|-E|eval|-B|-R")))
        return true;
    if (arg.n < 3 || arg.p[0] != '-' || str_has_char(STR("-MmIrWXCD"), arg.p[1]))
        return false;
    for (size_t i = 1; i < arg.n; i++)
        if (!ascii_is_alnum(arg.p[i]))
            return false;
    char last = arg.p[arg.n - 1];
    return last == 'e' || last == 'E' || last == 'c';
}

/* An interpreter's script: read if the text wrote it; deno and bun know words in front of it. */
static void judge_script(struct guard *g, const struct guard_call *call, size_t i)
{
    struct word script = call->words[i];
    if (name_is_one_of(script.text, STR("run|x|exec|test|repl|serve|dlx")) &&
        name_is_one_of(name_program(call->words[0].text), STR("deno|bun|npm|tsx"))) {
        size_t next = wrapped_program(call, i + 1, STR("-c|--config|--import-map"));
        if (next >= call->count) {
            if (call->input.text.p)
                guard_code(g, STR("this script"), call->input);
            return;
        }
        script = call->words[next];
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

/* ruby -run -e rm -- -rf x: its library un has the commands of a shell. False if it is not asked for. */
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
            return;
        }
        if (arg.n > 2 && (str_starts(arg, STR("-c")) || str_starts(arg, STR("-e")))) {
            guard_code(g, who, call->words[i]);
            return;
        }
        if (str_find(arg, STR("data:"), 0) < arg.n)
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

/* cp, copy, ren …: the last argument is the new name of those before it. */
void judge_copy(struct guard *g, const struct guard_call *call)
{
    struct str who = name_program(call->words[0].text);
    struct word names[2] = {{.text = STR_NONE}, {.text = STR_NONE}};
    bool moves = name_is_one_of(who, STR("mv|move|ren|rename"));
    bool links = str_eqi(who, STR("mklink"));
    for (size_t i = 1; i < call->count; i++) {
        struct str arg = call->words[i].text;
        if (arg.n > 1 && (arg.p[0] == '-' || (arg.p[0] == '/' && arg.n == 2))) {
            links |= str_eqi(who, STR("ln")) && (str_eq(arg, STR("--symbolic")) ||
                                                 (arg.p[1] != '-' && str_has_char(arg, 's')));
            continue;
        }
        names[0] = names[1];
        names[1] = call->words[i];
        if (moves && names[0].text.p)
            guard_write(g, who, names[0], true); /* it is gone from there */
    }
    if (!names[0].text.p)
        return;
    if (str_eqi(who, STR("mklink"))) { /* the link comes first */
        struct word link = names[0];
        names[0] = names[1];
        names[1] = link;
    }
    if (links)
        guard_linked(g, names[0].text, names[1].text);
    else
        guard_copied(g, names[0].text, names[1].text);
    guard_write(g, who, names[1], true);
}

/* tee FILE: what it is given. */
void judge_tee(struct guard *g, const struct guard_call *call)
{
    bool append = call->count > 1 && name_is_one_of(call->words[1].text, STR("-a|--append"));
    for (size_t i = 1; i < call->count; i++) {
        struct word file = call->words[i];
        if (file.text.n == 0 || file.text.p[0] == '-')
            continue;
        guard_write(g, STR("tee"), file, false);
        if (call->input.text.p)
            guard_wrote(g, file.text, call->input.text, append);
    }
}

/* The name under which a URL is stored: its last part, without a query. */
static struct str url_leaf(struct str url)
{
    return name_leaf(str_slice(url, 0, str_find_char(url, '?', 0)));
}

/* curl, wget, certutil …: the file that they leave behind has a content that nobody knows. */
void judge_download(struct guard *g, const struct guard_call *call)
{
    struct str who = name_program(call->words[0].text);
    bool wget = str_eqi(who, STR("wget")), curl = str_eqi(who, STR("curl"));
    bool by_url = wget;
    char option = wget ? 'O' : 'o';
    for (size_t i = 1; i < call->count; i++) {
        struct word word = call->words[i];
        struct str arg = word.text;
        struct word file = {.text = STR_NONE};
        if (str_starts(arg, STR("--output"))) {
            size_t equals = str_find_char(arg, '=', 0);
            file = equals < arg.n || i + 1 == call->count ? word : call->words[i + 1];
            if (equals < arg.n)
                file.text = str_from(arg, equals + 1);
        } else if (str_starts(arg, STR("--remote-name"))) {
            by_url = true;
        } else if (arg.n > 1 && arg.p[0] == '-' && arg.p[1] != '-') {
            /* one letter, or the last of several; the name may stick to it: -sSLo x, -ox */
            size_t at = str_find_char(arg, option, 1);
            by_url |= curl && str_has_char(arg, 'O');
            if (at < arg.n && at + 1 < arg.n && at == 1) {
                file = word;
                file.text = str_from(arg, 2);
            } else if (at + 1 == arg.n && i + 1 < call->count) {
                file = call->words[i + 1];
            }
        } else if (by_url && guard_is_url(arg)) {
            file = word;
            file.text = url_leaf(arg);
        } else if (!wget && !curl && i + 1 == call->count && i > 1) {
            file = word; /* certutil, expand: the last argument */
        }
        if (file.text.n && !str_eq(file.text, STR("-"))) {
            guard_write(g, who, file, true);
            guard_wrote_unknown(g, file.text);
        }
    }
}

/* A file that the text wrote is read by a program that runs what stands in it. */
static void judge_written(struct guard *g, struct str who, struct word at, struct str path)
{
    at.text = guard_written(g, path);
    if (at.text.p)
        guard_embedded(g, who, at);
}

/* Arguments, or what comes in, may hold commands of a language of their own (vim -c, gdb -ex). */
void judge_embedded(struct guard *g, const struct guard_call *call)
{
    static const struct str makefiles[] = {STR("Makefile"), STR("GNUmakefile")};
    struct str who = name_program(call->words[0].text);
    bool shows = name_is_one_of(who, STR("less|man|more|most|nc|ncat|socat"));
    for (size_t i = 1; i < call->count && !guard_stopped(g); i++) {
        if (i + 1 < call->count && guard_is_opener(call->words[i].text) &&
            guard_is_url(call->words[i + 1].text))
            judge_rest(g, call, i);
        guard_embedded(g, who, call->words[i]);
        if (!shows)
            judge_written(g, who, call->words[i], call->words[i].text);
    }
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
        if (guard_starts_launcher(value.text))
            guard_callback(g, value);
    }
}

/* The value of -S among env's options, itself an option or the end of several; false: none. */
static bool split_string(const struct guard_call *call, size_t i, struct str *out)
{
    static const struct str name = STR("--split-string");
    struct str arg = call->words[i].text;
    if (str_starts(arg, name) && (arg.n == name.n || arg.p[name.n] == '=')) {
        *out = str_from(arg, name.n + 1);
        return true;
    }
    if (arg.n < 2 || arg.p[0] != '-' || arg.p[1] == '-')
        return false;
    size_t at = 1;
    while (at < arg.n && arg.p[at] != 'S' && arg.p[at] != 'u' && arg.p[at] != 'C')
        at++;
    *out = str_from(arg, at + 1);
    return at < arg.n && arg.p[at] == 'S';
}

/* env -S 'PROGRAM ARG…' ARG…: the words of one word, and those after it. */
void judge_env(struct guard *g, const struct guard_call *call)
{
    struct str code;
    for (size_t i = 1; i < call->count && str_starts(call->words[i].text, STR("-")); i++) {
        if (!split_string(call, i, &code)) {
            i += name_is_one_of(call->words[i].text, STR("-u|--unset|-C|--chdir"));
            continue;
        }
        auto_buf struct buf text = {0};
        for (buf_add(&text, code); ++i < call->count;) {
            buf_char(&text, ' ');
            buf_add(&text, call->words[i].text);
        }
        struct word whole = call->words[1];
        whole.text = arena_copy(guard_arena(g), buf_str(&text));
        if (text.failed || !whole.text.p)
            guard_limit(g, whole);
        else
            guard_nested(g, GUARD_BASH, whole);
        return;
    }
}

/* Whether npm runs the script of this key for the command: itself, or before or after it. */
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
        else if (guard_starts_launcher(word.text))
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

/* Every argument is a command line of its own: concurrently "a" "b". */
void judge_shell_arguments(struct guard *g, const struct guard_call *call)
{
    for (size_t i = 1; i < call->count && !guard_stopped(g); i++)
        if (call->words[i].text.n && call->words[i].text.p[0] != '-' &&
            str_has_char(call->words[i].text, ' '))
            guard_nested(g, GUARD_CMD, call->words[i]);
}

/* script -c CODE, watch CODE. */
void judge_shell_option(struct guard *g, const struct guard_call *call)
{
    bool is_watch = str_eqi(name_program(call->words[0].text), STR("watch"));
    for (size_t i = 1; i + 1 < call->count; i++)
        if ((name_is_one_of(call->words[i].text, STR("--command")) ||
             (str_starts(call->words[i].text, STR("-")) &&
              str_ends(call->words[i].text, STR("c")))) &&
            !is_watch)
            guard_nested(g, GUARD_BASH, call->words[i + 1]);
    size_t i = is_watch ? wrapped_program(call, 1, STR("-n|--interval|-q")) : call->count;
    if (i < call->count && str_has_char(call->words[i].text, ' '))
        guard_nested(g, GUARD_BASH, call->words[i]);
    else
        judge_rest(g, call, i);
}

void judge_nodemon(struct guard *g, const struct guard_call *call)
{
    for (size_t i = 1; i + 1 < call->count; i++)
        if (name_is_one_of(call->words[i].text, STR("-x|--exec")))
            guard_nested(g, GUARD_CMD, call->words[i + 1]);
}

/* sed -i, truncate, rsync, chmod -R, tar -x: files that are changed where they are. */
void judge_change(struct guard *g, const struct guard_call *call)
{
    struct str who = name_program(call->words[0].text);
    struct str always = STR("truncate|rsync"), option = STR("");
    bool unpacks = name_is_one_of(who, STR("tar|bsdtar|unzip"));
    bool changes = name_is_one_of(who, always), extracts = str_eqi(who, STR("unzip"));
    struct word target = {.text = STR_NONE}, folder = target;
    for (size_t i = 1; i < call->count; i++) {
        struct word word = call->words[i];
        bool is_option = word.text.n > 1 && word.text.p[0] == '-';
        option = is_option ? word.text : STR("");
        if (name_is_one_of(who, STR("sed|gsed")))
            changes |= str_starts(option, STR("-i")) || str_starts(option, STR("--in-place"));
        else if (name_is_one_of(who, STR("chmod|chown|chgrp")))
            changes |= name_is_one_of(option, STR("-R|--recursive"));
        extracts |= unpacks && ((i == 1 && str_has_char(word.text, 'x')) ||
                                name_is_one_of(option, STR("-x|--extract|--get")));
        if (unpacks && name_is_one_of(option, STR("-C|-d|--directory")) && i + 1 < call->count)
            folder = call->words[i + 1];
        if (!is_option)
            target = word;
    }
    if (changes && target.text.n)
        guard_write(g, who, target, true);
    if (extracts && folder.text.n)
        guard_write(g, who, folder, true);
    if (!name_is_one_of(who, STR("truncate|unzip|chmod|chown|chgrp")))
        judge_embedded(g, call);
}
