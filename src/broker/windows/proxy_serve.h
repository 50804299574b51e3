/* SPDX-License-Identifier: Apache-2.0 */
/* The filtering proxy of --net=allow on Windows: its sockets and threads. */
#ifndef CORDON_BROKER_WINDOWS_PROXY_SERVE_H
#define CORDON_BROKER_WINDOWS_PROXY_SERVE_H

#include "broker/desk.h"
#include "broker/windows/broker.h"

struct proxy_server;

/* Listens on 127.0.0.1 with the caller's secret and starts serving; NULL if it cannot. Events
   come from any thread, under the broker's lock. desk, which outlives it, may be NULL: nobody
   is asked. */
struct proxy_server *proxy_open(struct broker *broker, struct str secret, struct desk *desk);

uint16_t proxy_port(const struct proxy_server *s);

/* Ends every connection; no event follows. NULL is accepted. */
void proxy_close(struct proxy_server *s);

/* The first address of a host as text; false if there is none. */
bool proxy_lookup(struct str host, struct buf *out);

#endif
