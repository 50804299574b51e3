/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --ask on a terminal: a pseudo-terminal plays the person's. Questions and keys, what is typed ahead,
 * Ctrl-C and Ctrl-Z, a window that closes, no terminal, and a tree that tries to answer itself.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <termios.h>
#include <time.h>

#include "harness.h"

static char client[1200];

struct person {
    pid_t pid;
    int fd;
    char seen[65536];
    size_t n, at;
    struct termios before;
};

/* cordon run --ask with these options and a line of sh in ws, on a terminal of its own. */
static void begin(struct person *p, const char *options, const char *script)
{
    struct winsize size = {.ws_row = 24, .ws_col = 80};
    char line[6144];
    *p = (struct person){.fd = -1};
    snprintf(
        line, sizeof line,
        "cd '%s/ws' && exec '%s' run --ask --audit ../out/audit --root . %s -- sh -c \"$SCRIPT\"",
        top, cordon, options);
    setenv("SCRIPT", script, 1);
    p->pid = forkpty(&p->fd, NULL, NULL, &size);
    if (p->pid == 0) {
        execl("/bin/sh", "sh", "-c", line, (char *)NULL);
        _exit(127);
    }
    tcgetattr(p->fd, &p->before);
}

/* Waits until this stands on the screen, after what was seen before. */
static bool sees(struct person *p, const char *words)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    time_t until = now.tv_sec + 20 * box_slow();
    for (;;) {
        p->seen[p->n] = '\0';
        char *found = strstr(p->seen + p->at, words);
        if (found) {
            p->at = (size_t)(found - p->seen) + strlen(words);
            return true;
        }
        struct pollfd watch = {p->fd, POLLIN, 0};
        clock_gettime(CLOCK_MONOTONIC, &now);
        if (now.tv_sec > until || p->n + 4096 > sizeof p->seen)
            return false;
        if (poll(&watch, 1, 500) != 1)
            continue;
        ssize_t n = read(p->fd, p->seen + p->n, 4096);
        if (n <= 0)
            return false;
        p->n += (size_t)n;
    }
}

static void press(struct person *p, const char *keys)
{
    if (write(p->fd, keys, strlen(keys)) < 0)
        note("cannot type: %s", strerror(errno));
}

/* A key that arrives right after the question was pressed before anybody could read it. */
static bool asked(struct person *p)
{
    bool shown = sees(p, "s: no) > ");
    usleep(700000);
    return shown;
}

static int end(struct person *p)
{
    int status;
    while (sees(p, "\x01 never"))
        ;
    if (p->fd >= 0)
        close(p->fd);
    waitpid(p->pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void fresh(void)
{
    sh(".", "rm -rf out/*; mkdir -p ws out/sub; rm -f ws/*");
}

static void test_keys(void)
{
    static const struct {
        const char *what, *keys, *word, *expect;
        bool again; /* the second one is asked about, and answered with n */
    } rows[] = {
        {"o", "o", "once", "01", true},
        {"r", "r", "run", "01", true},
        {"f", "f", "run", "00", false},
        {"n", "n", "no", "11", true},
        {"N", "N", "never", "11", true},
        {"a key that is not offered, then o", "hqo", "once", "01", true},
        {"n, taken back, then o", "n\x7Fo", "once", "01", true},
        {"two letters are none, then n", "oon", "no", "11", true},
        {"yes", "yes", "once", "01", true},
        {"once", "once", "once", "01", true},
        {"no", "no", "no", "11", true},
        {"NO", "NO", "no", "11", true},
        {"Never", "Never", "never", "11", true},
        {"run", "run", "run", "01", true},
        {"folder", "folder", "run", "00", false},
        {"a word with a typing error, then no", "yrno", "no", "11", true},
        {"a word, corrected",
         "noo\x7F\x7F"
         "no",
         "no", "11", true},
        {"half a word is no answer, nor is one that goes on", "onc\ryess\rno", "no", "11", true},
    };
    struct person p;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fresh();
        begin(&p, "",
              "(echo x > ../out/sub/one) && a=0 || a=1; (echo x > ../out/sub/two) && b=0 || "
              "b=1; echo result=$a$b");
        char result[32];
        bool first = sees(&p, "wants to create") &&
                     sees(&p, "/out/sub/one\"   rule roots.outside") && asked(&p);
        for (const char *k = rows[i].keys; *k; k++) {
            press(&p, (char[]){*k, '\0'});
            usleep(100000);
        }
        press(&p, "\r");
        first = first && sees(&p, rows[i].word);
        if (rows[i].again) {
            first = first && sees(&p, "/out/sub/two") && asked(&p);
            press(&p, "n\r");
        }
        snprintf(result, sizeof result, "result=%s", rows[i].expect);
        bool same = sees(&p, result);
        end(&p);
        if (!ok(first && same, "%s", rows[i].what))
            note("%s", p.seen);
    }
    ok(sh("out", "grep '\"type\":\"answer\"' audit | grep -q '\"by\":\"terminal\"'") == 0,
       "the event says that it was the terminal");
}

static void test_typed_ahead(void)
{
    struct person p;
    fresh();
    begin(&p, "",
          "echo ready; sleep 1; (echo x > ../out/a) && echo MADE; read line; echo got=$line=");
    sees(&p, "ready");
    press(&p, "oo");
    bool shown = asked(&p);
    usleep(500000);
    bool waited = sh("out", "test ! -e a") == 0;
    press(&p, "n\r");
    press(&p, "r\r");
    bool got = sees(&p, "got=oor=");
    end(&p);
    if (!ok(shown && waited && got && sh("out", "test ! -e a") == 0,
            "what was typed before the question is for the command, and so is what comes after the "
            "answer"))
        note("%s", p.seen);
}

/* Neither a terminal's own replies nor keys typed for the command answer a question. */
static void test_not_meant(void)
{
    static const struct {
        const char *what, *pieces[6];
        const char *got;
    } rows[] = {
        {"a letter without Enter", {"o"}, "="},
        {"a terminal's reply", {"\x1b]11;rgb:ffff/ffff/ffff\x07"}, NULL},
        {"a reply in pieces", {"\x1b]11;rgb:ff", "r", "gb:ff", "o"}, NULL},
        {"a reply in pieces that come late", {"\x1b]l", "*", "o", "*", "\x1b\\"}, NULL},
        {"a mouse", {"\x1b[M", "oor"}, NULL},
        {"a letter and Enter in a text that is pasted", {"cd x\ro\r"}, "="},
        {"a line for the command", {"-", "r", "oceed\r"}, "=roceed="},
        {"a short line for the command", {"-", "o\r"}, "=o="},
    };
    struct person p;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fresh();
        begin(&p, "--ask-timeout 4",
              "(echo x > ../out/a) 2>&-; stty -icanon -echo min 0 time 3; IFS= read -r line; echo "
              "\"got=$line=\"");
        bool early = strcmp(rows[i].pieces[0], "-") == 0;
        bool shown = early ? sees(&p, "s: no) > ") : asked(&p);
        for (size_t k = early; k < 6 && rows[i].pieces[k]; k++) {
            if (strcmp(rows[i].pieces[k], "*") == 0)
                usleep(800000);
            else
                press(&p, rows[i].pieces[k]);
            usleep(50000);
        }
        bool closed = sees(&p, "no answer: no");
        bool got = sees(&p, "got=") && (!rows[i].got || sees(&p, rows[i].got + 1));
        end(&p);
        if (!ok(shown && closed && got && sh("out", "test ! -e a") == 0, "no answer: %s",
                rows[i].what))
            note("%s", p.seen);
    }
}

/* A key that is no answer is said to be none, with those that are, and the question stays. */
static void test_hints(void)
{
    static const struct {
        const char *what, *keys, *said;
        bool early;
    } rows[] = {
        {"a letter that is not offered", "x",
         "that is no answer here; type o, r, f, n or N, then Enter > ", false},
        {"Enter alone", "\r", "no letter was typed; type o, r, f, n or N, then Enter > ", false},
        {"a letter too early", "o", "too early and went to the command; type o, r, f, n or N, then",
         true},
    };
    struct person p;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fresh();
        begin(&p, "", "(echo x > ../out/sub/one) && echo result=made");
        bool shown = rows[i].early ? sees(&p, "s: no) > ") : asked(&p);
        press(&p, rows[i].keys);
        bool said = sees(&p, rows[i].said);
        usleep(700000);
        press(&p, "o\r");
        bool made = sees(&p, "result=made");
        end(&p);
        if (!ok(shown && said && made, "%s: what is accepted, and then it is", rows[i].what))
            note("%s", p.seen);
    }
    fresh();
    begin(&p, "--ask-timeout 2", "(echo x > ../out/a) 2>&-; echo over");
    asked(&p);
    press(&p, "\x1b]11;rgb:ffff/ffff/ffff\x07");
    bool over = sees(&p, "over");
    end(&p);
    ok(over && !strstr(p.seen, "; type"), "what a terminal sends by itself gets no hint");
    fresh();
    begin(&p, "", "(echo x > ../out/a) 2>&-; echo over");
    asked(&p);
    for (int i = 0; i < 10; i++) {
        press(&p, "x");
        usleep(80000);
    }
    usleep(200000);
    press(&p, "n\r");
    over = sees(&p, "over");
    end(&p);
    int hints = 0;
    for (const char *at = p.seen; (at = strstr(at, "; type")); at++)
        hints++;
    ok(over && hints == 3, "a cat on the keyboard gets three");
}

/* The call does exactly what the question says. */
static void test_shown(void)
{
    struct person p;
    char script[2000];
    static const struct {
        const char *what, *script, *sees[3];
    } rows[] = {
        {"both ends of a rename",
         "echo x > own; mv own ../out/sub/there",
         {"wants to rename \"", "/ws/own\" to \"", "/out/sub/there\""}},
        {"that a file is emptied",
         ": > ../out/sub/old",
         {"wants to write \"", "/out/sub/old\"", "and cuts it to 0 bytes"}},
        {"a mode",
         "chmod 755 ../out/sub/old",
         {"wants to change \"", "/out/sub/old\"", "with the mode 0755"}},
        {"where a link leads that is moved",
         "ln -s \"$(printf '/e\\033[2J\\342\\200\\256')\" own; mv -T own ../out/sub/there",
         {"wants to rename \"", "/out/sub/there\"", "is a link to \"/e\\u{1b}[2J\\u{202e}\""}},
        {"an attribute and its value",
         "./probe attribute ../out/sub/old \"$(printf 'user.a\\033')\" \"$(printf "
         "'v\\314\\270\\007')\" x",
         {"wants to change \"", "sets the attribute \"user.a\\u{1b}\" to \"v\\u{338}\\u{7}\"",
          "(4 bytes)"}},
        {"the words of a tool",
         "ssh -G evil.example 'rm -rf /'",
         {"wants to start \"", "/ssh\"", "ssh -G evil.example \\\"rm -rf /\\\"\""}},
        {"a program of the workspace by its path",
         "cp /bin/dash git; ./git -c 'echo x > ../out/a'",
         {"cordon: \"/", "/ws/git\"", "wants to create \""}},
        {"who asks the proxy for a host",
         "curl -s http://host.invalid/",
         {"cordon: \"curl\"", "wants to connect to \"", "host.invalid:80\""}},
        {"the end of a long command",
         "true%600s; eval \"$X\"; echo THEEND",
         {"wants to run \"", "more bytes", "THEEND"}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fresh();
        sh("out", "echo old > sub/old; cp '%s' ../ws/probe", client);
        const char *blanks = strstr(rows[i].script, "%600s");
        snprintf(script, sizeof script, "%.*s%*s%s",
                 (int)(blanks ? blanks - rows[i].script : (long)strlen(rows[i].script)),
                 rows[i].script, blanks ? 600 : 0, "", blanks ? blanks + 5 : "");
        begin(&p, "--ask-timeout 1", script);
        bool seen = true;
        for (size_t k = 0; k < 3 && seen; k++)
            seen = sees(&p, rows[i].sees[k]);
        end(&p);
        if (!ok(seen, "%s", rows[i].what))
            note("%s", p.seen);
    }
}

static void test_signals(void)
{
    struct person p;
    fresh();
    begin(&p, "",
          "trap 'echo interrupted; exit 3' INT; echo x > ../out/a; while :; do sleep 0.1; done");
    bool shown = asked(&p);
    press(&p, "\x03");
    bool heard = sees(&p, "interrupted");
    int code = end(&p);
    ok(shown && heard && code == 3 && sh("out", "test ! -e a") == 0,
       "Ctrl-C is a no, and reaches the command");

    fresh();
    begin(&p, "", "trap 'echo interrupted; exit 4' INT; echo ready; while :; do sleep 0.1; done");
    sees(&p, "ready");
    press(&p, "\x03");
    heard = sees(&p, "interrupted");
    ok(end(&p) == 4 && heard, "Ctrl-C without a question reaches the command");

    /* A shell that controls jobs around cordon, as people have it. */
    fresh();
    begin(&p, "", "echo ready; sleep 2; echo went on");
    sees(&p, "ready");
    press(&p, "\x1a");
    int status = 0;
    pid_t stopped = 0;
    for (int i = 0; i < 100 && stopped == 0; i++) {
        stopped = waitpid(p.pid, &status, WUNTRACED | WNOHANG);
        usleep(50000);
    }
    struct termios now;
    tcgetattr(p.fd, &now);
    ok(stopped == p.pid && WIFSTOPPED(status) && (now.c_lflag & ICANON),
       "Ctrl-Z stops it, with the "
       "terminal as it was");
    kill(p.pid, SIGCONT);
    bool on = sees(&p, "went on");
    ok(end(&p) == 0 && on, "and it goes on");
}

/* The person stops the job while a question is open, and comes back later than its time-out. */
static void test_stopped(void)
{
    struct person p;
    int status = 0;
    pid_t stopped = 0;
    struct termios now;
    fresh();
    begin(&p, "--ask-timeout 3", "(echo x > ../out/a) && echo MADE; echo over");
    bool shown = sees(&p, "wants to create") && asked(&p);
    press(&p, "\x1a");
    for (int i = 0; i < 100 && stopped == 0; i++) {
        stopped = waitpid(p.pid, &status, WUNTRACED | WNOHANG);
        usleep(50000);
    }
    tcgetattr(p.fd, &now);
    bool cooked = now.c_lflag & ICANON;
    sleep(4);
    kill(p.pid, SIGCONT);
    bool again = sees(&p, "wants to create") && asked(&p);
    press(&p, "o\r");
    bool made = sees(&p, "MADE") && sees(&p, "over");
    end(&p);
    if (!ok(shown && stopped == p.pid && WIFSTOPPED(status) && cooked && again && made,
            "Ctrl-Z at a question stops the job; then it is asked again, with its time left"))
        note("%s", p.seen);
    fresh();
    begin(&p, "--ask-timeout 2", "(echo x > ../out/a) 2>&-; echo over");
    shown = asked(&p);
    kill(p.pid, SIGSTOP);
    sleep(5);
    kill(p.pid, SIGCONT);
    again = sees(&p, "wants to create") && asked(&p);
    bool closed = sees(&p, "no answer: no") && sees(&p, "over");
    end(&p);
    ok(shown && again && closed, "stopped by others, too; and the time-out goes on after it");
    fresh();
    begin(&p, "--timeout 60", "(echo x > ../out/a) 2>&-; echo over");
    shown = asked(&p);
    press(&p, "\x1a");
    usleep(700000);
    press(&p, "n\r");
    closed = sees(&p, "over");
    end(&p);
    ok(shown && closed, "where a time-out of the run counts, nothing stops");
}

/* A program that draws on the screen is told to draw again; one that reads lines hears nothing. */
static void test_redrawn(void)
{
    static const char *const modes[] = {"-icanon", "icanon"};
    struct person p;
    char script[600];
    for (int lines = 0; lines < 2; lines++) {
        fresh();
        snprintf(script, sizeof script,
                 "stty %s; trap 'echo drawn' WINCH; (echo x > ../out/a) && echo MADE; for i in 1 2 "
                 "3 4 5 6 7 8 9 10; do sleep 0.1; done; stty size; echo over",
                 modes[lines]);
        begin(&p, "", script);
        bool shown = asked(&p);
        press(&p, "o\r");
        bool made = sees(&p, "MADE"), size = sees(&p, "24 80"), over = sees(&p, "over");
        end(&p);
        bool drawn = strstr(p.seen, "drawn") != NULL;
        if (!ok(shown && made && size && over && drawn != (lines == 1),
                lines ? "a program that reads lines is left alone"
                      : "after a question a program that draws on the screen draws again"))
            note("%s", p.seen);
    }
}

static void test_nobody(void)
{
    struct person p;
    fresh();
    begin(&p, "--ask-timeout 1", "(echo x > ../out/a) & (echo x > ../out/b) & wait; echo over");
    bool first = asked(&p) && sees(&p, "no answer: no");
    bool over = sees(&p, "over");
    int shown = 0;
    for (const char *at = p.seen; (at = strstr(at, "wants to")); at++)
        shown++;
    end(&p);
    ok(first && over && shown == 1 && sh("out", "test ! -e a && test ! -e b") == 0,
       "one that nobody answers is a no for those behind it");

    fresh();
    begin(&p, "", "echo x > ../out/a; echo x > ../out/late");
    bool shown_now = asked(&p);
    close(p.fd);
    p.fd = -1;
    int status;
    waitpid(p.pid, &status, 0);
    ok(shown_now && sh("out", "test ! -e a && test ! -e late") == 0,
       "a window that closes is a no");

    fresh();
    ok(sh("ws",
          "setsid -w '%s' run --ask --root . -- sh -c 'echo x > ../out/a' < /dev/null > "
          "../out/log 2>&1; test ! -e ../out/a && test $(grep -c 'no terminal' ../out/log) = 1 && "
          "grep -q 'sandbox denied: create' ../out/log",
          cordon) == 0,
       "no terminal: denied as ever, and said once");
    ok(sh("ws", "'%s' run --ask --ask-fd 3,4 -- true 3</dev/null 4>/dev/null", cordon) == 125,
       "one who answers, not two");
}

/* A key that answers is nobody else's. */
static void test_keys_are_read_once(void)
{
    struct person p;
    fresh();
    begin(
        &p, "",
        "stty -icanon -echo; cat > keys < /dev/tty & sleep 0.5; (echo x > ../out/a) && echo MADE; "
        "sleep 1; echo ready; sleep 2; kill %1 2>&-; echo over");
    bool shown = asked(&p);
    press(&p, "o\r");
    bool made = sees(&p, "MADE") && sees(&p, "ready");
    bool none = sh("ws", "test -e keys && test ! -s keys") == 0;
    press(&p, "zz");
    bool over = sees(&p, "over");
    end(&p);
    if (!ok(shown && made && none, "a program of the tree that reads keys does not see an answer"))
        note("%s", p.seen);
    ok(over && sh("ws", "test $(cat keys) = zz") == 0, "control: it sees the keys that are for it");

    static const char *const ways[] = {"head -c 1 <", "dd count=1 bs=1 if="};
    for (size_t i = 0; i < 2; i++) {
        char script[300], name[64] = "";
        fresh();
        snprintf(script, sizeof script,
                 "while ! test -s name; do sleep 0.1; done; (timeout 3 %s\"$(cat name)\" > got) "
                 "&& echo DONE || echo FAILED",
                 ways[i]);
        begin(&p, "", script);
        ptsname_r(p.fd, name, sizeof name);
        sh("ws", "echo '%s' > name", name);
        usleep(500000);
        press(&p, "k");
        bool failed = sees(&p, "FAILED");
        end(&p);
        if (!ok(failed && sh("ws", "test ! -s got") == 0, "nor the person's terminal: %s", ways[i]))
            note("%s", p.seen);
    }
}

static void test_own_terminal(void)
{
    struct person p;
    char script[3000], name[64] = "";
    fresh();
    begin(&p, "", "tty; stty size; echo x > /dev/tty && echo wrote; cat < /dev/null");
    bool other = sees(&p, "/dev/pts/") && sees(&p, "24 80") && sees(&p, "wrote");
    ok(end(&p) == 0 && other, "the command has a terminal of its own, of the same size");

    fresh();
    begin(&p, "",
          "while ! test -s name; do sleep 0.1; done; echo x | tee \"$(cat name)\" > log "
          "&& echo DONE || echo FAILED");
    ptsname_r(p.fd, name, sizeof name);
    sh("ws", "echo '%s' > name", name);
    bool failed = sees(&p, "FAILED");
    int code = end(&p);
    if (!ok(code == 0 && failed && str_starts(str_of(name), STR("/dev/pts/")),
            "it cannot write to the person's terminal"))
        note("%d %s %s", code, name, p.seen);

    fresh();
    snprintf(script, sizeof script, "'%s' forge ../out; echo code=$?", client);
    begin(&p, "--ask-timeout 3", script);
    bool shown = asked(&p), silent = sees(&p, "no answer: no") && sees(&p, "code=");
    end(&p);
    /* It may write to its own terminal: that is no answer. */
    if (!ok(shown && silent && sh("out", "test ! -e 7") == 0,
            "the tree cannot answer: neither by its terminal nor by TIOCSTI"))
        note("%s", p.seen);

    fresh();
    begin(&p, "",
          "printf '\\033]0;hidden'; (echo x > \"../out/$(printf 'a\\033[2J\\nb')\") && echo MADE");
    shown = sees(&p, "\x18\x1b\\") && sees(&p, "wants to create") && asked(&p);
    press(&p, "o\r");
    bool made = sees(&p, "MADE");
    end(&p);
    const char *at = strstr(p.seen, "wants to create");
    const char *stop = at ? strstr(at, "rule roots") : NULL;
    bool plain = stop != NULL;
    for (; plain && at < stop; at++)
        plain = (unsigned char)*at >= 0x20;
    ok(shown && made && plain,
       "a name with escapes is spelled out, and a sequence begun before ends");

    fresh();
    struct termios now;
    begin(&p, "", "echo ready; sleep 0.5");
    sees(&p, "ready");
    tcgetattr(p.fd, &now);
    bool raw = !(now.c_lflag & ICANON);
    while (sees(&p, "\x01 never"))
        ;
    tcgetattr(p.fd, &now);
    ok(raw && now.c_lflag == p.before.c_lflag && now.c_iflag == p.before.c_iflag,
       "raw while it runs, "
       "and put back");
    end(&p);
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    if (!box_make("ask-terminal"))
        return box_done();
    snprintf(client, sizeof client, "%s/%s", project, ASK_PROBE);
    sh(".", "mkdir -p ws out");
    test_keys();
    test_typed_ahead();
    test_not_meant();
    test_hints();
    test_shown();
    test_signals();
    test_stopped();
    test_redrawn();
    test_nobody();
    test_keys_are_read_once();
    test_own_terminal();
    return box_done();
}
