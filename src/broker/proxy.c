/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HTTP:   CONNECT host:port HTTP/1.1, or METHOD http://host[:port]/path HTTP/1.1, header lines, an
 *         empty line; Proxy-Authorization: Basic base64(user:secret).
 * SOCKS5: 05 n method…              → 05 02
 *         01 n user n password      → 01 00
 *         05 01 00 kind address port → 05 code 00 01 0.0.0.0 0
 */
#include "broker/proxy.h"

#include <stdio.h>

#include "policy/rules.h"

enum { GREETING = 0, PASSWORD, REQUEST };
enum {
    SOCKS_FAILED = 1,
    SOCKS_REFUSED = 2,
    SOCKS_UNREACHABLE = 4,
    SOCKS_NO_COMMAND = 7,
    SOCKS_NO_KIND = 8
};

void proxy_init(struct proxy *p, struct str secret)
{
    p->state = secret.n && secret.n <= PROXY_SECRET ? PROXY_READS : PROXY_FAILED;
    p->kind = PROXY_UNKNOWN;
    p->step = GREETING;
    p->port = 0;
    p->host[0] = '\0';
    p->input_n = p->output_n = 0;
    snprintf(p->secret, sizeof p->secret, "%.*s", STR_ARG(secret));
}

size_t proxy_room(const struct proxy *p)
{
    return p->state == PROXY_READS ? sizeof p->input - p->input_n : 0;
}

static void put(struct proxy *p, const void *bytes, size_t n)
{
    if (n > sizeof p->output - p->output_n)
        n = sizeof p->output - p->output_n;
    memcpy(p->output + p->output_n, bytes, n);
    p->output_n += n;
}

static void drop_input(struct proxy *p, size_t n)
{
    memmove(p->input, p->input + n, p->input_n - n);
    p->input_n -= n;
}

static void fail_http(struct proxy *p, const char *status, const char *header, struct str why)
{
    char text[900];
    int n = snprintf(text, sizeof text,
                     "HTTP/1.1 %s\r\n%sContent-Type: text/plain\r\nContent-Length: %zu\r\n"
                     "Connection: close\r\n\r\n%.*s\n",
                     status, header, (why.n < 500 ? why.n : 500) + 1,
                     (int)(why.n < 500 ? why.n : 500), why.p ? why.p : "");
    put(p, text, n > 0 ? (size_t)n : 0);
    p->state = PROXY_FAILED;
}

static void reply_socks(struct proxy *p, unsigned char code)
{
    const unsigned char reply[10] = {5, code, 0, 1};
    put(p, reply, sizeof reply);
    if (code)
        p->state = PROXY_FAILED;
}

/* Takes the same time for a wrong secret as for the right one. */
static bool same_secret(struct str a, struct str b)
{
    unsigned difference = a.n != b.n;
    for (size_t i = 0; i < a.n && i < b.n; i++)
        difference |= (unsigned char)a.p[i] ^ (unsigned char)b.p[i];
    return difference == 0;
}

static size_t encode_base64(struct str in, char *out)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t n = 0;
    for (size_t i = 0; i < in.n; i += 3) {
        uint32_t bits = 0;
        size_t have = in.n - i < 3 ? in.n - i : 3;
        for (size_t j = 0; j < 3; j++)
            bits = bits << 8 | (j < have ? (unsigned char)in.p[i + j] : 0);
        for (size_t j = 0; j < 4; j++)
            out[n++] = j <= have ? digits[bits >> (18 - 6 * j) & 63] : '=';
    }
    return n;
}

static bool is_authorised(const struct proxy *p, struct str value)
{
    char plain[sizeof PROXY_USER + PROXY_SECRET + 1], encoded[2 * sizeof plain];
    if (!str_startsi(value, STR("Basic ")))
        return false;
    int n = snprintf(plain, sizeof plain, PROXY_USER ":%s", p->secret);
    size_t length = encode_base64((struct str){plain, (size_t)n}, encoded);
    return same_secret(str_trim(str_from(value, 6)), (struct str){encoded, length});
}

/* The next line of the head without its line end; false at the empty line or the end of the
   text. */
static bool next_line(struct str head, size_t *at, struct str *line)
{
    size_t end = str_find_char(head, '\n', *at);
    *line = str_slice(head, *at, end);
    *at = end + 1;
    if (line->n && line->p[line->n - 1] == '\r')
        line->n--;
    return line->n > 0;
}

static bool header_of(struct str line, struct str *name, struct str *value)
{
    size_t colon = str_find_char(line, ':', 0);
    *name = str_slice(line, 0, colon);
    *value = str_trim(str_from(line, colon + 1));
    return colon < line.n && colon > 0;
}

/* A host that the policy can parse, and its port. */
static bool take_peer(struct proxy *p, struct str text, uint16_t otherwise)
{
    char with_port[PROXY_LONGEST_HOST + 16];
    struct policy_peer peer;
    if (otherwise && policy_parse_peer(text, &peer)) {
        int n = snprintf(with_port, sizeof with_port, "%.*s:%u", STR_ARG(text), otherwise);
        if (n >= (int)sizeof with_port)
            return false;
        text = (struct str){with_port, (size_t)n};
    }
    if (policy_parse_peer(text, &peer) || peer.host.n > PROXY_LONGEST_HOST)
        return false;
    memcpy(p->host, peer.host.p, peer.host.n);
    p->host[peer.host.n] = '\0';
    p->port = peer.port;
    return true;
}

/* Replaces the proxy request with the plain request that the host expects. */
static bool rewrite(struct proxy *p, struct str head, struct str method, struct str path)
{
    char work[2 * PROXY_MOST_INPUT]; /* a line of 3 bytes grows by at most one */
    struct str line, name, value;
    size_t at = 0;
    int n = snprintf(work, sizeof work, "%.*s %.*s HTTP/1.1\r\nHost: %s%s%s", STR_ARG(method),
                     path.n ? (int)path.n : 1, path.n ? path.p : "/",
                     strchr(p->host, ':') ? "[" : "", p->host, strchr(p->host, ':') ? "]" : "");
    size_t used = (size_t)n;
    if (p->port != 80)
        used += (size_t)snprintf(work + used, sizeof work - used, ":%u", p->port);
    used += (size_t)snprintf(work + used, sizeof work - used, "\r\nConnection: close\r\n");
    next_line(head, &at, &line);
    while (next_line(head, &at, &line)) {
        if (!header_of(line, &name, &value))
            return false;
        if (str_startsi(name, STR("Proxy-")) || str_eqi(name, STR("Host")) ||
            str_eqi(name, STR("Connection")) || str_eqi(name, STR("Keep-Alive")))
            continue;
        used += (size_t)snprintf(work + used, sizeof work - used, "%.*s\r\n", STR_ARG(line));
    }
    used += (size_t)snprintf(work + used, sizeof work - used, "\r\n");
    size_t rest = p->input_n - head.n;
    if (used + rest > sizeof p->input)
        return false;
    memmove(p->input + used, p->input + head.n, rest);
    memcpy(p->input, work, used);
    p->input_n = used + rest;
    return true;
}

static void read_http_head(struct proxy *p, struct str head)
{
    struct str line, name, value, credentials = STR_NONE;
    size_t at = 0;
    const struct str bad = STR("this is not a request that a proxy can answer");
    bool first = next_line(head, &at, &line);
    size_t space = str_find_char(line, ' ', 0), last = str_find_char(line, ' ', space + 1);
    struct str method = str_slice(line, 0, space), target = str_slice(line, space + 1, last);
    struct str version = str_from(line, last + 1);
    if (!first || !target.n || !method.n ||
        (!str_eq(version, STR("HTTP/1.1")) && !str_eq(version, STR("HTTP/1.0")))) {
        fail_http(p, "400 Bad Request", "", bad);
        return;
    }
    while (next_line(head, &at, &line))
        if (header_of(line, &name, &value) && str_eqi(name, STR("Proxy-Authorization")))
            credentials = value;
    if (!is_authorised(p, credentials)) {
        fail_http(p, "407 Proxy Authentication Required",
                  "Proxy-Authenticate: Basic realm=\"cordon\"\r\n",
                  STR("cordon: this proxy is for one run; its URL with the password is in the "
                      "run's HTTPS_PROXY"));
        return;
    }
    bool good;
    if (str_eq(method, STR("CONNECT"))) {
        p->kind = PROXY_CONNECT;
        good = take_peer(p, target, 0);
        drop_input(p, head.n);
    } else {
        p->kind = PROXY_PLAIN;
        struct str rest = str_from(target, 7);
        size_t slash = str_find_char(rest, '/', 0);
        good = str_startsi(target, STR("http://")) && take_peer(p, str_slice(rest, 0, slash), 80) &&
               rewrite(p, head, method, str_from(rest, slash));
    }
    if (good)
        p->state = PROXY_ASKS;
    else
        fail_http(p, "400 Bad Request", "", bad);
}

/* The length of the head with its empty line; 0 if it is incomplete. */
static size_t head_length(struct str text)
{
    for (size_t at = 0; (at = str_find_char(text, '\n', at)) < text.n; at++) {
        size_t next = at + 1;
        if (next < text.n && text.p[next] == '\r')
            next++;
        if (next < text.n && text.p[next] == '\n')
            return next + 1;
    }
    return 0;
}

static void read_http(struct proxy *p)
{
    struct str text = {p->input, p->input_n};
    size_t length = head_length(text);
    if (length) {
        if (memchr(text.p, '\0', length))
            fail_http(p, "400 Bad Request", "", STR("a zero byte"));
        else
            read_http_head(p, str_slice(text, 0, length));
    } else if (p->input_n == sizeof p->input) {
        fail_http(p, "431 Request Header Fields Too Large", "", STR("the head is too long"));
    }
}

/* Each step returns how many bytes it consumed, 0 if it needs more. */
static size_t socks_greeting(struct proxy *p, const unsigned char *in, size_t n)
{
    if (n < 2 || n < 2u + in[1])
        return 0;
    bool knows = memchr(in + 2, 2, in[1]) != NULL;
    const unsigned char reply[] = {5, knows ? 2 : 0xFF};
    put(p, reply, sizeof reply);
    if (!knows)
        p->state = PROXY_FAILED;
    p->step = PASSWORD;
    return 2u + in[1];
}

static size_t socks_password(struct proxy *p, const unsigned char *in, size_t n)
{
    if (n < 2 || n < 3u + in[1])
        return 0;
    size_t user = in[1], password = in[2 + user];
    if (n < 3 + user + password)
        return 0;
    const char *text = (const char *)in;
    bool good = in[0] == 1 && same_secret((struct str){text + 2, user}, STR(PROXY_USER)) &&
                same_secret((struct str){text + 3 + user, password}, str_of(p->secret));
    const unsigned char reply[] = {1, good ? 0 : 1};
    put(p, reply, sizeof reply);
    if (!good)
        p->state = PROXY_FAILED;
    p->step = REQUEST;
    return 3 + user + password;
}

static size_t socks_request(struct proxy *p, const unsigned char *in, size_t n)
{
    enum { V4 = 1, NAME = 3, V6 = 4 };
    if (n < 5)
        return 0;
    size_t size = in[3] == V4 ? 4 : in[3] == V6 ? 16 : in[3] == NAME ? 1u + in[4] : 0;
    if (in[0] != 5 || in[1] != 1 || size == 0) {
        reply_socks(p, in[0] != 5 ? SOCKS_FAILED : in[1] != 1 ? SOCKS_NO_COMMAND : SOCKS_NO_KIND);
        return n;
    }
    if (n < 4 + size + 2)
        return 0;
    char text[PROXY_LONGEST_HOST + 16];
    unsigned port = (unsigned)in[4 + size] << 8 | in[5 + size];
    const unsigned char *a = in + 4;
    if (in[3] == V4) {
        snprintf(text, sizeof text, "%u.%u.%u.%u:%u", a[0], a[1], a[2], a[3], port);
    } else if (in[3] == V6) {
        size_t used = (size_t)snprintf(text, sizeof text, "[");
        for (size_t i = 0; i < 16; i += 2)
            used += (size_t)snprintf(text + used, sizeof text - used, i ? ":%x" : "%x",
                                     (unsigned)a[i] << 8 | a[i + 1]);
        snprintf(text + used, sizeof text - used, "]:%u", port);
    } else {
        /* A colon in a name would be taken for the port separator. */
        bool plain = !memchr(a + 1, ':', a[0]) && !memchr(a + 1, '\0', a[0]) && a[1] != '[';
        snprintf(text, sizeof text, "%.*s:%u", plain ? a[0] : 0, (const char *)a + 1, port);
    }
    p->kind = PROXY_SOCKS;
    if (take_peer(p, str_of(text), 0))
        p->state = PROXY_ASKS;
    else
        reply_socks(p, SOCKS_FAILED);
    return 4 + size + 2;
}

static void read_socks(struct proxy *p)
{
    static size_t (*const steps[])(struct proxy *, const unsigned char *,
                                   size_t) = {socks_greeting, socks_password, socks_request};
    size_t used = 1;
    while (p->state == PROXY_READS && used) {
        used = steps[p->step](p, (const unsigned char *)p->input, p->input_n);
        drop_input(p, used);
    }
}

void proxy_feed(struct proxy *p, struct str bytes)
{
    if (p->state != PROXY_READS || bytes.n > proxy_room(p)) {
        p->state = PROXY_FAILED;
        return;
    }
    if (bytes.n == 0)
        return;
    memcpy(p->input + p->input_n, bytes.p, bytes.n);
    p->input_n += bytes.n;
    if (p->step > GREETING || p->input[0] == 5)
        read_socks(p);
    else
        read_http(p);
}

void proxy_answer(struct proxy *p, enum proxy_outcome outcome, struct str why)
{
    if (p->state != PROXY_ASKS)
        return;
    p->state = PROXY_PASSES;
    if (p->kind == PROXY_SOCKS)
        reply_socks(p, outcome == PROXY_CONNECTED     ? 0
                       : outcome == PROXY_UNREACHABLE ? SOCKS_UNREACHABLE
                                                      : SOCKS_REFUSED);
    else if (outcome == PROXY_REFUSED)
        fail_http(p, "403 Forbidden", "", why);
    else if (outcome == PROXY_UNREACHABLE)
        fail_http(p, "502 Bad Gateway", "", why);
    else if (p->kind == PROXY_CONNECT)
        put(p, "HTTP/1.1 200 Connection established\r\n\r\n", 39);
}
