/* Resolution by descriptors: nothing that was looked at is named again by its path. */
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

bool resolve_path_of(int fd, char *out, size_t capacity)
{
    static const char deleted[] = " (deleted)";
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, out, capacity - 1);
    if (n <= 0 || (size_t)n >= capacity - 1 || out[0] != '/')
        return false;
    out[n] = '\0';
    size_t length = (size_t)n, tail = sizeof deleted - 1;
    if (length > tail && memcmp(out + length - tail, deleted, tail) == 0) {
        struct stat st;
        return fstat(fd, &st) == 0 && st.st_nlink > 0;
    }
    return true;
}

/* A folder of the caller as a descriptor: its root, its cwd, or an open one. */
static int caller_folder(const struct request *r, int dirfd, bool absolute)
{
    char path[64];
    if (absolute)
        snprintf(path, sizeof path, "/proc/%d/root", (int)r->pid);
    else if (dirfd == AT_FDCWD)
        snprintf(path, sizeof path, "/proc/%d/cwd", (int)r->pid);
    else
        snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)r->pid, dirfd);
    int fd = open(path, O_PATH | O_CLOEXEC);
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

/* The questions about /proc cost more than all the rest of a path that is not there. */
static bool in_proc(const char *path)
{
    return strncmp(path, "/proc/", 6) == 0;
}

/* In the broker /proc/self is the broker: such a path is read as the caller's. */
static bool own_proc(const char *path, const char **rest)
{
    char own[32];
    if (!in_proc(path))
        return false;
    int n = snprintf(own, sizeof own, "/proc/%d", (int)getpid());
    if (strncmp(path, own, (size_t)n) != 0 || (path[n] && path[n] != '/'))
        return false;
    *rest = path + n;
    return true;
}

/* True for /proc/PID/fd, whose entries are descriptors and no files. */
static bool is_descriptor_folder(const char *path)
{
    int pid, n = 0;
    return (sscanf(path, "/proc/%d/fd%n", &pid, &n) == 1 && n > 0 && path[n] == '\0') ||
           (sscanf(path, "/proc/%d/task/%*d/fd%n", &pid, &n) == 1 && n > 0 && path[n] == '\0');
}

/* Splits off the last component; "a/b/" is b with folder set. */
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

/* One round: from base and path to a parent and a leaf. The work buffer is changed. */
static int step(const struct request *r, int base, char *work, struct resolved *out)
{
    char *parent, *leaf;
    split(work, &parent, &leaf, &out->folder_wanted);
    bool itself = leaf[0] == '\0' || strcmp(leaf, ".") == 0 || strcmp(leaf, "..") == 0;
    char whole[PATH_MAX];
    if (itself &&
        snprintf(whole, sizeof whole, "%s/%s", parent, leaf[0] ? leaf : ".") >= (int)sizeof whole)
        return -ENAMETOOLONG;
    if (strlen(leaf) > NAME_MAX)
        return -ENAMETOOLONG;
    /* An absolute parent starts at base, which is the caller's root then. */
    const char *from = itself ? whole : parent;
    while (*from == '/')
        from++;
    int fd = open_parent(base, *from ? from : ".");
    if (fd < 0)
        return fd;
    out->parent = fd;
    snprintf(out->leaf, sizeof out->leaf, "%s", itself ? "" : leaf);
    char place[PATH_MAX];
    const char *rest;
    if (!resolve_path_of(fd, place, sizeof place))
        return -ENOENT;
    if (own_proc(place, &rest)) {
        char caller[PATH_MAX];
        int thread, n = 0;
        /* The caller's pid is that of its thread: /proc/thread-self is the same place. */
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
    out->descriptor = in_proc(place) && is_descriptor_folder(place);
    int n = out->leaf[0] ? snprintf(out->path, sizeof out->path, "%s%s%s", place,
                                    strcmp(place, "/") == 0 ? "" : "/", out->leaf)
                         : snprintf(out->path, sizeof out->path, "%s", place);
    if (n >= (int)sizeof out->path)
        return -ENAMETOOLONG;
    if (out->leaf[0])
        out->exists = fstatat(out->parent, out->leaf, &out->st, AT_SYMLINK_NOFOLLOW) == 0;
    else
        out->exists = fstat(out->parent, &out->st) == 0;
    if (!out->exists && errno != ENOENT)
        return -errno;
    return 0;
}

/* Here /proc/self would be the broker's; where a path begins with it, it is the caller's. */
static bool name_self(const struct request *r, char *work, size_t capacity)
{
    static const char self[] = "/proc/self";
    const size_t n = sizeof self - 1;
    char rest[PATH_MAX];
    if (strncmp(work, self, n) != 0 || (work[n] && work[n] != '/'))
        return true;
    snprintf(rest, sizeof rest, "%s", work + n);
    return snprintf(work, capacity, "/proc/%d%s", (int)r->pid, rest) < (int)capacity;
}

int resolve(const struct request *r, int dirfd, const char *path, bool follow, struct resolved *out)
{
    char work[PATH_MAX];
    if (path[0] == '\0')
        return -ENOENT;
    if (strlen(path) >= sizeof work)
        return -ENAMETOOLONG;
    strcpy(work, path);
    int base = caller_folder(r, dirfd, work[0] == '/');
    if (base < 0)
        return base;
    int rc = -ELOOP;
    for (int links = 0; links < MOST_LINKS; links++) {
        struct resolved found = {.parent = -1};
        if (!name_self(r, work, sizeof work)) {
            close(base);
            return -ENAMETOOLONG;
        }
        rc = step(r, base, work, &found);
        close(base);
        base = -1;
        if (rc) {
            resolved_close(&found);
            return rc;
        }
        bool link = found.exists && found.leaf[0] && S_ISLNK(found.st.st_mode);
        if (!link || found.descriptor || !(follow || found.folder_wanted)) {
            if (!request_alive(r)) {
                resolved_close(&found);
                return -ESRCH;
            }
            *out = found;
            return 0;
        }
        ssize_t n = readlinkat(found.parent, found.leaf, work, sizeof work - 2);
        if (n <= 0 || (size_t)n >= sizeof work - 2) {
            resolved_close(&found);
            return n < 0 ? -errno : -ENAMETOOLONG;
        }
        work[n] = '\0';
        if (found.folder_wanted)
            strcat(work, "/");
        if (work[0] == '/') {
            resolved_close(&found);
            base = caller_folder(r, dirfd, true);
            if (base < 0)
                return base;
        } else {
            base = found.parent;
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
