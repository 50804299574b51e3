/* SPDX-License-Identifier: Apache-2.0 */
/*
 * git inside a run on Linux: what works in a repository under --git=commit and --git=full, and that
 * a nested repository can be removed as a whole. What stays closed is in tests/escape/linux.
 */
#include "harness.h"

static void fresh(void)
{
    sh(".",
       "rm -rf ws cl; mkdir ws && cd ws && git init -q -b main && git config user.name n && "
       "git config user.email e && for i in 1 2 3; do echo $i > f$i; git add .; git commit -qm "
       "c$i; done; git branch old HEAD~1; git branch gone HEAD~1; git clone -q . ../cl && mv "
       "../cl cl && echo x > cl/.git/hooks/mine");
}

static const struct {
    const char *what, *options, *script, *effect;
} rows[] = {
    {"a commit", "--git=commit", "echo x > n; git add n; git commit -qm n", "git show HEAD:n"},
    {"a branch deleted", "--git=commit", "git pack-refs --all; git branch -qD gone",
     "! git rev-parse -q --verify gone"},
    {"gc", "--git=commit", "git gc -q", "ls .git/objects/pack/*.pack"},
    {"a bisection", "--git=commit",
     "git bisect start HEAD HEAD~2 && git bisect good && git bisect reset",
     "git log -1 | grep -q c3"},
    {"several commits picked", "--git=commit",
     "git checkout -q -b p HEAD~2 && git cherry-pick main~1 main", "git log -1 p | grep -q c3"},
    {"a rebase", "--git=full",
     "git checkout -q -b r old; echo y > y; git add y; git commit -qm y; git rebase -q main",
     "git log -1 r~1 | grep -q c3"},
    {"a rebase with its list", "--git=full",
     "GIT_SEQUENCE_EDITOR=true git rebase -q -i --force-rebase HEAD~2", "git log -1 | grep -q c3"},
    {"a worktree", "--git=full", "git worktree add -q wt old", "git -C wt log -1 | grep -q c2"},
    {"a nested repository removed", "", "rm -rf cl", "test ! -e cl"},
    {"a nested repository removed by Python", "",
     "python3 -c \"import shutil; shutil.rmtree(\\\"cl\\\")\"", "test ! -e cl"},
    {"a nested repository removed and cloned again", "", "rm -rf cl && git clone -q . cl",
     "test -e cl/.git/HEAD -a ! -e cl/.git/hooks/mine"},
    {"a commit in a nested repository", "",
     "cd cl && git -c user.name=a -c user.email=b commit -q --allow-empty -m in",
     "git -C cl log -1 | grep -q in"},
};

static void test_rows(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fresh();
        bool before = sh("ws", "%s", rows[i].effect) == 0;
        int code =
            sh("ws", "'%s' run --quiet %s -- sh -ec '%s'", cordon, rows[i].options, rows[i].script);
        ok(code == 0 && sh("ws", "%s", rows[i].effect) == 0, "%s %s (%d, before %d)", rows[i].what,
           rows[i].options, code, before);
    }
}

/* A part of a nested repository goes only together with its HEAD; nobody expects that. */
static void test_headless(void)
{
    fresh();
    sh("ws", "git clone -q --bare . bare.git && touch bare.git/hooks/mine");
    ok(sh("ws",
          "'%s' run -- rm cl/.git/hooks/mine bare.git/hooks/mine 2>err; cat err >&2; "
          "test ! -e cl/.git/HEAD -a ! -e bare.git/HEAD",
          cordon) == 0,
       "a hook deleted: the repositories have no HEAD any more");
    ok(sh("ws", "test $(grep -c git.removed err) = 2") == 0, "and the summary names both");
    ok(sh("ws", "git clone -q --bare . again.git && touch again.git/hooks/mine") == 0 &&
           sh("ws",
              "'%s' run --quiet -- sh -c 'rm again.git/hooks/mine; echo x > "
              "again.git/hooks/update; "
              "echo \"[core]\" >> again.git/config; mv again.git moved.git; echo x > "
              "moved.git/hooks/update'; test ! -e moved.git/hooks/update && git config -f "
              "moved.git/config core.bare",
              cordon) == 0 &&
           sh("ws", "echo x > moved.git/hooks/update && rm -r moved.git") == 0,
       "and nothing is put into one afterwards, wherever it is moved (outside it is)");
    ok(sh("ws", "sed -n 's/.*repair it with: //p' err | sh -e >&2 && git -C cl rev-parse "
                "--git-dir && git -C bare.git show-ref") == 0,
       "its remedies work when typed");
    fresh();
    ok(sh("ws", "'%s' run -- rm -rf cl 2>err; ! grep HEAD err >&2 && test ! -e cl", cordon) == 0,
       "one that is removed whole gets no line");
    static const char *const loses[] = {"rm cl/.git/HEAD", "mv cl/.git/HEAD cl/x"};
    for (size_t i = 0; i < sizeof loses / sizeof *loses; i++) {
        fresh();
        ok(sh("ws", "'%s' run -- %s 2>err; test ! -e cl/.git/HEAD && grep -q git.removed err",
              cordon, loses[i]) == 0 &&
               sh("ws", "sed -n 's/.*repair it with: //p' err | sh -e >&2 && git -C cl rev-parse "
                        "--git-dir") == 0,
           "%s: a line, and its remedy works", loses[i]);
    }
    fresh();
    ok(sh("ws", "'%s' run -- git -C cl checkout -q -b other 2>err && ! test -s err", cordon) == 0,
       "control: git itself exchanges HEAD without a line");
    fresh();
    ok(sh("ws",
          "rm cl/.git/HEAD; mkdir cl/.git/HEAD; '%s' run -- rm cl/.git/hooks/mine 2>err; test -e "
          "cl/.git/hooks/mine && grep -q 'denied: delete .*hooks/mine (rule protected.git)' err",
          cordon) == 0,
       "a HEAD that cannot be deleted keeps the rest, with a line");
}

/* The summary names where a repository of the run's own is at the end. */
static void test_moved(void)
{
    static const struct {
        const char *script, *there;
    } moves[] = {
        {"git init -q n && mv n m", "m/.git"},
        {"mkdir p && git init -q p/n && mv p q && mv q w", "w/n/.git"},
        {"mkdir -p y/objects y/refs && echo ref: refs/heads/x > y/HEAD && mv y z.git", "z.git"},
        {"mkdir e && git init -q n && python3 -c \"import ctypes; "
         "ctypes.CDLL(None).renameat2(-100, b\\\"n\\\", -100, b\\\"e\\\", 2)\"",
         "e/.git"},
    };
    for (size_t i = 0; i < sizeof moves / sizeof *moves; i++) {
        sh(".", "rm -rf ws; mkdir ws");
        ok(sh("ws",
              "'%s' run -- sh -ec '%s' 2>err; cat err >&2; test -e %s && grep -q "
              "'repository: '$PWD'/%s (rule git.new)' err",
              cordon, moves[i].script, moves[i].there, moves[i].there) == 0,
           "a repository that was moved is named: %s", moves[i].there);
    }
}

static void test_made(void)
{
    sh(".", "rm -rf ws; mkdir ws");
    ok(sh("ws", "'%s' run --quiet -- git init -q; test ! -e .git", cordon) == 0,
       "no repository is made in the root");
    ok(sh("ws", "'%s' why create .git --git=protect | grep -q -e --git=full", cordon) == 0,
       "and why names the remedy");
    ok(sh("ws",
          "'%s' run --quiet --git=full -- sh -ec 'git init -q; git remote add o /x; git -c "
          "user.name=a "
          "-c user.email=b commit -q --allow-empty -m first' && git log | grep -q first",
          cordon) == 0,
       "with --git=full one is, with its configuration");
    sh("ws", "'%s' run --quiet --git=commit -- git remote add p /y", cordon);
    ok(sh("ws", "! git remote | grep -q p") == 0,
       "the configuration of one that was there is closed");
    ok(sh("ws", "git remote add p /y") == 0, "control: without the sandbox it is not");
}

/* With --git=full harmless keys can be added to a config, and submodules. */
static void test_added(void)
{
    static const struct {
        const char *what, *script, *effect;
        bool works;
    } added[] = {
        {"a remote", "git remote add p /y", "git config remote.p.fetch", true},
        {"a branch that follows another", "git branch -q --track up main",
         "git config branch.up.merge", true},
        {"a submodule",
         "git -c protocol.file.allow=always submodule --quiet add ./cl m; git commit -qm "
         "m",
         "git -C m log && git config submodule.m.active && git submodule status | grep -q m && "
         "test "
         "$(git -C m config core.filemode) = true",
         true},
        {"a worktree of a submodule's own name",
         "git -c protocol.file.allow=always submodule --quiet add --name a/b ./cl d/m",
         "git -C d/m log", true},
        {"another address of a remote", "git remote set-url was /evil",
         "git config remote.was.url | grep "
         "evil",
         false},
        {"a second address of a remote", "git config --add remote.was.pushurl /evil",
         "git config remote.was.pushurl", false},
        {"an alias", "git config alias.x !y", "git config alias.x", false},
        {"hooks", "git config core.hooksPath h", "git config core.hooksPath", false},
        {"a helper", "git remote add p ext::x", "git config remote.p.url", false},
        {"another working tree", "git config core.worktree ../cl", "git config core.worktree",
         false},
        {"a hook of a submodule",
         "mkdir -p .git/modules/n/hooks; echo x > .git/modules/n/hooks/pre-commit",
         "test -e .git/modules/n/hooks/pre-commit", false},
        {"a sample that becomes one",
         "mkdir -p .git/modules/n/hooks; echo x > .git/modules/n/hooks/a.sample; mv "
         ".git/modules/n/hooks/a.sample .git/modules/n/hooks/pre-commit",
         "test -e .git/modules/n/hooks/pre-commit", false},
        {"commands of a submodule",
         "mkdir -p .git/modules/n; git config -f .git/modules/n/config core.fsmonitor x",
         "grep fsmonitor .git/modules/n/config", false},
        {"a submodule's files outside",
         "mkdir -p .git/modules/n; git config -f .git/modules/n/config core.worktree "
         "../../../../out",
         "grep worktree .git/modules/n/config", false},
        {"a submodule's config at once", "mkdir -p .git/modules/n; echo x > .git/modules/n/config",
         "test -e .git/modules/n/config", false},
    };
    for (size_t i = 0; i < sizeof added / sizeof *added; i++) {
        fresh();
        sh("ws", "git remote add was /was");
        bool before = sh("ws", "%s", added[i].effect) == 0;
        int code = sh("ws", "'%s' run --quiet --git=full -- sh -ec '%s'", cordon, added[i].script);
        bool got = sh("ws", "%s", added[i].effect) == 0;
        if (!added[i].works)
            sh("ws", "%s", added[i].script);
        ok(!before && (code == 0) == added[i].works && got == added[i].works &&
               sh("ws", "%s", added[i].effect) == 0,
           "added with --git=full: %s (%d, %d, %d)", added[i].what, code, before, got);
    }
    sh(".", "rm -rf ws; mkdir ws");
    if (sh(".", "cargo --version"))
        skip("cargo init", "cargo is not installed");
    else
        ok(sh("ws",
              "'%s' run --quiet --git=full -- cargo init -q --name x && git status && grep -q bare "
              ".git/config",
              cordon) == 0,
           "cargo init makes a repository, with its configuration");
    sh(".", "rm -rf ws; mkdir ws");
    ok(sh("ws",
          "'%s' run --quiet -- sh -c 'git init -q n; rm n/.git/config; exec 3> n/.git/config && "
          "echo x "
          ">&3'",
          cordon) != 0 &&
           sh("ws", "test -e n/.git/config -a ! -s n/.git/config") == 0,
       "an empty config is made, and stays empty");
}

/* A folder that becomes a repository without a .git is named like one with it. */
static void test_bare(void)
{
    static const struct {
        const char *what, *script;
        bool named;
    } forms[] = {
        {"HEAD comes last", "cd d; mkdir objects refs; echo x > HEAD", true},
        {"objects come last", "cd d; mkdir refs; echo x > HEAD; mkdir objects", true},
        {"refs come last, by a move", "cd d; mkdir objects r; echo x > HEAD; mv r refs", true},
        {"HEAD is a second name", "cd d; mkdir objects refs; echo x > h; ln h HEAD", true},
        {"HEAD is a link", "cd d; mkdir objects refs; ln -s refs/heads/x HEAD", true},
        {"its parts lie elsewhere", "cd d; echo x > HEAD; echo ../e > commondir", true},
        {"git makes it", "git init -q --bare d", true},
        {"a part is missing", "cd d; mkdir objects; echo x > HEAD", false},
        {"the parts lie in two folders", "cd d; mkdir objects refs e; echo x > e/HEAD", false},
        {"one that was there is used", "cd was; echo x > h; mv h HEAD; mkdir refs/x", false},
        {"a commit in one with a .git", "cd cl; git checkout -q -b other", false},
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        fresh();
        sh("ws", "mkdir d; git init -q --bare was");
        int code = sh("ws", "'%s' run --json --audit ../audit -- sh -ec '%s' > ../said 2>&1",
                      cordon, forms[i].script);
        bool named = sh(".", "grep -q '\"rule\":\"git.new\"' audit") == 0;
        bool folder = sh(".", "grep -q '\"target\":\"[^\"]*/ws/d\".*git.new' audit && grep -q "
                              "'\"repositories\":\\[\"[^\"]*/ws/d\"\\]' said") == 0;
        ok(code == 0 && named == forms[i].named && folder == named, "%s: %snamed (%d, %d, %d)",
           forms[i].what, forms[i].named ? "" : "not ", code, named, folder);
        sh(".", "rm -f audit said");
    }
    fresh();
    ok(sh("ws",
          "mkdir d; '%s' run -- git init -q --bare d 2>&1 | grep -q 'made a git repository: "
          ".*/ws/d (rule git.new)'",
          cordon) == 0,
       "and in the summary for people");
}

/* The repository at the top lists dep, whose files are not there, and emb. Git enters both when the
   user asks for the status, and then a command in their config makes the file HIT. */
static void fresh_listed(void)
{
    sh(".",
       "rm -rf ws one x HIT; git init -q one && git -C one -c user.name=n -c user.email=e "
       "commit -q --allow-empty -m c && mkdir ws && cd ws && git init -q -b main && git clone "
       "-q ../one emb && git add emb 2> /dev/null; git update-index --add --cacheinfo "
       "160000,$(git -C ../one rev-parse HEAD),dep && git -c user.name=n -c user.email=e "
       "commit -qm s && mkdir dep && git clone -q ../one cl && git -C cl worktree add -q "
       "../wt && printf '[core]\\nbare = false\\nrepositoryformatversion = 0\\nfsmonitor = "
       "touch %s/HIT; false\\n' > ../evil",
       top);
}

#define STATUS "git status > /dev/null 2>&1; test -e ../HIT"
#define MADE "git clone -q ../one dep; "

static const struct {
    const char *what, *options, *script, *effect;
} plants[] = {
    {"a command in the config of one that is listed", "",
     MADE "git -C dep config core.fsmonitor \"touch $PWD/../HIT; false\"", STATUS},
    {"the same in one that is added", "--git=commit",
     "git clone -q ../one lib; git -C lib config core.fsmonitor \"touch $PWD/../HIT; false\"; git "
     "add lib",
     STATUS},
    {"the same with --git=full", "--git=full",
     "git clone -q ../one lib; git -C lib config core.fsmonitor \"touch $PWD/../HIT; false\"; git "
     "add lib",
     STATUS},
    {"one that is removed and made again", "",
     "rm -rf emb/.git; rmdir emb; git clone -q ../one emb; git -C emb config core.fsmonitor "
     "\"touch $PWD/../HIT; false\"",
     STATUS},
    {"a config written in its place", "", MADE "cat ../evil > dep/.git/config", STATUS},
    {"a config moved there", "", MADE "cp ../evil e; mv e dep/.git/config", STATUS},
    {"a config that another includes", "",
     MADE "cp ../evil e; git -C dep config include.path $PWD/e", STATUS},
    {"a config by a second name", "",
     MADE "ln dep/.git/config c; cat ../evil > c; test -s dep/.git/config", STATUS},
    {"a config by a link", "",
     MADE "rm dep/.git/config; ln -s ../../e dep/.git/config; cp ../evil e", STATUS},
    {"a config whose writer goes on", "",
     MADE "exec 3> dep/.git/config.lock; mv dep/.git/config.lock dep/.git/config; cat ../evil >&3",
     STATUS},
    {"a config exchanged", "",
     MADE "cp ../evil dep/.git/c; mv --exchange dep/.git/c dep/.git/config || mv dep/.git/c "
          "dep/.git/config",
     STATUS},
    {"a folder that becomes one", "", MADE "mv dep/.git g; cat ../evil > g/config; mv g dep/.git",
     STATUS},
    {"a folder above that is moved", "",
     "git clone -q ../one n; cat ../evil > n/.git/config; rmdir dep; mv n dep", STATUS},
    {"one that lies in a folder of the root", "",
     "git clone -q ../one n; mv n/.git g; cat ../evil > g/config; echo gitdir: ../g > dep/.git",
     STATUS},
    {"one that lies in temp", "--temp=shared",
     "t=$(mktemp -d); git clone -q ../one $t/n; cat ../evil > $t/n/.git/config; echo gitdir: "
     "$t/n/.git > dep/.git",
     STATUS},
    {"one that a link leads to", "",
     "git clone -q ../one n; mv n/.git g; cat ../evil > g/config; ln -s ../g dep/.git", STATUS},
    {"a common folder elsewhere", "",
     MADE "cp -r dep/.git g; cat ../evil > g/config; echo ../../g > dep/.git/commondir", STATUS},
    {"a repository with worktrees replaced", "--temp=shared",
     "t=$(mktemp -d); cp -r cl/.git $t/.git; cat ../evil > $t/.git/config; rm -rf cl; ln -s $t cl",
     "cd wt && git status > /dev/null 2>&1; test -e ../../HIT"},
    {"a hook", "", MADE "echo x > dep/.git/hooks/post-index-change",
     "test -e dep/.git/hooks/post-index-change"},
    {"a hook by a move", "",
     MADE "echo x > dep/.git/hooks/h.sample; mv dep/.git/hooks/h.sample dep/.git/hooks/h",
     "test -e dep/.git/hooks/h"},
    {"a hook by a second name", "", MADE "echo x > h; ln h dep/.git/hooks/h",
     "test -e dep/.git/hooks/h"},
    {"a folder of hooks moved there", "",
     MADE "rm -rf dep/.git/hooks; mkdir h; echo x > h/h; mv h dep/.git/hooks",
     "test -e dep/.git/hooks/h"},
    {"a folder of hooks within it", "",
     MADE "rm -rf dep/.git/hooks; mkdir dep/.git/k; echo x > dep/.git/k/h; mv dep/.git/k "
          "dep/.git/hooks",
     "test -e dep/.git/hooks/h"},
    {"a link to a folder of hooks", "",
     MADE "rm -rf dep/.git/hooks; mkdir h; echo x > h/h; ln -s ../../h dep/.git/hooks",
     "test -e dep/.git/hooks/h"},
    {"a submodule's hook", "",
     MADE "mkdir -p dep/.git/modules/m/hooks; echo x > "
          "dep/.git/modules/m/hooks/h",
     "test -e dep/.git/modules/m/hooks/h"},
    {"an unfinished rebase", "",
     MADE "cd dep; git -c user.name=a -c user.email=b -c sequence.editor=\"sed -i 1ibreak\" rebase "
          "-q -i "
          "--root; echo \"exec touch $PWD/../../HIT\" >> .git/rebase-merge/git-rebase-todo",
     "git -C dep -c user.name=a -c user.email=b rebase --continue; test -e ../HIT"},
    {"an unfinished rebase of patches", "",
     MADE "mkdir dep/.git/rebase-apply; echo x > dep/.git/rebase-apply/next",
     "test -e dep/.git/rebase-apply/next"},
    {"the options of an unfinished cherry-pick", "",
     MADE "mkdir dep/.git/sequencer; echo x > dep/.git/sequencer/opts",
     "test -e dep/.git/sequencer/opts"},
    {"a conflict to resolve again", "", MADE "echo x > dep/.git/MERGE_RR",
     "test -e dep/.git/MERGE_RR"},
    {"how a conflict was resolved", "", MADE "mkdir dep/.git/rr-cache",
     "test -e dep/.git/rr-cache"},
    {"a submodule's config", "",
     MADE "mkdir -p dep/.git/modules/m; cp ../evil "
          "dep/.git/modules/m/config",
     "test -s dep/.git/modules/m/config"},
};

static void test_plants(void)
{
    for (size_t i = 0; i < sizeof plants / sizeof *plants; i++) {
        fresh_listed();
        bool before = sh("ws", "%s", plants[i].effect) == 0;
        sh("ws", "%s", plants[i].script);
        bool control = sh("ws", "%s", plants[i].effect) == 0;
        fresh_listed();
        sh("ws", "'%s' run --quiet %s -- sh -c '%s'", cordon, plants[i].options, plants[i].script);
        bool got = sh("ws", "%s", plants[i].effect) == 0;
        ok(!got && control && !before, "refused in a repository that the run makes: %s (%d %d %d)",
           plants[i].what, got, control, before);
    }
    fresh_listed();
    ok(sh("ws",
          "'%s' run -- sh -c 'git init -q n; git -C n config core.pager x' 2>&1 | grep -q "
          "'n/.git/config (rule git.commands)'",
          cordon) == 0 &&
           sh("ws",
              "'%s' run --audit ../audit -- sh -c 'git init -q o; git -C o config core.pager x'; "
              "grep "
              "-q 'would obey core.pager in' ../audit",
              cordon) == 0,
       "the key is named");
}

/* Programs use a repository that they make. */
static void test_new(void)
{
    static const struct {
        const char *what, *options, *script, *effect;
    } uses[] = {
        {"a first commit", "",
         "git init -q n; cd n; git config user.name a; git config user.email b; git config "
         "commit.gpgsign false; git commit -q --allow-empty -m first",
         "git -C n log | grep -q first && git -C n config user.name | grep -qx a"},
        {"a clone, with a remote and a branch that follows it", "",
         "git clone -q ../one n; cd n; git remote add o2 https://example.com/x; git checkout -q -b "
         "b --track origin/HEAD; git config --unset branch.b.merge",
         "git -C n remote | grep -qx o2 && git -C n config branch.b.remote | grep -qx origin"},
        {"a key removed and a section renamed", "",
         "git init -q n; cd n; git remote add a /x; git remote rename a b; git remote remove b; "
         "git "
         "config user.name a; git config --unset user.name",
         "test -s n/.git/config"},
        {"another object format", "", "git init -q --object-format=sha256 n", "git -C n status"},
        {"one moved, one removed", "",
         "git clone -q ../one n; git clone -q ../one m; mv n k; rm -rf m",
         "git -C k status && test ! -e m"},
        {"a file's mode", "", "git init -q n; chmod 600 n/.git/config",
         "stat -c %a n/.git/config | grep -qx 600"},
        {"hooks in temp", "--temp=shared",
         "t=$(mktemp -d); git init -q $t; echo x > $t/.git/hooks/h; git -C $t config core.pager x; "
         "test -e $t/.git/hooks/h; echo $(git -C $t config core.pager) > got; rm -rf $t",
         "grep -qx x got"},
        {"several commits picked, and a stash", "",
         "git clone -q ../one n; cd n; git config user.name a; git config user.email b; for i in 1 "
         "2 "
         "3; do echo $i > f$i; git add .; git commit -qm $i; done; git checkout -q -b p HEAD~2; "
         "git "
         "cherry-pick @{-1}~1 @{-1}; echo y > f1; git "
         "stash -q",
         "git -C n log -1 p | grep -qw 3"},
        {"a rebase, with --git=full", "--git=full",
         "git clone -q ../one n; cd n; git -c user.name=a -c user.email=b rebase -q --force-rebase "
         "--root; touch ../rebased",
         "test -e rebased"},
        {"a worktree, with --git=full", "--git=full",
         "git clone -q ../one n; git -C n worktree add -q ../t", "git -C t status"},
    };
    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++) {
        fresh_listed();
        bool before = sh("ws", "%s", uses[i].effect) == 0;
        int code =
            sh("ws", "'%s' run --quiet %s -- sh -ec '%s'", cordon, uses[i].options, uses[i].script);
        bool after = sh("ws", "%s", uses[i].effect) == 0;
        ok(code == 0 && !before && after, "in a repository that the run makes: %s (%d %d %d)",
           uses[i].what, code, before, after);
    }
    fresh_listed();
    ok(sh("ws",
          "XDG_STATE_HOME=$PWD/../state; export XDG_STATE_HOME; '%s' run --quiet --undo -- sh -ec "
          "'git init -q n; git -C n config user.name a' && git -C n config user.name && '%s' undo; "
          "test ! -e n",
          cordon, cordon) == 0,
       "and one that is taken back");
}

/* The root is a worktree: what the main checkout and other worktrees go by lies outside. */
static void fresh_linked(void)
{
    sh(".", "rm -rf ws repo; git init -q -b main repo && cd repo && git config user.name n && git "
            "config user.email e && for i in 1 2 3; do echo $i > f$i; git add .; git commit -qm "
            "c$i; done; git branch old HEAD~1; git worktree add -q ../ws -b work && git worktree "
            "add -q ../repo/other -b other");
}

static void test_linked(void)
{
    static const struct {
        const char *options, *path;
    } closed[] = {
        {"--git=commit", "index"},
        {"--git=commit", "HEAD"},
        {"--git=commit", "ORIG_HEAD"},
        {"--git=commit", "MERGE_MSG"},
        {"--git=commit", "info/exclude"},
        {"--git=commit", "sequencer/todo"},
        {"--git=commit", "refs/bisect/bad"},
        {"--git=commit", "worktrees/other/HEAD"},
        {"--git=commit", "worktrees/other/index"},
        {"--git=full", "index"},
        {"--git=full", "rebase-merge/git-rebase-todo"},
        {"--git=full", "rebase-apply/x"},
        {"--git=full", "sequencer/todo"},
        {"--git=full", "worktrees/other/rebase-merge/git-rebase-todo"},
    };
    static const struct {
        const char *what, *options, *script, *effect;
    } works[] = {
        {"a commit", "--git=commit", "echo x > n; git add n; git commit -qm n", "git show HEAD:n"},
        {"a branch deleted", "--git=commit", "git pack-refs --all; git branch -qD old",
         "! git rev-parse -q --verify old"},
        {"gc", "--git=commit", "git gc -q", "ls ../repo/.git/objects/pack/*.pack"},
        {"a stash", "--git=commit", "echo y > f1; git stash -q", "git stash list | grep -q stash"},
        {"a bisection", "--git=commit",
         "git bisect start HEAD HEAD~2 && git bisect good && git bisect reset && echo x > done",
         "test -e done && git log -1 | grep -q c3"},
        {"a rebase", "--git=full",
         "git checkout -q -b r old; echo y > y; git add y; git commit -qm y; git rebase -q work",
         "git log -1 r~1 | grep -q c3"},
        {"the main checkout, if it is a root", "--git=commit --root . --root ../repo",
         "cd ../repo; echo x > n; git add n; git commit -qm n", "git -C ../repo show HEAD:n"},
    };
    for (size_t i = 0; i < sizeof closed / sizeof *closed; i++) {
        char line[600];
        snprintf(line, sizeof line,
                 "p=../repo/.git/%s; mkdir -p \"$(dirname $p)\" && echo evil > $p", closed[i].path);
        fresh_linked();
        sh("ws", "'%s' run --quiet %s -- sh -c '%s'", cordon, closed[i].options, line);
        bool got = sh("repo/.git", "grep -qx evil %s", closed[i].path) == 0;
        sh("ws", "%s", line);
        bool control = sh("repo/.git", "grep -qx evil %s", closed[i].path) == 0;
        ok(!got && control, "refused from a worktree, %s: the repository's %s (%d %d)",
           closed[i].options, closed[i].path, got, control);
    }
    for (size_t i = 0; i < sizeof works / sizeof *works; i++) {
        fresh_linked();
        bool before = sh("ws", "%s", works[i].effect) == 0;
        int code = sh("ws", "'%s' run --quiet %s -- sh -ec '%s'", cordon, works[i].options,
                      works[i].script);
        ok(code == 0 && !before && sh("ws", "%s", works[i].effect) == 0,
           "in a worktree: %s %s (%d, before %d)", works[i].what, works[i].options, code, before);
    }
}

/* git branch -d and -m write the config: as a whole, or not at all, and nothing else of it. */
static void test_branches(void)
{
    static const struct {
        const char *what, *options, *script, *effect;
        int code;
    } branches[] = {
        {"deleted with its section", "--git=commit", "git branch -qD gone",
         "! git rev-parse -q --verify gone && ! grep -q gone .git/config && grep -q old "
         ".git/config",
         0},
        {"one without a section", "--git=commit", "git branch -q x && git branch -qD x",
         "! git rev-parse -q --verify x && grep -q gone .git/config", 0},
        {"renamed with its section", "--git=commit", "git branch -m gone new",
         "git rev-parse -q --verify new && grep -q 'branch .new' .git/config && ! grep -q 'branch "
         ".gone' .git/config",
         0},
        {"renamed with --git=full", "--git=full", "git branch -m gone new",
         "git rev-parse -q --verify new && grep -q 'branch .new' .git/config", 0},
        {"not deleted by default, whole", "", "git branch -qD gone",
         "git rev-parse -q --verify gone && grep -q gone .git/config", 1},
        {"not renamed by default, whole", "", "git branch -m gone new",
         "git rev-parse -q --verify gone && ! git rev-parse -q --verify new && grep -q 'branch "
         ".gone' .git/config",
         128},
        {"no key is set", "--git=commit", "git config core.fsmonitor x",
         "! grep -q fsmonitor .git/config && test ! -e .git/config.lock", 4},
        {"no key is set with --git=full", "--git=full", "git config alias.x y",
         "! grep -q alias .git/config", 4},
        {"no section is added", "--git=commit", "git config branch.main.remote evil",
         "! grep -q evil .git/config", 4},
        {"nothing is written into it", "--git=commit", "echo evil >> .git/config",
         "! grep -q evil .git/config", 2},
        {"no other file takes its place", "--git=full",
         "cp .git/config x; echo evil >> x; mv -f x .git/config", "! grep -q evil .git/config", 1},
        {"not even the same one by another name", "--git=full",
         "cp .git/config x; mv -f x .git/config", "! grep -q evil .git/config", 1},
        {"a writer of the lock file that goes on", "--git=commit",
         "cp .git/config .git/config.lock; exec 3>> .git/config.lock; mv .git/config.lock "
         ".git/config; echo evil >&3",
         "! grep -q evil .git/config && grep -q gone .git/config", 0},
        {"no second name of the lock file", "--git=commit",
         "cp .git/config .git/config.lock; ln .git/config.lock x", "test ! -e x", 1},
        {"no link as a lock file", "--git=commit", "ln -s ../f1 .git/config.lock",
         "test ! -L .git/config.lock", 1},
        {"not moved away", "--git=full", "mv .git/config .git/config.lock", "test -e .git/config",
         1},
    };
    for (size_t i = 0; i < sizeof branches / sizeof *branches; i++) {
        fresh();
        sh("ws", "git config branch.gone.remote o; git config branch.old.remote o");
        int code = sh("ws", "'%s' run --quiet %s -- sh -ec '%s'", cordon, branches[i].options,
                      branches[i].script);
        ok(code == branches[i].code && sh("ws", "%s", branches[i].effect) == 0,
           "a branch and the config: %s %s (%d)", branches[i].what, branches[i].options, code);
    }
}

int main(void)
{
    if (!box_make("git-test"))
        return box_done();
    if (sh(".", "command -v git")) {
        skip("git", "it is not installed");
        return box_done();
    }
    test_rows();
    test_headless();
    test_moved();
    test_made();
    test_added();
    test_bare();
    test_plants();
    test_new();
    test_linked();
    test_branches();
    return box_done();
}
