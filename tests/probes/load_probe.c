/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Load, inside the sandbox or without it.
 *   load_probe threads N M FOLDER    N threads make, write and read back M files each
 *   load_probe processes N FOLDER    N times fork and exec, 8 at once; each makes one file
 *   load_probe signals N FOLDER      N folders made under a rain of signals: no call fails
 *   load_probe every N FOLDER        every call that goes to the broker N times, under the same
 * rain load_probe execs N FOLDER        N programs started while signals arrive; each makes one
 * file load_probe descriptors FOLDER    opens until none is left; the error must be EMFILE
 *   load_probe full FILE             writes until the disk is full; the error must be ENOSPC
 *   load_probe kills N FOLDER        children that write, killed at any moment
 *   load_probe crowd N M FOLDER      N processes with M threads each that ask at the same moment
 * Exit code 0: as it should be.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *folder;
static int many;

static bool write_file(const char *path, const char *text)
{
    char back[64] = "";
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0644);
    bool good = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text) &&
                pread(fd, back, sizeof back - 1, 0) == (ssize_t)strlen(text) &&
                strcmp(back, text) == 0;
    if (fd >= 0)
        close(fd);
    return good;
}

static void *write_many(void *context)
{
    long number = (long)context;
    char path[512], text[64];
    for (int i = 0; i < many; i++) {
        snprintf(path, sizeof path, "%s/t%ld-%d", folder, number, i);
        snprintf(text, sizeof text, "%ld %d", number, i);
        if (!write_file(path, text))
            return (void *)1;
    }
    return NULL;
}

static int do_threads_of(void *(*work)(void *), int count)
{
    pthread_t threads[256];
    int failed = 0;
    for (long i = 0; i < count; i++)
        if (pthread_create(&threads[i], NULL, work, (void *)i))
            return 1;
    for (int i = 0; i < count; i++) {
        void *result;
        pthread_join(threads[i], &result);
        failed += result != NULL;
    }
    return failed;
}

static int do_processes(int count, const char *self)
{
    int running = 0, failed = 0, status;
    for (int i = 0; i < count; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/p%d", folder, i);
        if (running == 8) {
            wait(&status);
            failed += status != 0;
            running--;
        }
        pid_t pid = fork();
        if (pid == 0) {
            execl(self, self, "one", path, (char *)NULL);
            _exit(1);
        }
        running += pid > 0;
        failed += pid < 0;
    }
    while (wait(&status) > 0)
        failed += status != 0;
    return failed;
}

static void on_alarm(int number)
{
    (void)number;
}

static int do_signals(int count)
{
    struct sigaction action = {.sa_handler = on_alarm};
    struct itimerval often = {{0, 150}, {0, 150}};
    char path[512];
    int failed = 0;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    for (int i = 0; i < count; i++) {
        int rc;
        snprintf(path, sizeof path, "%s/s%d", folder, i);
        while ((rc = mkdir(path, 0755)) && errno == EINTR)
            ;
        failed += rc != 0;
    }
    return failed;
}

/* An interrupted call may be repeated, but must not have taken effect already. */
#define AGAIN(call)                                              \
    do {                                                         \
        int rc;                                                  \
        while ((rc = (int)(call)) < 0 && errno == EINTR)         \
            ;                                                    \
        if (rc < 0) {                                            \
            fprintf(stderr, "%s: %s\n", #call, strerror(errno)); \
            return 1;                                            \
        }                                                        \
    } while (0)

static int every_call(int i)
{
    char a[512], b[512], c[512];
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = -1, s = -1;
    snprintf(a, sizeof a, "%s/a%d", folder, i);
    snprintf(b, sizeof b, "%s/b%d", folder, i);
    snprintf(c, sizeof c, "%s/c%d", folder, i);
    snprintf(address.sun_path, sizeof address.sun_path, "s%d", i);
    AGAIN(fd = open(a, O_RDWR | O_CREAT | O_EXCL, 0644));
    AGAIN(fchmod(fd, 0640));
    AGAIN(fchown(fd, getuid(), (gid_t)-1));
    AGAIN(futimens(fd, NULL));
    AGAIN(close(fd));
    AGAIN(fd = open(a, O_WRONLY | O_TRUNC));
    AGAIN(close(fd));
    AGAIN(chmod(a, 0600));
    AGAIN(truncate(a, 3));
    AGAIN(utimensat(AT_FDCWD, a, NULL, 0));
    AGAIN(rename(a, b));
    AGAIN(link(b, c));
    AGAIN(unlink(c));
    AGAIN(symlink(b, c));
    AGAIN(unlink(c));
    AGAIN(mkdir(c, 0755));
    AGAIN(rmdir(c));
    AGAIN(mkfifo(c, 0600));
    AGAIN(unlink(c));
    if ((int)umask(022) < 0)
        return 1;
    AGAIN(s = socket(AF_UNIX, SOCK_STREAM, 0));
    AGAIN(bind(s, (struct sockaddr *)&address, sizeof address));
    AGAIN(listen(s, 1));
    AGAIN(fd = socket(AF_UNIX, SOCK_STREAM, 0));
    AGAIN(connect(fd, (struct sockaddr *)&address, sizeof address));
    AGAIN(close(fd));
    AGAIN(close(s));
    AGAIN(unlink(address.sun_path));
    return 0;
}

static int do_every(int count)
{
    struct sigaction action = {.sa_handler = on_alarm};
    struct itimerval often = {{0, 150}, {0, 150}};
    int failed = 0;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    for (int i = 0; i < count; i++)
        failed += every_call(i);
    return failed;
}

/* A signal that a program without a handler does not notice. */
static int do_execs(int count, const char *self)
{
    int failed = 0, status;
    for (int i = 0; i < count; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/e%d", folder, i);
        pid_t pid = fork();
        if (pid == 0) {
            struct sigaction action = {.sa_handler = on_alarm};
            sigaction(SIGWINCH, &action, NULL);
            do
                execl(self, self, "one", path, (char *)NULL);
            while (errno == EINTR);
            _exit(1);
        }
        while (waitpid(pid, &status, WNOHANG) == 0) {
            kill(pid, SIGWINCH);
            usleep(50);
        }
        failed += status != 0;
    }
    return failed;
}

static int do_descriptors(void)
{
    struct rlimit few = {32, 32};
    char path[512];
    setrlimit(RLIMIT_NOFILE, &few);
    for (int i = 0; i < 64; i++) {
        snprintf(path, sizeof path, "%s/d%d", folder, i);
        if (open(path, O_WRONLY | O_CREAT, 0644) < 0)
            return errno == EMFILE && i > 20 ? 0 : 1;
    }
    return 1;
}

static int do_full(void)
{
    static char piece[4096];
    int fd = open(folder, O_WRONLY | O_CREAT, 0644);
    for (int i = 0; fd >= 0 && i < 1000000; i++)
        if (write(fd, piece, sizeof piece) < 0)
            return errno == ENOSPC ? 0 : 1;
    return 1;
}

static int do_kills(int count)
{
    for (int i = 0; i < count; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            char path[512];
            for (int j = 0;; j++) {
                snprintf(path, sizeof path, "%s/k%d-%d", folder, i, j % 7);
                int fd = open(path, O_WRONLY | O_CREAT, 0644);
                (void)!write(fd, "x", 1);
                close(fd);
                unlink(path);
            }
        }
        usleep((useconds_t)(i * 7919 % 3000));
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
    }
    char path[512];
    snprintf(path, sizeof path, "%s/after", folder);
    return !write_file(path, "after");
}

struct crowd {
    int ready, go;
};
static struct crowd *crowd;
static long crowd_number;

static void *ask_with_others(void *context)
{
    char path[512];
    snprintf(path, sizeof path, "%s/c%ld-%ld", folder, crowd_number, (long)context);
    __atomic_add_fetch(&crowd->ready, 1, __ATOMIC_SEQ_CST);
    while (!__atomic_load_n(&crowd->go, __ATOMIC_SEQ_CST))
        usleep(1000);
    bool good = write_file(path, path);
    return good && open("../out/crowd", O_WRONLY | O_CREAT, 0644) < 0 ? NULL : (void *)1;
}

static int do_crowd(int count)
{
    int failed = 0, status;
    crowd = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (crowd_number = 0; crowd_number < count; crowd_number++)
        if (fork() == 0) {
            int bad = do_threads_of(ask_with_others, many);
            _exit(bad != 0);
        }
    for (int i = 0; i < 20000 && __atomic_load_n(&crowd->ready, __ATOMIC_SEQ_CST) < count * many;
         i++)
        usleep(1000);
    failed += __atomic_load_n(&crowd->ready, __ATOMIC_SEQ_CST) != count * many;
    __atomic_store_n(&crowd->go, 1, __ATOMIC_SEQ_CST);
    while (wait(&status) > 0)
        failed += status != 0;
    return failed;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    folder = argv[argc - 1];
    int count = atoi(argv[2]);
    many = argc > 4 ? atoi(argv[3]) : 0;
    if (strcmp(argv[1], "threads") == 0)
        return do_threads_of(write_many, count > 256 ? 256 : count) != 0;
    if (strcmp(argv[1], "crowd") == 0)
        return do_crowd(count) != 0;
    if (strcmp(argv[1], "processes") == 0)
        return do_processes(count, argv[0]) != 0;
    if (strcmp(argv[1], "signals") == 0)
        return do_signals(count) != 0;
    if (strcmp(argv[1], "every") == 0)
        return do_every(count) != 0;
    if (strcmp(argv[1], "execs") == 0)
        return do_execs(count, argv[0]) != 0;
    if (strcmp(argv[1], "kills") == 0)
        return do_kills(count);
    if (strcmp(argv[1], "descriptors") == 0)
        return do_descriptors();
    if (strcmp(argv[1], "full") == 0)
        return do_full();
    if (strcmp(argv[1], "one") == 0)
        return !write_file(folder, "one");
    return 2;
}
