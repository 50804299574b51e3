/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Obfuscated spellings of hostile commands, made by the obfuscator beside this file: up to four
 * transformations after each other, every result valid for its reader. None may be allowed; all
 * that folding can reach is denied, and the share of denials is printed for each transformation.
 * The same of harmless commands is never denied.
 *
 * A slice runs by default; CORDON_SPELLINGS=100000 makes that many for each part, CORDON_SEED other
 * ones. CORDON_PRINT=bash (or cmd, powershell) prints spellings for another reader's opinion.
 */
#include <stdlib.h>

#include "obfuscate.h"
#include "tap.h"

enum { DEEPEST = 4, MOST_TRANSFORMATIONS = 64, LONGEST = 48 * 1024 };

uint32_t random_below(struct random *r, uint32_t limit)
{
    r->state ^= r->state << 13;
    r->state ^= r->state >> 7;
    r->state ^= r->state << 17;
    return limit ? (uint32_t)((r->state >> 16) % limit) : 0;
}

const char *random_pick(struct random *r, const char *const *choices, size_t count)
{
    return choices[random_below(r, (uint32_t)count)];
}

void put_around(struct buf *out, const char *around, struct str script, const char *end)
{
    for (; *around; around++)
        if (*around == '\1')
            buf_fmt(out, "%.*s%s", STR_ARG(script), end);
        else
            buf_char(out, *around);
}

void put_replaced(struct buf *out, struct str text, char a, const char *b)
{
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] == a)
            buf_add(out, str_of(b));
        else
            buf_char(out, text.p[i]);
}

void put_base64(struct buf *out, struct str bytes)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < bytes.n; i += 3) {
        unsigned a = (unsigned char)bytes.p[i];
        unsigned b = i + 1 < bytes.n ? (unsigned char)bytes.p[i + 1] : 0;
        unsigned c = i + 2 < bytes.n ? (unsigned char)bytes.p[i + 2] : 0;
        buf_char(out, digits[a >> 2]);
        buf_char(out, digits[(a & 3) << 4 | b >> 4]);
        buf_char(out, i + 1 < bytes.n ? digits[(b & 15) << 2 | c >> 6] : '=');
        buf_char(out, i + 2 < bytes.n ? digits[c & 63] : '=');
    }
}

void put_base64_wide(struct buf *out, struct str text)
{
    auto_buf struct buf wide = {0};
    for (size_t i = 0; i < text.n; i++) {
        buf_char(&wide, text.p[i]);
        buf_char(&wide, '\0');
    }
    put_base64(out, buf_str(&wide));
}

void put_any_case(struct buf *out, struct str text, struct random *r)
{
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        bool change = random_below(r, 2);
        if (change && c >= 'a' && c <= 'z')
            c = (char)(c - 32);
        else if (change && c >= 'A' && c <= 'Z')
            c = (char)(c + 32);
        buf_char(out, c);
    }
}

struct count {
    unsigned made, deny, ask, allow, invalid, limit;
};

struct part {
    const struct obfuscator *o;
    struct guard *g;
    struct random random;
    struct count all, each[MOST_TRANSFORMATIONS], alone[MOST_TRANSFORMATIONS];
    unsigned shown;
    bool print;
};

/* One to four transformations; those of tokens come first and once. Returns how many were
   applied. */
static size_t obfuscate(struct part *p, struct buf *script, const char *command,
                        size_t used[DEEPEST])
{
    auto_buf struct buf next = {0};
    size_t depth = 1 + random_below(&p->random, DEEPEST), count = 0;
    buf_reset(script);
    buf_add(script, str_of(command));
    for (size_t i = 0; i < depth; i++) {
        size_t t = random_below(&p->random, (uint32_t)p->o->count);
        while (i && p->o->transformations[t].first)
            t = random_below(&p->random, (uint32_t)p->o->count);
        buf_reset(&next);
        p->o->transformations[t].apply(&next, buf_str(script), &p->random);
        if (next.n > LONGEST || next.failed)
            break;
        struct buf swap = *script;
        *script = next;
        next = swap;
        used[count++] = t;
    }
    return count;
}

static void tally(struct count *c, enum cordon_verdict verdict)
{
    c->made++;
    if (verdict == CORDON_DENY)
        c->deny++;
    else if (verdict == CORDON_ASK)
        c->ask++;
    else
        c->allow++;
}

static void judge(struct part *p, struct buf *script, const size_t *used, size_t count,
                  bool hostile)
{
    struct guard_question q = {.shell = p->o->shell, .text = buf_str(script)};
    struct guard_answer a = {0};
    bool wrong = guard_check(p->g, &q, &a) != 0;
    for (size_t i = 0; i < a.finding_count; i++) {
        if (a.findings[i].rule == GUARD_OPAQUE_SYNTAX) {
            p->all.invalid++;
            wrong = true;
        }
        p->all.limit += a.findings[i].rule == GUARD_OPAQUE_LIMIT;
    }
    tally(&p->all, a.verdict);
    for (size_t i = 0; i < count; i++)
        tally(&p->each[used[i]], a.verdict);
    if (count == 1)
        tally(&p->alone[used[0]], a.verdict);
    wrong |= hostile ? a.verdict == CORDON_ALLOW : a.verdict == CORDON_DENY;
    if (p->print && hostile)
        printf("%s%c", buf_cstr(script), 0);
    if (!wrong || p->shown++ >= 8)
        return;
    note("%s, wrong: %s",
         a.verdict == CORDON_ALLOW ? "allow"
         : a.verdict               ? "ask"
                                   : "deny",
         buf_cstr(script));
    for (size_t i = 0; i < count; i++)
        note("  by %s", p->o->transformations[used[i]].name);
}

static struct count run(struct part *p, unsigned spellings, bool hostile)
{
    const char *const *commands = hostile ? p->o->hostile : p->o->benign;
    size_t commands_count = hostile ? p->o->hostile_count : p->o->benign_count;
    auto_buf struct buf script = {0};
    size_t used[DEEPEST];
    p->all = (struct count){0};
    memset(p->each, 0, sizeof p->each);
    memset(p->alone, 0, sizeof p->alone);
    for (unsigned i = 0; i < spellings; i++) {
        size_t count = obfuscate(p, &script, commands[i % commands_count], used);
        judge(p, &script, used, count, hostile);
    }
    return p->all;
}

static unsigned percent(unsigned part, unsigned whole)
{
    return whole ? (unsigned)((uint64_t)part * 1000 / whole) : 0;
}

static void report(struct part *p)
{
    for (size_t i = 0; i < p->o->count; i++) {
        struct count *e = &p->each[i], *one = &p->alone[i];
        note("%-10s %-9s %-24s %6u spellings, %3u.%u %% denied; alone %4u, %3u.%u %%", p->o->name,
             p->o->transformations[i].family, p->o->transformations[i].name, e->made,
             percent(e->deny, e->made) / 10, percent(e->deny, e->made) % 10, one->made,
             percent(one->deny, one->made) / 10, percent(one->deny, one->made) % 10);
    }
}

int main(void)
{
    const char *wanted = getenv("CORDON_SPELLINGS"), *seed = getenv("CORDON_SEED");
    const char *print = getenv("CORDON_PRINT");
    unsigned spellings = wanted ? (unsigned)strtoul(wanted, NULL, 10) : 2000;
    const struct obfuscator *const parts[] = {&obfuscate_powershell, &obfuscate_cmd,
                                              &obfuscate_bash};
    const size_t fewest[] = {30, 12, 10};
    for (size_t i = 0; i < COUNT(parts); i++) {
        struct part p = {.o = parts[i], .print = print && strcmp(print, parts[i]->name) == 0};
        p.random.state = 88172645463325252u + i + (seed ? strtoull(seed, NULL, 10) * 7919 : 0);
        if (guard_new(&p.g))
            return 1;
        struct count c = run(&p, spellings, true);
        if (!p.print)
            report(&p);
        ok(p.o->count >= fewest[i] && p.o->count <= MOST_TRANSFORMATIONS, "%s: %u transformations",
           p.o->name, (unsigned)p.o->count);
        ok(c.invalid == 0, "%s: %u spellings, all valid for the reader (%u are not)", p.o->name,
           c.made, c.invalid);
        ok(c.allow == 0, "%s: %u allowed, none", p.o->name, c.allow);
        ok(percent(c.deny, c.made) >= 990, "%s: %u.%u %% denied, at least 99 (%u at a limit)",
           p.o->name, percent(c.deny, c.made) / 10, percent(c.deny, c.made) % 10, c.limit);
        c = run(&p, spellings / 4, false);
        ok(c.deny == 0, "%s: of %u harmless spellings %u are denied, none", p.o->name, c.made,
           c.deny);
        note("%s: harmless, %u asked about", p.o->name, c.ask);
        guard_free(p.g);
    }
    return tap_done();
}
