/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of protected names by way of git: a run that may commit stages none that a person did not
 * put into the working tree. Each attempt has its control outside, where `git checkout .` writes
 * the file.
 */
#include "harness.h"

/* ws: a repository with a tracked .vscode/tasks.json, a worktree t beside it and a nested cl. evil:
   what an attempt would bring. */
static void fresh(void)
{
    sh(".",
       "rm -rf ws t cl; echo evil > evil; git init -q -b main ws && cd ws && git config user.name "
       "n && git config user.email e && mkdir .vscode && echo mine > .vscode/tasks.json && echo 1 "
       "> f1 && git add -A && git commit -qm c1 && echo 2 > f2 && git add f2 && git commit -qm c2 "
       "&& git branch theirs && git worktree add -q theirs-tree theirs && cd theirs-tree && echo "
       "theirs > .vscode/tasks.json && git commit -qam theirs && cd .. && git worktree remove "
       "--force theirs-tree && git branch side HEAD~1 && git worktree add -q ../t -b other && git "
       "clone -q . ../cl && mv ../cl cl && echo cl > .git/info/exclude");
}

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

#define BLOB "h=$(git hash-object -w $T/evil); "
#define STAGE(mode, name) BLOB "git update-index --add --cacheinfo " mode ",$h," name "; "
#define TASKS STAGE("100644", ".vscode/tasks.json")
#define BROUGHT(name) "git checkout -q . 2> /dev/null; grep -qs evil " name

static const struct {
    const char *what, *options, *folder, *script, *effect;
} plants[] = {
    {"a new hook of husky", "--git=commit", "ws", STAGE("100755", ".husky/pre-commit"),
     BROUGHT(".husky/pre-commit")},
    {"a changed file", "--git=commit", "ws", TASKS, BROUGHT(".vscode/tasks.json")},
    {"the same with --git=full", "--git=full", "ws", TASKS, BROUGHT(".vscode/tasks.json")},
    {"in a folder", "--git=commit", "ws", STAGE("100644", "a/b/.claude/settings.json"),
     BROUGHT("a/b/.claude/settings.json")},
    {"in another spelling", "--git=commit", "ws", STAGE("100644", ".Husky/pre-commit"),
     BROUGHT(".Husky/pre-commit")},
    {"as a link", "--git=commit", "ws",
     "printf ../evil > l; h=$(git hash-object -w l); git update-index --add --cacheinfo "
     "120000,$h,.mcp.json",
     BROUGHT(".mcp.json")},
    {"after the index was removed", "--git=commit", "ws", "rm .git/index; git reset -q; " TASKS,
     BROUGHT(".vscode/tasks.json")},
    {"after the entry was removed", "--git=commit", "ws",
     "git update-index --force-remove .vscode/tasks.json; " TASKS, BROUGHT(".vscode/tasks.json")},
    {"in version 4", "--git=commit", "ws", "git update-index --index-version 4; " TASKS,
     BROUGHT(".vscode/tasks.json")},
    {"in a split index", "--git=commit", "ws", "git update-index --split-index; " TASKS,
     BROUGHT(".vscode/tasks.json")},
    {"in a split index that comes whole", "--git=commit", "ws",
     "cp .git/index k; " BLOB
     "GIT_INDEX_FILE=k git update-index --add --cacheinfo 100644,$h,.vscode/tasks.json; "
     "GIT_INDEX_FILE=.git/index.k git read-tree --empty; cp k .git/index.k; "
     "GIT_INDEX_FILE=.git/index.k git update-index --split-index; mv .git/index.k .git/index",
     BROUGHT(".vscode/tasks.json")},
    {"in a worktree", "--git=commit", "t", TASKS, BROUGHT(".vscode/tasks.json")},
    {"in a nested repository, by default", "", "ws", "cd cl; " TASKS,
     "cd cl; " BROUGHT(".vscode/tasks.json")},
    {"by a replacement", "--git=commit", "ws",
     BLOB "git replace $(git rev-parse HEAD:.vscode/tasks.json) $h",
     "rm .vscode/tasks.json; " BROUGHT(".vscode/tasks.json")},
};

static void test_plants(void)
{
    for (size_t i = 0; i < sizeof plants / sizeof *plants; i++) {
        bool got[2];
        for (int inside = 1; inside >= 0; inside--) {
            fresh();
            write_script(plants[i].script);
            if (inside)
                sh(plants[i].folder, "'%s' run --quiet %s -- bash '%s/script'", cordon,
                   plants[i].options, top);
            else
                sh(plants[i].folder, "bash '%s/script'", top);
            got[inside] = sh(plants[i].folder, "%s", plants[i].effect) == 0;
        }
        ok(!got[1] && got[0], "not brought by git: %s (%d, control %d)", plants[i].what, got[1],
           got[0]);
    }
}

static const struct {
    const char *what, *before, *options, *script, *effect;
} works[] = {
    {"a commit of other files", "", "--git=commit", "echo x > n; git add n; git commit -qam n",
     "git show HEAD:n"},
    {"a commit of what a person wrote",
     "echo more >> .vscode/tasks.json; mkdir .claude; echo {} > .claude/settings.json",
     "--git=commit", "git add -A; git commit -qm n",
     "git show HEAD:.claude/settings.json && git show HEAD:.vscode/tasks.json | grep -q more"},
    {"the same in a worktree", "cd ../t; mkdir .claude; echo {} > .claude/settings.json",
     "--git=commit --root ../t", "cd ../t; git add -A; git commit -qm n",
     "git show other:.claude/settings.json"},
    {"a first commit", "rm -rf .git", "--git=full",
     "git init -q; git add f1 .vscode; git -c user.name=a -c user.email=b commit -qm n",
     "git show HEAD:.vscode/tasks.json"},
    {"an entry removed", "", "--git=commit", "git rm -q --cached .vscode/tasks.json",
     "! git ls-files | grep -q vscode"},
    {"the index made anew", "", "--git=commit", "rm .git/index; git reset -q",
     "git diff --quiet HEAD"},
    {"a stash", "", "--git=commit", "echo x >> f1; git stash -q; git stash pop -q", "grep -q x f1"},
    {"a merge and a change of branch", "", "--git=commit",
     "git checkout -q side; echo s > s; git add s; git commit -qm s; git merge -q main -m m",
     "git show side:f2 && git show side:s"},
    {"a rebase", "", "--git=full",
     "git checkout -q side; echo s > s; git add s; git commit -qm s; git rebase -q main",
     "git merge-base --is-ancestor main side"},
    {"names among packages", "", "--git=commit",
     "mkdir -p node_modules/a/.vscode; echo x > node_modules/a/.vscode/x; git add node_modules",
     "git ls-files | grep -q node_modules/a/.vscode/x"},
    {"a name that the person opened", "", "--git=commit --unprotect .vscode",
     "git merge -q theirs -m m", "grep -q theirs .vscode/tasks.json"},
    {"a split index", "git rm -rq --cached .vscode; git commit -qm no", "--git=commit",
     "git update-index --split-index; echo x > f1; git add f1; git commit -qm n",
     "git show HEAD:f1 | grep -q x"},
};

static void test_work(void)
{
    for (size_t i = 0; i < sizeof works / sizeof *works; i++) {
        fresh();
        sh("ws", "%s", works[i].before[0] ? works[i].before : "true");
        write_script(works[i].script);
        int code = sh("ws", "'%s' run --quiet --root . %s -- bash -e '%s/script'", cordon,
                      works[i].options, top);
        ok(code == 0 && sh("ws", "%s", works[i].effect) == 0, "%s %s (%d)", works[i].what,
           works[i].options, code);
    }
}

/* A colleague's branch changes such a file. */
static void test_theirs(void)
{
    fresh();
    int code =
        sh("ws", "'%s' run --audit ../audit --git=commit -- git merge -q theirs -m m 2> ../said",
           cordon);
    ok(code != 0 &&
           sh("ws", "grep -q '\"protected.name\"' ../audit && grep -q -e '--unprotect "
                    ".vscode' ../said && grep -q mine .vscode/tasks.json && ! git merge-base "
                    "--is-ancestor theirs main") == 0,
       "a merge of a branch that changes one is refused, with the remedy (%d)", code);
    write_script(TASKS);
    sh("ws", "'%s' run --audit ../audit2 --git=commit -- bash ../script 2> ../said", cordon);
    ok(sh(".",
          "grep -q 'this index would bring .vscode/tasks.json: other programs obey .vscode' audit2 "
          "&& grep -q 'rule protected.name.*--unprotect .vscode' said") == 0,
       "the reason names the file");
}

int main(void)
{
    if (!box_make("git-names-test"))
        return box_done();
    if (sh(".", "command -v git")) {
        skip("git", "it is not installed");
        return box_done();
    }
    test_plants();
    test_work();
    test_theirs();
    return box_done();
}
