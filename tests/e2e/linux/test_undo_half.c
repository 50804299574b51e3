/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An undo that is killed on its way, at any of the calls that it makes: the next one takes back what
 * it did and goes on, or names what it leaves. CORDON_SOAK has 300 random folders; CORDON_UNDO_KILLS=N
 * or N-M are the folders of these numbers alone.
 */
#include "undo.h"

/* The exit code; 137 if it was killed before the N-th call. */
static int undo_killed(unsigned call, const char *words)
{
    return sh("ws", "CORDON_FAULT_KILL=%u '%s/%s' undo %s > ../said.killed 2>&1", call, project,
              CORDON_FAULTS, words);
}

static bool nothing_is_left(void)
{
    return sh("ws",
              "! ls -A | grep -q cordon-undo && ! '%s' runs | grep -q interrupted && test -z "
              "\"$(find ../state -path '*/objects/*' -links +1)\"",
              cordon) == 0;
}

static unsigned between; /* undos that were killed when the folder was neither */

/* Up to three undos are killed, each of which finds what the one before left. */
static bool killed(unsigned seed)
{
    fill_folder(seed + 700000);
    char *before = snapshot_of("ws");
    sh("ws", "'%s' run --undo --quiet -- '%s' %u %u %u", cordon, undo_probe, seed, 5 + seed % 60,
       1 + seed % 3);
    char *after = snapshot_of("ws");
    unsigned random = seed * 2654435761u;
    int code = 137;
    for (int i = 0; i < 3 && code == 137; i++) {
        random = random * 1103515245u + 12345u;
        code = undo_killed(20 + (random >> 16) % (i ? 250 : 400), "");
        if (code == 137 && !is_equal(before, "ws") && !is_equal(after, "ws"))
            between++;
    }
    bool good = true;
    if (code == 137) {
        code = sh("ws", "'%s' undo > ../said.out 2> ../said", cordon);
        good = code == 0 || is_nothing(code);
    } else
        good = code == 0 || code == 125; /* it came to its end */
    good = good && is_same(before, "ws") && nothing_is_left();
    if (!good) {
        note("folder %u: %d", seed, code);
        sh(".", "cat said | head -n 5 | sed 's/^/# /'");
    }
    if (good && seed % 4 == 0 && strcmp(before, after) != 0) {
        good = sh("ws", "'%s' undo $('%s' runs | head -1 | cut -d' ' -f1)", cordon, cordon) == 0 &&
               is_same(after, "ws");
        if (!good)
            note("folder %u: the undo taken back", seed);
    }
    free(before);
    free(after);
    sh(".", "'%s' runs --drop all", cordon);
    return good;
}

static void test_killed(void)
{
    const char *only = getenv("CORDON_UNDO_KILLS"), *soak = getenv("CORDON_SOAK");
    unsigned first = 1, last = soak ? 300 : 24 / (unsigned)box_slow() + 1, bad = 0, done = 0;
    if (only && sscanf(only, "%u-%u", &first, &last) == 1)
        last = first;
    for (unsigned seed = first; seed <= last && bad < 5; seed++, done++)
        bad += !killed(seed);
    ok(bad == 0, "%u folders, undos killed up to three times: the next one restores everything",
       done);
    ok(between > 0 || only, "control: %u of them were killed half-way", between);
}

/* Eight files, and an undo that was killed when some of them were restored. False: none was. */
static bool half_restored(void)
{
    static unsigned call = 100;
    for (; call < 2000; call += 10) {
        sh(".", "'%s' runs --drop all", cordon);
        fresh("ws");
        sh("ws", "for i in 1 2 3 4 5 6 7 8; do echo old > f$i; done; touch -d @1500000000 f* .");
        sh("ws",
           "'%s' run --undo --quiet -- sh -c 'for i in 1 2 3 4 5 6 7 8; do echo new > f$i; done'",
           cordon);
        if (undo_killed(call, "") != 137)
            return false;
        if (sh("ws", "n=$(grep -lx old f? | wc -l); test $n -gt 1 -a $n -lt 8 && grep -qx old f1 "
                     "&& grep -qx new f8") == 0)
            return true;
    }
    return false;
}

static void test_said(void)
{
    static const char line[] = "cordon: the undo [-0-9a-f]+ of run [-0-9a-f]+ was interrupted: ";
    if (!half_restored()) {
        ok(false, "an undo is killed half-way");
        return;
    }
    ok(sh("ws",
          "'%s' changes 2>&1 > ../out | grep -Eqx '%sthe next cordon undo takes back what it "
          "did' && grep -q 'f8' ../out",
          cordon, line) == 0,
       "changes says that an undo was interrupted");
    ok(sh("ws",
          "'%1$s' runs | grep -c '(interrupted: ' | grep -qx 1 && '%1$s' runs --json | grep "
          "-q '\"interrupted\":true'",
          cordon) == 0,
       "and runs");
    char *half = snapshot_of("ws");
    ok(sh("ws", "'%s' undo --dry-run 2>&1 | grep -Eq '%s'", cordon, line) == 0 &&
           is_same(half, "ws"),
       "a dry run says it, and changes nothing");
    free(half);
    ok(sh("ws", "'%s' undo > ../out 2> ../said", cordon) == 0 &&
           sh("ws",
              "test $(grep -lx old f? | wc -l) = 8 && test $(grep -c restored ../out) = 8 "
              "&& grep -Eqx '%swhat it did is taken back first' ../said",
              line) == 0 &&
           nothing_is_left(),
       "undo says it, and restores every file");
    ok(sh("ws",
          "'%1$s' runs | wc -l | grep -qx 2 && '%1$s' undo 2>&1 | grep -q 'left to take "
          "back'",
          cordon) == 0,
       "the run and its undo are left");

    if (!half_restored())
        return;
    ok(sh("ws",
          "'%s' undo --json > ../out && python3 -c 'import json; "
          "r=json.load(open(\"../out\"))[\"runs\"]; assert len(r)==2 and "
          "r[0][\"interrupted\"] and r[1][\"done\"]==8 and \"interrupted\" not in r[1]'",
          cordon) == 0,
       "undo --json has it as a run of its own");

    /* A folder with what the undo was working on, which somebody looks into and changes. */
    if (!half_restored())
        return;
    sh("ws", "echo mine > f1");
    int code = sh("ws", "'%s' undo > ../out 2> ../said", cordon);
    ok(code == 1 &&
           sh("ws", "grep -qx mine f1 && grep -q 'left alone: f1: ' ../said && grep -q 'could not "
                    "be taken back completely, and run .* waits for it; .*cordon undo --force; .*"
                    "cordon runs --drop ' ../said") == 0,
       "what somebody changed since is named and stays (%d)", code);
    code = sh("ws", "'%s' undo 2> ../said", cordon);
    ok(code == 1 && sh("ws", "grep -qx mine f1") == 0, "the next one says it again (%d)", code);
    code = sh("ws", "'%s' undo --force f2 2> ../said", cordon);
    ok(code == 1 && sh("ws", "grep -qx mine f1") == 0,
       "--force for another path is not for this one (%d)", code);
    code = sh("ws", "'%s' undo --force 2> ../said", cordon);
    ok(code == 0 && sh("ws", "test $(grep -lx old f? | wc -l) = 8") == 0 && nothing_is_left(),
       "--force restores over it (%d)", code);
    ok(sh("ws", "'%s' runs | wc -l | grep -qx 3", cordon) == 0,
       "of the attempts only the journal of what it restored over is left");
    ok(sh("ws",
          "id=$(sed -n 's/.*this restored over is kept; .*: cordon undo --force \\(.*\\) "
          "FILE/\\1/p' ../said) "
          "&& '%s' undo --force $id f1 && grep -qx mine f1",
          cordon) == 0,
       "from which it comes back");

    /* Its time says nothing. */
    if (!half_restored())
        return;
    sh("ws", "cp -p f1 ../ref && echo mine > f1 && touch -r ../ref f1");
    code = sh("ws", "'%s' undo > ../out 2> ../said", cordon);
    ok(code == 1 && sh("ws", "grep -qx mine f1 && grep -q 'left alone: f1: ' ../said") == 0,
       "what somebody changed since stays, if its time was set back too (%d)", code);

    if (!half_restored())
        return;
    sh("ws", "echo mine > f1; cp -a . ../copy");
    code = sh("ws",
              "'%1$s' runs --drop $('%1$s' runs | grep interrupted | cut -d' ' -f1) && "
              "'%1$s' undo 2> ../said",
              cordon);
    ok(code == 1 && sh("ws", "grep -qx mine f1 && ! '%s' runs | grep -q interrupted", cordon) == 0,
       "or its journal is dropped, and the run is taken back as far as that goes (%d)", code);
    sh(".", "rm -rf copy");

    /* Among so many journals that it is not listed. */
    if (!half_restored())
        return;
    fresh("other");
    sh("state/cordon/runs",
       "ls > ../../../ids; seq 5000 | awk '{printf \"20990101-%%06d-0a1b\\n\", $1}' | xargs mkdir");
    sh("other", "echo x > x; '%s' run --undo --quiet -- sh -c 'echo y > x'; '%s' undo", cordon,
       cordon);
    ok(sh("state/cordon/runs", "rm -rf 2099*; ls | grep -cxFf ../../../ids | grep -qx 1") == 0 &&
           sh("ws", "'%s' runs | grep -q '(interrupted: '", cordon) == 0,
       "of journals that are not listed an interrupted undo stays, and the others go");

    /* A run in between is taken back first. */
    if (!half_restored())
        return;
    sh("ws", "'%s' run --undo --quiet -- sh -c 'echo later > f8'", cordon);
    ok(sh("ws",
          "'%1$s' undo && grep -qx new f8 && grep -qx old f1 && '%1$s' undo && test $(grep "
          "-lx old f? | wc -l) = 8",
          cordon) == 0 &&
           nothing_is_left(),
       "a later run is taken back before it");

    /* By its id, and the undo of an undo. */
    if (!half_restored())
        return;
    ok(sh("ws",
          "'%1$s' undo $('%1$s' runs | grep interrupted | cut -d' ' -f1) && test $(grep -lx "
          "new f? | wc -l) = 8",
          cordon) == 0 &&
           nothing_is_left(),
       "the interrupted undo alone is taken back by its id");
    sh("ws", "'%s' undo", cordon);
    char *before = snapshot_of("ws"), words[1400];
    bool differs = false;
    snprintf(words, sizeof words, "$('%s' runs | head -1 | cut -d' ' -f1)", cordon);
    code = 137;
    for (unsigned call = 100; call < 2000 && !differs && code == 137; call += 20) {
        code = undo_killed(call, words);
        differs = code == 137 && !is_equal(before, "ws");
        if (!differs)
            sh("ws", "'%s' undo", cordon);
    }
    code = code == 137 ? sh("ws", "'%s' undo", cordon) : code;
    ok(code == 0 && differs && is_same(before, "ws") && nothing_is_left(),
       "the undo of an undo was interrupted: what it did is taken back (%d)", code);
    free(before);
    sh(".", "'%s' runs --drop all", cordon);
}

/* What a killed undo left, changed by a command that ran in between. */
static void test_attacked(void)
{
    static const char *const attacks[] = {
        "for s in .cordon-undo-*; do mv $s away; ln -s ../out $s; done",
        "for s in .cordon-undo-*; do for f in $s/*; do ln -sfn ../../out/p $f; done; done",
        "for s in .cordon-undo-*; do for f in $s/*; do ln -f ../out/p $f; done; done",
        "for s in .cordon-undo-*; do ln ../out/p $s/p; ln -s ../../out $s/99; done",
        "for f in f?; do ln -f ../out/p $f; done",
        "for f in f?; do ln -sf ../out/p $f; done",
        "rm -rf .cordon-undo-* f?; mkdir f1 f2; ln -s ../../out f1/x",
    };
    for (size_t i = 0; i < sizeof attacks / sizeof *attacks; i++) {
        fresh("out");
        sh("out", "echo precious > p; chmod 640 p; touch -d @1400000000 p .");
        char *outside = snapshot_of("out");
        if (!half_restored())
            return;
        sh("ws", "%s", attacks[i]);
        int code = sh("ws", "'%s' undo 2> ../said", cordon);
        int forced = sh("ws", "'%1$s' undo --force 2> ../said; '%1$s' undo --force", cordon);
        /* What stays named in the folder or in journals is a name of the same file. */
        sh(".", "rm -rf ws; '%s' runs --drop all", cordon);
        ok((code == 0 || code == 1 || code == 125) && forced >= 0 && is_same(outside, "out"),
           "nothing outside is touched after: %s (%d, %d)", attacks[i], code, forced);
        free(outside);
    }
}

int main(void)
{
    if (!undo_begin("undo-half"))
        return tap_done();
    test_killed();
    if (!getenv("CORDON_UNDO_KILLS")) {
        test_said();
        test_attacked();
    }
    return box_done();
}
