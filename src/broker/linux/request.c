/* Reading the caller's memory and answering. */
#include "broker/linux/request.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

bool request_alive(const struct request *r)
{
    return ioctl(r->listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &r->id) == 0;
}

int request_read(const struct request *r, uint64_t address, void *out, size_t size)
{
    struct iovec local = {out, size};
    struct iovec remote = {(void *)(uintptr_t)address, size};
    ssize_t n = process_vm_readv(r->pid, &local, 1, &remote, 1, 0);
    if (n < 0)
        return -errno;
    if ((size_t)n != size)
        return -EFAULT;
    return request_alive(r) ? 0 : -ESRCH;
}

ssize_t request_read_string(const struct request *r, uint64_t address, char *out, size_t capacity)
{
    enum { PAGE = 4096 };
    size_t n = 0;
    /* Page by page: the string may end right before memory that is not there. */
    while (n < capacity) {
        size_t piece = PAGE - (address + n) % PAGE;
        if (piece > capacity - n)
            piece = capacity - n;
        int rc = request_read(r, address + n, out + n, piece);
        if (rc)
            return rc;
        const char *end = memchr(out + n, '\0', piece);
        if (end)
            return end - out;
        n += piece;
    }
    return -ENAMETOOLONG;
}

static void answer(struct request *r, const struct seccomp_notif_resp *response)
{
    if (r->answered)
        return;
    r->answered = true;
    /* ENOENT: the caller died meanwhile, nobody waits for this. */
    while (ioctl(r->listener, SECCOMP_IOCTL_NOTIF_SEND, response) && errno == EINTR)
        ;
}

void request_fail(struct request *r, int error)
{
    answer(r, &(struct seccomp_notif_resp){.id = r->id, .error = -error});
}

void request_succeed(struct request *r, int64_t value)
{
    answer(r, &(struct seccomp_notif_resp){.id = r->id, .val = value});
}

void request_continue(struct request *r)
{
    answer(r, &(struct seccomp_notif_resp){.id = r->id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE});
}

void request_give(struct request *r, int fd, bool close_on_exec)
{
    struct seccomp_notif_addfd add = {.id = r->id,
                                      .flags = SECCOMP_ADDFD_FLAG_SEND,
                                      .srcfd = (uint32_t)fd,
                                      .newfd_flags = close_on_exec ? O_CLOEXEC : 0};
    if (r->answered)
        return;
    while (ioctl(r->listener, SECCOMP_IOCTL_NOTIF_ADDFD, &add) < 0) {
        if (errno == EINTR || errno == EINPROGRESS)
            continue;
        request_fail(r, errno == ENOENT ? EINTR : errno);
        return;
    }
    r->answered = true;
}

int request_descriptor(const struct request *r, int fd)
{
    /* A pidfd names a process; the thread's number will do for its leader's only. */
    char path[64];
    int process = (int)syscall(SYS_pidfd_open, r->pid, 0);
    if (process < 0) {
        /* A thread that is not the leader: through /proc, where its leader stands. */
        FILE *f;
        int leader = 0;
        char line[128];
        snprintf(path, sizeof path, "/proc/%d/status", (int)r->pid);
        f = fopen(path, "re");
        while (f && fgets(line, sizeof line, f))
            if (sscanf(line, "Tgid: %d", &leader) == 1)
                break;
        if (f)
            fclose(f);
        process = leader > 0 ? (int)syscall(SYS_pidfd_open, leader, 0) : -1;
    }
    if (process < 0)
        return -errno;
    int copy = (int)syscall(SYS_pidfd_getfd, process, fd, 0);
    int error = errno;
    close(process);
    if (copy < 0)
        return -error;
    if (!request_alive(r)) {
        close(copy);
        return -ESRCH;
    }
    return copy;
}
