/* SPDX-License-Identifier: Apache-2.0 */
/* Path resolution by descriptors: nothing that was inspected is looked up again by its path. */
#include "broker/linux/resolve.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MOST_LINKS = 40 };

void resolved_close(struct resolved *r)
{
    if (r->parent > 0)
        close(r->parent);
    r->parent = -1;
}

enum { PROC_PATH = 64 };

/* Prefix, number, suffix: used for every call, where printf would be a noticeable part of the
   cost. */
static void proc_path(const char *before, int number, const char *behind, char *out)
{
    char room[STR_NUMBER_ROOM];
    struct str digits = str_of_number(number, room);
    size_t n = strlen(before);
    memcpy(out, before, n);
    str_copy(out + n, digits);
    strcpy(out + n + digits.n, behind);
}

/* The kernel's suffix for a path that is no longer there. */
static const char deleted[] = " (deleted)";

bool resolve_path_of(int fd, char *out, size_t capacity)
{
    char link[PROC_PATH];
    proc_path("/proc/self/fd/", fd, "", link);
    ssize_t n = readlink(link, out, capacity - 1);
    if (n <= 0 || (size_t)n >= capacity - 1 || out[0] != '/')
        return false;
    out[n] = '\0';
    size_t length = (size_t)n, tail = sizeof deleted - 1;
    if (length > tail && memcmp(out + length - tail, deleted, tail) == 0) {
        /* It may have other names; this one counts only if it still leads here. */
        struct stat st, named;
        return fstat(fd, &st) == 0 && lstat(out, &named) == 0 && named.st_dev == st.st_dev &&
               named.st_ino == st.st_ino;
    }
    return true;
}

/* In /proc; for every call, like proc_path. */
static void caller_path(const struct request *r, int dirfd, char *out)
{
    char folder[PROC_PATH];
    if (dirfd == AT_FDCWD) {
        proc_path("/proc/", (int)r->pid, "/cwd", out);
        return;
    }
    proc_path("/proc/", (int)r->pid, "/fd/", folder);
    proc_path(folder, dirfd, "", out);
}

bool resolve_folder_text(const struct request *r, int dirfd, char *out, size_t capacity)
{
    char link[PROC_PATH];
    caller_path(r, dirfd, link);
    ssize_t n = readlink(link, out, capacity - 1);
    if (n <= 0 || (size_t)n >= capacity - 1 || out[0] != '/')
        return false;
    out[n] = '\0';
    return (size_t)n < sizeof deleted || strcmp(out + n + 1 - sizeof deleted, deleted) != 0;
}

/* Opens a folder of the caller: its root, its current directory, or an open descriptor. */
static int caller_folder(const struct request *r, int dirfd, bool absolute)
{
    char path[PROC_PATH];
    if (absolute)
        proc_path("/proc/", (int)r->pid, "/root", path);
    else
        caller_path(r, dirfd, path);
    int fd = openat(AT_FDCWD, path, O_PATH | O_CLOEXEC);
    if (fd < 0)
        return dirfd != AT_FDCWD && !absolute ? -EBADF : -errno;
    return fd;
}

static int open_parent(int base, const char *path)
{
    struct open_how how = {.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
                           .resolve = RESOLVE_NO_MAGICLINKS};
    int fd = (int)syscall(SYS_openat2, base, path, &how, sizeof how);
    return fd < 0 ? -errno : fd;
}

bool resolve_in_proc(const char *path)
{
    return strncmp(path, "/proc/", 6) == 0;
}

/* In the broker /proc/self is the broker: such a path is read as the caller's. */
static bool own_proc(const char *path, const char **rest)
{
    char own[32];
    if (!resolve_in_proc(path))
        return false;
    int n = snprintf(own, sizeof own, "/proc/%d", (int)getpid());
    if (strncmp(path, own, (size_t)n) != 0 || (path[n] && path[n] != '/'))
        return false;
    *rest = path + n;
    return true;
}

/* True for /proc/PID/fd, whose entries are descriptors rather than files. */
static bool is_descriptor_folder(const char *path)
{
    int pid, n = 0;
    return (sscanf(path, "/proc/%d/fd%n", &pid, &n) == 1 && n > 0 && path[n] == '\0') ||
           (sscanf(path, "/proc/%d/task/%*d/fd%n", &pid, &n) == 1 && n > 0 && path[n] == '\0');
}

/* Splits off the last component; "a/b/" gives b and sets folder. */
static void split(char *path, char **parent, char **leaf, bool *folder)
{
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/') {
        path[--n] = '\0';
        *folder = true;
    }
    char *slash = strrchr(path, '/');
    if (!slash) {
        *parent = ".";
        *leaf = path;
    } else {
        *leaf = slash + 1;
        *parent = slash == path ? "/" : path;
        if (slash != path)
            *slash = '\0';
    }
}

/* A folder's path and a name below it, which may be empty. */
static bool join(const char *folder, const char *name, char *out, size_t capacity)
{
    size_t n = strlen(folder), more = strlen(name);
    if (n + 1 + more >= capacity)
        return false;
    memcpy(out, folder, n + 1);
    if (more && out[n - 1] != '/')
        out[n++] = '/';
    memcpy(out + n, name, more + 1);
    return true;
}

/* One round: from base and path to a parent and a leaf. Modifies the work buffer. */
static int step(const struct request *r, int base, char *work, struct resolved *out)
{
    char *parent, *leaf;
    out->folder_wanted = false;
    split(work, &parent, &leaf, &out->folder_wanted);
    bool itself = leaf[0] == '\0' || strcmp(leaf, ".") == 0 || strcmp(leaf, "..") == 0;
    char whole[PATH_MAX];
    if (itself &&
        snprintf(whole, sizeof whole, "%s/%s", parent, leaf[0] ? leaf : ".") >= (int)sizeof whole)
        return -ENAMETOOLONG;
    size_t length = itself ? 0 : strlen(leaf);
    if (length > NAME_MAX)
        return -ENAMETOOLONG;
    memcpy(out->leaf, leaf, length);
    out->leaf[length] = '\0';
    /* An absolute parent starts at base, which is then the caller's root. */
    const char *from = itself ? whole : parent;
    while (*from == '/')
        from++;
    int fd = open_parent(base, *from ? from : ".");
    if (fd < 0)
        return fd;
    out->parent = fd;
    char place[PATH_MAX];
    const char *rest;
    if (!resolve_path_of(fd, place, sizeof place))
        return -ENOENT;
    if (own_proc(place, &rest)) {
        char caller[PATH_MAX];
        int thread, n = 0;
        /* The caller's pid is that of its thread, so /proc/thread-self is the same place. */
        if (sscanf(rest, "/task/%d%n", &thread, &n) == 1 && n > 0)
            rest += n;
        if (snprintf(caller, sizeof caller, "/proc/%d%s", (int)r->pid, rest) >= (int)sizeof caller)
            return -ENAMETOOLONG;
        close(out->parent);
        out->parent = open(caller, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (out->parent < 0)
            return -errno;
        snprintf(place, sizeof place, "%s", caller);
    }
    out->descriptor = resolve_in_proc(place) && is_descriptor_folder(place);
    if (!join(place, out->leaf, out->path, sizeof out->path))
        return -ENAMETOOLONG;
    if (out->leaf[0])
        out->exists = fstatat(out->parent, out->leaf, &out->st, AT_SYMLINK_NOFOLLOW) == 0;
    else
        out->exists = fstat(out->parent, &out->st) == 0;
    if (out->exists)
        return 0;
    memset(&out->st, 0, sizeof out->st);
    return errno == ENOENT ? 0 : -errno;
}

/* The rest of the path after a prefix that ends at a slash or at its end; NULL if the prefix
   differs. */
static const char *behind(const char *path, const char *prefix)
{
    size_t n = strlen(prefix);
    return strncmp(path, prefix, n) == 0 && (path[n] == '/' || path[n] == '\0') ? path + n : NULL;
}

/* The rest after /proc/self, /proc/thread-self or the caller's /proc/PID; NULL for other paths. */
static const char *behind_own_proc(const struct request *r, const char *path)
{
    struct request_status status;
    int pid, n = 0;
    if (!resolve_in_proc(path))
        return NULL;
    const char *rest = behind(path, "/proc/self");
    if (!rest)
        rest = behind(path, "/proc/thread-self");
    if (!rest && sscanf(path, "/proc/%d%n", &pid, &n) == 1 && (path[n] == '/' || path[n] == '\0') &&
        (pid == r->pid || (request_status(r, &status) && pid == status.process)))
        rest = path + n;
    return rest;
}

/*
 * /proc/self/fd/N/REST means openat(N, REST), also as /dev/fd/N/REST and through a thread's folder;
 * cwd and root likewise. The broker cannot follow such links itself, because its own lead
 * elsewhere. Returns the folder as a descriptor with the rest of the path in *rest; -1: the path
 * has no such prefix.
 */
static int magic_folder(const struct request *r, const char *path, const char **rest)
{
    int number = AT_FDCWD, n = 0;
    bool root = false;
    const char *p = behind(path, "/dev/fd") ? path + strlen("/dev") : behind_own_proc(r, path);
    if (!p)
        return -1;
    if (sscanf(p, "/task/%d%n", &number, &n) == 1 && n > 0 && p[n] == '/')
        p += n;
    n = 0;
    if (sscanf(p, "/fd/%d%n", &number, &n) == 1 && n > 0 && number >= 0 && p[n] == '/')
        *rest = p + n;
    else if (strncmp(p, "/cwd/", 5) == 0)
        *rest = p + 5, number = AT_FDCWD;
    else if (strncmp(p, "/root/", 6) == 0)
        *rest = p + 6, root = true;
    else
        return -1;
    *rest += strspn(*rest, "/");
    return caller_folder(r, number, root);
}

/* Here /proc/self would be the broker's; a path that begins with it means the caller's. */
static bool name_self(const struct request *r, char *work, size_t capacity)
{
    char rest[PATH_MAX];
    const char *behind_self = behind(work, "/proc/self");
    if (!behind_self)
        behind_self = behind(work, "/proc/thread-self");
    if (!behind_self)
        return true;
    snprintf(rest, sizeof rest, "%s", behind_self);
    return snprintf(work, capacity, "/proc/%d%s", (int)r->pid, rest) < (int)capacity;
}

/* Where an absolute path starts; *work becomes what remains to be resolved from there. */
static int absolute_base(const struct request *r, char *work, size_t capacity)
{
    const char *rest;
    int base = magic_folder(r, work, &rest);
    if (base != -1) {
        memmove(work, *rest ? rest : ".", strlen(*rest ? rest : ".") + 1);
        return base;
    }
    return name_self(r, work, capacity) ? caller_folder(r, AT_FDCWD, true) : -ENAMETOOLONG;
}

int resolve(const struct request *r, int dirfd, const char *path, bool follow, struct resolved *out)
{
    char work[PATH_MAX];
    if (path[0] == '\0')
        return -ENOENT;
    if (strlen(path) >= sizeof work)
        return -ENAMETOOLONG;
    strcpy(work, path);
    int base =
        work[0] == '/' ? absolute_base(r, work, sizeof work) : caller_folder(r, dirfd, false);
    if (base < 0)
        return base;
    int rc = -ELOOP;
    for (int links = 0; links < MOST_LINKS; links++) {
        rc = step(r, base, work, out);
        close(base);
        base = -1;
        bool link = rc == 0 && out->exists && out->leaf[0] && S_ISLNK(out->st.st_mode);
        if (rc == 0 && (!link || out->descriptor || !(follow || out->folder_wanted))) {
            if (request_alive(r))
                return 0;
            rc = -ESRCH;
        }
        ssize_t n = rc ? 0 : readlinkat(out->parent, out->leaf, work, sizeof work - 2);
        if (rc == 0 && (n <= 0 || (size_t)n >= sizeof work - 2))
            rc = n < 0 ? -errno : -ENAMETOOLONG;
        if (rc) {
            resolved_close(out);
            return rc;
        }
        work[n] = '\0';
        if (out->folder_wanted)
            strcat(work, "/");
        if (work[0] == '/') {
            resolved_close(out);
            base = absolute_base(r, work, sizeof work);
            if (base < 0)
                return base;
        } else {
            base = out->parent;
            out->parent = -1;
        }
        rc = -ELOOP;
    }
    if (base >= 0)
        close(base);
    return rc;
}

int resolve_argument(const struct request *r, int dirfd, uint64_t address, bool follow,
                     struct resolved *out)
{
    char path[PATH_MAX];
    ssize_t n = request_read_string(r, address, path, sizeof path);
    return n < 0 ? (int)n : resolve(r, dirfd, path, follow, out);
}

int resolved_descriptor(const struct request *r, const struct resolved *where)
{
    int number, n = 0;
    const char *rest = behind_own_proc(r, where->path);
    if (rest && sscanf(rest, "/task/%d%n", &number, &n) == 1 && n > 0)
        rest += n;
    if (!rest || sscanf(rest, "/fd/%d%n", &number, &n) != 1 || n <= 0 || rest[n] != '\0')
        return -EACCES;
    return request_descriptor(r, number);
}
