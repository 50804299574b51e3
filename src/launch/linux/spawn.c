/* Processes, descriptors and who waits for whom. */
#include "launch/linux/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cordon.h"

/* What the command's process says before its exec. */
struct report {
    int error; /* errno; 0: confined, the listener comes along */
    char step[64];
};

static int send_report(int socket, const struct report *report, int fd)
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

static int receive_report(int socket, struct report *report, int *fd)
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

/* The command's own process: confined, then exec. Does not return. */
static void become_command(const struct spawn_plan *plan, int socket)
{
    struct report report = {0};
    const char *step = "working directory";
    int listener = -1;
    if (plan->stdio && (dup2(plan->stdio[0], 1) < 0 || dup2(plan->stdio[1], 2) < 0))
        _exit(125);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (plan->cwd && chdir(plan->cwd))
        report.error = errno ? errno : EINVAL;
    else if (confine_self(&plan->confine, &listener, &step))
        report.error = errno ? errno : EINVAL;
    snprintf(report.step, sizeof report.step, "%s", step);
    if (send_report(socket, &report, report.error ? -1 : listener) || report.error)
        _exit(125);
    close(listener);
    /* What was open here before is nobody's business inside, but for the three that are given. */
    if (close_range(3, ~0U, CLOSE_RANGE_CLOEXEC))
        _exit(125);
    /* The socket is close-on-exec: its end tells the supervisor that the program began. */
    execve(plan->program, (char *const *)plan->argv, (char *const *)plan->environ);
    report.error = errno;
    snprintf(report.step, sizeof report.step, "start");
    send_report(socket, &report, -1);
    _exit(errno == ENOENT ? 127 : 126);
}

/* Kills every descendant: those that are children, and through them the rest, until none is left.
 */
static void kill_tree(void)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    for (;;) {
        FILE *f = fopen(path, "re");
        int pid, found = 0;
        while (f && fscanf(f, "%d", &pid) == 1) {
            kill(pid, SIGKILL);
            found++;
        }
        if (f)
            fclose(f);
        /* Orphans of the killed become ours; the next round finds them. */
        if (waitpid(-1, NULL, found ? 0 : WNOHANG) < 0 && errno == ECHILD)
            return;
        while (waitpid(-1, NULL, WNOHANG) > 0)
            ;
    }
}

/* The reaper: adopts, waits, reports the command's status, ends the rest. Does not return. */
static void become_reaper(const struct spawn_plan *plan, int control, int socket)
{
    static const int from_terminal[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};
    sigset_t children;
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    prctl(PR_SET_NAME, "cordon-reaper", 0, 0, 0);
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    sigprocmask(SIG_BLOCK, &children, NULL);
    int ended = signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK);
    pid_t command = ended < 0 ? -1 : fork();
    if (command == 0) {
        sigprocmask(SIG_UNBLOCK, &children, NULL);
        close(control);
        become_command(plan, socket);
    }
    /* What the terminal sends is for the command; the reaper must outlive it. */
    for (size_t i = 0; i < sizeof from_terminal / sizeof *from_terminal; i++)
        signal(from_terminal[i], SIG_IGN);
    close(socket);
    int status = 125 << 8;
    for (bool running = command > 0; running;) {
        struct pollfd watch[] = {{control, POLLIN, 0}, {ended, POLLIN, 0}};
        if (poll(watch, 2, -1) < 0 || watch[0].revents)
            break; /* the supervisor closed it or died */
        struct signalfd_siginfo info;
        while (read(ended, &info, sizeof info) > 0)
            ;
        int found;
        for (pid_t pid; (pid = waitpid(-1, &found, WNOHANG)) > 0;)
            if (pid == command) {
                status = found;
                running = false;
            }
    }
    kill_tree();
    (void)!write(control, &status, sizeof status);
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
    struct report report = {.error = ECHILD, .step = "the command's process died early"};
    struct spawn s = {reaper, -1, control[0]};
    if (reaper < 0) {
        report.error = error;
        snprintf(report.step, sizeof report.step, "fork");
    } else if (receive_report(socket[0], &report, &s.listener) == 0 && report.error == 0 &&
               s.listener < 0) {
        report.error = EBADF;
    }
    close(socket[0]);
    if (report.error) {
        if (s.listener >= 0)
            close(s.listener);
        s.listener = -1;
        spawn_end(&s);
        return fail(message, capacity, report.step, report.error);
    }
    *out = s;
    return 0;
}

bool spawn_status(const struct spawn *s, int *status)
{
    int value;
    if (recv(s->control, &value, sizeof value, MSG_DONTWAIT) != (ssize_t)sizeof value)
        return false;
    *status = value;
    return true;
}

void spawn_end(struct spawn *s)
{
    if (s->control >= 0)
        shutdown(s->control, SHUT_WR);
    /* Calls that wait for an answer are killable, but only a closed listener ends them for good. */
    if (s->listener >= 0)
        close(s->listener);
    s->listener = -1;
    if (s->reaper > 0)
        while (waitpid(s->reaper, NULL, 0) < 0 && errno == EINTR)
            ;
    s->reaper = 0;
    if (s->control >= 0)
        close(s->control);
    s->control = -1;
}
