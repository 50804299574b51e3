/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of local RPC; see lrpc.h for the layout. */
#include "wire/lrpc.h"

#include <string.h>

enum { TYPE_REQUEST = 0, TYPE_BIND = 1, INTERFACE_AT = 12, PROCEDURE_AT = 20 };

void lrpc_read(const void *message, size_t size, struct lrpc_message *out)
{
    const unsigned char *data = (const unsigned char *)message + LRPC_HEADER;
    uint16_t length;
    uint32_t type;
    *out = (struct lrpc_message){.kind = LRPC_BROKEN};
    if (size < LRPC_HEADER)
        return;
    memcpy(&length, message, sizeof length);
    if (length < sizeof type || length > size - LRPC_HEADER)
        return;
    memcpy(&type, data, sizeof type);
    if (type != TYPE_BIND && type != TYPE_REQUEST) {
        out->kind = LRPC_OTHER;
    } else if (type == TYPE_BIND && length >= INTERFACE_AT + LRPC_ID) {
        out->kind = LRPC_BIND;
        memcpy(out->id, data + INTERFACE_AT, LRPC_ID);
    } else if (type == TYPE_REQUEST && length >= PROCEDURE_AT + sizeof out->procedure) {
        out->kind = LRPC_REQUEST;
        memcpy(&out->procedure, data + PROCEDURE_AT, sizeof out->procedure);
    }
}
