/* SPDX-License-Identifier: Apache-2.0 */
/* The handler may run in any thread of the host at any time, so the list that it reads has no lock:
   removing an entry waits until no handler is reading the list. */
#include "launch/linux/signals.h"

#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <sys/socket.h>

static const struct {
    int number;
    bool ends; /* the runs */
    enum signals_extent from;
} changed[] = {{SIGTERM, true, SIGNALS_HOST},      {SIGHUP, true, SIGNALS_HOST},
               {SIGINT, false, SIGNALS_HOST},      {SIGQUIT, false, SIGNALS_HOST},
               {SIGPIPE, false, SIGNALS_OWN},      {SIGXFSZ, false, SIGNALS_OWN},
               {SIGTTIN, false, SIGNALS_OWN},      {SIGTTOU, false, SIGNALS_OWN},
               {SIGTSTP, false, SIGNALS_OWN_TIMED}};
enum { CHANGED = sizeof changed / sizeof *changed };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned running; /* under the lock, like the next two */
static bool is_changed[CHANGED];
static struct sigaction before[CHANGED]; /* only if changed */
static _Atomic(struct signals_run *) first;
static atomic_uint handlers; /* handlers reading the list now */

static void on_end(int signal)
{
    atomic_fetch_add(&handlers, 1);
    for (struct signals_run *run = atomic_load(&first); run; run = atomic_load(&run->next)) {
        int none = 0;
        atomic_compare_exchange_strong(&run->ended, &none, signal);
        shutdown(run->control, SHUT_WR); /* the reaper sees end-of-file on its control socket */
    }
    atomic_fetch_sub(&handlers, 1);
}

/* SA_RESTART: other threads of the host should not notice. */
static struct sigaction action_of(size_t i)
{
    struct sigaction action = {.sa_flags = SA_RESTART};
    action.sa_handler = changed[i].ends ? on_end : SIG_IGN;
    return action;
}

void signals_enter(struct signals_run *run, int control, enum signals_extent extent)
{
    run->control = control;
    atomic_store(&run->ended, 0);
    pthread_mutex_lock(&lock);
    running++;
    atomic_store(&run->next, atomic_load(&first));
    atomic_store(&first, run);
    for (size_t i = 0; i < CHANGED; i++) {
        struct sigaction action = action_of(i);
        if (!is_changed[i] && changed[i].from <= extent)
            is_changed[i] = sigaction(changed[i].number, &action, &before[i]) == 0;
    }
    pthread_mutex_unlock(&lock);
}

static void put_back(size_t i)
{
    struct sigaction now;
    if (sigaction(changed[i].number, NULL, &now) == 0 && now.sa_handler == action_of(i).sa_handler)
        sigaction(changed[i].number, &before[i], NULL);
    is_changed[i] = false;
}

void signals_leave(struct signals_run *run)
{
    sigset_t all, mask;
    /* Waiting for a handler in this very thread would never end. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &mask);
    pthread_mutex_lock(&lock);
    _Atomic(struct signals_run *) *at = &first;
    while (atomic_load(at) != run)
        at = &atomic_load(at)->next;
    atomic_store(at, atomic_load(&run->next));
    if (--running == 0)
        for (size_t i = 0; i < CHANGED; i++)
            if (is_changed[i])
                put_back(i);
    pthread_mutex_unlock(&lock);
    while (atomic_load(&handlers))
        sched_yield();
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
}

void signals_read(struct signals_given *out, bool own_process)
{
    sigemptyset(&out->ignored);
    sigemptyset(&out->reset);
    sigaddset(&out->reset, SIGCHLD); /* the reaper's own */
    for (size_t i = 0; i < CHANGED; i++)
        sigaddset(&out->reset, changed[i].number);
    pthread_mutex_lock(&lock);
    for (int number = 1; number < NSIG; number++) {
        struct sigaction action;
        if (own_process && sigismember(&out->reset, number) != 1)
            continue;
        bool got = sigaction(number, NULL, &action) == 0;
        for (size_t i = 0; i < CHANGED; i++)
            if (changed[i].number == number && is_changed[i])
                action = before[i];
        if (got && action.sa_handler == SIG_IGN)
            sigaddset(&out->ignored, number);
        else if (got && action.sa_handler != SIG_DFL)
            sigaddset(&out->reset, number);
    }
    pthread_mutex_unlock(&lock);
}

void signals_inherit(const struct signals_given *given)
{
    for (int number = 1; number < NSIG; number++) {
        struct sigaction action = {.sa_flags = 0};
        if (sigismember(&given->reset, number) != 1)
            continue;
        action.sa_handler = sigismember(&given->ignored, number) == 1 ? SIG_IGN : SIG_DFL;
        sigaction(number, &action, NULL);
    }
    sigprocmask(SIG_SETMASK, &given->mask, NULL);
}
