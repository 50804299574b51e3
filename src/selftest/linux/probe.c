/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calls of the attempts. A script is words between blanks, commands between semicolons; paths
 * are relative to the workspace. The exit code is 0 if the last command did what it says.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <termios.h>
#include <unistd.h>

#include "selftest/selftest.h"

enum { MOST_WORDS = 8 };

struct probe_command {
    const char *words[MOST_WORDS]; /* "" where there is none */
    const char *rest;              /* the script after this command */
};

static bool put(int fd, const char *text)
{
    bool done = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    if (fd >= 0)
        close(fd);
    return done;
}

static bool do_write(const struct probe_command *c)
{
    return put(open(c->words[1], O_WRONLY | O_CREAT | O_TRUNC, 0644),
               c->words[2][0] ? c->words[2] : "new");
}

static bool do_append(const struct probe_command *c)
{
    return put(open(c->words[1], O_WRONLY | O_APPEND), c->words[2]);
}

static bool do_bytes(const struct probe_command *c)
{
    unsigned char all[256];
    for (int i = 0; i < 256; i++)
        all[i] = (unsigned char)i;
    int fd = open(c->words[1], O_WRONLY | O_CREAT, 0644);
    bool done = fd >= 0 && write(fd, all, sizeof all) == (ssize_t)sizeof all;
    if (fd >= 0)
        close(fd);
    return done;
}

static bool do_mkdirs(const struct probe_command *c)
{
    char path[512];
    snprintf(path, sizeof path, "%s", c->words[1]);
    for (char *p = path; (p = strchr(p + 1, '/'));) {
        *p = '\0';
        mkdir(path, 0755);
        *p = '/';
    }
    return mkdir(path, 0755) == 0;
}

static bool do_raw_write(const struct probe_command *c)
{
    struct open_how how = {.flags = O_WRONLY | O_CREAT, .mode = 0644};
    int fd = (int)syscall(SYS_openat2, AT_FDCWD, c->words[1], &how, sizeof how);
    return put(fd < 0 ? (int)syscall(SYS_openat, AT_FDCWD, c->words[1], O_WRONLY | O_CREAT, 0644)
                      : fd,
               "new");
}

/* A descriptor for reading, opened again for writing. */
static bool do_reopen(const struct probe_command *c)
{
    char own[64];
    snprintf(own, sizeof own, "/proc/self/fd/%d", open(c->words[1], O_RDONLY));
    return put(open(own, O_WRONLY), "new");
}

static bool do_fd_mode(const struct probe_command *c)
{
    return fchmod(open(c->words[1], O_RDONLY), 0600) == 0;
}

static bool do_times(const struct probe_command *c)
{
    const struct timespec times[2] = {{1, 0}, {1, 0}};
    return utimensat(AT_FDCWD, c->words[1], times, 0) == 0;
}

/* Content of the first to the second file: by read, by a mapping, through a path descriptor. */
static bool do_copy(const struct probe_command *c)
{
    char piece[4096], own[64];
    int from = open(c->words[1], strcmp(c->words[3], "path") == 0 ? O_PATH : O_RDONLY);
    if (strcmp(c->words[3], "path") == 0) {
        snprintf(own, sizeof own, "/proc/self/fd/%d", from);
        from = open(own, O_RDONLY);
    }
    if (strcmp(c->words[3], "map") == 0) {
        char *bytes = mmap(NULL, sizeof piece, PROT_READ, MAP_PRIVATE, from, 0);
        return bytes != MAP_FAILED && put(open(c->words[2], O_WRONLY | O_CREAT, 0644), bytes);
    }
    ssize_t n = from < 0 ? -1 : read(from, piece, sizeof piece - 1);
    if (n <= 0)
        return false;
    piece[n] = '\0';
    return put(open(c->words[2], O_WRONLY | O_CREAT, 0644), piece);
}

static bool do_connect(const struct probe_command *c)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)atoi(c->words[1])),
                             .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    return connect(fd, (void *)&to, sizeof to) == 0 && put(fd, "GET / HTTP/1.0\r\n\r\n");
}

static bool do_udp(const struct probe_command *c)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)atoi(c->words[1])),
                             .sin_addr = {htonl(INADDR_LOOPBACK)}};
    struct sockaddr_in6 six = {.sin6_family = AF_INET6,
                               .sin6_port = to.sin_port,
                               .sin6_addr = {{{[10] = 0xFF, [11] = 0xFF, [12] = 127, [15] = 1}}}};
    bool v6 = strcmp(c->words[2], "6") == 0;
    int fd = socket(v6 ? AF_INET6 : AF_INET, SOCK_DGRAM, 0);
    return sendto(fd, "x", 1, 0, v6 ? (void *)&six : (void *)&to, v6 ? sizeof six : sizeof to) == 1;
}

static bool do_raw_socket(const struct probe_command *c)
{
    (void)c;
    return socket(AF_INET, SOCK_RAW, IPPROTO_ICMP) >= 0 || socket(AF_PACKET, SOCK_RAW, 0) >= 0;
}

static struct sockaddr_un unix_address(const char *path, socklen_t *length)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    bool abstract = path[0] == '@';
    snprintf(address.sun_path + abstract, sizeof address.sun_path - 1, "%s", path + abstract);
    *length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path) + !abstract);
    return address;
}

static bool do_unix(const struct probe_command *c)
{
    socklen_t length;
    struct sockaddr_un address = unix_address(c->words[1], &length);
    return connect(socket(AF_UNIX, SOCK_STREAM, 0), (void *)&address, length) == 0;
}

static bool do_unix_own(const struct probe_command *c)
{
    socklen_t length;
    struct sockaddr_un address = unix_address(c->words[1], &length);
    int server = socket(AF_UNIX, SOCK_STREAM, 0);
    return bind(server, (void *)&address, length) == 0 && listen(server, 1) == 0 && do_unix(c);
}

static bool start(const char *script, bool wait)
{
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        if (!wait && (setsid() < 0 || fork() > 0))
            _exit(0);
        execl("/proc/self/exe", "cordon", "selftest", "--probe", script, (char *)NULL);
        _exit(1);
    }
    return waitpid(pid, &status, 0) == pid && status == 0;
}

/* Runs the rest of the script in a child of a child of … */
static bool do_child(const struct probe_command *c)
{
    char script[2048];
    int depth = atoi(c->words[1]);
    if (depth > 1)
        snprintf(script, sizeof script, "child %d; %s", depth - 1, c->rest);
    else
        snprintf(script, sizeof script, "%s", c->rest);
    _exit(!start(script, true));
}

static bool do_daemon(const struct probe_command *c)
{
    return start(c->rest, false);
}

static bool do_run(const struct probe_command *c)
{
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        execlp(c->words[1], c->words[1], c->words[2][0] ? c->words[2] : (char *)NULL, (char *)NULL);
        _exit(127);
    }
    return waitpid(pid, &status, 0) == pid && status == 0;
}

static bool do_wait(const struct probe_command *c)
{
    return usleep((useconds_t)atoi(c->words[1]) * 1000) == 0;
}

/* Writes through a path that another process keeps changing. */
static bool do_many(const struct probe_command *c)
{
    char path[512];
    for (int i = 0; i < atoi(c->words[2]); i++) {
        snprintf(path, sizeof path, "%s/w%d", c->words[1], i);
        put(open(path, O_WRONLY | O_CREAT, 0644), "new");
        unlink(path);
    }
    return true;
}

/* A path in memory that alternates between two, one of them allowed. */
static bool do_flip(const struct probe_command *c)
{
    char *path = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct open_how how = {.flags = O_WRONLY | O_CREAT, .mode = 0644};
    pid_t flipper = fork();
    if (flipper == 0)
        for (;;)
            for (int i = 1; i <= 2; i++) {
                memcpy(path, c->words[i], strlen(c->words[i]) + 1);
                for (volatile int wait = 0; wait < 300; wait++)
                    ;
            }
    for (int i = 0; i < 10000 && access(c->words[2], F_OK); i++) {
        close((int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how));
        close(open(path, O_WRONLY | O_CREAT, 0644));
    }
    kill(flipper, SIGKILL);
    waitpid(flipper, NULL, 0);
    return true;
}

static bool do_memory_program(const struct probe_command *c)
{
    char piece[65536];
    int from = open("/proc/self/exe", O_RDONLY), to = (int)syscall(SYS_memfd_create, "m", 0),
        status;
    for (ssize_t n; (n = read(from, piece, sizeof piece)) > 0;)
        if (write(to, piece, (size_t)n) != n)
            return false;
    pid_t pid = fork();
    if (pid == 0) {
        syscall(SYS_execveat, to, "",
                (const char *[]){"cordon", "selftest", "--probe", c->rest, NULL}, environ,
                AT_EMPTY_PATH);
        _exit(1);
    }
    waitpid(pid, &status, 0);
    _exit(status != 0);
}

static bool do_namespace(const struct probe_command *c)
{
    (void)c;
    return syscall(SYS_unshare, 0x10000000 /* user */) == 0;
}

static bool do_io_uring(const struct probe_command *c)
{
    char parameters[256] = {0};
    (void)c;
    return syscall(425, 1, parameters) >= 0;
}

static bool do_trace(const struct probe_command *c)
{
    char path[64];
    pid_t pid = (pid_t)atoi(c->words[1]);
    snprintf(path, sizeof path, "/proc/%d/mem", (int)pid);
    return ptrace(PTRACE_ATTACH, pid, NULL, NULL) == 0 || open(path, O_RDWR) >= 0 ||
           kill(pid, 0) == 0;
}

static bool do_signal(const struct probe_command *c)
{
    return kill((pid_t)atoi(c->words[1]), SIGTERM) == 0;
}

static bool do_shared_memory(const struct probe_command *c)
{
    (void)c;
    int id = (int)syscall(SYS_shmget, 0 /* private */, 4096, 01600);
    if (id >= 0)
        syscall(SYS_shmctl, id, 0 /* remove */, NULL);
    return id >= 0;
}

static bool do_type(const struct probe_command *c)
{
    (void)c;
    return ioctl(0, TIOCSTI, "x") == 0;
}

/* Calls whose arguments point nowhere; then a good one. */
static bool do_garbage(const struct probe_command *c)
{
    static const int calls[] = {SYS_openat,    SYS_mkdirat,  SYS_renameat2, SYS_linkat,
                                SYS_symlinkat, SYS_connect,  SYS_bind,      SYS_setxattr,
                                SYS_execve,    SYS_truncate, SYS_unlinkat,  SYS_fchmodat,
                                SYS_utimensat, SYS_openat2};
    uint32_t seed = 12345;
    for (int i = 0; i < 5000; i++) {
        long args[6];
        for (int j = 0; j < 6; j++) {
            seed = seed * 1664525 + 1013904223;
            args[j] =
                seed & 0x100 ? (long)(uintptr_t)&args : (long)((uint64_t)seed << (seed >> 26));
        }
        /* Never a number that could be an open descriptor's. */
        syscall(calls[i % (int)(sizeof calls / sizeof *calls)], args[0] | 0x10000, args[1], args[2],
                args[3], args[4], args[5]);
    }
    return put(open(c->words[1], O_WRONLY | O_CREAT, 0644), "new");
}

static void *write_one(void *name)
{
    return put(open(name, O_WRONLY | O_CREAT | O_EXCL, 0644), "new") ? NULL : name;
}

/* 200 processes with 5 threads each, and a file for every thread. */
static bool do_crowd(const struct probe_command *c)
{
    int failed = 0, status;
    for (int i = 0; i < 200; i++)
        if (fork() == 0) {
            pthread_t threads[5];
            char names[5][256];
            int bad = 0;
            for (int j = 0; j < 5; j++) {
                void *result;
                snprintf(names[j], sizeof names[j], "%s/%d-%d", c->words[1], i, j);
                bad += pthread_create(&threads[j], NULL, write_one, names[j]) != 0;
                (void)result;
            }
            for (int j = 0; j < 5; j++) {
                void *result = NULL;
                pthread_join(threads[j], &result);
                bad += result != NULL;
            }
            _exit(bad != 0);
        }
    while (wait(&status) > 0)
        failed += status != 0;
    return failed == 0;
}

static bool do_cat(const struct probe_command *c)
{
    static char piece[1 << 16];
    (void)c;
    for (ssize_t n; (n = read(0, piece, sizeof piece)) > 0;)
        for (ssize_t done = 0, one; done < n; done += one)
            if ((one = write(1, piece + done, (size_t)(n - done))) <= 0)
                return false;
    return true;
}

static bool do_device(const struct probe_command *c)
{
    return open(c->words[1], (c->words[2][0] ? O_RDONLY : O_RDWR) | O_NONBLOCK) >= 0;
}

/* Tries what must never work; every attempt begins with it. */
static bool do_canary(const struct probe_command *c)
{
    (void)c;
    put(open("../out/canary", O_WRONLY | O_CREAT, 0644), "new");
    return true;
}

static bool do_code(const struct probe_command *c)
{
    _exit(atoi(c->words[1]));
}

#define SIMPLE(name, call)                               \
    static bool do_##name(const struct probe_command *c) \
    {                                                    \
        return (call) == 0;                              \
    }
SIMPLE(mkdir, mkdir(c->words[1], 0755))
SIMPLE(rename, rename(c->words[1], c->words[2]))
SIMPLE(unlink, unlink(c->words[1]))
SIMPLE(raw_unlink, syscall(SYS_unlinkat, AT_FDCWD, c->words[1], 0))
SIMPLE(symlink, symlink(c->words[1], c->words[2]))
SIMPLE(link, link(c->words[1], c->words[2]))
SIMPLE(mode, chmod(c->words[1], (mode_t)strtol(c->words[2], NULL, 8)))
SIMPLE(xattr, setxattr(c->words[1], "user.cordon", "x", 1, 0))
SIMPLE(truncate, truncate(c->words[1], 0))
SIMPLE(cd, chdir(c->words[1]))

static const struct {
    const char *name;
    bool (*run)(const struct probe_command *c);
} commands[] = {{"write", do_write},
                {"append", do_append},
                {"bytes", do_bytes},
                {"mkdirs", do_mkdirs},
                {"raw-write", do_raw_write},
                {"reopen", do_reopen},
                {"fd-mode", do_fd_mode},
                {"times", do_times},
                {"copy", do_copy},
                {"connect", do_connect},
                {"udp", do_udp},
                {"raw-socket", do_raw_socket},
                {"unix", do_unix},
                {"unix-own", do_unix_own},
                {"child", do_child},
                {"daemon", do_daemon},
                {"run", do_run},
                {"wait", do_wait},
                {"many", do_many},
                {"flip", do_flip},
                {"memory-program", do_memory_program},
                {"namespace", do_namespace},
                {"io-uring", do_io_uring},
                {"trace", do_trace},
                {"signal", do_signal},
                {"shared-memory", do_shared_memory},
                {"type", do_type},
                {"garbage", do_garbage},
                {"crowd", do_crowd},
                {"cat", do_cat},
                {"device", do_device},
                {"canary", do_canary},
                {"code", do_code},
                {"mkdir", do_mkdir},
                {"rename", do_rename},
                {"unlink", do_unlink},
                {"raw-unlink", do_raw_unlink},
                {"symlink", do_symlink},
                {"link", do_link},
                {"mode", do_mode},
                {"xattr", do_xattr},
                {"truncate", do_truncate},
                {"cd", do_cd}};

static bool run_one(const struct probe_command *c)
{
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strcmp(c->words[0], commands[i].name) == 0)
            return commands[i].run(c);
    return false;
}

int selftest_probe(const char *script)
{
    bool good = false;
    while (*script) {
        char text[2048];
        struct probe_command c;
        size_t n = strcspn(script, ";");
        snprintf(text, sizeof text, "%.*s", (int)n, script);
        script += n + (script[n] == ';');
        script += strspn(script, " ");
        c.rest = script;
        char *save = NULL, *word = strtok_r(text, " ", &save);
        for (int i = 0; i < MOST_WORDS; i++) {
            c.words[i] = word ? word : "";
            word = word ? strtok_r(NULL, " ", &save) : NULL;
        }
        good = run_one(&c);
        if (strcmp(c.words[0], "daemon") == 0)
            break;
    }
    fflush(stdout);
    _exit(!good); /* no checker at the end: it would trace */
}
