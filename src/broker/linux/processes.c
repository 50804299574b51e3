/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports the programs of the tree to the audit. Starts are known because every exec arrives here;
 * ends because the kernel tells the holder of a pidfd how the process ended (6.15 and later). None
 * of this is done for a run without an audit.
 */
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "broker/linux/broker.h"
#include "guard/effects.h"
#include "launch/linux/kernel.h"

enum {
    LONGEST_CMDLINE = 32768,
    MOST_BETWEEN = 64, /* forks without an exec between a process and its ancestor */
    MOST_WATCHED = 512
};

void processes_open(struct broker_processes *p)
{
    struct rlimit descriptors;
    p->told = true;
    p->ends = epoll_create1(EPOLL_CLOEXEC);
    /* Most descriptors are reserved for the calls being served. */
    if (getrlimit(RLIMIT_NOFILE, &descriptors) == 0)
        p->most_watched = descriptors.rlim_cur / 4 < MOST_WATCHED ? (size_t)descriptors.rlim_cur / 4
                                                                  : MOST_WATCHED;
}

static struct broker_process *find(struct broker_processes *p, pid_t pid)
{
    for (size_t i = 0; i < p->count; i++)
        if (p->items[i].pid == pid)
            return &p->items[i];
    return NULL;
}

static void forget(struct broker_processes *p, struct broker_process *process)
{
    if (process->watch >= 0) {
        close(process->watch);
        p->watched--;
    }
    free(process->image);
    *process = p->items[--p->count];
}

/* The nearest ancestor known to the audit; 0: none. A shell's own forks start nothing. */
static pid_t ancestor(struct broker *b, pid_t parent)
{
    for (int i = 0; i < MOST_BETWEEN && parent > 1 && parent != b->reaper; i++) {
        pid_t group;
        if (find(&b->processes, parent))
            return parent;
        if (!broker_family(parent, &parent, &group))
            break;
    }
    return 0;
}

static void watch(struct broker_processes *p, struct broker_process *process)
{
    /* No events requested: POLLHUP, which is always reported, comes once the process has been
       waited for. */
    struct epoll_event hang_up = {.data.u32 = (uint32_t)process->pid};
    process->watch = -1;
    if (p->ends < 0 || p->watched >= p->most_watched)
        return;
    int fd = (int)syscall(SYS_pidfd_open, process->pid, 0);
    if (fd >= 0 && epoll_ctl(p->ends, EPOLL_CTL_ADD, fd, &hang_up)) {
        close(fd);
        fd = -1;
    }
    process->watch = fd;
    p->watched += fd >= 0;
}

static struct broker_process *add(struct broker_processes *p, pid_t pid)
{
    if (p->count == BROKER_MOST_PROCESSES)
        for (size_t i = p->count; i-- > 0;)
            if (kill(p->items[i].pid, 0))
                forget(p, &p->items[i]);
    if (p->count == BROKER_MOST_PROCESSES)
        return NULL;
    struct broker_process *process = &p->items[p->count++];
    *process = (struct broker_process){.pid = pid};
    watch(p, process);
    return process;
}

void process_spell(struct buf *out, const struct str *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (out->n + words[i].n > LONGEST_CMDLINE) {
            buf_add(out, STR(" …"));
            return;
        }
        if (i)
            buf_char(out, ' ');
        winargv_quote(out, words[i]);
    }
}

void process_began(struct broker *b, pid_t pid, pid_t parent, struct str image,
                   const struct str *words, size_t count)
{
    struct broker_processes *p = &b->processes;
    auto_buf struct buf cmdline = {0};
    if (!p->told)
        return;
    struct broker_process *process = find(p, pid);
    if (!process)
        process = add(p, pid);
    pid_t from = ancestor(b, parent);
    process_spell(&cmdline, words, count);
    b->event(b->context, &(struct audit_event){.type = AUDIT_SPAWN,
                                               .op = AUDIT_PROCESS_START,
                                               .time = b->now(),
                                               .pid = (uint32_t)pid,
                                               .ppid = (uint32_t)from,
                                               .image = image,
                                               .cmdline = buf_str(&cmdline)});
    if (!process)
        return;
    free(process->image);
    process->image = strndup(image.p, image.n);
    process->parent = from;
}

static void ended(struct broker *b, struct broker_process *process, int status)
{
    b->event(b->context,
             &(struct audit_event){.type = AUDIT_EXIT,
                                   .time = b->now(),
                                   .pid = (uint32_t)process->pid,
                                   .ppid = (uint32_t)process->parent,
                                   .image = str_of(process->image),
                                   .code = WIFSIGNALED(status) ? 128 + (uint32_t)WTERMSIG(status)
                                                               : (uint32_t)WEXITSTATUS(status)});
    forget(&b->processes, process);
}

void processes_collect(struct broker *b)
{
    struct broker_processes *p = &b->processes;
    struct epoll_event events[32];
    for (int n; p->ends >= 0 && (n = epoll_wait(p->ends, events, 32, 0)) > 0;)
        for (int i = 0; i < n; i++) {
            struct kernel_pidfd_info info = {.mask = KERNEL_PIDFD_INFO_EXIT};
            struct broker_process *process = find(p, (pid_t)events[i].data.u32);
            if (!process)
                continue;
            if (ioctl(process->watch, KERNEL_PIDFD_GET_INFO, &info) == 0 &&
                (info.mask & KERNEL_PIDFD_INFO_EXIT))
                ended(b, process, info.exit_code);
            else
                forget(p, process);
        }
}

void processes_close(struct broker *b, pid_t command, int status)
{
    struct broker_processes *p = &b->processes;
    if (!p->told)
        return;
    processes_collect(b);
    struct broker_process *process = find(p, command);
    if (process)
        ended(b, process, status);
    while (p->count)
        forget(p, &p->items[p->count - 1]);
    if (p->ends >= 0)
        close(p->ends);
    p->told = false;
}

uint32_t process_caller(struct broker *b, const struct request *r)
{
    struct request_status status;
    /* A thread stands for its process. */
    if (!find(&b->processes, r->pid) && request_status(r, &status))
        return (uint32_t)status.process;
    return (uint32_t)r->pid;
}
