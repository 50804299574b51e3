/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs tests/cases/guard and guard-unix. A question is `cmd| text`, `powershell| text`, `bash|
 * text`, `argv| ["json","array"]`, `cmdline| text`, `batch| text` of a batch file, or `cmd-json|
 * "text as a JSON string"`; after the kind may stand @ws, @d or @posix, for C:\ws, C:\d or
 * /srv/ws as the only root; @ws and @posix have a folder of settings, C:\Users\me\cfg or
 * /srv/rv/cfg. The answer is `allow`, or `deny RULE`, or `ask RULE`.
 */
#include "base/json.h"
#include "cases.h"
#include "guard/guard.h"
#include "policy/rules.h"

static struct guard *guard;
static struct policy *workspace, *letter, *posix;
static const char *const verdicts[] = {"deny", "ask", "allow"};

static struct guard_question question_of(struct arena *arena, const struct test_case *c)
{
    static const struct str windows_settings[] = {STR("C:\\Users\\me\\cfg")},
                            posix_settings[] = {STR("/srv/rv/cfg")};
    struct guard_question q = {0};
    struct str text = c->question, kind = c->kind;
    if (str_ends(kind, STR("@ws"))) {
        q.policy = workspace;
        q.cwd = STR("C:\\ws");
        q.settings = windows_settings;
        q.setting_count = 1;
        kind.n -= 3;
    } else if (str_ends(kind, STR("@posix"))) {
        q.policy = posix;
        q.cwd = STR("/srv/ws");
        q.settings = posix_settings;
        q.setting_count = 1;
        kind.n -= 6;
    } else if (str_ends(kind, STR("@d"))) {
        q.policy = letter;
        q.cwd = STR("C:\\d\\in");
        kind.n -= 2;
    }
    if (str_ends(kind, STR("-json")) || str_eq(kind, STR("argv"))) {
        struct json_value value = {0};
        struct json_error error;
        if (json_read(arena, text, &value, &error)) {
            note("%s:%u column %u: %s", c->file, c->line + 1, error.place.column, error.what);
            return q;
        }
        if (value.type == JSON_ARRAY) {
            struct str *argv = ARENA_ARRAY(arena, value.count, struct str);
            for (size_t i = 0; i < value.count; i++)
                argv[i] = value.items[i].text;
            q.argv = argv;
            q.argc = value.count;
            return q;
        }
        text = value.text;
        kind.n -= 5;
    }
    q.script_file = str_eq(kind, STR("batch"));
    q.shell = str_eq(kind, STR("cmd"))          ? GUARD_CMD
              : str_eq(kind, STR("batch"))      ? GUARD_CMD
              : str_eq(kind, STR("bash"))       ? GUARD_BASH
              : str_eq(kind, STR("powershell")) ? GUARD_POWERSHELL
                                                : GUARD_NO_SHELL;
    if (str_eq(kind, STR("cmdline")))
        q.cmdline = text;
    q.text = text;
    return q;
}

static bool has_rule(const struct guard_answer *a, struct str rule)
{
    for (size_t i = 0; i < a->finding_count; i++)
        if (str_eq(a->findings[i].id, rule))
            return true;
    return rule.n == 0;
}

static void run(const struct test_case *c)
{
    auto_arena struct arena arena = {0};
    struct guard_question q = question_of(&arena, c);
    struct guard_answer a = {0};
    size_t blank = str_find_char(c->expected, ' ', 0);
    struct str verdict = str_slice(c->expected, 0, blank);
    struct str rule = str_trim(str_from(c->expected, blank));
    if (!q.argv && !q.cmdline.p && q.shell == GUARD_NO_SHELL) {
        ok(false, "%s:%u has a question", c->file, c->line);
        return;
    }
    int rc = guard_check(guard, &q, &a);
    if (rc == 0 && str_eq(verdict, str_of(verdicts[a.verdict])) && has_rule(&a, rule))
        return;
    ok(false, "%s:%u %.*s", c->file, c->line, STR_ARG(c->title));
    note("question: %.*s", STR_ARG(c->question));
    note("expected: %.*s, got: %s", STR_ARG(c->expected), rc ? "error" : verdicts[a.verdict]);
    for (size_t i = 0; i < a.finding_count; i++)
        note("finding: %s: %.*s", a.findings[i].id.p, STR_ARG(a.findings[i].why));
}

/* A folder as the only root, as `cordon run` in that folder has it. */
static int make_policy(struct str root, enum path_dialect dialect, struct policy **out)
{
    auto_arena struct arena arena = {0};
    auto_buf struct buf error = {0};
    struct policy_settings s = {.mode = POLICY_WORKSPACE_WRITE,
                                .paths = {.dialect = dialect, .cwd = root}};
    if (policy_list_add(&arena, &s.roots, (struct policy_entry){.given = root}))
        return -1;
    return policy_compile(&s, out, &error);
}

int main(void)
{
    if (guard_new(&guard) || make_policy(STR("C:\\ws"), PATH_WINDOWS, &workspace) ||
        make_policy(STR("C:\\d"), PATH_WINDOWS, &letter) ||
        make_policy(STR("/srv/ws"), PATH_POSIX, &posix))
        return 1;
    size_t count = cases_run("tests/cases/guard", run);
#ifndef _WIN32 /* programs that Windows does not have */
    count += cases_run("tests/cases/guard-unix", run);
#endif
    ok(count >= 600, "%u guard cases, at least 600", (unsigned)count);
    guard_free(guard);
    policy_free(workspace);
    policy_free(letter);
    policy_free(posix);
    return tap_done();
}
