/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mistakes of a new user in the first five minutes: each message says what is wrong and what to
 * type instead. The arguments are what arrives after cmd, PowerShell or bash have read the line.
 */
#include "base/arena.h"
#include "base/json.h"
#include "e2e/program.h"

struct mistake {
    const char *what, *arguments;
    int code;
    const char *words;
    const char *also; /* NULL: nothing more */
};

static const struct mistake mistakes[] = {
    {"run without --", "run npm test", 125, "cordon run -- npm", NULL},
    {"run without -- behind a switch", "run --quiet npm test", 125,
     "cordon run \xE2\x80\xA6 -- npm", NULL},
    {"run without -- behind a tool", "run --for npm npm ci", 125,
     "cordon run \xE2\x80\xA6 -- npm \xE2\x80\xA6\n", NULL},
    {"two folders", "run --root . ../x -- npm test", 125, "--root . --root ../x", NULL},
    {"check without --", "check git status", 125, "cordon check -- git", NULL},
    {"no command at all", "run --", 125, "cordon run -- PROGRAM", NULL},
    {"no subcommand", "npm test", 125, "cordon run -- npm", NULL},
    {"no subcommand, with --", "-- npm test", 125, "cordon run -- npm", NULL},
    {"options first", "--root . -- npm test", 125, "cordon run --root", NULL},
    {"-h", "run -h", 0, "Example:", NULL},
    {"a word from elsewhere for --root", "run --allow-write . -- npm test", 125,
     "did you mean --root?", NULL},
    {"a word from elsewhere for --net", "run --network=off -- npm test", 125, "did you mean --net?",
     NULL},
    {"a word from elsewhere for --mode", "run --read-only -- npm test", 125,
     "did you mean --mode read-only?", NULL},
    {"a host for a switch", "run --allow-net example.com -- npm test", 125,
     "did you mean --net=allow=HOST?", NULL},
    {"a set that does not exist", "run --unset @secret -- npm test", 125, "there is @secrets",
     NULL},
    {"letters exchanged", "rnu -- npm test", 125, "did you mean cordon run?", NULL},
    {"a home folder that the shell did not expand", "run --root=~/nowhere -- npm test", 125,
     "leave a blank before it", NULL},
    {"no sandbox and no network", "run --mode full-access --net=off -- npm test", 125,
     "--net and --mode contradict each other", "no sandbox"},
    {"no sandbox and a secret", "run --mode full-access --deny-read x -- npm test", 125,
     "--deny-read and --mode contradict each other", NULL},
    {"no sandbox and a closed folder", "run --deny-write x --mode full-access -- npm test", 125,
     "--deny-write and --mode contradict each other", NULL},
    {"a host after a blank", "run --net allow example.com -- npm test", 125,
     "--net=allow=example.com", NULL},
    {"a line to check, behind --", "check -- \"rm -rf x\"", 125, "cordon check --shell",
     "a whole line"},
    {"a line with a redirection", "check -- \"echo x > /etc/x\"", 125, "cordon check --shell",
     NULL},
    {"a line to check", "check \"rm -rf x\"", 125, "cordon check --shell", "\"rm -rf x\""},
    {"a topic that is mistyped", "help rn", 125, "did you mean cordon help run?", NULL},
    {"mistyped", "run --rot . -- npm test", 125, "did you mean --root?", NULL},
    {"one dash", "run -root . -- npm test", 125, "two dashes", NULL},
    {"an underscore", "run --mode=workspace_write -- npm test", 125, "workspace-write", NULL},
    {"a network mode that is none", "run --net=none -- npm test", 125, "off, loopback", NULL},
    {"seconds with a unit", "run --timeout=10s -- npm test", 125, "seconds, a whole number", NULL},
    {"a size in words", "run --max-memory=4GB -- npm test", 125, "4G", NULL},

    {"a root that is not there", "run --root build/nowhere -- npm test", 125, "folder not found",
     "create it first"},
    {"a root of a policy that is not there", "why write x --policy build/e2e-mis/nowhere.json", 125,
     "folder not found", "list it in createRoots"},
    {"a root that is a file", "run --root README.md -- npm test", 125, "a root is a folder", NULL},
    {"several roots in one", "run --root=src,tests -- npm test", 125, "once for each folder", NULL},
    {"a path with a blank, without quotes", "run --root build/e2e mis -- npm test", 125,
     "put both in quotes", "--root \"build/e2e mis\""},
    {"text in pieces", "check --shell powershell Start-Process x", 125, "put it in quotes",
     "\"TEXT\""},
    {"single quotes in cmd", "run -- \"'npm\" \"test'\"", 127, "takes only \"", NULL},
    {"a whole line in quotes", "run -- \"npm-of-nobody test\"", 127, "leave out the quotes", NULL},
    {"a pipe in quotes", "run -- \"dir-of-nobody | more\"", 127, "that is for a shell", NULL},
    {"a value that is missing", "run --net -- npm test", 125, "--net needs a value before --",
     NULL},
    {"-v of run", "run -v -- npm test", 125, "--verbose", "--version"},
    {"a pattern of files", "run --deny-read *.env-of-nobody -- npm test", 125,
     "wildcards are not supported", "name the file, or the folder"},
    {"a pattern of one letter", "run --deny-write env-of-nobod? -- npm test", 125,
     "wildcards are not supported", "name the file, or the folder"},
    {"a pattern in a policy", "why write x --policy build/e2e-mis/pattern.json", 125,
     "pattern.json:1:14: wildcards are not supported", "name the file, or the folder"},
    {"a letter in a policy", "why write x --policy build/e2e-mis/letter.json", 125,
     "letter.json:1:15: wildcards are not supported", "name the file, or the folder"},
    {"several tools in one are no mistake", "why connect crates.io:443 --for npm,cargo", 0, "allow",
     NULL},
    {"one of them that has no preset", "why connect crates.io:443 --for npm,nothing", 125,
     "--for does not take \"nothing\"", NULL},
    {"a key that is like no other", "why write x --policy build/e2e-mis/far.json", 125,
     "unknown key \"for\"\n", NULL},
    {"a tool that has no preset", "run --for nothing -- npm test", 125, "npm, pnpm", "or gem"},
    {"a mistake with --json", "run --rot . --json -- npm test", 125,
     "\"message\":\"unknown option --rot; did you mean --root?\"", NULL},
    {"no command, with --json", "run --json", 125, "\"message\":\"no command given;", NULL},
    {"no --, with --json", "run --json npm test", 125, "\"message\":\"put -- in front", NULL},
    {"a level that is none, with --json", "run --json --integrity=high -- npm test", 125,
     "\"message\":\"--integrity is low or medium\"", NULL},
    {"a root that is not there, with --json", "run --json --root build/nowhere -- npm test", 125,
     "\"message\":\"--root build/nowhere: folder not found", "\"reason\":\"failed\""},
    {"none beside a root", "check --root none --root . -- npm test", 125, "./none", NULL},
    {"a program that is not there, with --json", "run --json -- no-such-program-here", 127,
     "\"message\":\"no-such-program-here: program not found\"", NULL},
    {"a program that is not there", "run -- no-such-program-here", 127, "program not found", NULL},

    {"a comma at the end of an object", "why write x --policy build/e2e-mis/comma.json", 125,
     "comma.json:3:1: there is a comma before }; take it out", NULL},
    {"a comma at the end of a list", "why write x --policy build/e2e-mis/list.json", 125,
     "list.json:1:15: there is a comma before ]; take it out", NULL},
    {"a comment", "why write x --policy build/e2e-mis/comment.json", 125, "no comments", NULL},
    {"single quotes", "why write x --policy build/e2e-mis/single.json", 125, "double quotes", NULL},
    {"one backslash", "why write x --policy build/e2e-mis/back.json", 125,
     "a backslash is written \\\\", NULL},
    {"UTF-16, as > of PowerShell 5.1 writes", "why write x --policy build/e2e-mis/utf16.json", 125,
     "save it as UTF-8", NULL},
    {"a byte order mark is no mistake", "why write x --policy build/e2e-mis/bom.json", 0, "allow",
     NULL},
    {"a key that is not known", "why write x --policy build/e2e-mis/key.json", 125, "key.json:1:2",
     "did you mean \"roots\"?"},
    {"one string for a list", "why write x --policy build/e2e-mis/type.json", 125, "must be a list",
     NULL},
    {"an empty file", "why write x --policy build/e2e-mis/empty.json", 125, "empty.json:1:1", NULL},
    {"a wildcard", "why write x --policy build/e2e-mis/star.json", 125, "name the folder", NULL},
    {"a variable that is not set", "why write x --policy build/e2e-mis/variable.json", 125,
     "is not set", NULL},
    {"a policy file that is not there", "run --policy build/nope.json -- npm test", 125,
     "build/nope.json", NULL},

    {"quotes that PowerShell 5.1 strips, a string",
     "sandbox -c sandbox_mode=workspace-write --no-such", 125, "unknown option --no-such", NULL},
    {"quotes that PowerShell 5.1 strips, a list",
     "sandbox -c sandbox_workspace_write.writable_roots=[C:\\ws] -- npm test", 125,
     "the shell took them", "['C:/ws']"},
    {"install without dashes", "hook install claude", 2, "cordon hook --install claude", NULL},
    {"an agent that is not known", "hook --install copilot", 125, "Copilot CLI: claude", NULL},
    {"a report of nothing", "report build/nope.jsonl", 125, "build/nope.jsonl", NULL},
};

#ifndef _WIN32
static const struct mistake here[] = {
    {"an empty name", "run -- \"\"", 127, "its name is empty", NULL},
    {"a pattern of folders", "run --root *-of-nobody -- npm test", 125,
     "wildcards are not supported", "name the folder"},
    {"the slashes of Windows", "run --root '.\\src' -- true", 125, "separated by /", NULL},
    {"a drive of Windows", "run --root 'C:\\ws' -- true", 125, "another system", NULL},
    {"the whole disk", "run --root / -- true", 125, "the whole file system", "--allow-broad-root"},
    {"a word of the shell", "run -- cd src", 127, "built into the shell", "sh -c"},
    {"a variable in front", "run -- A=1 true", 127, "env NAME=VALUE", NULL},
    {"a long dash and a short one", "run \xE2\x80\x94-root . -- true", 125,
     "type two short ones: --root\n", NULL},
    {"two dashes of middle length", "run \xE2\x80\x93\xE2\x80\x93root . -- true", 125,
     "type two short ones: --root\n", NULL},
    {"another word for --remove", "hook --uninstall claude", 2, "did you mean --remove NAME?",
     NULL},
    {"--git twice", "run --git=commit --git=full -- true", 125,
     "--git was given twice, as commit and as full; keep --git=full, which allows both", NULL},
    {"--git twice, the other way round", "run --git=full --git=commit -- true", 125,
     "--git was given twice, as full and as commit; keep --git=full, which allows both", NULL},
    {"two lists of hosts", "run --net=allow=a.test --net=allow=b.test:22 -- true", 125,
     "keep one with both lists: --net=allow=a.test,b.test:22", NULL},
    {"a long dash", "run \xE2\x80\x94root . -- true", 125, "type two short ones: --root", NULL},
    {"quotes of a word processor", "run --root \xE2\x80\x9Csrc\xE2\x80\x9D -- true", 125,
     "not those of this shell", NULL},
    {"an audit in no folder", "run --audit build/no/such/a.jsonl -- true", 125,
     "build/no/such/a.jsonl", NULL},
    {"blanks and umlauts are no mistake",
     "why write 'build/e2e-mis/a b/\xC3\xA4/x' --root 'build/e2e-mis/a b/\xC3\xA4'", 0, "allow",
     NULL},
    {"and outside of them", "why write 'build/x' --root 'build/e2e-mis/a b/\xC3\xA4'", 126,
     "--root 'build/e2e-mis/a b/\xC3\xA4'", NULL},
};
#else
static const struct mistake here[] = {
    {"forward slashes are no mistake", "why write build/e2e-mis/x --root build/e2e-mis", 0, "allow",
     NULL},
    {"backslashes neither", "why write build\\e2e-mis\\x --root build\\e2e-mis", 0, "allow", NULL},
    {"blanks neither", "why write \"build\\e2e-mis\\a b\\x\" --root \"build\\e2e-mis\\a b\"", 0,
     "allow", NULL},
    {"a word of cmd", "run -- dir", 127, "built into cmd", "cmd /c"},
};
#endif

static void write_files(void)
{
    static const struct {
        const char *name;
        struct str text;
    } files[] = {{"comma", STR("{\n  \"roots\": [\".\"],\n}\n")},
                 {"list", STR("{\"roots\":[\".\",]}")},
                 {"comment", STR("{\n  // here\n  \"roots\": [\".\"]\n}\n")},
                 {"single", STR("{'roots': ['.']}")},
                 {"back", STR("{\"roots\": [\"C:\\ws\"]}")},
                 {"utf16", STR("\xFF\xFE{\0}\0")},
                 {"bom", STR("\xEF\xBB\xBF{\"roots\": [\"../..\"]}")},
                 {"key", STR("{\"root\": [\".\"]}")},
                 {"type", STR("{\"roots\": \".\"}")},
                 {"empty", STR("")},
                 {"star", STR("{\"roots\": [\"src/*\"]}")},
                 {"pattern", STR("{\"denyRead\":[\"*.env\"]}")},
                 {"letter", STR("{\"denyWrite\":[\".en?\"]}")},
                 {"nowhere", STR("{\"roots\":[\"not-there\"]}")},
                 {"far", STR("{\"for\":[\"npm\"]}")},
                 {"variable", STR("{\"roots\": [\"$NO_SUCH_VARIABLE/x\"]}")}};
#ifdef _WIN32
    (void)!system("mkdir build\\e2e-mis \"build\\e2e-mis\\a b\" 2>nul");
#else
    (void)!system("mkdir -p 'build/e2e-mis/a b/\xC3\xA4'");
#endif
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[128];
        snprintf(path, sizeof path, "build/e2e-mis/%s.json", files[i].name);
        write_file(path, files[i].text);
    }
}

static void run_all(const struct mistake *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct mistake *m = &list[i];
        auto_buf struct buf out = {0};
        int code = program_run(m->arguments, NULL, &out);
        bool said = says(&out, m->words) && (!m->also || says(&out, m->also));
        /* A mistake is answered in one line. */
        bool short_answer = code != 125 || says(&out, "\"summary\"") ||
                            str_find_char(buf_str(&out), '\n', 0) + 2 >= out.n;
        if (!ok(code == m->code && said && short_answer, "%s", m->what))
            note("exit code %d, expected %d and \"%s\"; output: %s", code, m->code, m->words,
                 buf_cstr(&out));
    }
}

/* The line that a program reads from stdout; the other one, from stderr, may come first or last. */
static bool read_object(struct arena *arena, const struct buf *out, struct json_value *object)
{
    struct str text = str_trim(buf_str(out));
    size_t end = text.n && text.p[0] == '{' ? str_find_char(text, '\n', 0) : text.n, begin = end;
    while (begin > 0 && text.p[begin - 1] != '\n')
        begin--;
    struct json_error error;
    return json_read(arena, str_slice(text, begin, end), object, &error) == 0 &&
           object->type == JSON_OBJECT;
}

/* With --json a failure is an object that repeats the sentence of stderr, and exit tells the
   code. */
static void check_json_failures(void)
{
    static const struct {
        const char *arguments;
        bool verdict;
    } calls[] = {{"check --json", true},
                 {"check --json --no-such", true},
                 {"check --shell nosh --json x", true},
                 {"check --json --policy build/nope.json -- ls", true},
                 {"check --json --explain nosuch", true},
                 {"why --json", true},
                 {"why write x --json --net=none", true},
                 {"why write x --policy build/e2e-mis/key.json --json", true},
                 {"why --list --json --root build/nowhere", true},
                 {"explain --json nosuch", false},
                 {"explain --json", false},
                 {"changes --json --no-such", false},
                 {"undo --json --no-such", false},
                 {"undo --json nosuch", false},
                 {"runs --json --drop nosuch", false},
                 {"denials --json x", false},
                 {"doctor --json --no-such", false},
                 {"report --json", false},
                 {"report --json build/nope.jsonl", false},
                 {"selftest --json --only x", false},
                 {"wyh --json", false}};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        auto_arena struct arena arena = {0};
        auto_buf struct buf out = {0};
        struct json_value object = {0};
        int code = program_run(calls[i].arguments, NULL, &out);
        bool is_object = read_object(&arena, &out, &object);
        const struct json_value *error = json_get(&object, STR("error"));
        const struct json_value *verdict = json_get(&object, STR("verdict"));
        const struct json_value *exit_code = json_get(&object, STR("exit"));
        auto_buf struct buf said = {0};
        buf_fmt(&said, "cordon: %.*s", STR_ARG(error ? error->text : STR_NONE));
        bool right = is_object && error && says(&out, buf_cstr(&said)) && error->text.n > 5 &&
                     !!verdict == calls[i].verdict && exit_code &&
                     str_eq(exit_code->text, STR("125"));
        if (!ok(code == 125 && right, "%s: an object with the sentence", calls[i].arguments))
            note("exit code %d; output: %s", code, buf_cstr(&out));
    }
    auto_buf struct buf out = {0};
    ok(program_run("explain --json roots.outside", NULL, &out) == 0 && !says(&out, "\"error\""),
       "an answer has no error");
    ok(program_run("check --file build/nope.sh -- --json", NULL, &out) == 125 &&
           !says(&out, "\"error\""),
       "--json behind -- is no option");
}

int main(void)
{
    write_files();
    check_json_failures();
    run_all(mistakes, sizeof mistakes / sizeof *mistakes);
    run_all(here, sizeof here / sizeof *here);
#ifndef _WIN32
    (void)!system("rm -rf build/e2e-mis");
#endif
    return tap_done();
}
