/* Running a command on Windows is not built yet: refused, never run less confined than asked. */
#include "lib/run.h"

int run_prepare(struct cordon_policy *p, const struct run_options *o)
{
    (void)o;
    return handle_fail(p, CORDON_E_CONFINE,
                       "cordon run is not built yet for Windows: nothing was started");
}

int run_confined(struct cordon_policy *p, const struct run_options *o, struct run_result *result)
{
    (void)result;
    return run_prepare(p, o);
}

void run_finish(struct cordon_policy *p, struct run_result *result)
{
    (void)p, (void)result;
}

void run_describe(struct buf *out)
{
    buf_add(out, STR("nothing: cordon run is not built yet for Windows"));
}
