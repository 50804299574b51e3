/*
 * Starting a confined command: supervisor (this process) ─ reaper ─ command. The reaper adopts
 * every orphan of the tree and ends all of it when the command ends or the supervisor dies.
 */
#ifndef CORDON_LAUNCH_LINUX_SPAWN_H
#define CORDON_LAUNCH_LINUX_SPAWN_H

#include <sys/types.h>

#include "base/str.h"
#include "launch/linux/confine.h"

struct spawn_plan {
    const int *stdio;           /* for stdout and stderr; NULL: those of this process */
    const char *program;        /* as exec takes it */
    const char *const *argv;    /* NULL at the end */
    const char *const *environ; /* NULL at the end */
    const char *cwd;
    struct confine_plan confine;
};

struct spawn {
    pid_t reaper;
    int listener;
    int control; /* closing it ends the tree; the status of the command comes out of it */
};

/* Confines and starts; on failure nothing has run and *message names the step. The command begins
   when the broker serves the listener: its exec is the first call that arrives. */
int spawn_start(const struct spawn_plan *plan, struct spawn *out, char *message, size_t capacity);

/* The command's wait status, once control is readable; false if it is not known. */
bool spawn_status(const struct spawn *s, int *status);

/* Ends the tree if it still runs and waits until all of it is gone. */
void spawn_end(struct spawn *s);

#endif
