/* SPDX-License-Identifier: Apache-2.0 */
/* Other processes, terminals, devices and the kernel. */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "escape.h"

static bool signal_zero(const char *const *w)
{
    return kill(atoi(w[0]), 0) == 0;
}

static bool signal_thread(const char *const *w)
{
    return syscall(SYS_tgkill, atoi(w[0]), atoi(w[0]), 0) == 0;
}

static bool signal_tkill(const char *const *w)
{
    return syscall(SYS_tkill, atoi(w[0]), 0) == 0;
}

static bool signal_queue(const char *const *w)
{
    return sigqueue(atoi(w[0]), 0, (union sigval){0}) == 0;
}

static bool signal_pidfd(const char *const *w)
{
    return syscall(SYS_pidfd_send_signal, syscall(SYS_pidfd_open, atoi(w[0]), 0), 0, NULL, 0) == 0;
}

static bool traced(const char *const *w)
{
    return ptrace(PTRACE_SEIZE, atoi(w[0]), NULL, NULL) == 0;
}

static bool memory_file(const char *const *w)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%s/mem", w[0]);
    return open(path, O_RDWR) >= 0;
}

static bool memory_read(const char *const *w)
{
    char byte;
    struct iovec here = {&byte, 1}, there = {(void *)(uintptr_t)strtoull(w[1], NULL, 16), 1};
    return process_vm_readv(atoi(w[0]), &here, 1, &there, 1, 0) == 1;
}

static bool descriptor_taken(const char *const *w)
{
    return syscall(SYS_pidfd_getfd, syscall(SYS_pidfd_open, atoi(w[0]), 0), 0, 0) >= 0;
}

static bool descriptor_opened(const char *const *w)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%s/fd/%s", w[0], w[1]);
    return put(open(path, O_WRONLY));
}

static bool folder_of(const char *const *w)
{
    char path[256];
    snprintf(path, sizeof path, "/proc/%s/cwd/%s", w[0], w[1]);
    return put(open(path, O_WRONLY | O_CREAT, 0644));
}

static bool oom_score(const char *const *w)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%s/oom_score_adj", w[0]);
    int fd = open(path, O_WRONLY);
    return fd >= 0 && write(fd, "500", 3) == 3;
}

static bool priority(const char *const *w)
{
    return setpriority(PRIO_PROCESS, (id_t)atoi(w[0]), 19) == 0;
}

static bool priority_group(const char *const *w)
{
    return setpriority(PRIO_PGRP, (id_t)atoi(w[0]), 19) == 0;
}

static bool scheduler(const char *const *w)
{
    struct sched_param none = {0};
    return sched_setscheduler(atoi(w[0]), 5 /* idle */, &none) == 0;
}

static bool scheduler_parameter(const char *const *w)
{
    struct sched_param none = {0};
    return sched_setparam(atoi(w[0]), &none) == 0;
}

static bool scheduler_attribute(const char *const *w)
{
    struct {
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t rest[3];
    } given = {.size = 48, .policy = 5};
    return syscall(314 /* sched_setattr */, atoi(w[0]), &given, 0) == 0;
}

static bool affinity(const char *const *w)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(0, &one);
    return sched_setaffinity(atoi(w[0]), sizeof one, &one) == 0;
}

static bool io_priority(const char *const *w)
{
    return syscall(SYS_ioprio_set, 1, atoi(w[0]), 3 << 13) == 0;
}

static bool limits(const char *const *w)
{
    struct rlimit now;
    return prlimit(atoi(w[0]), RLIMIT_CORE, NULL, &now) == 0 &&
           prlimit(atoi(w[0]), RLIMIT_CORE, &now, NULL) == 0;
}

/* A process outside without capabilities, so that root's are no reason why it cannot be touched. */
static bool rest(const char *const *w)
{
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct none[2] = {{0}};
    (void)w;
    if (syscall(SYS_capset, &header, none))
        return false;
    for (;;)
        pause();
}

/* The process above all of the run. */
static bool reaper_idle(const char *const *w)
{
    struct sched_param none = {0};
    char path[64], text[512] = "";
    pid_t pid = getpid();
    (void)w;
    for (int up = 0; up < 2 && pid > 1; up++) {
        snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
        int fd = open(path, O_RDONLY);
        ssize_t n = read(fd, text, sizeof text - 1);
        close(fd);
        char *end = n > 0 ? strrchr(text, ')') : NULL;
        if (!end || sscanf(end + 1, " %*c %d", &pid) != 1)
            return false;
    }
    return pid > 1 && sched_setscheduler(pid, 5, &none) == 0;
}

static bool namespace_user(const char *const *w)
{
    (void)w;
    return unshare(0x10000000) == 0;
}

static bool namespace_clone(const char *const *w)
{
    (void)w;
    pid_t child = (pid_t)syscall(SYS_clone, 0x10000000 | SIGCHLD, 0, 0, 0, 0);
    if (child == 0)
        _exit(0);
    return child > 0;
}

static bool namespace_clone3(const char *const *w)
{
    uint64_t arguments[11] = {0x10000000, 0, 0, 0, SIGCHLD};
    (void)w;
    pid_t child = (pid_t)syscall(435, arguments, 64);
    if (child == 0)
        _exit(0);
    return child > 0;
}

static bool uring(const char *const *w)
{
    char room[256] = {0};
    (void)w;
    return syscall(425, 1, room) >= 0;
}

static bool shared_memory(const char *const *w)
{
    (void)w;
    long id = syscall(SYS_shmget, 0x7777, 4096, 01600);
    return id >= 0 && syscall(SYS_shmctl, id, 0, NULL) == 0;
}

static bool semaphores(const char *const *w)
{
    (void)w;
    long id = syscall(SYS_semget, 0x7777, 1, 01600);
    return id >= 0 && syscall(SYS_semctl, id, 0, 0, NULL) == 0;
}

static bool messages(const char *const *w)
{
    (void)w;
    long id = syscall(SYS_msgget, 0x7777, 01600);
    return id >= 0 && syscall(SYS_msgctl, id, 0, NULL) == 0;
}

static bool message_queue(const char *const *w)
{
    (void)w;
    return syscall(SYS_mq_open, "cordon-escape", O_RDWR | O_CREAT, 0600, NULL) >= 0 &&
           syscall(SYS_mq_unlink, "cordon-escape") == 0;
}

static bool key(const char *const *w)
{
    (void)w;
    return syscall(SYS_add_key, "user", "cordon-escape", "x", 1, -2) >= 0;
}

static bool faults(const char *const *w)
{
    (void)w;
    return syscall(SYS_userfaultfd, 1 /* user mode only */) >= 0;
}

static bool bpf(const char *const *w)
{
    struct {
        uint32_t type, key, value, entries;
        char rest[112];
    } map = {2, 4, 4, 1, {0}};
    (void)w;
    return syscall(SYS_bpf, 0, &map, sizeof map) >= 0;
}

static bool watch_all(const char *const *w)
{
    (void)w;
    return syscall(SYS_fanotify_init, 0x200, O_RDONLY) >= 0;
}

static bool counters(const char *const *w)
{
    char room[128] = {1, 0, 0, 0, 112};
    room[40] = 0x60; /* without the kernel */
    (void)w;
    return syscall(SYS_perf_event_open, room, 0, -1, -1, 0) >= 0;
}

static bool root_moved(const char *const *w)
{
    return chroot(w[0]) == 0;
}

static bool mounted(const char *const *w)
{
    (void)w;
    return syscall(428 /* open_tree */, AT_FDCWD, ".", 1) >= 0;
}

static bool personality_set(const char *const *w)
{
    (void)w;
    return syscall(SYS_personality, 0x0040000) >= 0;
}

static bool old_abi(const char *const *w)
{
    long result;
    (void)w;
    __asm__ volatile("int $0x80" : "=a"(result) : "a"(20) : "memory"); /* getpid */
    return result > 0;
}

static bool landlock(const char *const *w)
{
    struct landlock_ruleset_attr attr = {.handled_access_fs = LANDLOCK_ACCESS_FS_WRITE_FILE};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    int ruleset = (int)syscall(444, &attr, 8, 0);
    if (ruleset < 0 || syscall(446, ruleset, 0))
        return false;
    /* It gave writing up: if it writes all the same, its own sandbox is void. */
    return put(open(w[0], O_WRONLY | O_CREAT, 0644));
}

static bool landlock_made(const char *const *w)
{
    struct landlock_ruleset_attr attr = {.handled_access_fs = LANDLOCK_ACCESS_FS_WRITE_FILE};
    (void)w;
    return syscall(444, &attr, 8, 0) >= 0;
}

static int terminal(char *name, size_t capacity)
{
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    if (master < 0 || grantpt(master) || unlockpt(master) || ptsname_r(master, name, capacity))
        return -1;
    return master;
}

/* A terminal outside: its name in w[0]/name; what comes out of it in w[0]/seen. Twice a second
   somebody types. */
static bool terminal_serve(const char *const *w)
{
    char name[64], path[512], final[512], piece[256];
    int master = terminal(name, sizeof name), slave = open(name, O_RDWR | O_NOCTTY);
    struct termios raw;
    tcgetattr(slave, &raw);
    cfmakeraw(&raw);
    tcsetattr(slave, TCSANOW, &raw);
    snprintf(path, sizeof path, "%s/seen", w[0]);
    int seen = open(path, O_WRONLY | O_CREAT | O_APPEND, 0644);
    snprintf(path, sizeof path, "%s/name.new", w[0]);
    snprintf(final, sizeof final, "%s/name", w[0]);
    FILE *f = fopen(path, "w");
    if (master < 0 || slave < 0 || seen < 0 || !f)
        return false;
    fputs(name, f);
    fclose(f);
    rename(path, final);
    for (;;) {
        struct pollfd watch = {master, POLLIN, 0};
        if (poll(&watch, 1, 100) == 1) {
            ssize_t n = read(master, piece, sizeof piece);
            (void)!write(seen, piece, n > 0 ? (size_t)n : 0);
        }
        (void)!write(master, "K", 1);
    }
}

static bool terminal_write(const char *const *w)
{
    return put(open(w[0], O_WRONLY | O_NOCTTY));
}

static bool terminal_both(const char *const *w)
{
    return put(open(w[0], O_RDWR | O_NOCTTY));
}

static bool terminal_read(const char *const *w)
{
    char byte;
    int fd = open(w[0], O_RDONLY | O_NOCTTY | O_NONBLOCK);
    struct pollfd watch = {fd, POLLIN, 0};
    return fd >= 0 && poll(&watch, 1, 2000) == 1 && read(fd, &byte, 1) == 1;
}

static bool terminal_stop(const char *const *w)
{
    int fd = open(w[0], O_RDONLY | O_NOCTTY | O_NONBLOCK);
    return fd >= 0 && ioctl(fd, TCXONC, TCOOFF) == 0 && ioctl(fd, TCXONC, TCOON) == 0;
}

static bool terminal_exclusive(const char *const *w)
{
    int fd = open(w[0], O_RDONLY | O_NOCTTY | O_NONBLOCK);
    return fd >= 0 && ioctl(fd, TIOCEXCL) == 0 && ioctl(fd, TIOCNXCL) == 0;
}

static bool terminal_settings(const char *const *w)
{
    struct termios now;
    int fd = open(w[0], O_RDONLY | O_NOCTTY | O_NONBLOCK);
    return fd >= 0 && tcgetattr(fd, &now) == 0 && tcsetattr(fd, TCSANOW, &now) == 0;
}

static bool terminal_type(const char *const *w)
{
    char byte = 'x';
    int fd = open(w[0], O_RDONLY | O_NOCTTY | O_NONBLOCK);
    return fd >= 0 && (ioctl(fd, TIOCSTI, &byte) == 0 || ioctl(fd, TCFLSH, TCIFLUSH) == 0);
}

static bool device_ioctl(const char *const *w)
{
    char room[512] = {0};
    int fd = open(w[0], O_RDONLY);
    return fd >= 0 &&
           (ioctl(fd, (unsigned long)strtoul(w[1], NULL, 0), room) >= 0 || errno == ENXIO);
}

const struct trick process_tricks[] = {{"signal", signal_zero},
                                       {"signal-thread", signal_thread},
                                       {"signal-tkill", signal_tkill},
                                       {"signal-queue", signal_queue},
                                       {"signal-pidfd", signal_pidfd},
                                       {"traced", traced},
                                       {"memory-file", memory_file},
                                       {"memory-read", memory_read},
                                       {"descriptor-taken", descriptor_taken},
                                       {"descriptor-opened", descriptor_opened},
                                       {"folder-of", folder_of},
                                       {"oom-score", oom_score},
                                       {"priority", priority},
                                       {"priority-group", priority_group},
                                       {"scheduler", scheduler},
                                       {"scheduler-parameter", scheduler_parameter},
                                       {"scheduler-attribute", scheduler_attribute},
                                       {"affinity", affinity},
                                       {"io-priority", io_priority},
                                       {"limits", limits},
                                       {"rest", rest},
                                       {"reaper-idle", reaper_idle},
                                       {"namespace-user", namespace_user},
                                       {"namespace-clone", namespace_clone},
                                       {"namespace-clone3", namespace_clone3},
                                       {"uring", uring},
                                       {"shared-memory", shared_memory},
                                       {"semaphores", semaphores},
                                       {"messages", messages},
                                       {"message-queue", message_queue},
                                       {"key", key},
                                       {"faults", faults},
                                       {"bpf", bpf},
                                       {"watch-all", watch_all},
                                       {"counters", counters},
                                       {"root-moved", root_moved},
                                       {"mounted", mounted},
                                       {"personality", personality_set},
                                       {"old-abi", old_abi},
                                       {"landlock", landlock},
                                       {"landlock-made", landlock_made},
                                       {"terminal-serve", terminal_serve},
                                       {"terminal-write", terminal_write},
                                       {"terminal-both", terminal_both},
                                       {"terminal-read", terminal_read},
                                       {"terminal-stop", terminal_stop},
                                       {"terminal-exclusive", terminal_exclusive},
                                       {"terminal-settings", terminal_settings},
                                       {"terminal-type", terminal_type},
                                       {"device-ioctl", device_ioctl},
                                       {NULL, NULL}};
