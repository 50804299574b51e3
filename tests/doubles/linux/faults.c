/* SPDX-License-Identifier: Apache-2.0 */
#include "../faults.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

extern char __executable_start;
pid_t __wrap_vfork(void);

static struct fault_table *table;
static uint64_t fail_at, kill_at, calls;

__attribute__((constructor)) static void start(void)
{
    const char *file = getenv("CORDON_FAULT_FILE"), *at = getenv("CORDON_FAULT_AT");
    const char *end = getenv("CORDON_FAULT_KILL");
    kill_at = end ? strtoull(end, NULL, 10) : 0;
    int fd = file && at ? open(file, O_RDWR | O_CLOEXEC) : -1;
    void *pages =
        fd < 0 ? MAP_FAILED : mmap(NULL, sizeof *table, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd >= 0)
        close(fd);
    if (pages == MAP_FAILED)
        return;
    fail_at = strtoull(at, NULL, 10);
    table = pages;
}

static bool fails(const char *name, const void *caller)
{
    if (kill_at && __atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST) == kill_at)
        raise(SIGKILL);
    if (!table)
        return false;
    uint64_t at = (uint64_t)((const char *)caller - &__executable_start);
    for (size_t i = 0; i < FAULT_PLACES; i++) {
        uint64_t none = 0;
        struct fault_place *place = &table->places[(at + i) % FAULT_PLACES];
        if (__atomic_compare_exchange_n(&place->at, &none, at, false, __ATOMIC_SEQ_CST,
                                        __ATOMIC_SEQ_CST))
            strncpy(place->name, name, sizeof place->name - 1);
        else if (none != at)
            continue;
        break;
    }
    return at == fail_at && __atomic_fetch_add(&table->failed, 1, __ATOMIC_SEQ_CST) == 0;
}

/* Seven words are the most that a call takes; what it does not take it does not look at. */
#define FAULT(name, answer, error)                                              \
    long __real_##name(long, long, long, long, long, long, long);               \
    long __wrap_##name(long a, long b, long c, long d, long e, long f, long g); \
    long __wrap_##name(long a, long b, long c, long d, long e, long f, long g)  \
    {                                                                           \
        if (!fails(#name, __builtin_return_address(0)))                         \
            return __real_##name(a, b, c, d, e, f, g);                          \
        errno = error;                                                          \
        return answer;                                                          \
    }
#include "faults.def"

/* A function around vfork would return twice into a frame that is gone; fork does what it
   promises. */
pid_t __wrap_vfork(void)
{
    if (!fails("vfork", __builtin_return_address(0)))
        return (pid_t)__real_fork(0, 0, 0, 0, 0, 0, 0);
    errno = EAGAIN;
    return -1;
}
