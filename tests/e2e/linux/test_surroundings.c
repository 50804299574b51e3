/* SPDX-License-Identifier: Apache-2.0 */
/* The surroundings of a run fail: the disk, folders, files and handles. Nothing outside changes,
   nothing hangs, and every failure is reported. Each with its neighbour where all is well. */
#include "harness.h"

static const struct {
    const char *what, *line;
    int code;         /* -1: any but a hang */
    const char *says; /* in what it prints; NULL: nothing is asked of it */
} rows[] = {
    {"control: all is well", "'$C' run --audit ../log -- sh -c '$W'", 0, NULL},
    {"the audit's disk is full", "'$C' run --audit /dev/full -- sh -c '$W'", -1,
     "events are missing"},
    {"the audit's folder is not there", "'$C' run --audit ../no/log -- sh -c '$W'", 125,
     "../no/log"},
    {"the audit file goes away meanwhile",
     "(sleep 0.3; rm -f ../log) & '$C' run --audit ../log -- sh -c 'sleep 0.6; $W'", 0, NULL},
    {"the temp folder is not there", "TMPDIR=/nowhere '$C' run -- sh -c '$W'", -1, NULL},
    {"nor can a private one be made", "TMPDIR=/nowhere '$C' run --temp=private -- sh -c '$W'", 125,
     "/nowhere"},
    {"the temp folder is a file",
     "touch ../f; TMPDIR=$PWD/../f '$C' run --temp=private -- sh -c '$W'", 125, "/f"},
    {"a root is not there", "'$C' run --root . --root ../no -- sh -c '$W'", 125, "../no"},
    {"a root is a file", "touch ../log; '$C' run --root . --root ../log -- sh -c '$W'", 125,
     "../log"},
    {"the current directory is gone", "mkdir g; cd g; rmdir ../g; '$C' run -- sh -c '$W'", 125,
     "directory"},
    {"the root goes away meanwhile",
     "mkdir ../r; (sleep 0.3; rm -rf ../r) & "
     "'$C' run --root ../r --root . -- sh -c 'sleep 0.6; echo x > ../r/new; $W'",
     0, NULL},
    {"the root is exchanged for a link meanwhile",
     "mkdir ../r; (sleep 0.3; rm -rf ../r; ln -s out ../r) & "
     "'$C' run --root ../r --root . -- sh -c 'sleep 0.6; echo x > ../r/file; $W'",
     0, NULL},
    {"the root is read-only",
     "unshare -m sh -c 'mount --bind . . && mount -o remount,bind,ro . && cd . && "
     "exec \"$C\" run -- sh -c \"$W\"'",
     -1, NULL},
    {"no standard handles", "'$C' run -- sh -c '$W' <&- >&- 2>&-", -1, NULL},
    {"nobody reads what it prints", "'$C' run -- sh -c 'yes; $W' | head -c 1", -1, NULL},
    {"its policy file is not there", "'$C' run --policy ../no.toml -- sh -c '$W'", 125, "no.toml"},
    {"its terminal is closed",
     "'$C' run -- sh -c '$W; sleep 20; echo x > late' & sleep 0.5; kill -HUP $!; wait $!; "
     "sleep 0.2; ! test -e late",
     0, NULL},
    {"few descriptors are left", "ulimit -n 8; '$C' run -- sh -c '$W'", -1, NULL},
    {"no file may grow", "ulimit -f 0; '$C' run --audit ../log -- sh -c '$W'", -1, NULL},
};

int main(void)
{
    if (!box_make("surroundings-test"))
        return box_done();
    setenv("C", cordon, 1);
    /* A write outside, which must never work, and one inside. */
    setenv("W", "echo new 2>/dev/null > ../out/file; echo x > new; exit 0", 1);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char line[4000];
        sh(".",
           "rm -rf ws out log r f g; mkdir ws out; echo old > out/file; rm -f said; touch said");
        /* The names in quotes are meant to be filled in. */
        snprintf(line, sizeof line, "%s", rows[i].line);
        setenv("LINE", line, 1);
        int code = sh("ws", "line=$(printf '%%s' \"$LINE\" | awk -v c=\"$C\" -v w=\"$W\" "
                            "'{ gsub(/\\$C/, c); gsub(/\\$W/, w); print }'); "
                            "timeout -s KILL 20 sh -c \"{ $line; } 2>../said\"");
        bool kept = sh("out", "test \"$(cat file)\" = old && test \"$(ls)\" = file") == 0;
        bool said = !rows[i].says || sh(".", "grep -q -- '%s' said", rows[i].says) == 0;
        if (!ok(kept && said && code != 137 && (rows[i].code < 0 || code == rows[i].code), "%s",
                rows[i].what)) {
            note("code %d, outside %s", code, kept ? "as it was" : "changed");
            sh(".", "cat said >&2");
        }
        if (i == 0)
            ok(sh("ws", "test -s new") == 0, "control: it did what it does");
    }
    sh(".", "ls temp > left; rm -rf r");
    ok(sh(".", "test ! -s left") == 0, "no temp folder is left");
    return box_done();
}
