/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Services are called by RPC over ALPC ports. The message that binds a port says which interface is
 * meant: that of a service that acts for whoever asks is the broker's to judge. Ports on which the
 * service control manager was bound are watched: there single procedures are asked about.
 *
 * The message is not copied first, as elsewhere: what another thread writes over it after this look
 * gets through, like everything that steps around the agent. The services' own checks against the
 * token come after it.
 */
#include "agent/windows/agent.h"
#include "policy/interfaces.h"
#include "wire/lrpc.h"

enum { MOST_WATCHED = 16 };

static HANDLE watched[MOST_WATCHED];
static unsigned char services[LRPC_ID]; /* the interface that was bound on them */

static bool swap(HANDLE *place, HANDLE from, HANDLE to)
{
    return __atomic_compare_exchange_n(place, &from, to, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

static bool is_watched(HANDLE port)
{
    bool found = false;
    for (size_t i = 0; i < MOST_WATCHED && port; i++)
        found = found || __atomic_load_n(&watched[i], __ATOMIC_ACQUIRE) == port;
    return found;
}

/* False if it cannot be watched: then the interface may not be bound. */
static bool watch(HANDLE port, const unsigned char id[LRPC_ID])
{
    bool found = is_watched(port);
    memcpy(services, id, LRPC_ID);
    for (size_t i = 0; i < MOST_WATCHED && port && !found; i++)
        found = swap(&watched[i], NULL, port);
    return found;
}

/* A new port may have the number of one that was closed. */
static NTSTATUS connected(NTSTATUS status, const HANDLE *port)
{
    for (size_t i = 0; status >= 0 && i < MOST_WATCHED; i++)
        swap(&watched[i], *port, NULL);
    return status;
}

static NTSTATUS ask_service(const unsigned char id[LRPC_ID], uint32_t procedure)
{
    struct wire_answer answer;
    return agent_ask(WIRE_SERVICE, NUMBERS(procedure), (struct piece){id, LRPC_ID}, NO_PIECE,
                     &answer);
}

static NTSTATUS judge(HANDLE port, const void *message)
{
    struct lrpc_message m;
    uint16_t length;
    memcpy(&length, message, sizeof length);
    lrpc_read(message, LRPC_HEADER + (size_t)length, &m);
    if (m.kind == LRPC_BIND) {
        int row = interface_find(m.id);
        if (row < 0)
            return STATUS_SUCCESS;
        if (interface_kind_of(row) == INTERFACE_LOOKS)
            return watch(port, m.id) ? STATUS_SUCCESS : STATUS_ACCESS_DENIED;
        return ask_service(m.id, 0);
    }
    if (m.kind == LRPC_OTHER || !is_watched(port) ||
        (m.kind == LRPC_REQUEST && interface_only_looks(m.procedure)))
        return STATUS_SUCCESS;
    return ask_service(services, m.kind == LRPC_REQUEST ? m.procedure : UINT32_MAX);
}

NTSTATUS NTAPI hook_NtAlpcSendWaitReceivePort(HANDLE port, ULONG flags, void *message,
                                              void *attributes, void *received, SIZE_T *size,
                                              void *received_attributes, LARGE_INTEGER *timeout)
{
    NTSTATUS status = message ? judge(port, message) : STATUS_SUCCESS;
    return status < 0 ? status
                      : REAL(NtAlpcSendWaitReceivePort)(port, flags, message, attributes, received,
                                                        size, received_attributes, timeout);
}

/* A connection may carry the first message. */
NTSTATUS NTAPI hook_NtAlpcConnectPort(HANDLE *port, UNICODE_STRING *name, OBJECT_ATTRIBUTES *object,
                                      void *port_attributes, ULONG flags, void *server,
                                      void *message, SIZE_T *size, void *sent, void *received,
                                      LARGE_INTEGER *timeout)
{
    NTSTATUS status = message ? judge(NULL, message) : STATUS_SUCCESS;
    return status < 0
               ? status
               : connected(REAL(NtAlpcConnectPort)(port, name, object, port_attributes, flags,
                                                   server, message, size, sent, received, timeout),
                           port);
}

NTSTATUS NTAPI hook_NtAlpcConnectPortEx(HANDLE *port, OBJECT_ATTRIBUTES *name,
                                        OBJECT_ATTRIBUTES *object, void *port_attributes,
                                        ULONG flags, void *server, void *message, SIZE_T *size,
                                        void *sent, void *received, LARGE_INTEGER *timeout)
{
    NTSTATUS status = message ? judge(NULL, message) : STATUS_SUCCESS;
    return status < 0 ? status
                      : connected(REAL(NtAlpcConnectPortEx)(port, name, object, port_attributes,
                                                            flags, server, message, size, sent,
                                                            received, timeout),
                                  port);
}
