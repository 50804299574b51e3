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
/* An address outside all private, local and special networks; tunnelled addresses are judged by
   where they lead. False for names. */
bool net_is_public(const struct net_host *host);
bool net_equal(const struct net_host *a, const struct net_host *b);

/* example.com (exactly that), *.example.com (everything below it) or an address. */
bool net_is_pattern(struct str pattern);
bool net_covers(struct str pattern, const struct net_host *host);

/*
 * An entry of the list of --net=allow: PATTERN, "*" for every name, with :PORT after it for that
 * port alone, @RANGE for a name that leads into a private network, "!" in front to refuse it.
 */
struct net_rule {
    struct str pattern;
    uint16_t port; /* 0: every one */
    bool refuses, ranged;
    struct net_host range;
    unsigned bits; /* of range that count */
};

bool net_read_rule(struct str text, struct net_rule *out);
bool net_rule_covers(const struct net_rule *rule, const struct net_host *host, uint16_t port);
bool net_rule_reaches(const struct net_rule *rule, const struct net_host *address);

/* True if the name asks for the name of an address, which is put into out without a text. */
bool net_asks_back(struct str name, struct net_host *out);

/* The private network that this address belongs to, as RANGE spells it; empty: to none. */
struct str net_private_range(const struct net_host *address);

/*
 * Whether the filtering proxy may dial this address. An address that the person wrote is intended,
 * even a private one; what a name resolves to is chosen by the name's owner. This machine needs
 * --net=loopback; link-local addresses are never dialled.
 */
bool net_may_dial(const struct net_host *host, bool written);

#endif
