/* SPDX-License-Identifier: Apache-2.0 */
/* cordon completion: scripts that complete commands, options and enumerated values. */
#include "cli/commands.h"
#include "launch/settings.h"

/* Lists of words, each after a blank. */
#define AGENT(id, name, event, folder, file, variable, tools) " " name
static const char agents[] =
#include "hook/agents.def"
    ;
#undef AGENT
#define PRESET(name, ...) " " name
static const char presets[] =
#include "policy/presets.def"
    ;
#undef PRESET
#define TOPIC(name, summary, text) " " #name
static const char topics[] =
#include "cli/topics.def"
    ;
#undef TOPIC
#define POLICY_RULE(name, id, effect, text, allow, denied, allowed) " " id
static const char policy_rules[] =
#include "policy/rules.def"
    ;
#undef POLICY_RULE

/* Options whose value is one of a few words. */
static const struct {
    const char *name, *words;
} choices[] = {{"mode", "read-only workspace-write full-access"},
               {"git", "protect commit full"},
               {"net", "off loopback on proxy= allow="},
               {"temp", "own private shared session="},
               {"for", presets + 1},
               {"paths", "windows posix"},
               {"shell", "powershell cmd bash"},
               {"integrity", "low medium"},
               {"install", agents + 1},
               {"remove", agents + 1},
               {"print", agents + 1}};

/* Words that may follow a command. */
static const struct {
    const char *command, *words;
} words[] = {{"why", "read write create delete rename link run connect"},
             {"explain", policy_rules + 1},
             {"hook", agents + 1},
             {"sandbox", "windows linux"},
             {"completion", "bash zsh fish powershell"}};

static const char *words_of(const char *command)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i].command, command) == 0)
            return words[i].words;
    return "";
}

static void add_commands(struct buf *out, const char *between)
{
    for (size_t i = 0; i < cli_command_count; i++)
        buf_fmt(out, "%s%s", i ? between : "", cli_commands[i].name);
}

/* sandbox takes what run takes. */
static bool has_option(const struct cli_command *c, const struct command_option *o)
{
    bool as_run = strcmp(c->name, "sandbox") == 0 && strcmp(o->command, "run") == 0;
    return strcmp(o->command, c->name) == 0 || as_run;
}

static void add_options(struct buf *out, const struct cli_command *c)
{
    buf_add(out, STR("--help"));
    for (size_t i = 0; i < cli_option_count; i++)
        if (has_option(c, &cli_options[i]))
            buf_fmt(out, " --%s", cli_options[i].name);
    for (size_t i = 0; c->policy && i < settings_info_count; i++)
        buf_fmt(out, " --%s", settings_infos[i].name.p);
}

static void write_bash(struct buf *out)
{
    buf_add(out, STR("# bash completion for cordon\n"
                     "_cordon() {\n"
                     "    local cur=${COMP_WORDS[COMP_CWORD]} prev= cmd=${COMP_WORDS[1]} i\n"
                     "    COMPREPLY=()\n"
                     "    ((COMP_CWORD > 0)) && prev=${COMP_WORDS[COMP_CWORD-1]}\n"
                     "    if ((COMP_CWORD == 1)); then\n"
                     "        COMPREPLY=($(compgen -W '"));
    add_commands(out, " ");
    buf_add(out, STR("' -- \"$cur\"))\n"
                     "        return\n"
                     "    fi\n"
                     "    # After -- the command is somebody else's.\n"
                     "    for ((i = 2; i < COMP_CWORD; i++)); do\n"
                     "        if [[ ${COMP_WORDS[i]} == -- ]]; then\n"
                     "            COMPREPLY=($(compgen -c -f -- \"$cur\"))\n"
                     "            return\n"
                     "        fi\n"
                     "    done\n"
                     "    # bash takes --net=off apart at the =.\n"
                     "    [[ $prev == = ]] && prev=${COMP_WORDS[COMP_CWORD-2]}\n"
                     "    if [[ $cur == = ]]; then cur=; prev=${COMP_WORDS[COMP_CWORD-1]}; fi\n"
                     "    case $prev in\n"));
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++)
        buf_fmt(out, "    --%s) COMPREPLY=($(compgen -W '%s' -- \"$cur\")); return ;;\n",
                choices[i].name, choices[i].words);
    buf_add(out, STR("    --root | --cwd) COMPREPLY=($(compgen -d -- \"$cur\")); return ;;\n"
                     "    esac\n"
                     "    if [[ $cur == -* ]]; then\n"
                     "        case $cmd in\n"));
    for (size_t i = 0; i < cli_command_count; i++) {
        buf_fmt(out, "        %s) COMPREPLY=($(compgen -W '", cli_commands[i].name);
        add_options(out, &cli_commands[i]);
        buf_add(out, STR("' -- \"$cur\")) ;;\n"));
    }
    buf_add(out, STR("        esac\n"
                     "        return\n"
                     "    fi\n"
                     "    case $cmd in\n"));
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        buf_fmt(out, "    %s) COMPREPLY=($(compgen -W '%s' -- \"$cur\")) ;;\n", words[i].command,
                words[i].words);
    buf_add(out, STR("    help) COMPREPLY=($(compgen -W '"));
    add_commands(out, " ");
    buf_add(out, str_of(topics));
    buf_add(out, STR("' -- \"$cur\")) ;;\n"
                     "    esac\n"
                     "    ((${#COMPREPLY[@]})) || COMPREPLY=($(compgen -f -- \"$cur\"))\n"
                     "}\n"
                     "complete -o filenames -F _cordon cordon cordon.exe\n"));
}

/* 'a b' as 'a','b' */
static void add_quoted(struct buf *out, struct str list)
{
    for (size_t pos = 0; pos < list.n;) {
        size_t end = str_find_char(list, ' ', pos);
        buf_fmt(out, "%s'%.*s'", pos ? "," : "", STR_ARG(str_slice(list, pos, end)));
        pos = end + 1;
    }
}

static void write_powershell(struct buf *out)
{
    buf_add(out, STR("# PowerShell completion for cordon\n"
                     "Register-ArgumentCompleter -Native -CommandName cordon, cordon.exe "
                     "-ScriptBlock {\n"
                     "    param($word, $ast, $position)\n"
                     "    $commands = @("));
    for (size_t i = 0; i < cli_command_count; i++)
        buf_fmt(out, "%s'%s'", i ? "," : "", cli_commands[i].name);
    buf_add(out, STR(")\n    $options = @{\n"));
    for (size_t i = 0; i < cli_command_count; i++) {
        auto_buf struct buf list = {0};
        add_options(&list, &cli_commands[i]);
        buf_fmt(out, "        '%s' = @(", cli_commands[i].name);
        add_quoted(out, buf_str(&list));
        buf_add(out, STR(")\n"));
    }
    buf_add(out, STR("    }\n    $words = @{\n"));
    for (size_t i = 0; i < cli_command_count; i++) {
        struct str list = str_of(words_of(cli_commands[i].name));
        if (!list.n)
            continue;
        buf_fmt(out, "        '%s' = @(", cli_commands[i].name);
        add_quoted(out, list);
        buf_add(out, STR(")\n"));
    }
    buf_add(out, STR("    }\n    $values = @{\n"));
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
        buf_fmt(out, "        '--%s' = @(", choices[i].name);
        add_quoted(out, str_of(choices[i].words));
        buf_add(out, STR(")\n"));
    }
    buf_add(out, STR("    }\n"
                     "    $typed = @($ast.CommandElements | ForEach-Object { $_.ToString() })\n"
                     "    if ($word) { $before = @($typed | Select-Object -SkipLast 1) } else { "
                     "$before = $typed }\n"
                     "    if ($before -contains '--') { return }\n"
                     "    $command = if ($before.Count -gt 1) { $before[1] } else { '' }\n"
                     "    $last = $before[-1]\n"
                     "    if ($before.Count -le 1) { $found = $commands }\n"
                     "    elseif ($word -match '^(--[a-z-]+)=(.*)$' -and $values[$Matches[1]]) {\n"
                     "        $name = $Matches[1]\n"
                     "        $found = $values[$name] | ForEach-Object { \"$name=$_\" }\n"
                     "    }\n"
                     "    elseif ($values[$last]) { $found = $values[$last] }\n"
                     "    elseif ($word -like '-*') { $found = $options[$command] }\n"
                     "    else { $found = $words[$command] }\n"
                     "    $found | Where-Object { $_ -like \"$word*\" } | ForEach-Object {\n"
                     "        [System.Management.Automation.CompletionResult]::new($_, $_, "
                     "'ParameterValue', $_)\n"
                     "    }\n"
                     "}\n"));
}

/* zsh reads bash's own script. */
static void write_zsh(struct buf *out)
{
    buf_add(out, STR("#compdef cordon\n"
                     "autoload -U +X bashcompinit && bashcompinit\n"));
    write_bash(out);
    buf_add(out, STR("if [[ $zsh_eval_context[-1] == loadautofunc ]]; then\n"
                     "    _bash_complete -o filenames -F _cordon\n"
                     "fi\n"));
}

/* A text as fish quotes it. */
static void add_fish_text(struct buf *out, const char *text)
{
    buf_char(out, '\'');
    for (; *text; text++) {
        if (*text == '\'' || *text == '\\')
            buf_char(out, '\\');
        buf_char(out, *text);
    }
    buf_char(out, '\'');
}

static void add_fish_option(struct buf *out, const char *command, const char *name, char letter,
                            const char *value, const char *help)
{
    buf_fmt(out, "complete -c cordon -n '__cordon_in %s' -l %s", command, name);
    if (letter)
        buf_fmt(out, " -s %c", letter);
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++)
        if (strcmp(choices[i].name, name) == 0)
            buf_fmt(out, " -f -a '%s'", choices[i].words);
    buf_fmt(out, "%s -d ", *value ? " -r" : "");
    add_fish_text(out, help);
    buf_char(out, '\n');
}

static void write_fish(struct buf *out)
{
    buf_add(out, STR("# fish completion for cordon\n"
                     "function __cordon_in\n"
                     "    set -l words (commandline -opc)\n"
                     "    test (count $words) -gt 1; and test $words[2] = $argv[1]\n"
                     "    and not contains -- -- $words\n"
                     "end\n"
                     "function __cordon_first\n"
                     "    test (count (commandline -opc)) -eq 1\n"
                     "end\n"));
    for (size_t i = 0; i < cli_command_count; i++) {
        const struct cli_command *c = &cli_commands[i];
        buf_fmt(out, "complete -c cordon -n __cordon_first -f -a %s -d ", c->name);
        add_fish_text(out, c->summary);
        buf_char(out, '\n');
        if (*words_of(c->name))
            buf_fmt(out, "complete -c cordon -n '__cordon_in %s' -f -a '%s'\n", c->name,
                    words_of(c->name));
        for (size_t j = 0; j < cli_option_count; j++)
            if (has_option(c, &cli_options[j]))
                add_fish_option(out, c->name, cli_options[j].name, cli_options[j].letter,
                                cli_options[j].value, cli_options[j].help);
        for (size_t j = 0; c->policy && j < settings_info_count; j++)
            add_fish_option(out, c->name, settings_infos[j].name.p, 0, settings_infos[j].value.p,
                            settings_infos[j].help.p);
    }
}

int command_completion(struct arguments *args)
{
    static const struct {
        const char *shell;
        void (*write)(struct buf *out);
    } shells[] = {{"bash", write_bash},
                  {"zsh", write_zsh},
                  {"fish", write_fish},
                  {"powershell", write_powershell}};
    bool help = false;
    auto_buf struct buf out = {0};
    const struct cli_option own[] = {{.name = "help", .flag = &help}};
    int rc = options_take(args, own, 1, NULL, NULL);
    if (rc)
        return rc;
    if (help)
        return cli_help("completion");
    const char *shell = args->next < args->count ? args->items[args->next++] : "";
    for (size_t i = 0; args->next == args->count && i < sizeof shells / sizeof *shells; i++)
        if (strcmp(shell, shells[i].shell) == 0) {
            shells[i].write(&out);
            return !out.failed && print_out(buf_str(&out))
                       ? 0
                       : print_failure("cannot write the script");
        }
    return print_failure("name one shell: cordon completion bash, zsh, fish or powershell");
}
