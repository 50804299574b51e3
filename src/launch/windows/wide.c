/* SPDX-License-Identifier: Apache-2.0 */
/* Conversions between WTF-8 inside and UTF-16 outside. */
#include "launch/windows/wide.h"

#include "base/utf.h"

wchar_t *wide_of(struct arena *arena, struct str s)
{
    size_t count;
    if (str_has_char(s, '\0') || utf_length16(s, &count))
        return NULL;
    uint16_t *out = ARENA_ARRAY(arena, count + 1, uint16_t);
    if (!out || utf_to16(s, out, count, &count))
        return NULL;
    return (wchar_t *)out;
}

struct str wide_narrow(struct arena *arena, const wchar_t *text, size_t count)
{
    auto_buf struct buf out = {0};
    utf_from16(&out, (const uint16_t *)text, count);
    return out.failed ? STR_NONE : arena_copy(arena, buf_str(&out));
}
