/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cordon run on Linux, end to end: limits, full access, terminals, leases, a run inside a run, old
 * sessions. Each denied thing has its control without the sandbox.
 */
#include "harness.h"

static void fresh(void)
{
    sh(".", "rm -rf ws out; mkdir -p ws/sub out; echo old > ws/file; echo old > out/file");
}

static void test_processes(void)
{
    static const char forks[] =
        "i=0; while [ $i -lt 20 ]; do sleep 0.3 2>/dev/null & i=$((i+1)); done; "
        "wait; echo end";
    fresh();
    int code = sh("ws", "'%s' run --max-procs 8 -- true", cordon);
    ok(sh("ws", "'%s' doctor | grep -q '%s *cgroup '", cordon, code == 125 ? "no" : "yes") == 0,
       "doctor knows whether --max-procs works (%d)", code);
    if (code == 125) {
        ok(sh("ws", "'%s' run --max-procs 8 -- true 2>&1 | grep -q 'no control group'", cordon) ==
               0,
           "without a control group --max-procs is refused with the reason");
        skip("--max-procs", "this user has no control group with a limit of processes");
        return;
    }
    ok(code == 0, "--max-procs lets a program run");
    ok(sh("ws", "'%s' run --max-procs 40 -- sh -c '%s' | grep -q end", cordon, forks) == 0,
       "control: enough processes");
    ok(sh("ws", "! '%s' run --max-procs 8 -- sh -c '%s' 2>/dev/null | grep -q end", cordon,
          forks) == 0,
       "--max-procs: one more does not start");
    ok(sh("ws",
          "'%s' run --json --max-procs 8 -- sh -c '%s' 2>&1 | grep -q "
          "'\"rule\":\"limit.processes\"'",
          cordon, forks) == 0,
       "and the summary says so");
    code = sh("ws", "'%s' run --max-procs 8 -- sh -c '%s' 2> ../said", cordon, forks);
    ok(code == 2 &&
           sh(".",
              "grep -qx 'cordon: sandbox denied: start one more process (rule limit.processes); "
              "use a higher --max-procs' said") == 0,
       "in words, and the exit code is the command's own (%d)", code);
    code = sh("ws", "'%s' run --max-procs 8 -- sh -c '(%s) 2>/dev/null; exit 7' 2>/dev/null",
              cordon, forks);
    ok(code == 7, "a command that does without the process goes on (%d)", code);
    ok(sh("ws", "'%s' run --json --max-procs 40 -- sh -c '%s' 2>&1 | grep -q '\"denied\":0'",
          cordon, forks) == 0,
       "control: a limit that was not met is not in the summary");
    ok(sh(".", "! ls -d /sys/fs/cgroup/cordon-* /sys/fs/cgroup/*/cordon-* 2>/dev/null") == 0,
       "nothing is left of the groups");
}

/* Only where the group around the tests is the machine's or the container's own top one: in one
   that some manager of jobs made for this job, groups are that manager's. */
static bool memory_group_is_free(void)
{
    return getenv("CORDON_TEST_MEMORY") ||
           sh(".", "grep -qE '^[0-9]+:([^:]*,)?memory(,[^:]*)?:/$' /proc/self/cgroup || "
                   "{ ! grep -qE ':([^:]*,)?memory(,[^:]*)?:' /proc/self/cgroup && grep -qx '0::/' "
                   "/proc/self/cgroup; }") == 0;
}

static void test_memory(void)
{
    /* tail keeps all that it reads of a pipe until the end of it. */
    static const char bytes[] = "head -c 100000000 /dev/zero", keep[] = "tail -c 100000000";
    if (!memory_group_is_free()) {
        skip("--max-memory", "the memory group around the tests belongs to whoever runs them; "
                             "CORDON_TEST_MEMORY=1 tries it all the same");
        return;
    }
    fresh();
    int code = sh("ws", "'%s' run --max-memory 512M -- true", cordon);
    if (code == 125) {
        ok(sh("ws", "'%s' run --max-memory 512M -- true 2>&1 | grep -q 'no control group'",
              cordon) == 0,
           "without a control group --max-memory is refused with the reason");
        skip("--max-memory", "this user has no control group with a limit of memory");
        return;
    }
    ok(sh("ws", "test $(%s | '%s' run --max-memory 1G -- %s | wc -c) = 100000000", bytes, cordon,
          keep) == 0,
       "control: enough memory");
    code = sh("ws", "%s | '%s' run --max-memory 40M -- %s > got 2> ../said", bytes, cordon, keep);
    ok(code == 137 && sh("ws", "test ! -s got") == 0,
       "--max-memory: the kernel ends what takes more, 137 (%d)", code);
    ok(sh(".", "grep -qx 'cordon: sandbox denied: start a process that takes more memory (rule "
               "limit.memory); use a higher --max-memory' said") == 0,
       "and the summary says so");
    ok(sh("ws",
          "'%s' run --json --max-memory 40M -- sh -c '%s | %s > got; exit 7' 2>&1 | grep -q "
          "'\"reason\":\"exited\",\"exit\":7.*\"rule\":\"limit.memory\"'",
          cordon, bytes, keep) == 0,
       "a child of it ended: the rest goes on, with its own code");
    ok(sh(".", "! find /sys/fs/cgroup -name 'cordon-*' | grep .") == 0,
       "nothing is left of the groups");
}

static void test_full_access(void)
{
    fresh();
    ok(sh("ws", "'%s' run --mode full-access -- sh -c 'echo x > ../out/new'", cordon) == 0 &&
           sh("out", "test -s new") == 0,
       "full access: files outside can be changed");
    ok(sh("ws", "'%s' run --mode full-access -- xdg-open https://x.test", cordon) == 126,
       "full access: the guard still refuses");
    ok(sh("ws",
          "'%s' run --mode full-access --audit a.jsonl -- true; grep -q '\"boundary\":\"none\"' "
          "a.jsonl && grep -q '\"type\":\"end\"' a.jsonl",
          cordon) == 0,
       "full access: the audit is written and says that nothing confines");
    ok(sh("ws", "'%s' run --mode full-access --net=on -- true", cordon) == 0,
       "full access: an open network is no contradiction");
    ok(sh("ws",
          "echo '{\"denyRead\":[\"s\"],\"network\":{\"mode\":\"off\"}}' > ../p.json; "
          "'%s' run --policy ../p.json --mode full-access -- true",
          cordon) == 0,
       "full access: typed, it sets the limits of a policy file aside");
    ok(sh("ws",
          "echo '{\"mode\":\"full-access\",\"denyRead\":[\"s\"]}' > ../p.json; "
          "'%s' run --policy ../p.json -- true",
          cordon) == 125,
       "full access: a policy file that sets limits as well is refused");
    ok(sh("ws", "'%s' run --mode full-access --require-kernel -- true", cordon) == 125,
       "full access contradicts --require-kernel");
    ok(sh("ws", "'%s' run --mode full-access --timeout 1 -- sh -c 'sleep 32 & sleep 32'", cordon) ==
               124 &&
           sh(".", "! ps -eo args | grep -qx 'sleep 32'") == 0,
       "full access: a time-out ends the tree");
    ok(sh("ws", "'%s' run --mode full-access -- sh -c 'exit 7'", cordon) == 7,
       "full access: the command's own code");
}

static void own_terminal(const char *build)
{
    if (sh(".", "command -v script")) {
        skip("the terminal that it was started on", "script is not installed");
        return;
    }
    ok(sh("ws",
          "script -qec \"'%s' run -- sh -c 'echo yes > /dev/tty; tty'\" /dev/null | grep -q yes",
          cordon) == 0 &&
           sh("ws",
              "script -qec \"'%s' run -- sh -c 'echo yes > \\$(tty)'\" /dev/null | grep -q yes",
              cordon) == 0,
       "%sallowed: the terminal that it was started on", build);
    sh("ws", "script -qec 'tty > ../out/tty; sleep 2' ../out/seen & sleep 0.5; "
             "echo MARK > $(cat ../out/tty); wait");
    bool control = sh("out", "grep -q MARK seen") == 0;
    sh("ws",
       "script -qec 'tty > ../out/tty; sleep 2' ../out/seen & sleep 0.5; script -qec \"'%s' run -- "
       "sh "
       "-c 'echo MARK > $(cat ../out/tty)'\" /dev/null; wait",
       cordon);
    ok(control && sh("out", "! grep -q MARK seen") == 0, "%sdenied: another one of the user's",
       build);
}

static void test_terminals(void)
{
    fresh();
    sh("ws",
       "'%s' pty-serve ../out & echo $! > ../out/pid; i=0; while [ ! -s ../out/name -a $i -lt "
       "100 ]; do sleep 0.02; i=$((i+1)); done",
       probe);
    sh("ws", "'%s' pty-write \"$(cat ../out/name)\"; sleep 0.2", probe);
    bool control = sh("out", "grep -q MARK seen") == 0;
    sh("ws",
       ": > ../out/seen; '%s' run --quiet -- '%s' pty-write \"$(cat ../out/name)\"; sleep 0.2",
       cordon, probe);
    ok(control && sh("out", "! grep -q MARK seen") == 0, "denied: somebody else's terminal");
    sh("out", "kill $(cat pid)");
    ok(sh("ws", "'%s' run -- '%s' pty-own got && grep -q MARK got", cordon, probe) == 0,
       "allowed: a terminal that the run made");
    ok(sh("ws", "'%s' run -- sh -c '\"%s\" pty-own got' && grep -q MARK got", cordon, probe) == 0,
       "allowed: a terminal of a child");
    own_terminal("");
#ifdef CORDON_ABI2
    if (box_cap())
        own_terminal("ABI 2: ");
    snprintf(cordon, sizeof cordon, "%s/%s", project, CORDON_EXE);
#endif
}

static void test_leases(void)
{
    fresh();
    ok(sh("ws", "'%s' lease file", probe) == 0, "control: a lease can be had");
    ok(sh("ws", "'%s' run -- '%s' lease file", cordon, probe) == 1, "refused: a lease inside");
    /* Somebody outside holds one and does not let go. */
    sh("ws",
       "'%s' hold-lease file ../out/held & echo $! > ../out/pid; i=0; while [ ! -e ../out/held -a "
       "$i "
       "-lt 100 ]; do sleep 0.02; i=$((i+1)); done",
       probe);
    ok(sh("ws",
          "timeout 20 '%s' run --timeout 2 -- sh -c 'echo x > file & sleep 0.3; echo y > other; "
          "sleep "
          "30'",
          cordon) == 124 &&
           sh("ws", "test -s other") == 0,
       "a lease outside stops neither other calls nor the time-out");
    sh("out", "kill -9 $(cat pid)");
}

static void test_nested(void)
{
    setenv("ASAN_OPTIONS", "detect_leaks=0",
           1); /* the leak checker traces, which is refused inside */
    fresh();
    ok(sh("ws", "'%s' run -- '%s' run -- sh -c 'echo x > new' && test -s new", cordon, cordon) == 0,
       "a run inside a run with the same policy works");
    ok(sh("ws", "'%s' run -- '%s' run -- '%s' run -- sh -c 'echo x > third' && test -s third",
          cordon, cordon, cordon) == 0,
       "and one inside that");
    sh("ws", "'%s' run --quiet -- '%s' run -- sh -c 'echo x > ../out/new'", cordon, cordon);
    ok(sh("out", "test ! -e new") == 0, "the outer one still confines");
    sh("ws", "'%s' run --quiet -- '%s' run --root ../out -- sh -c 'echo x > ../out/new'", cordon,
       cordon);
    ok(sh("out", "test ! -e new") == 0, "the inner one cannot widen it");
    static const struct {
        const char *outer, *inner;
        int code;
    } rows[] = {{"", "--mode read-only", 125}, {"--mode read-only", "", 0},
                {"", "--root sub", 125},       {"--root sub", "--root .", 0},
                {"", "--deny-write sub", 125}, {"--deny-write sub", "--deny-write sub", 0},
                {"", "--deny-read file", 125}, {"--deny-read file", "--deny-read file", 0},
                {"--net=on", "", 125},         {"", "--net=on", 0},
                {"--git=commit", "", 125},     {"", "--git=commit", 0},
                {"", "--strict", 125},         {"", "--deny-tool touch", 125},
                {"--allow-tool ssh", "", 125}, {"", "--temp=private", 125},
                {"", "--mode full-access", 0}, {"", "--timeout 30", 0},
                {"", "--audit a.jsonl", 125}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        ok(sh("ws", "'%s' run --quiet %s -- '%s' run --quiet %s -- true", cordon, rows[i].outer,
              cordon, rows[i].inner) == rows[i].code,
           "outer '%s', inner '%s': %d", rows[i].outer, rows[i].inner, rows[i].code);
    ok(sh("ws", "'%s' run -- '%s' run --timeout 1 -- sleep 33", cordon, cordon) == 124,
       "an inner time-out works");
}

static void test_sessions(void)
{
    fresh();
    sh("ws",
       "for s in old new held; do '%s' run --temp=session=$s -- sh -c 'mkdir $TMPDIR/d; echo x > "
       "$TMPDIR/d/f'; done; u=$(id -u); cd \"$TMPDIR\"; touch -d '25 hours ago' "
       "cordon-session-$u-old "
       "cordon-session-$u-held; mkdir keep; ln -s \"$PWD/keep\" cordon-session-$u-link",
       cordon);
    sh("ws",
       "flock -s \"$TMPDIR/cordon-session-$(id -u)-held\" '%s' run --temp=session=now -- true",
       cordon);
    ok(sh("temp", "test ! -e cordon-session-$(id -u)-old") == 0,
       "a session that was not used for a day is "
       "removed");
    ok(sh("temp", "test -s cordon-session-$(id -u)-new/d/f") == 0, "one that was used stays");
    ok(sh("temp", "test -s cordon-session-$(id -u)-held/d/f && test -d keep") == 0,
       "one that is in use stays, and no link is followed");
}

/* Traps of the kernel that were met once. */
static void test_traps(void)
{
    fresh();
    ok(sh("ws",
          "'%s' run -- python3 -c 'import os; f = os.open(\"file\", os.O_PATH | os.O_RDWR); "
          "os.readlink(\"/proc/self/fd/%%d\" %% f)'",
          cordon) == 0,
       "a path as a descriptor is given, whatever else its flags say");
    sh("ws", "cp '%s' hidden; chmod 111 hidden", probe);
    if (getuid() == 0) {
        skip("a program that cannot be read", "root reads everything");
    } else {
        ok(sh("ws", "./hidden creat ../out/new && rm ../out/new") == 0,
           "control: a program that can be started and not read runs");
        ok(sh("ws", "'%s' run -- ./hidden creat new 2> ../said", cordon) == 126 &&
               sh("ws", "test ! -e new && grep -q 'tool.unreadable.*chmod +r' ../said") == 0,
           "inside it is refused, with the reason");
    }
    if (sh(".", "command -v setfacl && cd ws && setfacl -d -m u::rwx,g::rwx,o::rwx .") == 0) {
        sh("ws", "umask 077; : > plain; stat -c %%a plain > ../want");
        ok(sh("ws",
              "rm plain; '%s' run -- sh -c 'umask 077; : > plain'; stat -c %%a plain | cmp - "
              "../want",
              cordon) == 0,
           "a folder's default list decides the mode, not the umask");
    } else {
        skip("a folder's default list", "setfacl is not installed or the disk has no lists");
    }
}

/* A tree that forks as fast as it can is gone within a second. */
static void test_storm(void)
{
    fresh();
    int code =
        sh("ws", "timeout -s KILL 20 '%s' run --timeout 1 -- '%s' fork-storm x", cordon, probe);
    ok(code == 124, "a fork storm is ended by the time-out (%d)", code);
    sh("ws", "'%s' run -- '%s' fork-storm x & s=$!; sleep 0.5; kill -9 $s", cordon, probe);
    /* A second on a quiet machine; the tests share theirs. */
    ok(sh(".", "i=0; while ps -eo args | grep -q '[f]ork-storm'; do [ $i -lt 30 ] || exit 1; "
               "i=$((i+1)); "
               "sleep 0.1; done") == 0,
       "the supervisor killed in a fork storm: nothing is left");
}

int main(void)
{
    if (!box_make("edges-test"))
        return box_done();
    test_processes();
    test_memory();
    test_full_access();
    test_terminals();
    test_leases();
    test_nested();
    test_sessions();
    test_traps();
    test_storm();
    return box_done();
}
