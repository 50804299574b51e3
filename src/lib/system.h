/* SPDX-License-Identifier: Apache-2.0 */
/* The interface that each system provides for run.c: one implementation in linux/ and one in
   windows/. */
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
    intptr_t audit_file;       /* MACHINE_NO_FILE: none */
    unsigned rung;             /* of system_choose */
    bool cancelled;            /* somebody ended the run while a way to start programs was tried */
    const struct preset *tool; /* a known tool that was started last; NULL: none was */
    const struct preset *offline; /* one that asked for a name while the network is off */
    const struct preset *told;    /* one that gives up without asking for a name */
    bool asks;                    /* somebody is asked while it runs */
    void *system;                 /* of system_apart, for the other functions of the system */
};

/* Passes an event to audit and summary; context is the run. One thread at a time. */
void run_event(void *context, const struct audit_event *event);

/* A program starts with these words. One thread at a time. */
void run_program(struct run *run, const struct str *words, size_t count);

/* Reports that the command is not started; 126. */
void run_refuse(struct run *run, struct str rule, struct str why, struct str fix,
                struct str target);

/* True if a tool rule refuses the first program: reported, the exit code is 126. */
bool run_refuse_tool(struct run *run, const struct policy_program *program);

/* The guard's answer about the command, with the run's folder and the scripts in it. False if there
   is none: reported as a refusal. */
bool run_judge(struct run *run, struct guard_question *question, struct guard_answer *answer);

/* True if the guard lets the command start; otherwise it has been reported. */
bool run_guard(struct run *run, struct guard_question *question);

/* "program: program not found": 127. */
int run_not_found(struct run *run, const char *program);

/* The same for a file that cannot be executed; 126. */
int run_not_executable(struct run *run, const char *program);

/* The system's additions to the policy before it is compiled; removed at the end. */
int system_prepare(struct cordon_policy *p, const struct run_options *o);
void system_finish(struct cordon_policy *p);

/* Finds out, once per run, how a program is started here. Returns a code with a sentence in the
   policy's error if that fails. */
int system_choose(struct run *run);

/* True inside a run of Cordon: journals are out of reach there. */
bool system_is_inside(void);

/* "kernel" or "interposed", and what that rests on; run may be NULL. */
const char *system_boundary(struct run *run, char *detail, size_t capacity);

/* Does the work where the run's changes do not affect the caller: on Linux in a thread of its own.
   Returns the work's result, or a code with a sentence in the policy's error. */
int system_apart(struct run *run, int (*work)(struct run *run));

/*
 * Guard, start, serve, until the command has ended; sets reason and exit of the result. Returns a
 * code with a sentence in the policy's error if the command could not be confined: then nothing has
 * run.
 */
int system_run(struct run *run);

/* ---- a run inside another program ---- */

/* Pipes for the command's output, if output is set. Returns a code with a sentence if they cannot
   be created. */
struct system_guest;
int system_guest_open(cordon_output *output, void *context, struct system_guest **out,
                      const char **why);
const intptr_t *system_guest_stdio(const struct system_guest *guest);

/* Waits until all of the output has been delivered. */
void system_guest_close(struct system_guest *guest);

#endif
