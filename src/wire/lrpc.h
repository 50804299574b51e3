/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads what a message of local RPC asks for. Programs call services by RPC over ALPC ports; which
 * service is meant stands in the message that binds a port to an interface, never in the port's
 * name. The layout is Windows 10's and 11's, as public tools read it:
 *
 *   port message: 40 bytes, of which the first 16 bits are the length of the data after them
 *   data:         type (32 bits), 32 bits, then
 *     bind        status (32), interface id (16 bytes, a GUID), version (16 and 16), …
 *     request     flags (32), call (32), binding (32), procedure (32), …
 */
#ifndef CORDON_WIRE_LRPC_H
#define CORDON_WIRE_LRPC_H

#include <stddef.h>
#include <stdint.h>

enum { LRPC_HEADER = 40, LRPC_ID = 16 };

enum lrpc_kind {
    LRPC_BROKEN = 0, /* shorter than its own header says */
    LRPC_OTHER,      /* an answer, a cancellation, or no message of RPC at all */
    LRPC_BIND,
    LRPC_REQUEST
};

struct lrpc_message {
    enum lrpc_kind kind;
    unsigned char id[LRPC_ID]; /* of a bind: its interface */
    uint32_t procedure;        /* of a request */
};

/* Reads at most size bytes of the message. */
void lrpc_read(const void *message, size_t size, struct lrpc_message *out);

#endif
