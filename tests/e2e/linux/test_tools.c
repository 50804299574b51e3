/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tools that must not run: what a person reads who calls one by its name, and that neither its path
 * nor another name helps. The tools of these tests are scripts of our own, in a folder of PATH.
 */
#include "harness.h"

/* A host with an ssh that leaves a mark, and a workspace beside it. */
static void fresh(void)
{
    sh(".",
       "rm -rf ws host mark; mkdir ws host; for t in ssh scp mine; do printf "
       "'#!/bin/sh\\necho ran > %s/ws/mark\\n' > host/$t; chmod +x host/$t; done",
       top);
}

/* sh inside, with the host's folder first in PATH; what it says goes to the file said. */
static int inside(const char *options, const char *script)
{
    return sh(
        "ws",
        "PATH='%s/host':$PATH; export PATH; '%s' run --root . %s -- sh -c '%s' > ../said 2>&1", top,
        cordon, options, script);
}

static bool ran(void)
{
    return sh("ws", "test -e mark") == 0;
}

static bool said(const char *text)
{
    return sh(".", "grep -qF -e '%s' said", text) == 0;
}

static void test_by_name(void)
{
    fresh();
    sh("ws", "PATH='%s/host':$PATH; ssh host", top);
    ok(ran(), "control: without the sandbox the tool runs");
    fresh();
    ok(inside("", "ssh host") == 126 && !ran(), "by its name: 126, and it did not run");
    ok(said("cordon: sandbox denied: ssh is blocked in the sandbox (rule tool.ssh); allow with "
            "--allow-tool ssh --net=on"),
       "with rule and remedy on stderr");
    ok(!said("start ssh"), "once: the summary does not repeat it");
    fresh();
    ok(inside("", "ssh host 2> /dev/null") == 126 &&
           said("cordon: sandbox denied: start ssh (rule tool.ssh); allow with --allow-tool ssh "
                "--net=on"),
       "control: where nobody saw the line, the summary has it");
    fresh();
    ok(inside("--net=on", "ssh host; ssh host 2> /dev/null") == 126 &&
           said("blocked in the sandbox (rule tool.ssh); allow with --allow-tool ssh") &&
           !said("allow with --allow-tool ssh --net=on"),
       "with the network there is less to type");
    fresh();
    ok(inside("--allow-tool ssh", "ssh host") == 0 && ran(), "the remedy is one");
    fresh();
    ok(inside("--allow-tool ssh", "scp host") == 126 && !ran() && said("rule tool.scp"),
       "for that tool alone");
    fresh();
    ok(inside("--deny-tool mine", "mine") == 126 && !ran() && said("(rule tool.denied)") &&
           said("--deny-tool mine"),
       "one's own list: 126, with its rule");
    fresh();
    ok(inside("", "mine") == 0 && ran(), "control: it runs otherwise");
    fresh();
    ok(inside("--deny-tool \"it'\\''s\" --deny-tool cat --deny-tool echo", "ssh; cat /dev/null") ==
               126 &&
           said("tool.ssh") && said("tool.denied"),
       "odd names and the stubs' own words harm nobody");
    fresh();
    ok(inside("--deny-read ../host", "ssh x") == 126 && said("tool.ssh"),
       "with deny-read rules, too");
    fresh();
    ok(sh("ws", "PATH='%s/host':$PATH; export PATH; '%s' run -- ssh x > ../said 2>&1", top,
          cordon) == 126 &&
           !ran() && said("(rule tool.ssh); allow with --allow-tool ssh --net=on"),
       "as the command itself: 126");
    ok(sh("ws",
          "PATH='%s/host':$PATH; export PATH; '%s' run --json -- ssh x 2>&1 | grep -q "
          "'\"reason\":\"refused\",\"exit\":126'",
          top, cordon) == 0,
       "reported as refused");
    fresh();
    ok(inside("--mode full-access", "ssh host") == 0 && ran(), "full access: it runs");
}

static void test_other_ways(void)
{
    static const char *const ways[] = {"../host/ssh x", "ln -s ../host/ssh other; ./other x",
                                       "bash -c \"exec -a true ../host/ssh x\"",
                                       "sh -c \"\\$PWD/../host/ssh x\"",
                                       "PATH=../host; export PATH; env ssh x; ssh x"};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        fresh();
        inside("", ways[i]);
        ok(!ran() && said("tool.ssh"), "refused: %s", ways[i]);
    }
}

static void test_shim(void)
{
    fresh();
    sh("ws", "mkdir bin; printf '#!/bin/sh\\necho shim > mark\\n' > bin/ssh; chmod +x bin/ssh");
    ok(sh("ws",
          "PATH='%s/ws/bin:%s/host':$PATH; export PATH; '%s' run --root . -- sh -c 'ssh x' && grep "
          "-q shim mark",
          top, top, cordon) == 0,
       "a shim that the workspace brings runs");
    fresh();
    ok(sh("ws",
          "PATH='%s/host:%s/ws/bin':$PATH; export PATH; '%s' run --root . -- sh -c 'ssh x'; test "
          "$? "
          "= 126 -a ! -e mark",
          top, top, cordon) == 0,
       "not behind the host's");
    fresh();
    ok(sh("ws", "env -u PATH '%s' run --root . -- /bin/sh -c 'ls > mark' && test -s mark",
          cordon) == 0,
       "without a PATH everything is found as before");
}

/* The folder: the run's own, closed to the tree, gone at the end whoever dies. */
static void test_folder(void)
{
    static const char *const changes[] = {
        "echo x > $d/ssh", "rm -f $d/ssh", "echo x > $d/new",         "mv $d/ssh $d/other",
        "mv $d away",      "chmod 777 $d", "ln -sf /bin/true $d/ssh", "rm -rf $d"};
    fresh();
    inside("", "case $PATH in *cordon-stubs-*) ;; *) exit 1;; esac; d=${PATH%%:*}; stat -c %a $d > "
               "mode; echo $d > where; ls $d > names");
    ok(sh("ws", "grep -qx 700 mode && grep -qx ssh names && test ! -e \"$(cat where)\"") == 0,
       "the stubs lie in a folder of the run's own that is gone at the end");
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        char script[400];
        fresh();
        snprintf(script, sizeof script,
                 "d=${PATH%%%%:*}; ls -l $d > before; %s; ls -l $d > after; ssh x", changes[i]);
        ok(inside("--root /dev/shm --root \"$TMPDIR\"", script) == 126 &&
               sh("ws", "test -s before && cmp before after") == 0,
           "denied, though it lies in a root: %s", changes[i]);
    }
    fresh();
    sh("ws",
       "'%s' run -- sh -c 'echo ${PATH%%%%:*} > where; sleep 30' & s=$!; i=0; while [ ! -s where "
       "-a "
       "$i -lt 100 ]; do sleep 0.05; i=$((i+1)); done; kill -9 $s; i=0; while [ -e \"$(cat "
       "where)\" "
       "-a $i -lt 100 ]; do sleep 0.02; i=$((i+1)); done",
       cordon);
    ok(sh("ws", "test -s where && test ! -e \"$(cat where)\"") == 0,
       "also when the supervisor is killed");
    fresh();
    sh("ws",
       "'%s' run -- sh -c 'echo ${PATH%%%%:*} > where; sleep 60' & s=$!; i=0; while [ ! -s where "
       "-a $i "
       "-lt 500 ]; do sleep 0.02; i=$((i+1)); done; r=$(ps -o pid= --ppid $s); kill -STOP $s $r; "
       "kill -9 $s $r; wait $s",
       cordon);
    ok(sh("ws", "test -s where && test -e \"$(cat where)\"") == 0,
       "killed together with the reaper it leaves them");
    ok(sh("ws",
          "i=0; while [ -e \"$(cat where)\" -a $i -lt 400 ]; do '%s' run -- sh -c 'test -n \"$(ls "
          "${PATH%%%%:*})\"' || exit 1; i=$((i+1)); done; test ! -e \"$(cat where)\"",
          cordon) == 0,
       "and one of the next runs removes them, and not its own");
    fresh();
    sh("ws",
       "XDG_RUNTIME_DIR=/proc/1/nothing '%s' run -- sh -c 'echo ${PATH%%%%:*} > where'; "
       "XDG_RUNTIME_DIR= "
       "unshare -m sh -c 'mount -t tmpfs -o noexec none /dev/shm && \"%s\" run -- sh -c \"ssh 2> "
       "said; echo "
       "\\${PATH%%%%:*} > place\"'",
       cordon, cordon);
    if (sh("ws", "test -s place") == 0)
        ok(sh("ws", "grep -q \"^$TMPDIR/cordon-stubs-\" place && grep -q tool.ssh said && test ! "
                    "-e \"$(cat "
                    "place)\"") == 0,
           "where programs cannot run from memory the temp folder serves");
    else
        skip("the temp folder for stubs", "nothing can be mounted here");
}

int main(void)
{
    if (!box_make("tools-test"))
        return box_done();
    test_by_name();
    test_other_ways();
    test_shim();
    test_folder();
    return box_done();
}
