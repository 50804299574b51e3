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
    sh("ws", "'%s' run --quiet --git=full -- git remote add p /y", cordon);
    ok(sh("ws", "! git remote | grep -q p") == 0,
       "the configuration of one that was there is closed");
    ok(sh("ws", "git remote add p /y") == 0, "control: without the sandbox it is not");
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

int main(void)
{
    if (!box_make("git-test"))
        return box_done();
    if (sh(".", "command -v git")) {
        skip("git", "it is not installed");
        return box_done();
    }
    test_rows();
    test_made();
    test_bare();
    return box_done();
}
