/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --temp=own, the default: a run makes entries in the caller's temp folder and changes what it or
 * an earlier run of its session made. What it must not do there is in tests/escape/linux.
 */
#include "harness.h"

static void fresh(void)
{
    sh(".", "chmod -R u+rwx temp; rm -rf ws temp; mkdir -p ws temp; echo old > temp/theirs; echo "
            "old > ws/file");
}

static const struct {
    const char *what, *script;
} allowed[] = {
    {"a new file, changed again", "echo a > $T/n && echo b >> $T/n && grep -q b $T/n"},
    {"mktemp", "f=$(mktemp) && echo x > $f && rm $f"},
    {"a new folder and all below", "mkdir -p $T/d/e && echo x > $T/d/e/f && rm -r $T/d"},
    {"renamed", "echo x > $T/a && mv $T/a $T/b && echo y >> $T/b && rm $T/b"},
    {"renamed over an own file", "echo x > $T/a; echo y > $T/b; mv -f $T/a $T/b && grep -q x $T/b"},
    {"a link", "ln -s theirs $T/l && rm $T/l"},
    {"a second name", "echo x > $T/a && ln $T/a $T/b && echo y > $T/b && rm $T/a && echo z > $T/b"},
    {"a pipe", "mkfifo $T/p && rm $T/p"},
    {"mode and times", "echo x > $T/a && chmod 600 $T/a && touch -d 2001-01-01 $T/a"},
    {"an unnamed file that gets a name", "$P tmpfile $T $T/u && echo y >> $T/u"},
    {"a socket, bound and reached", "$P unix-pair $T/s && rm $T/s"},
    {"a file moved in from the workspace", "mv file $T/f && echo x >> $T/f && mv $T/f file"},
    {"exchanged with one of the workspace",
     "echo x > $T/f; $P exchange $T/f file && echo y >> $T/f"},
    {"what is there can be read", "grep -q old $T/theirs"},
    {"a folder of theirs can be listed", "ls $T | grep -q theirs"},
};

static void test_allowed(void)
{
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++) {
        fresh();
        ok(sh("ws", "T='%s/temp' P='%s'; export T P; '%s' run --quiet -- sh -ec '%s'", top, probe,
              cordon, allowed[i].script) == 0,
           "%s", allowed[i].what);
    }
}

static void test_sessions(void)
{
    char temp[1100];
    snprintf(temp, sizeof temp, "%s/temp", top);
    setenv("T", temp, 1);
    fresh();
    ok(sh("ws",
          "'%s' run --session s1 -- sh -c 'echo a > $T/f; mkdir $T/d'; '%s' run "
          "--session "
          "s1 -- sh -ec 'echo b >> $T/f; echo c > $T/d/g; rm $T/f'",
          cordon, cordon) == 0 &&
           sh("temp", "test ! -e f -a -s d/g") == 0,
       "a later run of the session changes what an earlier one made");
    sh("ws", "'%s' run --quiet --session s2 -- sh -c 'echo x > $T/d/g'", cordon);
    ok(sh("temp", "! grep -q x d/g") == 0, "another session does not");
    sh("temp", "mv d e; mkdir d; echo theirs > d/g");
    sh("ws", "'%s' run --quiet --session s1 -- sh -c 'echo x > $T/d/g; echo x > $T/e/g'", cordon);
    ok(sh("temp", "! grep -q x d/g && grep -q x e/g") == 0,
       "what was made is known by itself, not by its name");
    ok(sh("ws", "'%s' run --quiet --session s1 -- sh -c 'echo \"1 1 1\" >> $T/cordon-own-*-s1'",
          cordon) != 0,
       "the list of the session is not the run's to change");
    ok(sh("ws", "test \"$(stat -c %%a $T/cordon-own-$(id -u)-s1)\" = 600") == 0,
       "and for its owner only");
    sh("temp", "touch -d '25 hours ago' cordon-own-$(id -u)-s1");
    sh("ws", "'%s' run --session s3 -- true", cordon);
    ok(sh("temp", "test ! -e cordon-own-$(id -u)-s1 -a -e cordon-own-$(id -u)-s3") == 0,
       "it is removed when it was not used for a day");
    ok(sh("ws", "'%s' run --session ../x -- true", cordon) == 125, "an id is not a path");
    ok(sh("ws", "'%s' run --temp=session=a --session b -- true", cordon) == 125,
       "two sessions are refused");
    ok(sh("ws", "'%s' run --temp=session=a --session a -- true; rm -rf $T/cordon-session-*",
          cordon) == 0,
       "the same one twice is not");
    sh("temp", "ln -s theirs cordon-own-$(id -u)-l");
    ok(sh("ws", "'%s' run --session l -- true", cordon) == 125,
       "a link in the place of the list is refused");
}

/*
 * Programs keep caches in TMPDIR under one name for each user. What a run leaves there of compiled
 * code goes with it; where such a cache is there already, and in a session, TMPDIR is a folder of
 * the run's own.
 */
static void test_caches(void)
{
    static const struct {
        const char *what, *name;
        bool stays;
    } caches[] = {{"Jest", "jest_$B", false},
                  {"tsx", "tsx-$(id -u)", false},
                  {"Playwright", "playwright-transform-cache-$(id -u)", false},
                  {"pytest", "pytest-of-$LOGNAME", true}};
    static const char *const forms[] = {"mkdir -p %s; echo x > %s/c",
                                        "ln -s $PWD %s 2>/dev/null; test -e %s/.",
                                        "mkdir -p d; mv d %s 2>/dev/null; test -d %s",
                                        "mkdir -p %s; echo x > %s/c; chmod 311 $TMPDIR/* || true"};
    char script[300], name[100];
    setenv("LOGNAME", "somebody", 1);
    setenv("B", "", 1);
    sh(".", "u=$(id -u); b=; while :; do d=$((u%%36)); if [ $d -gt 9 ]; then d=$(printf "
            "\\\\$(printf %%o "
            "$((d+87)))); fi; b=$d$b; u=$((u/36)); [ $u = 0 ] && break; done; echo $b > b36");
    sh(".", "cat b36");
    for (size_t i = 0; i < sizeof caches / sizeof *caches; i++)
        for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
            fresh();
            snprintf(name, sizeof name, "$TMPDIR/%s", caches[i].name);
            snprintf(script, sizeof script, forms[f], name, name);
            bool worked = true;
            for (int run = 0; run < 2; run++)
                worked = worked && sh("ws", "B=$(cat ../b36); export B; '%s' run -- sh -ec '%s'",
                                      cordon, script) == 0;
            ok(worked, "%s finds a place for its cache in two runs, form %zu", caches[i].what, f);
            ok((sh("temp", "B=$(cat ../b36); test -e %s -o -L %s", caches[i].name,
                   caches[i].name) == 0) == caches[i].stays,
               "it %s", caches[i].stays ? "stays, as it holds no code" : "does not stay");
        }
}

static void test_own_folder(void)
{
    static const char *const changes[] = {"rmdir $TMPDIR", "mv $TMPDIR $T/away",
                                          "chmod 755 $TMPDIR", "touch -d 2001-01-01 $TMPDIR"};
    fresh();
    ok(sh("ws", "'%s' run -- sh -c 'test $TMPDIR = $T'", cordon) == 0,
       "without such a cache TMPDIR stays as it is");
    sh("temp", "mkdir tsx-$(id -u); echo theirs > tsx-$(id -u)/c");
    for (int i = 0; i < 2; i++)
        ok(sh("ws",
              "'%s' run -- sh -ec 'mkdir $TMPDIR/tsx; echo x > $TMPDIR/tsx/c; echo $TMPDIR > "
              "where; "
              "test $TMP = $TMPDIR -a $TEMP = $TMPDIR; test $(stat -c %%a $TMPDIR) = 700; echo x > "
              "$T/literal$$; rm $T/literal$$'",
              cordon) == 0 &&
               sh("ws", "case $(cat where) in $T/cordon-run-*) ;; *) exit 1;; esac; test ! -e "
                        "$(cat where)") == 0,
           "run %d: TMPDIR is the run's own and goes with it", i + 1);
    ok(sh("temp", "grep -q theirs tsx-$(id -u)/c") == 0, "what was there is untouched");
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
        ok(sh("ws", "'%s' run --quiet -- sh -c '%s'", cordon, changes[i]) != 0 &&
               sh("ws", "'%s' run --quiet -- sh -c 'mkdir $TMPDIR/d && rmdir $TMPDIR/d'", cordon) ==
                   0,
           "the folder itself stays: %s", changes[i]);
    ok(sh("ws",
          "'%s' run -- sh -ec 'echo $TMPDIR > where; \"%s\" run -- sh -ec \"echo \\$TMPDIR > "
          "inner; echo x > "
          "\\$TMPDIR/f\"; cmp where inner; test -s $TMPDIR/f'",
          cordon, cordon) == 0,
       "a run inside uses the same");
    ok(sh("ws", "'%s' run -- sh -c 'mkdir $TMPDIR/.claude'", cordon) != 0,
       "names that programs obey are protected there");
    ok(sh("ws", "'%s' run --mode read-only -- sh -c 'test $TMPDIR = $T'", cordon) == 0,
       "where nothing can be written TMPDIR stays");
    sh("ws",
       "rm -f where; '%s' run -- sh -c 'echo x > $TMPDIR/f; echo $TMPDIR > where; sleep 30' & "
       "s=$!; i=0; while [ ! "
       "-s where -a $i -lt 300 ]; do sleep 0.02; i=$((i+1)); done; kill -9 $s; wait $s; i=0; while "
       "[ -e \"$(cat "
       "where)\" -a $i -lt 400 ]; do '%s' run -- true; i=$((i+1)); done",
       cordon, cordon);
    ok(sh("ws", "test -s where -a ! -e \"$(cat where)\"") == 0,
       "what a killed run left is removed by one of the next");
    fresh();
    ok(sh("ws",
          "'%s' run --session t1 -- sh -ec 'mkdir $TMPDIR/jest; echo x > $TMPDIR/jest/c' && '%s' "
          "run "
          "--session t1 -- sh -ec 'echo y >> $TMPDIR/jest/c; grep -q x $TMPDIR/jest/c' && test -s "
          "$T/cordon-session-$(id -u)-t1/jest/c",
          cordon, cordon) == 0,
       "a session has a folder that stays");
    ok(sh("ws",
          "'%s' run --quiet --session t2 -- sh -c 'echo z > $T/cordon-session-$(id -u)-t1/jest/c'",
          cordon) != 0 &&
           sh("ws", "'%s' run --quiet -- sh -c 'echo z > $T/cordon-session-$(id -u)-t1/jest/c'",
              cordon) != 0,
       "which is no other run's to change");
}

static void test_places(void)
{
    fresh();
    ok(sh("ws", "TMPDIR=$HOME '%s' run -- true 2> ../said", cordon) == 125 &&
           sh(".", "grep -q 'temp folder.*home.*--temp=private' said") == 0,
       "a home as temp is refused, with a remedy");
    ok(sh("ws", "TMPDIR=$HOME '%s' run --temp=private -- true", cordon) == 0, "which works");
    ok(sh("ws", "TMPDIR=$HOME '%s' run --mode read-only -- true", cordon) == 0,
       "where temp is not written it does not matter");
    ok(sh("ws", "ln -s $TMPDIR ../link; TMPDIR=%s/link '%s' run -- true", top, cordon) == 125,
       "a link as temp is refused");
    ok(sh("ws", "'%s' run --temp=shared -- sh -c 'echo x > $TMPDIR/theirs'", cordon) == 0 &&
           sh("temp", "grep -q x theirs") == 0,
       "--temp=shared: what was there can be changed");
    fresh();
    ok(sh("temp", "mkdir w; cd w; '%s' run -- sh -c 'echo x > f; echo x > ../n' && test -s f",
          cordon) == 0,
       "a workspace in temp works");
    sh("temp", "'%s' run --quiet --root . -- sh -c 'echo x > theirs'", cordon);
    ok(sh("temp", "grep -q x theirs") == 0, "temp as a root is a root");
    fresh();
    ok(sh("ws", "'%s' why write $TMPDIR/theirs | grep -q temp.foreign", cordon) == 0 &&
           sh("ws", "'%s' why write $TMPDIR/new/er", cordon) == 0 &&
           sh("ws", "'%s' why create $TMPDIR/tmux-0 | grep -q temp.trusted", cordon) == 0,
       "why says the same");
}

/* Semaphores with a name lie in /dev/shm: a run has its own, and no other file there. */
static void test_semaphores(void)
{
    static const struct {
        const char *what, *options, *script;
        bool works;
    } rows[] = {
        {"a new one, changed, named twice and removed", "",
         "echo x > $S.a; echo y >> $S.a; ln $S.a $S.b; rm $S.a; echo z >> $S.b; rm $S.b", true},
        {"with a private temp folder, too", "--temp=private", "echo x > $S.a; rm $S.a", true},
        {"somebody else's is read", "", "grep -q old $S.theirs", true},
        {"and not changed", "", "echo x >> $S.theirs", false},
        {"nor removed", "", "rm $S.theirs", false},
        {"nor named again", "", "ln $S.theirs $S.c", false},
        {"nor replaced", "", "echo x > $S.a; mv -f $S.a $S.theirs", false},
        {"no folder of such a name", "", "mkdir $S.d", false},
        {"no link", "", "ln -s /etc/passwd $S.l", false},
        {"nothing below a folder of such a name", "", "echo x > $S.folder/x", false},
        {"no other file beside them", "", "echo x > /dev/shm/cordon-test.$$", false},
        {"no mode of somebody else's", "", "chmod 600 $S.theirs", false},
        {"none in read-only mode", "--mode read-only", "echo x > $S.a", false},
    };
    char name[100];
    snprintf(name, sizeof name, "/dev/shm/sem.cordon-test-%d", (int)getpid());
    setenv("S", name, 1);
    if (sh(".", "echo old > $S.theirs && mkdir $S.folder") != 0) {
        skip("semaphores", "/dev/shm is closed here");
        return;
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int code =
            sh("ws", "'%s' run --quiet %s -- sh -ec '%s'", cordon, rows[i].options, rows[i].script);
        ok((code == 0) == rows[i].works, "a semaphore: %s", rows[i].what);
        ok(sh(".", "test \"$(cat $S.theirs)\" = old && test $(ls -d $S* | wc -l) = 2") == 0,
           "and nothing is left: %s", rows[i].what);
        sh(".", "rm -rf $S.a $S.b $S.c $S.d $S.l");
    }
    ok(sh("ws", "'%s' why create $S.new && ! '%s' why write $S.theirs", cordon, cordon) == 0,
       "why says the same of semaphores");
    sh(".", "rm -rf $S.theirs $S.folder");
}

int main(void)
{
    if (!box_make("temp-test"))
        return box_done();
    test_allowed();
    test_sessions();
    test_caches();
    test_own_folder();
    test_places();
    test_semaphores();
    return box_done();
}
