/* cordon help: what there is, with an example each. */
#include "cli/cli.h"
#include "launch/settings.h"

static const struct {
    const char *name, *text;
    bool policy; /* followed by the policy options */
} topics[] = {
    {"run",
     "cordon run: runs a command that can change only its roots.\n"
     "\n"
     "  cordon run [options] -- PROGRAM ARG…\n"
     "\n"
     "Example:\n"
     "  cordon run --root . --net=loopback -- npm test\n"
     "\n"
     "stdin, stdout and stderr are the command's own. What was denied is said on stderr at the "
     "end.\n"
     "On Linux the kernel enforces it (Landlock and seccomp). On Windows it is not built yet.\n"
     "\n"
     "Exit codes: the command's own; 124 time is up, 125 cordon failed, 126 refused, 127 not "
     "found.\n"
     "\n"
     "  --audit FILE    append every denial and every program started, one JSON object a line\n"
     "  --audit-all     what was allowed too\n"
     "  --unset NAME    leave out an environment variable; a trailing * matches; may be repeated\n"
     "  --audit-raw     command lines with what looks like a secret\n"
     "  --learn         say at the end which options would have allowed what was denied\n"
     "  -o FILE         with --learn: write them as a policy file for --policy\n"
     "  --json          the summary as one JSON object on the last line of stderr\n"
     "  --quiet         no summary\n"
     "  --verbose       say first what is confined and by what\n"
     "  --require-kernel  refuse to run where the kernel does not enforce it\n",
     true},
    {"check",
     "cordon check: what would this command do? Nothing is started.\n"
     "\n"
     "  cordon check [options] -- PROGRAM ARG…\n"
     "  cordon check [options] --shell powershell|cmd|bash 'TEXT'\n"
     "  cordon check [options] --file SCRIPT          (.ps1 .cmd .bat .sh)\n"
     "  cordon check --jsonl < questions              (one JSON object a line)\n"
     "  cordon check --rules | --explain RULE\n"
     "\n"
     "Example:\n"
     "  cordon check --shell powershell \"Start-Process 'https://example.com'\"\n"
     "\n"
     "Exit codes: 0 allow, 3 ask (a person should look), 126 deny, 125 bad input.\n"
     "\n"
     "  --json          the answer as one JSON object\n"
     "  --show          list every command that was found, however deep\n"
     "  --root DIR      deletions inside DIR are the command's own; scripts there are read\n"
     "  --cwd DIR       the directory that relative paths start from\n",
     false},
    {"why",
     "cordon why: would a run allow this, by which rule, and how to change it?\n"
     "\n"
     "  cordon why read|write|create|delete PATH [options]\n"
     "  cordon why rename|link FROM TO [options]\n"
     "  cordon why connect HOST:PORT [options]\n"
     "  cordon why run [options] -- PROGRAM ARG…\n"
     "  cordon why --list [options]\n"
     "\n"
     "Example:\n"
     "  cordon why write 'C:\\ws\\.GiT\\config' --root 'C:\\ws'\n"
     "\n"
     "Exit codes: 0 allowed, 126 denied, 125 bad input.\n"
     "\n"
     "  --json          the answer as one JSON object\n"
     "  --list          the whole policy, in the order in which it is applied\n",
     true},
    {"sandbox",
     "cordon sandbox: cordon run in the form that Codex has.\n"
     "\n"
     "  cordon sandbox [windows|linux] [-c KEY=VALUE]… [--full-auto] [options] -- PROGRAM ARG…\n"
     "\n"
     "Example:\n"
     "  cordon sandbox -c 'sandbox_mode=\"workspace-write\"' -- npm test\n"
     "\n"
     "Nothing can be changed unless sandbox_mode says so; in workspace-write the current directory "
     "can\n"
     "be changed too. Keys, with TOML values: sandbox_mode, "
     "sandbox_workspace_write.writable_roots,\n"
     "sandbox_workspace_write.network_access, "
     "sandbox_workspace_write.exclude_tmpdir_env_var.\n"
     "The options are those of cordon run, and the exit codes too.\n"
     "\n"
     "  -c KEY=VALUE    a setting; may be repeated\n"
     "  --full-auto     the same as -c sandbox_mode=workspace-write\n",
     true},
    {"hook",
     "cordon hook: answers a coding agent before it runs a command or writes a file.\n"
     "\n"
     "  cordon hook --install claude|codex|gemini [--project] [options]\n"
     "  cordon hook --remove NAME [--project]\n"
     "  cordon hook --print NAME                      (shows what --install would write)\n"
     "  cordon hook NAME [options] < event            (what the agent calls)\n"
     "\n"
     "Example:\n"
     "  cordon hook --install claude --project\n"
     "\n"
     "Commands are judged as cordon check does, files as cordon why write does. Whatever goes "
     "wrong\n"
     "is a refusal. Roots: --root, else the agent's project folder, else the event's folder.\n"
     "\n"
     "Exit codes: 0, or 2 if there is no answer: both are what agents expect. --install, --remove\n"
     "and --print: 0, or 125.\n"
     "\n"
     "  --wrap          rewrite each command so that it runs confined (claude, codex)\n"
     "  --approve       with --wrap: let it run without asking the person\n"
     "  --shell NAME    powershell, cmd or bash, where the event does not tell\n"
     "  --project       the settings of this folder, not those of the home folder\n",
     true},
    {"report",
     "cordon report: what happened in a run, from its audit file.\n"
     "\n"
     "  cordon report AUDIT.jsonl [-o page.html] [--text] [--json]\n"
     "\n"
     "Example:\n"
     "  cordon run --audit a.jsonl -- npm test\n"
     "  cordon report a.jsonl -o page.html\n"
     "\n"
     "The page is one HTML file that loads nothing. Without -o it goes to stdout, on a terminal "
     "the "
     "text\n"
     "does. - reads stdin.\n"
     "\n"
     "Exit codes: 0, 125 bad input.\n"
     "\n"
     "  -o FILE         write it there\n"
     "  --text          for a terminal\n"
     "  --json          for programs\n",
     false},
    {"doctor",
     "cordon doctor: what this machine has, what weakens it, and what to do.\n"
     "\n"
     "  cordon doctor [--json]\n"
     "\n"
     "Example:\n"
     "  cordon doctor\n"
     "\n"
     "Layers are tried, not guessed.\n"
     "\n"
     "Exit codes: 0, or 1 if something must be fixed before cordon run works.\n"
     "\n"
     "  --json          the answer as one JSON object\n",
     false},
};

static void print_options(void)
{
    printf("\nPolicy options:\n");
    for (size_t i = 0; i < settings_info_count; i++) {
        const struct settings_info *info = &settings_infos[i];
        char left[64];
        snprintf(left, sizeof left, "--%s%s%s", info->name.p, info->value.n ? " " : "",
                 info->value.p);
        printf("  %-18s %s\n", left, info->help.p);
    }
}

int cmd_help(struct arguments *args)
{
    const char *names[sizeof topics / sizeof *topics];
    const char *topic = args->next < args->count ? args->items[args->next] : NULL;
    for (size_t i = 0; i < sizeof topics / sizeof *topics; i++) {
        names[i] = topics[i].name;
        if (!topic || strcmp(topic, topics[i].name) != 0)
            continue;
        fputs(topics[i].text, stdout);
        if (topics[i].policy)
            print_options();
        return 0;
    }
    if (topic) {
        const char *nearest = print_nearest(topic, names, sizeof names / sizeof *names);
        return print_failure("there is no help on %s; %s%s", topic,
                             nearest ? "did you mean cordon help " : "see cordon help",
                             nearest ? nearest : "");
    }
    printf(
        "cordon %s: runs commands that an AI agent wrote so that they cannot leave their folders\n"
        "\n"
        "  cordon run     run a command that can change only its folders\n"
        "  cordon check   what would this command do? nothing is started\n"
        "  cordon why     would a run allow this, by which rule, how to change it?\n"
        "  cordon sandbox the same in the form that Codex has\n"
        "  cordon hook    answer a coding agent before it runs a command or writes a file\n"
        "  cordon report  what happened in a run, as a page to look at\n"
        "  cordon doctor  what this machine has, what weakens it, what to do\n"
        "  cordon help    [COMMAND]\n"
        "  cordon --version\n"
        "\n"
        "Try:\n"
        "  cordon check -- cmd /c start https://example.com\n"
        "  cordon why write 'C:\\ws\\a.txt:hidden' --root 'C:\\ws'\n",
        cordon_version());
    return 0;
}
