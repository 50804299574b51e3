/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signals while commands run. Their dispositions belong to the whole process, so all of its runs
 * share this: the first changes them, the last puts them back.
 */
#ifndef CORDON_LAUNCH_LINUX_SIGNALS_H
#define CORDON_LAUNCH_LINUX_SIGNALS_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>

/* One run that wants to end when the process is asked to; the caller's memory. */
struct signals_run {
    int control; /* shut down then */
    _Atomic(struct signals_run *) next;
};

/* What a process of Cordon's own ignores beside what every host does. */
enum signals_extent {
    SIGNALS_HOST,     /* another program's process */
    SIGNALS_OWN,      /* must survive a closed stderr and a full disk quota */
    SIGNALS_OWN_TIMED /* and must not be suspended while a timeout counts */
};

/* SIGTERM and SIGHUP end the runs from here on; what the terminal sends is left to the commands. */
void signals_enter(struct signals_run *run, int control, enum signals_extent extent);

/* The last one puts back what was there, unless somebody else changed it meanwhile. */
void signals_leave(struct signals_run *run);

/* The signals that the process ignored before any run, which a command has to inherit. */
void signals_ignored(sigset_t *out);

/* For a new process, before its exec: these are ignored, all others have their default, and the
   mask is set. */
void signals_inherit(const sigset_t *ignored, const sigset_t *mask);

#endif
