/* SPDX-License-Identifier: Apache-2.0 */
/* Times that a program set on a file it still has open: set again when it closes the file. */
#include "broker/windows/broker.h"

static void let_go(struct kept_times *k, bool set)
{
    IO_STATUS_BLOCK io;
    if (set)
        NtSetInformationFile(k->file, &io, &k->basic, sizeof k->basic,
                             (FILE_INFORMATION_CLASS)NT_BASIC);
    NtClose(k->file);
    *k = (struct kept_times){0};
}

/* Under the lock: the entry of a handle, or with 0 a free one; NULL: none. */
static struct kept_times *entry_of(struct broker_client *c, uint64_t handle)
{
    for (size_t i = 0; i < BROKER_MOST_TIMES; i++)
        if (c->times[i].handle == handle)
            return &c->times[i];
    return NULL;
}

static void end(struct broker_client *c, uint64_t handle, bool set)
{
    struct kept_times taken = {0};
    EnterCriticalSection(&c->broker->lock);
    struct kept_times *k = handle ? entry_of(c, handle) : NULL;
    if (k) {
        taken = *k;
        *k = (struct kept_times){0};
    }
    LeaveCriticalSection(&c->broker->lock);
    if (taken.handle)
        let_go(&taken, set);
}

void times_forget(struct broker_client *c, uint64_t handle)
{
    end(c, handle, false);
}

void times_closed(struct broker_client *c, uint64_t handle)
{
    end(c, handle, true);
}

void times_keep(struct broker_client *c, uint64_t handle, HANDLE file, const struct nt_basic *basic)
{
    times_forget(c, handle);
    EnterCriticalSection(&c->broker->lock);
    struct kept_times *k = handle ? entry_of(c, 0) : NULL;
    if (k)
        *k = (struct kept_times){handle, file, *basic};
    LeaveCriticalSection(&c->broker->lock);
    if (!k)
        NtClose(file); /* more open files with times than any known program has */
}

void times_end(struct broker_client *c)
{
    for (size_t i = 0; i < BROKER_MOST_TIMES; i++)
        if (c->times[i].handle)
            let_go(&c->times[i], true);
}
