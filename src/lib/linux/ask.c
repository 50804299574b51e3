/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The thread that serves whoever answers. It never waits for a slow reader or writer, so time-outs
 * and questions whose caller is gone are always told in time, and the broker never waits for it.
 */
#include "lib/linux/ask.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/linux/terminal.h"

enum { LONGEST_LINE = 65536, PIECE = 4096 /* what fits into a pipe that has room */ };

struct asker {
    struct desk *desk;
    struct terminal *terminal; /* NULL: another way */
    cordon_ask *function;      /* NULL: descriptors */
    void *context;
    int in, out; /* the caller's; -1: none, or closed */
    int stop;
    pthread_t thread;
    bool started;
    struct buf output;
    size_t sent;
    char line[LONGEST_LINE];
    size_t length;
    bool too_long;
};

struct desk *asker_desk(struct asker *a)
{
    return a ? a->desk : NULL;
}

/* The person on the other side is gone. */
static void give_up(struct asker *a)
{
    a->in = a->out = -1;
    desk_close(a->desk);
}

static void send_some(struct asker *a)
{
    size_t left = a->output.n - a->sent, piece = left < PIECE ? left : PIECE;
    ssize_t n = send(a->out, a->output.p + a->sent, piece, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && errno == ENOTSOCK)
        n = write(a->out, a->output.p + a->sent, piece);
    if (n < 0 && errno != EAGAIN && errno != EINTR) {
        give_up(a);
        return;
    }
    a->sent += n > 0 ? (size_t)n : 0;
    if (a->sent == a->output.n) {
        buf_reset(&a->output);
        a->sent = 0;
    }
}

static void take_line(struct asker *a)
{
    const char *why = "the line is longer than 65535 bytes";
    uint64_t id = 0;
    int rc = CORDON_E_TOOBIG;
    if (!a->too_long) {
        pthread_mutex_lock(&a->desk->lock);
        rc = ask_take_line(a->desk->ask, (struct str){a->line, a->length}, ASK_BY_FD, &id, &why);
        pthread_mutex_unlock(&a->desk->lock);
    }
    if (rc)
        ask_spell_error(id, why, &a->output);
    a->length = 0;
    a->too_long = false;
}

static void read_some(struct asker *a)
{
    char piece[PIECE];
    ssize_t n = read(a->in, piece, sizeof piece);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        give_up(a);
        return;
    }
    for (ssize_t i = 0; i < n; i++) {
        if (piece[i] == '\n')
            take_line(a);
        else if (a->length == sizeof a->line)
            a->too_long = true;
        else
            a->line[a->length++] = piece[i];
    }
}

/* One question for the function; false if there is none. */
static bool call_function(struct asker *a)
{
    pthread_mutex_lock(&a->desk->lock);
    const struct ask_question *q = ask_next(a->desk->ask, desk_clock());
    struct cordon_question *question = q ? question_new(a->desk, q) : NULL;
    if (q && !question)
        ask_answer(a->desk->ask, q->id, ASK_NO, ASK_CALL, ASK_BY_CLOSED);
    pthread_mutex_unlock(&a->desk->lock);
    if (question)
        a->function(a->context, question);
    return q != NULL;
}

/* Questions that can be shown, and those that are over, as lines. */
static void write_lines(struct asker *a)
{
    const struct ask_question *q;
    struct ask_closed closed;
    pthread_mutex_lock(&a->desk->lock);
    while (ask_next_closed(a->desk->ask, &closed))
        if (!a->function)
            ask_spell_closed(&closed, &a->output);
    while (!a->function && (q = ask_next(a->desk->ask, desk_clock())))
        ask_spell(q, &a->output);
    pthread_mutex_unlock(&a->desk->lock);
    if (a->output.failed)
        give_up(a);
}

static int wait_ms(struct asker *a)
{
    pthread_mutex_lock(&a->desk->lock);
    ask_expire(a->desk->ask, desk_clock());
    uint64_t until = ask_deadline(a->desk->ask), now = desk_clock();
    pthread_mutex_unlock(&a->desk->lock);
    if (until == UINT64_MAX)
        return -1;
    return until <= now ? 0 : until - now > INT_MAX ? INT_MAX : (int)(until - now);
}

static void *serve(void *context)
{
    struct asker *a = context;
    if (a->terminal) {
        terminal_serve(a->terminal, a->desk, a->stop);
        return NULL;
    }
    for (;;) {
        while (a->function && call_function(a))
            ;
        int timeout = wait_ms(a);
        write_lines(a);
        bool pending = a->output.n > a->sent;
        struct pollfd watch[] = {{a->stop, POLLIN, 0},
                                 {a->desk->asked, POLLIN, 0},
                                 {a->in, POLLIN, 0},
                                 {a->out, (short)(pending ? POLLOUT : 0), 0}};
        if (poll(watch, 4, timeout) < 0 && errno != EINTR)
            return NULL;
        if (watch[0].revents)
            return NULL;
        if (watch[1].revents)
            desk_hush(a->desk->asked);
        if (watch[2].revents)
            read_some(a);
        if (a->out >= 0 && (watch[3].revents & POLLOUT) && pending)
            send_some(a);
        else if (a->out >= 0 && (watch[3].revents & (POLLERR | POLLNVAL)))
            give_up(a);
    }
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
    a->function = o->ask;
    a->context = o->ask_context;
    a->in = o->ask_fds ? o->ask_fds[0] : -1;
    a->out = o->ask_fds ? o->ask_fds[1] : -1;
    a->terminal = o->ask_terminal ? terminal_open() : NULL;
    if (o->ask_terminal && !a->terminal) {
        free(a);
        return 0;
    }
    a->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    a->desk = desk_new(run->policy->policy, o->ask_terminal,
                       o->ask_timeout_ms ? o->ask_timeout_ms : ASK_DEFAULT_TIMEOUT_S * 1000);
    if (a->stop < 0 || !a->desk) {
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
    a->desk->event = event;
    a->desk->context = context;
    a->desk->now = now;
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
    if (a->desk)
        desk_close(a->desk);
    if (a->started) {
        desk_ring(a->stop);
        pthread_join(a->thread, NULL);
    }
    if (a->stop >= 0)
        close(a->stop);
    terminal_close(a->terminal);
    desk_drop(a->desk);
    buf_free(&a->output);
    free(a);
}
