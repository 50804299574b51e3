/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Questions to name servers where datagrams are not allowed. The resolver gets one end of a pair in
 * place of its socket, so that the refusal can name the host that was asked for. Nothing leaves the
 * machine: the broker reads the question, reports it and answers "refused".
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "broker/linux/broker.h"
#include "policy/net.h"

enum { HEADER = 12, LONGEST = 512, QUESTIONS = 16 /* of one socket */ };

bool datagram_give(struct broker *b, struct request *r)
{
    int type = (int)r->args[1], pair[2];
    struct broker_names *names = &b->names;
    /* As the resolvers of C libraries and of Go ask; others hear at once that it is refused. */
    if (type != (SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK) || r->args[2] != 0 ||
        names->count == BROKER_MOST_NAMES ||
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair))
        return false;
    struct broker_name *name = &names->items[names->count++];
    *name = (struct broker_name){.fd = pair[0], .pid = process_caller(b, r), .left = QUESTIONS};
    struct str image = broker_image(r, name->image, sizeof name->image - 1);
    name->image[image.n] = '\0';
    request_give(r, pair[1], true);
    close(pair[1]);
    return true;
}

bool datagram_is(const struct request *r, int fd)
{
    int copy = request_descriptor(r, fd), domain = AF_INET;
    socklen_t size = sizeof domain;
    if (copy < 0)
        return false;
    bool is = getsockopt(copy, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 && domain == AF_UNIX;
    close(copy);
    return is;
}

/* The name of the first question, in dots; 0 if this is none. */
static size_t read_name(const unsigned char *message, size_t n, char out[256])
{
    size_t at = HEADER, length = 0;
    if (n < HEADER + 5 || (message[2] & 0xF8) || message[4] || message[5] == 0)
        return 0;
    while (at < n && message[at]) {
        size_t label = message[at];
        if (label > 63 || at + 1 + label >= n || length + label + 1 > 253)
            return 0;
        if (length)
            out[length++] = '.';
        memcpy(out + length, message + at + 1, label);
        length += label;
        at += 1 + label;
    }
    return at < n && net_read_host((struct str){out, length}).kind == NET_NAME ? length : 0;
}

/* After an answer that does not help, resolvers append what the machine searches in. */
static bool is_searched(const struct broker_names *names, struct str name)
{
    struct str last = str_of(names->last);
    return last.n && name.n > last.n && str_startsi(name, last) && name.p[last.n] == '.';
}

static void report(struct broker *b, const struct broker_name *from, struct str name)
{
    const struct policy_settings *s = policy_settings_of(b->policy);
    bool proxied = s->net == POLICY_NET_PROXY || s->net == POLICY_NET_ALLOW;
    auto_buf struct buf why = {0}, fix = {0};
    struct policy_peer peer = {.host = name, .port = 443};
    struct policy_answer answer = {0};
    policy_net_decide(b->policy, &peer, &answer);
    bool reachable = s->net == POLICY_NET_PROXY || answer.verdict == CORDON_ALLOW;
    answer.verdict = CORDON_DENY;
    /* Servers ask who their client is, and do without an answer. */
    struct net_host back;
    bool quiet = net_asks_back(name, &back) && !net_is_public(&back);
    if (name.n == 0) {
        buf_add(&why, STR("datagrams could go anywhere, so they need the network to be on"));
        buf_add(&fix, STR("--net=on"));
    } else if (proxied) {
        buf_fmt(&why, "only the proxy looks up names, and this program does not ask it for %.*s",
                STR_ARG(name));
        buf_add(&fix, reachable
                          ? STR("this program does not use the proxy that HTTPS_PROXY names; it "
                                "needs --net=on, or --net=allow=ADDRESS:PORT")
                          : STR("--net=on"));
    } else {
        policy_net_explain(b->policy, &peer, &answer, &why, &fix);
    }
    b->event(b->context, &(struct audit_event){.type = AUDIT_DENY,
                                               .op = name.n ? AUDIT_NET_RESOLVE : AUDIT_NET_SEND,
                                               .time = b->now(),
                                               .pid = from->pid,
                                               .image = str_of(from->image),
                                               .target = name.n ? name : STR("UDP"),
                                               .verdict = CORDON_DENY,
                                               .rule = str_of(policy_rule_id(answer.rule)),
                                               .why = buf_str(&why),
                                               .fix = buf_str(&fix),
                                               .quiet = quiet});
}

/* False when the socket is done with. */
static bool serve_one(struct broker *b, struct broker_name *from)
{
    enum { ANSWER = 0x80, AVAILABLE = 0x80, REFUSED = 5 };
    unsigned char message[LONGEST];
    char name[256];
    /* Descriptors that come along are closed by the kernel. */
    ssize_t n = recv(from->fd, message, sizeof message, MSG_DONTWAIT);
    if (n < 0)
        return errno == EAGAIN || errno == EINTR;
    if (n == 0 || from->left-- == 0)
        return false;
    struct str host = {name, read_name(message, (size_t)n, name)};
    struct net_host asked = net_read_host(host);
    /* This machine's own name is in a file; the question is of no interest. */
    if (host.n && net_is_loopback(&asked))
        ;
    else if (host.n == 0 || !is_searched(&b->names, host)) {
        report(b, from, host);
        snprintf(b->names.last, sizeof b->names.last, "%.*s", STR_ARG(host));
    }
    if (host.n == 0)
        return false;
    message[2] |= ANSWER;
    message[3] = AVAILABLE | REFUSED;
    (void)!send(from->fd, message, (size_t)n, MSG_DONTWAIT | MSG_NOSIGNAL);
    return true;
}

size_t datagram_watch(const struct broker *b, struct pollfd *out)
{
    for (size_t i = 0; i < b->names.count; i++)
        out[i] = (struct pollfd){b->names.items[i].fd, POLLIN, 0};
    return b->names.count;
}

void datagram_serve(struct broker *b, const struct pollfd *watched, size_t count)
{
    /* From the end: the last one takes the place of one that is done with. */
    for (size_t i = count; i-- > 0;)
        if (watched[i].revents && !serve_one(b, &b->names.items[i])) {
            close(b->names.items[i].fd);
            b->names.items[i] = b->names.items[--b->names.count];
        }
}

void datagram_close(struct broker *b)
{
    while (b->names.count)
        close(b->names.items[--b->names.count].fd);
}
