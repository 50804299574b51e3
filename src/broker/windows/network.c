/* SPDX-License-Identifier: Apache-2.0 */
/* Connections: the address a socket wants, judged by the policy. */
#include <winsock2.h>

#include <iphlpapi.h>
#include <stdio.h>
#include <stdlib.h>
#include <ws2tcpip.h>

#include "broker/windows/ask.h"
#include "policy/net.h"

enum { MOST_TABLE = 4 * 1024 * 1024 };

uint16_t network_port(uint16_t network_order)
{
    return (uint16_t)(network_order << 8 | network_order >> 8);
}

/* Which process owns which port. Loaded at the first connection, so that runs without any pay
   nothing. */
static struct {
    DWORD(WINAPI *tcp)(void *, DWORD *, BOOL, ULONG, TCP_TABLE_CLASS, ULONG);
    DWORD(WINAPI *udp)(void *, DWORD *, BOOL, ULONG, UDP_TABLE_CLASS, ULONG);
} tables;

static BOOL CALLBACK load_functions(INIT_ONCE *once, void *argument, void **result)
{
    (void)once, (void)argument, (void)result;
    HMODULE library = LoadLibraryExW(L"iphlpapi.dll", NULL, LOAD_LIBRARY_SEARCH_SYSTEM32);
    if (!library)
        return FALSE;
    tables.udp = (void *)GetProcAddress(library, "GetExtendedUdpTable");
    tables.tcp = (void *)GetProcAddress(library, "GetExtendedTcpTable");
    return tables.tcp && tables.udp;
}

static bool load_tables(void)
{
    static INIT_ONCE loaded = INIT_ONCE_STATIC_INIT;
    return InitOnceExecuteOnce(&loaded, load_functions, NULL, NULL);
}

enum table { LISTENERS, CONNECTIONS, DATAGRAMS };

/* The rows as they are now, behind their number; NULL: none. The caller frees them. */
static void *read_table(enum table which, int family)
{
    ULONG size = 16384;
    DWORD got = ERROR_INSUFFICIENT_BUFFER;
    void *table = NULL;
    if (!load_tables())
        return NULL;
    for (int tries = 0; tries < 4 && size <= MOST_TABLE && got == ERROR_INSUFFICIENT_BUFFER;
         tries++) {
        free(table);
        table = malloc(size);
        if (!table)
            return NULL;
        got = which == DATAGRAMS
                  ? tables.udp(table, &size, FALSE, (ULONG)family, UDP_TABLE_OWNER_PID, 0)
                  : tables.tcp(table, &size, FALSE, (ULONG)family,
                               which == LISTENERS ? TCP_TABLE_OWNER_PID_LISTENER
                                                  : TCP_TABLE_OWNER_PID_CONNECTIONS,
                               0);
    }
    if (got == NO_ERROR)
        return table;
    free(table);
    return NULL;
}

static bool is_bound(struct broker *b, uint16_t port)
{
    EnterCriticalSection(&b->lock);
    bool bound = b->bound[port / 8] >> port % 8 & 1;
    LeaveCriticalSection(&b->lock);
    return bound;
}

/* True if a listener of the tree owns this port on this machine. */
static bool port_is_ours(struct broker *b, int family, uint16_t port, bool udp)
{
    bool ours = false;
    void *table = read_table(udp ? DATAGRAMS : LISTENERS, family);
    DWORD count = table ? *(DWORD *)table : 0;
    for (DWORD i = 0; i < count && !ours; i++) {
        DWORD local, pid;
        if (udp && family == AF_INET) {
            const MIB_UDPROW_OWNER_PID *row = &((MIB_UDPTABLE_OWNER_PID *)table)->table[i];
            local = row->dwLocalPort, pid = row->dwOwningPid;
        } else if (udp) {
            const MIB_UDP6ROW_OWNER_PID *row = &((MIB_UDP6TABLE_OWNER_PID *)table)->table[i];
            local = row->dwLocalPort, pid = row->dwOwningPid;
        } else if (family == AF_INET) {
            const MIB_TCPROW_OWNER_PID *row = &((MIB_TCPTABLE_OWNER_PID *)table)->table[i];
            local = row->dwLocalPort, pid = row->dwOwningPid;
        } else {
            const MIB_TCP6ROW_OWNER_PID *row = &((MIB_TCP6TABLE_OWNER_PID *)table)->table[i];
            local = row->dwLocalPort, pid = row->dwOwningPid;
        }
        if (network_port((uint16_t)local) != port)
            continue;
        /* Where Windows does not say who owns the port (Wine never does), or the socket was
           opened here on the tree's behalf, the tree's own list counts. */
        ours = pid && pid != GetCurrentProcessId() ? broker_has(b, pid) : is_bound(b, port);
    }
    free(table);
    return ours;
}

DWORD network_owner(uint16_t from, uint16_t to)
{
    DWORD pid = 0;
    MIB_TCPTABLE_OWNER_PID *table = read_table(CONNECTIONS, AF_INET);
    for (DWORD i = 0; table && i < table->dwNumEntries && !pid; i++) {
        const MIB_TCPROW_OWNER_PID *row = &table->table[i];
        if (network_port((uint16_t)row->dwLocalPort) == from &&
            network_port((uint16_t)row->dwRemotePort) == to)
            pid = row->dwOwningPid;
    }
    free(table);
    return pid;
}

struct peer {
    char host[INET6_ADDRSTRLEN + 1], text[INET6_ADDRSTRLEN + 16];
    uint16_t port;
    int family;
    bool loopback;
};

static bool read_peer(const struct request *r, struct peer *out)
{
    const unsigned char *bytes = r->wire.text[0].p;
    size_t n = r->wire.text[0].n;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    uint16_t family;
    *out = (struct peer){0};
    if (n < sizeof family)
        return false;
    memcpy(&family, bytes, sizeof family);
    out->family = family;
    if (family == AF_INET && n >= 8) {
        memset(&v4, 0, sizeof v4);
        memcpy(&v4, bytes, n < sizeof v4 ? n : sizeof v4);
        const unsigned char *a = (const unsigned char *)&v4.sin_addr;
        snprintf(out->host, sizeof out->host, "%u.%u.%u.%u", a[0], a[1], a[2], a[3]);
        snprintf(out->text, sizeof out->text, "%s:%u", out->host, network_port(v4.sin_port));
        out->port = network_port(v4.sin_port);
        out->loopback = a[0] == 127;
        return true;
    }
    if (family == AF_INET6 && n >= 24) {
        memset(&v6, 0, sizeof v6);
        memcpy(&v6, bytes, n < sizeof v6 ? n : sizeof v6);
        size_t at = 0;
        const unsigned char *a = (const unsigned char *)&v6.sin6_addr;
        static const unsigned char one[16] = {[15] = 1}, mapped[12] = {[10] = 0xFF, [11] = 0xFF};
        const char *form = "[%s]:%u";
        if (memcmp(a, mapped, sizeof mapped) == 0) {
            snprintf(out->host, sizeof out->host, "%u.%u.%u.%u", a[12], a[13], a[14], a[15]);
            out->loopback = a[12] == 127;
            out->family = AF_INET;
            form = "%s:%u";
        } else {
            for (int i = 0; i < 16; i += 2)
                at += (size_t)snprintf(out->host + at, sizeof out->host - at, i ? ":%x" : "%x",
                                       a[i] << 8 | a[i + 1]);
            out->loopback = memcmp(a, one, sizeof one) == 0;
        }
        out->port = network_port(v6.sin6_port);
        snprintf(out->text, sizeof out->text, form, out->host, out->port);
        return true;
    }
    return false;
}

static void refuse_kind(struct request *r, const char *what)
{
    enum policy_net net = policy_settings_of(r->broker->policy)->net;
    if (net == POLICY_NET_ON) {
        request_answer(r, STATUS_SUCCESS);
        return;
    }
    request_deny_text(r, AUDIT_NET_CONNECT, str_of(what), str_of(policy_rule_id(RULE_NET_OFF)),
                      STR("only plain TCP and UDP sockets can be judged by their address"),
                      STR("allow with --net=on"));
}

/* Family, type, protocol. */
static void judge_kind(struct request *r, const int32_t words[3])
{
    enum { RAW = 3, UNSPECIFIED = 0, UNIX = 1 };
    if ((words[0] != AF_INET && words[0] != AF_INET6 && words[0] != UNSPECIFIED) || words[1] == RAW)
        refuse_kind(r, words[1] == RAW    ? "a raw socket"
                       : words[0] == UNIX ? "a local socket of the AF_UNIX family"
                                          : "a socket of another family");
    else
        request_answer(r, STATUS_SUCCESS);
}

static void create(struct request *r)
{
    int32_t words[3];
    if (r->wire.text[0].n < sizeof words) {
        request_answer(r, STATUS_INVALID_PARAMETER);
        return;
    }
    memcpy(words, r->wire.text[0].p, sizeof words);
    judge_kind(r, words);
}

/* The attribute of an open that creates a socket: FILE_FULL_EA_INFORMATION with AFD_OPEN_PACKET. */
struct socket_attribute {
    ULONG next;
    UCHAR flags, name_size;
    USHORT value_size;
    char name[16];
    ULONG kind, group;
    int32_t family, type, protocol;
    ULONG device_size;
};
_Static_assert(offsetof(struct socket_attribute, kind) == 24, "layout");

bool network_allows_socket(struct request *r, const void *attribute, size_t size)
{
    /* Connectionless and message-oriented, like UDP; and "not through TDI", whose bit differs
       between headers. */
    enum { PLAIN = 0x1 | 0x10 | 0x20000 | 0x1000000 };
    struct socket_attribute a;
    if (size < sizeof a) {
        refuse_kind(r, "a socket that says nothing of itself");
        return (NTSTATUS)r->answer.status >= 0;
    }
    memcpy(&a, attribute, sizeof a);
    bool packet = a.name_size == 15 && memcmp(a.name, "AfdOpenPacketXX", 16) == 0 && a.next == 0 &&
                  a.value_size >= sizeof a - offsetof(struct socket_attribute, kind);
    if (packet && a.device_size != 0) {
        request_deny_text(r, AUDIT_NET_CONNECT, STR("a socket of a named transport"),
                          str_of(policy_rule_id(RULE_NET_OFF)),
                          STR("its addresses could not be judged"), STR(POLICY_NO_REMEDY));
        return false;
    }
    if (!packet || a.kind & ~(ULONG)PLAIN)
        refuse_kind(r, "a socket of another kind");
    else
        judge_kind(r, (const int32_t[]){a.family, a.type, a.protocol});
    return (NTSTATUS)r->answer.status >= 0;
}

/* True if a way out leads to another machine, or may be allowed to: sockets that go there need a
   network address. */
static bool leaves_machine(const struct broker *b)
{
    return b->asks ||
           (b->way_port && strncmp(b->way_host, "127.", 4) != 0 && strcmp(b->way_host, "::1") != 0);
}

/* A socket without a port of its own was left on every address; as a listener it would be open to
   the network. */
static void listen_on(struct request *r)
{
    enum { GET_ADDRESS = 0x1202F };
    unsigned char address[128] = {0};
    static const unsigned char none[16];
    IO_STATUS_BLOCK io;
    HANDLE socket;
    uint64_t value = r->wire.numbers[0];
    request_answer(r, STATUS_SUCCESS);
    if (policy_settings_of(r->broker->policy)->net == POLICY_NET_ON || !leaves_machine(r->broker))
        return;
    if (value == 0 || value > 0x7FFFFFFF || value % 4 ||
        !DuplicateHandle(r->client->process, (HANDLE)(uintptr_t)value, GetCurrentProcess(), &socket,
                         0, FALSE, DUPLICATE_SAME_ACCESS)) {
        request_answer(r, STATUS_INVALID_HANDLE);
        return;
    }
    NTSTATUS status = NtDeviceIoControlFile(socket, NULL, NULL, NULL, &io, GET_ADDRESS, NULL, 0,
                                            address, sizeof address);
    CloseHandle(socket);
    bool six = address[0] == AF_INET6;
    if (status < 0 || memcmp(address + (six ? 8 : 4), none, six ? 16 : 4) == 0)
        request_deny_text(r, AUDIT_NET_LISTEN, STR("every address of this machine"),
                          str_of(policy_rule_id(RULE_NET_PROXY)),
                          STR("others on the network could connect to it"),
                          STR("listen on 127.0.0.1"));
}

/* A port that the tree bound is its own from then on. */
static void remember_bound(struct request *r, uint16_t port)
{
    EnterCriticalSection(&r->broker->lock);
    r->broker->bound[port / 8] |= (unsigned char)(1 << port % 8);
    LeaveCriticalSection(&r->broker->lock);
    request_answer(r, STATUS_SUCCESS);
}

/* Servers usually listen on every address of the machine; unless the network is on, they get the
   loopback address. */
static bool narrow(struct request *r, const struct peer *peer)
{
    bool any = strcmp(peer->host, "0.0.0.0") == 0 || strcmp(peer->host, "0:0:0:0:0:0:0:0") == 0;
    if (!any || policy_settings_of(r->broker->policy)->net == POLICY_NET_ON)
        return false;
    /* Before connecting, too, a socket is bound to any address and port. */
    r->answer.flags |= peer->port == 0 && leaves_machine(r->broker) ? 0 : WIRE_LOOPBACK;
    return true;
}

/* The address of the proxy, the one way out that the run was given. */
static bool is_way_out(const struct broker *b, const struct peer *peer)
{
    struct net_host host = net_read_host(str_of(peer->host)),
                    way = net_read_host(str_of(b->way_host));
    return b->way_port && peer->port == b->way_port && net_equal(&host, &way);
}

/* The tree may use loopback ports of its own in every mode. */
static bool is_in_run(struct broker *b, const struct peer *peer, uint64_t what)
{
    bool udp = what == WIRE_NET_SEND;
    return peer->loopback &&
           (what == WIRE_NET_BIND || port_is_ours(b, peer->family, peer->port, udp) ||
            port_is_ours(b, peer->family == AF_INET ? AF_INET6 : AF_INET, peer->port, udp));
}

/* Refused by the policy: whoever is asked may allow a connection. */
static void refuse(struct request *r, const struct peer *peer, const struct policy_peer *asked,
                   const struct policy_answer *answer, uint64_t what)
{
    auto_buf struct buf why = {0}, fix = {0};
    policy_net_explain(r->broker->policy, asked, answer, &why, &fix);
    if (what == WIRE_NET_CONNECT && ask_can_lift(ASK_CONNECT, answer->rule)) {
        enum ask_ruling ruling =
            broker_ask_rule(r,
                            &(struct ask_subject){.kind = ASK_CONNECT,
                                                  .op = AUDIT_NET_CONNECT,
                                                  .target = str_of(peer->text),
                                                  .host = str_of(peer->host),
                                                  .rule = str_of(policy_rule_id(answer->rule)),
                                                  .why = buf_str(&why),
                                                  .fix = buf_str(&fix)},
                            &(struct ask_objects){0});
        if (ruling == ASK_GRANTS)
            request_answer(r, STATUS_SUCCESS);
        if (ruling != ASK_DENIES)
            return;
    }
    request_deny_text(r,
                      what == WIRE_NET_BIND   ? AUDIT_NET_BIND
                      : what == WIRE_NET_SEND ? AUDIT_NET_SEND
                                              : AUDIT_NET_CONNECT,
                      str_of(peer->text), str_of(policy_rule_id(answer->rule)), buf_str(&why),
                      buf_str(&fix));
}

static void judge(struct request *r, const struct peer *peer, uint64_t what)
{
    struct broker *b = r->broker;
    /* A port that has not been chosen yet is judged like any other. */
    struct policy_peer asked = {.host = str_of(peer->host),
                                .port = peer->port ? peer->port : 1,
                                .in_run = is_in_run(b, peer, what)};
    struct policy_answer answer = {0};
    policy_net_decide(b->policy, &asked, &answer);
    /* Listed addresses are also reached through the proxy, so that every request becomes an
       event. */
    if (b->way_port && !asked.in_run &&
        !(peer->loopback && policy_net_local(b->policy, asked.port)))
        answer.verdict = CORDON_DENY;
    if (answer.verdict == CORDON_ALLOW)
        request_answer(r, STATUS_SUCCESS);
    else
        refuse(r, peer, &asked, &answer, what);
}

void network_handle(struct request *r)
{
    struct peer peer;
    uint64_t what = r->wire.numbers[1];
    if (what == WIRE_NET_CREATE)
        create(r);
    else if (what == WIRE_NET_LISTEN)
        listen_on(r);
    else if (what == WIRE_NET_OTHER)
        refuse_kind(r, "a call without an address that can be read");
    else if (!read_peer(r, &peer))
        refuse_kind(r, "a socket of another family");
    else if (what == WIRE_NET_BOUND)
        remember_bound(r, peer.port);
    else if ((what == WIRE_NET_CONNECT && is_way_out(r->broker, &peer)) ||
             (what == WIRE_NET_BIND && narrow(r, &peer)))
        request_answer(r, STATUS_SUCCESS);
    else
        judge(r, &peer, what);
}
