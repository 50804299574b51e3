/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The agent: code inside every sandboxed process that asks the broker for what the token does not
 * allow. It decides nothing. No imports, no heap, no C library, small stack frames: it runs on the
 * program's own stack, before the first DLL is loaded.
 */
#ifndef CORDON_AGENT_WINDOWS_AGENT_H
#define CORDON_AGENT_WINDOWS_AGENT_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/windows/nt.h"
#include "wire/wire.h"

/* Filled in by the launcher before the process runs. */
extern struct wire_shared *agent_shared;

enum agent_hook {
#define HOOK(name, needed) HOOK_##name,
#include "wire/hooks.def"
#undef HOOK
    HOOK_COUNT
};

enum agent_call {
#define CALL(name) CALL_##name,
#include "wire/calls.def"
#undef CALL
    CALL_COUNT
};
extern void *agent_addresses[CALL_COUNT];
extern unsigned char agent_trampolines[];

/* The call as it was before the hook, and a call that has no hook. */
#define REAL(name) ((name##_t *)(agent_trampolines + HOOK_##name * WIRE_TRAMPOLINE))
#define CALL(name) ((name##_t *)agent_addresses[CALL_##name])

/* ---- ask.c ---- */

/* A piece of the caller's memory that goes with a request. */
struct piece {
    const void *p;
    size_t n;
};

/*
 * Asks the broker one question. Returns the answer's status; STATUS_ACCESS_DENIED if it could not
 * be asked. Another thread may rewrite the pieces meanwhile: the broker judges and acts on the copy
 * made here.
 */
NTSTATUS agent_ask(enum wire_op op, const uint64_t numbers[WIRE_NUMBERS], struct piece first,
                   struct piece second, struct wire_answer *answer);

/* ---- read.c ---- */

/* STATUS_SUCCESS if no path rule forbids reading this name. */
NTSTATUS agent_may_read(const OBJECT_ATTRIBUTES *object, ACCESS_MASK access);

/* The same for the file that was opened, which may differ from its name; if it is denied the handle
   is closed. */
NTSTATUS agent_may_keep(HANDLE file, const OBJECT_ATTRIBUTES *object, ACCESS_MASK access);

static inline struct piece agent_name(const OBJECT_ATTRIBUTES *object)
{
    const UNICODE_STRING *name = object ? object->ObjectName : NULL;
    return name ? (struct piece){name->Buffer, name->Length} : (struct piece){NULL, 0};
}

/* The access list of a descriptor, self-relative or absolute; *given: it has one, even if it is the
   null list that admits everybody. */
static inline struct piece agent_list(const SECURITY_DESCRIPTOR *d, bool *given)
{
    const SECURITY_DESCRIPTOR_RELATIVE *relative = (const void *)d;
    *given = d && d->Control & SE_DACL_PRESENT;
    const ACL *list = !*given                            ? NULL
                      : !(d->Control & SE_SELF_RELATIVE) ? d->Dacl
                      : relative->Dacl ? (const void *)((const char *)d + relative->Dacl)
                                       : NULL;
    return list ? (struct piece){list, list->AclSize} : (struct piece){NULL, 0};
}

#define NO_PIECE ((struct piece){NULL, 0})
#define NUMBERS(...) ((const uint64_t[WIRE_NUMBERS]){__VA_ARGS__})
#define NUMBER_OF_HANDLE(handle) ((uint64_t)(uintptr_t)(handle))

/* Reports a refused call that is never allowed, for the audit. */
static inline NTSTATUS agent_refuse(enum wire_refused kind, struct piece target, NTSTATUS status)
{
    struct wire_answer answer;
    agent_ask(WIRE_REFUSED, NUMBERS(kind), target, NO_PIECE, &answer);
    return status;
}

/* ---- types of the calls ---- */

typedef NTSTATUS NTAPI NtCreateFile_t(HANDLE *, ACCESS_MASK, OBJECT_ATTRIBUTES *, IO_STATUS_BLOCK *,
                                      LARGE_INTEGER *, ULONG, ULONG, ULONG, ULONG, void *, ULONG);
typedef NTSTATUS NTAPI NtOpenFile_t(HANDLE *, ACCESS_MASK, OBJECT_ATTRIBUTES *, IO_STATUS_BLOCK *,
                                    ULONG, ULONG);
typedef NTSTATUS NTAPI NtDeleteFile_t(OBJECT_ATTRIBUTES *);
typedef NTSTATUS NTAPI NtQueryAttributesFile_t(OBJECT_ATTRIBUTES *, void *);
typedef NTSTATUS NTAPI NtQueryFullAttributesFile_t(OBJECT_ATTRIBUTES *, void *);
typedef NTSTATUS NTAPI NtQueryInformationByName_t(OBJECT_ATTRIBUTES *, IO_STATUS_BLOCK *, void *,
                                                  ULONG, int);
typedef NTSTATUS NTAPI NtSetInformationFile_t(HANDLE, IO_STATUS_BLOCK *, void *, ULONG, int);
typedef NTSTATUS NTAPI NtFsControlFile_t(HANDLE, HANDLE, void *, void *, IO_STATUS_BLOCK *, ULONG,
                                         void *, ULONG, void *, ULONG);
typedef NTSTATUS NTAPI NtSetEaFile_t(HANDLE, IO_STATUS_BLOCK *, void *, ULONG);
typedef NTSTATUS NTAPI NtSetSecurityObject_t(HANDLE, SECURITY_INFORMATION, void *);
typedef NTSTATUS NTAPI NtQuerySecurityObject_t(HANDLE, SECURITY_INFORMATION, void *, ULONG,
                                               ULONG *);
typedef NTSTATUS NTAPI NtSetVolumeInformationFile_t(HANDLE, IO_STATUS_BLOCK *, void *, ULONG, int);
typedef NTSTATUS NTAPI NtCreateMailslotFile_t(HANDLE *, ULONG, OBJECT_ATTRIBUTES *,
                                              IO_STATUS_BLOCK *, ULONG, ULONG, ULONG,
                                              LARGE_INTEGER *);
typedef NTSTATUS NTAPI NtCreateUserProcess_t(HANDLE *, HANDLE *, ACCESS_MASK, ACCESS_MASK,
                                             OBJECT_ATTRIBUTES *, OBJECT_ATTRIBUTES *, ULONG, ULONG,
                                             void *, void *, struct nt_ps_attribute_list *);
typedef NTSTATUS NTAPI NtSignalAndWaitForSingleObject_t(HANDLE, HANDLE, BOOLEAN, LARGE_INTEGER *);
typedef NTSTATUS NTAPI NtWaitForSingleObject_t(HANDLE, BOOLEAN, LARGE_INTEGER *);
typedef NTSTATUS NTAPI NtSetEvent_t(HANDLE, LONG *);
typedef NTSTATUS NTAPI NtOpenThread_t(HANDLE *, ACCESS_MASK, OBJECT_ATTRIBUTES *, CLIENT_ID *);
typedef NTSTATUS NTAPI NtQueryInformationThread_t(HANDLE, int, void *, ULONG, ULONG *);
typedef NTSTATUS NTAPI NtQueryVolumeInformationFile_t(HANDLE, IO_STATUS_BLOCK *, void *, ULONG,
                                                      int);
typedef NTSTATUS NTAPI NtQueryObject_t(HANDLE, int, void *, ULONG, ULONG *);
typedef NTSTATUS NTAPI NtResumeThread_t(HANDLE, ULONG *);
typedef NTSTATUS NTAPI NtTerminateProcess_t(HANDLE, NTSTATUS);
typedef NTSTATUS NTAPI NtClose_t(HANDLE);

typedef NTSTATUS NTAPI NtQueryKey_t(HANDLE, int, void *, ULONG, ULONG *);
typedef NTSTATUS NTAPI NtCreateNamedPipeFile_t(HANDLE *, ULONG, OBJECT_ATTRIBUTES *,
                                               IO_STATUS_BLOCK *, ULONG, ULONG, ULONG, ULONG, ULONG,
                                               ULONG, ULONG, ULONG, ULONG, LARGE_INTEGER *);
typedef NTSTATUS NTAPI NtCreateSection_t(HANDLE *, ACCESS_MASK, OBJECT_ATTRIBUTES *,
                                         LARGE_INTEGER *, ULONG, ULONG, HANDLE);
typedef NTSTATUS NTAPI NtCreateEvent_t(HANDLE *, ACCESS_MASK, OBJECT_ATTRIBUTES *, int, BOOLEAN);
typedef NTSTATUS NTAPI NtCreateMutant_t(HANDLE *, ACCESS_MASK, OBJECT_ATTRIBUTES *, BOOLEAN);
typedef NTSTATUS NTAPI NtCreateSemaphore_t(HANDLE *, ACCESS_MASK, OBJECT_ATTRIBUTES *, LONG, LONG);
typedef NTSTATUS NTAPI NtCreateDirectoryObject_t(HANDLE *, ACCESS_MASK, OBJECT_ATTRIBUTES *);
typedef NTSTATUS NTAPI NtOpenDirectoryObject_t(HANDLE *, ACCESS_MASK, OBJECT_ATTRIBUTES *);
typedef NTSTATUS NTAPI NtOpenSection_t(HANDLE *, ACCESS_MASK, OBJECT_ATTRIBUTES *);
typedef NTSTATUS NTAPI NtOpenEvent_t(HANDLE *, ACCESS_MASK, OBJECT_ATTRIBUTES *);
typedef NTSTATUS NTAPI NtOpenMutant_t(HANDLE *, ACCESS_MASK, OBJECT_ATTRIBUTES *);
typedef NTSTATUS NTAPI NtOpenSemaphore_t(HANDLE *, ACCESS_MASK, OBJECT_ATTRIBUTES *);
typedef NTSTATUS NTAPI NtSetInformationToken_t(HANDLE, int, void *, ULONG);
typedef NTSTATUS NTAPI NtCreateProcess_t(HANDLE *, ACCESS_MASK, OBJECT_ATTRIBUTES *, HANDLE,
                                         BOOLEAN, HANDLE, HANDLE, HANDLE);
typedef NTSTATUS NTAPI NtCreateProcessEx_t(HANDLE *, ACCESS_MASK, OBJECT_ATTRIBUTES *, HANDLE,
                                           ULONG, HANDLE, HANDLE, HANDLE, BOOLEAN);
typedef NTSTATUS NTAPI NtOpenProcess_t(HANDLE *, ACCESS_MASK, OBJECT_ATTRIBUTES *, CLIENT_ID *);
typedef NTSTATUS NTAPI NtDeviceIoControlFile_t(HANDLE, HANDLE, void *, void *, IO_STATUS_BLOCK *,
                                               ULONG, void *, ULONG, void *, ULONG);
typedef NTSTATUS NTAPI NtCreateKey_t(HANDLE *, ACCESS_MASK, OBJECT_ATTRIBUTES *, ULONG,
                                     UNICODE_STRING *, ULONG, ULONG *);
typedef NTSTATUS NTAPI NtCreateKeyTransacted_t(HANDLE *, ACCESS_MASK, OBJECT_ATTRIBUTES *, ULONG,
                                               UNICODE_STRING *, ULONG, HANDLE, ULONG *);
typedef NTSTATUS NTAPI NtOpenKey_t(HANDLE *, ACCESS_MASK, OBJECT_ATTRIBUTES *);
typedef NTSTATUS NTAPI NtOpenKeyEx_t(HANDLE *, ACCESS_MASK, OBJECT_ATTRIBUTES *, ULONG);
typedef NTSTATUS NTAPI NtOpenKeyTransacted_t(HANDLE *, ACCESS_MASK, OBJECT_ATTRIBUTES *, HANDLE);
typedef NTSTATUS NTAPI NtOpenKeyTransactedEx_t(HANDLE *, ACCESS_MASK, OBJECT_ATTRIBUTES *, ULONG,
                                               HANDLE);
typedef NTSTATUS NTAPI NtSetValueKey_t(HANDLE, UNICODE_STRING *, ULONG, ULONG, void *, ULONG);
typedef NTSTATUS NTAPI NtDeleteKey_t(HANDLE);
typedef NTSTATUS NTAPI NtDeleteValueKey_t(HANDLE, UNICODE_STRING *);
typedef NTSTATUS NTAPI NtRenameKey_t(HANDLE, UNICODE_STRING *);
typedef NTSTATUS NTAPI NtSetInformationKey_t(HANDLE, int, void *, ULONG);
typedef NTSTATUS NTAPI NtSaveKey_t(HANDLE, HANDLE);
typedef NTSTATUS NTAPI NtSaveKeyEx_t(HANDLE, HANDLE, ULONG);
typedef NTSTATUS NTAPI NtLoadKey_t(OBJECT_ATTRIBUTES *, OBJECT_ATTRIBUTES *);
typedef NTSTATUS NTAPI NtLoadKey2_t(OBJECT_ATTRIBUTES *, OBJECT_ATTRIBUTES *, ULONG);
typedef NTSTATUS NTAPI NtLoadKeyEx_t(OBJECT_ATTRIBUTES *, OBJECT_ATTRIBUTES *, ULONG, HANDLE,
                                     HANDLE, ACCESS_MASK, HANDLE *, void *);
typedef NTSTATUS NTAPI NtUnloadKey_t(OBJECT_ATTRIBUTES *);
typedef NTSTATUS NTAPI NtReplaceKey_t(OBJECT_ATTRIBUTES *, HANDLE, OBJECT_ATTRIBUTES *);
typedef NTSTATUS NTAPI NtRestoreKey_t(HANDLE, HANDLE, ULONG);
typedef NTSTATUS NTAPI NtCreateSymbolicLinkObject_t(HANDLE *, ACCESS_MASK, OBJECT_ATTRIBUTES *,
                                                    UNICODE_STRING *);
typedef NTSTATUS NTAPI NtCreatePagingFile_t(UNICODE_STRING *, LARGE_INTEGER *, LARGE_INTEGER *,
                                            LARGE_INTEGER *);
typedef NTSTATUS NTAPI NtLoadDriver_t(UNICODE_STRING *);
typedef NTSTATUS NTAPI NtSetSystemInformation_t(int, void *, ULONG);

typedef NTSTATUS NTAPI NtAlpcConnectPort_t(HANDLE *, UNICODE_STRING *, OBJECT_ATTRIBUTES *, void *,
                                           ULONG, void *, void *, SIZE_T *, void *, void *,
                                           LARGE_INTEGER *);
typedef NTSTATUS NTAPI NtAlpcConnectPortEx_t(HANDLE *, OBJECT_ATTRIBUTES *, OBJECT_ATTRIBUTES *,
                                             void *, ULONG, void *, void *, SIZE_T *, void *,
                                             void *, LARGE_INTEGER *);
typedef NTSTATUS NTAPI NtAlpcSendWaitReceivePort_t(HANDLE, ULONG, void *, void *, void *, SIZE_T *,
                                                   void *, LARGE_INTEGER *);

/* The hooks: called instead of the calls of the same name. */
#define HOOK(name, needed) name##_t hook_##name;
#include "wire/hooks.def"
#undef HOOK

#endif
