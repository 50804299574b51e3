/* SPDX-License-Identifier: Apache-2.0 */
/* The job of a run: it contains everything the tree starts, which dies with it. */
#ifndef CORDON_LAUNCH_WINDOWS_JOB_H
#define CORDON_LAUNCH_WINDOWS_JOB_H

#include <stdbool.h>
#include <windows.h>

#include "launch/windows/failure.h"
#include "policy/rules.h"

/*
 * Creates a job that kills its processes when its last handle is closed, lets none of them leave,
 * and enforces the limits (0: none); port receives its messages, with the job's handle as key.
 * Neither handle is inherited: one in the tree would keep the tree alive. The caller closes both,
 * the job first.
 */
int job_make(const struct policy_limits *limits, HANDLE *job, HANDLE *port,
             struct launch_failure *f);

/*
 * Removes the user-interface limits again. Windows does not nest a job that has them: where the
 * launcher itself is in a job (a build server, some terminals), starting a process in it may fail
 * with access denied; then only the private desktop is left. False if that fails.
 */
bool job_drop_ui(HANDLE job);
bool job_limits_ui(HANDLE job);

/* True if the process is in the job, or in one nested in it. */
bool job_has(HANDLE job, HANDLE process);

/* Lists at most most process ids of the job; returns how many processes are in it. */
size_t job_processes(HANDLE job, DWORD *pids, size_t most);

#endif
