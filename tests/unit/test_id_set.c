/* SPDX-License-Identifier: Apache-2.0 */
/* The set of files against a plain list of counts, with hashes that collide and wrap around. */
#include "broker/id_set.h"
#include "tap.h"

enum { FILES = 700, STEPS = 200000 };

static uint64_t seed = 88172645463325252u;

static uint32_t next(uint32_t below)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)((seed >> 33) % below);
}

static struct file_id file_of(uint32_t i)
{
    return (struct file_id){i % 3, (uint64_t)(i / 3) << (i % 5 * 8), i % 2};
}

int main(void)
{
    struct id_set set = {0};
    static uint32_t counts[FILES];
    bool same = true;
    ok(id_set_count(&set, file_of(1)) == 0, "an empty set holds nothing");
    id_set_take(&set, file_of(1));
    id_set_drop(&set, file_of(1));
    /* Grown to hundreds, then mostly emptied, and so on. */
    for (uint32_t step = 0; step < STEPS && same; step++) {
        uint32_t i = next(FILES), what = next(10), filling = step / 20000 % 2 == 0;
        if (what < (filling ? 7u : 2u)) {
            same = id_set_add(&set, file_of(i));
            counts[i]++;
        } else if (what < 9) {
            id_set_take(&set, file_of(i));
            counts[i] -= counts[i] > 0;
        } else {
            id_set_drop(&set, file_of(i));
            counts[i] = 0;
        }
        if (step % 97 == 0)
            for (uint32_t k = 0; k < FILES && same; k++)
                same = id_set_count(&set, file_of(k)) == counts[k];
    }
    ok(same, "%d changes: every count as in a plain list", STEPS);
    size_t left = 0;
    for (uint32_t k = 0; k < FILES; k++)
        left += counts[k] > 0;
    ok(set.used == left, "and as many files");
    id_set_free(&set);
    ok(set.entries == NULL && id_set_count(&set, file_of(2)) == 0, "freed, it is empty");
    return tap_done();
}
