/* SPDX-License-Identifier: Apache-2.0 */
/* One event of an agent: which tool, what it would do, and the answer in the agent's own words. */
#include "hook/hook.h"

#include "launch/disk.h"
#include "lib/check.h"

const struct hook_agent_info hook_agents[HOOK_AGENT_COUNT] = {
#define AGENT(id, name, event, folder, file, variable, tools) \
    {name, STR(event), folder, file, STR(variable), STR(tools)},
#include "hook/agents.def"
#undef AGENT
};

bool hook_find_agent(struct str name, enum hook_agent *out)
{
    for (int i = 0; i < HOOK_AGENT_COUNT; i++)
        if (str_eq(name, str_of(hook_agents[i].name))) {
            *out = (enum hook_agent)i;
            return true;
        }
    return false;
}

enum tool_kind { TOOL_SHELL, TOOL_FILE, TOOL_PATCH };

struct tool {
    enum hook_agent agent;
    struct str name;
    enum tool_kind kind;
    enum guard_shell shell; /* GUARD_NO_SHELL: the event does not tell */
    struct str member;      /* of tool_input */
};

static const struct tool tools[] = {
    {HOOK_CLAUDE, STR("Bash"), TOOL_SHELL, GUARD_BASH, STR("command")},
    {HOOK_CLAUDE, STR("Monitor"), TOOL_SHELL, GUARD_BASH, STR("command")},
    {HOOK_CLAUDE, STR("PowerShell"), TOOL_SHELL, GUARD_POWERSHELL, STR("command")},
    {HOOK_CLAUDE, STR("Write"), TOOL_FILE, GUARD_NO_SHELL, STR("file_path")},
    {HOOK_CLAUDE, STR("Edit"), TOOL_FILE, GUARD_NO_SHELL, STR("file_path")},
    {HOOK_CLAUDE, STR("MultiEdit"), TOOL_FILE, GUARD_NO_SHELL, STR("file_path")},
    {HOOK_CLAUDE, STR("NotebookEdit"), TOOL_FILE, GUARD_NO_SHELL, STR("notebook_path")},
    {HOOK_CODEX, STR("Bash"), TOOL_SHELL, GUARD_NO_SHELL, STR("command")},
    {HOOK_CODEX, STR("PowerShell"), TOOL_SHELL, GUARD_POWERSHELL, STR("command")},
    {HOOK_CODEX, STR("shell"), TOOL_SHELL, GUARD_NO_SHELL, STR("command")},
    {HOOK_CODEX, STR("local_shell"), TOOL_SHELL, GUARD_NO_SHELL, STR("command")},
    {HOOK_CODEX, STR("apply_patch"), TOOL_PATCH, GUARD_NO_SHELL, STR("command")},
    {HOOK_GEMINI, STR("run_shell_command"), TOOL_SHELL, GUARD_NO_SHELL, STR("command")},
    {HOOK_GEMINI, STR("write_file"), TOOL_FILE, GUARD_NO_SHELL, STR("file_path")},
    {HOOK_GEMINI, STR("replace"), TOOL_FILE, GUARD_NO_SHELL, STR("file_path")},
    {HOOK_OPENCODE, STR("bash"), TOOL_SHELL, GUARD_NO_SHELL, STR("command")},
    {HOOK_OPENCODE, STR("write"), TOOL_FILE, GUARD_NO_SHELL, STR("filePath")},
    {HOOK_OPENCODE, STR("edit"), TOOL_FILE, GUARD_NO_SHELL, STR("filePath")},
    {HOOK_OPENCODE, STR("apply_patch"), TOOL_PATCH, GUARD_NO_SHELL, STR("patchText")},
    {HOOK_QWEN, STR("run_shell_command"), TOOL_SHELL, GUARD_NO_SHELL, STR("command")},
    {HOOK_QWEN, STR("monitor"), TOOL_SHELL, GUARD_NO_SHELL, STR("command")},
    {HOOK_QWEN, STR("write_file"), TOOL_FILE, GUARD_NO_SHELL, STR("file_path")},
    {HOOK_QWEN, STR("edit"), TOOL_FILE, GUARD_NO_SHELL, STR("file_path")},
    {HOOK_QWEN, STR("notebook_edit"), TOOL_FILE, GUARD_NO_SHELL, STR("notebook_path")}};

struct hook {
    struct cordon_policy *policy;
    const struct hook_options *options;
    struct arena arena;
    struct str cwd, session, transcript; /* of the event */
    struct str folder;                   /* that the model names for this call; empty: none */
    struct str root;                     /* the agent's project; empty: the options name roots */
    bool posix;                          /* that root, which is not on this disk, is spelled so */
    const struct tool *tool;
    const struct json_value *input;
    enum cordon_verdict verdict; /* of what was judged so far */
    struct buf reason;
};

/* ---- answers ---- */

enum { MOST_REASON = 2000 };

/* A tool_input with another command in it. */
static void write_input(struct json_writer *w, struct str key, const struct json_value *input,
                        struct str member, struct str command)
{
    json_key(w, key);
    json_open(w, '{');
    for (size_t i = 0; i < input->count; i++) {
        json_key(w, input->members[i].key);
        if (str_eq(input->members[i].key, member))
            json_string(w, command);
        else
            json_copy(w, &input->members[i].value);
    }
    json_close(w, '}');
}

/* decision is NULL where the person's own rules go on deciding; input is set for a rewritten
   command. */
static int write_answer(enum hook_agent agent, const char *decision, struct str reason,
                        const struct json_value *input, struct str member, struct str command,
                        struct buf *out)
{
    struct json_writer w = {.out = out};
    bool gemini = agent == HOOK_GEMINI || agent == HOOK_OPENCODE;
    reason = str_cut(reason, MOST_REASON);
    json_open(&w, '{');
    if (gemini && decision) {
        json_put(&w, STR("decision"), str_of(decision));
        if (reason.n)
            json_put(&w, STR("reason"), reason);
    }
    if (!gemini || input) {
        json_key(&w, STR("hookSpecificOutput"));
        json_open(&w, '{');
        json_put(&w, STR("hookEventName"), hook_agents[agent].event);
        if (!gemini && decision) {
            json_put(&w, STR("permissionDecision"), str_of(decision));
            if (reason.n)
                json_put(&w, STR("permissionDecisionReason"), reason);
        }
        if (input)
            write_input(&w, gemini ? STR("tool_input") : STR("updatedInput"), input, member,
                        command);
        json_close(&w, '}');
    }
    json_close(&w, '}');
    buf_char(out, '\n');
    return out->failed ? CORDON_E_NOMEM : 0;
}

int hook_refuse(enum hook_agent agent, struct str reason, struct buf *out)
{
    auto_buf struct buf text = {0};
    buf_add(&text, STR("cordon: sandbox denied: "));
    buf_add(&text, reason);
    return text.failed ? CORDON_E_NOMEM
                       : write_answer(agent, "deny", buf_str(&text), NULL, STR_NONE, STR_NONE, out);
}

static int refuse(struct hook *h, const char *reason, struct buf *out)
{
    return hook_refuse(h->options->agent, str_of(reason), out);
}

/* ---- roots ---- */

static const struct json_value *text_member(const struct json_value *object, struct str key)
{
    const struct json_value *value = json_get(object, key);
    return value && value->type == JSON_STRING ? value : NULL;
}

static bool is_folder(struct hook *h, struct str given)
{
    struct path_context paths = {.dialect = disk_dialect(), .cwd = disk_cwd(&h->arena)};
    struct path path = {0};
    struct disk_facts facts;
    size_t room = given.n + paths.cwd.n + 16;
    char *p = arena_alloc(&h->arena, room);
    return p && path_normalize(&paths, given, p, room, &path) == 0 && path.class == PATH_FILE &&
           disk_look(&h->arena, path.text, &facts) == 0 && facts.exists && facts.directory;
}

static int set(struct hook *h, const char *option, struct str value)
{
    struct str copy = arena_copy(&h->arena, value);
    return copy.p ? cordon_policy_set(h->policy, option, copy.p) : CORDON_E_NOMEM;
}

enum { MOST_FIRST_LINE = 1024 * 1024 };

/*
 * The folder that Codex was started in. Its event names only the folder of the tool, which the
 * model chooses; the first line of the session's own file names the session and its folder.
 */
static int codex_project(struct hook *h)
{
    auto_buf struct buf text = {0};
    struct json_value line;
    struct json_error error;
    int rc = h->transcript.n ? disk_read(h->transcript, MOST_FIRST_LINE, &text) : CORDON_E_OPEN;
    size_t end = str_find_char(buf_str(&text), '\n', 0);
    if ((rc == 0 || rc == CORDON_E_TOOBIG) && end < text.n &&
        json_read(&h->arena, str_slice(buf_str(&text), 0, end), &line, &error) == 0 &&
        line.type == JSON_OBJECT) {
        const struct json_value *meta = json_get(&line, STR("payload"));
        bool object = meta && meta->type == JSON_OBJECT;
        const struct json_value *id = object ? text_member(meta, STR("id")) : NULL;
        const struct json_value *cwd = object ? text_member(meta, STR("cwd")) : NULL;
        if (id && cwd && cwd->text.n && str_eq(id->text, h->session) &&
            !str_has_char(cwd->text, '\0')) {
            h->root = arena_copy(&h->arena, cwd->text);
            return h->root.p ? 0 : CORDON_E_NOMEM;
        }
    }
    return api_fail(h->policy, CORDON_E_VALUE,
                    "the folder of this Codex session is unknown; name it: cordon hook --install "
                    "codex --root DIR");
}

/*
 * Roots are those of the options, else the agent's project, else the event's folder. A folder that
 * is not on this disk is judged by its spelling, as `why` does for another system. A policy file
 * that names no root means the current directory, which in an event of Codex is the model's.
 */
static int choose_roots(struct hook *h)
{
    struct cordon_policy *p = h->policy;
    int rc = 0;
    if (h->options->agent == HOOK_CODEX ? !api_has(p, "root") : !p->has_roots) {
        h->root = h->options->project.n ? h->options->project : h->cwd;
        if (h->options->agent == HOOK_CODEX && !h->options->project.n)
            rc = codex_project(h);
        if (rc)
            return rc;
        if (!h->root.n)
            h->root = STR(".");
        p->settings.unseen = !is_folder(h, h->root);
        rc = set(h, "root", h->root);
        h->posix = p->settings.unseen && h->root.p[0] == '/' && !api_has(p, "paths");
        if (rc == 0 && h->posix)
            rc = set(h, "paths", STR("posix"));
    }
    bool own_cwd = api_has(p, "cwd");
    if (rc == 0 && h->folder.n && !p->settings.unseen && !is_folder(h, h->folder))
        return api_fail(p, CORDON_E_VALUE, "the folder that it names is not there");
    if (rc == 0 && h->folder.n)
        return set(h, "cwd", h->folder);
    if (rc == 0 && !own_cwd && h->cwd.n && (p->settings.unseen || is_folder(h, h->cwd)))
        rc = set(h, "cwd", h->cwd);
    return rc;
}

/* ---- judging ---- */

/* The worse verdict stays, with its reason. */
static void judged(struct hook *h, enum cordon_verdict verdict, struct str rule, struct str why,
                   struct str fix)
{
    if (verdict >= h->verdict && h->reason.n)
        return;
    h->verdict = verdict;
    buf_reset(&h->reason);
    buf_add(&h->reason, verdict == CORDON_ASK ? STR("needs a person: ") : STR("sandbox denied: "));
    buf_add(&h->reason, str_slice(why, 0, MOST_REASON / 2));
    buf_add(&h->reason, STR(" (rule "));
    buf_add(&h->reason, rule);
    buf_char(&h->reason, ')');
    if (fix.n) {
        bool none = str_starts(fix, STR(POLICY_NO_REMEDY)) || str_starts(fix, STR("no option "));
        buf_add(&h->reason, str_starts(fix, STR("--")) ? STR("; allow with ")
                            : none                     ? STR("; ")
                                                       : STR("; instead: "));
        buf_add(&h->reason, fix);
    }
}

struct reading {
    enum cordon_verdict verdict;
    bool unreadable; /* nothing worse than that it could not be read as this shell */
    struct str rule, why, fix;
};

static int read_as(struct hook *h, struct guard_question *q, struct reading *out)
{
    struct guard_answer a;
    q->confined = h->options->wrap && h->tool->kind == TOOL_SHELL;
    int rc = check_ask(h->policy, q, &a);
    if (rc && h->root.n && rc != CORDON_E_NOMEM && !api_has(h->policy, "policy")) {
        /* The event's folder cannot be a root: judged without one, which is never milder. */
        h->policy->has_roots = false;
        rc = check_ask(h->policy, q, &a);
    }
    if (rc)
        return rc;
    *out = (struct reading){.verdict = a.verdict};
    for (size_t i = 0; i < a.finding_count; i++) {
        const struct guard_finding *f = &a.findings[i];
        if (f->rule == GUARD_OPAQUE_SYNTAX && a.verdict == CORDON_ASK)
            out->unreadable = true;
        if (f->verdict != a.verdict || out->rule.n)
            continue;
        out->rule = f->id;
        out->why = arena_copy(&h->arena, f->why);
        out->fix = arena_copy(&h->arena, f->fix);
    }
    return 0;
}

static enum guard_shell shell_of(const struct hook *h)
{
    if (h->tool->shell != GUARD_NO_SHELL)
        return h->tool->shell;
    if (h->options->shell != GUARD_NO_SHELL)
        return h->options->shell;
    return h->options->windows ? GUARD_POWERSHELL : GUARD_BASH;
}

static int judge_text(struct hook *h, struct str text)
{
    struct guard_question q = {.text = text, .shell = shell_of(h)};
    struct reading r, other;
    int rc = read_as(h, &q, &r);
    /* On Windows Codex and OpenCode start what they find: PowerShell, or Git's bash. */
    bool two = h->options->agent == HOOK_CODEX || h->options->agent == HOOK_OPENCODE;
    bool either = two && h->options->windows && h->tool->shell == GUARD_NO_SHELL &&
                  h->options->shell == GUARD_NO_SHELL;
    if (rc == 0 && either) {
        q = (struct guard_question){.text = text, .shell = GUARD_BASH};
        rc = read_as(h, &q, &other);
        bool worse = rc == 0 && other.verdict < r.verdict;
        if (rc == 0 && (r.unreadable ? !other.unreadable : worse && !other.unreadable))
            r = other;
    }
    if (rc == 0 && r.verdict != CORDON_ALLOW)
        judged(h, r.verdict, r.rule, r.why, r.fix);
    return rc;
}

static int judge_words(struct hook *h, const struct json_value *list)
{
    struct str *words = ARENA_ARRAY(&h->arena, list->count, struct str);
    struct reading r;
    for (size_t i = 0; words && i < list->count; i++) {
        if (list->items[i].type != JSON_STRING || str_has_char(list->items[i].text, '\0'))
            return CORDON_E_VALUE;
        words[i] = list->items[i].text;
    }
    if (list->count == 0)
        return CORDON_E_VALUE;
    struct guard_question q = {.argv = words, .argc = list->count};
    int rc = words ? read_as(h, &q, &r) : CORDON_E_NOMEM;
    if (rc == 0 && r.verdict != CORDON_ALLOW)
        judged(h, r.verdict, r.rule, r.why, r.fix);
    return rc;
}

/* An agent's own files: everything below folder/name, or below folder. */
struct own_folder {
    struct str folder, name;
};

static bool is_slash(const struct hook *h, char c)
{
    return c == '/' || (c == '\\' && h->options->windows);
}

static struct str parent_of(const struct hook *h, struct str path)
{
    while (path.n && !is_slash(h, path.p[path.n - 1]))
        path.n--;
    return path.n > 1 ? str_slice(path, 0, path.n - 1) : STR_NONE;
}

static bool is_below(const struct hook *h, struct str path, struct str folder)
{
    return folder.n && str_starts(path, folder) && path.n > folder.n + 1 &&
           is_slash(h, path.p[folder.n]);
}

/* True if a policy in which only this folder can be changed allows it: links are followed, and what
   agents obey stays protected in there. */
static bool allowed_below(struct hook *h, struct str folder, const char *action, struct str path)
{
    struct cordon_policy *p;
    struct cordon_answer *a;
    struct str root = arena_copy(&h->arena, folder);
    if (!root.p || cordon_policy_new(&p))
        return false;
    bool good =
        cordon_policy_set(p, "root", root.p) == 0 && cordon_why(p, action, 1, &path.p, &a) == 0;
    if (good) {
        /* A new .git file is allowed with a word to the person, who would not hear of it here. */
        good = a->verdict == CORDON_ALLOW &&
               !str_eq(str_of(cordon_answer_rule(a, 0)), str_of(policy_rule_id(RULE_GIT_NEW)));
        cordon_answer_free(a);
    }
    cordon_policy_free(p);
    return good;
}

/* True if this is a file of the agent's own work (plans, memory, worktrees), which lies outside the
   project or below a name that is protected there. */
static bool is_own_file(struct hook *h, const char *action, struct str path)
{
    const struct hook_options *o = h->options;
    auto_buf struct buf state = {0}, full = {0};
    struct own_folder own[3] = {0};
    if (o->agent == HOOK_CLAUDE) {
        buf_add(&state, o->project);
        buf_add(&state, STR("/.claude"));
        own[0] = (struct own_folder){o->project.n ? buf_str(&state) : STR_NONE, STR("worktrees")};
        own[1] = (struct own_folder){o->state, STR("plans")};
        own[2] = (struct own_folder){parent_of(h, h->transcript), STR("memory")};
    } else if (o->agent == HOOK_GEMINI) {
        /* …/tmp/PROJECT/chats/SESSION.jsonl: Gemini CLI calls that the project's temp folder. */
        own[0].folder = parent_of(h, parent_of(h, h->transcript));
    }
    if (h->policy->settings.unseen || state.failed || str_find(path, STR(".."), 0) < path.n)
        return false;
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        buf_reset(&full);
        buf_add(&full, own[i].folder);
        if (own[i].name.n) {
            buf_char(&full, '/');
            buf_add(&full, own[i].name);
        }
        if (full.failed || !own[i].folder.n || !is_below(h, path, buf_str(&full)))
            continue;
        /* The agent makes its folder when it first writes there. */
        bool there = is_folder(h, buf_str(&full));
        if (allowed_below(h, there ? buf_str(&full) : own[i].folder, action, path))
            return true;
    }
    return false;
}

static int judge_path(struct hook *h, const char *action, struct str path)
{
    struct cordon_answer *a;
    struct str word = arena_copy(&h->arena, path);
    int rc = word.p ? cordon_why(h->policy, action, 1, &word.p, &a) : CORDON_E_NOMEM;
    if (rc)
        return rc;
    struct str rule = str_of(cordon_answer_rule(a, 0));
    if (a->verdict != CORDON_ALLOW && is_own_file(h, action, word))
        ; /* the agent's own plans, memory and worktrees */
    else if (a->verdict != CORDON_ALLOW)
        judged(h, a->verdict, rule, str_of(cordon_answer_why(a, 0)),
               str_of(cordon_answer_fix(a, 0)));
    else if (str_eq(rule, str_of(policy_rule_id(RULE_GIT_NEW))))
        /* A run would name it in its summary; here nobody would hear of it. */
        judged(h, CORDON_ASK, rule, STR("git and editors run what a .git file leads to"), STR_NONE);
    cordon_answer_free(a);
    return 0;
}

/* Tools cut blanks off a path and know "~": each spelling that they may mean is judged. */
static int judge_file(struct hook *h, const char *action, struct str path)
{
    struct str trimmed = str_trim(path), home;
    bool drive = str_has_char(path, '\\') || str_has_char(path, ':');
    if (trimmed.n == 0 || str_has_char(path, '\0') ||
        (h->posix && drive && disk_dialect() == PATH_WINDOWS))
        return CORDON_E_VALUE;
    int rc = judge_path(h, action, trimmed);
    if (rc == 0 && trimmed.n != path.n)
        rc = judge_path(h, action, path);
    if (rc || trimmed.p[0] != '~')
        return rc;
    bool own = trimmed.n == 1 || trimmed.p[1] == '/' || trimmed.p[1] == '\\';
    struct str variable = h->options->windows ? STR("USERPROFILE") : STR("HOME");
    if (!own || !disk_variable(&h->arena, variable, &home))
        return CORDON_E_VALUE;
    auto_buf struct buf full = {0};
    buf_add(&full, home);
    buf_add(&full, str_from(trimmed, 1));
    return full.failed ? CORDON_E_NOMEM : judge_path(h, action, buf_str(&full));
}

static int judge_patch(struct hook *h, struct str patch)
{
    struct hook_path *paths;
    size_t count;
    int rc = hook_patch_paths(&h->arena, patch, &paths, &count);
    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = judge_file(h, paths[i].action, paths[i].text);
    return rc;
}

/* ---- the event ---- */

static const struct tool *find_tool(enum hook_agent agent, struct str name)
{
    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++)
        if (tools[i].agent == agent && str_eq(tools[i].name, name))
            return &tools[i];
    return NULL;
}

static int judge(struct hook *h, const struct json_value *value)
{
    struct str text = value->text;
    if (value->type == JSON_STRING && str_has_char(text, '\0'))
        return api_fail(h->policy, CORDON_E_VALUE, "it contains a NUL character");
    if (h->tool->kind == TOOL_SHELL && value->type == JSON_ARRAY)
        return judge_words(h, value);
    if (h->tool->kind == TOOL_SHELL)
        return judge_text(h, text.p ? text : STR(""));
    return h->tool->kind == TOOL_PATCH ? judge_patch(h, text) : judge_file(h, "write", text);
}

static int answer_wrapped(struct hook *h, const struct json_value *value, struct buf *out)
{
    const struct hook_options *o = h->options;
    auto_buf struct buf command = {0};
    bool claude = o->agent == HOOK_CLAUDE, ask = h->verdict == CORDON_ASK;
    bool own_shell = claude ? h->tool->shell == GUARD_BASH : o->agent == HOOK_OPENCODE;
    struct str reason = h->reason.n ? buf_str(&h->reason) : STR("runs confined by cordon");
    const char *decision = ask ? "ask" : !claude || o->approve ? "allow" : NULL;
    if (own_shell && !o->windows) {
        /* The shell itself is confined: the person's rules see the command as it is. */
        if (!o->confined_shell) {
            buf_fmt(&command,
                    "%s does not start its shell by cordon's file; run cordon hook --install %s "
                    "--wrap again",
                    claude ? "Claude Code" : "OpenCode", hook_agents[o->agent].name);
            return refuse(h, buf_cstr(&command), out);
        }
        return decision ? write_answer(o->agent, decision, reason, NULL, STR_NONE, STR_NONE, out)
                        : 0;
    }
    if (claude && str_eq(h->tool->name, STR("Monitor")))
        return refuse(h, "Claude Code runs Monitor as it is, so it cannot be confined here", out);
    if (value->type != JSON_STRING)
        return refuse(h, "this command is a list and cannot be rewritten; leave out --wrap", out);
    int rc = hook_wrap(o, shell_of(h), h->root, h->session, value->text, &command);
    if (rc == CORDON_E_TOOBIG)
        return refuse(h, "the command is too long to be run confined; put it in a script", out);
    if (rc)
        return refuse(h, cordon_strerror(rc), out);
    return write_answer(o->agent, o->agent == HOOK_GEMINI ? NULL : decision, reason, h->input,
                        h->tool->member, buf_str(&command), out);
}

/* The verdict in this agent's format. */
static int answer(struct hook *h, const struct json_value *value, struct buf *out)
{
    const struct hook_options *o = h->options;
    const struct cordon_policy *p = h->policy;
    bool strict = o->strict || (p->policy && policy_settings_of(p->policy)->strict);
    if (h->verdict == CORDON_ASK && (strict || o->agent != HOOK_CLAUDE))
        h->verdict = CORDON_DENY;
    auto_buf struct buf reason = {0};
    buf_add(&reason, STR("cordon: "));
    buf_add(&reason, buf_str(&h->reason));
    if (h->reason.failed || reason.failed)
        return CORDON_E_NOMEM;
    if (h->verdict == CORDON_DENY)
        return write_answer(o->agent, "deny", buf_str(&reason), NULL, STR_NONE, STR_NONE, out);
    if (o->wrap && !o->inside && h->tool->kind == TOOL_SHELL)
        return answer_wrapped(h, value, out);
    if (h->verdict == CORDON_ASK)
        return write_answer(o->agent, "ask", buf_str(&reason), NULL, STR_NONE, STR_NONE, out);
    /* OpenCode's file goes on only if it reads so. */
    if (o->agent == HOOK_OPENCODE)
        return write_answer(o->agent, "allow", STR_NONE, NULL, STR_NONE, STR_NONE, out);
    return 0; /* nothing: the person's own rules go on deciding */
}

/* A tool_input that can be judged; else why not. */
static const char *take_event(struct hook *h, const struct json_value *event)
{
    static const struct str others[] = {STR("PostToolUse"),
                                        STR("AfterTool"),
                                        STR("Notification"),
                                        STR("UserPromptSubmit"),
                                        STR("SessionStart"),
                                        STR("SessionEnd"),
                                        STR("Stop"),
                                        STR("SubagentStop"),
                                        STR("BeforeAgent"),
                                        STR("AfterAgent"),
                                        STR("BeforeModel"),
                                        STR("AfterModel"),
                                        STR("PreCompact"),
                                        STR("PreCompress"),
                                        STR("PostToolUseFailure")};
    const struct json_value *kind = json_get(event, STR("hook_event_name"));
    const struct json_value *name = text_member(event, STR("tool_name"));
    const struct json_value *cwd = json_get(event, STR("cwd"));
    const struct json_value *session = text_member(event, STR("session_id"));
    const struct json_value *transcript = text_member(event, STR("transcript_path"));
    if (kind && kind->type != JSON_STRING)
        return "hook_event_name is not a string";
    for (size_t i = 0; kind && i < sizeof others / sizeof *others; i++)
        if (str_eq(kind->text, others[i]))
            return NULL; /* nothing is about to run */
    if (kind && !str_eq(kind->text, hook_agents[h->options->agent].event))
        return "unknown kind of event";
    if (!name || name->text.n == 0)
        return "the event names no tool";
    h->tool = find_tool(h->options->agent, name->text);
    if (!h->tool)
        return NULL;
    h->input = json_get(event, STR("tool_input"));
    if (!h->input || h->input->type != JSON_OBJECT)
        return "the event has no tool_input";
    if (cwd && (cwd->type != JSON_STRING || cwd->text.n == 0 || str_has_char(cwd->text, '\0')))
        return "cwd is not a path";
    h->cwd = cwd ? cwd->text : STR_NONE;
    h->session = session ? session->text : STR_NONE;
    if (transcript && !str_has_char(transcript->text, '\0'))
        h->transcript = transcript->text;
    return NULL;
}

/* Gemini CLI and Qwen Code start a command in the folder that the model names, which the event's
   cwd does not show. It is where relative paths begin, never a root. */
static const char *take_folder(struct hook *h)
{
    static const struct str names[] = {STR("dir_path"), STR("directory")};
    bool named = h->options->agent == HOOK_GEMINI || h->options->agent == HOOK_QWEN;
    for (size_t i = 0; named && h->tool->kind == TOOL_SHELL && i < sizeof names / sizeof *names;
         i++) {
        const struct json_value *value = json_get(h->input, names[i]);
        if (!value || value->type == JSON_NULL || (value->type == JSON_STRING && !value->text.n))
            continue;
        if (value->type != JSON_STRING || str_has_char(value->text, '\0') || h->folder.n)
            return "the folder of the command is not one path";
        auto_buf struct buf full = {0};
        struct str given = value->text;
        bool drive = h->options->windows && given.n > 1 && given.p[1] == ':';
        if (!is_slash(h, given.p[0]) && !drive && h->cwd.n) {
            buf_add(&full, h->cwd);
            buf_char(&full, '/');
        }
        buf_add(&full, given);
        h->folder = full.failed ? STR_NONE : arena_copy(&h->arena, buf_str(&full));
        if (!h->folder.p)
            return "out of memory";
    }
    return NULL;
}

static int process(struct hook *h, struct str text, struct buf *out)
{
    struct json_value event = {0};
    struct json_error error;
    auto_buf struct buf message = {0};
    if (str_starts(text, STR("\xEF\xBB\xBF")))
        text = str_from(text, 3);
    if (text.n > HOOK_MAX_EVENT)
        return refuse(h, "the event is over its limit of 4 MiB", out);
    if (json_read(&h->arena, text, &event, &error)) {
        buf_fmt(&message, "the event is not JSON: line %u, column %u: %s", error.place.line,
                error.place.column, error.what);
        return refuse(h, buf_cstr(&message), out);
    }
    if (event.type != JSON_OBJECT)
        return refuse(h, "the event is not an object", out);
    const char *wrong = take_event(h, &event);
    if (wrong)
        return refuse(h, wrong, out);
    if (!h->tool)
        return 0;
    wrong = take_folder(h);
    if (wrong)
        return refuse(h, wrong, out);
    const struct json_value *value = json_get(h->input, h->tool->member);
    if (!value && h->tool->kind == TOOL_PATCH)
        value = json_get(h->input, STR("input"));
    if (!value && h->tool->kind == TOOL_FILE)
        value = json_get(h->input, STR("path")); /* Copilot, which obeys Claude's settings */
    bool list = value && value->type == JSON_ARRAY && h->tool->kind == TOOL_SHELL;
    if (!value || (value->type != JSON_STRING && !list)) {
        buf_fmt(&message, "tool_input has no %s", h->tool->member.p);
        return refuse(h, buf_cstr(&message), out);
    }
    h->verdict = CORDON_ALLOW;
    int rc = choose_roots(h);
    if (rc == 0)
        rc = judge(h, value);
    if (rc) {
        const char *why = cordon_policy_error(h->policy);
        buf_fmt(&message, "%s cannot be judged: %s", h->tool->name.p,
                why[0] ? why : cordon_strerror(rc));
        return refuse(h, buf_cstr(&message), out);
    }
    return answer(h, value, out);
}

int hook_answer(struct cordon_policy *p, const struct hook_options *o, struct str event,
                struct buf *out)
{
    struct hook h = {.policy = p, .options = o};
    int rc = process(&h, event, out);
    arena_free(&h.arena);
    buf_free(&h.reason);
    return rc;
}
