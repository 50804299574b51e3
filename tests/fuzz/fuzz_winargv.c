/* SPDX-License-Identifier: Apache-2.0 */
/* Windows command lines: words lie in the line, and quoting a word gives it back. */
#include "guard/effects.h"

#include "guard_fuzz.h"

#define MUST(condition)   \
    do {                  \
        if (!(condition)) \
            abort();      \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct guard *g;
    if (!g && guard_new(&g))
        abort();
    struct str line = {(const char *)data, size};
    struct arena arena = {0};
    size_t count, count_again;
    struct word *words = winargv_split(&arena, line, &count);
    MUST(words && count >= 1);
    struct buf joined = {0};
    buf_add(&joined, STR("x"));
    for (size_t i = 0; i < count; i++) {
        MUST(words[i].start <= words[i].end && words[i].end <= size);
        MUST(i == 0 || words[i].start >= words[i - 1].end);
        buf_char(&joined, ' ');
        winargv_quote(&joined, words[i].text);
    }
    MUST(!joined.failed);
    struct word *again = winargv_split(&arena, buf_str(&joined), &count_again);
    MUST(again && count_again == count + 1);
    for (size_t i = 0; i < count; i++)
        MUST(str_eq(words[i].text, again[i + 1].text));
    buf_free(&joined);
    arena_free(&arena);
    struct guard_question q = {.cmdline = line};
    bool syntax_error;
    guard_fuzz_ask(g, &q, &syntax_error);
    return 0;
}
