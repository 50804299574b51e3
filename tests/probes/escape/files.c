/* SPDX-License-Identifier: Apache-2.0 */
/* Files: through descriptors, second names, and calls that take no path. */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "escape.h"

/* A descriptor for reading, of a file whose name here is gone. */
static int unlinked(const char *path)
{
    int fd = open(path, O_RDONLY);
    unlink(path);
    return fd;
}

static const char *own(int fd)
{
    static char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return path;
}

static bool unlinked_mode(const char *const *w)
{
    return fchmod(unlinked(w[0]), 0600) == 0;
}

static bool unlinked_mode_path(const char *const *w)
{
    return chmod(own(unlinked(w[0])), 0600) == 0;
}

static bool unlinked_times(const char *const *w)
{
    struct timespec times[2] = {{1, 0}, {1, 0}};
    return futimens(unlinked(w[0]), times) == 0;
}

static bool unlinked_attribute(const char *const *w)
{
    return fsetxattr(unlinked(w[0]), "user.x", "y", 1, 0) == 0;
}

static bool unlinked_owner(const char *const *w)
{
    return fchown(unlinked(w[0]), 1, 1) == 0;
}

static bool unlinked_write(const char *const *w)
{
    return put(open(own(unlinked(w[0])), O_WRONLY));
}

static bool unlinked_cut(const char *const *w)
{
    return open(own(unlinked(w[0])), O_WRONLY | O_TRUNC) >= 0;
}

static bool unlinked_truncate(const char *const *w)
{
    return truncate(own(unlinked(w[0])), 0) == 0;
}

/* "NAME (deleted)" is a name, too. */
static bool renamed_write(const char *const *w)
{
    char name[512];
    int fd = open(w[0], O_RDONLY);
    snprintf(name, sizeof name, "%s (deleted)", w[0]);
    if (rename(w[0], name))
        return false;
    return put(open(own(fd), O_WRONLY));
}

static bool relink(const char *const *w)
{
    return linkat(AT_FDCWD, own(unlinked(w[0])), AT_FDCWD, w[1], AT_SYMLINK_FOLLOW) == 0 &&
           put(open(w[1], O_WRONLY));
}

static bool open2(const char *const *w)
{
    struct open_how how = {.flags = O_WRONLY | O_CREAT, .mode = 0644};
    return put((int)syscall(SYS_openat2, AT_FDCWD, w[0], &how, sizeof how));
}

static bool open2_beneath(const char *const *w)
{
    struct open_how how = {
        .flags = O_WRONLY | O_CREAT, .mode = 0644, .resolve = RESOLVE_NO_SYMLINKS};
    return put((int)syscall(SYS_openat2, AT_FDCWD, w[0], &how, sizeof how));
}

static bool unnamed(const char *const *w)
{
    int fd = open(w[0], O_TMPFILE | O_WRONLY, 0644);
    return put(fd) && linkat(AT_FDCWD, own(fd), AT_FDCWD, w[1], AT_SYMLINK_FOLLOW) == 0;
}

static bool unnamed_empty(const char *const *w)
{
    int fd = open(w[0], O_TMPFILE | O_WRONLY, 0644);
    return put(fd) && linkat(fd, "", AT_FDCWD, w[1], AT_EMPTY_PATH) == 0;
}

static bool by_creat(const char *const *w)
{
    return put((int)syscall(SYS_creat, w[0], 0644));
}

static bool by_open(const char *const *w)
{
    return put((int)syscall(SYS_open, w[0], O_WRONLY | O_CREAT, 0644));
}

static bool by_append(const char *const *w)
{
    return put(open(w[0], O_WRONLY | O_APPEND));
}

static bool by_folder(const char *const *w)
{
    int folder = open(w[0], O_RDONLY | O_DIRECTORY);
    return put(openat(folder, w[1], O_WRONLY | O_CREAT, 0644));
}

static bool by_path_folder(const char *const *w)
{
    int folder = open(w[0], O_PATH);
    return put(openat(folder, w[1], O_WRONLY | O_CREAT, 0644));
}

static bool by_descriptor_path(const char *const *w)
{
    char path[600];
    snprintf(path, sizeof path, "%s/%s", own(open(w[0], O_RDONLY | O_DIRECTORY)), w[1]);
    return put(open(path, O_WRONLY | O_CREAT, 0644));
}

static bool by_path_reopen(const char *const *w)
{
    return put(open(own(open(w[0], O_PATH)), O_WRONLY));
}

static bool by_reopen(const char *const *w)
{
    return put(open(own(open(w[0], O_RDONLY)), O_WRONLY));
}

static bool by_thread_self(const char *const *w)
{
    char path[600];
    snprintf(path, sizeof path, "/proc/thread-self/cwd/%s", w[0]);
    return put(open(path, O_WRONLY | O_CREAT, 0644));
}

static bool by_self_cwd(const char *const *w)
{
    char path[600];
    snprintf(path, sizeof path, "/proc/self/cwd/%s", w[0]);
    return put(open(path, O_WRONLY | O_CREAT, 0644));
}

static bool by_self_root(const char *const *w)
{
    char path[600];
    snprintf(path, sizeof path, "/proc/self/root%s", w[0]);
    return put(open(path, O_WRONLY | O_CREAT, 0644));
}

static bool cut(const char *const *w)
{
    return truncate(w[0], 0) == 0;
}

static bool read_cut(const char *const *w)
{
    return open(w[0], O_RDONLY | O_TRUNC) >= 0;
}

static bool cut_descriptor(const char *const *w)
{
    return ftruncate(open(w[0], O_RDWR), 0) == 0;
}

static bool punch(const char *const *w)
{
    return fallocate(open(w[0], O_RDWR), 0, 0, 100000) == 0;
}

static bool mode_descriptor(const char *const *w)
{
    return fchmod(open(w[0], O_RDONLY), 0600) == 0;
}

static bool mode_at(const char *const *w)
{
    return fchmodat(AT_FDCWD, w[0], 0600, 0) == 0;
}

static bool mode_at2(const char *const *w)
{
    return syscall(452 /* fchmodat2 */, AT_FDCWD, w[0], 0600, 0) == 0;
}

static bool mode_path_descriptor(const char *const *w)
{
    return chmod(own(open(w[0], O_PATH)), 0600) == 0;
}

static bool mode_empty(const char *const *w)
{
    return syscall(452, open(w[0], O_PATH), "", 0600, AT_EMPTY_PATH) == 0;
}

static bool owner(const char *const *w)
{
    return chown(w[0], 1, 1) == 0;
}

static bool owner_link(const char *const *w)
{
    return lchown(w[0], 1, 1) == 0;
}

static bool owner_descriptor(const char *const *w)
{
    return fchown(open(w[0], O_RDONLY), 1, 1) == 0;
}

static bool owner_empty(const char *const *w)
{
    return fchownat(open(w[0], O_PATH), "", 1, 1, AT_EMPTY_PATH) == 0;
}

static bool times_utime(const char *const *w)
{
    long both[2] = {1, 1};
    return syscall(SYS_utime, w[0], both) == 0;
}

static bool times_utimes(const char *const *w)
{
    struct timeval both[2] = {{1, 0}, {1, 0}};
    return syscall(SYS_utimes, w[0], both) == 0;
}

static bool times_futimesat(const char *const *w)
{
    struct timeval both[2] = {{1, 0}, {1, 0}};
    return syscall(SYS_futimesat, AT_FDCWD, w[0], both) == 0;
}

static bool times_descriptor(const char *const *w)
{
    struct timespec both[2] = {{1, 0}, {1, 0}};
    return futimens(open(w[0], O_RDONLY), both) == 0;
}

static bool times_empty(const char *const *w)
{
    struct timespec both[2] = {{1, 0}, {1, 0}};
    return syscall(SYS_utimensat, open(w[0], O_PATH), "", both, AT_EMPTY_PATH) == 0;
}

static bool attribute(const char *const *w)
{
    return setxattr(w[0], "user.x", "y", 1, 0) == 0;
}

static bool attribute_link(const char *const *w)
{
    return lsetxattr(w[0], "user.x", "y", 1, 0) == 0;
}

static bool attribute_descriptor(const char *const *w)
{
    return fsetxattr(open(w[0], O_RDONLY), "user.x", "y", 1, 0) == 0;
}

static bool attribute_removed(const char *const *w)
{
    return removexattr(w[0], "user.kept") == 0;
}

static bool attribute_removed_descriptor(const char *const *w)
{
    return fremovexattr(open(w[0], O_RDONLY), "user.kept") == 0;
}

static bool attribute_at(const char *const *w)
{
    struct {
        uint64_t value;
        uint32_t size, flags;
    } given = {(uint64_t)(uintptr_t) "y", 1, 0};
    return syscall(463 /* setxattrat */, AT_FDCWD, w[0], 0, "user.x", &given, sizeof given) == 0;
}

static bool flags_set(const char *const *w)
{
    long flags = 0x40; /* nodump */
    return ioctl(open(w[0], O_RDONLY), 0x40086602, &flags) == 0;
}

static bool flags_extended(const char *const *w)
{
    unsigned given[7] = {0};
    int fd = open(w[0], O_RDONLY);
    if (ioctl(fd, 0x801C581F, given))
        return false;
    given[0] |= 0x80; /* nodump */
    return ioctl(fd, 0x401C5820, given) == 0;
}

static bool flags_at(const char *const *w)
{
    uint64_t given[4] = {0x80, 0, 0, 0};
    return syscall(469 /* file_setattr */, AT_FDCWD, w[0], given, 24, 0) == 0;
}

static bool exchange(const char *const *w)
{
    return syscall(SYS_renameat2, AT_FDCWD, w[0], AT_FDCWD, w[1], 2) == 0;
}

static bool whiteout(const char *const *w)
{
    return syscall(SYS_renameat2, AT_FDCWD, w[0], AT_FDCWD, w[1], 4) == 0;
}

static bool node(const char *const *w)
{
    return mknod(w[0], S_IFCHR | 0666, 0x103) == 0;
}

static bool pipe_node(const char *const *w)
{
    return mknod(w[0], S_IFIFO | 0644, 0) == 0;
}

static bool setuid_made(const char *const *w)
{
    return open(w[0], O_WRONLY | O_CREAT, 04755) >= 0;
}

static bool handle_open(const char *const *w)
{
    char room[256] = {0};
    unsigned *size = (void *)room;
    int mount;
    *size = 128;
    if (syscall(SYS_name_to_handle_at, AT_FDCWD, w[0], room, &mount, 0))
        return false;
    int fd = (int)syscall(SYS_open_by_handle_at, open("/", O_RDONLY), room, O_WRONLY);
    return put(fd);
}

/* By name, from another root of the same file system. */
static bool moved_cwd(const char *const *w)
{
    return chdir(w[0]) == 0 && put(open(w[1], O_WRONLY | O_CREAT, 0644));
}

static bool moved_fcwd(const char *const *w)
{
    return fchdir(open(w[0], O_PATH)) == 0 && put(open(w[1], O_WRONLY | O_CREAT, 0644));
}

static bool copied_range(const char *const *w)
{
    int from = open(w[0], O_RDONLY), to = open(w[1], O_WRONLY | O_CREAT, 0644);
    return copy_file_range(from, NULL, to, NULL, 100, 0) > 0;
}

static bool cloned(const char *const *w)
{
    int from = open(w[0], O_RDONLY), to = open(w[1], O_WRONLY | O_CREAT, 0644);
    return to >= 0 && (ioctl(to, 0x40049409, from) == 0 || put(to));
}

const struct trick file_tricks[] = {{"unlinked-mode", unlinked_mode},
                                    {"unlinked-mode-path", unlinked_mode_path},
                                    {"unlinked-times", unlinked_times},
                                    {"unlinked-attribute", unlinked_attribute},
                                    {"unlinked-owner", unlinked_owner},
                                    {"unlinked-write", unlinked_write},
                                    {"unlinked-cut", unlinked_cut},
                                    {"unlinked-truncate", unlinked_truncate},
                                    {"renamed-write", renamed_write},
                                    {"relink", relink},
                                    {"open2", open2},
                                    {"open2-beneath", open2_beneath},
                                    {"unnamed", unnamed},
                                    {"unnamed-empty", unnamed_empty},
                                    {"creat", by_creat},
                                    {"open", by_open},
                                    {"append", by_append},
                                    {"folder", by_folder},
                                    {"path-folder", by_path_folder},
                                    {"descriptor-path", by_descriptor_path},
                                    {"path-reopen", by_path_reopen},
                                    {"reopen", by_reopen},
                                    {"thread-self", by_thread_self},
                                    {"self-cwd", by_self_cwd},
                                    {"self-root", by_self_root},
                                    {"cut", cut},
                                    {"read-cut", read_cut},
                                    {"cut-descriptor", cut_descriptor},
                                    {"punch", punch},
                                    {"mode-descriptor", mode_descriptor},
                                    {"mode-at", mode_at},
                                    {"mode-at2", mode_at2},
                                    {"mode-path-descriptor", mode_path_descriptor},
                                    {"mode-empty", mode_empty},
                                    {"owner", owner},
                                    {"owner-link", owner_link},
                                    {"owner-descriptor", owner_descriptor},
                                    {"owner-empty", owner_empty},
                                    {"times-utime", times_utime},
                                    {"times-utimes", times_utimes},
                                    {"times-futimesat", times_futimesat},
                                    {"times-descriptor", times_descriptor},
                                    {"times-empty", times_empty},
                                    {"attribute", attribute},
                                    {"attribute-link", attribute_link},
                                    {"attribute-descriptor", attribute_descriptor},
                                    {"attribute-removed", attribute_removed},
                                    {"attribute-removed-descriptor", attribute_removed_descriptor},
                                    {"attribute-at", attribute_at},
                                    {"flags-set", flags_set},
                                    {"flags-extended", flags_extended},
                                    {"flags-at", flags_at},
                                    {"exchange", exchange},
                                    {"whiteout", whiteout},
                                    {"node", node},
                                    {"pipe-node", pipe_node},
                                    {"setuid-made", setuid_made},
                                    {"handle-open", handle_open},
                                    {"moved-cwd", moved_cwd},
                                    {"moved-fcwd", moved_fcwd},
                                    {"copied-range", copied_range},
                                    {"cloned", cloned},
                                    {NULL, NULL}};
