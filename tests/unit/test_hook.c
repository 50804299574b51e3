/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hooks: events of each agent against the answer it must get (tests/cases/hook), commands rewritten
 * and read back by the shell they are for, settings files changed and restored byte for byte.
 *
 * The left side of a case is a tool and options: "Bash", "Bash --wrap", "Write win" (a Windows
 * agent in C:\ws; else /ws), "raw" for a whole event, "input:TOOL" for a tool_input as JSON.
 */
#include "base/utf.h"
#include "cases.h"
#include "hook/hook.h"
#include "launch/disk.h"

static enum hook_agent agent;

static bool has_word(struct str text, struct str word)
{
    return str_find(text, word, 0) < text.n;
}

static void add_event(struct buf *out, struct str tool, bool windows,
                      const struct json_value *input, struct str raw_input)
{
    struct json_writer w = {.out = out};
    json_open(&w, '{');
    json_put(&w, STR("session_id"), STR("5f0c1f2e-7a1b-4a7e-9d55-0a3c7b1f0e11"));
    json_put(&w, STR("transcript_path"), STR("/home/u/.agent/transcript.jsonl"));
    json_put(&w, STR("cwd"), windows ? STR("C:\\ws") : STR("/ws"));
    if (agent == HOOK_CLAUDE)
        json_put(&w, STR("permission_mode"), STR("default"));
    if (agent == HOOK_CODEX) {
        json_put(&w, STR("model"), STR("gpt-5"));
        json_put(&w, STR("turn_id"), STR("turn-1"));
    }
    json_put(&w, STR("hook_event_name"), hook_agents[agent].event);
    if (agent == HOOK_GEMINI)
        json_put(&w, STR("timestamp"), STR("2026-01-31T08:05:09.120Z"));
    json_put(&w, STR("tool_name"), tool);
    json_key(&w, STR("tool_input"));
    if (input)
        json_copy(&w, input);
    else
        buf_add(out, raw_input);
    w.after_key = false;
    w.comma[w.depth] = true;
    if (agent != HOOK_GEMINI)
        json_put(&w, STR("tool_use_id"), STR("toolu_01ABC"));
    json_close(&w, '}');
}

/* "\n" in a case is a line break. */
static struct str with_breaks(struct arena *arena, struct str s)
{
    char *p = arena_alloc(arena, s.n + 1);
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] == '\\' && i + 1 < s.n && s.p[i + 1] == 'n') {
            p[n++] = '\n';
            i++;
        } else {
            p[n++] = s.p[i];
        }
    return (struct str){p, n};
}

static void tool_input(struct arena *arena, struct str tool, struct str text,
                       struct json_value *out)
{
    bool file = str_eq(tool, STR("Write")) || str_eq(tool, STR("Edit")) ||
                str_eq(tool, STR("MultiEdit")) || str_eq(tool, STR("write_file")) ||
                str_eq(tool, STR("replace")) || str_eq(tool, STR("edit")) ||
                str_eq(tool, STR("write"));
    struct json_member *m = ARENA_ARRAY(arena, 2, struct json_member);
    m[0].key = str_eq(tool, STR("apply_patch")) && agent == HOOK_OPENCODE ? STR("patchText")
               : file && agent == HOOK_OPENCODE                           ? STR("filePath")
               : file                                                     ? STR("file_path")
               : str_eq(tool, STR("NotebookEdit")) || str_eq(tool, STR("notebook_edit"))
                   ? STR("notebook_path")
                   : STR("command");
    m[0].value = (struct json_value){.type = JSON_STRING, .text = text};
    m[1].key = file ? STR("content") : STR("description");
    m[1].value = (struct json_value){.type = JSON_STRING, .text = STR("as asked")};
    *out = (struct json_value){.type = JSON_OBJECT, .count = 2, .members = m};
}

static int ask(const struct test_case *c, struct buf *event, struct buf *out)
{
    auto_arena struct arena arena = {0};
    struct cordon_policy *p;
    struct hook_options o = {.agent = agent, .program = STR("/opt/cordon")};
    struct str kind = c->kind;
    size_t blank = str_find_char(kind, ' ', 0);
    struct str tool = str_slice(kind, 0, blank), options = str_from(kind, blank);
    struct str root = STR("--root=");
    o.wrap = has_word(options, STR("--wrap"));
    o.approve = has_word(options, STR("--approve"));
    o.strict = has_word(options, STR("--strict"));
    o.inside = has_word(options, STR("inside"));
    o.windows = has_word(options, STR("win"));
    if (has_word(options, STR("--shell=powershell")))
        o.shell = GUARD_POWERSHELL;
    if (has_word(options, STR("project")))
        o.project = STR("/project");
    else if (agent == HOOK_CODEX && !has_word(options, STR("nowhere")))
        o.project = o.windows ? STR("C:\\ws") : STR("/ws"); /* as read from the session's file */
    o.confined_shell = !has_word(options, STR("noshell"));
    struct json_value input;
    if (str_eq(tool, STR("raw"))) {
        buf_add(event, c->question);
    } else if (str_starts(tool, STR("input:"))) {
        add_event(event, str_from(tool, 6), o.windows, NULL, c->question);
    } else {
        tool_input(&arena, tool, with_breaks(&arena, c->question), &input);
        add_event(event, tool, o.windows, &input, STR_NONE);
    }
    if (cordon_policy_new(&p))
        return CORDON_E_NOMEM;
    size_t at = str_find(options, root, 0);
    if (at < options.n) {
        struct str value = str_from(options, at + root.n);
        value = str_slice(value, 0, str_find_char(value, ' ', 0));
        cordon_policy_set(p, "root", arena_copy(&arena, value).p);
    }
    int rc = hook_answer(p, &o, buf_str(event), out);
    cordon_policy_free(p);
    return rc;
}

/* The decision in an answer, after checking that its shape is the agent's; "rewrite" if it only
   changes the command. */
static struct str decision_of(struct arena *arena, struct str answer, bool *shape)
{
    static const char *const known[] = {
        "hookEventName", "permissionDecision", "permissionDecisionReason",
        "updatedInput",  "tool_input",         "decision",
        "reason",        "hookSpecificOutput"};
    struct json_value v = {0};
    struct json_error error;
    *shape = true;
    if (answer.n == 0)
        return STR("empty");
    *shape = json_read(arena, answer, &v, &error) == 0 && v.type == JSON_OBJECT &&
             str_find_char(answer, '\n', 0) == answer.n - 1;
    const struct json_value *in = json_get(&v, STR("hookSpecificOutput"));
    const struct json_value *d = json_get(&v, STR("decision"));
    bool named = in && json_get(in, STR("hookEventName"));
    if (agent == HOOK_GEMINI || agent == HOOK_OPENCODE) {
        *shape = *shape && (d || (named && json_get(in, STR("tool_input"))));
        in = in ? in : &v;
    } else {
        *shape = *shape && named && v.count == 1;
        d = *shape ? json_get(in, STR("permissionDecision")) : NULL;
        *shape = *shape && (d || json_get(in, STR("updatedInput")));
    }
    for (size_t i = 0; *shape && i < in->count; i++) {
        bool found = false;
        for (size_t j = 0; j < sizeof known / sizeof *known; j++)
            found = found || str_eq(in->members[i].key, str_of(known[j]));
        *shape = *shape && found;
    }
    return d ? d->text : STR("rewrite");
}

static void run_case(const struct test_case *c)
{
    auto_arena struct arena arena = {0};
    auto_buf struct buf event = {0}, out = {0};
    size_t blank = str_find_char(c->expected, ' ', 0);
    struct str verdict = str_slice(c->expected, 0, blank);
    struct str words = str_trim(str_from(c->expected, blank));
    bool shape;
    int rc = ask(c, &event, &out);
    struct str decision = decision_of(&arena, buf_str(&out), &shape);
    bool said = words.n == 0 || has_word(buf_str(&out), words);
    if (rc || !shape || !said || !str_eq(decision, verdict)) {
        ok(false, "%s:%u: %.*s", c->file, c->line, STR_ARG(c->title));
        note("answer: %s", buf_cstr(&out));
    }
}

/* An event of a real agent: allowed as it is, and refused without its tool_input, which shows that
   this tool is judged at all. */
static void run_recorded(const struct test_case *c)
{
    auto_buf struct buf broken = {0}, event = {0}, out = {0};
    struct str key = STR("\"tool_input\""), text = c->question;
    size_t at = str_find(text, key, 0);
    run_case(c);
    buf_add(&broken, str_slice(text, 0, at));
    buf_add(&broken, STR("\"other\""));
    buf_add(&broken, str_from(text, at + key.n));
    struct test_case other = *c;
    other.question = buf_str(&broken);
    if (at >= text.n || ask(&other, &event, &out) ||
        !has_word(buf_str(&out), STR("has no tool_input")))
        ok(false, "%s:%u: %.*s is not judged", c->file, c->line, STR_ARG(c->title));
}

/* ---- rewritten commands ---- */

static const char *const awkward[] = {
    "echo plain",
    "echo 'single' \"double\" `echo back`",
    "printf '%s\\n' \"it's\" a\\ b '$HOME' \"$(echo sub)\"",
    "cat <<'EOF'\nhere 'quoted' \"text\" \\ $x\nEOF",
    "echo '''' \"\" ''",
    "echo \xC3\xA4\xE2\x80\x99\xF0\x9F\x98\x80",
    "x='a b'; echo \"$x\" | sed 's/a/\\x27/'",
    "echo !! # not history",
    "echo \\",
    "printf 'tab\\there' \t end",
    "  echo lead; echo trail  ",
    "case a in a) echo 'in';; esac",
    "echo -n '-e' -- --root",
    "echo %PATH% ^& ~ * ? [a]",
};

#ifndef _WIN32
#include <sys/wait.h>

static bool run_bash(struct str script, struct buf *out)
{
    FILE *f = fopen("build/hook-test.sh", "wb");
    if (!f)
        return false;
    fwrite(script.p, 1, script.n, f);
    fclose(f);
    FILE *pipe = popen("bash build/hook-test.sh 2>&1", "r");
    char chunk[512];
    for (size_t n; pipe && (n = fread(chunk, 1, sizeof chunk, pipe)) > 0;)
        buf_add(out, (struct str){chunk, n});
    int status = pipe ? pclose(pipe) : -1;
    remove("build/hook-test.sh");
    return WIFEXITED(status);
}

/* bash runs the rewritten text; a script in the place of cordon prints what it was given. */
static void test_bash(void)
{
    const char *const words[] = {"--net=loopback", "--root", "it's a \"root\" $HOME"};
    FILE *stand_in = fopen("build/hook-cordon", "wb");
    if (!stand_in)
        return;
    fputs("#!/bin/sh\nfor a in \"$@\"; do printf '<%s>' \"$a\"; done\n", stand_in);
    fclose(stand_in);
    if (system("chmod +x build/hook-cordon"))
        return;
    for (size_t i = 0; i < sizeof awkward / sizeof *awkward; i++) {
        auto_buf struct buf wrapped = {0}, direct = {0}, expected = {0}, out = {0};
        struct hook_options o = {
            .agent = HOOK_CODEX, .program = STR("build/hook-cordon"), .words = words};
        o.word_count = sizeof words / sizeof *words;
        int rc =
            hook_wrap(&o, GUARD_BASH, STR("/w s/'x'"), STR("id-1"), str_of(awkward[i]), &wrapped);
        run_bash(buf_str(&wrapped), &out);
        run_bash(STR("printf %s \"$BASH\""), &direct);
        buf_add(&expected, STR("<run><--net=loopback><--root><it's a \"root\" $HOME><--root>"
                               "</w s/'x'><--temp=own><--session=id-1><--><"));
        buf_add(&expected, buf_str(&direct));
        buf_fmt(&expected, "><-c><%s>", awkward[i]);
        if (!ok(rc == 0 && str_eq(buf_str(&out), buf_str(&expected)), "bash reads back: %s",
                str_find_char(str_of(awkward[i]), '\n', 0) < strlen(awkward[i]) ? "a here document"
                                                                                : awkward[i]))
            note("%s", buf_cstr(&out));
    }
    remove("build/hook-cordon");
}
#endif

static int digit(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *hit = c ? strchr(digits, c) : NULL;
    return hit ? (int)(hit - digits) : -1;
}

static void decode(struct str text, struct buf *out)
{
    auto_buf struct buf bytes = {0};
    uint32_t bits = 0;
    unsigned have = 0;
    for (size_t i = 0; i < text.n && digit(text.p[i]) >= 0; i++) {
        bits = bits << 6 | (uint32_t)digit(text.p[i]);
        if ((have += 6) >= 8)
            buf_char(&bytes, (char)(bits >> (have -= 8)));
    }
    uint16_t *units = calloc(bytes.n / 2 + 1, sizeof *units);
    for (size_t i = 0; i < bytes.n / 2; i++)
        units[i] = (uint16_t)((unsigned char)bytes.p[2 * i] |
                              (unsigned)(unsigned char)bytes.p[2 * i + 1] << 8);
    utf_from16(out, units, bytes.n / 2);
    free(units);
}

/* The encoded text decodes to the command, and the guard reads the whole as one call. */
static void test_powershell(void)
{
    struct hook_options o = {.program = STR("C:\\it's\\cordon.exe"), .windows = true};
    for (size_t i = 0; i < sizeof awkward / sizeof *awkward; i++) {
        auto_buf struct buf wrapped = {0}, back = {0};
        int rc = hook_wrap(&o, GUARD_POWERSHELL, STR("C:\\w s"), STR("id"), str_of(awkward[i]),
                           &wrapped);
        struct str text = buf_str(&wrapped), mark = STR("-EncodedCommand ");
        decode(str_from(text, str_find(text, mark, 0) + mark.n), &back);
        ok(rc == 0 && str_eq(buf_str(&back), str_of(awkward[i])) &&
               str_starts(text, STR("& 'C:\\it''s\\cordon.exe' run --root 'C:\\w s' "
                                    "'--temp=session=id' '--' (Get-Process")),
           "PowerShell command %u decodes to itself", (unsigned)i);
    }
    auto_buf struct buf out = {0};
    ok(hook_wrap(&o, GUARD_CMD, STR("x"), STR("y"), STR("dir"), &out) == CORDON_E_VALUE,
       "there is no rewriting for cmd");
    char *big = malloc(40000);
    memset(big, 'x', 40000);
    ok(hook_wrap(&o, GUARD_BASH, STR("x"), STR("y"), (struct str){big, 40000}, &out) ==
           CORDON_E_TOOBIG,
       "too long for a command line of Windows");
    free(big);
    ok(hook_wrap(&o, GUARD_BASH, STR("x"), STR("a b;c"), STR("ls"), &out) == 0 &&
           !has_word(buf_str(&out), STR("--temp")),
       "a strange session id is left out");
}

/* A line of settings with this word in the place of the program and of an argument, read as
   PowerShell reads it. */
static bool reads_back(struct guard *guard, struct str word, struct buf *line)
{
    struct guard_answer a;
    buf_add(line, STR("$x = 1; try { & "));
    bool good = hook_powershell_word(line, word);
    buf_add(line, STR(" hook gemini --root "));
    good = good && hook_powershell_word(line, word);
    buf_add(line, STR(" ; $x = $LASTEXITCODE } catch { }; if ($x -ne 0) { exit 2 }"));
    struct guard_question q = {.text = buf_str(line), .shell = GUARD_POWERSHELL, .show = true};
    if (!good || guard_check(guard, &q, &a) || a.verdict != CORDON_ALLOW)
        return false;
    const struct guard_read *r = a.reads;
    return a.read_count >= 1 && str_eq(r->name.text, word) && r->count == 4 &&
           str_eq(r->args[0].text, STR("hook")) && str_eq(r->args[1].text, STR("gemini")) &&
           str_eq(r->args[2].text, STR("--root")) && str_eq(r->args[3].text, word);
}

static void test_powershell_words(void)
{
    static const char *const words[] = {"plain",
                                        "C:\\Program Files\\cordon.exe",
                                        "C:\\a,b\\c",
                                        "@x",
                                        "-a:b",
                                        "--root=C:\\x.y",
                                        "a+b=c@d,e",
                                        "1,2",
                                        "0x10",
                                        "--",
                                        "--%",
                                        "it's",
                                        "'",
                                        "a\xE2\x80\x98"
                                        "b",
                                        "a\xE2\x80\x99"
                                        "b",
                                        "\xE2\x80\x9A",
                                        "\xE2\x80\x9B"
                                        "x",
                                        "a\xE2\x80\x9C"
                                        "b c",
                                        "\xE2\x80\x9D",
                                        "\xE2\x80\x9E"
                                        "x y",
                                        "a;b",
                                        "a|b",
                                        "a&b",
                                        "(a)",
                                        "{a}",
                                        "a`nb",
                                        "%a%",
                                        "a#b",
                                        "#a",
                                        "~",
                                        "*",
                                        "a>b",
                                        "a\xC2\xA0"
                                        "b",
                                        "\xE2\x80\x93x",
                                        "!",
                                        "[a]"};
    static const char *const no_form[] = {"", "a\"b", "$a", "a\nb", "a b\\"};
    struct guard *guard;
    if (guard_new(&guard))
        return;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        auto_buf struct buf line = {0};
        if (!ok(reads_back(guard, str_of(words[i]), &line), "PowerShell reads %s as it is",
                words[i]))
            note("line: %s", buf_cstr(&line));
    }
    for (size_t i = 0; i < sizeof no_form / sizeof *no_form; i++) {
        auto_buf struct buf line = {0};
        ok(!hook_powershell_word(&line, str_of(no_form[i])), "no form for word %u", (unsigned)i);
    }
    auto_buf struct buf line = {0};
    ok(hook_powershell_word(&line, STR("a,b")) && str_eq(buf_str(&line), STR("'a,b'")) &&
           hook_powershell_word(&line, STR("--wrap")) && str_eq(buf_str(&line), STR("'a,b'--wrap")),
       "quoted where it matters");
    guard_free(guard);
}

/* ---- settings ---- */

static const char *const files[] = {
    "",
    "{}",
    "{\n}\n",
    "{\"a\":1}",
    "{\n  \"model\": \"x\"\n}\n",
    "{\r\n\t\"model\": \"x\",\r\n\t\"list\": [1, 2]\r\n}\r\n",
    "\xEF\xBB\xBF{\n    \"a\": \"\\u00e9 {[\\\"]}\"\n}",
    "{\n  \"hooks\": {}\n}\n",
    "{\n  \"hooks\": {\n    \"Stop\": [\n      {\"hooks\": []}\n    ]\n  },\n  \"z\": null\n}\n",
    "{\n  \"hooks\": {\n    \"PreToolUse\": [],\n    \"BeforeTool\": []\n  }\n}\n",
    "{\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\n        \"matcher\": \"Bash\",\n        "
    "\"hooks\": [{\"type\": \"command\", \"command\": \"lint\"}]\n      }\n    ],\n    "
    "\"BeforeTool\": [{\"hooks\": []}]\n  }\n}\n",
    "{\"hooks\":{\"PreToolUse\":[{\"hooks\":[{\"command\":\"a\"}]}],\"BeforeTool\":[{}]},\"b\":2}",
};

static bool restores(struct str before, struct str after)
{
    /* Only empty values may be spelled differently afterwards. */
    auto_arena struct arena arena = {0};
    struct json_value a, b;
    struct json_error error;
    if (str_eq(before, after))
        return true;
    if (str_trim(before).n == 0)
        return str_eq(after, STR("{}\n"));
    if (str_starts(before, STR("\xEF\xBB\xBF")) || json_read(&arena, before, &a, &error) ||
        json_read(&arena, after, &b, &error))
        return false;
    return a.count == b.count || a.count <= 1;
}

static void test_settings(void)
{
    struct str command = STR("/opt/cordon hook NAME --root \"/a b\"");
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        for (int name = 0; name < HOOK_AGENT_COUNT; name++) {
            if (name == HOOK_OPENCODE)
                continue; /* a file of JavaScript (tests/e2e/test_hook.c) */
            auto_arena struct arena arena = {0};
            auto_buf struct buf in = {0}, twice = {0}, out = {0}, error = {0}, call = {0};
            auto_buf struct buf other = {0};
            struct str text = str_of(files[i]);
            struct json_value v;
            struct json_error wrong;
            bool changed = false, again = true, removed = false, replaced = false;
            buf_fmt(&call, "/opt/cordon hook %s%s", hook_agents[name].name, command.p + 21);
            struct hook_entry entry = {.command = buf_str(&call)};
            struct hook_entry new_entry = {.command = STR("cordon hook x")};
            int rc = hook_install((enum hook_agent)name, text, &entry, &in, &changed, &error);
            struct str body = buf_str(&in);
            bool bom = str_starts(body, STR("\xEF\xBB\xBF"));
            int parsed = json_read(&arena, str_from(body, bom ? 3 : 0), &v, &wrong);
            rc |= hook_install((enum hook_agent)name, body, &entry, &twice, &again, &error);
            rc |= hook_install((enum hook_agent)name, body, &new_entry, &other, &replaced, &error);
            rc |= hook_remove((enum hook_agent)name, body, &out, &removed, &error);
            /* Every byte of the old text is still there, in order: what was added is one piece. */
            size_t same = 0, tail = 0;
            while (same < text.n && same < body.n && text.p[same] == body.p[same])
                same++;
            while (tail < text.n - same && text.p[text.n - 1 - tail] == body.p[body.n - 1 - tail])
                tail++;
            bool kept = same + tail == text.n || text.n == 0;
            if (!ok(rc == 0 && changed && !again && removed && replaced && parsed == 0 && kept &&
                        restores(text, buf_str(&out)),
                    "%s: settings %u", hook_agents[name].name, (unsigned)i))
                note("in: %s\n# out: %s", buf_cstr(&in), buf_cstr(&out));
        }
    }
    static const char *const broken[] = {
        "{\"a\":1,}",      "[1]",      "{",
        "{\"hooks\":[]}",  "nonsense", "{\"hooks\":{\"PreToolUse\":{}}}",
        "/* comment */ {}"};
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        auto_buf struct buf out = {0}, error = {0};
        bool changed = false;
        struct hook_entry entry = {.command = STR("cordon hook claude")};
        int rc = hook_install(HOOK_CLAUDE, str_of(broken[i]), &entry, &out, &changed, &error);
        ok(rc < 0 && out.n == 0 && error.n > 0, "not touched: %s", broken[i]);
    }
    auto_buf struct buf out = {0}, error = {0};
    bool changed = true;
    hook_remove(HOOK_CLAUDE,
                STR("{\"hooks\":{\"PreToolUse\":[{\"hooks\":[{\"command\":\"mycord hook claude\"},"
                    "{\"command\":\"cordon hook claudette\"}]}]}}"),
                &out, &changed, &error);
    ok(!changed, "other people's hooks stay");
    static const char *const lines[] = {"& 'C:/x y/cordon.exe' hook gemini; if ($LASTEXITCODE) {}",
                                        "try { & 'cordon.exe' hook gemini ; $x = 0 } catch { }"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        auto_buf struct buf in = {0}, gone = {0};
        struct hook_entry entry = {.command = str_of(lines[i]), .powershell = i > 0};
        int rc = hook_install(HOOK_GEMINI, STR("{}\n"), &entry, &in, &changed, &error);
        ok(rc == 0 && has_word(buf_str(&in), STR("\"shell\": \"powershell\"")) == (i > 0) &&
               hook_remove(HOOK_GEMINI, buf_str(&in), &gone, &changed, &error) == 0 && changed &&
               !has_word(buf_str(&gone), STR("cordon")),
           "a line for PowerShell is found again (%u)", (unsigned)i);
    }
}

/* Claude Code's shell in the settings: comes, is replaced and goes; another one is not touched. */
static void test_shell_setting(void)
{
    static const char *const texts[] = {"", "{\n  \"env\": {\n    \"A\": \"1\"\n  }\n}\n",
                                        "{\"env\":{}}", "{\"b\":2}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        auto_buf struct buf in = {0}, again = {0}, out = {0}, error = {0};
        bool changed = false, second = true, removed = false;
        struct hook_entry entry = {.command = STR("cordon hook claude --wrap"),
                                   .shell = STR("/h/.claude/cordon/bash")};
        int rc = hook_install(HOOK_CLAUDE, str_of(texts[i]), &entry, &in, &changed, &error);
        rc |= hook_install(HOOK_CLAUDE, buf_str(&in), &entry, &again, &second, &error);
        rc |= hook_remove(HOOK_CLAUDE, buf_str(&in), &out, &removed, &error);
        if (!ok(rc == 0 && changed && !second && removed &&
                    has_word(buf_str(&in),
                             STR("\"CLAUDE_CODE_SHELL\": \"/h/.claude/cordon/bash\"")) !=
                        has_word(buf_str(&in),
                                 STR("\"CLAUDE_CODE_SHELL\":\"/h/.claude/cordon/bash\"")) &&
                    !has_word(buf_str(&out), STR("CLAUDE_CODE_SHELL")) &&
                    has_word(buf_str(&out), STR("\"A\"")) == (i == 1),
                "the shell in settings %u", (unsigned)i))
            note("in: %s\n# out: %s", buf_cstr(&in), buf_cstr(&out));
    }
    auto_buf struct buf out = {0}, error = {0};
    bool changed = true;
    struct hook_entry entry = {.command = STR("cordon hook claude --wrap"),
                               .shell = STR("/h/.claude/cordon/bash")};
    struct str own = STR("{\"env\":{\"CLAUDE_CODE_SHELL\":\"/bin/zsh\"}}");
    ok(hook_install(HOOK_CLAUDE, own, &entry, &out, &changed, &error) == CORDON_E_SYNTAX &&
           out.n == 0 && has_word(buf_str(&error), STR("another CLAUDE_CODE_SHELL")),
       "a shell that the person has chosen is not replaced");
    changed = true;
    hook_remove(HOOK_CLAUDE, own, &out, &changed, &error);
    ok(!changed, "nor removed");
}

/* Codex's hash of a hook; tests/agents shows that Codex itself accepts it. */
static void test_trust(void)
{
    struct str hooks = STR("{\"hooks\":{\"PreToolUse\":[{\"matcher\":\"^Bash$\",\"hooks\":["
                           "{\"type\":\"command\",\"command\":\"/opt/cordon hook codex\"}]}]}}");
    struct str file = STR("/p/.codex/hooks.json");
#define STATE(more) \
    "model = \"x\"\n[hooks.state.\"/p/.codex/hooks.json:pre_tool_use:0:0\"]\n" more "\n[other]\n"
#define HASH "20654f8451db35c677342b4d355f6d4ae01f6268219a7dc63bf7219f38bda258"
    static const struct {
        const char *config;
        enum hook_trust trust;
    } cases[] = {
        {"", HOOK_UNTRUSTED},
        {STATE("trusted_hash = \"sha256:" HASH "\""), HOOK_TRUSTED},
        {STATE("enabled = true\ntrusted_hash = \"sha256:" HASH "\""), HOOK_TRUSTED},
        {STATE("enabled = false\ntrusted_hash = \"sha256:" HASH "\""), HOOK_OFF},
        {STATE("trusted_hash = \"sha256:0" HASH "\""), HOOK_CHANGED},
        {STATE("") "trusted_hash = \"sha256:" HASH "\"", HOOK_UNTRUSTED},
        {"# [hooks.state.\"/p/.codex/hooks.json:pre_tool_use:0:0\"]\ntrusted_hash = "
         "\"sha256:" HASH "\"",
         HOOK_UNTRUSTED},
        {"[hooks.state.'/p/.codex/hooks.json:pre_tool_use:0:0']\ntrusted_hash = \"sha256:" HASH
         "\"\n",
         HOOK_TRUSTED},
        {"[hooks.state.\"/p/.codex/hooks.json:pre_tool_use:1:0\"]\ntrusted_hash = "
         "\"sha256:" HASH "\"",
         HOOK_UNTRUSTED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        ok(hook_codex_trust(file, hooks, str_of(cases[i].config)) == cases[i].trust,
           "codex trust %u", (unsigned)i);
    ok(hook_codex_trust(file, STR("{}"), str_of(cases[1].config)) == HOOK_NOT_THERE,
       "no hook, no trust");
#undef STATE
#undef HASH
}

/* An event over the limit, and one just below it. */
static void test_limit(void)
{
    for (int over = 0; over < 2; over++) {
        auto_buf struct buf event = {0}, out = {0};
        struct cordon_policy *p;
        struct hook_options o = {.agent = HOOK_CLAUDE};
        buf_add(&event, STR("{\"tool_name\":\"Read\",\"x\":\""));
        buf_fill(&event, 'x', HOOK_MAX_EVENT - event.n - 2 + (over ? 1 : 0));
        buf_add(&event, STR("\"}"));
        if (cordon_policy_new(&p))
            return;
        int rc = hook_answer(p, &o, buf_str(&event), &out);
        cordon_policy_free(p);
        ok(rc == 0 && (over ? has_word(buf_str(&out), STR("4 MiB")) : out.n == 0),
           over ? "one byte over 4 MiB is refused" : "4 MiB are read");
    }
}

int main(void)
{
    for (int i = 0; i < HOOK_AGENT_COUNT; i++) {
        char path[64];
        agent = (enum hook_agent)i;
        snprintf(path, sizeof path, "tests/cases/hook/%s.case", hook_agents[i].name);
        int failed = tap_failed;
        size_t count = cases_run_file(path, run_case);
        ok(failed == tap_failed && count >= 100, "%s: %u events", hook_agents[i].name,
           (unsigned)count);
        snprintf(path, sizeof path, "tests/cases/hook/recorded-%s.case", hook_agents[i].name);
        failed = tap_failed;
        count = cases_run_file(path, run_recorded);
        ok(failed == tap_failed && count >= 3, "%s: %u events of the agent itself",
           hook_agents[i].name, (unsigned)count);
    }
#ifndef _WIN32
    test_bash();
#endif
    test_powershell();
    test_powershell_words();
    test_settings();
    test_shell_setting();
    test_trust();
    test_limit();
    return tap_done();
}
