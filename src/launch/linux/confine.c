/* SPDX-License-Identifier: Apache-2.0 */
/* Privileges, Landlock, seccomp: dropped in this order, each permanently. */
#include "launch/linux/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "cordon.h"
#include "launch/linux/filter.h"
#include "launch/linux/folder.h"
#include "launch/linux/kernel.h"

int confine_landlock_abi(void)
{
    long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
#ifdef CORDON_TEST_ABI_CAP
    abi = abi > CORDON_TEST_ABI_CAP ? CORDON_TEST_ABI_CAP : abi;
#endif
    return abi > 0 ? (int)abi : 0;
}

/* Every Landlock right that changes something. */
static uint64_t write_rights(int abi)
{
    uint64_t rights = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
                      LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_CHAR |
                      LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
                      LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |
                      LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM |
                      LANDLOCK_ACCESS_FS_REFER;
    if (abi >= 3)
        rights |= KERNEL_FS_TRUNCATE;
    return abi >= 5 ? rights | KERNEL_FS_IOCTL_DEV : rights;
}

/* Devices that discard what is written, and those that lead to one's own terminal or a new one. */
static const char *const devices[] = {"/dev/null",    "/dev/zero", "/dev/full", "/dev/random",
                                      "/dev/urandom", "/dev/tty",  "/dev/ptmx", "/dev/pts/ptmx"};

bool confine_allows_device(const char *path)
{
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++)
        if (strcmp(path, devices[i]) == 0)
            return true;
    return false;
}

/* For a device: the rights to use it. */
static int allow_device(int ruleset, int fd, int abi)
{
    struct landlock_path_beneath_attr rule = {
        .allowed_access = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_READ_FILE |
                          (abi >= 5 ? KERNEL_FS_IOCTL_DEV : 0),
        .parent_fd = fd};
    return (int)syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
}

/* The terminals that the command was given; every other one belongs to somebody else. */
static int allow_terminals(int ruleset, int abi)
{
    enum { FIRST_PTS = 136, LAST_PTS = 143 };
    char path[64];
    unsigned device;
    int rc = 0;
    for (int i = 0; i < 3 && rc == 0; i++) {
        if (!isatty(i))
            continue;
        snprintf(path, sizeof path, "/proc/self/fd/%d", i);
        int fd = open(path, O_PATH | O_CLOEXEC);
        rc = fd < 0 ? 0 : allow_device(ruleset, fd, abi);
        if (fd >= 0)
            close(fd);
    }
    int own = open("/dev/tty", O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    if (own >= 0 && rc == 0 && ioctl(own, TIOCGDEV, &device) == 0 && major(device) >= FIRST_PTS &&
        major(device) <= LAST_PTS) {
        snprintf(path, sizeof path, "/dev/pts/%u",
                 (major(device) - FIRST_PTS) * 256 + minor(device));
        int fd = open(path, O_PATH | O_CLOEXEC);
        rc = fd < 0 ? 0 : allow_device(ruleset, fd, abi);
        if (fd >= 0)
            close(fd);
    }
    if (own >= 0)
        close(own);
    return rc;
}

static int allow_devices(int ruleset, int abi)
{
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
        int fd = open(devices[i], O_PATH | O_CLOEXEC);
        if (fd < 0)
            continue;
        int rc = allow_device(ruleset, fd, abi);
        close(fd);
        if (rc)
            return -1;
    }
    return 0;
}

static int allow_read(int ruleset, int fd)
{
    struct landlock_path_beneath_attr rule = {.allowed_access = LANDLOCK_ACCESS_FS_READ_FILE,
                                              .parent_fd = fd};
    return (int)syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
}

/* Whether path is a secret (or lies in one), or has one below it. */
static void look_for_secret(const struct secrets *secrets, struct str path, bool *inside,
                            bool *above)
{
    /* Terminals, keyboards, disks: reading from a terminal takes what the user types there. */
    static const struct str all_devices = {"/dev", sizeof "/dev" - 1};
    *inside = path_is_below(PATH_POSIX, all_devices, path);
    *above = path_is_below(PATH_POSIX, path, all_devices);
    if (secrets->hidden.n) {
        *inside = *inside || path_is_below(PATH_POSIX, secrets->hidden, path);
        *above = *above || path_is_below(PATH_POSIX, path, secrets->hidden);
    }
    for (size_t i = 0; i < secrets->count; i++) {
        if (!secrets->items[i].fixed)
            continue;
        *inside = *inside || path_is_below(PATH_POSIX, secrets->items[i].path, path);
        *above = *above || path_is_below(PATH_POSIX, path, secrets->items[i].path);
    }
}

/* Landlock can only grant, so everything beside the path to a secret is granted, name by name. What
   appears there later is opened by the broker. */
static int allow_reads_beside(int ruleset, const struct secrets *secrets, int parent,
                              const char *name, struct str path)
{
    bool inside, above;
    int rc = 0;
    look_for_secret(secrets, path, &inside, &above);
    if (inside)
        return 0;
    int fd = openat(parent, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return 0;
    if (!above) {
        rc = allow_read(ruleset, fd);
        /* No rule can be made for an object without content (a link). */
        if (rc && errno == EINVAL)
            rc = 0;
        close(fd);
        return rc;
    }
    int folder = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    close(fd);
    if (folder < 0)
        return 0;
    struct folder names = folder_of(folder);
    char below[PATH_MAX];
    size_t parent_length = path.n > 1 ? path.n : 0;
    for (const char *entry; rc == 0 && (entry = folder_next(&names));) {
        size_t n = strlen(entry);
        /* A link's target counts, not the link. */
        if (names.is_link || parent_length + 1 + n >= sizeof below)
            continue;
        memcpy(below, path.p, parent_length);
        below[parent_length] = '/';
        memcpy(below + parent_length + 1, entry, n + 1);
        rc = allow_reads_beside(ruleset, secrets, folder, entry,
                                (struct str){below, parent_length + 1 + n});
    }
    close(folder);
    return rc;
}

static int allow_reads(int ruleset, const struct secrets *secrets)
{
    /* Nothing in there is a device, or only one that draws. */
    static const char *const folders[] = {"/dev/shm", "/dev/mqueue", "/dev/hugepages", "/dev/dri"};
    int rc = allow_reads_beside(ruleset, secrets, AT_FDCWD, "/", STR("/"));
    for (size_t i = 0; i < sizeof folders / sizeof *folders && rc == 0; i++) {
        int fd = open(folders[i], O_PATH | O_NOFOLLOW | O_CLOEXEC);
        rc = fd < 0 ? 0 : allow_read(ruleset, fd);
        if (fd >= 0)
            close(fd);
    }
    for (size_t i = 0; i < secrets->allowed_count && rc == 0; i++) {
        int fd = open(secrets->allowed[i].p, O_PATH | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0)
            continue;
        rc = allow_read(ruleset, fd);
        close(fd);
    }
    return rc;
}

static int allow_granted(int ruleset, const struct confine_plan *plan)
{
    struct landlock_path_beneath_attr rule = {
        .allowed_access =
            write_rights(plan->landlock_abi) &
            ~(uint64_t)(LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_BLOCK)};
    rule.parent_fd = open(plan->granted, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (rule.parent_fd < 0)
        return -1;
    int rc = (int)syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
    close(rule.parent_fd);
    return rc;
}

static bool keeps_secrets(const struct confine_plan *plan)
{
    return plan->secrets && plan->secrets->count > 0;
}

static int apply_landlock(const struct confine_plan *plan)
{
    struct kernel_ruleset attr = {.handled_access_fs = write_rights(plan->landlock_abi)};
    size_t size = sizeof attr.handled_access_fs;
    attr.handled_access_fs |= LANDLOCK_ACCESS_FS_READ_FILE;
    if (plan->landlock_abi >= 6) {
        size = sizeof attr;
        attr.scoped = KERNEL_SCOPE_ABSTRACT_UNIX | KERNEL_SCOPE_SIGNAL;
    }
    int ruleset = (int)syscall(SYS_landlock_create_ruleset, &attr, size, 0);
    if (ruleset < 0)
        return -1;
    int rc = allow_devices(ruleset, plan->landlock_abi);
    if (rc == 0)
        rc = allow_terminals(ruleset, plan->landlock_abi);
    if (rc == 0 && plan->granted)
        rc = allow_granted(ruleset, plan);
    if (rc == 0)
        rc = allow_reads(ruleset, plan->secrets);
    if (rc == 0)
        rc = (int)syscall(SYS_landlock_restrict_self, ruleset, 0);
    close(ruleset);
    return rc;
}

bool confine_signals(void)
{
    struct kernel_ruleset attr = {.scoped = KERNEL_SCOPE_SIGNAL};
    if (confine_landlock_abi() < 6 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        return false;
    int ruleset = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof attr, 0);
    if (ruleset < 0)
        return false;
    long rc = syscall(SYS_landlock_restrict_self, ruleset, 0);
    close(ruleset);
    return rc == 0;
}

/* Of root's capabilities, only those that make files behave as root expects are kept. */
static const uint32_t keep = 1u << CAP_CHOWN | 1u << CAP_DAC_OVERRIDE | 1u << CAP_DAC_READ_SEARCH |
                             1u << CAP_FOWNER | 1u << CAP_FSETID;

void confine_lower_supervisor(void)
{
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct data[2];
    if (syscall(SYS_capget, &header, data))
        return;
    for (int i = 0; i < 2; i++)
        data[i].effective = data[i].permitted & (i == 0 ? keep : 0);
    syscall(SYS_capset, &header, data);
}

static int drop_capabilities(void)
{
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct data[2];
    if (syscall(SYS_capget, &header, data))
        return -1;
    for (int i = 0; i < 2; i++) {
        uint32_t kept = i == 0 ? keep : 0;
        data[i].effective &= kept;
        data[i].permitted &= kept;
        data[i].inheritable &= kept;
    }
    /* Dropped rights stay dropped: under no_new_privs an exec gives root nothing back. */
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    return (int)syscall(SYS_capset, &header, data);
}

static int install_filter(const struct filter_plan *plan, int *listener)
{
    struct sock_filter code[FILTER_MAX];
#if defined(__aarch64__)
    enum filter_arch arch = FILTER_ARM64;
#else
    enum filter_arch arch = FILTER_X86_64;
#endif
    size_t n = filter_make(arch, plan, code, FILTER_MAX);
    struct sock_fprog program = {(unsigned short)n, code};
    if (n == 0) {
        errno = E2BIG;
        return -1;
    }
    /* Without WAIT_KILLABLE_RECV a signal would interrupt a call that the broker has already
       performed. */
    int fd = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                          SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV,
                          &program);
    if (fd < 0)
        return -1;
    *listener = fd;
    return 0;
}

int confine_self(const struct confine_plan *plan, int *listener, const char **step)
{
    *step = "no_new_privs";
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        return CORDON_E_CONFINE;
    *step = "capabilities";
    if (drop_capabilities())
        return CORDON_E_CONFINE;
    *step = "Landlock";
    if (plan->landlock_abi < 2) {
        errno = ENOSYS;
        return CORDON_E_CONFINE;
    }
    if (apply_landlock(plan))
        return CORDON_E_CONFINE;
    *step = "seccomp listener";
    struct filter_plan filter = {.landlock_abi = plan->landlock_abi,
                                 .reads = keeps_secrets(plan),
                                 .datagrams = plan->datagrams};
    return install_filter(&filter, listener) ? CORDON_E_CONFINE : 0;
}
