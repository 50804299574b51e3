/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that take code, or another program's command line, as an argument. */
#include "guard/judges/judges.h"
#include "guard/names.h"
#include "guard/state.h"

void judge_forfiles(struct guard *g, const struct guard_call *call)
{
    for (size_t i = 1; i + 1 < call->count; i++) {
        if (!name_is_one_of(call->words[i].text, STR("/c|-c|//c")))
            continue;
        size_t count;
        struct word *words = winargv_split(guard_arena(g), call->words[i + 1].text, &count);
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
static void judge_git_setting(struct guard *g, struct word setting)
{
    size_t equals = str_find_char(setting.text, '=', 0);
    struct str name = str_slice(setting.text, 0, equals);
    struct word value = setting;
    value.text = str_from(setting.text, equals + 1);
    bool runs = name_is_one_of(name, STR("core.sshcommand|core.pager|core.editor|core.fsmonitor|"
                                         "sequence.editor|diff.external|gpg.program|web.browser|"
                                         "credential.helper|core.askpass"));
    if (str_startsi(name, STR("alias.")) || name_is_one_of(name, STR("credential.helper"))) {
        runs = value.text.n && value.text.p[0] == '!';
        value.text = str_from(value.text, 1);
    }
    if (runs)
        guard_nested(g, GUARD_BASH, value);
}

void judge_git(struct guard *g, const struct guard_call *call)
{
    size_t i = 1;
    for (; i < call->count && call->words[i].text.n && call->words[i].text.p[0] == '-'; i++) {
        struct str option = call->words[i].text;
        if (str_eq(option, STR("-c")) && i + 1 < call->count)
            judge_git_setting(g, call->words[++i]);
        else if (name_is_one_of(option, STR("-C|--git-dir|--work-tree|--namespace|--exec-path")) &&
                 !str_has_char(option, '='))
            i++;
    }
    if (i >= call->count || !str_eqi(call->words[i].text, STR("clean")))
        return;
    unsigned flags = 0;
    for (size_t j = i + 1; j < call->count; j++) {
        struct str arg = call->words[j].text;
        if (arg.n < 2 || arg.p[0] != '-')
            continue;
        bool is_short = arg.p[1] != '-';
        if (name_is_one_of(arg, STR("--dry-run")) || (is_short && str_has_char(arg, 'n')))
            return;
        if (name_is_one_of(arg, STR("--force")) || (is_short && str_has_char(arg, 'f')))
            flags = GUARD_FORCE | GUARD_RECURSE;
    }
    struct word everything = call->words[i];
    everything.text = STR("./*");
    guard_delete(g, STR("git clean"), everything, flags);
}

/* The strings of a one-line program, joined by blanks: spawn('cmd', ['/c', 'start', url]). */
static struct str joined_strings(struct guard *g, struct str code)
{
    char *out = arena_alloc(guard_arena(g), code.n + 1);
    size_t n = 0;
    if (!out)
        return STR_NONE;
    for (size_t i = 0; i < code.n; i++) {
        char quote = code.p[i];
        if (quote != '\'' && quote != '"' && quote != '`')
            continue;
        size_t end = i + 1;
        while (end < code.n && code.p[end] != quote)
            end += code.p[end] == '\\' ? 2 : 1;
        if (end > code.n)
            end = code.n;
        if (n)
            out[n++] = ' ';
        for (size_t j = i + 1; j < end; j++)
            if (code.p[j] != '\\' || (j + 1 < end && code.p[j + 1] == '\\'))
                out[n++] = code.p[j];
        i = end;
    }
    return (struct str){out, n};
}

static bool starts_programs(struct str code)
{
    static const struct str words[] = {
        STR("exec"),         STR("spawn"),         STR("system"),   STR("popen"),
        STR("subprocess"),   STR("child_process"), STR("passthru"), STR("do shell script"),
        STR("Deno.Command"), STR("execa")};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_findi(code, words[i], 0) < code.n)
            return true;
    return false;
}

/* The part of text from an opener's name on: "child_process start https://x" begins at start. */
static struct str from_opener(struct str text)
{
    static const struct str openers[] = {
        STR("cmd "),      STR("cmd.exe "),        STR("start "),        STR("powershell "),
        STR("pwsh "),     STR("explorer "),       STR("xdg-open "),     STR("open "),
        STR("rundll32 "), STR("powershell.exe "), STR("explorer.exe "), STR("sh "),
        STR("bash "),     STR("wslview "),        STR("rundll32.exe ")};
    size_t best = text.n;
    for (size_t i = 0; i < sizeof openers / sizeof *openers; i++) {
        size_t at = str_findi(text, openers[i], 0);
        if (at < best && (at == 0 || text.p[at - 1] == ' '))
            best = at;
    }
    return str_from(text, best);
}

/* True behind a single quoted text that is the whole argument. */
static bool is_literal(struct str code, size_t at)
{
    while (at < code.n && (code.p[at] == ' ' || code.p[at] == '\\'))
        at++;
    char quote = at < code.n ? code.p[at] : 0;
    if (quote != '"' && quote != '\'' && quote != '`')
        return false;
    size_t end = str_find_char(code, quote, at + 1) + 1;
    while (end < code.n && code.p[end] == ' ')
        end++;
    return end >= code.n || code.p[end] == ')' || code.p[end] == ',';
}

/* Code, a class or a module whose name is computed: eval(…), CreateObject("a" & "b"). */
static bool computes_code(struct str code)
{
    static const struct str calls[] = {
        STR("eval("),          STR("execute("),   STR("executeglobal("), STR("createobject("),
        STR("activexobject("), STR("getobject("), STR("__import__("),    STR("import_module("),
        STR("require("),       STR("exec(")};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        struct str call = calls[i];
        for (size_t at = str_findi(code, call, 0); at < code.n;
             at = str_findi(code, call, at + 1)) {
            char before = at ? code.p[at - 1] : ' ';
            /* expression.exec(text) is a pattern's */
            bool part = ascii_is_alnum(before) || before == '_' ||
                        (before == '.' && str_eq(call, STR("exec(")));
            if (!part && !is_literal(code, at + call.n))
                return true;
        }
    }
    return false;
}

void guard_code(struct guard *g, struct str who, struct word code)
{
    static const struct {
        struct str word;
        const char *why;
    } words[] = {
#define CODE(word, why) {{word, sizeof(word) - 1}, why},
#include "guard/tables/code.def"
#undef CODE
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_findi(code.text, words[i].word, 0) < code.text.n) {
            guard_find(g, GUARD_LAUNCH_URL, code, who, words[i].why, NULL);
            return;
        }
    if (computes_code(code.text))
        guard_opaque_text(g, code, who);
    if (!starts_programs(code.text))
        return;
    struct str command = from_opener(joined_strings(g, code.text));
    if (command.n) {
        code.text = command;
        guard_nested(g, GUARD_CMD, code);
    }
}

void judge_interpreter(struct guard *g, const struct guard_call *call)
{
    struct str who = name_program(call->words[0].text);
    for (size_t i = 1; i < call->count; i++) {
        struct str arg = call->words[i].text;
        if (name_is_one_of(arg, STR("-e|--eval|-p|--print|-c|-r|-pe|-E|eval|-ne")) &&
            i + 1 < call->count) {
            guard_code(g, who, call->words[i + 1]);
            return;
        }
        if (arg.n > 2 && (str_starts(arg, STR("-c")) || str_starts(arg, STR("-e")))) {
            guard_code(g, who, call->words[i]);
            return;
        }
        if (arg.n == 0 || arg.p[0] != '-') {
            guard_script_as(g, call->words[i], GUARD_NO_SHELL);
            return;
        }
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
        else if (!guard_script_as(g, script, GUARD_NO_SHELL))
            judge_rest(g, call, i);
        return;
    }
}

/* cp, copy, ren …: the last argument is the new name of those before it. */
void judge_copy(struct guard *g, const struct guard_call *call)
{
    struct str names[2] = {STR_NONE, STR_NONE};
    for (size_t i = 1; i < call->count; i++) {
        struct str arg = call->words[i].text;
        if (arg.n > 1 && (arg.p[0] == '-' || (arg.p[0] == '/' && arg.n == 2)))
            continue;
        names[0] = names[1];
        names[1] = arg;
    }
    if (names[0].p)
        guard_copied(g, names[0], names[1]);
}

/* tee FILE: what it is given. */
void judge_tee(struct guard *g, const struct guard_call *call)
{
    for (size_t i = 1; i < call->count && call->input.text.p; i++)
        if (call->words[i].text.n && call->words[i].text.p[0] != '-')
            guard_wrote(g, call->words[i].text, call->input.text, false);
}

/* awk runs the first argument that is no option; system() and pipes start programs. */
void judge_awk(struct guard *g, const struct guard_call *call)
{
    size_t i = wrapped_program(call, 1, STR("-F|-v|--field-separator|--assign|-f|--file|-i|-l"));
    if (i < call->count)
        guard_code(g, name_program(call->words[0].text), call->words[i]);
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

/* env -S 'PROGRAM ARG…' ARG…: the words of one word, and those behind it. */
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

/* npm exec, pnpm dlx, yarn dlx … run a program; corepack runs a package manager. */
void judge_npm(struct guard *g, const struct guard_call *call)
{
    if (call->count < 2)
        return;
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
        if (name_is_one_of(call->words[i].text, STR("-c|--command")) && !is_watch)
            guard_nested(g, GUARD_BASH, call->words[i + 1]);
    if (is_watch)
        judge_rest(g, call, wrapped_program(call, 1, STR("-n|--interval|-q")));
}

void judge_nodemon(struct guard *g, const struct guard_call *call)
{
    for (size_t i = 1; i + 1 < call->count; i++)
        if (name_is_one_of(call->words[i].text, STR("-x|--exec")))
            guard_nested(g, GUARD_CMD, call->words[i + 1]);
}
