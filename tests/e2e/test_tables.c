/* SPDX-License-Identifier: Apache-2.0 */
/* The tables behind help, completion and the manual: every option that they name is taken. */
#include "e2e/program.h"

static const struct {
    const char *command, *name;
    char letter;
    const char *value;
} options[] = {
#define COMMAND_OPTION(command, name, letter, value, help) {#command, name, letter, value},
#include "cli/options.def"
#undef COMMAND_OPTION
};

static const struct {
    const char *name, *example;
    bool policy;
} commands[] = {
#define COMMAND(name, summary, usage, example, about, codes, policy) {#name, example, policy},
#include "cli/commands.def"
#undef COMMAND
};

static const struct {
    const char *name, *value;
} policy_options[] = {
#define OPTION(id, name, value, repeats, help) {name, value},
#include "launch/options.def"
#undef OPTION
};

static bool is_taken(const char *command, const char *name, const char *value, struct buf *out)
{
    char line[256];
    snprintf(line, sizeof line, "%s --%s%s --help", command, name, *value ? "=bash" : "");
    int code = program_run(line, NULL, out);
    return (code == 0 || code == 125 || code == 2) && !says(out, "unknown option") &&
           !says(out, "takes no value") && !says(out, "needs a value");
}

static void test_options(void)
{
    auto_buf struct buf out = {0};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (!ok(is_taken(options[i].command, options[i].name, options[i].value, &out),
                "%s takes --%s", options[i].command, options[i].name))
            note("%s", buf_cstr(&out));
    for (size_t i = 0; i < sizeof policy_options / sizeof *policy_options; i++)
        if (!ok(is_taken("why", policy_options[i].name, policy_options[i].value, &out),
                "a policy takes --%s", policy_options[i].name))
            note("%s", buf_cstr(&out));
    program_run("run --no-such-option", NULL, &out);
    ok(says(&out, "unknown option"), "the control: another one is not taken");
}

static const char *const rules[] = {
#define POLICY_RULE(name, id, effect, text, fix, denied, allowed) id,
#include "policy/rules.def"
#define RULE(name, id, verdict, why, fix, about, bad, good) id,
#include "guard/tables/rules.def"
#undef RULE
};

static void test_rules(void)
{
    auto_buf struct buf out = {0};
    ok(program_run("explain --list --json", NULL, &out) == 0, "all rules are listed");
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        char entry[100];
        snprintf(entry, sizeof entry, "{\"rule\":\"%s\",\"verdict\":\"", rules[i]);
        ok(says(&out, entry), "%s is explained", rules[i]);
    }
}

static void test_help(void)
{
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        auto_buf struct buf out = {0};
        char line[128];
        snprintf(line, sizeof line, "help %s", commands[i].name);
        int code = program_run(line, NULL, &out);
        ok(code == 0 && says(&out, "Example:") && says(&out, "Exit codes:") &&
               says(&out, commands[i].example),
           "help on %s", commands[i].name);
        program_run("help", NULL, &out);
        ok(says(&out, commands[i].name), "%s is in the list", commands[i].name);
        program_run("help --man", NULL, &out);
        snprintf(line, sizeof line, ".SS cordon %s", commands[i].name);
        ok(says(&out, line), "%s is in the manual", commands[i].name);
        program_run("completion bash", NULL, &out);
        snprintf(line, sizeof line, "        %s) COMPREPLY", commands[i].name);
        ok(says(&out, line), "%s is completed", commands[i].name);
    }
    expect("PowerShell", "completion powershell", NULL, 0, "Register-ArgumentCompleter");
    expect("another shell", "completion tcsh", NULL, 125, "completion bash");
}

/* True if the line of the script that is about this command, or the script, names the option. */
static bool is_completed(struct buf *script, const char *start, const char *entry)
{
    const char *line = strstr(buf_cstr(script), start);
    const char *found = line ? strstr(line, entry) : NULL;
    return found && found < line + strcspn(line, "\n");
}

static void test_completion_of(const char *shell, const char *start, const char *entry)
{
    auto_buf struct buf out = {0};
    char line[64], from[96], option[64];
    snprintf(line, sizeof line, "completion %s", shell);
    ok(program_run(line, NULL, &out) == 0, "completion %s", shell);
    size_t own = sizeof options / sizeof *options, missing = 0;
    for (size_t c = 0; c < sizeof commands / sizeof *commands; c++)
        for (size_t i = 0; i < own + sizeof policy_options / sizeof *policy_options; i++) {
            if (i < own ? strcmp(options[i].command, commands[c].name) != 0 : !commands[c].policy)
                continue;
            const char *name = i < own ? options[i].name : policy_options[i - own].name;
            /* fish has a line for each */
            snprintf(from, sizeof from, start, commands[c].name, name);
            snprintf(option, sizeof option, entry, name);
            if (!is_completed(&out, from, option)) {
                note("%s: %s --%s", shell, commands[c].name, name);
                missing++;
            }
        }
    ok(missing == 0, "%s completes every option of every command", shell);
    snprintf(from, sizeof from, start, "run", "no-such");
    snprintf(option, sizeof option, entry, "no-such");
    ok(!is_completed(&out, from, option), "control: and no other");
}

static void test_completion(void)
{
    test_completion_of("bash", "        %s) COMPREPLY=($(compgen -W '--help", " --%s");
    test_completion_of("zsh", "        %s) COMPREPLY=($(compgen -W '--help", " --%s");
    test_completion_of("fish", "'__cordon_in %s' -l %s", "-l %s");
    test_completion_of("powershell", "        '%s' = @('--help'", "'--%s'");
}

#ifndef _WIN32
/* bash itself completes. */
static void test_bash(void)
{
    static const struct {
        const char *words; /* as bash has them; the last one is being typed */
        const char *found, *absent;
    } rows[] = {{"cordon ''", "sandbox", "--root"},
                {"cordon ru", "run", "report"},
                {"cordon run --ro", "--root", "--audit"},
                {"cordon run --aud", "--audit-raw", "--json"},
                {"cordon run --mode ''", "read-only", "--root"},
                {"cordon run --net = lo", "loopback", "off"},
                {"cordon why wr", "write", "read"},
                {"cordon hook --install co", "codex", "claude"},
                {"cordon sandbox --full", "--full-auto", "--root"},
                {"cordon sandbox --lea", "--learn", "--root"},
                {"cordon run --for do", "dotnet", "npm"},
                {"cordon run --undo-l", "--undo-limit", "--root"},
                {"cordon undo --dr", "--dry-run", "--root"},
                {"cordon explain roots.o", "roots.outside", "net.off"},
                {"cordon help net", "network", "policies"},
                {"cordon run -- --ro", "", "--root"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        auto_buf struct buf out = {0};
        char line[2048], chunk[512];
        snprintf(line, sizeof line,
                 "bash -c 'eval \"$(%s completion bash)\"; COMP_WORDS=(%s); "
                 "COMP_CWORD=$((${#COMP_WORDS[@]}-1)); _cordon; printf \"%%s\\n\" "
                 "\"${COMPREPLY[@]}\"' 2>&1",
                 CORDON_EXE, strstr(rows[i].words, "''") ? "cordon" : rows[i].words);
        /* Quotes in quotes: the empty word is put in by hand. */
        if (strstr(rows[i].words, "''")) {
            char words[128];
            snprintf(words, sizeof words, "%.*s\"\"", (int)(strlen(rows[i].words) - 2),
                     rows[i].words);
            snprintf(line, sizeof line,
                     "bash -c 'eval \"$(%s completion bash)\"; COMP_WORDS=(%s); "
                     "COMP_CWORD=$((${#COMP_WORDS[@]}-1)); _cordon; printf \"%%s\\n\" "
                     "\"${COMPREPLY[@]}\"' 2>&1",
                     CORDON_EXE, words);
        }
        FILE *pipe = popen(line, "r");
        for (size_t n; pipe && (n = fread(chunk, 1, sizeof chunk, pipe)) > 0;)
            buf_add(&out, (struct str){chunk, n});
        if (pipe)
            pclose(pipe);
        if (!ok(says(&out, rows[i].found) && !says(&out, rows[i].absent), "completes: %s",
                rows[i].words))
            note("%s", buf_cstr(&out));
    }
}
#endif

int main(void)
{
    test_options();
    test_rules();
    test_help();
    test_completion();
#ifndef _WIN32
    test_bash();
#endif
    return tap_done();
}
