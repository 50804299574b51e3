/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run changes settings that Linux keeps per thread, so it gets a thread of its own. Signals
 * caused by writing to a closed pipe or beyond the file size limit are blocked in it and vanish
 * with it.
 */
#include "launch/linux/worker.h"

#include <errno.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

/* The readers' recursion limits just fit into a stack of 1 MiB, without sanitizers. */
enum { STACK = 16 * 1024 * 1024, SMALLEST = 4 * 1024 * 1024 };

struct job {
    void (*work)(void *context, const sigset_t *mask);
    void *context;
    sigset_t mask;
};

static void *run_job(void *context)
{
    const struct job *job = context;
    job->work(job->context, &job->mask);
    return NULL;
}

int worker_run(void (*work)(void *context, const sigset_t *mask), void *context)
{
    struct job job = {.work = work, .context = context};
    pthread_attr_t how;
    pthread_t thread;
    sigset_t all;
    int rc = pthread_attr_init(&how);
    if (rc)
        return rc;
    rc = pthread_attr_setstacksize(&how, STACK);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &job.mask);
    if (rc == 0)
        rc = pthread_create(&thread, &how, run_job, &job);
    pthread_sigmask(SIG_SETMASK, &job.mask, NULL);
    pthread_attr_destroy(&how);
    return rc ? rc : pthread_join(thread, NULL);
}

int worker_here(void (*work)(void *context, const sigset_t *mask), void *context)
{
    static const int own_fault[] = {SIGPIPE, SIGXFSZ, SIGTTIN, SIGTTOU};
    static const struct timespec at_once = {0};
    struct rlimit stack;
    sigset_t blocked, mask;
    if (getrlimit(RLIMIT_STACK, &stack) || stack.rlim_cur < SMALLEST)
        return worker_run(work, context);
    sigemptyset(&blocked);
    for (size_t i = 0; i < sizeof own_fault / sizeof *own_fault; i++)
        sigaddset(&blocked, own_fault[i]);
    pthread_sigmask(SIG_BLOCK, &blocked, &mask);
    mode_t before = umask(077);
    umask(before);
    work(context, &mask);
    umask(before);
    /* Signals that the run itself caused are dropped. */
    while (sigtimedwait(&blocked, NULL, &at_once) >= 0 || errno == EINTR)
        errno = 0;
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    return 0;
}
