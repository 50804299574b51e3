/* SPDX-License-Identifier: Apache-2.0 */
/* A text in which many words are looked for: most of them hold a character that it does not have. */
#ifndef CORDON_GUARD_SEARCHED_H
#define CORDON_GUARD_SEARCHED_H

#include "base/str.h"

struct searched {
    struct str text;
    bool has[256]; /* by character, in lower case */
};

static inline void searched_set(struct searched *s, struct str text)
{
    *s = (struct searched){.text = text};
    for (size_t i = 0; i < text.n; i++)
        s->has[(unsigned char)ascii_lower(text.p[i])] = true;
}

/* As str_findi. */
static inline size_t searched_find(const struct searched *s, struct str word, size_t from)
{
    for (size_t i = 0; i < word.n; i++)
        if (!s->has[(unsigned char)ascii_lower(word.p[i])])
            return s->text.n;
    return str_findi(s->text, word, from);
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
