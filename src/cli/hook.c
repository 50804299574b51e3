/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cordon hook: answers an agent's event before a tool runs, and puts itself into the agent's
 * settings. While an event is answered the only exit codes are 0 and 2: an agent takes any other
 * one for a broken hook and runs the tool.
 */
#include "hook/hook.h"
#include "cli/cli.h"
#include "launch/disk.h"
#include "lib/check.h"
#include "lib/system.h"

enum { EXIT_BLOCK = 2, MOST_WORDS = 256 };

struct hook_request {
    bool wrap, approve, project, help;
    const char *shell, *print, *install, *remove;
    const char *words[MOST_WORDS]; /* options of the policy, as given */
    size_t word_count;
};

/* ---- an event ---- */

/* All of stdin, also what is over the limit: an agent may take a broken pipe for a broken hook. */
static void read_event(struct buf *event)
{
    char chunk[65536];
    for (size_t n; (n = fread(chunk, 1, sizeof chunk, stdin)) > 0;)
        if (event->n <= HOOK_MAX_EVENT + 4)
            buf_add(event, (struct str){chunk, n});
}

static int answer_event(struct cordon_policy *p, struct hook_options *o)
{
    auto_arena struct arena arena = {0};
    auto_buf struct buf event = {0}, out = {0}, self = {0};
    struct str inside;
    if (o->wrap && o->agent == HOOK_GEMINI) {
        print_error("Gemini accepts no rewritten command; leave out --wrap");
        return EXIT_BLOCK;
    }
    if (system_is_terminal(stdin)) {
        print_error("this answers an agent's events; to set it up: cordon hook --install %s",
                    hook_agents[o->agent]);
        return EXIT_BLOCK;
    }
    o->windows = disk_dialect() == PATH_WINDOWS;
    o->inside = disk_variable(&arena, STR("CORDON"), &inside);
    o->program = machine_own_path(&self) ? buf_str(&self) : STR("cordon");
    disk_variable(&arena, STR("CLAUDE_PROJECT_DIR"), &o->project);
    read_event(&event);
    int rc = event.failed ? CORDON_E_NOMEM : hook_answer(p, o, buf_str(&event), &out);
    if (rc || out.failed) {
        print_error("sandbox denied: %s", cordon_strerror(rc ? rc : CORDON_E_NOMEM));
        return EXIT_BLOCK;
    }
    if (out.n && (!print_out(buf_str(&out)) || fflush(stdout))) {
        print_error("sandbox denied: cannot write the answer");
        return EXIT_BLOCK;
    }
    return 0;
}

/* ---- settings ---- */

static bool is_plain(char c)
{
    return ascii_is_alnum(c) || (c && strchr("_./:=@+,-", c));
}

/* A word of a command that bash, cmd and PowerShell read alike; false if there is no such form. */
static bool add_word(struct buf *out, struct str word)
{
    bool plain = word.n > 0;
    for (size_t i = 0; i < word.n; i++) {
        if (strchr("\"$`!%\n\r", word.p[i]) || (unsigned char)word.p[i] < 0x20)
            return false;
        plain = plain && is_plain(word.p[i]);
    }
    buf_add(out, plain ? STR("") : STR("\""));
    buf_add(out, word);
    buf_add(out, plain ? STR("") : STR("\""));
    return true;
}

static int make_command(const struct hook_request *r, enum hook_agent agent, struct buf *out)
{
    auto_buf struct buf self = {0};
    if (!machine_own_path(&self))
        buf_add(&self, STR("cordon"));
    for (size_t i = 0; i < self.n && disk_dialect() == PATH_WINDOWS; i++)
        if (self.p[i] == '\\')
            self.p[i] = '/';
    bool good = add_word(out, buf_str(&self));
    buf_fmt(out, " hook %s", hook_agents[agent]);
    buf_add(out, r->wrap ? STR(" --wrap") : STR(""));
    buf_add(out, r->approve ? STR(" --approve") : STR(""));
    if (r->shell)
        buf_fmt(out, " --shell %s", r->shell);
    for (size_t i = 0; i < r->word_count; i++) {
        buf_char(out, ' ');
        good = good && add_word(out, str_of(r->words[i]));
    }
    if (!good)
        return print_failure("a path or value holds a character that shells read differently; "
                             "write the settings by hand");
    return out->failed ? print_failure("out of memory") : 0;
}

/* Where the agent keeps its settings. */
static bool settings_file(enum hook_agent agent, bool project, struct buf *out)
{
    static const struct {
        const char *folder, *file;
        struct str variable; /* names the folder in another place */
    } places[HOOK_AGENT_COUNT] = {{".claude", "settings.json", STR("CLAUDE_CONFIG_DIR")},
                                  {".codex", "hooks.json", STR("CODEX_HOME")},
                                  {".gemini", "settings.json", STR("")}};
    auto_arena struct arena arena = {0};
    struct str home, variable = places[agent].variable;
    if (project) {
        buf_fmt(out, "%s/%s", places[agent].folder, places[agent].file);
        return !out->failed;
    }
    if (variable.n && disk_variable(&arena, variable, &home) && home.n) {
        buf_add(out, home);
        buf_fmt(out, "/%s", places[agent].file);
        return !out->failed;
    }
    if (!disk_variable(&arena, disk_dialect() == PATH_WINDOWS ? STR("USERPROFILE") : STR("HOME"),
                       &home) ||
        home.n == 0)
        return false;
    buf_add(out, home);
    buf_fmt(out, "/%s/%s", places[agent].folder, places[agent].file);
    return !out->failed;
}

static void print_lines(char sign, struct str text)
{
    for (size_t pos = 0; pos < text.n;) {
        size_t end = str_find_char(text, '\n', pos);
        printf("%c %.*s\n", sign, STR_ARG(str_slice(text, pos, end)));
        pos = end + 1;
    }
}

/* The lines that differ between two texts. */
static void print_change(struct str before, struct str after)
{
    size_t same = 0, tail = 0;
    while (same < before.n && same < after.n && before.p[same] == after.p[same])
        same++;
    while (same > 0 && before.p[same - 1] != '\n')
        same--;
    while (tail < before.n - same && tail < after.n - same &&
           before.p[before.n - 1 - tail] == after.p[after.n - 1 - tail])
        tail++;
    while (tail > 0 && !((tail == before.n || before.p[before.n - tail - 1] == '\n') &&
                         (tail == after.n || after.p[after.n - tail - 1] == '\n')))
        tail--;
    print_lines('-', str_slice(before, same, before.n - tail));
    print_lines('+', str_slice(after, same, after.n - tail));
}

static void print_afterwards(enum hook_agent agent)
{
    if (agent == HOOK_CODEX)
        printf("If your Codex has hooks switched off: below [features] of config.toml, "
               "codex_hooks = true\n");
    printf("Start %s anew, then ask it to run: start https://example.com\n", hook_agents[agent]);
}

static int print_snippet(const struct hook_request *r, enum hook_agent agent)
{
    auto_buf struct buf command = {0}, file = {0}, project = {0}, text = {0}, error = {0};
    bool changed;
    int rc = make_command(r, agent, &command);
    if (rc)
        return rc;
    if (hook_install(agent, STR(""), buf_str(&command), &text, &changed, &error) ||
        !settings_file(agent, true, &project))
        return print_failure("out of memory");
    printf("Put this into %s for all projects, or into %s for this one:\n\n%s\n",
           settings_file(agent, false, &file) ? buf_cstr(&file)
                                              : "the settings of your home folder",
           buf_cstr(&project), buf_cstr(&text));
    print_afterwards(agent);
    return 0;
}

static int change_settings(const struct hook_request *r, enum hook_agent agent)
{
    auto_buf struct buf command = {0}, file = {0}, old = {0}, text = {0}, error = {0};
    bool changed = false;
    char why[256];
    int rc = make_command(r, agent, &command);
    if (rc)
        return rc;
    if (!settings_file(agent, r->project, &file))
        return print_failure("the home folder is unknown; name the project with --project");
    rc = disk_read(buf_str(&file), HOOK_MAX_EVENT, &old);
    if (rc == CORDON_E_OPEN) {
        FILE *exists = system_fopen(buf_cstr(&file), "rb");
        if (exists) {
            fclose(exists);
            return print_failure("%s: %s; it is left as it is", buf_cstr(&file),
                                 cordon_strerror(rc));
        }
    } else if (rc) {
        return print_failure("%s: %s; it is left as it is", buf_cstr(&file), cordon_strerror(rc));
    }
    rc = r->install ? hook_install(agent, buf_str(&old), buf_str(&command), &text, &changed, &error)
                    : hook_remove(agent, buf_str(&old), &text, &changed, &error);
    if (rc)
        return print_failure("%s: %s; it is left as it is", buf_cstr(&file),
                             error.n ? buf_cstr(&error) : cordon_strerror(rc));
    if (!changed) {
        printf("%s: %s\n", buf_cstr(&file),
               r->install ? "the hook is there already" : "there is no hook of cordon");
        return 0;
    }
    printf("%s:\n", buf_cstr(&file));
    print_change(buf_str(&old), buf_str(&text));
    fflush(stdout);
    if (!system_replace_file(buf_cstr(&file), buf_str(&text), why, sizeof why))
        return print_failure("%s: %s; it is left as it is", buf_cstr(&file), why);
    printf("%s\n", r->install ? "written" : "removed");
    if (r->install)
        print_afterwards(agent);
    return 0;
}

/* ---- the command line ---- */

/* The options between two places that belong to the policy, with their values. */
static void keep_words(struct hook_request *r, const struct arguments *args, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        struct str word = str_of(args->items[i]);
        struct str text = str_from(word, 2);
        size_t equals = str_find_char(text, '=', 0);
        const struct settings_info *info = settings_find(str_slice(text, 0, equals));
        bool own = !info || str_eq(info->name, STR("shell"));
        bool value = equals == text.n && i + 1 < to &&
                     (info ? info->value.n > 0
                           : str_of(args->items[i + 1]).n && args->items[i + 1][0] != '-');
        for (size_t j = 0; j <= value && !own && r->word_count < MOST_WORDS; j++)
            r->words[r->word_count++] = args->items[i + j];
        i += value;
    }
}

static int hook(struct cordon_policy *p, struct arguments *args)
{
    struct hook_request r = {0};
    struct hook_options o = {0};
    const struct option own[] = {
        {.name = "wrap", .flag = &r.wrap},        {.name = "approve", .flag = &r.approve},
        {.name = "project", .flag = &r.project},  {.name = "help", .flag = &r.help},
        {.name = "shell", .value = &r.shell},     {.name = "print", .value = &r.print},
        {.name = "install", .value = &r.install}, {.name = "remove", .value = &r.remove}};
    size_t from = args->next;
    int rc = options_take(args, own, sizeof own / sizeof *own, p, NULL);
    keep_words(&r, args, from, args->next);
    const char *name = rc == 0 && args->next < args->count ? args->items[args->next++] : NULL;
    from = args->next;
    if (rc == 0)
        rc = options_take(args, own, sizeof own / sizeof *own, p, NULL);
    keep_words(&r, args, from, args->next);
    bool settings = r.print || r.install || r.remove;
    if (rc)
        return settings ? rc : EXIT_BLOCK;
    if (r.help)
        return cli_help("hook");
    const char *agent = r.print ? r.print : r.install ? r.install : r.remove ? r.remove : name;
    if (r.shell && !check_shell(str_of(r.shell), &o.shell)) {
        print_error("--shell takes powershell, cmd or bash, not %s", r.shell);
        return settings ? EXIT_FAILED : EXIT_BLOCK;
    }
    if (!agent || !hook_find_agent(str_of(agent), &o.agent) || args->next < args->count ||
        (settings && name)) {
        print_error("type: cordon hook claude, codex or gemini; or cordon hook --install claude");
        return settings ? EXIT_FAILED : EXIT_BLOCK;
    }
    if (settings)
        return r.print ? print_snippet(&r, o.agent) : change_settings(&r, o.agent);
    o.wrap = r.wrap;
    o.approve = r.approve;
    o.words = r.words;
    o.word_count = r.word_count;
    return answer_event(p, &o);
}

int command_hook(struct arguments *args)
{
    struct cordon_policy *p;
    if (cordon_policy_new(&p)) {
        print_error("out of memory");
        return EXIT_BLOCK;
    }
    int code = hook(p, args);
    cordon_policy_free(p);
    return code;
}
