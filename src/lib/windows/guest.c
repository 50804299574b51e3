/* A run inside another program, on Windows: output goes to the caller's own so far. */
#include "lib/system.h"

int system_guest_open(cordon_output *output, void *context, struct system_guest **out,
                      const char **why)
{
    (void)context;
    *out = NULL;
    if (!output)
        return 0;
    *why = "output for a function is not built yet for Windows; it goes to stdout and stderr";
    return CORDON_E_CONFINE;
}

const int *system_guest_stdio(const struct system_guest *g)
{
    (void)g;
    return NULL;
}

void system_guest_close(struct system_guest *g)
{
    (void)g;
}
