/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starting a confined command: supervisor (this process) ─ reaper ─ command. The reaper adopts
 * every orphan of the tree and kills the whole tree when the command ends or the supervisor dies.
 */
#ifndef CORDON_LAUNCH_LINUX_SPAWN_H
#define CORDON_LAUNCH_LINUX_SPAWN_H

#include <sys/types.h>

#include "base/str.h"
#include "launch/linux/confine.h"
#include "launch/linux/limits.h"

struct spawn_plan {
    void (*meanwhile)(void *context); /* while the command's process confines itself; may be NULL */
    void *context;
    const intptr_t *stdio;      /* for stdout and stderr; NULL: those of this process */
    const char *program;        /* as exec takes it */
    const char *const *argv;    /* NULL at the end */
    const char *const *environ; /* NULL at the end */
    const char *cwd;
    bool unconfined;     /* --mode full-access: only the end of the tree is enforced */
    uint64_t timeout_ms; /* 0: none */
    const struct limits *limits;
    const struct signals_given *signals; /* of the run's caller */
    int stamp;                           /* gets the time of the tree's end as its own; 0: none */
    int terminal;                        /* the command's own; 0: the caller's */
    const char *stubs;                   /* removed at the end, whoever dies first; NULL: none */
    const struct policy *policy;         /* for the stubs */
    struct confine_plan confine;
};

struct spawn {
    pid_t reaper, command;
    int listener; /* -1 if unconfined */
    int control;  /* closing it ends the tree; the command's end is read from it */
};

struct spawn_end {
    int status;     /* as wait tells it */
    int error;      /* errno: the reaper failed and killed the tree; 0: no error */
    bool timed_out; /* the reaper ended it */
    bool asked;     /* the reaper ended it because the supervisor closed its end */
    bool last;      /* false: the reaper starts killing the tree; true: all of it is gone */
};

/* Confines and starts; on failure nothing has run and *message names the step. The command begins
   once the broker serves the listener: its exec is the first call to arrive. */
int spawn_start(const struct spawn_plan *plan, struct spawn *out, char *message, size_t capacity);

/* From now on no call of the tree is answered: it can change nothing and start nothing. */
void spawn_refuse_calls(struct spawn *s);

/* Waits until the tree is gone and tells how the command ended; false if that is unknown. */
bool spawn_result(const struct spawn *s, struct spawn_end *out);

/* Kills the tree if it still runs and waits until all of it is gone. */
void spawn_close(struct spawn *s);

#endif
