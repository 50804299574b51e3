/* Pipes: the broker learns the names that the tree makes; connecting is judged where files are. */
#include "agent/windows/agent.h"

NTSTATUS NTAPI hook_NtCreateNamedPipeFile(HANDLE *pipe, ULONG access, OBJECT_ATTRIBUTES *object,
                                          IO_STATUS_BLOCK *io, ULONG share, ULONG disposition,
                                          ULONG options, ULONG type, ULONG read_mode,
                                          ULONG completion, ULONG instances, ULONG in, ULONG out,
                                          LARGE_INTEGER *timeout)
{
    struct wire_answer answer = {0};
    NTSTATUS status =
        REAL(NtCreateNamedPipeFile)(pipe, access, object, io, share, disposition, options, type,
                                    read_mode, completion, instances, in, out, timeout);
    struct piece name = agent_name(object);
    if (status >= 0 && name.n)
        agent_ask(WIRE_PIPE, NUMBERS(WIRE_PIPE_MADE), name, NO_PIECE, &answer);
    return status;
}
