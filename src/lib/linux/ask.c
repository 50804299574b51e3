/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The thread that serves whoever answers. It never waits for a slow reader or writer, so time-outs
 * and questions whose caller is gone are always told in time, and the broker never waits for it.
 */
#include "lib/linux/ask.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "prompt/linux/terminal.h"

enum { PIECE = 4096 /* what fits into a pipe that has room */ };

struct asker {
    struct asking asking;
    struct terminal *terminal; /* NULL: another way */
    int in, out;               /* the caller's; -1: none, or closed */
    int stop;
    pthread_t thread;
    bool started;
};

struct desk *asker_desk(struct asker *a)
{
    return a ? a->asking.desk : NULL;
}

/* The person on the other side is gone. */
static void give_up(struct asker *a)
{
    a->in = a->out = -1;
    desk_close(a->asking.desk);
}

static void send_some(struct asker *a)
{
    struct str rest = asking_rest(&a->asking);
    size_t piece = rest.n < PIECE ? rest.n : PIECE;
    ssize_t n = send(a->out, rest.p, piece, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && errno == ENOTSOCK)
        n = write(a->out, rest.p, piece);
    if (n < 0 && errno != EAGAIN && errno != EINTR)
        give_up(a);
    else if (n > 0)
        asking_sent(&a->asking, (size_t)n);
}

static void read_some(struct asker *a)
{
    char piece[PIECE];
    ssize_t n = read(a->in, piece, sizeof piece);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0)
        give_up(a);
    else
        asking_take(&a->asking, (struct str){piece, (size_t)n});
}

static void serve_lines(struct asker *a)
{
    for (;;) {
        bool goes_on;
        int timeout = asking_look(&a->asking, &goes_on);
        if (!goes_on)
            give_up(a);
        bool pending = asking_rest(&a->asking).n > 0;
        struct pollfd watch[] = {{a->stop, POLLIN, 0},
                                 {(int)a->asking.desk->asked, POLLIN, 0},
                                 {a->in, POLLIN, 0},
                                 {a->out, (short)(pending ? POLLOUT : 0), 0}};
        if ((poll(watch, 4, timeout) < 0 && errno != EINTR) || watch[0].revents)
            return;
        if (watch[1].revents)
            bell_hush(a->asking.desk->asked);
        if (watch[2].revents)
            read_some(a);
        if (a->out >= 0 && (watch[3].revents & POLLOUT) && pending)
            send_some(a);
        else if (a->out >= 0 && (watch[3].revents & (POLLERR | POLLNVAL)))
            give_up(a);
    }
}

static void *serve(void *context)
{
    struct asker *a = context;
    if (a->terminal)
        terminal_serve(a->terminal, a->asking.desk, a->stop);
    else
        serve_lines(a);
    desk_close(a->asking.desk); /* nobody answers from now on */
    return NULL;
}

static bool is_usable(int fd, int without)
{
    int flags = fcntl(fd, F_GETFL);
    return fd > 2 && flags >= 0 && !(flags & O_PATH) && (flags & O_ACCMODE) != without;
}

/* A pipe or socket without a name: whatever has one, the command may open, too. */
static bool is_private(int fd)
{
    char link[64], to[16];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, to, sizeof to);
    struct str kind = {to, n > 0 ? (size_t)n : 0};
    return str_starts(kind, STR("pipe:[")) || str_starts(kind, STR("socket:["));
}

int asker_open(struct run *run, struct asker **out)
{
    const struct run_options *o = run->options;
    char text[192];
    *out = NULL;
    if (o->ask_pipe)
        return api_fail(run->policy, CORDON_E_VALUE,
                        "--ask-pipe is for Windows; here it is --ask-fd");
    if (!o->ask && !o->ask_fds && !o->ask_terminal)
        return 0;
    if (o->ask_fds &&
        (!is_usable(o->ask_fds[0], O_WRONLY) || !is_usable(o->ask_fds[1], O_RDONLY))) {
        snprintf(text, sizeof text,
                 "--ask-fd %d,%d: the first must be open for reading, the second for writing",
                 o->ask_fds[0], o->ask_fds[1]);
        return api_fail(run->policy, CORDON_E_VALUE, text);
    }
    if (o->ask_fds && (!is_private(o->ask_fds[0]) || !is_private(o->ask_fds[1]))) {
        snprintf(text, sizeof text,
                 "--ask-fd %d,%d: both must be pipes or sockets without a name, which nothing else "
                 "can open",
                 o->ask_fds[0], o->ask_fds[1]);
        return api_fail(run->policy, CORDON_E_VALUE, text);
    }
    struct asker *a = calloc(1, sizeof *a);
    if (!a)
        return api_fail(run->policy, CORDON_E_NOMEM, "out of memory");
    a->asking.function = o->ask;
    a->asking.context = o->ask_context;
    a->asking.by = ASK_BY_FD;
    a->in = o->ask_fds ? o->ask_fds[0] : -1;
    a->out = o->ask_fds ? o->ask_fds[1] : -1;
    a->terminal = o->ask_terminal ? terminal_open() : NULL;
    if (o->ask_terminal && !a->terminal) {
        free(a);
        return 0;
    }
    a->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    a->asking.desk = desk_new(run->policy->policy, o->ask_terminal,
                              o->ask_timeout_ms ? o->ask_timeout_ms : ASK_DEFAULT_TIMEOUT_S * 1000);
    if (a->stop < 0 || !a->asking.desk) {
        asker_close(a);
        return api_fail(run->policy, CORDON_E_CONFINE, "nobody can be asked: out of memory");
    }
    *out = a;
    return 0;
}

int asker_slave(const struct asker *a, dev_t *device)
{
    if (!a || !a->terminal)
        return 0;
    *device = terminal_device(a->terminal);
    return terminal_slave(a->terminal);
}

int asker_start(struct asker *a, pid_t command,
                void (*event)(void *context, const struct audit_event *event), void *context,
                uint64_t (*now)(void))
{
    sigset_t all, old;
    if (a->terminal)
        terminal_begin(a->terminal, command);
    a->asking.desk->event = event;
    a->asking.desk->context = context;
    a->asking.desk->now = now;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    a->started = pthread_create(&a->thread, NULL, serve, a) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return a->started ? 0 : CORDON_E_CONFINE;
}

void asker_close(struct asker *a)
{
    if (!a)
        return;
    if (a->asking.desk)
        desk_close(a->asking.desk);
    if (a->started) {
        bell_ring(a->stop);
        pthread_join(a->thread, NULL);
    }
    if (a->stop >= 0)
        close(a->stop);
    terminal_close(a->terminal);
    desk_drop(a->asking.desk);
    buf_free(&a->asking.output);
    free(a);
}
