/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Places the agent in a suspended process: maps its image and the shared memory, recognises ntdll's
 * stubs byte for byte and redirects them to the hooks. Either all of it succeeds, or the process
 * must not run.
 */
#ifndef CORDON_LAUNCH_WINDOWS_INJECT_H
#define CORDON_LAUNCH_WINDOWS_INJECT_H

#include "base/str.h"
#include "launch/windows/failure.h"
#include "launch/windows/token.h"
#include "wire/wire.h"

#include <windows.h>

/* The same for every process of a run. */
struct inject_plan {
    HANDLE image; /* section with the policy image */
    size_t image_size;
    bool keep_console; /* children get their parent's console, whatever they ask for */
    bool check_reads;  /* there are deny-read rules */
    const struct token_run *who;
    uint16_t stub[WIRE_STUB_UNITS]; /* for wire_shared */
    uint32_t stub_size;
    HANDLE objects;        /* the run's own directory of objects; NULL: none */
    uint32_t local_drives; /* for wire_shared */
    struct wire_drive drives[WIRE_DRIVES];
    void *address; /* the agent's first base address: it should be the same everywhere */
};

int inject_plan_make(struct str policy_image, bool check_reads, const struct token_run *who,
                     struct inject_plan *out, struct launch_failure *f);
void inject_plan_free(struct inject_plan *plan);

/* The launcher's side of one process's wire. */
struct injected {
    struct wire_shared *shared;
    HANDLE requests, freed, answered[WIRE_SLOTS];
    unsigned slots; /* that have their event */
};
void injected_free(struct injected *wire);

/* Gives the process one more slot, up to WIRE_SLOTS; for one thread at a time. */
void injected_add_slot(HANDLE process, struct injected *wire);

/* On failure the caller kills the process. */
int inject(HANDLE process, struct inject_plan *plan, struct injected *out,
           struct launch_failure *f);

#endif
