/* SPDX-License-Identifier: Apache-2.0 */
/* A run inside another program, on Linux: pipes and a thread that reads them. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/system.h"

struct system_guest {
    cordon_output *output;
    void *context;
    int read[2]; /* stdout, stderr; -1: none */
    intptr_t write[2];
    pthread_t thread;
    bool reading;
};

static void *read_output(void *context)
{
    struct system_guest *g = context;
    struct pollfd watch[2] = {{g->read[0], POLLIN, 0}, {g->read[1], POLLIN, 0}};
    char piece[16384];
    while (watch[0].fd >= 0 || watch[1].fd >= 0) {
        if (poll(watch, 2, -1) < 0 && errno != EINTR)
            break;
        for (int i = 0; i < 2; i++) {
            if (watch[i].fd < 0 || !watch[i].revents)
                continue;
            ssize_t n = read(watch[i].fd, piece, sizeof piece);
            if (n > 0)
                g->output(g->context, i + 1, piece, (size_t)n);
            else if (n == 0 || errno != EINTR)
                watch[i].fd = -1;
        }
    }
    return NULL;
}

static void close_one(intptr_t fd)
{
    if (fd >= 0)
        close((int)fd);
}

static bool open_pipes(struct system_guest *g)
{
    for (int i = 0; i < 2; i++) {
        int ends[2];
        if (pipe2(ends, O_CLOEXEC))
            return false;
        g->read[i] = ends[0];
        g->write[i] = ends[1];
    }
    /* The thread takes no signals: they are for the caller's thread. */
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &old);
    g->reading = pthread_create(&g->thread, NULL, read_output, g) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return g->reading;
}

int system_guest_open(cordon_output *output, void *context, struct system_guest **out,
                      const char **why)
{
    struct system_guest *g = calloc(1, sizeof *g);
    if (!g)
        return CORDON_E_NOMEM;
    *g = (struct system_guest){
        .output = output, .context = context, .read = {-1, -1}, .write = {-1, -1}};
    if (output && !open_pipes(g)) {
        *why = "the pipes for its output could not be made";
        system_guest_close(g);
        return CORDON_E_CONFINE;
    }
    *out = g;
    return 0;
}

const intptr_t *system_guest_stdio(const struct system_guest *g)
{
    return g->output ? g->write : NULL;
}

void system_guest_close(struct system_guest *g)
{
    close_one(g->write[0]);
    close_one(g->write[1]);
    if (g->reading)
        pthread_join(g->thread, NULL);
    close_one(g->read[0]);
    close_one(g->read[1]);
    free(g);
}
