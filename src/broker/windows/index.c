/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Git's index, which git writes by renaming a lock file. What is judged is a copy, and the copy is
 * what gets the name: the tree may hold the lock file open or mapped for writing. The same holds for
 * a file that leaves the roots because somebody said yes. No other handle
 * can write to the copy from its creation until it has its name, and by that name none is given.
 */
#include "broker/windows/index.h"

#include <stdio.h>

#include "base/utf.h"
#include "undo/fs.h"

void index_copy_close(struct index_copy *copy)
{
    buf_free(&copy->bytes);
    if (copy->file)
        NtClose(copy->file);
    place_close(&copy->place);
}

/* Reads a file from its start; false if it holds more than most, or grows meanwhile. */
static bool read_all(HANDLE file, size_t most, struct buf *out)
{
    FILE_STANDARD_INFORMATION standard;
    IO_STATUS_BLOCK io;
    LARGE_INTEGER at = {0};
    NTSTATUS status =
        NtQueryInformationFile(file, &io, &standard, sizeof standard, FileStandardInformation);
    if (status < 0 || standard.Directory || standard.EndOfFile.QuadPart < 0 ||
        standard.EndOfFile.QuadPart > (LONGLONG)most)
        return false;
    size_t size = (size_t)standard.EndOfFile.QuadPart;
    if (!buf_reserve(out, size + 1))
        return false;
    while (out->n <= size) {
        at.QuadPart = (LONGLONG)out->n;
        status = NtReadFile(file, NULL, NULL, NULL, &io, out->p + out->n,
                            (ULONG)(size + 1 - out->n), &at, NULL);
        if (status < 0 || io.Information == 0)
            break;
        out->n += io.Information;
    }
    return out->n == size && (status == STATUS_END_OF_FILE || (status >= 0 && !io.Information));
}

/* ---- which hash ---- */

/* False if there is a config that cannot be read. */
static bool read_config(struct request *r, struct str folder, struct buf *out, bool *present)
{
    auto_buf struct buf whole = {0};
    auto_place struct place place = {0};
    HANDLE file;
    buf_add(&whole, folder);
    buf_add(&whole, STR("\\config"));
    struct str text = arena_copy(&r->arena, buf_str(&whole));
    struct path name = {.class = PATH_FILE, .text = text, .base = text};
    if (whole.failed || !text.p || place_find(r, &name, &place) < 0 || !place.folder)
        return false;
    NTSTATUS status = place_open(&place, FILE_READ_DATA, FILE_OPEN_REPARSE_POINT, &file);
    *present = status >= 0;
    if (status < 0)
        return status == STATUS_OBJECT_NAME_NOT_FOUND;
    bool good = read_all(file, GIT_INDEX_CONFIG_MOST, out);
    NtClose(file);
    return good;
}

/* The hash of the repository to which this index belongs. A worktree has none of its own. */
static enum git_hash hash_at(struct request *r, const struct place *index)
{
    auto_buf struct buf own = {0}, shared = {0};
    bool present[2] = {false, false};
    struct str folder = path_parent(PATH_WINDOWS, index->path.text);
    struct str above = path_parent(PATH_WINDOWS, folder);
    bool worktree = str_eqi(path_leaf(PATH_WINDOWS, above), STR("worktrees"));
    if (!read_config(r, folder, &own, &present[0]) ||
        (worktree && !read_config(r, path_parent(PATH_WINDOWS, above), &shared, &present[1])))
        return GIT_HASH_UNKNOWN;
    struct str texts[2] = {buf_str(&own), buf_str(&shared)};
    return git_index_hash_of_both(texts, present);
}

bool index_judge(struct request *r, HANDLE lock, const struct place *to, struct index_copy *out)
{
    FILE_STANDARD_INFORMATION standard;
    IO_STATUS_BLOCK io;
    if (NtQueryInformationFile(lock, &io, &standard, sizeof standard, FileStandardInformation) >=
            0 &&
        standard.EndOfFile.QuadPart > GIT_INDEX_MOST)
        snprintf(out->why, sizeof out->why, "more than 256 MiB");
    else if (NtQueryInformationFile(lock, &io, &out->basic, sizeof out->basic,
                                    (FILE_INFORMATION_CLASS)NT_BASIC) < 0 ||
             !read_all(lock, GIT_INDEX_MOST, &out->bytes))
        snprintf(out->why, sizeof out->why, "something that cannot be read");
    else
        out->judged =
            git_index_is_harmless(PATH_WINDOWS, buf_str(&out->bytes), hash_at(r, to), out->why);
    return out->judged;
}

bool index_take(HANDLE file, struct index_copy *out)
{
    IO_STATUS_BLOCK io;
    out->judged = NtQueryInformationFile(file, &io, &out->basic, sizeof out->basic,
                                         (FILE_INFORMATION_CLASS)NT_BASIC) >= 0 &&
                  read_all(file, INDEX_MOST_LEAVING, &out->bytes);
    return out->judged;
}

/* ---- the copy ---- */

/* A name beside the index that nothing has. */
static bool name_copy(struct request *r, const struct place *to, struct place *out)
{
    static volatile LONG count;
    auto_buf struct buf whole = {0};
    size_t n;
    buf_add(&whole, path_parent(PATH_WINDOWS, to->path.text));
    buf_fmt(&whole, "\\index.cordon-%lx-%lx.lock", (unsigned long)GetCurrentProcessId(),
            (unsigned long)InterlockedIncrement(&count));
    struct str text = arena_copy(&r->arena, buf_str(&whole));
    struct str leaf = path_leaf(PATH_WINDOWS, text);
    uint16_t *units = ARENA_ARRAY(&r->arena, leaf.n + 1, uint16_t);
    if (whole.failed || !text.p || !units || utf_to16(leaf, units, leaf.n, &n))
        return false;
    *out = (struct place){.path = {.class = PATH_FILE, .text = text, .base = text},
                          .leaf = {(USHORT)(2 * n), (USHORT)(2 * n), (wchar_t *)units},
                          .exact = true};
    return DuplicateHandle(GetCurrentProcess(), to->folder, GetCurrentProcess(), &out->folder, 0,
                           FALSE, DUPLICATE_SAME_ACCESS);
}

static NTSTATUS write_copy(const struct index_copy *copy)
{
    enum { PIECE = 1 << 20 };
    IO_STATUS_BLOCK io;
    LARGE_INTEGER at = {0};
    NTSTATUS status = STATUS_SUCCESS;
    for (size_t done = 0; done < copy->bytes.n && status >= 0; done += io.Information) {
        size_t left = copy->bytes.n - done;
        at.QuadPart = (LONGLONG)done;
        status = NtWriteFile(copy->file, NULL, NULL, NULL, &io, copy->bytes.p + done,
                             (ULONG)(left < PIECE ? left : PIECE), &at, NULL);
    }
    struct nt_basic basic = copy->basic;
    basic.changed.QuadPart = 0;
    /* By the time of an index git tells which files may have changed since. */
    if (status >= 0)
        status = NtSetInformationFile(copy->file, &io, &basic, sizeof basic,
                                      (FILE_INFORMATION_CLASS)NT_BASIC);
    return status;
}

static void drop_copy(struct index_copy *copy)
{
    BOOLEAN gone = TRUE;
    IO_STATUS_BLOCK io;
    NtSetInformationFile(copy->file, &io, &gone, sizeof gone,
                         (FILE_INFORMATION_CLASS)NT_DISPOSITION);
}

bool index_make(struct request *r, const struct place *to, struct index_copy *copy)
{
    OBJECT_ATTRIBUTES object;
    IO_STATUS_BLOCK io;
    if (!name_copy(r, to, &copy->place)) {
        request_answer(r, STATUS_INSUFFICIENT_RESOURCES);
        return false;
    }
    if (!record_create(r, &copy->place, FS_REGULAR))
        return false;
    InitializeObjectAttributes(&object, &copy->place.leaf, OBJ_CASE_INSENSITIVE, copy->place.folder,
                               NULL);
    NTSTATUS status = NtCreateFile(
        &copy->file,
        FILE_WRITE_DATA | FILE_READ_ATTRIBUTES | FILE_WRITE_ATTRIBUTES | DELETE | SYNCHRONIZE,
        &object, &io, NULL, FILE_ATTRIBUTE_NORMAL, FILE_SHARE_READ | FILE_SHARE_DELETE, FILE_CREATE,
        FILE_SYNCHRONOUS_IO_NONALERT | FILE_NON_DIRECTORY_FILE, NULL, 0);
    record_after(r, status, &copy->place);
    if (status >= 0) {
        status = write_copy(copy);
        if (status < 0)
            drop_copy(copy);
    }
    if (status < 0)
        request_answer(r, status);
    return status >= 0;
}

void index_drop(struct request *r, struct index_copy *copy)
{
    if (!record_remove(r, copy->file, copy->place.path.text))
        return;
    drop_copy(copy);
    record_after(r, STATUS_SUCCESS, NULL);
}
