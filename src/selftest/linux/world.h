/* Folders, servers and a process outside, for the attempts; how they are run and looked at. */
#ifndef CORDON_SELFTEST_LINUX_WORLD_H
#define CORDON_SELFTEST_LINUX_WORLD_H

#include <limits.h>
#include <sys/types.h>

#include "selftest/selftest.h"

/*
 * top/ws is the workspace and the current directory of every attempt; out, extra and host lie
 * beside it, tmp is the shared temp folder. All are made anew by world_fresh.
 */
struct selftest_world {
    char top[PATH_MAX / 2], self[PATH_MAX];
    int tcp, udp, local, abstract; /* servers outside */
    uint16_t port, udp_port;
    char abstract_name[64];
    pid_t outsider; /* a process that only waits */
    bool keep;
};

void world_fresh(const struct selftest_world *w);

/* Runs a probe's script without the sandbox; its exit code. */
int world_run_free(const struct selftest_world *w, const char *script);

/* The same with it. *escaped is set if the script could write outside, which it tries first. */
int world_run(const struct selftest_world *w, const char *options, const char *script,
              bool *escaped);

/* A line of sh instead of the probe. */
int world_sh_free(const struct selftest_world *w, const char *line);
int world_sh(const struct selftest_world *w, const char *options, const char *line, bool *escaped);

/* Starts one of them and does not wait; the pid of the supervisor. */
pid_t world_start(const struct selftest_world *w, const char *options, const char *script);
int world_wait(pid_t pid);

/* The content of a file of the world, cut to the room; false if there is none. */
bool world_read(const struct selftest_world *w, const char *path, char *out, size_t capacity);

/*
 * Looks at the machine: exists P · absent P · holds P TEXT · mode P OCTAL · count P N · tcp · udp
 * (somebody spoke to the server since the last look) · same P TEXT (nothing else in it). Paths as
 * the attempts'.
 */
bool world_check(const struct selftest_world *w, const char *effect);

/* True if the file outside is as it was made. */
bool world_outside_unchanged(const struct selftest_world *w);

bool world_has_tool(const char *name);

#endif
