/* SPDX-License-Identifier: Apache-2.0 */
/*
 * undo_probe SEED STEPS PROCESSES: changes the current folder at random, in more than fifty ways,
 * by several processes at once. A step that is impossible just now is a failed call, which is a
 * case of its own.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

static uint64_t state;

static unsigned pick(unsigned below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33) % below;
}

/* Names repeat, so that steps meet. */
static const char *name(char out[128])
{
    static const char *const folders[] = {"", "", "d1/", "d2/", "d1/s/", "d3/x/y/", "d4/"};
    snprintf(out, 128, "%sf%u", folders[pick(7)], pick(6));
    return out;
}

static const char *folder(char out[128])
{
    static const char *const folders[] = {"d1", "d2", "d1/s", "d3", "d3/x", "d3/x/y", "d4", "d1/n"};
    snprintf(out, 128, "%s", folders[pick(8)]);
    return out;
}

static void fill(int fd, size_t n)
{
    char text[4096];
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = pick(20) ? (char)('a' + pick(26)) : '\n';
    for (size_t done = 0; fd >= 0 && done < n; done += sizeof text)
        (void)!write(fd, text, n - done < sizeof text ? n - done : sizeof text);
}

static void put(const char *path, int flags, size_t n)
{
    int fd = open(path, flags | O_NONBLOCK, 0600 | pick(0100)); /* it may be a fifo */
    fill(fd, n);
    if (fd >= 0)
        close(fd);
}

static void remove_tree(const char *path)
{
    char below[512];
    DIR *list = opendir(path);
    for (struct dirent *e; list && (e = readdir(list));) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        snprintf(below, sizeof below, "%.200s/%.255s", path, e->d_name);
        struct stat st;
        if (lstat(below, &st) == 0 && S_ISDIR(st.st_mode))
            remove_tree(below);
        else
            unlink(below);
    }
    if (list)
        closedir(list);
    rmdir(path);
}

static void move(const char *from, const char *to, unsigned flags)
{
    syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, flags);
}

static void times_of(const char *path, int flags)
{
    struct timespec both[2] = {{1000000 + (time_t)pick(1000000), (long)pick(1000000000)},
                               {2000000 + (time_t)pick(1000000), (long)pick(1000000000)}};
    utimensat(AT_FDCWD, path, both, flags);
}

static void write_mapped(const char *path)
{
    int fd = open(path, O_RDWR | O_NONBLOCK);
    struct stat st;
    if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 0 && S_ISREG(st.st_mode)) {
        char *map = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (map != MAP_FAILED) {
            map[pick((unsigned)st.st_size)] ^= 1;
            munmap(map, (size_t)st.st_size);
        }
    }
    if (fd >= 0)
        close(fd);
}

static void through_descriptor(const char *path, int how)
{
    char own[64];
    struct timespec both[2] = {{5, 6}, {7 + (time_t)pick(100), 8}};
    int fd = open(path, (how == 0 ? O_RDONLY : O_RDWR) | O_NONBLOCK);
    if (fd < 0)
        return;
    snprintf(own, sizeof own, "/proc/self/fd/%d", fd);
    switch (how) {
    case 0: put(own, O_WRONLY | O_APPEND, 10); break;
    case 1: (void)!ftruncate(fd, (off_t)pick(300)); break;
    case 2: fchmod(fd, 0600 | pick(0100)); break;
    case 3: futimens(fd, both); break;
    case 4: fsetxattr(fd, "user.f", "v", pick(2), 0); break;
    case 5: (void)!posix_fallocate(fd, (off_t)pick(2000), 100); break;
    case 6:
        unlink(path);
        fill(fd, 50);
        break;
    case 7: (void)!pwrite(fd, "middle", 6, (off_t)pick(500)); break;
    default: break;
    }
    close(fd);
}

static void step(unsigned kind)
{
    char a[128], b[128], c[160];
    name(a);
    name(b);
    switch (kind) {
    case 0: put(a, O_WRONLY | O_CREAT | O_EXCL, pick(3000)); break;
    case 1: put(a, O_WRONLY | O_APPEND, 1 + pick(100)); break;
    case 2: put(a, O_WRONLY | O_TRUNC, pick(200)); break;
    case 3: (void)!truncate(a, (off_t)pick(50)); break;
    case 4: (void)!truncate(a, (off_t)(5000 + pick(5000))); break;
    case 5:
    case 6:
    case 7:
    case 8:
    case 9:
    case 10:
    case 11:
    case 12: through_descriptor(a, (int)kind - 5); break;
    case 13: write_mapped(a); break;
    case 14: close(open(a, O_RDWR | O_NONBLOCK)); break;
    case 15: move(a, b, 0); break;
    case 16: move(a, b, 1); break;
    case 17: move(a, b, 2); break;
    case 18: move(folder(a), folder(b), 2); break;
    case 19: move(name(a), folder(b), 2); break;
    case 20: (void)!link(a, b); break;
    case 21:
        if (link(a, b) == 0)
            unlink(a);
        break;
    case 22: unlink(a); break;
    case 23:
        unlink(a);
        put(a, O_WRONLY | O_CREAT, 20);
        break;
    case 24: chmod(a, 0600 | pick(0100)); break;
    case 25: chmod(folder(a), 0700 | pick(0100)); break;
    case 26: times_of(a, 0); break;
    case 27: times_of(folder(a), 0); break;
    case 28: times_of(a, AT_SYMLINK_NOFOLLOW); break;
    case 29: setxattr(a, "user.k", "value", 1 + pick(5), 0); break;
    case 30: removexattr(a, "user.k"); break;
    case 31: setxattr(folder(a), "user.d", "w", 1, 0); break;
    case 32: (void)!symlink(pick(2) ? "f1" : "/nowhere/at all", a); break;
    case 33:
        unlink(a);
        (void)!symlink("f2", a);
        break;
    case 34: mkdir(folder(a), 0700 | pick(0100)); break;
    case 35: rmdir(folder(a)); break;
    case 36:
        folder(a);
        if (rmdir(a) == 0)
            mkdir(a, 0755);
        break;
    case 37: move(folder(a), folder(b), 0); break;
    case 38:
        snprintf(c, sizeof c, "%s/in", folder(b));
        move(folder(a), c, 0);
        break;
    case 39:
        snprintf(c, sizeof c, "%s/deep", folder(a));
        for (int i = 0; i < 6 && strlen(c) < 120; i++) {
            mkdir(c, 0755);
            strcat(c, "/e");
        }
        put(c, O_WRONLY | O_CREAT, 10);
        break;
    case 40: remove_tree(folder(a)); break;
    case 41: mkfifo(a, 0644); break;
    case 42: {
        int fd = open(pick(2) ? "." : folder(b), O_TMPFILE | O_WRONLY, 0644);
        fill(fd, 30);
        snprintf(c, sizeof c, "/proc/self/fd/%d", fd);
        if (fd >= 0) {
            linkat(AT_FDCWD, c, AT_FDCWD, a, AT_SYMLINK_FOLLOW);
            close(fd);
        }
        break;
    }
    case 43: /* as editors save */
        snprintf(c, sizeof c, "%s.tmp%d", a, (int)getpid());
        put(c, O_WRONLY | O_CREAT, pick(400));
        move(c, a, 0);
        break;
    case 44: {
        struct sockaddr_un address = {.sun_family = AF_UNIX};
        int fd = socket(AF_UNIX, SOCK_STREAM, 0);
        snprintf(address.sun_path, sizeof address.sun_path, "%.100s", a);
        (void)!bind(fd, (struct sockaddr *)&address, sizeof address);
        close(fd);
        break;
    }
    case 45: {
        int from = open(a, O_RDONLY | O_NONBLOCK),
            to = open(b, O_WRONLY | O_CREAT | O_NONBLOCK, 0644);
        if (from >= 0 && to >= 0)
            (void)!copy_file_range(from, NULL, to, NULL, 1000, 0);
        close(from);
        close(to);
        break;
    }
    case 46: /* a folder in place of a file */
        unlink(a);
        mkdir(a, 0755);
        break;
    case 47: /* and the other way round */
        remove_tree(folder(a));
        put(a, O_WRONLY | O_CREAT, 10);
        break;
    case 48: put(a, O_WRONLY | O_CREAT, 70000 + pick(60000)); break;
    case 49: put(a, O_WRONLY | O_CREAT | O_TRUNC, 0); break;
    case 50: mknod(a, S_IFREG | 0640, 0); break;
    case 51: (void)!lchown(a, getuid(), getgid()); break;
    case 52: open(a, O_CREAT | O_WRONLY | O_TRUNC | O_NONBLOCK, 0600); break;
    case 53: /* make and forget */
        snprintf(c, sizeof c, "%s.o", a);
        put(c, O_WRONLY | O_CREAT, 100);
        unlink(c);
        break;
    case 54: (void)!symlinkat("d1", AT_FDCWD, a); break;
    default: break;
    }
}

enum { KINDS = 55 };

/* Nobody changes anything any more when the parent is dead. */
static void die_with(pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(0);
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    pid_t parent = getpid();
    signal(SIGPIPE, SIG_IGN); /* of a fifo */
    die_with(getppid());
    int steps = atoi(argv[2]), processes = atoi(argv[3]);
    for (int p = 0; p < processes; p++) {
        pid_t child = p + 1 < processes ? fork() : -1;
        if (child > 0)
            continue;
        if (child == 0)
            die_with(parent);
        state = (uint64_t)atoll(argv[1]) * 1000003u + (uint64_t)p * 7919u + 1;
        for (int i = 0; i < steps; i++) {
            step(pick(KINDS));
            if (i % 64 == 63) /* creat leaves descriptors */
                syscall(SYS_close_range, 3, ~0U, 0);
        }
        break;
    }
    while (wait(NULL) > 0 || errno == EINTR)
        ;
    return 0;
}
