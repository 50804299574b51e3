/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs inside the sandbox, or without it as a control, and tries one thing with one system call.
 * Usage: linux_probe TRICK PATH [PATH2]. Exit code 0: the call said yes; 1: it said no.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "times.h"

static int put(int fd)
{
    return fd >= 0 && write(fd, "x", 1) == 1;
}

/* The same value again and again, read back each time: one that is mixed up with others shows. */
static int try_attribute(const char *path, const char *value)
{
    char given[1000], found[sizeof given];
    size_t n = strlen(value);
    for (size_t i = 0; i < sizeof given; i++)
        given[i] = value[i % n];
    for (int i = 0; i < 200; i++)
        if (setxattr(path, "user.cordon", given, sizeof given, 0) ||
            getxattr(path, "user.cordon", found, sizeof found) != sizeof found ||
            memcmp(given, found, sizeof found) != 0)
            return 0;
    return 1;
}

static int try_openat2(const char *path, const char *other)
{
    struct open_how how = {.flags = O_WRONLY | O_CREAT, .mode = 0644};
    (void)other;
    int fd = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how);
    /* As programs do where the call is not known. */
    return put(fd < 0 && errno == ENOSYS ? open(path, O_WRONLY | O_CREAT, 0644) : fd);
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

/* A server outside: a stream and a datagram socket in the folder, a TCP port in its file "port". */
static int try_serve(const char *folder, const char *other)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct sockaddr_in local = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t length = sizeof local;
    int stream = socket(AF_UNIX, SOCK_STREAM, 0), datagram = socket(AF_UNIX, SOCK_DGRAM, 0);
    int tcp = socket(AF_INET, SOCK_STREAM, 0);
    (void)other;
    snprintf(address.sun_path, sizeof address.sun_path, "%s/stream", folder);
    bool bound = bind(stream, (void *)&address, sizeof address) == 0 && listen(stream, 100) == 0;
    snprintf(address.sun_path, sizeof address.sun_path, "%s/datagram", folder);
    bound = bound && bind(datagram, (void *)&address, sizeof address) == 0;
    bound = bound && bind(tcp, (void *)&local, sizeof local) == 0 && listen(tcp, 100) == 0 &&
            getsockname(tcp, (void *)&local, &length) == 0;
    char path[256];
    snprintf(path, sizeof path, "%s/port.new", folder);
    FILE *f = bound ? fopen(path, "w") : NULL;
    if (!f)
        return 0;
    fprintf(f, "%d\n", ntohs(local.sin_port));
    fclose(f);
    snprintf(address.sun_path, sizeof address.sun_path, "%s/port", folder);
    rename(path, address.sun_path);
    sleep(60);
    return 1;
}

static struct sockaddr_un flipped;

static void *flip_family(void *stop)
{
    while (!*(volatile int *)stop) {
        *(volatile sa_family_t *)&flipped.sun_family = AF_UNSPEC;
        *(volatile sa_family_t *)&flipped.sun_family = AF_UNIX;
    }
    return NULL;
}

/* The address changes its family while it is looked at. */
static int try_connect_flip(const char *path, const char *other)
{
    pthread_t thread;
    int stop = 0, connected = 0;
    (void)other;
    snprintf(flipped.sun_path, sizeof flipped.sun_path, "%s", path);
    pthread_create(&thread, NULL, flip_family, &stop);
    for (int i = 0; i < 3000 && !connected; i++) {
        struct sockaddr_un peer;
        socklen_t length = sizeof peer;
        int s = socket(AF_UNIX, SOCK_STREAM, 0);
        connect(s, (void *)&flipped, sizeof flipped);
        connected = getpeername(s, (void *)&peer, &length) == 0;
        close(s);
    }
    stop = 1;
    pthread_join(thread, NULL);
    return connected;
}

/* A pair of datagram sockets can send to anybody. */
static int try_pair_datagram(const char *path, const char *other)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int pair[2] = {-1, -1};
    (void)other;
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    socketpair(AF_UNIX, SOCK_DGRAM, 0, pair);
    return sendto(pair[0], "x", 1, 0, (void *)&address, sizeof address) == 1;
}

/* A listener of one's own on the same port of another address, then a connection to the server. */
static int try_port_alias(const char *port, const char *other)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};
    int own = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0);
    (void)other;
    address.sin_addr.s_addr = htonl(0x7F000002);
    bind(own, (void *)&address, sizeof address);
    listen(own, 1);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return connect(client, (void *)&address, sizeof address) == 0;
}

static int try_own_port(const char *path, const char *other)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t length = sizeof address;
    int own = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0);
    (void)other;
    return bind(own, (void *)&address, sizeof address) == 0 && listen(own, 1) == 0 &&
           getsockname(own, (void *)&address, &length) == 0 &&
           connect(client, (void *)&address, sizeof address) == 0 &&
           put(open(path, O_WRONLY | O_CREAT, 0644));
}

/* More connections than the queue takes must not stop everything else. */
static int try_full_queue(const char *path, const char *other)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int server = socket(AF_UNIX, SOCK_STREAM, 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    bind(server, (void *)&address, sizeof address);
    listen(server, 0);
    for (int i = 0; i < 4; i++)
        if (fork() == 0) {
            connect(socket(AF_UNIX, SOCK_STREAM, 0), (void *)&address, sizeof address);
            _exit(0);
        }
    usleep(200000);
    return put(open(other, O_WRONLY | O_CREAT, 0644));
}

static int try_listen_any(const char *path, const char *other)
{
    (void)path, (void)other;
    return listen(socket(AF_INET, SOCK_STREAM, 0), 1) == 0;
}

static int try_capability(const char *path, const char *other)
{
    unsigned data[5] = {0x02000001, 0x2000, 0, 0, 0};
    (void)other;
    return setxattr(path, "security.capability", data, sizeof data, 0) == 0;
}

/* A protected file by a descriptor, while its path is longer than anybody can say. */
static int try_deep_fchmod(const char *folder, const char *file)
{
    char path[512], name[201];
    int top = open(".", O_RDONLY | O_DIRECTORY);
    snprintf(path, sizeof path, "%s/%s", folder, file);
    int fd = open(path, O_RDONLY);
    memset(name, 'd', 200);
    name[200] = '\0';
    char here[8192];
    size_t left = 4095 - strlen(folder) - 2;
    while (getcwd(here, sizeof here) && strlen(here) + 2 < left) {
        size_t room = left - strlen(here) - 1;
        name[room < 200 ? room : 200] = '\0';
        if (mkdir(name, 0755) || chdir(name))
            break;
        name[room < 200 ? room : 200] = 'd';
        name[200] = '\0';
    }
    int deep = open(".", O_RDONLY | O_DIRECTORY);
    int moved = renameat(top, folder, deep, folder) == 0;
    int changed = fchmod(fd, 0600) == 0;
    renameat(deep, folder, top, folder);
    return moved && changed;
}

/* touch without a file: copied to where it has no name, then started there. */
static int start_copy(int to, const char *made)
{
    char piece[65536];
    int from = open("/usr/bin/touch", O_RDONLY);
    for (ssize_t n; (n = read(from, piece, sizeof piece)) > 0;)
        if (write(to, piece, (size_t)n) != n)
            return 0;
    char own[64];
    snprintf(own, sizeof own, "/proc/self/fd/%d", to);
    int fd = open(own, O_RDONLY | O_CLOEXEC);
    close(to);
    syscall(SYS_execveat, fd, "", (char *[]){"touch", (char *)made, NULL}, environ, AT_EMPTY_PATH);
    snprintf(own, sizeof own, "/proc/self/fd/%d", fd);
    execve(own, (char *[]){"touch", (char *)made, NULL}, environ);
    return 0;
}

static int try_memfd_exec(const char *made, const char *other)
{
    (void)other;
    return start_copy((int)syscall(SYS_memfd_create, "m", 0), made);
}

static int try_deleted_exec(const char *made, const char *other)
{
    int fd = open(other, O_RDWR | O_CREAT, 0755);
    unlink(other);
    return start_copy(fd, made);
}

/* The path changes between the look and the start. */
static int try_exec_flip(const char *made, const char *other)
{
    char *path = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t flipper;
    (void)other;
    strcpy(path, "/usr/bin/true");
    if ((flipper = fork()) == 0)
        for (;;) {
            memcpy(path + 9, "true\0", 6);
            __asm__ volatile("" ::: "memory");
            memcpy(path + 9, "touch", 6);
            __asm__ volatile("" ::: "memory");
        }
    for (int i = 0; i < times(1000) && access(made, F_OK); i++) {
        pid_t child = fork();
        if (child == 0) {
            for (int j = 0; j < 20; j++)
                execve(path, (char *[]){"x", (char *)made, NULL}, environ);
            _exit(1);
        }
        waitpid(child, NULL, 0);
    }
    kill(flipper, SIGKILL);
    return access(made, F_OK) == 0;
}

static char *shared_page(void)
{
    return mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

/* Each state must last a little, or no call ever meets it whole. */
static void dwell(void)
{
    for (volatile int i = 0; i < 500; i++)
        ;
}

/* A path that is sometimes a device, which goes on by itself, and sometimes a file. */
static int try_truncate_flip(const char *file, const char *other)
{
    char *path = shared_page();
    size_t n = strlen(file) + 1;
    struct stat st;
    pid_t flipper;
    (void)other;
    if ((flipper = fork()) == 0)
        for (;;) {
            memcpy(path, "/dev/null", 10);
            dwell();
            memcpy(path, file, n);
            dwell();
        }
    bool cut = false;
    for (time_t end = time(NULL) + 6; time(NULL) < end && !cut;) {
        close(open(path, O_RDONLY | O_TRUNC));
        cut = stat(file, &st) == 0 && st.st_size == 0;
    }
    kill(flipper, SIGKILL);
    return cut;
}

static int try_openat2_flip(const char *file, const char *other)
{
    struct open_how *how = (void *)shared_page();
    struct stat st;
    pid_t flipper;
    (void)other;
    if ((flipper = fork()) == 0)
        for (;;) {
            *(volatile uint64_t *)&how->flags = O_RDONLY;
            *(volatile uint64_t *)&how->flags = O_RDONLY | O_TRUNC;
        }
    bool cut = false;
    for (time_t end = time(NULL) + 6; time(NULL) < end && !cut;) {
        close((int)syscall(SYS_openat2, AT_FDCWD, file, how, sizeof *how));
        cut = stat(file, &st) == 0 && st.st_size == 0;
    }
    kill(flipper, SIGKILL);
    return cut;
}

/* A path that is sometimes where everything is allowed. */
static int try_create_flip(const char *inside, const char *outside)
{
    char *path = shared_page();
    size_t a = strlen(inside) + 1, b = strlen(outside) + 1;
    pid_t flipper = fork();
    if (flipper == 0)
        for (;;) {
            memcpy(path, inside, a);
            dwell();
            memcpy(path, outside, b);
            dwell();
        }
    for (int i = 0; i < times(30000) && access(outside, F_OK); i++)
        close(open(path, O_WRONLY | O_CREAT, 0644));
    kill(flipper, SIGKILL);
    return access(outside, F_OK) == 0;
}

static int try_creat_mode(const char *path, const char *other)
{
    (void)other;
    return open(path, O_WRONLY | O_CREAT, 04755) >= 0; /* a write would take the bit away */
}

static int try_sigqueue(const char *pid, const char *other)
{
    (void)other;
    return sigqueue(atoi(pid), 0, (union sigval){0}) == 0;
}

static int try_pidfd_signal(const char *pid, const char *other)
{
    (void)other;
    return syscall(SYS_pidfd_send_signal, (int)syscall(SYS_pidfd_open, atoi(pid), 0), 0, NULL, 0) ==
           0;
}

/* A pipe whose news are signals, and the signal kills. */
static int try_owner_signal(const char *pid, const char *other)
{
    int ends[2];
    (void)other;
    if (pipe(ends) || fcntl(ends[0], F_SETOWN, atoi(pid)) || fcntl(ends[0], F_SETSIG, SIGUSR1) ||
        fcntl(ends[0], F_SETFL, O_ASYNC | O_NONBLOCK) || write(ends[1], "x", 1) != 1)
        return 0;
    usleep(100000);
    char path[64], state[64] = "";
    snprintf(path, sizeof path, "/proc/%s/stat", pid);
    int fd = open(path, O_RDONLY);
    ssize_t n = fd < 0 ? 0 : read(fd, state, sizeof state - 1);
    return n <= 0 || strstr(state, ") Z") != NULL;
}

static int new_terminal(char *name, size_t capacity)
{
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    if (master < 0 || grantpt(master) || unlockpt(master) || ptsname_r(master, name, capacity))
        return -1;
    return master;
}

/* A terminal outside: its name in the folder's file "name", what is written to it in "seen". */
static int try_pty_serve(const char *folder, const char *other)
{
    char name[64], path[512], final[512], piece[256];
    int master = new_terminal(name, sizeof name);
    int slave = open(name, O_RDWR | O_NOCTTY);
    (void)other;
    snprintf(path, sizeof path, "%s/seen", folder);
    int seen = open(path, O_WRONLY | O_CREAT | O_APPEND, 0644);
    snprintf(path, sizeof path, "%s/name.new", folder);
    snprintf(final, sizeof final, "%s/name", folder);
    FILE *f = fopen(path, "w");
    if (master < 0 || slave < 0 || seen < 0 || !f)
        return 0;
    fputs(name, f);
    fclose(f);
    rename(path, final);
    alarm(60);
    for (ssize_t n; (n = read(master, piece, sizeof piece)) > 0;)
        (void)!write(seen, piece, (size_t)n);
    return 1;
}

static int try_pty_write(const char *name, const char *other)
{
    int fd = open(name, O_WRONLY | O_NOCTTY);
    (void)other;
    return fd >= 0 && write(fd, "MARK\n", 5) == 5;
}

/* One's own: written at one end, read at the other, by a child too. */
static int try_pty_own(const char *file, const char *other)
{
    char name[64], piece[64];
    int master = new_terminal(name, sizeof name), status = 1;
    (void)other;
    pid_t child = fork();
    if (child == 0)
        _exit(!try_pty_write(name, NULL));
    waitpid(child, &status, 0);
    ssize_t n = status ? -1 : read(master, piece, sizeof piece);
    int out = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    return n > 0 && write(out, piece, (size_t)n) == n;
}

static int try_lease(const char *file, const char *other)
{
    (void)other;
    return fcntl(open(file, O_RDONLY), F_SETLEASE, F_RDLCK) == 0;
}

static int try_hold_lease(const char *file, const char *told)
{
    signal(SIGIO, SIG_IGN);
    int fd = open(file, O_RDONLY);
    if (fcntl(fd, F_SETLEASE, F_RDLCK))
        return 0;
    close(open(told, O_WRONLY | O_CREAT, 0644));
    sleep(60);
    return 1;
}

static int try_fork_storm(const char *path, const char *other)
{
    (void)path, (void)other;
    /* Each has a child and ends, with 40 such lines at once: nobody stays where he was seen. */
    for (int line = 0; line < 40; line++)
        if (fork() == 0) {
            for (time_t end = time(NULL) + 20; time(NULL) < end;)
                if (fork() != 0)
                    _exit(0);
            _exit(0);
        }
    sleep(20);
    return 1;
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
              {"dumpable", try_dumpable},
              {"memfd-exec", try_memfd_exec},
              {"deleted-exec", try_deleted_exec},
              {"exec-flip", try_exec_flip},
              {"truncate-flip", try_truncate_flip},
              {"openat2-flip", try_openat2_flip},
              {"create-flip", try_create_flip},
              {"creat-mode", try_creat_mode},
              {"sigqueue", try_sigqueue},
              {"pidfd-signal", try_pidfd_signal},
              {"owner-signal", try_owner_signal},
              {"serve", try_serve},
              {"connect-flip", try_connect_flip},
              {"pair-datagram", try_pair_datagram},
              {"port-alias", try_port_alias},
              {"own-port", try_own_port},
              {"full-queue", try_full_queue},
              {"listen-any", try_listen_any},
              {"capability", try_capability},
              {"deep-fchmod", try_deep_fchmod},
              {"pty-serve", try_pty_serve},
              {"pty-write", try_pty_write},
              {"pty-own", try_pty_own},
              {"lease", try_lease},
              {"attribute", try_attribute},
              {"hold-lease", try_hold_lease},
              {"fork-storm", try_fork_storm}};

int main(int argc, char **argv)
{
    for (size_t i = 0; argc > 2 && i < sizeof tricks / sizeof *tricks; i++)
        if (strcmp(argv[1], tricks[i].name) == 0)
            return tricks[i].run(argv[2], argc > 3 ? argv[3] : "") ? 0 : 1;
    return 2;
}
