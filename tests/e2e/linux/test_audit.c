/* SPDX-License-Identifier: Apache-2.0 */
/* The audit of a process tree on Linux, and the report made from it. */
#include "harness.h"

#include <sys/utsname.h>

/* True if a line of the audit holds all of these; A and B stand for the numbers of two
   processes. */
static bool line(const char *first, const char *second, const char *third)
{
    return sh(".", "grep -F '%s' a.jsonl | grep -F '%s' | grep -qF '%s'", first, second, third) ==
           0;
}

/* The kernel tells how processes of others ended. */
static bool kernel_tells_ends(void)
{
    struct utsname name;
    int major = 0, minor = 0;
    return uname(&name) == 0 && sscanf(name.release, "%d.%d", &major, &minor) == 2 &&
           (major > 6 || (major == 6 && minor >= 15));
}

/* The pid of the start whose command line begins like this, in a variable of sh. */
#define PID_OF(name, cmdline)                                                     \
    name "=$(grep '\"type\":\"spawn\"' a.jsonl | grep -F '\"cmdline\":\"" cmdline \
         "' | head -n 1 | sed 's/.*\"pid\":\\([0-9]*\\).*/\\1/'); test -n \"$" name "\"; "

static void test_tree(void)
{
    sh(".", "rm -f a.jsonl; mkdir -p ws");
    int code = sh("ws",
                  "'%s' run --quiet --audit ../a.jsonl -- sh -c 'sh one two; env --unset=A sh two; "
                  "(sleep 0.01; true) | cat; curl --password=hunter2 /; exit 9'",
                  cordon);
    ok(code == 9, "a small tree runs (%d)", code);
    ok(sh(".", PID_OF("a", "sh -c") "! grep \"\\\"pid\\\":$a,\\\"ppid\\\"\" a.jsonl") == 0,
       "the command has no parent in the run");
    ok(sh(".", PID_OF("a", "sh -c") PID_OF("b", "sh one two") PID_OF(
                   "c", "sh three") "grep spawn a.jsonl | grep -q "
                                    "\"\\\"pid\\\":$b,\\\"ppid\\\":$a,\" && grep spawn a.jsonl | "
                                    "grep -q \"\\\"pid\\\":$c,\\\"ppid\\\":$b,\"") == 0,
       "children and grandchildren have the pid of who started them");
    ok(sh(".",
          PID_OF("a", "sh -c") PID_OF(
              "s",
              "sleep 0.01") "grep spawn a.jsonl | grep -q \"\\\"pid\\\":$s,\\\"ppid\\\":$a,\"") ==
           0,
       "a shell's copy of itself is no program: its children are the shell's");
    ok(sh(".", PID_OF("a", "env --unset=A") PID_OF("b", "sh two") "test $a = $b") == 0,
       "a program that begins in the process of another has its number");
    ok(line("spawn", "/bin/sh ./script word", "\"image\":\"/"),
       "a script is told of as what runs it, with all words");
    ok(sh(".", "test $(grep -c '\"cmdline\":\"/bin/sh ./script' a.jsonl) = 1") == 0, "once");
    ok(sh(".", "! grep -q hunter2 a.jsonl") == 0, "secrets in command lines are masked");
    ok(sh(".",
          "A_TOKEN=x '%s' run --quiet --unset @secrets -- sh -c 'test -z \"$A_TOKEN\" && env | "
          "grep "
          "-q ^PWD='",
          cordon) == 0,
       "--unset @secrets takes tokens, not the folder in PWD");
    ok(sh(".", "A_TOKEN=x '%s' run --quiet -- sh -c 'test -n \"$A_TOKEN\"'", cordon) == 0,
       "without it the token is there");
    ok(sh(".",
          PID_OF("a", "sh -c") "grep '\"type\":\"exit\"' a.jsonl | grep \"\\\"pid\\\":$a,\" | grep "
                               "-q '\"code\":9'") == 0,
       "the end of the command is told with its code");
    ok(sh(".", "tail -n 1 a.jsonl | grep -q '\"type\":\"end\".*\"exit\":9'") == 0,
       "and the end of the run is the last line");
    if (kernel_tells_ends()) {
        ok(sh(".", PID_OF("b", "sh one two") "grep '\"type\":\"exit\"' a.jsonl | grep "
                                             "\"\\\"pid\\\":$b,\" | grep -q '\"code\":5'") == 0,
           "so is the end of a child, with its code");
        ok(sh(".", PID_OF("c", "sh three") "grep '\"type\":\"exit\"' a.jsonl | grep "
                                           "\"\\\"pid\\\":$c,\" | grep -q '\"code\":137'") == 0,
           "and of one that a signal ended");
    } else {
        skip("ends of children", "the kernel (before 6.15) tells nobody but the parent");
    }
    sh("ws", "'%s' run --quiet --audit-raw --audit ../raw.jsonl -- sh -c ': --password=hunter2'",
       cordon);
    ok(sh(".", "grep -q hunter2 raw.jsonl") == 0, "control: --audit-raw shows them");
}

static void test_report(void)
{
    ok(sh(".",
          "'%s' report --text a.jsonl > text && grep -q '^  sh -c' text && grep -q '^    sh one "
          "two' text && grep -q '^      sh three' text",
          cordon) == 0,
       "the report's text shows who started whom");
    ok(sh(".",
          "'%s' report --text a.jsonl | sed -n '/^Programs/,$p' | grep -A 1 '^    sh one two' | "
          "tail -n 1 | grep -q '^      '",
          cordon) == 0,
       "with children right below their parent");
    ok(sh(".",
          "'%s' report --text a.jsonl | grep -A 1 '^    env --unset' | tail -n 1 | grep -q '^      "
          "sh two%s'",
          cordon, kernel_tells_ends() ? ".*exit code 0" : "") == 0,
       "and a program below the one whose process it got");
    ok(sh(".",
          "'%s' report a.jsonl > page && tr -d '\\n' < page | grep -qE 'sh one two</code> "
          "<span[^/]*</span></span><span class=.lane.>.{0,200}</summary><ul><li>'",
          cordon) == 0,
       "so does the page");
    ok(sh(".",
          "'%s' report --json a.jsonl | grep -q '\"ppid\":[0-9]*,\"image\":[^,]*,\"cmdline\":\"sh "
          "three\"'",
          cordon) == 0,
       "and the JSON");
}

/* Without a broker for the tree there is its first program all the same. */
static void test_full_access(void)
{
    sh(".", "rm -f a.jsonl");
    sh("ws", "'%s' run --mode full-access --audit ../a.jsonl -- sh -c 'exit 4'", cordon);
    ok(line("spawn", "sh -c", "\"pid\":") && line("\"type\":\"exit\"", "\"code\":4", "\"pid\":"),
       "full access: the command's start and end are told");
}

/* More processes than are watched at a time: all starts are told, and nothing is lost. */
static void test_many(void)
{
    sh(".", "rm -f a.jsonl");
    int code = sh("ws",
                  "ulimit -n 64; '%s' run --quiet --audit ../a.jsonl -- sh -c 'i=0; while [ $i -lt "
                  "40 ]; do sleep 0.2 & i=$((i+1)); done; wait'",
                  cordon);
    ok(code == 0 && sh(".", "test $(grep -c '\"type\":\"spawn\"' a.jsonl) = 41") == 0,
       "every start is told, however few descriptors there are");
    ok(sh(".", "tail -n 1 a.jsonl | grep -q '\"type\":\"end\"'") == 0, "to the end");
}

int main(void)
{
    if (!box_make("audit-test"))
        return box_done();
    sh(".", "mkdir ws; cd ws; echo './script word; sh three; exit 5' > one; echo true > two; echo "
            "'kill -9 $$' > three; printf '#!/bin/sh\\ntrue\\n' > script; chmod +x script");
    test_tree();
    test_report();
    test_full_access();
    test_many();
    return box_done();
}
