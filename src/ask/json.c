/* SPDX-License-Identifier: Apache-2.0 */
/* Questions and answers as JSON lines, for the programs that answer. */
#include "base/json.h"

#include <stdlib.h>

#include "ask/ask.h"

static void put(struct json_writer *w, struct str key, struct str value)
{
    if (value.n)
        json_put(w, key, value);
}

static void put_choices(struct json_writer *w, const struct ask_question *q)
{
    json_key(w, STR("choices"));
    json_open(w, '[');
    for (size_t i = 0; i < q->choice_count; i++) {
        const struct ask_choice *c = &q->choices[i];
        json_open(w, '{');
        json_put(w, STR("answer"), str_of(ask_answer_name(c->answer)));
        if (c->answer == ASK_ONCE || c->answer == ASK_RUN)
            json_put(w, STR("scope"), str_of(ask_scope_name(c->scope)));
        if (c->scope == ASK_FOLDER)
            json_put(w, STR("folder"), q->subject.folder);
        if (c->scope == ASK_HOST)
            json_put(w, STR("host"), q->subject.host);
        json_close(w, '}');
    }
    json_close(w, ']');
}

static void put_detail(struct json_writer *w, const struct ask_detail *d)
{
    if (!d->key)
        return;
    json_key(w, str_of(d->key));
    if (strcmp(d->key, "size") == 0 || strcmp(d->key, "replaces") == 0)
        json_number(w, strtoll(d->text.p, NULL, 10));
    else
        json_string(w, d->text);
    if (strcmp(d->key, "attribute") == 0) {
        json_put(w, STR("value"), d->value);
        json_put_number(w, STR("value_bytes"), (long long)d->value_bytes);
    }
}

void ask_spell(const struct ask_question *q, struct buf *out)
{
    const struct ask_subject *s = &q->subject;
    struct json_writer w = {.out = out};
    json_open(&w, '{');
    json_put_number(&w, STR("id"), (long long)q->id);
    json_put(&w, STR("op"), str_of(audit_op_name(s->op)));
    json_put(&w, STR("target"), s->target);
    put(&w, s->arrives ? STR("from") : STR("to"), s->other);
    put(&w, STR("link"), s->link);
    put_detail(&w, &s->detail);
    put(&w, STR("command"), s->command);
    put(&w, STR("rule"), s->rule);
    put(&w, STR("why"), s->why);
    put(&w, STR("fix"), s->fix);
    if (s->pid)
        json_put_number(&w, STR("pid"), s->pid);
    put(&w, STR("image"), s->image);
    put(&w, STR("cmdline"), s->cmdline);
    put_choices(&w, q);
    json_close(&w, '}');
    buf_char(out, '\n');
}

void ask_spell_closed(const struct ask_closed *closed, struct buf *out)
{
    struct json_writer w = {.out = out};
    json_open(&w, '{');
    json_put_number(&w, STR("id"), (long long)closed->id);
    json_put(&w, STR("closed"), closed->timed_out ? STR("time-out") : STR("not needed"));
    json_close(&w, '}');
    buf_char(out, '\n');
}

void ask_spell_error(uint64_t id, const char *why, struct buf *out)
{
    struct json_writer w = {.out = out};
    json_open(&w, '{');
    if (id)
        json_put_number(&w, STR("id"), (long long)id);
    json_put(&w, STR("error"), str_of(why));
    json_close(&w, '}');
    buf_char(out, '\n');
}

int ask_read_words(const struct ask_question *q, struct str answer, struct str scope,
                   enum ask_answer *out, enum ask_scope *reach)
{
    for (size_t i = 0; i < q->choice_count; i++) {
        const struct ask_choice *c = &q->choices[i];
        bool refuses = c->answer == ASK_NO || c->answer == ASK_NEVER;
        if (!str_eq(answer, str_of(ask_answer_name(c->answer))) ||
            (scope.n && !refuses && !str_eq(scope, str_of(ask_scope_name(c->scope)))))
            continue;
        *out = c->answer;
        *reach = c->scope;
        return 0;
    }
    return CORDON_E_VALUE;
}

static bool read_id(const struct json_value *value, uint64_t *out)
{
    uint64_t id = 0;
    if (!value || value->type != JSON_NUMBER || value->text.n > 18)
        return false;
    for (size_t i = 0; i < value->text.n; i++) {
        if (!ascii_is_digit(value->text.p[i]))
            return false;
        id = id * 10 + (uint64_t)(value->text.p[i] - '0');
    }
    *out = id;
    return id > 0;
}

int ask_take_line(struct ask *a, struct str line, enum ask_by by, uint64_t *id, const char **why)
{
    auto_arena struct arena arena = {.limit = 1 << 20};
    struct json_value object;
    struct json_error error;
    enum ask_answer answer;
    enum ask_scope scope;
    *id = 0;
    *why = "the line is not a JSON object";
    if (json_read(&arena, line, &object, &error) || object.type != JSON_OBJECT)
        return CORDON_E_SYNTAX;
    *why = "\"id\" is not the number of a question";
    if (!read_id(json_get(&object, STR("id")), id))
        return CORDON_E_SYNTAX;
    const struct json_value *word = json_get(&object, STR("answer")),
                            *reach = json_get(&object, STR("scope"));
    *why = "\"answer\" is once, run, no or never, and \"scope\" one of those that were offered";
    if (!word || word->type != JSON_STRING || (reach && reach->type != JSON_STRING))
        return CORDON_E_VALUE;
    const struct ask_question *q = ask_shown(a, *id);
    if (!q) {
        *why = "no such question is open";
        return CORDON_E_UNKNOWN;
    }
    if (ask_read_words(q, word->text, reach ? reach->text : STR_NONE, &answer, &scope))
        return CORDON_E_VALUE;
    return ask_answer(a, *id, answer, scope, by);
}
