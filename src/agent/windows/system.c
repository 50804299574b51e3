/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that reach beyond the run: refused where nothing in it can need them. */
#include "agent/windows/agent.h"

NTSTATUS NTAPI hook_NtCreateSymbolicLinkObject(HANDLE *link, ACCESS_MASK access,
                                               OBJECT_ATTRIBUTES *object, UNICODE_STRING *target)
{
    (void)link, (void)access, (void)target;
    return agent_refuse(WIRE_REFUSED_LINK_OBJECT, agent_name(object), STATUS_ACCESS_DENIED);
}

NTSTATUS NTAPI hook_NtCreatePagingFile(UNICODE_STRING *name, LARGE_INTEGER *least,
                                       LARGE_INTEGER *most, LARGE_INTEGER *actual)
{
    (void)name, (void)least, (void)most, (void)actual;
    return agent_refuse(WIRE_REFUSED_SYSTEM, NO_PIECE, STATUS_PRIVILEGE_NOT_HELD);
}

NTSTATUS NTAPI hook_NtLoadDriver(UNICODE_STRING *name)
{
    (void)name;
    return agent_refuse(WIRE_REFUSED_SYSTEM, NO_PIECE, STATUS_PRIVILEGE_NOT_HELD);
}

NTSTATUS NTAPI hook_NtSetSystemInformation(int class, void *information, ULONG size)
{
    (void)class, (void)information, (void)size;
    return agent_refuse(WIRE_REFUSED_SYSTEM, NO_PIECE, STATUS_PRIVILEGE_NOT_HELD);
}
