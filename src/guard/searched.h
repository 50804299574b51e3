/* SPDX-License-Identifier: Apache-2.0 */
/* A text in which many words are searched: most of them hold a pair of characters that it lacks. */
#ifndef CORDON_GUARD_SEARCHED_H
#define CORDON_GUARD_SEARCHED_H

#include "base/str.h"

enum { SEARCHED_BITS = 64 };

struct searched {
    struct str text;
    uint64_t pairs[SEARCHED_BITS]; /* by six bits of a character, then six bits of the next one */
};

static inline unsigned searched_bits(char c)
{
    return (unsigned char)ascii_lower(c) % SEARCHED_BITS;
}

static inline void searched_set(struct searched *s, struct str text)
{
    *s = (struct searched){.text = text};
    unsigned before = text.n ? searched_bits(text.p[0]) : 0;
    for (size_t i = 1; i < text.n; i++) {
        unsigned here = searched_bits(text.p[i]);
        s->pairs[before] |= (uint64_t)1 << here;
        before = here;
    }
}

/* False: the word does not stand in the text, without case. */
static inline bool searched_may_have(const struct searched *s, struct str word)
{
    for (size_t i = 1; i < word.n; i++)
        if (!(s->pairs[searched_bits(word.p[i - 1])] >> searched_bits(word.p[i]) & 1))
            return false;
    return true;
}

/* As str_findi. */
static inline size_t searched_find(const struct searched *s, struct str word, size_t from)
{
    return searched_may_have(s, word) ? str_findi(s->text, word, from) : s->text.n;
}

/* True if one of the words in "a|b|c" stands in the text. */
static inline bool searched_has(const struct searched *s, struct str words)
{
    for (size_t bar; words.n; words = str_from(words, bar + 1)) {
        bar = str_find_char(words, '|', 0);
        if (searched_find(s, str_slice(words, 0, bar), 0) < s->text.n)
            return true;
    }
    return false;
}

#endif
