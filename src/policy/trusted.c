/* SPDX-License-Identifier: Apache-2.0 */
/* Names that other programs trust in a shared temp folder. */
#include "base/glob.h"
#include "policy/names.h"

const char *trusted_find(struct str component)
{
    /* One after the other, without a pointer to each. */
    static const char patterns[] =
#define POLICY_TRUSTED(pattern) pattern "\0"
#include "policy/trusted.def"
#undef POLICY_TRUSTED
        ;
    for (const char *p = patterns; *p; p += strlen(p) + 1)
        if (glob_match(GLOB_STARS, str_of(p), component))
            return p;
    return NULL;
}

/* Nothing but digits of a user's number. */
static bool read_user(struct str digits, unsigned base, uint32_t *user)
{
    uint64_t number = 0;
    for (size_t i = 0; i < digits.n && number <= UINT32_MAX; i++) {
        char c = digits.p[i];
        unsigned value = base;
        if (c >= '0' && c <= '9')
            value = (unsigned)(c - '0');
        else if (c >= 'a' && c <= 'z')
            value = (unsigned)(c - 'a') + 10;
        if (value >= base)
            return false;
        number = number * base + value;
    }
    *user = (uint32_t)number;
    return digits.n && number <= UINT32_MAX;
}

const char *trusted_of_others(struct str component, uint32_t user)
{
    static const struct {
        const char *start, *name;
        unsigned base;
    } caches[] = {{"tsx-", "tsx-*", 10},
                  {"jest_", "jest_*", 36},
                  {"playwright-transform-cache-", "playwright-transform-cache-*", 10}};
    for (size_t i = 0; i < sizeof caches / sizeof *caches; i++) {
        struct str start = str_of(caches[i].start);
        uint32_t other;
        if (str_starts(component, start) &&
            read_user(str_from(component, start.n), caches[i].base, &other) && other != user)
            return caches[i].name;
    }
    return NULL;
}
