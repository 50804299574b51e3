/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Load and faults: many threads and processes, files, bytes, signals, no descriptors, a full disk,
 * the supervisor killed at any moment; its memory and descriptors stay flat. The argument is a
 * factor: 1 for the short form, more for `make soak`.
 */
#include "harness.h"

#include <dirent.h>
#include <signal.h>
#include <time.h>

static char load[1200];

static void fresh(void)
{
    sh(".", "rm -rf ws out; mkdir ws out; echo old > out/file");
}

/* The same work with and without the sandbox, with the same files at the end. */
static void test_same(const char *what, int count, const char *arguments)
{
    fresh();
    int control = sh("ws", "'%s' %s .; c=$?; ls | wc -l > ../out/want; exit $c", load, arguments);
    fresh();
    int inside = sh("ws", "timeout 250 '%s' run --quiet -- '%s' %s .", cordon, load, arguments);
    bool files = sh("ws", "test $(ls | wc -l) = %d", count) == 0;
    if (!ok(control == 0 && inside == 0 && files, "%s", what))
        note("without %d, inside %d, files %d", control, inside, files);
    ok(sh("out", "test \"$(cat file)\" = old -a $(ls | wc -l) = 1") == 0,
       "%s: nothing outside changed", what);
}

/* The supervisor's resident memory in KiB and its open descriptors; false if it is gone. */
static bool size_of(pid_t pid, unsigned *memory, unsigned *descriptors)
{
    char path[64], line[128];
    *memory = *descriptors = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *f = fopen(path, "re");
    while (f && fgets(line, sizeof line, f))
        sscanf(line, "VmRSS: %u", memory);
    if (f)
        fclose(f);
    snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    DIR *names = opendir(path);
    while (names && readdir(names))
        ++*descriptors;
    if (names)
        closedir(names);
    return *memory && *descriptors;
}

/* A line of sh that ends in the supervisor (exec), watched while it runs. */
static void test_flat(const char *what, const char *line, const char *check)
{
    unsigned memory, descriptors, first[2] = {0}, most[2] = {0};
    struct timespec begin, end;
    fresh();
    clock_gettime(CLOCK_MONOTONIC, &begin);
    pid_t pid = fork();
    if (pid == 0) {
        if (chdir(top) || chdir("ws"))
            _exit(1);
        setenv("C", cordon, 1);
        setenv("L", load, 1);
        /* Freed memory that a sanitizer keeps is not ours. */
        setenv("ASAN_OPTIONS", "quarantine_size_mb=0:thread_local_quarantine_size_kb=0", 1);
        execl("/bin/sh", "sh", "-c", line, (char *)NULL);
        _exit(1);
    }
    int status = -1;
    for (int i = 0; waitpid(pid, &status, WNOHANG) == 0; i++) {
        usleep(50000);
        if (!size_of(pid, &memory, &descriptors))
            continue;
        if (i < 10)
            first[0] = memory, first[1] = descriptors;
        most[0] = memory > most[0] ? memory : most[0];
        most[1] = descriptors > most[1] ? descriptors : most[1];
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    double seconds =
        (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9;
    if (!ok(status == 0 && sh("ws", "%s", check) == 0 && sh("out", "test \"$(ls)\" = file") == 0 &&
                most[0] <= first[0] + 8192 && most[1] <= first[1] + 16,
            "%s: %.1f s, memory %u KiB, at most %u, descriptors %u, at most %u", what, seconds,
            first[0], most[0], first[1], most[1]))
        note("status %d", status);
}

static void test_descriptors(void)
{
    fresh();
    ok(sh("ws", "'%s' descriptors .", load) == 0 &&
           sh("ws", "rm -f d*; '%s' run -- '%s' descriptors .", cordon, load) == 0,
       "a program without descriptors gets the error that it would have got");
    ok(sh("ws",
          "ulimit -n 24; '%s' run -- sh -c 'for i in 1 2 3 4 5 6 7 8; do echo x > n$i & done; "
          "wait'; "
          "test $(ls n* | wc -l) = 8",
          cordon) == 0,
       "a supervisor with few descriptors serves all the same");
    /* With fewer still it works, or says why not; it neither hangs nor lets anything out. */
    int wrong = 0, worked = 0, said = 0;
    for (int most = 3; most < 20; most += 2) {
        fresh();
        int code = sh("ws",
                      "(ulimit -n %d; exec timeout 20 '%s' run --audit ../a -- sh -c 'echo x > in; "
                      "echo x > ../out/new; true') 2> ../said; c=$?; exit $c",
                      most, cordon);
        bool made = sh("ws", "test -s in") == 0;
        wrong += code == 124 || sh("out", "test -e new") == 0;
        worked += made;
        said +=
            !made &&
            sh(".",
               "grep -qi 'too many open files\\|no file descriptors\\|error 24\\|shared' said") ==
                0;
    }
    ok(wrong == 0 && worked > 0 && worked + said == 9,
       "a supervisor with next to none works or says why not (%d worked, %d said why)", worked,
       said);
}

static void test_full_disk(void)
{
    if (sh(".", "mkdir -p full && mount -t tmpfs -o size=256k none full") != 0) {
        skip("a full disk", "no small file system can be mounted here");
        return;
    }
    ok(sh("full", "'%s' full x; c=$?; rm -f x; exit $c", load) == 0 &&
           sh("full", "'%s' run --audit a -- '%s' full x", cordon, load) == 0,
       "a full disk gives the error that it would have given");
    ok(sh("full", "'%s' run -- sh -c 'rm x && echo y > z' && test -s z", cordon) == 0,
       "and what is removed can be used again");
    sh(".", "umount full");
    /* No room for one more name: here it is the broker that meets the error. */
    static const char fill[] = "i=0; while true > f$i && mkdir d$i && ln -s x l$i; do "
                               "i=$((i+1)); done 2> ../out/error; ls | wc -l > ../out/count; grep "
                               "-q \"No space left\" ../out/error";
    if (sh(".", "mount -t tmpfs -o size=1m,nr_inodes=40 none full") != 0)
        return;
    fresh();
    int control =
        sh("full", "sh -c '%s'; c=$?; mv ../out/count ../want; rm -rf ./*; exit $c", fill);
    int inside = sh("full", "'%s' run --quiet --root . --root ../out -- sh -c '%s'", cordon, fill);
    if (!ok(control == 0 && inside == 0 && sh("out", "cmp count ../want") == 0,
            "no room for one more name gives the error that it would have given"))
        note("without %d, inside %d", control, inside);
    sh(".", "umount full");
}

/* Many at once, each killed at another moment; a second later nobody writes. */
static void test_killed(int rounds)
{
    int failed = 0, started = 0;
    for (int round = 0; round < rounds; round++) {
        fresh();
        sh("ws",
           "for i in 1 2 3 4 5 6 7 8 9 10 11 12; do mkdir d$i; (cd d$i; '%s' run --quiet -- sh -c "
           "'while :; do echo x >> log; (echo y >> log2; sleep 0.01) & echo z%d > ../../out/file; "
           "done' & "
           "s=$!; sleep 0.$(printf %%03d $((i * 41 + %d)));  kill -9 $s) & done; wait; sleep 1; "
           "cat d*/log* | "
           "wc -c > ../one; sleep 0.3; cat d*/log* | wc -c > ../two",
           cordon, (int)getpid(), round % 37);
        failed += sh(".", "cmp one two") != 0 || sh("out", "test \"$(cat file)\" = old") != 0;
        started += sh("ws", "test -s d12/log") == 0;
    }
    ok(failed == 0 && started > 0,
       "the supervisor killed at any moment, %d times: the tree is gone", 12 * rounds);
    ok(sh(".", "! ps -eo args | grep -q '[e]cho z%d > '", (int)getpid()) == 0,
       "and no process is left");
}

int main(int argc, char **argv)
{
    int factor = argc > 1 ? atoi(argv[1]) : 1;
    char arguments[64], stream[300], check[200];
    if (!box_make("load-test"))
        return box_done();
    snprintf(load, sizeof load, "%s/%s", project, LOAD_PROBE);
    const char *seconds = getenv("CORDON_STEADY");
    if (seconds) {
        char what[64];
        snprintf(what, sizeof what, "%s s of work", seconds);
        test_flat(
            what,
            "exec \"$C\" run --quiet -- sh -c 'end=$(($(date +%s) + CORDON_STEADY)); mkdir d; "
            "while [ $(date +%s) -lt $end ]; do \"$L\" threads 16 20 d || exit 1; rm d/*; done'",
            "test -d d");
        return box_done();
    }
    snprintf(arguments, sizeof arguments, "threads 64 %d", 20 * factor);
    test_same("64 threads writing", 64 * 20 * factor, arguments);
    snprintf(arguments, sizeof arguments, "processes %d", factor > 1 ? 10000 : 2000);
    test_same("short processes", factor > 1 ? 10000 : 2000, arguments);
    test_flat("200 processes and 1,000 threads that ask at once",
              "exec \"$C\" run --quiet -- \"$L\" crowd 200 5 .", "test $(ls | wc -l) = 1000");
    ok(sh("ws", "rm -f c*; '%s' crowd 2 2 .", load) == 1 && sh("out", "rm crowd") == 0,
       "control: without the sandbox each of them can write outside");
    test_flat(factor > 1 ? "50,000 files" : "5,000 files",
              factor > 1 ? "exec \"$C\" run --quiet -- \"$L\" threads 50 1000 ."
                         : "exec \"$C\" run --quiet -- \"$L\" threads 50 100 .",
              factor > 1 ? "test $(ls | wc -l) = 50000" : "test $(ls | wc -l) = 5000");
    /* Through pipes on both sides, and the sum of what came out is that of what went in. */
    snprintf(stream, sizeof stream,
             "mkfifo in out; seq 1 1000000000 | head -c %s > in & cksum < out > sum & "
             "exec \"$C\" run --quiet -- cat < in > out",
             factor > 1 ? "4000000000" : "200000000");
    snprintf(check, sizeof check,
             "sleep 0.5; test \"$(seq 1 1000000000 | head -c %s | cksum)\" = \"$(cat sum)\"",
             factor > 1 ? "4000000000" : "200000000");
    test_flat(factor > 1 ? "4 GB through stdin and stdout" : "200 MB through stdin and stdout",
              stream, check);
    snprintf(arguments, sizeof arguments, "signals %d", 1000 * factor);
    test_same("signals during calls", 1000 * factor, arguments);
    snprintf(arguments, sizeof arguments, "every %d", 100 * factor);
    test_same("signals during every call", 100 * factor, arguments);
    snprintf(arguments, sizeof arguments, "execs %d", 50 * factor);
    test_same("signals during the start of programs", 50 * factor, arguments);
    snprintf(arguments, sizeof arguments, "kills %d", 200 * factor);
    fresh();
    ok(sh("ws", "timeout 250 '%s' run --quiet -- '%s' %s .", cordon, load, arguments) == 0 &&
           sh("ws", "test -s after") == 0,
       "children killed at any moment: the rest goes on");
    test_descriptors();
    test_full_disk();
    test_killed(factor > 1 ? 10 : 2);
    return box_done();
}
