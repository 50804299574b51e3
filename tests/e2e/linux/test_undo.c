/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cordon run --undo, changes, undo and runs, end to end. The model: a folder is changed at random
 * by several processes, taken back, and must be the same folder in every byte, mode and time.
 * CORDON_SOAK has 10,000 such sequences; CORDON_UNDO_SEED=N or N-M runs those alone,
 * CORDON_UNDO_KILLS=N as many kills of each kind, N-M those from N to before M, and
 * CORDON_UNDO_TEST=NAME one test of the table at the end.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>

#include "undo.h"

static bool sequence(unsigned seed)
{
    fill_folder(seed + 500000);
    char *before = snapshot_of("ws"), *after = NULL;
    int ran = sh("ws", "'%s' run --undo --quiet -- '%s' %u %u %u", cordon, undo_probe, seed,
                 5 + seed % 60, 1 + seed % 3);
    after = snapshot_of("ws");
    bool changed = before && after && strcmp(before, after) != 0;
    int code =
        changed ? sh("ws", "'%s' undo > ../said 2>&1; code=$?; cp ../said ../said.last; exit $code",
                     cordon)
                : 0;
    bool good = ran == 0 && code == 0 && before && is_same(before, "ws");
    if (!good)
        note("seed %u: run %d, undo %d", seed, ran, code);
    /* The undo is a run: taken back, everything is as the command left it. */
    if (good && changed && seed % 4 == 0) {
        good = sh("ws", "'%s' undo $('%s' runs | head -1 | cut -d' ' -f1)", cordon, cordon) == 0 &&
               is_same(after, "ws");
        if (!good)
            note("seed %u: the undo taken back", seed);
    }
    free(before);
    free(after);
    sh(".", "'%s' runs --drop all", cordon);
    return good;
}

static void test_model(void)
{
    const char *only = getenv("CORDON_UNDO_SEED"), *soak = getenv("CORDON_SOAK");
    unsigned first = 1, last = soak ? 10000 : 40 / (unsigned)box_slow() + 1, bad = 0, done = 0;
    if (only && sscanf(only, "%u-%u", &first, &last) == 1)
        last = first;
    for (unsigned seed = first; seed <= last && bad < 5; seed++, done++)
        bad += !sequence(seed);
    ok(bad == 0, "%u random sequences, each taken back: the folder is the same", done);
}

/* Several runs, taken back one after the other. */
static void test_in_order(void)
{
    char *states[4];
    bool good = true;
    fill_folder(77);
    for (int i = 0; i < 4; i++) {
        states[i] = snapshot_of("ws");
        sh("ws", "'%s' run --undo --quiet -- '%s' %d 40 2", cordon, undo_probe, 900 + i);
    }
    for (int i = 3; i >= 0; i--) {
        int code = sh("ws", "'%s' undo", cordon);
        good = code == 0 && is_same(states[i], "ws") && good;
        if (!good)
            note("run %d: %d", i, code);
        free(states[i]);
    }
    ok(good, "four runs are taken back in order without a conflict");
    fresh("ws");
    sh("ws", "echo one > a; echo one > b");
    sh("ws", "'%s' run --undo --quiet -- sh -c 'echo two > a'", cordon);
    sh("ws", "'%s' run --undo --quiet -- sh -c 'mv a c; mv c a; echo two > b'", cordon);
    ok(sh("ws", "'%1$s' undo && '%1$s' undo && grep -qx one a && grep -qx one b", cordon) == 0,
       "a file that the later run only renamed to and fro is no conflict for the earlier one");
    fresh("ws");
    sh("ws", "echo one > a");
    sh("ws",
       "'%1$s' run --undo --quiet -- sh -c 'echo two > a'; '%1$s' run --undo --quiet -- ln a c",
       cordon);
    ok(sh("ws", "'%1$s' undo && sleep 0.02 && '%1$s' undo && grep -qx one a", cordon) == 0,
       "nor is one that the later run gave a further name");
    sh(".", "'%s' runs --drop all", cordon);
}

static void start_simple(void)
{
    fresh("ws");
    sh("ws", "mkdir src; echo one > a; echo two > src/b; echo three > c; touch -d @1500000000 . a "
             "c src src/b");
}

static void test_commands(void)
{
    start_simple();
    char *before = snapshot_of("ws");
    sh("ws",
       "'%s' run --undo -- sh -c 'echo more >> a; rm c; mkdir n; echo x > n/y; mv src/b src/q' 2> "
       "../said",
       cordon);
    ok(sh(".", "grep -qx 'cordon: 2 created, 1 modified, 1 deleted, 1 renamed; take back with: "
               "cordon undo' said") == 0,
       "the summary counts the changes");
    sh("ws",
       "mkdir -p ../elsewhere; '%s' run --undo --root ../elsewhere -- touch ../elsewhere/x 2> "
       "../said2",
       cordon);
    ok(sh("ws",
          "'%s' $(sed -n 's/.*take back with: cordon //p' ../said2) && ! test -e "
          "../elsewhere/x",
          cordon) == 0,
       "another root: the command that is printed takes it back");
    ok(sh("ws",
          "'%s' changes > ../out && grep -qx 'modified  a +1 -0' ../out && grep -qx 'deleted   c "
          "+0 -1' ../out && "
          "grep -qx 'renamed   src/q (was src/b)' ../out && grep -qx 'created   n/y +1 -0' ../out",
          cordon) == 0,
       "changes names them, with the lines");
    ok(sh("ws",
          "'%s' changes --diff a > ../out && grep -qx '+more' ../out && ! grep -q three ../out",
          cordon) == 0,
       "changes --diff shows the lines of one file");
    ok(sh("ws",
          "'%s' changes --json > ../out && python3 -c 'import json; d=json.load(open(\"../out\")); "
          "assert d[\"deleted\"]==1 and len(d[\"changes\"])==5'",
          cordon) == 0,
       "changes --json");
    char *after = snapshot_of("ws");
    ok(sh("ws",
          "'%s' undo --dry-run > ../out && grep -qx 'would restore c' ../out && "
          "grep -qx 'would remove n/y' ../out",
          cordon) == 0 &&
           is_same(after, "ws"),
       "undo --dry-run says what it would do and does nothing");
    ok(sh("ws",
          "'%s' undo --dry-run --json > ../out && python3 -c 'import json; "
          "r=json.load(open(\"../out\"))[\"runs\"][0]; assert r[\"dry\"] and len(r[\"items\"]) and "
          "all(i[\"dry\"] is True for i in r[\"items\"])'",
          cordon) == 0,
       "undo --dry-run --json marks every item as one that would be");
    ok(sh("ws",
          "'%s' undo --json c > ../out && python3 -c 'import json; "
          "r=json.load(open(\"../out\"))[\"runs\"][0]; assert \"dry\" not in r and \"dry\" not in "
          "r[\"items\"][0]' && '%s' undo $('%s' runs | head -1 | cut -d' ' -f1) && test ! -e c",
          cordon, cordon, cordon) == 0,
       "control: without --dry-run none is");
    ok(sh("ws", "'%s' undo c", cordon) == 0 && sh("ws", "test -f c -a -f n/y -a -f src/q") == 0,
       "undo PATH restores that alone");
    ok(sh("ws", "'%s' undo", cordon) == 0 && is_same(before, "ws"), "undo restores the rest");
    ok(sh("ws", "'%s' undo", cordon) == 125, "then nothing is left to take back");
    ok(sh("ws", "'%s' undo 20200101-000000-abcd 2>&1 | grep -q 'no run'", cordon) == 0,
       "a run that does not exist");
    sh(".", "'%s' runs --drop all", cordon);
    ok(sh("ws", "'%s' run --undo -- cat a && test -z \"$('%s' runs)\"", cordon, cordon) == 0,
       "a run that changes nothing leaves no journal");
    ok(sh("ws", "'%s' run -- sh -c 'echo x > z' && test -z \"$('%s' runs)\"", cordon, cordon) == 0,
       "nor does one without --undo");
    free(before);
    free(after);
}

/* A file that was renamed and changed: both are shown. */
static void test_renamed(void)
{
    fresh("ws");
    sh("ws", "seq 5 > a; seq 5 > b; printf '\\0one' > c; mkdir d; seq 3 > d/e");
    sh("ws",
       "'%s' run --undo --quiet -- sh -c 'mv a a2; echo more >> a2; mv b b2; mv c c2; echo x >> "
       "c2; "
       "mv d d2; sed -i 1d d2/e; echo z >> b2; seq 5 > b2'",
       cordon);
    ok(sh("ws",
          "'%s' changes > ../out && grep -qx 'renamed   a2 (was a) +1 -0' ../out && grep -qx "
          "'renamed   c2 (was c) 6 bytes' ../out && grep -qx 'renamed   d2/ (was d)' ../out",
          cordon) == 0,
       "changes counts the lines of a file that was renamed and changed");
    ok(sh("ws", "grep -qx 'renamed   b2 (was b)' ../out") == 0,
       "control: one that was written to and is the same was only renamed");
    ok(sh("ws",
          "'%s' changes --diff a2 > ../out && grep -qx -- '--- a/a' ../out && grep -qx -- '+++ "
          "b/a2' ../out && grep -qx +more ../out",
          cordon) == 0,
       "changes --diff shows its lines");
    ok(sh("ws",
          "'%s' changes --json > ../out && python3 -c 'import json; "
          "c={i[\"path\"]:i for i in json.load(open(\"../out\"))[\"changes\"]}; assert "
          "c[\"a2\"][\"added\"]==1 and c[\"a2\"][\"removed\"]==0 and \"added\" not in c[\"b2\"]'",
          cordon) == 0,
       "and changes --json");
    sh(".", "'%s' runs --drop all", cordon);
}

/* Taken back piece by piece. */
static void test_parts(void)
{
    fresh("ws");
    sh("ws",
       "mkdir -p src/deep; echo one > src/a; echo two > src/b; ln -s a src/link; echo three > "
       "src/deep/c; find . -exec touch -h -d @1500000000 {} +");
    char *first = snapshot_of("ws");
    sh("ws", "'%s' run --undo --quiet -- sh -c 'echo more >> src/a'", cordon);
    char *second = snapshot_of("ws");
    const char *const remove = "'%s' run --undo --quiet -- rm -rf src";
    sh("ws", remove, cordon);
    ok(sh("ws", "'%s' undo src/a", cordon) == 0 && sh("ws", "test -f src/a -a ! -e src/b") == 0,
       "undo of one file of a folder that is gone");
    ok(sh("ws", "'%s' undo 2> ../said", cordon) == 0 && is_same(second, "ws") &&
           sh(".", "grep -q ': 4 restored, 0 left alone' said") == 0,
       "undo restores what was beside it, and the folder that stands is no conflict");
    sh("ws", remove, cordon);
    ok(sh("ws", "'%s' undo src", cordon) == 0 && is_same(second, "ws"), "undo of a whole folder");
    ok(sh("ws", "'%s' undo", cordon) == 0 && is_same(first, "ws"),
       "that was all: undo goes on to the run before");
    free(second);
    sh("ws", "'%s' run --undo --quiet -- rm -rf src", cordon);
    sh("ws", "mkdir -p src; echo mine > src/a; echo new > src/n");
    ok(sh("ws", "'%s' undo 2> ../said", cordon) == 1 &&
           sh(".", "grep -q 'left alone: src/a: something new has its name' said") == 0 &&
           sh("ws", "grep -qx mine src/a && grep -qx new src/n && grep -qx two src/b && grep -qx "
                    "three src/deep/c") == 0,
       "what somebody made there since stays, and the rest is restored beside it");
    sh(".", "'%s' runs --drop all; rm -rf ws; mkdir -p ws/src; echo one > ws/src/a", cordon);
    sh("ws", "'%s' run --undo --quiet -- rm -rf src", cordon);
    sh("ws", "echo mine > src");
    ok(sh("ws", "'%s' undo 2> ../said", cordon) == 1 &&
           sh(".", "grep -q 'left alone: src/: something new has its name' said") == 0 &&
           sh("ws", "grep -qx mine src; code=$?; rm src; exit $code") == 0,
       "a file that has the name of a folder is left alone");
    ok(sh("ws", "'%s' undo", cordon) == 0 && sh("ws", "grep -qx one src/a") == 0,
       "and once it is gone, the folder comes back");
    free(first);
    sh(".", "'%s' runs --drop all", cordon);
}

/* A word that is neither a run nor a name that the run changed. */
static void test_unknown(void)
{
    start_simple();
    sh("ws", "'%s' run --undo --quiet -- sh -c 'echo more >> a; mv c d'", cordon);
    sh("ws", "'%s' runs > ../runs", cordon);
    static const char *const words[] = {
        "undo nosuch",           "undo 12345",     "undo a nosuch",         "undo src",
        "undo --dry-run nosuch", "changes nosuch", "changes --json a 12345"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        ok(sh("ws",
              "'%s' %s > ../out 2> ../said; test $? = 125 && grep -Eqx 'cordon: "
              "\"(nosuch|12345|src)\" "
              "is neither a run nor a path that run [-0-9a-f]+ changed' ../said && '%s' runs | "
              "cmp - ../runs && grep -qx more a",
              cordon, words[i], cordon) == 0,
           "%s: said, and nothing is changed or written", words[i]);
    ok(sh("ws", "'%s' changes c | grep -qx 'renamed   d (was c)'", cordon) == 0,
       "control: changes knows the name from before");
    ok(sh("ws", "'%s' undo a && ! grep -q more a && ! '%s' runs | cmp -s - ../runs", cordon,
          cordon) == 0,
       "control: undo of a name that the run changed");
    sh("ws", "'%s' runs > ../runs", cordon);
    ok(sh("ws", "'%s' undo a && '%s' runs | cmp - ../runs", cordon, cordon) == 0,
       "undo of what is back already leaves no journal");
    sh(".", "'%s' runs --drop all", cordon);
}

static void test_conflicts(void)
{
    start_simple();
    sh("ws", "'%s' run --undo -- sh -c 'echo more >> a; echo more >> c; mkdir n; rm src/b'",
       cordon);
    sh("ws", "echo mine > c; echo new > n/mine; echo mine > src/b");
    ok(sh("ws", "'%s' undo 2> ../said", cordon) == 1, "conflicts: exit code 1");
    ok(sh(".", "grep -q 'left alone: c: it was changed after the run' said && "
               "grep -q 'left alone: n/: something new is in it' said && "
               "grep -q 'left alone: src/b: something new has its name' said") == 0,
       "each is named");
    ok(sh("ws", "grep -qx mine c && grep -qx mine src/b && grep -qx new n/mine && test \"$(cat "
                "a)\" = one") == 0,
       "and not touched, while the rest is restored");
    sh(".", "'%s' runs --drop all", cordon);

    start_simple();
    sh("ws", "'%s' run --undo -- sh -c 'echo more >> c; rm src/b'", cordon);
    sh("ws", "echo mine > c; echo mine > src/b");
    ok(sh("ws", "'%s' undo --force", cordon) == 0 &&
           sh("ws", "test \"$(cat c)\" = three -a \"$(cat src/b)\" = two") == 0,
       "--force overrides");
    ok(sh("ws", "'%s' undo $('%s' runs | head -1 | cut -d' ' -f1)", cordon, cordon) == 0 &&
           sh("ws", "grep -qx mine c && grep -qx mine src/b") == 0,
       "and can be taken back itself");
    sh(".", "'%s' runs --drop all", cordon);

    start_simple();
    sh("ws", "chmod 640 c; touch -d 2020-01-01 c; '%s' run --undo -- sh -c 'echo more >> c'",
       cordon);
    sh("ws", "rm c");
    ok(sh("ws", "'%s' undo", cordon) == 1 && sh("ws", "test ! -e c") == 0,
       "a changed file that somebody deleted since is left alone");
    ok(sh("ws", "'%s' undo --force", cordon) == 0 &&
           sh("ws", "test \"$(cat c)\" = three -a \"$(stat -c '%%a %%Y' c)\" = "
                    "\"640 $(date -d 2020-01-01 +%%s)\"") == 0,
       "and comes back with --force");
    sh(".", "'%s' runs --drop all", cordon);
}

/* What was restored once is done: another undo of the same run leaves it alone. */
static void test_again(void)
{
    static const struct {
        const char *what, *script, *then;
        int code;
    } rows[] = {
        {"a part, then all", "sed -i s/o/0/ a c", "'%s' undo a && '%s' undo", 0},
        {"a part twice, then all", "cp a t; mv t a; echo 2 > c",
         "'%s' undo a; '%s' undo a; \"$C\" undo", 0},
        {"all of it twice, by its name", "rm a; echo 2 > a; sed -i s/t/T/ c",
         "ID=$(ls ../state/cordon/runs | grep ^2); '%s' undo $ID; '%s' undo $ID", 0},
        {"a part left alone, then forced", "sed -i s/o/0/ a c",
         "echo mine > c; '%s' undo; '%s' undo; \"$C\" undo 2>&1 | grep -e --force; \"$C\" undo "
         "--force",
         0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        start_simple();
        char *before = snapshot_of("ws"), then[600];
        sh("ws", "'%s' run --undo --quiet -- sh -c '%s'", cordon, rows[i].script);
        char *changed = snapshot_of("ws");
        snprintf(then, sizeof then, rows[i].then, cordon, cordon);
        int code = sh("ws", "C='%s'; %s", cordon, then);
        char *after = snapshot_of("ws");
        ok(code == rows[i].code && strcmp(before, after) == 0 && strcmp(before, changed) != 0,
           "%s: restored once (%d)", rows[i].what, code);
        free(before);
        free(changed);
        free(after);
        sh(".", "'%s' runs --drop all", cordon);
    }
}

/* A root in which nothing was changed may be gone. */
static void test_unused_root(void)
{
    start_simple();
    sh(".", "mkdir spare");
    sh("ws",
       "'%s' run --undo --quiet --root . --root ../spare -- sh -c 'echo 2 > a'; rmdir ../spare",
       cordon);
    ok(sh("ws", "'%s' changes | grep -q a && '%s' undo && grep -qx one a", cordon, cordon) == 0,
       "a root that is gone and was not changed is not needed");
    sh(".", "mkdir spare");
    sh("ws",
       "'%s' run --undo --quiet --root . --root ../spare -- sh -c 'echo 2 > a; echo > "
       "../spare/f'; rm -r ../spare",
       cordon);
    ok(sh("ws", "'%s' undo 2>&1 | grep -q 'is gone'", cordon) == 0 && sh("ws", "grep -qx 2 a") == 0,
       "control: one that was changed is");
    sh(".", "'%s' runs --drop all", cordon);
}

/* The times of a file are later than the run, and it still holds what the run wrote. */
static void test_touched(void)
{
    start_simple();
    sh("ws", "echo four > d; echo five > e");
    char *before = snapshot_of("ws");
    sh("ws",
       "'%s' run --undo --quiet -- sh -c 'echo more >> a; echo 3 > c; echo new > n; mv src/b "
       "src/q; "
       "echo x > d; echo x > e'",
       cordon);
    sh("ws", "sleep 0.02; touch a src/q n; cp c t; mv t c; echo y > d; chmod 600 e");
    ok(sh("ws", "'%s' undo 2> ../said", cordon) == 1 &&
           sh("ws", "grep -qx one a && grep -qx three c && grep -qx two src/b && test ! -e n") == 0,
       "files that were touched, or rewritten with the same bytes, are restored");
    ok(sh("ws", "grep -qx y d && grep -qx x e") == 0 &&
           sh(".", "grep -c 'it was changed after the run' said | grep -qx 2") == 0,
       "control: another content of the same size is left alone, and so is another mode");
    sh("ws", "'%s' undo --force && touch -d @1500000000 src/b", cordon);
    ok(sh("ws", "grep -qx four d && grep -qx five e") == 0, "control: --force restores them");
    sh(".", "'%s' runs --drop all", cordon);
    sh("ws",
       "'%s' run --undo --quiet -- sh -c 'echo more >> a'; sleep 0.02; touch a; chmod 600 "
       "../state/cordon/runs/2*/ends; truncate -s 0 ../state/cordon/runs/2*/ends",
       cordon);
    ok(sh("ws", "'%s' undo", cordon) == 1 && sh("ws", "grep -qx more a") == 0,
       "without the hashes such a file counts as changed");
    free(before);
    sh(".", "'%s' runs --drop all", cordon);
    start_simple();
    sh("ws",
       "git init -q; git add .; git -c user.name=a -c user.email=a@b.test commit -qm one; ln -s a "
       "l; "
       "ln -s a m; '%s' run --undo --quiet -- sh -c 'echo more >> a; rm c; echo 2 > src/b; ln -sfn "
       "c "
       "l; ln -sfn c m'",
       cordon);
    sh("ws",
       "sleep 0.02; touch -h l; ln -sfn src m; git -c user.name=a -c user.email=a@b.test stash "
       "-q && grep -qx one a && git stash pop -q && grep -qx more a && echo 3 > src/b");
    ok(sh("ws", "'%s' undo 2> ../said", cordon) == 1 &&
           sh("ws", "grep -qx one a && grep -qx three c && test $(readlink l) = a") == 0,
       "files that git put away and brought back are restored, and a link that was touched");
    ok(sh("ws", "grep -qx 3 src/b && test $(readlink m) = src") == 0 &&
           sh(".", "grep -q 'left alone: src/b: ' said && grep -q 'left alone: m: ' said") == 0,
       "control: not those that somebody changed afterwards");
    sh(".", "'%s' runs --drop all", cordon);
}

#define COPY_BEGINS \
    "until test -n \"$(ls ../state/cordon/runs/2*/objects 2> /dev/null)\"; do :; done; "

/* While a large file is being copied, other calls do not wait, and those on that file do. They are
   made when the copy has begun, however fast the disk is. */
static void test_long_copies(void)
{
    static const char *const what = "long copies";
    fresh("ws");
    sh("ws", "head -c 400000000 /dev/zero > big; head -c 2000000 /dev/urandom >> big; echo one > "
             "small; chmod 644 big; find . -exec touch -d @1500000000 {} +");
    if (sh("ws", "cp --reflink=always big ../clone && rm ../clone") == 0) {
        skip(what, "this file system clones files");
        return;
    }
    char *before = snapshot_of("ws");
    int code = sh("ws",
                  "'%s' run --undo -- sh -c '(exec 3<> big; date +%%s%%N > t.big; printf x >&3) & "
                  "until test -e ../temp/go; do :; done; (chmod 600 big; date +%%s%%N > t.mode) & "
                  "for i in $(seq 50); do echo $i >> small; echo $i > n$i; done; date +%%s%%N > "
                  "t.small; wait' & " COPY_BEGINS "touch ../temp/go; wait $!",
                  cordon);
    ok(code == 0 && sh("ws", "test $(cat t.small) -lt $(cat t.big)") == 0,
       "50 small files are written while a large one is being kept");
    ok(sh("ws", "test $(cat t.mode) -gt $(cat t.small)") == 0 &&
           sh("ws", "test $(stat -c %%a big) = 600 && head -c 1 big | grep -qx x") == 0,
       "a second call on the large one waits, and both are made");
    ok(sh("ws", "'%s' undo", cordon) == 0 && is_same(before, "ws"), "all of it is taken back");
    sh(".", "'%s' runs --drop all", cordon);
    code = sh("ws",
              "'%s' run --undo -- sh -c 'sh -c \"echo \\$\\$ > ../temp/pid; exec 3<> big; printf x "
              ">&3\"; sleep 1.5; echo two > small' & " COPY_BEGINS
              "kill -KILL $(cat ../temp/pid); wait $!",
              cordon);
    ok(code == 0 && sh("ws", "test -z \"$(ls ../state/cordon/runs/2*/objects)\"") == 0 &&
           sh("ws", "'%s' undo", cordon) == 0 && is_same(before, "ws"),
       "the caller is killed: its copy is dropped, and the file is not changed (%d)", code);
    sh(".", "'%s' runs --drop all; rm temp/go", cordon);
    code =
        sh("ws",
           "'%s' run --undo -- sh -c '(exec 3<> big; printf x >&3) & until test -e ../temp/go; do "
           ":; done; echo two > small' & " COPY_BEGINS "touch ../temp/go; wait $!",
           cordon);
    ok(code == 0 && sh("ws", "test -z \"$(ls ../state/cordon/runs/2*/objects)\"") == 0 &&
           sh("ws", "'%s' undo", cordon) == 0 && is_same(before, "ws"),
       "so it is if the run ends first (%d)", code);
    free(before);
    fresh("ws");
    sh(".", "'%s' runs --drop all", cordon);
}

/* More large files at the same time than are copied at a time: each is copied once. The files of the
   journal are numbered, so a copy that was made and thrown away leaves a gap. */
static void test_many_copies(void)
{
    static const char *const what = "many long copies";
    enum { FILES = 48 };
    fresh("ws");
    sh("ws", "for i in $(seq %d); do head -c $((1500000 + i * 1000)) /dev/urandom > f$i; done",
       FILES);
    if (sh("ws", "cp --reflink=always f1 ../clone && rm ../clone") == 0) {
        skip(what, "this file system clones files");
        return;
    }
    char *before = snapshot_of("ws");
    unsigned gaps = 0;
    bool good = true;
    for (int i = 0; i < 3 && good; i++) {
        int code = sh("ws",
                      "'%s' run --undo --quiet -- sh -c 'for i in $(seq %d); do (echo x >> f$i) & "
                      "done; wait'",
                      cordon, FILES);
        gaps += sh("ws", "test $(ls ../state/cordon/runs/2*/objects | sort -n | tail -n 1) = %d",
                   FILES - 1) != 0;
        good = code == 0 && sh("ws", "'%s' undo", cordon) == 0 && is_same(before, "ws");
        sh(".", "'%s' runs --drop all", cordon);
    }
    ok(good, "%d large files changed at the same time are taken back", FILES);
    ok(gaps == 0, "and each was copied once");
    free(before);
    fresh("ws");
}

/* Files with several names, and names that somebody changed after the run. The content of a small
   file is kept when one of its names goes; a large one is relied on where nothing can clone it. */
static void test_links(void)
{
    static const struct {
        const char *what, *prepare, *command, *since;
        int plain, forced; /* exit codes */
        const char *after; /* true after --force */
    } cases[] = {
        {"a name removed, the other written to", "echo old > a; ln a b", "rm a", "echo foreign > b",
         1, 0, "grep -qx old a && grep -qx old b && test a -ef b"},
        {"a name removed, the other replaced", "echo old > a; ln a b", "rm a",
         "echo foreign > t; mv t b", 1, 0, "grep -qx old a && grep -qx foreign b"},
        {"a name removed, the other deleted", "echo old > a; ln a b", "rm a", "rm b", 1, 0,
         "grep -qx old a && test ! -e b"},
        {"a name removed, the other renamed", "echo old > a; ln a b", "rm a", "mv b z", 1, 0,
         "grep -qx old a && grep -qx old z"},
        {"a name renamed, the other replaced", "echo old > a; ln a b", "mv a c",
         "echo foreign > t; mv t b", 1, 0, "grep -qx old a && grep -qx foreign b && test ! -e c"},
        {"a name renamed, the new one replaced", "echo old > a; ln a b", "mv a c",
         "echo foreign > t; mv t c", 1, 1, "test ! -e a && grep -qx old b && grep -qx foreign c"},
        {"a file renamed, and replaced", "echo old > a", "mv a c", "echo foreign > t; mv t c", 1, 1,
         "test ! -e a && grep -qx foreign c"},
        {"a file renamed and changed, and replaced", "echo old > a", "mv a c; echo more >> c",
         "echo foreign > t; mv t c", 1, 0, "grep -qx old a && grep -qx foreign c"},
        {"a large one, the other name written to", "seq 50000 > a; ln a b", "rm a",
         "echo foreign > b", 1, -1, "! grep -qx foreign a 2> /dev/null"},
        {"a large one, the other name replaced", "seq 50000 > a; ln a b", "rm a",
         "echo foreign > t; mv t b", 1, -1, "! grep -qx foreign a 2> /dev/null && grep -q for b"},
        {"its folder deleted", "mkdir d; echo old > d/a; echo old > d/b",
         "echo more >> d/a; rm d/b; touch d/n", "rm -rf d", 1, 0,
         "grep -qx old d/a && grep -qx old d/b && test ! -e d/n"},
        {"its folder deleted, of which nothing was recorded", "mkdir -p d/e; echo old > d/e/a",
         "echo more >> d/e/a", "rm -rf d", 1, 0, "grep -qx old d/e/a"},
        {"control: nobody changed anything", "echo old > a; ln a b; ln a c", "rm a b", "true", 0,
         125, "test a -ef b -a a -ef c && grep -qx old a"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fresh("ws");
        sh("ws", "%s", cases[i].prepare);
        sh("ws", "'%s' run --undo --quiet -- sh -c '%s'; %s", cordon, cases[i].command,
           cases[i].since);
        char *since = snapshot_of("ws");
        int plain = sh("ws", "'%s' undo", cordon);
        char *left = snapshot_of("ws");
        /* The folder itself gets its times back. */
        bool same = cases[i].plain == 0 ||
                    (since && left && strcmp(strchr(since, '\n'), strchr(left, '\n')) == 0);
        int forced = sh("ws", "'%s' undo --force", cordon);
        bool right = sh("ws", "%s", cases[i].after) == 0;
        ok(plain == cases[i].plain && same &&
               (forced == cases[i].forced ||
                (cases[i].forced < 0 && (forced == 0 || forced == 1))) &&
               right,
           "%s: nothing foreign gets an old name (%d, %d)", cases[i].what, plain, forced);
        if (forced == 0) {
            int code = sh("ws", "'%s' undo $('%s' runs | head -1 | cut -d' ' -f1)", cordon, cordon);
            ok(code == 0 && sh("ws", "grep -rqx foreign . || ! echo '%s' | grep -q foreign",
                               cases[i].since) == 0,
               "%s: and what was there comes back (%d)", cases[i].what, code);
        }
        free(since);
        free(left);
        sh(".", "'%s' runs --drop all", cordon);
    }
    fresh("ws");
    sh("ws", "echo old > a; ln a b; ln a c; echo one > o");
    sh("ws", "'%s' run --undo --quiet -- sh -c 'rm a b; ln o p; echo n > m; ln m n'", cordon);
    ok(sh("ws",
          "'%1$s' undo --dry-run | sed 's/would //' | sort > ../plan && '%1$s' undo | sed "
          "'s/removed/remove/;s/restored/restore/' | sort > ../out && cmp ../plan ../out && grep "
          "-c . ../out | grep -qx 5 && printf 'remove m\\nremove n\\nremove p\\nrestore "
          "a\\nrestore b\\n' | cmp - ../out",
          cordon) == 0,
       "each name of a file with several is named, and as planned");
    sh(".", "'%s' runs --drop all", cordon);
}

/* The tree that undo meets was prepared by the command. */
static void test_already(void)
{
    fresh("ws");
    sh("ws",
       "echo old > a; echo old > b; cp -p a ../a; "
       "'%s' run --undo --quiet -- sh -c 'echo new > a; touch n'",
       cordon);
    sh("ws", "mv a n ..; cp -p b a");
    int code = sh("ws", "'%s' undo 2> ../err", cordon);
    ok(code == 0 && sh(".", "grep -q 'everything is as it was before the run already' err") == 0,
       "a run whose changes are gone: undo says so (%d)", code);
    code = sh("ws", "mv ../a ../n .; '%s' undo && grep -qx old a && test ! -e n", cordon);
    ok(code == 0, "and when they are there again, they can be taken back (%d)", code);
    fresh("ws");
    sh("ws", "mkdir d; '%s' run --undo --quiet -- chmod 700 d", cordon);
    sh("ws", "'%s' undo --dry-run > ../said", cordon);
    code = sh("ws", "'%s' undo > ../said2 2> ../err", cordon);
    ok(code == 0 &&
           sh(".", "grep -qx 'would restore d/' said && grep -qx 'restored d/' said2 && "
                   "grep -q ': 1 restored, 0 left alone' err") == 0 &&
           sh("ws", "test $(stat -c %%a d) != 700") == 0,
       "the mode of a folder counts as restored (%d)", code);
    sh(".", "'%s' runs --drop all", cordon);
}

/* The run is taken back and the mark that says so cannot be written: that is said. */
static void test_unmarked(void)
{
    fresh("ws");
    sh("ws", "echo old > a; '%s' run --undo --quiet -- sh -c 'echo new > a'", cordon);
    sh("ws", "mkdir -p ../state/cordon/runs/$('%s' runs | head -1 | cut -d' ' -f1)/undone/x",
       cordon);
    int code = sh("ws", "'%s' undo 2> ../err", cordon);
    ok(code == 125 && sh("ws", "grep -qx old a") == 0 &&
           sh(".", "grep -q 'everything is restored, but the journal cannot be written' err") == 0,
       "an undo that cannot be marked: restored, and said (%d)", code);
    sh("ws", "rm -r ../state/cordon/runs/*/undone; echo new > a");
    code = sh("ws", "'%s' undo --force 2> ../err", cordon);
    ok(code == 0 && sh("ws", "grep -qx old a && ! grep -q 'cannot be' ../err") == 0,
       "control: it can be marked, and nothing is said (%d)", code);
    sh(".", "'%s' runs --drop all", cordon);
}

static void test_full_folder(void)
{
    fresh("ws");
    sh("ws",
       "'%s' run --undo --quiet -- sh -c 'mkdir -p dd/in ee; touch dd/its ee/its'; touch "
       "dd/in/mine",
       cordon);
    int dry = sh("ws", "'%s' undo --force --dry-run > ../said 2> ../err", cordon);
    int real = sh("ws", "'%s' undo --force > ../said2 2> ../err2", cordon);
    ok(dry == 1 && real == 1 &&
           sh(".",
              "grep -q 'would leave alone: dd/in/: something new is in it; move mine away' err && "
              "grep -q ' left alone: dd/in/: something new is in it; move mine away' err2 && "
              "grep -q 'would leave alone: dd/: ' err && grep -q ' left alone: dd/: ' err2 && "
              "grep -qx 'would remove ee/' said && grep -qx 'removed ee/' said2") == 0,
       "a folder with something new: the dry run says the same as the undo (%d, %d)", dry, real);
    ok(sh("ws", "rm dd/in/mine; '%s' undo && test ! -e dd", cordon) == 0,
       "moved away, the next undo removes it");
    sh(".", "'%s' runs --drop all", cordon);
}

/* Modes that stop an ordinary user, at the end of the run or in the journal. */
static void test_closed(void)
{
/* x NAME [VALUE] changes an attribute of a. */
#define MINE                                                                                      \
    "echo old > a; echo 'import os, sys; v = sys.argv; n = \"user.\" + v[1]; os.setxattr(\"a\", " \
    "n, "                                                                                         \
    "v[2].encode()) if v[2:] else os.removexattr(\"a\", n)' > x; python3 x mine 1"
    static const char *const cases[][2] = {
        {"echo old > a", "rm a"}, /* control */
        {"echo old > a", "ln a l; rm a l"},
        {"seq 50000 > a", "ln a l; rm a l"},
        {"echo old > a; echo x > x", "ln a l; mv x a; rm l"},
        {"echo old > a; ln a b", "rm a b"},
        {"echo old > a", "ln a l; rm a; echo more > l; rm l"},
        {"echo old > a; chmod 444 a; ln a b", "rm a b"},
        {"echo old > a", "ln a l; echo more > l; mv l b; chmod 444 a"},
        {"echo old > a; ln a b", "rm b; echo more > a; chmod 444 a"},
        {MINE, "python3 x mine; rm a"},
        {MINE, "python3 x mine other; rm a"},
        {MINE, "python3 x more 1; echo n > n; mv n a"},
    };
    bool python = sh(".", "command -v python3") == 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (strcmp(cases[i][0], MINE) == 0 && !python) {
            skip(cases[i][1], "python3 is not on this machine");
            continue;
        }
        fresh("ws");
        sh("ws", "%s; touch -d @1500000000 * .", cases[i][0]);
        char *before = snapshot_of("ws");
        int ran = sh("ws", "'%s' run --undo --quiet -- sh -c '%s'", cordon, cases[i][1]);
        int code = sh("ws", "'%s' undo", cordon);
        ok(ran == 0 && code == 0 && is_same(before, "ws"), "closed files: %s: taken back (%d, %d)",
           cases[i][1], ran, code);
        free(before);
    }
    sh(".", "'%s' runs --drop all", cordon);
}

/* An ordinary user cannot give a file back to its owner; its content comes back all the same. */
static void test_owner(void)
{
    if (geteuid() != 0 || sh(".", "command -v setpriv && id nobody") != 0) {
        skip("a file of somebody else", "root, setpriv and a user nobody are needed");
        return;
    }
    fresh("ws");
    int code = sh("ws",
                  "export HOME=%s/ws/h XDG_STATE_HOME=%s/ws/h TMPDIR=%s/ws/t; mkdir -p w h t; echo "
                  "old > w/f; chmod 4644 w/f; chown nobody w h t; cp '%s' cordon; chmod -R o+rX "
                  ". ..; cd w; for c in 'run --quiet --undo -- rm -f f' undo; do setpriv "
                  "--reuid=65534 --regid=65534 --clear-groups ../cordon $c || exit; done",
                  top, top, top, cordon);
    ok(code == 0 && sh("ws", "test \"$(cat w/f)\" = old && test ! -u w/f && ! ls -A w | grep -q "
                             "'cordon-undo'") == 0,
       "a file of somebody else: its content is taken back, without rights of its owner (%d)",
       code);
}

static void test_attacks(void)
{
    start_simple();
    fresh("out");
    sh("out", "echo precious > b; echo precious > y; mkdir d; touch -d @1400000000 b y d .");
    char *outside = snapshot_of("out");
    sh("ws",
       "mkdir -p e/d; echo 1 > e/d/y; '%s' run --undo -- sh -c 'echo x >> src/b; echo y > src/y; "
       "rm e/d/y; "
       "rmdir e/d; mkdir g; echo z > g/b'",
       cordon);
    /* As a second command without --undo could leave it. */
    sh("ws", "mv src away; ln -s ../out src; rm -rf e; ln -s ../out e; mv g h; ln -s ../out g");
    int code = sh("ws", "'%s' undo 2> ../said", cordon);
    ok(code == 1 && is_same(outside, "out"),
       "folders replaced by links: nothing outside is touched (%d)", code);
    ok(sh(".", "grep -q 'left alone: src/b' said") == 0, "and what could not be restored is named");
    code = sh("ws", "'%s' undo --force 2> ../said", cordon);
    ok(is_same(outside, "out"), "not with --force either (%d)", code);
    sh("ws", "rm -f src; mv away src");
    ok(sh("ws", "'%s' undo --force src; test \"$(cat src/b)\" = two", cordon) == 0,
       "control: with the folder back, it is restored");
    free(outside);
    sh(".", "'%s' runs --drop all", cordon);

    /* Names of files that lie outside: what is done to a file by its name reaches those too. */
    static const char *const changes[] = {"echo x >> a", "chmod 700 a", "touch -d @1600000000 a",
                                          "echo x > t; mv t a", "rm a; echo x > a"};
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        start_simple();
        fresh("out");
        sh("out",
           "echo precious > p; chmod 600 p; echo one > q; chmod 600 q; touch -d @1400000000 p q .");
        outside = snapshot_of("out");
        for (const char *name = "pq"; *name; name++) {
            sh("ws", "rm -f a; echo one > a; '%s' run --undo --quiet -- sh -c '%s'", cordon,
               changes[i]);
            sh("ws", "ln -f ../out/%c a; sleep 0.02", *name);
            sh("ws", "'%1$s' undo; '%1$s' undo --force", cordon);
            /* The journal of the undo has a name of it, too. */
            sh("ws", "rm -f a; '%s' runs --drop all", cordon);
            if (!ok(is_same(outside, "out"), "%s, and its name is one of a file outside: %s",
                    changes[i], *name == 'p' ? "that stays" : "with the old content, that stays"))
                sh("out", "ls -l >&2");
        }
        free(outside);
    }

    /* In the run itself. */
    start_simple();
    outside = snapshot_of("out");
    char *before = snapshot_of("ws");
    sh("ws",
       "'%s' run --undo -- sh -c 'echo x >> src/b; mv src q; ln -s ../out src; ln -s /etc/passwd "
       "p'",
       cordon);
    code = sh("ws", "'%s' undo", cordon);
    ok(code == 0 && is_same(before, "ws") && is_same(outside, "out"),
       "a link in place of a folder is taken back as a link (%d)", code);
    free(before);
    free(outside);
    sh(".", "'%s' runs --drop all", cordon);

    fresh("ws");
    sh("ws",
       "echo secret > a; '%s' run --undo -- sh -c 'echo x > a'; ls -d "
       "'%s'/state/cordon/runs/2*/pack",
       cordon, top);
    ok(sh("ws",
          "test -f '%s'/state/cordon/runs/2*/pack && grep -q secret '%s'/state/cordon/runs/2*/pack",
          top, top) == (geteuid() ? 2 : 0) ||
           geteuid(),
       "control: the journal holds what the file held");
    ok(sh("ws",
          "'%s' run --undo -- sh -c 'cat \"%s\"/state/cordon/runs/2*/pack; echo x > "
          "\"%s\"/state/cordon/runs/x; "
          "chmod 700 \"%s\"/state/cordon/runs/2*/pack' > ../said 2>&1; ! grep -q secret ../said && "
          "test ! -e "
          "'%s'/state/cordon/runs/x",
          cordon, top, top, top, top) == 0,
       "a tree neither reads nor writes journals");
    sh("ws", "echo TOPSECRET > s");
    ok(sh("ws",
          "'%s' run --undo --deny-read s -- sh -c 'touch s; cat \"%s\"/state/cordon/runs/2*/pack; "
          "ls \"%s\"/state/cordon/runs; cat a' > ../said 2>&1; grep -q x ../said && "
          "! grep -q -e secret -e TOPSECRET ../said",
          cordon, top, top) == 0,
       "nor where reads are denied, when the broker opens what is read");
    ok(sh("ws", "'%s' run --root . --root '%s/temp' -- '%s' undo 2>&1 | grep -q 'inside a run'",
          cordon, top, cordon) == 0,
       "undo is refused inside a run");
    ok(sh(".", "'%s' run --undo -- true 2>&1 | grep -q 'inside the root'", cordon) == 0,
       "a journal inside a root is refused");
    sh(".", "'%s' runs --drop all", cordon);
}

static void test_bad(void)
{
    start_simple();
    sh("ws", "'%s' run --undo -- sh -c 'echo more >> a; rm c'", cordon);
    char *after = snapshot_of("ws");
    sh(".", "cd state/cordon/runs/2*; chmod 600 log; cp log ../../../log; "
            "printf '\\377' | dd of=log bs=1 seek=60 conv=notrunc");
    ok(sh("ws", "'%s' undo $(ls ../state/cordon/runs) 2>&1 | grep -q damaged", cordon) == 0 &&
           is_same(after, "ws"),
       "a damaged journal: nothing is changed");
    /* In the middle of the last record, and the whole of it, which says when the run ended. */
    static const int cuts[] = {3, 21};
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
        sh(".", "cd state/cordon/runs/2*; cat ../../../log > log; truncate -s -%d log", cuts[i]);
        ok(sh("ws",
              "'%1$s' undo 2> ../said; test $? = 125 && grep -Eq 'is damaged: [0-9]+ bytes of "
              "[0-9]+ are left; nothing was changed' ../said && ! '%1$s' changes",
              cordon) == 0 &&
               is_same(after, "ws"),
           "a journal that lost its last %d bytes is damaged: nothing is changed", cuts[i]);
    }
    /* As a run that is killed leaves it. */
    sh(".", "cd state/cordon/runs/2*; : > lock");
    ok(sh("ws",
          "'%1$s' changes 2>&1 | grep -q 'did not finish' && '%1$s' undo 2> ../said && grep -q "
          "'did "
          "not finish' ../said && test -f c",
          cordon) == 0,
       "a journal of a run that did not end is good up to there, and that is said");
    sh(".", "'%s' runs --drop all", cordon);

    start_simple();
    sh("ws", "'%s' run --undo -- sh -c 'echo more >> a; rm c'", cordon);
    ok(sh("ws",
          "! '%1$s' changes 2>&1 | grep -q 'did not finish' && '%1$s' undo 2> ../said && ! grep -q "
          "'did not finish' ../said && test -f c",
          cordon) == 0,
       "control: a whole journal");
    sh(".", "'%s' runs --drop all", cordon);

    start_simple();
    sh("ws", "'%s' run --undo -- rm c; mv ../ws ../gone", cordon);
    ok(sh(".", "'%s' undo $(ls state/cordon/runs) 2>&1 | grep -q 'is gone'", cordon) == 0,
       "a root that is gone");
    sh(".", "rm -rf gone; '%s' runs --drop all", cordon);

    start_simple();
    sh("ws", "head -c 3000000 /dev/zero > big");
    ok(sh("ws",
          "'%s' run --undo --undo-limit 1M -- sh -c 'echo x >> big; echo x >> a' 2>&1 | "
          "grep -q '1 of them cannot be taken back (over --undo-limit)'",
          cordon) == 0,
       "over the limit: said");
    ok(sh("ws", "'%s' changes | grep -q 'big.*cannot be taken back: over --undo-limit'", cordon) ==
           0,
       "and named by changes");
    ok(sh("ws",
          "'%s' undo 2>&1 | grep -q 'left alone: big: it was not kept: over --undo-limit'; test "
          "\"$(cat a)\" = "
          "one",
          cordon) == 0,
       "the rest is restored");
    ok(sh("ws",
          "'%s' run --undo=strict --undo-limit 1M -- sh -c 'echo x >> big' 2>&1 | grep -q 'rule "
          "undo.strict'",
          cordon) == 0 &&
           sh("ws", "'%s' run --undo=strict --undo-limit 1M -- sh -c 'echo x >> a'", cordon) == 0,
       "--undo=strict refuses it, and only it");
    ok(sh("ws",
          "'%s' run --undo=strict --undo-limit 1M -- sh -c 'echo x >> big; echo x >> a' 2>&1 | "
          "grep "
          "'cannot be taken back'",
          cordon) == 1,
       "what was refused is not counted as lost");
    ok(sh("ws",
          "'%s' run --undo --undo-limit 1M -- sh -c 'echo x >> big; cp ../live seen' 2> ../live; "
          "grep -q 'cannot be taken back: .*/ws/big: over --undo-limit' seen",
          cordon) == 0,
       "what cannot be kept is said while the command runs");
    ok(sh("ws",
          "'%s' run --undo --undo-limit 1M --audit ../audit -- sh -c 'echo x >> big; echo x >> a'; "
          "grep -q '\"rule\":\"undo.lost\"' ../audit && ! grep '\"rule\"' ../audit | grep -q "
          "'/ws/a\"'",
          cordon) == 0,
       "and in the audit");
    ok(sh("ws", "'%s' run --undo=never -- true", cordon) == 125, "another word after --undo=");
    ok(sh("ws", "'%s' run --mode full-access --undo -- true", cordon) == 125,
       "--undo without a sandbox");
    sh(".", "'%s' runs --drop all", cordon);
    free(after);
}

/* A small limit of one run drops older runs of its root alone, and says so. */
static void test_limits(void)
{
    fresh("ws");
    fresh("other");
    sh("ws", "seq 100000 > a");
    sh("other", "seq 100000 > a; '%s' run --undo --quiet -- sh -c 'echo more >> a'", cordon);
    for (int i = 0; i < 3; i++)
        sh("ws", "'%s' run --undo --quiet -- sh -c 'echo %d >> a' ", cordon, i);
    sh("ws", "'%s' run --undo -- sh -c 'echo x >> b' 2> ../said", cordon);
    ok(sh("ws", "! grep -q dropped ../said && test $('%s' runs | wc -l) = 5", cordon) == 0,
       "control: within the limit nothing is dropped");
    sh("ws", "'%s' run --undo --undo-limit 1M -- sh -c 'echo y >> b' 2> ../said", cordon);
    ok(sh("ws",
          "test $('%1$s' runs | wc -l) = 4 && test $(grep -c dropped ../said) = 1 && grep -qx "
          "\"cordon: dropped the journals of 2 older runs in $PWD, to stay within the limit "
          "(--undo-limit)\" ../said",
          cordon) == 0,
       "older runs of the same root go, and one line says how many");
    ok(sh("other", "'%s' undo && ! grep -q more a", cordon) == 0,
       "a run of another root can still be taken back");
    ok(sh("ws",
          "'%1$s' run --json --undo --undo-limit 4K -- sh -c 'echo z >> b' 2> ../said; grep -q "
          "'\"dropped\":[1-9].*\"dropped_root\":\"[^\"]*/ws\"' ../said",
          cordon) == 0,
       "the JSON has it too");
    sh(".", "'%s' runs --drop all", cordon);
}

/* So many journals that not all are listed: the newest are, and the oldest go. */
static void test_very_many_runs(void)
{
    fresh("ws");
    sh("ws", "echo one > a; '%s' run --undo --quiet -- sh -c 'echo two > a'", cordon);
    sh("state/cordon/runs",
       "seq 20000 | awk '{printf \"20200101-%%06d-0a1b\\n\", $1}' | xargs mkdir");
    ok(sh("ws", "'%s' changes | grep -q '^modified  a '", cordon) == 0,
       "with 20,000 other journals the last run is found");
    ok(sh("ws", "'%1$s' undo && grep -qx one a && test $(ls ../state/cordon/runs | wc -l) -le 4096",
          cordon) == 0,
       "and taken back; no more than can be listed are kept");
    sh(".", "rm -rf state/cordon/runs/2020*; '%s' runs --drop all", cordon);
}

/* What a file holds now goes only once it is known that its old content can be read. */
static void test_damaged_content(void)
{
    static const struct {
        const char *what, *make, *damage;
    } cases[] = {
        {"small", "echo one > a", "printf X | dd of=pack bs=1 conv=notrunc"},
        {"large", "seq 50000 > a", "truncate -s 100 objects/0"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int damaged = 0; damaged < 2; damaged++) {
            fresh("ws");
            sh("ws", "%s; cp a ../old", cases[i].make);
            sh("ws", "'%s' run --undo --quiet -- sh -c 'echo run >> a'", cordon);
            sh("ws", "ln a b; cp a ../run");
            if (damaged)
                sh("state/cordon/runs", "cd 2*; chmod 600 pack objects/*; %s", cases[i].damage);
            int code = sh("ws", "! cmp a ../old && '%s' undo --force 2> ../said", cordon);
            if (damaged)
                ok(code == 1 && sh("ws", "cmp a ../run && cmp b ../run && grep -q 'not restored: ' "
                                         "../said") == 0,
                   "%s content that is damaged in the journal: the file stays as it is (%d)",
                   cases[i].what, code);
            else
                ok(code == 0 && sh("ws", "cmp a ../old && cmp b ../old") == 0,
                   "control: it is whole, and restored in place (%d)", code);
            sh(".", "'%s' runs --drop all", cordon);
        }
}

static void test_sessions(void)
{
    start_simple();
    char *before = snapshot_of("ws");
    for (int i = 0; i < 3; i++)
        sh("ws", "'%s' run --undo --session talk -- sh -c 'echo %d >> a; echo %d > n%d'", cordon, i,
           i, i);
    sh("ws", "'%s' run --undo --session talk -- sh -c 'rm n0; mv n1 m; mkdir d k'", cordon);
    sh("ws", "'%s' run --undo --session talk -- sh -c 'echo new > n0; mv m d; mv d e; touch k/x'",
       cordon);
    char *after = snapshot_of("ws");
    int code = sh("ws", "'%s' undo --session talk --dry-run > ../said 2> ../err", cordon);
    ok(code == 0 && is_same(after, "ws") &&
           sh(".", "test ! -s err && grep -c 'restore a' said | grep -qx 3") == 0,
       "the dry run of a session predicts that each run can be taken back (%d)", code);
    sh("ws", "cp -a . ../copy; echo mine >> a");
    code = sh("ws", "'%s' undo --session talk --dry-run 2> ../err", cordon);
    ok(code == 1 && sh(".", "grep -q 'would leave alone: a: it was changed' err") == 0,
       "and that somebody changed a file since (%d)", code);
    sh("ws", "cp -p ../copy/a a; rm -r ../copy");
    free(after);
    ok(sh("ws", "'%s' undo --session talk", cordon) == 0 && is_same(before, "ws"),
       "a session is taken back as a whole");
    ok(sh("ws", "'%s' undo --session other", cordon) == 125, "an unknown session");
    free(before);
    sh(".", "'%s' runs --drop all", cordon);
}

/* One of the two is the other or lies in it. */
static bool is_around(const char *name, const char *path)
{
    size_t n = strlen(name), m = strlen(path), least;
    n -= n && name[n - 1] == '/';
    least = n < m ? n : m;
    return strncmp(name, path, least) == 0 && (n == m || (n < m ? path[n] : name[m]) == '/');
}

/* True if a line of what undo said names this path, something in it, or a folder that it is in. */
static bool is_named(const char *said, const char *path)
{
    char name[512], now[512], line[1024];
    FILE *f = fopen(said, "r");
    bool found = false;
    while (f && !found && fgets(line, sizeof line, f)) {
        now[0] = '\0';
        if (sscanf(line, "cordon: left alone: %500[^: \n] (now %500[^)])", name, now) >= 1 ||
            sscanf(line, "cordon: not restored: %500[^: \n] (now %500[^)])", name, now) >= 1)
            found = is_around(name, path) || (now[0] && is_around(now, path));
    }
    if (f)
        fclose(f);
    return found;
}

/* Every line that only one of the folders has is about a path that undo named. */
static bool are_named(const char *wanted, const char *now)
{
    char said[1200], path[512];
    bool good = true;
    snprintf(said, sizeof said, "%s/said", top);
    for (int side = 0; side < 2; side++)
        for (const char *line = side ? now : wanted; *line; line += strcspn(line, "\n") + 1) {
            size_t n = strcspn(line, "\n");
            const char *found = side ? wanted : now;
            while ((found = strstr(found, "./")) && strncmp(found, line, n + 1) != 0)
                found++;
            if (found || sscanf(line, "./%500s", path) != 1)
                continue;
            /* Of a file with several names one is said. */
            const char *links = strstr(line, " links ");
            if (links && links < line + n && atoi(links + 7) > 1)
                continue;
            if (!is_named(said, path)) {
                note("not named: %.*s", (int)n, line);
                good = false;
            }
            if (!line[n])
                break;
        }
    return good;
}

/* A command is cut off: whose processes die, and after how many hundredths of a second. */
static void cut_off(unsigned seed, const char *who, unsigned when)
{
    sh("ws",
       "'%s' run --undo --quiet -- '%s' %u 100000 2 & pid=$!; sleep 0.%02u; "
       "reaper=$(cat /proc/$pid/task/$pid/children); kill -9 %s; wait; "
       "for i in $(seq 50); do grep -qs ^undo_probe /proc/[0-9]*/comm || break; sleep 0.1; done; "
       "for i in 1 2 3 4 5 6 7 8 9 10; do '%s' runs | grep -q running || break; sleep 0.1; done",
       cordon, undo_probe, seed, when, who, cordon);
}

/* The supervisor, which is the broker, is killed at any moment: everything is taken back. Without
   the reaper, which ends the tree, nobody knows when the last change was: undo names what it
   leaves. */
static void test_kill(void)
{
    static const struct {
        const char *who, *what;
        bool whole;
    } kills[] = {{"$pid", "the supervisor", true},
                 {"$reaper", "the reaper", false},
                 {"$pid $reaper", "both", false}};
    const char *wanted = getenv("CORDON_UNDO_KILLS");
    unsigned first = 0, rounds = getenv("CORDON_SOAK") ? 300 : 8;
    if (wanted && sscanf(wanted, "%u-%u", &first, &rounds) == 1) {
        rounds = first;
        first = 0;
    }
    for (size_t kind = 0; kind < sizeof kills / sizeof *kills; kind++) {
        unsigned bad = 0;
        for (unsigned i = first; i < rounds && bad < 3; i++) {
            fill_folder(3000 + i % 1000);
            char *before = snapshot_of("ws"), *after;
            cut_off(i % 1000, kills[kind].who, 5 + (i * 7) % 40);
            int code = sh("ws", "'%s' undo 2> ../said", cordon);
            after = snapshot_of("ws");
            bool good = before && after &&
                        (code == 0 || is_nothing(code)
                             ? strcmp(before, after) == 0
                             : !kills[kind].whole && code == 1 && are_named(before, after));
            if (!good) {
                note("%s, round %u: %d", kills[kind].what, i, code);
                if (before && after)
                    snapshot_differ(before, after);
                sh(".", "sed 's/^/# /' said");
            }
            bad += !good;
            free(before);
            free(after);
            sh(".", "'%s' runs --drop all", cordon);
        }
        ok(bad == 0, "killed at %u moments: %s; %s", rounds - first, kills[kind].what,
           kills[kind].whole ? "everything is taken back" : "taken back, or named");
    }
}

/* The same, after a change that left the content as it was. */
static void test_kill_empty(void)
{
    fresh("ws");
    sh("ws", ": > f; echo x > g; touch -d @1500000000.123456789 f g .");
    char *before = snapshot_of("ws");
    sh("ws",
       "'%s' run --undo --quiet -- sh -c ': > f; echo > ../started; sleep 2' & pid=$!; sleep 1; "
       "reaper=$(cat /proc/$pid/task/$pid/children); kill -9 $pid $reaper; wait; sleep 2",
       cordon);
    bool changed = !is_same(before, "ws");
    /* On a busy machine the change comes later than its record. */
    sh("state/cordon/runs", "touch -d '1 minute ago' */log");
    ok(sh("ws", "'%s' changes --json | grep -q '\"ended\":false'", cordon) == 0,
       "killed: changes says that the run did not end");
    int code = sh("ws", "'%s' undo", cordon);
    ok(changed && code == 0 && is_same(before, "ws"),
       "killed after an empty file was emptied: its time is restored");
    free(before);
    sh(".", "'%s' runs --drop all", cordon);
}

/* Holds the lock of the newest run, as a cordon that still works on it does. */
static int hold_newest(void)
{
    char path[1400] = "", id[64] = "";
    sh(".", "'%s' runs | head -1 | cut -d' ' -f1 > newest", cordon);
    snprintf(path, sizeof path, "%s/newest", top);
    FILE *f = fopen(path, "r");
    if (f && fscanf(f, "%60s", id) != 1)
        id[0] = '\0';
    if (f)
        fclose(f);
    snprintf(path, sizeof path, "%s/state/cordon/runs/%s/lock", top, id);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    return fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 ? fd : -1;
}

static void test_at_the_same_time(void)
{
    start_simple();
    sh("ws", "'%s' run --undo -- sh -c 'echo more >> a'; '%s' run --undo -- sh -c 'echo more >> c'",
       cordon, cordon);
    int fd = hold_newest();
    ok(fd >= 0 && sh("ws", "'%s' undo 2>&1 | grep -q 'has not ended'", cordon) == 0 &&
           sh("ws",
              "'%s' undo $('%s' runs | tail -1 | cut -d' ' -f1) 2>&1 | grep -q 'which has not "
              "ended, can change these folders'",
              cordon, cordon) == 0 &&
           sh("ws", "grep -qx more a && grep -qx more c") == 0,
       "no undo while a run can change the folders");
    ok(sh("ws", "'%s' run --undo -- true", cordon) == 0, "control: another run can");
    close(fd);
    ok(sh("ws", "'%s' undo $('%s' runs | head -1 | cut -d' ' -f1)", cordon, cordon) == 0 &&
           sh("ws", "grep -qx more c") == 1,
       "control: when the run has ended, it is taken back");
    fd = hold_newest();
    ok(fd >= 0 &&
           sh("ws", "'%s' run --undo -- touch made 2>&1 | grep -q 'an undo changes these folders'",
              cordon) == 0 &&
           sh("ws", "test -e made") == 1,
       "no run with --undo while an undo changes the folders");
    fresh("other");
    ok(sh("other", "'%s' run --undo -- touch made && test -e made", cordon) == 0,
       "control: in another folder");
    close(fd);
    ok(sh("ws", "'%s' run --undo -- touch made && test -e made", cordon) == 0,
       "control: when the undo has ended");
    sh(".", "'%s' runs --drop all", cordon);
}

/* The commands that a person types next. */
static void test_next(void)
{
    start_simple();
    sh("ws", "'%s' run --undo -- sh -c 'echo more >> a'", cordon);
    sh("ws", "'%s' run --undo -- sh -c 'echo more >> c; echo more >> src/b'", cordon);
    sh("ws", "echo mine > c");
    ok(sh("ws", "'%s' undo 2> ../said", cordon) == 1 &&
           sh(".", "grep -q 'to restore over what was changed since: cordon undo --force 2' "
                   "said") == 0,
       "a conflict names the way on");
    ok(sh("ws", "'%s' undo", cordon) == 1 && sh("ws", "grep -qx more a") == 0,
       "and the next undo is of the same run, not of an earlier one");
    ok(sh("ws", "'%s' undo --force", cordon) == 0 && sh("ws", "test \"$(cat c)\" = three") == 0 &&
           sh("ws", "grep -qx more a") == 0,
       "also with --force");
    ok(sh("ws", "'%s' undo", cordon) == 0 && sh("ws", "test \"$(cat a)\" = one") == 0,
       "then the earlier one");
    sh(".", "'%s' runs --drop all", cordon);

    start_simple();
    sh("ws", "cp -p a ../a; cp -p c ../c; cp -p src/b ../b");
    sh("ws",
       "'%s' run --undo -- sh -c 'echo more >> a; rm c; sed s/two/2/ src/b > t; mv t src/b; "
       "touch n'",
       cordon);
    sh("ws", "cat ../a > a; cp ../c c; rm src/b; cp ../b src/b");
    ok(sh("ws", "'%s' undo 2> ../said", cordon) == 0 && sh("ws", "test -e n") == 1,
       "what was put back by other means is no conflict");
    sh(".", "'%s' runs --drop all", cordon);
    sh("ws",
       "'%s' run --undo -- sh -c 'echo more >> a; rm c'; echo one, nearly > a; echo 3 > c; '%s' "
       "undo 2> ../said",
       cordon, cordon);
    ok(sh(".", "grep -q 'left alone: a: it was changed' said && grep -q 'left alone: c: something "
               "new' said") == 0,
       "control: what is only similar is one");
    sh(".", "'%s' runs --drop all", cordon);

    start_simple();
    sh("ws", "'%s' run --undo -- sh -c 'echo more >> a'", cordon);
    ok(sh(".", "'%s' undo 2>&1 | grep -q 'below it, in .*/ws: cordon undo 2'", cordon) == 0 &&
           sh("ws", "grep -qx more a") == 0,
       "undo in the folder above takes nothing back and says where");
    ok(sh("ws/src", "'%s' undo", cordon) == 0 && sh("ws", "test \"$(cat a)\" = one") == 0,
       "control: in a folder below, it does");
    sh(".", "'%s' runs --drop all", cordon);
    ok(sh(".", "'%s' runs 2>&1 | grep -q 'no runs with --undo are kept'", cordon) == 0,
       "no runs: said");
}

/* The run is named where the plain command would take another one, also after cd .. */
static void test_above(void)
{
    start_simple();
    sh("ws/src", "'%s' run --undo -- touch n 2> ../../said", cordon);
    ok(sh(".", "grep -qx 'cordon: 1 created; take back with: cordon undo' said") == 0,
       "no run above: the plain command");
    sh("ws/src", "'%s' undo; cd ..; '%s' run --undo -- touch m", cordon, cordon);
    sh("ws/src", "'%s' run --undo -- touch n 2> ../../said", cordon);
    ok(sh(".", "grep -q 'take back with: cordon undo 2' said") == 0 &&
           sh("ws",
              "'%s' $(sed -n 's/.*take back with: cordon //p' ../said) && test -e m -a ! -e "
              "src/n",
              cordon) == 0,
       "a run above: this one is named, and that takes it back from there");
    sh(".", "'%s' runs --drop all", cordon);
}

/* cordon changes shows what the run did, whatever was done since. */
static void test_since(void)
{
    start_simple();
    sh("ws", "ln -s one way; echo x > mode; echo big > touched; truncate -s 2M large");
    sh("ws",
       "'%s' run --undo -- sh -c 'echo run >> a; rm c; echo n > new; echo g > going; ln -sfn two "
       "way; chmod 600 mode; ln -s a fresh; : >> touched; : >> large'",
       cordon);
    sh("ws", "'%s' changes > ../said; '%s' changes --json > ../json", cordon, cordon);
    ok(sh(".", "grep -qx 'modified  a +1 -0' said && grep -qx 'created   new +1 -0' said && "
               "! grep -q since said && ! grep -q '^modified  [tl]' said") == 0,
       "before anybody changes anything: what the run did");
    ok(sh(".", "grep -q '^modified  way .*link one -> two' said && grep -q '^modified  mode .*mode "
               "644 -> 600' said && grep -q '^created   fresh .*link to a' said") == 0,
       "modes and links, old and new");
    if (!ok(sh(".", "grep -q '\"mode_before\":\"644\",\"mode\":\"600\"' json && grep -q "
                    "'\"link_before\":\"one\",\"link\":\"two\"' json") == 0,
            "in --json, too"))
        sh(".", "cat said >&2");
    sleep(1);
    sh("ws",
       "echo mine >> a; echo mine >> touched; echo mine >> large; echo again > c; rm going; "
       "chmod 755 mode; touch new; '%s' changes > ../said; '%s' changes --diff > ../diff",
       cordon, cordon);
    ok(sh(".", "grep -q '^modified  a .*(changed since the run)' said && grep -q '^deleted   c "
               ".*(there again since the run)' said && grep -q '^created   going .*(gone since the "
               "run)' said && grep -q '^modified  mode .*mode 644 -> 600 (changed since the run)' "
               "said") == 0,
       "what was changed, made or deleted since is said");
    ok(sh(".",
          "! grep -q '^modified  [tl]' said && grep -qx 'created   new +1 -0' said && ! grep "
          "-q mine diff && grep -q '(changed since the run)' diff && grep -q '^+n$' diff") == 0,
       "and it is not counted as the run's");
    sh(".", "cp said said.last; '%s' runs --drop all", cordon);
}

/* A run that changed nothing is the last one all the same, for changes and for undo. */
static void test_nothing(void)
{
    start_simple();
    sh("ws", "'%1$s' run --undo --quiet -- touch n; '%1$s' run --undo -- cat a 2> ../said", cordon);
    ok(sh(".", "! grep -q 'take back' said") == 0, "a run that changed nothing says nothing");
    ok(sh("ws",
          "'%1$s' changes > ../shown 2> ../said && grep -q '^no changes by run 2.*: cat a$' "
          "../shown "
          "&& "
          "'%1$s' $(sed -n 's/^cordon: of the run before it: cordon //p' ../said) > ../shown2 && "
          "grep -q '^created   n' ../shown2",
          cordon) == 0,
       "cordon changes says that it changed nothing, and how to see the one before it");
    ok(sh("ws",
          "run=$(sed -n 's/^no changes by run \\([^:]*\\):.*/\\1/p' ../shown) && '%s' undo 2> "
          "../said "
          "&& test -e n && grep -q \"^cordon: run $run in \" ../said",
          cordon) == 0,
       "cordon undo means the same run, and takes no older one back");
    ok(sh("ws", "'%s' undo n", cordon) == 125 && sh("ws", "test -e n") == 0,
       "nor a path of an older one");
    ok(sh("ws",
          "'%1$s' undo --json > ../json && test -e n && '%1$s' undo $(python3 -c 'import json; "
          "r=json.load(open(\"../json\"))[\"runs\"][0]; assert r[\"items\"]==[]; "
          "print(r[\"before\"])') && test ! -e n",
          cordon) == 0,
       "the one before it is named, and can be taken back");
    ok(sh("ws", "'%s' undo 2> ../said", cordon) == 0 &&
           sh(".", "! grep -q 'cordon undo' said") == 0,
       "with nothing before it there is nothing to name");
    for (int i = 0; i < 3; i++)
        sh("ws", "'%s' run --undo -- true", cordon);
    ok(sh("state/cordon/runs", "test $(ls */empty | wc -l) = 1") == 0, "one such note is kept");
    sh("ws/src", "'%s' run --undo -- true", cordon);
    ok(sh("ws", "'%s' changes 2>&1 | grep -q 'newer run'", cordon) != 0,
       "one below this folder is not worth a word");
    sh("ws/src", "'%s' runs --drop all", cordon);
    sh("ws", "'%s' run --undo --quiet -- touch m", cordon);
    ok(sh("ws", "! ls ../state/cordon/runs/*/empty && '%s' changes | grep -q 'created   m'",
          cordon) == 0,
       "and none after a run that changed something");
    sh(".", "'%s' runs --drop all", cordon);
}

/* From above, cordon undo takes no other run than the one that was meant. */
static void test_chosen(void)
{
    start_simple();
    sh("ws",
       "'%s' run --undo --quiet -- touch outer; cd src && '%s' run --undo --quiet -- touch "
       "inner",
       cordon, cordon);
    ok(sh("ws", "'%s' undo 2> ../said", cordon) == 125 &&
           sh("ws",
              "test -e outer -a -e src/inner && grep -q 'the last run changed .*/ws/src, "
              "below this folder: cordon undo 2.* takes it back; cordon undo 2' ../said") == 0,
       "a newer run below: nothing is touched, and both are named");
    ok(sh("ws", "'%s' undo --dry-run", cordon) == 125 &&
           sh("ws", "'%s' changes > ../shown 2> ../said3 && grep -q outer ../shown", cordon) == 0 &&
           sh("ws",
              "'%s' $(sed -n 's/.*below this folder: cordon //p' ../said3) > ../shown && grep -q "
              "inner ../shown",
              cordon) == 0,
       "nor in a dry run; looking is free, and names the newer one");
    ok(sh("ws",
          "'%s' $(sed -n 's/.*folder: cordon \\(undo [^ ]*\\).*/\\1/p' ../said) && test -e "
          "outer -a ! -e src/inner",
          cordon) == 0,
       "what it says to type takes the run back");
    ok(sh("ws/src", "'%s' undo 2> ../../said && test ! -e ../outer", cordon) == 0 &&
           sh(".", "grep -q '^cordon: run 2.* in .*/ws$' said") == 0,
       "then the one above, which says where");
    sh("ws/src", "'%s' run --undo --quiet -- touch inner", cordon);
    ok(sh("ws", "'%s' undo 2> ../said", cordon) == 125 &&
           sh("ws",
              "test -e src/inner && '%s' $(sed -n 's/.*: cordon //p' ../said) && test ! -e "
              "src/inner",
              cordon) == 0,
       "one below alone: what to type");
    sh(".", "'%s' runs --drop all", cordon);
}

/* The audit names the changes and the run, and the report shows them. */
static void test_report(void)
{
    start_simple();
    sh("ws",
       "rm -f ../audit; '%s' run --undo --audit ../audit -- sh -c 'echo more >> a; rm c; mv src/b "
       "src/q; touch "
       "\"<i>\"'",
       cordon);
    sh("ws", "'%1$s' report ../audit > ../page; '%1$s' report --json ../audit > ../json", cordon);
    ok(sh(".",
          "grep -c '\"type\":\"change\"' audit | grep -qx 4 && grep -q "
          "'\"op\":\"file.rename\",\"target\":\"[^\"]*/ws/src/b\",\"target2\":\"[^\"]*/ws/src/q\"' "
          "audit && grep -q "
          "'\"undo\":\"2.*\"created\":1,\"modified\":1,\"deleted\":1,\"renamed\":1' "
          "audit") == 0,
       "the audit names the changes, their counts and the run");
    ok(sh(".", "grep -q 'created</span> <code>&lt;i&gt;</code>' page && ! grep -q '<i>' page && "
               "grep -q 'cordon undo 2' page && grep -q '\"deleted\":1' json") == 0,
       "and the report shows them");
    sh("ws", "rm ../audit; '%s' run --audit ../audit -- sh -c 'echo more >> a'", cordon);
    ok(sh(".", "! grep -q '\"change\"' audit && ! grep -q '\"undo\"' audit") == 0,
       "control: without --undo there are none");
    sh(".", "'%s' runs --drop all; rm audit", cordon);
    sh("ws",
       "'%s' run --undo --audit ../audit -- sh -c 'for i in $(seq 2500); do : > n$i; done'; '%s' "
       "report ../audit > ../page",
       cordon, cordon);
    ok(sh(".", "test $(grep -c '\"change\"' audit) = 2000 && grep -q '\"created\":2500' audit && "
               "grep -q 'and 500 more changes' page") == 0,
       "2,000 are named, and all are counted");
    sh(".", "'%s' runs --drop all", cordon);
}

/* Names and contents that a terminal would obey are spelled out; a file or pipe gets the bytes. */
static void test_terminal(void)
{
    static const char strange[] = "$'\\u009b2J\\u202ex'";
    fresh("ws");
    sh("ws", "'%s' run --undo -- bash -c \"touch %s; printf 'hidden\\033[2K\\n' > a\" 2> ../said",
       cordon, strange);
    sh("ws",
       "'%1$s' changes > ../changes; '%1$s' changes --json > ../json; '%1$s' undo --dry-run > "
       "../plan 2>&1; '%1$s' changes --diff a > ../diff; script -qec \"'%1$s' changes --diff "
       "a\" /dev/null > ../shown",
       cordon);
    ok(sh(".",
          "! grep -q $(printf '\\302\\233') said changes json plan && grep -q 'u{9b}2J' changes "
          "&& grep -q 'u009b2J' json") == 0,
       "a name that moves the cursor is spelled out");
    ok(sh(".", "grep -q $(printf 'hidden\\033') diff") == 0 &&
           sh(".", "! grep -q $(printf 'hidden\\033') shown && grep -q 'hidden.u{1b}' shown") == 0,
       "a content that hides its line is spelled out on a terminal, and only there");
    sh("ws", "'%s' undo", cordon);
}

static void test_holes(void)
{
    fresh("ws");
    sh("ws", "truncate -s 64M sparse; echo end >> sparse; head -c 200000 /dev/urandom > solid; "
             "truncate -s 1M solid");
    char *before = snapshot_of("ws");
    sh("ws", "'%s' run --undo --undo-limit 4M -- sh -c 'echo x >> sparse; echo x >> solid'",
       cordon);
    ok(sh("ws", "'%s' undo", cordon) == 0 && is_same(before, "ws") &&
           sh("ws", "test $(du -k sparse | cut -f1) -lt 1024") == 0,
       "holes of a file are neither counted nor filled");
    free(before);
    sh(".", "'%s' runs --drop all", cordon);
}

/* A formatter over a large tree. */
static void test_many(void)
{
    fresh("ws");
    sh("ws",
       "for d in $(seq 50); do mkdir d$d; for f in $(seq 100); do echo \"old $d $f\" > d$d/f$f; "
       "done; done; find . -exec touch -h -d @1500000000 {} +");
    char *before = snapshot_of("ws");
    int code =
        sh("ws", "'%s' run --undo -- sh -c 'find . -type f | xargs sed -i s/old/new/' 2> ../said",
           cordon);
    ok(code == 0 && sh(".", "grep -q ' 5000 modified' said") == 0 &&
           sh("ws", "! grep -rq old .") == 0 && !is_equal(before, "ws"),
       "5,000 files are rewritten");
    ok(sh("ws", "'%s' undo", cordon) == 0 && is_same(before, "ws"),
       "and taken back: all are equal");
    free(before);
    sh(".", "'%s' runs --drop all", cordon);
}

/* The disk fills up: while files are kept, and while they are restored. */
static void test_full(void)
{
    static const char *const what = "a full disk";
    sh(".", "mkdir -p small");
    if (geteuid() || sh(".", "mount -t tmpfs -o size=8m tmpfs small")) {
        skip(what, "needs the right to mount");
        return;
    }
    fresh("ws");
    sh("ws", "head -c 9000000 /dev/urandom > large; cp large ../large; echo one > a");
    int code =
        sh("ws",
           "XDG_STATE_HOME='%s/small' '%s' run --undo -- sh -c 'echo x >> large; echo x >> a' "
           "2> ../said",
           top, cordon);
    ok(code == 0 && sh(".", "grep -q 'the disk is full' said") == 0,
       "a file that does not fit is said, and the run goes on (%d)", code);
    code = sh("ws", "XDG_STATE_HOME='%s/small' '%s' undo 2> ../said", top, cordon);
    ok(code == 1 && sh(".", "grep -q 'left alone: large: it was not kept' said") == 0 &&
           sh("ws", "test \"$(cat a)\" = one && tail -c 2 large | grep -qx x") == 0,
       "undo names it and restores the rest (%d)", code);
    sh("ws", "cp ../large large; XDG_STATE_HOME='%s/small' '%s' runs --drop all", top, cordon);
    code =
        sh("ws",
           "XDG_STATE_HOME='%s/small' '%s' run --undo=strict -- sh -c 'echo x >> large'; cmp large "
           "../large",
           top, cordon);
    ok(code == 0, "--undo=strict refuses the change instead");
    sh(".", "umount small; mount -t tmpfs -o size=8m tmpfs small; mkdir small/ws");

    sh("small/ws", "head -c 3000000 /dev/urandom > large; cp large ../../large; echo one > a; echo "
                   "two > b; touch -d @1500000000 a b large");
    sh("small/ws", "'%s' run --undo --quiet -- sh -c 'echo x > large; echo x >> a; rm b'", cordon);
    sh("small", "head -c 6000000 /dev/zero > filler; echo mine > ws/mine");
    code = sh("small/ws", "'%s' undo 2> ../../said", cordon);
    ok(code == 1 && sh(".", "grep -q 'not restored: large: No space left on device' said") == 0,
       "undo without room says so (%d)", code);
    ok(sh("small/ws", "grep -qx x large && grep -qx one a && grep -qx two b && test \"$(ls -A | tr "
                      "'\\n' ' ')\" = 'a b large mine '") == 0,
       "the file is as the run left it, nothing is half restored and nothing is left behind");
    ok(sh("small/ws", "rm ../filler; '%s' undo && cmp large ../../large && grep -qx mine mine",
          cordon) == 0,
       "control: with room, the next undo restores it");
    sh(".", "umount small; '%s' runs --drop all", cordon);
}

/* Where the file system clones files, a large one is kept and restored without a copy. */
static void test_clone(const char *type)
{
    char what[64];
    snprintf(what, sizeof what, "a file of 1 GiB on %s", type);
    sh(".", "mkdir -p clones");
    if (geteuid() || sh(".",
                        "truncate -s 2G clones.img && mkfs.%s clones.img && mount -o loop "
                        "clones.img clones && mkdir clones/ws clones/state",
                        type)) {
        skip(what, "needs the right to mount, and mkfs and a kernel for it");
        sh(".", "rm -f clones.img");
        return;
    }
    /* There is room for it once only. */
    sh("clones/ws",
       "head -c 1073741824 /dev/zero | tr '\\0' x > big && printf y >> big && echo one > a "
       "&& touch -d @1500000000 big a");
    int code =
        sh("clones/ws",
           "export XDG_STATE_HOME='%s/clones/state'; '%s' run --undo -- sh -c 'printf z >> big; "
           "echo two > a' 2> ../../said",
           top, cordon);
    ok(code == 0 && sh("clones", "! grep -q 'cannot be taken back' ../said && test $(stat -c %%s "
                                 "state/cordon/runs/2*/objects/0) = 1073741825") == 0,
       "%s is kept where a copy has no room (%d)", what, code);
    code = sh("clones/ws", "XDG_STATE_HOME='%s/clones/state' '%s' undo", top, cordon);
    ok(code == 0 && sh("clones/ws", "test $(stat -c %%s-%%Y big) = 1073741825-1500000000 && test "
                                    "$(tail -c 2 big) = xy && grep -qx one a") == 0,
       "and restored (%d)", code);
    sh("clones/ws", "XDG_STATE_HOME='%s/clones/state' '%s' runs --drop all", top, cordon);
    ok(sh("clones", "! cp --reflink=never ws/big copy") == 0, "control: a copy has none");
    sh(".", "umount clones; rm -f clones.img");
}

static void test_clones(void)
{
    test_clone("btrfs");
    test_clone("xfs");
}

static void test_programs(void)
{
    static const struct {
        const char *what, *needs, *prepare, *command;
    } programs[] = {
        {"rm -rf src", "rm",
         "mkdir -p src/a/b; for i in 1 2 3 4 5; do echo $i > src/a/$i; echo $i > src/a/b/$i; done",
         "rm -rf src"},
        {"sed -i over many files", "sed", "for i in $(seq 200); do echo old $i > f$i; done",
         "sed -i s/old/new/ f*"},
        {"git checkout of another branch", "git",
         "git init -q . && git config user.email a@b && git config user.name n && mkdir d && echo "
         "1 > d/x && echo 2 > y "
         "&& git add . && git commit -qm one && git checkout -qb two && git rm -rq d && echo 3 > y "
         "&& echo 4 > z && git "
         "add . && git commit -qm two && git checkout -q -",
         "git checkout two"},
        {"make clean", "make",
         "printf 'all:\\n\\ttouch a.o b.o\\nclean:\\n\\trm -f *.o\\n' > Makefile; make",
         "make clean"},
        {"mv and cp -a", "cp", "mkdir -p a/b; echo 1 > a/b/c; ln -s b a/l; ln a/b/c a/h",
         "cp -a a z; mv a y; rm -r z"},
        {"npm install of a local package", "npm",
         "mkdir p; echo '{\"name\":\"p\",\"version\":\"1.0.0\"}' > p/package.json; echo "
         "'{\"name\":\"q\",\"version\":\"1.0.0\"}' > package.json",
         "npm install --offline --no-audit --no-fund ./p"}};
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        if (sh(".", "command -v %s", programs[i].needs)) {
            skip(programs[i].what, "it is not on this machine");
            continue;
        }
        fresh("ws");
        sh("ws", "%s", programs[i].prepare);
        sh("ws", "find . -exec touch -h -d @1500000000 {} +");
        char *before = snapshot_of("ws");
        int code = sh("ws", "HOME='%s/home' '%s' run --undo --git=commit -- sh -c '%s'", top,
                      cordon, programs[i].command);
        char *after = snapshot_of("ws");
        bool changed = strcmp(before, after) != 0;
        int undone = sh("ws", "'%s' undo", cordon);
        ok(code == 0 && changed && undone == 0 && is_same(before, "ws"), "%s, taken back (%d, %d)",
           programs[i].what, code, undone);
        free(before);
        free(after);
        sh(".", "'%s' runs --drop all", cordon);
    }
}

#define TEST(name)         \
    {                      \
#name, test_##name \
    }
static const struct {
    const char *name;
    void (*run)(void);
} tests[] = {TEST(commands),
             TEST(again),
             TEST(unused_root),
             TEST(touched),
             TEST(long_copies),
             TEST(many_copies),
             TEST(renamed),
             TEST(parts),
             TEST(unknown),
             TEST(conflicts),
             TEST(links),
             TEST(closed),
             TEST(owner),
             TEST(full_folder),
             TEST(already),
             TEST(unmarked),
             TEST(attacks),
             TEST(bad),
             TEST(limits),
             TEST(very_many_runs),
             TEST(damaged_content),
             TEST(sessions),
             TEST(full),
             TEST(clones),
             TEST(many),
             TEST(programs),
             TEST(next),
             TEST(at_the_same_time),
             TEST(above),
             TEST(since),
             TEST(nothing),
             TEST(chosen),
             TEST(report),
             TEST(terminal),
             TEST(holes),
             TEST(in_order),
             TEST(kill_empty),
             TEST(kill),
             TEST(model)};
#undef TEST

int main(void)
{
    if (!undo_begin("undo"))
        return tap_done();
    const char *only = getenv("CORDON_UNDO_TEST");
    if (getenv("CORDON_UNDO_SEED")) {
        test_model();
        return box_done();
    }
    if (getenv("CORDON_UNDO_KILLS")) {
        test_kill_empty();
        test_kill();
        return box_done();
    }
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        if (!only || strcmp(only, tests[i].name) == 0)
            tests[i].run();
    return box_done();
}
