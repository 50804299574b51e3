/* SPDX-License-Identifier: Apache-2.0 */
/* The answers of --learn=allow. Targets are final paths, so that a link does not lead around the
   names that stay closed. */
#include "learn/linux/allow.h"

#include "base/json.h"
#include "policy/path.h"

static const char *const closed[] = {
#define CLOSED(name) name,
#include "learn/closed.def"
#undef CLOSED
#define POLICY_CREDENTIAL(where, name) name,
#include "policy/credentials.def"
#undef POLICY_CREDENTIAL
};

/* Compares a path below the home folder with a name of the lists, whose separator may be Windows'.
   The length that both have in common. */
static size_t common(struct str path, const char *name)
{
    size_t n = 0;
    while (n < path.n && name[n] && (path.p[n] == name[n] || (path.p[n] == '/' && name[n] == '\\')))
        n++;
    return n;
}

/* True if the name is closed, lies in what is closed, or, where it would be moved or removed, holds
   something closed. */
static bool is_closed(struct str below, bool moves)
{
    for (size_t i = 0; i < sizeof closed / sizeof *closed; i++) {
        size_t n = common(below, closed[i]);
        bool whole = !closed[i][n];
        if (whole && (n == below.n || below.p[n] == '/'))
            return true;
        if (moves && n == below.n && (closed[i][n] == '/' || closed[i][n] == '\\'))
            return true;
    }
    return false;
}

bool learn_allows(const struct learn_allow *a, const struct learn_question *q)
{
    bool place = str_eq(q->rule, STR("roots.outside")) || str_eq(q->rule, STR("mode.read-only"));
    bool changes = str_starts(q->op, STR("file.")) && !str_eq(q->op, STR("file.read"));
    bool below = a->home.n > 1 && q->target.n > a->home.n + 1 &&
                 path_is_below(PATH_POSIX, a->home, q->target);
    if (str_eq(q->op, STR("guard")))
        return !a->strict;
    /* A remedy that is no option says that there is none. */
    if (!place || !changes || !below || !str_starts(q->fix, STR("--")))
        return false;
    bool makes = str_eq(q->op, STR("file.create")) || str_eq(q->op, STR("file.write"));
    return !is_closed(str_from(q->target, a->home.n + 1), !makes);
}

static struct str text_of(const struct json_value *object, struct str key)
{
    const struct json_value *value = json_get(object, key);
    return value && value->type == JSON_STRING ? value->text : STR_NONE;
}

void learn_answer(void *context, struct cordon_question *question)
{
    const struct learn_allow *a = context;
    auto_arena struct arena arena = {0};
    struct json_value object = {0};
    struct json_error error;
    struct learn_question q = {0};
    if (json_read(&arena, str_of(cordon_question_json(question)), &object, &error) == 0)
        q = (struct learn_question){text_of(&object, STR("op")), text_of(&object, STR("target")),
                                    text_of(&object, STR("rule")), text_of(&object, STR("fix"))};
    const char *answer = learn_allows(a, &q) ? "once" : "no";
    if (cordon_question_answer(question, answer, "") == CORDON_E_VALUE)
        cordon_question_answer(question, "no", "");
}
