/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --ask-fd, end to end: each kind of question answered in each way, what is never asked, callers and
 * askers that die, and a tree that tries to answer itself. The same action is denied where nobody is
 * asked and works with the option that the question names.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/json.h"
#include "talk.h"

static char client[1200];
static int port;

struct row {
    const char *what, *options, *op, *target; /* what the question names */
    const char *one, *two;                    /* the action, twice; $P is the port */
    const char *run;                          /* the answer that covers both */
    const char *fix;                          /* options that allow both without asking */
    bool same;                                /* both touch the same thing */
};

static const struct row rows[] = {
    {"write", "", "file.write", "/out/old", "echo x >> ../out/old", "echo y >> ../out/old", "path",
     "--root ../out", true},
    {"create", "", "file.create", "/out/new", "echo x > ../out/new", "echo y > ../out/new", "path",
     "--root ../out", true},
    {"delete", "", "file.delete", "/out/d1", "rm ../out/d1", "rm ../out/d2", "folder",
     "--root ../out", false},
    {"make a folder", "", "file.create", "/out/f1", "mkdir ../out/f1", "mkdir ../out/f2", "folder",
     "--root ../out", false},
    {"rename out of the root", "", "file.rename", "/out/r1", "mv r1 ../out/r1", "mv r2 ../out/r2",
     "folder", "--root ../out", false},
    {"change the mode", "", "file.attributes", "/out/old", "chmod 600 ../out/old",
     "chmod 640 ../out/old", "path", "--root ../out", true},
    {"a symbolic link", "", "file.create", "/out/s1", "ln -s a ../out/s1", "ln -s a ../out/s2",
     "folder", "--root ../out", false},
    {"truncate", "", "file.write", "/out/old", "truncate -s 1 ../out/old",
     "truncate -s 0 ../out/old", "path", "--root ../out", true},
    {"write in read-only mode", "--mode read-only", "file.create", "/ws/made", "echo x > made",
     "echo y > made", "path", "--mode workspace-write", true},
    {"read", "--deny-read ../out/closed", "file.read", "/out/closed/secret",
     "cat ../out/closed/secret", "cat ../out/closed/secret", "path",
     "--allow-read ../out/closed/secret", true},
    {"connect to an address", "", "net.connect", "127.0.0.1:$P",
     "bash -c 'exec 3<>/dev/tcp/127.0.0.1/$P'", "bash -c 'exec 3<>/dev/tcp/127.0.0.1/$P'",
     "address", "--net=loopback", true},
    {"connect to a host", "", "net.connect", "127.0.0.1:$P",
     "bash -c 'exec 3<>/dev/tcp/127.0.0.1/$P'", "bash -c 'exec 3<>/dev/tcp/127.0.0.1/$P'", "host",
     "--net=loopback", true},
    {"this machine through the proxy", "", "net.connect", "127.0.0.1:$P",
     "curl -sf -m 20 http://127.0.0.1:$P/", "curl -sf -m 20 http://127.0.0.1:$P/", "address",
     "--net=loopback", true},
    {"localhost through the proxy", "", "net.connect", "localhost:$P",
     "curl -sf -m 20 http://localhost:$P/", "curl -sf -m 20 http://localhost:$P/", "host",
     "--net=loopback", true},
    {"connect to a local socket", "", "pipe.connect", "/out/sock", "$CLIENT connect ../out/sock",
     "$CLIENT connect ../out/sock", "path", "--allow-socket ../out/sock", true},
    {"start a tool", "", "process.start", "/out/bin/ssh", "../out/bin/ssh", "../out/bin/ssh",
     "tool", "--allow-tool ssh", true},
};

static void fresh(void)
{
    sh(".", "rm -rf out/new out/f1 out/f2 out/r1 out/r2 out/older out/d3 out/s1 out/s2 ws/made; "
            "mkdir -p out/bin out/closed ws; echo old > out/old; echo s > out/closed/secret; touch "
            "out/d1 out/d2 "
            "ws/r1 ws/r2; printf '#!/bin/sh\\nexit 0\\n' > out/bin/ssh; chmod 755 out/bin/ssh; "
            "chmod 644 out/old; rm -f ws/result out/audit out/log");
}

/* Says 0 or 1 for each of the two. */
static void script_of(const struct row *row, char *out, size_t capacity)
{
    snprintf(out, capacity,
             "export P=%d CLIENT='%s'; (%s) && a=0 || a=1; (%s) && b=0 || b=1; echo $a$b", port,
             client, row->one, row->two);
}

static bool result_is(const char *digits)
{
    return sh("out", "grep -qx %s log", digits) == 0;
}

static bool names(const char *question, const struct row *row)
{
    char op[100], target[200], spelled[100];
    const char *p = strstr(row->target, "$P");
    snprintf(spelled, sizeof spelled, p ? "%.*s%d" : "%.*s",
             (int)(p ? p - row->target : (long)strlen(row->target)), row->target, port);
    snprintf(op, sizeof op, "\"op\":\"%s\"", row->op);
    snprintf(target, sizeof target, "%s\",\"", spelled);
    return strstr(question, op) && strstr(question, target) && strstr(question, "\"rule\":") &&
           strstr(question, "{\"answer\":\"once\",\"scope\":\"call\"}");
}

static void test_answers(const struct row *row)
{
    char script[2048], answer[100], question[16384] = "";
    struct talk t;
    script_of(row, script, sizeof script);
    setenv("SCRIPT", script, 1);

    fresh();
    sh("ws", "'%s' run --quiet --root . %s -- sh -c \"$SCRIPT\" > ../out/log", cordon,
       row->options);
    ok(result_is("11"), "%s: denied where nobody is asked", row->what);
    fresh();
    sh("ws", "'%s' run --quiet --root . %s %s -- sh -c \"$SCRIPT\" > ../out/log", cordon,
       str_starts(str_of(row->fix), STR("--mode")) ? "" : row->options, row->fix);
    ok(result_is("00"), "%s: works with %s", row->what, row->fix);

    fresh();
    begin(&t, row->options, script);
    unsigned asked = answer_all(&t, "\"answer\":\"once\"", question, sizeof question);
    end(&t);
    ok(result_is("01") && asked == 2, "%s, once: this call and not the next", row->what);
    ok(names(question, row), "the question names it");
    if (!names(question, row))
        note("%s", question);

    fresh();
    begin(&t, row->options, script);
    snprintf(answer, sizeof answer, "\"answer\":\"run\",\"scope\":\"%s\"", row->run);
    asked = answer_all(&t, answer, question, sizeof question);
    end(&t);
    if (!ok(result_is("00") && asked == 1, "%s, for the run (%s): asked once", row->what, row->run))
        sh("out", "cat log >&2");

    fresh();
    begin(&t, row->options, script);
    asked = answer_all(&t, "\"answer\":\"no\"", question, sizeof question);
    end(&t);
    ok(result_is("11") && asked >= 2, "%s, no: denied, and asked again", row->what);

    fresh();
    begin(&t, row->options, script);
    asked = answer_all(&t, "\"answer\":\"never\"", question, sizeof question);
    end(&t);
    ok(result_is("11") && (row->same ? asked == 1 : asked >= 2), "%s, never: not asked again",
       row->what);
}

/* Nothing of this is asked about; a file beside it is. */
static void test_never_asked(void)
{
    static const char *const tried[] = {
        "echo x > ../out/.python_history",
        "mkdir ../out/.npm/_logs",
        "mkdir ../out/.git",
        "echo x > ../out/repo/.git/config",
        "echo x > ../out/repo/.git/hooks/pre-commit",
        "echo x > ../out/.claude",
        "mkdir ../out/.vscode",
        "echo x > .git/config",
        "echo x > .mcp.json",
        "echo x >> ../out/audit",
        "echo x > ../out/kept",
        "echo x > ../out/linked",
        "cp /bin/true t && chmod u+s t",
        "rm -r ../ws",
        "ln ../out/single second",
        "echo o > own; ln own ../out/second",
        "echo o > own; $CLIENT exchange own ../out/single",
        "mv \"$(cd .. && pwd)\" \"$(cd ../.. && pwd)/moved\"",
        "kill -TERM $PPID",
        "../out/bin/denied",
    };
    char line[16384], script[2048];
    struct talk t;
    fresh();
    sh(".", "mkdir -p out/repo/.git/hooks out/.npm ws/.git; echo k > out/kept; echo c > "
            "out/repo/.git/config; "
            "echo s > out/single; echo l > out/linked; ln -f out/linked out/name; cp out/bin/ssh "
            "out/bin/denied");
    for (size_t i = 0; i < sizeof tried / sizeof *tried; i++) {
        snprintf(script, sizeof script, "CLIENT='%s'; (%s) && echo DONE; echo x > ../out/asked",
                 client, tried[i]);
        sh("out", "rm -f asked");
        begin(&t, "--deny-write ../out/kept --deny-tool denied", script);
        bool first = next(&t, line, sizeof line, 30);
        /* The guard may ask about the text: its yes opens no file. */
        for (; first && strstr(line, "\"op\":\"guard\""); first = next(&t, line, sizeof line, 30))
            reply(&t, id_of(line), "\"answer\":\"once\"");
        first = first && strstr(line, "/out/asked\"");
        reply(&t, id_of(line), "\"answer\":\"run\",\"scope\":\"path\"");
        bool more = next(&t, line, sizeof line, 30);
        end(&t);
        if (!ok(first && !more && sh("out", "test -f asked && ! grep -qx DONE log") == 0,
                "never asked: %s", tried[i]))
            note("%s", line);
    }
    ok(sh("out", "test ! -e .git && test ! -e second && grep -qx s single && test ! -e .claude && "
                 "grep -qx c repo/.git/config && grep -qx l "
                 "linked && grep -qx k kept") == 0,
       "and none of it happened");
}

/* What is never asked about outside works inside. */
static void test_inside(void)
{
    ok(sh("ws",
          "echo 1 > one; echo 2 > two; '%s' run --root . -- sh -c \"ln one second && '%s' exchange "
          "one two\"; test one -ef second; test $? = 1 && grep -qx 2 one && grep -qx 1 two; "
          "code=$?; "
          "rm -f one two second; exit $code",
          cordon, client) == 0,
       "control: a second name and an exchange inside");
}

static void test_first_program(void)
{
    char line[16384], log[100];
    struct talk t;
    fresh();
    begin(&t, "", "eval \"$UNKNOWN\"; echo RAN");
    bool asked = next(&t, line, sizeof line, 30) && strstr(line, "\"op\":\"guard\"");
    reply(&t, id_of(line), "\"answer\":\"once\"");
    bool more = next(&t, line, sizeof line, 30);
    ok(end(&t) == 0 && asked && !more && sh("out", "grep -qx RAN log") == 0,
       "the guard asks about a command once, and yes lets it start");
    fresh();
    begin(&t, "", "eval \"$UNKNOWN\"; echo RAN");
    asked = next(&t, line, sizeof line, 30) && strstr(line, "\"op\":\"guard\"");
    reply(&t, id_of(line), "\"answer\":\"no\"");
    snprintf(log, sizeof log, "! grep -qx RAN log");
    ok(end(&t) == 126 && asked && sh("out", "%s", log) == 0, "no refuses it");
    ok(sh("ws", "'%s' run --root . -- sh -c 'eval \"$UNKNOWN\"; echo RAN' | grep -qx RAN",
          cordon) == 0,
       "without anybody to ask it starts, as ever");
}

static void test_wrong_lines(void)
{
    static const char *const wrong[] = {"yes\n", "{\"id\":1,\"answer\":\"sure\"}\n",
                                        "{\"id\":7,\"answer\":\"once\"}\n", "\n",
                                        "{\"id\":1,\"answer\":\"run\",\"scope\":\"host\"}\n"};
    char line[16384];
    static char longer[70000];
    struct talk t;
    fresh();
    begin(&t, "", "echo x > ../out/new");
    next(&t, line, sizeof line, 30);
    ok(id_of(line) == 1, "asked");
    bool errors = true;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        say(&t, wrong[i]);
        errors = next(&t, line, sizeof line, 30) && strstr(line, "\"error\":") && errors;
    }
    ok(errors, "each wrong line gets an error");
    memset(longer, 'x', sizeof longer - 2);
    longer[sizeof longer - 2] = '\n';
    say(&t, longer);
    ok(next(&t, line, sizeof line, 30) && strstr(line, "longer than"), "and so does a long one");
    reply(&t, 1, "\"answer\":\"once\"");
    ok(end(&t) == 0 && sh("out", "test -f new") == 0,
       "the question stayed open: the answer counts");
    ok(sh("ws", "'%s' run --ask-fd 2,31 -- true", cordon) == 125 &&
           sh("ws", "'%s' run --ask-fd 3 -- true", cordon) == 125 &&
           sh("ws", "'%s' run --ask-fd 30,31 -- true", cordon) == 125 &&
           sh("ws", "'%s' run --ask-fd 30,31 -- true 30<'%s' 31<'%s'", cordon, cordon, cordon) ==
               125 &&
           sh("ws", "'%s' run --ask-timeout 5 -- true", cordon) == 125,
       "descriptors that cannot be used: 125");
    ok(sh("ws",
          "true | { '%s' run --ask-fd 3,4 -- true 3<&0 4>&1; echo $? > ../out/code; } | cat; test "
          "$(cat ../out/code) = 0",
          cordon) == 0,
       "those that can are taken");
    ok(sh("ws",
          "mkfifo ../out/fifo; '%s' run --ask-fd 3,4 -- true 3<>../out/fifo 4<>../out/fifo; test "
          "$? = 125 && '%s' run --ask-fd 3,4 -- true 3</dev/null 4>/dev/null; test $? = 125",
          cordon, cordon) == 0,
       "what has a name is not: the command could answer by it");
}

static long seconds_since(const struct timespec *begin_time)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (long)(now.tv_sec - begin_time->tv_sec);
}

static void test_waiting(void)
{
    char line[16384];
    struct timespec start;
    struct talk t;
    fresh();
    clock_gettime(CLOCK_MONOTONIC, &start);
    /* Long enough for the late answer to be read. */
    begin(&t, "--ask-timeout 2", "echo x > ../out/new || sleep 3");
    next(&t, line, sizeof line, 30);
    bool closed = next(&t, line, sizeof line, 30) && strstr(line, "\"closed\":\"time-out\"");
    reply(&t, 1, "\"answer\":\"once\"");
    bool error = next(&t, line, sizeof line, 30) && strstr(line, "no such question");
    end(&t);
    ok(closed && error && seconds_since(&start) >= 1 &&
           sh("out", "test ! -e new && grep -q '\"by\":\"time-out\"' audit") == 0,
       "nobody answers: no after --ask-timeout, and it is too late then");

    fresh();
    clock_gettime(CLOCK_MONOTONIC, &start);
    begin(&t, "--timeout 2", "echo x > ../out/new; echo LATER");
    while (next(&t, line, sizeof line, 30))
        ;
    ok(end(&t) == 124 && seconds_since(&start) < 30 * box_slow() &&
           sh("out", "test ! -e new && ! grep -q LATER log") == 0,
       "--timeout ends a run that waits");

    fresh();
    begin(&t, "",
          "(echo x > ../out/new) & echo $! > child; sleep 1; kill -9 $(cat child); wait; "
          "echo y > ../out/d1 && echo WENT ON");
    bool asked = false;
    for (closed = false; (!closed || !asked) && next(&t, line, sizeof line, 30);) {
        closed = closed || strstr(line, "\"closed\":\"not needed\"");
        asked = asked || strstr(line, "/out/d1\"");
    }
    reply(&t, 2, "\"answer\":\"once\"");
    while (next(&t, line, sizeof line, 30))
        ;
    end(&t);
    ok(closed && asked && sh("out", "test ! -e new && grep -q 'WENT ON' log") == 0,
       "a caller that is killed takes its question away");

    fresh();
    begin(&t, "", "echo x > ../out/new || echo FIRST; echo y > ../out/new || echo SECOND");
    next(&t, line, sizeof line, 30);
    close(t.to);
    close(t.from);
    t.to = t.from = -1;
    end(&t);
    ok(sh("out", "test ! -e new && grep -q FIRST log && grep -q SECOND log && grep -q "
                 "'\"by\":\"closed\"' audit") == 0,
       "an asker that is gone means no, now and from then on");
}

static void test_many(void)
{
    enum { MANY = 1000 };
    char line[16384], script[2048];
    unsigned asked = 0;
    struct talk t;
    fresh();
    sh(".", "rm -rf out/many; mkdir out/many; rm -f ws/served");
    snprintf(script, sizeof script, "'%s' many %d ../out/many", client, MANY);
    begin(&t, "--ask-timeout 600", script);
    while (asked < MANY && next(&t, line, sizeof line, 60))
        asked += id_of(line) != 0;
    for (int i = 0; i < 300 && sh("ws", "test -f served"); i++)
        usleep(100000);
    ok(asked == MANY && sh("ws", "test -f served") == 0,
       "1,000 calls wait, and others are served meanwhile");
    for (unsigned long id = 1; id <= MANY; id++)
        reply(&t, id, id % 2 ? "\"answer\":\"once\"" : "\"answer\":\"no\"");
    while (next(&t, line, sizeof line, 60))
        ;
    int code = end(&t);
    if (!ok(code == 0 &&
                sh("out", "grep -qx '500 of 1000' log && test $(ls many | wc -l) = 500") == 0,
            "each gets its own answer"))
        sh("out", "cat log >&2");
    sh(".", "rm -rf out/many; mkdir out/many");
    snprintf(script, sizeof script, "'%s' many %d ../out/many", client, MANY + 20);
    begin(&t, "--ask-timeout 600", script);
    for (asked = 0; asked < MANY && next(&t, line, sizeof line, 60);)
        asked += id_of(line) != 0;
    for (int i = 0; i < 300 && sh("out", "test $(grep -c '\"type\":\"deny\"' audit) = 20"); i++)
        usleep(100000);
    reply(&t, 1, "\"answer\":\"run\",\"scope\":\"folder\"");
    while (next(&t, line, sizeof line, 60))
        ;
    code = end(&t);
    ok(code == 0 && sh("out", "grep -qx '1000 of 1020' log") == 0,
       "more than 1,000 are refused at once; one answer for the folder serves all that wait");
}

static void test_forged(void)
{
    char line[16384], script[2048];
    struct talk t;
    fresh();
    snprintf(script, sizeof script, "'%s' forge ../out", client);
    begin(&t, "--ask-timeout 3", script);
    next(&t, line, sizeof line, 30);
    bool asked = id_of(line) == 1;
    bool silent = next(&t, line, sizeof line, 30) && strstr(line, "\"closed\":\"time-out\"");
    while (next(&t, line, sizeof line, 30))
        silent = false;
    int code = end(&t);
    if (!ok(asked && silent && code == 0 && sh("out", "grep -q 'said 0, made 0' log") == 0,
            "the tree can say nothing to whoever asks"))
        sh("out", "cat log >&2");
}

static void test_swapped(void)
{
    char line[16384];
    struct talk t;
    fresh();
    sh(".", "ln -sfn ../out/old ws/way; echo 1 > out/d1");
    begin(&t, "",
          "(echo x > way; echo ended > ready) & sleep 1; ln -sfn ../out/d1 way; echo swapped "
          "> ready; wait");
    bool asked = next(&t, line, sizeof line, 30) && strstr(line, "/out/old\"");
    for (int i = 0; i < 300 && sh("ws", "grep -q swapped ready"); i++)
        usleep(100000);
    reply(&t, 1, "\"answer\":\"once\"");
    bool again = next(&t, line, sizeof line, 30) && strstr(line, "/out/d1\"");
    reply(&t, id_of(line), "\"answer\":\"no\"");
    next(&t, line, sizeof line, 30);
    end(&t);
    ok(asked && again && sh("out", "grep -qx old old && grep -qx 1 d1") == 0,
       "a link that leads elsewhere by then is another question");

    fresh();
    begin(&t, "", "echo x > ../out/old");
    asked = next(&t, line, sizeof line, 30);
    sh("out", "echo other > other; mv other old");
    reply(&t, 1, "\"answer\":\"once\"");
    again = next(&t, line, sizeof line, 30) && id_of(line) == 2 && strstr(line, "/out/old\"");
    reply(&t, 2, "\"answer\":\"no\"");
    next(&t, line, sizeof line, 30);
    end(&t);
    ok(asked && again && sh("out", "grep -qx other old") == 0,
       "and so is another file under the same name");
}

/* Both ends of a rename are the objects that were asked about, and so is the text of a link. */
static void test_exchanged(void)
{
    static const struct {
        const char *what, *start, *call, *swap, *asked, *again, *intact;
    } swapped[] = {
        {"a file that is a link by then", "echo own > own", "mv -T own ../out/gone",
         "ln -s ../out/old other; mv -T other own", "/out/gone\"", "/out/gone\"",
         "test ! -e gone && test ! -L gone && test -L ../ws/own"},
        {"another file under the old name", "echo own > own", "mv -T own ../out/gone",
         "echo other > other; mv -T other own", "/out/gone\"", "/out/gone\"",
         "test ! -e gone && grep -qx other ../ws/own"},
        {"a folder under the old name", "mkdir own", "mv -T own ../out/gone",
         "mkdir other; mv own first; mv other own", "/out/gone\"", NULL, "test ! -e gone"},
        {"another link in place of a link", "ln -s first own", "mv -T own ../out/gone",
         "ln -s /etc other; mv -T other own", "/out/gone\"", "/out/gone\"", "test ! -L gone"},
        {"a file that was replaced since", "echo own > own", "mv -T ../out/old own",
         "echo other > other; mv -T other own", "/out/old\"", "/out/old\"",
         "grep -qx old old && grep -qx other ../ws/own"},
    };
    char line[16384], script[2048];
    struct talk t;
    for (size_t i = 0; i < sizeof swapped / sizeof *swapped; i++)
        for (int swaps = 1; swaps >= 0; swaps--) {
            fresh();
            sh("ws", "rm -rf own other first ready; rm -rf ../out/gone; %s", swapped[i].start);
            snprintf(script, sizeof script,
                     "(%s && echo DONE) & while ! test -e ready; do sleep 0.1; done; %s; echo > "
                     "swapped; wait",
                     swapped[i].call, swaps ? swapped[i].swap : "true");
            begin(&t, "", script);
            bool asked = next(&t, line, sizeof line, 30) && strstr(line, swapped[i].asked);
            sh("ws", "rm -f swapped; echo > ready");
            for (int k = 0; k < 300 && sh("ws", "test -e swapped"); k++)
                usleep(100000);
            reply(&t, id_of(line), "\"answer\":\"once\"");
            bool again = false;
            while (next(&t, line, sizeof line, 30))
                if (id_of(line)) {
                    again = again || (swapped[i].again && strstr(line, swapped[i].again));
                    reply(&t, id_of(line), "\"answer\":\"no\"");
                }
            end(&t);
            if (swaps)
                ok(asked && (again || !swapped[i].again) &&
                       sh("out", "! grep -qx DONE log && %s", swapped[i].intact) == 0,
                   "exchanged while the question is open: %s", swapped[i].what);
            else if (swapped[i].again)
                ok(asked && !again && sh("out", "grep -qx DONE log") == 0,
                   "control: left alone, it is done");
        }
    sh("ws", "rm -rf own other first ready swapped; rm -rf ../out/gone");
    fresh();
    begin(&t, "", "ln -s /etc/hostname ../out/gone");
    bool told = next(&t, line, sizeof line, 30) && strstr(line, "\"link\":\"/etc/hostname\"");
    reply(&t, id_of(line), "\"answer\":\"once\"");
    next(&t, line, sizeof line, 30);
    end(&t);
    ok(told && sh("out", "test $(readlink gone) = /etc/hostname; rm gone") == 0,
       "the question about a symbolic link says where it leads");
    snprintf(script, sizeof script, "'%s' relink ../out/gone /etc/first /etc/other", client);
    fresh();
    begin(&t, "", script);
    told = next(&t, line, sizeof line, 30) && strstr(line, "\"link\":\"/etc/first\"");
    sleep(1);
    reply(&t, id_of(line), "\"answer\":\"once\"");
    bool again = next(&t, line, sizeof line, 30) && strstr(line, "\"link\":\"/etc/other\"");
    reply(&t, id_of(line), "\"answer\":\"no\"");
    next(&t, line, sizeof line, 30);
    end(&t);
    ok(told && again && sh("out", "test ! -L gone") == 0,
       "and another text in the caller's memory by then is another question");
}

static void test_both_ends(void)
{
    char line[16384];
    struct talk t;
    fresh();
    begin(&t, "", "mv ../out/old ../out/older && echo MOVED");
    bool asked = next(&t, line, sizeof line, 30) && strstr(line, "/out/old\"");
    reply(&t, 1, "\"answer\":\"once\"");
    bool again = next(&t, line, sizeof line, 30) && strstr(line, "/out/older\"");
    reply(&t, 2, "\"answer\":\"once\"");
    next(&t, line, sizeof line, 30);
    end(&t);
    ok(asked && again &&
           sh("out", "grep -qx MOVED log && grep -qx old older && test ! -e old") == 0,
       "a rename outside is asked about at both ends");
    fresh();
    sh(".", "mkdir -p out/tree; echo x > out/tree/a");
    begin(&t, "", "mv ../out/tree moved; cat moved/a");
    unsigned asks = answer_all(&t, "\"answer\":\"run\",\"scope\":\"folder\"", line, sizeof line);
    end(&t);
    ok(asks == 1 && sh("ws", "grep -qx x moved/a && test ! -e ../out/tree") == 0,
       "a folder that enters a root is copied, file by file");
    sh(".", "rm -rf ws/moved");
}

/* "This folder" means what was there when it was said: nothing else gets its name. */
static void test_kept(void)
{
    static const char *const tried[] = {
        "mv ../out/top/sub ../out/top/gone", "mv ../out/top ../out/gone",
        "rmdir ../out/top/sub || rm -r ../out/top/sub; mv ../out/closed ../out/top/sub"};
    char question[16384], line[16384], script[1024];
    struct talk t;
    for (size_t i = 0; i < 3; i++) {
        fresh();
        sh("out", "rm -rf top gone; mkdir -p top/sub");
        snprintf(script, sizeof script, "echo x > ../out/top/sub/a; (%s); echo over", tried[i]);
        begin(&t, "", script);
        next(&t, question, sizeof question, 30);
        reply(&t, 1, "\"answer\":\"run\",\"scope\":\"folder\"");
        bool renames = false;
        while (next(&t, line, sizeof line, 30)) {
            renames = renames || strstr(line, "top/sub\",\"from\"") || strstr(line, "/gone\"");
            if (id_of(line))
                reply(&t, id_of(line), "\"answer\":\"once\"");
        }
        end(&t);
        ok(!renames &&
               sh("out", "test ! -e gone && test ! -e top/gone && grep -qx s closed/secret && "
                         "grep -qx over log") == 0,
           "after \"this folder\": %s", tried[i]);
    }
    fresh();
    sh("out", "rm -rf top gone; mkdir -p top/sub");
    begin(&t, "", "mv ../out/top ../out/gone; echo over");
    while (next(&t, line, sizeof line, 30))
        if (id_of(line))
            reply(&t, id_of(line), "\"answer\":\"once\"");
    end(&t);
    ok(sh("out", "test -d gone/sub") == 0, "control: without such an answer it can be renamed");
}

static void test_told(void)
{
    char line[16384];
    struct talk t;
    fresh();
    begin(&t, "--learn -o ../out/learned.json", "echo x > ../out/new; echo y > ../out/d1; true");
    next(&t, line, sizeof line, 30);
    reply(&t, 1, "\"answer\":\"run\",\"scope\":\"path\"");
    next(&t, line, sizeof line, 30);
    reply(&t, id_of(line), "\"answer\":\"no\"");
    next(&t, line, sizeof line, 30);
    end(&t);
    ok(sh("out", "grep '\"type\":\"answer\"' audit | grep /out/new | grep '\"choice\":\"run\"' | "
                 "grep '\"scope\":\"path\"' | grep -q '\"by\":\"fd\"'") == 0,
       "an answer is an event");
    ok(sh("out", "grep '\"type\":\"answer\"' audit | grep /out/d1 | grep -q '\"choice\":\"no\"' && "
                 "grep '\"type\":\"deny\"' audit | grep -q /out/d1") == 0,
       "a no is one, too, and a denial");
    ok(sh("out",
          "grep 'allowed when asked: create' log | grep '/out/new; without asking: --root' | "
          "grep -q '/out$'") == 0,
       "the summary names the options that give the same");
    ok(sh("out",
          "grep -q '/out\"' learned.json && cd ../ws && '%s' run --policy ../out/learned.json "
          "-- sh -c 'echo z > ../out/new'",
          cordon) == 0,
       "and --learn writes them");
    ok(sh("out",
          "'%s' report --text audit | grep -A1 'Answered while it ran' | grep -q 'by fd' && "
          "'%s' report --json audit | grep -q '\"answer\":\"run path, by fd\"'",
          cordon, cordon) == 0,
       "the report shows them");
}

/* Answers whoever connects with an empty page, until this test ends. */
static void answer_http(int net)
{
    static const char page[] = "HTTP/1.0 200 OK\r\n\r\n";
    char request[4096];
    if (fork())
        return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) {
        int fd = accept(net, NULL, NULL);
        struct pollfd watch = {fd, POLLIN, 0};
        if (fd < 0)
            _exit(0);
        if (poll(&watch, 1, 2000) == 1 && read(fd, request, sizeof request) > 0 &&
            write(fd, page, sizeof page - 1) < 0)
            note("cannot answer: %s", strerror(errno));
        close(fd);
    }
}

static int serve_here(void)
{
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    struct sockaddr_un local = {.sun_family = AF_UNIX};
    socklen_t length = sizeof here;
    int net = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0),
        unix_one = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (chdir(top))
        return -1;
    mkdir("out", 0755);
    snprintf(local.sun_path, sizeof local.sun_path, "out/sock");
    if (bind(net, (struct sockaddr *)&here, sizeof here) || listen(net, 64) ||
        getsockname(net, (struct sockaddr *)&here, &length) ||
        bind(unix_one, (struct sockaddr *)&local, sizeof local) || listen(unix_one, 64) ||
        chdir(project))
        return -1;
    answer_http(net);
    return ntohs(here.sin_port);
}

/* A yes to one port of this machine opens no other, and a connection that fails is told. */
static void test_this_machine(void)
{
    static const char *const tried[] = {"bash -c 'exec 3<>/dev/tcp/127.0.0.1/1'",
                                        "curl -sf -m 20 http://127.0.0.1:1/"};
    char script[400], question[16384];
    struct talk t;
    fresh();
    snprintf(script, sizeof script,
             "curl -sf -m 20 http://localhost:%d/ && a=0 || a=1; curl -sf -m 20 "
             "http://localhost:1/ && b=0 || b=1; echo $a$b",
             port);
    begin(&t, "", script);
    unsigned asked =
        answer_all(&t, "\"answer\":\"run\",\"scope\":\"address\"", question, sizeof question);
    end(&t);
    ok(asked == 2 && result_is("01"), "a yes to one port of this machine: another one is asked");
    for (size_t i = 0; i < sizeof tried / sizeof *tried; i++) {
        fresh();
        begin(&t, "", tried[i]);
        asked = answer_all(&t, "\"answer\":\"once\"", question, sizeof question);
        end(&t);
        if (!ok(asked == 1 && sh("out", "grep -q 'allowed when asked, but it failed: connect "
                                        "127.0.0.1:1 (Connection refused)' log") == 0,
                "a connection that fails after a yes: %s", tried[i]))
            sh("out", "cat log >&2");
    }
    fresh();
    snprintf(script, sizeof script, "bash -c 'exec 3<>/dev/tcp/127.0.0.1/%d'", port);
    begin(&t, "", script);
    answer_all(&t, "\"answer\":\"once\"", question, sizeof question);
    end(&t);
    ok(sh("out", "grep -q 'allowed when asked: connect' log && ! grep -q 'but it failed' log") == 0,
       "control: one that works is not");
}

/* "once" is for one call, whoever else waits with the same question. */
static void test_once(void)
{
    struct talk t;
    char question[16384];
    sh(".", "rm -rf out/*; mkdir -p ws");
    begin(&t, "", "for i in 1 2 3 4; do (echo x >> ../out/a) & done; wait; echo over");
    unsigned asked = answer_all(&t, "\"answer\":\"once\"", question, sizeof question);
    end(&t);
    if (!ok(asked >= 2 && sh("out", "test $(wc -l < a) = 1 && grep -q over log") == 0,
            "once frees one of several"))
        note("%u asked", asked);
    sh(".", "rm -rf out/*");
    begin(&t, "", "for i in 1 2 3 4; do (echo x >> ../out/a) & done; wait; echo over");
    answer_all(&t, "\"answer\":\"run\"", question, sizeof question);
    end(&t);
    ok(sh("out", "test $(wc -l < a) = 4") == 0, "run frees them all");
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    if (!box_make("ask"))
        return box_done();
    snprintf(client, sizeof client, "%s/%s", project, ASK_PROBE);
    sh(".", "mkdir -p ws out");
    port = serve_here();
    ok(port > 0, "servers outside");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        test_answers(&rows[i]);
    test_never_asked();
    test_inside();
    test_first_program();
    test_wrong_lines();
    test_once();
    test_this_machine();
    test_waiting();
    test_many();
    test_forged();
    test_swapped();
    test_exchanged();
    test_both_ends();
    test_kept();
    test_told();
    return box_done();
}
