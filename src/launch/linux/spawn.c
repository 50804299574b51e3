/* SPDX-License-Identifier: Apache-2.0 */
/* Processes, their descriptors, and which process waits for which. */
#include "launch/linux/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cordon.h"
#include "launch/linux/folder.h"
#include "launch/linux/process.h"
#include "launch/linux/signals.h"
#include "launch/linux/stubs.h"

/* The report of the command's process before its exec. */
struct spawn_report {
    int error; /* errno; 0: confined, the listener is attached */
    pid_t pid;
    char step[64];
};

static int send_report(int socket, const struct spawn_report *report, int fd)
{
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct iovec part = {(void *)report, sizeof *report};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (fd >= 0) {
        message.msg_control = &control;
        message.msg_controllen = sizeof control.bytes;
        struct cmsghdr *c = CMSG_FIRSTHDR(&message);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof fd);
        memcpy(CMSG_DATA(c), &fd, sizeof fd);
    }
    return sendmsg(socket, &message, MSG_NOSIGNAL) == (ssize_t)sizeof *report ? 0 : -1;
}

static int receive_report(int socket, struct spawn_report *report, int *fd)
{
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec part = {report, sizeof *report};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof control.bytes};
    *fd = -1;
    if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_WAITALL) != (ssize_t)sizeof *report)
        return -1;
    struct cmsghdr *c = CMSG_FIRSTHDR(&message);
    if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
        memcpy(fd, CMSG_DATA(c), sizeof *fd);
    return 0;
}

/* A session of its own around that terminal, in place of the caller's on its standard
   descriptors. */
static int take_terminal(int slave)
{
    if (setsid() < 0 || ioctl(slave, TIOCSCTTY, 0))
        return -1;
    for (int i = 0; i < 3; i++)
        if (isatty(i) && dup2(slave, i) < 0)
            return -1;
    return 0;
}

/* The command's own process: confined, then exec. Does not return. */
__attribute__((noreturn)) static void become_command(const struct spawn_plan *plan, int socket)
{
    struct spawn_report report = {.pid = getpid()};
    const char *step = "working directory";
    int listener = -1;
    if (plan->stdio && (dup2((int)plan->stdio[0], 1) < 0 || dup2((int)plan->stdio[1], 2) < 0))
        _exit(125);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (plan->terminal > 0 && (step = "terminal", take_terminal(plan->terminal)))
        report.error = errno ? errno : EINVAL;
    else if (step = "working directory", plan->cwd && chdir(plan->cwd))
        report.error = errno ? errno : EINVAL;
    else if (plan->limits && (step = "control group", limits_join(plan->limits)))
        report.error = errno ? errno : EINVAL;
    else if (!plan->unconfined && confine_self(&plan->confine, &listener, &step))
        report.error = errno ? errno : EINVAL;
    /* Descriptors that were open here are closed, except the three that are passed on. */
    else if (step = "descriptors", syscall(SYS_close_range, 3, ~0U, CLOSE_RANGE_CLOEXEC))
        report.error = errno ? errno : EINVAL;
    snprintf(report.step, sizeof report.step, "%s", step);
    if (send_report(socket, &report, report.error ? -1 : listener) || report.error)
        _exit(125);
    if (listener >= 0)
        close(listener);
    signals_inherit(plan->signals);
    execve(plan->program, (char *const *)plan->argv, (char *const *)plan->environ);
    int error = errno;
    dprintf(2, "cordon: %s: %s\n", plan->program,
            error == ENOEXEC
                ? "neither a program nor a script that begins with #!; name its shell: "
                  "cordon run -- sh FILE"
                : strerror(error));
    _exit(error == ENOENT ? 127 : 126);
}

/* The parent of a process; 0 if it is gone. */
static pid_t parent_of(pid_t pid)
{
    static const int field = PROCESS_PARENT;
    uint64_t parent;
    return process_stat(pid, &field, 1, &parent) ? (pid_t)parent : 0;
}

struct relative {
    pid_t pid, parent;
    bool ours;
};

/* All processes and their parents in one pass; not every kernel lists a process's children. */
static size_t look_at_all(struct relative *all, size_t most)
{
    size_t count = 0;
    int fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    struct folder names = folder_of(fd);
    for (const char *name; count < most && (name = folder_next(&names));) {
        pid_t pid = (pid_t)atoi(name);
        pid_t parent = pid > 0 ? parent_of(pid) : 0;
        if (parent > 0)
            all[count++] = (struct relative){pid, parent, parent == getpid()};
    }
    close(fd);
    return count;
}

/* Sends a signal to every descendant; returns how many there are. */
static unsigned signal_tree(int number)
{
    enum { MOST = 1 << 20 };
    unsigned found = 0;
    struct relative *all = mmap(NULL, MOST * sizeof *all, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all == MAP_FAILED)
        return 0;
    size_t count = look_at_all(all, MOST);
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < count; i++)
            for (size_t j = 0; all[i].ours && j < count; j++)
                if (!all[j].ours && all[j].parent == all[i].pid)
                    more = all[j].ours = true;
    }
    for (size_t i = 0; i < count; i++)
        if (all[i].ours && kill(all[i].pid, number) == 0)
            found++;
    munmap(all, MOST * sizeof *all);
    return found;
}

static bool has_children(void)
{
    return waitpid(-1, NULL, WNOHANG) >= 0 || errno != ECHILD;
}

/* Kills the processes that the kernel lists as our children; false if it does not list them. */
static bool kill_children(int list)
{
    char text[4096];
    ssize_t n = list < 0 ? -1 : pread(list, text, sizeof text - 1, 0);
    if (n < 0)
        return false;
    text[n] = '\0';
    /* The last number may be cut off. */
    char *end = n == (ssize_t)sizeof text - 1 ? strrchr(text, ' ') : text + n;
    for (char *p = text; end && p < end;) {
        pid_t pid = (pid_t)strtol(p, &p, 10);
        if (pid <= 0)
            break;
        kill(pid, SIGKILL);
        p += *p == ' ';
    }
    return true;
}

/*
 * Kills every descendant. Orphans of the killed become our children, so in the end nothing is left
 * to wait for. Where our signals are scoped to the tree, one call kills all of it and no fork slips
 * through. On older kernels a tree that forks as fast as it can is caught by being faster: only a
 * short list is read between two rounds, without waiting.
 */
static void kill_tree(bool scoped)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    int list = open(path, O_RDONLY | O_CLOEXEC);
    setpriority(PRIO_PROCESS, 0, -20);
    for (unsigned round = 0; has_children(); round++) {
        if (scoped)
            kill(-1, SIGKILL);
        bool listed = kill_children(list);
        if (!listed || round % 1024 == 1023)
            signal_tree(SIGKILL);
        while (waitpid(-1, NULL, WNOHANG) > 0)
            ;
    }
    if (list >= 0)
        close(list);
}

static uint64_t elapsed_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* How long poll may wait. The reaper keeps the time-out, so nothing the tree does can delay it. */
static int time_left(const struct spawn_plan *plan, uint64_t begin)
{
    if (!plan->timeout_ms)
        return -1;
    uint64_t now = elapsed_ms() - begin;
    uint64_t left = now < plan->timeout_ms ? plan->timeout_ms - now : 0;
    return left > INT_MAX ? INT_MAX : (int)left;
}

/* The reaper keeps the standard descriptors and these, sorted. A pipe or socket of another run, or
   of the host, must be closed when its owner closes it. */
static void keep_descriptors(int *kept, size_t count)
{
    unsigned from = 3;
    for (size_t i = 1; i < count; i++)
        for (size_t j = i; j > 0 && kept[j] < kept[j - 1]; j--) {
            int other = kept[j];
            kept[j] = kept[j - 1];
            kept[j - 1] = other;
        }
    for (size_t i = 0; i < count; i++) {
        if (kept[i] < (int)from)
            continue;
        if (kept[i] > (int)from)
            syscall(SYS_close_range, from, (unsigned)kept[i] - 1, 0);
        from = (unsigned)kept[i] + 1;
    }
    syscall(SYS_close_range, from, ~0U, 0);
}

static void keep_own(const struct spawn_plan *plan, int control, int socket)
{
    int kept[6 + LIMITS_MOST_GROUPS];
    size_t count = 0;
    if (plan->stamp > 0)
        kept[count++] = plan->stamp;
    if (plan->terminal > 0)
        kept[count++] = plan->terminal;
    kept[count++] = control;
    kept[count++] = socket;
    for (int i = 0; plan->stdio && i < 2; i++)
        kept[count++] = (int)plan->stdio[i];
    for (size_t i = 0; plan->limits && i < plan->limits->count; i++)
        kept[count++] = plan->limits->groups[i].members;
    keep_descriptors(kept, count);
}

/* The reaper: adopts orphans, waits, reports the command's status and kills the rest. It blocks all
   signals, so that nothing from the terminal ends or stops it. Does not return. */
static void become_reaper(const struct spawn_plan *plan, int control, int socket)
{
    sigset_t children, all;
    uint64_t begin = elapsed_ms();
    bool adopts = prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0;
    /*
     * Renamed so that `pkill cordon` spares the reaper, which then ends the tree. A plain system
     * call: the sanitizers' wrapper would take a lock that another thread may have held at the
     * fork.
     */
    syscall(SYS_prctl, PR_SET_NAME, "sandbox-reaper", 0, 0, 0);
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    signal(SIGCHLD, SIG_DFL); /* if it were ignored, the command's status would be lost */
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    keep_own(plan, control, socket);
    int ended = signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK);
    bool scoped = !plan->unconfined && confine_signals();
    /* The child shares this memory until its exec while nothing here runs: half the cost of
       fork. */
    pid_t command = ended < 0 || !adopts ? -1 : vfork();
    if (command == 0) {
        close(control);
        become_command(plan, socket);
    }
    close(socket);
    if (plan->terminal > 0)
        close(plan->terminal);
    struct spawn_end end = {.status = 125 << 8};
    for (bool running = command > 0, more = false; running;) {
        struct pollfd watch[] = {{control, POLLIN, 0}, {ended, POLLIN, 0}};
        /* In a tree that forks endlessly some child has always just ended: each round reaps a few,
           then the control socket and the clock are checked again. */
        int ready = poll(watch, 2, more ? 0 : time_left(plan, begin));
        end.timed_out = time_left(plan, begin) == 0;
        end.error = ready < 0 && errno != EINTR ? errno : 0;
        end.asked = ready > 0 && watch[0].revents;
        if (end.error || end.timed_out || end.asked)
            break; /* the supervisor closed it or died, or the time is up */
        struct signalfd_siginfo info;
        while (read(ended, &info, sizeof info) > 0)
            ;
        int found;
        /* A child that asks to be traced stops, and its parent is told; it has not ended. */
        int round = 64;
        for (pid_t pid; round && (pid = waitpid(-1, &found, WNOHANG)) > 0; round--)
            if (pid == command && !WIFSTOPPED(found)) {
                end.status = found;
                running = false;
            }
        more = round == 0;
    }
    if (has_children()) {
        (void)!write(control, &end, sizeof end); /* from now on no call of theirs is answered */
        kill_tree(scoped);
    }
    if (plan->stamp > 0)
        futimens(plan->stamp, NULL); /* for --undo, if the supervisor is dead */
    end.last = true;
    (void)!write(control, &end, sizeof end);
    if (plan->stubs)
        stubs_remove(plan->stubs, plan->policy);
    _exit(0);
}

static int fail(char *message, size_t capacity, const char *step, int error)
{
    snprintf(message, capacity, "%s: %s", step, strerror(error));
    return CORDON_E_CONFINE;
}

int spawn_start(const struct spawn_plan *plan, struct spawn *out, char *message, size_t capacity)
{
    int control[2], socket[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, control))
        return fail(message, capacity, "socketpair", errno);
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, socket)) {
        int error = errno;
        close(control[0]);
        close(control[1]);
        return fail(message, capacity, "socketpair", error);
    }
    pid_t reaper = fork();
    if (reaper == 0) {
        close(control[0]);
        close(socket[0]);
        become_reaper(plan, control[1], socket[1]);
    }
    int error = errno;
    close(control[1]);
    close(socket[1]);
    /* No tool is looked up before the command runs, and the command waits until it is served. */
    if (plan->stubs && reaper > 0)
        stubs_make(plan->stubs, plan->policy);
    if (plan->meanwhile && reaper > 0)
        plan->meanwhile(plan->context);
    struct spawn_report report = {.error = ECHILD, .step = "the command's process died early"};
    struct spawn s = {.reaper = reaper, .listener = -1, .control = control[0]};
    if (reaper < 0) {
        report.error = error;
        snprintf(report.step, sizeof report.step, "fork");
    } else if (receive_report(socket[0], &report, &s.listener) == 0 && report.error == 0 &&
               s.listener < 0 && !plan->unconfined) {
        report.error = EBADF;
    }
    close(socket[0]);
    if (report.error) {
        if (s.listener >= 0)
            close(s.listener);
        s.listener = -1;
        spawn_close(&s);
        if (plan->stubs)
            stubs_remove(plan->stubs,
                         plan->policy); /* the reaper may have looked before they existed */
        return fail(message, capacity, report.step, report.error);
    }
    s.command = report.pid;
    *out = s;
    return 0;
}

bool spawn_result(const struct spawn *s, struct spawn_end *out)
{
    struct spawn_end end = {0};
    while (!end.last)
        if (recv(s->control, &end, sizeof end, MSG_WAITALL) != (ssize_t)sizeof end)
            return false;
    *out = end;
    return true;
}

void spawn_refuse_calls(struct spawn *s)
{
    if (s->listener >= 0)
        close(s->listener);
    s->listener = -1;
}

void spawn_close(struct spawn *s)
{
    if (s->control >= 0)
        shutdown(s->control, SHUT_WR);
    /* Calls waiting for an answer can be killed, but only closing the listener ends them for
       good. */
    spawn_refuse_calls(s);
    if (s->reaper > 0)
        while (waitpid(s->reaper, NULL, 0) < 0 && errno == EINTR)
            ;
    s->reaper = 0;
    if (s->control >= 0)
        close(s->control);
    s->control = -1;
}
