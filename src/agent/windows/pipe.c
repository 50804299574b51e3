/* Pipes: the broker says whether a name is free and learns those that the tree makes; connecting is
   judged where files are. */
#include "agent/windows/agent.h"

NTSTATUS NTAPI hook_NtCreateNamedPipeFile(HANDLE *pipe, ULONG access, OBJECT_ATTRIBUTES *object,
                                          IO_STATUS_BLOCK *io, ULONG share, ULONG disposition,
                                          ULONG options, ULONG type, ULONG read_mode,
                                          ULONG completion, ULONG instances, ULONG in, ULONG out,
                                          LARGE_INTEGER *timeout)
{
    struct wire_answer answer = {0};
    struct piece name = agent_name(object);
    if (name.n) {
        NTSTATUS may = agent_ask(WIRE_PIPE, NUMBERS(WIRE_PIPE_MAKE), name, NO_PIECE, &answer);
        if (may == STATUS_ACCESS_DENIED)
            return may;
    }
    NTSTATUS status =
        REAL(NtCreateNamedPipeFile)(pipe, access, object, io, share, disposition, options, type,
                                    read_mode, completion, instances, in, out, timeout);
    if (status >= 0 && name.n)
        agent_ask(WIRE_PIPE, NUMBERS(WIRE_PIPE_MADE), name, NO_PIECE, &answer);
    return status;
}
