// SPDX-License-Identifier: Apache-2.0
// Written by "cordon hook --install opencode": cordon is asked before a tool runs.
import { spawnSync } from "node:child_process"
import { homedir } from "node:os"
import { join, resolve } from "node:path"

const [program, ...words] = ["cordon","hook","opencode"]
const shell = ""
const tools = /^(bash|edit|write|apply_patch)$/

function ask(directory, tool, session, args) {
  const run = spawnSync(program.replace(/^\$HOME(?=\/)/, () => homedir()), words, {
    cwd: directory,
    env: { ...process.env, CORDON_PROJECT: directory, CORDON_SHELL: shell },
    input: JSON.stringify({ hook_event_name: "tool.execute.before", tool_name: tool, tool_input: args,
      session_id: session, cwd: resolve(directory, args.workdir ?? "") }),
    encoding: "utf8",
    timeout: 60000,
  })
  return run.status === 0 ? JSON.parse(run.stdout) : {}
}

export const Cordon = async ({ directory }) => ({
  config: async (config) => {
    if (shell) config.shell = shell
  },
  "shell.env": async ({ sessionID }, { env }) => {
    env.CORDON_PROJECT = directory
    env.CORDON_SESSION = sessionID ?? ""
  },
  "tool.execute.before": async ({ tool, sessionID }, { args }) => {
    if (!tools.test(tool)) return
    let answer = {}
    try {
      answer = ask(directory, tool, sessionID, args)
    } catch {}
    if (answer?.decision !== "allow")
      throw new Error(answer?.reason || "cordon: sandbox denied: the hook of cordon did not run")
  },
})
