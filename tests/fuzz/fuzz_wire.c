/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of the wire: what is accepted has its size, stays in the buffer and decodes the same
   twice. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "wire/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int condition)
{
    if (!condition)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wire_request r, again;
    if (!wire_decode(data, size, &r))
        return 0;
    uint32_t sizes[WIRE_TEXTS];
    uint64_t sum = 0;
    must(r.op > WIRE_NOTHING && r.op < WIRE_OPS && size <= WIRE_MAX_MESSAGE);
    for (unsigned i = 0; i < WIRE_TEXTS; i++) {
        const uint8_t *text = r.text[i].p;
        must(r.text[i].n <= WIRE_MAX_TEXT);
        must(!r.text[i].n ||
             (text >= data + sizeof(struct wire_message) && text + r.text[i].n <= data + size));
        for (size_t at = 0; at < r.text[i].n; at++)
            sum += text[at];
        sizes[i] = (uint32_t)r.text[i].n;
    }
    must(wire_size(r.op, sizes) == size);
    must(wire_decode(data, size, &again) && again.op == r.op &&
         memcmp(again.numbers, r.numbers, sizeof r.numbers) == 0);
    return sum == UINT64_MAX; /* never; the texts have been read */
}
