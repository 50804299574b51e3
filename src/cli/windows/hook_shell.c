/* SPDX-License-Identifier: Apache-2.0 */
/* Agents start Git's bash and PowerShell by their own names here. */
#include "cli/hook_shell.h"

#include "cli/cli.h"
#include "launch/disk.h"

/* Gemini CLI takes PowerShell; Qwen Code would take what ComSpec names, if it were not told. */
static bool by_powershell(enum hook_agent agent)
{
    return agent == HOOK_GEMINI || agent == HOOK_QWEN;
}

/* A profile may have said that errors end the script, or that unset variables are errors. */
struct str line_begin(enum hook_agent agent)
{
    return by_powershell(agent) ? STR("$x = 1; try { & ") : STR_NONE;
}

bool line_argument(struct buf *out, enum hook_agent agent, struct str word)
{
    return by_powershell(agent) ? hook_powershell_word(out, word) : line_word(out, word);
}

enum line_form line_program(struct buf *out, enum hook_agent agent, struct str path, bool project)
{
    auto_arena struct arena arena = {0};
    struct str home;
    bool quoted = agent == HOOK_CODEX;
    if (project && disk_variable(&arena, STR("USERPROFILE"), &home) && str_startsi(path, home))
        return LINE_PRIVATE;
    if (by_powershell(agent))
        return hook_powershell_word(out, path) ? LINE_GOOD : LINE_NO_FORM;
    buf_add(out, quoted ? STR("\"") : STR_NONE);
    for (size_t i = 0; i < path.n; i++) {
        if (strchr("\"$`!%", path.p[i]))
            return LINE_NO_FORM;
        /* Git's bash would take a backslash for a sign of its own. */
        buf_char(out, path.p[i] == '\\' ? '/' : path.p[i]);
    }
    buf_add(out, quoted ? STR("\"") : STR_NONE);
    return LINE_GOOD;
}

void line_end(struct buf *out, enum hook_agent agent)
{
    bool powershell = by_powershell(agent);
    buf_add(out, powershell ? STR(" ; $x = $LASTEXITCODE } catch { }; if ($x -ne 0) { "
                                  "[Console]::Error.WriteLine('")
                            : STR(" || (echo "));
    buf_add(out, STR(LINE_NO_ANSWER));
    buf_add(out, powershell ? STR("'); exit 2 }") : STR(" 1>&2 & exit 2)"));
}

bool line_is_powershell(enum hook_agent agent)
{
    return agent == HOOK_QWEN;
}

bool shell_is_used(enum hook_agent agent)
{
    (void)agent;
    return false;
}

int shell_install(enum hook_agent agent, const char *const *words, size_t count, bool project,
                  bool has_roots, struct buf *path)
{
    (void)agent;
    (void)words;
    (void)count;
    (void)project;
    (void)has_roots;
    (void)path;
    return EXIT_FAILED;
}

void shell_remove(enum hook_agent agent, bool project)
{
    (void)agent;
    (void)project;
}

int plugin_text(const struct hook_entry *entry, struct buf *out)
{
    (void)entry;
    (void)out;
    return print_failure("on Windows copy examples/opencode/cordon.js");
}

int plugin_change(const char *file, struct str old, const struct hook_entry *entry, bool *any)
{
    (void)file;
    (void)old;
    (void)any;
    return plugin_text(entry, NULL);
}
