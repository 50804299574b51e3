/* SPDX-License-Identifier: Apache-2.0 */
/* What a system brings so that run.c can run a command there: one implementation in linux/ and one
   in windows/. */
#ifndef CORDON_LIB_SYSTEM_H
#define CORDON_LIB_SYSTEM_H

#include "audit/audit.h"
#include "launch/machine.h"
#include "lib/run.h"

/* One run while it lasts. */
struct run {
    struct cordon_policy *policy;
    const struct run_options *options;
    struct run_result *result;
    struct audit *audit;
    intptr_t audit_file; /* MACHINE_NO_FILE: none */
    unsigned rung;       /* of system_choose */
    void *system;        /* of system_apart, for the other functions of the system */
};

/* Hands an event to audit and summary; context is the run. One thread at a time. */
void run_event(void *context, const struct audit_event *event);

/* True if a tool rule refuses the first program: reported, the exit code is 126. */
bool run_refuse_tool(struct run *run, const struct policy_program *program);

/* True if the guard lets the command start; else it was reported. */
bool run_guard(struct run *run, struct guard_question *question);

/* "program: program not found": 127. */
int run_not_found(struct run *run, const char *program);

/* What the system adds to the policy before it is compiled, and takes away at the end. */
int system_prepare(struct cordon_policy *p, const struct run_options *o);
void system_finish(struct cordon_policy *p);

/* Finds out how a program is started here, once for a run. A code with a sentence in the policy's
   error if it cannot be. */
int system_choose(struct run *run);

/* "kernel" or "interposed", and what that stands on; run may be NULL. */
const char *system_boundary(struct run *run, char *detail, size_t capacity);

/* Does the work where nothing that a run changes is the caller's: on Linux in a thread of its own.
   Returns what it returns, or a code with a sentence in the policy's error. */
int system_apart(struct run *run, int (*work)(struct run *run));

/* Guard, start, serve, until the command has ended; sets reason and exit of the result. A code with
   a sentence in the policy's error if it could not be confined: then nothing has run. */
int system_run(struct run *run);

/* ---- a run inside another program ---- */

/* Pipes for what the command writes, if output is set. A code with a sentence if there are none. */
struct system_guest;
int system_guest_open(cordon_output *output, void *context, struct system_guest **out,
                      const char **why);
const intptr_t *system_guest_stdio(const struct system_guest *guest);

/* Waits until all of the output was handed over. */
void system_guest_close(struct system_guest *guest);

#endif
