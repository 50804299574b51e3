/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The filtering proxy's side of HTTP and SOCKS5, without sockets: takes bytes from a client and
 * produces bytes for it and, once, the host and port it asks for. Who may be reached is decided
 * elsewhere.
 */
#ifndef CORDON_BROKER_PROXY_H
#define CORDON_BROKER_PROXY_H

#include "base/str.h"

enum { PROXY_MOST_INPUT = 16384, PROXY_LONGEST_HOST = 255, PROXY_SECRET = 32 };

enum proxy_state {
    PROXY_FAILED = 0, /* send what is in out to the client, then close */
    PROXY_READS,      /* more bytes are needed */
    PROXY_ASKS,       /* host and port are known: proxy_answer() is next */
    PROXY_PASSES      /* send what is left in input to the host, then copy in both directions */
};

enum proxy_kind { PROXY_UNKNOWN = 0, PROXY_CONNECT, PROXY_PLAIN, PROXY_SOCKS };

enum proxy_outcome { PROXY_REFUSED = 0, PROXY_UNREACHABLE, PROXY_CONNECTED };

struct proxy {
    enum proxy_state state;
    enum proxy_kind kind;
    int step; /* of SOCKS: greeting, password, request */
    char secret[PROXY_SECRET + 1];
    char host[PROXY_LONGEST_HOST + 1];
    uint16_t port;
    char input[PROXY_MOST_INPUT];
    size_t input_n;
    char output[1024]; /* the caller sends it and sets output_n to 0 */
    size_t output_n;
};

/* The user of the proxy's URL; the password is the run's secret. */
#define PROXY_USER "cordon"

/* Secret: at most PROXY_SECRET plain characters, unique to the run. */
void proxy_init(struct proxy *p, struct str secret);

/* The most bytes that proxy_feed takes. */
size_t proxy_room(const struct proxy *p);

/* Bytes from the client, in pieces of any size; only while the state is PROXY_READS. */
void proxy_feed(struct proxy *p, struct str bytes);

/* The answer to PROXY_ASKS; why is one line for the person who reads the client's message. */
void proxy_answer(struct proxy *p, enum proxy_outcome outcome, struct str why);

#endif
