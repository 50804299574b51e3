/* SPDX-License-Identifier: Apache-2.0 */
/* Environment variables: some hold commands, options or code that other programs run. */
#include "guard/judges/judges.h"
#include "guard/names.h"
#include "guard/state.h"

void guard_expanded(struct guard *g, struct word value)
{
    struct str text = value.text;
    if (str_find(text, STR("$("), 0) == text.n && !str_has_char(text, '`'))
        return;
    char *p = arena_alloc(guard_arena(g), text.n + 4);
    if (!p || !guard_spend(g, text.n)) {
        guard_limit(g, value);
        return;
    }
    size_t n = 3;
    memcpy(p, ": \"", 3);
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] != '"')
            p[n++] = text.p[i];
    p[n++] = '"';
    value.text = (struct str){p, n};
    guard_nested(g, GUARD_BASH, value);
}

void guard_callback(struct guard *g, struct word code)
{
    char *p = code.text.n ? arena_alloc(guard_arena(g), code.text.n + 2) : NULL;
    if (!p)
        return;
    memcpy(p, code.text.p, code.text.n);
    p[code.text.n] = ' ';
    p[code.text.n + 1] = GUARD_HOLE;
    code.text = (struct str){p, code.text.n + 2};
    guard_nested(g, GUARD_BASH, code);
}

/* Variables whose value is a command that some program runs. */
static bool holds_command(struct str name)
{
    return name_is_one_of(name,
                          STR("PAGER|MANPAGER|EDITOR|VISUAL|FCEDIT|SUDO_EDITOR|PROMPT_COMMAND|"
                              "LESSOPEN|LESSCLOSE|SSH_ASKPASS|RSYNC_RSH|BASH_ALIASES|"
                              "SYSTEMD_EDITOR|SYSTEMD_PAGER|npm_config_editor")) ||
           (str_startsi(name, STR("GIT_")) &&
            name_is_one_of(str_from(name, 4), STR("SSH_COMMAND|SSH|PAGER|EDITOR|SEQUENCE_EDITOR|"
                                                  "EXTERNAL_DIFF|ASKPASS|PROXY_COMMAND")));
}

/* Variables that programs of all kinds take a command from, by their names; in a script's own
   variable of such a name, only an opener matters. */
static bool may_hold_command(struct str name)
{
    return name_ends_in_one_of(
               name, STR("PAGER|EDITOR|BROWSER|ASKPASS|_RSH|_SSH|_COMMAND|_CMD|_WRAPPER|"
                         "_RUNNER|_LAUNCHER|_VIEWER|_OPENER|SHELL|_DIFF|_MERGE|_LINKER|"
                         "HGMERGE|P4DIFF|RUSTC|RUSTDOC|TEXEDIT|TERMINAL|TERMCMD|_HELPER")) ||
           name_is_one_of(name, STR("CC|CXX|LD|CPP|FC"));
}

/* Variables whose value is options or code of some program, with commands among them. */
static bool holds_options(struct str name)
{
    return str_startsi(name, STR("GIT_CONFIG_")) || str_startsi(name, STR("LUA_INIT")) ||
           name_is_one_of(name, STR("PERL5DB|LESS|VIMINIT|EXINIT|GVIMINIT|PYTHONWARNINGS|"
                                    "PYTHONBREAKPOINT")) ||
           name_ends_in_one_of(name, STR("OPTIONS|OPTS|OPT|FLAGS|_ARGS|PARAMETERS"));
}

static const struct loading_pool {
#define LOADING(name) char ROW(n)[sizeof name];
#include "guard/tables/loading.def"
#undef LOADING
} loading_pool = {
#define LOADING(name) name,
#include "guard/tables/loading.def"
#undef LOADING
};

static const uint16_t loading[] = {
#define LOADING(name) PLACE(loading_pool, ROW(n)),
#include "guard/tables/loading.def"
#undef LOADING
};

/* A folder that everybody may write to, a home, another machine, or code as an address. */
static bool is_stray(struct guard *g, struct str path)
{
    static const struct str starts[] = {STR("/tmp/"),  STR("/var/tmp/"), STR("/dev/shm/"),
                                        STR("/home/"), STR("~"),         STR("data:"),
                                        STR("\\\\")};
    for (size_t i = 0; i < NAME_ROWS(starts); i++)
        if (str_startsi(path, starts[i]))
            return guard_place_of(g, path) != GUARD_PLACE_INSIDE;
    bool drive = path.n > 3 && path.p[1] == ':' && ascii_is_alpha(path.p[0]) &&
                 ascii_is_in(path.p[2], "\\/");
    return drive && !str_startsi(str_from(path, 3), STR("program files")) &&
           !str_startsi(str_from(path, 3), STR("windows")) &&
           guard_place_of(g, path) != GUARD_PLACE_INSIDE;
}

/* Every path in the value: -javaagent:/x.jar, --require /x.js, a.so:/tmp/b.so. */
static void judge_loaded(struct guard *g, struct str name, struct word value)
{
    struct str text = value.text;
    for (size_t i = 0; i < text.n; i++) {
        bool begins = i == 0 || ascii_is_in(text.p[i - 1], " =:,;\"'|") ||
                      (i == 2 && str_starts(text, STR("-r")));
        size_t end = i;
        while (begins && end < text.n && !ascii_is_in(text.p[end], " ,;\"'"))
            end++;
        if (!begins || !is_stray(g, str_slice(text, i, end)) ||
            guard_written(g, str_slice(text, i, end)).p)
            continue;
        guard_find(g, GUARD_OPAQUE_TEXT, value, name,
                   "makes another program load code that the guard does not read",
                   "load code of the workspace");
        return;
    }
}

static enum variable_kind kind_of(struct str name)
{
    if (holds_command(name))
        return VARIABLE_COMMAND;
    if (may_hold_command(name))
        return VARIABLE_MAYBE_COMMAND;
    if (holds_options(name))
        return VARIABLE_OPTIONS;
    if (name_is_one_of(name, STR("PS0|PS1|PS2|PS3|PS4")))
        return VARIABLE_PROMPT;
    if (name_is_one_of(name, STR("BASH_ENV|ENV")))
        return VARIABLE_BASH_FILE;
    if (str_eq(name, STR("PYTHONSTARTUP")))
        return VARIABLE_PYTHON_FILE;
    return str_starts(name, STR("BASH_FUNC_")) ? VARIABLE_FUNCTION : VARIABLE_OTHER;
}

static void look_up(struct known_variable *known, struct str name)
{
    known->kind = (uint8_t)kind_of(name);
    known->loads = NAME_KNOWN(loading_pool, loading, name);
    known->agents = agent_obeys(name);
}

/* Scripts set the same few variables over and over. */
static struct known_variable known_variable_of(struct guard *g, struct str name)
{
    struct known_variable own;
    if (name.n == 0 || name.n > KNOWN_VARIABLE_LENGTH) {
        look_up(&own, name);
        return own;
    }
    unsigned hash = (unsigned)name.n;
    for (size_t i = 0; i < name.n; i++)
        hash = hash * 31 + (unsigned char)name.p[i];
    struct known_variable *known = &g->variables[hash % KNOWN_VARIABLES];
    if (known->length != name.n || memcmp(known->name, name.p, name.n) != 0) {
        look_up(known, name);
        memcpy(known->name, name.p, name.n);
        known->length = (uint8_t)name.n;
    }
    return *known;
}

static void judge_variable(struct guard *g, struct str name, enum variable_kind kind,
                           struct word value)
{
    if (value.text.n == 0 || value.text.p[0] == GUARD_HOLE) {
        if (value.text.n && str_eq(name, STR("BASH_ENV")))
            guard_opaque_text(g, value, name);
        return;
    }
    switch (kind) {
    case VARIABLE_COMMAND:
        while (value.text.n && ascii_is_in(value.text.p[0], "|-")) /* LESSOPEN */
            value.text = str_from(value.text, 1);
        guard_callback(g, value);
        break;
    case VARIABLE_MAYBE_COMMAND:
        guard_carried(g, value);
        if (guard_starts_launcher(g, value.text))
            guard_callback(g, value);
        break;
    case VARIABLE_OPTIONS:
        guard_code(g, name, value);
        guard_commands(g, value);
        break;
    case VARIABLE_PROMPT: guard_expanded(g, value); break;
    case VARIABLE_BASH_FILE:
        guard_expanded(g, value);
        guard_script_as(g, value, GUARD_BASH);
        break;
    case VARIABLE_PYTHON_FILE: guard_script_as(g, value, GUARD_NO_SHELL); break;
    case VARIABLE_FUNCTION:
        value.text = str_from(value.text, str_find_char(value.text, '{', 0));
        guard_nested(g, GUARD_BASH, value);
        break;
    case VARIABLE_OTHER:
        guard_carried(g, value); /* many programs take commands from variables of their own */
        break;
    }
}

void guard_unset(struct guard *g, struct str name)
{
    g->settings_moved |= known_variable_of(g, name).agents;
}

void guard_variable(struct guard *g, struct str name, struct word value)
{
    /* nothing says that the value is run: GIT_SSH_COMMAND=ssh alone connects to no host */
    const struct policy *tools = g->question.tools;
    g->question.tools = NULL;
    g->path_changed |= str_eq(name, STR("PATH"));
    g->dot_glob |= str_eq(name, STR("GLOBIGNORE")) && value.text.n;
    g->cd_path |= str_eq(name, STR("CDPATH")) && value.text.n;
    struct known_variable known = known_variable_of(g, name);
    g->settings_moved |= known.agents;
    judge_variable(g, name, (enum variable_kind)known.kind, value);
    if (value.text.n && known.loads)
        judge_loaded(g, name, value);
    g->question.tools = tools;
}
