/* SPDX-License-Identifier: Apache-2.0 */
/* See ladder.h. */
#include "launch/ladder.h"

unsigned ladder_pack(const struct ladder_rung *rung)
{
    unsigned number = 0;
    for (unsigned i = LADDER_FACTORS; i-- > 1;)
        number = 2 * number + (rung->level[i] ? 1 : 0);
    return LADDER_CONSOLES * number + rung->level[LADDER_CONSOLE];
}

struct ladder_rung ladder_unpack(unsigned number)
{
    struct ladder_rung rung = {.level = {[LADDER_CONSOLE] = number % LADDER_CONSOLES}};
    number /= LADDER_CONSOLES;
    for (unsigned i = 1; i < LADDER_FACTORS; i++, number /= 2)
        rung.level[i] = number % 2;
    return rung;
}

bool ladder_is_top(const struct ladder_rung *rung)
{
    return ladder_pack(rung) == 0;
}

/* How many factors are weakened. */
static unsigned weaknesses(unsigned number)
{
    struct ladder_rung rung = ladder_unpack(number);
    unsigned count = 0;
    for (unsigned i = 0; i < LADDER_FACTORS; i++)
        count += rung.level[i] != 0;
    return count;
}

bool ladder_rung_at(unsigned number, struct ladder_rung *out)
{
    for (unsigned weak = 0; weak <= LADDER_FACTORS; weak++)
        for (unsigned i = 0; i < LADDER_RUNGS; i++)
            if (weaknesses(i) == weak && number-- == 0) {
                *out = ladder_unpack(i);
                return true;
            }
    return false;
}

bool ladder_find(ladder_trial *trial, void *context, struct ladder_rung *out)
{
    struct ladder_rung rung;
    enum ladder_result first = LADDER_FAILS;
    for (int tries = 0; tries < 2 && first == LADDER_FAILS; tries++) {
        ladder_rung_at(0, &rung);
        first = trial(context, &rung);
    }
    for (unsigned i = 1; first == LADDER_FAILS && ladder_rung_at(i, &rung); i++)
        if (trial(context, &rung) == LADDER_STARTS)
            first = LADDER_STARTS;
    if (first == LADDER_STARTS)
        *out = rung;
    return first == LADDER_STARTS;
}

void ladder_words(const struct ladder_rung *rung, struct buf *out)
{
    static const char *const words[LADDER_FACTORS] = {[LADDER_WINDOWS] = "without window limits",
                                                      [LADDER_DESKTOP] = "on the caller's desktop",
                                                      [LADDER_EVERYONE] = "with Everyone",
                                                      [LADDER_INTERACTIVE] = "with INTERACTIVE"};
    static const char *const consoles[LADDER_CONSOLES] = {
        [LADDER_INHERITED] = "on a hidden console that cordon shares",
        [LADDER_OWN] = "on a hidden console of its own"};
    for (unsigned i = 0; i < LADDER_FACTORS; i++)
        if (rung->level[i])
            buf_fmt(out, "%s%s", out->n ? ", " : "",
                    i == LADDER_CONSOLE ? consoles[rung->level[i]] : words[i]);
}
