/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cordon hook: answers an agent's event before a tool runs, and puts itself into the agent's
 * settings. While an event is answered the only exit codes are 0 and 2: an agent takes any other
 * one for a broken hook and runs the tool.
 */
#include "hook/hook.h"
#include "cli/cli.h"
#include "cli/hook_shell.h"
#include "launch/disk.h"
#include "lib/check.h"
#include "lib/system.h"

enum { EXIT_BLOCK = 2, MOST_WORDS = 256 };

struct hook_request {
    bool wrap, approve, undo, project, help;
    const char *shell, *print, *install, *remove;
    const char *words[MOST_WORDS]; /* options of the policy, as given */
    size_t word_count;
};

static bool is_file(struct arena *arena, struct str path)
{
    struct disk_facts facts;
    return disk_look(arena, path, &facts) == 0 && facts.exists && !facts.directory;
}

/* ---- an event ---- */

/* All of stdin, also what is over the limit: an agent may take a broken pipe for a broken hook. */
static void read_event(struct buf *event)
{
    char chunk[65536];
    for (size_t n; (n = fread(chunk, 1, sizeof chunk, stdin)) > 0;)
        if (event->n <= HOOK_MAX_EVENT + 4)
            buf_add(event, (struct str){chunk, n});
}

static bool can_wrap(enum hook_agent agent)
{
    bool can = agent != HOOK_QWEN && (agent != HOOK_OPENCODE || disk_dialect() != PATH_WINDOWS);
    if (!can)
        print_error(
            "%s takes no rewritten command here; leave out --wrap, or run all of it inside: "
            "cordon run -- %s",
            hook_agents[agent].name, hook_agents[agent].name);
    return can;
}

static int answer_event(struct cordon_policy *p, struct hook_options *o)
{
    auto_arena struct arena arena = {0};
    auto_buf struct buf event = {0}, out = {0}, self = {0}, state = {0};
    struct str inside, shell;
    if (o->wrap && !can_wrap(o->agent))
        return EXIT_BLOCK;
    if (cli_is_terminal(stdin)) {
        print_error("this answers an agent's events; to set it up: cordon hook --install %s",
                    hook_agents[o->agent].name);
        return EXIT_BLOCK;
    }
    o->windows = disk_dialect() == PATH_WINDOWS;
    o->inside = disk_variable(&arena, STR("CORDON"), &inside);
    o->program = machine_own_path(&self) ? buf_str(&self) : STR("cordon");
    bool opencode = o->agent == HOOK_OPENCODE;
    if (o->agent != HOOK_CODEX)
        disk_variable(&arena, opencode ? STR("CORDON_PROJECT") : STR("CLAUDE_PROJECT_DIR"),
                      &o->project);
    o->confined_shell =
        disk_variable(&arena, opencode ? STR("CORDON_SHELL") : STR("CLAUDE_CODE_SHELL"), &shell) &&
        hook_is_shell(shell) && is_file(&arena, shell);
    if (hook_folder(o->agent, &state))
        o->state = buf_str(&state);
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

/* ---- what is written ---- */

static bool is_plain(char c)
{
    return ascii_is_alnum(c) || (c && strchr("_./:=@+,-", c));
}

bool line_word(struct buf *out, struct str word)
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

/* True if "cordon" leads to this very file. */
static bool is_on_path(struct arena *arena, struct str self)
{
    bool windows = disk_dialect() == PATH_WINDOWS;
    struct disk_facts own, facts;
    struct str path;
    if (!disk_variable(arena, STR("PATH"), &path) || disk_look(arena, self, &own))
        return false;
    for (size_t pos = 0; pos < path.n;) {
        size_t end = str_find_char(path, windows ? ';' : ':', pos);
        auto_buf struct buf file = {0};
        buf_add(&file, str_slice(path, pos, end));
        buf_add(&file, windows ? STR("/cordon.exe") : STR("/cordon"));
        pos = end + 1;
        if (!file.failed && disk_look(arena, buf_str(&file), &facts) == 0 && facts.exists &&
            !facts.directory)
            return str_eq(facts.final, own.final);
    }
    return false;
}

/* The program as a word of the line. A project's settings are for everybody who works on it: there
   the name alone, if it leads to this file. */
static enum line_form add_program(struct buf *out, enum hook_agent agent, bool project)
{
    auto_arena struct arena arena = {0};
    auto_buf struct buf self = {0};
    if (!machine_own_path(&self))
        buf_add(&self, STR("cordon"));
    if (!project || !is_on_path(&arena, buf_str(&self)))
        return line_program(out, agent, buf_str(&self), project);
    buf_add(out, STR("cordon"));
    return LINE_GOOD;
}

struct hook_line {
    struct buf command, shell;
    struct str words[MOST_WORDS + 8];
    struct hook_entry entry;
};

static void free_line(struct hook_line *l)
{
    buf_free(&l->command);
    buf_free(&l->shell);
}

static int make_line(const struct hook_request *r, enum hook_agent agent, struct hook_line *out)
{
    struct str *words = out->words;
    size_t count = 0;
    /* On Windows Claude Code has Git's bash or PowerShell: no shell at all reads the same in both.
       OpenCode's file starts the program itself. */
    bool alone = agent == HOOK_OPENCODE || (agent == HOOK_CLAUDE && disk_dialect() == PATH_WINDOWS);
    buf_add(&out->command, line_begin(agent));
    enum line_form form = add_program(&out->command, agent, r->project);
    bool good = form == LINE_GOOD;
    words[count++] = STR("hook");
    words[count++] = str_of(hook_agents[agent].name);
    if (r->wrap)
        words[count++] = STR("--wrap");
    if (r->approve)
        words[count++] = STR("--approve");
    if (r->shell) {
        words[count++] = STR("--shell");
        words[count++] = str_of(r->shell);
    }
    for (size_t i = 0; i < r->word_count; i++)
        words[count++] = str_of(r->words[i]);
    if (alone) {
        out->entry.words = words;
        out->entry.word_count = count;
    }
    for (size_t i = 0; i < count && !alone; i++) {
        buf_char(&out->command, ' ');
        good = good && line_argument(&out->command, agent, words[i]);
    }
    if (!alone)
        line_end(&out->command, agent);
    out->entry.powershell = line_is_powershell(agent);
    if (form == LINE_PRIVATE)
        return print_failure("cordon is in your own folder; put it on the PATH, or leave out "
                             "--project");
    if (!good)
        return print_failure("a path or value holds a character that shells read differently; "
                             "write the settings by hand");
    if (out->command.failed)
        return print_failure("out of memory");
    out->entry.command = buf_str(&out->command);
    return 0;
}

/* Where the agent keeps its settings. Claude Code's shell is named by an absolute path, which is
   for one person only. */
static bool settings_file(const struct hook_request *r, enum hook_agent agent, struct buf *out)
{
    const struct hook_agent_info *info = &hook_agents[agent];
    if (r->project)
        buf_add(out, str_of(info->folder));
    else if (!hook_folder(agent, out))
        return false;
    buf_fmt(out, "/%s",
            r->project && agent == HOOK_CLAUDE && (r->wrap && shell_is_used(agent))
                ? "settings.local.json"
                : info->file);
    return !out->failed;
}

/* ---- settings ---- */

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

static void print_afterwards(const struct hook_request *r, enum hook_agent agent)
{
    bool windows = disk_dialect() == PATH_WINDOWS;
    if (agent == HOOK_CODEX)
        printf(
            "Codex skips this hook until you trust it%s: start codex here, type /hooks, and trust "
            "it. cordon doctor says whether it is trusted.\n",
            r->project ? " and the project" : "");
    if (agent == HOOK_GEMINI && r->project)
        printf("Gemini CLI ignores a project's settings in a folder that is not trusted, also with "
               "--skip-trust: trust it with /permissions, or install without --project.\n");
    printf("Start %s anew, then ask it to run: %s https://example.com\n", hook_agents[agent].name,
           windows ? "start" : "xdg-open");
}

static int print_snippet(struct hook_request *r, enum hook_agent agent)
{
    auto_buf struct buf file = {0}, project = {0}, text = {0}, error = {0};
    struct hook_line line = {0};
    bool changed;
    if ((r->wrap && shell_is_used(agent)))
        return print_failure("--wrap needs a file beside the settings; use --install");
    int rc = make_line(r, agent, &line);
    if (rc == 0 && agent == HOOK_OPENCODE)
        rc = plugin_text(&line.entry, &text);
    else if (rc == 0 && hook_install(agent, STR(""), &line.entry, &text, &changed, &error))
        rc = print_failure("out of memory");
    if (rc == 0) {
        bool known = (r->project = false, settings_file(r, agent, &file));
        r->project = true;
        settings_file(r, agent, &project);
        printf("Put this into %s for all projects, or into %s for this one:\n\n%s\n",
               known ? buf_cstr(&file) : "the settings of your home folder", buf_cstr(&project),
               buf_cstr(&text));
        print_afterwards(r, agent);
    }
    free_line(&line);
    return rc;
}

/* The settings as they are: nothing if there are none. */
static int read_settings(const char *file, struct buf *old)
{
    int rc = disk_read(str_of(file), HOOK_MAX_EVENT, old);
    FILE *exists = rc == CORDON_E_OPEN ? system_fopen(file, "rb") : NULL;
    if (rc == 0 || (rc == CORDON_E_OPEN && !exists))
        return 0;
    if (exists)
        fclose(exists);
    return print_failure("%s: %s; it is left as it is", file, cordon_strerror(rc));
}

static int replace(const char *file, struct str text)
{
    char why[256];
    return cli_replace_file(file, text, why, sizeof why)
               ? 0
               : print_failure("%s: %s; it is left as it is", file, why);
}

/* The settings that --install starts from if there is no file. */
static bool is_empty(struct str settings)
{
    return str_eq(str_trim(settings), STR("{}"));
}

static int change_file(const struct hook_request *r, enum hook_agent agent, struct buf *file,
                       const struct hook_line *line, bool *any)
{
    auto_buf struct buf old = {0}, text = {0}, error = {0};
    bool changed = false;
    int rc = read_settings(buf_cstr(file), &old);
    if (rc)
        return rc;
    if (agent == HOOK_OPENCODE)
        return plugin_change(buf_cstr(file), buf_str(&old), r->install ? &line->entry : NULL, any);
    rc = r->install ? hook_install(agent, buf_str(&old), &line->entry, &text, &changed, &error)
                    : hook_remove(agent, buf_str(&old), &text, &changed, &error);
    if (rc)
        return print_failure("%s: %s; it is left as it is", buf_cstr(file),
                             error.n ? buf_cstr(&error) : cordon_strerror(rc));
    *any = *any || changed;
    if (!changed)
        return 0;
    printf("%s:\n", buf_cstr(file));
    print_change(buf_str(&old), buf_str(&text));
    fflush(stdout);
    if (!r->install && is_empty(buf_str(&text)) && !cli_is_link(buf_cstr(file)) &&
        cli_remove_file(buf_cstr(file))) {
        printf("nothing else was in the file, which is gone too\n");
        return 0;
    }
    return replace(buf_cstr(file), buf_str(&text));
}

static int change_settings(struct hook_request *r, enum hook_agent agent, bool has_roots)
{
    auto_buf struct buf file = {0}, other = {0};
    struct hook_line line = {0};
    bool any = false, shell = r->install && (r->wrap && shell_is_used(agent));
    int rc = make_line(r, agent, &line);
    if (rc == 0 && !settings_file(r, agent, &file))
        rc = print_failure("the home folder is unknown; name the project with --project");
    if (rc == 0 && shell) {
        rc = shell_install(agent, r->words, r->word_count, r->project, has_roots, &line.shell);
        line.entry.shell = buf_str(&line.shell);
    }
    if (rc == 0)
        rc = change_file(r, agent, &file, &line, &any);
    if (rc == 0 && agent == HOOK_CLAUDE && r->project) {
        /* One entry, in one of the two files. */
        struct hook_request twin = {.remove = "claude", .project = true, .wrap = !r->wrap};
        if (settings_file(&twin, agent, &other))
            rc = change_file(&twin, agent, &other, &line, &any);
    }
    if (rc == 0 && r->remove && shell_is_used(agent))
        shell_remove(agent, r->project);
    if (rc == 0 && !any)
        printf("%s: %s\n", buf_cstr(&file),
               r->install ? "the hook is there already" : "there is no hook of cordon");
    else if (rc == 0)
        printf("%s\n", r->install ? "written" : "removed");
    if (rc == 0 && any && r->install)
        print_afterwards(r, agent);
    free_line(&line);
    return rc;
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

/* Where a value that is a path begins in a word; the word's length if it holds none. */
static size_t path_at(const struct hook_request *r, size_t i)
{
    struct str word = str_of(r->words[i]), text = str_from(word, 2);
    bool option = str_starts(word, STR("--"));
    size_t equals = str_find_char(text, '=', 0);
    struct str name = option ? str_slice(text, 0, equals) : STR_NONE;
    if (!option && i > 0)
        name = str_from(str_of(r->words[i - 1]), 2);
    const struct settings_info *info = settings_find(name);
    bool path = info && (str_eq(info->value, STR("DIR")) || str_eq(info->value, STR("PATH")) ||
                         str_eq(info->value, STR("FILE")));
    return !path ? word.n : option ? 2 + equals + 1 : 0;
}

static bool is_relative(struct str path)
{
    bool drive = path.n > 1 && path.p[1] == ':';
    return path.n > 0 && !drive && !strchr("/\\@~", path.p[0]);
}

/*
 * Paths are written down absolute: the folder in which a hook starts is not the one it is installed
 * from. In a project's file, which is for everybody, they stay as they are.
 */
static int settle_paths(struct hook_request *r, enum hook_agent agent, struct arena *arena)
{
    struct str cwd = disk_cwd(arena);
    for (size_t i = 0; i < r->word_count; i++) {
        struct str word = str_of(r->words[i]);
        size_t at = path_at(r, i);
        auto_buf struct buf full = {0};
        if (at >= word.n || !is_relative(str_from(word, at)))
            continue;
        if (r->project && (agent == HOOK_CODEX || (agent == HOOK_OPENCODE && r->wrap)))
            return print_failure("%s: %s starts %s in the folder that the model names; with "
                                 "--project leave it out, else give an absolute path",
                                 r->words[i], agent == HOOK_CODEX ? "Codex" : "OpenCode",
                                 agent == HOOK_CODEX ? "a hook" : "its shell");
        if (r->project && !(r->wrap && shell_is_used(agent)))
            continue;
        buf_add(&full, str_slice(word, 0, at));
        buf_add(&full, cwd);
        if (!str_eq(str_from(word, at), STR("."))) {
            buf_char(&full, '/');
            buf_add(&full, str_from(word, at));
        }
        r->words[i] = arena_copy(arena, buf_str(&full)).p;
        if (full.failed || !r->words[i])
            return print_failure("out of memory");
    }
    return 0;
}

static bool has_relative_path(const struct hook_request *r)
{
    for (size_t i = 0; i < r->word_count; i++) {
        struct str word = str_of(r->words[i]);
        size_t at = path_at(r, i);
        if (at < word.n && is_relative(str_from(word, at)))
            return true;
    }
    return false;
}

static int hook(struct cordon_policy *p, struct arguments *args)
{
    auto_arena struct arena arena = {0};
    struct hook_request r = {0};
    struct hook_options o = {0};
    const struct cli_option own[] = {
        {.name = "wrap", .flag = &r.wrap},       {.name = "approve", .flag = &r.approve},
        {.name = "project", .flag = &r.project}, {.name = "help", .flag = &r.help},
        {.name = "undo", .flag = &r.undo},       {.name = "shell", .value = &r.shell},
        {.name = "print", .value = &r.print},    {.name = "install", .value = &r.install},
        {.name = "remove", .value = &r.remove}};
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
    if (r.undo && !r.wrap) {
        print_error("--undo belongs to --wrap; add --wrap");
        return settings ? EXIT_FAILED : EXIT_BLOCK;
    }
    /* The run takes it, like a word of the policy. */
    if (r.undo && r.word_count < MOST_WORDS)
        r.words[r.word_count++] = "--undo";
    const char *agent = r.print ? r.print : r.install ? r.install : r.remove ? r.remove : name;
    if (r.shell && !check_shell(str_of(r.shell), &o.shell)) {
        print_error("--shell takes powershell, cmd or bash, not %s", r.shell);
        return settings ? EXIT_FAILED : EXIT_BLOCK;
    }
    if (!agent || !hook_find_agent(str_of(agent), &o.agent) || args->next < args->count ||
        (settings && name)) {
        print_error(
            "type: cordon hook --install claude, codex, gemini, opencode or qwen (Copilot CLI: "
            "claude --project, which it reads)");
        return settings ? EXIT_FAILED : EXIT_BLOCK;
    }
    if (settings) {
        if (r.wrap && !can_wrap(o.agent))
            return EXIT_FAILED;
        rc = settle_paths(&r, o.agent, &arena);
        if (rc)
            return rc;
    } else if (o.agent == HOOK_CODEX && has_relative_path(&r)) {
        print_error("sandbox denied: a relative path starts from the folder that the model names; "
                    "give an absolute one");
        return EXIT_BLOCK;
    }
    if (settings)
        return r.print ? print_snippet(&r, o.agent)
                       : change_settings(&r, o.agent, api_has(p, "root"));
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
