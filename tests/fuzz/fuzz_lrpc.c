/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of local RPC: nothing after the size is read, and what was read stands in the
   message. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "policy/interfaces.h"
#include "wire/lrpc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int condition)
{
    if (!condition)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct lrpc_message m;
    uint16_t length = 0;
    lrpc_read(data, size, &m);
    if (size >= LRPC_HEADER)
        memcpy(&length, data, sizeof length);
    if (m.kind != LRPC_BROKEN)
        must(size >= LRPC_HEADER + (size_t)length && length >= 4);
    if (m.kind == LRPC_BIND)
        must(length >= 28 && memcmp(m.id, data + LRPC_HEADER + 12, LRPC_ID) == 0 &&
             interface_find(m.id) >= -1);
    if (m.kind == LRPC_REQUEST)
        must(length >= 24 && memcmp(&m.procedure, data + LRPC_HEADER + 20, 4) == 0);
    return 0;
}
