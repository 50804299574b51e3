/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check answers about tools and scripts as run does: every program that the broker refuses by name
 * is refused by check with the same rule, alone and inside a shell, from one table.
 */
#include <string.h>

#include "base/str.h"
#include "cordon.h"
#include "tap.h"

static const struct {
    const char *name, *rule;
} tools[] = {
#define POLICY_TOOL(name, id, where, text) {id, "tool." id},
#include "policy/tools.def"
#undef POLICY_TOOL
};

static bool has_rule(const struct cordon_answer *a, const char *rule)
{
    for (size_t i = 0; i < cordon_answer_count(a); i++)
        if (strcmp(cordon_answer_rule(a, i), rule) == 0)
            return true;
    return false;
}

/* The verdict, and whether the rule is among the reasons. */
static enum cordon_verdict ask(struct cordon_policy *p, const char *const *argv, size_t argc,
                               const char *rule, bool *named)
{
    struct cordon_answer *a = NULL;
    *named = false;
    if (cordon_check(p, argc, argv, 0, &a))
        return CORDON_DENY;
    enum cordon_verdict verdict = cordon_answer_verdict(a);
    *named = has_rule(a, rule);
    cordon_answer_free(a);
    return verdict;
}

static enum cordon_verdict ask_with(const char *const *argv, size_t argc, unsigned flags)
{
    struct cordon_policy *p = NULL;
    struct cordon_answer *a = NULL;
    enum cordon_verdict verdict = CORDON_DENY;
    if (cordon_policy_new(&p) == 0 && cordon_check(p, argc, argv, flags, &a) == 0)
        verdict = cordon_answer_verdict(a);
    cordon_answer_free(a);
    cordon_policy_free(p);
    return verdict;
}

static enum cordon_verdict ask_text(const char *text, unsigned flags)
{
    struct cordon_policy *p = NULL;
    struct cordon_answer *a = NULL;
    enum cordon_verdict verdict = CORDON_DENY;
    if (cordon_policy_new(&p) == 0 &&
        cordon_check_text(p, "cmd", text, strlen(text), flags, &a) == 0)
        verdict = cordon_answer_verdict(a);
    cordon_answer_free(a);
    cordon_policy_free(p);
    return verdict;
}

/* What is known of the folder that a command comes from. */
static void test_flags(void)
{
    const char *removes[] = {"rm", "-rf", "sub"}, *script[] = {"sh", "./check-flags.sh"};
    FILE *f = fopen("check-flags.sh", "w");
    if (f)
        fputs("sudo ls\n", f);
    if (f)
        fclose(f);
    ok(ask_with(removes, 3, 0) == CORDON_ASK && ask_with(removes, 3, CORDON_HERE) == CORDON_ALLOW,
       "CORDON_HERE: the current directory is a root, and without it none is known");
    ok(ask_with(script, 2, 0) == CORDON_ASK &&
           ask_with(script, 2, CORDON_ANYWHERE) == CORDON_ALLOW &&
           ask_with(script, 2, CORDON_HERE | CORDON_ANYWHERE) == CORDON_ASK,
       "CORDON_ANYWHERE: scripts of the current directory are not read, unless it is a root");
    remove("check-flags.sh");
    static const unsigned kinds[] = {0, CORDON_HERE, CORDON_ANYWHERE};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct cordon_policy *p = NULL;
        struct cordon_answer *a = NULL;
        bool asked = cordon_policy_new(&p) == 0 && cordon_policy_set(p, "strict", NULL) == 0 &&
                     cordon_check(p, 3, removes, kinds[i], &a) == 0;
        ok(asked && cordon_policy_set(p, "deny-tool", "curl") == CORDON_E_CONFLICT &&
               cordon_run(p, NULL, 3, removes, NULL) == CORDON_E_CONFLICT,
           "a policy that has answered (flags %u) is not changed and not run", kinds[i]);
        cordon_answer_free(a);
        cordon_policy_free(p);
    }
    struct cordon_policy *broad = NULL;
    struct cordon_answer *answer = NULL;
    ok(cordon_policy_new(&broad) == 0 && cordon_policy_set(broad, "allow-broad-root", NULL) == 0 &&
           cordon_check(broad, 3, removes, CORDON_ANYWHERE, &answer) == 0,
       "--allow-broad-root and CORDON_ANYWHERE go together");
    cordon_answer_free(answer);
    cordon_policy_free(broad);
    ok(ask_text("%1 x", CORDON_SCRIPT) == CORDON_ASK && ask_text("%1 x", 0) == CORDON_ALLOW,
       "CORDON_SCRIPT: %%1 is an argument in a batch file, and a plain word in a line");
}

int main(void)
{
    struct cordon_policy *p = NULL;
    bool named;
    if (cordon_policy_new(&p))
        return 1;
    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++) {
        const char *alone[] = {tools[i].name, "x"};
        char code[64];
        snprintf(code, sizeof code, "%s x", tools[i].name);
        const char *nested[] = {"bash", "-c", code};
        bool denied = ask(p, alone, 2, tools[i].rule, &named) == CORDON_DENY && named;
        denied = ask(p, nested, 3, tools[i].rule, &named) == CORDON_DENY && named && denied;
        ok(denied, "%s: denied as the broker denies it, alone and in a shell", tools[i].rule);
    }
    const char *harmless[] = {"git", "status"}, *own[] = {"./ssh", "x"}, *ssh[] = {"ssh", "host"};
    ok(ask(p, harmless, 2, "tool.ssh", &named) == CORDON_ALLOW, "another program is allowed");
    ok(ask(p, own, 2, "tool.ssh", &named) == CORDON_ALLOW, "so is the workspace's own ssh");
    cordon_policy_free(p);
    if (cordon_policy_new(&p))
        return 1;
    ok(cordon_policy_set(p, "allow-tool", "ssh") == 0 &&
           ask(p, ssh, 2, "tool.ssh", &named) == CORDON_ALLOW,
       "and ssh where the policy allows it");
    cordon_policy_free(p);
    test_flags();
    return tap_done();
}
