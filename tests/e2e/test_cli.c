/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program as a person calls it: exit codes, words on stdout and stderr, typical mistakes. Runs
 * natively and under Wine; the arguments stand in quotes that both shells read alike.
 */
#include "e2e/program.h"

struct expectation {
    const char *what, *arguments;
    int code;
    const char *words; /* must stand in the output */
};

static const struct expectation expectations[] = {
    {"no command shows help and is not a success", "", 125, "cordon check"},
    {"help", "help", 0, "cordon why"},
    {"--help", "--help", 0, "cordon check"},
    {"help on a command has an example", "help why", 0, "Example:"},
    {"--help behind a command", "check --help", 0, "--jsonl"},
    {"version", "--version", 0, "cordon "},
    {"mistyped command", "chekc", 125, "did you mean cordon check?"},
    {"mistyped option", "why write x --rooot .", 125, "did you mean --root?"},
    {"one dash", "check -json", 125, "two dashes"},
    {"forgotten dashes", "check git status", 125, "cordon check -- git"},
    {"no command to check", "check --", 125, "no command given"},
    {"a value is missing", "why write x --root", 125, "--root needs a value"},
    {"a switch with a value", "why write x --strict=yes", 125, "takes no value"},
    {"a value twice", "why write x --net=on --net=off", 125,
     "--net was given twice, as on and as off; keep one"},
    {"a wrong value names the right ones", "why write x --mode=writable", 125, "workspace-write"},
    {"a root that is not there", "why write x --root no-such-folder", 125, "folder not found"},
    {"a root that is a file", "why write x --root README.md", 125, "this is a file"},
    {"a policy file that is not there", "why write x --policy nope.json", 125, "nope.json"},
    {"unknown question", "why wirte x", 125, "read, write, create"},
    {"rename needs two", "why rename a", 125, "two paths"},
    {"connect needs a port", "why connect example.com", 125, "HOST:PORT"},
    {"unknown rule", "check --explain launch.ulr", 125, "did you mean launch.url?"},
    {"explain by check", "check --explain launch.url", 0, "denied:"},
    {"check has the default root", "check -- rm -rf node_modules", 0, "allow"},
    {"check of what is outside it", "check -- rm -rf ../node_modules", 3, "destroy.outside"},
    {"check without any root", "check --root none -- rm -rf node_modules", 3, "destroy.outside"},
    {"a script has the default root", "check --file build/e2e-inside.sh", 0, "allow"},
    {"a script without any root", "check --root none --file build/e2e-inside.sh", 3,
     "destroy.outside"},
    {"denials outside a run", "denials", 125, "not inside a run"},
    {"explain a rule of the guard", "explain launch.url", 0, "denied:"},
    {"explain a rule of the policy", "explain roots.outside", 0, "remedy:   --root"},
    {"explain as JSON", "explain tool.ssh --json", 0, "\"fix\":\"--allow-tool ssh\""},
    {"explain an unknown rule", "explain roots.outsid", 125, "did you mean roots.outside?"},
    {"explain nothing", "explain", 125, "cordon explain --list"},
    {"explain two", "explain roots.outside net.off", 125, "name one rule"},
    {"rules", "check --rules", 0, "destroy.disk"},
    {"unknown shell", "check --shell fish \"ls\"", 125, "powershell, cmd or bash"},
    {"text in pieces", "check --shell bash echo hi", 125, "put it in quotes"},

    {"a URL for the shell is denied", "check -- explorer https://x.test", 126, "launch.url"},
    {"the same as JSON", "check --json -- explorer https://x.test", 126, "\"verdict\":\"deny\""},
    {"a URL for curl is allowed", "check -- curl https://x.test", 0, "allow"},
    {"deletion outside asks", "check -- rm -rf /srv/data", 3, "destroy.outside"},
    {"a container that mounts a folder outside asks",
     "check --root . -- docker run --mount type=bind,source=/srv,target=/h x", 3,
     "destroy.outside"},
    {"a container that mounts a folder of the root", "check --root . -- docker run -v ./src:/h x",
     0, "allow"},

    {"outside", "why write \"D:\\data\\x.txt\" --root \"C:\\ws\" --paths windows", 126,
     "--root C:\\ws --root D:\\data"},
    {"stream", "why write \"C:\\ws\\a:b\" --root \"C:\\ws\" --allow-broad-root", 126,
     "path.stream"},
    {"git in another spelling",
     "why write \"C:\\ws\\.GiT\\config\" --root \"C:\\ws\" --allow-broad-root", 126,
     "protected.git"},
    {"connect", "why connect example.com:443", 126, "net.off"},
    {"connect when on", "why connect example.com:443 --net=on", 0, "allow"},
    {"connect to a listed name", "why connect a.example.com:443 --net=allow=*.example.com", 0,
     "allow"},
    {"a blocked tool", "why run -- ssh host", 126, "tool.ssh"},
    {"a tool that was allowed", "why run --allow-tool ssh -- ssh host", 0, "allow"},
    {"run goes through the guard", "why run -- explorer https://x.test", 126, "launch.url"},
    {"list", "why --list", 0, "roots.outside"},
    {"list with what other systems have", "why --list --all", 0, "path.mailslot"},
    {"a list of Windows", "why --list --root \"C:\\ws\" --allow-broad-root", 0, "tool.schtasks"},
    {"all of nothing", "why --all", 125, "add --list"},
    {"list as JSON", "why --list --json", 0, "\"rules\":[{\"order\":1"},
};

/* A row of --jsonl has the root that run would have where it comes from, if it says where. */
static void test_rows(void)
{
    static const struct {
        const char *what, *options, *row;
        bool allowed;
    } rows[] = {
        {"a row from nowhere has no root", "", "", false},
        {"a row's folder is its root", "", ",\"cwd\":\".\"", true},
        {"a row's own list is whole", "", ",\"cwd\":\".\",\"roots\":[]", false},
        {"--cwd is the root of all rows", "--cwd . ", "", true},
        {"--root none", "--cwd . --root none ", ",\"cwd\":\".\"", false},
    };
    auto_buf struct buf out = {0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char arguments[128], input[256];
        snprintf(arguments, sizeof arguments, "check --jsonl %s", rows[i].options);
        snprintf(input, sizeof input, "{\"argv\":[\"rm\",\"-rf\",\"node_modules\"]%s}\n",
                 rows[i].row);
        int code = program_run(arguments, input, &out);
        struct str words = rows[i].allowed ? STR("\"verdict\":\"allow\"") : STR("destroy.outside");
        if (!ok(code == 0 && str_find(buf_str(&out), words, 0) < out.n, "%s", rows[i].what))
            note("exit code %d; output: %s", code, buf_cstr(&out));
    }
    int code = program_run("check --jsonl", "\xEF\xBB\xBF{\"argv\":[\"ls\"]}\n", &out);
    ok(code == 0 && str_find(buf_str(&out), STR("\"verdict\":\"allow\""), 0) < out.n,
       "a byte order mark in front of the first row");
}

int main(void)
{
    auto_buf struct buf out = {0};
    write_file("build/e2e-inside.sh", STR("rm -rf node_modules\n"));
    for (size_t i = 0; i < sizeof expectations / sizeof *expectations; i++) {
        const struct expectation *e = &expectations[i];
        /* Windows paths on the real disk of Wine would have to exist there. */
        bool windows_path = str_find(str_of(e->arguments), STR("C:\\ws"), 0) < strlen(e->arguments);
#ifdef _WIN32
        if (windows_path)
            continue;
#else
        (void)windows_path;
#endif
        int code = program_run(e->arguments, NULL, &out);
        bool said = str_find(buf_str(&out), str_of(e->words), 0) < out.n;
        if (!ok(code == e->code && said, "%s", e->what))
            note("exit code %d, expected %d and \"%s\"; output: %s", code, e->code, e->words,
                 buf_cstr(&out));
    }
    remove("build/e2e-inside.sh");
    test_rows();
#ifndef _WIN32
    ok(program_run("why --list", NULL, &out) == 0 && !says(&out, "\\\\") &&
           !says(&out, "schtasks") && says(&out, "local sockets"),
       "the list has nothing that only Windows has");
#endif
    return tap_done();
}
