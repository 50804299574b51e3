/* SPDX-License-Identifier: Apache-2.0 */
/* Folders, servers and an outside process for the attempts, and how they are run and inspected. */
#ifndef CORDON_SELFTEST_WINDOWS_WORLD_H
#define CORDON_SELFTEST_WINDOWS_WORLD_H

#include <winsock2.h>

#include <windows.h>

#include "selftest/attempt.h"

enum { WORLD_PATH = 600 };

/* The variable that tells probes outside the sandbox where cordon.exe is. */
#define WORLD_PROGRAM "CORDON_SELFTEST_PROGRAM"

/*
 * top\ws is the workspace and the current directory of every attempt; out, extra and host lie
 * beside it. All are made anew by world_fresh.
 */
struct selftest_world {
    char top[WORLD_PATH], temp[WORLD_PATH]; /* temp: as it was before */
    char program[WORLD_PATH];               /* cordon.exe */
    char self[WORLD_PATH];                  /* this program, which is the probe as well */
    SOCKET tcp, udp;                        /* servers outside */
    unsigned port, udp_port;
    HANDLE pipe;     /* a named pipe's server outside */
    HANDLE outsider; /* a process that only waits; it removes what a killed selftest leaves */
    DWORD outsider_pid;
    bool keep, links; /* links: this system lets us make one */
    bool kernel;      /* the token confines, not only the agent */
};

/* Starts a script in the sandbox and does not wait; the launcher, NULL if it did not start. */
HANDLE world_start(const struct selftest_world *w, const char *options, const char *script);

/* Starts any command line in ws with these standard handles; NULL: none of them. */
HANDLE world_spawn(const struct selftest_world *w, const char *line, HANDLE in, HANDLE out);
int world_wait(HANDLE process);

/* ---- scheduler.c ---- */

/* A task of the scheduler: made, gone, or is it there? For the probe. */
bool scheduler_do(const char *what, const char *name);
void scheduler_try(struct selftest_world *w, struct selftest_line *line);

/* ---- runs.c ---- */

/* True if promise n is one of those; then the line says how it went. */
bool runs_try(struct selftest_world *w, unsigned n, struct selftest_line *line);

/* ---- world.c ---- */

/* The path of a name in the world: "ws\\file". Four may be in use at once. */
const char *world_path(const struct selftest_world *w, const char *name);

/* before, then text, in UTF-16: how many units, or 0. */
int world_wide(wchar_t *room, int size, const wchar_t *before, const char *text);

/* A link to a folder; false where links cannot be made. */
bool world_link(const struct selftest_world *w, const char *link, const char *target);

/* Names of what is made outside the folder, from the number of the selftest's process. */
void world_key(DWORD pid, char *out, size_t capacity);
void world_elsewhere(char drive, DWORD pid, char *out, size_t capacity);

/* The outsider's work: waits for the end of the selftest whose workspace is the current directory,
   and removes what it has left. */
void world_watch(DWORD pid);

/*
 * The conditions that world_check knows: exists P · absent P · holds P TEXT · read-only P · old P ·
 * count P N · key K · tcp · udp (somebody spoke to the server since the last look) · same P TEXT.
 * Paths as the attempts'.
 */
#endif
