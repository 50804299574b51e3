/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deny-read, end to end: each way of reading shows the secret without the rule (the control) and
 * shows nothing with it, for a secret inside a root (the broker keeps it) and outside (the kernel
 * too).
 */
#include "harness.h"

static const char *build = "";

/* S is the secret's folder: in a root or outside. */
static void fresh(void)
{
    sh(".",
       "rm -rf ws out home; mkdir -p ws/in/keys out/in/keys home/.ssh home/.config && "
       "for d in ws/in out/in; do echo TOPSECRET > $d/secret; echo TOPSECRET > $d/keys/one; "
       "echo fine > $d/beside; printf '#!/bin/sh\\necho TOPSECRET\\n' > $d/script; "
       "printf '#!/bin/sh\\necho fine\\n' > $d/other; chmod +x $d/script $d/other; done; "
       "ln ws/in/secret ws/hard; ln -s in/secret ws/soft; ln -s in/keys ws/softkeys; "
       "echo TOPSECRET > home/.ssh/id; echo TOPSECRET > home/.netrc; echo fine > home/other; "
       "mkdir ws/dot; echo TOPSECRET > ws/dot/gh; ln -s '%s/ws/dot' home/.config/gh",
       top);
}

struct way {
    const char *what, *script;
};

/* Run in ws; $S/secret, $S/keys and $S/script are denied. */
static const struct way ways[] = {
    {"open", "cat $S/secret"},
    {"a redirection", "read line < $S/secret; echo $line"},
    {"through ..", "cat in/../$S/secret"},
    {"through a link", "ln -s $PWD/$S/secret l; cat l"},
    {"through a folder link", "ln -s $PWD/$S l; cat l/secret"},
    {"below a denied folder", "cat $S/keys/one"},
    {"from within the folder", "cd $S/keys && cat one"},
    {"a hard link", "ln $S/secret l; cat l"},
    {"a rename", "mv $S/secret m; cat m"},
    {"the folder above moved", "mv $S m; cat m/keys/one"},
    {"a copy", "cp $S/secret c; cat c"},
    {"dd", "dd if=$S/secret"},
    {"as a script of sh", "sh $S/script"},
    {"as a program", "$S/script"},
    {"by a child of a child of a child", "sh -c \"sh -c \\\"cat $S/secret\\\"\""},
    {"tar", "tar cf - $S | cat"},
    {"openat2", "\"$P\" openat2 $S/secret"},
    {"open for reading and writing", "\"$P\" read-write $S/secret"},
    {"the old open", "\"$P\" open $S/secret"},
    {"mmap", "\"$P\" mmap $S/secret"},
    {"sendfile", "\"$P\" sendfile $S/secret"},
    {"a path opened again", "\"$P\" path $S/secret"},
    {"a path opened again without a name", "\"$P\" unlinked-path $S/secret"},
    {"a file for writing opened again", "\"$P\" unlinked-write $S/secret"},
    {"/proc/self/root", "\"$P\" root $S/secret"},
    {"/proc/self/cwd", "\"$P\" cwd $S/secret"},
    {"a folder's descriptor", "\"$P\" folder $S secret"},
    {"a folder's path descriptor", "\"$P\" folder-path $S/keys one"},
    {"open or create", "\"$P\" append $S/secret"},
    {"another thread", "\"$P\" thread $S/secret"},
    {"a flipped path", "\"$P\" flip $S/secret $S/beside"},
    {"a flipped program", "\"$P\" exec-flip $S/script $S/other"},
};

static const struct way allowed[] = {
    {"a file beside it", "cat $S/beside"},
    {"the names in it", "ls $S/keys | grep -q one && echo fine"},
    {"its size", "test $(stat -c %s $S/secret) = 10 && echo fine"},
    {"an exception", "cat $S/keys/two"},
    {"a program beside it", "$S/other"},
    {"a new program", "cp $S/other p && ./p"},
    {"one's own /proc", "grep -q Name /proc/self/status && echo fine"},
    {"/proc of its thread", "grep -q Name /proc/thread-self/status && echo fine"},
    {"a device", "head -c 4 /dev/zero | wc -c | grep -q 4 && echo fine"},
    {"a pipe by its name", "mkfifo p; echo fine > p & cat p"},
    {"its own input", "echo fine | cat /dev/stdin"},
    {"a program of one's own by /proc", "test -s /proc/self/exe && echo fine"},
    {"other processes' names", "test -n \"$(cat /proc/1/comm)\" && echo fine"},
    {"a folder", "ls / > /dev/null && echo fine"},
    {"writing and reading", "echo fine > n && cat n"},
};

static int run_in(const char *folder, const char *options, const char *script)
{
    return sh("ws", "S=%s P='%s'; export S P; %s%s%s sh -c '%s' > ../got 2>/dev/null", folder,
              probe, options ? cordon : "", options ? " run --quiet " : "", options ? options : "",
              script);
}

static void test_place(const char *folder, const char *where, const char *roots)
{
    char options[1024];
    snprintf(options, sizeof options,
             "%s --deny-read %s/secret --deny-read %s/keys --deny-read %s/script --allow-read "
             "%s/keys/two --",
             roots, folder, folder, folder, folder);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        bool control = false;
        for (int tries = 0; tries < 5 && !control; tries++) { /* races are lost sometimes */
            fresh();
            run_in(folder, NULL, ways[i].script);
            control = sh(".", "grep -q TOPSECRET got") == 0;
        }
        fresh();
        run_in(folder, options, ways[i].script);
        ok(control && sh(".", "! grep -q TOPSECRET got") == 0, "%sdenied, %s: %s", build, where,
           ways[i].what);
    }
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++) {
        fresh();
        sh("ws", "echo fine > %s/keys/two", folder);
        run_in(folder, options, allowed[i].script);
        ok(sh(".", "grep -q fine got") == 0, "%sallowed, %s: %s", build, where, allowed[i].what);
    }
}

static void test_names(void)
{
    fresh();
    ok(run_in("in", "--deny-read in/secret --", "cat hard") != 0 &&
           sh(".", "! grep -q TOPSECRET got") == 0,
       "denied: another name that the file already had");
    run_in("in", "--deny-read soft --", "cat in/secret");
    ok(sh(".", "! grep -q TOPSECRET got") == 0, "denied: what a link leads to that a rule names");
    run_in("in", "--deny-read softkeys --", "cat in/keys/one");
    ok(sh(".", "! grep -q TOPSECRET got") == 0, "denied: what a folder link leads to");
    run_in("in", "--", "cat in/secret");
    ok(sh(".", "grep -q TOPSECRET got") == 0, "control: without a rule it is read");
    ok(sh("ws",
          "'%s' run --json --deny-read in/secret -- cat in/secret 2>&1 | grep -q "
          "'\"op\":\"file.read\".*\"rule\":\"read.denied\"'",
          cordon) == 0,
       "a denied read is reported with its rule");
    sh("ws",
       "(sleep 0.3; echo fine > ../out/in/later) & '%s' run --root . --deny-read "
       "../out/in/secret -- sh -c 'sleep 0.6; cat ../out/in/later' > ../got; wait",
       cordon);
    ok(sh(".", "grep -q fine got") == 0, "allowed: a file that came later, beside the secret");
    setenv("MARK", "TOPSECRET", 1);
    sh("ws", "S=in P='%s' O=$$; export S P O; \"$P\" outside-environ $O > ../got", probe);
    bool control = sh(".", "grep -q TOPSECRET got") == 0;
    sh("ws",
       "S=in P='%s' O=$$; export S P O; '%s' run --deny-read in/secret -- \"$P\" "
       "outside-environ $O > ../got",
       probe, cordon);
    ok(control && sh(".", "! grep -q TOPSECRET got") == 0,
       "denied: the environment of a process outside");
    unsetenv("MARK");
    if (geteuid() == 0)
        ok(sh("ws", "! '%s' run --deny-read in/secret -- head -c 1 /proc/kcore", cordon) == 0,
           "denied: kernel memory, as root");
}

static void test_credentials(void)
{
    char home[1100];
    fresh();
    snprintf(home, sizeof home, "%s/home", top);
    const char *before = getenv("HOME");
    char *old = strdup(before ? before : "/");
    setenv("HOME", home, 1);
    ok(run_in("in", "--", "cat ~/.ssh/id") == 0, "control: credentials are read without the list");
    ok(run_in("in", "--deny-read @credentials --", "cat ~/.ssh/id") != 0 &&
           run_in("in", "--deny-read @credentials --", "cat ~/.netrc") != 0,
       "denied: credentials with the list");
    ok(run_in("in", "--deny-read @credentials --", "cat dot/gh") != 0,
       "denied: where a link of the list leads");
    ok(run_in("in", "--deny-read @credentials --", "cat ~/other") == 0,
       "allowed: what lies beside them");
    ok(run_in("in", "--deny-read @credentials --allow-read ~/.ssh/id --", "cat ~/.ssh/id") == 0,
       "allowed: one that is lifted");
    setenv("HOME", old, 1);
    free(old);
}

/* Programs that people use, with the same result as without. */
static void test_programs(void)
{
    static const struct way rows[] = {
        {"bash", "bash -c \"cat <(echo got)\" > r"},
        {"git",
         "git init -q g && cd g && git config user.email a@b.test && git config user.name n && "
         "echo 1 > f && git add f && git commit -qm one && git log --format=%s > ../r"},
        {"python3", "python3 -c \"import json,os,subprocess; "
                    "open(\\\"r\\\",\\\"w\\\").write(subprocess.check_output([\\\"echo\\\","
                    "\\\"1\\\"]).decode())\""},
        {"gcc", "printf \"int main(void){return 0;}\" > m.c && gcc -o m m.c && ./m && echo ok > r"},
        {"node", "node -e \"require(\\\"fs\\\").writeFileSync(\\\"r\\\",\\\"ok\\\")\""},
        {"make",
         "printf \"r: a b\\n\\tcat a b > r\\na b:\\n\\techo \\$@ > \\$@\\n\" > Makefile && make "
         "-s -j2"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (sh(".", "command -v %s", rows[i].what) != 0) {
            skip(rows[i].what, "the program is not installed");
            continue;
        }
        fresh();
        run_in("in", NULL, rows[i].script);
        int control = sh("ws", "cp r ../want");
        fresh();
        run_in("in", "--deny-read in/secret --deny-read ../out/in/secret --", rows[i].script);
        ok(control == 0 && sh("ws", "cmp r ../want") == 0, "%s does the same with deny-read rules",
           rows[i].what);
    }
}

static void test_all(void)
{
    test_place("in", "in a root", "");
    test_place("../out/in", "outside", "--root .");
}

int main(void)
{
    if (!box_make("read-test"))
        return box_done();
    snprintf(probe, sizeof probe, "%s/%s", project, READ_PROBE);
#ifdef CORDON_ABI2
    if (box_cap()) {
        build = "ABI 2: ";
        test_place("../out/in", "outside", "--root .");
        build = "";
    }
    use_program(CORDON_EXE);
#endif
    test_all();
    test_names();
    test_credentials();
    test_programs();
    return box_done();
}
