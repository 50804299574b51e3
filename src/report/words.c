/* SPDX-License-Identifier: Apache-2.0 */
/* Text of others, times and numbers, for people. */
#include "base/utf.h"
#include "report/collect.h"

/* Characters that move the cursor, end a line, change the direction of what follows, or look like a
   blank or like nothing. */
static bool is_unseen(int32_t code)
{
    return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x61C || code == 0xA0 ||
           code == 0xAD || code == 0x34F || code == 0x115F || code == 0x1160 || code == 0x1680 ||
           (code >= 0x180B && code <= 0x180F) || (code >= 0x2000 && code <= 0x200F) ||
           (code >= 0x2028 && code <= 0x202F) || code == 0x205F ||
           (code >= 0x2060 && code <= 0x206F) || (code >= 0xD800 && code <= 0xDFFF) ||
           code == 0x2800 || code == 0x3000 || code == 0x3164 ||
           (code >= 0xFE00 && code <= 0xFE0F) || code == 0xFEFF || code == 0xFFA0 ||
           (code >= 0xE0000 && code <= 0xE0FFF) || (code & 0xFFFE) == 0xFFFE ||
           (code >= 0xFDD0 && code <= 0xFDEF);
}

/* Marks that are drawn over the character before them. */
static bool is_mark(int32_t code)
{
    static const uint16_t ranges[][2] = {
        {0x0300, 0x036F}, {0x0483, 0x0489}, {0x0591, 0x05C7}, {0x0610, 0x061A}, {0x064B, 0x065F},
        {0x06D6, 0x06ED}, {0x0900, 0x0903}, {0x093A, 0x094F}, {0x0E31, 0x0E31}, {0x0E34, 0x0E3A},
        {0x0E47, 0x0E4E}, {0x0EB1, 0x0EBC}, {0x0EC8, 0x0ECE}, {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF},
        {0x20D0, 0x20FF}, {0x302A, 0x302F}, {0x3099, 0x309A}, {0xFE20, 0xFE2F}};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (code >= ranges[i][0] && code <= ranges[i][1])
            return true;
    return false;
}

/* Languages put one or two marks on a letter. More, those that strike a letter out or enclose it,
   and marks on a slash, a quote or a blank only hide what is there. */
static bool mark_hides(int32_t code, int32_t base, unsigned marks)
{
    bool letter = base >= 0xC0 || ascii_is_alpha((char)base);
    return !letter || marks > 1 || (code >= 0x334 && code <= 0x338) || code == 0x488 ||
           code == 0x489 || (code >= 0x20D0 && code <= 0x20FF);
}

static void clean(struct buf *out, struct str s, bool keeps_lines)
{
    int32_t base = 0;
    unsigned marks = 0;
    for (size_t pos = 0; pos < s.n;) {
        size_t start = pos;
        int32_t code = utf_decode(s, &pos);
        bool mark = code > 0 && is_mark(code);
        bool hides = mark && mark_hides(code, base, marks);
        marks = mark ? marks + 1 : 0;
        base = mark ? base : code;
        if (code < 0)
            buf_fmt(out, "\\x%02x", (unsigned char)s.p[start]);
        else if (keeps_lines && (code == '\n' || code == '\t'))
            buf_char(out, (char)code);
        else if (code == '\n')
            buf_add(out, STR("\\n"));
        else if (code == '\t')
            buf_char(out, ' ');
        else if (hides || is_unseen(code))
            buf_fmt(out, "\\u{%x}", (unsigned)code);
        else
            buf_add(out, str_slice(s, start, pos));
    }
}

void report_clean(struct buf *out, struct str s)
{
    clean(out, s, false);
}

void report_clean_lines(struct buf *out, struct str s)
{
    clean(out, s, true);
}

void report_duration(struct buf *out, uint64_t ms)
{
    if (ms < 1000)
        buf_fmt(out, "%u ms", (unsigned)ms);
    else if (ms < 60000)
        buf_fmt(out, "%u.%u s", (unsigned)(ms / 1000), (unsigned)(ms % 1000 / 100));
    else if (ms < 3600000)
        buf_fmt(out, "%u min %u s", (unsigned)(ms / 60000), (unsigned)(ms / 1000 % 60));
    else
        buf_fmt(out, "%llu h %u min", (unsigned long long)(ms / 3600000),
                (unsigned)(ms / 60000 % 60));
}

void report_number(struct buf *out, uint64_t n)
{
    char text[32];
    int count = 0;
    do {
        if (count % 4 == 3)
            text[count++] = ',';
        text[count++] = (char)('0' + n % 10);
        n /= 10;
    } while (n);
    while (count > 0)
        buf_char(out, text[--count]);
}
