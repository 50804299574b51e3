/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/gate.h"

#include <stdlib.h>
#include <windows.h>

struct gate {
    CRITICAL_SECTION lock;
    CONDITION_VARIABLE called;
};

struct gate *gate_new(void)
{
    struct gate *g = calloc(1, sizeof *g);
    if (g)
        InitializeCriticalSection(&g->lock);
    return g;
}

void gate_free(struct gate *g)
{
    if (g)
        DeleteCriticalSection(&g->lock);
    free(g);
}

void gate_lock(struct gate *g)
{
    EnterCriticalSection(&g->lock);
}

void gate_unlock(struct gate *g)
{
    LeaveCriticalSection(&g->lock);
}

void gate_call(struct gate *g)
{
    WakeAllConditionVariable(&g->called);
}

void gate_wait(struct gate *g, int ms)
{
    SleepConditionVariableCS(&g->called, &g->lock, (DWORD)ms);
}

intptr_t bell_new(void)
{
    HANDLE event = CreateEventW(NULL, TRUE, FALSE, NULL);
    return event ? (intptr_t)event : -1;
}

void bell_free(intptr_t bell)
{
    if (bell != -1)
        CloseHandle((HANDLE)bell);
}

void bell_ring(intptr_t bell)
{
    SetEvent((HANDLE)bell);
}

void bell_hush(intptr_t bell)
{
    ResetEvent((HANDLE)bell);
}

uint64_t gate_clock(void)
{
    return GetTickCount64();
}
