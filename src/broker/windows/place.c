/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of the tree to places on disk: lexically normal first, then the folder opened and asked
 * where it really is. What is decided is decided on that, and what is opened is one name in that
 * folder, so a link that is exchanged meanwhile leads nowhere.
 */
#include "broker/windows/broker.h"

#include <winioctl.h>

#include "base/utf.h"
#include "launch/windows/wine.h"

void place_close(struct place *place)
{
    if (place->folder)
        NtClose(place->folder);
    place->folder = NULL;
}

NTSTATUS place_borrow(struct request *r, uint64_t value, HANDLE *out)
{
    IO_STATUS_BLOCK io;
    ULONG device[2];
    HANDLE file;
    /* Duplicated here, pseudo-handles would mean the broker itself. */
    if (value == 0 || value > 0x7FFFFFFF || value % 4)
        return STATUS_INVALID_HANDLE;
    if (!DuplicateHandle(r->client->process, (HANDLE)(uintptr_t)value, GetCurrentProcess(), &file,
                         0, FALSE, DUPLICATE_SAME_ACCESS))
        return STATUS_INVALID_HANDLE;
    NTSTATUS status =
        NtQueryVolumeInformationFile(file, &io, device, sizeof device, FileFsDeviceInformation);
    if (status < 0 || (device[0] != FILE_DEVICE_DISK && device[0] != FILE_DEVICE_CD_ROM &&
                       device[0] != FILE_DEVICE_NETWORK_FILE_SYSTEM &&
                       device[0] != FILE_DEVICE_DISK_FILE_SYSTEM)) {
        NtClose(file);
        return STATUS_OBJECT_TYPE_MISMATCH;
    }
    *out = file;
    return STATUS_SUCCESS;
}

/* The kernel's name, for files on volumes unknown to the mount manager and for long names. Only for
   files on disks: a pipe could block. */
static struct str kernel_path_of(struct request *r, HANDLE file)
{
    enum { MOST = 2 * PATH_MAX_UNITS + 64 };
    struct path_context context = {.dialect = PATH_WINDOWS,
                                   .maps = r->broker->maps,
                                   .map_count = r->broker->map_count,
                                   .nt = true};
    UNICODE_STRING *name = arena_alloc(&r->arena, MOST);
    auto_buf struct buf text = {0};
    struct path path;
    ULONG size;
    if (!name ||
        NtQueryObject(file, (OBJECT_INFORMATION_CLASS)NT_OBJECT_NAME, name, MOST, &size) < 0)
        return STR_NONE;
    utf_from16(&text, (const uint16_t *)name->Buffer, name->Length / 2);
    struct str given = text.failed ? STR_NONE : arena_copy(&r->arena, buf_str(&text));
    char *normal = arena_alloc(&r->arena, given.n + 16);
    if (!given.p || !normal || path_normalize(&context, given, normal, given.n + 16, &path) ||
        (path.class != PATH_FILE && path.class != PATH_UNC))
        return STR_NONE;
    return path.text;
}

struct str place_path_of(struct request *r, HANDLE file)
{
    enum { USUAL = 520 };
    wchar_t usual[USUAL], *text = usual;
    DWORD n = GetFinalPathNameByHandleW(file, text, USUAL, FILE_NAME_NORMALIZED);
    if (n >= USUAL) {
        DWORD room = n + 1;
        text = ARENA_ARRAY(&r->arena, room, wchar_t);
        n = text ? GetFinalPathNameByHandleW(file, text, room, FILE_NAME_NORMALIZED) : 0;
        n = n < room ? n : 0;
    }
    if (n == 0)
        return kernel_path_of(r, file);
    auto_buf struct buf out = {0};
    utf_from16(&out, (const uint16_t *)text, n);
    /* \\?\C:\a is C:\a, \\?\UNC\h\s is \\h\s. */
    struct str path = buf_str(&out);
    if (str_startsi(path, STR("\\\\?\\UNC\\"))) {
        path = str_from(path, 6);
        out.p[6] = '\\';
    } else if (str_starts(path, STR("\\\\?\\"))) {
        path = str_from(path, 4);
    }
    return out.failed ? STR_NONE : arena_copy(&r->arena, path);
}

/* ---- names below a handle ---- */

/* The name of an object that is not a file on a disk, allocated in the arena. */
static struct str object_name(struct request *r, HANDLE handle, int class)
{
    enum { MOST = 1024 };
    union {
        UNICODE_STRING name; /* also the first member of OBJECT_TYPE_INFORMATION */
        unsigned char bytes[MOST];
    } info;
    ULONG size;
    auto_buf struct buf text = {0};
    if (NtQueryObject(handle, (OBJECT_INFORMATION_CLASS) class, &info, sizeof info, &size) < 0)
        return STR_NONE;
    utf_from16(&text, (const uint16_t *)info.name.Buffer, info.name.Length / 2);
    return text.failed ? STR_NONE : arena_copy(&r->arena, buf_str(&text));
}

/* A folder handle that is not on a disk: its kernel name, so that the whole name is judged like any
   other. *pass: the run's own console, or a pipe reopened by an empty name. */
static struct str other_folder(struct request *r, uint64_t value, bool empty, bool *pass)
{
    IO_STATUS_BLOCK io;
    ULONG device[2] = {0};
    HANDLE handle;
    struct str name = STR_NONE;
    if (!DuplicateHandle(r->client->process, (HANDLE)(uintptr_t)value, GetCurrentProcess(), &handle,
                         0, FALSE, DUPLICATE_SAME_ACCESS))
        return STR_NONE;
    bool known = NtQueryVolumeInformationFile(handle, &io, device, sizeof device,
                                              FileFsDeviceInformation) >= 0;
    struct str type = object_name(r, handle, NT_OBJECT_TYPE);
    if (known && device[0] == FILE_DEVICE_CONSOLE) {
        *pass = true;
    } else if (known && device[0] == FILE_DEVICE_NAMED_PIPE) {
        /* Querying its name could block; a name below a pipe is not on a disk. */
        *pass = empty;
        name = STR("\\Device\\NamedPipe");
    } else if (!known && (str_eq(type, STR("Directory")) || str_eq(type, STR("File")))) {
        name = object_name(r, handle, NT_OBJECT_NAME);
        struct str console = STR("\\Device\\ConDrv");
        *pass =
            (str_startsi(name, console) && (name.n == console.n || name.p[console.n] == '\\')) ||
            wine_is_console_server(str_eq(type, STR("File")), known, name.n != 0);
        /* The directories of drive letters: the global one and that of a logon session. */
        if (str_eqi(name, STR("\\GLOBAL\?\?")) ||
            (str_startsi(name, STR("\\Sessions\\")) &&
             str_find(name, STR("\\DosDevices\\"), 0) < name.n))
            name = STR("\\\?\?");
    }
    NtClose(handle);
    return name.n ? name : STR_NONE;
}

NTSTATUS place_name(struct request *r, uint64_t folder, unsigned text, struct path *out, bool *pass)
{
    struct broker *b = r->broker;
    auto_buf struct buf name = {0};
    struct path_context context = {.dialect = PATH_WINDOWS,
                                   .maps = b->maps,
                                   .map_count = b->map_count,
                                   .nt = true,
                                   .unix_drive = wine_unix_drive()};
    *pass = false;
    if (r->wire.text[text].n % 2)
        return STATUS_OBJECT_NAME_INVALID;
    utf_from16(&name, r->wire.text[text].p, r->wire.text[text].n / 2);
    struct str given = buf_str(&name);
    if (folder) {
        HANDLE handle;
        NTSTATUS status = place_borrow(r, folder, &handle);
        bool disk = status != STATUS_OBJECT_TYPE_MISMATCH;
        if (disk && status < 0)
            return status;
        context.cwd = disk ? place_path_of(r, handle) : other_folder(r, folder, !given.n, pass);
        if (disk)
            NtClose(handle);
        if (*pass)
            return STATUS_SUCCESS;
        if (!context.cwd.p) {
            request_deny_unknown(r, AUDIT_FILE_READ, arena_copy(&r->arena, given),
                                 "the folder that the name is relative to cannot be found out");
            return STATUS_ACCESS_DENIED;
        }
        if (given.n && given.p[0] == '\\')
            return STATUS_OBJECT_NAME_INVALID;
        /* As the kernel sees it: below that folder, or a stream of that file; dots have no special
           meaning. */
        auto_buf struct buf whole = {0};
        bool unc = str_starts(context.cwd, STR("\\\\"));
        if (disk)
            buf_add(&whole, unc ? STR("\\??\\UNC") : STR("\\??\\"));
        buf_add(&whole, unc ? str_from(context.cwd, 1) : context.cwd);
        if (given.n && given.p[0] != ':' && whole.p && whole.p[whole.n - 1] != '\\')
            buf_char(&whole, '\\');
        buf_add(&whole, given);
        given = whole.failed ? STR_NONE : arena_copy(&r->arena, buf_str(&whole));
        context.cwd = STR_NONE;
    } else if (given.n == 0) {
        return STATUS_OBJECT_NAME_INVALID;
    }
    size_t room = given.n + context.cwd.n + 16;
    char *normal = name.failed || !given.p ? NULL : arena_alloc(&r->arena, room);
    if (!normal || path_normalize(&context, given, normal, room, out))
        return STATUS_INSUFFICIENT_RESOURCES;
    if (out->class == PATH_MALFORMED)
        out->text = arena_copy(&r->arena, out->text); /* it points to the name as given */
    return STATUS_SUCCESS;
}

/* The kernel's own name where there is one: the tree may change what a letter means. False if the
   letter was not in use at the start of the run. */
static bool split_nt(const struct broker *b, struct str path, struct str *prefix,
                     struct str *middle, struct str *rest)
{
    bool unc = str_starts(path, STR("\\\\"));
    const struct drive *d = unc ? NULL : drives_of(b, path);
    *middle = STR_NONE;
    *prefix = unc ? STR("\\??\\UNC") : STR("\\??\\");
    *rest = unc ? str_from(path, 1) : path;
    if (d && d->kind == DRIVE_FOLDER) {
        *rest = str_from(path, 2);
        path = str_of(d->text);
        *middle = path;
        d = drives_of(b, path);
    }
    if (d && d->kind == DRIVE_LOCAL && d->opens) {
        *prefix = str_of(d->text);
        if (middle->n)
            *middle = str_from(path, 2);
        else
            *rest = str_from(path, 2);
    }
    return unc || (d && (d->kind == DRIVE_LOCAL || d->kind == DRIVE_SHARE));
}

/* As an object name, UTF-16 in the arena. */
static bool nt_name(struct request *r, struct str path, UNICODE_STRING *out)
{
    size_t n;
    struct str parts[3];
    auto_buf struct buf whole = {0};
    if (!split_nt(r->broker, path, &parts[0], &parts[1], &parts[2]))
        return false;
    for (size_t i = 0; i < 3; i++)
        buf_add(&whole, parts[i]);
    struct str name = buf_str(&whole);
    if (whole.failed || utf_length16(name, &n) || n > 32766)
        return false;
    uint16_t *text = ARENA_ARRAY(&r->arena, n + 1, uint16_t);
    if (!text || utf_to16(name, text, n, &n))
        return false;
    *out = (UNICODE_STRING){(USHORT)(2 * n), (USHORT)(2 * n), (wchar_t *)text};
    return true;
}

static bool utf16(struct request *r, struct str text, UNICODE_STRING *out)
{
    size_t units;
    if (utf_length16(text, &units) || units > 32766)
        return false;
    uint16_t *copy = ARENA_ARRAY(&r->arena, units + 1, uint16_t);
    if (!copy || utf_to16(text, copy, units, &units))
        return false;
    *out = (UNICODE_STRING){(USHORT)(2 * units), (USHORT)(2 * units), (wchar_t *)copy};
    return true;
}

const struct broker_root *place_root(struct request *r, const struct path *name,
                                     UNICODE_STRING *below)
{
    const struct broker *b = r->broker;
    const struct broker_root *best = NULL;
    for (size_t i = 0; i < b->root_count; i++) {
        struct str root = b->roots[i].path;
        if (name->text.n > root.n + 1 && name->text.p[root.n] == '\\' &&
            str_startsi(name->text, root) && (!best || root.n > best->path.n))
            best = &b->roots[i];
    }
    return best && utf16(r, str_from(name->text, best->path.n + 1), below) ? best : NULL;
}

/* By full name, or by one name in a folder; never through a link, except where the system cannot
   tell the difference. */
static NTSTATUS open_folder(HANDLE in, UNICODE_STRING *name, ULONG flags, ULONG options,
                            HANDLE *out)
{
    OBJECT_ATTRIBUTES object;
    IO_STATUS_BLOCK io;
    InitializeObjectAttributes(&object, name, OBJ_CASE_INSENSITIVE | flags, in, NULL);
    return NtOpenFile(out, FILE_TRAVERSE | FILE_READ_ATTRIBUTES | SYNCHRONIZE, &object, &io,
                      SHARE_ALL, options | FILE_SYNCHRONOUS_IO_NONALERT);
}

bool place_is_remote(const struct broker *b, const struct path *path)
{
    bool local = path->class == PATH_FILE || path->class == PATH_STREAM;
    const struct drive *d = local ? drives_of(b, path->text) : NULL;
    return path->class == PATH_UNC || path->class == PATH_WSL ||
           (local && (d ? d->kind == DRIVE_SHARE : str_starts(path->text, STR("\\\\"))));
}

/* Decided by name before any server is contacted: an open alone would send the user's name. */
static bool may_open_remote(struct request *r, const struct path *path)
{
    struct policy_request question = {.path = *path, .access = POLICY_READ};
    struct policy_answer answer = {0};
    question.path.class = path->class == PATH_WSL ? PATH_WSL : PATH_UNC;
    policy_decide(r->broker->policy, &question, &answer);
    return answer.verdict == CORDON_ALLOW || (path->class == PATH_FILE && r->broker->remote_roots);
}

/* The path after replacing a link with its target. */
static bool join_link(struct request *r, const struct path *target, struct str rest,
                      struct path *out)
{
    struct path_context context = {.dialect = PATH_WINDOWS};
    auto_buf struct buf whole = {0};
    *out = *target;
    if ((target->class != PATH_FILE && target->class != PATH_UNC) || rest.n == 0)
        return true;
    buf_add(&whole, target->text);
    if (whole.n && whole.p[whole.n - 1] != '\\')
        buf_char(&whole, '\\');
    buf_add(&whole, rest);
    char *normal = arena_alloc(&r->arena, whole.n + 16);
    struct str given = arena_copy(&r->arena, buf_str(&whole));
    return !whole.failed && normal && given.p &&
           path_normalize(&context, given, normal, whole.n + 16, out) == 0;
}

/* Component by component, for a path with a link on it: STATUS_REPARSE with the target of the first
   link. */
static NTSTATUS walk(struct request *r, struct str path, HANDLE *out, struct path *again)
{
    size_t root = path_root_length(PATH_WINDOWS, path);
    struct path_cursor cursor = {
        .dialect = PATH_WINDOWS, .path = path, .pos = root, .started = true};
    struct str component, top = arena_copy(&r->arena, str_slice(path, 0, root + 1));
    UNICODE_STRING name;
    HANDLE folder, next;
    NTSTATUS status = top.p && nt_name(r, top, &name)
                          ? open_folder(NULL, &name, 0, FILE_DIRECTORY_FILE, &folder)
                          : STATUS_OBJECT_PATH_NOT_FOUND;
    while (status >= 0 && path_next(&cursor, &component)) {
        FILE_ATTRIBUTE_TAG_INFO tag = {0};
        struct path target;
        status = utf16(r, component, &name)
                     ? open_folder(folder, &name, 0,
                                   FILE_OPEN_REPARSE_POINT | FILE_OPEN_FOR_BACKUP_INTENT, &next)
                     : STATUS_OBJECT_NAME_INVALID;
        NtClose(folder);
        if (status < 0)
            return status;
        folder = next;
        if (!GetFileInformationByHandleEx(folder, FileAttributeTagInfo, &tag, sizeof tag))
            status = STATUS_ACCESS_DENIED;
        else if (!(tag.FileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) ||
                 !IsReparseTagNameSurrogate(tag.ReparseTag))
            continue;
        else if (link_target(r, folder, str_slice(path, 0, cursor.pos), &target) &&
                 join_link(r, &target, str_from(path, cursor.pos + 1), again))
            status = STATUS_REPARSE;
        else
            status = STATUS_ACCESS_DENIED;
        NtClose(folder);
        return status;
    }
    if (status >= 0)
        *out = folder;
    return status;
}

/* Opens a folder by its whole path. */
static NTSTATUS open_way(struct request *r, struct str path, HANDLE *out, struct path *again)
{
    UNICODE_STRING name;
    const struct drive *d = drives_of(r->broker, path);
    bool walks = d && (d->opens || d->kind == DRIVE_FOLDER);
    /* The drive's letter is itself a link to the system: it cannot be told to follow that one alone. */
    if (d && d->kind == DRIVE_LOCAL && !d->opens && !wine_hides_links())
        return walk(r, path, out, again);
    if (!nt_name(r, path, &name))
        return STATUS_OBJECT_PATH_NOT_FOUND;
    NTSTATUS status =
        open_folder(NULL, &name, walks ? OBJ_DONT_REPARSE : 0, FILE_DIRECTORY_FILE, out);
    return status == NT_REPARSE_ENCOUNTERED && walks ? walk(r, path, out, again) : status;
}

/*
 * The final path of a folder that was opened by name. If the name led through a link, the folder is
 * opened again by its final path: Wine finds a handle's path by looking the name up again, so a
 * link exchanged in between would give the path of something else. Empty if it does not settle.
 */
static struct str settle(struct request *r, struct str asked, HANDLE *folder)
{
    enum { MOST_TRIES = 8 };
    struct str final = place_path_of(r, *folder);
    for (int i = 0; i < MOST_TRIES && final.p && !str_eqi(final, asked); i++) {
        HANDLE again;
        struct path link;
        if (open_way(r, final, &again, &link) != STATUS_SUCCESS)
            return STR_NONE;
        NtClose(*folder);
        *folder = again;
        asked = final;
        final = place_path_of(r, again);
    }
    return str_eqi(final, asked) ? final : STR_NONE;
}

NTSTATUS place_open(const struct place *place, ACCESS_MASK access, ULONG options, HANDLE *out)
{
    OBJECT_ATTRIBUTES object;
    IO_STATUS_BLOCK io;
    UNICODE_STRING leaf = place->leaf;
    InitializeObjectAttributes(&object, &leaf, OBJ_CASE_INSENSITIVE, place->folder, NULL);
    return NtOpenFile(out, access | FILE_READ_ATTRIBUTES | SYNCHRONIZE, &object, &io, SHARE_ALL,
                      FILE_SYNCHRONOUS_IO_NONALERT | FILE_OPEN_FOR_BACKUP_INTENT |
                          FILE_COMPLETE_IF_OPLOCKED | options);
}

NTSTATUS place_look(const struct place *place, bool follow, HANDLE *out)
{
    return place_open(place, 0, follow ? 0 : FILE_OPEN_REPARSE_POINT, out);
}

/* One attempt: STATUS_REPARSE with the target of a link on the way. */
static NTSTATUS find(struct request *r, const struct path *name, struct place *out,
                     struct path *again)
{
    struct str parent = path_parent(PATH_WINDOWS, name->text);
    struct str leaf = path_leaf(PATH_WINDOWS, name->text);
    struct place place = {.path = *name, .exact = true};
    if (!utf16(r, leaf, &place.leaf))
        return STATUS_OBJECT_NAME_INVALID;
    NTSTATUS status = open_way(r, leaf.n ? parent : name->text, &place.folder, again);
    if (status == STATUS_REPARSE) {
        struct path target = *again;
        return join_link(r, &target, leaf, again) ? status : STATUS_ACCESS_DENIED;
    }
    if (status < 0)
        return status == STATUS_OBJECT_NAME_NOT_FOUND && leaf.n ? STATUS_OBJECT_PATH_NOT_FOUND
               : status == STATUS_NOT_A_DIRECTORY               ? STATUS_OBJECT_PATH_NOT_FOUND
                                                                : status;
    struct str final = settle(r, leaf.n ? parent : name->text, &place.folder);
    auto_buf struct buf whole = {0};
    buf_add(&whole, final);
    if (leaf.n && whole.n && whole.p[whole.n - 1] != '\\')
        buf_char(&whole, '\\');
    buf_add(&whole, leaf);
    /* Its real location may have a spelling that is refused: judged like any other name. */
    struct path_context context = {.dialect = PATH_WINDOWS, .unix_drive = wine_unix_drive()};
    char *normal = arena_alloc(&r->arena, whole.n + 16);
    struct str given = arena_copy(&r->arena, buf_str(&whole));
    if (!final.p || whole.failed || !normal || !given.p ||
        path_normalize(&context, given, normal, whole.n + 16, &place.path)) {
        place_close(&place);
        request_deny_unknown(r, AUDIT_FILE_READ, name->text,
                             "the system does not say where its folder is");
        return STATUS_ACCESS_DENIED;
    }
    place.path.folder = name->folder;
    *out = place;
    return STATUS_SUCCESS;
}

NTSTATUS place_find(struct request *r, const struct path *name, struct place *out)
{
    enum { MOST_LINKS = 32 };
    struct path path = *name;
    for (int links = 0; links < MOST_LINKS; links++) {
        struct path again;
        bool remote = place_is_remote(r->broker, &path);
        bool file = path.class == PATH_FILE || path.class == PATH_STREAM ||
                    path.class == PATH_UNC || path.class == PATH_WSL;
        if (!file || (remote && !may_open_remote(r, &path))) {
            if (remote && path.class == PATH_FILE)
                path.class = PATH_UNC;
            *out = (struct place){.path = path};
            return STATUS_SUCCESS;
        }
        NTSTATUS status = find(r, &path, out, &again);
        if (status != STATUS_REPARSE)
            return status;
        path = again;
        path.folder = name->folder;
    }
    request_deny_unknown(r, AUDIT_FILE_READ, name->text, "too many links on the way");
    return STATUS_ACCESS_DENIED;
}
