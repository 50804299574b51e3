/* Running a command on Windows is not built yet: refused, never run less confined than asked. */
#include <stdio.h>
#include <windows.h>

#include "lib/system.h"
#include "lib/temp.h"

uint64_t system_now_ms(void)
{
    FILETIME now;
    GetSystemTimeAsFileTime(&now);
    uint64_t units = (uint64_t)now.dwHighDateTime << 32 | now.dwLowDateTime;
    return units / 10000 - 11644473600000ULL;
}

bool system_random(void *out, size_t count)
{
    (void)out, (void)count;
    return false;
}

intptr_t system_append_open(const char *path, char *why, size_t capacity)
{
    (void)path;
    snprintf(why, capacity, "not built yet");
    return SYSTEM_NO_FILE;
}

bool system_append(intptr_t file, struct str bytes)
{
    (void)file, (void)bytes;
    return false;
}

void system_append_close(intptr_t file)
{
    (void)file;
}

bool system_own_path(struct buf *out)
{
    (void)out;
    return false;
}

int temp_make(struct settings *s, struct str shared, struct str *out)
{
    (void)s, (void)shared, (void)out;
    return 0;
}

bool temp_remove(const char *path)
{
    (void)path;
    return false;
}

const char *system_lacks(const struct policy_settings *s)
{
    (void)s;
    return "cordon run is not built yet for Windows: nothing was started";
}

const char *system_boundary(char *detail, size_t capacity)
{
    (void)detail, (void)capacity;
    return "interposed";
}

int system_run(struct run *run)
{
    return handle_fail(run->policy, CORDON_E_CONFINE, "not built yet");
}
