/* SPDX-License-Identifier: Apache-2.0 */
/* WTF-8 from and to UTF-16. */
#include "base/utf.h"

#include "cordon.h"

static bool is_high(uint32_t c)
{
    return c >= 0xD800 && c <= 0xDBFF;
}

static bool is_low(uint32_t c)
{
    return c >= 0xDC00 && c <= 0xDFFF;
}

void utf_from16(struct buf *out, const uint16_t *units, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t code = units[i];
        if (is_high(code) && i + 1 < count && is_low(units[i + 1]))
            code = 0x10000 + ((code - 0xD800) << 10) + (units[++i] - 0xDC00u);
        char bytes[4];
        buf_add(out, (struct str){bytes, utf_encode(code, bytes)});
    }
}

int utf_length16(struct str s, size_t *count)
{
    size_t total = 0;
    for (size_t pos = 0; pos < s.n;) {
        int32_t code = utf_decode(s, &pos);
        if (code < 0)
            return CORDON_E_ENCODING;
        total += code > 0xFFFF ? 2 : 1;
    }
    *count = total;
    return 0;
}

int utf_to16(struct str s, uint16_t *out, size_t capacity, size_t *count)
{
    size_t n = 0;
    for (size_t pos = 0; pos < s.n;) {
        int32_t code = utf_decode(s, &pos);
        if (code < 0)
            return CORDON_E_ENCODING;
        if (capacity - n < (code > 0xFFFF ? 2u : 1u))
            return CORDON_E_TOOBIG;
        if (code > 0xFFFF) {
            out[n++] = (uint16_t)(0xD800 + ((uint32_t)(code - 0x10000) >> 10));
            out[n++] = (uint16_t)(0xDC00 + ((uint32_t)(code - 0x10000) & 0x3FF));
        } else {
            out[n++] = (uint16_t)code;
        }
    }
    *count = n;
    return 0;
}
