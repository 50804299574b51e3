/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run that keeps no promise, for test programs that are never shipped: the selftest must notice
 * each promise that it breaks. Linked with --wrap in the place of the real calls, so that the real
 * sources hold no switch.
 *
 * CORDON_TEST_RUN=open, or nothing: the command simply runs. No sandbox, no time-out, its tree is
 * not ended, links look like folders, the workspace is read before the start, and after a program
 * that copies goes one byte too many. CORDON_TEST_RUN=shut: nothing runs, everything is refused
 * with 1.
 *
 * The write outside that every attempt begins with (the canary) is left out, so that each line has
 * to notice by its own check; CORDON_TEST_CANARY keeps it.
 */
#ifndef CORDON_TESTS_BROKEN_H
#define CORDON_TESTS_BROKEN_H

#include <stdlib.h>
#include <string.h>

#include "launch/disk.h"
#include "lib/system.h"

int __wrap_system_run(struct run *run);
int __real_disk_look(struct arena *arena, struct str path, struct disk_facts *facts);
int __wrap_disk_look(struct arena *arena, struct str path, struct disk_facts *facts);

/* So that a test can tell this program from one that is shipped. */
static const char broken_mark[] = "cordon-open: this program confines nothing";

/* A command that only returns a number is answered, or the selftest would not begin. */
static inline bool broken_is_shut(const struct run_options *o, struct run_result *result)
{
    const char *mode = getenv("CORDON_TEST_RUN");
    const char *code = strstr(o->argv[o->argc - 1], "; code ");
    if (!mode || strcmp(mode, "shut") != 0)
        return false;
    result->reason = broken_mark;
    result->exit = code ? (uint32_t)atoi(code + 7) : 1;
    return true;
}

static inline void broken_cut(char *text, const char *canary)
{
    char *at = getenv("CORDON_TEST_CANARY") ? NULL : strstr(text, canary);
    if (at)
        memmove(at, at + strlen(canary), strlen(at + strlen(canary)) + 1);
}

int __wrap_disk_look(struct arena *arena, struct str path, struct disk_facts *facts)
{
    int rc = __real_disk_look(arena, path, facts);
    if (rc == 0 && facts->link) {
        facts->link = false;
        facts->final = facts->existing = path;
    }
    return rc;
}

#endif
