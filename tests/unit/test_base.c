/* SPDX-License-Identifier: Apache-2.0 */
/* Strings, buffers and arenas. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/glob.h"
#include "base/sha1.h"
#include "tap.h"

#include <limits.h>

static void test_str(void)
{
    ok(str_eq(STR("a\0b"), STR("a\0b")) && !str_eq(STR("a\0b"), STR("a\0c")), "NULs count");
    ok(str_eqi(STR("StArT"), STR("start")) && !str_eqi(STR("start"), STR("star")), "ASCII case");
    ok(!str_eqi(STR("\xc3\x84"), STR("\xc3\xa4")), "case of other letters is kept");
    ok(str_cmp(STR("a"), STR("ab")) < 0 && str_cmp(STR("b"), STR("ab")) > 0, "order");
    ok(str_cmpi(STR("B"), STR("a")) > 0 && str_cmpi(STR("A"), STR("a")) == 0, "order without case");
    ok(str_find(STR("xaab"), STR("ab"), 0) == 2 && str_find(STR("xaab"), STR("ac"), 0) == 4,
       "find");
    ok(str_findi(STR("xAaB"), STR("ab"), 0) == 2, "find without case");
    ok(str_eq(str_slice(STR("abc"), 1, 9), STR("bc")) && str_slice(STR("abc"), 5, 2).n == 0,
       "slices are cut to the string");
    ok(str_eq(str_trim(STR(" \t a b\r\n")), STR("a b")), "trim");
    ok(str_starts(STR("abc"), STR("ab")) && !str_starts(STR("a"), STR("ab")), "starts");
    ok(str_endsi(STR("x.EXE"), STR(".exe")) && !str_ends(STR("x.EXE"), STR(".exe")), "ends");
    ok(str_distance(STR("rot"), STR("root"), 3) == 1 && str_distance(STR("a"), STR("xyz"), 1) == 2,
       "distance");
}

static void test_numbers(void)
{
    char room[STR_NUMBER_ROOM];
    ok(str_eq(str_of_number(0, room), STR("0")), "zero is a digit");
    ok(str_eq(str_of_number(-1205, room), STR("-1205")), "a number below zero");
    ok(str_eq(str_of_number(LLONG_MIN, room), STR("-9223372036854775808")), "the lowest number");
}

static void test_glob(void)
{
    static const struct {
        enum glob_kind kind;
        const char *pattern, *text;
        bool matches;
    } cases[] = {
        {GLOB_BASH, "", "", true},
        {GLOB_BASH, "", "a", false},
        {GLOB_BASH, "**", "", true},
        {GLOB_BASH, "a*b*c", "axxbxbyc", true},
        {GLOB_BASH, "a*b*c", "axxbxbycd", false},
        {GLOB_BASH, "a?c", "abc", true},
        {GLOB_BASH, "a?c", "ac", false},
        {GLOB_BASH, "ABC", "abc", false},
        {GLOB_BASH, "[a-cx]", "b", true},
        {GLOB_BASH, "[a-cx]", "x", true},
        {GLOB_BASH, "[a-cx]", "-", false},
        {GLOB_BASH, "[a-cx]", "d", false},
        {GLOB_BASH, "[a-]", "-", true},
        {GLOB_BASH, "[!a-c]", "b", false},
        {GLOB_BASH, "[!a-c]", "d", true},
        {GLOB_BASH, "[^]]", "]", false},
        {GLOB_BASH, "[^]]", "a", true},
        {GLOB_BASH, "[]]", "]", true},
        {GLOB_BASH, "*[a-c]z", "xbz", true},
        {GLOB_BASH, "[ab", "[ab", true},
        {GLOB_BASH, "[", "a", false},
        {GLOB_POWERSHELL, "S*-PROC[aeiou]ss", "start-process", true},
        {GLOB_POWERSHELL, "S*-PROC[aiu]ss", "start-process", false},
        {GLOB_POWERSHELL, "[A-C]", "b", true},
        {GLOB_POWERSHELL, "[!a]", "b", false},
        {GLOB_POWERSHELL, "[!a]", "!", true},
        {GLOB_POWERSHELL, "[ab", "[ab", false},
        {GLOB_STARS, "*\\CORDON*.dll", "c:\\cordon\\x.DLL", true},
        {GLOB_STARS, "a?", "ab", false},
        {GLOB_STARS, "[a]?", "[A]?", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        ok(glob_match(cases[i].kind, str_of(cases[i].pattern), str_of(cases[i].text)) ==
               cases[i].matches,
           "%s %s %s", cases[i].pattern, cases[i].matches ? "matches" : "does not match",
           cases[i].text);
    static char many[30 * 1000];
    memset(many, 'a', sizeof many);
    struct str text = {many, sizeof many};
    ok(glob_match(GLOB_BASH, STR("*a"), text) && !glob_match(GLOB_BASH, STR("*aaaaaaaab"), text),
       "a long text ends, found or not");
}

static void test_buf(void)
{
    auto_buf struct buf b = {0};
    buf_add(&b, STR("a\0b"));
    buf_char(&b, 'c');
    buf_fmt(&b, "%d%s", 42, "x");
    buf_fill(&b, '-', 3);
    ok(str_eq(buf_str(&b), STR("a\0bc42x---")), "appends");
    for (int i = 0; i < 10000; i++)
        buf_char(&b, 'y');
    ok(b.n == 10010 && !b.failed, "grows");
    ok(!buf_reserve(&b, SIZE_MAX - 5) && b.failed, "an impossible size fails");
    buf_char(&b, 'z');
    ok(b.n == 10010, "after a failure nothing is added");
    buf_reset(&b);
    buf_char(&b, 'q');
    ok(str_eq(str_of(buf_cstr(&b)), STR("q")), "reset starts again");
}

static void test_arena(void)
{
    auto_arena struct arena a = {.limit = 100000};
    char *p = arena_alloc(&a, 3), *q = arena_alloc(&a, 5);
    ok(p && q && p != q && ((uintptr_t)q & 15) == 0 && q[4] == 0, "aligned and zeroed");
    ok(str_eq(arena_copy(&a, STR("x\0y")), STR("x\0y")), "copy");
    ok(arena_alloc(&a, 200000) == NULL, "the limit holds");
    ok(arena_array(&a, SIZE_MAX / 2, 16) == NULL, "an overflowing array fails");
    ok(arena_alloc(&a, 50000) != NULL && arena_alloc(&a, 60000) == NULL, "the limit is a sum");
    arena_reset(&a);
    ok(arena_alloc(&a, 60000) != NULL, "reset gives it back");
    size_t capacity = 0;
    int *grown = NULL;
    for (int i = 0; i < 100; i++) {
        if ((size_t)i == capacity)
            grown = arena_grow(&a, grown, &capacity, sizeof *grown);
        grown[i] = i;
    }
    ok(grown[0] == 0 && grown[99] == 99, "grow keeps the elements");
    struct arena_text text = {0};
    for (int i = 0; i < 100; i++)
        arena_append(&a, &text, STR("abc"));
    ok(text.n == 300 && text.p[0] == 'a' && text.p[299] == 'c', "append keeps what was there");
    static const char zeros[200 * 1000];
    ok(!arena_append(&a, &text, (struct str){zeros, sizeof zeros}) && text.n == 300,
       "an append beyond the limit changes nothing");
}

/* As git hash-object names them. */
static void test_sha1(void)
{
    static const struct {
        const char *text, *digits;
    } rows[] = {
        {"", "da39a3ee5e6b4b0d3255bfef95601890afd80709"},
        {"abc", "a9993e364706816aba3e25717850c26c9cd0d89d"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "84983e441c3bd26ebaae4aa1f95129e5e54670f1"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        unsigned char sum[SHA1_SIZE];
        char digits[2 * SHA1_SIZE + 1];
        sha1(str_of(rows[i].text), sum);
        for (size_t k = 0; k < SHA1_SIZE; k++)
            snprintf(digits + 2 * k, 3, "%02x", sum[k]);
        ok(strcmp(digits, rows[i].digits) == 0, "SHA-1, row %zu", i);
    }
}

int main(void)
{
    test_sha1();
    test_str();
    test_numbers();
    test_glob();
    test_buf();
    test_arena();
    return tap_done();
}
