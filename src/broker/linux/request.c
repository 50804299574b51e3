/* SPDX-License-Identifier: Apache-2.0 */
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
#include <time.h>
#include <unistd.h>

#include "launch/linux/kernel.h"

bool request_alive(const struct request *r)
{
    return ioctl(r->listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &r->id) == 0;
}

/* Opened for a single read: a descriptor kept open would show the new program after an exec. */
static ssize_t read_memory_file(pid_t pid, uint64_t address, void *out, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/mem", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    ssize_t n = pread(fd, out, size, (off_t)address);
    int error = n < 0 && errno == EIO ? EFAULT : errno;
    close(fd);
    errno = error;
    return n;
}

ssize_t request_read_memory(pid_t pid, uint64_t address, void *out, size_t size, bool *by_file)
{
    struct iovec local = {out, size};
    struct iovec remote = {(void *)(uintptr_t)address, size};
    ssize_t n = -1;
    errno = ENOSYS;
    if (!*by_file)
        n = process_vm_readv(pid, &local, 1, &remote, 1, 0);
    /* Other sandboxes filter that call; the file works as well. */
    if (n < 0 && (errno == ENOSYS || errno == EPERM)) {
        n = read_memory_file(pid, address, out, size);
        *by_file = *by_file || n >= 0;
    }
    return n;
}

/* Of a caller that may be gone: what was read may belong to another process. */
static int peek(const struct request *r, uint64_t address, void *out, size_t size)
{
    ssize_t n = request_read_memory(r->pid, address, out, size, &r->server->reads_files);
    return n < 0 ? -errno : (size_t)n != size ? -EFAULT : 0;
}

int request_read(const struct request *r, uint64_t address, void *out, size_t size)
{
    int rc = peek(r, address, out, size);
    return rc ? rc : request_alive(r) ? 0 : -ESRCH;
}

ssize_t request_read_string(const struct request *r, uint64_t address, char *out, size_t capacity)
{
    ssize_t n = request_peek_string(r, address, out, capacity);
    return n < 0 || request_alive(r) ? n : -ESRCH;
}

ssize_t request_peek_string(const struct request *r, uint64_t address, char *out, size_t capacity)
{
    enum { PAGE = 4096 };
    size_t n = 0;
    /* Page by page: the string may end just before unmapped memory. */
    while (n < capacity) {
        size_t piece = PAGE - (address + n) % PAGE;
        if (piece > capacity - n)
            piece = capacity - n;
        int rc = peek(r, address + n, out + n, piece);
        if (rc)
            return rc;
        const char *end = memchr(out + n, '\0', piece);
        if (end)
            return end - out;
        n += piece;
    }
    return -ENAMETOOLONG;
}

/* The umask belongs to the process and so to all its runs: a run owns it while it creates
   something. Only needed where a thread cannot have its own. */
static pthread_mutex_t umask_lock = PTHREAD_MUTEX_INITIALIZER;

static bool is_server(const struct request *r)
{
    return pthread_equal(pthread_self(), r->server->thread);
}

static void give_umask_back(const struct request *r)
{
    struct request_server *server = r->server;
    if (!is_server(r) || !server->umask_taken)
        return;
    umask(server->umask_before);
    server->umask_taken = false;
    pthread_mutex_unlock(&umask_lock);
}

static void answer(struct request *r, const struct seccomp_notif_resp *response)
{
    if (r->answered)
        return;
    r->answered = true;
    give_umask_back(r);
    int rc;
    while ((rc = ioctl(r->listener, SECCOMP_IOCTL_NOTIF_SEND, response)) && errno == EINTR)
        ;
    /* ENOENT: the caller has died and nobody waits for this answer. For any other error the caller
       would wait forever. */
    if (rc && errno != ENOENT)
        ioctl(r->listener, SECCOMP_IOCTL_NOTIF_SEND,
              &(struct seccomp_notif_resp){.id = r->id, .error = -EPERM});
}

void request_fail(struct request *r, int error)
{
    if (!r->answered)
        r->failed = error;
    answer(r, &(struct seccomp_notif_resp){.id = r->id, .error = -error});
}

void request_succeed(struct request *r, int64_t value)
{
    answer(r, &(struct seccomp_notif_resp){.id = r->id, .val = value});
}

void request_finish(struct request *r)
{
    request_fail(r, EPERM);
    give_umask_back(r); /* a thread answers, or will */
}

void request_continue(struct request *r)
{
    answer(r, &(struct seccomp_notif_resp){.id = r->id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE});
}

/*
 * Handing over a descriptor wakes the caller and then the broker, and the kernel would place each
 * on the next idle CPU, which can cost more than everything else. Both are pinned to this CPU for
 * that moment, during which the caller does not leave the kernel: a process that it started then
 * would inherit the pinning. That takes calls of its own, and they are wasted where no CPU is idle:
 * now and then both ways are tried, and the faster one is used until the next trial.
 */
struct turn {
    bool held;
    cpu_set_t caller;
};

void request_end_turns(struct request_server *server)
{
    if (server->cpu >= 0)
        sched_setaffinity(0, sizeof server->before, &server->before);
    server->cpu = -1;
    server->turns_with = 0;
}

/* While one caller keeps asking, the broker stays on its CPU. */
static bool stay_on(const struct request *r, int cpu, const cpu_set_t *here)
{
    struct request_server *server = r->server;
    if (server->cpu == cpu && server->turns_with == r->pid)
        return true;
    request_end_turns(server);
    if (sched_getaffinity(0, sizeof server->before, &server->before) ||
        sched_setaffinity(0, sizeof *here, here))
        return false;
    server->cpu = cpu;
    server->turns_with = r->pid;
    return true;
}

enum { TRIALS = 8, TRIAL_EVERY = 512, LONGEST_TRIAL = 200000 };

static uint64_t nanoseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Whether this descriptor is handed over in a turn. Some are without one and then as many in turns,
   each measured until the next: what the caller does in between counts for both. */
static bool turn_pays(struct request_server *server)
{
    unsigned i = server->given++ % TRIAL_EVERY;
    if (i == 0)
        server->spent[0] = server->spent[1] = 0;
    if (i <= 2 * TRIALS) {
        uint64_t now = nanoseconds(), spent = now - server->began;
        if (i > 0) /* bounded: others may have run meanwhile */
            server->spent[i > TRIALS] += spent < LONGEST_TRIAL ? spent : LONGEST_TRIAL;
        server->began = now;
    }
    if (i < 2 * TRIALS)
        return i >= TRIALS;
    /* A small difference is chance, and a turn more work. */
    return server->spent[1] < server->spent[0] - server->spent[0] / 8;
}

static void turn_begin(const struct request *r, struct turn *turn)
{
    cpu_set_t here;
    turn->held = false;
    if (!r->server->takes_turns || !is_server(r))
        return;
    if (!turn_pays(r->server)) {
        request_end_turns(r->server);
        return;
    }
    int cpu = sched_getcpu();
    if (cpu < 0 || sched_getaffinity(r->pid, sizeof turn->caller, &turn->caller))
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
    struct turn turn;
    int number, error;
    if (r->answered)
        return;
    give_umask_back(r);
    turn_begin(r, &turn);
    /* If a turn has to end first, the answer follows it. */
    struct seccomp_notif_addfd add = {.id = r->id,
                                      .flags = turn.held ? 0 : SECCOMP_ADDFD_FLAG_SEND,
                                      .srcfd = (uint32_t)fd,
                                      .newfd_flags = close_on_exec ? O_CLOEXEC : 0};
    do {
        number = ioctl(r->listener, SECCOMP_IOCTL_NOTIF_ADDFD, &add);
        error = number < 0 ? errno : 0;
    } while (error == EINTR || error == EINPROGRESS);
    turn_end(r, &turn);
    if (error)
        request_fail(r, error == ENOENT ? EINTR : error);
    else if (turn.held)
        request_succeed(r, number);
    r->failed = 0; /* what the open did to the file is done */
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
    /* A process chooses its own name, but the kernel writes a line break in it as \n. */
    const char *mask = field(text, "\nUmask:"), *process = field(text, "\nTgid:"),
               *parent = field(text, "\nPPid:");
    if (!mask || !process || !parent || !request_alive(r))
        return false;
    out->umask = (mode_t)strtoul(mask, NULL, 8) & 0777;
    out->process = (pid_t)strtol(process, NULL, 10);
    out->parent = (pid_t)strtol(parent, NULL, 10);
    return true;
}

enum { NO_UMASK = 01000 };

void request_server_open(struct request_server *server, int listener)
{
    *server = (struct request_server){
        .thread = pthread_self(), .cpu = -1, .status = -1, .umask_now = NO_UMASK};
    server->shares_umask = unshare(CLONE_FS) != 0;
    /* Caller and broker take turns, so they share a CPU; kernels before 6.6 do not support this. */
    server->takes_turns = ioctl(listener, KERNEL_NOTIF_SET_FLAGS, KERNEL_NOTIF_SYNC_WAKE_UP) == 0 &&
                          sched_getaffinity(0, sizeof server->before, &server->before) == 0 &&
                          CPU_COUNT(&server->before) > 1;
}

void request_server_close(struct request_server *server)
{
    request_end_turns(server);
    if (server->status >= 0)
        close(server->status);
    server->status = -1;
}

/*
 * The umask call itself passes: it never fails, so programs do not expect the EINTR of a call that
 * waits here. Its value is read whenever something is created. The file stays open while the same
 * thread keeps asking, because opening it costs as much as reading it. Once that thread is gone,
 * the descriptor reads nothing, even if another one has the same number: *alive says that it does,
 * so that this call and all that was read for it are that thread's.
 */
static mode_t read_umask(const struct request *r, bool *alive)
{
    struct request_server *server = r->server;
    char path[64], text[256];
    ssize_t n = -1;
    if (server->status >= 0 && server->status_of == r->pid)
        n = pread(server->status, text, sizeof text - 1, 0);
    *alive = n > 0;
    if (n <= 0) {
        if (server->status >= 0)
            close(server->status);
        snprintf(path, sizeof path, "/proc/%d/status", (int)r->pid);
        server->status = open(path, O_RDONLY | O_CLOEXEC);
        server->status_of = r->pid;
        n = server->status < 0 ? -1 : pread(server->status, text, sizeof text - 1, 0);
    }
    text[n > 0 ? n : 0] = '\0';
    const char *mask = field(text, "\nUmask:");
    return mask ? (mode_t)strtoul(mask, NULL, 8) & 0777 : 077;
}

mode_t request_umask(const struct request *r)
{
    bool alive;
    return read_umask(r, &alive);
}

bool request_take_umask(const struct request *r)
{
    struct request_server *server = r->server;
    bool alive = false;
    if (server->umask_taken)
        return false;
    mode_t mask = read_umask(r, &alive);
    if (server->shares_umask) {
        pthread_mutex_lock(&umask_lock);
        server->umask_before = umask(mask);
        server->umask_taken = true;
    } else if (mask != server->umask_now) {
        umask(mask);
        server->umask_now = mask;
    }
    return alive;
}

int request_descriptor(const struct request *r, int fd)
{
    /* A pidfd names a process; a thread that is not the leader is represented by its leader. */
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
