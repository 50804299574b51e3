/* SPDX-License-Identifier: Apache-2.0 */
/* A policy file, compiled and asked. What lies outside every root is never allowed. */
#include <stdint.h>
#include <stdlib.h>

#include "policy/load.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool lookup(void *context, struct str name, struct str *value)
{
    (void)context;
    *value = STR("C:\\v");
    return !str_eq(name, STR("NO"));
}

static void ask(const struct policy *policy, struct str path)
{
    const struct policy_settings *s = policy_settings_of(policy);
    static const enum policy_access all[] = {POLICY_READ, POLICY_WRITE, POLICY_CREATE,
                                             POLICY_RENAME_FROM};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct policy_request request = {.path = {PATH_FILE, path, path, false}, .access = all[i]};
        struct policy_answer answer;
        policy_decide(policy, &request, &answer);
        auto_buf struct buf why = {0}, fix = {0};
        policy_explain(policy, &request, &answer, &why, &fix);
        if (why.n == 0 || (answer.verdict == CORDON_DENY && fix.n == 0))
            abort();
        if (s->mode != POLICY_FULL_ACCESS && answer.verdict == CORDON_ALLOW &&
            all[i] != POLICY_READ && s->roots.count == 0)
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    auto_arena struct arena arena = {.limit = 64 << 20};
    auto_buf struct buf error = {0};
    if (size == 0)
        return 0;
    struct policy_settings settings = {.mode = POLICY_WORKSPACE_WRITE,
                                       .machine = {.home = STR("C:\\Users\\u")}};
    settings.paths.dialect = data[0] & 1 ? PATH_POSIX : PATH_WINDOWS;
    if (data[0] & 1)
        settings.machine.home = STR("/home/u");
    struct policy_source source = {
        .name = STR("p.json"), .folder = data[0] & 1 ? STR("/w") : STR("C:\\w"), .lookup = lookup};
    struct str text = {(const char *)data + 1, size - 1};
    int rc = policy_load(&arena, &source, text, &settings, &error);
    if ((rc != 0) != (error.n != 0))
        abort();
    if (rc)
        return 0;
    struct policy *policy;
    if (policy_compile(&settings, &policy, &error)) {
        if (error.n == 0)
            abort();
        return 0;
    }
    ask(policy, data[0] & 1 ? STR("/w/a/.git/x") : STR("C:\\w\\a\\.git\\x"));
    ask(policy, data[0] & 1 ? STR("/w/a") : STR("C:\\w\\a"));
    const struct policy_settings *s = policy_settings_of(policy);
    for (size_t i = 0; i < s->roots.count && i < 8; i++)
        ask(policy, s->roots.items[i].path);
    struct policy_line *lines;
    size_t count;
    if (policy_list_rules(policy, &arena, &lines, &count) == 0 && count == 0)
        abort();
    policy_free(policy);
    return 0;
}
