/* SPDX-License-Identifier: Apache-2.0 */
/* Hosts: what an address literal means and which names a pattern covers. */
#ifndef CORDON_POLICY_NET_H
#define CORDON_POLICY_NET_H

#include "base/str.h"

enum net_kind { NET_BAD = 0, NET_NAME, NET_V4, NET_V6 };

struct net_host {
    enum net_kind kind;
    uint8_t bytes[16]; /* IPv4 is kept as ::ffff:a.b.c.d */
    struct str name;   /* without a dot at the end */
};

/* Every spelling that resolvers take for an address is one: 127.1, 0x7f.0.0.1, 2130706433. */
struct net_host net_read_host(struct str text);
bool net_is_loopback(const struct net_host *host);
/* An address that belongs to no private, local or special network; tunnels are judged by what they
   lead to. A name is none. */
bool net_is_public(const struct net_host *host);
bool net_equal(const struct net_host *a, const struct net_host *b);

/* example.com (exactly that), *.example.com (everything below it) or an address. */
bool net_is_pattern(struct str pattern);
bool net_covers(struct str pattern, const struct net_host *host);

/*
 * Whether the filtering proxy may dial this address. One that the person wrote is meant, even a
 * private one; what a name leads to is chosen by whoever owns the name. This machine and the link
 * are
 * --net=loopback's and nobody's.
 */
bool net_may_dial(const struct net_host *host, bool written);

#endif
