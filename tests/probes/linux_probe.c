/*
 * Runs inside the sandbox, or without it as a control, and tries one thing with one system call.
 * Usage: linux_probe TRICK PATH [PATH2]. Exit code 0: the call said yes; 1: it said no.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/xattr.h>
#include <unistd.h>

static int put(int fd)
{
    return fd >= 0 && write(fd, "x", 1) == 1;
}

static int try_openat2(const char *path, const char *other)
{
    struct open_how how = {.flags = O_WRONLY | O_CREAT, .mode = 0644};
    (void)other;
    return put((int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how));
}

static int try_creat(const char *path, const char *other)
{
    (void)other;
    return put((int)syscall(SYS_creat, path, 0644));
}

static int try_tmpfile(const char *folder, const char *name)
{
    char own[64];
    int fd = open(folder, O_TMPFILE | O_WRONLY, 0644);
    snprintf(own, sizeof own, "/proc/self/fd/%d", fd);
    return put(fd) && linkat(AT_FDCWD, own, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0;
}

static int try_truncate(const char *path, const char *other)
{
    (void)other;
    return truncate(path, 0) == 0;
}

static int try_read_truncate(const char *path, const char *other)
{
    (void)other;
    return open(path, O_RDONLY | O_TRUNC) >= 0;
}

static int try_append(const char *path, const char *other)
{
    (void)other;
    return put(open(path, O_WRONLY | O_APPEND));
}

static int try_chmod(const char *path, const char *other)
{
    (void)other;
    return chmod(path, 0600) == 0;
}

/* Through a descriptor that was opened for reading only. */
static int try_fchmod(const char *path, const char *other)
{
    (void)other;
    return fchmod(open(path, O_RDONLY), 0600) == 0;
}

static int try_proc_chmod(const char *path, const char *other)
{
    char own[64];
    (void)other;
    snprintf(own, sizeof own, "/proc/self/fd/%d", open(path, O_RDONLY));
    return chmod(own, 0600) == 0;
}

static int try_utimes(const char *path, const char *other)
{
    struct timeval times[2] = {{1, 0}, {1, 0}};
    (void)other;
    return utimes(path, times) == 0;
}

static int try_futimens(const char *path, const char *other)
{
    struct timespec times[2] = {{1, 0}, {1, 0}};
    (void)other;
    return futimens(open(path, O_RDONLY), times) == 0;
}

static int try_setxattr(const char *path, const char *other)
{
    (void)other;
    return setxattr(path, "user.x", "y", 1, 0) == 0;
}

static int try_fsetxattr(const char *path, const char *other)
{
    (void)other;
    return fsetxattr(open(path, O_RDONLY), "user.x", "y", 1, 0) == 0;
}

static int try_setflags(const char *path, const char *other)
{
    long flags = 0x40; /* nodump */
    (void)other;
    return ioctl(open(path, O_RDONLY), 0x40086602, &flags) == 0;
}

/* A descriptor for reading, opened again for writing through /proc. */
static int try_reopen(const char *path, const char *other)
{
    char own[64];
    (void)other;
    snprintf(own, sizeof own, "/proc/self/fd/%d", open(path, O_RDONLY));
    return put(open(own, O_WRONLY));
}

static int try_cwd_link(const char *path, const char *other)
{
    char own[512];
    (void)other;
    snprintf(own, sizeof own, "/proc/self/cwd/%s", path);
    return put(open(own, O_WRONLY | O_CREAT, 0644));
}

static int try_root_link(const char *path, const char *other)
{
    char own[512];
    (void)other;
    snprintf(own, sizeof own, "/proc/self/root%s", path);
    return put(open(own, O_WRONLY | O_CREAT, 0644));
}

static int try_exchange(const char *path, const char *other)
{
    return syscall(SYS_renameat2, AT_FDCWD, path, AT_FDCWD, other, 2) == 0;
}

static int try_memory(const char *pid, const char *other)
{
    char path[64];
    (void)other;
    snprintf(path, sizeof path, "/proc/%s/mem", pid);
    return open(path, O_RDWR) >= 0;
}

static int try_kill(const char *pid, const char *other)
{
    (void)other;
    return kill(atoi(pid), 0) == 0;
}

static int try_ptrace(const char *pid, const char *other)
{
    (void)other;
    return ptrace(PTRACE_ATTACH, atoi(pid), NULL, NULL) == 0;
}

static int try_namespace(const char *path, const char *other)
{
    (void)path, (void)other;
    return syscall(SYS_unshare, 0x10000000 /* user */) == 0;
}

static int try_io_uring(const char *path, const char *other)
{
    char parameters[256] = {0};
    (void)path, (void)other;
    return syscall(425, 1, parameters) >= 0;
}

static int try_shared_memory(const char *path, const char *other)
{
    (void)path, (void)other;
    return syscall(SYS_shmget, 0x7777, 4096, 01600) >= 0;
}

static int try_unix_connect(const char *path, const char *other)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    (void)other;
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    return connect(socket(AF_UNIX, SOCK_STREAM, 0), (void *)&address, sizeof address) == 0;
}

static int try_unix_pair(const char *path, const char *other)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int server = socket(AF_UNIX, SOCK_STREAM, 0);
    (void)other;
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    return bind(server, (void *)&address, sizeof address) == 0 && listen(server, 1) == 0 &&
           try_unix_connect(path, NULL);
}

static int try_datagram(const char *path, const char *other)
{
    (void)path, (void)other;
    return socket(AF_INET, SOCK_DGRAM, 0) >= 0;
}

static int try_mknod_device(const char *path, const char *other)
{
    (void)other;
    return mknod(path, S_IFCHR | 0666, 0x103) == 0;
}

static int try_umask(const char *path, const char *other)
{
    struct stat st;
    (void)other;
    umask(027);
    return put(open(path, O_WRONLY | O_CREAT, 0666)) && stat(path, &st) == 0 &&
           (st.st_mode & 0777) == 0640;
}

static int try_dumpable(const char *path, const char *other)
{
    (void)other;
    prctl(PR_SET_DUMPABLE, 0);
    return put(open(path, O_WRONLY | O_CREAT, 0644));
}

static const struct {
    const char *name;
    int (*run)(const char *path, const char *other);
} tricks[] = {{"openat2", try_openat2},
              {"creat", try_creat},
              {"tmpfile", try_tmpfile},
              {"truncate", try_truncate},
              {"read-truncate", try_read_truncate},
              {"append", try_append},
              {"chmod", try_chmod},
              {"fchmod", try_fchmod},
              {"proc-chmod", try_proc_chmod},
              {"utimes", try_utimes},
              {"futimens", try_futimens},
              {"setxattr", try_setxattr},
              {"fsetxattr", try_fsetxattr},
              {"setflags", try_setflags},
              {"reopen", try_reopen},
              {"cwd-link", try_cwd_link},
              {"root-link", try_root_link},
              {"exchange", try_exchange},
              {"memory", try_memory},
              {"kill", try_kill},
              {"ptrace", try_ptrace},
              {"namespace", try_namespace},
              {"io-uring", try_io_uring},
              {"shared-memory", try_shared_memory},
              {"unix-connect", try_unix_connect},
              {"unix-pair", try_unix_pair},
              {"datagram", try_datagram},
              {"mknod-device", try_mknod_device},
              {"umask", try_umask},
              {"dumpable", try_dumpable}};

int main(int argc, char **argv)
{
    for (size_t i = 0; argc > 2 && i < sizeof tricks / sizeof *tricks; i++)
        if (strcmp(argv[1], tricks[i].name) == 0)
            return tricks[i].run(argv[2], argc > 3 ? argv[3] : "") ? 0 : 1;
    return 2;
}
