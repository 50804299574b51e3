/* SPDX-License-Identifier: Apache-2.0 */
/* Where the folder of journals is, and who may open it. */
#include <stdio.h>

#include "launch/windows/token.h"
#include "launch/windows/wide.h"
#include "undo/keep_inside.h"
#include "undo/store.h"
#include "undo/windows/fs.h"

const char store_variable[] = "LOCALAPPDATA";

/* With '/' between names. */
bool store_name(char *out, size_t capacity)
{
    auto_arena struct arena arena = {0};
    wchar_t local[MAX_PATH + 1];
    DWORD n = GetEnvironmentVariableW(L"LOCALAPPDATA", local, MAX_PATH);
    struct str path = n > 0 && n < MAX_PATH ? wide_narrow(&arena, local, n) : STR_NONE;
    if (path.n < 3 || path.p[1] != ':')
        return false;
    int length = snprintf(out, capacity, "%.*s/cordon/runs", STR_ARG(path));
    fs_use_slashes(out);
    return length > 0 && length < (int)capacity;
}

/* Only the user and SYSTEM; what is created in it inherits that, and a label which a tree of Low
   integrity cannot even read through. */
static bool describe(struct token_descriptor *d)
{
    enum { INHERIT = OBJECT_INHERIT_ACE | CONTAINER_INHERIT_ACE };
    struct launch_failure f;
    BYTE medium[SECURITY_MAX_SID_SIZE];
    DWORD size = sizeof medium;
    if (token_describe_own(FILE_ALL_ACCESS, d, &f))
        return false;
    for (DWORD i = 0; i < d->dacl.acl.AceCount; i++) {
        ACE_HEADER *ace;
        if (!GetAce(&d->dacl.acl, i, (void **)&ace))
            return false;
        ace->AceFlags = INHERIT;
    }
    return CreateWellKnownSid(WinMediumLabelSid, NULL, medium, &size) &&
           InitializeAcl(&d->sacl.acl, sizeof d->sacl, ACL_REVISION) &&
           AddMandatoryAce(&d->sacl.acl, ACL_REVISION, INHERIT,
                           SYSTEM_MANDATORY_LABEL_NO_WRITE_UP | SYSTEM_MANDATORY_LABEL_NO_READ_UP |
                               SYSTEM_MANDATORY_LABEL_NO_EXECUTE_UP,
                           medium) &&
           SetSecurityDescriptorSacl(&d->descriptor, TRUE, &d->sacl.acl, FALSE);
}

static bool make(struct arena *arena, const char *path)
{
    struct token_descriptor d;
    struct str runs = str_of(path), cordon = str_slice(runs, 0, runs.n - strlen("/runs"));
    wchar_t *outer = fs_wide_path(arena, cordon), *inner = fs_wide_path(arena, runs);
    if (!outer || !inner || !describe(&d))
        return false;
    CreateDirectoryW(outer, NULL);
    return CreateDirectoryW(inner, &d.attributes) || GetLastError() == ERROR_ALREADY_EXISTS;
}

bool store_path(bool create, char *out, size_t capacity, char *why, size_t why_capacity)
{
    auto_arena struct arena arena = {0};
    char name[UNDO_LONGEST_PATH], path[UNDO_LONGEST_PATH];
    if (!store_name(name, sizeof name)) {
        snprintf(why, why_capacity, "no place for journals: set LOCALAPPDATA");
        return false;
    }
    if ((create && !make(&arena, name)) || fs_final_path(name, path, sizeof path)) {
        snprintf(why, why_capacity,
                 "cannot open the folder of journals %.200s; inside a run it is out of reach",
                 name);
        return false;
    }
    return snprintf(out, capacity, "%s", path) < (int)capacity;
}

/* True if the folder is closed to a tree: made by an earlier run, or closed now. */
static bool close_to_others(const char *path)
{
    auto_arena struct arena arena = {0};
    struct token_descriptor d;
    wchar_t *name = fs_wide_path(&arena, str_of(path));
    HANDLE folder =
        name ? CreateFileW(name, READ_CONTROL | WRITE_DAC | WRITE_OWNER,
                           FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
                           OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT,
                           NULL)
             : INVALID_HANDLE_VALUE;
    bool closed =
        folder != INVALID_HANDLE_VALUE && describe(&d) &&
        SetKernelObjectSecurity(
            folder, DACL_SECURITY_INFORMATION | PROTECTED_DACL_SECURITY_INFORMATION, &d.descriptor);
    /* Without labels (FAT, Wine) the rules of the run are what closes it. */
    if (closed)
        SetKernelObjectSecurity(folder, LABEL_SECURITY_INFORMATION, &d.descriptor);
    if (folder != INVALID_HANDLE_VALUE)
        CloseHandle(folder);
    return closed;
}

fs_file store_open(bool create, char *why, size_t capacity)
{
    char path[UNDO_LONGEST_PATH];
    if (!store_path(create, path, sizeof path, why, capacity))
        return -1;
    fs_file folder = close_to_others(path) ? fs_open_root(path) : -1;
    if (folder < 0)
        snprintf(why, capacity, "the folder of journals %.200s is not yours alone", path);
    return folder;
}

/* The journal gives no names to files here. */
void keep_drop_handles(struct keep *k)
{
    (void)k;
}
