/* SPDX-License-Identifier: Apache-2.0 */
/* A binary search over call numbers, then the action; everything else passes. */
#include "launch/linux/filter.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/prctl.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sys/socket.h>

enum { NONE = -1 };

enum action {
    DO_NOTIFY,
    DO_OPEN,
    DO_EPERM,
    DO_ENOSYS,
    DO_CLONE,
    DO_SOCKET,
    DO_PAIR,
    DO_IOCTL,
    DO_PRCTL,
    DO_PRLIMIT,
    DO_SEND,
    DO_SETSOCK,
    DO_OPENAT2,
    DO_SIGNAL,
    DO_FCNTL,
    DO_OTHERS,
    DO_PRIORITY,
    DO_LANDLOCK
};

struct call {
    const char *name;
    int number[2]; /* by filter_arch */
    enum action action;
    int argument;
};

static const struct call calls[] = {
#define CALL(name, x86_64, arm64, action, argument) {#name, {x86_64, arm64}, DO_##action, argument},
#define SERVE(name, x86_64, arm64, action, argument, handler) \
    CALL(name, x86_64, arm64, action, argument)
#include "launch/linux/calls.def"
#undef CALL
#undef SERVE
};

/* Numbers above this were unknown when the table was made. */
static const int last_known[] = {450, 450};
static const uint32_t audit_arch[] = {AUDIT_ARCH_X86_64, AUDIT_ARCH_AARCH64};

struct program {
    struct sock_filter *out;
    size_t n, capacity;
    const struct filter_plan *plan;
};

static size_t emit(struct program *p, uint16_t code, uint32_t k, uint8_t jt, uint8_t jf)
{
    if (p->n < p->capacity)
        p->out[p->n] = (struct sock_filter){code, jt, jf, k};
    return p->n++;
}

static void answer(struct program *p, uint32_t value)
{
    emit(p, BPF_RET | BPF_K, value, 0, 0);
}

static void refuse(struct program *p, uint32_t error)
{
    answer(p, SECCOMP_RET_ERRNO | error);
}

/* The lower half of an argument; these calls only look at ints. */
static void load_argument(struct program *p, int index)
{
    emit(p, BPF_LD | BPF_W | BPF_ABS,
         (uint32_t)(offsetof(struct seccomp_data, args) + 8 * (size_t)index), 0, 0);
}

/* If the accumulator is one of these: refuse with the error (0: pretend success). */
static void refuse_values(struct program *p, const uint32_t *values, size_t count, uint32_t error)
{
    for (size_t i = 0; i < count; i++) {
        emit(p, BPF_JMP | BPF_JEQ | BPF_K, values[i], 0, 1);
        refuse(p, error);
    }
    answer(p, SECCOMP_RET_ALLOW);
}

/* If the request's type is one of these: refuse. */
static void refuse_types(struct program *p, int argument, const uint32_t *types, size_t count)
{
    load_argument(p, argument);
    emit(p, BPF_ALU | BPF_AND | BPF_K, 0xFF00, 0, 0);
    for (size_t i = 0; i < count; i++) {
        emit(p, BPF_JMP | BPF_JEQ | BPF_K, types[i], 0, 1);
        refuse(p, EPERM);
    }
}

static void act(struct program *p, const struct call *call)
{
    /* glibc's O_TMPFILE includes O_DIRECTORY: only its own bit counts. */
    static const uint32_t may_write = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | 020000000;
    static const uint32_t namespaces = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC |
                                       CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;
    static const uint32_t ioctls[] = {0x5412 /* TIOCSTI */,
                                      0x541C /* TIOCLINUX */,
                                      0x40086602 /* FS_IOC_SETFLAGS */,
                                      0x40046602 /* the 32-bit one */,
                                      0x401C5820 /* FSSETXATTR */,
                                      0x40087602 /* FS_IOC_SETVERSION */,
                                      0x40047602 /* the 32-bit one */,
                                      0x40086604 /* ext4's own */,
                                      0x40806685 /* FS_IOC_ENABLE_VERITY */,
                                      0x800C6613 /* FS_IOC_SET_ENCRYPTION_POLICY */,
                                      0xC0506617 /* FS_IOC_ADD_ENCRYPTION_KEY */,
                                      0xC0406618 /* FS_IOC_REMOVE_ENCRYPTION_KEY */,
                                      0x40047211 /* FAT_IOCTL_SET_ATTRIBUTES */,
                                      0x4B47 /* KDSKBENT: keys that type something later */,
                                      0x4B49 /* KDSKBSENT */,
                                      0x4B4B /* KDSKBDIACR */,
                                      0x4B4D /* KDSETKEYCODE */,
                                      0x5423 /* TIOCSETD */,
                                      0x8901 /* FIOSETOWN: signals to other processes */,
                                      0x8902 /* SIOCSPGRP */,
                                      0x5432 /* TCSETXF */};
    /* Devices that can be controlled through a read-only descriptor; Landlock covers devices on
       newer kernels. */
    static const uint32_t types[] = {
        0x0300 /* IDE */, 0x1200 /* disks */,  0x2200 /* SCSI */, 0x4C00 /* loop */,
        0x5300 /* CD */,  0xAA00 /* faults */, 0xAE00 /* KVM */,  0xFD00 /* mapper */};
    static const uint32_t owners[] = {F_SETOWN, F_SETOWN_EX};
    static const uint32_t dumpable[] = {PR_SET_DUMPABLE};
    switch (call->action) {
    case DO_NOTIFY: answer(p, SECCOMP_RET_USER_NOTIF); return;
    case DO_EPERM: refuse(p, EPERM); return;
    case DO_ENOSYS: refuse(p, ENOSYS); return;
    case DO_OPEN:
        load_argument(p, call->argument);
        if (p->plan->reads) {
            /* An O_PATH descriptor shows no content. */
            emit(p, BPF_JMP | BPF_JSET | BPF_K, O_PATH, 1, 0);
            answer(p, SECCOMP_RET_USER_NOTIF);
            answer(p, SECCOMP_RET_ALLOW);
            return;
        }
        emit(p, BPF_JMP | BPF_JSET | BPF_K, may_write, 0, 1);
        answer(p, SECCOMP_RET_USER_NOTIF);
        answer(p, SECCOMP_RET_ALLOW);
        return;
    case DO_CLONE:
        load_argument(p, call->argument);
        emit(p, BPF_JMP | BPF_JSET | BPF_K, namespaces, 0, 1);
        refuse(p, EPERM);
        answer(p, SECCOMP_RET_ALLOW);
        return;
    case DO_SOCKET:
        load_argument(p, 0);
        emit(p, BPF_JMP | BPF_JEQ | BPF_K, AF_UNIX, 1, 0);
        answer(p, SECCOMP_RET_USER_NOTIF);
        load_argument(p, 1);
        emit(p, BPF_ALU | BPF_AND | BPF_K, 0xF, 0, 0);
        emit(p, BPF_JMP | BPF_JEQ | BPF_K, SOCK_STREAM, 1, 0);
        answer(p, SECCOMP_RET_USER_NOTIF);
        answer(p, SECCOMP_RET_ALLOW);
        return;
    case DO_PAIR:
        load_argument(p, 1);
        emit(p, BPF_ALU | BPF_AND | BPF_K, 0xF, 0, 0);
        emit(p, BPF_JMP | BPF_JEQ | BPF_K, SOCK_STREAM, 2, 0);
        emit(p, BPF_JMP | BPF_JEQ | BPF_K, SOCK_SEQPACKET, 1, 0);
        refuse(p, EPERM);
        answer(p, SECCOMP_RET_ALLOW);
        return;
    case DO_IOCTL:
        load_argument(p, call->argument);
        emit(p, BPF_ALU | BPF_AND | BPF_K, 0xFF00, 0, 0);
        emit(p, BPF_JMP | BPF_JEQ | BPF_K, 0x9400 /* btrfs */, 0, 6);
        load_argument(p, call->argument);
        emit(p, BPF_JMP | BPF_JEQ | BPF_K, 0x40049409 /* FICLONE */, 3, 0);
        emit(p, BPF_JMP | BPF_JEQ | BPF_K, 0x4020940D /* FICLONERANGE */, 2, 0);
        emit(p, BPF_JMP | BPF_JEQ | BPF_K, 0xC0189436 /* FIDEDUPERANGE */, 1, 0);
        refuse(p, EPERM);
        answer(p, SECCOMP_RET_ALLOW);
        if (p->plan->landlock_abi < 5)
            refuse_types(p, call->argument, types, sizeof types / sizeof *types);
        load_argument(p, call->argument);
        refuse_values(p, ioctls, sizeof ioctls / sizeof *ioctls, EPERM);
        return;
    case DO_PRCTL:
        load_argument(p, call->argument);
        refuse_values(p, dumpable, 1, 0);
        return;
    case DO_SEND:
        load_argument(p, call->argument);
        emit(p, BPF_JMP | BPF_JSET | BPF_K, MSG_FASTOPEN, 0, 1);
        refuse(p, EPERM);
        answer(p, SECCOMP_RET_ALLOW);
        return;
    case DO_SETSOCK:
        if (!p->plan->datagrams) {
            load_argument(p, call->argument);
            emit(p, BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_IP, 0, 3);
            load_argument(p, call->argument + 1);
            emit(p, BPF_JMP | BPF_JEQ | BPF_K, 11 /* IP_RECVERR */, 0, 5);
            refuse(p, 0);
            emit(p, BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_IPV6, 0, 3);
            load_argument(p, call->argument + 1);
            emit(p, BPF_JMP | BPF_JEQ | BPF_K, 25 /* IPV6_RECVERR */, 0, 1);
            refuse(p, 0);
        }
        answer(p, SECCOMP_RET_ALLOW);
        return;
    case DO_OPENAT2:
        /* Its flags are in memory; without Landlock's TRUNCATE right one of them could change too
           much. */
        if (p->plan->landlock_abi >= 3)
            answer(p, SECCOMP_RET_USER_NOTIF);
        else
            refuse(p, ENOSYS);
        return;
    case DO_SIGNAL:
        answer(p, p->plan->landlock_abi >= 6 ? SECCOMP_RET_ALLOW : SECCOMP_RET_USER_NOTIF);
        return;
    case DO_FCNTL:
        load_argument(p, call->argument);
        /* Opening the file would wait for the lease holder, and the broker does the opening. */
        emit(p, BPF_JMP | BPF_JEQ | BPF_K, F_SETLEASE, 0, 1);
        refuse(p, EINVAL);
        refuse_values(p, owners, p->plan->landlock_abi >= 6 ? 0 : 2, EPERM);
        return;
    case DO_OTHERS:
        load_argument(p, call->argument);
        emit(p, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0);
        answer(p, SECCOMP_RET_USER_NOTIF);
        answer(p, SECCOMP_RET_ALLOW);
        return;
    case DO_PRIORITY:
        load_argument(p, 0);
        emit(p, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call->argument, 0, 2);
        load_argument(p, 1);
        emit(p, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0);
        answer(p, SECCOMP_RET_USER_NOTIF);
        answer(p, SECCOMP_RET_ALLOW);
        return;
    case DO_LANDLOCK: refuse(p, EOPNOTSUPP); return;
    case DO_PRLIMIT:
        load_argument(p, call->argument);
        emit(p, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0);
        refuse(p, EPERM);
        answer(p, SECCOMP_RET_ALLOW);
        return;
    }
}

/* From this number to the start of the next range; NULL: it passes. */
struct stretch {
    int first;
    const struct call *call;
};

static bool same_action(const struct call *a, const struct call *b)
{
    return a && b ? a->action == b->action && a->argument == b->argument : a == b;
}

/* The numbers divided into ranges with one answer each; equal neighbours are merged. */
static size_t cut(const struct call *const *list, size_t count, enum filter_arch arch,
                  struct stretch *out)
{
    size_t n = 0;
    int next = 0;
    out[n++] = (struct stretch){0, NULL};
    for (size_t i = 0; i < count; i++) {
        int number = list[i]->number[arch];
        if (number > next && out[n - 1].call)
            out[n++] = (struct stretch){next, NULL};
        if (!same_action(out[n - 1].call, list[i]))
            out[n++] = (struct stretch){number, list[i]};
        next = number + 1;
    }
    out[n++] = (struct stretch){next, NULL};
    return n;
}

static void search(struct program *p, const struct stretch *list, size_t count)
{
    if (count == 1) {
        if (list->call)
            act(p, list->call);
        else
            answer(p, SECCOMP_RET_ALLOW);
        return;
    }
    /* A conditional jump reaches 255 instructions; a longer half is skipped by an unconditional
       one. */
    bool far = count > 32;
    size_t half = count / 2;
    size_t jump = emit(p, BPF_JMP | BPF_JGE | BPF_K, (uint32_t)list[half].first, 0, far);
    if (far)
        jump = emit(p, BPF_JMP | BPF_JA, 0, 0, 0);
    search(p, list, half);
    size_t length = p->n - jump - 1;
    if (!far && length > 255)
        p->n = p->capacity + 1;
    else if (far && jump < p->capacity)
        p->out[jump].k = (uint32_t)length;
    else if (jump < p->capacity)
        p->out[jump].jt = (uint8_t)length;
    search(p, list + half, count - half);
}

/* Insertion sort: the table is nearly sorted already. */
static void sort_by_number(const struct call **list, size_t count, enum filter_arch arch)
{
    for (size_t i = 1; i < count; i++) {
        const struct call *call = list[i];
        size_t at = i;
        for (; at > 0 && list[at - 1]->number[arch] > call->number[arch]; at--)
            list[at] = list[at - 1];
        list[at] = call;
    }
}

size_t filter_make(enum filter_arch arch, const struct filter_plan *plan, struct sock_filter *out,
                   size_t capacity)
{
    const struct call *list[sizeof calls / sizeof *calls];
    struct stretch stretches[2 * sizeof calls / sizeof *calls + 2];
    size_t count = 0;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (calls[i].number[arch] >= 0)
            list[count++] = &calls[i];
    sort_by_number(list, count, arch);

    struct program p = {out, 0, capacity, plan};
    emit(&p, BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch), 0, 0);
    emit(&p, BPF_JMP | BPF_JEQ | BPF_K, audit_arch[arch], 1, 0);
    refuse(&p, ENOSYS);
    emit(&p, BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr), 0, 0);
    /* Including numbers with the x32 bit. */
    emit(&p, BPF_JMP | BPF_JGT | BPF_K, (uint32_t)last_known[arch], 0, 1);
    refuse(&p, ENOSYS);
    search(&p, stretches, cut(list, count, arch, stretches));
    return p.n <= capacity ? p.n : 0;
}

const char *filter_name(enum filter_arch arch, long number)
{
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (calls[i].number[arch] == number)
            return calls[i].name;
    return NULL;
}
