/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a question says about its call, and what a yes gives: exactly that. A file that leaves goes as
 * a copy, an attribute has the value that was shown, and a call that fails is said to have failed.
 */
#include <signal.h>

#include "talk.h"

static char client[1200];

static void fresh(void)
{
    sh(".", "rm -rf ws out; mkdir -p ws out/sub; echo old > out/old; echo own > ws/own; "
            "ln -s /etc/hostname ws/link; ln -s \"$(printf 'a\\033[2J')\" ws/odd");
}

/* Runs the script, answers the first question with this and the others with no. */
static unsigned run(const char *options, const char *script, const char *first, char *question,
                    size_t capacity)
{
    struct talk t;
    char line[4096];
    snprintf(line, sizeof line, "CLIENT='%s'; %s", client, script);
    question[0] = '\0';
    begin(&t, options, line);
    unsigned asked = answer_all(&t, first, question, capacity);
    end(&t);
    return asked;
}

static void test_details(void)
{
    static const struct {
        const char *what, *script, *says, *after;
    } rows[] = {
        {"an open that empties the file", ": > ../out/old", "\"size\":0,", "test ! -s old"},
        {"one that does not", "echo x >> ../out/old", NULL, "grep -qx x old"},
        {"truncate to a size", "perl -e 'truncate(\"../out/old\", 2) or exit 1'", "\"size\":2,",
         "test $(wc -c < old) = 2"},
        {"a mode", "chmod 0711 ../out/old", "\"mode\":\"0711\"", "test $(stat -c %a old) = 711"},
        {"the mode of a new file", "umask 027; : > ../out/made", "\"mode\":\"0640\"",
         "test $(stat -c %a made) = 640"},
        {"a new folder", "mkdir -m 0700 ../out/made", "\"mode\":\"0700, a folder\"",
         "test -d made"},
        {"a new pipe", "mkfifo ../out/made", ", a pipe\"", "test -p made"},
        {"a file that is replaced", "mv own ../out/old", "\"replaces\":", "grep -qx own old"},
        {"an owner and a group", "chown $(id -u):$(id -g) ../out/old", "\"owner\":\"", NULL},
        {"times", "perl -e 'utime(0, 86400, \"../out/old\") or exit 1'",
         "\"times\":\"modified 1970-01-02T00:00:00.000000000Z, accessed 1970-01-01T",
         "test $(stat -c %Y old) = 86400"},
        {"a symbolic link that is moved", "mv -T link ../out/new", "\"link\":\"/etc/hostname\"",
         "test $(readlink new) = /etc/hostname"},
        {"one with an escape in its text", "mv -T odd ../out/new", "\"link\":\"a\\u001b[2J\"",
         "test -L new"},
        {"a file that is moved", "mv -T own ../out/new", NULL, "grep -qx own new"},
    };
    char question[16384];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fresh();
        unsigned asked = run("", rows[i].script, "\"answer\":\"once\"", question, sizeof question);
        bool says = rows[i].says ? strstr(question, rows[i].says) != NULL
                                 : !strstr(question, "\"size\"") && !strstr(question, "\"link\"");
        if (!ok(asked == 1 && says && (!rows[i].after || sh("out", "%s", rows[i].after) == 0), "%s",
                rows[i].what))
            note("%u %s", asked, question);
    }
}

static void test_attributes(void)
{
    char question[16384], line[16384], script[2048];
    struct talk t;
    fresh();
    snprintf(script, sizeof script, "'%s' attribute own user.a x x", client);
    if (sh("ws", "%s", script) == 77) {
        skip("extended attributes", "this file system has none");
        return;
    }
    unsigned asked = run("", "$CLIENT attribute ../out/old user.cordon first first",
                         "\"answer\":\"once\"", question, sizeof question);
    if (!ok(asked == 1 && strstr(question, "\"attribute\":\"user.cordon\",\"value\":\"first\"") &&
                strstr(question, "\"value_bytes\":5,"),
            "the name and the value of an attribute"))
        note("%u %s", asked, question);
    snprintf(script, sizeof script, "'%s' attribute ../out/old user.cordon first other", client);
    fresh();
    begin(&t, "", script);
    bool told = next(&t, line, sizeof line, 30) && strstr(line, "\"value\":\"first\"");
    sleep(1);
    reply(&t, id_of(line), "\"answer\":\"once\"");
    bool again = next(&t, line, sizeof line, 30) && strstr(line, "\"value\":\"other\"");
    reply(&t, id_of(line), "\"answer\":\"no\"");
    next(&t, line, sizeof line, 30);
    end(&t);
    ok(told && again, "another value in the caller's memory by then is another question");
}

/* By what it kept the run changes its own file, never the one that left. */
static void test_leaving(void)
{
    char question[16384];
    fresh();
    sh("ws", "echo 0123456789 > own; chmod 640 own; touch -d @86400 own");
    unsigned asked = run("", "$CLIENT leave own ../out/new && echo LEFT", "\"answer\":\"once\"",
                         question, sizeof question);
    if (!ok(asked == 1 && strstr(question, "\"op\":\"file.rename\"") &&
                sh("out", "grep -qx LEFT log && grep -qx 0123456789 new") == 0,
            "a descriptor, a mapping and a second name do not reach a file that left"))
        note("%u %s", asked, question);
    ok(sh("ws", "grep -qx MDS3456789 own-second && test ! -e own && test $(ls -A | wc -l) = 3") ==
           0,
       "control: they reach the one that stayed, and nothing else stays");
    ok(sh("out", "test $(stat -c '%%a %%Y' new | tr ' ' -) = 640-86400") == 0,
       "mode and times are as they were");
    fresh();
    sh("ws", "echo 0123456789 > own");
    run("--root ../out", "$CLIENT leave own ../out/new && echo LEFT", "\"answer\":\"no\"", question,
        sizeof question);
    ok(sh("out", "grep -qx LEFT log && grep -qx MDS3456789 new") == 0,
       "control: where the run may write, it is the same file");
    fresh();
    sh("ws", "stat -c %%i own > ../out/number");
    asked = run("", "echo x > ../out/sub/a; mv -T own ../out/sub/b",
                "\"answer\":\"run\",\"scope\":\"folder\"", question, sizeof question);
    ok(asked == 1 && sh("out", "test $(stat -c %%i sub/b) = $(cat number)") == 0,
       "and so it is in a folder that was allowed for the run");
    fresh();
    sh("ws", "truncate -s 70M large; truncate -s 60M less; mkfifo pipe");
    asked = run("",
                "$CLIENT rename large ../out/large; $CLIENT rename pipe ../out/pipe; $CLIENT "
                "rename less ../out/less && echo LEFT",
                "\"answer\":\"once\"", question, sizeof question);
    if (!ok(asked == 1 && strstr(question, "/out/less\"") &&
                sh("out", "test $(grep -c 'cross-device' log) = 2 && grep -qx LEFT log && test ! "
                          "-e large && test ! -e pipe && test $(wc -c < less) = 62914560") == 0,
            "one that is too large to copy, or no file, is on another device for its program"))
        note("%u %s", asked, question);
    fresh();
    asked = run("--undo", "$CLIENT rename own ../out/new", "\"answer\":\"once\"", question,
                sizeof question);
    ok(asked == 0 && sh("out", "grep -q 'cross-device' log && grep -qx own ../ws/own") == 0,
       "and so is any with --undo, whose journal keeps a file that goes");
}

static void test_failed(void)
{
    char question[16384];
    fresh();
    sh("out", "mkdir full; echo x > full/x");
    run("", "rmdir ../out/full", "\"answer\":\"once\"", question, sizeof question);
    ok(sh("out", "grep -q 'allowed when asked, but it failed: delete .*/out/full (Directory not "
                 "empty)' log && ! grep -q 'without asking' log") == 0,
       "a yes that led to nothing is no success");
    ok(sh("out",
          "grep '\"type\":\"answer\"' audit | grep '\"choice\":\"failed\"' | grep -v "
          "'\"verdict\"' | grep -q 'Directory not empty' && '%s' report --text audit | grep -q "
          "'full: failed: Directory not empty'",
          cordon) == 0,
       "the audit and the report say so");
    fresh();
    sh("out", "mkdir full; echo x > full/x");
    run("--json", "rmdir ../out/full", "\"answer\":\"once\"", question, sizeof question);
    ok(sh("out", "grep -q '\"failed\":\"Directory not empty\",\"failures\":1' log") == 0,
       "and so does the summary in JSON");
    fresh();
    run("", "rmdir ../out/sub", "\"answer\":\"once\"", question, sizeof question);
    ok(sh("out", "test ! -e sub && grep -q 'allowed when asked: delete .*; without asking: --root' "
                 "log && ! grep -q failed log && ! grep -q '\"failed\"' audit") == 0,
       "control: one that led to something is");
    fresh();
    run("", "mv -T ../out/old ../out/older", "\"answer\":\"once\"", question, sizeof question);
    ok(sh("out", "test -e old && grep -q 'but it failed: rename .*/out/old (Permission denied)' "
                 "log") == 0,
       "yes to one end of a rename and no to the other");
    fresh();
    sh("out", "mkdir full; echo x > full/x");
    run("", "rmdir ../out/full; rm ../out/full/x; rmdir ../out/full",
        "\"answer\":\"run\",\"scope\":\"folder\"", question, sizeof question);
    ok(sh("out", "test ! -e full && grep -q 'allowed when asked: delete .*; without asking: "
                 "--root' log && ! grep -q 'but it failed' log") == 0,
       "an answer for the run held, whatever the first call did");
}

/* The same for calls that a thread goes on with, and for every kind of question. */
static void test_failed_kinds(void)
{
    static const struct {
        const char *what, *command, *told, *fine;
    } cases[] = {
        {"a FIFO without a reader", "dd if=/dev/null of=../out/pipe oflag=nonblock conv=notrunc",
         "write .*/out/pipe (No such device or address)", "exec 3<> ../out/pipe"},
        {"a local socket without a server",
         "python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"../out/stale\")'",
         "connect .*/out/stale (Connection refused)",
         "python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"../out/live\")'"},
    };
    char question[16384], folder[1200];
    snprintf(folder, sizeof folder, "%s/out", top);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int fine = 0; fine < 2; fine++) {
            fresh();
            sh("out", "mkfifo pipe; python3 -c 'import socket; "
                      "socket.socket(socket.AF_UNIX).bind(\"stale\")'");
            pid_t server = fine ? fork() : -1;
            if (server == 0) {
                execlp(
                    "python3", "python3", "-c",
                    "import os, socket, sys, time; os.chdir(sys.argv[1]); s = "
                    "socket.socket(socket.AF_UNIX); s.bind(\"live\"); s.listen(); time.sleep(20)",
                    folder, NULL);
                _exit(1);
            }
            for (int wait = 0; fine && wait < 100 && sh("out", "test -S live"); wait++)
                usleep(50000);
            unsigned asked = run("", fine ? cases[i].fine : cases[i].command, "\"answer\":\"once\"",
                                 question, sizeof question);
            bool told = sh("out", "grep -q 'but it failed: %s' log", cases[i].told) == 0;
            if (!ok(asked >= 1 && told == !fine &&
                        (!fine || sh("out", "grep -q 'allowed when asked' log && ! grep -q 'but "
                                            "it failed' log") == 0),
                    "%s%s after a yes", fine ? "control: not of " : "it is told of ",
                    cases[i].what))
                sh("out", "cat log >&2");
            if (server > 0) {
                kill(server, SIGKILL);
                waitpid(server, NULL, 0);
            }
        }
}

/* The kernel opens a program, and Landlock knows no answers. */
static void test_unasked(void)
{
    char question[16384];
    fresh();
    sh("out", "cp /bin/true sub/true");
    unsigned asked = run("--deny-read ../out/sub", "../out/sub/true", "\"answer\":\"once\"",
                         question, sizeof question);
    ok(asked == 0 && sh("out", "grep -q 'denied: read .*/out/sub/true (rule read.denied); allow "
                               "with --allow-read .*; nobody can be asked about this$' log") == 0,
       "a program that --deny-read names: the summary says that nobody can be asked");
    asked = run("--deny-read ../out/sub", "cat ../out/sub/true", "\"answer\":\"no\"", question,
                sizeof question);
    ok(asked >= 1 && sh("out", "grep -q 'denied: read .*/out/sub/true' log && ! grep -q 'nobody "
                               "can' log") == 0,
       "control: reading it is asked about, and no is no");
}

/* Whoever holds the call dies: it never happens, and nothing after it. */
static void test_killed(void)
{
    char line[16384];
    struct talk t;
    for (int kills = 1; kills >= 0; kills--) {
        fresh();
        begin(&t, "", "echo $$ > shell; (echo x > ../out/new); echo x > after");
        bool asked = next(&t, line, sizeof line, 30) && strstr(line, "/out/new\"");
        if (kills)
            kill(t.pid, SIGKILL);
        reply(&t, id_of(line), "\"answer\":\"once\"");
        while (next(&t, line, sizeof line, 30))
            ;
        end(&t);
        for (int i = 0; i < 100 && kills && sh("ws", "kill -0 $(cat shell)") == 0; i++)
            usleep(100000);
        ok(asked && sh("ws", kills ? "test ! -e ../out/new && test ! -e after && ! kill -0 $(cat "
                                     "shell)"
                                   : "test -e ../out/new && test -e after") == 0,
           kills ? "the supervisor is killed while a call waits: the tree ends, nothing is done"
                 : "control: answered, it goes on");
    }
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    if (!box_make("ask-call"))
        return box_done();
    snprintf(client, sizeof client, "%s/%s", project, ASK_PROBE);
    fresh();
    test_details();
    test_attributes();
    test_leaving();
    test_failed();
    test_failed_kinds();
    test_unasked();
    test_killed();
    return box_done();
}
