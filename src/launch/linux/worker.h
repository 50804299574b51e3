/* SPDX-License-Identifier: Apache-2.0 */
/* The thread of one run: its umask, affinity, capabilities and pending signals are its own. */
#ifndef CORDON_LAUNCH_LINUX_WORKER_H
#define CORDON_LAUNCH_LINUX_WORKER_H

#include <signal.h>

/* Does the work in a new thread with every signal blocked, and waits for it; *mask is what the
   calling thread blocks. Returns 0, or an errno and then nothing was done. */
int worker_run(void (*work)(void *context, const sigset_t *mask), void *context);

/* The same in the calling thread, for a process that is Cordon's own and ends after the run: it is
   faster. Only the umask is put back. */
int worker_here(void (*work)(void *context, const sigset_t *mask), void *context);

#endif
