/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a run on Windows, and the start of its first program. */
#ifndef CORDON_LIB_WINDOWS_LAUNCH_H
#define CORDON_LIB_WINDOWS_LAUNCH_H

#include "broker/windows/ask.h"
#include "broker/windows/proxy_serve.h"
#include "launch/ladder.h"
#include "launch/windows/console.h"
#include "launch/windows/desktop.h"
#include "launch/windows/lookup.h"
#include "launch/windows/stdio.h"
#include "launch/windows/stubs.h"
#include "lib/windows/ask.h"

/* The token of a run, from its trial (system_boundary) to its launch: the one that was tried is the
   one that runs. */
struct launch_token {
    struct token_run who;
    HANDLE token; /* NULL: none */
};

/* The token for this rung: that of the run, if it is for the same rung, or a new one. */
int launch_make_token(struct run *run, const struct ladder_rung *rung, struct launch_token *out,
                      struct launch_failure *f);

/* Zero is "not made yet". */
struct launch {
    struct token_run who;
    HANDLE token, job, port, end, desktop, objects;
    wchar_t desktop_name[DESKTOP_NAME_UNITS];
    struct console console;
    bool on_console;     /* the command's standard handles are the console's */
    bool shares_console; /* with this process */
    struct stdio_watch watch;
    struct stdio stdio;
    struct broker broker;
    bool serving;
    bool in_job; /* the job's window limits were dropped: Cordon itself is in a job */
    struct stubs stubs;
    struct proxy_server *proxy; /* of --net=allow */
    struct asker *asker;        /* whoever is asked; NULL: nobody */
    char proxy_url[160];        /* the only way out; empty: none */
};

/* Receives events; context is the run. */
typedef void launch_event(void *context, const struct audit_event *event);

struct launch_plan {
    struct run *run;
    struct ladder_rung rung;
    launch_event *event;
    struct keep *undo;   /* the journal of --undo; NULL: none */
    bool asks;           /* questions can be asked, if the run asks somebody */
    const HANDLE *stdio; /* three handles that remain the caller's; NULL: those of the run */
};

int launch_prepare(const struct launch_plan *plan, struct launch *l, struct launch_failure *f);

/* Starts the program, confined from its first instruction. */
int launch_start(const struct launch_plan *plan, struct launch *l, const struct lookup *found,
                 wchar_t *block, const wchar_t *cwd, HANDLE *process, struct launch_failure *f);

/* Tells the broker and the agent where the stub is. */
void launch_name_stub(struct launch *l);

/* Ends the tree. False if a thread still uses the launch: then it must stay in memory. */
bool launch_close(struct launch *l);
/* The same at the end of a block, for one on the heap; what is still in use is left there. */
void launch_end(struct launch **l);
#define auto_launch __attribute__((cleanup(launch_end)))

/* ---- trial.c ---- */

/* The rung that system_choose found. */
struct ladder_rung launch_rung(const struct run *run);

/* A policy under which a probe can be started anywhere; NULL: out of memory. */
struct cordon_policy *launch_probe_policy(void);

/* Starts a probe on this rung; said: its last words, or why it could not be started. */
enum ladder_result launch_try(struct run *run, const struct ladder_rung *rung, struct buf *said);

#endif
