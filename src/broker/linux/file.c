/* Calls that open for writing, create, remove, move and link. */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "broker/linux/broker.h"
#include "launch/linux/confine.h"

enum { MOST_TRIES = 16, TMPFILE_BIT = 020000000 };

/* A FIFO opens when its other end does: nobody else may wait for that. */
struct slow_open {
    struct request request;
    int object, flags;
};

static void *open_slowly(void *context)
{
    struct slow_open *slow = context;
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", slow->object);
    int fd = open(path, slow->flags | O_CLOEXEC);
    if (fd < 0)
        request_fail(&slow->request, errno);
    else {
        request_give(&slow->request, fd, slow->flags & O_CLOEXEC);
        close(fd);
    }
    close(slow->object);
    free(slow);
    return NULL;
}

static void open_fifo(struct request *r, const struct resolved *where, int flags)
{
    struct slow_open *slow = malloc(sizeof *slow);
    pthread_t thread;
    if (!slow) {
        request_fail(r, ENOMEM);
        return;
    }
    *slow = (struct slow_open){*r, -1, flags & ~(O_CREAT | O_EXCL | O_TRUNC | O_NOFOLLOW)};
    slow->object = openat(where->parent, where->leaf, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (slow->object < 0 || pthread_create(&thread, NULL, open_slowly, slow)) {
        request_fail(r, slow->object < 0 ? errno : EAGAIN);
        if (slow->object >= 0)
            close(slow->object);
        free(slow);
        return;
    }
    r->answered = true; /* by the thread */
    pthread_detach(thread);
}

/* An existing object, judged first: opening alone can do harm (a device, a lock). -EAGAIN if it was
   another one by then. */
static int open_existing(struct broker *b, struct request *r, struct resolved *where, int flags)
{
    bool writes = (flags & O_ACCMODE) != O_RDONLY || (flags & O_TRUNC);
    int how = (flags & ~(O_CREAT | O_EXCL | O_TRUNC)) | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY;
    struct stat st;
    if (writes && !broker_allows(b, r, where, POLICY_WRITE, AUDIT_FILE_WRITE))
        return -EACCES;
    int fd = openat(where->parent, where->leaf[0] ? where->leaf : ".", how);
    if (fd < 0)
        return -errno;
    if (!writes)
        return fd;
    if (fstat(fd, &st) || st.st_dev != where->st.st_dev || st.st_ino != where->st.st_ino ||
        st.st_nlink != where->st.st_nlink) {
        close(fd);
        return -EAGAIN;
    }
    if (!(flags & O_TRUNC) || !S_ISREG(where->st.st_mode))
        return fd;
    int writable = fd;
    if ((flags & O_ACCMODE) == O_RDONLY) {
        char path[64];
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        writable = open(path, O_WRONLY | O_CLOEXEC);
    }
    int rc = writable < 0 || ftruncate(writable, 0) ? -errno : 0;
    if (writable >= 0 && writable != fd)
        close(writable);
    if (rc) {
        close(fd);
        return rc;
    }
    return fd;
}

static int open_new(struct broker *b, struct request *r, struct resolved *where, int flags,
                    mode_t mode)
{
    if (where->folder_wanted)
        return -EISDIR;
    if (!broker_allows(b, r, where, POLICY_CREATE, AUDIT_FILE_CREATE))
        return -EACCES;
    if (!broker_allows_mode(b, r, str_of(where->path), mode, false))
        return -EPERM;
    request_take_umask(r);
    int how = (flags & ~O_TRUNC) | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY;
    int fd = openat(where->parent, where->leaf, how, mode & 07777);
    return fd < 0 ? -errno : fd;
}

/* The caller's memory may name something else by then: Landlock must know all that could happen. */
static bool may_continue(const struct broker *b, int flags)
{
    return b->landlock_abi >= 3 || !(flags & O_TRUNC);
}

/* One of the caller's own descriptors once more. */
static int open_descriptor(struct broker *b, struct request *r, const struct resolved *where,
                           int flags)
{
    struct resolved object = {.parent = -1, .exists = true};
    char own[64];
    int copy = request_descriptor(r, atoi(where->leaf));
    if (copy < 0)
        return copy;
    bool plain = fstat(copy, &object.st) == 0 && S_ISREG(object.st.st_mode) &&
                 object.st.st_nlink > 0 && resolve_path_of(copy, object.path, sizeof object.path);
    int rc = -EACCES;
    if (!plain && may_continue(b, flags)) {
        request_continue(r); /* a pipe or a device: Landlock bounds it */
        rc = 0;
    } else if (S_ISFIFO(object.st.st_mode) ||
               (plain && broker_allows(b, r, &object, POLICY_WRITE, AUDIT_FILE_WRITE))) {
        snprintf(own, sizeof own, "/proc/self/fd/%d", copy);
        rc = open(own, (flags & ~(O_CREAT | O_EXCL | O_TRUNC | O_NOFOLLOW)) | O_CLOEXEC);
        if (rc < 0)
            rc = -errno;
        else if (plain && (flags & O_TRUNC) && truncate(own, 0)) {
            close(rc);
            rc = -errno;
        }
    }
    close(copy);
    return rc;
}

/* One try; -EAGAIN if the place changed meanwhile. */
static int try_open(struct broker *b, struct request *r, int dirfd, const char *path, int flags,
                    mode_t mode)
{
    auto_resolved struct resolved where = {.parent = -1};
    bool exclusive = (flags & O_CREAT) && (flags & O_EXCL);
    int rc = resolve(r, dirfd, path, !(flags & O_NOFOLLOW) && !exclusive, &where);
    if (rc)
        return rc;
    if (where.descriptor)
        return open_descriptor(b, r, &where, flags);
    if (!where.exists) {
        if (!(flags & O_CREAT))
            return -ENOENT;
        rc = open_new(b, r, &where, flags, mode);
        return rc == -EEXIST && !exclusive ? -EAGAIN : rc;
    }
    if (exclusive)
        return -EEXIST;
    if (S_ISLNK(where.st.st_mode))
        return -ELOOP;
    if (S_ISCHR(where.st.st_mode) && str_starts(str_of(where.path), STR("/dev/"))) {
        if (may_continue(b, flags)) {
            request_continue(r); /* Landlock has the list of devices */
            return 0;
        }
        if (confine_allows_device(where.path)) {
            int how = (flags & ~(O_CREAT | O_EXCL | O_TRUNC)) | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY;
            int fd = openat(where.parent, where.leaf, how);
            return fd < 0 ? -errno : fd;
        }
    }
    if (S_ISDIR(where.st.st_mode))
        return (flags & O_ACCMODE) == O_RDONLY && !(flags & (O_TRUNC | O_CREAT))
                   ? open_existing(b, r, &where, flags)
                   : -EISDIR;
    if (where.folder_wanted)
        return -ENOTDIR;
    if (S_ISFIFO(where.st.st_mode) && !(flags & O_NONBLOCK)) {
        if (broker_allows(b, r, &where, POLICY_WRITE, AUDIT_FILE_WRITE))
            open_fifo(r, &where, flags);
        return 0;
    }
    rc = open_existing(b, r, &where, flags);
    return rc == -ENOENT || rc == -ELOOP ? -EAGAIN : rc;
}

/* An unnamed file in a folder. */
static int open_unnamed(struct broker *b, struct request *r, int dirfd, const char *path, int flags,
                        mode_t mode)
{
    auto_resolved struct resolved where = {.parent = -1};
    char below[PATH_MAX];
    if (snprintf(below, sizeof below, "%s/", path) >= (int)sizeof below)
        return -ENAMETOOLONG;
    int rc = resolve(r, dirfd, below, true, &where);
    if (rc)
        return rc;
    if (!where.exists)
        return -ENOENT;
    struct resolved inside = where;
    if (snprintf(inside.path, sizeof inside.path, "%s/#", where.path) >= (int)sizeof inside.path)
        return -ENAMETOOLONG;
    inside.exists = false;
    if (!broker_allows(b, r, &inside, POLICY_CREATE, AUDIT_FILE_CREATE))
        return -EACCES;
    if (!broker_allows_mode(b, r, str_of(where.path), mode, false))
        return -EPERM;
    int folder = where.leaf[0] ? openat(where.parent, where.leaf,
                                        O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                               : dup(where.parent);
    if (folder < 0)
        return -errno;
    request_take_umask(r);
    int fd = openat(folder, ".", flags | O_CLOEXEC, mode & 07777);
    int error = errno;
    close(folder);
    return fd < 0 ? -error : fd;
}

static void do_open(struct broker *b, struct request *r, int dirfd, uint64_t address, int flags,
                    mode_t mode)
{
    char path[PATH_MAX];
    ssize_t n = request_read_string(r, address, path, sizeof path);
    if (n < 0) {
        request_fail(r, (int)-n);
        return;
    }
    if (flags & O_PATH) {
        request_continue(r); /* the other bits mean nothing then */
        return;
    }
    int rc = -EAGAIN;
    for (int tries = 0; rc == -EAGAIN && tries < MOST_TRIES && !r->answered; tries++)
        rc = flags & TMPFILE_BIT ? open_unnamed(b, r, dirfd, path, flags, mode)
                                 : try_open(b, r, dirfd, path, flags, mode);
    if (r->answered) {
        if (rc > 0)
            close(rc);
        return;
    }
    if (rc < 0) {
        request_fail(r, -rc);
        return;
    }
    request_give(r, rc, flags & O_CLOEXEC);
    close(rc);
}

static void do_openat2(struct broker *b, struct request *r)
{
    struct open_how how = {0};
    if (r->args[3] < sizeof how) {
        request_fail(r, EINVAL);
        return;
    }
    int rc = request_read(r, r->args[2], &how, sizeof how);
    if (rc) {
        request_fail(r, -rc);
        return;
    }
    int writes = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | TMPFILE_BIT;
    /* Landlock bounds what a flipped flag could do, as long as it knows truncation. */
    if (!(how.flags & (uint64_t)writes))
        request_continue(r);
    else if (how.resolve)
        request_fail(r, ENOSYS); /* callers fall back to openat */
    else
        do_open(b, r, (int)r->args[0], r->args[1], (int)how.flags, (mode_t)how.mode);
}

static void do_mkdir(struct broker *b, struct request *r, int dirfd, uint64_t path, mode_t mode)
{
    auto_resolved struct resolved where = {.parent = -1};
    int rc = resolve_argument(r, dirfd, path, false, &where);
    if (rc == 0 && where.exists)
        rc = -EEXIST;
    if (rc) {
        request_fail(r, -rc);
        return;
    }
    where.folder_wanted = true;
    if (!broker_allows(b, r, &where, POLICY_CREATE, AUDIT_FILE_CREATE))
        return;
    request_take_umask(r);
    if (mkdirat(where.parent, where.leaf, mode & 07777)) {
        request_fail(r, errno);
        return;
    }
    struct stat st;
    if (str_eqi(str_of(where.leaf), STR(".git")) &&
        fstatat(where.parent, where.leaf, &st, AT_SYMLINK_NOFOLLOW) == 0)
        inode_add(&b->repositories, &st); /* without memory: protected like any other */
    request_succeed(r, 0);
}

static void do_unlink(struct broker *b, struct request *r, int dirfd, uint64_t path, int flags)
{
    auto_resolved struct resolved where = {.parent = -1};
    int rc = flags & ~AT_REMOVEDIR ? -EINVAL : resolve_argument(r, dirfd, path, false, &where);
    if (rc == 0 && !where.exists)
        rc = -ENOENT;
    if (rc == 0 && !where.leaf[0])
        rc = flags & AT_REMOVEDIR ? -EINVAL : -EISDIR;
    if (rc) {
        request_fail(r, -rc);
        return;
    }
    if (!broker_allows(b, r, &where, POLICY_DELETE, AUDIT_FILE_DELETE))
        return;
    if (unlinkat(where.parent, where.leaf, flags)) {
        request_fail(r, errno);
        return;
    }
    broker_forget(b, &where.st);
    request_succeed(r, 0);
}

/* Both ends; false after an answer. */
static bool allows_pair(struct broker *b, struct request *r, const struct resolved *from,
                        const struct resolved *to, enum policy_access first,
                        enum policy_access second, enum audit_op op)
{
    struct policy_request questions[2];
    struct policy_answer answer = {0};
    broker_question(b, from, first, &questions[0]);
    broker_question(b, to, second, &questions[1]);
    policy_decide_pair(b->policy, &questions[0], &questions[1], &answer);
    if (answer.verdict == CORDON_ALLOW)
        return true;
    if (!answer.other_device)
        broker_report(b, r, &questions[answer.target ? 1 : 0], &answer, op,
                      answer.target ? from->path : to->path);
    request_fail(r, answer.other_device ? EXDEV : EACCES);
    return false;
}

static void do_rename(struct broker *b, struct request *r, int from_dir, uint64_t from_path,
                      int to_dir, uint64_t to_path, unsigned flags)
{
    enum { NO_REPLACE = 1, EXCHANGE = 2 };
    auto_resolved struct resolved from = {.parent = -1}, to = {.parent = -1};
    int rc = flags & ~(unsigned)(NO_REPLACE | EXCHANGE) ? -EINVAL : 0;
    if (rc == 0)
        rc = resolve_argument(r, from_dir, from_path, false, &from);
    if (rc == 0)
        rc = resolve_argument(r, to_dir, to_path, false, &to);
    if (rc == 0 && (!from.exists || ((flags & EXCHANGE) && !to.exists)))
        rc = -ENOENT;
    if (rc == 0 && (!from.leaf[0] || !to.leaf[0]))
        rc = -EBUSY;
    if (rc == 0 && (flags & NO_REPLACE) && to.exists)
        rc = -EEXIST;
    if (rc) {
        request_fail(r, -rc);
        return;
    }
    if (!allows_pair(b, r, &from, &to, POLICY_RENAME_FROM, POLICY_RENAME_TO, AUDIT_FILE_RENAME))
        return;
    if ((flags & EXCHANGE) &&
        !allows_pair(b, r, &to, &from, POLICY_RENAME_FROM, POLICY_RENAME_TO, AUDIT_FILE_RENAME))
        return;
    if (syscall(SYS_renameat2, from.parent, from.leaf, to.parent, to.leaf, flags)) {
        request_fail(r, errno);
        return;
    }
    bool same = to.exists && to.st.st_dev == from.st.st_dev && to.st.st_ino == from.st.st_ino;
    if (to.exists && !same && !(flags & EXCHANGE))
        broker_forget(b, &to.st);
    request_succeed(r, 0);
}

/* An unnamed file gets a name: link(/proc/self/fd/N) or an empty path. */
static void link_descriptor(struct broker *b, struct request *r, int fd, const struct resolved *to)
{
    struct stat st;
    char path[64];
    int copy = request_descriptor(r, fd);
    if (copy < 0) {
        request_fail(r, -copy);
        return;
    }
    if (fstat(copy, &st) || st.st_nlink != 0 || !S_ISREG(st.st_mode)) {
        close(copy);
        request_fail(r, EACCES);
        return;
    }
    if (broker_allows(b, r, to, POLICY_CREATE, AUDIT_FILE_CREATE)) {
        snprintf(path, sizeof path, "/proc/self/fd/%d", copy);
        if (linkat(AT_FDCWD, path, to->parent, to->leaf, AT_SYMLINK_FOLLOW))
            request_fail(r, errno);
        else
            request_succeed(r, 0);
    }
    close(copy);
}

static void do_link(struct broker *b, struct request *r, int from_dir, uint64_t from_path,
                    int to_dir, uint64_t to_path, int flags)
{
    auto_resolved struct resolved from = {.parent = -1}, to = {.parent = -1};
    char path[PATH_MAX];
    ssize_t n = request_read_string(r, from_path, path, sizeof path);
    int rc = n < 0 ? (int)n : resolve_argument(r, to_dir, to_path, false, &to);
    if (rc == 0 && to.exists)
        rc = -EEXIST;
    if (rc == 0 && n == 0 && (flags & AT_EMPTY_PATH)) {
        link_descriptor(b, r, from_dir, &to);
        return;
    }
    if (rc == 0)
        rc = resolve(r, from_dir, path, flags & AT_SYMLINK_FOLLOW, &from);
    if (rc == 0 && from.descriptor && (flags & AT_SYMLINK_FOLLOW)) {
        link_descriptor(b, r, atoi(from.leaf), &to);
        return;
    }
    if (rc == 0 && !from.exists)
        rc = -ENOENT;
    if (rc == 0 && S_ISDIR(from.st.st_mode))
        rc = -EPERM;
    if (rc) {
        request_fail(r, -rc);
        return;
    }
    if (!allows_pair(b, r, &from, &to, POLICY_LINK_FROM, POLICY_LINK_TO, AUDIT_FILE_LINK))
        return;
    if (linkat(from.parent, from.leaf, to.parent, to.leaf, 0)) {
        request_fail(r, errno);
        return;
    }
    /* Known as all inside only if it had one name when this run began to add to it. */
    if (from.st.st_nlink == 1 || inode_count(&b->linked, &from.st))
        inode_add(&b->linked, &from.st);
    request_succeed(r, 0);
}

static void do_symlink(struct broker *b, struct request *r, uint64_t target, int dirfd,
                       uint64_t path)
{
    auto_resolved struct resolved where = {.parent = -1};
    char text[PATH_MAX];
    ssize_t n = request_read_string(r, target, text, sizeof text);
    int rc = n < 0 ? (int)n : resolve_argument(r, dirfd, path, false, &where);
    if (rc == 0 && where.exists)
        rc = -EEXIST;
    if (rc) {
        request_fail(r, -rc);
        return;
    }
    /* A link may point anywhere: what is done through it is judged where it ends. */
    if (!broker_allows(b, r, &where, POLICY_CREATE, AUDIT_FILE_CREATE))
        return;
    if (symlinkat(text, where.parent, where.leaf))
        request_fail(r, errno);
    else
        request_succeed(r, 0);
}

static void do_mknod(struct broker *b, struct request *r, int dirfd, uint64_t path, mode_t mode)
{
    auto_resolved struct resolved where = {.parent = -1};
    int rc =
        S_ISCHR(mode) || S_ISBLK(mode) ? -EPERM : resolve_argument(r, dirfd, path, false, &where);
    if (rc == 0 && where.exists)
        rc = -EEXIST;
    if (rc) {
        request_fail(r, -rc);
        return;
    }
    if (!broker_allows(b, r, &where, POLICY_CREATE, AUDIT_FILE_CREATE))
        return;
    if (!broker_allows_mode(b, r, str_of(where.path), mode, false))
        return;
    request_take_umask(r);
    if (mknodat(where.parent, where.leaf, mode, 0))
        request_fail(r, errno);
    else
        request_succeed(r, 0);
}

static void do_truncate(struct broker *b, struct request *r)
{
    auto_resolved struct resolved where = {.parent = -1};
    int rc = resolve_argument(r, AT_FDCWD, r->args[0], true, &where);
    if (rc == 0 && !where.exists)
        rc = -ENOENT;
    /* Opening a pipe would wait, opening a device could do anything. */
    if (rc == 0 && !S_ISREG(where.st.st_mode))
        rc = S_ISDIR(where.st.st_mode) ? -EISDIR : -EINVAL;
    int fd = -1;
    if (rc == 0) {
        fd = open_existing(b, r, &where, O_WRONLY);
        if (r->answered)
            return;
        rc = fd < 0 ? fd : ftruncate(fd, (off_t)r->args[1]) ? -errno : 0;
    }
    if (fd >= 0)
        close(fd);
    if (rc)
        request_fail(r, -rc);
    else
        request_succeed(r, 0);
}

bool file_handle(struct broker *b, struct request *r)
{
    const uint64_t *a = r->args;
    int dir = (int)a[0];
    switch (r->number) {
    case SYS_openat: do_open(b, r, dir, a[1], (int)a[2], (mode_t)a[3]); return true;
    case SYS_openat2: do_openat2(b, r); return true;
    case SYS_mkdirat: do_mkdir(b, r, dir, a[1], (mode_t)a[2]); return true;
    case SYS_unlinkat: do_unlink(b, r, dir, a[1], (int)a[2]); return true;
    case SYS_renameat: do_rename(b, r, dir, a[1], (int)a[2], a[3], 0); return true;
    case SYS_renameat2: do_rename(b, r, dir, a[1], (int)a[2], a[3], (unsigned)a[4]); return true;
    case SYS_linkat: do_link(b, r, dir, a[1], (int)a[2], a[3], (int)a[4]); return true;
    case SYS_symlinkat: do_symlink(b, r, a[0], (int)a[1], a[2]); return true;
    case SYS_mknodat: do_mknod(b, r, dir, a[1], (mode_t)a[2]); return true;
    case SYS_truncate: do_truncate(b, r); return true;
#ifdef SYS_open
    case SYS_open: do_open(b, r, AT_FDCWD, a[0], (int)a[1], (mode_t)a[2]); return true;
    case SYS_creat:
        do_open(b, r, AT_FDCWD, a[0], O_CREAT | O_WRONLY | O_TRUNC, (mode_t)a[1]);
        return true;
    case SYS_mkdir: do_mkdir(b, r, AT_FDCWD, a[0], (mode_t)a[1]); return true;
    case SYS_rmdir: do_unlink(b, r, AT_FDCWD, a[0], AT_REMOVEDIR); return true;
    case SYS_unlink: do_unlink(b, r, AT_FDCWD, a[0], 0); return true;
    case SYS_rename: do_rename(b, r, AT_FDCWD, a[0], AT_FDCWD, a[1], 0); return true;
    case SYS_link: do_link(b, r, AT_FDCWD, a[0], AT_FDCWD, a[1], 0); return true;
    case SYS_symlink: do_symlink(b, r, a[0], AT_FDCWD, a[1]); return true;
    case SYS_mknod: do_mknod(b, r, AT_FDCWD, a[0], (mode_t)a[1]); return true;
#endif
    default: return false;
    }
}
