/* SPDX-License-Identifier: Apache-2.0 */
/* A run inside another program, on Windows: pipes and the threads that read them. */
#include <stdlib.h>
#include <windows.h>

#include "lib/system.h"

struct guest_reader {
    struct system_guest *guest;
    int stream; /* 1 or 2 */
    HANDLE pipe, thread;
};

struct system_guest {
    cordon_output *output;
    void *context;
    SRWLOCK one_at_a_time;
    struct guest_reader readers[2];
    intptr_t write[2];
};

static DWORD WINAPI read_output(void *context)
{
    struct guest_reader *r = context;
    struct system_guest *g = r->guest;
    char piece[16384];
    for (DWORD n; ReadFile(r->pipe, piece, sizeof piece, &n, NULL);) {
        AcquireSRWLockExclusive(&g->one_at_a_time);
        if (n)
            g->output(g->context, r->stream, piece, n);
        ReleaseSRWLockExclusive(&g->one_at_a_time);
    }
    return 0;
}

static bool open_reader(struct system_guest *g, int i)
{
    HANDLE write;
    struct guest_reader *r = &g->readers[i];
    r->guest = g;
    r->stream = i + 1;
    if (!CreatePipe(&r->pipe, &write, NULL, 65536))
        return false;
    g->write[i] = (intptr_t)write;
    r->thread = CreateThread(NULL, 0, read_output, r, 0, NULL);
    return r->thread != NULL;
}

int system_guest_open(cordon_output *output, void *context, struct system_guest **out,
                      const char **why)
{
    struct system_guest *g = calloc(1, sizeof *g);
    if (!g)
        return CORDON_E_NOMEM;
    g->output = output;
    g->context = context;
    InitializeSRWLock(&g->one_at_a_time);
    for (int i = 0; output && i < 2; i++)
        if (!open_reader(g, i)) {
            *why = "the pipes for its output could not be made";
            system_guest_close(g);
            return CORDON_E_CONFINE;
        }
    *out = g;
    return 0;
}

const intptr_t *system_guest_stdio(const struct system_guest *g)
{
    return g->output ? g->write : NULL;
}

void system_guest_close(struct system_guest *g)
{
    for (int i = 0; i < 2; i++)
        if (g->write[i])
            CloseHandle((HANDLE)g->write[i]);
    for (int i = 0; i < 2; i++) {
        if (g->readers[i].thread) {
            WaitForSingleObject(g->readers[i].thread, INFINITE);
            CloseHandle(g->readers[i].thread);
        }
        if (g->readers[i].pipe)
            CloseHandle(g->readers[i].pipe);
    }
    free(g);
}
