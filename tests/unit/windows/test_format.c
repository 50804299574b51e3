/* SPDX-License-Identifier: Apache-2.0 */
/* The program's own printf: what it writes, what it refuses, and that it agrees with the
   system's. */
#include "tap.h"

#include <stdlib.h>

#include "cli/windows/format.c"

static int write_it(char *room, size_t size, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = __mingw_vsnprintf(room, size, format, args);
    va_end(args);
    return n;
}

#define IS(wanted, ...)                                                               \
    do {                                                                              \
        char room[200];                                                               \
        int n = write_it(room, sizeof room, __VA_ARGS__);                             \
        if (!ok(n == (int)strlen(wanted) && strcmp(room, wanted) == 0, "%s", wanted)) \
            note("%d: %s", n, room);                                                  \
    } while (0)

static void test_forms(void)
{
    IS("plain", "plain");
    IS("100%", "%d%%", 100);
    IS("[  ab]", "[%4s]", "ab");
    IS("[ab  ]", "[%-4s]", "ab");
    IS("[abc]", "[%.3s]", "abcdef");
    IS("[abc]", "[%.*s]", 3, "abcdef");
    IS("[ab   |   ab]", "[%-*s|%*s]", 5, "ab", 5, "ab");
    IS("x", "%c", 'x');
    IS("-7 7 +7  7", "%d %i %+d % d", -7, 7, 7, 7);
    IS("-9223372036854775808", "%lld", (long long)INT64_MIN);
    IS("18446744073709551615", "%llu", (unsigned long long)UINT64_MAX);
    IS("4294967295 65535 255", "%lu %hu %hhu", 4294967295ul, 65535, 255);
    IS("12 34", "%zu %I64u", (size_t)12, (uint64_t)34);
    IS("ff FF 17", "%x %X %o", 255, 255, 15);
    IS("[0042|42  |  42]", "[%04d|%-4d|%4d]", 42, 42, 42);
    IS("[-042|0000002a]", "[%04d|%08x]", -42, 42);
    IS("[  007]", "[%5.3d]", 7);
    IS("1.50 0.00 2.000 3", "%.2f %.2f %.3f %.0f", 1.5, 0.0, 1.9999, 2.6);
    IS("-1.25 12345.679", "%.2f %.3f", -1.25, 12345.6789);
    IS("[ 99.90]", "[%6.2f]", 99.9);
    IS("(null)", "%s", (char *)NULL);
}

static int write_wide(wchar_t *room, size_t size, const wchar_t *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = __mingw_vsnwprintf(room, size, format, args);
    va_end(args);
    return n;
}

static void test_wide(void)
{
    wchar_t room[40];
    ok(write_wide(room, 40, L"\"%ls\" %hs %.*hs %08lx", L"C:\\\xE4", "a b", 2, "xyz", 0xBEEFul) ==
               22 &&
           wcscmp(room, L"\"C:\\\xE4\" a b xy 0000beef") == 0,
       "wide text");
    ok(write_wide(room, 4, L"%ls", L"abcdef") == -1 && wcscmp(room, L"abc") == 0,
       "wide text that does not fit is an error");
    ok(write_wide(room, 40, L"\xE4") == -1, "a format that is not ASCII is an error");
}

static void test_limits(void)
{
    char room[8];
    memset(room, 'z', sizeof room);
    ok(write_it(room, 4, "%s", "abcdef") == 6 && strcmp(room, "abc") == 0 && room[4] == 'z',
       "too little room: cut and ended, the whole length told");
    ok(write_it(NULL, 0, "%d", 12345) == 5, "no room: the length");
    static const char *const unknown[] = {"%g", "%e", "%n", "%ls", "%S", "%", "%k", "%.12f"};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        ok(write_it(room, sizeof room, unknown[i], 1.0) == -1, "refused: %s", unknown[i]);
    FILE *f = tmpfile();
    if (!f) {
        skip("a file", "no temporary file can be made");
        return;
    }
    char long_text[2000], back[2100] = "";
    memset(long_text, 'q', sizeof long_text - 1);
    long_text[sizeof long_text - 1] = '\0';
    long_text[700] = 'r';
    __mingw_vfprintf(f, "<", NULL);
    fprintf(f, "%s>", long_text);
    rewind(f);
    size_t n = fread(back, 1, sizeof back - 1, f);
    ok(n == 2001 && back[0] == '<' && back[701] == 'r' && back[2000] == '>',
       "a text longer than the piece that is written at once");
    fclose(f);
}

/* The system's own function, where both know the form. */
static void test_agree(void)
{
    static const char *const forms[] = {"%d", "%8d", "%-8d|", "%08x", "%X", "%u", "%+5d", "%.5d"};
    unsigned different = 0, seed = 1;
    for (unsigned i = 0; i < 20000; i++) {
        char a[64], b[64];
        seed = seed * 1664525u + 1013904223u;
        const char *form = forms[i % (sizeof forms / sizeof *forms)];
        write_it(a, sizeof a, form, (int)(seed >> (i % 31)));
        _snprintf(b, sizeof b, form, (int)(seed >> (i % 31)));
        different += strcmp(a, b) != 0;
    }
    ok(different == 0, "20,000 numbers as the system writes them, %u otherwise", different);
}

int main(void)
{
    test_forms();
    test_wide();
    test_limits();
    test_agree();
    return tap_done();
}
