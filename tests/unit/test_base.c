/* Strings, buffers and arenas. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "tap.h"

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
}

static char *taken_from_scope(void)
{
    auto_free char *p = malloc(2);
    return take(p);
}

int main(void)
{
    test_str();
    test_buf();
    test_arena();
    char *p = taken_from_scope();
    ok(p != NULL, "take() survives the scope");
    free(p);
    return tap_done();
}
