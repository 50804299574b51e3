/* SPDX-License-Identifier: Apache-2.0 */
/* The subjects of questions: only those that an option could allow. */
#include "ask/ask.h"

bool ask_can_lift(enum ask_kind kind, enum policy_rule rule)
{
    switch (kind) {
    case ASK_CHANGE:
        return rule == RULE_ROOTS_OUTSIDE || rule == RULE_MODE_READ_ONLY ||
               rule == RULE_TEMP_FOREIGN;
    case ASK_READ: return rule == RULE_READ_DENIED;
    case ASK_CONNECT:
        return rule == RULE_NET_OFF || rule == RULE_NET_LOOPBACK || rule == RULE_NET_ALLOW ||
               rule == RULE_NET_PRIVATE;
    case ASK_SOCKET: return rule == RULE_PIPE_OUTSIDE;
    case ASK_TOOL:
        switch (rule) {
#define POLICY_TOOL(name, id, where, text) case RULE_TOOL_##name:
#include "policy/tools.def"
#undef POLICY_TOOL
            return true;
        default: return false; /* --deny-tool, and what cannot be judged */
        }
    case ASK_NOTHING:
    case ASK_COMMAND: break;
    }
    return false;
}

char ask_separator(struct str path)
{
    return path.n && path.p[0] == '/' ? '/' : '\\';
}

/* Devices, and what the kernel itself shows as files. */
static bool is_of_system(struct str path)
{
    static const struct str folders[] = {{"/proc", 5}, {"/sys", 4}, {"/dev", 4}};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (str_starts(path, folders[i]) && (path.n == folders[i].n || path.p[folders[i].n] == '/'))
            return true;
    return false;
}

bool ask_holds_root(const struct policy *policy, struct str path)
{
    const struct policy_list *roots = &policy_settings_of(policy)->roots;
    for (size_t i = 0; i < roots->count; i++) {
        struct str root = roots->items[i].path;
        if (str_starts(root, path) && (root.n == path.n || root.p[path.n] == ask_separator(root)))
            return true;
    }
    return false;
}

bool ask_can_change(const struct policy *wide, enum policy_rule denied,
                    const struct policy_request *request)
{
    struct policy_answer answer = {0};
    if (!ask_can_lift(ASK_CHANGE, denied) || is_of_system(request->path.text))
        return false;
    policy_decide(wide, request, &answer);
    /* Nothing in a .git, whoever made it. */
    return answer.verdict == CORDON_ALLOW && answer.rule == RULE_ROOTS_INSIDE;
}

int ask_wide_policy(const struct policy *policy, struct policy **out)
{
    enum { LETTERS = 26 };
    struct policy_settings s = *policy_settings_of(policy);
    char drives[LETTERS][4];
    struct policy_entry everything[LETTERS] = {{.path = STR("/")}};
    auto_buf struct buf error = {0};
    s.mode = POLICY_WORKSPACE_WRITE;
    s.allow_broad_root = true;
    s.roots = (struct policy_list){everything, 1, 1};
    for (int i = 0; i < LETTERS && s.paths.dialect == PATH_WINDOWS; i++) {
        drives[i][0] = (char)('A' + i);
        memcpy(drives[i] + 1, ":\\", 3);
        everything[i].path = (struct str){drives[i], 3};
        s.roots.count = s.roots.capacity = LETTERS;
    }
    for (size_t i = 0; i < s.roots.count; i++) {
        everything[i].given = everything[i].path;
        everything[i].from = STR("--ask");
    }
    return policy_compile(&s, out, &error);
}

struct str ask_folder_of(const struct policy *policy, struct str path)
{
    const struct policy_settings *s = policy_settings_of(policy);
    struct str folder = path_parent(s->paths.dialect, path);
    if (folder.n == 0 || policy_broad_root(s->paths.dialect, &s->machine, folder))
        return STR_NONE;
    return folder;
}
