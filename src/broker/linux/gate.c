/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/gate.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

struct gate {
    pthread_mutex_t lock;
    pthread_cond_t called;
};

struct gate *gate_new(void)
{
    pthread_condattr_t how;
    struct gate *g = calloc(1, sizeof *g);
    if (!g)
        return NULL;
    pthread_condattr_init(&how);
    pthread_condattr_setclock(&how, CLOCK_MONOTONIC);
    pthread_mutex_init(&g->lock, NULL);
    pthread_cond_init(&g->called, &how);
    pthread_condattr_destroy(&how);
    return g;
}

void gate_free(struct gate *g)
{
    if (!g)
        return;
    pthread_cond_destroy(&g->called);
    pthread_mutex_destroy(&g->lock);
    free(g);
}

void gate_lock(struct gate *g)
{
    pthread_mutex_lock(&g->lock);
}

void gate_unlock(struct gate *g)
{
    pthread_mutex_unlock(&g->lock);
}

void gate_call(struct gate *g)
{
    pthread_cond_broadcast(&g->called);
}

void gate_wait(struct gate *g, int ms)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += ms * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&g->called, &g->lock, &until);
}

intptr_t bell_new(void)
{
    return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

void bell_free(intptr_t bell)
{
    if (bell >= 0)
        close((int)bell);
}

void bell_ring(intptr_t bell)
{
    enum { MOST_TRIES = 3 };
    uint64_t one = 1;
    /* One that is not heard leaves somebody waiting. */
    for (int i = 0; i < MOST_TRIES && write((int)bell, &one, sizeof one) < 0 && errno != EAGAIN;)
        i++;
}

void bell_hush(intptr_t bell)
{
    uint64_t count;
    (void)!read((int)bell, &count, sizeof count);
}

uint64_t gate_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}
