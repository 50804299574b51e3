/* SPDX-License-Identifier: Apache-2.0 */
/* Sockets: servers outside, and listeners that others could reach. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "escape.h"

static struct sockaddr_un unix_address(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    return address;
}

static struct sockaddr_in internet(uint32_t host, int port)
{
    return (struct sockaddr_in){AF_INET, htons((uint16_t)port), {htonl(host)}, {0}};
}

/* Every connection leaves a mark: w[0] a folder that gets the sockets, the port and the mark. */
static bool serve(const char *const *w)
{
    char path[512], final[512];
    struct sockaddr_in here = internet(INADDR_LOOPBACK, 0);
    struct sockaddr_un abstract = {.sun_family = AF_UNIX};
    socklen_t length = sizeof here;
    int fds[5] = {socket(AF_UNIX, SOCK_STREAM, 0), socket(AF_UNIX, SOCK_DGRAM, 0),
                  socket(AF_INET, SOCK_STREAM, 0), socket(AF_UNIX, SOCK_STREAM, 0),
                  socket(AF_INET, SOCK_DGRAM, 0)};
    snprintf(path, sizeof path, "%s/stream", w[0]);
    struct sockaddr_un stream = unix_address(path);
    snprintf(path, sizeof path, "%s/datagram", w[0]);
    struct sockaddr_un datagram = unix_address(path);
    snprintf(abstract.sun_path + 1, sizeof abstract.sun_path - 1, "%s", w[1]);
    bool bound = bind(fds[0], (void *)&stream, sizeof stream) == 0 && listen(fds[0], 4096) == 0 &&
                 bind(fds[1], (void *)&datagram, sizeof datagram) == 0 &&
                 bind(fds[2], (void *)&here, sizeof here) == 0 && listen(fds[2], 4096) == 0 &&
                 getsockname(fds[2], (void *)&here, &length) == 0 &&
                 bind(fds[3], (void *)&abstract, sizeof abstract) == 0 &&
                 listen(fds[3], 4096) == 0 && bind(fds[4], (void *)&here, sizeof here) == 0;
    snprintf(path, sizeof path, "%s/port.new", w[0]);
    snprintf(final, sizeof final, "%s/port", w[0]);
    FILE *f = bound ? fopen(path, "w") : NULL;
    if (!f)
        return false;
    fprintf(f, "%d\n", ntohs(here.sin_port));
    fclose(f);
    rename(path, final);
    snprintf(path, sizeof path, "%s/mark", w[0]);
    for (;;) {
        struct pollfd watch[5];
        for (int i = 0; i < 5; i++)
            watch[i] = (struct pollfd){fds[i], POLLIN, 0};
        if (poll(watch, 5, -1) < 0)
            continue;
        for (int i = 0; i < 5; i++) {
            char byte;
            if (!watch[i].revents)
                continue;
            if (i == 1 || i == 4)
                (void)!recv(fds[i], &byte, 1, 0);
            else
                close(accept(fds[i], NULL, NULL));
            close(open(path, O_WRONLY | O_CREAT, 0644));
        }
    }
}

static bool send_descriptor(int to, int fd)
{
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct iovec part = {"x", 1};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof control.bytes};
    struct cmsghdr *c = CMSG_FIRSTHDR(&message);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(c), &fd, sizeof fd);
    return sendmsg(to, &message, 0) == 1;
}

/* A server outside that hands over what it is asked for: "r PATH" for reading, "p PATH" as a
   path. */
static bool give_serve(const char *const *w)
{
    struct sockaddr_un address = unix_address(w[0]);
    int s = socket(AF_UNIX, SOCK_STREAM, 0);
    if (bind(s, (void *)&address, sizeof address) || listen(s, 100))
        return false;
    for (;;) {
        char text[512];
        int client = accept(s, NULL, NULL);
        ssize_t n = read(client, text, sizeof text - 1);
        text[n > 0 ? n : 0] = '\0';
        int fd = n > 2 ? open(text + 2, text[0] == 'p' ? O_PATH : O_RDONLY) : -1;
        if (fd >= 0)
            send_descriptor(client, fd);
        close(fd);
        close(client);
    }
}

/* Asks the server at w[0] for w[1] ("r" or "p") of w[2]. */
static int given(const char *const *w)
{
    struct sockaddr_un address = unix_address(w[0]);
    char text[512], byte;
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct iovec part = {&byte, 1};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof control.bytes};
    int fd = -1, s = socket(AF_UNIX, SOCK_STREAM, 0);
    int n = snprintf(text, sizeof text, "%s %s", w[1], w[2]);
    if (connect(s, (void *)&address, sizeof address) || write(s, text, (size_t)n) != n ||
        recvmsg(s, &message, 0) != 1)
        return -1;
    struct cmsghdr *c = CMSG_FIRSTHDR(&message);
    if (c && c->cmsg_type == SCM_RIGHTS)
        memcpy(&fd, CMSG_DATA(c), sizeof fd);
    return fd;
}

static bool given_read(const char *const *w)
{
    char byte;
    return read(given(w), &byte, 1) == 1;
}

static bool given_folder(const char *const *w)
{
    return put(openat(given(w), w[3], O_WRONLY | O_CREAT, 0644));
}

static bool given_current(const char *const *w)
{
    return fchdir(given(w)) == 0 && put(open(w[3], O_WRONLY | O_CREAT, 0644));
}

static bool given_removed(const char *const *w)
{
    return unlinkat(given(w), w[3], 0) == 0;
}

static bool given_moved(const char *const *w)
{
    return renameat(given(w), w[3], AT_FDCWD, "in") == 0;
}

static bool given_mode(const char *const *w)
{
    return fchmod(given(w), 0600) == 0;
}

static bool given_times(const char *const *w)
{
    struct timespec times[2] = {{1, 0}, {1, 0}};
    return futimens(given(w), times) == 0;
}

static bool given_again(const char *const *w)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", given(w));
    return put(open(path, O_WRONLY));
}

static bool given_cut(const char *const *w)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", given(w));
    return truncate(path, 0) == 0;
}

/* As a client of a bus does: who one is, then a call that would start a program. */
static bool bus_call(const char *const *w)
{
    static const char hello[] = "\0AUTH EXTERNAL 30\r\nBEGIN\r\norg.freedesktop.systemd1.Manager\0"
                                "StartTransientUnit";
    struct sockaddr_un address = unix_address(w[0]);
    int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return connect(s, (void *)&address, sizeof address) == 0 &&
           send(s, hello, sizeof hello, MSG_NOSIGNAL) > 0;
}

static bool unix_connect(const char *const *w)
{
    struct sockaddr_un address = unix_address(w[0]);
    return connect(socket(AF_UNIX, SOCK_STREAM, 0), (void *)&address, sizeof address) == 0;
}

static bool unix_sequence(const char *const *w)
{
    struct sockaddr_un address = unix_address(w[0]);
    int s = socket(AF_UNIX, SOCK_SEQPACKET, 0);
    return connect(s, (void *)&address, sizeof address) == 0 || unix_connect(w);
}

static bool abstract_connect(const char *const *w)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "%s", w[0]);
    return connect(socket(AF_UNIX, SOCK_STREAM, 0), (void *)&address, sizeof address) == 0;
}

static bool unix_datagram(const char *const *w)
{
    struct sockaddr_un address = unix_address(w[0]);
    return sendto(socket(AF_UNIX, SOCK_DGRAM, 0), "x", 1, 0, (void *)&address, sizeof address) == 1;
}

static bool pair_datagram(const char *const *w)
{
    struct sockaddr_un address = unix_address(w[0]);
    int pair[2] = {-1, -1};
    socketpair(AF_UNIX, SOCK_DGRAM, 0, pair);
    return sendto(pair[0], "x", 1, 0, (void *)&address, sizeof address) == 1;
}

/* A socket of one's own, whose name another one takes over. */
static bool unix_replaced(const char *const *w)
{
    struct sockaddr_un address = unix_address(w[0]);
    int own = socket(AF_UNIX, SOCK_STREAM, 0);
    if (bind(own, (void *)&address, sizeof address) || listen(own, 1) || unlink(w[0]) ||
        symlink(w[1], w[0]))
        return false;
    return unix_connect(w);
}

static bool unix_moved(const char *const *w)
{
    return rename(w[1], w[0]) == 0 && unix_connect(w);
}

static bool tcp_connect(const char *const *w)
{
    struct sockaddr_in peer = internet(INADDR_LOOPBACK, atoi(w[0]));
    return connect(socket(AF_INET, SOCK_STREAM, 0), (void *)&peer, sizeof peer) == 0;
}

static bool tcp_mapped(const char *const *w)
{
    struct sockaddr_in6 peer = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)atoi(w[0]))};
    inet_pton(AF_INET6, "::ffff:127.0.0.1", &peer.sin6_addr);
    return connect(socket(AF_INET6, SOCK_STREAM, 0), (void *)&peer, sizeof peer) == 0;
}

static bool tcp_nowhere(const char *const *w)
{
    struct sockaddr_in peer = internet(INADDR_ANY, atoi(w[0])); /* is this machine */
    return connect(socket(AF_INET, SOCK_STREAM, 0), (void *)&peer, sizeof peer) == 0;
}

static bool tcp_fast(const char *const *w)
{
    struct sockaddr_in peer = internet(INADDR_LOOPBACK, atoi(w[0]));
    int s = socket(AF_INET, SOCK_STREAM, 0);
    return sendto(s, "x", 1, MSG_FASTOPEN, (void *)&peer, sizeof peer) == 1 || tcp_connect(w);
}

static bool tcp_fast_message(const char *const *w)
{
    struct sockaddr_in peer = internet(INADDR_LOOPBACK, atoi(w[0]));
    struct iovec part = {"x", 1};
    struct msghdr message = {
        .msg_name = &peer, .msg_namelen = sizeof peer, .msg_iov = &part, .msg_iovlen = 1};
    int s = socket(AF_INET, SOCK_STREAM, 0);
    return sendmsg(s, &message, MSG_FASTOPEN) == 1 || tcp_connect(w);
}

static bool tcp_fast_option(const char *const *w)
{
    struct sockaddr_in peer = internet(INADDR_LOOPBACK, atoi(w[0]));
    int one = 1, s = socket(AF_INET, SOCK_STREAM, 0);
    setsockopt(s, IPPROTO_TCP, 30 /* TCP_FASTOPEN_CONNECT */, &one, sizeof one);
    return connect(s, (void *)&peer, sizeof peer) == 0 && write(s, "x", 1) == 1;
}

static bool tcp_mptcp(const char *const *w)
{
    struct sockaddr_in peer = internet(INADDR_LOOPBACK, atoi(w[0]));
    int s = socket(AF_INET, SOCK_STREAM, 262 /* MPTCP */);
    return connect(s, (void *)&peer, sizeof peer) == 0 || tcp_connect(w);
}

static bool tcp_alias(const char *const *w)
{
    struct sockaddr_in own = internet(0x7F000002, atoi(w[0]));
    int s = socket(AF_INET, SOCK_STREAM, 0);
    bind(s, (void *)&own, sizeof own);
    listen(s, 1);
    return tcp_connect(w);
}

static bool udp_send(const char *const *w)
{
    struct sockaddr_in peer = internet(INADDR_LOOPBACK, atoi(w[0]));
    return sendto(socket(AF_INET, SOCK_DGRAM, 0), "x", 1, 0, (void *)&peer, sizeof peer) == 1;
}

static bool udp_six(const char *const *w)
{
    struct sockaddr_in6 peer = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)atoi(w[0]))};
    inet_pton(AF_INET6, "::ffff:127.0.0.1", &peer.sin6_addr);
    return sendto(socket(AF_INET6, SOCK_DGRAM, 0), "x", 1, 0, (void *)&peer, sizeof peer) == 1;
}

/* A stream that listens on every address of the machine? */
static bool listens_widely(int s)
{
    struct sockaddr_in own;
    socklen_t length = sizeof own;
    return listen(s, 1) == 0 && getsockname(s, (void *)&own, &length) == 0 &&
           own.sin_addr.s_addr == htonl(INADDR_ANY);
}

static bool listen_unbound(const char *const *w)
{
    (void)w;
    return listens_widely(socket(AF_INET, SOCK_STREAM, 0));
}

static bool listen_any(const char *const *w)
{
    struct sockaddr_in own = internet(INADDR_ANY, 0);
    int s = socket(AF_INET, SOCK_STREAM, 0);
    (void)w;
    return bind(s, (void *)&own, sizeof own) == 0 && listens_widely(s);
}

static bool listen_any_six(const char *const *w)
{
    struct sockaddr_in6 own = {.sin6_family = AF_INET6}, found;
    socklen_t length = sizeof found;
    int s = socket(AF_INET6, SOCK_STREAM, 0);
    (void)w;
    return bind(s, (void *)&own, sizeof own) == 0 && listen(s, 1) == 0 &&
           getsockname(s, (void *)&found, &length) == 0 &&
           memcmp(&found.sin6_addr, &own.sin6_addr, 16) == 0;
}

/* Connected to a server of one's own, let go again: the port stays, the address does not. */
static int let_go(void)
{
    struct sockaddr_in own = internet(INADDR_LOOPBACK, 0);
    struct sockaddr nobody = {.sa_family = AF_UNSPEC};
    socklen_t length = sizeof own;
    int server = socket(AF_INET, SOCK_STREAM, 0), s = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(server, (void *)&own, sizeof own) || listen(server, 1) ||
        getsockname(server, (void *)&own, &length) || connect(s, (void *)&own, sizeof own) ||
        connect(s, &nobody, sizeof nobody))
        return -1;
    return s;
}

static bool listen_let_go(const char *const *w)
{
    (void)w;
    return listens_widely(let_go());
}

static bool listen_accepted(const char *const *w)
{
    struct sockaddr_in own = internet(INADDR_LOOPBACK, 0);
    struct sockaddr nobody = {.sa_family = AF_UNSPEC};
    socklen_t length = sizeof own;
    int server = socket(AF_INET, SOCK_STREAM, 0), s = socket(AF_INET, SOCK_STREAM, 0);
    (void)w;
    if (bind(server, (void *)&own, sizeof own) || listen(server, 1) ||
        getsockname(server, (void *)&own, &length) || connect(s, (void *)&own, sizeof own))
        return false;
    int accepted = accept(server, NULL, NULL);
    close(server);
    close(s);
    if (connect(accepted, &nobody, sizeof nobody))
        return false;
    return listens_widely(accepted) || listen_unbound(w);
}

static bool raw_socket(const char *const *w)
{
    (void)w;
    return socket(AF_INET, SOCK_RAW, IPPROTO_ICMP) >= 0 || socket(AF_INET, SOCK_DGRAM, 0) >= 0;
}

static bool packet_socket(const char *const *w)
{
    (void)w;
    return socket(AF_PACKET, SOCK_RAW, 0) >= 0 || socket(AF_INET, SOCK_DGRAM, 0) >= 0;
}

static bool alg_socket(const char *const *w)
{
    (void)w;
    return socket(AF_VSOCK, SOCK_STREAM, 0) >= 0 || socket(AF_INET, SOCK_DGRAM, 0) >= 0;
}

static bool netlink_socket(const char *const *w)
{
    (void)w;
    return socket(AF_NETLINK, SOCK_RAW, 15 /* uevents */) >= 0;
}

/* A name of the run's own goes, its number comes back under somebody else's hand. */
static bool socket_number(const char *const *w)
{
    char path[512];
    struct stat first, later;
    snprintf(path, sizeof path, "%s/own", w[0]);
    struct sockaddr_un own = unix_address(path);
    int s = socket(AF_UNIX, SOCK_STREAM, 0);
    if (bind(s, (void *)&own, sizeof own) || stat(path, &first) || unlink(path))
        return false;
    close(s);
    close(open(w[1], O_WRONLY | O_CREAT, 0644)); /* now */
    for (int i = 0; i < 300 && stat(w[2], &later); i++)
        usleep(10000);
    struct sockaddr_un theirs = unix_address(w[2]);
    return connect(socket(AF_UNIX, SOCK_STREAM, 0), (void *)&theirs, sizeof theirs) == 0;
}

const struct trick socket_tricks[] = {{"give-serve", give_serve},
                                      {"given-read", given_read},
                                      {"given-folder", given_folder},
                                      {"given-current", given_current},
                                      {"given-removed", given_removed},
                                      {"given-moved", given_moved},
                                      {"given-mode", given_mode},
                                      {"given-times", given_times},
                                      {"given-again", given_again},
                                      {"given-cut", given_cut},
                                      {"bus-call", bus_call},
                                      {"serve", serve},
                                      {"unix-connect", unix_connect},
                                      {"unix-sequence", unix_sequence},
                                      {"abstract-connect", abstract_connect},
                                      {"unix-datagram", unix_datagram},
                                      {"pair-datagram", pair_datagram},
                                      {"unix-replaced", unix_replaced},
                                      {"unix-moved", unix_moved},
                                      {"tcp-connect", tcp_connect},
                                      {"tcp-mapped", tcp_mapped},
                                      {"tcp-nowhere", tcp_nowhere},
                                      {"tcp-fast", tcp_fast},
                                      {"tcp-fast-message", tcp_fast_message},
                                      {"tcp-fast-option", tcp_fast_option},
                                      {"tcp-mptcp", tcp_mptcp},
                                      {"tcp-alias", tcp_alias},
                                      {"udp-send", udp_send},
                                      {"udp-six", udp_six},
                                      {"listen-unbound", listen_unbound},
                                      {"listen-any", listen_any},
                                      {"listen-any-six", listen_any_six},
                                      {"listen-let-go", listen_let_go},
                                      {"listen-accepted", listen_accepted},
                                      {"raw-socket", raw_socket},
                                      {"packet-socket", packet_socket},
                                      {"vsock-socket", alg_socket},
                                      {"netlink-socket", netlink_socket},
                                      {"socket-number", socket_number},
                                      {NULL, NULL}};
