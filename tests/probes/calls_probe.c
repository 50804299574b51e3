/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that programs make and that are easily got wrong. Usage: calls_probe TRICK [ARGUMENT]. Exit
 * code 0: it is as it should be; 1: it is not.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Callers that die while they wait for the other end of a FIFO: the last call is served like the
   first. */
static int dead_openers(const char *fifo)
{
    if (mkfifo(fifo, 0600))
        return 0;
    for (int i = 0; i < 1100; i++) {
        pid_t child = fork();
        if (child == 0)
            _exit(open(fifo, O_WRONLY));
        nanosleep(&(struct timespec){0, 3000000}, NULL);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
    }
    int fd = open("after", O_WRONLY | O_CREAT, 0644);
    return fd >= 0 && write(fd, "x", 1) == 1;
}

/* Children that are started right after a descriptor was handed over may run everywhere. */
static int pinned_children(const char *path)
{
    cpu_set_t before, now;
    int pinned = 0;
    sched_getaffinity(0, sizeof before, &before);
    for (int i = 0; i < 1000; i++) {
        int fd = open(path, O_WRONLY | O_CREAT, 0644), status;
        pid_t child = fork();
        if (child == 0) {
            nanosleep(&(struct timespec){0, 200000}, NULL);
            sched_getaffinity(0, sizeof now, &now);
            _exit(!CPU_EQUAL(&before, &now));
        }
        waitpid(child, &status, 0);
        pinned += status != 0;
        close(fd);
    }
    printf("%d of 1000 pinned\n", pinned);
    return pinned == 0;
}

/* A unix address of as many bytes as any address may have, all of them set. */
static int long_address(const char *ignored)
{
    struct sockaddr_storage address;
    (void)ignored;
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    memset(&address, 'a', sizeof address);
    address.ss_family = AF_UNIX;
    bool good = connect(fd, (void *)&address, sizeof address) && errno == EINVAL;
    return good && bind(fd, (void *)&address, sizeof address) && errno == EINVAL;
}

static int wild_times(const char *path)
{
    struct timeval times[2] = {{1, 0x7FFFFFFFFFFFFFFF}, {1, -1}};
    close(open(path, O_WRONLY | O_CREAT, 0644));
    return syscall(SYS_utimes, path, times) && errno == EINVAL;
}

/* Listens on every address; which one it got. */
static int listens_on(const char *wanted)
{
    struct sockaddr_in four = {.sin_family = AF_INET};
    struct sockaddr_in6 six = {.sin6_family = AF_INET6};
    socklen_t n = sizeof four, m = sizeof six;
    int a = socket(AF_INET, SOCK_STREAM, 0), b = socket(AF_INET6, SOCK_STREAM, 0);
    if (bind(a, (void *)&four, n) || listen(a, 1) || getsockname(a, (void *)&four, &n))
        return 0;
    bool loopback = four.sin_addr.s_addr == htonl(INADDR_LOOPBACK);
    /* A machine without the newer kind of addresses has one listener. */
    if (b >= 0 && bind(b, (void *)&six, m) == 0) {
        if (listen(b, 1) || getsockname(b, (void *)&six, &m))
            return 0;
        loopback =
            loopback && IN6_IS_ADDR_V4MAPPED(&six.sin6_addr) && six.sin6_addr.s6_addr[12] == 127;
        four.sin_port = six.sin6_port;
    }
    /* And a client of the run reaches it. */
    four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int client = socket(AF_INET, SOCK_STREAM, 0);
    return connect(client, (void *)&four, sizeof four) == 0 &&
           loopback == (strcmp(wanted, "loopback") == 0);
}

/* Shares a port with a server that allows it. */
static int share_port(const char *port)
{
    struct sockaddr_in here = {.sin_family = AF_INET,
                               .sin_port = htons((uint16_t)atoi(port)),
                               .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int on = 1, fd = socket(AF_INET, SOCK_STREAM, 0);
    setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
    return bind(fd, (void *)&here, sizeof here) == 0 && listen(fd, 1) == 0;
}

/* The server: its port in a file; until it is killed. */
static int hold_port(const char *file)
{
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t n = sizeof here;
    char name[512];
    int on = 1, fd = socket(AF_INET, SOCK_STREAM, 0);
    setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
    if (bind(fd, (void *)&here, n) || listen(fd, 10) || getsockname(fd, (void *)&here, &n))
        return 0;
    snprintf(name, sizeof name, "%s.new", file);
    FILE *f = fopen(name, "w");
    if (!f)
        return 0;
    fprintf(f, "%d\n", ntohs(here.sin_port));
    fclose(f);
    rename(name, file);
    alarm(60);
    return pause();
}

/* A line of sh in which process_vm_readv is refused, as other sandboxes do; its own code. */
static int without_readv(const char *line)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog program = {sizeof code / sizeof *code, code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0)
        execl("/bin/sh", "sh", "-c", line, NULL);
    return 0;
}

static void on_alarm(int signal)
{
    (void)signal;
}

/* Signals whose handler does not restart calls arrive all the time. */
static int steady_umask(const char *unused)
{
    struct sigaction action = {.sa_handler = on_alarm};
    struct itimerval often = {{0, 20}, {0, 20}};
    time_t end = time(NULL) + 2;
    (void)unused;
    umask(022);
    if (sigaction(SIGALRM, &action, NULL) || setitimer(ITIMER_REAL, &often, NULL))
        return 0;
    while (time(NULL) < end)
        if (umask(022) != 022)
            return 0;
    return 1;
}

/* Two processes with other masks, and one that changes its own before each file and folder. */
static int changing_umask(const char *name)
{
    char path[256];
    struct stat st;
    bool good = true;
    pid_t child = fork();
    for (unsigned i = 0; i < 300; i++) {
        mode_t mask = (i * 7 + (child ? 0 : 3)) & 077;
        umask(mask);
        snprintf(path, sizeof path, "%s-%d-%u", name, (int)getpid(), i);
        if (i % 3 == 0)
            good = good && mkdir(path, 0777) == 0;
        else
            close(open(path, O_WRONLY | O_CREAT, 0777));
        good = good && stat(path, &st) == 0 && (st.st_mode & 0777) == (0777 & ~mask);
    }
    int status = 0;
    if (child == 0)
        _exit(good ? 0 : 1);
    return waitpid(child, &status, 0) == child && status == 0 && good;
}

static const struct {
    const char *name;
    int (*run)(const char *argument);
} tricks[] = {{"dead-openers", dead_openers}, {"pinned-children", pinned_children},
              {"long-address", long_address}, {"wild-times", wild_times},
              {"listens-on", listens_on},     {"share-port", share_port},
              {"hold-port", hold_port},       {"without-readv", without_readv},
              {"steady-umask", steady_umask}, {"changing-umask", changing_umask}};

int main(int argc, char **argv)
{
    for (size_t i = 0; argc > 1 && i < sizeof tricks / sizeof *tricks; i++)
        if (strcmp(argv[1], tricks[i].name) == 0)
            return tricks[i].run(argc > 2 ? argv[2] : "") ? 0 : 1;
    return 2;
}
