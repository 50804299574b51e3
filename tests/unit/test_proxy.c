/* SPDX-License-Identifier: Apache-2.0 */
/* The proxy's protocol: what comes in, what goes out, who is asked for; and which addresses are
 * public. */
#include <stdlib.h>

#include "base/buf.h"
#include "broker/proxy.h"
#include "policy/net.h"
#include "policy/rules.h"
#include "tap.h"

#define SECRET "s3cret"
#define AUTH "Proxy-Authorization: Basic Y29yZG9uOnMzY3JldA==\r\n"

static struct proxy p;

static void feed(struct str text, size_t piece)
{
    proxy_init(&p, STR(SECRET));
    for (size_t at = 0; at < text.n && p.state == PROXY_READS; at += piece)
        proxy_feed(&p, str_slice(text, at, at + piece));
}

static void test_requests(void)
{
    static const struct {
        const char *what;
        struct str in;
        enum proxy_state state;
        const char *host;
        unsigned port;
        const char *out;
    } rows[] = {
        {"CONNECT", STR("CONNECT a.test:443 HTTP/1.1\r\n" AUTH "\r\n"), PROXY_ASKS, "a.test", 443,
         ""},
        {"CONNECT of HTTP/1.0", STR("CONNECT a.test:443 HTTP/1.0\r\n" AUTH "\r\n"), PROXY_ASKS,
         "a.test", 443, ""},
        {"CONNECT to IPv6", STR("CONNECT [::1]:1 HTTP/1.1\r\n" AUTH "\r\n"), PROXY_ASKS, "::1", 1,
         ""},
        {"lines without CR",
         STR("CONNECT a.test:443 HTTP/1.1\nproxy-authorization: basic "
             "Y29yZG9uOnMzY3JldA==\n\n"),
         PROXY_ASKS, "a.test", 443, ""},
        {"not all of it", STR("CONNECT a.test:443 HTTP/1.1\r\n" AUTH), PROXY_READS, "", 0, ""},
        {"no secret", STR("CONNECT a.test:443 HTTP/1.1\r\n\r\n"), PROXY_FAILED, "", 0,
         "HTTP/1.1 407"},
        {"a wrong secret",
         STR("CONNECT a.test:443 HTTP/1.1\r\nProxy-Authorization: Basic "
             "Y29yZG9uOnMzY3JldB==\r\n\r\n"),
         PROXY_FAILED, "", 0, "HTTP/1.1 407"},
        {"the secret in another scheme",
         STR("CONNECT a.test:443 HTTP/1.1\r\nProxy-Authorization: Digest "
             "Y29yZG9uOnMzY3JldA==\r\n\r\n"),
         PROXY_FAILED, "", 0, "HTTP/1.1 407"},
        {"the start of the secret",
         STR("CONNECT a.test:443 HTTP/1.1\r\nProxy-Authorization: Basic "
             "Y29yZG9uOnMz\r\n\r\n"),
         PROXY_FAILED, "", 0, "HTTP/1.1 407"},
        {"no port", STR("CONNECT a.test HTTP/1.1\r\n" AUTH "\r\n"), PROXY_FAILED, "", 0,
         "HTTP/1.1 400"},
        {"a bad port", STR("CONNECT a.test:70000 HTTP/1.1\r\n" AUTH "\r\n"), PROXY_FAILED, "", 0,
         "HTTP/1.1 400"},
        {"a user in front of the host", STR("CONNECT b.test@a.test:1 HTTP/1.1\r\n" AUTH "\r\n"),
         PROXY_FAILED, "", 0, "HTTP/1.1 400"},
        {"no version", STR("CONNECT a.test:1\r\n" AUTH "\r\n"), PROXY_FAILED, "", 0,
         "HTTP/1.1 400"},
        {"a zero byte", STR("CONNECT a.test\0.b:1 HTTP/1.1\r\n" AUTH "\r\n"), PROXY_FAILED, "", 0,
         "HTTP/1.1 400"},
        {"a zero byte in a header", STR("GET http://a.test/ HTTP/1.1\r\n" AUTH "A: b\0c\r\n\r\n"),
         PROXY_FAILED, "", 0, "HTTP/1.1 400"},
        {"a path alone", STR("GET / HTTP/1.1\r\n" AUTH "\r\n"), PROXY_FAILED, "", 0,
         "HTTP/1.1 400"},
        {"another scheme", STR("GET ftp://a.test/ HTTP/1.1\r\n" AUTH "\r\n"), PROXY_FAILED, "", 0,
         "HTTP/1.1 400"},
        {"a plain request", STR("GET http://a.test/x HTTP/1.1\r\n" AUTH "\r\n"), PROXY_ASKS,
         "a.test", 80, ""},
        {"a line that is no header",
         STR("GET http://a.test/x HTTP/1.1\r\n" AUTH "nonsense\r\n\r\n"), PROXY_FAILED, "a.test",
         80, "HTTP/1.1 400"},
        {"a plain request with a port", STR("POST http://a.test:81 HTTP/1.1\r\n" AUTH "\r\nbody"),
         PROXY_ASKS, "a.test", 81, ""},
        {"SOCKS by name",
         STR("\5\1\2"
             "\1\6cordon\6s3cret"
             "\5\1\0\3\6a.test\1\273"),
         PROXY_ASKS, "a.test", 443, "\5\2\1"},
        {"SOCKS by name, a port whose first byte is a zero",
         STR("\5\1\2"
             "\1\6cordon\6s3cret"
             "\5\1\0\3\6a.test\0\120"),
         PROXY_ASKS, "a.test", 80, "\5\2\1"},
        {"SOCKS by name, a port whose first byte is a colon",
         STR("\5\1\2"
             "\1\6cordon\6s3cret"
             "\5\1\0\3\6a.test:\1"),
         PROXY_ASKS, "a.test", 14849, "\5\2\1"},
        {"SOCKS by IPv4",
         STR("\5\1\2"
             "\1\6cordon\6s3cret"
             "\5\1\0\1\1\2\3\4\0\120"),
         PROXY_ASKS, "1.2.3.4", 80, "\5\2\1"},
        {"SOCKS by IPv6",
         STR("\5\2\0\2"
             "\1\6cordon\6s3cret"
             "\5\1\0\4"
             "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1"
             "\0\120"),
         PROXY_ASKS, "0:0:0:0:0:0:0:1", 80, "\5\2\1"},
        {"SOCKS without a password", STR("\5\1\0"), PROXY_FAILED, "", 0, "\5\377"},
        {"SOCKS with a wrong one",
         STR("\5\1\2"
             "\1\6cordon\6s3creT"),
         PROXY_FAILED, "", 0, "\5\2\1\1"},
        {"SOCKS with an empty one",
         STR("\5\1\2"
             "\1\6cordon\0"
             "\5\1\0\3"),
         PROXY_FAILED, "", 0, "\5\2\1\1"},
        {"SOCKS with an empty one and nothing behind it",
         STR("\5\1\2"
             "\1\6cordon\0"),
         PROXY_FAILED, "", 0, "\5\2\1\1"},
        {"SOCKS without any method", STR("\5\0"), PROXY_FAILED, "", 0, "\5\377"},
        {"SOCKS bind",
         STR("\5\1\2"
             "\1\6cordon\6s3cret"
             "\5\2\0\1\1\2\3\4\0\120"),
         PROXY_FAILED, "", 0, "\5\2\1"},
        {"the beginning of SOCKS bind, which says enough",
         STR("\5\1\2"
             "\1\6cordon\6s3cret"
             "\5\2\0\1\1"),
         PROXY_FAILED, "", 0, "\5\2\1"},
        {"a SOCKS name with a colon",
         STR("\5\1\2"
             "\1\6cordon\6s3cret"
             "\5\1\0\3\6a:1.bb\0\120"),
         PROXY_FAILED, "", 0, "\5\2\1"},
        {"half of SOCKS",
         STR("\5\1\2"
             "\1\6cordon\6s3cret"
             "\5\1\0\3\6a.te"),
         PROXY_READS, "", 0, "\5\2\1"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t piece = 1; piece <= rows[i].in.n; piece = piece == 1 ? 7 : rows[i].in.n + 1) {
            feed(rows[i].in, piece == 7 ? rows[i].in.n : piece);
            bool same = p.state == rows[i].state && strcmp(p.host, rows[i].host) == 0 &&
                        p.port == rows[i].port &&
                        str_starts((struct str){p.output, p.output_n}, str_of(rows[i].out));
            if (!ok(same, "%s, %s", rows[i].what, piece == 1 ? "byte by byte" : "at once"))
                note("state %d, host %s, port %u", p.state, p.host, p.port);
        }
}

static void test_rest(void)
{
    feed(STR("CONNECT a.test:443 HTTP/1.1\r\n" AUTH "\r\nEARLY"), 1000);
    ok(str_eq((struct str){p.input, p.input_n}, STR("EARLY")), "bytes behind the head are kept");
    proxy_answer(&p, PROXY_CONNECTED, STR_NONE);
    ok(p.state == PROXY_PASSES &&
           str_starts((struct str){p.output, p.output_n}, STR("HTTP/1.1 200")),
       "a tunnel is confirmed");
    feed(STR("GET http://a.test:81/x?y HTTP/1.1\r\nHost: b.test\r\n" AUTH
             "Proxy-Connection: x\r\nConnection: keep-alive\r\nA: b\r\n\r\nbody"),
         1000);
    ok(str_eq((struct str){p.input, p.input_n},
              STR("GET /x?y HTTP/1.1\r\nHost: a.test:81\r\nConnection: close\r\nA: b\r\n\r\nbody")),
       "a plain request is rewritten");
    proxy_answer(&p, PROXY_REFUSED, STR("because"));
    ok(p.state == PROXY_FAILED &&
           str_find((struct str){p.output, p.output_n}, STR("because"), 0) < p.output_n,
       "a refusal has its reason");
    static char long_line[PROXY_MOST_INPUT];
    memset(long_line, 'a', sizeof long_line);
    proxy_init(&p, STR(SECRET));
    proxy_feed(&p, (struct str){long_line, sizeof long_line});
    ok(p.state == PROXY_FAILED &&
           str_starts((struct str){p.output, p.output_n}, STR("HTTP/1.1 431")),
       "a head without an end is refused");
    static char longer[PROXY_MOST_INPUT + 1];
    proxy_init(&p, STR(SECRET));
    proxy_feed(&p, (struct str){longer, sizeof longer});
    ok(p.state == PROXY_FAILED, "more than there is room for is refused");
    feed(STR("CONNECT a.test:443 HTTP/1.1\r\n" AUTH "\r\n"), 1000);
    proxy_feed(&p, STR("CONNECT b.test:443 HTTP/1.1\r\n" AUTH "\r\n"));
    ok(p.state == PROXY_FAILED, "nothing is read while it asks");
    proxy_init(&p, STR(SECRET));
    proxy_answer(&p, PROXY_CONNECTED, STR_NONE);
    ok(p.state == PROXY_READS && p.output_n == 0, "no answer before it asks");
    proxy_feed(&p, STR_NONE);
    ok(p.state == PROXY_READS, "nothing is not the end");
    proxy_init(&p, STR_NONE);
    ok(p.state == PROXY_FAILED, "there is no proxy without a secret");
}

/* The most that is taken, and one more. */
static void test_limits(void)
{
    char secret[PROXY_SECRET + 2] = "", host[PROXY_LONGEST_HOST + 2] = "", head[2000];
    enum { LONGEST_NAME = 253 }; /* of the names that there are */
    memset(secret, 's', PROXY_SECRET);
    proxy_init(&p, str_of(secret));
    ok(p.state == PROXY_READS, "the longest secret");
    secret[PROXY_SECRET] = 's';
    proxy_init(&p, str_of(secret));
    ok(p.state == PROXY_FAILED, "a longer one");
    for (int more = 0; more < 2; more++) {
        for (int i = 0; i < LONGEST_NAME + more; i++)
            host[i] = i % 60 == 59 ? '.' : 'a';
        snprintf(head, sizeof head, "CONNECT %s:1 HTTP/1.1\r\n" AUTH "\r\n", host);
        feed(str_of(head), 1000);
        ok(more ? p.state == PROXY_FAILED : p.state == PROXY_ASKS && strcmp(p.host, host) == 0,
           "a host of %d letters", LONGEST_NAME + more);
    }
    for (int more = 0; more < 2; more++) {
        memset(host, 'z', sizeof host);
        memcpy(host, "fe80::1%", 8);
        host[PROXY_LONGEST_HOST + more] = '\0';
        snprintf(head, sizeof head, "CONNECT [%s]:1 HTTP/1.1\r\n" AUTH "\r\n", host);
        feed(str_of(head), 1000);
        ok(more ? p.state == PROXY_FAILED : p.state == PROXY_ASKS && strcmp(p.host, host) == 0,
           "an address of %d letters", PROXY_LONGEST_HOST + more);
    }
    memset(host, 'a', PROXY_LONGEST_HOST);
    snprintf(head, sizeof head, "GET http://%s%s/ HTTP/1.1\r\n" AUTH "\r\n", host, host);
    feed(str_of(head), 1000);
    ok(p.state == PROXY_FAILED, "a host of twice the length");
    snprintf(head, sizeof head,
             "CONNECT a.test:1 HTTP/1.1\r\nProxy-Authorization: Basic %s\r\n\r\n", host);
    feed(str_of(head), 1000);
    ok(p.state == PROXY_FAILED &&
           str_starts((struct str){p.output, p.output_n}, STR("HTTP/1.1 407")),
       "a secret longer than there are");
    /* Every line of three bytes becomes one of four. */
    auto_buf struct buf request = {0};
    buf_add(&request, STR("GET http://a.test/ HTTP/1.1\n" AUTH));
    for (int i = 0; i < 500; i++)
        buf_add(&request, STR("a:\n"));
    buf_char(&request, '\n');
    feed(buf_str(&request), PROXY_MOST_INPUT);
    size_t grown = p.input_n - request.n;
    buf_fill(&request, 'b', PROXY_MOST_INPUT - request.n - grown);
    feed(buf_str(&request), PROXY_MOST_INPUT);
    ok(p.state == PROXY_ASKS && p.input_n == PROXY_MOST_INPUT, "as much as there is room for");
    buf_char(&request, 'b');
    feed(buf_str(&request), PROXY_MOST_INPUT);
    ok(p.state == PROXY_FAILED, "one byte more");
}

/* A body is as long as its head says. */
static bool is_whole(struct str out)
{
    size_t body = str_find(out, STR("\r\n\r\n"), 0), at = str_find(out, STR("Content-Length: "), 0);
    return at < body && body < out.n && (size_t)atoi(out.p + at + 16) == out.n - body - 4;
}

static void test_http_answers(void)
{
    static char reason[700];
    memset(reason, 'w', sizeof reason);
    static const size_t lengths[] = {0, 10, 499, 500, 501, 700};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        for (int reachable = 0; reachable < 2; reachable++) {
            feed(STR("CONNECT a.test:443 HTTP/1.1\r\n" AUTH "\r\n"), 1000);
            proxy_answer(&p, reachable ? PROXY_REFUSED : PROXY_UNREACHABLE,
                         (struct str){reason, lengths[i]});
            struct str out = {p.output, p.output_n};
            ok(p.state == PROXY_FAILED && is_whole(out) &&
                   str_starts(out, reachable ? STR("HTTP/1.1 403 ") : STR("HTTP/1.1 502 ")),
               "%s with %u letters of reason", reachable ? "403" : "502", (unsigned)lengths[i]);
        }
}

static void test_socks_answers(void)
{
    static const struct {
        enum proxy_outcome outcome;
        unsigned char code;
    } rows[] = {{PROXY_CONNECTED, 0}, {PROXY_UNREACHABLE, 4}, {PROXY_REFUSED, 2}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        feed(STR("\5\1\2"
                 "\1\6cordon\6s3cret"
                 "\5\1\0\3\6a.test\1\273"),
             1000);
        size_t before = p.output_n;
        proxy_answer(&p, rows[i].outcome, STR_NONE);
        ok(p.output_n > before + 1 && p.output[before] == 5 &&
               (unsigned char)p.output[before + 1] == rows[i].code &&
               (p.state == PROXY_PASSES) == (rows[i].code == 0),
           "SOCKS answers %u", rows[i].code);
    }
}

static void test_public(void)
{
    static const struct {
        const char *address;
        bool public;
    } rows[] = {{"8.8.8.8", true},
                {"93.184.216.34", true},
                {"9.255.255.255", true},
                {"11.0.0.0", true},
                {"172.15.0.1", true},
                {"172.32.0.1", true},
                {"100.63.0.1", true},
                {"100.128.0.1", true},
                {"192.167.0.1", true},
                {"223.255.255.255", true},
                {"2606:4700::1", true},
                {"::ffff:8.8.8.8", true},
                {"64:ff9b::8.8.8.8", true},
                {"2002:808:808::1", true},
                {"0.0.0.0", false},
                {"10.0.0.1", false},
                {"100.64.0.1", false},
                {"127.0.0.1", false},
                {"127.1", false},
                {"2130706433", false},
                {"169.254.169.254", false},
                {"172.16.0.1", false},
                {"172.31.255.255", false},
                {"192.0.0.8", false},
                {"192.0.2.1", false},
                {"192.168.1.1", false},
                {"198.18.0.1", false},
                {"198.51.100.1", false},
                {"203.0.113.1", false},
                {"224.0.0.1", false},
                {"240.0.0.1", false},
                {"255.255.255.255", false},
                {"::", false},
                {"::1", false},
                {"::ffff:127.0.0.1", false},
                {"::ffff:10.0.0.1", false},
                {"::127.0.0.1", false},
                {"64:ff9b::10.0.0.1", false},
                {"64:ff9b:1::8.8.8.8", false},
                {"2002:a00:1::1", false},
                {"2001::1", false},
                {"2001:db8::1", false},
                {"fc00::1", false},
                {"fd12::1", false},
                {"fe80::1", false},
                {"fec0::1", false},
                {"ff02::1", false},
                {"a.test", false},
                {"", false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct net_host host = net_read_host(str_of(rows[i].address));
        ok(net_is_public(&host) == rows[i].public, "%s is %spublic", rows[i].address,
           rows[i].public ? "" : "not ");
    }
}

/* A name may not lead to a private address; an address that the policy writes out may. */
static void test_dial(void)
{
    static const struct {
        const char *address;
        bool by_name, written;
    } rows[] = {{"8.8.8.8", true, true},       {"10.1.2.3", false, true},
                {"172.16.0.1", false, true},   {"172.31.255.255", false, true},
                {"172.15.0.1", true, true},    {"172.32.0.1", true, true},
                {"192.168.0.1", false, true},  {"192.0.2.1", false, false},
                {"198.18.0.1", false, false},  {"169.254.169.254", false, false},
                {"100.64.16.1", false, false}, {"127.0.0.1", false, false},
                {"127.16.0.1", false, false},  {"224.168.0.1", false, false},
                {"fc00::1", false, true},      {"fdff::1", false, true},
                {"fe80::1", false, false},     {"::1", false, false},
                {"2606:4700::1", true, true}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct net_host host = net_read_host(str_of(rows[i].address));
        ok(net_may_dial(&host, false) == rows[i].by_name &&
               net_may_dial(&host, true) == rows[i].written,
           "%s by a name and written out", rows[i].address);
    }
}

/* An address that the rule net.private refuses lies in a range that can be written behind the name,
   unless it is this machine, its link or a group. */
static void test_private_ranges(void)
{
    static const struct {
        const char *address, *range;
    } rows[] = {{"10.1.2.3", "10.0.0.0/8"},
                {"172.20.1.1", "172.16.0.0/12"},
                {"192.168.7.1", "192.168.0.0/16"},
                {"100.64.0.1", "100.64.0.0/10"},
                {"192.0.0.8", "192.0.0.0/24"},
                {"192.0.2.1", "192.0.2.0/24"},
                {"192.88.99.1", "192.88.99.0/24"},
                {"198.19.0.1", "198.18.0.0/15"},
                {"198.51.100.1", "198.51.100.0/24"},
                {"203.0.113.9", "203.0.113.0/24"},
                {"2001:db8::1", "2001:db8::/32"},
                {"fd12::1", "fc00::/7"},
                {"8.8.8.8", ""},
                {"127.0.0.1", ""},
                {"169.254.169.254", ""},
                {"224.0.0.1", ""},
                {"fe80::1", ""},
                {"::1", ""}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct net_host host = net_read_host(str_of(rows[i].address));
        struct str range = net_private_range(&host);
        struct net_rule rule;
        char text[80];
        snprintf(text, sizeof text, "a.test@%s", rows[i].range);
        ok(str_eq(range, str_of(rows[i].range)) &&
               net_read_rule(str_of(text), &rule) == (*rows[i].range != '\0'),
           "%s: %s", rows[i].address, *rows[i].range ? rows[i].range : "no range");
    }
}

/* A yes opens what the question spelled: this machine by one of its own names, or that address. */
static void test_answered(const struct policy *policy)
{
    static const struct {
        const char *host, *address;
        bool may;
    } rows[] = {{"localhost", "127.0.0.1", true}, {"localhost", "::1", true},
                {"127.0.0.1", "127.0.0.1", true}, {"169.254.169.254", "169.254.169.254", true},
                {"localhost", "10.0.0.1", false}, {"some.corp", "127.0.0.1", false},
                {"some.corp", "10.0.0.1", false}, {"some.corp", "169.254.169.254", false},
                {"some.corp", "8.8.8.8", true}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct policy_peer peer = {.host = str_of(rows[i].host), .port = 443, .answered = true};
        struct net_host address = net_read_host(str_of(rows[i].address));
        bool may = policy_net_may_dial(policy, &peer, &address);
        peer.answered = false;
        bool without = policy_net_may_dial(policy, &peer, &address);
        ok(may == rows[i].may && without == str_eq(str_of(rows[i].address), STR("8.8.8.8")),
           "after a yes: %s at %s", rows[i].host, rows[i].address);
    }
}

/* A private network is reached behind a name only if both were written together. */
static void test_range(void)
{
    auto_arena struct arena arena = {0};
    auto_buf struct buf error = {0}, why = {0}, fix = {0};
    struct policy_settings s = {0};
    struct policy *policy = NULL;
    s.net = POLICY_NET_ALLOW;
    policy_list_add(&arena, &s.net_allow,
                    (struct policy_entry){.given = STR("mirror.corp@10.0.0.0/8")});
    policy_list_add(&arena, &s.net_allow, (struct policy_entry){.given = STR("plain.corp")});
    policy_list_add(&arena, &s.net_allow,
                    (struct policy_entry){.given = STR("over.corp@100.64.0.0/10")});
    policy_list_add(&arena, &s.net_allow, (struct policy_entry){.given = STR("six.corp@fd00::/8")});
    struct net_rule read;
    ok(!net_read_rule(STR("meta.corp@169.254.0.0/16"), &read) &&
           net_read_rule(STR("meta.corp@172.16.0.0/12"), &read),
       "a range is a private network");
    if (!ok(policy_compile(&s, &policy, &error) == 0, "names with ranges"))
        return;
    static const struct {
        const char *host, *address;
        bool may;
    } rows[] = {{"mirror.corp", "10.9.8.7", true},   {"mirror.corp", "192.168.0.1", false},
                {"plain.corp", "10.9.8.7", false},   {"plain.corp", "8.8.8.8", true},
                {"mirror.corp", "127.0.0.1", false}, {"six.corp", "fd00::1", true},
                {"six.corp", "fc00::1", false},      {"six.corp", "10.0.0.1", false},
                {"mirror.corp", "11.0.0.1", true},   {"six.corp", "::ffff:10.0.0.1", false},
                {"over.corp", "100.64.3.4", true},   {"mirror.corp", "169.254.169.254", false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct policy_peer peer = {.host = str_of(rows[i].host), .port = 443};
        struct net_host address = net_read_host(str_of(rows[i].address));
        ok(policy_net_may_dial(policy, &peer, &address) == rows[i].may, "%s at %s", rows[i].host,
           rows[i].address);
    }
    test_answered(policy);
    policy_net_explain(
        policy,
        &(struct policy_peer){.host = STR("plain.corp"), .port = 443, .found = STR("172.20.1.1")},
        &(struct policy_answer){.rule = RULE_NET_PRIVATE}, &why, &fix);
    ok(str_starts(buf_str(&fix), STR("--net=allow=mirror.corp@10.0.0.0/8,plain.corp,")) &&
           str_ends(buf_str(&fix), STR(",six.corp@fd00::/8,plain.corp@172.16.0.0/12")),
       "the remedy names the network: %s", buf_cstr(&fix));
    policy_free(policy);
    static const char *const wrong[] = {
        "a@10.0.0.0",    "a@x/8",        "a@10.0.0.0/33", "a:0", "a:", "a:65536",
        "!a@10.0.0.0/8", "a@10.0.0.0/0", "[::1]x",        "",    "!",  "a b"};
    struct net_rule rule;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        ok(!net_read_rule(str_of(wrong[i]), &rule), "\"%s\" is no name", wrong[i]);
}

int main(void)
{
    test_private_ranges();
    test_range();
    test_requests();
    test_rest();
    test_limits();
    test_http_answers();
    test_socks_answers();
    test_public();
    test_dial();
    return tap_done();
}
