/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The relay. Keys go to the command unless a question is shown; what was typed before it was shown
 * goes to the command, too. Output waits meanwhile, so nothing can paint over a question, and a
 * sequence that was left unfinished before it is cut off.
 */
#include "prompt/linux/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "prompt/prompt.h"

enum { PIECE = 4096, MOST_TYPED = 65536, LOOK_MS = 250, SHRUNK_MS = 60 };

struct terminal {
    int tty, master, slave;
    bool raw;
    pid_t command;
    struct termios before;
    struct winsize size;
    uint64_t shrunk; /* when the command's screen was made smaller for a moment; 0: it is not */
    bool closed;     /* the window is gone */
    struct prompt prompt;
};

static void put(struct terminal *t, struct str text)
{
    while (text.n && !t->closed) {
        ssize_t n = write(t->tty, text.p, text.n);
        if (n < 0 && errno != EINTR)
            t->closed = true;
        if (n > 0)
            text = str_from(text, (size_t)n);
    }
}

static void set_raw(struct terminal *t, bool raw)
{
    struct termios how = t->before;
    if (raw)
        cfmakeraw(&how);
    tcsetattr(t->tty, TCSADRAIN, &how);
    t->raw = raw;
}

static void copy_size(struct terminal *t)
{
    struct winsize now;
    bool other = ioctl(t->tty, TIOCGWINSZ, &now) == 0 && memcmp(&now, &t->size, sizeof now) != 0;
    bool back = t->shrunk && gate_clock() - t->shrunk >= SHRUNK_MS;
    if (!other && !back)
        return;
    if (!other)
        now = t->size;
    t->size = now;
    t->shrunk = 0;
    ioctl(t->master, TIOCSWINSZ, &now); /* the kernel tells the command */
}

/* After a question a program that draws on the screen draws again: its screen is one row smaller for
   a moment. One that reads lines is left alone. */
static void redraw(struct terminal *t)
{
    struct termios inner;
    struct winsize smaller = t->size;
    if (tcgetattr(t->master, &inner) || (inner.c_lflag & ICANON) || smaller.ws_row < 3)
        return;
    smaller.ws_row--;
    if (ioctl(t->master, TIOCSWINSZ, &smaller) == 0)
        t->shrunk = gate_clock();
}

struct terminal *terminal_open(void)
{
    char name[64];
    struct terminal *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    t->master = t->slave = -1;
    t->tty = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
    bool here = t->tty >= 0 && tcgetpgrp(t->tty) == getpgrp() && tcgetattr(t->tty, &t->before) == 0;
    t->master = here ? posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK) : -1;
    if (t->master < 0 || grantpt(t->master) || unlockpt(t->master) ||
        ptsname_r(t->master, name, sizeof name) ||
        (t->slave = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC)) < 0) {
        terminal_close(t);
        return NULL;
    }
    tcsetattr(t->slave, TCSANOW, &t->before);
    copy_size(t);
    return t;
}

int terminal_slave(const struct terminal *t)
{
    return t->slave;
}

dev_t terminal_device(const struct terminal *t)
{
    struct stat st;
    return fstat(t->slave, &st) ? 0 : st.st_rdev;
}

void terminal_begin(struct terminal *t, pid_t command)
{
    t->command = command;
    close(t->slave);
    t->slave = -1;
    set_raw(t, true);
}

void terminal_close(struct terminal *t)
{
    if (!t)
        return;
    if (t->raw)
        set_raw(t, false);
    int all[] = {t->tty, t->master, t->slave};
    for (size_t i = 0; i < 3; i++)
        if (all[i] >= 0)
            close(all[i]);
    prompt_free(&t->prompt);
    free(t);
}

/* Ctrl-Z at a question, or where no shell inside would handle it. */
static bool is_suspend(struct terminal *t, char key)
{
    struct termios inner;
    if (t->prompt.shown)
        return (t->before.c_lflag & ISIG) && (cc_t)key == t->before.c_cc[VSUSP];
    return tcgetattr(t->master, &inner) == 0 && (inner.c_lflag & ISIG) &&
           (cc_t)key == inner.c_cc[VSUSP] && tcgetpgrp(t->master) == t->command;
}

/* Command and supervisor stop, and go on together. */
static bool suspend(struct terminal *t, char key)
{
    struct sigaction stop;
    if (!is_suspend(t, key))
        return false;
    /* Ignored where a time-out counts: then nothing stops. */
    if (sigaction(SIGTSTP, NULL, &stop) || stop.sa_handler == SIG_IGN)
        return true;
    set_raw(t, false);
    kill(-t->command, SIGSTOP);
    /* To this thread, which then does not go on before all of them do. */
    pthread_kill(pthread_self(), SIGSTOP);
    set_raw(t, true);
    copy_size(t);
    kill(-t->command, SIGCONT);
    prompt_went_on(&t->prompt);
    return true;
}

static void type(struct terminal *t, struct str keys)
{
    for (size_t i = 0; i < keys.n; i++)
        if (!suspend(t, keys.p[i]))
            buf_char(&t->prompt.typed, keys.p[i]);
}

/* Puts on the screen whatever the questions have to say. */
static void put_prompt(struct terminal *t)
{
    t->closed = t->closed || t->prompt.screen.failed;
    put(t, buf_str(&t->prompt.screen));
    buf_reset(&t->prompt.screen);
}

/* Reads the keys typed so far; false if there are none. */
static bool read_keys(struct terminal *t, char *out, size_t capacity, size_t *n)
{
    struct pollfd watch = {t->tty, POLLIN, 0};
    if (poll(&watch, 1, 0) != 1)
        return false;
    ssize_t got = read(t->tty, out, capacity);
    if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN))
        t->closed = true;
    *n = got > 0 ? (size_t)got : 0;
    return got > 0;
}

static void take_keys(struct terminal *t, struct desk *desk)
{
    char keys[PIECE];
    size_t n, at = 0;
    if (!read_keys(t, keys, sizeof keys, &n))
        return;
    for (; t->prompt.shown && at < n; at++)
        if (!suspend(t, keys[at]))
            prompt_key(&t->prompt, desk, keys[at]);
    put_prompt(t);
    type(t, (struct str){keys + at, n - at});
}

/* Passes on what the command said; false if there is nothing now. */
static bool pass_output(struct terminal *t)
{
    char piece[PIECE];
    ssize_t n = read(t->master, piece, sizeof piece);
    if (n > 0)
        put(t, (struct str){piece, (size_t)n});
    return n > 0;
}

static void pass_input(struct terminal *t)
{
    ssize_t n = write(t->master, t->prompt.typed.p, t->prompt.typed.n);
    if (n <= 0)
        return;
    memmove(t->prompt.typed.p, t->prompt.typed.p + n, t->prompt.typed.n - (size_t)n);
    t->prompt.typed.n -= (size_t)n;
}

void terminal_serve(struct terminal *t, struct desk *desk, int stop)
{
    bool ended = false; /* nobody has the other end open, for now */
    bool asked = false;
    for (;;) {
        int timeout = prompt_look(&t->prompt, desk, t->closed, LOOK_MS);
        put_prompt(t);
        if (asked && !t->prompt.shown)
            redraw(t);
        asked = t->prompt.shown;
        copy_size(t);
        if (t->shrunk && timeout > SHRUNK_MS)
            timeout = SHRUNK_MS;
        bool keys = !t->closed && t->prompt.typed.n < MOST_TYPED;
        bool output = !t->prompt.shown && !ended;
        struct pollfd watch[] = {
            {stop, POLLIN, 0},
            {(int)desk->asked, POLLIN, 0},
            {keys ? t->tty : -1, POLLIN, 0},
            {output || t->prompt.typed.n ? t->master : -1,
             (short)((output ? POLLIN : 0) | (t->prompt.typed.n ? POLLOUT : 0)), 0}};
        if (poll(watch, 4, timeout) < 0 && errno != EINTR)
            return;
        if (watch[0].revents)
            break;
        if (watch[1].revents)
            bell_hush(desk->asked);
        if (watch[2].revents)
            take_keys(t, desk);
        if (watch[3].revents & POLLOUT)
            pass_input(t);
        if (output && (watch[3].revents & POLLIN))
            pass_output(t);
        ended = (watch[3].revents & POLLHUP) && !(watch[3].revents & POLLIN);
        if (ended)
            usleep(1000);
    }
    prompt_end(&t->prompt);
    put_prompt(t);
    while (!t->closed && pass_output(t))
        ;
}
