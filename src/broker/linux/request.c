/* Reading the caller's memory and answering. */
#include "broker/linux/request.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
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
    int rc;
    while ((rc = ioctl(r->listener, SECCOMP_IOCTL_NOTIF_SEND, response)) && errno == EINTR)
        ;
    /* ENOENT: the caller died meanwhile, nobody waits for this. Else it would wait for ever. */
    if (rc && errno != ENOENT)
        ioctl(r->listener, SECCOMP_IOCTL_NOTIF_SEND,
              &(struct seccomp_notif_resp){.id = r->id, .error = -EPERM});
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

bool request_takes_turns;
pthread_t request_server;

/*
 * Handing over a descriptor wakes the caller and then the broker, and the kernel would put each on
 * the next idle CPU, which costs more than all the rest. Both are kept on this one for that moment.
 */
struct turn {
    bool held;
    cpu_set_t caller;
};

/* While one caller goes on asking, the broker stays where it is. Of the thread that serves. */
static cpu_set_t own_before;
static pid_t turns_with;
static int own_cpu = -1;

void request_end_turns(void)
{
    if (own_cpu >= 0)
        sched_setaffinity(0, sizeof own_before, &own_before);
    own_cpu = -1;
    turns_with = 0;
}

static bool stay_on(const struct request *r, int cpu, const cpu_set_t *here)
{
    if (own_cpu == cpu && turns_with == r->pid)
        return true;
    request_end_turns();
    if (sched_getaffinity(0, sizeof own_before, &own_before) ||
        sched_setaffinity(0, sizeof *here, here))
        return false;
    own_cpu = cpu;
    turns_with = r->pid;
    return true;
}

static void turn_begin(const struct request *r, struct turn *turn)
{
    cpu_set_t here;
    int cpu = sched_getcpu();
    turn->held = false;
    if (!request_takes_turns || !pthread_equal(pthread_self(), request_server) || cpu < 0 ||
        sched_getaffinity(r->pid, sizeof turn->caller, &turn->caller))
        return;
    CPU_ZERO(&here);
    CPU_SET(cpu, &here);
    if (CPU_EQUAL(&turn->caller, &here) || !CPU_ISSET(cpu, &turn->caller))
        return;
    turn->held = stay_on(r, cpu, &here) && sched_setaffinity(r->pid, sizeof here, &here) == 0;
}

static void turn_end(const struct request *r, const struct turn *turn)
{
    if (turn->held)
        sched_setaffinity(r->pid, sizeof turn->caller, &turn->caller);
}

void request_give(struct request *r, int fd, bool close_on_exec)
{
    struct seccomp_notif_addfd add = {.id = r->id,
                                      .flags = SECCOMP_ADDFD_FLAG_SEND,
                                      .srcfd = (uint32_t)fd,
                                      .newfd_flags = close_on_exec ? O_CLOEXEC : 0};
    struct turn turn;
    int rc, error = 0;
    if (r->answered)
        return;
    turn_begin(r, &turn);
    do {
        rc = ioctl(r->listener, SECCOMP_IOCTL_NOTIF_ADDFD, &add);
        error = rc < 0 ? errno : 0;
    } while (error == EINTR || error == EINPROGRESS);
    turn_end(r, &turn);
    if (error)
        request_fail(r, error == ENOENT ? EINTR : error);
    r->answered = true;
}

/* "Name:" at the start of a line; what follows it. */
static const char *field(const char *text, const char *name)
{
    const char *at = strstr(text, name);
    return at ? at + strlen(name) : NULL;
}

bool request_status(const struct request *r, struct request_status *out)
{
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%d/status", (int)r->pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    if (n <= 0)
        return false;
    text[n] = '\0';
    /* A process chooses its name, but the kernel writes a line break in it as \n. */
    const char *mask = field(text, "\nUmask:"), *process = field(text, "\nTgid:"),
               *parent = field(text, "\nPPid:");
    if (!mask || !process || !parent || !request_alive(r))
        return false;
    out->umask = (mode_t)strtoul(mask, NULL, 8) & 0777;
    out->process = (pid_t)strtol(process, NULL, 10);
    out->parent = (pid_t)strtol(parent, NULL, 10);
    return true;
}

/* Whose umask this process has taken on; 0: nobody's. Every umask call and every new process
   arrives here first, so it stays right; reading it from /proc is half the price of making a file.
 */
static pid_t umask_of;

/* The call that changes it goes on after it was seen: for so many takes nothing is kept. */
enum { DISTRUST = 64 };
static unsigned umask_distrust;

void request_forget_umask(void)
{
    umask_of = 0;
    umask_distrust = DISTRUST;
}

void request_take_umask(const struct request *r)
{
    struct request_status status;
    if (umask_of == r->pid)
        return;
    bool known = request_status(r, &status);
    umask(known ? status.umask : 077);
    if (umask_distrust > 0)
        umask_distrust--;
    else
        umask_of = known ? r->pid : 0;
}

int request_descriptor(const struct request *r, int fd)
{
    /* A pidfd names a process; a thread that is not its leader stands for its leader. */
    struct request_status status;
    int process = (int)syscall(SYS_pidfd_open, r->pid, 0);
    if (process < 0 && request_status(r, &status))
        process = (int)syscall(SYS_pidfd_open, status.process, 0);
    if (process < 0)
        return -ESRCH;
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
