/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Promise 57 on Linux: files and their modes, times and attributes around the workspace, temp
 * folders, shared memory, control groups, mounts, sockets and processes are the same before and
 * after mixed runs, some of them killed. The argument is a factor: 1 for the short form.
 */
#include "harness.h"

static const char *const runs[] = {
    "'$C' run -- sh -c 'echo x > new'",
    "'$C' run --temp=private -- sh -c 'mkdir -p $TMPDIR/d/e; echo x > $TMPDIR/d/e/f; chmod 0 "
    "$TMPDIR/d'",
    "'$C' run -- sh -c 'echo x > ../out/new; chmod 600 ../out/file; touch -d @0 ../out/file'",
    "'$C' run --mode read-only -- sh -c 'echo x > new2'",
    "'$C' run -- sh -c 'setsid sleep 7 & setsid sh -c \"sleep 7 & sleep 7\" & exit 0'",
    "'$C' run --timeout 1 -- sh -c 'sleep 30 & sleep 30'",
    "'$C' run -- nothing-of-that-name",
    "'$C' run -- xdg-open https://x.test",
    "'$C' run --net=allow=a.test -- curl -s -m 1 http://a.test/",
    "'$C' run --net=loopback -- sh -c 'exit 3'",
    "'$C' run --max-procs 50 -- sh -c 'sleep 0.01 & wait'",
    "'$C' run --deny-read file -- cat file",
    "'$C' run --git=commit -- sh -c 'mkdir -p .git/objects'",
    "'$C' run --json -- sh -c 'kill -9 $$'",
    "'$C' run --temp=private -- sh -c 'echo x > $TMPDIR/x; sleep 20' & sleep 0.3; kill -9 $!; wait "
    "$!",
    "'$C' run -- sh -c 'sleep 20' & sleep 0.2; kill -TERM $!; wait $!",
};

/* Everything but the workspace itself. */
static void snapshot(const char *name)
{
    sh(".",
       "{ find out temp -printf '%%p %%m %%U %%G %%s\\n' | sort; stat -c '%%n %%y %%z' out "
       "out/file; "
       "getfattr -d -m - -R out; ls -A /dev/shm | grep cordon | grep -v selftest; "
       "find /sys/fs/cgroup -name '*cordon*'; cat /proc/self/mountinfo; "
       "grep cordon /proc/net/unix | grep -v selftest; cat /proc/sysvipc/*; "
       "for p in /proc/[0-9]*; do readlink $p/cwd; done | grep '^%s/ws'; } "
       "> ../left-%s-%d 2>/dev/null",
       top, name, (int)getpid());
}

static bool same(const char *a, const char *b)
{
    return sh("..", "test -s left-%s-%d && cmp left-%s-%d left-%s-%d", a, (int)getpid(), a,
              (int)getpid(), b, (int)getpid()) == 0;
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 1;
    if (!box_make("left-test"))
        return box_done();
    setenv("C", cordon, 1);
    sh(".", "mkdir ws out; echo old > out/file; echo old > ws/file");
    sh("ws", "'%s' run --temp=private -- true", cordon);
    snapshot("before");
    for (int round = 0; round < rounds; round++)
        for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
            setenv("LINE", runs[i], 1);
            sh("ws",
               "line=$(printf '%%s' \"$LINE\" | awk -v c=\"$C\" '{ gsub(/\\$C/, c); print }'); "
               "timeout -s KILL 30 sh -c \"$line\"");
        }
    sh("ws", "sleep 0.3; '%s' run --temp=private -- true", cordon);
    snapshot("after");
    if (!ok(same("before", "after"), "57 %d runs, killed ones among them, leave nothing",
            rounds * (int)(sizeof runs / sizeof *runs)))
        sh("..", "diff left-before-%d left-after-%d > left-differences", (int)getpid(),
           (int)getpid());
    ok(sh("ws", "test -s new -a ! -e new2") == 0, "57 control: the runs did what they do");
    static const char *const changes[] = {"chmod 600 out/file", "touch temp/x", "touch out/new",
                                          "(cd ws; sleep 3 &)",
                                          "touch /dev/shm/cordon-left-test-x"};
    static const char *const undo[] = {"chmod 644 out/file", "rm temp/x", "rm out/new", "sleep 3",
                                       "rm /dev/shm/cordon-left-test-x"};
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        sh(".", "%s", changes[i]);
        snapshot("changed");
        ok(!same("after", "changed"), "57 control: %s is seen", changes[i]);
        sh(".", "%s", undo[i]);
    }
    sh("..", "rm -f left-*-%d", (int)getpid());
    return box_done();
}
