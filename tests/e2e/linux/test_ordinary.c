/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of ordinary programs that are easily got wrong, and those that could break the
   supervisor. */
#include "harness.h"

static char calls[1200];

static void fresh(void)
{
    sh(".", "rm -rf ws out; mkdir -p ws/sub out");
}

static void test_signals(void)
{
    fresh();
    ok(sh("ws", "timeout 10 sh -c 'while :; do echo x; done | head -1'") == 0,
       "control: a pipe that nobody reads ends its writer");
    ok(sh("ws", "timeout 10 '%s' run -- sh -c 'while :; do echo x; done | head -1'", cordon) == 0,
       "and inside");
    ok(sh("ws", "timeout 20 env --ignore-signal=CHLD '%s' run -- sh -c 'exit 3'", cordon) == 3,
       "the command's code where the caller ignores its children");
    ok(sh("ws",
          "timeout -s KILL 20 '%s' run --timeout 2 -- sleep 30 & p=$!; sleep 1; "
          "kill -TSTP $(pgrep -P $p) $(pgrep -P $(pgrep -P $p)); wait $p",
          cordon) == 124,
       "a suspended terminal does not stop the time-out");
    ok(sh("ws",
          "head -c 2048 /dev/zero > ../out/a.jsonl; ulimit -f 4; timeout 20 '%s' run --audit "
          "../out/a.jsonl -- sh -c 'i=0; while [ $i -lt "
          "200 ]; do echo > ../no$i; i=$((i+1)); done 2>/dev/null; exit 5'",
          cordon) == 5,
       "an audit over the file size limit does not end the run");
}

static void test_descriptors(void)
{
    static const char *const paths[] = {"/proc/self/fd/5", "/dev/fd/5", "/proc/thread-self/fd/5",
                                        "/proc/$$/fd/5"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        fresh();
        ok(sh("ws", "exec 5<sub; echo x > %s/control && test -s sub/control", paths[i]) == 0,
           "control: a file below %s", paths[i]);
        ok(sh("ws", "'%s' run -- sh -c 'exec 5<sub; echo x > %s/new' && test -s sub/new", cordon,
              paths[i]) == 0,
           "and inside");
        /* Another process has it by its number: not told apart from a stranger's, and refused. */
        if (i < 3)
            ok(sh("ws",
                  "'%s' run -- sh -c 'exec 5<sub; mkdir -p %s/a/b; mv %s/a %s/c' && test -d "
                  "sub/c/b",
                  cordon, paths[i], paths[i], paths[i]) == 0,
               "folders there");
        ok(sh("ws", "exec 5<../out; echo x > %s/control && test -s ../out/control", paths[i]) ==
                   0 &&
               sh("ws", "'%s' run -- sh -c 'exec 5<../out; echo x > %s/new'", cordon, paths[i]) !=
                   0 &&
               sh("out", "test ! -e new") == 0,
           "refused: the same outside");
    }
    ok(sh("ws", "'%s' run -- sh -c 'echo x > /proc/self/cwd/here' && test -s here", cordon) == 0,
       "the current directory by that way");
    fresh();
    const char *other = "exec 5>own; sleep 2 5>theirs & sleep 0.3; echo x > /proc/$!/fd/5; wait";
    ok(sh("ws", "%s; test -s theirs", other) == 0, "control: a descriptor of another process");
    fresh();
    ok(sh("ws", "'%s' run -- sh -c '%s'; test ! -s own", cordon, other) == 0,
       "inside it is not taken for one's own");
}

static void test_limits(void)
{
    fresh();
    ok(sh("ws", "'%s' dead-openers fifo", calls) == 0, "control: callers that die");
    fresh();
    ok(sh("ws", "ulimit -n 1024; '%s' run -- '%s' dead-openers fifo", cordon, calls) == 0,
       "1,100 callers that die in a FIFO leave nothing behind");
    ok(sh("ws", "'%s' run -- '%s' pinned-children file", cordon, calls) == 0,
       "no child is left pinned to a CPU");
    ok(sh("ws", "'%s' run -- sh -c '/bin/true $(seq 1 20000)'", cordon) == 0, "20,000 arguments");
    ok(sh("ws", "'%s' run -- sh -c '/bin/echo $(seq 1 20000) | wc -w' | grep -qx 20000", cordon) ==
           0,
       "all of them arrive");
    ok(sh("ws", "'%s' run -- sh -c 'ssh x $(seq 1 20000)' 2>&1 | grep -q tool.ssh", cordon) == 0,
       "and are judged");
    ok(sh("ws", "'%s' long-address", calls) == 0 &&
           sh("ws", "'%s' run -- '%s' long-address", cordon, calls) == 0,
       "a unix address over its length");
    ok(sh("ws", "'%s' wild-times file", calls) == 0 &&
           sh("ws", "'%s' run -- '%s' wild-times file", cordon, calls) == 0,
       "times out of range");
    ok(sh("ws", "'%s' steady-umask", calls) == 0 &&
           sh("ws", "'%s' run -- '%s' steady-umask", cordon, calls) == 0,
       "umask, which never fails, does not fail under signals");
    ok(sh("ws", "'%s' changing-umask m", calls) == 0 &&
           sh("ws", "rm -rf m-*; '%s' run -- '%s' changing-umask m", cordon, calls) == 0,
       "every file gets the mode that the umask of that moment leaves");
}

static void test_network(void)
{
    fresh();
    ok(sh("ws", "'%s' listens-on any", calls) == 0, "control: a listener on every address");
    static const char *const modes[] = {"off", "loopback", "allow=a.test", "proxy=127.0.0.1:9"};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        ok(sh("ws", "'%s' run --net='%s' -- '%s' listens-on loopback 2>err && ! test -s err",
              cordon, modes[i], calls) == 0,
           "with --net=%s it is on this machine's own, without a line", modes[i]);
    ok(sh("ws", "'%s' run --net=on -- '%s' listens-on any", cordon, calls) == 0,
       "with --net=on it is on every address");
    sh("out",
       "'%s' hold-port port & echo $! > pid; i=0; while [ ! -e port -a $i -lt 100 ]; do sleep "
       "0.05; i=$((i+1)); done",
       calls);
    ok(sh("ws", "'%s' share-port $(cat ../out/port)", calls) == 0,
       "control: a port can be shared with its server");
    ok(sh("ws", "'%s' run --net=loopback -- '%s' share-port $(cat ../out/port)", cordon, calls) ==
           1,
       "refused: inside, where half of the server's connections would arrive");
    ok(sh("ws", "'%s' run --net=on -- '%s' share-port $(cat ../out/port)", cordon, calls) == 1,
       "refused: with the network on, too");
    sh("out", "kill $(cat pid)");
    ok(sh("ws", "'%s' run --net=loopback -- '%s' share-port 0", cordon, calls) == 0,
       "control: a port of the run's own");
}

/* Registries that cannot be reached are not asked again and again. */
static void test_patience(void)
{
    static const char once[] = "test \"$npm_config_fetch_retries$PIP_RETRIES\" = 00";
    fresh();
    ok(sh("ws", "'%s' run -- sh -c '%s'", cordon, once) == 0 &&
           sh("ws", "'%s' run --net=loopback -- sh -c '%s'", cordon, once) == 0,
       "package managers try once where the network is off or only this machine's");
    ok(sh("ws", "'%s' run --net=on -- sh -c '%s'", cordon, once) == 1 &&
           sh("ws", "'%s' run --net=allow=a.test -- sh -c '%s'", cordon, once) == 1,
       "control: as they are used to where it is not");
}

/* The option that opens half of a repository does not help to delete all of it. */
static void test_whole_repository(void)
{
    fresh();
    ok(sh("ws",
          "git init -q . && '%s' run -- rm -rf .git 2>err; test -e .git/HEAD && grep -q 'cannot be "
          "overridden' err && ! grep -q git=commit err",
          cordon) == 0,
       "a deleted repository gets one line, without an option for a part of it");
    ok(sh("ws", "'%s' run -- rm .git/HEAD 2>err; grep -q git=commit err", cordon) == 0,
       "control: one file has its option");
}

static void test_filtered(void)
{
    fresh();
    ok(sh("ws", "'%s' without-readv \"'%s' run -- sh -c 'echo x > new; ! echo > ../out/no'\"",
          calls, cordon) == 0 &&
           sh("ws", "test -s new && test ! -e ../out/no") == 0,
       "inside a sandbox that refuses process_vm_readv");
    ok(sh("ws", "'%s' without-readv \"'%s' doctor --json\" | grep -q 'process_vm_readv is refused'",
          calls, cordon) == 0,
       "and doctor says so");
}

int main(void)
{
    if (!box_make("ordinary-test"))
        return box_done();
    snprintf(calls, sizeof calls, "%s/%s", project, CALLS_PROBE);
    test_signals();
    test_descriptors();
    test_limits();
    test_network();
    test_patience();
    test_whole_repository();
    test_filtered();
    return box_done();
}
