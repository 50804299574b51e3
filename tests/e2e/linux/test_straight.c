/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The short way of an open: how many system calls it takes, that nothing gets out by it while
 * folders, files and links take each other's places, and that programs cannot tell it from the long
 * way.
 */
#include "harness.h"

#include "count.h"

static char opens[1200];

enum { OPENS = 2000 };

/* Calls of the supervisor for each open; negative if the program failed. */
static double calls_each(const char *what, const char *path)
{
    long calls[2];
    char count[16];
    for (int i = 0; i < 2; i++) {
        snprintf(count, sizeof count, "%d", i * OPENS);
        sh("ws", "rm -f n-*; echo x > old");
        calls[i] = count_calls(
            (const char *const[]){cordon, "run", "--quiet", "--", opens, what, count, path, NULL});
        if (calls[i] < 0)
            return -1;
    }
    return (double)(calls[1] - calls[0]) / OPENS;
}

static void test_counts(void)
{
    char absolute_new[1200], absolute_old[1200], here[1100];
    snprintf(here, sizeof here, "%s/ws", top);
    snprintf(absolute_new, sizeof absolute_new, "%s/n-", here);
    snprintf(absolute_old, sizeof absolute_old, "%s/old", here);
    const struct {
        const char *what, *name, *path;
        double most;
    } opened[] = {{"a new file", "new", "n-", 8},
                  {"a new file by an absolute path", "new", absolute_new, 7},
                  {"a new file, with O_TRUNC", "make", "n-", 8},
                  {"an existing file", "again", "old", 10},
                  {"an existing file by an absolute path", "again", absolute_old, 9}};
    sh(".", "rm -rf ws; mkdir ws");
    setenv("ASAN_OPTIONS", "detect_leaks=0", 1); /* the leak checker cannot work in a tracer */
    if (chdir(here))
        exit(1);
    for (size_t i = 0; i < sizeof opened / sizeof *opened; i++) {
        double calls = calls_each(opened[i].name, opened[i].path);
        /* The first calls and one in every second look at more. */
        ok(calls > 1 && calls < opened[i].most + 0.5,
           "%s: %.2f calls of the supervisor, at most %g", opened[i].what, calls, opened[i].most);
    }
    double calls = calls_each("again", "../ws/old");
    ok(calls > 10.5, "the long way takes more: %.2f", calls);
    unsetenv("ASAN_OPTIONS");
    if (chdir(project))
        exit(1);
}

/* ---- exchanges ---- */

static const struct {
    const char *what, *make; /* in ws: what is exchanged with what */
    const char *a, *b, *path;
} places[] = {
    {"a folder and a link to a folder outside", "mkdir d; ln -s ../out l", "d", "l", "d/f"},
    {"the folder above and such a link", "mkdir -p d/e; ln -s ../out l; mkdir ../out/e", "d", "l",
     "d/e/f"},
    {"a file and a link to a file outside", "mkdir d; echo m > d/f; ln -s ../../out/f l", "d/f",
     "l", "d/f"},
    {"a file and a second name of a file outside", "mkdir d; echo m > d/f; ln ../out/f l", "d/f",
     "l", "d/f"}};

/* The state of the outside folder, as one line. */
#define OUTSIDE "(cd '%s/out' && find . -type f -exec sh -c 'echo $0 $(cat $0)' {} \\; | sort)"

static void fresh(const char *make)
{
    sh(".",
       "rm -rf ws out before after; mkdir ws out; echo old > out/f; cd ws; %s; cd ..; " OUTSIDE
       " > before",
       make, top);
}

static bool outside_changed(void)
{
    return sh(".", OUTSIDE " > after; ! cmp -s before after", top) == 0;
}

static bool was_exchanged(const char *folder)
{
    return sh(folder, "test $(cat flips) -gt 10") == 0;
}

/* Exchanged by a process outside while the program opens. */
static void test_exchange(size_t i)
{
    int tries = 1500 / box_slow(), code[2] = {0};
    bool changed[2] = {false}, flipped[2] = {false};
    for (int inside = 0; inside < 2; inside++) {
        fresh(places[i].make);
        code[inside] = sh(
            "ws",
            "'%s' exchange %s %s flips & if [ %d = 1 ]; then '%s' run --quiet -- '%s' try %d %s; "
            "else '%s' try %d %s; fi; c=$?; touch stop; wait; exit $c",
            opens, places[i].a, places[i].b, inside, cordon, opens, tries, places[i].path, opens,
            tries, places[i].path);
        changed[inside] = outside_changed();
        flipped[inside] = was_exchanged("ws");
    }
    ok(changed[0] && flipped[0], "control: %s exchanged: outside is written to", places[i].what);
    if (!ok(code[1] == 0 && flipped[1] && !changed[1],
            "%s exchanged from outside: files are written, none outside", places[i].what))
        note("code %d, exchanged %d, changed %d", code[1], flipped[1], changed[1]);
}

/* The same by a process of the run. */
static void test_own_exchange(const char *options, const char *folder)
{
    int tries = 1000 / box_slow();
    fresh("true");
    int code = sh("ws",
                  "'%s' run --quiet %s -- sh -c 'cd %s && mkdir d && ln -s %s/out l && { \"%s\" "
                  "exchange d l flips & \"%s\" try %d d/f; c=$?; touch stop; wait; test $(cat "
                  "flips) -gt 10; exit $((c + 2 * $?)); }'",
                  cordon, options, folder, top, opens, opens, tries);
    if (!ok(code == 0 && !outside_changed(),
            "a folder and a link out exchanged by the run itself%s%s: nothing outside",
            *options ? ", " : "", options))
        note("code %d", code);
}

/* ---- behaviour ---- */

static void test_same(void)
{
    fresh("true");
    ok(sh("ws", "'%s' flags f", opens) == 0 &&
           sh("ws", "'%s' run -- '%s' flags f", cordon, opens) == 0,
       "a descriptor has the flags that were asked for");
    static const char removed[] =
        "mkdir x \"x (deleted)\"; cd x; rmdir ../x; \"$0\" gone && test ! "
        "-e \"../x (deleted)/new\"; c=$?; cd /; exit $c";
    sh(".", "mkdir w2");
    ok(sh("w2", "sh -c '%s' '%s'", removed, opens) == 0 &&
           sh("ws", "'%s' run -- sh -c '%s' '%s'", cordon, removed, opens) == 0,
       "nothing is made in a removed folder, nor in another that is called like it");
    ok(sh("ws",
          "'%s' run -- sh -c 'mkdir a; echo 1 > a/f; mv a b; mkdir a; echo 2 > a/f; cat b/f "
          "a/f' > got; test \"$(tr -d \"\\n\" < got)\" = 12",
          cordon) == 0,
       "a folder that takes another's name is that folder");
    ok(sh("ws",
          "'%s' run -- sh -c 'mkdir s; echo 1 > s/f; mv s t; ln -s t s; echo 2 > s/f; cat t/f' > "
          "got; test \"$(cat got)\" = 2",
          cordon) == 0,
       "a link that takes a folder's name is followed");
    ok(sh("ws",
          "mkfifo p; (timeout 20 cat p > got) & '%s' run -- sh -c 'sleep 0.2; for i in 1 2 3; do "
          "echo $i; done > p'; wait; test $(wc -l < got) = 3",
          cordon) == 0,
       "a pipe is opened once");
}

/* Rules hold on the short way, also after it was taken beside them. */
static void test_rules(void)
{
    fresh("mkdir .git .claude sub; echo old > .git/config; echo old > .claude/f; echo old > deny; "
          "ln ../out/f second");
    sh("ws",
       "'%s' run --quiet --deny-write deny -- sh -c 'for i in 1 2; do for f in a sub/b; do echo x "
       ">> $f; "
       "done; for f in .git/config .GIT/config .claude/f .claude/new sub/.claude deny second "
       "../out/f "
       "../out/new sub/../.claude/f; do echo x >> $f; done; done'",
       cordon);
    ok(sh("ws", "test $(wc -l < a) = 2 -a $(wc -l < sub/b) = 2") == 0, "allowed: files beside");
    ok(sh("ws", "test \"$(cat .git/config .claude/f deny second | sort -u)\" = old -a ! -e "
                ".claude/new -a "
                "! -e sub/.claude -a ! -e .GIT") == 0 &&
           !outside_changed(),
       "denied: protected names, a denied file, a second name, outside");
    sh("ws", "for f in .git/config .claude/f .claude/new deny second; do echo x >> $f; done");
    ok(sh("ws",
          "test $(cat .git/config .claude/f deny second | grep -c x) = 4 -a -e .claude/new") == 0,
       "control: all of these can be written to without the sandbox");
}

int main(void)
{
    if (!box_make("straight-test"))
        return box_done();
    snprintf(opens, sizeof opens, "%s/%s", project, OPENS_PROBE);
    test_counts();
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        test_exchange(i);
    test_own_exchange("", ".");
    test_own_exchange("--temp=private", "$TMPDIR");
    test_same();
    test_rules();
    return box_done();
}
