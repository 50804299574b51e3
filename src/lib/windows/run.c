/* Running a command on Windows is not built yet: refused, never run less confined than asked. */
#include "lib/system.h"

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
