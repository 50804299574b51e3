/* SPDX-License-Identifier: Apache-2.0 */
/* The filtering proxy of --net=allow: its sockets and threads. */
#ifndef CORDON_BROKER_LINUX_PROXY_SERVE_H
#define CORDON_BROKER_LINUX_PROXY_SERVE_H

#include <pthread.h>
#include <sys/socket.h>

#include "audit/event.h"
#include "broker/desk.h"
#include "broker/proxy.h"
#include "policy/rules.h"

enum { PROXY_MOST_CLIENTS = 256, PROXY_MOST_ADDRESSES = 16, PROXY_MOST_CALLERS = 1024 };

struct proxy_server {
    const struct policy *policy;
    char secret[PROXY_SECRET + 1];
    /* Called by any thread. */
    void (*event)(void *context, const struct audit_event *event);
    void *context;
    uint64_t (*now)(void);
    struct desk *desk; /* where names are asked about; NULL: nowhere */

    int listener; /* -1: none */
    uint16_t port;
    int stop[2]; /* a pipe whose end wakes every thread */
    pthread_t thread;
    bool started;
    pthread_mutex_t lock;
    pthread_cond_t ended;
    unsigned clients;
    bool closed; /* policy and callbacks must no longer be used */
    struct {
        uint16_t port; /* 0: none */
        uint32_t pid;
    } callers[PROXY_MOST_CALLERS]; /* by their port, so that people learn who asks */
};

/* Listens on 127.0.0.1 with the caller's secret; NULL if it cannot. Call before the fork. */
struct proxy_server *proxy_open(const struct policy *policy, struct str secret);

/* Starts serving; desk may be NULL. Call after the fork, which does not copy threads. */
int proxy_start(struct proxy_server *s, struct desk *desk,
                void (*event)(void *context, const struct audit_event *event), void *context,
                uint64_t (*now)(void));

/* A process is about to connect from this port. */
void proxy_note(struct proxy_server *s, uint16_t port, uint32_t pid);

/* Ends every connection; no callback follows. A thread still waiting for name resolution frees the
   rest when it wakes up. NULL is accepted. */
void proxy_close(struct proxy_server *s);

/* The two calls that leave this machine, in proxy_dial.c so that the tests can link others. */

/* Resolves a host; returns the number of addresses, 0 if there are none. */
size_t proxy_resolve(const char *host, uint16_t port, struct sockaddr_storage *out, size_t most);

/* Returns a connected socket or a negative errno; gives up when stop becomes readable. */
int proxy_dial(const struct sockaddr_storage *address, int stop);

#endif
