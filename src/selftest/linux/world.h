/* SPDX-License-Identifier: Apache-2.0 */
/* Folders, servers and an outside process for the attempts, and how they are run and inspected. */
#ifndef CORDON_SELFTEST_LINUX_WORLD_H
#define CORDON_SELFTEST_LINUX_WORLD_H

#include <limits.h>
#include <sys/types.h>

#include "selftest/attempt.h"

/*
 * top/ws is the workspace and the current directory of every attempt; out, extra and host lie
 * beside it, tmp is the shared temp folder. All are made anew by world_fresh.
 */
struct selftest_world {
    char top[PATH_MAX / 2], self[PATH_MAX];
    int tcp, udp, local, abstract; /* servers outside */
    uint16_t port, udp_port;
    char abstract_name[64];
    pid_t outsider;     /* a process that only waits; it removes what a killed selftest leaves */
    int alive;          /* its end tells the outsider that this process is gone */
    char elsewhere[64]; /* a folder of ours on another file system, where there is one */
    bool keep;
};

/* Starts one of them and does not wait; the pid of the supervisor. */
pid_t world_start(const struct selftest_world *w, const char *options, const char *script);
int world_wait(pid_t pid);

/* The content of a file of the world, cut to the room; false if there is none. */
bool world_read(const struct selftest_world *w, const char *path, char *out, size_t capacity);

/*
 * The conditions that world_check knows: exists P · absent P · holds P TEXT · line P TEXT (one
 * begins so) · mode P OCTAL · count P N · tcp · udp (somebody spoke to the server since the last
 * look) · same P TEXT (nothing else in it). Paths as the attempts'.
 */
#endif
