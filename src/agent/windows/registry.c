/* SPDX-License-Identifier: Apache-2.0 */
/* The registry: reads pass, nothing is changed. Many programs request every right and then only
   read, so opening an existing key falls back to read rights. */
#include "agent/windows/agent.h"

enum {
    WRITES = KEY_SET_VALUE | KEY_CREATE_SUB_KEY | KEY_CREATE_LINK | DELETE | WRITE_DAC |
             WRITE_OWNER | MAXIMUM_ALLOWED,
    LONGEST_KEY = 512 /* units that the audit shows */
};

static ACCESS_MASK read_only(ACCESS_MASK access)
{
    ACCESS_MASK generic = (ACCESS_MASK)GENERIC_WRITE | (ACCESS_MASK)GENERIC_ALL;
    if (!(access & (WRITES | generic)))
        return access;
    return (access & ~(WRITES | generic)) | KEY_READ;
}

/* The key that a handle stands for; KEY_NAME_INFORMATION. */
struct key_name {
    ULONG length;
    WCHAR name[LONGEST_KEY];
};

static NTSTATUS refuse_key(HANDLE key, NTSTATUS status)
{
    struct key_name name;
    ULONG size;
    bool known = CALL(NtQueryKey)(key, 3, &name, sizeof name, &size) >= 0;
    return agent_refuse(WIRE_REFUSED_REGISTRY,
                        known ? (struct piece){name.name, name.length} : NO_PIECE, status);
}

NTSTATUS NTAPI hook_NtOpenKey(HANDLE *key, ACCESS_MASK access, OBJECT_ATTRIBUTES *object)
{
    return REAL(NtOpenKey)(key, read_only(access), object);
}

NTSTATUS NTAPI hook_NtOpenKeyEx(HANDLE *key, ACCESS_MASK access, OBJECT_ATTRIBUTES *object,
                                ULONG options)
{
    return REAL(NtOpenKeyEx)(key, read_only(access), object, options);
}

NTSTATUS NTAPI hook_NtOpenKeyTransacted(HANDLE *key, ACCESS_MASK access, OBJECT_ATTRIBUTES *object,
                                        HANDLE transaction)
{
    (void)transaction;
    return REAL(NtOpenKey)(key, read_only(access), object);
}

NTSTATUS NTAPI hook_NtOpenKeyTransactedEx(HANDLE *key, ACCESS_MASK access,
                                          OBJECT_ATTRIBUTES *object, ULONG options,
                                          HANDLE transaction)
{
    (void)transaction;
    return REAL(NtOpenKeyEx)(key, read_only(access), object, options);
}

/* A key that exists is opened; a new one is refused. */
NTSTATUS NTAPI hook_NtCreateKey(HANDLE *key, ACCESS_MASK access, OBJECT_ATTRIBUTES *object,
                                ULONG title, UNICODE_STRING *class, ULONG options,
                                ULONG *disposition)
{
    (void)title, (void)class;
    NTSTATUS status =
        REAL(NtOpenKeyEx)(key, read_only(access), object,
                          options & (REG_OPTION_OPEN_LINK | REG_OPTION_BACKUP_RESTORE));
    if (status >= 0 && disposition)
        *disposition = REG_OPENED_EXISTING_KEY;
    if (status != STATUS_OBJECT_NAME_NOT_FOUND)
        return status;
    return agent_refuse(WIRE_REFUSED_REGISTRY, agent_name(object), STATUS_ACCESS_DENIED);
}

NTSTATUS NTAPI hook_NtCreateKeyTransacted(HANDLE *key, ACCESS_MASK access,
                                          OBJECT_ATTRIBUTES *object, ULONG title,
                                          UNICODE_STRING *class, ULONG options, HANDLE transaction,
                                          ULONG *disposition)
{
    (void)transaction;
    return hook_NtCreateKey(key, access, object, title, class, options, disposition);
}

NTSTATUS NTAPI hook_NtSetValueKey(HANDLE key, UNICODE_STRING *name, ULONG title, ULONG type,
                                  void *data, ULONG size)
{
    (void)name, (void)title, (void)type, (void)data, (void)size;
    return refuse_key(key, STATUS_ACCESS_DENIED);
}

NTSTATUS NTAPI hook_NtDeleteKey(HANDLE key)
{
    return refuse_key(key, STATUS_ACCESS_DENIED);
}

NTSTATUS NTAPI hook_NtDeleteValueKey(HANDLE key, UNICODE_STRING *name)
{
    (void)name;
    return refuse_key(key, STATUS_ACCESS_DENIED);
}

NTSTATUS NTAPI hook_NtRenameKey(HANDLE key, UNICODE_STRING *name)
{
    (void)name;
    return refuse_key(key, STATUS_ACCESS_DENIED);
}

NTSTATUS NTAPI hook_NtSetInformationKey(HANDLE key, int class, void *information, ULONG size)
{
    /* A property of the handle, not of the key: which registry view it denotes, and a tag. */
    enum { WOW64_FLAGS = 1, HANDLE_TAGS = 5 };
    if (class == WOW64_FLAGS || class == HANDLE_TAGS)
        return REAL(NtSetInformationKey)(key, class, information, size);
    return refuse_key(key, STATUS_ACCESS_DENIED);
}

/* Whole hives. */

static NTSTATUS refuse_hive(const OBJECT_ATTRIBUTES *object)
{
    return agent_refuse(WIRE_REFUSED_HIVE, agent_name(object), STATUS_ACCESS_DENIED);
}

NTSTATUS NTAPI hook_NtSaveKey(HANDLE key, HANDLE file)
{
    (void)key, (void)file;
    return refuse_hive(NULL);
}

NTSTATUS NTAPI hook_NtSaveKeyEx(HANDLE key, HANDLE file, ULONG format)
{
    (void)key, (void)file, (void)format;
    return refuse_hive(NULL);
}

NTSTATUS NTAPI hook_NtLoadKey(OBJECT_ATTRIBUTES *key, OBJECT_ATTRIBUTES *file)
{
    (void)file;
    return refuse_hive(key);
}

NTSTATUS NTAPI hook_NtLoadKey2(OBJECT_ATTRIBUTES *key, OBJECT_ATTRIBUTES *file, ULONG flags)
{
    (void)file, (void)flags;
    return refuse_hive(key);
}

NTSTATUS NTAPI hook_NtLoadKeyEx(OBJECT_ATTRIBUTES *key, OBJECT_ATTRIBUTES *file, ULONG flags,
                                HANDLE trust, HANDLE event, ACCESS_MASK access, HANDLE *root,
                                void *io)
{
    (void)file, (void)flags, (void)trust, (void)event, (void)access, (void)root, (void)io;
    return refuse_hive(key);
}

NTSTATUS NTAPI hook_NtUnloadKey(OBJECT_ATTRIBUTES *key)
{
    return refuse_hive(key);
}

NTSTATUS NTAPI hook_NtReplaceKey(OBJECT_ATTRIBUTES *from, HANDLE key, OBJECT_ATTRIBUTES *to)
{
    (void)key, (void)to;
    return refuse_hive(from);
}

NTSTATUS NTAPI hook_NtRestoreKey(HANDLE key, HANDLE file, ULONG flags)
{
    (void)key, (void)file, (void)flags;
    return refuse_hive(NULL);
}
