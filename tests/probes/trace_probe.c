/* SPDX-License-Identifier: Apache-2.0 */
/* Reaching into other processes: what holds still, and what reaches. Exit code 0: it worked. */
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "times.h"

extern char **environ;

static volatile char buffer[8] = "old";

/* hold FILE: says who and where it is, then what is in its memory, until it is killed. */
static int hold(const char *file)
{
    char next[600];
    snprintf(next, sizeof next, "%s.next", file);
    for (;;) {
        FILE *f = fopen(next, "w");
        if (!f)
            return 1;
        fprintf(f, "%d %llx %s\n", (int)getpid(), (unsigned long long)(uintptr_t)buffer,
                (const char *)buffer);
        fclose(f);
        rename(next, file);
        usleep(5000);
    }
}

static bool reach_read(pid_t pid, uintptr_t address)
{
    char got[8] = "";
    struct iovec here = {got, 3}, there = {(void *)address, 3};
    return process_vm_readv(pid, &here, 1, &there, 1, 0) == 3 && strcmp(got, "old") == 0;
}

static bool reach_write(pid_t pid, uintptr_t address)
{
    struct iovec here = {"new", 3}, there = {(void *)address, 3};
    return process_vm_writev(pid, &here, 1, &there, 1, 0) == 3;
}

static bool reach_attach(pid_t pid, uintptr_t address)
{
    int status;
    (void)address;
    if (ptrace(PTRACE_ATTACH, pid, NULL, NULL) || waitpid(pid, &status, __WALL) != pid)
        return false;
    return ptrace(PTRACE_DETACH, pid, NULL, NULL) == 0;
}

static bool reach_seize(pid_t pid, uintptr_t address)
{
    (void)address;
    return ptrace(PTRACE_SEIZE, pid, NULL, NULL) == 0;
}

static bool reach_poke(pid_t pid, uintptr_t address)
{
    int status;
    uint64_t word = 0x77656E; /* "new" */
    if (ptrace(PTRACE_ATTACH, pid, NULL, NULL) || waitpid(pid, &status, __WALL) != pid)
        return false;
    long rc = ptrace(PTRACE_POKEDATA, pid, (void *)address, (void *)word);
    ptrace(PTRACE_DETACH, pid, NULL, NULL);
    return rc == 0;
}

static bool reach_mem(pid_t pid, uintptr_t address)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/mem", (int)pid);
    int fd = open(path, O_RDWR);
    return fd >= 0 && pwrite(fd, "new", 3, (off_t)address) == 3;
}

static pid_t parent_of(pid_t pid)
{
    char path[64];
    int parent = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *f = fopen(path, "r");
    if (f && fscanf(f, "%*d (%*[^)]) %*c %d", &parent) != 1)
        parent = 0;
    if (f)
        fclose(f);
    return parent;
}

/* The parent, and the parent's parent. */
static bool reach_above(pid_t pid, uintptr_t address)
{
    (void)pid;
    pid_t one = getppid(), two = parent_of(one);
    return reach_seize(one, address) || (two > 1 && reach_seize(two, address));
}

static const struct {
    const char *name;
    bool (*run)(pid_t pid, uintptr_t address);
} ways[] = {{"read", reach_read},   {"write", reach_write}, {"attach", reach_attach},
            {"seize", reach_seize}, {"poke", reach_poke},   {"above", reach_above},
            {"mem", reach_mem}};

/* own FILE: a child of one's own, by every way but the file that only the broker opens. */
static int own(const char *file)
{
    bool good = true;
    for (size_t i = 0; i < 5; i++) {
        pid_t child = fork();
        if (child == 0)
            for (;;)
                pause();
        good = ways[i].run(child, (uintptr_t)buffer) && good;
        kill(child, SIGKILL);
        waitpid(child, NULL, __WALL);
    }
    int fd = good ? open(file, O_WRONLY | O_CREAT, 0644) : -1;
    return fd >= 0 && write(fd, "ok", 2) == 2 ? 0 : 1;
}

#ifdef __x86_64__
/* Follows one child: every call that would let the broker look at a new program is left out. */
static void follow(pid_t child)
{
    int status;
    bool entering = true;
    ptrace(PTRACE_SEIZE, child, NULL, (void *)(PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL));
    ptrace(PTRACE_INTERRUPT, child, NULL, NULL);
    while (waitpid(child, &status, __WALL) == child && WIFSTOPPED(status)) {
        struct user_regs_struct regs;
        if (WSTOPSIG(status) == (SIGTRAP | 0x80)) {
            if (entering && ptrace(PTRACE_GETREGS, child, NULL, &regs) == 0 &&
                regs.orig_rax == SYS_set_tid_address)
                ptrace(PTRACE_POKEUSER, child, (void *)offsetof(struct user_regs_struct, orig_rax),
                       (void *)SYS_getpid);
            entering = !entering;
        }
        ptrace(PTRACE_SYSCALL, child, NULL, NULL);
    }
}

/* flip FILE: the path changes between the look and the start, and a tracer hides the start. */
static int flip(const char *made)
{
    char *path = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t flipper;
    strcpy(path, "/usr/bin/true");
    if ((flipper = fork()) == 0)
        for (;;) {
            memcpy(path + 9, "true\0", 6);
            __asm__ volatile("" ::: "memory");
            memcpy(path + 9, "touch", 6);
            __asm__ volatile("" ::: "memory");
        }
    for (int i = 0; i < times(400) && access(made, F_OK); i++) {
        pid_t child = fork();
        if (child == 0) {
            usleep(1000);
            for (int j = 0; j < 20; j++)
                execve(path, (char *[]){"x", (char *)made, NULL}, environ);
            _exit(1);
        }
        follow(child);
    }
    kill(flipper, SIGKILL);
    return access(made, F_OK) ? 1 : 0;
}
#else
static int flip(const char *made)
{
    (void)made;
    return 1;
}
#endif

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    if (strcmp(argv[1], "hold") == 0)
        return hold(argv[2]);
    if (strcmp(argv[1], "own") == 0)
        return own(argv[2]);
    if (strcmp(argv[1], "flip") == 0)
        return flip(argv[2]);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (argc == 4 && strcmp(argv[1], ways[i].name) == 0)
            return ways[i].run(atoi(argv[2]), (uintptr_t)strtoull(argv[3], NULL, 16)) ? 0 : 1;
    return 2;
}
