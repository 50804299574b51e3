/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects that the tree creates for itself. Under a write-restricted token an access list that
 * names only the user shuts out its own creator, so the run's SID is added to it (Git Bash,
 * Python's locks). A pipe without a list would be readable by everybody and writable by nobody: it
 * gets one.
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

/* The attributes that the call is made with: the caller's own where nothing has to be added. */
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
        return given; /* longer than any real one: left as it is */
    if (list) {
        memcpy(&out->dacl, list, list->AclSize);
        /* Bytes after the last entry are spare room, not content. */
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

/* ---- the run's own directory ---- */

/* A copy of the caller's attributes with a name in the run's own directory; points into itself. */
struct moved {
    enum shared_name kind;
    OBJECT_ATTRIBUTES object;
    UNICODE_STRING name;
};

static void move(const OBJECT_ATTRIBUTES *given, struct moved *out)
{
    struct piece name = agent_name(given);
    size_t start = 0;
    out->kind = SHARED_NAME_NONE;
    if (!name.n || !agent_shared->objects)
        return;
    out->kind = shared_name_read(name.p, name.n / 2, given->RootDirectory != NULL, &start);
    if (out->kind == SHARED_NAME_NONE)
        return;
    USHORT size = (USHORT)(name.n - 2 * start);
    out->name = (UNICODE_STRING){size, size, (WCHAR *)name.p + start};
    out->object = *given;
    out->object.RootDirectory = (HANDLE)(uintptr_t)agent_shared->objects;
    out->object.ObjectName = &out->name;
}

/* A call that creates an object, where it may. */
#define MAKE(object, call)                                                                  \
    struct described own;                                                                   \
    struct moved moved;                                                                     \
    move(object, &moved);                                                                   \
    OBJECT_ATTRIBUTES *at =                                                                 \
        describe(moved.kind == SHARED_NAME_ALWAYS ? &moved.object : (object), false, &own); \
    NTSTATUS status = call;                                                                 \
    if (status == STATUS_ACCESS_DENIED && moved.kind == SHARED_NAME_GLOBAL) {               \
        at = describe(&moved.object, false, &own);                                          \
        status = call;                                                                      \
    }                                                                                       \
    return status

/* A call that opens one: the run's own first. */
#define FIND(object, call)                                   \
    struct moved moved;                                      \
    OBJECT_ATTRIBUTES *at = &moved.object;                   \
    move(object, &moved);                                    \
    if (moved.kind != SHARED_NAME_NONE) {                    \
        NTSTATUS status = call;                              \
        if (status >= 0 || moved.kind == SHARED_NAME_ALWAYS) \
            return status;                                   \
    }                                                        \
    at = (object);                                           \
    return call

NTSTATUS NTAPI hook_NtCreateSection(HANDLE *section, ACCESS_MASK access, OBJECT_ATTRIBUTES *object,
                                    LARGE_INTEGER *size, ULONG protection, ULONG attributes,
                                    HANDLE file)
{
    MAKE(object, REAL(NtCreateSection)(section, access, at, size, protection, attributes, file));
}

NTSTATUS NTAPI hook_NtCreateEvent(HANDLE *event, ACCESS_MASK access, OBJECT_ATTRIBUTES *object,
                                  int type, BOOLEAN state)
{
    MAKE(object, REAL(NtCreateEvent)(event, access, at, type, state));
}

NTSTATUS NTAPI hook_NtCreateMutant(HANDLE *mutant, ACCESS_MASK access, OBJECT_ATTRIBUTES *object,
                                   BOOLEAN owned)
{
    MAKE(object, REAL(NtCreateMutant)(mutant, access, at, owned));
}

NTSTATUS NTAPI hook_NtCreateSemaphore(HANDLE *semaphore, ACCESS_MASK access,
                                      OBJECT_ATTRIBUTES *object, LONG count, LONG most)
{
    MAKE(object, REAL(NtCreateSemaphore)(semaphore, access, at, count, most));
}

NTSTATUS NTAPI hook_NtCreateDirectoryObject(HANDLE *directory, ACCESS_MASK access,
                                            OBJECT_ATTRIBUTES *object)
{
    MAKE(object, REAL(NtCreateDirectoryObject)(directory, access, at));
}

NTSTATUS NTAPI hook_NtOpenDirectoryObject(HANDLE *directory, ACCESS_MASK access,
                                          OBJECT_ATTRIBUTES *object)
{
    FIND(object, REAL(NtOpenDirectoryObject)(directory, access, at));
}

NTSTATUS NTAPI hook_NtOpenSection(HANDLE *section, ACCESS_MASK access, OBJECT_ATTRIBUTES *object)
{
    FIND(object, REAL(NtOpenSection)(section, access, at));
}

NTSTATUS NTAPI hook_NtOpenEvent(HANDLE *event, ACCESS_MASK access, OBJECT_ATTRIBUTES *object)
{
    FIND(object, REAL(NtOpenEvent)(event, access, at));
}

NTSTATUS NTAPI hook_NtOpenMutant(HANDLE *mutant, ACCESS_MASK access, OBJECT_ATTRIBUTES *object)
{
    FIND(object, REAL(NtOpenMutant)(mutant, access, at));
}

NTSTATUS NTAPI hook_NtOpenSemaphore(HANDLE *semaphore, ACCESS_MASK access,
                                    OBJECT_ATTRIBUTES *object)
{
    FIND(object, REAL(NtOpenSemaphore)(semaphore, access, at));
}

/* Cygwin gives its token a default list for the user alone: it could not use what it created
   then. */
NTSTATUS NTAPI hook_NtSetInformationToken(HANDLE token, int class, void *information, ULONG size)
{
    enum { DEFAULT_DACL = 6 };
    SECURITY_DESCRIPTOR given = {.Revision = 1, .Control = SE_DACL_PRESENT};
    OBJECT_ATTRIBUTES object = {.Length = sizeof object, .SecurityDescriptor = &given};
    struct described own;
    if (class == DEFAULT_DACL && information && size >= sizeof(TOKEN_DEFAULT_DACL)) {
        given.Dacl = ((TOKEN_DEFAULT_DACL *)information)->DefaultDacl;
        if (describe(&object, false, &own) == &own.object) {
            TOKEN_DEFAULT_DACL list = {&own.dacl.list};
            return REAL(NtSetInformationToken)(token, class, &list, sizeof list);
        }
    }
    return REAL(NtSetInformationToken)(token, class, information, size);
}

/* The broker records the names that the tree creates; connecting is judged with files. */
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
        if (may < 0)
            return may;
    }
    NTSTATUS status = REAL(NtCreateNamedPipeFile)(pipe, access, describe(object, true, &own), io,
                                                  share, disposition, options, type, read_mode,
                                                  completion, instances, in, out, timeout);
    if (status >= 0 && name.n)
        agent_ask(WIRE_PIPE, NUMBERS(WIRE_PIPE_MADE, folder), name, NO_PIECE, &answer);
    return status;
}
