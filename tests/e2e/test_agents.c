/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy files for a whole agent inside: its state can be written, what it obeys cannot, its
 * API can be reached and nothing else, and its own hook does not wrap twice. Decisions are asked
 * for on both systems; on Linux a stand-in for the agent also runs.
 */
#include "e2e/program.h"

static char home[2048];

struct question {
    const char *agent, *action, *what; /* ~ is the home folder */
    bool allowed;
};

static const struct question questions[] = {
    {"claude", "write", "~/.claude/projects/p/s.jsonl", true},
    {"claude", "write", "~/.claude/.claude.json", true},
    {"claude", "write", "~/.claude/settings.json", false},
    {"claude", "write", "~/.claude/hooks/x", false},
    {"claude", "write", "~/.claude/cordon/bash", false},
    {"claude", "write", "~/.claude/commands/x.md", false},
    {"claude", "write", "~/.profile", false},
    {"claude", "write", "src.c", true},
    {"claude", "write", ".claude/settings.json", false},
    {"claude", "write", ".mcp.json", false},
    {"claude", "write", ".git/hooks/pre-commit", false},
    {"claude", "write", ".git/COMMIT_EDITMSG", true},
    {"claude", "read", "~/.claude/.credentials.json", true},
    {"claude", "read", "~/.ssh/id_ed25519", false},
    {"claude", "read", "~/.codex/auth.json", false},
    {"claude", "connect", "api.anthropic.com:443", true},
    {"claude", "connect", "example.com:443", false},
    {"codex", "write", "~/.codex/sessions/s.jsonl", true},
    {"codex", "write", "~/.codex/config.toml", false},
    {"codex", "write", "~/.codex/hooks.json", false},
    {"codex", "write", ".codex/config.toml", false},
    {"codex", "read", "~/.codex/auth.json", true},
    {"codex", "read", "~/.aws/credentials", false},
    {"codex", "connect", "api.openai.com:443", true},
    {"codex", "connect", "example.com:443", false},
    {"gemini", "write", "~/.gemini/tmp/x", true},
    {"gemini", "write", "~/.gemini/settings.json", false},
    {"gemini", "write", ".gemini/settings.json", false},
    {"gemini", "read", "~/.gemini/oauth_creds.json", true},
    {"gemini", "read", "~/.ssh/config", false},
    {"gemini", "connect", "generativelanguage.googleapis.com:443", true},
    {"gemini", "connect", "example.com:443", false},
    {"opencode", "write", "~/.local/share/opencode/log/x", true},
    {"opencode", "write", "~/.config/opencode/plugin/x.js", false},
    {"opencode", "write", ".opencode/plugin/x.js", false},
    {"opencode", "write", "opencode.json", false},
    {"opencode", "write", "src.c", true},
    {"opencode", "read", "~/.local/share/opencode/auth.json", true},
    {"opencode", "read", "~/.codex/auth.json", false},
    {"claude", "read", "~/.local/share/opencode/auth.json", false},
    {"opencode", "connect", "api.openai.com:443", true},
    {"opencode", "connect", "example.com:443", false},
};

static void test_questions(void)
{
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
        const struct question *q = &questions[i];
        char line[8192];
        bool in_home = q->what[0] == '~', net = strcmp(q->action, "connect") == 0;
        snprintf(line, sizeof line,
                 "why %s \"%s%s\" --policy examples/policies/%s.json --root build/e2e-agent/ws%s",
                 q->action,
                 in_home ? home
                 : net   ? ""
                         : "build/e2e-agent/ws/",
                 in_home ? q->what + 1 : q->what, q->agent, net ? "" : " --temp=private");
        auto_buf struct buf out = {0};
        int code = program_run(line, NULL, &out);
        if (!ok(code == (q->allowed ? 0 : 126), "%s inside: %s %s is %s", q->agent, q->action,
                q->what, q->allowed ? "allowed" : "denied"))
            note("%d %s", code, buf_cstr(&out));
    }
}

#define EVENT                                                                                    \
    "{\"session_id\":\"s\",\"cwd\":\"/ws\",\"tool_name\":\"run_shell_command\",\"tool_input\":{" \
    "\"command\":\"npm test\"}}"

static void test_once(void)
{
    auto_buf struct buf out = {0};
    program_run("hook gemini --wrap", EVENT, &out);
    ok(says(&out, "\"tool_input\""), "the control: outside a hook wraps");
#ifdef _WIN32
    _putenv("CORDON=1");
#else
    setenv("CORDON", "1", 1);
#endif
    int code = program_run("hook gemini --wrap", EVENT, &out);
    ok(code == 0 && out.n == 0, "inside it does not wrap twice");
#ifdef _WIN32
    _putenv("CORDON=");
#else
    unsetenv("CORDON");
#endif
}

#ifndef _WIN32
static void test_stand_in(void)
{
    auto_buf struct buf out = {0};
    char line[4096];
    if (program_run("run --quiet --root build/e2e-agent/ws -- true", NULL, &out) != 0) {
        skip("a stand-in for the agent runs inside", "this machine cannot confine");
        return;
    }
    buf_reset(&out);
    snprintf(line, sizeof line,
             "run --policy examples/policies/claude.json --root build/e2e-agent/ws -- sh -c '"
             "cd build/e2e-agent/ws; echo state > \"$HOME/.claude/state\" && echo work > work; "
             "echo no > \"$HOME/.claude/settings.json\"; mkdir .claude; echo no > "
             "\"$HOME/outside\"; echo \"CORDON is $CORDON\"'");
    int code = program_run(line, NULL, &out);
    bool effects = system("test -e build/e2e-agent/home/.claude/state && test -e "
                          "build/e2e-agent/ws/work && ! test -e build/e2e-agent/ws/.claude && "
                          "! test -e build/e2e-agent/home/outside && "
                          "! test -e build/e2e-agent/home/.claude/settings.json") == 0;
    if (!ok(says(&out, "CORDON is 1") && effects, "a stand-in for the agent runs inside"))
        note("%d %s", code, buf_cstr(&out));
}
#endif

#ifndef _WIN32
/* Someone who has never started the agent has none of its folders. */
static void test_first_start(void)
{
    static const struct {
        const char *agent, *state;
    } agents[] = {{"claude", ".claude"},
                  {"codex", ".codex"},
                  {"gemini", ".gemini"},
                  {"opencode", ".local/share/opencode"}};
    auto_buf struct buf out = {0};
    if (program_run("run --quiet --root build/e2e-agent/ws -- true", NULL, &out) != 0) {
        skip("a first start", "this machine cannot confine");
        return;
    }
    char line[4096];
    snprintf(line, sizeof line, "%s/../new", home);
    setenv("HOME", line, 1);
    for (size_t i = 0; i < sizeof agents / sizeof *agents; i++) {
        buf_reset(&out);
        (void)!system("rm -rf build/e2e-agent/new; mkdir build/e2e-agent/new");
        snprintf(line, sizeof line,
                 "run --policy examples/policies/%s.json --root build/e2e-agent/ws -- sh -c '"
                 "echo state > \"$HOME/%s/state\"'",
                 agents[i].agent, agents[i].state);
        int code = program_run(line, NULL, &out);
        if (!ok(code == 0 && out.n == 0, "%s: a first start, without its folder", agents[i].agent))
            note("%d %s", code, buf_cstr(&out));
    }
    setenv("HOME", home, 1);
}
#endif

int main(void)
{
    char cwd[1024] = "";
    forget_variable("CLAUDE_PROJECT_DIR");
    forget_variable("CORDON");
#ifdef _WIN32
    FILE *pwd = popen("cd", "r");
    (void)!system("mkdir build\\e2e-agent\\home\\.claude build\\e2e-agent\\home\\.codex "
                  "build\\e2e-agent\\home\\.gemini build\\e2e-agent\\ws "
                  "build\\e2e-agent\\home\\.local\\share\\opencode "
                  "build\\e2e-agent\\home\\.local\\state\\opencode "
                  "build\\e2e-agent\\home\\.cache\\opencode 2>nul");
#else
    FILE *pwd = popen("pwd", "r");
    (void)!system("rm -rf build/e2e-agent; mkdir -p build/e2e-agent/home/.claude "
                  "build/e2e-agent/home/.codex build/e2e-agent/home/.gemini build/e2e-agent/ws "
                  "build/e2e-agent/home/.local/share/opencode build/e2e-agent/home/.cache/opencode "
                  "build/e2e-agent/home/.local/state/opencode "
                  "build/e2e-agent/temp");
#endif
    if (!pwd || !fgets(cwd, sizeof cwd, pwd))
        return 1;
    pclose(pwd);
    cwd[strcspn(cwd, "\r\n")] = '\0';
    snprintf(home, sizeof home, "%s/build/e2e-agent/home", cwd);
#ifdef _WIN32
    static char variable[2100];
    snprintf(variable, sizeof variable, "USERPROFILE=%s", home);
    for (char *p = variable; *p; p++)
        if (*p == '/')
            *p = '\\';
    _putenv(variable);
#else
    setenv("HOME", home, 1);
    static char temp[2100];
    snprintf(temp, sizeof temp, "%s/build/e2e-agent/temp", cwd);
    setenv("TMPDIR", temp, 1);
#endif
    test_questions();
    test_once();
#ifndef _WIN32
    test_stand_in();
    test_first_start();
    (void)!system("rm -rf build/e2e-agent");
#endif
    return tap_done();
}
