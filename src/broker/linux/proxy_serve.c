/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One thread for each client. The protocol is in proxy.c and the policy decides who may be reached;
 * here a name becomes addresses, and only public ones are dialled: a name that resolves to this
 * machine or its network would make every service there reachable.
 */
#include "broker/linux/proxy_serve.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "broker/linux/caller.h"
#include "policy/net.h"

enum { GREETING_TIMEOUT_MS = 30000, PIECE = 65536, STACK = 512 * 1024 };

struct proxy_client {
    struct proxy_server *server;
    int fd;
    uint16_t port; /* on its side */
    bool answered; /* its host is allowed because somebody was asked */
    struct proxy proxy;
};

static bool send_all(int fd, int stop, const char *bytes, size_t n)
{
    while (n > 0) {
        ssize_t sent = send(fd, bytes, n, MSG_NOSIGNAL);
        if (sent > 0) {
            bytes += sent;
            n -= (size_t)sent;
            continue;
        }
        struct pollfd watch[] = {{fd, POLLOUT, 0}, {stop, POLLIN, 0}};
        if (sent == 0 || (errno != EAGAIN && errno != EINTR) ||
            (poll(watch, 2, -1) < 0 && errno != EINTR) || watch[1].revents)
            return false;
    }
    return true;
}

static bool flush(struct proxy_client *c)
{
    bool sent = send_all(c->fd, c->server->stop[0], c->proxy.output, c->proxy.output_n);
    c->proxy.output_n = 0;
    return sent;
}

/* The process that connected; 0: unknown. With the lock. */
static uint32_t caller_of(const struct proxy_client *c)
{
    size_t at = c->port % PROXY_MOST_CALLERS;
    return c->port && c->server->callers[at].port == c->port ? c->server->callers[at].pid : 0;
}

/* With the lock. */
static void report(struct proxy_client *c, struct str target, const struct policy_answer *answer,
                   struct str why, struct str fix)
{
    struct proxy_server *s = c->server;
    bool allowed = answer->verdict == CORDON_ALLOW;
    uint32_t pid = caller_of(c);
    char image[PATH_MAX];
    s->event(s->context,
             &(struct audit_event){.type = allowed ? AUDIT_ALLOW : AUDIT_DENY,
                                   .op = AUDIT_NET_CONNECT,
                                   .time = s->now(),
                                   .pid = pid,
                                   .image = pid ? caller_image((pid_t)pid, image, sizeof image)
                                                : STR_NONE,
                                   .target = target,
                                   .verdict = answer->verdict,
                                   .rule = str_of(policy_rule_id(answer->rule)),
                                   .why = why,
                                   .fix = fix});
}

static bool may_dial(const struct policy *policy, const struct policy_peer *peer,
                     const struct sockaddr_storage *address, char text[INET6_ADDRSTRLEN])
{
    const void *bytes =
        address->ss_family == AF_INET
            ? (const void *)&((const struct sockaddr_in *)(const void *)address)->sin_addr
            : &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr;
    if (!inet_ntop(address->ss_family, bytes, text, INET6_ADDRSTRLEN))
        return false;
    struct net_host host = net_read_host(str_of(text));
    return policy_net_may_dial(policy, peer, &host);
}

/* True if the client has closed its end. */
static bool has_left(void *context)
{
    struct pollfd watch = {((struct proxy_client *)context)->fd, POLLRDHUP, 0};
    return poll(&watch, 1, 0) == 1;
}

/* True if whoever is asked allows the host. */
static bool ask(struct proxy_client *c, const struct policy_peer *peer, struct str target,
                const struct policy_answer *answer)
{
    struct proxy_server *s = c->server;
    auto_buf struct buf cmdline = {0};
    char image[PATH_MAX];
    struct ask_subject caller = {0};
    pthread_mutex_lock(&s->lock);
    caller.pid = caller_of(c);
    pthread_mutex_unlock(&s->lock);
    if (caller.pid) {
        caller_cmdline((pid_t)caller.pid, &cmdline);
        caller.cmdline = buf_str(&cmdline);
        caller.image = caller_image((pid_t)caller.pid, image, sizeof image);
    }
    return desk_ask_host(s->desk, &caller, peer, target, answer, has_left, c);
}

/* Moves the addresses that may be dialled to the front; where: one that may not. */
static size_t keep_reachable(struct proxy_server *s, const struct policy_peer *peer,
                             struct sockaddr_storage *found, size_t all,
                             char where[INET6_ADDRSTRLEN])
{
    char text[INET6_ADDRSTRLEN] = "";
    size_t kept = 0;
    pthread_mutex_lock(&s->lock);
    for (size_t i = 0; i < all && !s->closed; i++) {
        if (may_dial(s->policy, peer, &found[i], text))
            found[kept++] = found[i];
        else
            memcpy(where, text, sizeof text);
    }
    pthread_mutex_unlock(&s->lock);
    return kept;
}

/* The policy's answer about the host, and after resolution about its addresses; reported. False:
   refused, or the run has ended meanwhile. */
static bool judge(struct proxy_client *c, struct sockaddr_storage *found, size_t *count)
{
    struct proxy_server *s = c->server;
    struct proxy *p = &c->proxy;
    struct policy_peer peer = {.host = str_of(p->host), .port = p->port};
    struct policy_answer answer = {0};
    auto_buf struct buf why = {0}, fix = {0}, target = {0}, message = {0};
    char where[INET6_ADDRSTRLEN] = "";
    size_t all = 0, kept = 0;
    buf_fmt(&target, strchr(p->host, ':') ? "[%s]:%u" : "%s:%u", p->host, p->port);
    pthread_mutex_lock(&s->lock);
    bool closed = s->closed;
    if (!closed)
        policy_net_decide(s->policy, &peer, &answer);
    pthread_mutex_unlock(&s->lock);
    if (!closed && answer.verdict != CORDON_ALLOW && ask(c, &peer, buf_str(&target), &answer)) {
        answer.verdict = CORDON_ALLOW;
        c->answered = peer.answered = true;
    }
    if (answer.verdict == CORDON_ALLOW) {
        all = proxy_resolve(p->host, p->port, found, PROXY_MOST_ADDRESSES);
        kept = keep_reachable(s, &peer, found, all, where);
        if (all && !kept) {
            answer = (struct policy_answer){.verdict = CORDON_DENY, .rule = RULE_NET_PRIVATE};
            peer.found = str_of(where);
            peer.granted = ask(c, &peer, buf_str(&target), &answer);
            char refused[INET6_ADDRSTRLEN];
            kept = peer.granted ? keep_reachable(s, &peer, found, all, refused) : 0;
            if (kept)
                answer.verdict = CORDON_ALLOW;
            c->answered |= peer.granted;
        }
    }
    *count = kept;
    pthread_mutex_lock(&s->lock);
    closed = s->closed;
    if (!closed) {
        policy_net_explain(s->policy, &peer, &answer, &why, &fix);
        report(c, buf_str(&target), &answer, buf_str(&why), buf_str(&fix));
    }
    pthread_mutex_unlock(&s->lock);
    if (answer.verdict == CORDON_ALLOW && !closed)
        return true;
    buf_fmt(&message, "cordon: sandbox denied: connect %s (rule %s); %s", buf_cstr(&target),
            policy_rule_id(answer.rule), buf_cstr(&why));
    proxy_answer(p, PROXY_REFUSED, buf_str(&message));
    return false;
}

/* A host that is allowed and cannot be reached is for the summary: the client may say anything. */
static void report_unreached(struct proxy_client *c, struct str target, struct str why)
{
    struct proxy_server *s = c->server;
    pthread_mutex_lock(&s->lock);
    bool closed = s->closed;
    uint32_t pid = caller_of(c);
    if (!closed)
        s->event(s->context, &(struct audit_event){.type = AUDIT_ALLOW,
                                                   .op = AUDIT_NET_CONNECT,
                                                   .time = s->now(),
                                                   .target = target,
                                                   .verdict = CORDON_ALLOW,
                                                   .rule = str_of(policy_rule_id(RULE_NET_ALLOW)),
                                                   .why = why,
                                                   .notable = !c->answered});
    pthread_mutex_unlock(&s->lock);
    if (!closed && c->answered)
        desk_failed(s->desk, pid, AUDIT_NET_CONNECT, target, why);
}

/* The connected socket, or -1 after telling the client. */
static int reach(struct proxy_client *c)
{
    struct sockaddr_storage found[PROXY_MOST_ADDRESSES];
    size_t count;
    auto_buf struct buf message = {0}, target = {0};
    if (!judge(c, found, &count))
        return -1;
    int fd = -1, error = 0;
    for (size_t i = 0; i < count && fd < 0; i++) {
        fd = proxy_dial(&found[i], c->server->stop[0]);
        error = fd < 0 ? -fd : 0;
    }
    const char *why = count ? strerror(error) : "host not found";
    buf_fmt(&target, strchr(c->proxy.host, ':') ? "[%s]:%u" : "%s:%u", c->proxy.host,
            c->proxy.port);
    buf_fmt(&message, "cordon: %s: %s", buf_cstr(&target), why);
    if (fd < 0)
        report_unreached(c, buf_str(&target), str_of(why));
    proxy_answer(&c->proxy, fd < 0 ? PROXY_UNREACHABLE : PROXY_CONNECTED, buf_str(&message));
    return fd < 0 ? -1 : fd;
}

/* Copies in both directions until both ends have closed or the run ends. */
static void pass(struct proxy_client *c, int peer)
{
    const int ends[2] = {c->fd, peer};
    const int stop = c->server->stop[0];
    char *piece = malloc(PIECE);
    bool open[2] = {true, true};
    while (piece && (open[0] || open[1])) {
        struct pollfd watch[] = {{open[0] ? ends[0] : -1, POLLIN, 0},
                                 {open[1] ? ends[1] : -1, POLLIN, 0},
                                 {stop, POLLIN, 0}};
        if ((poll(watch, 3, -1) < 0 && errno != EINTR) || watch[2].revents)
            break;
        for (int i = 0; i < 2; i++) {
            if (!open[i] || !watch[i].revents)
                continue;
            ssize_t n = recv(ends[i], piece, PIECE, 0);
            if (n < 0 && (errno == EAGAIN || errno == EINTR))
                continue;
            if (n <= 0) {
                open[i] = false;
                shutdown(ends[1 - i], SHUT_WR);
            } else if (!send_all(ends[1 - i], stop, piece, (size_t)n)) {
                open[0] = open[1] = false;
            }
        }
    }
    free(piece);
}

static bool converse(struct proxy_client *c)
{
    struct proxy *p = &c->proxy;
    char piece[4096];
    while (p->state == PROXY_READS) {
        struct pollfd watch[] = {{c->fd, POLLIN, 0}, {c->server->stop[0], POLLIN, 0}};
        int ready = poll(watch, 2, GREETING_TIMEOUT_MS);
        if (ready < 0 && errno == EINTR)
            continue;
        if (ready <= 0 || watch[1].revents)
            return false;
        size_t room = proxy_room(p) < sizeof piece ? proxy_room(p) : sizeof piece;
        ssize_t n = recv(c->fd, piece, room, 0);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            continue;
        if (n <= 0)
            return false;
        proxy_feed(p, (struct str){piece, (size_t)n});
        if (!flush(c))
            return false;
    }
    return p->state == PROXY_ASKS;
}

static void destroy(struct proxy_server *s)
{
    if (s->listener >= 0)
        close(s->listener);
    for (int i = 0; i < 2; i++)
        if (s->stop[i] >= 0)
            close(s->stop[i]);
    pthread_mutex_destroy(&s->lock);
    pthread_cond_destroy(&s->ended);
    desk_drop(s->desk);
    free(s);
}

static void *serve_client(void *context)
{
    struct proxy_client *c = context;
    struct proxy_server *s = c->server;
    if (converse(c)) {
        int peer = reach(c);
        if (flush(c) && peer >= 0 && send_all(peer, s->stop[0], c->proxy.input, c->proxy.input_n))
            pass(c, peer);
        if (peer >= 0)
            close(peer);
    }
    shutdown(c->fd, SHUT_WR);
    close(c->fd);
    free(c);
    pthread_mutex_lock(&s->lock);
    bool last = --s->clients == 0 && s->closed;
    pthread_cond_signal(&s->ended);
    pthread_mutex_unlock(&s->lock);
    if (last)
        destroy(s);
    return NULL;
}

static bool thread_new(pthread_t *thread, void *(*work)(void *), void *context)
{
    pthread_attr_t how;
    pthread_attr_init(&how);
    pthread_attr_setstacksize(&how, STACK);
    int rc = pthread_create(thread, &how, work, context);
    pthread_attr_destroy(&how);
    return rc == 0;
}

static void accept_client(struct proxy_server *s)
{
    pthread_t thread;
    struct sockaddr_in from = {0};
    socklen_t length = sizeof from;
    int fd = accept4(s->listener, (struct sockaddr *)&from, &length, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0)
        return;
    pthread_mutex_lock(&s->lock);
    bool room = s->clients < PROXY_MOST_CLIENTS;
    s->clients += room;
    pthread_mutex_unlock(&s->lock);
    struct proxy_client *c = room ? malloc(sizeof *c) : NULL;
    if (c) {
        c->server = s;
        c->fd = fd;
        c->port = ntohs(from.sin_port);
        c->answered = false;
        proxy_init(&c->proxy, str_of(s->secret));
        if (thread_new(&thread, serve_client, c)) {
            pthread_detach(thread);
            return;
        }
    }
    free(c);
    close(fd);
    pthread_mutex_lock(&s->lock);
    s->clients -= room;
    pthread_mutex_unlock(&s->lock);
}

static void *serve(void *context)
{
    struct proxy_server *s = context;
    for (;;) {
        struct pollfd watch[] = {{s->listener, POLLIN, 0}, {s->stop[0], POLLIN, 0}};
        if ((poll(watch, 2, -1) < 0 && errno != EINTR) || watch[1].revents)
            return NULL;
        if (watch[0].revents)
            accept_client(s);
    }
}

struct proxy_server *proxy_open(const struct policy *policy, struct str secret)
{
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t length = sizeof here;
    struct proxy_server *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->policy = policy;
    s->stop[0] = s->stop[1] = -1;
    snprintf(s->secret, sizeof s->secret, "%.*s", STR_ARG(secret));
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->ended, NULL);
    s->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (s->listener < 0 || bind(s->listener, (struct sockaddr *)&here, sizeof here) ||
        listen(s->listener, 128) || getsockname(s->listener, (struct sockaddr *)&here, &length) ||
        pipe2(s->stop, O_CLOEXEC)) {
        destroy(s);
        return NULL;
    }
    s->port = ntohs(here.sin_port);
    return s;
}

int proxy_start(struct proxy_server *s, struct desk *desk,
                void (*event)(void *context, const struct audit_event *event), void *context,
                uint64_t (*now)(void))
{
    s->desk = desk ? desk_hold(desk) : NULL;
    s->event = event;
    s->context = context;
    s->now = now;
    s->started = thread_new(&s->thread, serve, s);
    return s->started ? 0 : CORDON_E_CONFINE;
}

void proxy_note(struct proxy_server *s, uint16_t port, uint32_t pid)
{
    pthread_mutex_lock(&s->lock);
    s->callers[port % PROXY_MOST_CALLERS].port = port;
    s->callers[port % PROXY_MOST_CALLERS].pid = pid;
    pthread_mutex_unlock(&s->lock);
}

void proxy_close(struct proxy_server *s)
{
    struct timespec until;
    if (!s)
        return;
    close(s->stop[1]);
    s->stop[1] = -1;
    if (s->started)
        pthread_join(s->thread, NULL);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec++;
    pthread_mutex_lock(&s->lock);
    while (s->clients && pthread_cond_timedwait(&s->ended, &s->lock, &until) == 0)
        ;
    s->closed = true;
    bool last = s->clients == 0;
    pthread_mutex_unlock(&s->lock);
    if (last)
        destroy(s);
}
