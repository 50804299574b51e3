/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of undo share: a folder with something of everything, and what undo said of it. */
#ifndef CORDON_TESTS_UNDO_H
#define CORDON_TESTS_UNDO_H

#include "snapshot.h"

static char undo_probe[1200];

static void fresh(const char *folder)
{
    sh(".", "rm -rf '%s' && mkdir '%s'", folder, folder);
}

static bool is_equal(const char *wanted, const char *folder)
{
    char *now = snapshot_of(folder);
    bool same = now && strcmp(wanted, now) == 0;
    free(now);
    return same;
}

static bool is_same(const char *wanted, const char *folder)
{
    char *now = snapshot_of(folder);
    bool same = now && strcmp(wanted, now) == 0;
    if (!same && now)
        snapshot_differ(wanted, now);
    free(now);
    return same;
}

/* A folder with something of everything, made by the same program outside the sandbox. */
static void fill_folder(unsigned seed)
{
    fresh("ws");
    sh("ws", "mkdir -p d1/s d2 d3/x/y d4; '%s' %u 150 1", undo_probe, seed);
    sh("ws", "find . -exec touch -h -d @1500000000.123456789 {} +");
}

/* Killed before the first change, there is nothing to take back. */
static bool is_nothing(int code)
{
    return code == 125 && sh(".", "grep -q 'is left to take back' said") == 0;
}

/* Journals lie in a folder of the test's own. */
static bool undo_begin(const char *name)
{
    char state[1200];
    if (!box_make(name))
        return false;
    snprintf(undo_probe, sizeof undo_probe, "%s/%s", project, UNDO_PROBE);
    snprintf(state, sizeof state, "%s/state", top);
    setenv("XDG_STATE_HOME", state, 1);
    sh(".", "mkdir home");
    return true;
}

#endif
