/* SPDX-License-Identifier: Apache-2.0 */
/* Journals of changes exist on Linux only. */
#include <stdio.h>

#include "cordon.h"

static int refuse(char *why, size_t capacity)
{
    if (why && capacity)
        snprintf(why, capacity, "--undo is not built for Windows yet");
    return CORDON_E_REFUSED;
}

int cordon_changes(const char *run, const char *folder, unsigned flags, cordon_event *each,
                   void *context, char *why, size_t capacity)
{
    (void)run, (void)folder, (void)flags, (void)each, (void)context;
    return refuse(why, capacity);
}

int cordon_undo(const char *run, const char *folder, size_t count, const char *const *paths,
                unsigned flags, cordon_event *each, void *context, char *why, size_t capacity)
{
    (void)run, (void)folder, (void)count, (void)paths, (void)flags, (void)each, (void)context;
    return refuse(why, capacity);
}

int cordon_runs(cordon_event *each, void *context, char *why, size_t capacity)
{
    (void)each, (void)context;
    return refuse(why, capacity);
}

int cordon_runs_drop(const char *run, char *why, size_t capacity)
{
    (void)run;
    return refuse(why, capacity);
}
