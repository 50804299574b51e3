/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The library in a program with threads: every run as if it were alone, and the program afterwards
 * as it was before. With a number of rounds as its argument it repeats itself.
 */
#include "concurrent.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#define TOP "build/concurrent"

static char here[1024];

/* ---- the host ---- */

struct host {
    mode_t mask;
    struct sigaction actions[NSIG];
    sigset_t blocked;
    cpu_set_t cpus;
    unsigned descriptors, threads;
    char cwd[1024];
};

static unsigned entries(const char *path)
{
    unsigned count = 0;
    DIR *names = opendir(path);
    while (names && readdir(names))
        count++;
    if (names)
        closedir(names);
    return count;
}

static void look(struct host *h)
{
    memset(h, 0, sizeof *h);
    h->mask = umask(0);
    umask(h->mask);
    for (int i = 1; i < NSIG; i++)
        sigaction(i, NULL, &h->actions[i]);
    pthread_sigmask(SIG_SETMASK, NULL, &h->blocked);
    sched_getaffinity(0, sizeof h->cpus, &h->cpus);
    h->descriptors = entries("/proc/self/fd");
    h->threads = entries("/proc/self/task");
    if (!getcwd(h->cwd, sizeof h->cwd))
        h->cwd[0] = '\0';
}

static void compare(const struct host *before, const char *when)
{
    struct host after;
    bool actions = true, blocked = true;
    look(&after);
    /* A thread that was joined stays listed for a moment. */
    for (int i = 0; i < 200 && after.threads != before->threads; i++) {
        nanosleep(&(struct timespec){0, 5000000}, NULL);
        look(&after);
    }
    for (int i = 1; i < NSIG; i++) {
        actions = actions && before->actions[i].sa_handler == after.actions[i].sa_handler;
        blocked = blocked && sigismember(&before->blocked, i) == sigismember(&after.blocked, i);
    }
    ok(before->mask == after.mask, "%s: the umask is the host's (%03o)", when, after.mask);
    ok(actions, "%s: signal dispositions", when);
    ok(blocked, "%s: the signal mask", when);
    ok(CPU_EQUAL(&before->cpus, &after.cpus), "%s: the CPUs of the thread", when);
    ok(before->descriptors == after.descriptors, "%s: descriptors (%u, then %u)", when,
       before->descriptors, after.descriptors);
    ok(before->threads == after.threads, "%s: threads (%u, then %u)", when, before->threads,
       after.threads);
    ok(strcmp(before->cwd, after.cwd) == 0, "%s: the current directory", when);
}

/* ---- the runs ---- */

static void *in_thread(void *context)
{
    cpu_set_t before, after;
    sched_getaffinity(0, sizeof before, &before);
    do_run(context);
    sched_getaffinity(0, sizeof after, &after);
    return CPU_EQUAL(&before, &after) ? NULL : context;
}

/* True if every thread ended on the CPUs that it began on. */
static bool do_all(struct one_run *runs, size_t count)
{
    pthread_t threads[RUNS];
    bool free_to_move = true;
    for (size_t i = 0; i < count; i++)
        if (pthread_create(&threads[i], NULL, in_thread, &runs[i]))
            exit(1);
    for (size_t i = 0; i < count; i++) {
        void *pinned;
        pthread_join(threads[i], &pinned);
        free_to_move = free_to_move && !pinned;
    }
    return free_to_move;
}

struct place {
    char folder[1100], attribute[128], umask[8], script[1024], secret[1200];
};

static const mode_t masks[] = {022, 077, 002, 027};

static void make_place(struct place *place, int i)
{
    snprintf(place->folder, sizeof place->folder, "%s/" TOP "/ws%d", here, i);
    mkdir(place->folder, 0755);
    snprintf(place->secret, sizeof place->secret, "%s/secret", place->folder);
    FILE *f = fopen(place->secret, "w");
    if (f) {
        fprintf(f, "secret of %d\n", i);
        fclose(f);
    }
}

static bool modes_are(const struct place *place, mode_t mask)
{
    for (int i = 0; i < 25; i++) {
        char path[1300];
        struct stat st;
        snprintf(path, sizeof path, "%s/f%d", place->folder, i);
        if (stat(path, &st) || (st.st_mode & 0777) != (0666 & ~mask)) {
            note("%s has %03o under umask %03o", path, st.st_mode & 0777, mask);
            return false;
        }
    }
    return true;
}

/* Four kinds of policies, four of each. */
static void describe(struct one_run *run, struct place *place, int i)
{
    memset(run, 0, sizeof *run);
    const char *const *settings = NULL;
    static const char *const kinds[4][8] = {
        {"mode", "workspace-write", "temp", "private"},
        {"mode", "read-only"},
        {"mode", "workspace-write", "allow-tool", "ssh", "temp", "private"},
        {"mode", "workspace-write", "temp", "private", "deny-read"}};
    settings = kinds[i % 4];
    size_t n = 0;
    run->settings[n++] = "root";
    run->settings[n++] = place->folder;
    run->settings[n++] = "cwd";
    run->settings[n++] = place->folder;
    for (size_t j = 0; settings[j]; j++)
        run->settings[n++] = settings[j];
    if (i % 4 == 3)
        run->settings[n++] = place->secret;
    run->settings[n] = NULL;
    /* Attributes and words of many lengths: what is mixed up shows. */
    snprintf(
        place->script, sizeof place->script,
        "umask %03o; i=0; while [ $i -lt 25 ]; do echo %d > f$i; i=$((i+1)); done 2>/dev/null; "
        "'%s' attribute f1 v%d; /bin/true %s%d; ssh -V >/dev/null 2>&1; echo ssh $?; "
        "echo temp %d > $TMPDIR/t; cat $TMPDIR/t; cat secret; echo done %d",
        masks[i / 4], i, CORDON_LINUX_PROBE, i, i % 2 ? "a-longer-word-" : "", i, i, i);
    run->argv[0] = "sh";
    run->argv[1] = "-c";
    run->argv[2] = place->script;
}

static void judge(struct one_run *run, struct place *place, int i, bool attributes)
{
    char done[32], temp[32], secret[32], value[1001], wanted[32];
    snprintf(done, sizeof done, "done %d\n", i);
    snprintf(temp, sizeof temp, "temp %d\n", i);
    snprintf(secret, sizeof secret, "secret of %d\n", i);
    bool good = run->rc == 0 && strcmp(run->reason, "exited") == 0 && run->exit == 0 &&
                has(&run->out[1], done) && count_of(&run->out[1], "done ") == 1;
    bool writes = i % 4 != 1;
    good = good && has(&run->out[1], temp) == writes;
    good = good && has(&run->out[1], secret) == (i % 4 != 3);
    /* 126: the stub's word; 127: none is installed */
    good = good && has(&run->out[1], "ssh 126") == (i % 4 != 2);
    good = good && has(&run->events, "tool.ssh") == (i % 4 != 2);
    good = good && has(&run->events, "read.denied") == (i % 4 == 3);
    good = good && has(&run->events, "\"type\":\"end\"") && !has(&run->events, "/true\",\"verdict");
    if (!ok(good, "run %d of %d ends as if it were alone", i, RUNS))
        run_note(run);
    if (!writes) {
        ok(run->denied >= 25, "run %d writes nothing (%llu denied)", i, run->denied);
        return;
    }
    ok(modes_are(place, masks[i / 4]), "run %d has its umask, %03o", i, masks[i / 4]);
    char path[1300];
    snprintf(path, sizeof path, "%s/f1", place->folder);
    snprintf(wanted, sizeof wanted, "v%d", i);
    ssize_t n = getxattr(path, "user.cordon", value, sizeof value - 1);
    value[n > 0 ? n : 0] = '\0';
    if (attributes &&
        !ok(str_starts(str_of(value), str_of(wanted)), "run %d has its own attribute", i))
        note("%s is %s", path, value);
}

static void test_policies(bool attributes)
{
    static struct one_run runs[RUNS];
    static struct place places[RUNS];
    struct host before;
    for (int i = 0; i < RUNS; i++) {
        make_place(&places[i], i);
        describe(&runs[i], &places[i], i);
    }
    look(&before);
    ok(do_all(runs, RUNS), "no thread is left pinned to a CPU");
    compare(&before, "after 16 runs");
    for (int i = 0; i < RUNS; i++) {
        judge(&runs[i], &places[i], i, attributes);
        run_free(&runs[i]);
    }
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void simple(struct one_run *run, const struct place *place, const char *script)
{
    memset(run, 0, sizeof *run);
    const char *settings[] = {"root", place->folder, "cwd", place->folder, "temp", "private", NULL};
    memcpy(run->settings, settings, sizeof settings);
    run->argv[0] = "sh";
    run->argv[1] = "-c";
    run->argv[2] = script;
}

/* One run ends while another, started after it, goes on. */
static void test_pipes_and_temp(void)
{
    struct one_run first, second;
    struct place places[2];
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        make_place(&places[i], i);
    simple(&first, &places[0], "echo kept > $TMPDIR/file; sleep 1; cat $TMPDIR/file");
    simple(&second, &places[1], "sleep 4");
    double begin = now();
    pthread_create(&threads[0], NULL, in_thread, &first);
    nanosleep(&(struct timespec){0, 300000000}, NULL);
    pthread_create(&threads[1], NULL, in_thread, &second);
    pthread_join(threads[0], NULL);
    double took = now() - begin;
    ok(first.rc == 0 && took < 3.5, "a run ends although another goes on (%.1f s)", took);
    if (!ok(has(&first.out[1], "kept"), "its temp folder was left alone by the other"))
        run_note(&first);
    pthread_join(threads[1], NULL);
    ok(second.rc == 0 && second.exit == 0 && now() - begin >= 4, "control: the other went on");
    run_free(&first);
    run_free(&second);
}

static volatile sig_atomic_t host_signals;

static void host_handler(int number)
{
    (void)number;
    host_signals++;
}

static void test_signals(void)
{
    enum { COUNT = 4 };
    struct one_run runs[COUNT];
    struct place places[COUNT];
    pthread_t threads[COUNT];
    struct sigaction own = {.sa_handler = host_handler}, old;
    sigaction(SIGTERM, &own, &old);
    bool ended = true;
    for (int i = 0; i < COUNT; i++) {
        make_place(&places[i], i);
        simple(&runs[i], &places[i], "touch started; sleep 60");
        pthread_create(&threads[i], NULL, in_thread, &runs[i]);
    }
    for (int tries = 0, started = 0; started < COUNT && tries < 2000; tries++) {
        started = 0;
        for (int i = 0; i < COUNT; i++) {
            char path[1300];
            snprintf(path, sizeof path, "%s/started", places[i].folder);
            started += access(path, F_OK) == 0;
        }
        nanosleep(&(struct timespec){0, 10000000}, NULL);
    }
    double begin = now();
    kill(getpid(), SIGTERM);
    for (int i = 0; i < COUNT; i++) {
        pthread_join(threads[i], NULL);
        ended = ended && runs[i].rc == 0 && runs[i].exit == 128 + SIGTERM;
        if (runs[i].rc || runs[i].exit != 128 + SIGTERM)
            run_note(&runs[i]);
        run_free(&runs[i]);
    }
    ok(ended && now() - begin < 20, "SIGTERM ends every run, not only the newest");
    ok(host_signals == 0, "and is not the host's meanwhile");
    kill(getpid(), SIGTERM);
    ok(host_signals == 1, "afterwards the host's handler is back");
    sigaction(SIGTERM, &old, NULL);
}

/* A set of signals of this thread as the kernel counts them; whoever started the tests may have
   set any of them. */
static unsigned long signals_here(const char *name)
{
    char line[128];
    unsigned long set = 0;
    FILE *status = fopen("/proc/thread-self/status", "re");
    while (status && fgets(line, sizeof line, status))
        if (strncmp(line, name, strlen(name)) == 0)
            set = strtoul(line + strlen(name), NULL, 16);
    if (status)
        fclose(status);
    return set;
}

/* A command inherits nothing that other runs of the process have set. */
static void test_inherited(void)
{
    struct one_run runs[3];
    struct place places[3];
    struct sigaction ignore = {.sa_handler = SIG_IGN}, old;
    sigset_t block, mask;
    pthread_t first;
    const char *direct[] = {"grep", "-E", "Sig(Ign|Blk)", "/proc/self/status"};
    sigemptyset(&block);
    sigaddset(&block, SIGUSR2);
    sigaction(SIGUSR1, &ignore, &old);
    pthread_sigmask(SIG_BLOCK, &block, &mask);
    unsigned long host_blocked = signals_here("SigBlk:"), host_ignored = signals_here("SigIgn:");
    for (int i = 0; i < 3; i++) {
        make_place(&places[i], i);
        simple(&runs[i], &places[i], "sleep 1");
    }
    /* No shell: some block and unblock signals themselves. */
    for (int i = 1; i < 3; i++)
        for (size_t j = 0; j < sizeof direct / sizeof *direct; j++)
            runs[i].argv[j] = direct[j];
    pthread_create(&first, NULL, in_thread, &runs[0]);
    nanosleep(&(struct timespec){0, 400000000}, NULL);
    do_all(runs + 1, 2);
    pthread_join(first, NULL);
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    sigaction(SIGUSR1, &old, NULL);
    bool same = (host_blocked & 1ul << (SIGUSR2 - 1)) && (host_ignored & 1ul << (SIGUSR1 - 1));
    run_free(&runs[0]);
    for (int i = 1; i < 3; i++) {
        unsigned long blocked = 0, ignored = 0;
        const char *b = strstr(buf_cstr(&runs[i].out[1]), "SigBlk:"),
                   *g = strstr(buf_cstr(&runs[i].out[1]), "SigIgn:");
        if (b)
            blocked = strtoul(b + 7, NULL, 16);
        if (g)
            ignored = strtoul(g + 7, NULL, 16);
        if (blocked != host_blocked || ignored != host_ignored) {
            note("run %d: blocked %lx, the host %lx; ignored %lx, the host %lx", i, blocked,
                 host_blocked, ignored, host_ignored);
            run_note(&runs[i]);
            same = false;
        }
        run_free(&runs[i]);
    }
    ok(same, "dispositions and mask of a command are the host's");
}

static bool usable(void)
{
    struct one_run run;
    struct place place;
    make_place(&place, 0);
    simple(&run, &place, "true");
    do_run(&run);
    bool can = run.rc == 0;
    if (!can)
        skip("cordon_run", run.error);
    run_free(&run);
    return can;
}

int main(int argc, char **argv)
{
    mkdir(TOP, 0755);
    umask(022);
    if (!getcwd(here, sizeof here))
        return 1;
    int fd = open(TOP "/try", O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
    bool attributes = fd >= 0 && fsetxattr(fd, "user.cordon", "x", 1, 0) == 0;
    close(fd);
    if (!attributes)
        skip("attributes of concurrent runs", "the file system has none");
    for (int rounds = argc > 1 ? atoi(argv[1]) : 1; rounds > 0 && usable(); rounds--) {
        struct host before;
        look(&before);
        test_policies(attributes);
        test_pipes_and_temp();
        test_signals();
        test_inherited();
        compare(&before, "at the end");
    }
    return system("rm -rf " TOP) || tap_done();
}
