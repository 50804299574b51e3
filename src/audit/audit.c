/* SPDX-License-Identifier: Apache-2.0 */
/* Repeats, totals and the order of lines; jsonl.c spells them. */
#include "audit/audit.h"

#include <stdlib.h>

#include "audit/jsonl.h"

enum { TICK_MS = 1000, BUCKETS = 2 * AUDIT_REPEATS };

/* A denial that was written once and may repeat. */
struct repeat {
    uint64_t hash;
    uint64_t first;   /* its sequence number */
    uint64_t pending; /* since the last line about it */
    uint64_t written; /* when that was, in ms */
    struct audit_event event;
    char *strings; /* holds the event's strings */
};

struct audit {
    audit_sink *sink;
    void *context;
    bool all, raw;
    char run[64];
    uint64_t sequence;
    struct audit_totals totals;
    int failure;
    struct buf line;
    struct repeat repeats[AUDIT_REPEATS];
    size_t next;               /* the slot used next: the oldest is forgotten */
    size_t used;               /* slots used so far: memory beyond them is never touched */
    uint16_t buckets[BUCKETS]; /* index + 1 into repeats */
};

int audit_new(const struct audit_options *options, struct audit **out)
{
    struct audit *a = calloc(1, sizeof *a);
    if (!a)
        return CORDON_E_NOMEM;
    a->sink = options->sink;
    a->context = options->context;
    a->all = options->all;
    a->raw = options->raw;
    struct str run = str_slice(options->run, 0, sizeof a->run - 1);
    if (run.n)
        memcpy(a->run, run.p, run.n);
    *out = a;
    return 0;
}

void audit_free(struct audit *a)
{
    if (!a)
        return;
    for (size_t i = 0; i < a->used; i++)
        free(a->repeats[i].strings);
    buf_free(&a->line);
    free(a);
}

int audit_failure(const struct audit *a)
{
    return a ? a->failure : 0;
}

struct audit_totals audit_totals_of(const struct audit *a)
{
    return a->totals;
}

static uint64_t write_line(struct audit *a, const struct audit_event *event, uint64_t count,
                           uint64_t first)
{
    struct audit_line line = {.event = event,
                              .run = str_of(a->run),
                              .sequence = a->sequence + 1,
                              .count = count,
                              .first = first,
                              .totals = a->totals,
                              .raw = a->raw};
    buf_reset(&a->line);
    audit_spell(&a->line, &line);
    int rc = a->line.failed ? CORDON_E_NOMEM : a->failure ? a->failure : 0;
    if (rc == 0)
        rc = a->sink(a->context, buf_str(&a->line));
    if (rc) {
        /* The number is not consumed: the file has no gaps. */
        if (!a->failure)
            a->failure = rc;
        return 0;
    }
    return ++a->sequence;
}

static void write_pending(struct audit *a, struct repeat *r, uint64_t now)
{
    if (r->pending == 0)
        return;
    r->event.time = now;
    write_line(a, &r->event, r->pending, r->first);
    r->pending = 0;
    r->written = now;
}

static uint64_t hash_add(uint64_t hash, struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        hash = (hash ^ (unsigned char)s.p[i]) * 1099511628211u;
    return (hash ^ 0xFF) * 1099511628211u;
}

static uint64_t hash_of(const struct audit_event *e)
{
    uint64_t hash = 14695981039346656037u ^ ((uint64_t)e->op << 8) ^ (uint64_t)e->type;
    return hash_add(hash_add(hash_add(hash, e->target), e->target2), e->rule);
}

static bool is_same(const struct audit_event *a, const struct audit_event *b)
{
    return a->type == b->type && a->op == b->op && str_eq(a->target, b->target) &&
           str_eq(a->target2, b->target2) && str_eq(a->rule, b->rule);
}

/* The bucket that holds the event, or the free one where it would go. */
static size_t bucket_of(const struct audit *a, uint64_t hash, const struct audit_event *event)
{
    size_t at = (size_t)(hash % BUCKETS);
    while (a->buckets[at]) {
        const struct repeat *r = &a->repeats[a->buckets[at] - 1];
        if (r->hash == hash && is_same(&r->event, event))
            return at;
        at = (at + 1) % BUCKETS;
    }
    return at;
}

/* Open addressing without tombstones: entries after the hole are inserted again. */
static void forget(struct audit *a, struct repeat *r)
{
    size_t at = bucket_of(a, r->hash, &r->event);
    a->buckets[at] = 0;
    for (size_t i = (at + 1) % BUCKETS; a->buckets[i]; i = (i + 1) % BUCKETS) {
        uint16_t moved = a->buckets[i];
        a->buckets[i] = 0;
        const struct repeat *other = &a->repeats[moved - 1];
        a->buckets[bucket_of(a, other->hash, &other->event)] = moved;
    }
    free(r->strings);
    *r = (struct repeat){0};
}

static struct str keep(char **next, struct str s)
{
    char *p = *next;
    if (s.n)
        memcpy(p, s.p, s.n);
    *next += s.n;
    return (struct str){p, s.n};
}

static void remember(struct audit *a, const struct audit_event *e, uint64_t hash, uint64_t first)
{
    struct repeat *r = &a->repeats[a->next];
    const struct str *parts[] = {&e->target,  &e->target2, &e->rule, &e->image,
                                 &e->cmdline, &e->why,     &e->fix};
    size_t size = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        size += parts[i]->n;
    char *strings = malloc(size + 1), *p = strings;
    if (!strings)
        return; /* it will be written every time: more lines, none lost */
    if (r->strings) {
        write_pending(a, r, e->time);
        forget(a, r);
    }
    *r = (struct repeat){.hash = hash, .first = first, .written = e->time, .event = *e};
    r->strings = strings;
    r->event.target = keep(&p, e->target);
    r->event.target2 = keep(&p, e->target2);
    r->event.rule = keep(&p, e->rule);
    r->event.image = keep(&p, e->image);
    r->event.cmdline = keep(&p, e->cmdline);
    r->event.why = keep(&p, e->why);
    r->event.fix = keep(&p, e->fix);
    a->buckets[bucket_of(a, hash, &r->event)] = (uint16_t)(a->next + 1);
    if (a->used < AUDIT_REPEATS)
        a->used++;
    a->next = (a->next + 1) % AUDIT_REPEATS;
}

static void add_refusal(struct audit *a, const struct audit_event *e)
{
    uint64_t hash = hash_of(e);
    size_t at = bucket_of(a, hash, e);
    if (!a->buckets[at]) {
        uint64_t first = write_line(a, e, 0, 0);
        remember(a, e, hash, first);
        return;
    }
    struct repeat *r = &a->repeats[a->buckets[at] - 1];
    r->pending++;
    if (e->time >= r->written + TICK_MS)
        write_pending(a, r, e->time);
}

void audit_add(struct audit *a, const struct audit_event *event)
{
    if (!a)
        return;
    switch (event->type) {
    case AUDIT_DENY:
        a->totals.denied++;
        add_refusal(a, event);
        return;
    case AUDIT_ASK:
        a->totals.asked++;
        add_refusal(a, event);
        return;
    case AUDIT_ALLOW:
        a->totals.allowed++;
        if (!a->all && !event->notable)
            return;
        break;
    default: break;
    }
    write_line(a, event, 0, 0);
}

void audit_tick(struct audit *a, uint64_t now_ms)
{
    for (size_t i = 0; a && i < a->used; i++)
        if (a->repeats[i].pending && now_ms >= a->repeats[i].written + TICK_MS)
            write_pending(a, &a->repeats[i], now_ms);
}

void audit_end(struct audit *a, const struct audit_event *end)
{
    if (!a)
        return;
    for (size_t i = 0; i < a->used; i++)
        write_pending(a, &a->repeats[i], end->time);
    write_line(a, end, 0, 0);
}
