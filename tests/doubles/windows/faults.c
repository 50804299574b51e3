/* SPDX-License-Identifier: Apache-2.0 */
#include "../faults.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

#include "launch/windows/ladder.h"

extern char __ImageBase;

static struct fault_table *volatile table;
static uint64_t fail_at, kill_at;
static volatile LONG64 calls;
static volatile LONG stand_still; /* ms; the first question about a borrowed handle takes so long */

__attribute__((constructor)) static void start(void)
{
    const char *file = getenv("CORDON_FAULT_FILE"), *at = getenv("CORDON_FAULT_AT");
    const char *end = getenv("CORDON_FAULT_KILL");
    kill_at = end ? strtoull(end, NULL, 10) : 0;
    const char *still = getenv("CORDON_TEST_STAND_STILL");
    stand_still = still ? strtol(still, NULL, 10) : 0;
    HANDLE open =
        file && at ? CreateFileA(file, GENERIC_READ | GENERIC_WRITE,
                                 FILE_SHARE_READ | FILE_SHARE_WRITE, NULL, OPEN_EXISTING, 0, NULL)
                   : INVALID_HANDLE_VALUE;
    if (open == INVALID_HANDLE_VALUE)
        return;
    HANDLE section = CreateFileMappingA(open, NULL, PAGE_READWRITE, 0, sizeof *table, NULL);
    fail_at = strtoull(at, NULL, 10);
    table = section ? MapViewOfFile(section, FILE_MAP_WRITE, 0, 0, 0) : NULL;
    CloseHandle(section);
    CloseHandle(open);
}

static bool fails(const char *name, const void *caller)
{
    struct fault_table *t = table;
    if (kill_at && (uint64_t)InterlockedIncrement64(&calls) == kill_at)
        TerminateProcess(GetCurrentProcess(), 137);
    if (stand_still && strcmp(name, "NtQueryVolumeInformationFile") == 0)
        Sleep((DWORD)InterlockedExchange(&stand_still, 0));
    if (!t)
        return false;
    uint64_t at = (uint64_t)((const char *)caller - &__ImageBase);
    for (size_t i = 0; i < FAULT_PLACES; i++) {
        struct fault_place *place = &t->places[(at + i) % FAULT_PLACES];
        uint64_t before =
            (uint64_t)InterlockedCompareExchange64((volatile LONG64 *)&place->at, (LONG64)at, 0);
        if (before == 0)
            strncpy(place->name, name, sizeof place->name - 1);
        else if (before != at)
            continue;
        break;
    }
    return at == fail_at && InterlockedIncrement64((volatile LONG64 *)&t->failed) == 1;
}

/* Twelve words are the most that a call takes; what it does not take it does not look at. */
#define WORDS                                                                                  \
    uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e, uintptr_t f, uintptr_t g, \
        uintptr_t h, uintptr_t i, uintptr_t j, uintptr_t k, uintptr_t l
#define FAIL(name, answer, error)                    \
    if (fails(#name, __builtin_return_address(0))) { \
        SetLastError(error);                         \
        return answer;                               \
    }

/* Compiled sources call through a pointer in the table of imports: that pointer is replaced. */
#define FAULT(name, answer, error)                                      \
    extern uintptr_t (*__real___imp_##name)(WORDS);                     \
    static uintptr_t instead_of_##name(WORDS)                           \
    {                                                                   \
        FAIL(name, answer, error)                                       \
        return __real___imp_##name(a, b, c, d, e, f, g, h, i, j, k, l); \
    }                                                                   \
    extern uintptr_t (*__wrap___imp_##name)(WORDS);                     \
    uintptr_t (*__wrap___imp_##name)(WORDS) = instead_of_##name;
#define CALL(name, answer, error)                                 \
    uintptr_t __real_##name(WORDS);                               \
    uintptr_t __wrap_##name(WORDS);                               \
    uintptr_t __wrap_##name(WORDS)                                \
    {                                                             \
        FAIL(name, answer, error)                                 \
        return __real_##name(a, b, c, d, e, f, g, h, i, j, k, l); \
    }
#include "faults.def"

/* With CORDON_TEST_CONSOLE the hidden console of a second process is taken, if a probe starts there. */
bool __wrap_ladder_settle(ladder_trial *trial, void *context, struct ladder_rung *out);
bool __real_ladder_settle(ladder_trial *trial, void *context, struct ladder_rung *out);
bool __wrap_ladder_settle(ladder_trial *trial, void *context, struct ladder_rung *out)
{
    struct ladder_rung rung = {.level = {[LADDER_CONSOLE] = LADDER_INHERITED}};
    if (!getenv("CORDON_TEST_CONSOLE"))
        return __real_ladder_settle(trial, context, out);
    *out = rung;
    return trial(context, &rung) == LADDER_STARTS;
}
