/* SPDX-License-Identifier: Apache-2.0 */
/* Names on Windows: made, removed, changed and listed. */
#include "undo/windows/fs_inside.h"

#include <winioctl.h>

#include "launch/windows/wide.h"

int fs_make_folder(fs_file in, const char *name)
{
    HANDLE folder;
    NTSTATUS status = fs_open_at(in, name, 0, FILE_CREATE, FILE_DIRECTORY_FILE, &folder);
    if (status >= 0)
        NtClose(folder);
    return fs_error_of(status);
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
    ULONG before = basic.attributes & FS_SETTABLE;
    ULONG rest = before & ~(ULONG)FILE_ATTRIBUTE_READONLY;
    fs_set_basic(object, (struct nt_basic){.attributes = rest ? rest : FILE_ATTRIBUTE_NORMAL});
    return before;
}

int fs_remove(fs_file in, const char *name, bool folder)
{
    IO_STATUS_BLOCK io;
    BOOLEAN plain = TRUE;
    /* The name goes at once, although somebody may have the file open. */
    ULONG flags = NT_DISPOSITION_DELETE | NT_DISPOSITION_POSIX | NT_DISPOSITION_IGNORE_READONLY;
    fs_file object = fs_open_existing(in, name, DELETE | FILE_WRITE_ATTRIBUTES,
                                      folder ? FILE_DIRECTORY_FILE : 0);
    if (object < 0)
        return (int)object;
    NTSTATUS status = NtSetInformationFile(fs_handle_of(object), &io, &flags, sizeof flags,
                                           (FILE_INFORMATION_CLASS)NT_DISPOSITION_EX);
    if (status < 0 && status != STATUS_DIRECTORY_NOT_EMPTY) {
        ULONG before = make_writable(fs_handle_of(object));
        status = NtSetInformationFile(fs_handle_of(object), &io, &plain, sizeof plain,
                                      (FILE_INFORMATION_CLASS)NT_DISPOSITION);
        /* It may have other names. */
        if (before)
            fs_set_basic(fs_handle_of(object), (struct nt_basic){.attributes = before});
    }
    fs_close(object);
    return fs_error_of(status);
}

/* Renames or links an open object. */
static NTSTATUS give_name(HANDLE object, fs_file to, const char *name, ULONG flags, int class)
{
    union {
        struct nt_rename info;
        unsigned char bytes[sizeof(struct nt_rename) + 2 * FS_NAME_UNITS];
    } new_name;
    WCHAR units[FS_NAME_UNITS];
    UNICODE_STRING leaf;
    IO_STATUS_BLOCK io;
    if (!fs_to_units(name, units, &leaf))
        return STATUS_OBJECT_NAME_INVALID;
    memset(&new_name, 0, sizeof new_name);
    new_name.info.flags = flags;
    new_name.info.root = fs_handle_of(to);
    new_name.info.length = leaf.Length;
    memcpy(new_name.info.name, units, leaf.Length);
    return NtSetInformationFile(object, &io, &new_name, sizeof(struct nt_rename) + leaf.Length,
                                (FILE_INFORMATION_CLASS) class);
}

int fs_rename(fs_file from, const char *name, fs_file to, const char *new_name, bool over)
{
    fs_file object = fs_open_existing(from, name, DELETE, 0);
    if (object < 0)
        return (int)object;
    ULONG flags = NT_REPLACE_IF_EXISTS | NT_POSIX_SEMANTICS | NT_IGNORE_READONLY;
    NTSTATUS status = give_name(fs_handle_of(object), to, new_name, over ? flags : 0,
                                over ? NT_RENAME_EX : NT_RENAME);
    if (status < 0 && over)
        status = give_name(fs_handle_of(object), to, new_name, NT_REPLACE_IF_EXISTS, NT_RENAME);
    if (status < 0 && over) {
        fs_file there = fs_open_existing(to, new_name, FILE_WRITE_ATTRIBUTES, 0);
        if (there >= 0)
            make_writable(fs_handle_of(there));
        fs_close(there);
        status = give_name(fs_handle_of(object), to, new_name, NT_REPLACE_IF_EXISTS, NT_RENAME);
    }
    fs_close(object);
    return fs_error_of(status);
}

int fs_link(fs_file from, const char *name, fs_file to, const char *new_name)
{
    fs_file object = fs_open_existing(from, name, FILE_WRITE_ATTRIBUTES, FILE_NON_DIRECTORY_FILE);
    if (object < 0)
        return (int)object;
    NTSTATUS status = give_name(fs_handle_of(object), to, new_name, 0, NT_LINK);
    fs_close(object);
    return fs_error_of(status);
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
    fs_file link = fs_open_existing(in, name, 0, 0);
    if (link < 0)
        return (int)link;
    NTSTATUS status = NtFsControlFile(fs_handle_of(link), NULL, NULL, NULL, &io,
                                      FSCTL_GET_REPARSE_POINT, NULL, 0, data, sizeof data);
    BY_HANDLE_FILE_INFORMATION info = {0};
    bool folder = GetFileInformationByHandle(fs_handle_of(link), &info) &&
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
        fs_open_at(in, name, FILE_WRITE_ATTRIBUTES | DELETE, FILE_CREATE,
                   target[0] == 'd' ? FILE_DIRECTORY_FILE : FILE_NON_DIRECTORY_FILE, &link);
    if (status < 0)
        return fs_error_of(status);
    status = NtFsControlFile(link, NULL, NULL, NULL, &io, FSCTL_SET_REPARSE_POINT, data,
                             (ULONG)(n / 2), NULL, 0);
    BOOLEAN gone = TRUE;
    if (status < 0)
        NtSetInformationFile(link, &io, &gone, sizeof gone, (FILE_INFORMATION_CLASS)NT_DISPOSITION);
    NtClose(link);
    return fs_error_of(status);
}

int fs_list(fs_file folder, struct arena *arena, const char ***out, size_t *count)
{
    const char **names = NULL;
    size_t capacity = 0;
    IO_STATUS_BLOCK io;
    unsigned char *bytes = arena_alloc(arena, FS_PIECE);
    *out = NULL;
    *count = 0;
    for (bool first = true; bytes; first = false) {
        NTSTATUS status =
            NtQueryDirectoryFile(fs_handle_of(folder), NULL, NULL, NULL, &io, bytes, FS_PIECE,
                                 (FILE_INFORMATION_CLASS)FS_NAMES_INFORMATION, FALSE, NULL, first);
        if (status == STATUS_NO_MORE_FILES || status == STATUS_NO_SUCH_FILE)
            return 0;
        if (status < 0)
            return fs_error_of(status);
        for (size_t at = 0;;) {
            const struct fs_names *entry = (const void *)(bytes + at);
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
