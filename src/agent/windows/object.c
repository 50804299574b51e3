/*
 * Objects that the tree makes for itself. Under a write-restricted token an access list that names
 * only the user shuts out its own maker, so the run's SID is added to it (Git Bash, Python's
 * locks). A pipe without any list would let everybody read and nobody write: it gets one.
 */
#include "agent/windows/agent.h"
#include "wire/shared_name.h"

enum { MOST_LIST = 1024, FULL = 0x10000000 /* GENERIC_ALL */, OLD_REVISION = 2 };

/* A copy of the caller's attributes with a descriptor of ours; points into itself. */
struct described {
    OBJECT_ATTRIBUTES object;
    SECURITY_DESCRIPTOR descriptor;
    union {
        ACL list;
        unsigned char bytes[MOST_LIST];
    } dacl;
};

static size_t sid_size(const unsigned char *sid)
{
    return 8 + 4u * sid[1];
}

/* Appends an entry; false if there is no room. */
static bool allow(ACL *list, const unsigned char *sid)
{
    size_t size = 8 + sid_size(sid);
    unsigned char *at = (unsigned char *)list + list->AclSize;
    if (list->AclSize + size > MOST_LIST)
        return false;
    *(ACCESS_ALLOWED_ACE *)(void *)at =
        (ACCESS_ALLOWED_ACE){{ACCESS_ALLOWED_ACE_TYPE, 0, (WORD)size}, FULL, 0};
    memcpy(at + 8, sid, sid_size(sid));
    list->AclSize = (WORD)(list->AclSize + size);
    list->AceCount++;
    return true;
}

/* What the call is made with: the caller's own attributes where nothing has to be added. */
static OBJECT_ATTRIBUTES *describe(OBJECT_ATTRIBUTES *given, bool without_one,
                                   struct described *out)
{
    bool present;
    const struct wire_shared *s = agent_shared;
    const SECURITY_DESCRIPTOR *d = given ? given->SecurityDescriptor : NULL;
    const ACL *list = agent_list(d, &present).p;
    if (!given || s->run_sid[1] == 0 || (present && !list) || (!present && !without_one))
        return given;
    if (list && list->AclSize > MOST_LIST - 128)
        return given; /* longer than any that was met: as it is */
    if (list) {
        memcpy(&out->dacl, list, list->AclSize);
        /* What stands behind the last entry is room, not content. */
        const unsigned char *ace = (const unsigned char *)(list + 1), *end;
        end = (const unsigned char *)list + list->AclSize;
        for (WORD i = 0; i < list->AceCount && ace + 4 <= end; i++)
            ace += ((const ACE_HEADER *)(const void *)ace)->AceSize;
        if (ace > end)
            return given;
        out->dacl.list.AclSize = (WORD)(ace - (const unsigned char *)list);
    } else {
        out->dacl.list = (ACL){OLD_REVISION, 0, sizeof(ACL), 0, 0};
        if (!allow(&out->dacl.list, s->user_sid))
            return given;
    }
    if (!allow(&out->dacl.list, s->run_sid))
        return given;
    out->descriptor =
        (SECURITY_DESCRIPTOR){.Revision = 1, .Control = SE_DACL_PRESENT, .Dacl = &out->dacl.list};
    out->object = *given;
    out->object.SecurityDescriptor = &out->descriptor;
    return &out->object;
}

NTSTATUS NTAPI hook_NtCreateSection(HANDLE *section, ACCESS_MASK access, OBJECT_ATTRIBUTES *object,
                                    LARGE_INTEGER *size, ULONG protection, ULONG attributes,
                                    HANDLE file)
{
    struct described own;
    return REAL(NtCreateSection)(section, access, describe(object, false, &own), size, protection,
                                 attributes, file);
}

NTSTATUS NTAPI hook_NtCreateEvent(HANDLE *event, ACCESS_MASK access, OBJECT_ATTRIBUTES *object,
                                  int type, BOOLEAN state)
{
    struct described own;
    return REAL(NtCreateEvent)(event, access, describe(object, false, &own), type, state);
}

NTSTATUS NTAPI hook_NtCreateMutant(HANDLE *mutant, ACCESS_MASK access, OBJECT_ATTRIBUTES *object,
                                   BOOLEAN owned)
{
    struct described own;
    return REAL(NtCreateMutant)(mutant, access, describe(object, false, &own), owned);
}

NTSTATUS NTAPI hook_NtCreateSemaphore(HANDLE *semaphore, ACCESS_MASK access,
                                      OBJECT_ATTRIBUTES *object, LONG count, LONG most)
{
    struct described own;
    return REAL(NtCreateSemaphore)(semaphore, access, describe(object, false, &own), count, most);
}

enum { LONGEST_SHARED = 200 };

/* A copy of the caller's attributes with a name of the run's own; points into itself. */
struct renamed {
    OBJECT_ATTRIBUTES object;
    UNICODE_STRING name;
    uint16_t text[LONGEST_SHARED];
};

/* The caller's own attributes, unless the name is one that programs of a user share. */
static OBJECT_ATTRIBUTES *of_this_run(OBJECT_ATTRIBUTES *given, struct renamed *out)
{
    const unsigned char *sid = agent_shared->run_sid;
    struct piece name = agent_name(given);
    uint32_t run;
    memcpy(&run, sid + sid_size(sid) - sizeof run, sizeof run); /* random, of this run */
    size_t units = shared_name_of_run(name.p, name.n / 2, run, out->text, LONGEST_SHARED);
    if (units == 0)
        return given;
    out->name = (UNICODE_STRING){(USHORT)(2 * units), (USHORT)(2 * units), (WCHAR *)out->text};
    out->object = *given;
    out->object.ObjectName = &out->name;
    return &out->object;
}

NTSTATUS NTAPI hook_NtCreateDirectoryObject(HANDLE *directory, ACCESS_MASK access,
                                            OBJECT_ATTRIBUTES *object)
{
    struct described own;
    struct renamed renamed;
    return REAL(NtCreateDirectoryObject)(directory, access,
                                         describe(of_this_run(object, &renamed), false, &own));
}

NTSTATUS NTAPI hook_NtOpenDirectoryObject(HANDLE *directory, ACCESS_MASK access,
                                          OBJECT_ATTRIBUTES *object)
{
    struct renamed renamed;
    return REAL(NtOpenDirectoryObject)(directory, access, of_this_run(object, &renamed));
}

/* The broker learns the names that the tree makes; connecting is judged where files are. */
NTSTATUS NTAPI hook_NtCreateNamedPipeFile(HANDLE *pipe, ULONG access, OBJECT_ATTRIBUTES *object,
                                          IO_STATUS_BLOCK *io, ULONG share, ULONG disposition,
                                          ULONG options, ULONG type, ULONG read_mode,
                                          ULONG completion, ULONG instances, ULONG in, ULONG out,
                                          LARGE_INTEGER *timeout)
{
    struct described own;
    struct wire_answer answer = {0};
    struct piece name = agent_name(object);
    uint64_t folder = object ? NUMBER_OF_HANDLE(object->RootDirectory) : 0;
    if (name.n) {
        NTSTATUS may =
            agent_ask(WIRE_PIPE, NUMBERS(WIRE_PIPE_MAKE, folder), name, NO_PIECE, &answer);
        if (may == STATUS_ACCESS_DENIED)
            return may;
    }
    NTSTATUS status = REAL(NtCreateNamedPipeFile)(pipe, access, describe(object, true, &own), io,
                                                  share, disposition, options, type, read_mode,
                                                  completion, instances, in, out, timeout);
    if (status >= 0 && name.n)
        agent_ask(WIRE_PIPE, NUMBERS(WIRE_PIPE_MADE, folder), name, NO_PIECE, &answer);
    return status;
}
