/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file by which OpenCode asks Cordon before a tool runs. What it throws, the model reads as the
 * tool's result, so everything but a clear "allow" ends in an error.
 */
#include "cli/hook_shell.h"

#include <errno.h>

#include "cli/cli.h"
#include "lib/system.h"

static const char mark[] =
    "// Written by \"cordon hook --install opencode\": cordon is asked before a tool runs.\n";

static const char head[] = "import { spawnSync } from \"node:child_process\"\n"
                           "import { homedir } from \"node:os\"\n"
                           "import { join, resolve } from \"node:path\"\n\n";

static const char body[] =
    "function ask(directory, tool, session, args) {\n"
    "  const run = spawnSync(program.replace(/^\\$HOME(?=\\/)/, () => homedir()), words, {\n"
    "    cwd: directory,\n"
    "    env: { ...process.env, CORDON_PROJECT: directory, CORDON_SHELL: shell },\n"
    "    input: JSON.stringify({ hook_event_name: \"tool.execute.before\", tool_name: tool, "
    "tool_input: args,\n"
    "      session_id: session, cwd: resolve(directory, args.workdir ?? \"\") }),\n"
    "    encoding: \"utf8\",\n"
    "    timeout: 60000,\n"
    "  })\n"
    "  return run.status === 0 ? JSON.parse(run.stdout) : {}\n"
    "}\n\n"
    "export const Cordon = async ({ directory }) => ({\n"
    "  config: async (config) => {\n"
    "    if (shell) config.shell = shell\n"
    "  },\n"
    "  \"shell.env\": async ({ sessionID }, { env }) => {\n"
    "    env.CORDON_PROJECT = directory\n"
    "    env.CORDON_SESSION = sessionID ?? \"\"\n"
    "  },\n"
    "  \"tool.execute.before\": async ({ tool, sessionID }, { args }) => {\n"
    "    if (!tools.test(tool)) return\n"
    "    let answer = {}\n"
    "    try {\n"
    "      answer = ask(directory, tool, sessionID, args)\n"
    "    } catch {}\n"
    "    if (answer?.decision !== \"allow\")\n"
    "      throw new Error(answer?.reason || \"cordon: sandbox denied: the hook of cordon did not "
    "run\")\n"
    "  },\n"
    "})\n";

int plugin_text(const struct hook_entry *entry, struct buf *out)
{
    struct json_writer w = {.out = out};
    buf_add(out, STR(mark));
    buf_add(out, STR(head));
    buf_add(out, STR("const [program, ...words] = "));
    json_open(&w, '[');
    json_string(&w, entry->command);
    for (size_t i = 0; i < entry->word_count; i++)
        json_string(&w, entry->words[i]);
    json_close(&w, ']');
    buf_add(out, STR("\nconst shell = "));
    if (entry->shell.n)
        buf_fmt(out, "join(import.meta.dirname, \"../cordon/%s\")",
                str_ends(entry->shell, STR("/zsh")) ? "zsh" : "bash");
    else
        buf_add(out, STR("\"\""));
    buf_add(out, STR("\nconst tools = /^("));
    buf_add(out, hook_agents[HOOK_OPENCODE].tools);
    buf_add(out, STR(")$/\n\n"));
    buf_add(out, STR(body));
    return out->failed ? print_failure("out of memory") : 0;
}

int plugin_change(const char *file, struct str old, const struct hook_entry *entry, bool *any)
{
    auto_buf struct buf text = {0};
    char why[256];
    if (old.n && str_find(old, STR(mark), 0) == old.n)
        return print_failure("%s: this is not a file of cordon's; it is left as it is", file);
    int rc = entry ? plugin_text(entry, &text) : 0;
    if (rc || str_eq(buf_str(&text), old))
        return rc;
    *any = true;
    printf("%s:\n%s", file, buf_cstr(&text));
    fflush(stdout);
    if (!entry && remove(file))
        return print_failure("%s: %s", file, strerror(errno));
    if (entry && !cli_replace_file(file, buf_str(&text), why, sizeof why))
        return print_failure("%s: %s; it is left as it is", file, why);
    return 0;
}
