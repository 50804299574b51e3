/* SPDX-License-Identifier: Apache-2.0 */
/*
 * This program once more, living on a hidden console: where a program with a run's token is refused
 * a console of its own, the programs of a run inherit that one. The first process relays what is a
 * console among its standard handles, waits, and ends as the second did. The tree shares the
 * second's console and can send it every console event, so the second obeys the first alone. Each
 * ends with the other.
 */
#ifndef CORDON_LAUNCH_WINDOWS_SECOND_H
#define CORDON_LAUNCH_WINDOWS_SECOND_H

#include <stdbool.h>
#include <windows.h>

#include "launch/ladder.h"
#include "launch/windows/failure.h"

/* The word before the one for second_begin. */
#define SECOND_WORD "hidden-console"

struct second_plan {
    const struct ladder_rung *rung; /* that the second is to take */
    const wchar_t *arguments;       /* NULL: those of this process, as they were typed */
    const HANDLE *stdio;            /* three; NULL: those of this process */
    DWORD patience_ms;              /* INFINITE: as long as it takes */
    bool *cancelled;                /* set if the console's events were to end it; or NULL */
};

/* Starts it and waits for its end. STILL_ACTIVE as the code: it did not end in time, and was
   ended. */
int second_run(const struct second_plan *plan, DWORD *code, struct launch_failure *f);

/* In the second, with the word that the first gave it. False if no first process gave it. */
bool second_begin(const wchar_t *word);

/* True in a second process; rung may be NULL. */
bool second_is_here(struct ladder_rung *rung);

#endif
