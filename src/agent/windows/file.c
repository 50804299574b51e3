/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that can change files. Reads go straight through. */
#include "agent/windows/agent.h"

enum {
    CHANGES = FILE_WRITE_DATA | FILE_APPEND_DATA | FILE_WRITE_EA | FILE_WRITE_ATTRIBUTES |
              FILE_DELETE_CHILD | DELETE | WRITE_DAC | WRITE_OWNER | ACCESS_SYSTEM_SECURITY |
              MAXIMUM_ALLOWED
};

static bool changes(ACCESS_MASK access, ULONG disposition, ULONG options)
{
    return (access & (CHANGES | (ACCESS_MASK)GENERIC_WRITE | (ACCESS_MASK)GENERIC_ALL)) ||
           disposition != FILE_OPEN || (options & FILE_DELETE_ON_CLOSE);
}

static uint64_t flags_of(const OBJECT_ATTRIBUTES *object)
{
    return (object->Attributes & OBJ_INHERIT ? WIRE_INHERIT : 0) |
           (object->Attributes & OBJ_CASE_INSENSITIVE ? 0 : WIRE_CASE_SENSITIVE) |
           (object->Attributes & OBJ_DONT_REPARSE ? WIRE_NO_REPARSE : 0);
}

static NTSTATUS give(const struct wire_answer *answer, HANDLE *handle, IO_STATUS_BLOCK *io)
{
    NTSTATUS status = (NTSTATUS)answer->status;
    if (status >= 0) {
        *handle = (HANDLE)(uintptr_t)answer->handle;
        io->Status = status;
        io->Information = answer->information;
    }
    return status;
}

/* An open that can change something, sent with its attribute or access list. */
struct change {
    ACCESS_MASK access;
    ULONG share, disposition, options, attributes;
    uint64_t flags, allocation;
    struct piece more;
};

/* The broker's open would not be part of the thread's transaction, and last when it is rolled back.
   Only what can be a handle counts. */
static bool is_in_transaction(void)
{
    uint64_t handle;
    __asm__ volatile("movq %%gs:0x17B8, %0" : "=r"(handle)); /* TEB.CurrentTransactionHandle */
    return handle != 0 && handle % 4 == 0 && handle < INT32_MAX;
}

static NTSTATUS ask_open(const OBJECT_ATTRIBUTES *object, const struct change *c,
                         struct wire_answer *answer)
{
    if (is_in_transaction())
        return agent_refuse(WIRE_REFUSED_TRANSACTION, agent_name(object), STATUS_ACCESS_DENIED);
    return agent_ask(WIRE_OPEN,
                     NUMBERS(NUMBER_OF_HANDLE(object->RootDirectory), c->access, c->share,
                             c->disposition, c->options, c->attributes, flags_of(object) | c->flags,
                             c->allocation),
                     agent_name(object), c->more, answer);
}

static struct change change_of(const OBJECT_ATTRIBUTES *object, void *ea, ULONG ea_length)
{
    bool listed;
    const SECURITY_DESCRIPTOR *d = object->SecurityDescriptor;
    struct change c = {.more = agent_list(d, &listed)};
    if (ea && ea_length)
        return (struct change){.flags = WIRE_HAS_EA, .more = {ea, ea_length}};
    if (listed)
        c.flags = WIRE_HAS_LIST | (d->Control & SE_DACL_PROTECTED ? WIRE_PROTECTED_LIST : 0);
    return c;
}

NTSTATUS NTAPI hook_NtCreateFile(HANDLE *handle, ACCESS_MASK access, OBJECT_ATTRIBUTES *object,
                                 IO_STATUS_BLOCK *io, LARGE_INTEGER *allocation, ULONG attributes,
                                 ULONG share, ULONG disposition, ULONG options, void *ea,
                                 ULONG ea_length)
{
    struct wire_answer answer = {0};
    NTSTATUS status;
    bool has_ea = ea && ea_length;
    if (!object || !(changes(access, disposition, options) || has_ea)) {
        status = object ? agent_may_read(object, access) : STATUS_SUCCESS;
        if (status >= 0)
            status = REAL(NtCreateFile)(handle, access, object, io, allocation, attributes, share,
                                        disposition, options, ea, ea_length);
        return status < 0 || !object ? status : agent_may_keep(*handle, object, access);
    }
    struct change c = change_of(object, ea, ea_length);
    c.access = access, c.share = share, c.disposition = disposition, c.options = options;
    c.attributes = attributes, c.allocation = allocation ? (uint64_t)allocation->QuadPart : 0;
    status = ask_open(object, &c, &answer);
    if (answer.flags & WIRE_PASS) {
        status = REAL(NtCreateFile)(handle, access, object, io, allocation, attributes, share,
                                    disposition, options, ea, ea_length);
        if (status != STATUS_ACCESS_DENIED)
            return status;
        answer = (struct wire_answer){0};
        c.flags |= WIRE_WAS_REFUSED;
        status = ask_open(object, &c, &answer);
        if (answer.flags & WIRE_PASS)
            return STATUS_ACCESS_DENIED;
    }
    return status < 0 ? status : give(&answer, handle, io);
}

NTSTATUS NTAPI hook_NtOpenFile(HANDLE *handle, ACCESS_MASK access, OBJECT_ATTRIBUTES *object,
                               IO_STATUS_BLOCK *io, ULONG share, ULONG options)
{
    struct wire_answer answer = {0};
    NTSTATUS status;
    if (!object || !changes(access, FILE_OPEN, options)) {
        status = object ? agent_may_read(object, access) : STATUS_SUCCESS;
        if (status >= 0)
            status = REAL(NtOpenFile)(handle, access, object, io, share, options);
        return status < 0 || !object ? status : agent_may_keep(*handle, object, access);
    }
    struct change c = {
        .access = access, .share = share, .disposition = FILE_OPEN, .options = options};
    status = ask_open(object, &c, &answer);
    if (answer.flags & WIRE_PASS) {
        status = REAL(NtOpenFile)(handle, access, object, io, share, options);
        if (status != STATUS_ACCESS_DENIED)
            return status;
        answer = (struct wire_answer){0};
        c.flags |= WIRE_WAS_REFUSED;
        status = ask_open(object, &c, &answer);
        if (answer.flags & WIRE_PASS)
            return STATUS_ACCESS_DENIED;
    }
    return status < 0 ? status : give(&answer, handle, io);
}

/* ---- looking at a file by its name ---- */

NTSTATUS NTAPI hook_NtQueryAttributesFile(OBJECT_ATTRIBUTES *object, void *basic)
{
    NTSTATUS status = object ? agent_may_read(object, FILE_READ_ATTRIBUTES) : STATUS_SUCCESS;
    return status < 0 ? status : REAL(NtQueryAttributesFile)(object, basic);
}

NTSTATUS NTAPI hook_NtQueryFullAttributesFile(OBJECT_ATTRIBUTES *object, void *information)
{
    NTSTATUS status = object ? agent_may_read(object, FILE_READ_ATTRIBUTES) : STATUS_SUCCESS;
    return status < 0 ? status : REAL(NtQueryFullAttributesFile)(object, information);
}

NTSTATUS NTAPI hook_NtQueryInformationByName(OBJECT_ATTRIBUTES *object, IO_STATUS_BLOCK *io,
                                             void *information, ULONG length, int class)
{
    NTSTATUS status = object ? agent_may_read(object, FILE_READ_ATTRIBUTES) : STATUS_SUCCESS;
    return status < 0 ? status
                      : REAL(NtQueryInformationByName)(object, io, information, length, class);
}

/* ---- files whose times were set: the broker sets them again when they are closed ---- */

enum { MOST_TIMED = 64 };
static uint64_t timed[MOST_TIMED];
static uint32_t timed_count;

static void remember_timed(HANDLE file)
{
    uint64_t value = NUMBER_OF_HANDLE(file);
    for (int i = 0; i < MOST_TIMED; i++)
        if (__atomic_load_n(&timed[i], __ATOMIC_ACQUIRE) == value)
            return;
    for (int i = 0; i < MOST_TIMED; i++) {
        uint64_t none = 0;
        if (__atomic_compare_exchange_n(&timed[i], &none, value, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_RELAXED)) {
            __atomic_add_fetch(&timed_count, 1, __ATOMIC_ACQ_REL);
            return;
        }
    }
}

static bool take_timed(HANDLE file)
{
    for (int i = 0; i < MOST_TIMED; i++) {
        uint64_t value = NUMBER_OF_HANDLE(file);
        if (__atomic_compare_exchange_n(&timed[i], &value, 0, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_RELAXED)) {
            __atomic_sub_fetch(&timed_count, 1, __ATOMIC_ACQ_REL);
            return true;
        }
    }
    return false;
}

NTSTATUS NTAPI hook_NtClose(HANDLE handle)
{
    struct wire_answer answer;
    bool told = __atomic_load_n(&timed_count, __ATOMIC_ACQUIRE) && handle && take_timed(handle);
    NTSTATUS status = REAL(NtClose)(handle);
    if (told)
        agent_ask(WIRE_CLOSED, NUMBERS(NUMBER_OF_HANDLE(handle)), NO_PIECE, NO_PIECE, &answer);
    return status;
}

NTSTATUS NTAPI hook_NtDeleteFile(OBJECT_ATTRIBUTES *object)
{
    struct wire_answer answer = {0};
    if (!object)
        return STATUS_INVALID_PARAMETER;
    if (is_in_transaction())
        return agent_refuse(WIRE_REFUSED_TRANSACTION, agent_name(object), STATUS_ACCESS_DENIED);
    return agent_ask(WIRE_DELETE,
                     NUMBERS(NUMBER_OF_HANDLE(object->RootDirectory), flags_of(object)),
                     agent_name(object), NO_PIECE, &answer);
}

static NTSTATUS move(enum wire_op op, HANDLE file, const void *information, ULONG length, bool ex)
{
    struct wire_answer answer = {0};
    const struct nt_rename *to = information;
    size_t head = offsetof(struct nt_rename, name);
    if (length < head)
        return STATUS_INFO_LENGTH_MISMATCH;
    ULONG size = to->length;
    if (size > length - head)
        return STATUS_INVALID_PARAMETER;
    ULONG flags = ex ? to->flags : (to->flags & 0xFF ? NT_REPLACE_IF_EXISTS : 0);
    return agent_ask(op, NUMBERS(NUMBER_OF_HANDLE(file), NUMBER_OF_HANDLE(to->root), flags),
                     (struct piece){to->name, size}, NO_PIECE, &answer);
}

static NTSTATUS dispose(HANDLE file, const void *information, ULONG length, bool ex)
{
    struct wire_answer answer = {0};
    if (length < (ex ? sizeof(ULONG) : sizeof(BOOLEAN)))
        return STATUS_INFO_LENGTH_MISMATCH;
    ULONG flags = ex ? *(const ULONG *)information
                     : (*(const BOOLEAN *)information ? NT_DISPOSITION_DELETE : 0);
    return agent_ask(WIRE_DISPOSITION, NUMBERS(NUMBER_OF_HANDLE(file), flags), NO_PIECE, NO_PIECE,
                     &answer);
}

static NTSTATUS set_basic(HANDLE file, const void *information, ULONG length)
{
    struct wire_answer answer = {0};
    const struct nt_basic *basic = information;
    if (length < offsetof(struct nt_basic, attributes) + sizeof basic->attributes)
        return STATUS_INFO_LENGTH_MISMATCH;
    NTSTATUS status =
        agent_ask(WIRE_BASIC,
                  NUMBERS(NUMBER_OF_HANDLE(file), (uint64_t)basic->created.QuadPart,
                          (uint64_t)basic->accessed.QuadPart, (uint64_t)basic->written.QuadPart,
                          (uint64_t)basic->changed.QuadPart, basic->attributes),
                  NO_PIECE, NO_PIECE, &answer);
    if (answer.flags & WIRE_SAY_CLOSED)
        remember_timed(file);
    return status;
}

/* True if the broker must judge this class; *status is then its answer. */
static bool set_by_broker(HANDLE file, const void *information, ULONG length, int class,
                          NTSTATUS *status)
{
    switch (class) {
    case NT_BASIC: *status = set_basic(file, information, length); return true;
    case NT_RENAME:
    case NT_RENAME_BYPASS:
        *status = move(WIRE_RENAME, file, information, length, false);
        return true;
    case NT_RENAME_EX:
    case NT_RENAME_EX_BYPASS:
        *status = move(WIRE_RENAME, file, information, length, true);
        return true;
    case NT_LINK:
    case NT_LINK_BYPASS: *status = move(WIRE_LINK, file, information, length, false); return true;
    case NT_LINK_EX:
    case NT_LINK_EX_BYPASS: *status = move(WIRE_LINK, file, information, length, true); return true;
    case NT_DISPOSITION: *status = dispose(file, information, length, false); return true;
    case NT_DISPOSITION_EX: *status = dispose(file, information, length, true); return true;
    case NT_SHORT_NAME:
    case NT_VALID_DATA_LENGTH:
    case NT_CASE_SENSITIVE:
    case NT_STORAGE_RESERVE: *status = STATUS_ACCESS_DENIED; return true;
    default: return false;
    }
}

NTSTATUS NTAPI hook_NtSetInformationFile(HANDLE file, IO_STATUS_BLOCK *io, void *information,
                                         ULONG length, int class)
{
    NTSTATUS status;
    if (!information || !set_by_broker(file, information, length, class, &status))
        return REAL(NtSetInformationFile)(file, io, information, length, class);
    io->Status = status;
    io->Information = 0;
    return status;
}

static bool is_judged_control(ULONG code)
{
    switch (code) {
    case 0x900A4: /* FSCTL_SET_REPARSE_POINT */
    case 0x9040C: /* FSCTL_SET_REPARSE_POINT_EX */
    case 0x900AC: /* FSCTL_DELETE_REPARSE_POINT */
    case 0x90098: /* FSCTL_SET_OBJECT_ID */
    case 0x900A0: /* FSCTL_DELETE_OBJECT_ID */
    case 0x900BC: /* FSCTL_SET_OBJECT_ID_EXTENDED */
    case 0x900C0: /* FSCTL_CREATE_OR_GET_OBJECT_ID */
    case 0x900D7: /* FSCTL_SET_ENCRYPTION */ return true;
    default: return false;
    }
}

NTSTATUS NTAPI hook_NtFsControlFile(HANDLE file, HANDLE event, void *apc, void *context,
                                    IO_STATUS_BLOCK *io, ULONG code, void *input,
                                    ULONG input_length, void *output, ULONG output_length)
{
    struct wire_answer answer = {0};
    if (!is_judged_control(code))
        return REAL(NtFsControlFile)(file, event, apc, context, io, code, input, input_length,
                                     output, output_length);
    NTSTATUS status = agent_ask(WIRE_CONTROL, NUMBERS(NUMBER_OF_HANDLE(file), code),
                                (struct piece){input, input ? input_length : 0}, NO_PIECE, &answer);
    io->Status = status;
    io->Information = 0;
    if (event && status >= 0)
        CALL(NtSetEvent)(event, NULL);
    return status;
}

NTSTATUS NTAPI hook_NtSetEaFile(HANDLE file, IO_STATUS_BLOCK *io, void *buffer, ULONG length)
{
    (void)file, (void)buffer, (void)length;
    io->Status = STATUS_EAS_NOT_SUPPORTED;
    return agent_refuse(WIRE_REFUSED_EA, NO_PIECE, STATUS_EAS_NOT_SUPPORTED);
}

static bool is_file(HANDLE handle)
{
    IO_STATUS_BLOCK io;
    ULONG device[2]; /* FILE_FS_DEVICE_INFORMATION */
    return CALL(NtQueryVolumeInformationFile)(handle, &io, device, sizeof device, 4) >= 0;
}

static const unsigned char *sid_in(const SECURITY_DESCRIPTOR *d, bool group)
{
    const SECURITY_DESCRIPTOR_RELATIVE *relative = (const void *)d;
    if (!(d->Control & SE_SELF_RELATIVE))
        return group ? d->Group : d->Owner;
    DWORD at = group ? relative->Group : relative->Owner;
    return at ? (const unsigned char *)d + at : NULL;
}

/* Tools that copy access lists set the owner and group that a file already has. */
static bool is_unchanged(HANDLE file, SECURITY_INFORMATION what, const SECURITY_DESCRIPTOR *given)
{
    union {
        SECURITY_DESCRIPTOR head;
        unsigned char bytes[256];
    } now;
    ULONG size;
    if (what & ~(SECURITY_INFORMATION)(OWNER_SECURITY_INFORMATION | GROUP_SECURITY_INFORMATION) ||
        CALL(NtQuerySecurityObject)(file, what, &now, sizeof now, &size) < 0)
        return false;
    for (int group = 0; group < 2; group++) {
        const unsigned char *a = sid_in(given, group), *b = sid_in(&now.head, group);
        if (what & (group ? GROUP_SECURITY_INFORMATION : OWNER_SECURITY_INFORMATION) &&
            (!a || !b || memcmp(a, b, 8 + 4u * a[1]) != 0))
            return false;
    }
    return true;
}

NTSTATUS NTAPI hook_NtSetSecurityObject(HANDLE handle, SECURITY_INFORMATION what, void *descriptor)
{
    struct wire_answer answer = {0};
    bool given;
    if (!descriptor || !is_file(handle))
        return REAL(NtSetSecurityObject)(handle, what, descriptor);
    if (is_unchanged(handle, what, descriptor))
        return STATUS_SUCCESS;
    return agent_ask(WIRE_SECURITY, NUMBERS(NUMBER_OF_HANDLE(handle), what),
                     agent_list(descriptor, &given), NO_PIECE, &answer);
}

NTSTATUS NTAPI hook_NtSetVolumeInformationFile(HANDLE file, IO_STATUS_BLOCK *io, void *buffer,
                                               ULONG length, int class)
{
    (void)file, (void)buffer, (void)length, (void)class;
    io->Status = STATUS_ACCESS_DENIED;
    return agent_refuse(WIRE_REFUSED_VOLUME, NO_PIECE, STATUS_ACCESS_DENIED);
}

NTSTATUS NTAPI hook_NtCreateMailslotFile(HANDLE *handle, ULONG access, OBJECT_ATTRIBUTES *object,
                                         IO_STATUS_BLOCK *io, ULONG options, ULONG quota,
                                         ULONG longest, LARGE_INTEGER *timeout)
{
    (void)handle, (void)access, (void)io, (void)options, (void)quota, (void)longest, (void)timeout;
    return agent_refuse(WIRE_REFUSED_MAILSLOT, agent_name(object), STATUS_ACCESS_DENIED);
}
