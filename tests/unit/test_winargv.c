/* SPDX-License-Identifier: Apache-2.0 */
/* The C runtime's rules: what a command line splits into, and that quoting is undone by
   splitting. */
#include "guard/effects.h"
#include "tap.h"

/* A line and its words, joined with | (the program's name first). */
static const struct {
    const char *line, *words;
} splits[] = {
    {"", ""},
    {"a", "a"},
    {"a b", "a|b"},
    {"  a b", "|a|b"},
    {"a  \t b ", "a|b"},
    {"\"a b\" c", "a b|c"},
    {"\"C:\\Program Files\\x.exe\" y", "C:\\Program Files\\x.exe|y"},
    {"C:\\x\\\"y z\" w", "C:\\x\\y z|w"},
    {"\"a\\\" b", "a\\|b"},
    {"x \"a b\" c", "x|a b|c"},
    {"x \"a\\\"b\" c", "x|a\"b|c"},
    {"x \"a\\\\\" b", "x|a\\|b"},
    {"x a\\\\b c", "x|a\\\\b|c"},
    {"x a\\\\\\b", "x|a\\\\\\b"},
    {"x a\\\\\\\"b c", "x|a\\\"b|c"},
    {"x \"a\\\\\\\" b\" c", "x|a\\\" b|c"},
    {"x \"\" y", "x||y"},
    {"x \"a\"\"b\" c", "x|a\"b|c"},
    {"x \"\"\"a\"\"\" b", "x|\"a\"|b"},
    {"x a\"b c\"d e", "x|ab cd|e"},
    {"x \"a b", "x|a b"},
    {"x a\\", "x|a\\"},
    {"x \"a\\\\", "x|a\\\\"},
    {"x 'a b'", "x|'a|b'"},
    {"x a^b", "x|a^b"},
    {"x /c\"start y\"", "x|/cstart y"},
    {"x \xC3\xA4 \"\xE2\x82\xAC z\"", "x|\xC3\xA4|\xE2\x82\xAC z"},
};

static const char *const quoted[][2] = {
    {"a", "a"},
    {"", "\"\""},
    {"a b", "\"a b\""},
    {"a\"b", "\"a\\\"b\""},
    {"a\\b", "a\\b"},
    {"a b\\", "\"a b\\\\\""},
    {"\\\"", "\"\\\\\\\"\""},
    {"a\tb", "\"a\tb\""},
    {"c:\\a b\\\\", "\"c:\\a b\\\\\\\\\""},
};

static void test_splits(void)
{
    for (size_t i = 0; i < sizeof splits / sizeof *splits; i++) {
        auto_arena struct arena arena = {0};
        auto_buf struct buf got = {0};
        struct str line = str_of(splits[i].line);
        size_t count = 0;
        struct word *words = winargv_split(&arena, line, &count);
        bool spans = words != NULL;
        for (size_t k = 0; k < count && words; k++) {
            if (k)
                buf_char(&got, '|');
            buf_add(&got, words[k].text);
            spans &= words[k].start <= words[k].end && words[k].end <= line.n;
        }
        if (!ok(str_eq(buf_str(&got), str_of(splits[i].words)), "split %s", splits[i].line))
            note("got %s", buf_cstr(&got));
        ok(spans, "spans lie inside %s", splits[i].line);
    }
}

static void test_quotes(void)
{
    for (size_t i = 0; i < sizeof quoted / sizeof *quoted; i++) {
        auto_buf struct buf out = {0};
        winargv_quote(&out, str_of(quoted[i][0]));
        if (!ok(str_eq(buf_str(&out), str_of(quoted[i][1])), "quote %s", quoted[i][0]))
            note("got %s", buf_cstr(&out));
    }
}

/* Every word of up to five of these characters survives quoting and splitting. */
static void test_round_trip(void)
{
    static const char letters[] = "a \\\"\t";
    bool same = true;
    for (unsigned code = 0; code < 7776; code++) {
        char text[5];
        size_t n = 0;
        for (unsigned rest = code; rest && n < 5; rest /= 6)
            if (rest % 6)
                text[n++] = letters[rest % 6 - 1];
        auto_arena struct arena arena = {0};
        auto_buf struct buf line = {0};
        buf_add(&line, STR("x "));
        winargv_quote(&line, (struct str){text, n});
        buf_add(&line, STR(" y"));
        size_t count = 0;
        struct word *words = winargv_split(&arena, buf_str(&line), &count);
        same &= words && count == 3 && str_eq(words[1].text, (struct str){text, n}) &&
                str_eq(words[2].text, STR("y"));
    }
    ok(same, "quoting is undone by splitting for 7776 words");
}

int main(void)
{
    test_splits();
    test_quotes();
    test_round_trip();
    return tap_done();
}
