/* SPDX-License-Identifier: Apache-2.0 */
/* Events of agents: any bytes get an answer of the agent's shape, or none; never a crash. The same
   bytes are taken for a settings file: what is put in can be taken out again. */
#include <stdio.h>
#include <stdlib.h>

#include "hook/hook.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void answer(struct str event, int agent)
{
    struct cordon_policy *p;
    struct hook_options o = {.agent = (enum hook_agent)agent, .program = STR("/cordon")};
    auto_buf struct buf out = {0};
    auto_arena struct arena arena = {0};
    struct json_value v;
    struct json_error error;
    o.wrap = true;
    o.project = STR("/ws");
    if (cordon_policy_new(&p))
        return;
    if (hook_answer(p, &o, event, &out) == 0 && out.n &&
        json_read(&arena, buf_str(&out), &v, &error))
        abort();
    cordon_policy_free(p);
}

static void settle(struct str text, int agent)
{
    auto_buf struct buf in = {0}, out = {0}, twice = {0}, error = {0};
    bool changed = false, removed = false, again = true;
    enum hook_agent name = (enum hook_agent)agent;
    char command[64];
    snprintf(command, sizeof command, "cordon hook %s", hook_agents[agent].name);
    struct hook_entry entry = {.command = str_of(command)};
    if (hook_install(name, text, &entry, &in, &changed, &error))
        return;
    if (hook_install(name, buf_str(&in), &entry, &twice, &again, &error) || again)
        abort();
    if (hook_remove(name, buf_str(&in), &out, &removed, &error) || !removed)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    struct str text = {(const char *)data + 1, size - 1};
    answer(text, data[0] % HOOK_AGENT_COUNT);
    settle(text, data[0] % HOOK_AGENT_COUNT);
    struct str file = STR("/home/user/.codex/hooks.json");
    if (hook_codex_trust(file, text, STR("")) == HOOK_TRUSTED)
        abort();
    hook_codex_trust(file, STR("{}"), text);
    return 0;
}
