/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files on Windows, for journals and undos. Every name is one component, opened relative to its
 * folder's handle with FILE_OPEN_REPARSE_POINT. The upper half of a mode holds the attributes.
 */
#include "undo/windows/fs.h"

#include <errno.h>
#include <stdlib.h>
#include <winioctl.h>

#include "base/utf.h"
#include "launch/windows/wide.h"

enum {
    SHARE = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
    LOOK = FILE_READ_ATTRIBUTES | SYNCHRONIZE,
    SETTABLE = FILE_ATTRIBUTE_READONLY | FILE_ATTRIBUTE_HIDDEN | FILE_ATTRIBUTE_SYSTEM |
               FILE_ATTRIBUTE_ARCHIVE | FILE_ATTRIBUTE_TEMPORARY | FILE_ATTRIBUTE_OFFLINE |
               FILE_ATTRIBUTE_NOT_CONTENT_INDEXED,
    NAME_UNITS = 256,
    NAMES_INFORMATION = 12, /* FileNamesInformation */
    PIECE = 1 << 16
};

/* FILE_NAMES_INFORMATION */
struct names {
    ULONG next, index, length;
    WCHAR name[1];
};

static int error_of(NTSTATUS status)
{
    switch (status) {
    case STATUS_OBJECT_NAME_NOT_FOUND:
    case STATUS_OBJECT_PATH_NOT_FOUND:
    case STATUS_NO_SUCH_FILE:
    case STATUS_DELETE_PENDING: return -ENOENT;
    case STATUS_OBJECT_NAME_COLLISION: return -EEXIST;
    case STATUS_DIRECTORY_NOT_EMPTY: return -ENOTEMPTY;
    case STATUS_CANNOT_DELETE:
    case STATUS_ACCESS_DENIED: return -EACCES;
    case STATUS_SHARING_VIOLATION: return -EBUSY;
    case STATUS_DISK_FULL: return -ENOSPC;
    case STATUS_NOT_A_DIRECTORY: return -ENOTDIR;
    case STATUS_FILE_IS_A_DIRECTORY: return -EISDIR;
    case STATUS_NOT_SAME_DEVICE: return -EXDEV;
    case STATUS_OBJECT_NAME_INVALID: return -EINVAL;
    default: return status < 0 ? -EIO : 0;
    }
}

static HANDLE handle_of(fs_file file)
{
    return (HANDLE)file;
}

static int64_t ticks_of(struct undo_time t)
{
    return (t.seconds + 11644473600) * 10000000 + t.nanoseconds / 100;
}

static struct undo_time time_of(int64_t ticks)
{
    return (struct undo_time){ticks / 10000000 - 11644473600, (uint32_t)(ticks % 10000000) * 100};
}

/* ---- opening ---- */

/* One component, or empty: the folder itself. */
static bool to_units(const char *name, WCHAR units[NAME_UNITS], UNICODE_STRING *out)
{
    size_t n = 0;
    if (strpbrk(name, "\\/:") || utf_to16(str_of(name), (uint16_t *)units, NAME_UNITS, &n))
        return false;
    *out = (UNICODE_STRING){(USHORT)(2 * n), (USHORT)(2 * n), units};
    return true;
}

static NTSTATUS open_at(fs_file in, const char *name, ACCESS_MASK access, ULONG disposition,
                        ULONG options, HANDLE *out)
{
    WCHAR units[NAME_UNITS];
    UNICODE_STRING leaf;
    OBJECT_ATTRIBUTES object;
    IO_STATUS_BLOCK io;
    if (!to_units(name, units, &leaf))
        return STATUS_OBJECT_NAME_INVALID;
    InitializeObjectAttributes(&object, &leaf, OBJ_CASE_INSENSITIVE, handle_of(in), NULL);
    return NtCreateFile(out, access | LOOK, &object, &io, NULL, FILE_ATTRIBUTE_NORMAL, SHARE,
                        disposition,
                        options | FILE_OPEN_REPARSE_POINT | FILE_SYNCHRONOUS_IO_NONALERT |
                            FILE_OPEN_FOR_BACKUP_INTENT,
                        NULL, 0);
}

static fs_file open_existing(fs_file in, const char *name, ACCESS_MASK access, ULONG options)
{
    HANDLE file;
    NTSTATUS status = open_at(in, name, access, FILE_OPEN, options, &file);
    return status < 0 ? error_of(status) : (fs_file)file;
}

void fs_close(fs_file file)
{
    if (file >= 0)
        NtClose(handle_of(file));
}

fs_file fs_duplicate(fs_file file)
{
    HANDLE copy;
    return DuplicateHandle(GetCurrentProcess(), handle_of(file), GetCurrentProcess(), &copy, 0,
                           FALSE, DUPLICATE_SAME_ACCESS)
               ? (fs_file)copy
               : -EMFILE;
}

int fs_stat_of(HANDLE object, struct fs_stat *out)
{
    BY_HANDLE_FILE_INFORMATION info;
    FILE_STANDARD_INFORMATION standard;
    FILE_ATTRIBUTE_TAG_INFO tag = {0};
    struct nt_basic basic;
    IO_STATUS_BLOCK io;
    if (!GetFileInformationByHandle(object, &info) ||
        NtQueryInformationFile(object, &io, &basic, sizeof basic,
                               (FILE_INFORMATION_CLASS)NT_BASIC) < 0 ||
        NtQueryInformationFile(object, &io, &standard, sizeof standard, FileStandardInformation) <
            0)
        return -EIO;
    bool link = (basic.attributes & FILE_ATTRIBUTE_REPARSE_POINT) &&
                (!GetFileInformationByHandleEx(object, FileAttributeTagInfo, &tag, sizeof tag) ||
                 IsReparseTagNameSurrogate(tag.ReparseTag));
    bool folder = basic.attributes & FILE_ATTRIBUTE_DIRECTORY;
    /* FAT has no time of change. */
    int64_t changed = basic.changed.QuadPart ? basic.changed.QuadPart : basic.written.QuadPart;
    *out = (struct fs_stat){.device = info.dwVolumeSerialNumber,
                            .inode = (uint64_t)info.nFileIndexHigh << 32 | info.nFileIndexLow,
                            .links = folder ? 1 : info.nNumberOfLinks,
                            .mode = (uint32_t)(link     ? FS_LINK
                                               : folder ? FS_FOLDER
                                                        : FS_REGULAR) |
                                    (uint32_t)(basic.attributes & SETTABLE) << 16,
                            .size = folder ? 0 : (uint64_t)standard.EndOfFile.QuadPart,
                            .taken = folder ? 0 : (uint64_t)standard.AllocationSize.QuadPart,
                            .modified = time_of(basic.written.QuadPart),
                            .accessed = time_of(basic.accessed.QuadPart),
                            .changed = time_of(changed)};
    return 0;
}

/* True if the folder has exactly this name: one that differs in case alone is another. */
static bool is_spelled(fs_file in, const char *name)
{
    union {
        struct names info;
        unsigned char bytes[sizeof(struct names) + 2 * NAME_UNITS];
    } found;
    WCHAR units[NAME_UNITS];
    UNICODE_STRING leaf;
    IO_STATUS_BLOCK io;
    fs_file folder = open_existing(in, "", FILE_LIST_DIRECTORY, FILE_DIRECTORY_FILE);
    if (folder < 0 || !to_units(name, units, &leaf)) {
        fs_close(folder);
        return false;
    }
    NTSTATUS status =
        NtQueryDirectoryFile(handle_of(folder), NULL, NULL, NULL, &io, &found, sizeof found,
                             (FILE_INFORMATION_CLASS)NAMES_INFORMATION, TRUE, &leaf, TRUE);
    fs_close(folder);
    return status >= 0 && found.info.length == leaf.Length &&
           memcmp(found.info.name, units, leaf.Length) == 0;
}

int fs_stat(fs_file folder, const char *name, struct fs_stat *out)
{
    fs_file object = open_existing(folder, name, 0, 0);
    if (object < 0)
        return (int)object;
    int rc = name[0] && !is_spelled(folder, name) ? -ENOENT : fs_stat_of(handle_of(object), out);
    fs_close(object);
    return rc;
}

/* Closes it and fails if it is a link, which FILE_DIRECTORY_FILE lets through. */
static fs_file no_link(fs_file folder)
{
    struct fs_stat st;
    int rc = folder < 0 ? (int)folder : fs_stat_of(handle_of(folder), &st);
    if (rc == 0 && !fs_is_folder(st.mode))
        rc = fs_is_link(st.mode) ? -ELOOP : -ENOTDIR;
    if (rc == 0)
        return folder;
    fs_close(folder);
    return rc;
}

fs_file fs_open_folder(fs_file in, const char *name)
{
    return no_link(
        open_existing(in, name, FILE_LIST_DIRECTORY | FILE_TRAVERSE, FILE_DIRECTORY_FILE));
}

wchar_t *fs_wide_path(struct arena *arena, struct str path)
{
    auto_buf struct buf whole = {0};
    bool share = path.n > 1 && path.p[1] != ':';
    buf_add(&whole, share ? STR("\\\\?\\UNC") : STR("\\\\?\\"));
    buf_add(&whole, share ? str_from(path, 1) : path);
    for (size_t i = 0; i < whole.n; i++)
        if (whole.p[i] == '/')
            whole.p[i] = '\\';
    return whole.failed ? NULL : wide_of(arena, buf_str(&whole));
}

fs_file fs_open_root(const char *path)
{
    auto_arena struct arena arena = {0};
    wchar_t *name = fs_wide_path(&arena, str_of(path));
    HANDLE folder =
        name ? CreateFileW(name, FILE_LIST_DIRECTORY | FILE_TRAVERSE | LOOK, SHARE, NULL,
                           OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT,
                           NULL)
             : INVALID_HANDLE_VALUE;
    return folder == INVALID_HANDLE_VALUE ? -ENOENT : no_link((fs_file)folder);
}

fs_file fs_open_beneath(fs_file root, const char *path)
{
    char name[UNDO_LONGEST_NAME + 1];
    fs_file at = fs_open_folder(root, "");
    while (at >= 0 && *path) {
        size_t n = strcspn(path, "/");
        if (n == 0 || n > UNDO_LONGEST_NAME) {
            fs_close(at);
            return -EINVAL;
        }
        memcpy(name, path, n);
        name[n] = '\0';
        path += n + (path[n] == '/');
        fs_file next = fs_open_folder(at, name);
        fs_close(at);
        at = next;
    }
    return at;
}

fs_file fs_open_object(fs_file in, const char *name)
{
    return open_existing(in, name, 0, 0);
}

/* True if the content is not in this file but in a cloud, or shared by deduplication: a handle that
   opens reparse points as such would read zeros. */
static bool is_elsewhere(HANDLE file)
{
    enum { RECALL_ON_OPEN = 0x40000, RECALL_ON_DATA_ACCESS = 0x400000 };
    FILE_ATTRIBUTE_TAG_INFO tag;
    return !GetFileInformationByHandleEx(file, FileAttributeTagInfo, &tag, sizeof tag) ||
           tag.FileAttributes & (FILE_ATTRIBUTE_REPARSE_POINT | FILE_ATTRIBUTE_OFFLINE |
                                 RECALL_ON_OPEN | RECALL_ON_DATA_ACCESS);
}

fs_file fs_open_file(fs_file in, const char *name, enum fs_open how)
{
    HANDLE file;
    bool makes = how == FS_CREATE || how == FS_CREATE_KEPT;
    bool writes = makes || how == FS_CHANGE;
    NTSTATUS status = open_at(in, name, FILE_READ_DATA | (writes ? FILE_WRITE_DATA : 0),
                              makes ? FILE_CREATE : FILE_OPEN, FILE_NON_DIRECTORY_FILE, &file);
    if (status == STATUS_ACCESS_DENIED && how == FS_CHANGE) {
        /* It is read-only now; as it was before is set last. */
        struct nt_basic plain = {.attributes = FILE_ATTRIBUTE_NORMAL};
        IO_STATUS_BLOCK io;
        fs_file object = open_existing(in, name, FILE_WRITE_ATTRIBUTES, 0);
        if (object >= 0)
            NtSetInformationFile(handle_of(object), &io, &plain, sizeof plain,
                                 (FILE_INFORMATION_CLASS)NT_BASIC);
        fs_close(object);
        status = open_at(in, name, FILE_READ_DATA | FILE_WRITE_DATA, FILE_OPEN,
                         FILE_NON_DIRECTORY_FILE, &file);
    }
    if (status < 0)
        return error_of(status);
    struct fs_stat st;
    int rc = fs_stat_of(file, &st) == 0 && fs_is_file(st.mode) ? 0 : -ELOOP;
    if (rc == 0 && how == FS_READ && is_elsewhere(file))
        rc = -EOPNOTSUPP;
    if (rc == 0)
        return (fs_file)file;
    NtClose(file);
    return rc;
}

/* ---- content ---- */

int64_t fs_read(fs_file file, void *p, size_t n, uint64_t at)
{
    size_t done = 0;
    while (done < n) {
        LARGE_INTEGER place = {.QuadPart = (LONGLONG)(at + done)};
        IO_STATUS_BLOCK io = {0};
        ULONG want = n - done > 1 << 26 ? 1 << 26 : (ULONG)(n - done);
        NTSTATUS status = NtReadFile(handle_of(file), NULL, NULL, NULL, &io, (char *)p + done, want,
                                     &place, NULL);
        if (status == STATUS_END_OF_FILE || (status >= 0 && io.Information == 0))
            break;
        if (status < 0)
            return error_of(status);
        done += io.Information;
    }
    return (int64_t)done;
}

int fs_write(fs_file file, const void *p, size_t n, uint64_t at)
{
    for (size_t done = 0; done < n;) {
        LARGE_INTEGER place = {.QuadPart = (LONGLONG)(at + done)};
        IO_STATUS_BLOCK io = {0};
        ULONG want = n - done > 1 << 26 ? 1 << 26 : (ULONG)(n - done);
        NTSTATUS status = NtWriteFile(handle_of(file), NULL, NULL, NULL, &io,
                                      (const char *)p + done, want, &place, NULL);
        if (status < 0 || io.Information == 0)
            return status < 0 ? error_of(status) : -ENOSPC;
        done += io.Information;
    }
    return 0;
}

int fs_truncate(fs_file file, uint64_t size)
{
    LARGE_INTEGER end = {.QuadPart = (LONGLONG)size};
    IO_STATUS_BLOCK io;
    return error_of(NtSetInformationFile(handle_of(file), &io, &end, sizeof end,
                                         (FILE_INFORMATION_CLASS)NT_END_OF_FILE));
}

/* By sharing blocks, on ReFS. The last piece may reach beyond the end, up to a whole cluster. */
static bool clone(fs_file from, fs_file to, uint64_t size)
{
    enum { DUPLICATE_EXTENTS = 0x98344, MOST = 1 << 30 };
    struct {
        HANDLE source;
        LARGE_INTEGER from, to, count;
    } part = {handle_of(from), {{0}}, {{0}}, {{0}}};
    FILE_FS_SIZE_INFORMATION volume;
    IO_STATUS_BLOCK io;
    if (NtQueryVolumeInformationFile(handle_of(to), &io, &volume, sizeof volume,
                                     FileFsSizeInformation) < 0)
        return false;
    uint64_t cluster = (uint64_t)volume.SectorsPerAllocationUnit * volume.BytesPerSector;
    for (uint64_t at = 0; at < size; at += MOST) {
        uint64_t n = size - at < MOST ? size - at : MOST;
        part.from.QuadPart = part.to.QuadPart = (LONGLONG)at;
        part.count.QuadPart = (LONGLONG)((n + cluster - 1) / cluster * cluster);
        if (NtFsControlFile(handle_of(to), NULL, NULL, NULL, &io, DUPLICATE_EXTENTS, &part,
                            sizeof part, NULL, 0) < 0)
            return false;
    }
    return true;
}

int fs_copy(fs_file from, fs_file to)
{
    struct fs_stat st;
    int rc = fs_stat_of(handle_of(from), &st);
    if (rc == 0)
        rc = fs_truncate(to, st.size);
    if (rc || clone(from, to, st.size))
        return rc;
    char *piece = malloc(PIECE);
    int64_t n = piece ? 1 : 0;
    rc = piece ? 0 : -ENOMEM;
    for (uint64_t at = 0; rc == 0 && n > 0 && at < st.size; at += (uint64_t)n) {
        n = fs_read(from, piece, PIECE, at);
        rc = n < 0 ? (int)n : fs_write(to, piece, (size_t)n, at);
    }
    free(piece);
    return rc;
}

void *fs_map(fs_file file, size_t size)
{
    char *content = malloc(size);
    if (content && fs_read(file, content, size, 0) == (int64_t)size)
        return content;
    free(content);
    return NULL;
}

void fs_unmap(void *content, size_t size)
{
    (void)size;
    free(content);
}

/* ---- names ---- */

int fs_make_folder(fs_file in, const char *name)
{
    HANDLE folder;
    NTSTATUS status = open_at(in, name, 0, FILE_CREATE, FILE_DIRECTORY_FILE, &folder);
    if (status >= 0)
        NtClose(folder);
    return error_of(status);
}

static int set_basic(HANDLE object, struct nt_basic basic)
{
    IO_STATUS_BLOCK io;
    return error_of(
        NtSetInformationFile(object, &io, &basic, sizeof basic, (FILE_INFORMATION_CLASS)NT_BASIC));
}

/* A read-only file cannot be removed or replaced. Returns its attributes; 0: it is none. */
static ULONG make_writable(HANDLE object)
{
    struct nt_basic basic;
    IO_STATUS_BLOCK io;
    if (NtQueryInformationFile(object, &io, &basic, sizeof basic,
                               (FILE_INFORMATION_CLASS)NT_BASIC) < 0 ||
        !(basic.attributes & FILE_ATTRIBUTE_READONLY))
        return 0;
    ULONG before = basic.attributes & SETTABLE;
    ULONG rest = before & ~(ULONG)FILE_ATTRIBUTE_READONLY;
    set_basic(object, (struct nt_basic){.attributes = rest ? rest : FILE_ATTRIBUTE_NORMAL});
    return before;
}

int fs_remove(fs_file in, const char *name, bool folder)
{
    IO_STATUS_BLOCK io;
    BOOLEAN plain = TRUE;
    /* The name goes at once, although somebody may have the file open. */
    ULONG flags = NT_DISPOSITION_DELETE | NT_DISPOSITION_POSIX | NT_DISPOSITION_IGNORE_READONLY;
    fs_file object =
        open_existing(in, name, DELETE | FILE_WRITE_ATTRIBUTES, folder ? FILE_DIRECTORY_FILE : 0);
    if (object < 0)
        return (int)object;
    NTSTATUS status = NtSetInformationFile(handle_of(object), &io, &flags, sizeof flags,
                                           (FILE_INFORMATION_CLASS)NT_DISPOSITION_EX);
    if (status < 0 && status != STATUS_DIRECTORY_NOT_EMPTY) {
        ULONG before = make_writable(handle_of(object));
        status = NtSetInformationFile(handle_of(object), &io, &plain, sizeof plain,
                                      (FILE_INFORMATION_CLASS)NT_DISPOSITION);
        /* It may have other names. */
        if (before)
            set_basic(handle_of(object), (struct nt_basic){.attributes = before});
    }
    fs_close(object);
    return error_of(status);
}

/* Renames or links an open object. */
static NTSTATUS give_name(HANDLE object, fs_file to, const char *name, ULONG flags, int class)
{
    union {
        struct nt_rename info;
        unsigned char bytes[sizeof(struct nt_rename) + 2 * NAME_UNITS];
    } new_name;
    WCHAR units[NAME_UNITS];
    UNICODE_STRING leaf;
    IO_STATUS_BLOCK io;
    if (!to_units(name, units, &leaf))
        return STATUS_OBJECT_NAME_INVALID;
    memset(&new_name, 0, sizeof new_name);
    new_name.info.flags = flags;
    new_name.info.root = handle_of(to);
    new_name.info.length = leaf.Length;
    memcpy(new_name.info.name, units, leaf.Length);
    return NtSetInformationFile(object, &io, &new_name, sizeof(struct nt_rename) + leaf.Length,
                                (FILE_INFORMATION_CLASS) class);
}

int fs_rename(fs_file from, const char *name, fs_file to, const char *new_name, bool over)
{
    fs_file object = open_existing(from, name, DELETE, 0);
    if (object < 0)
        return (int)object;
    ULONG flags = NT_REPLACE_IF_EXISTS | NT_POSIX_SEMANTICS | NT_IGNORE_READONLY;
    NTSTATUS status = give_name(handle_of(object), to, new_name, over ? flags : 0,
                                over ? NT_RENAME_EX : NT_RENAME);
    if (status < 0 && over)
        status = give_name(handle_of(object), to, new_name, NT_REPLACE_IF_EXISTS, NT_RENAME);
    if (status < 0 && over) {
        fs_file there = open_existing(to, new_name, FILE_WRITE_ATTRIBUTES, 0);
        if (there >= 0)
            make_writable(handle_of(there));
        fs_close(there);
        status = give_name(handle_of(object), to, new_name, NT_REPLACE_IF_EXISTS, NT_RENAME);
    }
    fs_close(object);
    return error_of(status);
}

int fs_link(fs_file from, const char *name, fs_file to, const char *new_name)
{
    fs_file object = open_existing(from, name, FILE_WRITE_ATTRIBUTES, FILE_NON_DIRECTORY_FILE);
    if (object < 0)
        return (int)object;
    NTSTATUS status = give_name(handle_of(object), to, new_name, 0, NT_LINK);
    fs_close(object);
    return error_of(status);
}

/* A file keeps its access list under every name: in the journal a copy is safer. */
int fs_link_kept(fs_file from, const char *name, fs_file to, const char *new_name)
{
    (void)from, (void)name, (void)to, (void)new_name;
    return -EOPNOTSUPP;
}

void fs_shut(fs_file in, const char *name)
{
    (void)in, (void)name;
}

/* The reparse data as hexadecimal digits: a record's text holds no NUL. */
int fs_read_link(fs_file in, const char *name, char *out, size_t capacity)
{
    unsigned char data[UNDO_LONGEST_TEXT / 2];
    IO_STATUS_BLOCK io = {0};
    fs_file link = open_existing(in, name, 0, 0);
    if (link < 0)
        return (int)link;
    NTSTATUS status = NtFsControlFile(handle_of(link), NULL, NULL, NULL, &io,
                                      FSCTL_GET_REPARSE_POINT, NULL, 0, data, sizeof data);
    BY_HANDLE_FILE_INFORMATION info = {0};
    bool folder = GetFileInformationByHandle(handle_of(link), &info) &&
                  info.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY;
    fs_close(link);
    size_t n = status < 0 ? 0 : io.Information;
    if (n == 0 || 2 * n + 1 >= capacity)
        return -EIO;
    static const char digits[] = "0123456789abcdef";
    out[0] = folder ? 'd' : 'f';
    for (size_t i = 0; i < n; i++) {
        out[1 + 2 * i] = digits[data[i] >> 4];
        out[2 + 2 * i] = digits[data[i] & 15];
    }
    return (int)(2 * n + 1);
}

int fs_make_other(fs_file in, const char *name, uint32_t mode, const char *target)
{
    unsigned char data[UNDO_LONGEST_TEXT / 2];
    size_t n = strlen(target);
    HANDLE link;
    IO_STATUS_BLOCK io;
    if (!fs_is_link(mode) || n < 3 || n % 2 == 0 || n / 2 > sizeof data)
        return -EOPNOTSUPP;
    for (size_t i = 0; i < n / 2; i++) {
        int high = ascii_hex(target[1 + 2 * i]), low = ascii_hex(target[2 + 2 * i]);
        if (high < 0 || low < 0)
            return -EINVAL;
        data[i] = (unsigned char)(high << 4 | low);
    }
    NTSTATUS status =
        open_at(in, name, FILE_WRITE_ATTRIBUTES | DELETE, FILE_CREATE,
                target[0] == 'd' ? FILE_DIRECTORY_FILE : FILE_NON_DIRECTORY_FILE, &link);
    if (status < 0)
        return error_of(status);
    status = NtFsControlFile(link, NULL, NULL, NULL, &io, FSCTL_SET_REPARSE_POINT, data,
                             (ULONG)(n / 2), NULL, 0);
    BOOLEAN gone = TRUE;
    if (status < 0)
        NtSetInformationFile(link, &io, &gone, sizeof gone, (FILE_INFORMATION_CLASS)NT_DISPOSITION);
    NtClose(link);
    return error_of(status);
}

int fs_list(fs_file folder, struct arena *arena, const char ***out, size_t *count)
{
    const char **names = NULL;
    size_t capacity = 0;
    IO_STATUS_BLOCK io;
    unsigned char *bytes = arena_alloc(arena, PIECE);
    *out = NULL;
    *count = 0;
    for (bool first = true; bytes; first = false) {
        NTSTATUS status =
            NtQueryDirectoryFile(handle_of(folder), NULL, NULL, NULL, &io, bytes, PIECE,
                                 (FILE_INFORMATION_CLASS)NAMES_INFORMATION, FALSE, NULL, first);
        if (status == STATUS_NO_MORE_FILES || status == STATUS_NO_SUCH_FILE)
            return 0;
        if (status < 0)
            return error_of(status);
        for (size_t at = 0;;) {
            const struct names *entry = (const void *)(bytes + at);
            struct str name = wide_narrow(arena, entry->name, entry->length / 2);
            if (*count == capacity)
                names = arena_grow(arena, names, &capacity, sizeof *names);
            if (!name.p || !names)
                return -ENOMEM;
            *out = names;
            if (!str_eq(name, STR(".")) && !str_eq(name, STR("..")))
                names[(*count)++] = name.p;
            if (entry->next == 0)
                break;
            at += entry->next;
        }
    }
    return -ENOMEM;
}

/* ---- attributes: the time of creation and the access list ---- */

enum { LIST = DACL_SECURITY_INFORMATION, LONGEST_LIST = 16384 };

static ULONG access_list_of(HANDLE object, unsigned char list[LONGEST_LIST])
{
    DWORD size = 0;
    return GetKernelObjectSecurity(object, LIST, list, LONGEST_LIST, &size) ? size : 0;
}

void fs_take_attributes(fs_file file, struct buf *out)
{
    unsigned char list[LONGEST_LIST];
    struct nt_basic basic;
    IO_STATUS_BLOCK io;
    fs_file object = open_existing(file, "", READ_CONTROL, 0);
    if (object < 0)
        return;
    if (NtQueryInformationFile(handle_of(object), &io, &basic, sizeof basic,
                               (FILE_INFORMATION_CLASS)NT_BASIC) >= 0) {
        buf_add(out, (struct str){(const char *)&basic.created, sizeof basic.created});
        buf_add(out, (struct str){(const char *)list, access_list_of(handle_of(object), list)});
    }
    fs_close(object);
}

static void set_list(HANDLE object, struct str wanted)
{
    union {
        SECURITY_DESCRIPTOR_RELATIVE head;
        unsigned char bytes[LONGEST_LIST];
    } list;
    ULONG n = access_list_of(object, list.bytes);
    if (wanted.n < sizeof list.head || wanted.n > sizeof list ||
        (n == wanted.n && memcmp(list.bytes, wanted.p, n) == 0))
        return;
    memcpy(list.bytes, wanted.p, wanted.n);
    /* A list that could not be set back leaves the file with the one of its folder. */
    if (IsValidSecurityDescriptor((PSECURITY_DESCRIPTOR)list.bytes))
        SetKernelObjectSecurity(object,
                                LIST | (list.head.Control & SE_DACL_PROTECTED
                                            ? PROTECTED_DACL_SECURITY_INFORMATION
                                            : UNPROTECTED_DACL_SECURITY_INFORMATION),
                                (PSECURITY_DESCRIPTOR)list.bytes);
}

int fs_restore_meta(fs_file in, const char *name, const struct undo_record *meta, bool times,
                    bool attributes)
{
    struct fs_stat st;
    struct str kept = meta->attributes;
    fs_file object = open_existing(in, name, FILE_WRITE_ATTRIBUTES | READ_CONTROL | WRITE_DAC, 0);
    if (object == -EACCES)
        object = open_existing(in, name, FILE_WRITE_ATTRIBUTES, 0);
    if (object < 0)
        return (int)object;
    int rc = fs_stat_of(handle_of(object), &st);
    if (rc == 0 && (st.mode & FS_TYPE) != (meta->ident.mode & FS_TYPE))
        rc = -EBUSY;
    struct nt_basic basic = {.attributes = meta->ident.mode >> 16 & SETTABLE};
    basic.attributes = basic.attributes ? basic.attributes : FILE_ATTRIBUTE_NORMAL;
    if (times) {
        basic.accessed.QuadPart = ticks_of(meta->accessed);
        basic.written.QuadPart = ticks_of(meta->modified);
        if (kept.n >= sizeof basic.created)
            memcpy(&basic.created, kept.p, sizeof basic.created);
    }
    if (rc == 0 && attributes && kept.n > sizeof basic.created)
        set_list(handle_of(object), str_from(kept, sizeof basic.created));
    if (rc == 0)
        rc = set_basic(handle_of(object), basic);
    fs_close(object);
    return rc;
}

void fs_set_times(fs_file object, struct undo_time accessed, struct undo_time modified)
{
    fs_file own = open_existing(object, "", FILE_WRITE_ATTRIBUTES, 0);
    struct nt_basic basic = {.accessed.QuadPart = ticks_of(accessed),
                             .written.QuadPart = ticks_of(modified)};
    if (own >= 0)
        set_basic(handle_of(own), basic);
    fs_close(own);
}

/* ---- the rest ---- */

int fs_lock(fs_file file, bool exclusive, bool wait)
{
    OVERLAPPED place = {.OffsetHigh = 0x40000000}; /* beyond any content */
    DWORD flags =
        (exclusive ? LOCKFILE_EXCLUSIVE_LOCK : 0) | (wait ? 0 : LOCKFILE_FAIL_IMMEDIATELY);
    return LockFileEx(handle_of(file), flags, 0, 1, 0, &place) ? 0 : -EWOULDBLOCK;
}

struct undo_time fs_now(void)
{
    FILETIME now;
    GetSystemTimePreciseAsFileTime(&now);
    return time_of((int64_t)((uint64_t)now.dwHighDateTime << 32 | now.dwLowDateTime));
}

/* The clock of a file system moves in steps of up to 16 ms. */
void fs_wait_past(struct undo_time end)
{
    enum { STEP = 160000 };
    int64_t left;
    while ((left = ticks_of(end) + STEP - ticks_of(fs_now())) > 0 && left <= 2 * STEP)
        Sleep((DWORD)(left / 10000 + 1));
}

void fs_use_slashes(char *path)
{
    for (; *path; path++)
        if (*path == '\\')
            *path = '/';
}

int fs_final_path(const char *folder, char *out, size_t capacity)
{
    auto_arena struct arena arena = {0};
    enum { MOST = 32768 };
    wchar_t *name = folder ? wide_of(&arena, str_of(folder)) : L".";
    wchar_t *text = ARENA_ARRAY(&arena, MOST, wchar_t);
    HANDLE file = name && text ? CreateFileW(name, FILE_READ_ATTRIBUTES, SHARE, NULL, OPEN_EXISTING,
                                             FILE_FLAG_BACKUP_SEMANTICS, NULL)
                               : INVALID_HANDLE_VALUE;
    if (file == INVALID_HANDLE_VALUE)
        return -ENOENT;
    DWORD n = GetFinalPathNameByHandleW(file, text, MOST, FILE_NAME_NORMALIZED);
    CloseHandle(file);
    struct str path = n && n < MOST ? wide_narrow(&arena, text, n) : STR_NONE;
    bool share = str_startsi(path, STR("\\\\?\\UNC\\"));
    path = share ? str_from(path, 7) : str_starts(path, STR("\\\\?\\")) ? str_from(path, 4) : path;
    if (path.n == 0 || path.n + 2 > capacity)
        return -ENAMETOOLONG;
    out[0] = '\\';
    memcpy(out + share, path.p, path.n);
    out[share + path.n] = '\0';
    fs_use_slashes(out);
    return 0;
}

bool fs_absolute(const char *folder, const char *word, struct buf *out)
{
    enum { MOST_PARTS = 2048 };
    struct str parts[MOST_PARTS];
    size_t count = 0;
    auto_buf struct buf whole = {0};
    bool drive = word[0] && word[1] == ':', root = word[0] == '\\' || word[0] == '/';
    if (!drive && root && word[1] != '\\' && word[1] != '/' && folder[0] && folder[1] == ':')
        buf_add(&whole, (struct str){folder, 2});
    else if (!drive && !root)
        buf_fmt(&whole, "%s/", folder);
    buf_add(&whole, str_of(word));
    fs_use_slashes(whole.p ? (char *)buf_cstr(&whole) : (char[1]){0});
    if (whole.n > 1 && whole.p[0] == '/' && whole.p[1] == '/')
        buf_char(out, '/');
    for (size_t at = 0; at < whole.n;) {
        size_t end = str_find_char(buf_str(&whole), '/', at);
        struct str part = str_slice(buf_str(&whole), at, end);
        if (str_eq(part, STR("..")))
            count -= count > 1;
        else if (part.n && !str_eq(part, STR(".")) && count < MOST_PARTS)
            parts[count++] = part;
        at = end + 1;
    }
    for (size_t i = 0; i < count; i++) {
        if (i || out->n)
            buf_char(out, '/');
        buf_add(out, parts[i]);
    }
    if (count == 1)
        buf_char(out, '/');
    return !out->failed && !whole.failed;
}

bool fs_path_starts(struct str path, struct str start)
{
    return str_startsi(path, start);
}
