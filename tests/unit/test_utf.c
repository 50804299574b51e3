/* SPDX-License-Identifier: Apache-2.0 */
/* WTF-8 and UTF-16: nothing is lost, nothing has two spellings. */
#include "base/utf.h"
#include "cordon.h"
#include "tap.h"

static void test_units(void)
{
    static const struct {
        uint16_t units[4];
        size_t count;
        const char *bytes;
        size_t size;
    } rows[] = {
        {{0x41}, 1, "A", 1},
        {{0}, 1, "\0", 1},
        {{0x7F}, 1, "\x7F", 1},
        {{0x80}, 1, "\xC2\x80", 2},
        {{0x7FF}, 1, "\xDF\xBF", 2},
        {{0x800}, 1, "\xE0\xA0\x80", 3},
        {{0xFFFF}, 1, "\xEF\xBF\xBF", 3},
        {{0xD83D, 0xDE00}, 2, "\xF0\x9F\x98\x80", 4},
        {{0xDBFF, 0xDFFF}, 2, "\xF4\x8F\xBF\xBF", 4},
        {{0xD800}, 1, "\xED\xA0\x80", 3},
        {{0xDC00}, 1, "\xED\xB0\x80", 3},
        {{0xDC00, 0xD800}, 2, "\xED\xB0\x80\xED\xA0\x80", 6},
        {{0xD800, 0xD83D, 0xDE00}, 3, "\xED\xA0\x80\xF0\x9F\x98\x80", 7},
        {{0xD800, 0x41},
         2,
         "\xED\xA0\x80"
         "A",
         4},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        auto_buf struct buf out = {0};
        uint16_t units[8];
        size_t count = 0, length = 0;
        struct str bytes = {rows[i].bytes, rows[i].size};
        utf_from16(&out, rows[i].units, rows[i].count);
        ok(str_eq(buf_str(&out), bytes), "row %u to bytes", (unsigned)i);
        ok(utf_to16(bytes, units, 8, &count) == 0 && count == rows[i].count &&
               memcmp(units, rows[i].units, count * 2) == 0 && utf_length16(bytes, &length) == 0 &&
               length == count,
           "row %u to units", (unsigned)i);
    }
}

static void test_bad(void)
{
    static const struct str rows[] = {
        {"\x80", 1},
        {"\xBF", 1},
        {"\xC0\x80", 2},
        {"\xC1\xBF", 2},
        {"\xC2", 1},
        {"\xC2 ", 2},
        {"\xE0\x80\x80", 3},
        {"\xE0\x9F\xBF", 3},
        {"\xE2\x82", 2},
        {"\xE2\x82 ", 3},
        {"\xF0\x80\x80\x80", 4},
        {"\xF0\x8F\xBF\xBF", 4},
        {"\xF0\x9F\x98", 3},
        {"\xF4\x90\x80\x80", 4},
        {"\xF5\x80\x80\x80", 4},
        {"\xFE", 1},
        {"\xFF", 1},
        {"\xED\xA0\xBD\xED\xB8\x80", 6}, /* a pair in two three-byte forms */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint16_t units[8];
        size_t count = 77;
        ok(!utf_valid(rows[i]) && utf_to16(rows[i], units, 8, &count) == CORDON_E_ENCODING &&
               utf_length16(rows[i], &count) == CORDON_E_ENCODING && count == 77,
           "malformed row %u is refused and changes nothing", (unsigned)i);
    }
}

static void test_room(void)
{
    uint16_t units[2];
    size_t count = 77;
    ok(utf_to16(STR("abc"), units, 2, &count) == CORDON_E_TOOBIG && count == 77, "too little room");
    ok(utf_to16(STR("\xF0\x9F\x98\x80"), units, 1, &count) == CORDON_E_TOOBIG,
       "half a pair is not written");
    ok(utf_to16(STR(""), units, 0, &count) == 0 && count == 0, "nothing needs no room");
    size_t pos = 0;
    ok(utf_decode(STR("\xE2\x82"), &pos) == -1 && pos == 1, "a malformed byte is one step");
}

int main(void)
{
    test_units();
    test_bad();
    test_room();
    return tap_done();
}
