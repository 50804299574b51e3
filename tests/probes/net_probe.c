/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client and a server for the network tests.
 *   net_probe serve FILE               a server on 127.0.0.1 that answers every request; its port
 * in FILE net_probe HOW HOST PORT FILE       asks HOST for / and writes what came to FILE HOW:
 * direct; connect, plain or socks through the proxy of https_proxy; the same with a bad secret:
 * connect-bad, socks-bad; with HOST as the whole target: connect-raw, plain-raw; two requests at
 * once, the second for HOST: smuggle; from a dual-stack socket: connect-mapped, direct-mapped. Exit code 0: an answer came; 1: none.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const char greeting[] = "hello from outside";

static int serve(const char *file)
{
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t length = sizeof here;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    char name[512], request[4096], answer[8192];
    if (bind(listener, (void *)&here, sizeof here) || listen(listener, 100) ||
        getsockname(listener, (void *)&here, &length))
        return 1;
    snprintf(name, sizeof name, "%s.new", file);
    FILE *f = fopen(name, "w");
    if (!f)
        return 1;
    fprintf(f, "%d\n", ntohs(here.sin_port));
    fclose(f);
    rename(name, file);
    alarm(60);
    for (int fd; (fd = accept(listener, NULL, NULL)) >= 0; close(fd)) {
        size_t n = 0;
        for (ssize_t got;
             n + 1 < sizeof request && (got = read(fd, request + n, sizeof request - 1 - n)) > 0;) {
            n += (size_t)got;
            request[n] = '\0';
            if (strstr(request, "\r\n\r\n"))
                break;
        }
        int size =
            strstr(request, "/redirect")
                ? snprintf(answer, sizeof answer,
                           "HTTP/1.1 302 Found\r\nLocation: http://sub.good.test/path\r\n"
                           "Content-Length: 0\r\nConnection: close\r\n\r\n")
                : snprintf(answer, sizeof answer,
                           "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n%s\n%s", greeting, request);
        (void)!write(fd, answer, (size_t)size);
    }
    return 0;
}

/* As a dual-stack socket does: to ::ffff:ADDRESS. */
static int dial_mapped(const char *address, int port)
{
    struct sockaddr_in6 peer = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port)};
    char text[INET6_ADDRSTRLEN + 8];
    int fd = socket(AF_INET6, SOCK_STREAM, 0), off = 0;
    snprintf(text, sizeof text, "::ffff:%s", address);
    setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    if (inet_pton(AF_INET6, text, &peer.sin6_addr) != 1 || connect(fd, (void *)&peer, sizeof peer))
        return -1;
    return fd;
}

static int dial(const char *how, const char *address, int port)
{
    if (strstr(how, "-mapped"))
        return dial_mapped(address, port);
    struct sockaddr_in peer = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (inet_pton(AF_INET, address, &peer.sin_addr) != 1 || connect(fd, (void *)&peer, sizeof peer))
        return -1;
    return fd;
}

static void encode(const char *in, char *out)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t n = strlen(in);
    for (size_t i = 0; i < n; i += 3) {
        unsigned bits = (unsigned)(unsigned char)in[i] << 16;
        if (i + 1 < n)
            bits |= (unsigned)(unsigned char)in[i + 1] << 8;
        if (i + 2 < n)
            bits |= (unsigned char)in[i + 2];
        for (size_t j = 0; j < 4; j++)
            *out++ = i + j <= n ? digits[bits >> (18 - 6 * j) & 63] : '=';
    }
    *out = '\0';
}

static int say(int fd, const void *bytes, size_t n)
{
    return write(fd, bytes, n) == (ssize_t)n;
}

static int hear(int fd, unsigned char *out, size_t n)
{
    return recv(fd, out, n, MSG_WAITALL) == (ssize_t)n;
}

static int open_socks(int fd, const char *user, const char *password, const char *host, int port)
{
    unsigned char message[600], reply[10];
    size_t u = strlen(user), p = strlen(password), h = strlen(host);
    if (!say(fd, "\5\2\0\2", 4) || !hear(fd, reply, 2) || reply[1] != 2)
        return 0;
    message[0] = 1;
    message[1] = (unsigned char)u;
    memcpy(message + 2, user, u);
    message[2 + u] = (unsigned char)p;
    memcpy(message + 3 + u, password, p);
    if (!say(fd, message, 3 + u + p) || !hear(fd, reply, 2) || reply[1] != 0)
        return 0;
    memcpy(message, "\5\1\0\3", 4);
    message[4] = (unsigned char)h;
    memcpy(message + 5, host, h);
    message[5 + h] = (unsigned char)(port >> 8);
    message[6 + h] = (unsigned char)port;
    return say(fd, message, 7 + h) && hear(fd, reply, 10) && reply[1] == 0;
}

/* Through the proxy that the environment names; the socket on which to ask, or -1. */
static int through(const char *how, const char *host, int port, char *request, size_t capacity)
{
    char user[64] = "", password[64] = "", address[64], credentials[200], encoded[300];
    int own_port, fd;
    const char *url = getenv("https_proxy");
    if (!url || (sscanf(url, "http://%63[^:]:%63[^@]@%63[^:]:%d", user, password, address,
                        &own_port) != 4 &&
                 sscanf(url, "http://%63[^:]:%d", address, &own_port) != 2))
        return -1;
    if (strstr(how, "-bad"))
        password[0] ^= 1;
    if ((fd = dial(how, address, own_port)) < 0)
        return -1;
    snprintf(credentials, sizeof credentials, "%s:%s", user, password);
    encode(credentials, encoded);
    if (strncmp(how, "socks", 5) == 0)
        return open_socks(fd, user, password, host, port) ? fd : -1;
    char target[300];
    bool raw = strstr(how, "-raw") != NULL;
    snprintf(target, sizeof target, raw ? "%s" : "%s:%d", host, port);
    if (strcmp(how, "plain-raw") == 0) {
        snprintf(request, capacity,
                 "GET %s HTTP/1.1\r\nHost: good.test\r\nProxy-Authorization: Basic %s\r\n\r\n",
                 target, encoded);
        return fd;
    }
    if (strcmp(how, "smuggle") == 0) {
        snprintf(request, capacity,
                 "POST http://good.test/path HTTP/1.1\r\nHost: good.test\r\nProxy-Authorization: "
                 "Basic %s\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
                 "GET http://%s/path HTTP/1.1\r\nHost: %s\r\nProxy-Authorization: Basic %s\r\n\r\n",
                 encoded, target, target, encoded);
        return fd;
    }
    if (strcmp(how, "plain") == 0) {
        snprintf(request, capacity,
                 "GET http://%s/path HTTP/1.1\r\nHost: other.test\r\nProxy-Authorization: Basic "
                 "%s\r\nX-Kept: yes\r\n\r\n",
                 target, encoded);
        return fd;
    }
    char head[800];
    int n = snprintf(head, sizeof head,
                     "CONNECT %s HTTP/1.1\r\nHost: %s\r\nProxy-Authorization: Basic %s\r\n\r\n",
                     target, target, encoded);
    unsigned char reply[39];
    if (!say(fd, head, (size_t)n) || !hear(fd, reply, 12) || memcmp(reply + 9, "200", 3) != 0)
        return -1;
    return hear(fd, reply + 12, 27) ? fd : -1;
}

int main(int argc, char **argv)
{
    char request[2000] = "GET /path HTTP/1.1\r\n\r\n", piece[8192];
    if (argc == 3 && strcmp(argv[1], "serve") == 0)
        return serve(argv[2]);
    if (argc != 5)
        return 2;
    int port = atoi(argv[3]);
    int fd = strncmp(argv[1], "direct", 6) == 0
                 ? dial(argv[1], argv[2], port)
                 : through(argv[1], argv[2], port, request, sizeof request);
    if (fd < 0 || !say(fd, request, strlen(request)))
        return 1;
    FILE *f = fopen(argv[4], "w");
    size_t total = 0;
    for (ssize_t n; f && (n = read(fd, piece, sizeof piece)) > 0; total += (size_t)n)
        fwrite(piece, 1, (size_t)n, f);
    return f && fclose(f) == 0 && total > 0 ? 0 : 1;
}
