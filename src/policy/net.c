/* SPDX-License-Identifier: Apache-2.0 */
/* Hosts and the decision about a connection. */
#include "policy/net.h"

#include "policy/build.h"

/* One number of an IPv4 address: decimal, 0x hex or 0 octal, as inet_aton reads it. */
static bool read_number(struct str s, uint64_t *out)
{
    unsigned base = 10;
    size_t i = 0;
    if (s.n > 1 && s.p[0] == '0') {
        bool hex = ascii_lower(s.p[1]) == 'x';
        base = hex ? 16 : 8;
        i = hex ? 2 : 1;
    }
    if (s.n == 0 || s.n > 12 || i == s.n)
        return false;
    uint64_t value = 0;
    for (; i < s.n; i++) {
        int digit = ascii_hex(s.p[i]);
        if (digit < 0 || (unsigned)digit >= base)
            return false;
        value = value * base + (unsigned)digit;
    }
    *out = value;
    return true;
}

/* a.b.c.d, a.b.c, a.b or a: the last number fills the remaining bytes. */
static bool read_v4(struct str s, uint8_t out[4])
{
    uint64_t parts[4];
    size_t count = 0;
    for (size_t start = 0; start <= s.n; count++) {
        size_t end = str_find_char(s, '.', start);
        if (count == 4 || !read_number(str_slice(s, start, end), &parts[count]))
            return false;
        start = end + 1;
    }
    uint64_t last = parts[count - 1];
    if (last >> (8 * (5 - count)))
        return false;
    for (size_t i = 0; i + 1 < count; i++) {
        if (parts[i] > 255)
            return false;
        out[i] = (uint8_t)parts[i];
    }
    for (size_t i = count - 1; i < 4; i++)
        out[i] = (uint8_t)(last >> (8 * (3 - i)));
    return true;
}

static bool read_v6(struct str s, uint8_t out[16])
{
    uint16_t groups[8] = {0};
    size_t count = 0, gap = SIZE_MAX;
    s = str_slice(s, 0, str_find_char(s, '%', 0)); /* a zone */
    size_t pos = 0;
    if (str_starts(s, STR("::"))) {
        gap = 0;
        pos = 2;
    }
    while (pos < s.n) {
        size_t end = str_find_char(s, ':', pos);
        struct str group = str_slice(s, pos, end);
        uint8_t v4[4];
        if (end == s.n && str_has_char(group, '.')) {
            if (count > 6 || !read_v4(group, v4))
                return false;
            groups[count++] = (uint16_t)(v4[0] << 8 | v4[1]);
            groups[count++] = (uint16_t)(v4[2] << 8 | v4[3]);
            pos = s.n;
            break;
        }
        if (count == 8 || group.n == 0 || group.n > 4)
            return false;
        unsigned value = 0;
        for (size_t i = 0; i < group.n; i++) {
            int digit = ascii_hex(group.p[i]);
            if (digit < 0)
                return false;
            value = value << 4 | (unsigned)digit;
        }
        groups[count++] = (uint16_t)value;
        pos = end + 1;
        if (pos < s.n && s.p[pos] == ':') {
            if (gap != SIZE_MAX)
                return false;
            gap = count;
            pos++;
        } else if (pos == s.n) {
            return false;
        }
    }
    if (gap == SIZE_MAX ? count != 8 : count > 7)
        return false;
    memset(out, 0, 16);
    for (size_t i = 0; i < count; i++) {
        size_t at = gap != SIZE_MAX && i >= gap ? i + 8 - count : i;
        out[2 * at] = (uint8_t)(groups[i] >> 8);
        out[2 * at + 1] = (uint8_t)groups[i];
    }
    return true;
}

static bool is_name(struct str s)
{
    if (s.n == 0 || s.n > 253)
        return false;
    size_t label = 0;
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        if (c == '.') {
            if (label == 0)
                return false;
            label = 0;
        } else if (ascii_is_alnum((char)c) || c == '-' || c == '_' || c >= 0x80) {
            if (++label > 63)
                return false;
        } else {
            return false;
        }
    }
    return label > 0;
}

struct net_host net_read_host(struct str text)
{
    struct net_host host = {.name = text};
    if (str_ends(host.name, STR(".")))
        host.name.n--;
    uint8_t v4[4];
    if (str_has_char(text, ':')) {
        if (!read_v6(text, host.bytes))
            return host;
        static const uint8_t mapped[12] = {[10] = 0xFF, [11] = 0xFF};
        host.kind = memcmp(host.bytes, mapped, 12) == 0 ? NET_V4 : NET_V6;
        return host;
    }
    if (read_v4(host.name, v4)) {
        host.kind = NET_V4;
        host.bytes[10] = host.bytes[11] = 0xFF;
        memcpy(host.bytes + 12, v4, 4);
        return host;
    }
    host.kind = is_name(host.name) ? NET_NAME : NET_BAD;
    return host;
}

bool net_is_loopback(const struct net_host *host)
{
    static const uint8_t zero[16];
    switch (host->kind) {
    case NET_NAME:
        return str_eqi(host->name, STR("localhost")) || str_endsi(host->name, STR(".localhost"));
    /* Connecting to the unspecified address reaches this machine. */
    case NET_V4: return host->bytes[12] == 127 || memcmp(host->bytes + 12, zero, 4) == 0;
    case NET_V6: return memcmp(host->bytes, zero, 15) == 0 && host->bytes[15] <= 1;
    default: return false;
    }
}

static bool is_public_v4(const uint8_t a[4])
{
    static const struct {
        uint32_t network;
        uint8_t bits;
    } special[] = {{0x00000000, 8},  {0x0A000000, 8},  {0x64400000, 10}, {0x7F000000, 8},
                   {0xA9FE0000, 16}, {0xAC100000, 12}, {0xC0000000, 24}, {0xC0000200, 24},
                   {0xC0586300, 24}, {0xC0A80000, 16}, {0xC6120000, 15}, {0xC6336400, 24},
                   {0xCB007100, 24}, {0xE0000000, 3}};
    uint32_t address = (uint32_t)a[0] << 24 | (uint32_t)a[1] << 16 | (uint32_t)a[2] << 8 | a[3];
    for (size_t i = 0; i < sizeof special / sizeof *special; i++)
        if ((address ^ special[i].network) >> (32 - special[i].bits) == 0)
            return false;
    return true;
}

bool net_is_public(const struct net_host *host)
{
    static const uint8_t nat64[12] = {0x00, 0x64, 0xFF, 0x9B}, teredo[4] = {0x20, 0x01},
                         documentation[4] = {0x20, 0x01, 0x0D, 0xB8};
    const uint8_t *b = host->bytes;
    if (host->kind == NET_V4)
        return is_public_v4(b + 12);
    if (host->kind != NET_V6)
        return false;
    if (memcmp(b, nat64, 12) == 0)
        return is_public_v4(b + 12);
    if (b[0] == 0x20 && b[1] == 0x02) /* 6to4 */
        return is_public_v4(b + 2);
    return (b[0] & 0xE0) == 0x20 && memcmp(b, teredo, 4) != 0 && memcmp(b, documentation, 4) != 0;
}

/* 1.0.0.127.in-addr.arpa is 127.0.0.1; below ip6.arpa there is a label for each of 32 digits. */
bool net_asks_back(struct str name, struct net_host *out)
{
    static const struct str four = {".in-addr.arpa", 13}, six = {".ip6.arpa", 9};
    bool is_six = str_endsi(name, six);
    if (!is_six && !str_endsi(name, four))
        return false;
    name = str_slice(name, 0, name.n - (is_six ? six.n : four.n));
    char text[48];
    size_t n = 0, labels = 0;
    for (size_t end = name.n; end > 0 && n + 5 < sizeof text;) {
        size_t begin = end;
        while (begin > 0 && name.p[begin - 1] != '.')
            begin--;
        if (end - begin > (is_six ? 1u : 3u))
            return false;
        if (labels && (!is_six || labels % 4 == 0))
            text[n++] = is_six ? ':' : '.';
        memcpy(text + n, name.p + begin, end - begin);
        n += end - begin;
        labels++;
        end = begin ? begin - 1 : 0;
    }
    *out = net_read_host((struct str){text, n});
    out->name = STR_NONE;
    return labels == (is_six ? 32 : 4) && out->kind == (is_six ? NET_V6 : NET_V4);
}

bool net_equal(const struct net_host *a, const struct net_host *b)
{
    if (a->kind != b->kind || a->kind == NET_BAD)
        return false;
    return a->kind == NET_NAME ? str_eqi(a->name, b->name) : memcmp(a->bytes, b->bytes, 16) == 0;
}

bool net_is_pattern(struct str pattern)
{
    if (str_starts(pattern, STR("*.")))
        pattern = str_from(pattern, 2);
    return net_read_host(pattern).kind != NET_BAD;
}

bool net_covers(struct str pattern, const struct net_host *host)
{
    if (!str_starts(pattern, STR("*."))) {
        struct net_host one = net_read_host(pattern);
        return net_equal(&one, host);
    }
    struct str tail = str_from(pattern, 1);
    if (tail.p[tail.n - 1] == '.')
        tail.n--;
    return host->kind == NET_NAME && str_endsi(host->name, tail);
}

static bool read_decimal(struct str digits, uint32_t most, uint32_t *out)
{
    uint32_t value = 0;
    for (size_t i = 0; i < digits.n; i++) {
        if (!ascii_is_digit(digits.p[i]) || value > most)
            return false;
        value = value * 10 + (uint32_t)(digits.p[i] - '0');
    }
    *out = value;
    return digits.n > 0 && digits.n <= 5 && value <= most;
}

bool net_read_rule(struct str text, struct net_rule *out)
{
    struct net_rule rule = {0};
    uint32_t number;
    if (str_starts(text, STR("!"))) {
        rule.refuses = true;
        text = str_from(text, 1);
    }
    size_t at = str_find_char(text, '@', 0);
    if (at < text.n) {
        struct str range = str_from(text, at + 1);
        size_t slash = str_find_char(range, '/', 0);
        rule.range = net_read_host(str_slice(range, 0, slash));
        bool four = rule.range.kind == NET_V4;
        if (rule.refuses || (!four && rule.range.kind != NET_V6) || slash >= range.n ||
            !read_decimal(str_from(range, slash + 1), four ? 32 : 128, &number) || number == 0 ||
            net_private_range(&rule.range).n == 0)
            return false; /* no name leads to this machine, its link or a group */
        rule.ranged = true;
        rule.bits = number + (four ? 96 : 0);
        text = str_slice(text, 0, at);
    }
    struct str port = STR_NONE;
    if (str_starts(text, STR("["))) {
        size_t close = str_find_char(text, ']', 0);
        if (close + 1 < text.n && text.p[close + 1] != ':')
            return false;
        port = str_from(text, close + 2 < text.n ? close + 2 : text.n);
        rule.pattern = str_slice(text, 1, close);
    } else {
        size_t colon = str_find_char(text, ':', 0);
        /* Two colons are an address. */
        bool single = colon < text.n && str_find_char(text, ':', colon + 1) == text.n;
        rule.pattern = single ? str_slice(text, 0, colon) : text;
        port = single ? str_from(text, colon + 1) : STR_NONE;
        if (single && port.n == 0)
            return false;
    }
    if (port.n && (!read_decimal(port, 65535, &number) || number == 0))
        return false;
    rule.port = port.n ? (uint16_t)number : 0;
    if (!str_eq(rule.pattern, STR("*")) && !net_is_pattern(rule.pattern))
        return false;
    *out = rule;
    return true;
}

bool net_rule_covers(const struct net_rule *rule, const struct net_host *host, uint16_t port)
{
    if (rule->port && rule->port != port)
        return false;
    if (str_eq(rule->pattern, STR("*")))
        return host->kind == NET_NAME || rule->refuses;
    return net_covers(rule->pattern, host);
}

bool net_rule_reaches(const struct net_rule *rule, const struct net_host *address)
{
    if (!rule->ranged || rule->range.kind != address->kind)
        return false;
    for (unsigned i = 0; i < rule->bits; i++)
        if ((rule->range.bytes[i / 8] ^ address->bytes[i / 8]) >> (7 - i % 8) & 1)
            return false;
    return true;
}

struct str net_private_range(const struct net_host *address)
{
    static const struct str ranges[] = {
        {"10.0.0.0/8", 10},     {"172.16.0.0/12", 13}, {"192.168.0.0/16", 14},
        {"100.64.0.0/10", 13},  {"192.0.0.0/24", 12},  {"192.0.2.0/24", 12},
        {"192.88.99.0/24", 14}, {"198.18.0.0/15", 13}, {"198.51.100.0/24", 15},
        {"203.0.113.0/24", 14}, {"2001:db8::/32", 13}, {"fc00::/7", 8}};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        struct net_rule rule = {.ranged = true};
        size_t slash = str_find_char(ranges[i], '/', 0);
        uint32_t bits = 0;
        rule.range = net_read_host(str_slice(ranges[i], 0, slash));
        read_decimal(str_from(ranges[i], slash + 1), 128, &bits);
        rule.bits = bits + (rule.range.kind == NET_V4 ? 96 : 0);
        if (net_rule_reaches(&rule, address))
            return ranges[i];
    }
    return STR_NONE;
}

int policy_parse_peer(struct str text, struct policy_peer *out)
{
    struct policy_peer peer = {0};
    size_t colon;
    if (str_starts(text, STR("["))) {
        size_t close = str_find_char(text, ']', 0);
        peer.host = str_slice(text, 1, close);
        colon = close + 1;
    } else {
        colon = str_find_char(text, ':', 0);
        peer.host = str_slice(text, 0, colon);
    }
    if (colon >= text.n || text.p[colon] != ':')
        return CORDON_E_SYNTAX;
    struct str digits = str_from(text, colon + 1);
    uint32_t port = 0;
    for (size_t i = 0; i < digits.n; i++) {
        if (!ascii_is_digit(digits.p[i]) || port > 65535)
            return CORDON_E_SYNTAX;
        port = port * 10 + (uint32_t)(digits.p[i] - '0');
    }
    if (digits.n == 0 || port == 0 || port > 65535 || net_read_host(peer.host).kind == NET_BAD)
        return CORDON_E_SYNTAX;
    peer.port = (uint16_t)port;
    *out = peer;
    return 0;
}

bool policy_net_local(const struct policy *policy, uint16_t port)
{
    const struct policy_settings *s = &policy->settings;
    const struct net_host local = {.kind = NET_NAME, .name = STR("localhost")};
    struct net_rule rule;
    bool listed = false;
    for (size_t i = 0; i < s->net_allow.count && s->net == POLICY_NET_ALLOW; i++) {
        if (!net_read_rule(s->net_allow.items[i].given, &rule) || str_eq(rule.pattern, STR("*")) ||
            !net_rule_covers(&rule, &local, port))
            continue;
        if (rule.refuses)
            return false;
        listed = true;
    }
    return listed;
}

void policy_net_decide(const struct policy *policy, const struct policy_peer *peer,
                       struct policy_answer *answer)
{
    const struct policy_settings *s = &policy->settings;
    struct net_host host = net_read_host(peer->host);
    struct policy_peer proxy;
    *answer = (struct policy_answer){.verdict = CORDON_DENY, .rule = RULE_NET_MALFORMED};
    if (host.kind == NET_BAD || peer->port == 0)
        return;
    bool loopback = net_is_loopback(&host), allowed = false;
    if (s->mode == POLICY_FULL_ACCESS || s->net == POLICY_NET_ON) {
        answer->rule = s->net == POLICY_NET_ON ? RULE_NET_ON : RULE_MODE_FULL;
        allowed = true;
    } else if (loopback && peer->in_run) {
        answer->rule = RULE_NET_RUN;
        allowed = true;
    } else if (s->net == POLICY_NET_LOOPBACK) {
        answer->rule = RULE_NET_LOOPBACK;
        allowed = loopback;
    } else if (s->net == POLICY_NET_PROXY) {
        answer->rule = RULE_NET_PROXY;
        if (policy_parse_peer(s->proxy, &proxy) == 0) {
            struct net_host other = net_read_host(proxy.host);
            allowed = net_equal(&host, &other) && proxy.port == peer->port;
        }
    } else if (s->net == POLICY_NET_ALLOW) {
        struct net_rule rule;
        answer->rule = RULE_NET_ALLOW;
        allowed = loopback && policy_net_local(policy, peer->port);
        for (size_t i = 0; i < s->net_allow.count; i++) {
            if (!net_read_rule(s->net_allow.items[i].given, &rule) ||
                !net_rule_covers(&rule, &host, peer->port))
                continue;
            if (rule.refuses || !answer->entry)
                answer->entry = (uint32_t)i + 1;
            allowed = !rule.refuses;
            if (rule.refuses) {
                answer->rule = RULE_NET_DENIED;
                break;
            }
        }
    } else {
        answer->rule = RULE_NET_OFF;
    }
    answer->verdict = allowed ? CORDON_ALLOW : CORDON_DENY;
}

bool net_may_dial(const struct net_host *host, bool written)
{
    const uint8_t *b = host->bytes;
    bool private4 =
        host->kind == NET_V4 &&
        (b[12] == 10 || (b[12] == 172 && (b[13] & 0xF0) == 16) || (b[12] == 192 && b[13] == 168));
    bool private6 = host->kind == NET_V6 && (b[0] & 0xFE) == 0xFC;
    return net_is_public(host) || (written && (private4 || private6));
}

bool policy_net_may_dial(const struct policy *policy, const struct policy_peer *peer,
                         const struct net_host *address)
{
    const struct policy_settings *s = &policy->settings;
    struct net_host host = net_read_host(peer->host);
    struct net_rule rule;
    if (net_may_dial(address, host.kind != NET_NAME) ||
        (net_is_loopback(address) && net_is_loopback(&host) &&
         (peer->answered || policy_net_local(policy, peer->port))))
        return true;
    /* An address that the question spelled; a name may lead anywhere by now. */
    struct net_host found = net_read_host(peer->found);
    if ((peer->answered && net_equal(&host, address)) ||
        (peer->granted && net_equal(&found, address)))
        return true;
    /* A private network that the person named together with the name. */
    for (size_t i = 0; i < s->net_allow.count && net_private_range(address).n; i++)
        if (net_read_rule(s->net_allow.items[i].given, &rule) && !rule.refuses &&
            net_rule_covers(&rule, &host, peer->port) && net_rule_reaches(&rule, address))
            return true;
    return false;
}
