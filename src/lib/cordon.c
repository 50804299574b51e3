/* Joins the stages: the only implementation of cordon.h. */
#include "cordon.h"

const char *cordon_version(void)
{
    return CORDON_VERSION;
}
