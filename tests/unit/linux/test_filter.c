/* SPDX-License-Identifier: Apache-2.0 */
/* The filter, run in a small interpreter: every call of the table, its neighbours, other
   machines. */
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <string.h>
#include <sys/socket.h>

#include "launch/linux/filter.h"
#include "tap.h"

/* The instructions that seccomp itself allows: loads from seccomp_data, comparisons, AND, returns.
   0 on nonsense. */
static uint32_t interpret(const struct sock_filter *p, size_t n, const struct seccomp_data *data)
{
    uint32_t a = 0;
    for (size_t pc = 0; pc < n; pc++) {
        const struct sock_filter *i = &p[pc];
        switch (i->code) {
        case BPF_LD | BPF_W | BPF_ABS:
            if (i->k % 4 || i->k + 4 > sizeof *data)
                return 0;
            memcpy(&a, (const char *)data + i->k, 4);
            break;
        case BPF_ALU | BPF_AND | BPF_K: a &= i->k; break;
        case BPF_JMP | BPF_JA: pc += i->k; break;
        case BPF_JMP | BPF_JEQ | BPF_K: pc += a == i->k ? i->jt : i->jf; break;
        case BPF_JMP | BPF_JGE | BPF_K: pc += a >= i->k ? i->jt : i->jf; break;
        case BPF_JMP | BPF_JGT | BPF_K: pc += a > i->k ? i->jt : i->jf; break;
        case BPF_JMP | BPF_JSET | BPF_K: pc += a & i->k ? i->jt : i->jf; break;
        case BPF_RET | BPF_K: return i->k;
        default: return 0;
        }
    }
    return 0;
}

static struct sock_filter program[FILTER_MAX];
static size_t length;
static enum filter_arch arch;
static struct filter_plan plan = {.landlock_abi = 7};

static uint32_t ask(int number, uint64_t a0, uint64_t a1, uint64_t a2)
{
    struct seccomp_data data = {.nr = number,
                                .arch =
                                    arch == FILTER_X86_64 ? AUDIT_ARCH_X86_64 : AUDIT_ARCH_AARCH64,
                                .args = {a0, a1, a2}};
    return interpret(program, length, &data);
}

static const uint32_t ALLOW = SECCOMP_RET_ALLOW, NOTIFY = SECCOMP_RET_USER_NOTIF;
static const uint32_t REFUSED = SECCOMP_RET_ERRNO | EPERM, UNKNOWN = SECCOMP_RET_ERRNO | ENOSYS;

static void test_x86_64(void)
{
    arch = FILTER_X86_64;
    length = filter_make(arch, &plan, program, FILTER_MAX);
    ok(length > 0 && length <= 256, "x86-64: %u instructions, short enough to start fast",
       (unsigned)length);
    ok(filter_make(arch, &plan, program, length - 1) == 0,
       "a program that does not fit is refused");
    length = filter_make(arch, &plan, program, FILTER_MAX);

    ok(ask(257, 0, 0, O_RDONLY | O_CLOEXEC) == ALLOW, "openat to read passes");
    ok(ask(257, 0, 0, O_WRONLY) == NOTIFY && ask(257, 0, 0, O_RDWR) == NOTIFY, "openat to write");
    ok(ask(257, 0, 0, O_CREAT) == NOTIFY && ask(257, 0, 0, O_TRUNC) == NOTIFY, "openat to create");
    ok(ask(257, 0, 0, 020000000) == NOTIFY, "openat of an unnamed file");
    ok(ask(257, 0, 0, O_DIRECTORY) == ALLOW, "openat of a folder passes");
    ok(ask(2, 0, O_WRONLY, 0) == NOTIFY && ask(2, 0, O_RDONLY, O_WRONLY) == ALLOW,
       "open looks at its own flags");
    ok(ask(41, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0) == ALLOW, "a unix stream socket passes");
    ok(ask(41, AF_UNIX, SOCK_DGRAM, 0) == NOTIFY && ask(41, AF_INET, SOCK_STREAM, 0) == NOTIFY,
       "other sockets go to the broker");
    ok(ask(56, 0x11, 0, 0) == ALLOW && ask(56, 0x3d0f00, 0, 0) == ALLOW &&
           ask(56, 0x10000000, 0, 0) == REFUSED && ask(56, 0x10010000, 0, 0) == REFUSED,
       "clone makes processes and threads, not namespaces");
    ok(ask(16, 0, 0x5412, 0) == REFUSED && ask(16, 0, 0x5401, 0) == ALLOW,
       "ioctl does not type into terminals");
    ok(ask(16, 0, 0x540A, 0) == REFUSED && ask(16, 0, 0x540A, 2) == REFUSED &&
           ask(16, 0, 0x540A, 1) == ALLOW && ask(16, 0, 0x540B, 0) == ALLOW,
       "ioctl does not stop terminals");
    ok(ask(16, 0, 0x5000940F, 0) == REFUSED && ask(16, 0, 0x40049409, 0) == ALLOW &&
           ask(16, 0, 0xC0189436, 0) == ALLOW,
       "btrfs: clones, but no subvolumes");
    ok(ask(16, 0, 0x40806685, 0) == REFUSED && ask(16, 0, 0x4B49, 0) == REFUSED,
       "ioctl does not seal files or program keys");
    ok(ask(53, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0) == ALLOW &&
           ask(53, AF_UNIX, SOCK_SEQPACKET, 0) == ALLOW &&
           ask(53, AF_UNIX, SOCK_DGRAM, 0) == REFUSED && ask(53, AF_UNIX, SOCK_RAW, 0) == REFUSED,
       "pairs of sockets: streams and sequences");
    ok(ask(157, 4, 0, 0) == SECCOMP_RET_ERRNO && ask(157, 15, 0, 0) == ALLOW,
       "PR_SET_DUMPABLE seems to work");
    ok(ask(302, 0, 0, 0) == ALLOW && ask(302, 77, 0, 0) == REFUSED, "limits of one's own only");
    struct filter_plan off = plan, on = plan;
    on.datagrams = true;
    ok(ask(54, 3, 0, 11) == SECCOMP_RET_ERRNO && ask(54, 3, 41, 25) == SECCOMP_RET_ERRNO &&
           ask(54, 3, 0, 1) == ALLOW && ask(54, 3, 1, 11) == ALLOW && ask(54, 3, 41, 11) == ALLOW,
       "what resolvers insist on seems to work");
    plan = on;
    length = filter_make(arch, &plan, program, FILTER_MAX);
    ok(ask(54, 3, 0, 11) == ALLOW && ask(54, 3, 41, 25) == ALLOW,
       "and works where the network is on");
    plan = off;
    length = filter_make(arch, &plan, program, FILTER_MAX);
    struct seccomp_data send = {.nr = 44, .arch = AUDIT_ARCH_X86_64, .args = {[3] = 0x20000000}};
    ok(ask(44, 0, 0, 0) == ALLOW && interpret(program, length, &send) == REFUSED,
       "sending does not connect");
    ok(ask(435, 0, 0, 0) == UNKNOWN && ask(425, 0, 0, 0) == UNKNOWN, "clone3 and io_uring: ENOSYS");
    ok(ask(451, 0, 0, 0) == UNKNOWN && ask(100000, 0, 0, 0) == UNKNOWN, "unknown numbers: ENOSYS");
    ok(ask(0x40000000 | 257, 0, 0, O_RDONLY) == UNKNOWN, "x32: ENOSYS");
    struct seccomp_data other = {.nr = 5, .arch = AUDIT_ARCH_I386};
    ok(interpret(program, length, &other) == UNKNOWN, "32-bit: ENOSYS");
    ok(ask(0, 0, 0, 0) == ALLOW && ask(1, 0, 0, 0) == ALLOW && ask(60, 0, 0, 0) == ALLOW,
       "read, write and exit pass");
    ok(ask(141, 0, 0, 0) == ALLOW && ask(141, 0, 5, 0) == NOTIFY && ask(141, 1, 0, 0) == NOTIFY &&
           ask(251, 1, 0, 0) == ALLOW && ask(251, 1, 5, 0) == NOTIFY &&
           ask(144, 0, 0, 0) == ALLOW && ask(144, 5, 0, 0) == NOTIFY,
       "priorities: one's own pass, others' are judged");
}

struct row {
    const char *name;
    int number[2];
    const char *action;
    bool served;
};

static const struct row rows[] = {
#define NONE (-1)
#define CALL(name, x86_64, arm64, action, argument) {#name, {x86_64, arm64}, #action, false},
#define SERVE(name, x86_64, arm64, action, argument, handler) \
    {#name, {x86_64, arm64}, #action, true},
#include "launch/linux/calls.def"
#undef CALL
#undef SERVE
};

/* Every line of the table does what it says, and no number stands twice. */
static void test_table(enum filter_arch which)
{
    unsigned wrong = 0, twice = 0, checked = 0;
    arch = which;
    length = filter_make(arch, &plan, program, FILTER_MAX);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].number[which] < 0)
            continue;
        checked++;
        uint32_t got = ask(rows[i].number[which], 0, 0, 0);
        uint32_t want = strcmp(rows[i].action, "NOTIFY") == 0     ? NOTIFY
                        : strcmp(rows[i].action, "EPERM") == 0    ? REFUSED
                        : strcmp(rows[i].action, "ENOSYS") == 0   ? UNKNOWN
                        : strcmp(rows[i].action, "SOCKET") == 0   ? NOTIFY
                        : strcmp(rows[i].action, "OPENAT2") == 0  ? NOTIFY
                        : strcmp(rows[i].action, "PAIR") == 0     ? REFUSED
                        : strcmp(rows[i].action, "LANDLOCK") == 0 ? (SECCOMP_RET_ERRNO | EOPNOTSUPP)
                        : strcmp(rows[i].name, "ioprio_set") == 0 ? NOTIFY
                                                                  : ALLOW;
        if (got != want) {
            wrong++;
            note("%s: %x, expected %x", rows[i].name, got, want);
        }
        for (size_t j = 0; j < i; j++)
            if (rows[j].number[which] == rows[i].number[which])
                twice++;
        if (strcmp(filter_name(which, rows[i].number[which]), rows[i].name) != 0)
            wrong++;
    }
    ok(length && wrong == 0 && twice == 0 && checked > 80, "%s: %u calls do what the table says",
       which == FILTER_X86_64 ? "x86-64" : "arm64", checked);
}

static const struct {
    const char *name, *why;
} passes[] = {
#define PASS(name, why) {#name, #why},
#include "launch/linux/passes.def"
#undef PASS
};

/* A call that reaches the broker has a handler, and only such a call. */
static void test_served(void)
{
    static const char *const alone[] = {"EPERM",   "ENOSYS", "CLONE",    "PAIR", "IOCTL",  "PRCTL",
                                        "PRLIMIT", "FCNTL",  "LANDLOCK", "SEND", "SETSOCK"};
    unsigned wrong = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bool reaches = true;
        for (size_t j = 0; j < sizeof alone / sizeof *alone; j++)
            reaches = reaches && strcmp(rows[i].action, alone[j]) != 0;
        if (reaches != rows[i].served) {
            note("%s: %s", rows[i].name, reaches ? "no handler" : "a handler that is never called");
            wrong++;
        }
    }
    ok(wrong == 0, "every call that reaches the broker has a handler");
}

/* Where a call of this name stands: its number in the table, -1 among those that pass, -2 nowhere,
   -3 in both. What passes until it is served (OUTSIDE) may stand in both. */
static int place_of(const char *name, enum filter_arch which)
{
    int place = -2;
    for (size_t i = 0; i < sizeof passes / sizeof *passes; i++)
        if (strcmp(passes[i].name, name) == 0)
            place = strcmp(passes[i].why, "OUTSIDE") == 0 ? -4 : -1;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, name) == 0)
            place = place == -1 ? -3 : rows[i].number[which];
    return place;
}

/* Every call of the kernel headers has an entry, with its number if that matters. */
static void test_complete(enum filter_arch which, const char *header, int least)
{
    char line[256], name[128];
    int number, known = 0, missing = 0, wrong = 0;
    FILE *f = fopen(header, "re");
    if (!f) {
        skip("every call of the kernel headers", header);
        return;
    }
    while (fgets(line, sizeof line, f)) {
        if (sscanf(line, "#define __NR_%127s %d", name, &number) != 2 &&
            sscanf(line, "#define __NR3264_%127s %d", name, &number) != 2)
            continue;
        /* Not calls: the end of the list and the room for machines' own. */
        if (strcmp(name, "syscalls") == 0 || strcmp(name, "arch_specific_syscall") == 0)
            continue;
        int place = place_of(name, which);
        known++;
        if (place == -2 && ask(number, 0, 0, 0) != UNKNOWN) {
            missing++;
            note("%s (%d) has no entry", name, number);
        }
        if (place == -3 || (place >= 0 && place != number)) {
            wrong++;
            note("%s is %d, not %d (-3: it stands in both)", name, number, place);
        }
    }
    fclose(f);
    ok(known >= least && missing == 0, "%s: all %d calls of the headers have an entry",
       which == FILTER_X86_64 ? "x86-64" : "arm64", known);
    ok(wrong == 0, "and their numbers");
}

/* Where Landlock knows less the filter lets less through. */
static void test_older(void)
{
    static const int signals[] = {62, 129, 200, 234, 297, 424};
    unsigned judged = 0, passed = 0;
    arch = FILTER_X86_64;
    plan.landlock_abi = 2;
    length = filter_make(arch, &plan, program, FILTER_MAX);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        judged += ask(signals[i], 1, 9, 0) == NOTIFY;
    ok(judged == 6 && ask(437, 0, 0, 0) == UNKNOWN, "ABI 2: signals are judged, no openat2");
    ok(ask(72, 3, F_SETOWN, 1) == REFUSED && ask(72, 3, F_GETFL, 0) == ALLOW,
       "ABI 2: no signals by a descriptor");
    plan.landlock_abi = 3;
    length = filter_make(arch, &plan, program, FILTER_MAX);
    ok(ask(62, 1, 9, 0) == NOTIFY && ask(437, 0, 0, 0) == NOTIFY, "ABI 3: openat2 is judged");
    ok(ask(16, 3, 0xAE00, 0) == REFUSED && ask(16, 3, 0x4C82, 0) == REFUSED &&
           ask(16, 3, 0x5401, 0) == ALLOW,
       "ABI 3: virtual machines and loop devices are refused");
    plan.landlock_abi = 5;
    length = filter_make(arch, &plan, program, FILTER_MAX);
    ok(ask(62, 1, 9, 0) == NOTIFY && ask(72, 3, F_SETOWN, 1) == REFUSED,
       "ABI 5: signals are judged");
    plan.landlock_abi = 6;
    length = filter_make(arch, &plan, program, FILTER_MAX);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        passed += ask(signals[i], 1, 9, 0) == ALLOW;
    ok(passed == 5 && ask(437, 0, 0, 0) == NOTIFY && ask(72, 3, F_SETOWN, 1) == ALLOW,
       "ABI 6: Landlock has them");
    ok(ask(62, 1, 9, 0) == NOTIFY && ask(62, 1, 0, 0) == ALLOW && ask(62, 0, 9, 0) == ALLOW &&
           ask(62, (uint64_t)-1, 9, 0) == ALLOW && ask(62, (uint64_t)-5, 9, 0) == ALLOW,
       "ABI 6: a signal to one process is told, groups and questions pass");
    plan.landlock_abi = 7;
}

/* With deny-read rules every open is judged; no lease can make the broker wait. */
static void test_reads(void)
{
    arch = FILTER_X86_64;
    plan.reads = true;
    length = filter_make(arch, &plan, program, FILTER_MAX);
    ok(ask(257, 0, 0, O_RDONLY) == NOTIFY && ask(2, 0, O_RDONLY, 0) == NOTIFY &&
           ask(257, 0, 0, O_WRONLY) == NOTIFY && ask(257, 0, 0, O_PATH) == ALLOW,
       "with deny-read rules every open is judged");
    plan.reads = false;
    length = filter_make(arch, &plan, program, FILTER_MAX);
    ok(ask(257, 0, 0, O_RDONLY) == ALLOW && ask(72, 3, F_GETFD, 0) == ALLOW &&
           ask(72, 3, F_SETLEASE, 1) == (SECCOMP_RET_ERRNO | EINVAL),
       "without them reading is free; there are no leases");
}

int main(void)
{
    test_reads();
    test_older();
    test_x86_64();
    test_table(FILTER_X86_64);
    test_served();
    test_complete(FILTER_X86_64, "/usr/include/x86_64-linux-gnu/asm/unistd_64.h", 350);
    test_table(FILTER_ARM64);
    test_complete(FILTER_ARM64, "/usr/include/asm-generic/unistd.h", 300);
    return tap_done();
}
