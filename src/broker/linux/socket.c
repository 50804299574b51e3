/* SPDX-License-Identifier: Apache-2.0 */
/* Sockets: which kinds the tree may create, and whom they may reach. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "broker/linux/broker.h"
#include "broker/linux/proxy_serve.h"
#include "policy/net.h"

static enum policy_net net_of(const struct broker *b)
{
    return policy_settings_of(b->policy)->net;
}

static void refuse(struct broker *b, struct request *r, enum audit_op op, struct str target,
                   const char *why, const char *fix)
{
    static const enum policy_rule rules[] = {[POLICY_NET_OFF] = RULE_NET_OFF,
                                             [POLICY_NET_LOOPBACK] = RULE_NET_LOOPBACK,
                                             [POLICY_NET_PROXY] = RULE_NET_PROXY,
                                             [POLICY_NET_ALLOW] = RULE_NET_ALLOW,
                                             [POLICY_NET_ON] = RULE_NET_ON};
    struct str rule = str_of(policy_rule_id(rules[net_of(b)]));
    broker_report_text(b, r, op, target, AUDIT_DENY, rule, str_of(why), str_of(fix));
    request_fail(r, EACCES);
}

/* Packets of any program could be read and made up with it, so it is closed in every mode. */
static void refuse_raw(struct broker *b, struct request *r)
{
    broker_report_text(b, r, AUDIT_NET_SEND, STR("packets by a raw socket"), AUDIT_DENY,
                       str_of(policy_rule_id(RULE_NET_RAW)),
                       STR("a raw socket sees and sends packets of other programs"),
                       STR("this cannot be overridden"));
    request_fail(r, EACCES);
}

/* Streams are judged when they connect. Datagrams name their peer in each send, which is not
   inspected, so they are available only where the network is on. */
void socket_make(struct broker *b, struct request *r)
{
    enum { ROUTE = 0 };
    int domain = (int)r->args[0], type = (int)r->args[1] & 0xF, protocol = (int)r->args[2];
    bool on = net_of(b) == POLICY_NET_ON;
    switch (domain) {
    case AF_UNIX:
        if (type == SOCK_STREAM || type == SOCK_SEQPACKET) {
            request_continue(r);
            return;
        }
        broker_report_text(b, r, AUDIT_PIPE_CREATE, STR("local datagram socket"), AUDIT_DENY,
                           str_of(policy_rule_id(RULE_PIPE_OUTSIDE)),
                           STR("it names its peer in each send, which is not inspected"),
                           STR("this cannot be overridden"));
        request_fail(r, EACCES);
        return;
    case AF_INET:
    case AF_INET6:
        /* Other stream protocols connect through a socket option, which is not inspected. */
        if (type == SOCK_STREAM && protocol != 0 && protocol != IPPROTO_TCP)
            break;
        if (type == SOCK_STREAM || (type == SOCK_DGRAM && on)) {
            request_continue(r);
            return;
        }
        if (type == SOCK_DGRAM && datagram_give(b, r))
            return;
        if (type == SOCK_RAW || type == SOCK_PACKET)
            refuse_raw(b, r);
        else if (type == SOCK_DGRAM)
            refuse(b, r, AUDIT_NET_SEND, STR("UDP"),
                   "datagrams could go anywhere, so they need the network to be on", "--net=on");
        else
            break;
        return;
    case AF_PACKET: refuse_raw(b, r); return;
    case AF_NETLINK:
        if (protocol == ROUTE) {
            request_continue(r); /* which addresses this machine has */
            return;
        }
        break;
    default: break;
    }
    request_fail(r, EAFNOSUPPORT);
}

/* The peer's host and port as text; false for other address families. */
static bool spell_peer(const struct sockaddr_storage *address, char *host, size_t capacity,
                       uint16_t *port)
{
    const void *bytes;
    if (address->ss_family == AF_INET) {
        const struct sockaddr_in *in = (const void *)address;
        bytes = &in->sin_addr;
        *port = ntohs(in->sin_port);
    } else if (address->ss_family == AF_INET6) {
        const struct sockaddr_in6 *in = (const void *)address;
        bytes = &in->sin6_addr;
        *port = ntohs(in->sin6_port);
    } else {
        return false;
    }
    return inet_ntop(address->ss_family, bytes, host, (socklen_t)capacity) != NULL;
}

static bool is_loopback(const struct sockaddr_storage *address)
{
    if (address->ss_family == AF_INET)
        return (ntohl(((const struct sockaddr_in *)(const void *)address)->sin_addr.s_addr) >>
                24) == 127;
    const struct in6_addr *six = &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr;
    if (IN6_IS_ADDR_V4MAPPED(six))
        return six->s6_addr[12] == 127;
    return IN6_IS_ADDR_LOOPBACK(six);
}

/* Parses one listener in /proc/net/tcp: its address, port and inode; false if the line is not
   one. */
struct listener {
    char address[33];
    unsigned port;
    unsigned long inode;
};

static bool read_listener(const char *line, struct listener *out)
{
    enum { LISTENS = 0x0A };
    unsigned state;
    return sscanf(line, " %*u: %32[0-9A-Fa-f]:%x %*[0-9A-Fa-f]:%*x %x %*s %*s %*s %*u %*u %lu",
                  out->address, &out->port, &state, &out->inode) == 4 &&
           state == LISTENS;
}

/* An address as those files spell it; an IPv4-mapped one is treated as IPv4. */
static void spell_listener(const struct sockaddr_storage *address, char out[33])
{
    uint32_t words[4];
    if (address->ss_family == AF_INET) {
        snprintf(out, 33, "%08X",
                 ((const struct sockaddr_in *)(const void *)address)->sin_addr.s_addr);
        return;
    }
    memcpy(words, &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr, sizeof words);
    snprintf(out, 33, "%08X%08X%08X%08X", words[0], words[1], words[2], words[3]);
}

/* True if a connection to one address could arrive at the other. */
static bool addresses_meet(const char *a, const char *b)
{
    static const char mapped[] = "0000000000000000FFFF0000";
    const size_t n = sizeof mapped - 1;
    a += strncmp(a, mapped, n) == 0 ? n : 0;
    b += strncmp(b, mapped, n) == 0 ? n : 0;
    return strcmp(a, b) == 0 || strspn(a, "0") == strlen(a) || strspn(b, "0") == strlen(b);
}

/* True if a process outside listens there: with SO_REUSEPORT the run would take a share of that
   server's connections. */
static bool is_served_outside(const struct broker *b, const struct sockaddr_storage *own,
                              uint16_t port)
{
    static const char *const tables[] = {"/proc/net/tcp", "/proc/net/tcp6"};
    char line[512], address[33];
    bool found = false;
    spell_listener(own, address);
    for (size_t i = 0; i < sizeof tables / sizeof *tables && !found; i++) {
        struct listener l;
        FILE *f = fopen(tables[i], "re");
        while (f && !found && fgets(line, sizeof line, f))
            found = read_listener(line, &l) && l.port == port &&
                    addresses_meet(l.address, address) &&
                    !id_set_count(&b->listeners, (struct file_id){.id = l.inode});
        if (f)
            fclose(f);
    }
    return found;
}

/*
 * True if every listener on this port is a socket that this run bound. The port number alone says
 * nothing: the run could bind 127.0.0.2:P beside a server on 127.0.0.1:P, or close its own socket
 * and wait.
 */
static bool own_port(const struct broker *b, uint16_t port)
{
    static const char *const tables[] = {"/proc/net/tcp", "/proc/net/tcp6"};
    size_t own = 0;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        char line[512];
        struct listener l;
        FILE *f = fopen(tables[i], "re");
        while (f && fgets(line, sizeof line, f)) {
            if (!read_listener(line, &l) || l.port != port)
                continue;
            if (!id_set_count(&b->listeners, (struct file_id){.id = l.inode})) {
                fclose(f);
                return false;
            }
            own++;
        }
        if (f)
            fclose(f);
    }
    return own > 0;
}

/* Connecting may take time, so it gets a thread of its own. */
static void connect_slowly(struct slow_call *call)
{
    slow_may_wait(true);
    int rc = connect(call->held[0], (struct sockaddr *)&call->address, call->length);
    int error = rc ? errno : 0;
    slow_may_wait(false);
    if (error)
        slow_fail(call, error);
    else
        request_succeed(&call->request, 0);
}

/* Takes ownership of the object that the address names; -1: none. */
static void connect_for(struct broker *b, struct request *r, const void *address, socklen_t length,
                        int object)
{
    struct slow_call call = {.work = connect_slowly,
                             .held = {request_descriptor(r, (int)r->args[0]), object},
                             .length = length};
    memcpy(&call.address, address, length);
    if (call.held[0] >= 0) {
        slow_start(b, r, &call);
        return;
    }
    request_fail(r, -call.held[0]);
    if (object >= 0)
        close(object);
}

static bool same_peer(const struct sockaddr_storage *a, const struct sockaddr_storage *b)
{
    if (a->ss_family != b->ss_family)
        return false;
    if (a->ss_family == AF_INET) {
        const struct sockaddr_in *x = (const void *)a, *y = (const void *)b;
        return x->sin_port == y->sin_port && x->sin_addr.s_addr == y->sin_addr.s_addr;
    }
    const struct sockaddr_in6 *x = (const void *)a, *y = (const void *)b;
    return a->ss_family == AF_INET6 && x->sin6_port == y->sin6_port &&
           memcmp(&x->sin6_addr, &y->sin6_addr, sizeof x->sin6_addr) == 0;
}

enum { NAME_SERVER = 53 };

/* As the proxy reports what it dials. */
static void report_listed(struct broker *b, const struct request *r, const char *host,
                          uint16_t port)
{
    char image[PATH_MAX], target[INET6_ADDRSTRLEN + 16];
    snprintf(target, sizeof target, strchr(host, ':') ? "[%s]:%u" : "%s:%u", host, (unsigned)port);
    b->event(b->context, &(struct audit_event){.type = AUDIT_ALLOW,
                                               .op = AUDIT_NET_CONNECT,
                                               .time = b->now(),
                                               .pid = process_caller(b, r),
                                               .image = broker_image(r, image, sizeof image),
                                               .target = str_of(target),
                                               .verdict = CORDON_ALLOW,
                                               .rule = str_of(policy_rule_id(RULE_NET_ALLOW))});
}

/* Tells the proxy who is about to connect to it. The socket gets its port now instead of when it
   connects; one that has a port already keeps it. */
static void note_caller(struct broker *b, struct request *r, sa_family_t family)
{
    struct sockaddr_storage here = {.ss_family = family};
    socklen_t length = sizeof here;
    char host[INET6_ADDRSTRLEN];
    uint16_t port = 0;
    int fd = b->own_proxy ? request_descriptor(r, (int)r->args[0]) : -1;
    if (fd < 0)
        return;
    if (family == AF_INET6)
        inet_pton(AF_INET6, "::ffff:127.0.0.1", &((struct sockaddr_in6 *)(void *)&here)->sin6_addr);
    else
        ((struct sockaddr_in *)(void *)&here)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    bind(fd, (struct sockaddr *)&here, sizeof here);
    if (getsockname(fd, (struct sockaddr *)&here, &length) == 0 &&
        spell_peer(&here, host, sizeof host, &port) && port)
        proxy_note(b->own_proxy, port, process_caller(b, r));
    close(fd);
}

/* A dual-stack socket reaches IPv4 by mapped addresses: they are judged as the IPv4 ones, while
   the socket connects to the address that it can take. */
static struct sockaddr_storage unmapped(const struct sockaddr_storage *address)
{
    const struct sockaddr_in6 *six = (const void *)address;
    struct sockaddr_storage out = *address;
    if (address->ss_family != AF_INET6 || !IN6_IS_ADDR_V4MAPPED(&six->sin6_addr))
        return out;
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = six->sin6_port};
    memcpy(&four.sin_addr, six->sin6_addr.s6_addr + 12, sizeof four.sin_addr);
    out = (struct sockaddr_storage){0};
    memcpy(&out, &four, sizeof four);
    return out;
}

static void connect_internet(struct broker *b, struct request *r,
                             const struct sockaddr_storage *given, socklen_t length)
{
    const struct sockaddr_storage plain = unmapped(given), *address = &plain;
    char host[INET6_ADDRSTRLEN], target[INET6_ADDRSTRLEN + 16];
    struct policy_peer peer = {0};
    struct policy_answer answer = {0};
    if (!spell_peer(address, host, sizeof host, &peer.port)) {
        request_fail(r, EAFNOSUPPORT);
        return;
    }
    /* Resolvers ask by port 0 from which address they would reach a host. */
    if (peer.port == 0 && net_of(b) == POLICY_NET_ON) {
        connect_for(b, r, given, length, -1);
        return;
    }
    bool proxied = b->proxy.ss_family != AF_UNSPEC;
    if (proxied && same_peer(address, &b->proxy)) {
        note_caller(b, r, given->ss_family);
        connect_for(b, r, given, length, -1);
        return;
    }
    peer.host = str_of(host);
    peer.in_run = is_loopback(address) && own_port(b, peer.port);
    policy_net_decide(b->policy, &peer, &answer);
    /* Names are looked up by the proxy alone. An address that is listed itself says all, so a
       program that asks no proxy may connect to it; what the proxy would not dial stays closed. */
    struct net_host literal = net_read_host(peer.host);
    bool listed = proxied && net_of(b) == POLICY_NET_ALLOW && answer.verdict == CORDON_ALLOW &&
                  !is_loopback(address) && !datagram_is(r, (int)r->args[0]) &&
                  policy_net_may_dial(b->policy, &peer, &literal);
    if (proxied && !listed && !peer.in_run &&
        !(is_loopback(address) && policy_net_local(b->policy, peer.port)))
        answer.verdict = CORDON_DENY;
    if (answer.verdict == CORDON_ALLOW) {
        if (listed)
            report_listed(b, r, host, peer.port);
        connect_for(b, r, given, length, -1);
        return;
    }
    bool datagram = datagram_is(r, (int)r->args[0]);
    if (datagram && peer.port == NAME_SERVER) {
        request_succeed(r, 0);
        return;
    }
    auto_buf struct buf why = {0}, fix = {0};
    policy_net_explain(b->policy, &peer, &answer, &why, &fix);
    snprintf(target, sizeof target, strchr(host, ':') ? "[%s]:%u" : "%s:%u", host,
             (unsigned)peer.port);
    struct ask_subject subject = {.kind = ASK_CONNECT,
                                  .op = AUDIT_NET_CONNECT,
                                  .target = str_of(target),
                                  .host = peer.host,
                                  .rule = str_of(policy_rule_id(answer.rule)),
                                  .why = buf_str(&why),
                                  .fix = buf_str(&fix)};
    enum broker_ruling ruling = !datagram && ask_can_lift(ASK_CONNECT, answer.rule)
                                    ? broker_ask_rule(b, r, &subject, NULL)
                                    : BROKER_DENIES;
    if (ruling == BROKER_GRANTS)
        connect_for(b, r, given, length, -1);
    if (ruling != BROKER_DENIES)
        return;
    broker_report_text(b, r, datagram ? AUDIT_NET_SEND : AUDIT_NET_CONNECT, str_of(target),
                       AUDIT_DENY, str_of(policy_rule_id(answer.rule)), buf_str(&why),
                       buf_str(&fix));
    request_fail(r, EACCES);
}

/* One that --allow-socket names. The path is final: no link leads from it to another one. */
static bool is_allowed_socket(const struct broker *b, struct str path)
{
    const struct policy_list *list = &policy_settings_of(b->policy)->sockets;
    for (size_t i = 0; i < list->count; i++)
        if (str_eq(list->items[i].path, path))
            return true;
    return false;
}

/* A socket that is not this run's: asked about, or reported and refused. False: not now. */
static bool outer_socket_allowed(struct broker *b, struct request *r, const struct resolved *where,
                                 bool known)
{
    auto_buf struct buf fix = {0};
    buf_fmt(&fix, strpbrk(where->path, " \"'$`\\") ? "--allow-socket \"%s\"" : "--allow-socket %s",
            where->path);
    struct ask_subject subject = {.kind = ASK_SOCKET,
                                  .op = AUDIT_PIPE_CONNECT,
                                  .target = str_of(where->path),
                                  .rule = str_of(policy_rule_id(RULE_PIPE_OUTSIDE)),
                                  .why = STR("servers outside the run act for whoever asks them"),
                                  .fix = buf_str(&fix)};
    enum broker_ruling ruling = known ? broker_ask_rule(b, r, &subject, where) : BROKER_DENIES;
    if (ruling == BROKER_DENIES) {
        broker_report_text(b, r, subject.op, subject.target, AUDIT_DENY, subject.rule, subject.why,
                           subject.fix);
        request_fail(r, EACCES);
    }
    return ruling == BROKER_GRANTS;
}

/* Servers outside act for whoever asks (docker, dbus, ssh-agent): only this run's own sockets. */
static void connect_unix(struct broker *b, struct request *r, const struct sockaddr_un *address)
{
    auto_resolved struct resolved where = {.parent = -1};
    if (address->sun_path[0] == '\0') {
        request_fail(r, ECONNREFUSED);
        return;
    }
    int rc = resolve(r, AT_FDCWD, address->sun_path, true, &where);
    if (rc == 0 && !where.exists)
        rc = -ENOENT;
    if (rc) {
        request_fail(r, -rc);
        return;
    }
    /* Connect to the held object that was judged: its name may lead elsewhere by now. */
    int object =
        openat(where.parent, where.leaf[0] ? where.leaf : ".", O_PATH | O_NOFOLLOW | O_CLOEXEC);
    struct resolved held = {.parent = object, .exists = true};
    bool known = object >= 0 && fstat(object, &held.st) == 0;
    bool own = known && (id_set_count(&b->sockets, broker_id(&held)) ||
                         is_allowed_socket(b, str_of(where.path)));
    if (!own && !outer_socket_allowed(b, r, &where, known)) {
        if (object >= 0)
            close(object);
        return;
    }
    struct sockaddr_un held_one = {.sun_family = AF_UNIX};
    snprintf(held_one.sun_path, sizeof held_one.sun_path, "/proc/self/fd/%d", object);
    connect_for(b, r, &held_one, sizeof held_one,
                object); /* a full backlog would block, so not here */
}

static bool read_address(struct request *r, struct sockaddr_storage *address, socklen_t *length)
{
    uint64_t size = r->args[2];
    int rc = size < sizeof(sa_family_t) || size > sizeof *address ? -EINVAL : 0;
    memset(address, 0, sizeof *address);
    if (rc == 0)
        rc = request_read(r, r->args[1], address, (size_t)size);
    /* This way a path in it always ends in a zero byte. */
    if (rc == 0 && address->ss_family == AF_UNIX && size > sizeof(struct sockaddr_un))
        rc = -EINVAL;
    if (rc)
        request_fail(r, -rc);
    *length = (socklen_t)size;
    return rc == 0;
}

/* Immediately: it drops the address that listen inspects, and it does not block. */
static void disconnect(struct request *r, const struct sockaddr_storage *address, socklen_t length)
{
    int socket = request_descriptor(r, (int)r->args[0]);
    if (socket < 0)
        request_fail(r, -socket);
    else if (connect(socket, (const struct sockaddr *)address, length))
        request_fail(r, errno);
    else
        request_succeed(r, 0);
    if (socket >= 0)
        close(socket);
}

void socket_connect(struct broker *b, struct request *r)
{
    struct sockaddr_storage address;
    socklen_t length;
    if (!read_address(r, &address, &length))
        return;
    if (address.ss_family == AF_UNIX)
        connect_unix(b, r, (const void *)&address);
    else if (address.ss_family == AF_UNSPEC)
        disconnect(r, &address, length);
    else if (address.ss_family == AF_NETLINK)
        connect_for(b, r, &address, length, -1); /* asks the kernel */
    else
        connect_internet(b, r, &address, length);
}

/* In the granted folder an older socket may have taken this name: that one remains outside. */
static bool remember_socket(struct broker *b, struct resolved *where, const struct timespec *begin)
{
    if (fstatat(where->parent, where->leaf, &where->st, AT_SYMLINK_NOFOLLOW))
        return false;
    struct file_id id = broker_id(where);
    uint64_t earliest = (uint64_t)begin->tv_sec * 1000000000 + (uint64_t)begin->tv_nsec;
    if (!S_ISSOCK(where->st.st_mode) || (id.birth && id.birth < earliest))
        return false;
    own_temp_made(b, where);
    return id_set_add(&b->sockets, id);
}

static void bind_unix(struct broker *b, struct request *r, const struct sockaddr_un *address)
{
    auto_resolved struct resolved where = {.parent = -1};
    if (address->sun_path[0] == '\0') {
        request_fail(r, EACCES);
        return;
    }
    int rc = resolve(r, AT_FDCWD, address->sun_path, false, &where);
    if (rc == 0 && where.exists)
        rc = -EADDRINUSE;
    if (rc == 0 && strlen(where.leaf) > 64)
        rc = -ENAMETOOLONG;
    if (rc) {
        request_fail(r, -rc);
        return;
    }
    if (!broker_allows(b, r, &where, POLICY_CREATE, AUDIT_FILE_CREATE))
        return;
    request_take_umask(r);
    int socket = request_descriptor(r, (int)r->args[0]);
    struct sockaddr_un own = {.sun_family = AF_UNIX};
    snprintf(own.sun_path, sizeof own.sun_path, "/proc/self/fd/%d/%.64s", where.parent, where.leaf);
    struct timespec begin;
    clock_gettime(CLOCK_REALTIME_COARSE, &begin); /* the clock used for birth times */
    rc = socket < 0 ? socket : record_create(b, r, &where, S_IFSOCK);
    if (rc == 0) {
        rc = bind(socket, (struct sockaddr *)&own, sizeof own) ? -errno : 0;
        record_after(b, -rc, &where);
    }
    if (rc)
        request_fail(r, -rc);
    else if (!remember_socket(b, &where, &begin))
        request_fail(r, ENOMEM);
    else
        request_succeed(r, 0);
    if (socket >= 0)
        close(socket);
}

/* Programs listen on every address unless told otherwise: unless the network is on, they get the
   loopback address. A dual-stack socket gets the IPv4 one, which clients try too. */
static void narrow(struct sockaddr_storage *address, int socket)
{
    struct sockaddr_in *four = (void *)address;
    struct sockaddr_in6 *six = (void *)address;
    int only_six = 0;
    socklen_t size = sizeof only_six;
    if (address->ss_family == AF_INET && four->sin_addr.s_addr == htonl(INADDR_ANY))
        four->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (address->ss_family != AF_INET6 || !IN6_IS_ADDR_UNSPECIFIED(&six->sin6_addr))
        return;
    six->sin6_addr = (struct in6_addr)IN6ADDR_LOOPBACK_INIT;
    if (getsockopt(socket, IPPROTO_IPV6, IPV6_V6ONLY, &only_six, &size) || only_six)
        return;
    inet_pton(AF_INET6, "::ffff:127.0.0.1", &six->sin6_addr);
}

/* A listener on this machine's own addresses; from then on its port belongs to the run. */
static void bind_internet(struct broker *b, struct request *r, struct sockaddr_storage *address,
                          socklen_t length)
{
    char host[INET6_ADDRSTRLEN], target[INET6_ADDRSTRLEN + 16];
    uint16_t port;
    if (!spell_peer(address, host, sizeof host, &port)) {
        request_fail(r, EAFNOSUPPORT);
        return;
    }
    int socket = request_descriptor(r, (int)r->args[0]);
    if (socket < 0) {
        request_fail(r, -socket);
        return;
    }
    /* A resolver's: musl binds it to any port before it asks. */
    if (port == 0 && datagram_is(r, (int)r->args[0])) {
        close(socket);
        request_succeed(r, 0);
        return;
    }
    if (net_of(b) != POLICY_NET_ON)
        narrow(address, socket);
    if (net_of(b) != POLICY_NET_ON && !is_loopback(address)) {
        close(socket);
        snprintf(target, sizeof target, strchr(host, ':') ? "[%s]:%u" : "%s:%u", host,
                 (unsigned)port);
        refuse(b, r, AUDIT_NET_BIND, str_of(target),
               "other machines could reach it; listen on 127.0.0.1 instead", "--net=on");
        return;
    }
    struct stat st;
    if (fstat(socket, &st) || bind(socket, (const struct sockaddr *)address, length))
        request_fail(r, errno);
    else if (!id_set_add(&b->listeners, (struct file_id){.id = st.st_ino}))
        request_fail(r, ENOMEM);
    else
        request_succeed(r, 0);
    close(socket);
}

static void bind_netlink(struct request *r, const struct sockaddr_storage *address,
                         socklen_t length)
{
    int socket = request_descriptor(r, (int)r->args[0]);
    if (socket < 0)
        request_fail(r, -socket);
    else if (bind(socket, (const struct sockaddr *)address, length))
        request_fail(r, errno);
    else
        request_succeed(r, 0);
    if (socket >= 0)
        close(socket);
}

void socket_bind(struct broker *b, struct request *r)
{
    struct sockaddr_storage address;
    socklen_t length;
    if (!read_address(r, &address, &length))
        return;
    if (address.ss_family == AF_UNIX)
        bind_unix(b, r, (const void *)&address);
    else if (address.ss_family == AF_NETLINK)
        bind_netlink(r, &address, length);
    else
        bind_internet(b, r, &address, length);
}

/* An unbound socket, or one whose address was dropped, would listen on every address of this
   machine. */
void socket_listen(struct broker *b, struct request *r)
{
    struct sockaddr_storage own = {0};
    socklen_t length = sizeof own;
    char host[INET6_ADDRSTRLEN];
    uint16_t port;
    int socket = request_descriptor(r, (int)r->args[0]);
    if (socket < 0) {
        request_fail(r, -socket);
        return;
    }
    if (getsockname(socket, (struct sockaddr *)&own, &length))
        request_fail(r, errno);
    else if (net_of(b) != POLICY_NET_ON && spell_peer(&own, host, sizeof host, &port) &&
             (port == 0 || !is_loopback(&own)))
        refuse(b, r, AUDIT_NET_LISTEN, STR("any address"),
               "other machines could reach it; bind it to 127.0.0.1 first", "--net=on");
    else if (spell_peer(&own, host, sizeof host, &port) && is_served_outside(b, &own, port))
        request_fail(r, EADDRINUSE);
    else if (listen(socket, (int)r->args[1]))
        request_fail(r, errno);
    else
        request_succeed(r, 0);
    close(socket);
}
