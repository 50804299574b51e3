/* SPDX-License-Identifier: Apache-2.0 */
/* git and gh: settings and aliases that hold commands, and commands that throw files away. */
#include "guard/judges/judges.h"
#include "guard/names.h"
#include "guard/state.h"

/* git -c alias.x=!code, and settings whose value git runs in a shell. */
static void judge_git_setting(struct guard *g, struct str name, struct word value, bool now)
{
    static const char *const ends[] = {".cmd",     ".textconv", ".clean",      ".smudge",
                                       ".process", ".program",  ".command",    ".driver",
                                       ".hook",    ".filter",   ".uploadpack", ".receivepack"};
    bool named = false;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        named |= str_ends(name, str_of(ends[i]));
    bool loads = name_is_one_of(name, STR("core.hookspath|init.templatedir|include.path")) ||
                 str_startsi(name, STR("includeif."));
    if (str_startsi(name, STR("url.ext::")))
        guard_find(g, GUARD_PLANT_STARTUP, value, STR("git"), NULL, NULL);
    if (loads && value.text.n && !str_starts(value.text, STR("/dev/")) &&
        (value.text.p[0] == '/' || value.text.p[0] == '~' || str_has_char(value.text, ':')))
        guard_find(g, GUARD_PLANT_STARTUP, value, STR("git"), NULL, NULL);
    else if (now && value.text.n && name_is_one_of(name, STR("core.hookspath")) &&
             !str_starts(value.text, STR("/dev/")))
        guard_find(g, GUARD_OPAQUE_COMMAND, value, STR("git"), "runs the hooks of this folder",
                   NULL);
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
        judge_git_setting(g, call->words[i].text, call->words[i + 1], false);
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

/* Below a home folder, which no root is taken to be. */
static struct str home_or(struct str folder)
{
    return str_starts(folder, STR("~")) ? STR("\xFF") : folder;
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
            judge_git_setting(g, name, value, true);
        } else if (name_is_one_of(option, STR("--config-env"))) {
            /* Its value stands in a variable, so it is a hole. */
            size_t equals = str_find_char(option, '=', 0);
            struct word setting = call->words[i];
            if (equals == option.n && i + 1 < call->count)
                setting = call->words[++i];
            else
                setting.text = str_from(option, equals + 1);
            struct str name = str_slice(setting.text, 0, str_find_char(setting.text, '=', 0));
            bool marked = str_startsi(name, STR("alias.")) || str_startsi(name, STR("credential."));
            setting.text = marked ? STR("!\xFF") : STR("\xFF");
            judge_git_setting(g, name, setting, true);
        } else if (str_eq(option, STR("-C")) && i + 1 < call->count)
            guard_change_folder(g, home_or(call->words[++i].text));
        else if (str_starts(option, STR("--work-tree=")))
            guard_change_folder(g, str_from(option, 12));
        else if (str_eq(option, STR("--work-tree")) && i + 1 < call->count)
            guard_change_folder(g, call->words[++i].text);
        else if (name_is_one_of(option, STR("--git-dir|--namespace|--exec-path")) &&
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
