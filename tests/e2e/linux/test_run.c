/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cordon run on Linux, end to end. Every attempt is a shell line that runs in a fresh workspace; a
 * second line says whether it had its effect on the disk. A denied attempt must have its effect
 * without the sandbox (the control) and none with it; an allowed one must have it with the sandbox.
 */
#include "harness.h"

static const char *build = ""; /* which of the programs, for the names */

/* ws is the workspace, out lies beside it. */
static void fresh(void)
{
    sh(".", "rm -rf ws out; mkdir -p ws/sub out/.empty && cd ws && printf old > file && "
            "printf old > ../out/file && chmod 644 file ../out/file && "
            "mkdir -p repo/.git/hooks linked && printf x > repo/.git/config && "
            "printf x > linked/.git && "
            "ln -s ../out away && ln -s ../out/file filelink && ln ../out/file hard && "
            "touch -d 2020-01-01 ../out/file file");
}

static int confined(const char *options, const char *script)
{
    return sh("ws", "P='%s'; export P; '%s' run --quiet %s -- sh -c '%s'", probe, cordon, options,
              script);
}

static int unconfined(const char *script)
{
    return sh("ws", "P='%s'; export P; sh -c '%s'", probe, script);
}

struct attempt {
    const char *what, *script, *effect;
    const char *options; /* NULL: none */
};

static const struct attempt denied[] = {
    {"write outside", "echo x > ../out/new", "test -e ../out/new", NULL},
    {"overwrite outside", "echo x > ../out/file", "grep -q x ../out/file", NULL},
    {"append outside", "echo x >> ../out/file", "grep -q x ../out/file", NULL},
    {"delete outside", "rm -f ../out/file", "test ! -e ../out/file", NULL},
    {"make a folder outside", "mkdir ../out/d", "test -d ../out/d", NULL},
    {"remove a folder outside", "rmdir ../out/.empty", "test ! -d ../out/.empty", NULL},
    {"rename outside", "mv ../out/file ../out/g", "test -e ../out/g", NULL},
    {"move in from outside", "mv ../out/file in", "test ! -e ../out/file", NULL},
    {"move out", "mv file ../out/moved", "test -e ../out/moved", NULL},
    {"link out", "ln file ../out/linked", "test -e ../out/linked", NULL},
    {"link in and write", "ln ../out/file l && echo x > l", "grep -q x ../out/file", NULL},
    {"symlink outside", "ln -s a ../out/s", "test -L ../out/s", NULL},
    {"write through a folder link", "echo x > away/new", "test -e ../out/new", NULL},
    {"write through a file link", "echo x > filelink", "grep -q x ../out/file", NULL},
    {"write through a new link", "ln -s ../out n && echo x > n/new", "test -e ../out/new", NULL},
    {"write through a hard link", "echo x > hard", "grep -q x ../out/file", NULL},
    {"write by ..", "echo x > sub/../../out/new", "test -e ../out/new", NULL},
    {"write from another folder", "cd ../out && echo x > new", "test -e ../out/new", NULL},
    {"mode outside", "chmod 600 ../out/file", "test \"$(stat -c %a ../out/file)\" = 600", NULL},
    {"times outside", "touch ../out/file", "test ../out/file -nt file", NULL},
    {"a pipe outside", "mkfifo ../out/p", "test -p ../out/p", NULL},
    {"a repository made", "mkdir .git", "test -d .git", NULL},
    {"a repository in another case", "mkdir .GiT", "test -d .GiT", NULL},
    {"a nested hook", "echo x > repo/.git/hooks/pre-commit", "test -e repo/.git/hooks/pre-commit",
     NULL},
    {"a worktree of its own", "mkdir new && echo x > new/.git", "test -e new/.git", NULL},
    {"a worktree led elsewhere", "echo y > linked/.git", "grep -q y linked/.git", NULL},
    {"a worktree's file replaced", "echo y > t; mv -f t linked/.git", "grep -q y linked/.git",
     NULL},
    {"a worktree's file deleted", "unlink linked/.git", "test ! -e linked/.git", NULL},
    {"a nested config", "echo y > repo/.git/config", "grep -q y repo/.git/config", NULL},
    {"a nested repository moved", "mv repo/.git repo/g", "test -d repo/g", NULL},
    {"agent settings", "mkdir .claude", "test -d .claude", NULL},
    {"agent settings below", "mkdir -p sub/.cursor", "test -d sub/.cursor", NULL},
    {"editor settings", "echo x > .mcp.json", "test -e .mcp.json", NULL},
    {"rename to a protected name", "mv sub .vscode", "test -d .vscode", NULL},
    {"denied by option", "echo x > sub/new", "test -e sub/new", "--deny-write sub"},
    {"read-only", "echo x > new", "test -e new", "--mode read-only"},
    {"read-only delete", "rm -f file", "test ! -e file", "--mode read-only"},
    {"another root only", "echo x > new", "test -e new", "--root sub"},
    {"openat2", "\"$P\" openat2 ../out/new", "test -e ../out/new", NULL},
    {"creat", "\"$P\" creat ../out/new", "test -e ../out/new", NULL},
    {"an unnamed file outside", "\"$P\" tmpfile ../out ../out/new", "test -e ../out/new", NULL},
    {"an unnamed file named outside", "\"$P\" tmpfile . ../out/new", "test -e ../out/new", NULL},
    {"truncate", "\"$P\" truncate ../out/file", "test ! -s ../out/file", NULL},
    {"truncate while reading", "\"$P\" read-truncate ../out/file", "test ! -s ../out/file", NULL},
    {"chmod by descriptor", "\"$P\" fchmod ../out/file", "test \"$(stat -c %a ../out/file)\" = 600",
     NULL},
    {"chmod by /proc", "\"$P\" proc-chmod ../out/file", "test \"$(stat -c %a ../out/file)\" = 600",
     NULL},
    {"times by path", "\"$P\" utimes ../out/file", "test ../out/file -ot file", NULL},
    {"times by descriptor", "\"$P\" futimens ../out/file", "test ../out/file -ot file", NULL},
    {"reopen for writing", "\"$P\" reopen ../out/file", "grep -q x ../out/file", NULL},
    {"through /proc/self/cwd", "\"$P\" cwd-link ../out/new", "test -e ../out/new", NULL},
    {"exchange", "printf mine > file; \"$P\" exchange file ../out/file", "grep -q mine ../out/file",
     NULL},
    {"a child of a child of a child", "sh -c \"sh -c \\\"echo x > ../out/new\\\"\"",
     "test -e ../out/new", NULL},
    {"a repository in the place of one's own",
     "mkdir -p new/.git && mv new old && mv repo new && echo y > new/.git/config; mv new repo",
     "grep -q y repo/.git/config", NULL},
    {"a path too long to judge", "\"$P\" deep-fchmod repo .git/config",
     "test \"$(stat -c %a repo/.git/config)\" = 600", NULL},
    {"a set-user-id program", "chmod 4755 file", "test -u file", NULL},
    {"a set-group-id program", "\"$P\" creat g && chmod g+s g", "test -g g", NULL},
    {"truncate by a flipped path", "\"$P\" truncate-flip ../out/file", "test ! -s ../out/file",
     NULL},
    {"truncate by a flipped openat2", "\"$P\" openat2-flip ../out/file", "test ! -s ../out/file",
     NULL},
    {"a denied tool", "touch new", "test -e new", "--deny-tool touch"},
    {"a denied tool by another name", "ln -s /usr/bin/touch t; ./t new", "test -e new",
     "--deny-tool touch"},
    {"a denied tool through the loader", "/lib64/ld-linux-x86-64.so.2 /usr/bin/touch new",
     "test -e new", "--deny-tool touch"},
    {"a denied tool through the loader with options",
     "/lib64/ld-linux-x86-64.so.2 --argv0 true /usr/bin/touch new", "test -e new",
     "--deny-tool touch"},
    {"a denied tool as interpreter", "echo \"#!/usr/bin/touch new\" > s; chmod +x s; ./s",
     "test -e new", "--deny-tool touch"},
    {"a program in memory", "\"$P\" memfd-exec new", "test -e new", NULL},
    {"a deleted program", "\"$P\" deleted-exec new t", "test -e new", NULL},
    {"a denied tool by a flipped path", "\"$P\" exec-flip new", "test -e new", "--deny-tool touch"},
    {"a link in the private temp folder to outside",
     "ln -s $PWD/../out ${TMPDIR:-.}/w; echo x > ${TMPDIR:-.}/w/new; rm -f ${TMPDIR:-.}/w",
     "test -e ../out/new", "--temp=private --root ."},
    {"a second name in the private temp folder",
     "ln hard ${TMPDIR:-.}/h; echo x > ${TMPDIR:-.}/h; rm -f "
     "${TMPDIR:-.}/h",
     "grep -q x ../out/file", "--temp=private --root ."},
    {"a hook, from the private temp folder",
     "echo x > ${TMPDIR:-.}/h; mv ${TMPDIR:-.}/h repo/.git/hooks/h", "test -e repo/.git/hooks/h",
     "--temp=private --root ."},
    {"a flipped path out of the private temp folder",
     "\"$P\" create-flip ${TMPDIR:-.}/f ../out/new", "test -e ../out/new",
     "--temp=private --root ."},
    {"a set-user-id program in the private temp folder",
     "\"$P\" creat-mode ${TMPDIR:-.}/s && cp -p ${TMPDIR:-.}/s s", "test -u s",
     "--temp=private --root ."},
    {"in the background, after the end", "(sleep 0.3; echo x > ../out/late) & sleep 0.6",
     "test -e ../out/late", NULL},
};

static const struct attempt allowed[] = {
    {"write", "echo x > new", "grep -q x new", NULL},
    {"overwrite", "echo x > file", "grep -q x file", NULL},
    {"append", "echo x >> file", "grep -q oldx file", NULL},
    {"folders and files", "mkdir -p a/b/c && echo x > a/b/c/d", "test -s a/b/c/d", NULL},
    {"rename", "mv file renamed", "test -e renamed -a ! -e file", NULL},
    {"move a folder", "mv sub moved", "test -d moved", NULL},
    {"delete", "rm file", "test ! -e file", NULL},
    {"remove folders", "rm -r sub", "test ! -e sub", NULL},
    {"a hard link inside", "ln file l && echo x > l", "grep -q x file", NULL},
    {"a symlink", "ln -s file s && echo x > s", "grep -q x file", NULL},
    {"a symlink to outside is only a link", "ln -s /usr/bin u && ls u/", "test -L u", NULL},
    {"mode", "chmod 600 file", "test \"$(stat -c %a file)\" = 600", NULL},
    {"times", "touch -d 2001-01-01 file", "test \"$(stat -c %Y file)\" -lt 1000000000", NULL},
    {"a pipe between programs", "mkfifo p; cat p > got & echo hi > p; wait", "grep -q hi got",
     NULL},
    {"temp", "t=$(mktemp) && echo x > \"$t\" && cp \"$t\" got && rm \"$t\"", "grep -q x got", NULL},
    {"the null device", "echo x > /dev/null && echo ok > got", "grep -q ok got", NULL},
    {"a repository of its own",
     "mkdir -p new/.git/hooks && echo \"[core]\" > new/.git/config.lock && mv "
     "new/.git/config.lock new/.git/config",
     "test -s new/.git/config", NULL},
    {"a worktree of its own with --git=full",
     "mkdir new && echo x > new/.git && echo y > new/.git && rm new/.git && echo z > new/.git",
     "grep -qx z new/.git", "--git=full"},
    {"commit objects with --git=commit",
     "echo x > repo/.git/ORIG_HEAD.lock && mv repo/.git/ORIG_HEAD.lock repo/.git/ORIG_HEAD",
     "grep -qx x repo/.git/ORIG_HEAD", "--git=commit"},
    {"an unprotected name", "mkdir .vscode", "test -d .vscode", "--unprotect .vscode"},
    {"another root", "echo x > ../out/new", "test -e ../out/new", "--root . --root ../out"},
    {"openat2", "\"$P\" openat2 new", "test -s new", NULL},
    {"an unnamed file", "\"$P\" tmpfile . new", "test -s new", NULL},
    {"truncate", "\"$P\" truncate file", "test ! -s file", NULL},
    {"chmod by descriptor", "\"$P\" fchmod file", "test \"$(stat -c %a file)\" = 600", NULL},
    {"chmod by /proc", "\"$P\" proc-chmod file", "test \"$(stat -c %a file)\" = 600", NULL},
    {"times by descriptor", "\"$P\" futimens file", "test \"$(stat -c %Y file)\" = 1", NULL},
    {"the caller's umask", "\"$P\" umask new", "test \"$(stat -c %a new)\" = 640", NULL},
    {"not dumpable", "\"$P\" dumpable new", "test -s new", NULL},
    {"a pipe is not truncated", "mkfifo p; \"$P\" truncate p; echo ok > got", "grep -q ok got",
     NULL},
    {"a port of its own", "\"$P\" own-port got", "test -s got", NULL},
    {"a script", "printf \"#!/bin/sh -e\\necho ok > got\\n\" > s; chmod +x s; ./s",
     "grep -q ok got", NULL},
    {"a program through the loader", "/lib64/ld-linux-x86-64.so.2 /usr/bin/touch got",
     "test -e got", NULL},
    {"signals inside", "sleep 30 & kill $!; wait $!; echo ok > got", "grep -q ok got", NULL},
    {"signals to one's own group",
     "setsid sh -c \"sleep 30 & trap : TERM; kill 0; wait; echo ok > got\"", "grep -q ok got",
     NULL},
    {"one's own output once more", "sh -c \"echo ok > /dev/stdout\" > got", "grep -q ok got", NULL},
    {"a start that fails", "echo \"echo ok > got\" > s; chmod +x s; ./s", "grep -q ok got", NULL},
    {"a full queue stops nobody else", "\"$P\" full-queue s got", "test -s got", NULL},
    {"a set-group-id folder", "mkdir d && chmod g+s d", "test -g d", NULL},
    {"the private temp folder",
     "cd $TMPDIR && mkdir -p a/b && echo ok > a/b/c && mv a/b/c d && echo more >> d && mkdir e && "
     "rmdir e && "
     "(umask 077; : > p) && test $(stat -c %a p) = 600 && ln -s d l && cat l > $OLDPWD/got && rm "
     "-r a l",
     "grep -q more got", "--temp=private --root ."},
    {"from the private temp folder into the workspace", "echo ok > $TMPDIR/x && mv $TMPDIR/x got",
     "grep -q ok got", "--temp=private --root ."},
    {"through a link in the private temp folder", "ln -s $PWD $TMPDIR/w && echo ok > $TMPDIR/w/got",
     "grep -q ok got", "--temp=private --root ."},
    {"naming a thread", "echo name > /proc/self/task/$$/comm && cat /proc/$$/comm > got",
     "test -s got", NULL},
    {"forks among signals", "i=0; while [ $i -lt 60 ]; do echo x >> got & i=$((i+1)); done; wait",
     "test $(wc -l < got) = 60", NULL},
    {"a unix socket of its own", "\"$P\" unix-pair s && echo ok > got", "grep -q ok got", NULL},
};

/* Calls that have no effect on the disk: yes without the sandbox, no with it. */
static const struct attempt refused[] = {
    {"memory of a process outside", "\"$P\" memory $OUTSIDE", NULL, NULL},
    {"signals to a process outside", "\"$P\" kill $OUTSIDE", NULL, NULL},
    {"queued signals outside", "\"$P\" sigqueue $OUTSIDE", NULL, NULL},
    {"signals outside by a descriptor", "\"$P\" pidfd-signal $OUTSIDE", NULL, NULL},
    {"signals outside by a file's owner", "\"$P\" owner-signal $OUTSIDE", NULL, NULL},
    {"tracing a process outside", "\"$P\" ptrace $OUTSIDE", NULL, NULL},
    {"a user namespace", "\"$P\" namespace x", NULL, NULL},
    {"shared memory with others", "\"$P\" shared-memory x", NULL, NULL},
    {"datagrams", "\"$P\" datagram x", NULL, NULL},
    {"a server outside", "\"$P\" unix-connect ../out/stream", NULL, NULL},
    {"a server outside, by a flipped address", "\"$P\" connect-flip ../out/stream", NULL, NULL},
    {"a server outside, from a pair", "\"$P\" pair-datagram ../out/datagram", NULL, NULL},
    {"a server outside, by its port", "\"$P\" port-alias $(cat ../out/port)", NULL, NULL},
    {"listening for everybody", "\"$P\" listen-any x", NULL, NULL},
    {"a program with capabilities", "\"$P\" capability file", NULL, NULL},
};

static void test_denied(const struct attempt *a)
{
    const char *options = a->options ? a->options : "";
    fresh();
    unconfined(a->script);
    bool control = sh("ws", "%s", a->effect) == 0;
    fresh();
    bool before = sh("ws", "%s", a->effect) == 0;
    confined(options, a->script);
    bool after = sh("ws", "%s", a->effect) == 0;
    bool outside = sh("out", "test \"$(cat file)\" = old -a $(ls | wc -l) = 1") == 0;
    if (!ok(control && !before && !after && outside, "%sdenied: %s", build, a->what))
        note("control %d, before %d, after %d, outside unchanged %d", control, before, after,
             outside);
}

static void test_allowed(const struct attempt *a)
{
    fresh();
    confined(a->options ? a->options : "", a->script);
    ok(sh("ws", "%s", a->effect) == 0, "%sallowed: %s", build, a->what);
}

static void test_refused(const struct attempt *a)
{
    fresh();
    static const char outside[] = "export P='%s'; \"$P\" serve ../out & export OUTSIDE=$!; i=0; "
                                  "while [ ! -s ../out/port -a $i "
                                  "-lt 50 ]; do sleep 0.02; i=$((i+1)); done; %s%s%s sh -c '%s'; "
                                  "c=$?; kill -9 $OUTSIDE; exit $c";
    int control = sh("ws", outside, probe, "", "", "", a->script);
    fresh();
    int inside = sh("ws", outside, probe, "'", cordon, "' run --quiet --", a->script);
    if (control != 0)
        skip(a->what, "the control fails on this machine");
    else
        ok(inside == 1, "%srefused: %s", build, a->what);
}

/* The signal that ends cordon is reported as such, not as a failure of cordon; the command's exit
   code is its own. */
static void test_ended(void)
{
    static const struct {
        const char *how;
        int code;
        const char *reason;
        const char *said; /* the line without --json; "": none */
    } ends[] = {
        {"kill -TERM $p", 143, "signal", "cordon: the run was ended, because cordon got SIGTERM"},
        {"kill -HUP $p", 129, "signal", "cordon: the run was ended, because cordon got SIGHUP"},
        {"echo x > go", 7, "exited", ""}};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        fresh();
        int code = sh("ws",
                      "'%s' run --json -- sh -c 'echo x > begun; while test ! -e go; do sleep 0.1; "
                      "done; exit 7' > said 2>&1 & p=$!; i=0; while test ! -e begun && test $i -lt "
                      "300; do sleep 0.1; i=$((i+1)); done; %s; wait $p",
                      cordon, ends[i].how);
        ok(code == ends[i].code && sh("ws",
                                      "grep -q '\"reason\":\"%s\"' said && grep -q "
                                      "'\"exit\":%d[,}]' said",
                                      ends[i].reason, ends[i].code) == 0,
           "%s: %d, and --json says so (%d)", ends[i].how, ends[i].code, code);
        ok(sh("ws", "test %d = $(grep -c '\"message\":\"the run was ended, because' said)",
              *ends[i].said ? 1 : 0) == 0,
           "with the reason, if it was not the command's own");
        fresh();
        sh("ws",
           "'%s' run -- sh -c 'echo x > begun; while test ! -e go; do sleep 0.1; done' 2> said & "
           "p=$!; i=0; while test ! -e begun && test $i -lt 300; do sleep 0.1; i=$((i+1)); done; "
           "%s; wait $p",
           cordon, ends[i].how);
        ok(sh("ws", "test \"$(cat said)\" = '%s'", ends[i].said) == 0, "%s: %s", ends[i].how,
           *ends[i].said ? "one line on stderr" : "no line");
    }
    ok(sh("ws",
          "'%s' run --timeout 1 -- sleep 30 2>&1 | grep -q 'ended after 1 second (--timeout); "
          "use a higher --timeout'",
          cordon) == 0 &&
           sh("ws",
              "'%s' run --timeout 2 --json --quiet -- sleep 30 2>&1 | grep -q "
              "'\"message\":\"the run was ended after 2 seconds (--timeout)\"'",
              cordon) == 0,
       "one second and two seconds");
}

static void test_codes(void)
{
    fresh();
    ok(confined("", "exit 7") == 7, "the command's own code");
    ok(confined("", "kill -9 $$") == 137, "death by a signal is 128 and its number");
    ok(sh("ws", "'%s' run -- /no/such/program", cordon) == 127, "a program that is not there: 127");
    ok(sh("ws", "'%s' run -- xdg-open https://x.test", cordon) == 126, "refused by the guard: 126");
    ok(sh("ws",
          "'%s' run -- bash -c 'bash <<< $(echo eGRnLW9wZW4gaHR0cHM6Ly94LnRlc3Q= | base64 -d)' "
          "2>&1 | grep -q 'which is: https://x.test (rule .*--net=allow=x.test$'",
          cordon) == 0,
       "it names what an encoded command means, and how to fetch it where the network is off");
    ok(sh("ws",
          "'%s' run --net=on -- xdg-open https://x.test/$(printf '%%0900d' 7) > said 2>&1; "
          "test $(wc -c < said) -lt 500 && grep -q '…' said && grep -q 'fetch it with curl or' "
          "said",
          cordon) == 0,
       "a long command is cut");
    sh("ws",
       "cp /bin/true mine; cp mine xdg-open; echo 'for p in mine xdg-open; do ./$p "
       "\"https://x.test\\\\conhost.exe\" --server; echo $? > code-$p; done' > go; '%s' run -- sh "
       "go",
       cordon);
    ok(sh("ws", "grep -qx 0 code-mine && grep -qx 126 code-xdg-open") == 0,
       "words of Wine's console excuse no other program");
    ok(sh("ws", "echo 'echo hi' > s; chmod +x s; '%s' run -- ./s 2> said; test $? = 126", cordon) ==
               0 &&
           sh("ws", "grep -q 'begins with #!' said") == 0,
       "a script that names no shell: 126, and what to type instead");
    ok(sh("ws", "'%s' run --root /no/such/folder -- true", cordon) == 125, "a bad root: 125");
    ok(sh("ws", "'%s' run --timeout 1 -- sleep 30", cordon) == 124, "a time-out: 124");
    ok(sh("ws",
          "'%s' run --timeout 1 -- sh -c 'sleep 31 & sleep 31'; ! ps -eo args | grep -qx 'sleep "
          "31'",
          cordon) == 0,
       "and nothing of the tree is left");
    ok(sh("ws", "test \"$(echo hi | '%s' run -- cat)\" = hi", cordon) == 0, "stdin and stdout");
    ok(sh("ws", "head -c 20000000 /dev/urandom > big; '%s' run -- cat big | cmp - big", cordon) ==
           0,
       "20 MB, byte for byte");
    ok(sh("ws",
          "'%s' run -- sh -c 'echo x > ../out/n' 2>&1 | grep -q "
          "'cordon: sandbox denied: create .*out/n (rule roots.outside); allow with --root . "
          "--root '",
          cordon) == 0,
       "the summary names path, rule and remedy");
    ok(sh("ws", "'%s' run --verbose -- true 2>&1 | grep -q '@credentials closes keys'", cordon) ==
               0 &&
           sh("ws",
              "'%s' run --verbose --deny-read @credentials -- true 2>&1 | grep -q '^cordon: cannot "
              "be read: .*keys and tokens'",
              cordon) == 0,
       "--verbose says that credentials are closed on request only");
    ok(sh("ws",
          "'%s' run --json -- sh -c 'echo x > ../out/n' 2>&1 | tail -n 1 | grep -q "
          "'\"type\":\"summary\",\"reason\":\"exited\",\"exit\":2,\"boundary\":\"kernel\"'",
          cordon) == 0,
       "or as JSON");
    ok(sh("ws",
          "'%s' run --json -- sh -c 'mkdir -p made/.git' 2>&1 | tail -n 1 | grep -q "
          "'\"repositories\":\\[\"[^,]*/made/.git\"]'",
          cordon) == 0,
       "a repository that the run made is in it");
    ok(sh("ws",
          "'%s' run -- sh -c 'mkdir -p here/.git gone/.git a/away/.git; rmdir gone/.git; mv a "
          "b' 2> ../out/said; grep -q 'repository: .*/here/.git ' ../out/said && grep -q 'made 2 "
          "git repositories, deleted or moved since' ../out/said",
          cordon) == 0,
       "those that are not there any more are counted");
    ok(sh("ws",
          "'%s' run --audit ../out/r.jsonl -- sh -c 'mkdir -p more/.git; echo x > "
          "more/.git/config' "
          "2>&1 | grep -c 'cordon: the run made a git repository: .*more/.git (rule git.new)' | "
          "grep -qx 1 && grep -c '\"type\":\"allow\".*more/.git\".*\"rule\":\"git.new\"' "
          "../out/r.jsonl | grep -qx 1",
          cordon) == 0,
       "and in the summary for people and the audit");
    ok(sh("ws",
          "'%s' run --audit ../out/a.jsonl -- sh -c 'echo x > ../out/n; echo x > ../out/a.jsonl'; "
          "grep -q '\"type\":\"start\"' ../out/a.jsonl && grep -q '\"rule\":\"roots.outside\"' "
          "../out/a.jsonl && grep -q '\"type\":\"end\"' ../out/a.jsonl",
          cordon) == 0,
       "the audit has start, denial and end, and the tree cannot write it");
    ok(sh("ws", "'%s' run --audit a.jsonl -- sh -c 'echo x > a.jsonl'; ! grep -qx x a.jsonl",
          cordon) == 0,
       "not even inside a root");
}

static void test_temp(void)
{
    fresh();
    ok(sh("ws",
          "'%s' run --temp=private -- sh -c 'test \"$TMPDIR\" = \"$TEMP\" -a \"$TMP\" = \"$TEMP\" "
          "&& "
          "echo x > \"$TMPDIR/f\" && mkdir -p \"$TMPDIR/a/b\" && chmod 0 \"$TMPDIR/a\" && echo "
          "\"$TMPDIR\" > where && stat -c %%a \"$TMPDIR\" > mode' 2> said; test $? = 0 && grep -q "
          "700 mode && test -s where && test ! -e \"$(cat where)\" && grep -q 'with the files in "
          "it' said",
          cordon) == 0,
       "a private temp folder, removed at the end");
    fresh();
    ok(sh("ws",
          "'%s' run --temp=private -- sh -c 'echo x > /tmp/cordon-run-test-x'; test $? != 0 "
          "-a ! -e /tmp/cordon-run-test-x",
          cordon) == 0,
       "and the shared one is not writable then");
    ok(sh("ws",
          "'%s' run --temp=session=t$$ -- sh -c 'echo x > \"$TMPDIR/f\"' && '%s' run "
          "--temp=session=t$$ -- sh -c 'cat \"$TMPDIR/f\" > got; echo \"$TMPDIR\" > where' && grep "
          "-q "
          "x got && rm -r \"$(cat where)\"",
          cordon, cordon) == 0,
       "a temp folder for all runs of a session");
    ok(sh("ws", "'%s' run --temp=session=../x -- true", cordon) == 125, "an id is not a path");
    ok(sh("ws",
          "ln -s /usr \"$TMPDIR\"/cordon-session-$(id -u)-l$$; '%s' run --temp=session=l$$ -- "
          "true; c=$?; "
          "rm \"$TMPDIR\"/cordon-session-$(id -u)-l$$; test $c = 125",
          cordon) == 0,
       "a link in the place of a session's folder is refused");
    ok(sh("ws",
          "A_ONE=1 A_TWO=2 B=3 C=4 '%s' run --unset 'A_*' --unset B -- sh -c 'test -z "
          "\"$A_ONE$A_TWO$B\" -a \"$C\" = 4'",
          cordon) == 0,
       "--unset takes names and patterns out of the environment");
}

/* Only stdin, stdout and stderr go in. */
static void test_inherited(void)
{
    fresh();
    sh("ws", "sh -c 'echo x >&3' 3>>../out/log");
    bool control = sh("out", "test -s log") == 0;
    sh("ws", ": > ../out/log; '%s' run --quiet -- sh -c 'echo x >&3' 3>>../out/log", cordon);
    ok(control && sh("out", "test ! -s log") == 0, "denied: a descriptor that was open before");
}

/* The supervisor dies: no write is possible from then on and the tree ends. */
static void test_killed(void)
{
    static const struct {
        const char *name, *who;
    } cases[] = {
        {"the supervisor killed", "echo $s"},
        {"all killed that is called cordon",
         "for p in $s $(cat /proc/$s/task/$s/children); do grep -q cordon /proc/$p/comm && "
         "echo $p; done"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char log[32]; /* the same test may run beside this one */
        snprintf(log, sizeof log, "log-%d-%zu", (int)getpid(), i);
        fresh();
        sh("ws",
           "L=%s; '%s' run -- sh -c \"(while :; do echo x >> $L; sleep 0.02; done) & wait\" 2> "
           "/dev/null & s=$!; sleep 0.5; kill -9 $(%s); sleep 1; wc -c < $L > one; ps -eo args | "
           "grep \"^sh -c .while.*$L\" > left; sleep 0.5; wc -c < $L > two",
           log, cordon, cases[i].who);
        ok(sh("ws", "test -s %s && cmp one two", log) == 0, "%s: no write from then on",
           cases[i].name);
        ok(sh("ws", "test -e left -a ! -s left") == 0, "%s: the tree is gone", cases[i].name);
    }
}

/* Flips of a link between inside and outside while writing through it. */
static void test_flips(void)
{
    int times = 2000 / box_slow();
    fresh();
    sh("ws",
       "mkdir in; ln -s in flip; (i=0; while [ $i -lt %d ]; do ln -sfn ../out flip; "
       "ln -sfn in flip; i=$((i+1)); done) & '%s' run --quiet -- sh -c "
       "'i=0; while [ $i -lt %d ]; do echo x > flip/w$i; i=$((i+1)); done'; wait",
       times, cordon, times);
    ok(sh("ws", "ls in | grep -q w") == 0, "a flipping link: writes inside happen");
    ok(sh("out", "! ls | grep -q w") == 0, "and none outside");
}

static void test_tables(void)
{
    for (size_t i = 0; i < sizeof denied / sizeof *denied; i++)
        test_denied(&denied[i]);
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++)
        test_allowed(&allowed[i]);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        test_refused(&refused[i]);
}

int main(void)
{
    if (!box_make("run-test"))
        return box_done();
#ifdef CORDON_ABI2
    if (box_cap()) {
        build = "ABI 2: ";
        ok(sh(".", "'%s' run --verbose --root . -- true 2>&1 | grep -q 'Landlock ABI 2'", cordon) ==
               0,
           "the capped program says so");
        test_tables();
        build = "";
    }
    use_program(CORDON_EXE);
#endif
    test_tables();
    test_codes();
    test_ended();
    test_temp();
    test_inherited();
    test_killed();
    test_flips();
    return box_done();
}
