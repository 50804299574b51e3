/* SPDX-License-Identifier: Apache-2.0 */
/* The content of files on Windows: reading, writing, copying. */
#include <stdlib.h>

#include "undo/windows/fs_inside.h"

int64_t fs_read(fs_file file, void *p, size_t n, uint64_t at)
{
    size_t done = 0;
    while (done < n) {
        LARGE_INTEGER place = {.QuadPart = (LONGLONG)(at + done)};
        IO_STATUS_BLOCK io = {0};
        ULONG want = n - done > 1 << 26 ? 1 << 26 : (ULONG)(n - done);
        NTSTATUS status = NtReadFile(fs_handle_of(file), NULL, NULL, NULL, &io, (char *)p + done,
                                     want, &place, NULL);
        if (status == STATUS_END_OF_FILE || (status >= 0 && io.Information == 0))
            break;
        if (status < 0)
            return fs_error_of(status);
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
        NTSTATUS status = NtWriteFile(fs_handle_of(file), NULL, NULL, NULL, &io,
                                      (const char *)p + done, want, &place, NULL);
        if (status < 0 || io.Information == 0)
            return status < 0 ? fs_error_of(status) : -ENOSPC;
        done += io.Information;
    }
    return 0;
}

int fs_truncate(fs_file file, uint64_t size)
{
    LARGE_INTEGER end = {.QuadPart = (LONGLONG)size};
    IO_STATUS_BLOCK io;
    return fs_error_of(NtSetInformationFile(fs_handle_of(file), &io, &end, sizeof end,
                                            (FILE_INFORMATION_CLASS)NT_END_OF_FILE));
}

/* By sharing blocks, on ReFS. The last piece may reach beyond the end, up to a whole cluster. */
static bool clone(fs_file from, fs_file to, uint64_t size)
{
    enum { DUPLICATE_EXTENTS = 0x98344, MOST = 1 << 30 };
    struct {
        HANDLE source;
        LARGE_INTEGER from, to, count;
    } part = {fs_handle_of(from), {{0}}, {{0}}, {{0}}};
    FILE_FS_SIZE_INFORMATION volume;
    IO_STATUS_BLOCK io;
    if (NtQueryVolumeInformationFile(fs_handle_of(to), &io, &volume, sizeof volume,
                                     FileFsSizeInformation) < 0)
        return false;
    uint64_t cluster = (uint64_t)volume.SectorsPerAllocationUnit * volume.BytesPerSector;
    for (uint64_t at = 0; at < size; at += MOST) {
        uint64_t n = size - at < MOST ? size - at : MOST;
        part.from.QuadPart = part.to.QuadPart = (LONGLONG)at;
        part.count.QuadPart = (LONGLONG)((n + cluster - 1) / cluster * cluster);
        if (NtFsControlFile(fs_handle_of(to), NULL, NULL, NULL, &io, DUPLICATE_EXTENTS, &part,
                            sizeof part, NULL, 0) < 0)
            return false;
    }
    return true;
}

int fs_clone(fs_file from, fs_file to)
{
    struct fs_stat st;
    int rc = fs_stat_of(fs_handle_of(from), &st);
    if (rc == 0)
        rc = fs_truncate(to, st.size);
    return rc ? rc : clone(from, to, st.size) ? 0 : -EOPNOTSUPP;
}

int fs_copy(fs_file from, fs_file to, const atomic_bool *stop)
{
    struct fs_stat st;
    int rc = fs_stat_of(fs_handle_of(from), &st);
    if (rc == 0)
        rc = fs_truncate(to, st.size);
    if (rc || clone(from, to, st.size))
        return rc;
    char *piece = malloc(FS_PIECE);
    int64_t n = 0;
    rc = piece ? 0 : -ENOMEM;
    for (uint64_t at = 0; rc == 0 && at < st.size; at += (uint64_t)n) {
        n = fs_read(from, piece, FS_PIECE, at);
        /* It was cut off meanwhile: the copy would end in zeros. */
        rc = n < 0 ? (int)n : n == 0 ? -EAGAIN : fs_write(to, piece, (size_t)n, at);
        if (rc == 0 && stop && atomic_load(stop))
            rc = -ECANCELED;
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

/* FILE_STREAM_INFORMATION; the name follows. */
struct stream {
    ULONG next, length;
    LARGE_INTEGER size, taken;
};

/* Windows marks downloads with a stream of this name. The browser wrote it and nothing else is in
   it, so it is not worth a word when such a file is deleted. */
static bool is_mark(const wchar_t *name, size_t units)
{
    static const wchar_t mark[] = L":Zone.Identifier:$DATA";
    return units == sizeof mark / sizeof *mark - 1 && _wcsnicmp(name, mark, units) == 0;
}

bool fs_lists_streams(const unsigned char *list, size_t size, bool marks)
{
    static const wchar_t plain[] = L"::$DATA";
    wchar_t name[64];
    struct stream s;
    for (size_t at = 0; at < size && size - at >= sizeof s; at += s.next) {
        memcpy(&s, list + at, sizeof s);
        size_t units = s.length / sizeof *name;
        bool fits = units < sizeof name / sizeof *name && s.length <= size - at - sizeof s;
        if (fits)
            memcpy(name, list + at + sizeof s, s.length);
        if (!fits ||
            !((units == sizeof plain / sizeof *plain - 1 && memcmp(name, plain, s.length) == 0) ||
              (!marks && is_mark(name, units))))
            return true;
        if (!s.next)
            break;
    }
    return false;
}

bool fs_has_streams(fs_file in, const char *name, bool marks)
{
    enum { STREAMS = 22 /* FileStreamInformation */ };
    union {
        struct stream first;
        unsigned char bytes[1024];
    } list = {{0}};
    IO_STATUS_BLOCK io;
    fs_file file = fs_open_existing(in, name, 0, FILE_NON_DIRECTORY_FILE);
    if (file < 0)
        return false;
    NTSTATUS status = NtQueryInformationFile(fs_handle_of(file), &io, &list, sizeof list,
                                             (FILE_INFORMATION_CLASS)STREAMS);
    fs_close(file);
    return status == STATUS_BUFFER_OVERFLOW ||
           (status >= 0 && io.Information <= sizeof list &&
            fs_lists_streams(list.bytes, io.Information, marks));
}
