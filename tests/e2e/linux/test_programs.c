/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs that people use, once without and once inside the sandbox, each in a fresh folder of the
 * same name: the exit code, the output and every file (name, kind, mode, size, content, target of a
 * link) are the same. What holds times or numbers of inodes is compared by name only.
 */
#include "harness.h"

struct program {
    const char *name; /* looked for in PATH */
    const char *script;
    const char *options; /* NULL: none */
};

/* Single quotes stand around a script; what must not vary is fixed by the environment below. */
static const struct program programs[] = {
    {"bash",
     "a=(1 2 3); for i in \"${a[@]}\"; do echo $i > f$i; done; cat f* | while read x; do echo "
     "got $x; done; diff <(cat f1) <(cat f2); trap \"echo bye\" EXIT; set -o pipefail; false | "
     "true; echo $?",
     NULL},
    {"git",
     "git init -q g && cd g && echo 1 > f && git add f && git commit -qm one && git branch b && "
     "git checkout -q b && echo 2 >> f && git commit -qam two && git gc -q && git clone -q . ../h "
     "&& git -C ../h log "
     "--format=%H && git status --short && git fsck && git worktree add -q ../t && cd ../t && echo "
     "3 > g && git add g && git commit -qm three && git worktree list && cd ../g && git worktree "
     "move ../t ../u && git worktree add -q ../v && git worktree remove ../v && git log --all "
     "--format=%s",
     "--git=full"},
    {"python3",
     "python3 -m venv --without-pip v && v/bin/python -c \"import sys; print(sys.prefix != "
     "sys.base_prefix)\" && rm -rf v; echo done",
     NULL},
    {"python3",
     "python3 -c \"import sqlite3; c = sqlite3.connect(\\\"d.db\\\"); print(c.execute(\\\"pragma "
     "journal_mode=wal\\\").fetchall()); c.execute(\\\"create table t(a)\\\"); "
     "c.executemany(\\\"insert into t values(?)\\\", [(i,) for i in range(1000)]); c.commit(); "
     "print(c.execute(\\\"select sum(a) from t\\\").fetchall())\"",
     NULL},
    {"python3",
     "python3 -c \"import multiprocessing as m, os, tempfile, shutil; p = "
     "m.get_context(\\\"fork\\\").Pool(3); print(sum(p.map(abs, range(-9, 9)))); d = "
     "tempfile.mkdtemp(dir=\\\".\\\"); open(d + \\\"/x\\\", \\\"w\\\").write(\\\"1\\\"); "
     "shutil.copytree(d, \\\"copy\\\"); shutil.rmtree(d); os.replace(\\\"copy/x\\\", "
     "\\\"copy/y\\\")\"",
     NULL},
    {"node",
     "node -e \"const {Worker,isMainThread,parentPort} = require(\\\"worker_threads\\\"); const fs "
     "= "
     "require(\\\"fs\\\"); let left = 4; for (let i = 0; i < 4; i++) new "
     "Worker(\\\"require(\\\\\\\"fs\\\\\\\").writeFileSync(\\\\\\\"w\\\" + i + "
     "\\\"\\\\\\\",\\\\\\\"x\\\\\\\")\\\", {eval: true}).on(\\\"exit\\\", () => { if (--left == 0) "
     "console.log(fs.readdirSync(\\\".\\\").sort().join()) })\"",
     NULL},
    {"npm",
     "mkdir p q && cd p && echo "
     "\"{\\\"name\\\":\\\"p\\\",\\\"version\\\":\\\"1.0.0\\\",\\\"main\\\":\\\"i.js\\\"}\" > "
     "package.json && echo \"module.exports = 7\" > i.js && cd ../q && npm init -y > /dev/null && "
     "npm "
     "install --offline --no-audit --no-fund ../p > /dev/null && node -e "
     "\"console.log(require(\\\"p\\\"))\"",
     "--temp=private --root ."},
    {"gcc",
     "printf \"#include <stdio.h>\\nint main(void){puts(\\\"hi\\\");return 0;}\" > m.c && gcc -O1 "
     "-o m "
     "m.c && ./m && gcc -c m.c && ar rcD l.a m.o",
     NULL},
    {"make",
     "printf \"all: m1 m2\\n\\tcat m1 m2 > got\\nm1 m2:\\n\\techo \\$@ > \\$@\\n\" > Makefile && "
     "make "
     "-s -j2 && make",
     NULL},
    {"tar",
     "mkdir -p t/u && echo 1 > t/u/v && ln -s u t/l && ln t/u/v t/u/w && tar czf t.tgz t && mkdir "
     "x && "
     "tar xzf t.tgz -C x && tar tzf t.tgz && rm t.tgz",
     NULL},
    {"cp",
     "mkdir -p s/t && echo 1 > s/t/a && ln -s t s/l && chmod 640 s/t/a && cp -a s d && mv d e && "
     "cp "
     "-r e f && ls -R",
     NULL},
    /* It says whose time has changed, so the times are given. */
    {"rsync",
     "mkdir s && echo 1 > s/a && touch -d 2020-01-01 s/a s && rsync -a s/ d/ && echo 2 > s/b && "
     "touch -d 2021-01-01 s/b s && rsync -ai --delete s/ d/",
     NULL},
    {"sed", "printf \"a\\nb\\n\" > f && sed -i.old s/a/c/ f && cat f", NULL},
    {"flock", "flock l sh -c \"echo in\"; (flock -n 9 && echo got) 9> l2", NULL},
    {"patch",
     "printf \"a\\n\" > f && printf \"%s\\n\" \"--- f\" \"+++ f\" \"@@ -1 +1 @@\" \"-a\" \"+b\" | "
     "patch "
     "-b -p0",
     NULL},
    {"perl", "perl -e \"open(F,q(>f)); print F 1; close F; rename q(f), q(g); print -s q(g)\"",
     NULL},
    {"script", "script -qec \"echo inside > f; cat f\" /dev/null < /dev/null", NULL},
    {"strace", "strace -o t -e trace=openat cat /dev/null; grep -c openat t > n; test -s t; rm t n",
     NULL},
    {"sqlite3",
     "sqlite3 d.db \"pragma journal_mode=wal; create table t(a); insert into t values(1); select * "
     "from t\"",
     NULL},
    {"find",
     "mkdir -p a/b && touch a/x a/b/y && find a -type f | sort && find a -name x -delete && find a "
     "| "
     "sort | xargs ls -d",
     NULL},
};

static void fresh(void)
{
    sh(".", "rm -rf ws; mkdir ws");
}

/* All that is left, as text. */
static void look(const char *to)
{
    sh("ws",
       "{ find . -name .git -prune -o -printf '%%P %%y %%m %%l\\n'; find . -name .git -prune -o "
       "-name '*.db*' -prune -o -name '*.pyc' -prune -o -name '.package-lock.json' -prune -o -type "
       "f "
       "-print0 | xargs -0r cksum; for g in $(find . -name .git -type d); do find $g -printf '%%P "
       "%%y\\n'; git -C $g rev-parse --all; done; } | sort > ../%s",
       to);
}

static int run(const char *before, const struct program *p, const char *to)
{
    fresh();
    int code = sh("ws", "%s bash -c '%s' > ../%s.out 2>&1", before, p->script, to);
    look(to);
    return code;
}

/* git works inside; what it would run later stays as it is. */
static void test_git_denied(void)
{
    fresh();
    sh("ws", "git init -q . && git config user.email a@b.test && git config user.name n");
    sh("ws", "cksum .git/config > ../config");
    int code =
        sh("ws",
           "'%s' run --quiet --git=commit -- sh -c 'echo 1 > f && git add f && git commit -qm one'",
           cordon);
    ok(code == 0 && sh("ws", "git log --format=%%s | grep -qx one") == 0,
       "git commits in a repository that was there, with --git=commit");
    sh("ws",
       "'%s' run --quiet --git=commit -- sh -c 'git config core.pager evil; echo x > "
       ".git/hooks/post-commit'",
       cordon);
    ok(sh("ws", "cksum .git/config | cmp - ../config && test ! -e .git/hooks/post-commit") == 0,
       "its configuration and hooks stay");
    ok(sh("ws",
          "'%s' run --quiet --git=commit -- git worktree add -q inner; test ! -e inner/.git -a ! "
          "-e .git/worktrees/inner/commondir && rm -rf inner",
          cordon) == 0,
       "what ties a worktree to a repository that was there is closed");
    sh("ws", "git worktree prune; git branch -qD inner; git worktree add -q ../tree");
    ok(sh("tree",
          "'%s' run --quiet --git=commit -- sh -c 'echo 2 > g && git add g && git commit -qm two'",
          cordon) == 0 &&
           sh("ws", "git log --format=%%s tree | grep -qx two") == 0,
       "and in a worktree, whose repository lies outside the root");
    ok(sh("tree", "'%s' run --quiet -- git commit -q --allow-empty -m three", cordon) != 0 &&
           sh("tree",
              "'%s' run --quiet --git=commit -- sh -c 'echo x > ../ws/.git/hooks/post-commit; git "
              "config core.pager evil'",
              cordon) != 0 &&
           sh("ws", "cksum .git/config | cmp - ../config && test ! -e .git/hooks/post-commit && "
                    "git log --all --format=%%s | grep -c . | grep -qx 2") == 0,
       "what git would run later stays as it is there, too");
}

int main(void)
{
    char inside[2600];
    if (!box_make("programs-test"))
        return box_done();
    setenv("GIT_AUTHOR_DATE", "2020-01-01T00:00:00Z", 1);
    setenv("GIT_COMMITTER_DATE", "2020-01-01T00:00:00Z", 1);
    setenv("GIT_AUTHOR_NAME", "n", 1);
    setenv("GIT_AUTHOR_EMAIL", "a@b.test", 1);
    setenv("GIT_COMMITTER_NAME", "n", 1);
    setenv("GIT_COMMITTER_EMAIL", "a@b.test", 1);
    setenv("GIT_CONFIG_NOSYSTEM", "1", 1);
    setenv("HOME", top, 1);
    setenv("npm_config_update_notifier", "false", 1);
    setenv("PYTHONDONTWRITEBYTECODE", "1", 1);
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        const struct program *p = &programs[i];
        if (sh(".", "command -v %s", p->name) != 0) {
            skip(p->name, "the program is not installed");
            continue;
        }
        snprintf(inside, sizeof inside, "'%s' run --quiet %s --", cordon,
                 p->options ? p->options : "");
        int control = run("", p, "want");
        int code = run(inside, p, "got");
        bool files = sh(".", "test -s want && cmp want got") == 0;
        bool output = sh(".", "cmp want.out got.out") == 0;
        if (!ok(control == code && code == 0 && files && output, "%s does the same inside (%.30s…)",
                p->name, p->script)) {
            note("without %d, inside %d, files %d, output %d", control, code, files, output);
            sh(".",
               "diff want got > diffs; diff want.out got.out >> diffs; cp diffs "
               "../programs-diff-%zu",
               i);
        }
    }
    test_git_denied();
    return box_done();
}
