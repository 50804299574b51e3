/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One thread for each client, and one more for the opposite direction. The protocol is in proxy.c
 * and the policy decides who may be reached; here a name becomes addresses, and only public ones
 * are dialled. The socket library is loaded on demand: runs without this proxy do not pay for it.
 */
#include <winsock2.h>
#include <ws2tcpip.h>

#include "broker/windows/proxy_serve.h"

#include <stdio.h>
#include <stdlib.h>

#include "broker/proxy.h"
#include "policy/net.h"

enum { MOST_CLIENTS = 256, PIECE = 16384, GREETING_MS = 30000, STACK = 256 * 1024 };

static struct {
    int(WSAAPI *start)(WORD, WSADATA *);
    SOCKET(WSAAPI *socket)(int, int, int);
    int(WSAAPI *bind)(SOCKET, const struct sockaddr *, int);
    int(WSAAPI *listen)(SOCKET, int);
    int(WSAAPI *name)(SOCKET, struct sockaddr *, int *);
    SOCKET(WSAAPI *accept)(SOCKET, struct sockaddr *, int *);
    int(WSAAPI *connect)(SOCKET, const struct sockaddr *, int);
    int(WSAAPI *send)(SOCKET, const char *, int, int);
    int(WSAAPI *recv)(SOCKET, char *, int, int);
    int(WSAAPI *shutdown)(SOCKET, int);
    int(WSAAPI *close)(SOCKET);
    int(WSAAPI *option)(SOCKET, int, int, const char *, int);
    int(WSAAPI *find)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
    void(WSAAPI *find_free)(struct addrinfo *);
} net;

static BOOL CALLBACK load_functions(INIT_ONCE *once, void *argument, void **result)
{
    (void)once, (void)argument, (void)result;
    WSADATA data;
    HMODULE library = LoadLibraryExW(L"ws2_32.dll", NULL, LOAD_LIBRARY_SEARCH_SYSTEM32);
    struct {
        void **place;
        const char *name;
    } wanted[] = {{(void **)&net.start, "WSAStartup"},  {(void **)&net.socket, "socket"},
                  {(void **)&net.bind, "bind"},         {(void **)&net.listen, "listen"},
                  {(void **)&net.name, "getsockname"},  {(void **)&net.accept, "accept"},
                  {(void **)&net.connect, "connect"},   {(void **)&net.send, "send"},
                  {(void **)&net.recv, "recv"},         {(void **)&net.shutdown, "shutdown"},
                  {(void **)&net.close, "closesocket"}, {(void **)&net.option, "setsockopt"},
                  {(void **)&net.find, "getaddrinfo"},  {(void **)&net.find_free, "freeaddrinfo"}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        *wanted[i].place = library ? (void *)GetProcAddress(library, wanted[i].name) : NULL;
        if (!*wanted[i].place)
            return FALSE;
    }
    return net.start(MAKEWORD(2, 2), &data) == 0;
}

static bool load_sockets(void)
{
    static INIT_ONCE loaded = INIT_ONCE_STATIC_INIT;
    return InitOnceExecuteOnce(&loaded, load_functions, NULL, NULL);
}

/* A connection: two sockets, closed by whichever side ends it first. */
struct link {
    struct proxy_server *server;
    SOCKET client, peer;
    uint16_t port; /* on the client's side */
    bool used;
};

/* Who connected: pid, image and cmdline of the subject. */
struct caller {
    struct ask_subject subject;
    struct buf image, cmdline;
};

struct proxy_server {
    struct broker *broker; /* its lock is for events and links */
    char secret[PROXY_SECRET + 1];
    struct desk *desk; /* NULL: nobody is asked */
    SOCKET listener;
    uint16_t port;
    HANDLE thread;
    bool closed;
    volatile LONG clients;
    struct link links[MOST_CLIENTS]; /* under the lock */
};

static bool send_all(SOCKET s, const char *bytes, size_t n)
{
    while (n > 0) {
        int sent = net.send(s, bytes, n < PIECE ? (int)n : PIECE, 0);
        if (sent <= 0)
            return false;
        bytes += sent;
        n -= (size_t)sent;
    }
    return true;
}

static bool flush(struct link *l, struct proxy *p)
{
    bool sent = send_all(l->client, p->output, p->output_n);
    p->output_n = 0;
    return sent;
}

enum { ADDRESS = 64 };

static struct net_host host_of(const struct sockaddr *address, char text[ADDRESS])
{
    const unsigned char *b;
    size_t at = 0;
    if (address->sa_family == AF_INET) {
        b = (const unsigned char *)&((const struct sockaddr_in *)(const void *)address)->sin_addr;
        snprintf(text, ADDRESS, "%u.%u.%u.%u", b[0], b[1], b[2], b[3]);
    } else {
        b = (const unsigned char *)&((const struct sockaddr_in6 *)(const void *)address)->sin6_addr;
        for (int i = 0; i < 16; i += 2)
            at += (size_t)snprintf(text + at, ADDRESS - at, i ? ":%x" : "%x", b[i] << 8 | b[i + 1]);
    }
    return net_read_host(str_of(text));
}

/* Dials the first permitted address and answers; sets *any if there was one at all. */
static SOCKET dial(const struct policy *policy, const struct policy_peer *peer, bool *any,
                   bool *allowed, char text[ADDRESS])
{
    const char *host = peer->host.p;
    struct addrinfo *found = NULL, hints = {.ai_socktype = SOCK_STREAM};
    SOCKET s = INVALID_SOCKET;
    char service[8];
    snprintf(service, sizeof service, "%u", peer->port);
    *any = net.find(host, service, &hints, &found) == 0 && found;
    *allowed = false;
    for (const struct addrinfo *a = *any ? found : NULL; a && s == INVALID_SOCKET; a = a->ai_next) {
        struct net_host where = host_of(a->ai_addr, text);
        if ((a->ai_family != AF_INET && a->ai_family != AF_INET6) ||
            !policy_net_may_dial(policy, peer, &where))
            continue;
        *allowed = true;
        s = net.socket(a->ai_family, SOCK_STREAM, 0);
        if (s != INVALID_SOCKET && net.connect(s, a->ai_addr, (int)a->ai_addrlen)) {
            net.close(s);
            s = INVALID_SOCKET;
        }
    }
    if (found)
        net.find_free(found);
    return s;
}

/* unreached: why a host that is allowed could not be reached; empty: it was, or it is not
   allowed. */
static void report(struct proxy_server *s, const struct ask_subject *caller, struct str target,
                   const struct policy_peer *peer, const struct policy_answer *answer,
                   struct str unreached, struct buf *why)
{
    struct broker *b = s->broker;
    auto_buf struct buf fix = {0};
    bool allowed = answer->verdict == CORDON_ALLOW;
    EnterCriticalSection(&s->broker->lock);
    if (!s->closed) {
        policy_net_explain(b->policy, peer, answer, why, &fix);
        b->event(b->context, &(struct audit_event){.type = allowed ? AUDIT_ALLOW : AUDIT_DENY,
                                                   .op = AUDIT_NET_CONNECT,
                                                   .time = b->now(),
                                                   .pid = caller->pid,
                                                   .image = caller->image,
                                                   .target = target,
                                                   .verdict = answer->verdict,
                                                   .rule = str_of(policy_rule_id(answer->rule)),
                                                   .notable = unreached.n > 0 && !peer->answered,
                                                   .why = unreached.n ? unreached : buf_str(why),
                                                   .fix = buf_str(&fix)});
    }
    LeaveCriticalSection(&s->broker->lock);
}

static bool has_left(void *context)
{
    struct link *l = context;
    char byte;
    DWORD ms = 1;
    net.option(l->client, SOL_SOCKET, SO_RCVTIMEO, (const char *)&ms, sizeof ms);
    int n = net.recv(l->client, &byte, 1, MSG_PEEK);
    DWORD why = GetLastError();
    ms = 0;
    net.option(l->client, SOL_SOCKET, SO_RCVTIMEO, (const char *)&ms, sizeof ms);
    return n == 0 || (n < 0 && why != WSAETIMEDOUT);
}

/* The process that connected; its names are empty if it is unknown. */
static void find_caller(const struct link *l, struct caller *out)
{
    struct broker *b = l->server->broker;
    out->subject.pid = network_owner(l->port, l->server->port);
    if (!process_names(b, out->subject.pid, &out->image, &out->cmdline))
        out->subject.pid = 0;
    out->subject.image = buf_str(&out->image);
    out->subject.cmdline = buf_str(&out->cmdline);
}

static void reach(struct link *l, struct proxy *p)
{
    struct proxy_server *s = l->server;
    struct policy_peer peer = {.host = str_of(p->host), .port = p->port};
    struct policy_answer answer = {0};
    auto_buf struct buf target = {0}, why = {0}, message = {0};
    struct caller caller = {0};
    bool any = false, may = false;
    char address[ADDRESS] = "";
    SOCKET out = INVALID_SOCKET;
    buf_fmt(&target, strchr(p->host, ':') ? "[%s]:%u" : "%s:%u", p->host, p->port);
    find_caller(l, &caller);
    policy_net_decide(s->broker->policy, &peer, &answer);
    if (answer.verdict != CORDON_ALLOW &&
        desk_ask_host(s->desk, &caller.subject, &peer, buf_str(&target), &answer, has_left, l)) {
        answer.verdict = CORDON_ALLOW;
        peer.answered = true;
    }
    if (answer.verdict == CORDON_ALLOW) {
        out = dial(s->broker->policy, &peer, &any, &may, address);
        if (any && !may) {
            answer = (struct policy_answer){.verdict = CORDON_DENY, .rule = RULE_NET_PRIVATE};
            peer.found = str_of(address);
            peer.granted = desk_ask_host(s->desk, &caller.subject, &peer, buf_str(&target), &answer,
                                         has_left, l);
            char refused[ADDRESS];
            if (peer.granted)
                out = dial(s->broker->policy, &peer, &any, &may, refused);
            if (peer.granted && may)
                answer.verdict = CORDON_ALLOW;
            peer.answered |= peer.granted;
        }
    }
    struct str failed = any ? STR("the host does not answer") : STR("host not found");
    bool lost = answer.verdict == CORDON_ALLOW && out == INVALID_SOCKET;
    report(s, &caller.subject, buf_str(&target), &peer, &answer, lost ? failed : STR_NONE, &why);
    if (lost && peer.answered)
        desk_failed(s->desk, caller.subject.pid, AUDIT_NET_CONNECT, buf_str(&target), failed);
    buf_free(&caller.image);
    buf_free(&caller.cmdline);
    if (answer.verdict != CORDON_ALLOW) {
        buf_fmt(&message, "cordon: sandbox denied: connect %s (rule %s); %s", buf_cstr(&target),
                policy_rule_id(answer.rule), buf_cstr(&why));
        proxy_answer(p, PROXY_REFUSED, buf_str(&message));
        return;
    }
    buf_fmt(&message, "cordon: %s: %.*s", buf_cstr(&target), STR_ARG(failed));
    proxy_answer(p, out == INVALID_SOCKET ? PROXY_UNREACHABLE : PROXY_CONNECTED, buf_str(&message));
    EnterCriticalSection(&s->broker->lock);
    if (s->closed && out != INVALID_SOCKET) {
        net.close(out);
        out = INVALID_SOCKET;
    }
    l->peer = out;
    LeaveCriticalSection(&s->broker->lock);
}

static void copy(SOCKET from, SOCKET to)
{
    char *piece = malloc(PIECE);
    int n;
    while (piece && (n = net.recv(from, piece, PIECE, 0)) > 0 && send_all(to, piece, (size_t)n))
        ;
    net.shutdown(to, SD_SEND);
    free(piece);
}

static DWORD WINAPI copy_back(void *context)
{
    struct link *l = context;
    copy(l->peer, l->client);
    return 0;
}

static void converse(struct link *l, struct proxy *p)
{
    char piece[4096];
    DWORD limit = GREETING_MS;
    proxy_init(p, str_of(l->server->secret));
    net.option(l->client, SOL_SOCKET, SO_RCVTIMEO, (const char *)&limit, sizeof limit);
    while (p->state == PROXY_READS) {
        size_t room = proxy_room(p) < sizeof piece ? proxy_room(p) : sizeof piece;
        int n = net.recv(l->client, piece, (int)room, 0);
        if (n <= 0)
            return;
        proxy_feed(p, (struct str){piece, (size_t)n});
        if (!flush(l, p))
            return;
    }
    limit = 0;
    net.option(l->client, SOL_SOCKET, SO_RCVTIMEO, (const char *)&limit, sizeof limit);
    if (p->state != PROXY_ASKS)
        return;
    reach(l, p);
    if (!flush(l, p) || l->peer == INVALID_SOCKET || !send_all(l->peer, p->input, p->input_n))
        return;
    HANDLE back = CreateThread(NULL, STACK, copy_back, l, STACK_SIZE_PARAM_IS_A_RESERVATION, NULL);
    if (!back)
        return;
    copy(l->client, l->peer);
    WaitForSingleObject(back, INFINITE);
    CloseHandle(back);
}

static DWORD WINAPI serve_client(void *context)
{
    struct link *l = context;
    struct proxy_server *s = l->server;
    struct proxy *p = malloc(sizeof *p);
    if (p)
        converse(l, p);
    free(p);
    EnterCriticalSection(&s->broker->lock);
    net.close(l->client);
    if (l->peer != INVALID_SOCKET)
        net.close(l->peer);
    l->used = false;
    LeaveCriticalSection(&s->broker->lock);
    InterlockedDecrement(&s->clients);
    return 0;
}

static struct link *take_link(struct proxy_server *s, SOCKET client, uint16_t port)
{
    struct link *found = NULL;
    EnterCriticalSection(&s->broker->lock);
    for (size_t i = 0; i < MOST_CLIENTS && !found && !s->closed; i++)
        if (!s->links[i].used)
            found = &s->links[i];
    if (found)
        *found = (struct link){s, client, INVALID_SOCKET, port, true};
    LeaveCriticalSection(&s->broker->lock);
    return found;
}

static DWORD WINAPI serve(void *context)
{
    struct proxy_server *s = context;
    SOCKET client;
    struct sockaddr_in from = {0};
    int length = sizeof from;
    while ((client = net.accept(s->listener, (struct sockaddr *)&from, &length)) !=
           INVALID_SOCKET) {
        struct link *l = take_link(s, client, network_port(from.sin_port));
        length = sizeof from;
        InterlockedIncrement(&s->clients);
        HANDLE thread =
            l ? CreateThread(NULL, STACK, serve_client, l, STACK_SIZE_PARAM_IS_A_RESERVATION, NULL)
              : NULL;
        if (thread) {
            CloseHandle(thread);
            continue;
        }
        InterlockedDecrement(&s->clients);
        net.close(client);
        if (l)
            l->used = false;
    }
    return 0;
}

struct proxy_server *proxy_open(struct broker *broker, struct str secret, struct desk *desk)
{
    struct sockaddr_in here = {.sin_family = AF_INET};
    unsigned char loopback[4] = {127, 0, 0, 1};
    int length = sizeof here;
    struct proxy_server *s = load_sockets() ? calloc(1, sizeof *s) : NULL;
    if (!s)
        return NULL;
    memcpy(&here.sin_addr, loopback, sizeof loopback);
    s->broker = broker;
    s->desk = desk;
    snprintf(s->secret, sizeof s->secret, "%.*s", STR_ARG(secret));
    s->listener = net.socket(AF_INET, SOCK_STREAM, 0);
    if (s->listener != INVALID_SOCKET &&
        net.bind(s->listener, (struct sockaddr *)&here, length) == 0 &&
        net.listen(s->listener, 128) == 0 &&
        net.name(s->listener, (struct sockaddr *)&here, &length) == 0) {
        s->port = network_port(here.sin_port);
        s->thread = CreateThread(NULL, STACK, serve, s, STACK_SIZE_PARAM_IS_A_RESERVATION, NULL);
    }
    if (s->thread)
        return s;
    if (s->listener != INVALID_SOCKET)
        net.close(s->listener);
    free(s);
    return NULL;
}

uint16_t proxy_port(const struct proxy_server *s)
{
    return s->port;
}

void proxy_close(struct proxy_server *s)
{
    if (!s)
        return;
    EnterCriticalSection(&s->broker->lock);
    s->closed = true;
    for (size_t i = 0; i < MOST_CLIENTS; i++)
        if (s->links[i].used) {
            net.shutdown(s->links[i].client, SD_BOTH);
            if (s->links[i].peer != INVALID_SOCKET)
                net.shutdown(s->links[i].peer, SD_BOTH);
        }
    LeaveCriticalSection(&s->broker->lock);
    net.close(s->listener);
    WaitForSingleObject(s->thread, 2000);
    for (int i = 0; s->clients > 0 && i < 200; i++)
        Sleep(5);
    CloseHandle(s->thread);
    if (s->clients == 0)
        free(s); /* otherwise a thread still waits for name resolution; the process ends soon */
}

bool proxy_lookup(struct str host, struct buf *out)
{
    struct addrinfo *found = NULL, hints = {.ai_socktype = SOCK_STREAM};
    auto_buf struct buf name = {0};
    buf_add(&name, host);
    if (!load_sockets() || net.find(buf_cstr(&name), "1", &hints, &found) || !found)
        return false;
    const unsigned char *b;
    if (found->ai_family == AF_INET) {
        b = (const unsigned char *)&((struct sockaddr_in *)(void *)found->ai_addr)->sin_addr;
        buf_fmt(out, "%u.%u.%u.%u", b[0], b[1], b[2], b[3]);
    } else {
        b = (const unsigned char *)&((struct sockaddr_in6 *)(void *)found->ai_addr)->sin6_addr;
        for (int i = 0; i < 16; i += 2)
            buf_fmt(out, i ? ":%x" : "%x", b[i] << 8 | b[i + 1]);
    }
    net.find_free(found);
    return !out->failed;
}
