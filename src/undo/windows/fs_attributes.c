/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes on Windows: those of DOS, times, and the access list. */
#include "undo/windows/fs_inside.h"

int fs_set_basic(HANDLE object, struct nt_basic basic)
{
    IO_STATUS_BLOCK io;
    return fs_error_of(
        NtSetInformationFile(object, &io, &basic, sizeof basic, (FILE_INFORMATION_CLASS)NT_BASIC));
}

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
    fs_file object = fs_open_existing(file, "", READ_CONTROL, 0);
    if (object < 0)
        return;
    if (NtQueryInformationFile(fs_handle_of(object), &io, &basic, sizeof basic,
                               (FILE_INFORMATION_CLASS)NT_BASIC) >= 0) {
        buf_add(out, (struct str){(const char *)&basic.created, sizeof basic.created});
        buf_add(out, (struct str){(const char *)list, access_list_of(fs_handle_of(object), list)});
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
    fs_file object =
        fs_open_existing(in, name, FILE_WRITE_ATTRIBUTES | READ_CONTROL | WRITE_DAC, 0);
    if (object == -EACCES)
        object = fs_open_existing(in, name, FILE_WRITE_ATTRIBUTES, 0);
    if (object < 0)
        return (int)object;
    int rc = fs_stat_of(fs_handle_of(object), &st);
    if (rc == 0 && (st.mode & FS_TYPE) != (meta->ident.mode & FS_TYPE))
        rc = -EBUSY;
    struct nt_basic basic = {.attributes = meta->ident.mode >> 16 & FS_SETTABLE};
    basic.attributes = basic.attributes ? basic.attributes : FILE_ATTRIBUTE_NORMAL;
    if (times) {
        basic.accessed.QuadPart = fs_ticks_of(meta->accessed);
        basic.written.QuadPart = fs_ticks_of(meta->modified);
        if (kept.n >= sizeof basic.created)
            memcpy(&basic.created, kept.p, sizeof basic.created);
    }
    if (rc == 0 && attributes && kept.n > sizeof basic.created)
        set_list(fs_handle_of(object), str_from(kept, sizeof basic.created));
    if (rc == 0)
        rc = fs_set_basic(fs_handle_of(object), basic);
    fs_close(object);
    return rc;
}

void fs_set_times(fs_file object, struct undo_time accessed, struct undo_time modified)
{
    fs_file own = fs_open_existing(object, "", FILE_WRITE_ATTRIBUTES, 0);
    struct nt_basic basic = {.accessed.QuadPart = fs_ticks_of(accessed),
                             .written.QuadPart = fs_ticks_of(modified)};
    if (own >= 0)
        fs_set_basic(fs_handle_of(own), basic);
    fs_close(own);
}

void fs_mode_text(uint32_t mode, char out[FS_MODE_TEXT])
{
    static const struct {
        DWORD attribute;
        char letter;
    } known[] = {
        {FILE_ATTRIBUTE_READONLY, 'R'}, {FILE_ATTRIBUTE_HIDDEN, 'H'}, {FILE_ATTRIBUTE_SYSTEM, 'S'}};
    size_t n = 0;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (mode >> 16 & known[i].attribute)
            out[n++] = known[i].letter;
    if (!n)
        out[n++] = '-';
    out[n] = '\0';
}
