/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The relay. Keys go to the command unless a question is shown; what was typed before it was shown
 * goes to the command, too. Output waits meanwhile, so nothing can paint over a question, and a
 * sequence that was left unfinished before it is cut off.
 *
 * The command can make a terminal type: it answers queries, with text of the command's choice. And a
 * person may be typing to the command when a question appears. So keys are for the command until none
 * has come for a while, a sequence is the command's from its first byte on, and an answer is a
 * letter and Enter, which no terminal sends by itself.
 */
#include "lib/linux/terminal.h"

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

#include "report/collect.h"

enum {
    PIECE = 4096,
    MOST_TYPED = 65536,
    LOOK_MS = 250,
    MOST_HINTS = 3,
    QUIET_MS = 500,
    SHOWN_HEAD = 400,
    SHOWN_TAIL = 200,
    CTRL_C = 3,
    ERASE = 0x7F
};

struct terminal {
    int tty, master, slave;
    bool raw;
    pid_t command;
    struct termios before;
    struct winsize size;
    struct buf typed; /* for the command */
    bool closed;      /* the window is gone */
    uint64_t shown;   /* the question on the screen; 0: none */
    uint64_t last;    /* when it was shown, or a key for the command came after it */
    char letter;      /* that is waiting for Enter; 0: none */
    bool sequence;    /* keys for the command that a terminal sends, not a person */
    unsigned hints;   /* lines about keys that were no answer */
    struct ask_choice keys[128];
    bool offered[128];
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
    if (ioctl(t->tty, TIOCGWINSZ, &now) || memcmp(&now, &t->size, sizeof now) == 0)
        return;
    t->size = now;
    ioctl(t->master, TIOCSWINSZ, &now); /* the kernel tells the command */
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
    buf_free(&t->typed);
    free(t);
}

/* Ctrl-Z where no shell inside would handle it: command and supervisor stop, and go on together. */
static bool suspend(struct terminal *t, char key)
{
    struct termios inner;
    struct sigaction stop;
    if (tcgetattr(t->master, &inner) || !(inner.c_lflag & ISIG) || (cc_t)key != inner.c_cc[VSUSP] ||
        tcgetpgrp(t->master) != t->command)
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
    return true;
}

static void type(struct terminal *t, struct str keys)
{
    for (size_t i = 0; i < keys.n; i++)
        if (!suspend(t, keys.p[i]))
            buf_char(&t->typed, keys.p[i]);
}

/* Reads the keys typed so far; false if there are none. */
static bool read_keys(struct terminal *t, char *out, size_t capacity, size_t *n)
{
    struct pollfd watch = {t->tty, POLLIN, 0};
    if (poll(&watch, 1, 0) != 1)
        return false;
    ssize_t got = read(t->tty, out, capacity);
    if (got <= 0 && errno != EINTR && errno != EAGAIN)
        t->closed = true;
    *n = got > 0 ? (size_t)got : 0;
    return got > 0;
}

/* In quotes and without what cannot be seen; the middle of a long text is left out. */
static void add_text(struct buf *out, struct str text)
{
    auto_buf struct buf clean = {0};
    struct str head = text, tail = STR_NONE;
    if (text.n > SHOWN_HEAD + SHOWN_TAIL) {
        head = str_cut(text, SHOWN_HEAD);
        size_t from = text.n - SHOWN_TAIL;
        while (from < text.n && ((unsigned char)text.p[from] & 0xC0) == 0x80)
            from++;
        tail = str_from(text, from);
    }
    report_clean(&clean, head);
    if (tail.n)
        buf_fmt(&clean, "[... %zu more bytes ...]", text.n - head.n - tail.n);
    report_clean(&clean, tail);
    buf_char(out, '"');
    for (size_t i = 0; i < clean.n; i++) {
        if (clean.p[i] == '"')
            buf_char(out, '\\');
        buf_char(out, clean.p[i]);
    }
    buf_char(out, '"');
}

/* A program of the system by its name alone, any other by its whole path. */
static struct str program_name(struct str image)
{
    static const struct str folders[] = {
        {"/usr/bin/", 9}, {"/bin/", 5}, {"/usr/sbin/", 10}, {"/sbin/", 6}};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (str_starts(image, folders[i]) && !str_has_char(str_from(image, folders[i].n), '/'))
            return str_from(image, folders[i].n);
    return image;
}

static void add_choice(struct terminal *t, const struct ask_question *q, const struct ask_choice *c,
                       struct buf *out)
{
    char key = c->answer == ASK_ONCE    ? 'o'
               : c->answer == ASK_NO    ? 'n'
               : c->answer == ASK_NEVER ? 'N'
               : c->scope == ASK_FOLDER ? 'f'
               : c->scope == ASK_HOST   ? 'h'
                                        : 'r';
    t->keys[(int)key] = *c;
    t->offered[(int)key] = true;
    buf_fmt(out, "  [%c] ", key);
    switch (key) {
    case 'o': buf_add(out, STR("once")); break;
    case 'n': buf_add(out, STR("no")); break;
    case 'N': buf_add(out, STR("never in this run")); break;
    case 'f':
        buf_add(out, STR("all in "));
        add_text(out, q->subject.folder);
        break;
    case 'h': buf_add(out, STR("this host, any port")); break;
    default: buf_add(out, STR("for this run")); break;
    }
}

/* Ends whatever sequence was begun, takes back what could hide or move text (margins, no wrapping,
   insertion, colours, other characters, a held screen), and begins a line at the bottom. */
#define CLEAR                                                                    \
    "\x18\x1b\\\x1b[!p\x1b[?2026l\x1b[?6l\x1b[r\x1b[?7h\x1b[4l\x1b(B\x0f\x1b[0m" \
    "\x1b]104\x1b\\\x1b]110\x1b\\\x1b]111\x1b\\\x1b[999;1H\r\n\x1b[J"
#define END_OF_LINE "\x1b[K\r\n"

static void show(struct terminal *t, const struct ask_question *q, uint64_t seconds)
{
    static const struct str verbs[][2] = {
        {{"file.write", 10}, {"write", 5}},        {{"file.create", 11}, {"create", 6}},
        {{"file.delete", 11}, {"delete", 6}},      {{"file.rename", 11}, {"rename", 6}},
        {{"file.link", 9}, {"link", 4}},           {{"file.read", 9}, {"read", 4}},
        {{"net.connect", 11}, {"connect to", 10}}, {{"pipe.connect", 12}, {"connect to", 10}},
        {{"process.start", 13}, {"start", 5}},     {{"guard", 5}, {"run", 3}}};
    const struct ask_subject *s = &q->subject;
    struct str op = str_of(audit_op_name(s->op)), verb = STR("change");
    auto_buf struct buf out = {0};
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        if (str_eq(op, verbs[i][0]))
            verb = verbs[i][1];
    buf_add(&out, STR(CLEAR "cordon: "));
    if (s->image.n)
        add_text(&out, program_name(s->image));
    else
        buf_add(&out, STR("a program"));
    buf_add(&out, STR(" wants to "));
    buf_add(&out, verb);
    buf_char(&out, ' ');
    add_text(&out, s->other.n && s->arrives ? s->other : s->target);
    if (s->other.n) {
        buf_add(&out, STR(" to "));
        add_text(&out, s->arrives ? s->target : s->other);
    }
    buf_add(&out, STR("   rule "));
    buf_add(&out, s->rule);
    if (s->command.n) {
        buf_add(&out, STR(END_OF_LINE "  as "));
        add_text(&out, s->command);
    }
    buf_add(&out, STR(END_OF_LINE));
    memset(t->offered, 0, sizeof t->offered);
    for (size_t i = 0; i < q->choice_count; i++)
        add_choice(t, q, &q->choices[i], &out);
    buf_fmt(&out, END_OF_LINE "  a letter and Enter (%llu s: no) > \x1b[J",
            (unsigned long long)seconds);
    put(t, buf_str(&out));
    t->shown = q->id;
    t->last = gate_clock();
    t->letter = 0;
    t->sequence = false;
    t->hints = 0;
}

static void end_question(struct terminal *t, const char *words)
{
    put(t, str_of(words));
    put(t, STR("\r\n"));
    t->shown = 0;
}

static void answer(struct terminal *t, struct desk *desk, struct ask_choice choice)
{
    desk_lock(desk);
    ask_answer(desk->ask, t->shown, choice.answer, choice.scope, ASK_BY_TERMINAL);
    desk_unlock(desk);
    put(t, STR(" "));
    end_question(t, ask_answer_name(choice.answer));
}

/* A key was no answer: why not, and which ones are. */
static void hint(struct terminal *t, const char *why)
{
    auto_buf struct buf out = {0};
    if (t->hints++ >= MOST_HINTS) {
        put(t, STR("\a"));
        return;
    }
    buf_fmt(&out, "\a" END_OF_LINE "  %s; type", why);
    const char *before = " ";
    for (const char *key = "orfhnN"; *key; key++)
        if (t->offered[(int)*key]) {
            buf_fmt(&out, "%s%c", before, *key);
            before = *key == 'n' && t->offered['N'] ? " or " : ", ";
        }
    buf_add(&out, STR(", then Enter > \x1b[J"));
    put(t, buf_str(&out));
}

/* A key for the command. A person who meant it for the question is told so, once. */
static void pass_key(struct terminal *t, char key, bool typed, uint64_t now)
{
    t->sequence = !typed || (t->sequence && now - t->last < QUIET_MS);
    t->last = now;
    t->letter = 0;
    buf_char(&t->typed, key);
    if (!t->sequence && !t->hints)
        hint(t, "that was too early and went to the command");
}

/* A key while a question is shown. */
static void take_key(struct terminal *t, struct desk *desk, char key, uint64_t now)
{
    bool plain = key >= ' ' && key < ERASE, enter = key == '\r' || key == '\n';
    bool typed = plain || enter || key == ERASE || key == '\b';
    if (key == CTRL_C) {
        answer(t, desk, (struct ask_choice){ASK_NO, ASK_CALL});
        buf_char(&t->typed, key);
    } else if (now - t->last < QUIET_MS || !typed) {
        pass_key(t, key, typed, now);
    } else if (enter && t->letter) {
        answer(t, desk, t->keys[(int)t->letter]);
    } else if (plain && !t->letter && t->offered[(int)key]) {
        t->letter = key;
        put(t, (struct str){&key, 1});
    } else if (t->letter) {
        put(t, STR("\b \b\a"));
        t->letter = 0;
    } else {
        hint(t, enter ? "no letter was typed" : "that is no answer here");
    }
}

/* Shows the next question if there is one, and takes away one that is over; the time that is left. */
static int look(struct terminal *t, struct desk *desk)
{
    struct ask_closed closed;
    uint64_t now = gate_clock(), until;
    desk_lock(desk);
    if (t->closed)
        ask_close(desk->ask);
    ask_expire(desk->ask, now);
    while (ask_next_closed(desk->ask, &closed))
        if (closed.id == t->shown)
            end_question(t, closed.timed_out ? "no answer: no" : "not needed any more");
    const struct ask_question *q = t->shown || t->closed ? NULL : ask_next(desk->ask, now);
    if (q)
        show(t, q, (q->deadline - now) / 1000);
    until = ask_deadline(desk->ask);
    desk_unlock(desk);
    if (until == UINT64_MAX || until > now + LOOK_MS)
        return LOOK_MS;
    return until > now ? (int)(until - now) : 0;
}

static void take_keys(struct terminal *t, struct desk *desk)
{
    char keys[PIECE];
    size_t n, at = 0;
    uint64_t now = gate_clock();
    if (!read_keys(t, keys, sizeof keys, &n))
        return;
    while (t->shown && at < n)
        take_key(t, desk, keys[at++], now);
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
    ssize_t n = write(t->master, t->typed.p, t->typed.n);
    if (n <= 0)
        return;
    memmove(t->typed.p, t->typed.p + n, t->typed.n - (size_t)n);
    t->typed.n -= (size_t)n;
}

void terminal_serve(struct terminal *t, struct desk *desk, int stop)
{
    bool ended = false; /* nobody has the other end open, for now */
    for (;;) {
        int timeout = look(t, desk);
        copy_size(t);
        bool keys = !t->closed && t->typed.n < MOST_TYPED;
        bool output = !t->shown && !ended;
        struct pollfd watch[] = {{stop, POLLIN, 0},
                                 {(int)desk->asked, POLLIN, 0},
                                 {keys ? t->tty : -1, POLLIN, 0},
                                 {output || t->typed.n ? t->master : -1,
                                  (short)((output ? POLLIN : 0) | (t->typed.n ? POLLOUT : 0)), 0}};
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
    if (t->shown)
        end_question(t, "not needed any more");
    while (!t->closed && pass_output(t))
        ;
}
