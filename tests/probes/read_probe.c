/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ways of getting at a file's content. Usage: read_probe WAY FILE [OTHER]; what was read goes to
 * stdout. Exit code 0: something was read.
 */
#include <fcntl.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "times.h"

static int show(int fd)
{
    char piece[4096];
    int any = 0;
    lseek(fd, 0, SEEK_SET);
    for (ssize_t n; fd >= 0 && (n = read(fd, piece, sizeof piece)) > 0; any = 1)
        (void)!write(1, piece, (size_t)n);
    return any;
}

static int reopen(int fd)
{
    char own[64];
    snprintf(own, sizeof own, "/proc/self/fd/%d", fd);
    return show(open(own, O_RDONLY));
}

static int by_openat2(const char *file, const char *other)
{
    struct open_how how = {.flags = O_RDONLY};
    (void)other;
    int fd = (int)syscall(SYS_openat2, AT_FDCWD, file, &how, sizeof how);
    return show(fd < 0 ? open(file, O_RDONLY) : fd);
}

static int by_read_write(const char *file, const char *other)
{
    (void)other;
    return show(open(file, O_RDWR));
}

static int by_old_open(const char *file, const char *other)
{
    (void)other;
    return show((int)syscall(SYS_open, file, O_RDONLY, 0));
}

static int by_mmap(const char *file, const char *other)
{
    (void)other;
    int fd = open(file, O_RDONLY);
    char *bytes = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
    return bytes != MAP_FAILED && write(1, bytes, strnlen(bytes, 4096)) > 0;
}

static int by_sendfile(const char *file, const char *other)
{
    (void)other;
    return sendfile(1, open(file, O_RDONLY), NULL, 4096) > 0;
}

static int by_path(const char *file, const char *other)
{
    (void)other;
    return reopen(open(file, O_PATH));
}

/* The name goes away, the descriptor stays. */
static int by_unlinked_path(const char *file, const char *other)
{
    (void)other;
    int fd = open(file, O_PATH);
    unlink(file);
    return reopen(fd);
}

static int by_unlinked_write(const char *file, const char *other)
{
    (void)other;
    int fd = open(file, O_WRONLY);
    unlink(file);
    return reopen(fd);
}

static int by_root(const char *file, const char *other)
{
    char path[4096], here[2048];
    (void)other;
    snprintf(path, sizeof path, "/proc/self/root%s/%s", getcwd(here, sizeof here), file);
    return show(open(path, O_RDONLY));
}

static int by_cwd(const char *file, const char *other)
{
    char path[4096];
    (void)other;
    snprintf(path, sizeof path, "/proc/self/cwd/%s", file);
    return show(open(path, O_RDONLY));
}

static int by_folder(const char *file, const char *other)
{
    return show(openat(open(file, O_RDONLY | O_DIRECTORY), other, O_RDONLY));
}

static int by_folder_path(const char *file, const char *other)
{
    return show(openat(open(file, O_PATH), other, O_RDONLY));
}

static int by_append(const char *file, const char *other)
{
    (void)other;
    return show(open(file, O_RDWR | O_APPEND | O_CREAT, 0600));
}

/* The path changes between a file that may be read and one that may not. */
static int by_flip(const char *file, const char *other)
{
    char *path = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    size_t a = strlen(file) + 1, b = strlen(other) + 1;
    pid_t flipper = fork();
    if (flipper == 0)
        for (;;) {
            memcpy(path, file, a);
            for (volatile int i = 0; i < 300; i++)
                ;
            memcpy(path, other, b);
            for (volatile int i = 0; i < 300; i++)
                ;
        }
    int shown = 0;
    for (int i = 0; i < times(20000) && shown < 4000; i++) {
        int fd = open(path, O_RDONLY);
        if (fd >= 0) {
            shown += show(fd);
            close(fd);
        }
    }
    kill(flipper, SIGKILL);
    return shown;
}

/* The same with a program's path: a script shows itself. */
static int by_exec_flip(const char *file, const char *other)
{
    char *path = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    size_t a = strlen(file) + 1, b = strlen(other) + 1;
    pid_t flipper = fork();
    if (flipper == 0)
        for (;;) {
            memcpy(path, file, a);
            for (volatile int i = 0; i < 300; i++)
                ;
            memcpy(path, other, b);
            for (volatile int i = 0; i < 300; i++)
                ;
        }
    for (int i = 0; i < times(400); i++) {
        pid_t child = fork();
        if (child == 0) {
            for (int j = 0; j < 20; j++)
                execve(path, (char *[]){"x", NULL}, environ);
            _exit(1);
        }
        waitpid(child, NULL, 0);
    }
    kill(flipper, SIGKILL);
    return 1;
}

static int by_outside_environ(const char *pid, const char *other)
{
    char path[64];
    (void)other;
    snprintf(path, sizeof path, "/proc/%s/environ", pid);
    return show(open(path, O_RDONLY));
}

static void *in_thread(void *file)
{
    return (void *)(long)show(open(file, O_RDONLY));
}

static int by_thread(const char *file, const char *other)
{
    pthread_t thread;
    void *shown = NULL;
    (void)other;
    pthread_create(&thread, NULL, in_thread, (void *)file);
    pthread_join(thread, &shown);
    return shown != NULL;
}

static const struct {
    const char *name;
    int (*run)(const char *file, const char *other);
} ways[] = {{"openat2", by_openat2},
            {"read-write", by_read_write},
            {"open", by_old_open},
            {"mmap", by_mmap},
            {"sendfile", by_sendfile},
            {"path", by_path},
            {"unlinked-path", by_unlinked_path},
            {"unlinked-write", by_unlinked_write},
            {"root", by_root},
            {"cwd", by_cwd},
            {"folder", by_folder},
            {"folder-path", by_folder_path},
            {"append", by_append},
            {"flip", by_flip},
            {"exec-flip", by_exec_flip},
            {"outside-environ", by_outside_environ},
            {"thread", by_thread}};

int main(int argc, char **argv)
{
    for (size_t i = 0; argc > 2 && i < sizeof ways / sizeof *ways; i++)
        if (strcmp(argv[1], ways[i].name) == 0)
            return ways[i].run(argv[2], argc > 3 ? argv[3] : "") ? 0 : 1;
    return 2;
}
