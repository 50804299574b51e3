/* SPDX-License-Identifier: Apache-2.0 */
/* Each function is one promise, or the same kind of attempt for several. */
#include "selftest/linux/world.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* A call whose return value is its only visible effect. */
static void try_call(struct selftest_world *w, struct selftest_line *line, const char *script,
                     const char *control, const char *missing)
{
    bool escaped = false;
    world_fresh(w);
    attempt_say(line, script, control);
    if (world_run_free(w, control) != 0) {
        attempt_not_tried(line, missing);
        return;
    }
    bool refused = world_run(w, "", script, &escaped) != 0;
    attempt_conclude(line, escaped, true, refused, "the call succeeded");
}

/* 22 and 66: the same output inside as without. */
static void try_same(struct selftest_world *w, struct selftest_line *line, const char *const *tools,
                     const char *const *lines, size_t count)
{
    char inside[512], outside[512], text[600];
    bool escaped = false, same = true;
    unsigned found = 0;
    line->by[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        if (!world_has_tool(tools[i]))
            continue;
        found++;
        size_t used = strlen(line->by);
        snprintf(line->by + used, sizeof line->by - used, "%s%s", used ? ", " : "", tools[i]);
        world_fresh(w);
        snprintf(text, sizeof text, "(%s) > printed 2>&1", lines[i]);
        world_tool(w, NULL, text, NULL);
        bool control = world_read(w, "printed", outside, sizeof outside) && outside[0];
        world_fresh(w);
        world_tool(w, "", text, &escaped);
        world_read(w, "printed", inside, sizeof inside);
        same = same && control && strcmp(inside, outside) == 0;
    }
    attempt_say(line, lines[0], "the same without the sandbox, the same output");
    if (!found) {
        world_fresh(w);
        same = world_run(w, "", "write new", &escaped) == 0 && world_check(w, "exists new");
        snprintf(line->by, sizeof line->by, "probe: no tool");
    }
    attempt_conclude(line, escaped, true, same, "the output differs");
}

/* 28 and 40: a root that is a link is refused; the folder itself is not. */
static void try_link_root(struct selftest_world *w, struct selftest_line *line, const char *link,
                          const char *folder)
{
    char options[64];
    bool escaped = false;
    world_fresh(w);
    snprintf(options, sizeof options, "--root %s", link);
    attempt_say(line, options, folder);
    int refused = world_run(w, options, "write new", &escaped);
    bool written = world_check(w, "exists new");
    snprintf(options, sizeof options, "--root %s", folder);
    int control = world_run(w, options, "write new", &escaped);
    attempt_conclude(line, escaped, control == 0 && world_check(w, "exists new"),
                     refused == 125 && !written, "it was not refused");
}

static void try_device(struct selftest_world *w, struct selftest_line *line)
{
    char name[128], script[300], control[300];
    unsigned long blocks;
    bool found = false, escaped = false;
    FILE *f = fopen("/proc/partitions", "re");
    while (f && !found && fgets(script, sizeof script, f)) {
        if (sscanf(script, " %*u %*u %lu %127s", &blocks, name) != 2)
            continue;
        snprintf(control, sizeof control, "device /dev/%s reading", name);
        found = world_run_free(w, control) == 0;
    }
    if (f)
        fclose(f);
    snprintf(script, sizeof script, "device /dev/%s", name);
    if (!found) {
        attempt_not_tried(line, "this user cannot open a disk, with or without Cordon");
        return;
    }
    world_fresh(w);
    attempt_say(line, "opening a disk for writing",
                "the same device for reading, without the sandbox");
    bool refused = world_run(w, "", script, &escaped) != 0;
    attempt_conclude(line, escaped, true, refused, "the disk was opened");
}

static void try_servers(struct selftest_world *w, struct selftest_line *line)
{
    bool escaped = false;
    world_fresh(w);
    attempt_say(line, "unix ../server",
                "the same without the sandbox; a server of the tree's own inside");
    bool control = world_run_free(w, "unix ../server") == 0;
    bool own = world_run(w, "", "unix-own own", &escaped) == 0;
    bool reached = world_run(w, "", "unix ../server", &escaped) == 0;
    attempt_conclude(line, escaped, control && own, !reached, "a server outside was reached");
}

static void try_shim(struct selftest_world *w, struct selftest_line *line)
{
    static const char *const ways[] = {"run ../host/ssh", "symlink ../host/ssh other; run ./other",
                                       "child 2; run ../host/ssh"};
    bool escaped = false, ran = false, control = true;
    attempt_say(line, "ssh by its name, by its path, by a link", "the same without the sandbox");
    world_fresh(w);
    world_run(w, "", "run ssh", &escaped);
    bool shim = world_check(w, "holds shim-ran shim");
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        world_fresh(w);
        world_run_free(w, ways[i]);
        control = control && world_check(w, "exists host-ran");
        world_fresh(w);
        world_run(w, "", ways[i], &escaped);
        ran = ran || world_check(w, "exists host-ran");
    }
    world_fresh(w);
    world_run(w, "--allow-tool ssh", "run ../host/ssh", &escaped);
    control = control && world_check(w, "exists host-ran");
    attempt_conclude(line, escaped, control, shim && !ran,
                     shim ? "the host's ssh ran" : "the shim did not run");
}

struct flips {
    const struct selftest_world *w;
    volatile bool stop;
    unsigned count;
};

static void *flip(void *context)
{
    struct flips *f = context;
    char link[PATH_MAX], next[PATH_MAX];
    snprintf(link, sizeof link, "%s/ws/flip", f->w->top);
    snprintf(next, sizeof next, "%s/ws/next", f->w->top);
    for (; !f->stop; f->count++) {
        unlink(next);
        if (symlink(f->count % 2 ? "in" : "../out/dir", next) || rename(next, link))
            break;
    }
    return NULL;
}

/* Watches for a file that appears outside while the writer removes what it made. */
static bool write_while_flipping(const struct selftest_world *w, bool confined, unsigned *count,
                                 bool *escaped)
{
    struct flips f = {.w = w};
    pthread_t thread;
    struct stat before, after;
    char out[PATH_MAX];
    world_fresh(w);
    snprintf(out, sizeof out, "%s/out/dir", w->top);
    stat(out, &before);
    if (pthread_create(&thread, NULL, flip, &f))
        return false;
    double end = now() + 30;
    do {
        if (confined)
            world_run(w, "", "many flip 3000", escaped);
        else
            world_run_free(w, "many flip 3000");
        stat(out, &after);
    } while (f.count < 10000 && now() < end);
    f.stop = true;
    pthread_join(thread, NULL);
    *count = f.count;
    return before.st_mtim.tv_sec != after.st_mtim.tv_sec ||
           before.st_mtim.tv_nsec != after.st_mtim.tv_nsec;
}

static void try_flips(struct selftest_world *w, struct selftest_line *line)
{
    bool escaped = false;
    unsigned count;
    attempt_say(line, "many flip 3000, while the link changes", "the same without the sandbox");
    bool control = write_while_flipping(w, false, &count, &escaped);
    bool changed = write_while_flipping(w, true, &count, &escaped);
    attempt_conclude(line, escaped, control && count >= 10000, !changed,
                     "something was written outside");
}

static void try_other_device(struct selftest_world *w, struct selftest_line *line)
{
    char script[300], file[300], link[PATH_MAX];
    struct stat here, there;
    bool escaped = false;
    if (stat(w->top, &here) || stat("/dev/shm", &there) || here.st_dev == there.st_dev ||
        mkdir(w->elsewhere, 0700)) {
        attempt_not_tried(line, "there is no other file system that this user can write to");
        return;
    }
    world_fresh(w);
    snprintf(link, sizeof link, "%s/ws/elsewhere", w->top);
    snprintf(script, sizeof script, "write elsewhere/new");
    snprintf(file, sizeof file, "%s/new", w->elsewhere);
    attempt_say(line, script, "the same without the sandbox");
    bool linked = symlink(w->elsewhere, link) == 0;
    world_run_free(w, script);
    bool control = linked && access(file, F_OK) == 0;
    unlink(file);
    world_run(w, "", script, &escaped);
    attempt_conclude(line, escaped, control, access(file, F_OK) != 0, "it was written");
    unlink(file);
    rmdir(w->elsewhere);
}

static void try_timeout(struct selftest_world *w, struct selftest_line *line)
{
    bool escaped = false;
    world_fresh(w);
    attempt_say(line, "--timeout 1: daemon; wait 1500; write late", "the same without a time-out");
    world_run(w, "", "child 1; wait 300; write in-time", &escaped);
    bool control = world_check(w, "exists in-time");
    double begin = now();
    int code = world_run(w, "--timeout 1", "child 1; wait 2500; write late", &escaped);
    double took = now() - begin;
    usleep(1800000);
    attempt_conclude(line, escaped, control,
                     code == 124 && took < 2.4 && !world_check(w, "exists late") &&
                         world_outside_unchanged(w),
                     "the tree went on, or the code is not 124");
}

static void try_url(struct selftest_world *w, struct selftest_line *line)
{
    static const char *const lines[] = {
        "xdg-open https://cordon.test/", "../host/xdg-open https://cordon.test/",
        "sh -c \"xdg-open https://cordon.test/\"",
        "cp ../host/xdg-open sub/xdg-open; sub/xdg-open https://cordon.test/",
        "printf \"xdg-open https://cordon.test/\" > s; sh s"};
    bool escaped = false, control = true, opened = false;
    attempt_say(line, lines[0], "the same without the sandbox, with a program that only notes it");
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        world_fresh(w);
        world_tool(w, NULL, lines[i], NULL);
        control = control && world_check(w, "holds opened https");
        world_fresh(w);
        world_tool(w, "", lines[i], &escaped);
        opened = opened || world_check(w, "exists opened");
    }
    attempt_conclude(line, escaped, control, !opened, "the URL was handed over");
}

/* Waits for the effect of a control, on a machine that may be busy. */
static bool comes(const struct selftest_world *w, const char *what)
{
    for (double end = now() + 5; now() < end && !world_check(w, what);)
        usleep(50000);
    return world_check(w, what);
}

static void try_detached(struct selftest_world *w, struct selftest_line *line)
{
    static const char script[] = "daemon; wait 400; write ../out/new; write late; wait 3000";
    bool escaped = false;
    world_fresh(w);
    attempt_say(line, script, "the same without the sandbox");
    double begin = now();
    world_run_free(w, script);
    bool control = comes(w, "exists ../out/new") && comes(w, "exists late");
    double took = now() - begin;
    world_fresh(w);
    world_run(w, "", script, &escaped);
    usleep(700000 + (useconds_t)(took * 1e6));
    attempt_conclude(line, escaped, control,
                     !world_check(w, "exists ../out/new") && !world_check(w, "exists late"),
                     "a detached child went on");
}

static void try_killed(struct selftest_world *w, struct selftest_line *line)
{
    bool escaped;
    struct stat one = {0}, two = {0};
    char path[PATH_MAX];
    world_fresh(w);
    attempt_say(line, "many writes; the supervisor is killed", "before that, writes happen");
    snprintf(path, sizeof path, "%s/ws/sub", w->top);
    pid_t pid = world_start(w, "", "many sub 1000000");
    usleep(400000);
    escaped = world_check(w, "exists ../out/canary");
    bool control = false;
    for (double end = now() + 5; now() < end && !control;) {
        stat(path, &one);
        usleep(100000);
        stat(path, &two);
        control = one.st_mtim.tv_nsec != two.st_mtim.tv_nsec;
    }
    kill(pid, SIGKILL);
    world_wait(pid);
    usleep(900000);
    stat(path, &one);
    usleep(300000);
    stat(path, &two);
    attempt_conclude(line, escaped, control,
                     one.st_mtim.tv_sec == two.st_mtim.tv_sec &&
                         one.st_mtim.tv_nsec == two.st_mtim.tv_nsec,
                     "the tree went on writing");
}

static void try_streams(struct selftest_world *w, struct selftest_line *line)
{
    bool escaped = false;
    char a[200] = "", b[200] = "", text[3 * PATH_MAX];
    world_fresh(w);
    attempt_say(line, "100 MB through a run, 42 as exit code", "the same bytes' sum without a run");
    world_tool(w, NULL, "head -c 100000000 /dev/zero | tr '\\0' 'c' | cksum > want", NULL);
    snprintf(text, sizeof text,
             "head -c 100000000 /dev/zero | tr '\\0' 'c' | '%s' run --quiet -- '%s' selftest "
             "--probe cat "
             "| cksum > got",
             w->self, w->self);
    world_tool(w, NULL, text, NULL);
    bool control = world_read(w, "want", a, sizeof a) && strstr(a, " 100000000");
    bool same = world_read(w, "got", b, sizeof b) && strcmp(a, b) == 0;
    bool code = world_run(w, "", "code 42", &escaped) == 42;
    attempt_conclude(line, escaped, control, same && code, "bytes or the exit code changed");
}

/* Names and times of everything but the workspace. */
static void list_world(const struct selftest_world *w, char *out, size_t capacity)
{
    char command[PATH_MAX + 200];
    snprintf(command, sizeof command,
             "cd '%s' && { find out extra host tmp -printf '%%p %%m\\n'; find out extra host tmp "
             "-type f -printf '%%p %%T@ %%C@\\n'; } | sort | cksum; ls",
             w->top);
    FILE *f = popen(command, "re");
    size_t n = f ? fread(out, 1, capacity - 1, f) : 0;
    out[n] = '\0';
    if (f)
        pclose(f);
}

/* Processes whose current directory is the workspace: those that an attempt has started. */
static unsigned count_inside(const struct selftest_world *w)
{
    char path[300], where[PATH_MAX], ws[PATH_MAX];
    unsigned found = 0;
    DIR *names = opendir("/proc");
    snprintf(ws, sizeof ws, "%s/ws", w->top);
    for (struct dirent *entry; names && (entry = readdir(names));) {
        snprintf(path, sizeof path, "/proc/%s/cwd", entry->d_name);
        ssize_t n = atoi(entry->d_name) > 0 ? readlink(path, where, sizeof where - 1) : -1;
        where[n > 0 ? n : 0] = '\0';
        found += strcmp(where, ws) == 0;
    }
    if (names)
        closedir(names);
    return found;
}

static void try_nothing_left(struct selftest_world *w, struct selftest_line *line)
{
    char before[512], after[512], changed[512];
    bool escaped = false;
    world_fresh(w);
    attempt_say(line, "a run that writes, with a private temp folder and a child left behind",
                "a file and a process made by hand are seen");
    list_world(w, before, sizeof before);
    world_run(w, "--temp=private --root .", "write new; daemon; wait 30000", &escaped);
    list_world(w, after, sizeof after);
    unsigned left = count_inside(w);
    bool wrote = world_check(w, "exists new");
    world_tool(w, NULL, "echo x > ../extra/seen", NULL);
    world_run_free(w, "daemon; wait 1000");
    list_world(w, changed, sizeof changed);
    attempt_conclude(line, escaped, wrote && strcmp(after, changed) != 0 && count_inside(w) > left,
                     strcmp(before, after) == 0 && left == 0, "something was left");
}

static void try_launch_time(struct selftest_world *w, struct selftest_line *line)
{
    char inside[PATH_MAX], beside[PATH_MAX];
    world_fresh(w);
    attempt_say(line, "launch with 20,000 files in the workspace", "launch with a few");
    world_tool(w, NULL,
               "i=0; while [ $i -lt 200 ]; do mkdir -p many/$i; (cd many/$i; touch $(seq 100)); "
               "i=$((i+1)); done",
               NULL);
    snprintf(inside, sizeof inside, "%s/ws/many", w->top);
    snprintf(beside, sizeof beside, "%s/extra/many", w->top);
    if (world_check(w, "count many 200"))
        attempt_launches(w, line, inside, beside, now, 0.005);
    else
        attempt_conclude(line, false, false, false, "");
}

static void try_typing(struct selftest_world *w, struct selftest_line *line)
{
    bool answers[2], escaped;
    world_fresh(w);
    attempt_say(line, "type (TIOCSTI)", "the same without the sandbox");
    for (int confined = 0; confined < 2; confined++) {
        int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), status = 0;
        char name[64];
        if (master < 0 || grantpt(master) || unlockpt(master) ||
            ptsname_r(master, name, sizeof name)) {
            attempt_not_tried(line, "no terminal is available");
            return;
        }
        pid_t pid = fork();
        if (pid == 0) {
            char ws[PATH_MAX], temp[PATH_MAX];
            snprintf(ws, sizeof ws, "%s/ws", w->top);
            snprintf(temp, sizeof temp, "%s/tmp", w->top);
            setenv("TMPDIR", temp, 1);
            setsid();
            int slave = open(name, O_RDWR);
            ioctl(slave, TIOCSCTTY, 0);
            if (slave < 0 || dup2(slave, 0) < 0 || chdir(ws))
                _exit(2);
            if (confined)
                execl(w->self, "cordon", "run", "--quiet", "--", w->self, "selftest", "--probe",
                      "canary; type", (char *)NULL);
            else
                execl(w->self, "cordon", "selftest", "--probe", "type", (char *)NULL);
            _exit(2);
        }
        waitpid(pid, &status, 0);
        close(master);
        answers[confined] = status == 0;
    }
    escaped = world_check(w, "exists ../out/canary");
    if (!answers[0] && !escaped) {
        attempt_not_tried(line, "the kernel lets nobody type into terminals");
        return;
    }
    attempt_conclude(line, escaped, true, !answers[1], "it could type");
}

static void try_two_runs(struct selftest_world *w, struct selftest_line *line)
{
    char script[300], folder[300] = "";
    bool escaped = false;
    int pid = 0;
    world_fresh(w);
    attempt_say(line, "signal and write into the private temp folder of another run",
                "the same without the sandbox");
    world_tool(w, NULL, "printf 'echo $$ > pid; echo $TMPDIR > folder; exec sleep 20' > tell",
               NULL);
    pid_t first = world_start(w, "--temp=private --root .", "run sh tell");
    for (int i = 0; i < 100 && !world_check(w, "exists folder"); i++)
        usleep(20000);
    usleep(50000);
    char text[64] = "";
    world_read(w, "pid", text, sizeof text);
    pid = atoi(text);
    world_read(w, "folder", folder, sizeof folder);
    folder[strcspn(folder, "\n")] = '\0';
    snprintf(script, sizeof script, "write %.200s/new", folder);
    bool told = pid > 1 && folder[0] == '/';
    world_run(w, "--temp=private --root .", script, &escaped);
    char path[400];
    snprintf(path, sizeof path, "%s/new", folder);
    bool written = access(path, F_OK) == 0;
    snprintf(script, sizeof script, "signal %d", pid);
    bool signalled = told && world_run(w, "--temp=private --root .", script, &escaped) == 0;
    bool alive = told && kill(pid, 0) == 0;
    snprintf(script, sizeof script, "write %.200s/new", folder);
    world_run_free(w, script);
    bool control = access(path, F_OK) == 0;
    snprintf(script, sizeof script, "signal %d", pid);
    control = control && told && world_run_free(w, script) == 0;
    world_wait(first);
    attempt_conclude(line, escaped, control, !written && !signalled && alive,
                     "another run was touched");
}

bool special_try(struct selftest_world *w, unsigned n, struct selftest_line *line)
{
    static const char *const tools[] = {"curl", "rg", "git", "node"};
    static const char *const versions[] = {"curl --version", "rg --version", "git --version",
                                           "node --version"};
    static const char *const languages[] = {"bash", "node", "python3"};
    static const char *const own[] = {
        "bash -c 'cat <(echo a) | tr a b; exec 3<<<x; cat <&3; flock lock echo locked'",
        "node -e \"require('child_process').exec('echo a',(e,o)=>console.log(o))\"",
        ("python3 -c \"import subprocess,threading,tempfile; l=threading.Lock(); l.acquire(); "
         "print(subprocess.check_output(['echo','a'])); tempfile.TemporaryFile()\"")};
    switch (n) {
    case 22: try_same(w, line, tools, versions, 4); return true;
    case 28: try_link_root(w, line, "../link-to-ws", "../ws"); return true;
    case 30: try_device(w, line); return true;
    case 31: try_servers(w, line); return true;
    case 37: try_shim(w, line); return true;
    case 38: try_flips(w, line); return true;
    case 40: try_link_root(w, line, "../link-to-root", "../ws"); return true;
    case 42: try_other_device(w, line); return true;
    case 43: try_timeout(w, line); return true;
    case 44: try_url(w, line); return true;
    case 50: try_detached(w, line); return true;
    case 53: try_killed(w, line); return true;
    case 56: try_streams(w, line); return true;
    case 57: try_nothing_left(w, line); return true;
    case 58: try_launch_time(w, line); return true;
    case 62: try_typing(w, line); return true;
    case 65: try_two_runs(w, line); return true;
    case 66: try_same(w, line, languages, own, 3); return true;
    case 69:
        try_call(w, line, "namespace", "namespace", "this user cannot make namespaces anyway");
        return true;
    case 70:
        try_call(w, line, "io-uring", "io-uring", "the kernel has no io_uring for anybody");
        return true;
    case 71:
        try_call(w, line, "trace @PID", "trace @PID", "no process could be traced");
        return true;
    case 72:
        try_call(w, line, "unix @NAME", "unix @NAME", "no abstract socket could be reached");
        return true;
    case 73:
        try_call(w, line, "shared-memory", "shared-memory", "the kernel has no SysV shared memory");
        return true;
    default: return false;
    }
}
