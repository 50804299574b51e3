/* SPDX-License-Identifier: Apache-2.0 */
/* Files on Linux, for journals and undos. */
#include "undo/fs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "undo/linux/fs.h"

_Static_assert(FS_TYPE == S_IFMT && FS_FOLDER == S_IFDIR && FS_REGULAR == S_IFREG &&
                   FS_LINK == S_IFLNK,
               "modes are the kernel's");

enum { NO_REPLACE = 1 }; /* RENAME_NOREPLACE */

static int result(int rc)
{
    return rc ? -errno : 0;
}

static fs_file opened(int fd)
{
    return fd < 0 ? -errno : fd;
}

void fs_close(fs_file file)
{
    if (file >= 0)
        close((int)file);
}

fs_file fs_duplicate(fs_file file)
{
    return opened(fcntl((int)file, F_DUPFD_CLOEXEC, 0));
}

static struct undo_time time_of(struct timespec t)
{
    return (struct undo_time){t.tv_sec, (uint32_t)t.tv_nsec};
}

struct fs_stat fs_stat_of(const struct stat *st)
{
    return (struct fs_stat){.device = st->st_dev,
                            .inode = st->st_ino,
                            .links =
                                st->st_nlink > UINT32_MAX ? UINT32_MAX : (uint32_t)st->st_nlink,
                            .mode = st->st_mode,
                            .user = st->st_uid,
                            .group = st->st_gid,
                            .size = st->st_size > 0 ? (uint64_t)st->st_size : 0,
                            .taken = (uint64_t)st->st_blocks * 512,
                            .modified = time_of(st->st_mtim),
                            .accessed = time_of(st->st_atim),
                            .changed = time_of(st->st_ctim)};
}

int fs_stat(fs_file folder, const char *name, struct fs_stat *out)
{
    struct stat st;
    if (name[0] ? fstatat((int)folder, name, &st, AT_SYMLINK_NOFOLLOW) : fstat((int)folder, &st))
        return -errno;
    *out = fs_stat_of(&st);
    return 0;
}

/* ---- opening ---- */

fs_file fs_open_root(const char *path)
{
    return opened(open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

fs_file fs_open_beneath(fs_file root, const char *path)
{
    struct open_how how = {.flags = O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW,
                           .resolve =
                               RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};
    for (int tries = 0;; tries++) {
        int fd = (int)syscall(SYS_openat2, (int)root, path[0] ? path : ".", &how, sizeof how);
        if (fd >= 0 || errno != EAGAIN || tries == 100)
            return opened(fd);
    }
}

fs_file fs_open_folder(fs_file in, const char *name)
{
    return opened(
        openat((int)in, name[0] ? name : ".", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

fs_file fs_open_object(fs_file in, const char *name)
{
    return name[0] ? opened(openat((int)in, name, O_PATH | O_NOFOLLOW | O_CLOEXEC))
                   : fs_duplicate(in);
}

static fs_file open_to_read(int in, const char *name)
{
    char own[64];
    int how = O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY;
    snprintf(own, sizeof own, "/proc/self/fd/%d", in);
    for (int quiet = O_NOATIME;; quiet = 0) {
        int fd = name[0] ? openat(in, name, how | quiet | O_NOFOLLOW) : open(own, how | quiet);
        if (fd >= 0 || !quiet || errno != EPERM)
            return opened(fd);
    }
}

/* Its mode is 0, which stops its owner too until it is changed. */
static fs_file open_kept(int in, const char *name)
{
    struct stat st;
    int how = O_RDONLY | O_NOFOLLOW | O_CLOEXEC;
    int fd = openat(in, name, how);
    if (fd >= 0 || errno != EACCES || fstatat(in, name, &st, AT_SYMLINK_NOFOLLOW) ||
        !S_ISREG(st.st_mode))
        return opened(fd);
    if (fchmodat(in, name, 0400, 0))
        return -errno;
    fs_file file = opened(openat(in, name, how));
    fchmodat(in, name, 0, 0);
    return file;
}

/* A mode that stops its owner is changed until the file is open. */
static fs_file open_to_change(int in, const char *name)
{
    char own[64];
    struct stat st;
    int how = O_RDWR | O_NONBLOCK | O_CLOEXEC;
    int fd = openat(in, name, how | O_NOFOLLOW);
    if (fd >= 0 || errno != EACCES)
        return opened(fd);
    int object = openat(in, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    snprintf(own, sizeof own, "/proc/self/fd/%d", object);
    if (object >= 0 && fstat(object, &st) == 0 && S_ISREG(st.st_mode) &&
        chmod(own, (st.st_mode & 07777) | 0600) == 0) {
        fd = open(own, how);
        chmod(own, st.st_mode & 07777);
    }
    fs_close(object);
    return fd < 0 ? -EACCES : fd;
}

fs_file fs_open_file(fs_file in, const char *name, enum fs_open how)
{
    int flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    if (how == FS_READ)
        return open_to_read((int)in, name);
    if (how == FS_READ_KEPT)
        return open_kept((int)in, name);
    if (how == FS_CHANGE)
        return open_to_change((int)in, name);
    mode_t mode = how == FS_CREATE ? 0600 : 0;
    int fd = openat((int)in, name, flags | O_CREAT | O_EXCL, mode);
    if (fd >= 0)
        fchmod(fd, mode);
    return opened(fd);
}

/* ---- content ---- */

int64_t fs_read(fs_file file, void *p, size_t n, uint64_t at)
{
    size_t done = 0;
    while (done < n) {
        ssize_t got = pread((int)file, (char *)p + done, n - done, (off_t)(at + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -errno;
        if (got == 0)
            break;
        done += (size_t)got;
    }
    return (int64_t)done;
}

int fs_write(fs_file file, const void *p, size_t n, uint64_t at)
{
    for (size_t done = 0; done < n;) {
        ssize_t wrote = pwrite((int)file, (const char *)p + done, n - done, (off_t)(at + done));
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            return wrote < 0 ? -errno : -ENOSPC;
        done += (size_t)wrote;
    }
    return 0;
}

int fs_truncate(fs_file file, uint64_t size)
{
    return result(ftruncate((int)file, (off_t)size));
}

/* Takes what lies at this place of the file. */
static int copy_part(int from, int to, off_t at, off_t end, const atomic_bool *stop)
{
    enum { PIECE = 1 << 23 };
    while (at < end) {
        size_t want = end - at > PIECE ? PIECE : (size_t)(end - at);
        if (stop && atomic_load(stop))
            return -ECANCELED;
        ssize_t n = sendfile(to, from, &at, want);
        if (n < 0 && errno != EINTR && errno != EAGAIN)
            return -errno;
        if (n == 0)
            return 0; /* it was cut off meanwhile */
    }
    return 0;
}

int fs_clone(fs_file from, fs_file to)
{
    return result(ioctl((int)to, FICLONE, (int)from));
}

int fs_copy(fs_file source, fs_file target, const atomic_bool *stop)
{
    struct stat st;
    int from = (int)source, to = (int)target;
    if (fs_clone(source, target) == 0)
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
        int rc = copy_part(from, to, at, hole, stop);
        if (rc)
            return rc;
    }
    return result(ftruncate(to, st.st_size));
}

void *fs_map(fs_file file, size_t size)
{
    void *content = mmap(NULL, size, PROT_READ, MAP_PRIVATE, (int)file, 0);
    return content == MAP_FAILED ? NULL : content;
}

void fs_unmap(void *content, size_t size)
{
    munmap(content, size);
}

/* ---- names ---- */

int fs_make_folder(fs_file in, const char *name)
{
    return result(mkdirat((int)in, name, 0700));
}

int fs_make_other(fs_file in, const char *name, uint32_t mode, const char *target)
{
    if (S_ISLNK(mode))
        return result(symlinkat(target, (int)in, name));
    if (S_ISFIFO(mode) || S_ISSOCK(mode))
        return result(mknodat((int)in, name, (mode & S_IFMT) | 0600, 0));
    return -EOPNOTSUPP;
}

int fs_read_link(fs_file in, const char *name, char *out, size_t capacity)
{
    ssize_t n = readlinkat((int)in, name, out, capacity);
    return n < 0 ? -errno : (int)n;
}

int fs_remove(fs_file in, const char *name, bool folder)
{
    return result(unlinkat((int)in, name, folder ? AT_REMOVEDIR : 0));
}

int fs_rename(fs_file from, const char *name, fs_file to, const char *new_name, bool over)
{
    return result(
        (int)syscall(SYS_renameat2, (int)from, name, (int)to, new_name, over ? 0 : NO_REPLACE));
}

int fs_link(fs_file from, const char *name, fs_file to, const char *new_name)
{
    return result(linkat((int)from, name, (int)to, new_name, 0));
}

int fs_link_kept(fs_file from, const char *name, fs_file to, const char *new_name)
{
    return fs_link(from, name, to, new_name);
}

void fs_shut(fs_file in, const char *name)
{
    fchmodat((int)in, name, 0, 0);
}

bool fs_has_streams(fs_file in, const char *name, bool marks)
{
    (void)in, (void)name, (void)marks;
    return false;
}

int fs_list(fs_file folder, struct arena *arena, const char ***out, size_t *count)
{
    const char **names = NULL;
    size_t capacity = 0;
    fs_file copy = fs_open_folder(folder, "");
    DIR *entries = copy < 0 ? NULL : fdopendir((int)copy);
    *count = 0;
    if (!entries) {
        int rc = copy < 0 ? (int)copy : -errno;
        fs_close(copy);
        return rc;
    }
    int rc = 0;
    for (struct dirent *entry; rc == 0;) {
        errno = 0;
        entry = readdir(entries);
        rc = entry ? 0 : -errno;
        if (!entry)
            break;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (*count == capacity) {
            const char **more = arena_grow(arena, names, &capacity, sizeof *names);
            rc = more ? 0 : -ENOMEM;
            names = more ? more : names;
        }
        if (rc == 0 && !(names[*count] = arena_copy(arena, str_of(entry->d_name)).p))
            rc = -ENOMEM;
        *count += rc == 0;
    }
    closedir(entries);
    *out = names;
    return rc;
}

/* ---- attributes: name, NUL, 4 bytes of length, value, each ---- */

/* Those that a tree can change. */
static bool is_kept(struct str name)
{
    return str_starts(name, STR("user.")) || str_starts(name, STR("system.posix_acl_"));
}

void fs_take_attributes(fs_file file, struct buf *out)
{
    char path[64], names[4096], value[UNDO_LONGEST_ATTRIBUTES];
    struct stat st;
    if (fstat((int)file, &st) || S_ISLNK(st.st_mode))
        return;
    snprintf(path, sizeof path, "/proc/self/fd/%d", (int)file);
    ssize_t n = listxattr(path, names, sizeof names);
    for (char *name = names; n > 0 && name < names + n; name += strlen(name) + 1) {
        struct str text = str_of(name);
        if (!is_kept(text))
            continue;
        ssize_t size = getxattr(path, name, value, sizeof value);
        if (size < 0 || out->n + text.n + 5 + (size_t)size > UNDO_LONGEST_ATTRIBUTES)
            continue;
        buf_add(out, (struct str){name, text.n + 1});
        for (int i = 0; i < 4; i++)
            buf_char(out, (char)((size_t)size >> (8 * i)));
        buf_add(out, (struct str){value, (size_t)size});
    }
}

static int set_attributes(const char *path, struct str kept)
{
    char names[4096];
    int rc = 0;
    ssize_t n = listxattr(path, names, sizeof names);
    for (char *name = names; n > 0 && name < names + n; name += strlen(name) + 1) {
        struct str text = str_of(name);
        /* With the NUL: the whole name. */
        struct str whole = {name, text.n + 1};
        if (is_kept(text) && str_find(kept, whole, 0) >= kept.n && removexattr(path, name))
            rc = -errno;
    }
    for (size_t at = 0; at < kept.n;) {
        size_t end = str_find_char(kept, '\0', at), size = 0;
        if (end + 5 > kept.n)
            return -EINVAL;
        for (int i = 0; i < 4; i++)
            size |= (size_t)(unsigned char)kept.p[end + 1 + (size_t)i] << (8 * i);
        if (size > kept.n - end - 5)
            return -EINVAL;
        if (setxattr(path, kept.p + at, kept.p + end + 5, size, 0))
            rc = -errno;
        at = end + 5 + size;
    }
    return rc;
}

static int set_times(fs_file object, struct undo_time accessed, struct undo_time modified)
{
    struct timespec both[2] = {{(time_t)accessed.seconds, (long)accessed.nanoseconds},
                               {(time_t)modified.seconds, (long)modified.nanoseconds}};
    return result((int)syscall(SYS_utimensat, (int)object, "", both, AT_EMPTY_PATH));
}

void fs_set_times(fs_file object, struct undo_time accessed, struct undo_time modified)
{
    set_times(object, accessed, modified);
}

int fs_restore_meta(fs_file in, const char *name, const struct undo_record *meta, bool times,
                    bool attributes)
{
    char own[64];
    struct stat st;
    fs_file file = fs_open_object(in, name);
    int fd = (int)file;
    if (file < 0 || fstat(fd, &st) || (st.st_mode & S_IFMT) != (meta->ident.mode & S_IFMT)) {
        fs_close(file);
        return -ESTALE;
    }
    int rc = 0;
    mode_t mode = meta->ident.mode & 07777;
    snprintf(own, sizeof own, "/proc/self/fd/%d", fd);
    if ((st.st_uid != meta->user || st.st_gid != meta->group) &&
        fchownat(fd, "", meta->user, meta->group, AT_EMPTY_PATH)) {
        /* Only root gives files away. The content matters more than its owner, but nothing runs
           with the rights of somebody else. */
        rc = errno == EPERM ? 0 : -errno;
        mode &= 0777;
    }
    if (!S_ISLNK(st.st_mode)) {
        /* Attributes can be changed by those alone who may write to the object. */
        if (attributes && !(st.st_mode & S_IWUSR))
            chmod(own, S_ISDIR(st.st_mode) ? 0700 : 0600);
        int set = attributes ? set_attributes(own, meta->attributes) : 0;
        rc = rc ? rc : set;
        if (chmod(own, mode) && rc == 0)
            rc = -errno;
    }
    int set = times ? set_times(file, meta->accessed, meta->modified) : 0;
    fs_close(file);
    return rc ? rc : set;
}

/* ---- the rest ---- */

int fs_lock(fs_file file, bool exclusive, bool wait)
{
    while (flock((int)file, (exclusive ? LOCK_EX : LOCK_SH) | (wait ? 0 : LOCK_NB)))
        if (errno != EINTR)
            return -errno;
    return 0;
}

struct undo_time fs_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return time_of(now);
}

/* File systems take times from a clock that moves in steps, or from the exact one. */
void fs_wait_past(struct undo_time end)
{
    struct timespec later;
    for (;;) {
        clock_gettime(CLOCK_REALTIME_COARSE, &later);
        if (undo_time_compare(time_of(later), end) > 0 ||
            later.tv_sec < end.seconds - 1) /* the clock was set */
            return;
        nanosleep(&(struct timespec){0, 500000}, NULL);
    }
}

void fs_use_slashes(char *path)
{
    (void)path;
}

int fs_final_path(const char *folder, char *out, size_t capacity)
{
    char *final = realpath(folder ? folder : ".", NULL);
    if (!final)
        return -errno;
    bool fits = snprintf(out, capacity, "%s", final) < (int)capacity;
    free(final);
    return fits ? 0 : -ENAMETOOLONG;
}

bool fs_absolute(const char *folder, const char *word, struct buf *out)
{
    struct str parts[PATH_MAX / 2];
    size_t count = 0;
    auto_buf struct buf whole = {0};
    if (word[0] != '/')
        buf_fmt(&whole, "%s/", folder);
    buf_add(&whole, str_of(word));
    for (size_t at = 0; at < whole.n;) {
        size_t end = str_find_char(buf_str(&whole), '/', at);
        struct str part = str_slice(buf_str(&whole), at, end);
        if (str_eq(part, STR("..")))
            count -= count > 0;
        else if (part.n && !str_eq(part, STR(".")) && count < sizeof parts / sizeof *parts)
            parts[count++] = part;
        at = end + 1;
    }
    for (size_t i = 0; i < count; i++) {
        buf_char(out, '/');
        buf_add(out, parts[i]);
    }
    if (!count)
        buf_char(out, '/');
    return !out->failed && !whole.failed;
}

bool fs_path_starts(struct str path, struct str start)
{
    return str_starts(path, start);
}

void fs_mode_text(uint32_t mode, char out[FS_MODE_TEXT])
{
    snprintf(out, FS_MODE_TEXT, "%03o", (unsigned)(mode & 07777));
}
