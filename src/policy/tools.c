/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that do not run in the sandbox, by name. */
#include "policy/build.h"

#include "policy/casefold.h"

enum { EVERYWHERE = 0, WINDOWS, LOGIN, DESKTOP, DESKTOP_TOO /* everywhere */ };

static const struct {
    struct str name;
    enum policy_rule rule;
    int where;
} tools[] = {
#define POLICY_TOOL(name, id, where, text) {{id, sizeof(id) - 1}, RULE_TOOL_##name, where},
#include "policy/tools.def"
#undef POLICY_TOOL
};

/* ssh of C:\x\SSH.exe. */
static struct str tool_name(enum path_dialect dialect, struct str program)
{
    static const struct str endings[] = {{".exe", 4}, {".com", 4}, {".cmd", 4}, {".bat", 4}};
    size_t start = program.n;
    while (
        start > 0 && program.p[start - 1] != '/' &&
        !(dialect == PATH_WINDOWS && (program.p[start - 1] == '\\' || program.p[start - 1] == ':')))
        start--;
    struct str name = str_from(program, start);
    if (dialect == PATH_WINDOWS)
        while (name.n && (name.p[name.n - 1] == '.' || name.p[name.n - 1] == ' '))
            name.n--;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (dialect == PATH_WINDOWS && str_endsi(name, endings[i])) {
            name.n -= endings[i].n;
            break;
        }
    return name;
}

static uint32_t find_in(enum path_dialect dialect, const struct policy_list *list, struct str name)
{
    for (size_t i = 0; i < list->count; i++)
        if (fold_equal(dialect, FOLD_WIDE, tool_name(dialect, list->items[i].given), name))
            return (uint32_t)i + 1;
    return 0;
}

/* False if the name says nothing. */
static bool judge_name(const struct policy *policy, struct str program,
                       struct policy_answer *answer)
{
    enum path_dialect dialect = policy->settings.paths.dialect;
    struct str name = tool_name(dialect, program);
    answer->entry = find_in(dialect, &policy->settings.deny_tools, name);
    if (answer->entry) {
        answer->rule = RULE_TOOL_DENIED;
        return true;
    }
    if (find_in(dialect, &policy->settings.allow_tools, name))
        return false;
    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++)
        if (fold_equal(dialect, FOLD_WIDE, name, tools[i].name)) {
            answer->rule = tools[i].rule;
            answer->name = tools[i].name.p;
            return true;
        }
    return false;
}

void policy_tool_decide(const struct policy *policy, const struct policy_program *program,
                        struct policy_answer *answer)
{
    *answer = (struct policy_answer){.verdict = CORDON_DENY};
    if (policy->settings.mode == POLICY_FULL_ACCESS) {
        *answer = (struct policy_answer){.verdict = CORDON_ALLOW, .rule = RULE_MODE_FULL};
        return;
    }
    /* A copy under another name is still the tool; the workspace may bring its own program, but not
       a copy. */
    if (program->original.n && judge_name(policy, program->original, answer))
        return;
    bool denied = judge_name(policy, program->name, answer);
    if (program->path.class == PATH_FILE) {
        struct policy_answer by_path = {0};
        if (judge_name(policy, program->path.text, &by_path) && !denied) {
            *answer = by_path;
            denied = true;
        }
        struct image_match match;
        image_search(&policy->image, program->path.text, program->seen, &match);
        if (match.hit[IMAGE_ROOT] && answer->rule != RULE_TOOL_DENIED) {
            *answer = (struct policy_answer){.verdict = CORDON_ALLOW,
                                             .rule = RULE_TOOL_WORKSPACE,
                                             .entry = match.hit[IMAGE_ROOT]};
            return;
        }
    }
    if (denied)
        return;
    *answer = (struct policy_answer){.verdict = CORDON_ALLOW, .rule = RULE_TOOL_ALLOWED};
}

void policy_tool_names(const struct policy *policy, void (*each)(void *context, struct str name),
                       void *context)
{
    enum path_dialect dialect = policy->settings.paths.dialect;
    const struct policy_list *denied = &policy->settings.deny_tools;
    bool windows = dialect == PATH_WINDOWS;
    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++)
        if ((tools[i].where == LOGIN ||
             ((tools[i].where == EVERYWHERE || tools[i].where == DESKTOP_TOO) && !windows)) &&
            !find_in(dialect, &policy->settings.allow_tools, tools[i].name))
            each(context, tools[i].name);
    for (size_t i = 0; i < denied->count && !windows; i++)
        each(context, tool_name(dialect, denied->items[i].given));
}

bool policy_tool_speaks(enum path_dialect dialect, struct str called, enum policy_rule rule)
{
    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++) {
        bool path = str_has_char(called, '\\') || str_has_char(called, '/');
        if (tools[i].rule == rule)
            return !((tools[i].where == DESKTOP || tools[i].where == DESKTOP_TOO) && path) &&
                   fold_equal(dialect, FOLD_WIDE, tool_name(dialect, called), tools[i].name);
    }
    return false;
}
