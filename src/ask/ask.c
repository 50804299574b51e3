/* SPDX-License-Identifier: Apache-2.0 */
/* Questions, decisions, and what holds for the rest of the run. */
#include "ask/ask.h"

#include <stdlib.h>

struct remembered {
    enum ask_kind kind;
    enum ask_scope scope;
    bool allowed;
    struct str text;
};

struct ask {
    bool serial, closed;
    uint64_t timeout_ms, last_id;
    struct ask_question *first, **last;
    size_t waiting;
    struct arena arena; /* of what is remembered */
    struct remembered *remembered;
    size_t count, capacity;
    struct ask_closed gone[ASK_MOST_WAITING];
    size_t gone_count;
    void (*told)(void *context, const struct ask_question *q);
    void *context;
};

const char *ask_answer_name(enum ask_answer answer)
{
    static const char *const names[] = {"no", "never", "once", "run"};
    return names[answer];
}

const char *ask_scope_name(enum ask_scope scope)
{
    static const char *const names[] = {"call", "path", "folder", "address",
                                        "host", "tool", "command"};
    return names[scope];
}

const char *ask_by_name(enum ask_by by)
{
    static const char *const names[] = {"time-out", "terminal", "callback", "fd", "closed", "pipe"};
    return names[by];
}

struct ask *ask_new(bool serial, uint64_t timeout_ms)
{
    struct ask *a = calloc(1, sizeof *a);
    if (!a)
        return NULL;
    a->serial = serial;
    a->timeout_ms = timeout_ms;
    a->last = &a->first;
    return a;
}

static void free_question(struct ask_question *q)
{
    arena_free(&q->arena);
    free(q);
}

void ask_free(struct ask *a)
{
    if (!a)
        return;
    while (a->first) {
        struct ask_question *q = a->first;
        a->first = q->next;
        free_question(q);
    }
    arena_free(&a->arena);
    free(a);
}

void ask_on_decision(struct ask *a, void (*told)(void *context, const struct ask_question *q),
                     void *context)
{
    a->told = told;
    a->context = context;
}

static struct str text_of(const struct ask_subject *s, enum ask_scope scope)
{
    switch (scope) {
    case ASK_FOLDER: return s->folder;
    case ASK_HOST: return s->host;
    case ASK_PROGRAM:
    case ASK_WORDS: return s->name;
    default: return s->target;
    }
}

static bool lies_in(struct str folder, struct str path)
{
    return path.n > folder.n && str_starts(path, folder) &&
           path.p[folder.n] == ask_separator(folder);
}

/* A folder is like a root: what is in it can change, it stays where it is itself. */
static bool covers(const struct remembered *r, const struct ask_subject *s)
{
    if (r->kind != s->kind)
        return false;
    if (r->scope == ASK_FOLDER)
        return lies_in(r->text, s->target);
    return str_eq(r->text, text_of(s, r->scope));
}

enum ask_answer ask_remembered(const struct ask *a, const struct ask_subject *subject)
{
    enum ask_answer said = ASK_NO;
    for (size_t i = 0; i < a->count; i++)
        if (covers(&a->remembered[i], subject)) {
            if (!a->remembered[i].allowed)
                return ASK_NEVER;
            said = ASK_RUN;
        }
    return said;
}

bool ask_holds_allowed(const struct ask *a, struct str path)
{
    for (size_t i = 0; i < a->count; i++) {
        const struct remembered *r = &a->remembered[i];
        if (r->allowed && (r->scope == ASK_FOLDER || r->scope == ASK_PATH) &&
            (lies_in(path, r->text) || (r->scope == ASK_FOLDER && str_eq(path, r->text))))
            return true;
    }
    return false;
}

/* Out of memory or full: the answer holds for the calls that wait, and the next one asks again. */
static void remember(struct ask *a, const struct ask_subject *s, enum ask_scope scope, bool allowed)
{
    if (a->count == ASK_MOST_REMEMBERED)
        return;
    if (a->count == a->capacity) {
        void *grown = arena_grow(&a->arena, a->remembered, &a->capacity, sizeof *a->remembered);
        if (!grown)
            return;
        a->remembered = grown;
    }
    struct str text = arena_copy(&a->arena, text_of(s, scope));
    if (text.p)
        a->remembered[a->count++] = (struct remembered){s->kind, scope, allowed, text};
}

size_t ask_choices(const struct ask_subject *s, struct ask_choice out[ASK_MOST_CHOICES])
{
    size_t n = 0;
    out[n++] = (struct ask_choice){ASK_ONCE, ASK_CALL};
    switch (s->kind) {
    case ASK_NOTHING: return 0;
    case ASK_CHANGE:
    case ASK_READ:
    case ASK_SOCKET: out[n++] = (struct ask_choice){ASK_RUN, ASK_PATH}; break;
    case ASK_CONNECT:
        out[n++] = (struct ask_choice){ASK_RUN, ASK_ADDRESS};
        if (s->host.n)
            out[n++] = (struct ask_choice){ASK_RUN, ASK_HOST};
        break;
    case ASK_TOOL: out[n++] = (struct ask_choice){ASK_RUN, ASK_PROGRAM}; break;
    case ASK_COMMAND: out[n++] = (struct ask_choice){ASK_RUN, ASK_WORDS}; break;
    }
    if (s->kind == ASK_CHANGE && s->folder.n)
        out[n++] = (struct ask_choice){ASK_RUN, ASK_FOLDER};
    out[n++] = (struct ask_choice){ASK_NO, ASK_CALL};
    out[n++] = (struct ask_choice){ASK_NEVER, out[1].scope};
    return n;
}

static uint64_t hash_of(const struct ask_subject *s)
{
    struct str text = text_of(s, s->kind == ASK_COMMAND ? ASK_WORDS : ASK_CALL);
    uint64_t hash = 0xCBF29CE484222325u ^ (uint64_t)s->kind << 8 ^ (uint64_t)s->op;
    for (size_t i = 0; i < text.n; i++)
        hash = (hash ^ (unsigned char)text.p[i]) * 0x100000001B3;
    return hash;
}

static bool is_equal(const struct ask_subject *a, const struct ask_subject *b)
{
    return a->kind == b->kind && a->op == b->op && str_eq(a->name, b->name) &&
           str_eq(a->command, b->command) && str_eq(a->other, b->other) &&
           str_eq(a->link, b->link) && str_eq(a->detail.text, b->detail.text) &&
           str_eq(a->exact, b->exact) && str_eq(a->image, b->image) &&
           str_eq(a->cmdline, b->cmdline) &&
           (a->kind == ASK_COMMAND || str_eq(a->target, b->target));
}

static struct ask_question *find(const struct ask *a, uint64_t id)
{
    struct ask_question *q = a->first;
    while (q && q->id != id)
        q = q->next;
    return q;
}

static bool copy_subject(struct ask_question *q, const struct ask_subject *s)
{
    struct str *parts[] = {&q->subject.target, &q->subject.folder,      &q->subject.host,
                           &q->subject.name,   &q->subject.rule,        &q->subject.why,
                           &q->subject.fix,    &q->subject.image,       &q->subject.cmdline,
                           &q->subject.other,  &q->subject.command,     &q->subject.link,
                           &q->subject.exact,  &q->subject.detail.text, &q->subject.detail.value};
    q->subject = *s;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        *parts[i] = arena_copy(&q->arena, *parts[i]);
        if (!parts[i]->p)
            return false;
    }
    return true;
}

int ask_join(struct ask *a, const struct ask_subject *subject, uint64_t *id)
{
    uint64_t hash = hash_of(subject);
    struct ask_question *q = a->first;
    if (a->closed)
        return CORDON_E_REFUSED;
    if (a->waiting >= ASK_MOST_WAITING)
        return CORDON_E_TOOBIG;
    while (q && (q->decided || q->hash != hash || !is_equal(&q->subject, subject)))
        q = q->next;
    if (!q) {
        q = calloc(1, sizeof *q);
        if (!q || !copy_subject(q, subject)) {
            if (q)
                free_question(q);
            return CORDON_E_NOMEM;
        }
        q->choice_count = ask_choices(&q->subject, q->choices);
        q->hash = hash;
        q->id = ++a->last_id;
        *a->last = q;
        a->last = &q->next;
    }
    q->waiting++;
    a->waiting++;
    *id = q->id;
    return 0;
}

bool ask_is_decided(const struct ask *a, uint64_t id)
{
    const struct ask_question *q = find(a, id);
    return q && q->decided;
}

const struct ask_question *ask_take(struct ask *a, uint64_t id, bool *first)
{
    struct ask_question *q = find(a, id);
    if (!q || !q->decided)
        return NULL;
    *first = !q->taken;
    q->taken = true;
    return q;
}

static void note_closed(struct ask *a, const struct ask_question *q, bool timed_out)
{
    if (q->shown && a->gone_count < ASK_MOST_WAITING)
        a->gone[a->gone_count++] = (struct ask_closed){q->id, timed_out};
}

void ask_leave(struct ask *a, uint64_t id)
{
    struct ask_question **at = &a->first;
    while (*at && (*at)->id != id)
        at = &(*at)->next;
    struct ask_question *q = *at;
    if (!q)
        return;
    a->waiting--;
    if (--q->waiting)
        return;
    if (!q->decided)
        note_closed(a, q, false);
    *at = q->next;
    if (a->last == &q->next)
        a->last = at;
    free_question(q);
}

bool ask_next_closed(struct ask *a, struct ask_closed *out)
{
    if (a->gone_count == 0)
        return false;
    *out = a->gone[--a->gone_count];
    return true;
}

const struct ask_question *ask_next(struct ask *a, uint64_t now)
{
    struct ask_question *next = NULL;
    for (struct ask_question *q = a->first; q; q = q->next) {
        if (q->decided)
            continue;
        if (q->shown && a->serial)
            return NULL;
        if (!q->shown && !next)
            next = q;
    }
    if (next) {
        next->shown = true;
        next->deadline = now + a->timeout_ms;
    }
    return next;
}

const struct ask_question *ask_shown(const struct ask *a, uint64_t id)
{
    const struct ask_question *q = find(a, id);
    return q && q->shown && !q->decided ? q : NULL;
}

static void decide(struct ask *a, struct ask_question *q, struct ask_decision decision)
{
    q->decided = true;
    q->decision = decision;
    q->decision.allowed = decision.answer == ASK_ONCE || decision.answer == ASK_RUN;
    if (decision.answer == ASK_RUN || decision.answer == ASK_NEVER)
        remember(a, &q->subject, decision.scope, q->decision.allowed);
    if (a->told)
        a->told(a->context, q);
}

int ask_answer(struct ask *a, uint64_t id, enum ask_answer answer, enum ask_scope scope,
               enum ask_by by)
{
    struct ask_question *q = find(a, id);
    if (!q || q->decided || !q->shown)
        return CORDON_E_UNKNOWN;
    for (size_t i = 0; i < q->choice_count; i++) {
        if (q->choices[i].answer != answer || q->choices[i].scope != scope)
            continue;
        decide(a, q, (struct ask_decision){.answer = answer, .scope = scope, .by = by});
        /* Others that wait may be covered by it. */
        for (struct ask_question *o = a->first; o && answer == ASK_RUN; o = o->next)
            if (!o->decided && ask_remembered(a, &o->subject) == ASK_RUN) {
                note_closed(a, o, false);
                decide(a, o,
                       (struct ask_decision){.answer = ASK_ONCE, .scope = ASK_CALL, .by = by});
            }
        return 0;
    }
    return CORDON_E_VALUE;
}

uint64_t ask_deadline(const struct ask *a)
{
    uint64_t first = UINT64_MAX;
    for (const struct ask_question *q = a->first; q; q = q->next)
        if (q->shown && !q->decided && q->deadline < first)
            first = q->deadline;
    return first;
}

void ask_delay(struct ask *a, uint64_t ms)
{
    for (struct ask_question *q = a->first; q; q = q->next)
        if (q->shown && !q->decided)
            q->deadline += ms;
}

void ask_expire(struct ask *a, uint64_t now)
{
    bool all = false;
    for (struct ask_question *q = a->first; q; q = q->next) {
        if (q->decided || (!all && (!q->shown || q->deadline > now)))
            continue;
        all = all || a->serial;
        note_closed(a, q, true);
        decide(a, q, (struct ask_decision){.by = ASK_BY_NOBODY});
    }
}

void ask_close(struct ask *a)
{
    a->closed = true;
    for (struct ask_question *q = a->first; q; q = q->next)
        if (!q->decided)
            decide(a, q, (struct ask_decision){.by = ASK_BY_CLOSED});
}
