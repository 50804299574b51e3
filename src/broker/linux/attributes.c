/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that change a file's mode, owner, times and extended attributes, by path or descriptor. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "broker/linux/broker.h"

static int judge_copy(struct broker *b, struct request *r, int copy, enum policy_access access,
                      enum audit_op op);

/* Opens and judges the object; negative if the call has been answered already. */
static int object_at(struct broker *b, struct request *r, int dirfd, uint64_t path, bool follow,
                     enum policy_access access, enum audit_op op)
{
    auto_resolved struct resolved where = {.parent = -1};
    int rc = resolve_argument(r, dirfd, path, follow, &where);
    if (rc == 0 && !where.exists)
        rc = -ENOENT;
    /* The C library implements some calls as chmod of /proc/self/fd/N. */
    if (rc == 0 && where.descriptor && follow)
        return judge_copy(b, r, resolved_descriptor(r, &where), access, op);
    if (rc == 0 && where.descriptor)
        rc = -EACCES;
    if (rc) {
        request_fail(r, -rc);
        return -1;
    }
    if (!broker_allows(b, r, &where, access, op))
        return -1;
    rc = record_attributes(b, r, &where);
    if (rc) {
        request_fail(r, -rc);
        return -1;
    }
    int fd = where.leaf[0] ? openat(where.parent, where.leaf, O_PATH | O_NOFOLLOW | O_CLOEXEC)
                           : dup(where.parent);
    if (fd < 0)
        request_fail(r, errno);
    return fd;
}

/* True for an object that never had a place in the file system: a pipe, a socket, an unnamed
   file. */
static bool is_nameless(int fd, const struct stat *st)
{
    char link[64], text[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, text, sizeof text);
    struct str place = {text, n > 0 ? (size_t)n : 0};
    return st->st_nlink == 0 || str_starts(place, STR("pipe:[")) ||
           str_starts(place, STR("socket:["));
}

/* The same for a copy of the caller's descriptor, or the errno in its place. */
static int judge_copy(struct broker *b, struct request *r, int copy, enum policy_access access,
                      enum audit_op op)
{
    struct resolved where = {.parent = -1, .exists = true};
    if (copy < 0) {
        request_fail(r, -copy);
        return -1;
    }
    where.parent = copy;
    if (fstat(copy, &where.st)) {
        close(copy);
        request_fail(r, EBADF);
        return -1;
    }
    if (is_nameless(copy, &where.st))
        return copy;
    /* A path that cannot be determined (too long, unreachable) cannot be judged. */
    bool told = resolve_path_of(copy, where.path, sizeof where.path);
    int rc = -EACCES;
    if (told && broker_allows(b, r, &where, access, op) &&
        (rc = record_attributes(b, r, &where)) == 0)
        return copy;
    close(copy);
    if (!r->answered)
        request_fail(r, -rc);
    return -1;
}

static int object_of(struct broker *b, struct request *r, int fd, enum policy_access access,
                     enum audit_op op)
{
    return judge_copy(b, r, request_descriptor(r, fd), access, op);
}

static void finish(struct request *r, int fd, long rc)
{
    int error = errno;
    close(fd);
    if (rc)
        request_fail(r, error);
    else
        request_succeed(r, 0);
}

static const char *own_path(int fd, char out[64])
{
    snprintf(out, 64, "/proc/self/fd/%d", fd);
    return out;
}

/* What a question says about a mode, an owner or times; nothing if nobody is asked. */
struct told {
    char text[160];
    struct ask_detail detail;
};

__attribute__((format(printf, 4, 5))) static void tell(struct request *r, struct told *told,
                                                       const char *key, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(told->text, sizeof told->text, format, list);
    va_end(list);
    told->detail = (struct ask_detail){.key = key, .text = str_of(told->text)};
    r->detail = &told->detail;
}

static void tell_mode(const struct broker *b, struct request *r, struct told *told, mode_t mode)
{
    if (b->asks.desk)
        tell(r, told, "mode", "%04o", mode & 07777);
}

/* -1: stays as it is. */
static void tell_owner(const struct broker *b, struct request *r, struct told *told, uid_t user,
                       gid_t group)
{
    if (b->asks.desk)
        tell(r, told, "owner", "%d:%d", (int)user, (int)group);
}

static void spell_time(const struct timespec *t, char out[48])
{
    struct tm utc;
    if (!t || t->tv_nsec == UTIME_NOW)
        strcpy(out, "now");
    else if (t->tv_nsec == UTIME_OMIT)
        strcpy(out, "as it is");
    else if (!gmtime_r(&t->tv_sec, &utc))
        snprintf(out, 48, "@%lld.%09ld", (long long)t->tv_sec, t->tv_nsec);
    else
        snprintf(out, 48, "%d-%02d-%02dT%02d:%02d:%02d.%09ldZ", utc.tm_year + 1900, utc.tm_mon + 1,
                 utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec, t->tv_nsec);
}

/* times: accessed, modified; NULL: now. */
static void tell_times(const struct broker *b, struct request *r, struct told *told,
                       const struct timespec *times)
{
    char accessed[48], modified[48];
    if (!b->asks.desk)
        return;
    spell_time(times, accessed);
    spell_time(times ? times + 1 : NULL, modified);
    tell(r, told, "times", "modified %s, accessed %s", modified, accessed);
}

/* Through our own /proc path: fchmod does not work on an O_PATH descriptor. */
static void change_mode(struct broker *b, struct request *r, int fd, mode_t mode)
{
    struct stat st;
    char own[64], path[PATH_MAX];
    if (fd < 0)
        return;
    if (!resolve_path_of(fd, path, sizeof path))
        path[0] = '\0';
    if (fstat(fd, &st) || !broker_allows_mode(b, r, str_of(path), mode, S_ISDIR(st.st_mode))) {
        close(fd);
        request_fail(r, EPERM);
        return;
    }
    finish(r, fd, chmod(own_path(fd, own), mode & 07777));
}

static void do_chmod(struct broker *b, struct request *r, int dirfd, uint64_t path, mode_t mode)
{
    struct told told;
    tell_mode(b, r, &told, mode);
    change_mode(b, r, object_at(b, r, dirfd, path, true, POLICY_ATTRIBUTES, AUDIT_FILE_ATTRIBUTES),
                mode);
}

static void do_chown(struct broker *b, struct request *r, int dirfd, uint64_t path, uid_t user,
                     gid_t group, int flags)
{
    int fd;
    char empty = 0;
    struct told told;
    tell_owner(b, r, &told, user, group);
    if ((flags & AT_EMPTY_PATH) && request_read(r, path, &empty, 1) == 0 && empty == 0)
        fd = object_of(b, r, dirfd, POLICY_SECURITY, AUDIT_FILE_SECURITY);
    else
        fd = object_at(b, r, dirfd, path, !(flags & AT_SYMLINK_NOFOLLOW), POLICY_SECURITY,
                       AUDIT_FILE_SECURITY);
    if (fd >= 0)
        finish(r, fd, fchownat(fd, "", user, group, AT_EMPTY_PATH));
}

static void set_times(struct request *r, int fd, const struct timespec *times)
{
    if (fd >= 0)
        finish(r, fd, syscall(SYS_utimensat, fd, "", times, AT_EMPTY_PATH));
}

/* Times as timespec pairs; address 0 means now. */
static bool read_times(struct request *r, uint64_t address, struct timespec times[2],
                       const struct timespec **out)
{
    *out = NULL;
    if (!address)
        return true;
    int rc = request_read(r, address, times, 2 * sizeof *times);
    *out = times;
    if (rc)
        request_fail(r, -rc);
    return rc == 0;
}

static void do_utimensat(struct broker *b, struct request *r)
{
    struct timespec times[2];
    const struct timespec *wanted;
    if (!read_times(r, r->args[2], times, &wanted))
        return;
    /* A null path, or an empty one with AT_EMPTY_PATH, means the descriptor itself. */
    char first = 1;
    struct told told;
    tell_times(b, r, &told, wanted);
    bool path = r->args[1] && !((r->args[3] & AT_EMPTY_PATH) &&
                                request_read(r, r->args[1], &first, 1) == 0 && first == 0);
    int fd = path
                 ? object_at(b, r, (int)r->args[0], r->args[1], !(r->args[3] & AT_SYMLINK_NOFOLLOW),
                             POLICY_ATTRIBUTES, AUDIT_FILE_ATTRIBUTES)
                 : object_of(b, r, (int)r->args[0], POLICY_ATTRIBUTES, AUDIT_FILE_ATTRIBUTES);
    set_times(r, fd, wanted);
}

/* utimes and futimesat pass microseconds, utime seconds. */
static void do_old_times(struct broker *b, struct request *r, int dirfd, uint64_t path,
                         uint64_t address, bool seconds)
{
    struct timespec times[2];
    struct timeval values[2] = {{0, 0}, {0, 0}};
    time_t whole[2];
    if (address) {
        int rc = seconds ? request_read(r, address, whole, sizeof whole)
                         : request_read(r, address, values, sizeof values);
        if (rc) {
            request_fail(r, -rc);
            return;
        }
        bool in_range = true;
        for (int i = 0; i < 2; i++)
            in_range = in_range && values[i].tv_usec >= 0 && values[i].tv_usec < 1000000;
        if (!in_range) {
            request_fail(r, EINVAL);
            return;
        }
        for (int i = 0; i < 2; i++)
            times[i] = seconds ? (struct timespec){whole[i], 0}
                               : (struct timespec){values[i].tv_sec, values[i].tv_usec * 1000};
    }
    struct told told;
    tell_times(b, r, &told, address ? times : NULL);
    int fd = object_at(b, r, dirfd, path, true, POLICY_ATTRIBUTES, AUDIT_FILE_ATTRIBUTES);
    set_times(r, fd, address ? times : NULL);
}

/* The supervisor may hold privileges that the tree lacks: no attribute that grants privileges. */
static bool is_plain_attribute(const char *name)
{
    struct str text = str_of(name);
    return str_starts(text, STR("user.")) || str_starts(text, STR("system.posix_acl_"));
}

/* An attribute that is set or removed, read once: what is asked about is what is done. */
struct attribute {
    char name[256];
    int rc; /* a negative errno if it cannot be */
    struct ask_detail detail;
};

/* False if the call has been answered. */
static bool read_attribute(struct broker *b, struct request *r, bool set, struct attribute *out)
{
    size_t size = set ? (size_t)r->args[3] : 0;
    ssize_t n = request_read_string(r, r->args[1], out->name, sizeof out->name);
    out->rc = n < 0 ? (int)n : size > sizeof b->value ? -E2BIG : 0;
    if (out->rc == 0 && !is_plain_attribute(out->name))
        out->rc = -EPERM;
    if (out->rc == 0 && size)
        out->rc = request_read(r, r->args[2], b->value, size);
    if (out->rc && b->asks.desk) {
        request_fail(r, -out->rc); /* nobody is asked about a call that fails */
        return false;
    }
    size_t shown = size < ASK_MOST_VALUE ? size : ASK_MOST_VALUE;
    out->detail = (struct ask_detail){.key = set ? "attribute" : "removed_attribute",
                                      .text = {out->name, n > 0 ? (size_t)n : 0},
                                      .value = {b->value, shown},
                                      .value_bytes = size};
    r->detail = out->rc ? NULL : &out->detail;
    return true;
}

static void do_setxattr(struct broker *b, struct request *r, int fd, const struct attribute *a)
{
    char own[64];
    if (fd < 0)
        return;
    if (a->rc) {
        close(fd);
        request_fail(r, -a->rc);
        return;
    }
    finish(r, fd,
           setxattr(own_path(fd, own), a->name, b->value, (size_t)r->args[3], (int)r->args[4]));
}

static void do_removexattr(struct request *r, int fd, const struct attribute *a)
{
    char own[64];
    if (fd < 0)
        return;
    if (a->rc) {
        close(fd);
        request_fail(r, -a->rc);
        return;
    }
    finish(r, fd, removexattr(own_path(fd, own), a->name));
}

/* The object, unless it is a symlink: on a symlink only root's own attributes could be set. */
static int no_link(struct broker *b, struct request *r, uint64_t path)
{
    auto_resolved struct resolved where = {.parent = -1};
    int rc = resolve_argument(r, AT_FDCWD, path, false, &where);
    if (rc || (where.exists && S_ISLNK(where.st.st_mode))) {
        request_fail(r, rc ? -rc : EPERM);
        return -1;
    }
    return object_at(b, r, AT_FDCWD, path, false, POLICY_ATTRIBUTES, AUDIT_FILE_ATTRIBUTES);
}

void attributes_chmod(struct broker *b, struct request *r)
{
    const uint64_t *a = r->args;
    do_chmod(b, r, AT_FDCWD, a[0], (mode_t)a[1]);
}

void attributes_fchmod(struct broker *b, struct request *r)
{
    const uint64_t *a = r->args;
    struct told told;
    tell_mode(b, r, &told, (mode_t)a[1]);
    change_mode(b, r, object_of(b, r, (int)a[0], POLICY_ATTRIBUTES, AUDIT_FILE_ATTRIBUTES),
                (mode_t)a[1]);
}

void attributes_fchmodat(struct broker *b, struct request *r)
{
    const uint64_t *a = r->args;
    do_chmod(b, r, (int)a[0], a[1], (mode_t)a[2]);
}

void attributes_chown(struct broker *b, struct request *r)
{
    const uint64_t *a = r->args;
    do_chown(b, r, AT_FDCWD, a[0], (uid_t)a[1], (gid_t)a[2], 0);
}

void attributes_lchown(struct broker *b, struct request *r)
{
    const uint64_t *a = r->args;
    do_chown(b, r, AT_FDCWD, a[0], (uid_t)a[1], (gid_t)a[2], AT_SYMLINK_NOFOLLOW);
}

void attributes_fchown(struct broker *b, struct request *r)
{
    const uint64_t *a = r->args;
    struct told told;
    tell_owner(b, r, &told, (uid_t)a[1], (gid_t)a[2]);
    int fd = object_of(b, r, (int)a[0], POLICY_SECURITY, AUDIT_FILE_SECURITY);
    if (fd >= 0)
        finish(r, fd, fchown(fd, (uid_t)a[1], (gid_t)a[2]));
}

void attributes_fchownat(struct broker *b, struct request *r)
{
    const uint64_t *a = r->args;
    do_chown(b, r, (int)a[0], a[1], (uid_t)a[2], (gid_t)a[3], (int)a[4]);
}

void attributes_utime(struct broker *b, struct request *r)
{
    const uint64_t *a = r->args;
    do_old_times(b, r, AT_FDCWD, a[0], a[1], true);
}

void attributes_utimes(struct broker *b, struct request *r)
{
    const uint64_t *a = r->args;
    do_old_times(b, r, AT_FDCWD, a[0], a[1], false);
}

void attributes_futimesat(struct broker *b, struct request *r)
{
    const uint64_t *a = r->args;
    do_old_times(b, r, (int)a[0], a[1], a[2], false);
}

void attributes_utimensat(struct broker *b, struct request *r)
{
    do_utimensat(b, r);
}

void attributes_setxattr(struct broker *b, struct request *r)
{
    struct attribute a;
    if (read_attribute(b, r, true, &a))
        do_setxattr(
            b, r,
            object_at(b, r, AT_FDCWD, r->args[0], true, POLICY_ATTRIBUTES, AUDIT_FILE_ATTRIBUTES),
            &a);
}

void attributes_lsetxattr(struct broker *b, struct request *r)
{
    struct attribute a;
    if (read_attribute(b, r, true, &a))
        do_setxattr(b, r, no_link(b, r, r->args[0]), &a);
}

void attributes_fsetxattr(struct broker *b, struct request *r)
{
    struct attribute a;
    if (read_attribute(b, r, true, &a))
        do_setxattr(b, r,
                    object_of(b, r, (int)r->args[0], POLICY_ATTRIBUTES, AUDIT_FILE_ATTRIBUTES), &a);
}

void attributes_removexattr(struct broker *b, struct request *r)
{
    struct attribute a;
    if (read_attribute(b, r, false, &a))
        do_removexattr(
            r,
            object_at(b, r, AT_FDCWD, r->args[0], true, POLICY_ATTRIBUTES, AUDIT_FILE_ATTRIBUTES),
            &a);
}

void attributes_lremovexattr(struct broker *b, struct request *r)
{
    struct attribute a;
    if (read_attribute(b, r, false, &a))
        do_removexattr(r, no_link(b, r, r->args[0]), &a);
}

void attributes_fremovexattr(struct broker *b, struct request *r)
{
    struct attribute a;
    if (read_attribute(b, r, false, &a))
        do_removexattr(
            r, object_of(b, r, (int)r->args[0], POLICY_ATTRIBUTES, AUDIT_FILE_ATTRIBUTES), &a);
}
