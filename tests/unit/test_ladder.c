/* SPDX-License-Identifier: Apache-2.0 */
/* Which rung is taken, for machines on which different things do not start. */
#include "launch/ladder.h"
#include "tap.h"

struct machine {
    unsigned needs;    /* the rung whose weaknesses are needed here */
    unsigned hangs_at; /* a rung that does not come back; UINT_MAX: none */
    unsigned flaky;    /* failures of the top that are chance */
    unsigned tries;
};

static enum ladder_result trial(void *context, const struct ladder_rung *rung)
{
    struct machine *m = context;
    unsigned number = ladder_pack(rung);
    m->tries++;
    if (number == m->hangs_at)
        return LADDER_HANGS;
    if (number == 0 && m->flaky) {
        m->flaky--;
        return LADDER_FAILS;
    }
    /* Another way to a console helps only where it is the one that works. */
    struct ladder_rung needs = ladder_unpack(m->needs);
    bool starts = m->needs < LADDER_RUNGS;
    for (unsigned i = 0; i < LADDER_FACTORS; i++)
        starts = starts && (!needs.level[i] || rung->level[i] == needs.level[i]);
    return starts ? LADDER_STARTS : LADDER_FAILS;
}

static bool takes(struct machine m, unsigned expected)
{
    struct ladder_rung rung;
    return ladder_find(trial, &m, &rung) && ladder_pack(&rung) == expected;
}

int main(void)
{
    const unsigned all = LADDER_RUNGS, none = ~0u;
    struct ladder_rung rung;
    uint64_t seen = 0;
    unsigned count = 0, last = 0;
    bool ordered = true;
    for (; ladder_rung_at(count, &rung); count++) {
        unsigned weak = 0, number = ladder_pack(&rung);
        for (unsigned i = 0; i < LADDER_FACTORS; i++)
            weak += rung.level[i] != 0;
        ordered = ordered && weak >= last;
        last = weak;
        seen |= UINT64_C(1) << number;
    }
    ok(count == all && seen == (UINT64_C(1) << all) - 1 && ordered,
       "every rung once, those with fewer weaknesses first");
    bool exact = true;
    for (unsigned needs = 0; needs < all; needs++)
        exact = exact && takes((struct machine){needs, none, 0, 0}, needs);
    ok(exact, "exactly what is needed is weakened, whatever that is");
    ok(takes((struct machine){0, none, 1, 0}, 0),
       "one failure of the top by chance weakens nothing");
    struct machine hangs = {1, 0, 0, 0};
    ok(!ladder_find(trial, &hangs, &rung) && hangs.tries == 1, "nor does a top that hangs");
    struct ladder_rung both = {.level = {LADDER_INHERITED, [LADDER_WINDOWS] = 1}};
    ok(takes((struct machine){LADDER_INHERITED, LADDER_INHERITED, 0, 0}, ladder_pack(&both)),
       "a rung that hangs is not taken");
    struct machine own = {LADDER_OWN, none, 0, 0};
    ok(ladder_find(trial, &own, &rung) && ladder_pack(&rung) == LADDER_OWN && own.tries == 4,
       "an inherited console is tried before one of its own, and both before another factor");
    struct machine never = {LADDER_RUNGS, none, 0, 0};
    ok(!ladder_find(trial, &never, &rung) && never.tries == all + 1, "none where nothing starts");
    auto_buf struct buf words = {0};
    rung = ladder_unpack(0);
    ladder_words(&rung, &words);
    ok(words.n == 0 && ladder_is_top(&rung), "the top has no weakness to name");
    rung = (struct ladder_rung){.level = {[LADDER_EVERYONE] = 1, [LADDER_WINDOWS] = 1}};
    ladder_words(&rung, &words);
    ok(str_eq(buf_str(&words), STR("without window limits, with Everyone")),
       "words for the others");
    bool named = true;
    for (unsigned console = 1; console < LADDER_CONSOLES; console++) {
        buf_reset(&words);
        rung = (struct ladder_rung){.level = {console}};
        ladder_words(&rung, &words);
        named = named && str_starts(buf_str(&words), STR("on a hidden console "));
    }
    ok(named, "and for the consoles");
    return tap_done();
}
