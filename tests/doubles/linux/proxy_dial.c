/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tests' own resolver and dialler, linked in the place of src/broker/linux/proxy_dial.c: names
 * of a table have addresses that are judged as such, and whatever is dialled is the server of the
 * test on this machine. Nothing is sent anywhere else.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "broker/linux/proxy_serve.h"

static const struct {
    const char *name, *address;
} hosts[] = {{"good.test", "93.184.216.34"},
             {"sub.good.test", "2606:2800:220:1::1"},
             {"inner.test", "10.0.0.1"},
             {"loop.test", "127.0.0.1"},
             {"mapped.test", "::ffff:127.0.0.1"},
             {"mapped10.test", "::ffff:10.1.2.3"},
             {"meta.test", "169.254.169.254"},
             {"six.test", "fd00::1"},
             {"link.test", "fe80::1"},
             {"tunnel.test", "2002:7f00:1::1"},
             {"zero.test", "0.0.0.0"},
             {"proxy.test", "127.0.0.1"}};

static bool read_address(const char *text, uint16_t port, struct sockaddr_storage *out)
{
    struct sockaddr_in *four = (void *)out;
    struct sockaddr_in6 *six = (void *)out;
    memset(out, 0, sizeof *out);
    if (inet_pton(AF_INET, text, &four->sin_addr) == 1) {
        four->sin_family = AF_INET;
        four->sin_port = htons(port);
        return true;
    }
    /* Spellings that getaddrinfo takes as well: 127.1, 0x7f000001, 2130706433. */
    if (inet_aton(text, &four->sin_addr)) {
        four->sin_family = AF_INET;
        four->sin_port = htons(port);
        return true;
    }
    six->sin6_family = AF_INET6;
    six->sin6_port = htons(port);
    return inet_pton(AF_INET6, text, &six->sin6_addr) == 1;
}

size_t proxy_resolve(const char *host, uint16_t port, struct sockaddr_storage *out, size_t most)
{
    static atomic_uint asked;
    if (most == 0)
        return 0;
    /* A name whose owner answers with this machine's address from the second question on. */
    if (strcmp(host, "rebind.test") == 0)
        return read_address(atomic_fetch_add(&asked, 1) ? "127.0.0.1" : "93.184.216.34", port, out);
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++)
        if (strcmp(hosts[i].name, host) == 0)
            return read_address(hosts[i].address, port, out);
    return read_address(host, port, out);
}

int proxy_dial(const struct sockaddr_storage *address, int stop)
{
    const char *port = getenv("CORDON_TEST_PORT");
    struct sockaddr_in here = {.sin_family = AF_INET,
                               .sin_port = htons((uint16_t)(port ? atoi(port) : 0)),
                               .sin_addr = {htonl(INADDR_LOOPBACK)}};
    const struct sockaddr_in *four = (const void *)address;
    static const char rebound[] = "GET /rebound HTTP/1.1\r\n\r\n";
    (void)stop;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (void *)&here, sizeof here)) {
        close(fd);
        return -ECONNREFUSED;
    }
    /* The server of the test repeats what it was asked. */
    if (fd >= 0 && address->ss_family == AF_INET && four->sin_addr.s_addr == htonl(INADDR_LOOPBACK))
        (void)!write(fd, rebound, sizeof rebound - 1);
    return fd;
}
