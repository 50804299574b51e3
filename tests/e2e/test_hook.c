/* SPDX-License-Identifier: Apache-2.0 */
/* cordon hook as agents call it: stdin, stdout, exit codes 0 and 2; and the settings it writes. */
#include "e2e/program.h"

#ifdef _WIN32
#include <io.h>
/* Only the broker on Linux judges the config of a repository that a run makes. */
static const char git_file[] = "\"permissionDecision\":\"ask\"";
#else
static const char git_file[] = "\"permissionDecision\":\"deny\"";
#endif

#define EVENT(tool, member, value)                                                                 \
    "{\"session_id\":\"s-1\",\"cwd\":\"/ws\",\"tool_name\":\"" tool "\",\"tool_input\":{\"" member \
    "\":\"" value "\"}}"

static void test_events(void)
{
    auto_buf struct buf out = {0};
    int code = program_run("hook claude", EVENT("Bash", "command", "npm test"), &out);
    ok(code == 0 && out.n == 0, "allowed is nothing at all");
    expect("refused is JSON and 0", "hook claude",
           EVENT("Bash", "command", "explorer https://x.test"), 0,
           "\"permissionDecision\":\"deny\"");
    expect("codex", "hook codex", EVENT("Bash", "command", "explorer https://x.test"), 0,
           "\"permissionDecision\":\"deny\"");
    expect("gemini", "hook gemini", EVENT("write_file", "file_path", "/etc/x"), 0,
           "\"decision\":\"deny\"");
    expect("no JSON is a refusal", "hook codex", "{", 0, "\"permissionDecision\":\"deny\"");
    expect("an empty event is a refusal", "hook gemini", "", 0, "\"decision\":\"deny\"");
    expect("a bad option blocks", "hook claude --rooot x", "{}", 2, "did you mean --root?");
    expect("a bad value is a refusal", "hook claude --mode=x", EVENT("Write", "file_path", "/ws/a"),
           0, "workspace-write");
    expect("a root that is not there is a refusal", "hook claude --root no-such-folder",
           EVENT("Write", "file_path", "/ws/a"), 0, "folder not found");
    code = program_run("hook claude --cwd tests --root .", EVENT("Write", "file_path", "unit/new"),
                       &out);
    ok(code == 0 && out.n == 0, "a new file in a root is allowed");
    expect("a new .git file does not pass", "hook claude --cwd tests --root .",
           EVENT("Write", "file_path", "unit/.git"), 0, git_file);
    expect("opencode hears a clear yes", "hook opencode", EVENT("bash", "command", "npm test"), 0,
           "{\"decision\":\"allow\"}");
    expect("and no", "hook opencode", EVENT("write", "filePath", "/etc/x"), 0,
           "\"decision\":\"deny\"");
    expect("no agent blocks", "hook", "{}", 2, "--install claude, codex");
    expect("another agent blocks", "hook cursor", "{}", 2, "--install claude, codex");
    expect("a word too many blocks", "hook claude extra", "{}", 2, "--install claude, codex");
    expect("qwen is not rewritten", "hook qwen --wrap", "{}", 2, "leave out --wrap");
    expect("nor installed so", "hook --install qwen --wrap", NULL, 125, "leave out --wrap");
    expect("rewritten for gemini", "hook gemini --wrap --net=loopback",
           EVENT("run_shell_command", "command", "echo hi"), 0, "\"tool_input\":{\"command\":\"");
    expect("--undo without --wrap", "hook gemini --undo", "{}", 2, "--undo belongs to --wrap");
#ifndef _WIN32
    expect("--undo is passed on", "hook gemini --wrap --undo",
           EVENT("run_shell_command", "command", "echo hi"), 0, " run '--undo' ");
#endif
    expect("codex: a relative root would start from the model's folder", "hook codex --root .",
           EVENT("Bash", "command", "ls"), 2, "give an absolute one");
    char *big = malloc(5 * 1024 * 1024 + 1);
    memset(big, ' ', 5 * 1024 * 1024);
    big[5 * 1024 * 1024] = '\0';
    expect("five MiB are refused", "hook claude", big, 0, "4 MiB");
    free(big);
}

#ifndef _WIN32
/* The agent's command line, run by bash with the real program: the sandbox holds. */
static void test_wrapped(void)
{
    auto_buf struct buf out = {0}, text = {0};
    int works = program_run("run --quiet -- true", NULL, &out);
    if (works != 0) {
        skip("a rewritten command runs confined", "this machine cannot confine");
        return;
    }
    char cwd[2048] = "", event[8192], line[4096];
    FILE *pwd = popen("rm -rf build/e2e-hook && mkdir -p build/e2e-hook/ws && cd build/e2e-hook/ws "
                      "&& printf %s \"$PWD\"",
                      "r");
    if (!pwd || !fgets(cwd, sizeof cwd, pwd))
        cwd[0] = '\0';
    if (pwd)
        pclose(pwd);
    snprintf(
        event, sizeof event,
        "{\"session_id\":\"s-1\",\"transcript_path\":\"%s/../session.jsonl\",\"cwd\":\"%s/..\","
        "\"tool_name\":\"Bash\",\"tool_input\":{"
        "\"command\":\"echo 'a b' > inside; echo no > ../outside; echo \\\"it's \\\\$?\\\"\"}}",
        cwd, cwd);
    snprintf(line, sizeof line,
             "{\"type\":\"session_meta\",\"payload\":{\"id\":\"s-1\",\"cwd\":\"%s\"}}\n{}\n", cwd);
    write_file("build/e2e-hook/session.jsonl", str_of(line));
    program_run("hook codex --wrap", event, &text);
    write_file("build/e2e-hook/event", buf_str(&text));
    FILE *run = popen("cd build/e2e-hook/ws && python3 -c 'import json; print(json.load(open("
                      "\"../event\"))[\"hookSpecificOutput\"][\"updatedInput\"][\"command\"])' > "
                      "../script && bash ../script 2>&1; cat inside; test -e ../outside && echo "
                      "ESCAPED",
                      "r");
    buf_reset(&out);
    char chunk[512];
    for (size_t n; run && (n = fread(chunk, 1, sizeof chunk, run)) > 0;)
        buf_add(&out, (struct str){chunk, n});
    if (run)
        pclose(run);
    if (!ok(says(&out, "it's $?") && says(&out, "a b\n") && says(&out, "sandbox denied") &&
                !says(&out, "ESCAPED"),
            "a rewritten command runs confined"))
        note("%s", buf_cstr(&out));
    write_file("build/e2e-hook/session.jsonl",
               STR("{\"payload\":{\"id\":\"another\",\"cwd\":\"/\"}}\n"));
    expect("codex: the file of another session tells nothing", "hook codex --wrap", event, 0,
           "the folder of this Codex session is unknown");
    if (system("rm -rf build/e2e-hook"))
        return;
}

/* Claude Code's own folders: its plans, memory and worktrees can be written, its settings not. */
static void test_own_folders(void)
{
    static const struct {
        const char *file;
        bool allowed;
    } files[] = {
        {"state/plans/a.md", true},
        {"state/plans/../settings.json", false},
        {"state/settings.json", false},
        {"state/plans-not/a.md", false},
        {"state/projects/p/memory/note.md", true},
        {"state/projects/p/s-1.jsonl", false},
        {"state/projects/q/memory/note.md", false},
        {"ws/.claude/worktrees/w/src/a.c", true},
        {"ws/.claude/worktrees/w/.claude/settings.json", false},
        {"ws/.claude/worktrees/w/.git", false},
        {"ws/.claude/settings.local.json", false},
        {"ws/.claude/worktrees/link/settings.json", false},
    };
    char cwd[1024] = "", event[8192];
    FILE *pwd = popen("rm -rf build/e2e-own && mkdir -p build/e2e-own/state/projects/p "
                      "build/e2e-own/ws/.claude/worktrees/w && cd build/e2e-own && ln -s .. "
                      "ws/.claude/worktrees/link && printf %s \"$PWD\"",
                      "r");
    if (!pwd || !fgets(cwd, sizeof cwd, pwd))
        cwd[0] = '\0';
    if (pwd)
        pclose(pwd);
    char project[1200], state[1200];
    snprintf(project, sizeof project, "%s/ws", cwd);
    snprintf(state, sizeof state, "%s/state", cwd);
    setenv("CLAUDE_PROJECT_DIR", project, 1);
    setenv("CLAUDE_CONFIG_DIR", state, 1);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        auto_buf struct buf out = {0};
        snprintf(event, sizeof event,
                 "{\"session_id\":\"s-1\",\"transcript_path\":\"%s/state/projects/p/s-1.jsonl\","
                 "\"cwd\":\"%s/ws\",\"tool_name\":\"Write\",\"tool_input\":{\"file_path\":"
                 "\"%s/%s\"}}",
                 cwd, cwd, cwd, files[i].file);
        int code = program_run("hook claude", event, &out);
        if (!ok(code == 0 && (files[i].allowed ? out.n == 0 : says(&out, "\"deny\"")), "%s is %s",
                files[i].file, files[i].allowed ? "the agent's own" : "refused"))
            note("%s", buf_cstr(&out));
    }
    unsetenv("CLAUDE_PROJECT_DIR");
    unsetenv("CLAUDE_CONFIG_DIR");
    if (system("rm -rf build/e2e-own"))
        return;
}

/* The changes of an agent's commands are taken back by the session that the agent names. */
static void test_taken_back(void)
{
    auto_buf struct buf text = {0}, out = {0};
    char chunk[512];
    setenv("CORDON_EXE", CORDON_EXE, 0);
    if (program_run("run --quiet -- true", NULL, &out) != 0) {
        skip("a session is taken back", "this machine cannot confine");
        return;
    }
    FILE *run =
        popen("rm -rf build/e2e-undo && mkdir -p build/e2e-undo/ws && C=$(realpath "
              "\"$CORDON_EXE\") && cd "
              "build/e2e-undo/ws && export XDG_STATE_HOME=$(realpath ..) && echo one > a && "
              "SHELL=/bin/bash \"$C\" hook --install claude --project --wrap --undo >/dev/null && "
              "{ export "
              "CLAUDE_CODE_SESSION_ID=talk; bash -c '.claude/cordon/bash -c \"echo two >> a\"; "
              ".claude/cordon/bash -c \"echo x > b\"; true'; wc -l < a; ls b; \"$C\" undo "
              "--session talk; "
              "cat a; ls b; } 2>&1",
              "r");
    for (size_t n; run && (n = fread(chunk, 1, sizeof chunk, run)) > 0;)
        buf_add(&text, (struct str){chunk, n});
    if (run)
        pclose(run);
    if (!ok(says(&text, "2\nb\n") && says(&text, "restored a\n") && says(&text, "removed b\n") &&
                says(&text, "one\n") && says(&text, "cannot access 'b'"),
            "cordon undo --session takes back what the wrapped commands changed"))
        note("%s", buf_cstr(&text));
    if (system("rm -rf build/e2e-undo"))
        return;
}

/* The settings that --install --wrap writes for Claude Code: a shell that is confined, in a private
   file. */
static void test_shell(void)
{
    auto_buf struct buf text = {0}, out = {0};
    setenv("CORDON_EXE", CORDON_EXE, 0);
    int works = program_run("run --quiet -- true", NULL, &out);
    if (works != 0) {
        skip("the shell of Claude Code is confined", "this machine cannot confine");
        return;
    }
    char chunk[512];
    FILE *run =
        popen("rm -rf build/e2e-shell && mkdir -p build/e2e-shell/ws && C=$(realpath "
              "\"$CORDON_EXE\") && cd "
              "build/e2e-shell/ws && SHELL=/bin/bash \"$C\" hook --install claude --project --wrap "
              ">/dev/null && test ! -e .claude/settings.json && grep -q CLAUDE_CODE_SHELL "
              ".claude/settings.local.json && { bash -c '.claude/cordon/bash -c \"echo in > "
              "inside; echo out "
              "> ../outside; cd ..; echo CORDON=\\$CORDON\"; true'; cat inside; test -e ../outside "
              "&& echo "
              "ESCAPED; \"$C\" hook --remove claude --project >/dev/null; find .claude -type f "
              "-exec cat {} "
              "+; } 2>&1",
              "r");
    for (size_t n; run && (n = fread(chunk, 1, sizeof chunk, run)) > 0;)
        buf_add(&text, (struct str){chunk, n});
    if (run)
        pclose(run);
    if (!ok(says(&text, "CORDON=1\n") && says(&text, "in\n") && says(&text, "sandbox denied") &&
                !says(&text, "ESCAPED") && !says(&text, "CLAUDE_CODE_SHELL"),
            "the shell of Claude Code is confined, and --remove takes it away"))
        note("%s", buf_cstr(&text));
    if (system("rm -rf build/e2e-shell"))
        return;
}

/* The plugin that --install writes for OpenCode: a file of its own, which examples/opencode has for
   others. */
static void test_plugin(void)
{
    static const char file[] = "build/e2e-plugin/opencode/plugin/cordon.js";
    auto_buf struct buf text = {0}, example = {0}, own = {0};
    if (system("rm -rf build/e2e-plugin && mkdir -p build/e2e-plugin"))
        return;
    char folder[2048] = "";
    FILE *pwd = popen("cd build/e2e-plugin && printf %s \"$PWD\"", "r");
    if (!pwd || !fgets(folder, sizeof folder, pwd))
        folder[0] = '\0';
    if (pwd)
        pclose(pwd);
    setenv("XDG_CONFIG_HOME", folder, 1);
    setenv("SHELL", "/bin/bash", 1);
    expect("removed where no plugin is", "hook --remove opencode", NULL, 0, "no hook of cordon");
    expect("the plugin is shown", "hook --install opencode --strict", NULL, 0,
           "\"hook\",\"opencode\",\"--strict\"]");
    ok(read_back(file, &text) && says(&text, "const shell = \"\""), "and written");
    expect("written again", "hook --install opencode --strict", NULL, 0, "there already");
    expect("with --wrap", "hook --install opencode --wrap", NULL, 0, "CORDON_PROJECT");
    ok(read_back(file, &text) && says(&text, "\"../cordon/bash\")"), "the shell is named");
    expect("taken away", "hook --remove opencode", NULL, 0, "removed");
    ok(!read_back(file, &text) && !read_back("build/e2e-plugin/opencode/cordon/bash", &text),
       "and nothing is left");
    write_file(file, STR("// mine\n"));
    expect("another plugin of that name", "hook --install opencode", NULL, 125, "left as it is");
    expect("is not removed", "hook --remove opencode", NULL, 125, "left as it is");
    ok(read_back(file, &text) && str_eq(buf_str(&text), STR("// mine\n")), "it is as it was");
    expect("a relative root with --project", "hook --install opencode --project --wrap --root .",
           NULL, 125, "give an absolute path");
    program_run("hook --print opencode", NULL, &text);
    size_t from = str_find(buf_str(&text), STR("// Written"), 0);
    size_t line = str_find(buf_str(&text), STR("const [program"), 0);
    size_t to = str_find(buf_str(&text), STR("const shell"), 0);
    size_t end = str_find(buf_str(&text), STR("\n})\n"), 0) + 4;
    buf_add(&own, str_slice(buf_str(&text), from, line));
    buf_add(&own, STR("const [program, ...words] = [\"cordon\",\"hook\",\"opencode\"]\n"));
    buf_add(&own, str_slice(buf_str(&text), to, end));
    if (!ok(read_back("examples/opencode/cordon.js", &example) &&
                str_ends(buf_str(&example), buf_str(&own)),
            "examples/opencode/cordon.js is what is written"))
        note("%s", buf_cstr(&own));
    unsetenv("XDG_CONFIG_HOME");
    if (system("rm -rf build/e2e-plugin"))
        return;
}
#endif

#ifdef _WIN32
/* The value of "command" in what --print says, as the agent reads it. */
static void printed_line(const char *agent, struct buf *text, struct buf *line)
{
    char words[64];
    snprintf(words, sizeof words, "hook --print %s", agent);
    program_run(words, NULL, text);
    struct str key = STR("\"command\": \""), all = buf_str(text);
    buf_reset(line);
    for (size_t i = str_find(all, key, 0) + key.n; i < all.n && all.p[i] != '"'; i++) {
        i += all.p[i] == '\\';
        buf_char(line, all.p[i]);
    }
}

/* The lines for the shells of agents. cmd runs its own; PowerShell, which is not here, is stood in
   for by the reader that measure-powershell compares with the real one. */
static void test_lines(void)
{
    auto_buf struct buf text = {0}, line = {0}, missing = {0}, out = {0}, printed = {0};
    printed_line("codex", &text, &printed);
    struct str codex = buf_str(&printed);
    size_t end = str_find(codex, STR("\" hook codex"), 0);
    ok(end < codex.n && codex.p[0] == '"', "codex: a program in quotes");
    buf_add(&line, STR("\"\"C:/no such folder/cordon.exe"));
    buf_add(&line, str_from(codex, end));
    buf_add(&line, STR("\""));
    FILE *errors = fopen("build/e2e-line", "wb");
    int before = _dup(2);
    if (errors)
        _dup2(_fileno(errors), 2);
    int code = system(buf_cstr(&line));
    _dup2(before, 2);
    _close(before);
    if (errors)
        fclose(errors);
    if (!ok(code == 2 && read_back("build/e2e-line", &missing) && says(&missing, "did not run"),
            "codex: a program that is missing ends with 2 and the reason"))
        note("%d %s", code, buf_cstr(&missing));
    remove("build/e2e-line");
    static const char *const agents[] = {"gemini", "qwen"};
    for (size_t i = 0; i < 2; i++) {
        printed_line(agents[i], &text, &printed);
        char words[64], given[64];
        snprintf(words, sizeof words, "\"args\":[\"hook\",\"%s\"]", agents[i]);
        ok(says(&text, "\"shell\": \"powershell\"") == (i == 1), "%s is told the shell: %s",
           agents[i], i == 1 ? "yes" : "no");
        write_file("build/e2e-line.ps1", buf_str(&printed));
        if (!ok(program_run("check --json --show --file build/e2e-line.ps1", NULL, &out) == 0 &&
                    says(&out, "cordon.exe\"") && says(&out, words),
                "%s: PowerShell's line calls cordon with its words", agents[i]))
            note("%s: %s", buf_cstr(&printed), buf_cstr(&out));
        snprintf(given, sizeof given, "%s --root=C:/a,b's.@c", agents[i]);
        snprintf(words, sizeof words, "\"hook\",\"%s\",\"--root=C:/a,b's.@c\"]", agents[i]);
        printed_line(given, &text, &printed);
        write_file("build/e2e-line.ps1", buf_str(&printed));
        if (!ok(program_run("check --json --show --file build/e2e-line.ps1", NULL, &out) == 0 &&
                    says(&out, words),
                "%s: PowerShell reads an awkward option as one word", agents[i]))
            note("%s: %s", buf_cstr(&printed), buf_cstr(&out));
        remove("build/e2e-line.ps1");
    }
}
#endif

static void test_settings(void)
{
    static const char before[] = "{\n   \"model\" : \"x\",\n   \"n\": [ 1,2 ]\n}\n";
    auto_buf struct buf text = {0};
#ifdef _WIN32
    (void)!system("if not exist build\\e2e-home mkdir build\\e2e-home");
    _putenv("CLAUDE_CONFIG_DIR=build\\e2e-home");
#else
    (void)!system("mkdir -p build/e2e-home");
    setenv("CLAUDE_CONFIG_DIR", "build/e2e-home", 1);
#endif
    static const char file[] = "build/e2e-home/settings.json";
    remove(file);
    expect("printed", "hook --print claude", NULL, 0, "\"PreToolUse\"");
    expect("removed where nothing is", "hook --remove claude", NULL, 0, "no hook of cordon");
    ok(!read_back(file, &text), "and no file was made");
    write_file(file, STR(before));
    expect("installed, and the change is shown", "hook --install claude --strict", NULL, 0,
           "\"type\": \"command\"");
#ifdef _WIN32
    /* Without a shell: Claude Code has Git's bash or PowerShell there. */
    ok(read_back(file, &text) && says(&text, "\"args\":") &&
           says(&text, "\"onFailure\": \"block\""),
       "a program and its words");
    static const char written[] = "\"--strict\"";
#else
    ok(read_back(file, &text) && says(&text, "exit 2'") && says(&text, "\"onFailure\": \"block\""),
       "the line ends with 2 if cordon fails");
    static const char written[] = "hook claude --strict";
#endif
    ok(read_back(file, &text) && says(&text, written) &&
           str_starts(buf_str(&text), STR("{\n   \"model\" : \"x\",\n   \"n\": [ 1,2 ],\n")),
       "the rest is as it was");
    expect("installed again", "hook --install claude --strict", NULL, 0, "there already");
    expect("removed", "hook --remove claude", NULL, 0, "removed");
    ok(read_back(file, &text) && str_eq(buf_str(&text), STR(before)), "byte for byte");
    remove(file);
    expect("installed where no file was", "hook --install claude", NULL, 0, "written");
    ok(read_back(file, &text) && says(&text, "PreToolUse"), "there is one");
    expect("removed again", "hook --remove claude", NULL, 0, "which is gone too");
    ok(!read_back(file, &text), "and there is none any more");
    write_file(file, STR("{\"a\":1,}"));
    expect("a file that does not parse", "hook --install claude", NULL, 125, "left as it is");
    ok(read_back(file, &text) && str_eq(buf_str(&text), STR("{\"a\":1,}")), "is left alone");
    expect("an agent that is not known", "hook --install cursor", NULL, 125, "claude, codex");
    remove(file);
}

int main(void)
{
    forget_variable("CLAUDE_PROJECT_DIR");
    forget_variable("CORDON");
    test_events();
    test_settings();
#ifdef _WIN32
    test_lines();
#else
    test_wrapped();
    test_own_folders();
    test_shell();
    test_plugin();
    test_taken_back();
#endif
    return tap_done();
}
