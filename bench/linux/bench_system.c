/* SPDX-License-Identifier: Apache-2.0 */
/* cordon run on Linux against the same work without it, and against bubblewrap where it is
   found. */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "count.h"

extern char **environ;

enum { MOST_RUNS = 64, MOST_CONTENDERS = 2 };

static const char *const cordon = "build/native/cordon", *const worker =
                                                             "build/native/cordon-bench";

/* Seconds for one command; output goes nowhere. Negative if it failed. */
static double run(const char *const *argv)
{
    posix_spawn_file_actions_t quiet;
    pid_t pid;
    int status;
    posix_spawn_file_actions_init(&quiet);
    posix_spawn_file_actions_addopen(&quiet, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&quiet, 2, "/dev/null", O_WRONLY, 0);
    double start = bench_now();
    int rc = posix_spawnp(&pid, argv[0], &quiet, NULL, (char *const *)argv, environ);
    posix_spawn_file_actions_destroy(&quiet);
    if (rc || waitpid(pid, &status, 0) < 0 || status != 0)
        return -1;
    return bench_now() - start;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

struct contender {
    const char *name, *how, *const *argv;
};

/* Alternates all of them, and adds each one's min and median against those of direct. */
static void add_ratios(struct bench *bench, unsigned runs, const char *const *direct,
                       const struct contender *list, unsigned count)
{
    double spent[1 + MOST_CONTENDERS][MOST_RUNS];
    for (unsigned i = 0; i < runs; i++)
        for (unsigned k = 0; k <= count; k++) {
            spent[k][i] = run(k ? list[k - 1].argv : direct);
            if (spent[k][i] < 0) {
                fprintf(stderr, "bench: %s: a command failed\n", list[k ? k - 1 : 0].name);
                return;
            }
        }
    for (unsigned k = 0; k <= count; k++)
        qsort(spent[k], runs, sizeof **spent, by_size);
    for (unsigned k = 1; k <= count; k++)
        bench_add(bench, list[k - 1].name, spent[k][0] / spent[0][0],
                  spent[k][runs / 2] / spent[0][runs / 2], "x", list[k - 1].how);
}

static void add_ratio(struct bench *bench, const char *name, const char *how, unsigned runs,
                      const char *const *direct, const char *const *confined)
{
    add_ratios(bench, runs, direct, &(struct contender){name, how, confined}, 1);
}

#define ARGV(...) ((const char *const[]){__VA_ARGS__, NULL})
#define CONFINED(...) ARGV(cordon, "run", "--quiet", "--root", "build/bench-ws", "--", __VA_ARGS__)
#define BUBBLEWRAP(...) ARGV("bwrap", "--dev-bind", "/", "/", __VA_ARGS__)
#define WORK(what, how) CONFINED(worker, "--work", what, how)
#define SHELL(script) ARGV("sh", "-c", script)
#define SHELL_CONFINED(script) CONFINED("sh", "-c", script)

/* VmHWM in KiB; 0 if the process is gone. What wait4 tells holds the bench's own peak as well. */
static long peak_of(pid_t pid)
{
    char path[64], line[256];
    long kib = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *f = fopen(path, "re");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "VmHWM: %ld", &kib) == 1)
            break;
    if (f)
        fclose(f);
    return kib;
}

static void add_rss(struct bench *bench)
{
    double mib[5];
    for (unsigned i = 0; i < 5; i++) {
        const char *const *argv = WORK("opens", "20000");
        pid_t pid;
        long peak = 0;
        if (posix_spawnp(&pid, argv[0], NULL, NULL, (char *const *)argv, environ))
            return;
        usleep(20000); /* until it is the supervisor and no copy of this program */
        for (long now; waitpid(pid, NULL, WNOHANG) == 0; usleep(2000))
            if ((now = peak_of(pid)) > peak)
                peak = now;
        mib[i] = (double)peak / 1024;
    }
    qsort(mib, 5, sizeof *mib, by_size);
    bench_add(bench, "linux.rss_mib", mib[0], mib[2], "MiB",
              "VmHWM of the supervisor during 20,000 opens, 5 runs");
}

/* The cost of one open for writing inside: the time that 10,000 more of them take, divided. */
static void add_open(struct bench *bench)
{
    double none[9], many[9];
    for (unsigned i = 0; i < 9; i++) {
        none[i] = run(WORK("opens", "0"));
        many[i] = run(WORK("opens", "10000"));
        if (none[i] < 0 || many[i] < 0)
            return;
    }
    qsort(none, 9, sizeof *none, by_size);
    qsort(many, 9, sizeof *many, by_size);
    bench_add(bench, "linux.open_us", (many[0] - none[0]) * 100, (many[4] - none[4]) * 100, "us",
              "an existing file opened for writing again and closed, 10,000 times, 9 runs");
}

/* Calls of the supervisor for each of 2,000 operations: what more of them cost than none. */
static void add_calls(struct bench *bench, const char *name, const char *how, const char *work)
{
    enum { OPERATIONS = 2000 };
    long none = count_calls(WORK(work, "0")), many = count_calls(WORK(work, "2000"));
    double each = (double)(many - none) / OPERATIONS;
    if (none < 0 || many < 0)
        fprintf(stderr, "bench: %s: the supervisor cannot be traced\n", name);
    else
        bench_add(bench, name, each, each, "calls", how);
}

#define UNDO(...) \
    ARGV(cordon, "run", "--quiet", "--undo", "--root", "build/bench-ws", "--", __VA_ARGS__)

/* One byte of a file of 1 GiB changed: a clone where the file system can, else one copy. */
static void add_undo_gib(struct bench *bench)
{
    double kept[3], back[3];
    if (run(SHELL("head -c 1073741824 /dev/zero > build/bench-ws/gib")) < 0)
        return;
    for (unsigned i = 0; i < 3; i++) {
        kept[i] =
            run(UNDO("sh", "-c", "printf x | dd of=build/bench-ws/gib conv=notrunc status=none"));
        back[i] = run(SHELL("cd build/bench-ws && ../native/cordon undo"));
        run(ARGV(cordon, "runs", "--drop", "all"));
        if (kept[i] < 0 || back[i] < 0)
            break;
        if (i < 2)
            continue;
        qsort(kept, 3, sizeof *kept, by_size);
        qsort(back, 3, sizeof *back, by_size);
        bench_add(bench, "undo.gib_s", kept[0], kept[1], "s",
                  "one byte of a file of 1 GiB changed with --undo, its start included, 3 runs");
        bench_add(bench, "undo.gib_restore_s", back[0], back[1], "s",
                  "cordon undo of that, 3 runs");
    }
    remove("build/bench-ws/gib");
}

/* The journal: with --undo against without, in the same file system. */
static void add_undo(struct bench *bench)
{
    char state[4096];
    double spent[5];
    if (!realpath("build", state))
        return;
    strcat(state, "/bench-state");
    setenv("XDG_STATE_HOME", state, 1);
    run(ARGV(worker, "--work", "rewrite", "5000"));
    add_ratio(
        bench, "undo.files5000_ratio",
        "5,000 existing files of 2,000 bytes written anew, with --undo against without, 9 runs", 9,
        WORK("rewrite", "5000"), UNDO(worker, "--work", "rewrite", "5000"));
    add_ratio(bench, "undo.new_ratio", "5,000 new files, with --undo against without, 9 runs", 9,
              WORK("files", "5000"), UNDO(worker, "--work", "files", "5000"));
    for (unsigned i = 0; i < 5; i++) {
        run(UNDO(worker, "--work", "rewrite", "5000"));
        spent[i] = run(SHELL("cd build/bench-ws && ../native/cordon undo"));
        if (spent[i] < 0)
            return;
    }
    qsort(spent, 5, sizeof *spent, by_size);
    bench_add(bench, "undo.restore_s", spent[0], spent[2], "s",
              "cordon undo of 5,000 rewritten files, 5 runs");
    run(ARGV(cordon, "runs", "--drop", "all"));
    if (getenv("CORDON_BENCH_LONG"))
        add_undo_gib(bench);
    unsetenv("XDG_STATE_HOME");
}

#define CLOSED(script)                                                                        \
    ARGV(cordon, "run", "--quiet", "--deny-read", "@credentials", "--root", "build/bench-ws", \
         "--", "sh", "-c", script)

/* The cost of closing @credentials for reading: real work with that against the same without. */
static void add_credentials(struct bench *bench, const char *compile)
{
    static const char repository[] =
        "mkdir build/bench-ws/status && cd build/bench-ws/status && git init -q && for d in $(seq "
        "100); do mkdir $d && (cd $d && seq 100 | xargs touch); done && git add . && git -c "
        "user.name=n -c user.email=a@b.test commit -qm x && sleep 1.1 && git status";
    static const char packages[] =
        "mkdir -p build/bench-ws/npm/one/package && cd build/bench-ws/npm/one && list= && for f in "
        "$(seq 10); do seq 500 > package/$f.js; done && for n in $(seq 100); do printf "
        "'{\"name\":\"p%s\",\"version\":\"1.0.0\"}' $n > package/package.json && tar czf p$n.tgz "
        "package && list=\"$list,\\\"p$n\\\":\\\"file:one/p$n.tgz\\\"\"; done && cd .. && printf "
        "'{\"name\":\"whole\",\"version\":\"1.0.0\",\"dependencies\":{%s}}' \"${list#,}\" > "
        "package.json && HOME=$PWD npm install --package-lock-only --no-audit --no-fund";
    static const char status[] = "cd build/bench-ws/status && git status --porcelain";
    static const char install[] =
        "cd build/bench-ws/npm && rm -rf node_modules && npm_config_cache=$PWD/cache npm ci "
        "--offline --ignore-scripts --no-audit --no-fund";
    if (run(SHELL(repository)) >= 0)
        add_ratio(bench, "linux.credentials_status_ratio",
                  "git status of 10,000 files, with --deny-read @credentials against without, 15 "
                  "runs",
                  15, SHELL_CONFINED(status), CLOSED(status));
    add_ratio(bench, "linux.credentials_gcc_ratio", "gcc of one source, likewise, 10 runs", 10,
              SHELL_CONFINED(compile), CLOSED(compile));
    if (run(SHELL(packages)) >= 0)
        add_ratio(bench, "linux.credentials_npm_ratio",
                  "npm ci of a hundred local packages, likewise, 5 runs", 5,
                  SHELL_CONFINED(install), CLOSED(install));
}

void bench_system(struct bench *bench)
{
    static const char compile[] = "gcc -O1 -Isrc -Iinclude -D_GNU_SOURCE -DCORDON_VERSION=0 -c "
                                  "src/policy/decide.c -o build/bench-ws/decide.o";
    static const char commit[] =
        "cd \"$(mktemp -d build/bench-ws/g-XXXXXX)\" && git init -q && git config user.email "
        "a@b.test && git config user.name n && i=0 && while [ $i -lt 200 ]; do echo $i > f$i; "
        "i=$((i+1)); done && git add . && git commit -qm x";
    mkdir("build/bench-ws", 0755);
    if (run(CONFINED("true")) < 0) {
        fprintf(stderr,
                "bench: cordon run does not work on this machine; its figures are left out\n");
        return;
    }
    const struct contender launchers[] = {
        {"linux.launch_ratio", "true, 50 runs, alternating with a plain start and with bubblewrap",
         CONFINED("true")},
        {"linux.launch_ratio_bwrap", "the same in bubblewrap", BUBBLEWRAP("true")}};
    add_ratios(bench, 50, ARGV("true"), launchers, run(BUBBLEWRAP("true")) < 0 ? 1 : 2);
    add_rss(bench);
    add_ratio(bench, "linux.read_ratio",
              "every file below /usr/include read by one program, its start included, 20 runs", 20,
              ARGV(worker, "--work", "read", "/usr/include"), WORK("read", "/usr/include"));
    add_ratio(bench, "linux.files5000_ratio",
              "5,000 new files of one byte by one program, its start included, 15 runs", 15,
              ARGV(worker, "--work", "files", "5000"), WORK("files", "5000"));
    setenv("TMPDIR", "build/bench-ws", 1);
    add_ratio(
        bench, "linux.files5000_granted_ratio",
        "the same in a private temp folder (--temp=private), its removal included, 15 runs", 15,
        SHELL("t=$(mktemp -d) && TMPDIR=$t build/native/cordon-bench --work temp-files 5000 && rm "
              "-r $t"),
        ARGV(cordon, "run", "--quiet", "--root", "bench", "--temp=private", "--", worker, "--work",
             "temp-files", "5000"));
    unsetenv("TMPDIR");
    add_open(bench);
    add_calls(bench, "linux.calls_new",
              "system calls of the supervisor for each new file, on one CPU", "files");
    add_calls(bench, "linux.calls_open", "the same for an existing file opened for writing",
              "opens");
    add_calls(bench, "linux.calls_rewrite", "the same for an existing file written anew",
              "rewrite");
    add_undo(bench);
    add_ratio(bench, "linux.gcc_ratio", "gcc of one source, 10 runs", 10, SHELL(compile),
              SHELL_CONFINED(compile));
    add_ratio(bench, "linux.git_commit_ratio", "git init, 200 files, commit, 5 runs", 5,
              SHELL(commit), SHELL_CONFINED(commit));
    add_credentials(bench, compile);
    if (access("/usr/lib/wine/wine64", X_OK) == 0) {
        static const char direct[] =
            "WINEDEBUG=-all WINEPREFIX=$PWD/build/bench-wine /usr/lib/wine/wine64 "
            "cmd.exe /c exit; WINEPREFIX=$PWD/build/bench-wine "
            "/usr/lib/wine/wineserver64 -k";
        const char *const *confined =
            ARGV(cordon, "run", "--quiet", "--root", "build/bench-ws", "--wine-prefix",
                 "build/bench-wine", "--", "cmd.exe", "/c", "exit");
        /* The prefix that the first run keeps is the bench's own. */
        char here[3000], cache[4096];
        if (!getcwd(here, sizeof here))
            return;
        snprintf(cache, sizeof cache, "%s/build/bench-cache", here);
        setenv("XDG_CACHE_HOME", cache, 1);
        run(confined);
        add_ratio(bench, "linux.wine_start_ratio",
                  "cmd /c exit under Wine, its server's start and end included, 5 runs", 5,
                  SHELL(direct), confined);
        run(SHELL("rm -rf build/bench-wine build/bench-cache"));
    }
    run(SHELL("rm -rf build/bench-ws"));
}
