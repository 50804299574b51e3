/* SPDX-License-Identifier: Apache-2.0 */
/* The security descriptors of real objects, for `cordon doctor --objects`. */
#include "wire/windows/nt.h"

#include <sddl.h>
#include <stdio.h>

#include "base/utf.h"
#include "doctor/doctor.h"

enum kind {
    KIND_NEW_FILE,
    KIND_FILE,
    KIND_PIPE,
    KIND_USER_KEY,
    KIND_MACHINE_KEY,
    KIND_PROCESS,
    KIND_STATION,
    KIND_DESKTOP,
    KIND_DIRECTORY,
    KIND_EVENT
};

static const struct {
    enum kind kind;
    const char *name, *where;
} objects[] = {
#define OBJECT(id, kind, name, where) {KIND_##kind, name, where},
#include "doctor/objects.def"
};

NTSYSAPI NTSTATUS NTAPI NtOpenDirectoryObject(HANDLE *, ACCESS_MASK, OBJECT_ATTRIBUTES *);

enum { SHARE = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE };

static HANDLE open_file(const wchar_t *where, bool new)
{
    wchar_t path[MAX_PATH], name[MAX_PATH];
    DWORD n = ExpandEnvironmentStringsW(where, path, MAX_PATH);
    if (n == 0 || n > MAX_PATH || (new && !GetTempFileNameW(path, L"cor", 0, name)))
        return INVALID_HANDLE_VALUE;
    return CreateFileW(new ? name : path, READ_CONTROL | (new ? DELETE : 0), SHARE, NULL,
                       OPEN_EXISTING,
                       FILE_FLAG_BACKUP_SEMANTICS | (new ? FILE_FLAG_DELETE_ON_CLOSE : 0), NULL);
}

static HANDLE open_key(HKEY root, const wchar_t *where)
{
    HKEY key;
    LSTATUS status = RegOpenKeyExW(root, where, 0, READ_CONTROL, &key);
    SetLastError((DWORD)status);
    return status ? NULL : (HANDLE)key;
}

static HANDLE open_parent(void)
{
    PROCESS_BASIC_INFORMATION basic = {0};
    NtQueryInformationProcess(GetCurrentProcess(), ProcessBasicInformation, &basic, sizeof basic,
                              NULL);
    return OpenProcess(READ_CONTROL, FALSE, (DWORD)basic.InheritedFromUniqueProcessId);
}

static HANDLE open_names(void)
{
    wchar_t text[80];
    UNICODE_STRING name;
    OBJECT_ATTRIBUTES object;
    HANDLE directory;
    DWORD session = 0;
    ProcessIdToSessionId(GetCurrentProcessId(), &session);
    swprintf(text, 80, L"\\Sessions\\%lu\\BaseNamedObjects", (unsigned long)session);
    RtlInitUnicodeString(&name, text);
    InitializeObjectAttributes(&object, &name, OBJ_CASE_INSENSITIVE, NULL, NULL);
    NTSTATUS status = NtOpenDirectoryObject(&directory, READ_CONTROL, &object);
    SetLastError(RtlNtStatusToDosError(status));
    return status < 0 ? NULL : directory;
}

/* Loaded when it is needed, as for the run's own desktop. */
static HANDLE open_window_object(const char *function)
{
    HMODULE library = LoadLibraryExW(L"user32.dll", NULL, LOAD_LIBRARY_SEARCH_SYSTEM32);
    HANDLE(WINAPI * get)(DWORD) = library ? (void *)GetProcAddress(library, function) : NULL;
    return get ? get(GetCurrentThreadId()) : NULL;
}

static HANDLE open_object(enum kind kind, const wchar_t *where)
{
    switch (kind) {
    case KIND_NEW_FILE: return open_file(where, true);
    case KIND_FILE: return open_file(where, false);
    case KIND_PIPE:
        return CreateNamedPipeW(where, PIPE_ACCESS_DUPLEX, PIPE_TYPE_BYTE, 1, 512, 512, 0, NULL);
    case KIND_USER_KEY: return open_key(HKEY_CURRENT_USER, where);
    case KIND_MACHINE_KEY: return open_key(HKEY_LOCAL_MACHINE, where);
    case KIND_PROCESS: return open_parent();
    case KIND_STATION: return open_window_object("GetProcessWindowStation");
    case KIND_DESKTOP: return open_window_object("GetThreadDesktop");
    case KIND_DIRECTORY: return open_names();
    default: return CreateEventW(NULL, TRUE, FALSE, NULL);
    }
}

static void describe(enum kind kind, const char *where, struct doctor_object *out)
{
    enum {
        WHAT = OWNER_SECURITY_INFORMATION | DACL_SECURITY_INFORMATION | LABEL_SECURITY_INFORMATION
    };
    union {
        SECURITY_DESCRIPTOR head;
        unsigned char bytes[8192];
    } descriptor;
    wchar_t wide[200], *text = NULL;
    DWORD n;
    swprintf(wide, 200, L"%hs", where);
    HANDLE handle = open_object(kind, wide);
    bool good = handle && handle != INVALID_HANDLE_VALUE &&
                GetKernelObjectSecurity(handle, WHAT, &descriptor.head, sizeof descriptor, &n) &&
                ConvertSecurityDescriptorToStringSecurityDescriptorW(
                    &descriptor.head, SDDL_REVISION_1, WHAT, &text, NULL);
    if (good && !*text) {
        snprintf(out->error, sizeof out->error, "has no descriptor");
    } else if (!good) {
        snprintf(out->error, sizeof out->error, "cannot be read (error %lu)",
                 (unsigned long)GetLastError());
    } else {
        utf_from16(&out->sddl, (const uint16_t *)text, wcslen(text));
        LocalFree(text);
    }
    if (handle && handle != INVALID_HANDLE_VALUE && kind != KIND_STATION && kind != KIND_DESKTOP)
        NtClose(handle);
}

bool doctor_objects(void (*each)(void *context, const struct doctor_object *object), void *context)
{
    for (size_t i = 0; i < sizeof objects / sizeof *objects; i++) {
        struct doctor_object object = {.name = objects[i].name, .where = objects[i].where};
        describe(objects[i].kind, objects[i].where, &object);
        each(context, &object);
        buf_free(&object.sddl);
    }
    return true;
}
