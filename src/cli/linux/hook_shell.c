/* SPDX-License-Identifier: Apache-2.0 */
/* The file by which an agent starts its shell. */
#include "cli/hook_shell.h"

#include <errno.h>
#include <sys/stat.h>

#include "cli/cli.h"
#include "launch/disk.h"
#include "launch/machine.h"

struct str line_begin(enum hook_agent agent)
{
    (void)agent;
    return STR_NONE;
}

bool line_argument(struct buf *out, enum hook_agent agent, struct str word)
{
    (void)agent;
    return line_word(out, word);
}

enum line_form line_program(struct buf *out, enum hook_agent agent, struct str path, bool project)
{
    auto_arena struct arena arena = {0};
    auto_buf struct buf word = {0};
    bool bare = agent == HOOK_OPENCODE; /* its file starts the program itself */
    struct str home;
    bool below = project && disk_variable(&arena, STR("HOME"), &home) && home.n > 1 &&
                 path.n > home.n && path_is_below(PATH_POSIX, home, path);
    struct str rest = below ? str_from(path, home.n) : path;
    bool good = line_word(&word, rest);
    bool quoted = word.n && word.p[0] == '"';
    buf_add(out, !below ? STR("") : bare ? STR("$HOME") : STR("\"$HOME"));
    if (bare)
        buf_add(out, rest);
    else if (below)
        buf_add(out, quoted ? str_slice(buf_str(&word), 1, word.n - 1) : buf_str(&word));
    else
        buf_add(out, buf_str(&word));
    buf_add(out, below && !bare ? STR("\"") : STR(""));
    return good || bare ? LINE_GOOD : LINE_NO_FORM;
}

void line_end(struct buf *out, enum hook_agent agent)
{
    (void)agent;
    buf_add(out, STR(" || sh -c 'echo \"" LINE_NO_ANSWER "\" >&2; exit 2'"));
}

bool line_is_powershell(enum hook_agent agent)
{
    (void)agent;
    return false;
}

bool shell_is_used(enum hook_agent agent)
{
    return agent == HOOK_CLAUDE || agent == HOOK_OPENCODE;
}

/*
 * A file by which an agent starts its shell, so that all of its commands run confined while its own
 * rules see them as they are. The project is the folder that Claude Code itself is in; OpenCode,
 * which may serve several, has it told by the plugin.
 */
static void write_shell(enum hook_agent agent, const char *const *words, size_t count,
                        struct str shell, bool has_roots, struct buf *out)
{
    bool claude = agent == HOOK_CLAUDE;
    auto_buf struct buf self = {0};
    if (!machine_own_path(&self))
        buf_add(&self, STR("cordon"));
    buf_add(out, STR("#!/bin/sh\n"));
    buf_fmt(out,
            "# Written by \"cordon hook --install %s --wrap\": %s starts its shell by this file.\n"
            "[ -z \"$CORDON\" ] || exec ",
            hook_agents[agent].name, claude ? "Claude Code" : "OpenCode");
    hook_quote_sh(out, shell);
    buf_add(out, STR(" \"$@\"\n"));
    if (!has_roots)
        buf_add(out, claude ? STR("root=$(readlink \"/proc/$PPID/cwd\")")
                            : STR("root=$CORDON_PROJECT; [ -n \"$root\" ]"));
    if (!has_roots)
        buf_add(
            out,
            STR(" || {\n"
                "    echo \"cordon: sandbox denied: the folder of the project is unknown\" >&2\n"
                "    exit 126\n"
                "}\n"));
    buf_add(out, STR("exec "));
    hook_quote_sh(out, buf_str(&self));
    buf_add(out, STR(" run"));
    for (size_t i = 0; i < count; i++) {
        buf_char(out, ' ');
        hook_quote_sh(out, str_of(words[i]));
    }
    if (!has_roots)
        buf_add(out, STR(" --root \"$root\""));
    buf_add(out, claude
                     ? STR(" ${CLAUDE_CODE_SESSION_ID:+--session=\"$CLAUDE_CODE_SESSION_ID\"} -- ")
                     : STR(" ${CORDON_SESSION:+--session=\"$CORDON_SESSION\"} -- "));
    hook_quote_sh(out, shell);
    buf_add(out, STR(" \"$@\"\n"));
}

/* Its path, absolute, and the shell that it starts. */
static bool shell_file(enum hook_agent agent, bool project, struct arena *arena, struct buf *out,
                       struct str *shell)
{
    struct str name = STR("bash");
    if (!disk_variable(arena, STR("SHELL"), shell))
        *shell = STR("/bin/bash");
    bool zsh = shell->n > 4 && str_eq(str_from(*shell, shell->n - 4), STR("/zsh"));
    bool bash = shell->n > 5 && str_eq(str_from(*shell, shell->n - 5), STR("/bash"));
    if (zsh)
        name = STR("zsh");
    else if (!bash)
        *shell = STR("/bin/bash");
    if (project) {
        buf_add(out, disk_cwd(arena));
        buf_fmt(out, "/%s", hook_agents[agent].folder);
    } else if (!hook_folder(agent, out)) {
        return false;
    }
    buf_add(out, STR("/cordon/"));
    buf_add(out, name);
    return !out->failed && out->p[0] == '/';
}

static bool write_file(const char *file, struct str text, bool program)
{
    char why[256];
    if (!cli_replace_file(file, text, why, sizeof why)) {
        print_error("%s: %s", file, why);
        return false;
    }
    if (program && chmod(file, 0755)) {
        print_error("%s: %s", file, strerror(errno));
        return false;
    }
    return true;
}

int shell_install(enum hook_agent agent, const char *const *words, size_t count, bool project,
                  bool has_roots, struct buf *path)
{
    auto_arena struct arena arena = {0};
    auto_buf struct buf text = {0}, ignore = {0};
    struct str shell;
    if (!shell_file(agent, project, &arena, path, &shell))
        return print_failure("the home folder is unknown; name the project with --project");
    write_shell(agent, words, count, shell, has_roots, &text);
    if (text.failed)
        return print_failure("out of memory");
    printf("%s:\n%s", buf_cstr(path), buf_cstr(&text));
    /* git would show the file as new in everybody's project. */
    buf_fmt(&ignore, "%s/cordon/.gitignore", hook_agents[agent].folder);
    return write_file(buf_cstr(path), buf_str(&text), true) &&
                   (!project || write_file(buf_cstr(&ignore), STR("*\n"), false))
               ? 0
               : EXIT_FAILED;
}

void shell_remove(enum hook_agent agent, bool project)
{
    static const char *const names[] = {"/bash", "/zsh", "/.gitignore", ""};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        auto_buf struct buf path = {0};
        if (project)
            buf_add(&path, str_of(hook_agents[agent].folder));
        else if (!hook_folder(agent, &path))
            return;
        buf_fmt(&path, "/cordon%s", names[i]);
        if (!path.failed)
            remove(buf_cstr(&path)); /* the last is the folder, which goes if it is empty */
    }
}
