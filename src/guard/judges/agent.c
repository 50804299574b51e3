/* SPDX-License-Identifier: Apache-2.0 */
/* Agents that are started beside the one that a hook judges, and Cordon's own command line. A run
   confines both. */
#include "guard/judges/condition.h"
#include "guard/judges/judges.h"
#include "guard/names.h"
#include "guard/state.h"

static const struct {
    struct str name, options, commands;
} without_hooks[] = {
#define AGENT(name, options, commands) {STR(name), STR(options), STR(commands)},
#include "guard/tables/agents.def"
#undef AGENT
};

/* Packages on npm have other names than the programs in them. */
static struct str agent_of(struct str name)
{
    static const struct str ends[] = {STR("-code"), STR("-cli"), STR("-ai")};
    for (size_t i = 0; i < NAME_ROWS(ends); i++)
        if (str_endsi(name, ends[i]))
            return str_slice(name, 0, name.n - ends[i].n);
    return name;
}

static bool asks_for_help(struct str word)
{
    return name_is_one_of(word, STR("-h|--help|-V|-v|--version|help|version"));
}

/* Questions about the agent itself: no model is asked. Later words may be values of options. */
static bool only_tells(const struct guard_call *call)
{
    struct str first = call->count > 1 ? call->words[1].text : STR("");
    return asks_for_help(first) ||
           name_is_one_of(first, STR("auth|completion|config|doctor|extensions|features|hooks|"
                                     "install|login|logout|mcp|models|plugin|plugins|sessions|"
                                     "setup-token|skills|stats|update|upgrade"));
}

/* claude mcp add, gemini hooks disable; not claude mcp list. */
static bool changes_settings(const struct guard_call *call, struct str commands)
{
    for (size_t i = 1; commands.n && i + 1 < call->count; i++)
        if (name_is_one_of(call->words[i].text, commands))
            return !asks_for_help(call->words[i + 1].text) &&
                   !name_is_one_of(call->words[i + 1].text, STR("details|get|list|show|validate"));
    return false;
}

void judge_agent(struct guard *g, const struct guard_call *call)
{
    struct str who = name_program(call->words[0].text);
    size_t at = str_find_char(who, '@', 1);
    who = agent_of(str_slice(who, 0, at));
    bool without = g->settings_moved && !only_tells(call);
    if (g->question.confined)
        return;
    for (size_t i = 0; i < NAME_ROWS(without_hooks) && !without; i++)
        without = str_eqi(without_hooks[i].name, who) &&
                  (condition_holds(without_hooks[i].options, call->words + 1, call->count - 1) ||
                   changes_settings(call, without_hooks[i].commands));
    if (without)
        guard_find(g, GUARD_LAUNCH_AGENT, call->words[0], who, NULL, NULL);
    else if (!only_tells(call))
        guard_find(g, GUARD_OPAQUE_TEXT, call->words[0], who,
                   "runs what another model writes, which only that agent's own hooks judge",
                   "do the work in this session, without a second agent");
}

bool agent_obeys(struct str variable)
{
    static const struct str starts[] = {STR("CLAUDE_"), STR("CODEX_"),    STR("COPILOT_"),
                                        STR("GEMINI_"), STR("OPENCODE_"), STR("QWEN_")};
    if (name_ends_in_one_of(variable, STR("_KEY|_TOKEN|_MODEL|_URL")))
        return false;
    for (size_t i = 0; i < NAME_ROWS(starts); i++)
        if (str_startsi(variable, starts[i]))
            return true;
    return name_is_one_of(variable, STR("APPDATA|HOME|USERPROFILE|XDG_CONFIG_HOME"));
}

/* Its program may have got another name. */
void judge_hook(struct guard *g, const struct guard_call *call)
{
    bool changes = false, named = str_eqi(name_program(call->words[0].text), STR("cordon"));
    if (g->question.confined)
        return;
    for (size_t i = 2; i < call->count && !str_eq(call->words[i].text, STR("--")); i++) {
        changes |= name_is_one_of(call->words[i].text, STR("--install|--remove"));
        named |= name_is_one_of(call->words[i].text, STR("claude|codex|gemini|opencode|qwen")) ||
                 str_has_char(call->words[i].text, '=');
    }
    if (changes && named)
        guard_find(g, GUARD_LAUNCH_AGENT, call->words[0], STR("cordon hook"),
                   "changes the hook that judges an agent's commands", NULL);
}

/* cordon run OPTION… -- COMMAND, whose options the model chose. */
void judge_cordon(struct guard *g, const struct guard_call *call)
{
    size_t end = 1;
    while (end < call->count && !str_eq(call->words[end].text, STR("--")))
        end++;
    if (!g->question.confined)
        judge_rest(g, call, end + 1);
}

/* The path, with either separator, leads into this package on npm. */
static bool is_packaged(struct str path, struct str package)
{
    static const struct str folder = STR("node_modules");
    for (size_t at = 0; (at = str_findi(path, folder, at)) < path.n; at += folder.n) {
        struct str rest = str_from(path, at + folder.n + 1);
        size_t i = 0;
        while (i < package.n && i < rest.n &&
               ascii_lower(rest.p[i] == '\\' ? '/' : rest.p[i]) == package.p[i])
            i++;
        if (i == package.n)
            return true;
    }
    return false;
}

/* node …/@anthropic-ai/claude-code/cli.js: the agent without its own program. */
void judge_agent_script(struct guard *g, const struct guard_call *call)
{
    static const struct {
        struct str package, name;
    } packages[] = {{STR("@anthropic-ai/claude-code/"), STR("claude")},
                    {STR("@openai/codex/"), STR("codex")},
                    {STR("@google/gemini-cli/"), STR("gemini")},
                    {STR("@qwen-code/qwen-code/"), STR("qwen")},
                    {STR("opencode-ai/"), STR("opencode")},
                    {STR("@github/copilot/"), STR("copilot")}};
    size_t script = wrapped_program(call, 1,
                                    STR("-r|--require|--import|--loader|-C|--conditions|"
                                        "--env-file|--experimental-loader|--input-type"));
    for (size_t k = 0; script < call->count && k < NAME_ROWS(packages); k++) {
        size_t count = call->count - script;
        if (!is_packaged(call->words[script].text, packages[k].package))
            continue;
        struct word *words = ARENA_ARRAY(&g->arena, count, struct word);
        if (!words) {
            guard_limit(g, call->words[script]);
            return;
        }
        memcpy(words, call->words + script, count * sizeof *words);
        words[0].text = packages[k].name;
        judge_agent(g, &(struct guard_call){.from = call->from, .words = words, .count = count});
        return;
    }
}
