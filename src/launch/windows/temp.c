/* SPDX-License-Identifier: Apache-2.0 */
/* Created for this user alone, never reached through a link, removed without following one. */
#include "launch/temp.h"

#include <stdio.h>
#include <windows.h>

#include <aclapi.h>

#include "base/utf.h"
#include "launch/machine.h"
#include "launch/windows/failure.h"
#include "launch/windows/token.h"
#include "launch/windows/wide.h"

/* 64 names of 255 units plus the folder's own path stay below Windows' longest path. */
enum {
    DEEPEST = 64,
    MOST_ROUNDS = 100000,
    MOST_TRIES = 100,
    LONGEST_ID = 64,
    LONGEST_PATH = 32768,
    NAMES = 4096
};

static int fail(struct settings *s, int code, struct str path, const char *why)
{
    buf_reset(&s->error);
    buf_fmt(&s->error, "--temp: %.*s: %s", STR_ARG(path), why);
    return code;
}

static int fail_windows(struct settings *s, struct str path, DWORD error)
{
    struct launch_failure f;
    launch_fail_error(&f, "cannot make it", error);
    return fail(s, CORDON_E_OPEN, path, f.text);
}

static bool is_plain_id(struct str id)
{
    if (id.n == 0 || id.n > LONGEST_ID || id.p[0] == '.' || id.p[id.n - 1] == '.')
        return false;
    for (size_t i = 0; i < id.n; i++)
        if (!ascii_is_alnum(id.p[i]) && id.p[i] != '-' && id.p[i] != '_' && id.p[i] != '.')
            return false;
    return true;
}

/* \\?\C:\… allows long paths and is not interpreted; UNC paths are left as they are. */
static wchar_t *long_path(struct arena *arena, struct str path)
{
    auto_buf struct buf text = {0};
    if (path.n >= 3 && path.p[1] == ':')
        buf_add(&text, STR("\\\\?\\"));
    buf_add(&text, path);
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] == '/')
            text.p[i] = '\\';
    return text.failed ? NULL : wide_of(arena, buf_str(&text));
}

/* The user, SYSTEM and administrators, who could take ownership anyway. */
static bool is_trusted(PSID sid, PSID user)
{
    return EqualSid(sid, user) || IsWellKnownSid(sid, WinLocalSystemSid) ||
           IsWellKnownSid(sid, WinBuiltinAdministratorsSid) ||
           IsWellKnownSid(sid, WinCreatorOwnerRightsSid);
}

static bool belongs_to(HANDLE folder, PSID user)
{
    PSID owner = NULL;
    ACL *dacl = NULL;
    PSECURITY_DESCRIPTOR descriptor = NULL;
    if (GetSecurityInfo(folder, SE_FILE_OBJECT,
                        OWNER_SECURITY_INFORMATION | DACL_SECURITY_INFORMATION, &owner, NULL, &dacl,
                        NULL, &descriptor))
        return false;
    bool own = owner && dacl && is_trusted(owner, user);
    for (DWORD i = 0; own && i < dacl->AceCount; i++) {
        ACCESS_ALLOWED_ACE *ace;
        own = GetAce(dacl, i, (void **)&ace) &&
              (ace->Header.AceType == ACCESS_DENIED_ACE_TYPE ||
               (ace->Header.AceType == ACCESS_ALLOWED_ACE_TYPE &&
                (ace->Mask == 0 || is_trusted((PSID)&ace->SidStart, user))));
    }
    LocalFree(descriptor);
    return own;
}

/* Others may create names in the shared folder: only a plain folder owned by this user is
   accepted. */
static bool is_own_folder(const wchar_t *path)
{
    struct token_run me;
    struct launch_failure f;
    FILE_ATTRIBUTE_TAG_INFO tag;
    HANDLE folder =
        CreateFileW(path, READ_CONTROL | FILE_READ_ATTRIBUTES,
                    FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL, OPEN_EXISTING,
                    FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT, NULL);
    if (folder == INVALID_HANDLE_VALUE)
        return false;
    bool plain = GetFileInformationByHandleEx(folder, FileAttributeTagInfo, &tag, sizeof tag) &&
                 (tag.FileAttributes & FILE_ATTRIBUTE_DIRECTORY) &&
                 !(tag.FileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) &&
                 !(GetFileAttributesW(path) & FILE_ATTRIBUTE_REPARSE_POINT);
    bool own = plain && token_run_sid(&me, &f) == 0 && belongs_to(folder, me.user);
    CloseHandle(folder);
    return own;
}

/* Inherited by what is created in it, which the broker creates for the tree. */
static bool inherit_all(struct token_descriptor *d)
{
    for (DWORD i = 0; i < d->dacl.acl.AceCount; i++) {
        ACE_HEADER *ace;
        if (!GetAce(&d->dacl.acl, i, (void **)&ace))
            return false;
        ace->AceFlags = OBJECT_INHERIT_ACE | CONTAINER_INHERIT_ACE;
    }
    return true;
}

static int make(struct settings *s, struct str path, bool session, bool *taken)
{
    auto_arena struct arena arena = {0};
    struct token_descriptor d;
    struct launch_failure f;
    wchar_t *name = long_path(&arena, path);
    *taken = false;
    if (!name)
        return fail(s, CORDON_E_ENCODING, path, "not a path");
    if (token_describe_own(FILE_ALL_ACCESS, &d, &f))
        return fail(s, CORDON_E_OPEN, path, f.text);
    if (inherit_all(&d) && CreateDirectoryW(name, &d.attributes))
        return 0;
    DWORD error = GetLastError();
    if (error != ERROR_ALREADY_EXISTS)
        return fail_windows(s, path, error);
    *taken = true;
    if (session && is_own_folder(name))
        return 0;
    return fail(s, CORDON_E_REFUSED, path,
                session
                    ? "this is not a folder of yours alone; remove it or take another session id"
                    : "it exists already");
}

/* Whether the process that created a folder, identified by the number in its name, has since
   ended. */
static bool is_orphan(const WIN32_FIND_DATAW *folder)
{
    FILETIME begin, ignored;
    wchar_t *end;
    DWORD pid = wcstoul(folder->cFileName + wcslen(L"cordon-run-"), &end, 10);
    if (pid == 0 || *end != L'-' || !(folder->dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) ||
        (folder->dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT))
        return false;
    HANDLE process = OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, FALSE, pid);
    if (!process)
        return GetLastError() == ERROR_INVALID_PARAMETER;
    /* Process ids are reused: a process younger than the folder did not create it. */
    DWORD code;
    bool orphan = (GetExitCodeProcess(process, &code) && code != STILL_ACTIVE) ||
                  (GetProcessTimes(process, &begin, &ignored, &ignored, &ignored) &&
                   CompareFileTime(&begin, &folder->ftCreationTime) > 0);
    CloseHandle(process);
    return orphan;
}

/* A killed launcher could not remove its folder: the next one does. */
static void remove_orphans(struct str shared)
{
    enum { MOST = 16 };
    auto_arena struct arena arena = {0};
    auto_buf struct buf text = {0};
    WIN32_FIND_DATAW found;
    buf_fmt(&text, "%.*s\\cordon-run-*", STR_ARG(shared));
    wchar_t *pattern = long_path(&arena, buf_str(&text));
    HANDLE find = pattern ? FindFirstFileW(pattern, &found) : INVALID_HANDLE_VALUE;
    if (find == INVALID_HANDLE_VALUE)
        return;
    int removed = 0;
    do {
        if (!is_orphan(&found))
            continue;
        buf_reset(&text);
        buf_fmt(&text, "%.*s\\", STR_ARG(shared));
        utf_from16(&text, (const uint16_t *)found.cFileName, wcslen(found.cFileName));
        wchar_t *name = long_path(&arena, buf_str(&text));
        if (name && is_own_folder(name)) {
            temp_remove(buf_cstr(&text));
            removed++;
        }
    } while (removed < MOST && FindNextFileW(find, &found));
    FindClose(find);
}

int temp_make(struct settings *s, struct str shared, struct str *out)
{
    bool session = s->policy.temp == POLICY_TEMP_SESSION, taken = true;
    struct str id = s->policy.session;
    auto_buf struct buf path = {0};
    int rc = 0;
    if (session && !is_plain_id(id))
        return fail(s, CORDON_E_VALUE, STR("session"),
                    "an id has letters, digits, inner dots, dashes and underscores, at most 64");
    while (shared.n && (shared.p[shared.n - 1] == '\\' || shared.p[shared.n - 1] == '/'))
        shared.n--;
    if (!session)
        remove_orphans(shared);
    for (int i = 0; i < MOST_TRIES && taken; i++) {
        uint32_t random = 0;
        if (!session && !machine_random(&random, sizeof random))
            return fail(s, CORDON_E_OPEN, shared, "cannot read random bytes");
        buf_reset(&path);
        buf_fmt(&path, "%.*s\\cordon-", STR_ARG(shared));
        if (session)
            buf_fmt(&path, "session-%.*s", STR_ARG(id));
        else
            buf_fmt(&path, "run-%lu-%08x", (unsigned long)GetCurrentProcessId(), (unsigned)random);
        if (path.failed)
            return CORDON_E_NOMEM;
        rc = make(s, buf_str(&path), session, &taken);
        if (session)
            break;
    }
    if (rc)
        return rc;
    struct str made = arena_copy(&s->arena, buf_str(&path));
    if (!made.p)
        return CORDON_E_NOMEM;
    *out = made;
    return 0;
}

/* ---- removal ---- */

struct removal {
    wchar_t path[LONGEST_PATH]; /* of the entry being inspected; shared by all levels */
    wchar_t top[LONGEST_PATH];  /* final path of the folder */
    size_t top_length, base;    /* of top; of the folder in path */
    unsigned moved;
    bool round_moved;
};

static size_t final_path(HANDLE file, wchar_t *out)
{
    DWORD n = GetFinalPathNameByHandleW(file, out, LONGEST_PATH, FILE_NAME_NORMALIZED);
    return n < LONGEST_PATH ? n : 0;
}

/* Opens the entry itself, never its target. While it is open nothing can replace it: deletion and
   renaming are not shared. */
static HANDLE open_itself(const wchar_t *path, DWORD access)
{
    return CreateFileW(path, access | FILE_READ_ATTRIBUTES | FILE_WRITE_ATTRIBUTES,
                       FILE_SHARE_READ | FILE_SHARE_WRITE, NULL, OPEN_EXISTING,
                       FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT, NULL);
}

/* A handle that ended up elsewhere, because the link was followed after all, is not touched. */
static bool lies_inside(struct removal *r, HANDLE file, wchar_t *scratch)
{
    size_t n = final_path(file, scratch);
    return n > r->top_length && wcsncmp(scratch, r->top, r->top_length) == 0 &&
           scratch[r->top_length] == L'\\';
}

static void move_up(struct removal *r)
{
    wchar_t above[LONGEST_PATH / 16];
    size_t n = r->base;
    if (n + 24 >= sizeof above / sizeof *above)
        return;
    memcpy(above, r->path, n * sizeof *above);
    swprintf(above + n, 24, L"\\.cordon-%u", r->moved++);
    if (MoveFileExW(r->path, above, 0))
        r->round_moved = true;
}

static void remove_below(struct removal *r, HANDLE folder, size_t length, int depth,
                         wchar_t *scratch);

/* Read-only files cannot be marked for deletion; a time of zero leaves it unchanged. */
static void mark_deleted(HANDLE file, DWORD attributes)
{
    FILE_BASIC_INFO plain = {.FileAttributes = FILE_ATTRIBUTE_NORMAL};
    FILE_DISPOSITION_INFO delete = {TRUE};
    if (attributes & FILE_ATTRIBUTE_READONLY)
        SetFileInformationByHandle(file, FileBasicInfo, &plain, sizeof plain);
    SetFileInformationByHandle(file, FileDispositionInfo, &delete, sizeof delete);
}

/* One handle for inspecting, descending and deleting. A link that the system did not open as itself
   is left in place. */
static void remove_entry(struct removal *r, size_t length, int depth, bool folder, wchar_t *scratch)
{
    FILE_ATTRIBUTE_TAG_INFO tag;
    if (folder && depth == DEEPEST && !RemoveDirectoryW(r->path)) {
        move_up(r);
        return;
    }
    HANDLE file = open_itself(r->path, DELETE | FILE_LIST_DIRECTORY);
    if (file == INVALID_HANDLE_VALUE)
        return;
    if (GetFileInformationByHandleEx(file, FileAttributeTagInfo, &tag, sizeof tag) &&
        lies_inside(r, file, scratch)) {
        if ((tag.FileAttributes & FILE_ATTRIBUTE_DIRECTORY) &&
            !(tag.FileAttributes & FILE_ATTRIBUTE_REPARSE_POINT))
            remove_below(r, file, length, depth + 1, scratch);
        mark_deleted(file, tag.FileAttributes);
    }
    CloseHandle(file);
}

static void remove_child(struct removal *r, size_t length, int depth,
                         const FILE_ID_BOTH_DIR_INFO *entry, wchar_t *scratch)
{
    size_t n = entry->FileNameLength / sizeof(wchar_t);
    const wchar_t *name = entry->FileName;
    bool dots = (n == 1 && name[0] == L'.') || (n == 2 && name[0] == L'.' && name[1] == L'.');
    if (dots || length + n + 2 >= LONGEST_PATH)
        return;
    r->path[length] = L'\\';
    memcpy(r->path + length + 1, name, n * sizeof *name);
    r->path[length + 1 + n] = L'\0';
    bool folder = (entry->FileAttributes & FILE_ATTRIBUTE_DIRECTORY) &&
                  !(entry->FileAttributes & FILE_ATTRIBUTE_REPARSE_POINT);
    remove_entry(r, length + 1 + n, depth, folder, scratch);
    r->path[length] = L'\0';
}

/* One round: folders nested too deep are moved to the top for the next round. path names the open
   folder; the entries come from its handle, so they are those of this very folder. */
static void remove_below(struct removal *r, HANDLE folder, size_t length, int depth,
                         wchar_t *scratch)
{
    _Alignas(FILE_ID_BOTH_DIR_INFO) BYTE names[NAMES];
    FILE_INFO_BY_HANDLE_CLASS how = FileIdBothDirectoryRestartInfo;
    while (GetFileInformationByHandleEx(folder, how, names, sizeof names)) {
        const FILE_ID_BOTH_DIR_INFO *entry = (const void *)names;
        for (;;) {
            remove_child(r, length, depth, entry, scratch);
            if (entry->NextEntryOffset == 0)
                break;
            entry = (const void *)((const BYTE *)entry + entry->NextEntryOffset);
        }
        how = FileIdBothDirectoryInfo;
    }
}

/* path is a plain folder, open as top. */
static void remove_all(struct removal *r, HANDLE top, const wchar_t *path, wchar_t *scratch)
{
    r->base = wcslen(path);
    r->top_length = final_path(top, r->top);
    if (r->top_length == 0 || r->base + 4 >= LONGEST_PATH)
        return;
    r->round_moved = true;
    for (int round = 0; round < MOST_ROUNDS && r->round_moved; round++) {
        r->round_moved = false;
        wcscpy(r->path, path);
        HANDLE again = open_itself(path, FILE_LIST_DIRECTORY); /* with a fresh list of names */
        if (again == INVALID_HANDLE_VALUE)
            break;
        remove_below(r, again, r->base, 0, scratch);
        CloseHandle(again);
    }
}

static bool remove_inside(struct arena *arena, const wchar_t *name)
{
    FILE_ATTRIBUTE_TAG_INFO tag;
    HANDLE top = open_itself(name, FILE_LIST_DIRECTORY);
    if (top == INVALID_HANDLE_VALUE)
        return false;
    struct removal *r = ARENA_NEW(arena, struct removal);
    wchar_t *scratch = ARENA_ARRAY(arena, LONGEST_PATH, wchar_t);
    bool plain = GetFileInformationByHandleEx(top, FileAttributeTagInfo, &tag, sizeof tag) &&
                 (tag.FileAttributes & FILE_ATTRIBUTE_DIRECTORY) &&
                 !(tag.FileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) &&
                 !(GetFileAttributesW(name) & FILE_ATTRIBUTE_REPARSE_POINT);
    if (plain && r && scratch)
        remove_all(r, top, name, scratch);
    CloseHandle(top);
    return plain;
}

bool temp_remove(const char *path)
{
    enum { MOST_REMOVALS = 3 }; /* a failure for want of memory may succeed a moment later */
    auto_arena struct arena arena = {0};
    wchar_t *name = long_path(&arena, str_of(path));
    bool had_files = false;
    for (int i = 0; i < MOST_REMOVALS && name && !RemoveDirectoryW(name) &&
                    GetLastError() != ERROR_FILE_NOT_FOUND;
         i++)
        had_files = remove_inside(&arena, name) || had_files;
    return had_files;
}

/* Here the name tells which process created it. */
void temp_release(struct settings *s)
{
    (void)s;
}
