/* SPDX-License-Identifier: Apache-2.0 */
/* A run with --ask-fd in a box of harness.h, and the other end of its two pipes. */
#ifndef CORDON_TESTS_TALK_H
#define CORDON_TESTS_TALK_H

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <time.h>

#include "harness.h"

struct talk {
    pid_t pid;
    int to, from;
    char held[65536];
    size_t n;
};

/* Runs a line of sh in ws, under cordon with these options; its output goes to out/log. */
__attribute__((unused)) static bool begin(struct talk *t, const char *options, const char *script)
{
    int to[2], from[2];
    char line[6144];
    *t = (struct talk){.to = -1, .from = -1};
    if (pipe2(to, O_CLOEXEC) || pipe2(from, O_CLOEXEC))
        return false;
    snprintf(line, sizeof line,
             "cd '%s/ws' && exec '%s' run --ask-fd 30,31 --audit ../out/audit --root . %s -- sh -c "
             "\"$SCRIPT\" > ../out/log 2>&1",
             top, cordon, options);
    setenv("SCRIPT", script, 1);
    t->pid = fork();
    if (t->pid == 0) {
        dup2(to[0], 30);
        dup2(from[1], 31);
        execl("/bin/sh", "sh", "-c", line, (char *)NULL);
        _exit(127);
    }
    close(to[0]);
    close(from[1]);
    t->to = to[1];
    t->from = from[0];
    return t->pid > 0;
}

/* The next line, without its end; false: none came in so many seconds. */
__attribute__((unused)) static bool next(struct talk *t, char *line, size_t capacity, int seconds)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    time_t until = now.tv_sec + seconds * box_slow();
    for (;;) {
        char *end = memchr(t->held, '\n', t->n);
        if (end) {
            size_t length = (size_t)(end - t->held);
            snprintf(line, capacity, "%.*s", (int)length, t->held);
            t->n -= length + 1;
            memmove(t->held, end + 1, t->n);
            return true;
        }
        clock_gettime(CLOCK_MONOTONIC, &now);
        struct pollfd watch = {t->from, POLLIN, 0};
        if (now.tv_sec > until || t->n == sizeof t->held || poll(&watch, 1, 1000) < 0)
            return false;
        if (!watch.revents)
            continue;
        ssize_t n = read(t->from, t->held + t->n, sizeof t->held - t->n);
        if (n <= 0)
            return false;
        t->n += (size_t)n;
    }
}

__attribute__((unused)) static void say(struct talk *t, const char *text)
{
    if (write(t->to, text, strlen(text)) < 0)
        note("cannot answer: %s", strerror(errno));
}

/* The number of a question; 0 if the line is none. */
__attribute__((unused)) static unsigned long id_of(const char *line)
{
    unsigned long id;
    return strstr(line, "\"choices\"") && sscanf(line, "{\"id\":%lu,", &id) == 1 ? id : 0;
}

__attribute__((unused)) static void reply(struct talk *t, unsigned long id, const char *answer)
{
    char text[200];
    snprintf(text, sizeof text, "{\"id\":%lu,%s}\n", id, answer);
    say(t, text);
}

/* Its exit code. */
__attribute__((unused)) static int end(struct talk *t)
{
    int status;
    if (t->to >= 0)
        close(t->to);
    if (t->from >= 0)
        close(t->from);
    waitpid(t->pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Answers everything with the first of these, and then with no; how many were asked. */
__attribute__((unused)) static unsigned answer_all(struct talk *t, const char *first,
                                                   char *question, size_t capacity)
{
    char line[16384];
    unsigned asked = 0;
    while (next(t, line, sizeof line, 30)) {
        unsigned long id = id_of(line);
        if (!id)
            continue;
        if (asked == 0)
            snprintf(question, capacity, "%s", line);
        reply(t, id, asked++ ? "\"answer\":\"no\"" : first);
    }
    return asked;
}

#endif
