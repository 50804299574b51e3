/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file that leaves the places of a run because somebody said yes goes as a copy. The file that the
 * run had may be open for writing in it, mapped, or have another name: by none of these can it change
 * what was allowed to leave.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "broker/linux/broker.h"

enum { MOST_BYTES = 64 << 20, PIECE = 65536, MOST_NAMES = 4096, MOST_VALUE = 65536 };

bool leave_can(const struct broker *b, const struct resolved *from, const struct resolved *to)
{
    struct stat folder;
    if (S_ISLNK(from->st.st_mode))
        return true; /* its text never changes */
    return S_ISREG(from->st.st_mode) && !(from->st.st_mode & (S_ISUID | S_ISGID)) &&
           from->st.st_size <= MOST_BYTES && !grant_holds(b, from->path) &&
           fstat(to->parent, &folder) == 0 && folder.st_dev == from->st.st_dev;
}

static int copy_bytes(int in, int out)
{
    char piece[PIECE];
    for (size_t total = 0;;) {
        ssize_t n = read(in, piece, sizeof piece);
        if (n <= 0)
            return n < 0 ? -errno : 0;
        total += (size_t)n;
        if (total > MOST_BYTES)
            return -EXDEV; /* it grew meanwhile */
        for (ssize_t at = 0; at < n;) {
            ssize_t written = write(out, piece + at, (size_t)(n - at));
            if (written < 0)
                return -errno;
            at += written;
        }
    }
}

/* Access lists, and what users set. */
static int copy_attributes(int in, int out)
{
    char names[MOST_NAMES], value[MOST_VALUE];
    ssize_t n = flistxattr(in, names, sizeof names);
    if (n < 0)
        return errno == ENOTSUP ? 0 : -EXDEV;
    for (const char *name = names; name < names + n; name += strlen(name) + 1) {
        struct str text = str_of(name);
        if (!str_starts(text, STR("user.")) && !str_starts(text, STR("system.posix_acl_")))
            continue;
        ssize_t size = fgetxattr(in, name, value, sizeof value);
        if (size < 0 || fsetxattr(out, name, value, (size_t)size, 0))
            return -EXDEV;
    }
    return 0;
}

/* Makes the copy. With -EXDEV the caller makes one itself. */
static int fill(const struct resolved *file, int out)
{
    struct stat st;
    int in = openat(file->parent, file->leaf, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (in < 0)
        return -errno;
    int rc = fstat(in, &st) || st.st_dev != file->st.st_dev || st.st_ino != file->st.st_ino
                 ? -EBUSY
                 : copy_bytes(in, out);
    if (rc == 0 && (st.st_uid != geteuid() || st.st_gid != getegid()) &&
        fchown(out, st.st_uid, st.st_gid))
        rc = -EXDEV;
    if (rc == 0)
        rc = fchmod(out, st.st_mode & 01777) ? -errno : copy_attributes(in, out);
    if (rc == 0 && futimens(out, (const struct timespec[]){st.st_atim, st.st_mtim}))
        rc = -errno;
    close(in);
    return rc;
}

/* The name of the copy, beside the file, until it takes the file's. */
static bool name_copy(const struct request *r, const struct resolved *file, struct resolved *out)
{
    struct str folder = path_parent(PATH_POSIX, str_of(file->path));
    *out = *file;
    out->exists = false;
    snprintf(out->leaf, sizeof out->leaf, "cordon-leaves-%llx", (unsigned long long)r->id);
    return snprintf(out->path, sizeof out->path, "%.*s/%s", STR_ARG(folder), out->leaf) <
           (int)sizeof out->path;
}

static int make_copy(struct broker *b, struct request *r, const struct resolved *file,
                     struct resolved *copy)
{
    int rc = record_create(b, r, copy, S_IFREG);
    if (rc)
        return rc;
    int fd = openat(copy->parent, copy->leaf, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                    0600);
    rc = fd < 0 ? -errno : fill(file, fd);
    if (rc == 0 && fstat(fd, &copy->st))
        rc = -errno;
    if (fd >= 0)
        close(fd);
    if (fd >= 0 && rc)
        unlinkat(copy->parent, copy->leaf, 0);
    record_after(b, -rc, copy);
    copy->exists = rc == 0;
    return rc;
}

int leave_place(struct broker *b, struct request *r, struct resolved *file)
{
    struct resolved copy;
    struct file_id id = broker_id(file);
    if (!S_ISREG(file->st.st_mode))
        return 0;
    int rc = name_copy(r, file, &copy) ? make_copy(b, r, file, &copy) : -ENAMETOOLONG;
    if (rc)
        return rc;
    rc = record_rename(b, r, &copy, file, false);
    if (rc == 0) {
        rc = renameat(copy.parent, copy.leaf, file->parent, file->leaf) ? -errno : 0;
        record_after(b, -rc, NULL);
    }
    if (rc) {
        unlinkat(copy.parent, copy.leaf, 0);
        return rc;
    }
    broker_forget(b, id, &file->st);
    file->st = copy.st;
    own_temp_made(b, file);
    return 0;
}
