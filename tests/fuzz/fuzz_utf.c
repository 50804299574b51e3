/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-16 and WTF-8 carry the same text, both ways. */
#include <stdint.h>
#include <stdlib.h>

#include "base/utf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    auto_buf struct buf bytes = {0};
    size_t count = size / 2, back, length;
    uint16_t *units = malloc(size + 2), *again = malloc(2 * size + 2);
    if (!units || !again)
        abort();
    memcpy(units, data, count * 2);
    /* Any units become valid WTF-8 and come back unchanged. */
    utf_from16(&bytes, units, count);
    if (!utf_valid(buf_str(&bytes)) || utf_length16(buf_str(&bytes), &length) || length != count ||
        utf_to16(buf_str(&bytes), again, count, &back) || back != count ||
        memcmp(units, again, count * 2) != 0)
        abort();
    /* Any bytes are malformed or come back unchanged. */
    struct str given = {(const char *)data, size};
    bool valid = utf_valid(given);
    if ((utf_to16(given, again, size, &back) == 0) != valid)
        abort();
    if (valid) {
        buf_reset(&bytes);
        utf_from16(&bytes, again, back);
        if (!str_eq(buf_str(&bytes), given))
            abort();
    }
    free(units);
    free(again);
    return 0;
}
