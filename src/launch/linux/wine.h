/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Windows programs on Linux: `cordon run -- program.exe` runs them under Wine, with a wineserver of
 * the run's own inside the box. The prefix is private and removed at the end, or the one that was
 * named.
 *
 * A new prefix takes Wine many seconds. So the first run makes one, confined, and keeps it in the
 * cache folder; a private prefix has the same programs as second names of those files, which the
 * policy lets nobody write to, and its own registry.
 */
#ifndef CORDON_LAUNCH_LINUX_WINE_H
#define CORDON_LAUNCH_LINUX_WINE_H

#include "audit/event.h"
#include "launch/settings.h"

/* A run under Wine; all zero for other programs. */
struct wine_run {
    const char *prefix, *server, *other_server;
    bool private_prefix;     /* removed at the end */
    const char *const *argv; /* started instead of the command; NULL: the command */
    size_t argc;
    const char *const *set; /* NAME=VALUE for its environment */
    size_t set_count;
};

/*
 * Creates a new prefix with a confined run of Wine: line is for the shell, set holds NAME=VALUE
 * pairs of its environment. It can change only the prefix and the folders in wine. On failure a
 * sentence is in the settings' error.
 */
struct wine_boot {
    struct wine_run wine;
    const char *line;
    const char *const *set;
    size_t set_count;
};

struct wine_question {
    const char *const *argv; /* the command */
    size_t argc;
    const char *prefix; /* the prefix that was named; NULL: a private one */
    int (*boot)(void *context, struct wine_boot *boot);
    void *context;
};

/* Before the policy is compiled: makes the prefix writable and maps Windows paths of roots. Does
   nothing for other programs. On failure a sentence is in the settings' error. */
int wine_prepare(struct settings *s, struct wine_run *wine, const struct wine_question *q);

/* Creates the folders of a wineserver for wine->prefix and makes them writable for the run. */
int wine_serve(struct settings *s, struct wine_run *wine);

/* True for a denial that every program under Wine meets and tolerates. */
bool wine_is_harmless(const struct audit_event *event);

/* Removes a private prefix and the server's folders. */
void wine_finish(struct wine_run *wine);

#endif
