/* SPDX-License-Identifier: Apache-2.0 */
/* The filtering proxy of --net=allow on Windows: its sockets and threads. */
#ifndef CORDON_BROKER_WINDOWS_PROXY_SERVE_H
#define CORDON_BROKER_WINDOWS_PROXY_SERVE_H

#include <windows.h>

#include "audit/event.h"
#include "base/buf.h"
#include "broker/desk.h"
#include "policy/rules.h"

struct proxy_server;

/* Listens on 127.0.0.1 with the caller's secret and starts serving; NULL if it cannot. Events come
   from any thread, under lock. desk, which outlives it, may be NULL: nobody is asked. */
struct proxy_server *proxy_open(const struct policy *policy, struct str secret,
                                void (*event)(void *context, const struct audit_event *event),
                                void *context, uint64_t (*now)(void), CRITICAL_SECTION *lock,
                                struct desk *desk);

uint16_t proxy_port(const struct proxy_server *s);

/* Ends every connection; no event follows. NULL is accepted. */
void proxy_close(struct proxy_server *s);

/* The first address of a host as text; false if there is none. */
bool proxy_lookup(struct str host, struct buf *out);

#endif
