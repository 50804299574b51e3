/* SPDX-License-Identifier: Apache-2.0 */
/* The values of --ask-fd and --ask-timeout. */
#include "ask/ask.h"
#include "lib/run.h"

static const char *read_number(const char *p, uint64_t most, uint64_t *out)
{
    uint64_t n = 0;
    if (!ascii_is_digit(*p))
        return NULL;
    for (; ascii_is_digit(*p); p++) {
        n = n * 10 + (uint64_t)(*p - '0');
        if (n > most)
            return NULL;
    }
    *out = n;
    return p;
}

int run_read_ask_fds(const char *text, int out[2])
{
    enum { HIGHEST = 1 << 20 };
    uint64_t in, to;
    const char *p = read_number(text, HIGHEST, &in);
    p = p && *p == ',' ? read_number(p + 1, HIGHEST, &to) : NULL;
    if (!p || *p || in < 3 || to < 3)
        return CORDON_E_VALUE;
    out[0] = (int)in;
    out[1] = (int)to;
    return 0;
}

int run_read_ask_timeout(const char *text, uint64_t *out_ms)
{
    uint64_t seconds;
    const char *p = read_number(text, ASK_LONGEST_TIMEOUT_S, &seconds);
    if (!p || *p || seconds == 0)
        return CORDON_E_VALUE;
    *out_ms = seconds * 1000;
    return 0;
}
