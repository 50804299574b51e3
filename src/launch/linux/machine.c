/* SPDX-License-Identifier: Apache-2.0 */
/* Clock, random bytes, the audit file and the program's own path on Linux. */
#include "launch/machine.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "launch/linux/output.h"

uint64_t machine_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

bool machine_random(void *out, size_t count)
{
    return getrandom(out, count, 0) == (ssize_t)count;
}

intptr_t machine_append_open(const char *path, char *why, size_t capacity)
{
    /* An earlier run may have put a link or a pipe there. */
    int fd =
        output_open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0600);
    if (fd < 0)
        snprintf(why, capacity, "%s",
                 errno == ELOOP   ? "a link leads elsewhere; name the file that it leads to"
                 : errno == ENXIO ? "it is a pipe that nobody reads"
                                  : strerror(errno));
    else
        fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
    return fd < 0 ? MACHINE_NO_FILE : fd;
}

bool machine_append(intptr_t file, struct str bytes)
{
    return write((int)file, bytes.p, bytes.n) == (ssize_t)bytes.n;
}

void machine_append_close(intptr_t file)
{
    close((int)file);
}

bool machine_own_path(struct buf *out)
{
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self);
    if (n > 0)
        buf_add(out, (struct str){self, (size_t)n});
    return n > 0 && !out->failed;
}
