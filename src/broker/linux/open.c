/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening. Without deny-read rules only opens that could change something arrive here. With them
 * every open does, and none continues in the kernel: the caller could by then name another file, so
 * the broker opens what it judged and hands it over.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "broker/linux/broker.h"
#include "launch/linux/confine.h"
#include "policy/narrow.h"

enum { MOST_TRIES = 16, TMPFILE_BIT = 020000000 };

static bool flags_read(int flags)
{
    return (flags & O_ACCMODE) != O_WRONLY;
}

static bool flags_write(int flags)
{
    return (flags & O_ACCMODE) != O_RDONLY || (flags & O_TRUNC);
}

/* A FIFO opens when its other end does, a device when it likes: other calls must not wait for
   that. */
static void open_slowly(struct slow_call *call)
{
    snprintf(call->path, sizeof call->path, "/proc/self/fd/%d", call->held[0]);
    slow_may_wait(true);
    int fd = open(call->path, call->flags | O_CLOEXEC | O_NOCTTY);
    slow_may_wait(false);
    if (fd < 0 || (call->cut && truncate(call->path, 0)))
        slow_fail(call, errno);
    else
        request_give(&call->request, fd, call->flags & O_CLOEXEC);
    if (fd >= 0)
        close(fd);
}

/* Takes ownership of object, a descriptor of the file to be opened. */
static void open_in_thread(struct broker *b, struct request *r, int object, int flags, bool cut)
{
    slow_start(b, r,
               &(struct slow_call){.work = open_slowly,
                                   .held = {object, -1},
                                   .flags = flags & ~(O_CREAT | O_EXCL | O_TRUNC | O_NOFOLLOW),
                                   .cut = cut});
}

static void open_special(struct broker *b, struct request *r, const struct resolved *where,
                         int flags)
{
    int object = openat(where->parent, where->leaf, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (object < 0)
        request_fail(r, errno);
    else
        open_in_thread(b, r, object, flags, (flags & O_TRUNC) && S_ISREG(where->st.st_mode));
}

/* For a question: an open that empties the file. */
static const struct ask_detail emptied = {.key = "size", .text = {"0", 1}};

int open_object(struct broker *b, struct request *r, struct resolved *where, int flags)
{
    bool writes = flags_write(flags);
    int how = (flags & ~(O_CREAT | O_EXCL | O_TRUNC)) | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY;
    struct stat st;
    if ((flags & O_TRUNC) && S_ISREG(where->st.st_mode))
        r->detail = &emptied;
    if (writes && !broker_allows(b, r, where, POLICY_WRITE, AUDIT_FILE_WRITE))
        return -EACCES;
    if (b->judges_reads && flags_read(flags) && !read_allows(b, r, where))
        return -EACCES;
    int kept = writes ? record_write(b, r, where) : 0;
    if (kept)
        return kept;
    /* Opening a file with a lease waits for the lease holder; the broker must not wait. */
    bool plain = S_ISREG(where->st.st_mode) && !(flags & O_NONBLOCK);
    int fd =
        openat(where->parent, where->leaf[0] ? where->leaf : ".", plain ? how | O_NONBLOCK : how);
    if (fd < 0)
        return errno == EWOULDBLOCK ? -EINPROGRESS : -errno;
    if (plain)
        fcntl(fd, F_SETFL, how & ~O_NOFOLLOW);
    if (!writes && !b->judges_reads)
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

/* libgit2 makes an empty config first and writes it by a lock file then. In a repository that the
   run made it gets that one, by a descriptor that cannot write. */
static bool is_empty_config(struct broker *b, const struct resolved *where)
{
    struct policy_request question;
    struct policy_answer answer = {0};
    if (strcmp(where->leaf, "config") != 0)
        return false;
    broker_question(b, where, POLICY_CREATE, &question);
    policy_decide(b->policy, &question, &answer);
    if (answer.verdict == CORDON_ALLOW || answer.rule != RULE_GIT_COMMANDS)
        return false;
    question.facts.config_judged = true;
    policy_decide(b->policy, &question, &answer);
    return answer.verdict == CORDON_ALLOW;
}

static int open_new(struct broker *b, struct request *r, struct resolved *where, int flags,
                    mode_t mode)
{
    struct broker_told told;
    r->detail = NULL;
    if (where->folder_wanted)
        return -EISDIR;
    broker_tell_made(b, r, S_IFREG | (mode & 07777), &told);
    if (is_empty_config(b, where))
        flags = (flags & ~O_ACCMODE) | O_RDONLY;
    else if (!broker_allows(b, r, where, POLICY_CREATE, AUDIT_FILE_CREATE))
        return -EACCES;
    if (!broker_allows_mode(b, r, str_of(where->path), mode, false))
        return -EPERM;
    int kept = record_create(b, r, where, S_IFREG);
    if (kept)
        return kept;
    request_take_umask(r);
    int how = (flags & ~O_TRUNC) | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY;
    int fd = openat(where->parent, where->leaf, how, mode & 07777);
    record_after(b, fd < 0 ? errno : 0, where);
    if (fd < 0)
        return -errno;
    broker_made(b, where);
    nested_made(b, r, where);
    return fd;
}

/* The caller's memory may name something else by then: Landlock must cover everything that could
   happen. */
static bool may_continue(const struct broker *b, const struct request *r, int flags)
{
    return !r->loose && (b->landlock_abi >= 3 || !(flags & O_TRUNC)) &&
           !(b->judges_reads && (flags & O_ACCMODE) == O_RDONLY);
}

/* A file without a name can be reopened only by those who could read it before. */
static bool was_readable(int copy)
{
    int flags = fcntl(copy, F_GETFL);
    return flags >= 0 && !(flags & O_PATH) && (flags & O_ACCMODE) != O_WRONLY;
}

/* Reopens one of the caller's own descriptors. */
static int open_descriptor(struct broker *b, struct request *r, const struct resolved *where,
                           int flags)
{
    struct resolved object = {.parent = -1, .exists = true};
    char own[64];
    int copy = resolved_descriptor(r, where);
    if (copy < 0)
        return copy;
    object.parent = copy;
    bool known = fstat(copy, &object.st) == 0;
    bool named = known && (S_ISREG(object.st.st_mode) || S_ISDIR(object.st.st_mode)) &&
                 object.st.st_nlink > 0 && resolve_path_of(copy, object.path, sizeof object.path);
    /* The times of a fifo change with what is written to it. */
    if (known && flags_write(flags) && S_ISFIFO(object.st.st_mode) &&
        resolve_path_of(copy, object.path, sizeof object.path))
        record_write(b, r, &object);
    if (!named && may_continue(b, r, flags)) {
        request_continue(r); /* a pipe or a device: confined by Landlock */
        close(copy);
        return 0;
    }
    int rc = 0;
    if (!known)
        rc = -EACCES;
    else if (named) {
        r->detail = flags & O_TRUNC ? &emptied : NULL;
        rc =
            (flags_write(flags) && !broker_allows(b, r, &object, POLICY_WRITE, AUDIT_FILE_WRITE)) ||
                    (b->judges_reads && flags_read(flags) && !read_allows(b, r, &object))
                ? -EACCES
                : 0;
    } else if (S_ISREG(object.st.st_mode) && (flags_write(flags) || !was_readable(copy)))
        rc = -EACCES;
    if (rc == 0 && !S_ISREG(object.st.st_mode) && !S_ISDIR(object.st.st_mode)) {
        open_in_thread(b, r, copy, flags, false);
        return 0;
    }
    if (rc == 0 && named && flags_write(flags))
        rc = record_write(b, r, &object);
    if (rc == 0) {
        snprintf(own, sizeof own, "/proc/self/fd/%d", copy);
        rc = open(own, (flags & ~(O_CREAT | O_EXCL | O_TRUNC | O_NOFOLLOW)) | O_CLOEXEC);
        if (rc < 0)
            rc = -errno;
        else if (named && (flags & O_TRUNC) && truncate(own, 0)) {
            close(rc);
            rc = -errno;
        }
    }
    close(copy);
    return rc;
}

static bool is_device(const struct resolved *where)
{
    return S_ISCHR(where->st.st_mode) && str_starts(str_of(where->path), STR("/dev/"));
}

/* Landlock's answer, for opens by the broker: other terminals, keyboards and the like. */
static bool is_foreign_device(const char *path)
{
    return !confine_allows_device(path) && strncmp(path, "/dev/dri/", 9) != 0;
}

/* An object that is neither a file nor a folder. */
static int open_other(struct broker *b, struct request *r, struct resolved *where, int flags)
{
    if (is_device(where) && terminal_is_own(b, r, where->path)) {
        open_special(b, r, where, flags);
        return 0;
    }
    if (is_device(where) && may_continue(b, r, flags)) {
        request_continue(r); /* Landlock has the list of devices */
        return 0;
    }
    if (is_device(where) && is_foreign_device(where->path) &&
        !terminal_is_given(b, where->st.st_rdev)) {
        broker_report_text(b, r, AUDIT_DEVICE_OPEN, str_of(where->path), AUDIT_DENY,
                           str_of(policy_rule_id(RULE_PATH_DEVICE)),
                           STR("it is another terminal of yours, or another device"),
                           STR(POLICY_NO_REMEDY));
        return -EACCES;
    }
    bool device = is_device(where) &&
                  (confine_allows_device(where->path) || terminal_is_given(b, where->st.st_rdev));
    if (flags_write(flags) && !device &&
        !broker_allows(b, r, where, POLICY_WRITE, AUDIT_FILE_WRITE))
        return -EACCES;
    if (b->judges_reads && flags_read(flags) && !read_allows(b, r, where))
        return -EACCES;
    int kept = flags_write(flags) && !device ? record_write(b, r, where) : 0;
    if (kept)
        return kept;
    open_special(b, r, where, flags);
    return 0;
}

/* The name of a thread of this run: programs name their threads, and the kernel lets no one else do
   so. */
static bool is_thread_name(struct broker *b, const char *path)
{
    int pid, thread, n = 0;
    if (!resolve_in_proc(path))
        return false;
    bool found = (sscanf(path, "/proc/%d/task/%d/comm%n", &pid, &thread, &n) == 2 && n > 0) ||
                 (sscanf(path, "/proc/%d/comm%n", &pid, &n) == 1 && n > 0);
    return found && path[n] == '\0' && broker_in_run(b, pid);
}

/* One attempt; -EAGAIN if the place changed meanwhile. */
static int try_open(struct broker *b, struct request *r, int dirfd, const char *path, int flags,
                    mode_t mode)
{
    auto_resolved struct resolved where = {.parent = -1};
    bool exclusive = (flags & O_CREAT) && (flags & O_EXCL);
    int rc = resolve(r, dirfd, path, !(flags & O_NOFOLLOW) && !exclusive, &where);
    if (rc)
        return rc;
    if (where.descriptor && where.leaf[0])
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
    if (S_ISDIR(where.st.st_mode))
        return (flags & O_ACCMODE) == O_RDONLY && !(flags & (O_TRUNC | O_CREAT))
                   ? open_object(b, r, &where, flags)
                   : -EISDIR;
    if (where.folder_wanted || (flags & O_DIRECTORY))
        return -ENOTDIR;
    if (!S_ISREG(where.st.st_mode))
        return open_other(b, r, &where, flags);
    if (flags_write(flags) && is_thread_name(b, where.path)) {
        open_special(b, r, &where, flags & ~O_TRUNC);
        return 0;
    }
    rc = open_object(b, r, &where, flags);
    if (rc == -EINPROGRESS) {
        open_special(b, r, &where, flags);
        return 0;
    }
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

/* A nested run asks which policy it is under; it gets a copy. */
static void give_text(struct request *r, const struct buf *text)
{
    int fd = text->failed ? -1 : memfd_create("cordon", MFD_CLOEXEC);
    if (fd >= 0 && write(fd, text->n ? text->p : "", text->n) == (ssize_t)text->n &&
        lseek(fd, 0, SEEK_SET) == 0)
        request_give(r, fd, true);
    else
        request_fail(r, ENOMEM);
    if (fd >= 0)
        close(fd);
}

/* Names that only the broker knows; true if this is one, and answered. */
static bool give_own(struct broker *b, struct request *r, const char *path)
{
    auto_buf struct buf text = {0};
    bool json = strcmp(path, BROKER_DENIALS ".json") == 0;
    if (strcmp(path, BROKER_POLICY) == 0)
        policy_outline(b->policy, &text);
    else if (b->denials && (json || strcmp(path, BROKER_DENIALS) == 0))
        b->denials(b->context, json, &text);
    else
        return false;
    give_text(r, &text);
    return true;
}

static void do_open(struct broker *b, struct request *r, int dirfd, uint64_t address, int flags,
                    mode_t mode)
{
    char path[PATH_MAX];
    ssize_t n = request_peek_string(r, address, path, sizeof path);
    if (n < 0) {
        request_fail(r, (int)-n);
        return;
    }
    if (flags & O_PATH) {
        request_continue(r); /* the other bits are then ignored */
        return;
    }
    if (str_starts(str_of(path), STR("/proc/cordon/")) && give_own(b, r, path))
        return;
    if (!b->judges_reads && !(mode & (S_ISUID | S_ISGID)) && !(flags & TMPFILE_BIT) &&
        may_continue(b, r, flags) && grant_covers(b, r, dirfd, path)) {
        request_continue(r);
        return;
    }
    int rc = straight_open(b, r, dirfd, path, flags, mode);
    if (rc < 0)
        rc = -EAGAIN;
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
    /* Landlock confines whatever a changed flag could do, as long as nothing is granted or
       hidden. */
    bool bounded = !b->judges_reads && !b->granted.n;
    r->loose = true;
    if (bounded && !(how.flags & (uint64_t)writes))
        request_continue(r);
    else if (how.resolve || (how.flags & O_PATH))
        request_fail(r, ENOSYS); /* callers fall back to openat */
    else
        do_open(b, r, (int)r->args[0], r->args[1], (int)how.flags, (mode_t)how.mode);
}

void open_open(struct broker *b, struct request *r)
{
    const uint64_t *a = r->args;
    do_open(b, r, AT_FDCWD, a[0], (int)a[1], (mode_t)a[2]);
}

void open_creat(struct broker *b, struct request *r)
{
    const uint64_t *a = r->args;
    do_open(b, r, AT_FDCWD, a[0], O_CREAT | O_WRONLY | O_TRUNC, (mode_t)a[1]);
}

void open_openat(struct broker *b, struct request *r)
{
    const uint64_t *a = r->args;
    do_open(b, r, (int)a[0], a[1], (int)a[2], (mode_t)a[3]);
}

void open_openat2(struct broker *b, struct request *r)
{
    do_openat2(b, r);
}
