/* SPDX-License-Identifier: Apache-2.0 */
/* Signals while commands run. Dispositions belong to the whole process, so all of its runs share
   this: the first run changes them, the last one restores them. */
#ifndef CORDON_LAUNCH_LINUX_SIGNALS_H
#define CORDON_LAUNCH_LINUX_SIGNALS_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>

/* A run that should end when the process is asked to; the caller's memory. */
struct signals_run {
    int control;      /* shut down then */
    atomic_int ended; /* the signal that did; 0: none */
    _Atomic(struct signals_run *) next;
};

/* Signals that Cordon's own process ignores in addition to those of every host. */
enum signals_extent {
    SIGNALS_HOST,     /* another program's process */
    SIGNALS_OWN,      /* must survive a closed stderr and a full disk quota */
    SIGNALS_OWN_TIMED /* and must not be suspended while a timeout counts */
};

/* From here on SIGTERM and SIGHUP end the runs; signals from the terminal are left to the
   commands. */
void signals_enter(struct signals_run *run, int control, enum signals_extent extent);

/* The last call restores the earlier dispositions, unless somebody else has changed them
   meanwhile. */
void signals_leave(struct signals_run *run);

/* The signal settings of a run's caller, which the command must inherit. */
struct signals_given {
    sigset_t mask, ignored;
    sigset_t reset; /* those that may be different in the command's process */
};

/* Fills in all but the mask: what the process ignored before any run. Cordon's own process has no
   handlers besides those of a run, so the others need no look. */
void signals_read(struct signals_given *out, bool own_process);

/* For a new process before its exec. */
void signals_inherit(const struct signals_given *given);

#endif
