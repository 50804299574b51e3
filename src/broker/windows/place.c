/*
 * Names of the tree to places on disk: lexically normal first, then the folder opened and asked
 * where it really is. What is decided is decided on that, and what is opened is one name in that
 * folder, so a link that is exchanged meanwhile leads nowhere.
 */
#include "broker/windows/broker.h"

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
    /* Pseudo-handles mean the broker itself when they are duplicated. */
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

struct str place_path_of(struct request *r, HANDLE file)
{
    enum { USUAL = 520 };
    wchar_t usual[USUAL], *text = usual;
    DWORD n = GetFinalPathNameByHandleW(file, text, USUAL, FILE_NAME_NORMALIZED);
    if (n >= USUAL) {
        text = ARENA_ARRAY(&r->arena, n + 1, wchar_t);
        n = text ? GetFinalPathNameByHandleW(file, text, n + 1, FILE_NAME_NORMALIZED) : 0;
    }
    if (n == 0)
        return STR_NONE;
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
        if (status == STATUS_OBJECT_TYPE_MISMATCH) {
            *pass = true; /* the console's own handles, a pipe's folder */
            return STATUS_SUCCESS;
        }
        if (status < 0)
            return status;
        context.cwd = place_path_of(r, handle);
        NtClose(handle);
        if (!context.cwd.p)
            return STATUS_ACCESS_DENIED;
        if (given.n && given.p[0] == '\\')
            return STATUS_OBJECT_NAME_INVALID;
    }
    if (given.n == 0 && !folder)
        return STATUS_OBJECT_NAME_INVALID;
    if (folder) {
        /* As the kernel sees it: below that folder, or a stream of that file; no dots are special.
         */
        auto_buf struct buf whole = {0};
        bool unc = str_starts(context.cwd, STR("\\\\"));
        buf_add(&whole, unc ? STR("\\??\\UNC") : STR("\\??\\"));
        buf_add(&whole, unc ? str_from(context.cwd, 1) : context.cwd);
        if (given.n && given.p[0] != ':' && whole.p && whole.p[whole.n - 1] != '\\')
            buf_char(&whole, '\\');
        buf_add(&whole, given);
        given = whole.failed ? STR_NONE : arena_copy(&r->arena, buf_str(&whole));
        context.cwd = STR_NONE;
    }
    size_t room = given.n + context.cwd.n + 16;
    char *normal = name.failed || !given.p ? NULL : arena_alloc(&r->arena, room);
    if (!normal || path_normalize(&context, given, normal, room, out))
        return STATUS_INSUFFICIENT_RESOURCES;
    if (out->class == PATH_MALFORMED)
        out->text = arena_copy(&r->arena, out->text); /* it points to the name as given */
    return STATUS_SUCCESS;
}

/* The kernel's own name for it where there is one: the tree may change what a letter means. */
static void split_nt(const struct broker *b, struct str path, struct str *prefix, struct str *rest)
{
    bool unc = str_starts(path, STR("\\\\"));
    *prefix = unc ? STR("\\??\\UNC") : STR("\\??\\");
    *rest = unc ? str_from(path, 1) : path;
    for (size_t i = 0; i < b->map_count; i++)
        if (b->map_opens[i] && str_startsi(path, b->maps[i].drive)) {
            *prefix = b->maps[i].prefix;
            *rest = str_from(path, b->maps[i].drive.n);
        }
}

/* As an object name, UTF-16 in the arena. */
static bool nt_name(struct request *r, struct str path, UNICODE_STRING *out)
{
    size_t units = 0;
    struct str prefix, rest;
    split_nt(r->broker, path, &prefix, &rest);
    if (utf_length16(rest, &units) || units + prefix.n > 32766)
        return false;
    uint16_t *text = ARENA_ARRAY(&r->arena, prefix.n + units + 1, uint16_t);
    if (!text)
        return false;
    for (size_t i = 0; i < prefix.n; i++)
        text[i] = (unsigned char)prefix.p[i];
    if (utf_to16(rest, text + prefix.n, units, &units))
        return false;
    out->Buffer = (wchar_t *)text;
    out->Length = (USHORT)(2 * (prefix.n + units));
    out->MaximumLength = out->Length;
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

static NTSTATUS open_folder(UNICODE_STRING *name, HANDLE *out)
{
    OBJECT_ATTRIBUTES object;
    IO_STATUS_BLOCK io;
    InitializeObjectAttributes(&object, name, OBJ_CASE_INSENSITIVE, NULL, NULL);
    return NtOpenFile(out, FILE_TRAVERSE | FILE_READ_ATTRIBUTES | SYNCHRONIZE, &object, &io,
                      FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                      FILE_DIRECTORY_FILE | FILE_SYNCHRONOUS_IO_NONALERT);
}

/*
 * The final path of a folder that was opened by a name. Where the name led through a link the
 * folder is opened once more by its final path: Wine finds out a handle's path by asking for the
 * name again, and a link that was turned between the two makes it a path of something else. Empty
 * if it does not come to rest.
 */
static struct str settle(struct request *r, struct str asked, HANDLE *folder)
{
    enum { MOST_TRIES = 8 };
    struct str final = place_path_of(r, *folder);
    for (int i = 0; i < MOST_TRIES && final.p && !str_eqi(final, asked); i++) {
        UNICODE_STRING name;
        HANDLE again;
        if (!nt_name(r, final, &name) || open_folder(&name, &again) < 0)
            return STR_NONE;
        NtClose(*folder);
        *folder = again;
        asked = final;
        final = place_path_of(r, again);
    }
    return str_eqi(final, asked) ? final : STR_NONE;
}

NTSTATUS place_look(const struct place *place, bool follow, HANDLE *out)
{
    OBJECT_ATTRIBUTES object;
    IO_STATUS_BLOCK io;
    UNICODE_STRING leaf = place->leaf;
    InitializeObjectAttributes(&object, &leaf, OBJ_CASE_INSENSITIVE, place->folder, NULL);
    return NtOpenFile(out, FILE_READ_ATTRIBUTES | SYNCHRONIZE, &object, &io, SHARE_ALL,
                      FILE_SYNCHRONOUS_IO_NONALERT | FILE_OPEN_FOR_BACKUP_INTENT |
                          FILE_COMPLETE_IF_OPLOCKED | (follow ? 0 : FILE_OPEN_REPARSE_POINT));
}

NTSTATUS place_find(struct request *r, const struct path *name, struct place *out)
{
    struct str parent = path_parent(PATH_WINDOWS, name->text);
    struct str leaf = path_leaf(PATH_WINDOWS, name->text);
    struct place place = {.path = *name, .exact = true};
    UNICODE_STRING folder;
    if (!nt_name(r, leaf.n ? parent : name->text, &folder) || !utf16(r, leaf, &place.leaf))
        return STATUS_OBJECT_NAME_INVALID;
    NTSTATUS status = open_folder(&folder, &place.folder);
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
    /* Where it really is can be spelled in a way that is refused: judged like any other name. */
    struct path_context context = {.dialect = PATH_WINDOWS, .unix_drive = wine_unix_drive()};
    char *normal = arena_alloc(&r->arena, whole.n + 16);
    struct str given = arena_copy(&r->arena, buf_str(&whole));
    if (!final.p || whole.failed || !normal || !given.p ||
        path_normalize(&context, given, normal, whole.n + 16, &place.path)) {
        place_close(&place);
        return STATUS_ACCESS_DENIED;
    }
    place.path.folder = name->folder;
    *out = place;
    return STATUS_SUCCESS;
}
