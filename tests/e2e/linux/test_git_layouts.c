/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Repositories whose folder is not called .git, or that obey files elsewhere in the root: a run
 * plants nothing there that git would run later, and git's ordinary work goes on. Each attempt has
 * its control outside, where it succeeds.
 */
#include "harness.h"

#define ID "git config user.name n && git config user.email e && "
#define FIRST "echo 1 > f1 && git add . && git commit -qm c1"

/* Scripts that make a repository in ws, in which the commit of a person runs hooks. */
static const struct {
    const char *what, *make, *tree, *git;
} layouts[] = {
    {"an ordinary repository", "git init -q -b main ws && cd ws && " ID FIRST, ".", ".git"},
    {"a git folder elsewhere in the root",
     "mkdir ws && git init -q -b main --separate-git-dir=ws/repo.git ws && cd ws && echo repo.git "
     "> repo.git/info/exclude; " ID FIRST,
     ".", "repo.git"},
    {"a git folder deeper in the root",
     "mkdir -p ws/a/b && git init -q -b main --separate-git-dir=ws/a/b/r ws && cd ws && echo a > "
     "a/b/r/info/exclude && " ID FIRST,
     ".", "a/b/r"},
    {"a bare folder with worktrees beside it",
     "mkdir ws && git init -q -b main --bare ws/.bare && cd ws && echo gitdir: ./.bare > .git "
     "&& " ID
     "git worktree add -q --orphan -b x w 2> /dev/null || git worktree add -q w $(git commit-tree "
     "-m c $(git mktree < /dev/null)) && cd w && git checkout -q -b y && " FIRST,
     "w", ".bare"},
    {"a bare root with worktrees in it",
     "git init -q -b main --bare ws && cd ws && " ID "git worktree add -q --orphan -b x w 2> "
     "/dev/null || git worktree add -q w $(git commit-tree -m c $(git mktree < /dev/null)) && cd w "
     "&& git checkout -q -b y && " FIRST,
     "w", "."},
    {"a link as .git",
     "git init -q -b main ws && cd ws && " ID "mv .git store && ln -s store .git && echo store > "
     ".git/info/exclude && " FIRST,
     ".", "store"},
    {"a worktree's folder below a folder",
     "mkdir -p ws/deep && git init -q -b main --bare ws/deep/b && cd ws/deep/b && " ID
     "git worktree add -q ../w $(git commit-tree -m c $(git mktree < /dev/null)) && cd ../w && git "
     "checkout -q -b y && " FIRST,
     "deep/w", "deep/b"},
};

static void write_script(const char *text)
{
    char path[1100];
    snprintf(path, sizeof path, "%s/script", top);
    FILE *f = fopen(path, "w");
    if (f) {
        fputs(text, f);
        fclose(f);
    }
}

enum { LAYOUTS = sizeof layouts / sizeof *layouts };

static void make(size_t layout)
{
    sh(".",
       "rm -rf ws out HIT; mkdir out; printf '#!/bin/sh\\ntouch %s/HIT\\n' > hook; chmod +x hook",
       top);
    sh(".", "%s", layouts[layout].make);
    sh("ws", "mkdir -p src && echo x > src/a");
}

static bool commits(size_t layout)
{
    sh(".", "rm -f HIT");
    sh("ws", "cd %s && git commit -q --allow-empty -m mine; git status > /dev/null",
       layouts[layout].tree);
    return sh(".", "test -e HIT") == 0;
}

/* $G: the git folder; $T: the folder around ws. */
static const struct {
    const char *what, *script;
} plants[] = {
    {"a hook", "mkdir -p $G/hooks; cp $T/hook $G/hooks/pre-commit"},
    {"a hook in a folder that is moved there",
     "mkdir h; cp $T/hook h/pre-commit; rm -rf $G/hooks; mv h $G/hooks"},
    {"hooks that are moved away first",
     "mv $G/hooks $G/old; mkdir $G/hooks; cp $T/hook $G/hooks/pre-commit"},
    {"a key of the config", "printf \"[core]\\nhooksPath = $T/out\\n\" >> $G/config; cp $T/hook h; "
                            "printf \"[core]\\nfsmonitor = $T/hook\\n\" >> $G/config"},
    {"a config that is moved there",
     "cp $G/config c; printf \"[core]\\nfsmonitor = $T/hook\\n\" >> c; mv -f c $G/config"},
    {"a second name of the config",
     "ln $G/config c; printf \"[core]\\nfsmonitor = $T/hook\\n\" >> c"},
    {"a folder disabled and revived",
     "mv $G/HEAD $G/H || cp $G/HEAD h; rm -f $G/HEAD; mkdir -p $G/hooks; cp $T/hook "
     "$G/hooks/pre-commit; mv $G/H $G/HEAD || mv h $G/HEAD"},
    {"a folder that takes its place",
     "cp -r $G $G.new || cp -r $G new; for n in $G.new new; do mkdir -p $n/hooks; cp $T/hook "
     "$n/hooks/pre-commit; done; mv $G gone; mv $G.new $G || mv new $G"},
};

static void plant(size_t layout, size_t i, const char *options)
{
    char script[3000];
    snprintf(script, sizeof script, "G=%s; T=%s; %s", layouts[layout].git, top, plants[i].script);
    write_script(script);
    make(layout);
    sh("ws", "'%s' run --quiet %s -- sh ../script", cordon, options);
    bool got = commits(layout);
    make(layout);
    sh("ws", "sh ../script");
    bool control = commits(layout);
    ok(!got && control, "%s: %s %s (%d, control %d)", layouts[layout].what, plants[i].what, options,
       got, control);
}

/* Every second one in each layout, for the time it takes. A root is not moved. */
static void test_plants(void)
{
    for (size_t layout = 1; layout < LAYOUTS; layout++)
        for (size_t i = layout % 2; i < sizeof plants / sizeof *plants; i += 2)
            plant(layout, i, i % 3 == 0 ? "" : i % 3 == 1 ? "--git=commit" : "--git=full");
}

/* What git obeys outside its folder. */
static void test_obeyed(void)
{
    static const struct {
        const char *what, *before, *script;
    } rows[] = {
        {"hooks behind a link", "mkdir h; rm -rf .git/hooks; ln -s ../h .git/hooks",
         "cp $T/hook h/pre-commit"},
        {"a hook behind a link",
         "mkdir s; printf \"#!/bin/sh\\n\" > s/pre; chmod +x s/pre; ln -s ../../s/pre "
         ".git/hooks/pre-commit",
         "cp $T/hook s/pre"},
        {"the same by another file",
         "mkdir s; printf \"#!/bin/sh\\n\" > s/pre; chmod +x s/pre; ln -s "
         "../../s/pre .git/hooks/pre-commit",
         "cp $T/hook n; mv -f n s/pre"},
        {"the folder of it exchanged",
         "mkdir s; printf \"#!/bin/sh\\n\" > s/pre; chmod +x s/pre; ln -s "
         "../../s/pre .git/hooks/pre-commit",
         "mv s old; mkdir s; cp $T/hook s/pre"},
        {"a config behind a link", "mv .git/config cfg; ln -s ../cfg .git/config",
         "printf \"[core]\\nfsmonitor = $T/hook\\n\" >> cfg"},
        {"core.hooksPath", "mkdir tools; git config core.hooksPath tools",
         "cp $T/hook tools/pre-commit"},
        {"core.hooksPath by a whole path", "mkdir tools; git config core.hooksPath $PWD/tools",
         "cp $T/hook tools/pre-commit"},
        {"include.path", "touch more; git config include.path ../more",
         "printf \"[core]\\nfsmonitor = $T/hook\\n\" >> more"},
        {"core.fsmonitor", "echo > watch; chmod +x watch; git config core.fsmonitor ./watch",
         "cp $T/hook watch"},
        {"core.fsmonitor, a word of it", "mkdir t; echo > t/w; git config core.fsmonitor 'sh t/w'",
         "cp $T/hook t/w"},
        {"a missing folder of core.hooksPath", "git config core.hooksPath n/hk",
         "mkdir -p n/hk; cp $T/hook n/hk/pre-commit"},
        {"a folder that is moved there", "git config core.hooksPath $PWD/n/hk",
         "mkdir -p m/hk; cp $T/hook m/hk/pre-commit; mv m n"},
        {"a link that is made there", "git config core.hooksPath n/hk",
         "mkdir -p m/hk; cp $T/hook m/hk/pre-commit; ln -s m n"},
        {"a link to a missing folder", "git config core.hooksPath hk; ln -s real hk",
         "mkdir real; cp $T/hook real/pre-commit"},
        {"a link on the way", "git config core.hooksPath l/hk; mkdir -p r/hk; ln -s r l",
         "mkdir -p r2/hk; cp $T/hook r2/hk/pre-commit; rm l; ln -s r2 l"},
        {"a hook that is a link to a missing file", "ln -s ../../s/pc .git/hooks/pre-commit",
         "mkdir s; cp $T/hook s/pc"},
        {"a missing core.fsmonitor", "git config core.fsmonitor ./watch", "cp $T/hook watch"},
        {"a missing include.path", "git config includeIf.gitdir:/.path ../more",
         "printf \"[core]\\nfsmonitor = $T/hook\\n\" > more"},
        {"an include of an include",
         "git config include.path ../inc; printf \"[include]\\npath=inc2\\n\" > inc",
         "printf \"[core]\\nfsmonitor = $T/hook\\n\" > inc2"},
        {"core.hooksPath of an included file outside",
         "printf \"[core]\\nhooksPath=hk\\n\" > ../o; git config include.path $PWD/../o",
         "mkdir hk; cp $T/hook hk/pre-commit"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bool got[2];
        for (int inside = 1; inside >= 0; inside--) {
            make(0);
            sh("ws", "%s", rows[i].before);
            write_script(rows[i].script);
            if (inside)
                sh("ws", "T='%s' '%s' run --quiet --git=full -- sh ../script", top, cordon);
            else
                sh("ws", "T='%s' sh ../script", top);
            got[inside] = commits(0);
        }
        ok(!got[1] && got[0], "%s is closed (%d, control %d)", rows[i].what, got[1], got[0]);
    }
    make(0);
    sh("ws", "mkdir tools; git config core.hooksPath tools");
    ok(sh("ws",
          "'%s' why write tools/x | grep -q protected.git && '%s' why --list | grep -q "
          "'protected.git.*/tools'",
          cordon, cordon) == 0,
       "why knows it");
}

/* Configs that are not in the repository, and a repository around the root. */
static void test_sources(void)
{
    static const struct {
        const char *what, *before, *folder;
    } rows[] = {
        {"~/.gitconfig", "echo \"$K\" > $HOME/.gitconfig", "."},
        {"~/.config/git/config",
         "mkdir -p $HOME/.config/git; echo \"$K\" > $HOME/.config/git/config", "."},
        {"XDG_CONFIG_HOME",
         "export XDG_CONFIG_HOME=$HOME/x; mkdir -p $HOME/x/git; echo \"$K\" > $HOME/x/git/config",
         "."},
        {"GIT_CONFIG_GLOBAL", "export GIT_CONFIG_GLOBAL=$HOME/g; echo \"$K\" > $HOME/g", "."},
        {"GIT_CONFIG_SYSTEM", "export GIT_CONFIG_SYSTEM=$HOME/g; echo \"$K\" > $HOME/g", "."},
        {"GIT_CONFIG_COUNT",
         "export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.hooksPath GIT_CONFIG_VALUE_0=sub/hk",
         "."},
        {"a file that ~/.gitconfig includes",
         "echo \"$K\" > $HOME/o; git config --global includeIf.gitdir:/.path '~/o'", "."},
        {"a path from the home folder", "git config core.hooksPath '~/../ws/sub/hk'", "."},
        {"a repository above the root", "git config core.hooksPath sub/hk", "sub"},
        {"the last of ten included files",
         "git config include.path i1; for i in 1 2 3 4 5 6 7 8 9; do printf "
         "'[include]\\npath=i%d\\n' $((i+1)) > .git/i$i; done; echo \"$K\" > .git/i10",
         "."},
        {"a value over two lines", "printf '[core]\\nhooksPath = sub\\\\\\n/hk\\n' >> .git/config",
         "."},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bool got[2];
        for (int inside = 1; inside >= 0; inside--) {
            make(0);
            write_script("mkdir -p $W/sub/hk; cp $T/hook $W/sub/hk/pre-commit");
            sh(".", "rm -rf home; mkdir home ws/sub");
            sh("ws",
               "export T='%s' HOME='%s/home' W=$PWD K='[core] hooksPath=sub/hk'; unset "
               "GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM GIT_CONFIG_NOSYSTEM XDG_CONFIG_HOME; %s; (cd "
               "%s; %s%s%s sh $T/script); git commit -q --allow-empty -m mine",
               top, top, rows[i].before, rows[i].folder, inside ? "'" : "", inside ? cordon : "",
               inside ? "' run --quiet --" : "");
            got[inside] = sh(".", "test -e HIT") == 0;
        }
        ok(!got[1] && got[0], "%s is read (%d, control %d)", rows[i].what, got[1], got[0]);
    }
}

/* A start reads only so much; what it does not read must not be open without a word. */
static void test_limits(void)
{
    static const struct {
        const char *what, *before;
    } rows[] = {
        {"included files", "for i in $(seq 300); do git config --add include.path ../none$i; done"},
        {"names of hooks", "for i in $(seq 5000); do : > .git/hooks/h$i; done"},
        {"bytes of a config", "head -c 1100000 /dev/zero | tr '\\0' '#' >> .git/config"},
        {"keys of the environment",
         "export GIT_CONFIG_COUNT=300; for i in $(seq 0 299); do export GIT_CONFIG_KEY_$i=a.b "
         "GIT_CONFIG_VALUE_$i=c; done"},
    };
    make(0);
    ok(sh("ws", "'%s' run --quiet -- true", cordon) == 0, "control: within the limits");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        make(0);
        ok(sh("ws",
              "%s; '%s' run -- touch made 2>../said; test $? = 125 && test ! -e made && grep -q "
              "'cannot protect every file that git obeys' ../said",
              rows[i].before, cordon) == 0,
           "more %s than are read: nothing runs", rows[i].what);
    }
    make(0);
    ok(sh("ws",
          "for i in $(seq 100 499); do mkdir d$i; done; git init -q d499; git -C d499 config "
          "core.hooksPath ../hk; mkdir hk; '%s' run --verbose -- true 2>&1 | grep -q 'many "
          "folders' && exit 1; '%s' run --quiet -- touch hk/pre-commit; test ! -e hk/pre-commit",
          cordon, cordon) == 0,
       "a repository among hundreds of folders is found");
    ok(sh("ws",
          "for i in $(seq 500 900); do mkdir d$i; done; '%s' run --verbose -- true 2>&1 | grep -q "
          "'many folders'",
          cordon) == 0,
       "more folders than are looked at are told");
}

/* Git's ordinary work, in each layout. */
static void test_work(void)
{
    static const struct {
        const char *what, *options, *script, *effect;
    } works[] = {
        {"a commit", "--git=commit", "echo x > n; git add n; git commit -qm n", "git show HEAD:n"},
        {"a branch, a stash and a tag", "--git=commit",
         "git checkout -q -b side; echo y >> f1; git stash -q; git tag t; git branch -m side s2",
         "git stash list | grep -q . && git rev-parse t s2"},
        {"a rebase", "--git=full",
         "git checkout -q -b r; echo z > z; git add z; git commit -qm z; git rebase -q "
         "--force-rebase "
         "HEAD~1",
         "git show r:z"},
        {"a worktree", "--git=full", "git worktree add -q nw -b nb", "git -C nw log -1"},
        {"a nested clone", "", "git clone -q . cl; cd cl; git config user.name x",
         "git -C cl log -1"},
        {"gc", "--git=commit", "git gc -q", "git fsck"},
        {"files", "",
         "mkdir hooks config info; echo x > hooks/a; echo x > config/a; echo y > info/z",
         "test -e hooks/a -a -e config/a -a -e info/z"},
    };
    for (size_t layout = 0; layout < LAYOUTS; layout++)
        for (size_t i = layout % 2; i < sizeof works / sizeof *works; i += 2) {
            make(layout);
            write_script(works[i].script);
            int code = sh(
                "ws", "T=$PWD/../script; cd %s && '%s' run --quiet --root '%s/ws' %s -- sh -e $T",
                layouts[layout].tree, cordon, top, works[i].options);
            ok(code == 0 && sh("ws", "cd %s && %s", layouts[layout].tree, works[i].effect) == 0,
               "%s: %s %s (%d)", layouts[layout].what, works[i].what, works[i].options, code);
        }
}

/* Bare repositories among a project's files. */
static void test_bare(void)
{
    static const struct {
        const char *what, *script, *effect;
        bool works;
    } rows[] = {
        {"one that was there gets no hook", "cp ../hook t/x/remote.git/hooks/pre-receive",
         "test -e t/x/remote.git/hooks/pre-receive", false},
        {"nor a config", "git -C t/x/remote.git config core.fsmonitor x",
         "grep fsmonitor t/x/remote.git/config", false},
        {"nor other objects", "echo x > t/x/remote.git/objects/info/alternates",
         "test -e t/x/remote.git/objects/info/alternates", false},
        {"nor conflicts to resolve again", "echo x > t/x/remote.git/MERGE_RR",
         "test -e t/x/remote.git/MERGE_RR", false},
        {"it is not moved", "mv t/x t/y", "test -e t/y", false},
        {"a push to it works", "git push -q t/x/remote.git HEAD:refs/heads/new",
         "git -C t/x/remote.git rev-parse new", true},
        {"gc in it works", "git -C t/x/remote.git gc -q", "ls t/x/remote.git/objects/info/packs",
         true},
        {"it is removed", "rm -rf t/x", "test ! -e t/x", true},
        {"it is removed by Python", "python3 -c \"import shutil; shutil.rmtree('t')\"",
         "test ! -e t", true},
        {"and made again",
         "rm -rf t; git init -q --bare t; git -C t config a.b c; cp ../hook "
         "t/hooks/pre-receive",
         "test -e t/hooks/pre-receive", true},
        {"one of the run's own has any hook",
         "git clone -q --bare . n/r.git; git -C n/r.git config a.b c; cp ../hook "
         "n/r.git/hooks/pre-receive; mv n m",
         "test -e m/r.git/hooks/pre-receive", true},
        {"a copy is the run's own", "cp -r t u; cp ../hook u/x/remote.git/hooks/pre-receive",
         "test -e u/x/remote.git/hooks/pre-receive", true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        make(0);
        sh("ws", "mkdir -p t/x && git init -q --bare t/x/remote.git");
        write_script(rows[i].script);
        bool before = sh("ws", "%s", rows[i].effect) == 0;
        int code = sh("ws", "'%s' run --quiet -- sh -e ../script", cordon);
        bool got = sh("ws", "%s", rows[i].effect) == 0;
        if (!rows[i].works)
            sh("ws", "sh -e ../script");
        ok(!before && got == rows[i].works && (code == 0) == rows[i].works &&
               sh("ws", "%s", rows[i].effect) == 0,
           "a bare repository: %s (%d, %d)", rows[i].what, code, got);
    }
}

int main(void)
{
    if (!box_make("git-layouts-test"))
        return box_done();
    if (sh(".", "command -v git && command -v python3")) {
        skip("git", "it is not installed, or Python is not");
        return box_done();
    }
    test_plants();
    test_obeyed();
    test_sources();
    test_limits();
    test_work();
    test_bare();
    return box_done();
}
