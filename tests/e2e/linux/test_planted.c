/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traps that a run leaves in its root for later calls of Cordon: links on the way to a root, in the
 * place of a file that Cordon writes, and journals that nobody kept.
 */
#include "harness.h"

static void fresh(void)
{
    sh(".",
       "chmod -R u+rwx ws out home; rm -rf ws out home; mkdir -p ws/build/w out/w home; echo old > "
       "out/file");
}

/* A run puts the link there, and the line that follows must leave what is outside as it is. */
static void test_link(const char *what, const char *plant, const char *line, const char *control)
{
    fresh();
    ok(sh("ws", "'%s' run -- sh -ec '%s'", cordon, plant) == 0, "%s: a run leaves a link", what);
    ok(sh("ws", line, cordon) == 125 &&
           sh("out", "grep -qx old file && test ! -e w/new -a ! -e new") == 0,
       "%s is refused, and nothing outside has changed", what);
    fresh();
    ok(sh("ws", control, cordon) == 0, "%s without the link works", what);
}

static void test_links(void)
{
    test_link("a root below a link", "mv build b; ln -s ../out build",
              "'%s' run --root . --root build/w -- touch build/w/new",
              "'%s' run --root . --root build/w -- touch build/w/new");
    test_link("a new root below a link", "mv build b; ln -s ../out build",
              "'%s' run --create-root build/new -- true",
              "'%s' run --create-root build/new -- true");
    test_link("a directory below a link", "mv build b; ln -s ../out build",
              "'%s' run --cwd build/w -- touch new", "'%s' run --cwd build/w -- touch new");
    test_link("the audit file", "ln -s ../out/file audit", "'%s' run --audit audit -- true",
              "'%s' run --audit audit -- true && test -s audit");
    test_link("the audit file below a link", "mv build b; ln -s ../out build",
              "'%s' run --audit build/new -- true",
              "'%s' run --audit build/new -- true && test -s build/new");
    test_link("the audit file below a link, by its whole path", "mv build b; ln -s ../out build",
              "'%s' run --audit \"$PWD/build/new\" -- true",
              "'%s' run --audit \"$PWD/build/new\" -- true && test -s build/new");
    test_link("the report below a link", "mv build b; ln -s ../out build",
              "'%1$s' run --audit ../audit -- true; '%1$s' report ../audit -o build/new",
              "'%1$s' run --audit ../audit -- true; '%1$s' report ../audit -o build/new && test -s "
              "build/new");
    test_link(
        "the report", "ln -s ../out/file page",
        "'%1$s' run --audit ../audit -- true; '%1$s' report ../audit -o page",
        "'%1$s' run --audit ../audit -- true; '%1$s' report ../audit -o page && test -s page");
}

/* A program that goes on elsewhere exchanges a folder for a link, over and over, while a root is
   made below it. */
static void test_exchange(void)
{
    static const char exchange[] =
        "cat > ../exchange <<'END'\nimport ctypes, os\nc = ctypes.CDLL(None)\nwhile not "
        "os.path.exists('../stop'):\n    c.renameat2(-100, b'build', -100, b'link', 2)\nEND\n"
        "ln -s ../out link; rm -f ../stop; python3 ../exchange & ";
    if (sh(".", "command -v python3")) {
        skip("a link that is exchanged", "Python is not installed");
        return;
    }
    fresh();
    int got =
        sh("ws",
           "%s sleep 0.2; n=0; for i in $(seq 60); do '%s' run --create-root build/new -- true; "
           "test -e ../out/new && n=1; rm -rf build/new link/new; done 2> ../said; touch ../stop; "
           "wait; exit $n",
           exchange, cordon);
    ok(got == 0, "a root that is made while a link is exchanged stays inside");
    ok(sh(".", "grep -q 'link' said") == 0, "and some were refused for that link");
    fresh();
    got = sh(
        "ws",
        "%s sleep 0.2; n=1; for i in $(seq 500); do mkdir -p build/new; test -e ../out/new && n=0; "
        "rm -rf build/new link/new; test $n = 0 && break; done; touch ../stop; wait; exit $n",
        exchange);
    ok(got == 0, "control: mkdir follows it");
}

static void test_files(void)
{
    fresh();
    ok(sh("ws", "'%s' run -- ln -s ../out/file learned && '%s' run --learn -o learned -- true",
          cordon, cordon) == 125 &&
           sh("out", "grep -qx old file") == 0,
       "--learn -o writes through no link");
    ok(sh("ws",
          "'%s' run -- sh -c 'mv build b; ln -s ../out build' && '%s' run --learn -o build/new -- "
          "true",
          cordon, cordon) == 125 &&
           sh("out", "test ! -e new") == 0,
       "--learn -o writes below no link");
    ok(sh("ws", "'%s' run --learn -o other -- true && test -s other", cordon) == 0,
       "a new file is written");
    ok(sh("ws", "'%s' run -- mkfifo pipe && timeout 20 '%s' run --audit pipe -- true", cordon,
          cordon) == 125,
       "a pipe that nobody reads is no audit file, and nobody waits");
    ok(sh("ws", "'%s' run --audit /dev/stderr -- true 2>&1 | grep -q '\"start\"'", cordon) == 0,
       "/dev/stderr is one");
}

static void test_journals(void)
{
    fresh();
    static const char set[] = "HOME=$PWD/../home; export HOME; unset XDG_STATE_HOME; mkdir -p "
                              "$HOME/.local/share; cd $HOME/.local";
    ok(sh("ws", "%s; '%s' run -- mkdir -p share/a && test -d share/a", set, cordon) == 0,
       "a run in ~/.local works");
    ok(sh("ws", "%s; '%s' run -- mkdir -p state/cordon/runs/x", set, cordon) != 0 &&
           sh("home", "test ! -e .local/state/cordon/runs") == 0,
       "but makes no journals");
    ok(sh("ws",
          "%s; '%s' run --undo --root share -- touch share/b && ls state/cordon/runs | grep -q .",
          set, cordon) == 0 &&
           sh("ws", "%s; '%s' run -- mv state/cordon/runs share/r", set, cordon) != 0 &&
           sh("ws", "%s; '%s' run -- mv state share/s", set, cordon) != 0,
       "nor moves those that are kept");
}

/* Links from where editors obey files to package folders, where their names are ordinary. */
static void test_packages(void)
{
    static const struct {
        const char *what, *script;
    } links[] = {
        {"a folder of a package", "mkdir -p $n; ln -s $n src"},
        {"a link that comes first", "ln -s $n src; mkdir -p $n"},
        {"by an absolute path", "mkdir -p $n; ln -s $PWD/$n src"},
        {"by another link", "mkdir -p $n; ln -s s node_modules/l; ln -s node_modules/l src"},
        {"by a link that comes later",
         "ln -s node_modules/l src; mkdir -p $n; ln -s s node_modules/l"},
        {"one that is moved there",
         "mkdir -p $n; ln -s node_modules/s node_modules/l; mv node_modules/l src"},
        {"by a second name",
         "mkdir -p $n; ln -s node_modules/s node_modules/l; ln node_modules/l src"},
        {"a path that is not there yet", "ln -s no/../$n src; mkdir -p no $n"},
        {"all of the packages", "mkdir -p $n; ln -s node_modules all; ln -s all/s src"},
    };
    static const struct {
        const char *what, *script, *effect;
    } others[] = {
        {"a package of the workspace",
         "mkdir -p packages/a node_modules; ln -s ../packages/a "
         "node_modules/a",
         "test -d node_modules/a"},
        {"a store of packages",
         "mkdir -p node_modules/.pnpm/a/node_modules/a; ln -s .pnpm/a/node_modules/a "
         "node_modules/a",
         "test -d node_modules/a"},
        {"packages for a folder of the project",
         "mkdir -p node_modules packages/a; ln -s ../../node_modules packages/a/node_modules",
         "test -d packages/a/node_modules"},
        {"an ordinary folder", "mkdir -p lib; ln -s lib src", "test -d src"},
        {"a file that was built",
         "mkdir -p target/release; touch target/release/tool; ln -s target/release/tool tool",
         "test -f tool"},
        {"outside", "ln -s /usr/lib src", "test -d src"},
        {"nowhere", "ln -s nothing src", "test -L src"},
    };
    static const char name[] = "n=node_modules/s; %s; mkdir $n/.vscode";
    char line[400];
    for (size_t i = 0; i < sizeof links / sizeof *links; i++) {
        snprintf(line, sizeof line, name, links[i].script);
        fresh();
        sh("ws", "'%s' run --quiet -- sh -c '%s'", cordon, line);
        bool got = sh("ws", "test -d src/.vscode") == 0;
        fresh();
        sh("ws", "%s", line);
        ok(!got && sh("ws", "test -d src/.vscode") == 0, "refused: a link among packages, %s (%d)",
           links[i].what, got);
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        fresh();
        bool before = sh("ws", "%s", others[i].effect) == 0;
        int code = sh("ws", "'%s' run --quiet -- sh -ec '%s'", cordon, others[i].script);
        ok(code == 0 && !before && sh("ws", "%s", others[i].effect) == 0, "a link to %s (%d)",
           others[i].what, code);
    }
    fresh();
    sh("ws",
       "'%s' run --quiet --unprotect .vscode -- sh -c 'mkdir -p node_modules/s/.claude; ln -s "
       "node_modules/s src'",
       cordon);
    ok(sh("ws", "test -d node_modules/s/.claude && test ! -e src") == 0,
       "refused with a name that is not protected, for the others");
}

int main(void)
{
    if (!box_make("planted-test"))
        return box_done();
    test_links();
    test_exchange();
    test_files();
    test_journals();
    test_packages();
    return box_done();
}
