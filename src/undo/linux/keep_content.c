/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps what an object holds before it changes: a copy, a clone, or the inode itself. */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "undo/linux/keep_inside.h"

static int lose(struct keep *k, struct undo_record *record, const struct stat *st, const char *why)
{
    snprintf(k->reason, sizeof k->reason, "%s", why);
    if (k->strict)
        return -ENOSPC;
    k->lost++;
    record->how = UNDO_LOST;
    record->text = str_of(why);
    int rc = keep_add(k, record);
    keep_set_bits(k, st, KEEP_META | KEEP_DATA);
    return rc;
}

/* Takes what lies at this place of the file. */
static int copy_part(int from, int to, off_t at, off_t end)
{
    while (at < end) {
        size_t want = end - at > 1 << 26 ? 1 << 26 : (size_t)(end - at);
        ssize_t n = sendfile(to, from, &at, want);
        if (n < 0 && errno != EINTR && errno != EAGAIN)
            return -errno;
        if (n == 0)
            return 0; /* it was cut off meanwhile */
    }
    return 0;
}

int keep_copy_content(int from, int to)
{
    struct stat st;
    if (ioctl(to, FICLONE, from) == 0)
        return 0;
    if (fstat(from, &st))
        return -errno;
    /* Holes stay holes. */
    for (off_t at = 0, hole; at < st.st_size; at = hole) {
        at = lseek(from, at, SEEK_DATA);
        if (at < 0 && errno == ENXIO)
            break;
        hole = at < 0 ? st.st_size : lseek(from, at, SEEK_HOLE);
        if (at < 0)
            at = 0; /* not known here: all of it is data */
        if (hole < 0 || lseek(to, at, SEEK_SET) < 0)
            return -errno;
        int rc = copy_part(from, to, at, hole);
        if (rc)
            return rc;
    }
    return ftruncate(to, st.st_size) ? -errno : 0;
}

void keep_object_name(uint64_t number, char out[24])
{
    snprintf(out, 24, "%llu", (unsigned long long)number);
}

static int keep_large(struct keep *k, int fd, struct undo_record *record)
{
    char name[24];
    keep_object_name(k->objects_made, name);
    int to = openat(k->objects, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0);
    if (to < 0)
        return -errno;
    struct stat copy;
    int rc = keep_copy_content(fd, to);
    if (rc == 0 && fstat(to, &copy))
        rc = -errno;
    close(to);
    if (rc) {
        unlinkat(k->objects, name, 0);
        return rc;
    }
    record->how = UNDO_COPY;
    record->place = k->objects_made++;
    record->size = (uint64_t)copy.st_size;
    return 0;
}

static int keep_small(struct keep *k, int fd, struct undo_record *record)
{
    size_t n = 0;
    for (ssize_t got = 1; got > 0 && n<sizeof k->content; n += got> 0 ? (size_t)got : 0) {
        got = pread(fd, k->content + n, sizeof k->content - n, (off_t)n);
        if (got < 0 && errno == EINTR)
            got = 1, n--;
        else if (got < 0)
            return -errno;
    }
    if (n == sizeof k->content)
        return -EFBIG; /* it has grown */
    for (size_t done = 0; done < n;) {
        ssize_t wrote = pwrite(k->pack, k->content + done, n - done, (off_t)(k->pack_end + done));
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            return wrote < 0 ? -errno : -ENOSPC;
        done += (size_t)wrote;
    }
    record->how = UNDO_PACK;
    record->place = k->pack_end;
    record->size = n;
    record->hash = undo_hash((struct str){k->content, n});
    k->pack_end += n;
    return 0;
}

static int open_to_read(const struct keep_place *place)
{
    char own[64];
    int how = O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY;
    snprintf(own, sizeof own, "/proc/self/fd/%d", place->parent);
    for (int quiet = O_NOATIME;; quiet = 0) {
        int fd = place->leaf[0] ? openat(place->parent, place->leaf, how | quiet | O_NOFOLLOW)
                                : open(own, how | quiet);
        if (fd >= 0 || !quiet || errno != EPERM)
            return fd;
    }
}

int keep_copy(struct keep *k, const struct keep_place *place, const struct undo_path *path)
{
    auto_buf struct buf attributes = {0};
    struct stat st;
    struct undo_record record = keep_record(path, place->st);
    int fd = open_to_read(place);
    if (fd < 0)
        return errno == ENOENT || errno == ELOOP
                   ? -EAGAIN
                   : lose(k, &record, place->st, "it could not be read");
    if (fstat(fd, &st) || st.st_dev != place->st->st_dev || st.st_ino != place->st->st_ino) {
        close(fd);
        return -EAGAIN;
    }
    record = keep_record(path, &st);
    keep_take_attributes(fd, &attributes);
    record.attributes = buf_str(&attributes);
    uint64_t size = st.st_size > 0 ? (uint64_t)st.st_size : 0;
    uint64_t taken = size < UNDO_SMALL ? size : (uint64_t)st.st_blocks * 512;
    int rc;
    if (k->used + taken > k->limit)
        rc = -EDQUOT;
    else if (size >= UNDO_SMALL || (rc = keep_small(k, fd, &record)) == -EFBIG)
        rc = keep_large(k, fd, &record);
    close(fd);
    if (rc)
        return lose(k, &record, &st,
                    rc == -EDQUOT   ? "over --undo-limit"
                    : rc == -ENOSPC ? "the disk is full"
                                    : "it could not be copied");
    k->used += taken;
    rc = keep_add(k, &record);
    if (rc == 0)
        keep_set_bits(k, &st, KEEP_META | KEEP_DATA);
    return rc;
}

/* Keeps the inode itself under a name of the journal. 0; 1 if that is impossible here. */
static int keep_inode(struct keep *k, const struct keep_place *place, const struct undo_path *path,
                      enum undo_how how)
{
    char name[24];
    struct stat st;
    struct undo_record record = keep_record(path, place->st);
    uint64_t size = (uint64_t)place->st->st_blocks * 512;
    if (how == UNDO_LINKED && k->used + size > k->limit)
        return 1;
    keep_object_name(k->objects_made, name);
    if (linkat(place->parent, place->leaf, k->objects, name, 0))
        return errno == ENOENT ? -EAGAIN : 1;
    if (fstatat(k->objects, name, &st, AT_SYMLINK_NOFOLLOW) || st.st_ino != place->st->st_ino ||
        st.st_dev != place->st->st_dev) {
        unlinkat(k->objects, name, 0);
        return -EAGAIN;
    }
    record.how = how;
    record.place = k->objects_made++;
    auto_buf struct buf attributes = {0};
    int fd = how == UNDO_HANDLE && !S_ISLNK(st.st_mode)
                 ? openat(k->objects, name, O_PATH | O_NOFOLLOW | O_CLOEXEC)
                 : -1;
    if (fd >= 0) {
        keep_take_attributes(fd, &attributes);
        close(fd);
    }
    record.attributes = buf_str(&attributes);
    int rc = keep_add(k, &record);
    if (rc) {
        unlinkat(k->objects, name, 0);
        return rc;
    }
    if (how == UNDO_HANDLE) {
        if (k->handle_count == k->handle_capacity) {
            size_t more = k->handle_capacity ? k->handle_capacity * 2 : 64;
            struct handle *bigger = realloc(k->handles, more * sizeof *bigger);
            if (!bigger)
                return 0; /* the name stays */
            k->handles = bigger;
            k->handle_capacity = more;
        }
        k->handles[k->handle_count++] = (struct handle){record.place, st};
        keep_set_bits(k, &st, KEEP_META | KEEP_HANDLE);
        return 0;
    }
    k->used += size;
    k->linked = record.place + 1;
    k->linked_of = *place->st;
    return 0;
}

int keep_away(struct keep *k, const struct keep_place *place, const struct undo_path *path)
{
    const struct stat *st = place->st;
    unsigned bits = keep_bits(k, st);
    bool last = S_ISDIR(st->st_mode) || st->st_nlink <= 1 + keep_handles(k, st);
    if (last)
        k->gone = *st;
    if (bits & KEEP_MADE)
        return 0;
    if (S_ISDIR(st->st_mode)) {
        int fd = openat(place->parent, place->leaf, O_PATH | O_NOFOLLOW | O_CLOEXEC);
        int rc = fd < 0 ? -EAGAIN : keep_note_meta(k, fd, path, st);
        if (fd >= 0)
            close(fd);
        return rc;
    }
    if (st->st_nlink > 1 && (bits & KEEP_HANDLE))
        return 0;
    if (st->st_nlink > 1) {
        int rc = keep_inode(k, place, path, UNDO_HANDLE);
        if (rc <= 0)
            return rc;
    }
    if (bits & KEEP_DATA)
        return 0;
    if (S_ISREG(st->st_mode)) {
        int rc = st->st_nlink > 1 ? 1 : keep_inode(k, place, path, UNDO_LINKED);
        return rc <= 0 ? rc : keep_copy(k, place, path);
    }
    char target[UNDO_LONGEST_TEXT];
    struct undo_record record = keep_record(path, st);
    ssize_t n =
        S_ISLNK(st->st_mode) ? readlinkat(place->parent, place->leaf, target, sizeof target) : 0;
    if (n < 0 || n == (ssize_t)sizeof target)
        return lose(k, &record, st, "the link could not be read");
    record.how = UNDO_TARGET;
    record.text = (struct str){target, (size_t)n};
    int rc = keep_add(k, &record);
    if (rc == 0)
        keep_set_bits(k, st, KEEP_META | KEEP_DATA);
    return rc;
}
