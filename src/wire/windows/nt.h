/* SPDX-License-Identifier: Apache-2.0 */
/* NT definitions that the SDK's headers lack, for agent, launcher and broker. */
#ifndef CORDON_WIRE_WINDOWS_NT_H
#define CORDON_WIRE_WINDOWS_NT_H

#define WIN32_NO_STATUS
#include <windows.h>
#undef WIN32_NO_STATUS
#include <ntstatus.h>
#include <winternl.h>

#ifndef OBJ_DONT_REPARSE
#define OBJ_DONT_REPARSE 0x1000
#endif

#ifndef FILE_DELETE_CHILD
#define FILE_DELETE_CHILD 0x40
#endif

#define NT_REPARSE_ENCOUNTERED ((NTSTATUS)0xC000050B) /* STATUS_REPARSE_POINT_ENCOUNTERED */

/* OBJECT_INFORMATION_CLASS values beyond the SDK's. */
enum nt_object_class { NT_OBJECT_NAME = 1, NT_OBJECT_TYPE = 2 };

/* FILE_INFORMATION_CLASS values beyond the SDK's. */
enum nt_file_class {
    NT_BASIC = 4,
    NT_NAME = 9,
    NT_RENAME = 10,
    NT_LINK = 11,
    NT_DISPOSITION = 13,
    NT_ALLOCATION = 19,
    NT_END_OF_FILE = 20,
    NT_VALID_DATA_LENGTH = 39,
    NT_SHORT_NAME = 40,
    NT_HARD_LINKS = 46,
    NT_RENAME_BYPASS = 56,
    NT_LINK_BYPASS = 57,
    NT_DISPOSITION_EX = 64,
    NT_RENAME_EX = 65,
    NT_RENAME_EX_BYPASS = 66,
    NT_CASE_SENSITIVE = 71,
    NT_LINK_EX = 72,
    NT_LINK_EX_BYPASS = 73,
    NT_STORAGE_RESERVE = 74
};

/* FILE_RENAME_INFORMATION(_EX) and FILE_LINK_INFORMATION(_EX) have one shape. */
struct nt_rename {
    ULONG flags; /* of the plain classes: a BOOLEAN, the rest is padding */
    HANDLE root;
    ULONG length; /* bytes */
    WCHAR name[1];
};
enum { NT_REPLACE_IF_EXISTS = 1, NT_POSIX_SEMANTICS = 2, NT_IGNORE_READONLY = 0x40 };

/* FILE_LINKS_INFORMATION: the names of a file, each with the number of its folder. */
struct nt_link_name {
    ULONG next; /* bytes to the next one; 0: the last */
    LONGLONG folder;
    ULONG units; /* of the name, not bytes */
    WCHAR name[1];
};
struct nt_link_names {
    ULONG needed, entries;
    struct nt_link_name first;
};

struct nt_basic {
    LARGE_INTEGER created, accessed, written, changed;
    ULONG attributes;
};

/* Flags of FILE_DISPOSITION_INFORMATION_EX. */
enum { NT_DISPOSITION_DELETE = 1, NT_DISPOSITION_POSIX = 2, NT_DISPOSITION_IGNORE_READONLY = 0x10 };

struct nt_ps_attribute {
    ULONG_PTR attribute;
    SIZE_T size;
    ULONG_PTR value;
    SIZE_T *returned;
};
struct nt_ps_attribute_list {
    SIZE_T total;
    struct nt_ps_attribute items[1];
};
enum {
    NT_PS_ATTRIBUTE_NUMBER = 0xFFFF,
    NT_PS_PARENT_PROCESS = 0,
    NT_PS_IMAGE_NAME = 5,
    NT_PS_JOB_LIST = 19
};
enum { NT_PROCESS_BREAKAWAY = 1, NT_THREAD_SUSPENDED = 1 };

struct nt_thread_basic {
    NTSTATUS exit;
    PVOID teb;
    HANDLE process, thread;
    ULONG_PTR affinity;
    LONG priority, base_priority;
};

NTSYSAPI NTSTATUS NTAPI NtGetNextThread(HANDLE, HANDLE, ACCESS_MASK, ULONG, ULONG, HANDLE *);
NTSYSAPI NTSTATUS NTAPI NtDeleteFile(OBJECT_ATTRIBUTES *);
NTSYSAPI NTSTATUS NTAPI NtReadFile(HANDLE, HANDLE, void *, void *, IO_STATUS_BLOCK *, void *, ULONG,
                                   LARGE_INTEGER *, ULONG *);
NTSYSAPI NTSTATUS NTAPI NtWriteFile(HANDLE, HANDLE, void *, void *, IO_STATUS_BLOCK *, const void *,
                                    ULONG, LARGE_INTEGER *, ULONG *);
NTSYSAPI NTSTATUS NTAPI NtQueryDirectoryFile(HANDLE, HANDLE, void *, void *, IO_STATUS_BLOCK *,
                                             void *, ULONG, FILE_INFORMATION_CLASS, BOOLEAN,
                                             UNICODE_STRING *, BOOLEAN);

#endif
