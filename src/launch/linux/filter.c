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
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <termios.h>

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
    DO_KILL,
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

struct filter_program {
    struct sock_filter *out;
    size_t n, capacity;
    const struct filter_plan *plan;
};

static size_t emit(struct filter_program *p, uint16_t code, uint32_t k, uint8_t jt, uint8_t jf)
{
    if (p->n < p->capacity)
        p->out[p->n] = (struct sock_filter){code, jt, jf, k};
    return p->n++;
}

static void answer(struct filter_program *p, uint32_t value)
{
    emit(p, BPF_RET | BPF_K, value, 0, 0);
}

/* The verdict that makes the call fail with an errno; 0 makes it seem to succeed. */
static uint32_t errors(uint32_t error)
{
    return SECCOMP_RET_ERRNO | error;
}

/* The lower half of an argument; these calls only look at ints. */
static void load_argument(struct filter_program *p, int index)
{
    emit(p, BPF_LD | BPF_W | BPF_ABS,
         (uint32_t)(offsetof(struct seccomp_data, args) + 8 * (size_t)index), 0, 0);
}

/*
 * Tests of the accumulator that end the program or fall through: the only places with jump offsets.
 * A verdict is what the filter returns, such as SECCOMP_RET_ALLOW or errors(EPERM).
 */
static void if_equal(struct filter_program *p, uint32_t value, uint32_t verdict)
{
    emit(p, BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1);
    answer(p, verdict);
}

static void unless_equal(struct filter_program *p, uint32_t value, uint32_t verdict)
{
    emit(p, BPF_JMP | BPF_JEQ | BPF_K, value, 1, 0);
    answer(p, verdict);
}

static void if_any_bit(struct filter_program *p, uint32_t bits, uint32_t verdict)
{
    emit(p, BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1);
    answer(p, verdict);
}

static void unless_any_bit(struct filter_program *p, uint32_t bits, uint32_t verdict)
{
    emit(p, BPF_JMP | BPF_JSET | BPF_K, bits, 1, 0);
    answer(p, verdict);
}

static void if_one_of(struct filter_program *p, const uint32_t *values, size_t count,
                      uint32_t verdict)
{
    for (size_t i = 0; i < count; i++)
        if_equal(p, values[i], verdict);
}

/* If an argument and the one after it have these values. */
static void if_both(struct filter_program *p, int argument, uint32_t value, uint32_t next,
                    uint32_t verdict)
{
    load_argument(p, argument);
    emit(p, BPF_JMP | BPF_JEQ | BPF_K, value, 0, 3);
    load_argument(p, argument + 1);
    if_equal(p, next, verdict);
}

static void keep_bits(struct filter_program *p, uint32_t bits)
{
    emit(p, BPF_ALU | BPF_AND | BPF_K, bits, 0, 0);
}

static void act_ioctl(struct filter_program *p, int argument)
{
    static const uint32_t ioctls[] = {0x5412 /* TIOCSTI */,
                                      0x541C /* TIOCLINUX */,
                                      0x540C /* TIOCEXCL: lasts after the run */,
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
    /* Of btrfs' own requests these copy between files that are open anyway. */
    static const uint32_t copies[] = {0x40049409 /* FICLONE */, 0x4020940D /* FICLONERANGE */,
                                      0xC0189436 /* FIDEDUPERANGE */};
    /* A terminal that is stopped stays so after the run, and Cordon itself waits for it. */
    if_both(p, argument, TCXONC, TCOOFF, errors(EPERM));
    if_both(p, argument, TCXONC, TCIOFF, errors(EPERM));
    load_argument(p, argument);
    if_one_of(p, copies, sizeof copies / sizeof *copies, SECCOMP_RET_ALLOW);
    if_one_of(p, ioctls, sizeof ioctls / sizeof *ioctls, errors(EPERM));
    keep_bits(p, 0xFF00);
    if_equal(p, 0x9400 /* btrfs */, errors(EPERM));
    if (p->plan->landlock_abi < 5)
        if_one_of(p, types, sizeof types / sizeof *types, errors(EPERM));
    answer(p, SECCOMP_RET_ALLOW);
}

static void act(struct filter_program *p, const struct call *call)
{
    /* glibc's O_TMPFILE includes O_DIRECTORY: only its own bit counts. */
    static const uint32_t may_write = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | 020000000;
    static const uint32_t namespaces = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC |
                                       CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;
    static const uint32_t owners[] = {F_SETOWN, F_SETOWN_EX};
    switch (call->action) {
    case DO_NOTIFY: answer(p, SECCOMP_RET_USER_NOTIF); return;
    case DO_EPERM: answer(p, errors(EPERM)); return;
    case DO_ENOSYS: answer(p, errors(ENOSYS)); return;
    case DO_LANDLOCK: answer(p, errors(EOPNOTSUPP)); return;
    case DO_IOCTL: act_ioctl(p, call->argument); return;
    case DO_OPEN:
        load_argument(p, call->argument);
        if (p->plan->reads) /* an O_PATH descriptor shows no content */
            unless_any_bit(p, O_PATH, SECCOMP_RET_USER_NOTIF);
        else
            if_any_bit(p, may_write, SECCOMP_RET_USER_NOTIF);
        break;
    case DO_CLONE:
        load_argument(p, call->argument);
        if_any_bit(p, namespaces, errors(EPERM));
        break;
    case DO_SOCKET:
        load_argument(p, 0);
        unless_equal(p, AF_UNIX, SECCOMP_RET_USER_NOTIF);
        load_argument(p, 1);
        keep_bits(p, 0xF);
        unless_equal(p, SOCK_STREAM, SECCOMP_RET_USER_NOTIF);
        break;
    case DO_PAIR:
        load_argument(p, 1);
        keep_bits(p, 0xF);
        if_equal(p, SOCK_STREAM, SECCOMP_RET_ALLOW);
        unless_equal(p, SOCK_SEQPACKET, errors(EPERM));
        break;
    case DO_PRCTL:
        load_argument(p, call->argument);
        if_equal(p, PR_SET_DUMPABLE, errors(0));
        break;
    case DO_SEND:
        load_argument(p, call->argument);
        if_any_bit(p, MSG_FASTOPEN, errors(EPERM));
        break;
    case DO_SETSOCK:
        if (!p->plan->datagrams) {
            if_both(p, call->argument, IPPROTO_IP, 11 /* IP_RECVERR */, errors(0));
            if_both(p, call->argument, IPPROTO_IPV6, 25 /* IPV6_RECVERR */, errors(0));
        }
        break;
    case DO_OPENAT2:
        /* Its flags are in memory; without Landlock's TRUNCATE right one of them could change too
           much. */
        answer(p, p->plan->landlock_abi >= 3 ? SECCOMP_RET_USER_NOTIF : errors(ENOSYS));
        return;
    case DO_SIGNAL:
        answer(p, p->plan->landlock_abi >= 6 ? SECCOMP_RET_ALLOW : SECCOMP_RET_USER_NOTIF);
        return;
    case DO_KILL:
        if (p->plan->landlock_abi >= 6) {
            load_argument(p, 1);
            if_equal(p, 0, SECCOMP_RET_ALLOW); /* only asks whether the process exists */
            load_argument(p, 0);
            if_any_bit(p, 0x80000000u, SECCOMP_RET_ALLOW); /* a group, or all */
            if_equal(p, 0, SECCOMP_RET_ALLOW);             /* its own group */
        }
        answer(p, SECCOMP_RET_USER_NOTIF);
        return;
    case DO_FCNTL:
        load_argument(p, call->argument);
        /* Opening the file would wait for the lease holder, and the broker does the opening. */
        if_equal(p, F_SETLEASE, errors(EINVAL));
        if (p->plan->landlock_abi < 6)
            if_one_of(p, owners, sizeof owners / sizeof *owners, errors(EPERM));
        break;
    case DO_OTHERS:
        load_argument(p, call->argument);
        unless_equal(p, 0, SECCOMP_RET_USER_NOTIF);
        break;
    case DO_PRIORITY:
        load_argument(p, 0);
        unless_equal(p, (uint32_t)call->argument, SECCOMP_RET_USER_NOTIF);
        load_argument(p, 1);
        unless_equal(p, 0, SECCOMP_RET_USER_NOTIF);
        break;
    case DO_PRLIMIT:
        load_argument(p, call->argument);
        unless_equal(p, 0, errors(EPERM));
        break;
    }
    answer(p, SECCOMP_RET_ALLOW);
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

static void search(struct filter_program *p, const struct stretch *list, size_t count)
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

/*
 * Making the program shorter: the kernel translates it at every start, which takes longer than
 * anything else there. Jumps to equal answers go to one of them, a jump to a jump goes to its end,
 * and what nothing reaches any more is left out. All jumps lead forward.
 */
enum { MOST = 1024, REACH = 256, MOST_ANSWERS = 16 };

struct jumps {
    uint16_t yes[MOST], no[MOST]; /* where each instruction leads */
};

static bool is_condition(const struct sock_filter *f)
{
    return BPF_CLASS(f->code) == BPF_JMP && BPF_OP(f->code) != BPF_JA;
}

static bool is_answer(const struct sock_filter *f)
{
    return BPF_CLASS(f->code) == BPF_RET;
}

/* The last equal answer in reach; taken holds those that were chosen, for the jumps that follow. */
static size_t shared_answer(const struct sock_filter *out, size_t n, size_t from, size_t to,
                            uint16_t taken[MOST_ANSWERS])
{
    size_t slot = 0, best = to;
    while (slot < MOST_ANSWERS && taken[slot] && out[taken[slot]].k != out[to].k)
        slot++;
    if (slot == MOST_ANSWERS)
        return to;
    if (taken[slot] > from && taken[slot] <= from + REACH)
        return taken[slot];
    for (size_t i = to; i < n && i <= from + REACH; i++)
        if (is_answer(&out[i]) && out[i].k == out[to].k)
            best = i;
    taken[slot] = (uint16_t)best;
    return best;
}

static size_t better_target(const struct sock_filter *out, size_t n, const struct jumps *jumps,
                            size_t from, size_t to, uint16_t taken[MOST_ANSWERS])
{
    while (out[to].code == (BPF_JMP | BPF_JA) && jumps->yes[to] <= from + REACH)
        to = jumps->yes[to];
    return is_answer(&out[to]) ? shared_answer(out, n, from, to, taken) : to;
}

static size_t shorten(struct sock_filter *out, size_t n)
{
    struct jumps jumps;
    uint16_t taken[MOST_ANSWERS] = {0}, moved[MOST];
    bool reached[MOST] = {true};
    size_t kept = 0;
    if (n > MOST)
        return n;
    for (size_t i = 0; i < n; i++) {
        bool jumps_away = out[i].code == (BPF_JMP | BPF_JA);
        size_t next = i + 1;
        jumps.yes[i] = (uint16_t)(next + (jumps_away              ? out[i].k
                                          : is_condition(&out[i]) ? out[i].jt
                                                                  : 0));
        jumps.no[i] = is_condition(&out[i]) ? (uint16_t)(next + out[i].jf) : jumps.yes[i];
    }
    for (size_t i = 0; i < n; i++) {
        if (!reached[i] || is_answer(&out[i]))
            continue;
        if (is_condition(&out[i])) {
            jumps.yes[i] = (uint16_t)better_target(out, n, &jumps, i, jumps.yes[i], taken);
            jumps.no[i] = (uint16_t)better_target(out, n, &jumps, i, jumps.no[i], taken);
        }
        reached[jumps.yes[i]] = reached[jumps.no[i]] = true;
    }
    for (size_t i = 0; i < n; i++) {
        moved[i] = (uint16_t)kept;
        kept += reached[i];
    }
    for (size_t i = 0; i < n; i++) {
        struct sock_filter f = out[i];
        if (!reached[i])
            continue;
        if (is_condition(&f)) {
            f.jt = (uint8_t)(moved[jumps.yes[i]] - moved[i] - 1);
            f.jf = (uint8_t)(moved[jumps.no[i]] - moved[i] - 1);
        } else if (f.code == (BPF_JMP | BPF_JA)) {
            f.k = (uint32_t)(moved[jumps.yes[i]] - moved[i] - 1);
        }
        out[moved[i]] = f;
    }
    return kept;
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

    struct filter_program p = {out, 0, capacity, plan};
    emit(&p, BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch), 0, 0);
    emit(&p, BPF_JMP | BPF_JEQ | BPF_K, audit_arch[arch], 1, 0);
    answer(&p, errors(ENOSYS));
    emit(&p, BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr), 0, 0);
    /* Including numbers with the x32 bit. */
    emit(&p, BPF_JMP | BPF_JGT | BPF_K, (uint32_t)last_known[arch], 0, 1);
    answer(&p, errors(ENOSYS));
    search(&p, stretches, cut(list, count, arch, stretches));
    return p.n <= capacity ? shorten(out, p.n) : 0;
}

const char *filter_name(enum filter_arch arch, long number)
{
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (calls[i].number[arch] == number)
            return calls[i].name;
    return NULL;
}
