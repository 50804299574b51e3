/* SPDX-License-Identifier: Apache-2.0 */
/* Layers on Linux, each tried in a child of its own. */
#include "doctor/doctor.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "broker/linux/request.h"
#include "launch/environment.h"
#include "launch/linux/confine.h"
#include "launch/linux/limits.h"
#include "lib/system.h"

enum { OLDEST_ABI = 2 };

/* The child's exit code is its result: 0, or an errno. -1 if no child could be started. */
static int try_in_child(int (*attempt)(void *context), void *context)
{
    int status;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        int rc = attempt(context);
        _exit(rc < 0 || rc > 255 ? 255 : rc);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* ---- Landlock ---- */

/* With every change denied, a write and a delete must fail; 0: both were refused. */
static int attempt_landlock(void *context)
{
    const char *folder = context;
    char file[300];
    struct landlock_ruleset_attr rules = {.handled_access_fs = LANDLOCK_ACCESS_FS_WRITE_FILE |
                                                               LANDLOCK_ACCESS_FS_MAKE_REG |
                                                               LANDLOCK_ACCESS_FS_REMOVE_FILE};
    int fd = (int)syscall(SYS_landlock_create_ruleset, &rules, sizeof rules, 0);
    if (fd < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
        syscall(SYS_landlock_restrict_self, fd, 0))
        return errno;
    snprintf(file, sizeof file, "%s/there", folder);
    if (unlink(file) == 0)
        return 254;
    snprintf(file, sizeof file, "%s/new", folder);
    return open(file, O_WRONLY | O_CREAT, 0600) >= 0 ? 254 : 0;
}

static bool examine_landlock(struct doctor *d)
{
    char folder[256], file[300];
    int abi = confine_landlock_abi();
    const char *temp = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%.200s/cordon-doctor-XXXXXX", temp ? temp : "/tmp");
    if (!mkdtemp(folder)) {
        doctor_layer(d, "landlock", false, "there is no folder to try it in: %s", strerror(errno));
        return abi >= OLDEST_ABI;
    }
    snprintf(file, sizeof file, "%s/there", folder);
    int fd = open(file, O_WRONLY | O_CREAT | O_EXCL, 0600);
    bool control = fd >= 0;
    if (fd >= 0)
        close(fd);
    int rc = try_in_child(attempt_landlock, folder);
    control = control && access(file, F_OK) == 0 && unlink(file) == 0;
    rmdir(folder);
    bool live = rc == 0 && control && abi >= OLDEST_ABI;
    if (live)
        doctor_layer(d, "landlock", true,
                     "a write and a delete outside were refused in a child (ABI %d)", abi);
    else if (rc == 0)
        doctor_layer(d, "landlock", false, "ABI %d, and %d is the oldest that is enough", abi,
                     OLDEST_ABI);
    else
        doctor_layer(d, "landlock", false, "tried in a child: %s",
                     rc == 254 ? "a write was not refused" : strerror(rc));
    return live;
}

/* ---- the seccomp listener, and what the broker does to the child behind it ---- */

static int install_listener(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog program = {sizeof code / sizeof *code, code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        return -1;
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
                        &program);
}

/* kernel.yama.ptrace_scope; -1: this kernel has none. */
static int yama_scope(void)
{
    int scope = -1;
    FILE *f = fopen("/proc/sys/kernel/yama/ptrace_scope", "re");
    if (f && fscanf(f, "%d", &scope) != 1)
        scope = -1;
    if (f)
        fclose(f);
    return scope;
}

struct broker_try {
    int listener_error, getfd_error, read_error; /* 0: it works */
    bool by_file;                                /* memory is read through /proc */
};

static char mark[8] = "parent";

/* The child installs a filter and waits; the parent takes its listener and reads its memory. */
static void try_broker(struct broker_try *t)
{
    int ready[2], done[2], answer[2] = {-1, 0};
    *t = (struct broker_try){ENOSYS, ENOSYS, ENOSYS, false};
    if (pipe2(ready, O_CLOEXEC) || pipe2(done, O_CLOEXEC))
        return;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        char byte;
        memcpy(mark, "child", 6);
        answer[0] = install_listener();
        answer[1] = answer[0] < 0 ? errno : 0;
        close(done[1]);
        if (write(ready[1], answer, sizeof answer) != sizeof answer || read(done[0], &byte, 1) < 0)
            _exit(1);
        _exit(0);
    }
    close(ready[1]);
    close(done[0]);
    if (pid > 0 && read(ready[0], answer, sizeof answer) == sizeof answer) {
        char seen[8] = "";
        t->listener_error = answer[0] < 0 ? answer[1] : 0;
        int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
        int copy =
            pidfd < 0 || answer[0] < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, pidfd, answer[0], 0);
        t->getfd_error = copy < 0 ? errno : 0;
        bool read_it = request_read_memory(pid, (uintptr_t)mark, seen, sizeof seen, &t->by_file) ==
                       (ssize_t)sizeof seen;
        t->read_error = !read_it ? errno : strcmp(seen, "child") ? EIO : 0;
        if (copy >= 0)
            close(copy);
        if (pidfd >= 0)
            close(pidfd);
    }
    close(done[1]);
    close(ready[0]);
    if (pid > 0)
        waitpid(pid, NULL, 0);
}

static bool examine_broker(struct doctor *d)
{
    struct broker_try t;
    try_broker(&t);
    doctor_layer(d, "seccomp listener", t.listener_error == 0, "a filter in a child: %s",
                 t.listener_error ? strerror(t.listener_error) : "its calls can be answered");
    doctor_layer(d, "pidfd_getfd", t.getfd_error == 0, "a descriptor of a child: %s",
                 t.getfd_error ? strerror(t.getfd_error) : "it was copied");
    doctor_layer(d, "process memory", t.read_error == 0, "arguments of a child: %s",
                 t.read_error ? strerror(t.read_error)
                 : t.by_file  ? "they can be read through /proc; process_vm_readv is refused here"
                              : "they can be read");
    if (t.listener_error == EBUSY)
        doctor_finding(d, "seccomp.busy", true,
                       "there is a seccomp listener around this process already",
                       "run cordon outside the other sandbox");
    else if (t.listener_error)
        doctor_finding(d, "seccomp.listener", true,
                       "the seccomp listener is refused, so calls cannot be judged",
                       "allow seccomp(2) with a listener in the container's profile, or run "
                       "cordon outside the container");
    if (t.getfd_error && !t.listener_error)
        doctor_finding(d, "pidfd.getfd", true, "pidfd_getfd is refused",
                       "allow it in the container's seccomp profile; kernel 5.6 or later");
    if (t.read_error && yama_scope() >= 2)
        doctor_finding(d, "yama.scope", true,
                       "the memory of a child cannot be read, so its calls cannot be judged",
                       "set kernel.yama.ptrace_scope to 0 or 1");
    else if (t.read_error)
        doctor_finding(d, "memory.refused", true,
                       "the memory of a child cannot be read, so its calls cannot be judged: the "
                       "sandbox or container around this process refuses process_vm_readv and "
                       "/proc/PID/mem",
                       "allow one of them there, or run cordon outside it");
    return t.listener_error == 0 && t.getfd_error == 0 && t.read_error == 0;
}

static void examine_yama(struct doctor *d)
{
    int scope = yama_scope();
    if (scope < 0)
        doctor_layer(d, "yama", true, "kernel.yama.ptrace_scope: none; 0, 1 or none is enough");
    else
        doctor_layer(d, "yama", scope < 2, "kernel.yama.ptrace_scope: %d; 0, 1 or none is enough",
                     scope);
}

/* ---- what limits and other things need ---- */

static int attempt_namespace(void *context)
{
    (void)context;
    return unshare(CLONE_NEWUSER) ? errno : 0;
}

static void examine_namespaces(struct doctor *d)
{
    int rc = try_in_child(attempt_namespace, NULL);
    doctor_layer(d, "user namespaces", rc == 0, "tried in a child: %s; run does not need them",
                 rc == 0  ? "they can be made"
                 : rc < 0 ? "no answer"
                          : strerror(rc));
}

/* The group that run would make. */
static void examine_cgroup(struct doctor *d)
{
    static const struct limits_source source = {"/proc/self/mountinfo", "/proc/self/cgroup"};
    const struct policy_limits wanted = {.processes = 1000};
    struct limits limits;
    struct limits_reached reached;
    char message[256];
    bool made = limits_open(&wanted, &source, &limits, message, sizeof message) == 0;
    if (made)
        limits_close(&limits, &reached);
    doctor_layer(d, "cgroup", made, "a group with a limit on processes: it can%s be made",
                 made ? "" : "not");
    if (!made)
        doctor_finding(d, "limits.cgroup", false,
                       "no cgroup can be made here, so --max-procs and --max-memory are refused",
                       "start it below a delegated group: systemd-run --user --scope -p "
                       "Delegate=yes cordon run …");
}

static bool on_path(const char *name, char *out, size_t capacity)
{
    const char *path = getenv("PATH");
    for (const char *p = path ? path : ""; *p;) {
        size_t n = strcspn(p, ":");
        if (n && snprintf(out, capacity, "%.*s/%s", (int)n, p, name) < (int)capacity &&
            access(out, X_OK) == 0)
            return true;
        p += n + (p[n] == ':');
    }
    return false;
}

static void examine_wine(struct doctor *d)
{
    char path[1024];
    bool found = on_path("wine64", path, sizeof path) || on_path("wine", path, sizeof path);
    doctor_layer(d, "wine", found, "%s%.150s",
                 found ? "" : "not on PATH; only Windows programs need it", found ? path : "");
    found = on_path("bwrap", path, sizeof path);
    doctor_layer(d, "bubblewrap", found, "%s; not needed", found ? "on PATH" : "not on PATH");
}

/* Folders on PATH into which others may put programs. */
static void examine_path(struct doctor *d)
{
    const char *path = getenv("PATH");
    for (const char *p = path ? path : ""; p; p = strchr(p, ':') ? strchr(p, ':') + 1 : NULL) {
        size_t n = strcspn(p, ":");
        char folder[1024], text[400];
        struct stat st;
        snprintf(folder, sizeof folder, "%.*s", (int)(n < 1000 ? n : 1000), p);
        if (folder[0] != '/') {
            snprintf(text, sizeof text, "PATH has an entry that is not absolute: \"%.200s\"",
                     folder);
            doctor_finding(d, "path.relative", false, text,
                           "take it out: programs would be taken from wherever you are");
        } else if (stat(folder, &st) == 0 && S_ISDIR(st.st_mode) && (st.st_mode & S_IWOTH)) {
            snprintf(text, sizeof text, "everybody may write into %.300s, which is on PATH",
                     folder);
            doctor_finding(d, "path.writable", false, text, "chmod o-w on it, or take it out");
        }
    }
}

/* Variables that look like secrets and that the command would inherit: how many, never which. */
static void examine_environment(struct doctor *d)
{
    char text[160] = "";
    unsigned count = 0;
    for (char **variable = environ; variable && *variable; variable++)
        count += environment_is_secret(*variable);
    if (count == 0)
        return;
    snprintf(text, sizeof text, "commands inherit variables that look like tokens or passwords: %u",
             count);
    doctor_finding(d, "environment.secrets", false, text, "cordon run --unset @secrets");
}

void doctor_system(struct doctor *d)
{
    struct utsname name;
    if (uname(&name) == 0)
        snprintf(d->os, sizeof d->os, "%.60s %.60s %.30s", name.sysname, name.release,
                 name.machine);
    bool landlock = examine_landlock(d);
    if (!landlock)
        doctor_finding(d, "landlock.missing", true,
                       "the kernel does not take writes away (Landlock, ABI 2 or later)",
                       "Linux 5.19 or later, with landlock in /sys/kernel/security/lsm; add "
                       "lsm=landlock,… to the kernel's command line if it is not");
    bool broker = examine_broker(d);
    examine_yama(d);
    examine_cgroup(d);
    examine_namespaces(d);
    examine_wine(d);
    examine_path(d);
    examine_environment(d);
    if (geteuid() == 0)
        doctor_finding(d, "user.root", false, "cordon runs as root",
                       "run it as an ordinary user: then a mistake in it costs less");
    static const char *const nothing[] = {"true"};
    doctor_try(d, 1, nothing, "tried: true, with all of these", "cordon run -- true says the same");
    const char *word = landlock && broker ? "kernel" : "none";
    d->domains = (struct doctor_domains){word, word, word, word, word, word, "interposed"};
    if (!landlock || !broker)
        d->boundary = "interposed";
}

bool doctor_objects(void (*each)(void *context, const struct doctor_object *object), void *context)
{
    (void)each, (void)context;
    return false;
}
