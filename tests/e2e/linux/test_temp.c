/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --temp=own, the default: a run makes entries in the caller's temp folder and changes what it or
 * an earlier run of its session made. What it must not do there is in tests/escape/linux.
 */
#include "harness.h"

static void fresh(void)
{
    sh(".", "rm -rf ws temp; mkdir -p ws temp; echo old > temp/theirs; echo old > ws/file");
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
    fresh();
    ok(sh("ws",
          "'%s' run --session s1 -- sh -c 'echo a > $TMPDIR/f; mkdir $TMPDIR/d'; '%s' run "
          "--session "
          "s1 -- sh -ec 'echo b >> $TMPDIR/f; echo c > $TMPDIR/d/g; rm $TMPDIR/f'",
          cordon, cordon) == 0 &&
           sh("temp", "test ! -e f -a -s d/g") == 0,
       "a later run of the session changes what an earlier one made");
    sh("ws", "'%s' run --quiet --session s2 -- sh -c 'echo x > $TMPDIR/d/g'", cordon);
    ok(sh("temp", "! grep -q x d/g") == 0, "another session does not");
    sh("temp", "mv d e; mkdir d; echo theirs > d/g");
    sh("ws", "'%s' run --quiet --session s1 -- sh -c 'echo x > $TMPDIR/d/g; echo x > $TMPDIR/e/g'",
       cordon);
    ok(sh("temp", "! grep -q x d/g && grep -q x e/g") == 0,
       "what was made is known by itself, not by its name");
    ok(sh("ws",
          "'%s' run --quiet --session s1 -- sh -c 'echo \"1 1 1\" >> $TMPDIR/cordon-own-*-s1'",
          cordon) != 0,
       "the list of the session is not the run's to change");
    ok(sh("ws", "test \"$(stat -c %%a $TMPDIR/cordon-own-$(id -u)-s1)\" = 600") == 0,
       "and for its owner only");
    sh("temp", "touch -d '25 hours ago' cordon-own-$(id -u)-s1");
    sh("ws", "'%s' run --session s3 -- true", cordon);
    ok(sh("temp", "test ! -e cordon-own-$(id -u)-s1 -a -e cordon-own-$(id -u)-s3") == 0,
       "it is removed when it was not used for a day");
    ok(sh("ws", "'%s' run --session ../x -- true", cordon) == 125, "an id is not a path");
    ok(sh("ws", "'%s' run --temp=session=a --session b -- true", cordon) == 125,
       "two sessions are refused");
    ok(sh("ws", "'%s' run --temp=session=a --session a -- true; rm -rf $TMPDIR/cordon-session-*",
          cordon) == 0,
       "the same one twice is not");
    sh("temp", "ln -s theirs cordon-own-$(id -u)-l");
    ok(sh("ws", "'%s' run --session l -- true", cordon) == 125,
       "a link in the place of the list is refused");
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

int main(void)
{
    if (!box_make("temp-test"))
        return box_done();
    test_allowed();
    test_sessions();
    test_places();
    return box_done();
}
