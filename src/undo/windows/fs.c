/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files on Windows, for journals and undos: opening them and looking at them. Every name is one
 * component, opened relative to its folder's handle with FILE_OPEN_REPARSE_POINT. The upper half of
 * a mode holds the attributes.
 */
#include "base/utf.h"
#include "undo/windows/fs_inside.h"

int fs_error_of(NTSTATUS status)
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

bool fs_to_units(const char *name, WCHAR units[FS_NAME_UNITS], UNICODE_STRING *out)
{
    size_t n = 0;
    if (strpbrk(name, "\\/:") || utf_to16(str_of(name), (uint16_t *)units, FS_NAME_UNITS, &n))
        return false;
    *out = (UNICODE_STRING){(USHORT)(2 * n), (USHORT)(2 * n), units};
    return true;
}

NTSTATUS fs_open_at(fs_file in, const char *name, ACCESS_MASK access, ULONG disposition,
                    ULONG options, HANDLE *out)
{
    WCHAR units[FS_NAME_UNITS];
    UNICODE_STRING leaf;
    OBJECT_ATTRIBUTES object;
    IO_STATUS_BLOCK io;
    if (!fs_to_units(name, units, &leaf))
        return STATUS_OBJECT_NAME_INVALID;
    InitializeObjectAttributes(&object, &leaf, OBJ_CASE_INSENSITIVE, fs_handle_of(in), NULL);
    return NtCreateFile(out, access | FS_LOOK, &object, &io, NULL, FILE_ATTRIBUTE_NORMAL, FS_SHARE,
                        disposition,
                        options | FILE_OPEN_REPARSE_POINT | FILE_SYNCHRONOUS_IO_NONALERT |
                            FILE_OPEN_FOR_BACKUP_INTENT,
                        NULL, 0);
}

fs_file fs_open_existing(fs_file in, const char *name, ACCESS_MASK access, ULONG options)
{
    HANDLE file;
    NTSTATUS status = fs_open_at(in, name, access, FILE_OPEN, options, &file);
    return status < 0 ? fs_error_of(status) : (fs_file)file;
}

void fs_close(fs_file file)
{
    if (file >= 0)
        NtClose(fs_handle_of(file));
}

fs_file fs_duplicate(fs_file file)
{
    HANDLE copy;
    return DuplicateHandle(GetCurrentProcess(), fs_handle_of(file), GetCurrentProcess(), &copy, 0,
                           FALSE, DUPLICATE_SAME_ACCESS)
               ? (fs_file)copy
               : -EMFILE;
}

/* The file's number. On ReFS it has 128 bits, and its lower half alone does not tell files
   apart. */
static uint64_t number_of(HANDLE object, const BY_HANDLE_FILE_INFORMATION *info)
{
    FILE_ID_INFO id;
    uint64_t half[2];
    if (!GetFileInformationByHandleEx(object, FileIdInfo, &id, sizeof id))
        return (uint64_t)info->nFileIndexHigh << 32 | info->nFileIndexLow;
    memcpy(half, &id.FileId, sizeof half);
    return half[0] ^ half[1] * 0x9e3779b97f4a7c15;
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
                            .inode = number_of(object, &info),
                            .links = folder ? 1 : info.nNumberOfLinks,
                            .mode = (uint32_t)(link     ? FS_LINK
                                               : folder ? FS_FOLDER
                                                        : FS_REGULAR) |
                                    (uint32_t)(basic.attributes & FS_SETTABLE) << 16,
                            .size = folder ? 0 : (uint64_t)standard.EndOfFile.QuadPart,
                            .taken = folder ? 0 : (uint64_t)standard.AllocationSize.QuadPart,
                            .modified = fs_time_of(basic.written.QuadPart),
                            .accessed = fs_time_of(basic.accessed.QuadPart),
                            .changed = fs_time_of(changed)};
    return 0;
}

/* True if the folder has exactly this name: one that differs in case alone is another. */
static bool is_spelled(fs_file in, const char *name)
{
    union {
        struct fs_names info;
        unsigned char bytes[sizeof(struct fs_names) + 2 * FS_NAME_UNITS];
    } found;
    WCHAR units[FS_NAME_UNITS];
    UNICODE_STRING leaf;
    IO_STATUS_BLOCK io;
    fs_file folder = fs_open_existing(in, "", FILE_LIST_DIRECTORY, FILE_DIRECTORY_FILE);
    if (folder < 0 || !fs_to_units(name, units, &leaf)) {
        fs_close(folder);
        return false;
    }
    NTSTATUS status =
        NtQueryDirectoryFile(fs_handle_of(folder), NULL, NULL, NULL, &io, &found, sizeof found,
                             (FILE_INFORMATION_CLASS)FS_NAMES_INFORMATION, TRUE, &leaf, TRUE);
    fs_close(folder);
    return status >= 0 && found.info.length == leaf.Length &&
           memcmp(found.info.name, units, leaf.Length) == 0;
}

int fs_stat(fs_file folder, const char *name, struct fs_stat *out)
{
    fs_file object = fs_open_existing(folder, name, 0, 0);
    if (object < 0)
        return (int)object;
    int rc = name[0] && !is_spelled(folder, name) ? -ENOENT : fs_stat_of(fs_handle_of(object), out);
    fs_close(object);
    return rc;
}

/* Closes it and fails if it is a link, which FILE_DIRECTORY_FILE lets through. */
static fs_file no_link(fs_file folder)
{
    struct fs_stat st;
    int rc = folder < 0 ? (int)folder : fs_stat_of(fs_handle_of(folder), &st);
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
        fs_open_existing(in, name, FILE_LIST_DIRECTORY | FILE_TRAVERSE, FILE_DIRECTORY_FILE));
}

fs_file fs_open_root(const char *path)
{
    auto_arena struct arena arena = {0};
    wchar_t *name = fs_wide_path(&arena, str_of(path));
    HANDLE folder =
        name ? CreateFileW(name, FILE_LIST_DIRECTORY | FILE_TRAVERSE | FS_LOOK, FS_SHARE, NULL,
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
    return fs_open_existing(in, name, 0, 0);
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
    NTSTATUS status = fs_open_at(in, name, FILE_READ_DATA | (writes ? FILE_WRITE_DATA : 0),
                                 makes ? FILE_CREATE : FILE_OPEN, FILE_NON_DIRECTORY_FILE, &file);
    if (status == STATUS_ACCESS_DENIED && how == FS_CHANGE) {
        /* It is read-only now; as it was before is set last. */
        struct nt_basic plain = {.attributes = FILE_ATTRIBUTE_NORMAL};
        IO_STATUS_BLOCK io;
        fs_file object = fs_open_existing(in, name, FILE_WRITE_ATTRIBUTES, 0);
        if (object >= 0)
            NtSetInformationFile(fs_handle_of(object), &io, &plain, sizeof plain,
                                 (FILE_INFORMATION_CLASS)NT_BASIC);
        fs_close(object);
        status = fs_open_at(in, name, FILE_READ_DATA | FILE_WRITE_DATA, FILE_OPEN,
                            FILE_NON_DIRECTORY_FILE, &file);
    }
    if (status < 0)
        return fs_error_of(status);
    struct fs_stat st;
    int rc = fs_stat_of(file, &st) == 0 && fs_is_file(st.mode) ? 0 : -ELOOP;
    if (rc == 0 && how == FS_READ && is_elsewhere(file))
        rc = -EOPNOTSUPP;
    if (rc == 0)
        return (fs_file)file;
    NtClose(file);
    return rc;
}

int fs_lock(fs_file file, bool exclusive, bool wait)
{
    OVERLAPPED place = {.OffsetHigh = 0x40000000}; /* beyond any content */
    DWORD flags =
        (exclusive ? LOCKFILE_EXCLUSIVE_LOCK : 0) | (wait ? 0 : LOCKFILE_FAIL_IMMEDIATELY);
    return LockFileEx(fs_handle_of(file), flags, 0, 1, 0, &place) ? 0 : -EWOULDBLOCK;
}

struct undo_time fs_now(void)
{
    FILETIME now;
    GetSystemTimePreciseAsFileTime(&now);
    return fs_time_of((int64_t)((uint64_t)now.dwHighDateTime << 32 | now.dwLowDateTime));
}

/* The clock of a file system moves in steps of up to 16 ms. */
void fs_wait_past(struct undo_time end)
{
    enum { STEP = 160000 };
    int64_t left;
    while ((left = fs_ticks_of(end) + STEP - fs_ticks_of(fs_now())) > 0 && left <= 2 * STEP)
        Sleep((DWORD)(left / 10000 + 1));
}
