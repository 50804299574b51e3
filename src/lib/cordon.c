/* SPDX-License-Identifier: Apache-2.0 */
/* The handles of cordon.h: policies and answers. check.c and why.c ask the questions. */
#include "lib/api.h"

#include <stdio.h>
#include <stdlib.h>

const char *cordon_version(void)
{
    return CORDON_VERSION;
}

int cordon_policy_new(struct cordon_policy **out)
{
    struct cordon_policy *p = calloc(1, sizeof *p);
    if (!p)
        return CORDON_E_NOMEM;
    *out = p;
    return 0;
}

void cordon_policy_free(struct cordon_policy *p)
{
    if (!p)
        return;
    settings_free(&p->settings);
    policy_free(p->policy);
    policy_free(p->whole);
    guard_free(p->guard);
    cordon_policy_free(p->here);
    cordon_policy_free(p->tools);
    free(p);
}

int api_fail(struct cordon_policy *p, int code, const char *text)
{
    snprintf(p->error, sizeof p->error, "%s", text);
    return code;
}

bool api_has_answered(const struct cordon_policy *p)
{
    return p->policy || p->here || p->tools;
}

int cordon_policy_set(struct cordon_policy *p, const char *option, const char *value)
{
    if (api_has_answered(p))
        return api_fail(p, CORDON_E_CONFLICT, "the policy is in use and can no longer change");
    char from[64];
    snprintf(from, sizeof from, "--%s", option);
    int rc = settings_set(&p->settings, str_of(option), str_of(value), str_of(from));
    if (rc)
        return api_fail(p, rc, buf_cstr(&p->settings.error));
    if (str_eq(str_of(option), STR("root")) || str_eq(str_of(option), STR("policy")))
        p->has_roots = true;
    return 0;
}

bool api_has(const struct cordon_policy *p, const char *option)
{
    return settings_has(&p->settings, str_of(option));
}

const char *cordon_policy_error(const struct cordon_policy *p)
{
    return p->error;
}

int api_guard(struct cordon_policy *p)
{
    p->error[0] = '\0';
    if (!p->guard && guard_new(&p->guard))
        return api_fail(p, CORDON_E_NOMEM, "out of memory");
    return 0;
}

int api_prepare(struct cordon_policy *p, struct str hint)
{
    int rc = api_guard(p);
    if (rc || p->policy)
        return rc;
    rc = settings_compile(&p->settings, hint, &p->policy);
    return rc ? api_fail(p, rc, buf_cstr(&p->settings.error)) : 0;
}

struct cordon_answer *answer_new(size_t count)
{
    struct cordon_answer *a = calloc(1, sizeof *a);
    if (!a)
        return NULL;
    a->reasons = ARENA_ARRAY(&a->arena, count ? count : 1, struct answer_reason);
    if (!a->reasons) {
        cordon_answer_free(a);
        return NULL;
    }
    return a;
}

int answer_finish(struct cordon_answer *a, struct cordon_answer **out)
{
    bool whole = buf_cstr(&a->json)[0] != '\0';
    for (size_t i = 0; i < a->count; i++)
        whole = whole && a->reasons[i].rule && a->reasons[i].why && a->reasons[i].fix;
    if (!whole) {
        cordon_answer_free(a);
        return CORDON_E_NOMEM;
    }
    *out = a;
    return 0;
}

void cordon_answer_free(struct cordon_answer *a)
{
    if (!a)
        return;
    arena_free(&a->arena);
    buf_free(&a->json);
    free(a);
}

enum cordon_verdict cordon_answer_verdict(const struct cordon_answer *a)
{
    return a->verdict;
}

size_t cordon_answer_count(const struct cordon_answer *a)
{
    return a->count;
}

const char *cordon_answer_rule(const struct cordon_answer *a, size_t index)
{
    return index < a->count ? a->reasons[index].rule : "";
}

const char *cordon_answer_why(const struct cordon_answer *a, size_t index)
{
    return index < a->count ? a->reasons[index].why : "";
}

const char *cordon_answer_fix(const struct cordon_answer *a, size_t index)
{
    return index < a->count ? a->reasons[index].fix : "";
}

const char *cordon_answer_json(const struct cordon_answer *a)
{
    return a->json.p;
}

const char *verdict_name(enum cordon_verdict verdict)
{
    static const char *const names[] = {"deny", "ask", "allow"};
    return names[verdict];
}
