/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The index. Git writes to and reads from the names in it without checking them, so a run must not
 * bring a forged one; each attempt has a control outside, where git really does that. And git's own
 * ways with an index go on.
 */
#include "harness.h"

/* ws: a repository with a submodule m, a nested repository cl, and a worktree t beside it. The hook
   makes the file HIT. forge: an index with names of that many letters, changed as it is said. */
static void fresh(const char *format)
{
    sh(".",
       "rm -rf ws one t t2 HIT x e; printf '#!/bin/sh\\ntouch %s/HIT\\n' > hook; export "
       "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=protocol.file.allow GIT_CONFIG_VALUE_0=always; git "
       "init -q %s -b main one && cd one && git config user.name n && git config user.email e && "
       "for i in 1 2 3; do echo $i > f$i; mkdir -p d$i; echo $i > d$i/a; git add .; git commit -qm "
       "c$i; done; cd .. && git clone -q one ws && cd ws && git config user.name n && git config "
       "user.email e && git submodule --quiet add ../one m && git commit -qm m && git branch old "
       "HEAD~2 && git clone -q ../one cl && git worktree add -q ../t -b other old",
       top, format);
}

/* In a repository: leaves a forged index in the file e of the folder above the working tree. */
#define FORGE(name, change)                                                                   \
    "h=$(git hash-object -w --stdin < $T/hook); cp \"$(git rev-parse --git-path index)\" k; " \
    "GIT_INDEX_FILE=k git update-index --add --cacheinfo 100755,$h," name                     \
    "; LC_ALL=C sed \"" change "\" k > e; rm k; "
#define HOOK FORGE("xgit/hooks/post-checkout", "s,xgit/h,.git/h,")
#define LOCK "cp e .git/index.lock; mv .git/index.lock .git/index"
#define RUNS "git checkout -q . 2> /dev/null; git checkout -q . 2> /dev/null; test -e $T/HIT"
#define MADE "git init -q n; cd n; "
#define PYTHON(text) "python3 -c \"import os, ctypes\n" text "\""

static const struct {
    const char *what, *options, *folder, *script, *effect;
} plants[] = {
    {"renamed from index.lock", "--git=commit", "ws", HOOK LOCK, RUNS},
    {"the same with --git=full", "--git=full", "ws", HOOK LOCK, RUNS},
    {"in a nested repository, by default", "", "ws", "cd cl; " HOOK LOCK, "cd cl; " RUNS},
    {"in a repository that the run makes", "", "ws", MADE HOOK LOCK, "cd n; " RUNS},
    {"in one that is moved afterwards", "", "ws", MADE HOOK LOCK "; cd ..; mv n o", "cd o; " RUNS},
    {"in a copied repository", "", "ws", MADE HOOK "cd ..; cp -r n o; cp n/e o/.git/index",
     "cd o; git rev-parse && { " RUNS "; }"},
    {"in a submodule", "--git=commit", "ws",
     "cd m; " FORGE("xxxxgit/modules/m/hooks/post-checkout",
                    "s,xxxxgit/,../.git/,") "cp e ../.git/modules/m/index.lock; mv "
                                            "../.git/modules/m/index.lock ../.git/modules/m/index",
     "cd m; " RUNS},
    {"in a worktree", "--git=commit", "t",
     "g=$(git rev-parse --git-dir); " FORGE(
         "xxx/HIT", "s,xxx/H,../H,") "cp e $g/index.lock; mv $g/index.lock $g/index",
     RUNS},
    {"of version 4", "--git=commit", "ws",
     "cp .git/index v; GIT_INDEX_FILE=v git update-index --index-version 4; h=$(git hash-object -w "
     "--stdin < $T/hook); GIT_INDEX_FILE=v git update-index --add --cacheinfo "
     "100755,$h,xgit/hooks/post-checkout; LC_ALL=C sed s,xgit/h,.git/h, v > e; " LOCK,
     RUNS},
    {"by a shared index", "--git=commit", "ws",
     "h=$(git hash-object -w --stdin < $T/hook); git update-index --add --cacheinfo "
     "100755,$h,xgit/hooks/post-checkout; git update-index --split-index; s=$(echo "
     ".git/sharedindex.*); LC_ALL=C sed s,xgit/h,.git/h, $s > .git/sharedindex_abcdef; mv "
     ".git/sharedindex_abcdef $s",
     RUNS},
    {"written in its place", "--git=commit", "ws", HOOK "cat e > .git/index", RUNS},
    {"written over", "--git=commit", "ws", HOOK "dd if=e of=.git/index conv=notrunc", RUNS},
    {"removed and made again", "--git=commit", "ws", HOOK "rm .git/index; cp e .git/index", RUNS},
    {"moved there from elsewhere", "--git=commit", "ws", HOOK "mv e .git/index", RUNS},
    {"moved there from temp", "--git=commit --temp=private", "ws",
     HOOK "cp e ${TMPDIR:-/tmp}/e; mv ${TMPDIR:-/tmp}/e .git/index", RUNS},
    {"by a second name", "--git=commit", "ws", HOOK "rm .git/index; ln e .git/index", RUNS},
    {"by a second name of the old one", "--git=commit", "ws", HOOK "ln .git/index l; cat e > l",
     RUNS},
    {"by a link", "--git=commit", "ws", HOOK "rm .git/index; ln -s ../e .git/index", RUNS},
    {"by a writer that goes on", "--git=commit", "ws",
     HOOK "cp .git/index .git/index.lock; exec 3<> .git/index.lock; mv .git/index.lock .git/index; "
          "cat e >&3",
     RUNS},
    {"by a second name of index.lock", "--git=commit", "ws",
     HOOK "cp .git/index .git/index.lock; ln .git/index.lock l; mv .git/index.lock .git/index; cat "
          "e > l",
     RUNS},
    {"by a mapping of index.lock", "--git=commit", "ws",
     HOOK "cp .git/index .git/index.lock; truncate -s $(stat -c %s e) .git/index.lock; " PYTHON(
         "import mmap\ne = open('e', 'rb').read()\nf = open('.git/index.lock', 'r+b')\nm = "
         "mmap.mmap(f.fileno(), len(e))\nf.close()\nos.truncate('.git/index.lock', "
         "os.path.getsize('.git/index'))\nos.rename('.git/index.lock', '.git/index')\ntry: "
         "os.truncate('.git/index', len(e))\nexcept OSError: os._exit(1)\nm[:] = e"),
     RUNS},
    {"by an exchange", "--git=commit", "ws",
     HOOK PYTHON("c = ctypes.CDLL(None)\nc.renameat2(-100, b'e', -100, b'.git/index', 2)"), RUNS},
    {"by a file without a name", "--git=commit", "ws",
     HOOK "rm .git/index; " PYTHON("f = os.open('.', os.O_TMPFILE | os.O_RDWR, 0o644)\nos.write(f, "
                                   "open('e', 'rb').read())\nctypes.CDLL(None).linkat(-100, "
                                   "b'/proc/self/fd/%d' % f, -100, b'.git/index', 0x400)"),
     RUNS},
    {"with a name above", "--git=commit", "ws", FORGE("xx/x", "s,xx/x,../x,") LOCK,
     "git checkout-index -a -f; test -e ../x"},
    {"with a name above, further on", "--git=commit", "ws",
     FORGE("d1/xx/xx/x", "s,d1/xx/xx/x,d1/../../x,") LOCK,
     "git checkout-index -a -f; test -e ../x"},
    {"with .GIT", "--git=commit", "ws", FORGE("xgit/x", "s,xgit/x,.GIT/x,") LOCK,
     "git checkout-index -a -f; test -e .GIT/x"},
    {"with a submodule's .git", "--git=commit", "ws",
     FORGE("d1/xgit/x", "s,d1/xgit/x,d1/.git/x,") LOCK,
     "git checkout-index -a -f; test -e d1/.git/x"},
    {"with an absolute name", "--git=commit", "ws",
     FORGE("xtmp/cordon-index-test", "s,xtmp/c,/tmp/c,") LOCK,
     "rm -f /tmp/cordon-index-test; git checkout-index -a -f; test -e /tmp/cordon-index-test && rm "
     "/tmp/cordon-index-test"},
};

/* A script can have any quotes in it. */
static void write_script(const char *text)
{
    char path[1100];
    snprintf(path, sizeof path, "%s/script", top);
    FILE *f = fopen(path, "w");
    if (!f)
        return;
    fprintf(f, "T='%s'\n%s\n", top, text);
    fclose(f);
}

static bool taken(size_t i)
{
    return sh(plants[i].folder, "T='%s'; %s", top, plants[i].effect) == 0;
}

static void test_plants(void)
{
    for (size_t i = 0; i < sizeof plants / sizeof *plants; i++) {
        fresh("");
        bool before = taken(i);
        write_script(plants[i].script);
        sh(plants[i].folder, "bash '%s/script'", top);
        bool control = taken(i);
        fresh("");
        sh(plants[i].folder, "'%s' run --quiet %s -- bash '%s/script'", cordon, plants[i].options,
           top);
        bool got = taken(i);
        ok(!got && control && !before, "a forged index is refused: %s (%d %d %d)", plants[i].what,
           got, control, before);
    }
}

static const struct {
    const char *what, *options, *script, *effect;
} works[] = {
    {"add and commit", "--git=commit", "echo x > n; git add n; git commit -qm n",
     "git show HEAD:n"},
    {"commit -a", "--git=commit", "echo x > f1; git commit -qam n",
     "git show HEAD:f1 | grep -qx x"},
    {"commit of one path", "--git=commit", "echo x > f1; echo y > f2; git commit -qm n f1",
     "git show HEAD:f1 | grep -qx x && git diff --name-only | grep -qx f2"},
    {"commit -p", "--git=commit", "echo x > f1; echo y | git commit -qpm n",
     "git show HEAD:f1 | grep -qx x"},
    {"a stash and its return", "--git=commit",
     "echo x > f1; git stash -q; git stash pop -q; git add f1", "git diff --cached | grep -q +x"},
    {"a refresh", "--git=commit", "touch f1; git status; git update-index --refresh; echo x > done",
     "test -e done"},
    {"mv and rm", "--git=commit", "git mv f1 g1; git rm -q f2",
     "git ls-files | grep -qx g1 && ! git ls-files | grep -qx f2"},
    {"reset", "--git=commit", "git reset -q --hard HEAD~2",
     "git rev-parse HEAD | grep -q $(git rev-parse old)"},
    {"a checkout of a branch", "--git=commit", "git checkout -q old", "git status | grep -q old"},
    {"a merge", "--git=commit",
     "git checkout -q -b b old; echo x > n; git add n; git commit -qm n; git merge -q main -m mm",
     "git log -1 b | grep -q mm"},
    {"a merge with a conflict", "--git=commit",
     "git checkout -q -b b old; echo x > f1; git commit -qam x; git checkout -q main; echo y > f1; "
     "git commit -qam y; git merge b || true; echo z > f1; git add f1; git commit -qm zz",
     "git log -1 | grep -q zz"},
    {"a rebase", "--git=full",
     "git checkout -q -b r old; echo y > y; git add y; git commit -qm y; git rebase -q main",
     "git log -1 r~1 | grep -qw m"},
    {"a commit picked", "--git=commit",
     "git checkout -q -b p old; echo x > n; git add n; git commit -qm nn; git checkout -q main; "
     "git cherry-pick p",
     "git log -1 main | grep -q nn"},
    {"a sparse checkout", "--git=commit", "git sparse-checkout reapply; echo x >> d1/a; git add d1",
     "git diff --cached --name-only | grep -qx d1/a"},
    {"a split index", "--git=commit",
     "git update-index --split-index; echo x > n; git add n; echo y > f1; git add f1; git commit "
     "-qm n; git update-index --split-index; echo z > f1; git add f1",
     "ls .git/sharedindex.* && git show HEAD:n && git diff --cached | grep -q +z"},
    {"an index of version 4", "--git=commit",
     "git update-index --index-version 4; echo x > n; git add n; git commit -qm n",
     "git show HEAD:n && od -An -tu1 -j7 -N1 .git/index | grep -qw 4"},
    {"a table for threads", "--git=commit",
     "export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=index.threads GIT_CONFIG_VALUE_0=2; for v in 2 4; "
     "do git update-index --force-write-index --index-version $v; echo $v > n$v; git add n$v; grep "
     "-q EOIE .git/index; done",
     "git ls-files | grep -qx n4"},
    {"the cache of untracked files", "--git=commit",
     "git update-index --force-untracked-cache; git status; echo x > n; git add n; git status",
     "git ls-files | grep -qx n"},
    {"flags of entries", "--git=commit",
     "git update-index --skip-worktree f1; git update-index --assume-unchanged f2; echo x > n; git "
     "add -N n; git ls-files -v | grep -q ^S",
     "git ls-files | grep -qx n"},
    {"a file whose name has a backslash or a colon", "--git=commit",
     "echo x > a\\\\x2db; echo x > a:b; git add .; git commit -qm n", "git show HEAD:a:b"},
    {"a worktree", "--git=full",
     "git worktree add -q wt -b new; cd wt; echo x > n; git add n; git commit -qm n",
     "git -C wt show HEAD:n"},
    {"a submodule's commit", "--git=commit",
     "cd m; echo x > n; git add n; git -c user.name=a -c user.email=b commit -qm n; cd ..; git add "
     "m",
     "git -C m show HEAD:n && git diff --cached --name-only | grep -qx m"},
    {"a nested repository", "",
     "cd cl; echo x > n; git add n; git rm -q f1; git -c user.name=a -c user.email=b stash -q",
     "git -C cl stash list | grep -q stash"},
    {"a repository that the run makes", "",
     "git clone -q ../one n; cd n; echo x > n; git add n; git checkout -q HEAD~1; git update-index "
     "--split-index",
     "git -C n ls-files | grep -qx n"},
    {"another program, that renames index.lock", "--git=commit",
     "cp .git/index .git/index.lock; touch -d @1000000000 .git/index.lock; chmod 640 "
     ".git/index.lock; mv .git/index.lock .git/index",
     "stat -c %a-%Y .git/index | grep -qx 640-1000000000"},
    {"100,000 entries", "--git=commit",
     "h=$(git hash-object -w f1); seq 100000 | sed \"s,.*,100644 "
     "$h\tsome/folder/of/mine/&/file&,\" | git update-index --index-info; git update-index "
     "--index-version 4",
     "test $(git ls-files | wc -l) -gt 100000"},
};

static void work(size_t i, const char *format)
{
    fresh(format);
    if (!strcmp(works[i].what, "a sparse checkout"))
        sh("ws", "git sparse-checkout set --cone --sparse-index d1");
    bool before = sh("ws", "%s", works[i].effect) == 0;
    write_script(works[i].script);
    int code =
        sh("ws", "'%s' run --quiet %s -- bash -e '%s/script'", cordon, works[i].options, top);
    bool after = sh("ws", "%s", works[i].effect) == 0 &&
                 sh("ws", "git status && git log && ! ls .git/*.lock") == 0;
    ok(code == 0 && !before && after, "%s %s%s (%d %d %d)", works[i].what, works[i].options, format,
       code, before, after);
}

static void test_work(void)
{
    for (size_t i = 0; i < sizeof works / sizeof *works; i++)
        work(i, "");
}

/* The index does not tell which hash its repository has. */
static void test_hash(void)
{
    work(0, "--object-format=sha256");
    fresh("--object-format=sha256");
    write_script(HOOK LOCK);
    sh("ws", "'%s' run --quiet --git=commit -- bash '%s/script'", cordon, top);
    bool got = sh("ws", "T='%s'; " RUNS, top) == 0;
    sh("ws", "bash '%s/script'", top);
    ok(!got && sh("ws", "T='%s'; " RUNS, top) == 0,
       "a forged index with the other hash is refused");
    fresh("");
    ok(sh("ws",
          "'%s' run --audit ../audit -- sh -c 'git init -q --object-format=sha256 n; cd n; echo x "
          "> a; git add a'; grep -q 'git.index.*SHA-256' ../audit",
          cordon) == 0,
       "in a repository that the run makes it is not judged");
    fresh("");
    ok(sh("ws",
          "'%s' run -- sh -c 'git init -q n; cd n; echo x > a; git add a; git config "
          "core.repositoryformatversion 1; git config extensions.objectformat sha256' 2>&1 | grep "
          "git.commands && ! grep sha256 n/.git/config && git -C n ls-files | grep -qx a",
          cordon) == 0,
       "nor does its config change the hash of an index that was");
}

static void test_reasons(void)
{
    fresh("");
    write_script(HOOK LOCK);
    sh("ws", "'%s' run --quiet --git=commit --audit ../audit -- bash '%s/script'", cordon, top);
    ok(sh(".", "grep -q 'this index holds the name .git/hooks/post-checkout, which git itself "
               "would not add' audit") == 0,
       "the name is said");
    ok(sh("ws", "'%s' why write .git/index --git=commit | grep -q git.index", cordon) == 0 &&
           sh("ws", "'%s' why rename .git/index.lock .git/index --git=commit | grep -q git.commit",
              cordon) == 0 &&
           sh("ws", "'%s' explain git.index | grep -q index.lock", cordon) == 0,
       "why and explain know the rule");
    sh("ws",
       "truncate -s 300M big; '%s' run --quiet --git=commit --audit ../audit2 -- mv big .git/index",
       cordon);
    ok(sh(".", "grep -q 'more than 256 MiB' audit2") == 0, "one that is too large is not read");
}

/* A sparse index names a folder by its tree: another tree could hold any name. Outside, git takes
   it. */
static void test_sparse(void)
{
    bool got[2];
    for (int inside = 1; inside >= 0; inside--) {
        fresh("");
        sh("ws", "git sparse-checkout set --cone --sparse-index d1");
        write_script("b=$(echo x | git hash-object -w --stdin); v=$(printf \"100644 blob "
                     "$b\\ttasks.json\\n\" | git mktree); t=$(printf \"040000 tree "
                     "$v\\t.vscode\\n\" | git mktree); python3 -c \"import sys, hashlib\n"
                     "old, new = map(bytes.fromhex, sys.argv[1:])\n"
                     "d = open('.git/index', 'rb').read()[:-20]\n"
                     "assert old in d\n"
                     "d = d.replace(old, new)\n"
                     "open('.git/index.lock', 'wb').write(d + hashlib.sha1(d).digest())\" "
                     "$(git rev-parse HEAD:d2) $t; mv .git/index.lock .git/index");
        if (inside)
            sh("ws", "'%s' run --quiet --git=commit --audit ../audit3 -- bash '%s/script'", cordon,
               top);
        else
            sh("ws", "bash '%s/script'", top);
        got[inside] = sh("ws", "git ls-files -s | grep -q d2/.vscode/tasks.json") == 0;
    }
    ok(!got[1] && got[0], "another tree in a sparse index is refused (%d, control %d)", got[1],
       got[0]);
    ok(sh(".", "grep -q 'another tree for the folder d2/' audit3") == 0, "with its reason");
}

static void test_undo(void)
{
    fresh("");
    ok(sh("ws",
          "XDG_STATE_HOME=$PWD/../state; export XDG_STATE_HOME; cp .git/index ../was; '%s' run "
          "--quiet --git=commit --undo -- sh -ec 'git update-index --split-index; echo x > n; git "
          "add n; git commit -qm n' && ! cmp .git/index ../was && git show HEAD:n && '%s' undo && "
          "cmp .git/index ../was && ! ls .git/sharedindex.* .git/index.lock && git status && git "
          "fsck",
          cordon, cordon) == 0,
       "a commit is taken back");
}

/* A name with a slash at its end is a folder's: no file gets it. */
static void test_slash(void)
{
    static const struct {
        const char *what, *line;
    } rows[] = {
        {"rename", "os.rename('f', 'dep/.git%s')"},
        {"link",
         "ctypes.CDLL(None).linkat(-100, b'/proc/self/fd/%%d' %% f, -100, b'dep/.git%s', 0x400)"},
        {"mknod", "os.mknod('dep/.git%s', 0o100644)"},
        {"symlink", "os.symlink('g', 'dep/.git%s')"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char line[200], plain[200];
        snprintf(line, sizeof line, rows[i].line, "/");
        snprintf(plain, sizeof plain, rows[i].line, "");
        sh(".", "rm -rf ws; mkdir -p ws/dep; echo gitdir: ../g > ws/f");
        sh("ws",
           "'%s' run --quiet -- python3 -c \"import os, ctypes\nf = os.open('.', os.O_TMPFILE | "
           "os.O_RDWR, 0o644)\n%s\"",
           cordon, line);
        bool got = sh("ws", "test -e dep/.git -o -h dep/.git") == 0;
        sh("ws",
           "python3 -c \"import os, ctypes\nf = os.open('.', os.O_TMPFILE | os.O_RDWR, "
           "0o644)\n%s\"",
           plain);
        ok(!got && sh("ws", "test -e dep/.git -o -h dep/.git") == 0, "no .git by %s with a slash",
           rows[i].what);
    }
}

int main(void)
{
    if (!box_make("git-index-test"))
        return box_done();
    if (sh(".", "command -v git && command -v python3")) {
        skip("git", "it is not installed, or Python is not");
        return box_done();
    }
    test_plants();
    test_work();
    test_hash();
    test_reasons();
    test_sparse();
    test_undo();
    test_slash();
    return box_done();
}
