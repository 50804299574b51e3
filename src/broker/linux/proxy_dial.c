/* SPDX-License-Identifier: Apache-2.0 */
/* Names and connections of the filtering proxy. */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "broker/linux/proxy_serve.h"

enum { DIAL_TIMEOUT_MS = 30000 };

size_t proxy_resolve(const char *host, uint16_t port, struct sockaddr_storage *out, size_t most)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV}, *found = NULL;
    char service[8];
    size_t count = 0;
    snprintf(service, sizeof service, "%u", port);
    if (getaddrinfo(host, service, &hints, &found))
        return 0;
    for (const struct addrinfo *a = found; a && count < most; a = a->ai_next)
        if ((a->ai_family == AF_INET || a->ai_family == AF_INET6) && a->ai_addrlen <= sizeof *out) {
            memset(&out[count], 0, sizeof *out);
            memcpy(&out[count++], a->ai_addr, a->ai_addrlen);
        }
    freeaddrinfo(found);
    return count;
}

int proxy_dial(const struct sockaddr_storage *address, int stop)
{
    socklen_t length =
        address->ss_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
    int fd = socket(address->ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -errno;
    int error = connect(fd, (const struct sockaddr *)address, length) ? errno : 0;
    if (error == EINPROGRESS) {
        struct pollfd watch[] = {{fd, POLLOUT, 0}, {stop, POLLIN, 0}};
        socklen_t size = sizeof error;
        if (poll(watch, 2, DIAL_TIMEOUT_MS) <= 0 || watch[1].revents)
            error = ETIMEDOUT;
        else if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size))
            error = errno;
    }
    if (error) {
        close(fd);
        return -error;
    }
    return fd;
}
