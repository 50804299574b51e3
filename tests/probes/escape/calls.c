/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that the broker serves, with random arguments: calls SEED COUNT. It only has to survive. */
#include <fcntl.h>
#include <linux/openat2.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "escape.h"

static uint64_t state;

static uint64_t next(uint64_t below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (state >> 11) % below;
}

static char *edge; /* the last bytes before memory that is not there */
static char longest[5000];

static uint64_t path(void)
{
    static const char *const names[] = {"a",
                                        "b",
                                        "d",
                                        "d/a",
                                        "d/b",
                                        "d/e",
                                        "d/e/f",
                                        "l",
                                        "l/a",
                                        ".",
                                        "..",
                                        "../out",
                                        "../out/file",
                                        "../out/new",
                                        "",
                                        "/",
                                        "//",
                                        "/tmp/x",
                                        "a/",
                                        "d/../a",
                                        "d/.git",
                                        "d/.git/config",
                                        ".git",
                                        ".claude",
                                        "l2",
                                        "p",
                                        "s",
                                        "s2",
                                        "/proc/self/fd/3",
                                        "/proc/self/fd/4/a",
                                        "/dev/fd/5",
                                        "/proc/self/cwd/a",
                                        "/proc/thread-self/cwd/b",
                                        "/proc/self/root/tmp",
                                        "/proc/1/fd/0",
                                        "/dev/null",
                                        "/dev/pts/0",
                                        "/dev/ptmx",
                                        "/proc/self/comm",
                                        "a (deleted)",
                                        "\xff\xfe",
                                        "d/.GIT"};
    switch (next(40)) {
    case 0: return 0;
    case 1: return 1;
    case 2: return (uint64_t)(uintptr_t)edge;
    case 3: return (uint64_t)(uintptr_t)longest;
    case 4: return (uint64_t)(uintptr_t)longest + next(4990);
    case 5: return next(UINT64_MAX);
    default: return (uint64_t)(uintptr_t)names[next(sizeof names / sizeof *names)];
    }
}

static uint64_t descriptor(void)
{
    return next(4) ? (uint64_t)AT_FDCWD : next(3) ? next(12) : next(UINT64_MAX);
}

/* Never one that would wait. */
static uint64_t open_flags(void)
{
    static const uint64_t bits[] = {O_WRONLY,    O_RDWR,    O_CREAT,   O_EXCL,
                                    O_TRUNC,     O_APPEND,  O_PATH,    O_NOFOLLOW,
                                    O_DIRECTORY, O_CLOEXEC, 020000000, O_NOATIME};
    uint64_t flags = O_NONBLOCK | O_NOCTTY;
    for (int i = (int)next(4); i > 0; i--)
        flags |= bits[next(sizeof bits / sizeof *bits)];
    return flags;
}

static uint64_t mode(void)
{
    return next(8) ? 0700 | next(0777) : next(UINT64_MAX);
}

static uint64_t bytes(void)
{
    static unsigned char room[256];
    for (size_t i = 0; i < sizeof room; i++)
        room[i] = (unsigned char)next(256);
    return next(8) ? (uint64_t)(uintptr_t)room : path();
}

static uint64_t address(uint64_t *size)
{
    static struct sockaddr_storage room;
    static const char *const names[] = {"s", "s2", "d/s", "../out/s", "", "l/s"};
    memset(&room, (int)next(256), sizeof room);
    room.ss_family = (sa_family_t)(next(3) == 0 ? AF_UNIX : next(3) == 0 ? AF_INET : next(45));
    *size = next(3) ? sizeof(struct sockaddr_un) : next(200);
    if (room.ss_family == AF_UNIX && next(4))
        strcpy(((struct sockaddr_un *)(void *)&room)->sun_path, names[next(6)]);
    if (room.ss_family == AF_INET && next(4)) {
        struct sockaddr_in *in = (void *)&room;
        in->sin_addr.s_addr = htonl(next(2) ? INADDR_LOOPBACK : INADDR_ANY);
        in->sin_port = htons((uint16_t)next(65536));
        *size = sizeof *in;
    }
    return next(20) ? (uint64_t)(uintptr_t)&room : path();
}

static uint64_t process(void)
{
    uint64_t known[] = {0, (uint64_t)getpid(), 1, (uint64_t)getppid(), next(1 << 22), (uint64_t)-1};
    return known[next(6)];
}

/* The descriptors that stay open are among the first few. */
static void close_new(long fd)
{
    if (fd > 11)
        close((int)fd);
}

static void one(void)
{
    static struct open_how how;
    uint64_t size, at;
    switch (next(40)) {
    case 0:
    case 1:
    case 2: close_new(syscall(SYS_openat, descriptor(), path(), open_flags(), mode())); return;
    case 3: close_new(syscall(SYS_open, path(), open_flags(), mode())); return;
    case 4:
        how = (struct open_how){open_flags(), next(3) ? mode() & 0777 : 0, next(3) ? 0 : next(64)};
        close_new(syscall(SYS_openat2, descriptor(), path(),
                          next(9) ? (uint64_t)(uintptr_t)&how : path(),
                          next(9) ? sizeof how : next(64)));
        return;
    case 5: syscall(SYS_mkdirat, descriptor(), path(), mode()); return;
    case 6: syscall(SYS_mkdir, path(), mode()); return;
    case 7: syscall(SYS_unlinkat, descriptor(), path(), next(3) ? 0 : next(0x300)); return;
    case 8: syscall(SYS_unlink, path()); return;
    case 9: syscall(SYS_rmdir, path()); return;
    case 10: syscall(SYS_renameat2, descriptor(), path(), descriptor(), path(), next(6)); return;
    case 11: syscall(SYS_rename, path(), path()); return;
    case 12:
        syscall(SYS_linkat, descriptor(), path(), descriptor(), path(), next(3) * 0x400);
        return;
    case 13: syscall(SYS_link, path(), path()); return;
    case 14: syscall(SYS_symlinkat, path(), descriptor(), path()); return;
    case 15:
        syscall(SYS_mknodat, descriptor(), path(), (next(2) ? S_IFIFO : next(0170000)) | 0700,
                next(99));
        return;
    case 16: syscall(SYS_truncate, path(), next(3) ? next(100000) : next(UINT64_MAX)); return;
    case 17: syscall(SYS_chmod, path(), mode()); return;
    case 18: syscall(SYS_fchmod, descriptor(), mode()); return;
    case 19: syscall(SYS_fchmodat, descriptor(), path(), mode()); return;
    case 20: syscall(SYS_fchownat, descriptor(), path(), -1, -1, next(3) * 0x100); return;
    case 21:
        syscall(SYS_utimensat, descriptor(), path(), next(2) ? 0 : bytes(), next(3) * 0x100);
        return;
    case 22: syscall(SYS_utimes, path(), bytes()); return;
    case 23: syscall(SYS_utime, path(), bytes()); return;
    case 24: syscall(SYS_futimesat, descriptor(), path(), bytes()); return;
    case 25:
        syscall(SYS_setxattr, path(), next(2) ? (uint64_t)(uintptr_t) "user.x" : path(), bytes(),
                next(300), next(4));
        return;
    case 26:
        syscall(SYS_fsetxattr, descriptor(), (uint64_t)(uintptr_t) "user.y", bytes(), next(70000),
                0);
        return;
    case 27:
        syscall(SYS_lremovexattr, path(), next(2) ? (uint64_t)(uintptr_t) "user.x" : path());
        return;
    case 28:
        close_new(syscall(SYS_socket, next(3) ? (next(2) ? AF_UNIX : AF_INET) : next(46),
                          (next(3) ? SOCK_STREAM : next(11)) | SOCK_NONBLOCK,
                          next(4) ? 0 : next(300)));
        return;
    case 29:
        at = address(&size);
        syscall(SYS_connect, next(2) ? 8 : next(12), at, size);
        return;
    case 30:
        at = address(&size);
        syscall(SYS_bind, next(2) ? 8 : next(12), at, size);
        return;
    case 31: syscall(SYS_listen, next(12), next(5)); return;
    case 32: syscall(SYS_umask, next(01000)); return;
    case 33:
        syscall(SYS_execveat, descriptor(), path(), next(2) ? bytes() : 0, 0, next(0x2000));
        return;
    case 34: syscall(SYS_sched_setaffinity, next(2) ? process() : 1, 8, bytes()); return;
    case 35: syscall(SYS_setpriority, next(4), process(), next(3)); return;
    case 36: syscall(SYS_ioprio_set, next(5), process(), next(1 << 15)); return;
    case 37: syscall(444, bytes(), next(40), next(3)); return;
    case 38: syscall(SYS_fremovexattr, descriptor(), path()); return;
    default: syscall(SYS_mknod, path(), (next(2) ? S_IFSOCK : S_IFREG) | 0700, 0); return;
    }
}

static bool calls(const char *const *w)
{
    char *room = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(room + 4096, 4096);
    edge = room + 4090;
    memset(edge, 'e', 6);
    memset(longest, 'n', sizeof longest - 1);
    state = strtoull(w[0], NULL, 10) * 2654435761 + 88172645463325252;
    signal(SIGPIPE, SIG_IGN);
    mkdir("d", 0755);
    symlink("../out", "l");
    symlink("d", "l2");
    for (uint64_t left = strtoull(w[1], NULL, 10); left > 0; left--) {
        one();
        if (left % 4096 == 0)
            for (int fd = 3; fd < 12; fd++)
                dup2(open(fd % 2 ? "." : "a",
                          O_RDONLY | O_NONBLOCK | O_CREAT | (fd % 2 ? O_DIRECTORY : 0), 0644),
                     fd);
    }
    return true;
}

const struct trick call_tricks[] = {{"calls", calls}, {NULL, NULL}};
