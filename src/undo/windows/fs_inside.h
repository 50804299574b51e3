/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the sources of fs.h on Windows. */
#ifndef CORDON_UNDO_WINDOWS_FS_INSIDE_H
#define CORDON_UNDO_WINDOWS_FS_INSIDE_H

#include <errno.h>

#include "undo/windows/fs.h"

enum {
    FS_SHARE = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
    FS_LOOK = FILE_READ_ATTRIBUTES | SYNCHRONIZE,
    FS_SETTABLE = FILE_ATTRIBUTE_READONLY | FILE_ATTRIBUTE_HIDDEN | FILE_ATTRIBUTE_SYSTEM |
                  FILE_ATTRIBUTE_ARCHIVE | FILE_ATTRIBUTE_TEMPORARY | FILE_ATTRIBUTE_OFFLINE |
                  FILE_ATTRIBUTE_NOT_CONTENT_INDEXED,
    FS_NAME_UNITS = 256,
    FS_NAMES_INFORMATION = 12, /* FileNamesInformation */
    FS_PIECE = 1 << 16
};

/* FILE_NAMES_INFORMATION */
struct fs_names {
    ULONG next, index, length;
    WCHAR name[1];
};

static inline HANDLE fs_handle_of(fs_file file)
{
    return (HANDLE)file;
}

static inline int64_t fs_ticks_of(struct undo_time t)
{
    return (t.seconds + 11644473600) * 10000000 + t.nanoseconds / 100;
}

static inline struct undo_time fs_time_of(int64_t ticks)
{
    return (struct undo_time){ticks / 10000000 - 11644473600, (uint32_t)(ticks % 10000000) * 100};
}

/* Zero, or a negative errno. */
int fs_error_of(NTSTATUS status);
/* A name of one component, or an empty one: the folder itself. False: it is not such a name. */
bool fs_to_units(const char *name, WCHAR units[FS_NAME_UNITS], UNICODE_STRING *out);
NTSTATUS fs_open_at(fs_file in, const char *name, ACCESS_MASK access, ULONG disposition,
                    ULONG options, HANDLE *out);
fs_file fs_open_existing(fs_file in, const char *name, ACCESS_MASK access, ULONG options);
/* Attributes and times; a zero leaves one as it is. */
int fs_set_basic(HANDLE object, struct nt_basic basic);

/* The same as fs_has_streams, of a list of FILE_STREAM_INFORMATION. */
bool fs_lists_streams(const unsigned char *list, size_t size, bool marks);

#endif
