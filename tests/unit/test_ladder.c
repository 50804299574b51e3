/* SPDX-License-Identifier: Apache-2.0 */
/* Which rung is taken, for machines on which different things do not start. */
#include "launch/ladder.h"
#include "tap.h"

struct machine {
    unsigned needs;    /* factors that must be weakened here */
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
    return (number & m->needs) == m->needs ? LADDER_STARTS : LADDER_FAILS;
}

static bool takes(struct machine m, unsigned expected)
{
    struct ladder_rung rung;
    return ladder_find(trial, &m, &rung) && ladder_pack(&rung) == expected;
}

int main(void)
{
    const unsigned all = 1u << LADDER_FACTORS, none = ~0u;
    struct ladder_rung rung;
    uint64_t seen = 0;
    unsigned count = 0, last = 0;
    bool ordered = true;
    for (; ladder_rung_at(count, &rung); count++) {
        unsigned weak = 0, number = ladder_pack(&rung);
        for (unsigned bits = number; bits; bits &= bits - 1)
            weak++;
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
    ok(takes((struct machine){1, 1, 0, 0}, 3), "a rung that hangs is not taken");
    struct machine never = {1u << LADDER_FACTORS, none, 0, 0};
    ok(!ladder_find(trial, &never, &rung) && never.tries == all + 1, "none where nothing starts");
    auto_buf struct buf words = {0};
    rung = ladder_unpack(0);
    ladder_words(&rung, &words);
    ok(words.n == 0 && ladder_is_top(&rung), "the top has no weakness to name");
    rung = ladder_unpack(1u << LADDER_EVERYONE | 1u << LADDER_WINDOWS);
    ladder_words(&rung, &words);
    ok(str_eq(buf_str(&words), STR("without window limits, with Everyone")),
       "words for the others");
    return tap_done();
}
