/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --net=proxy and --net=allow, end to end, with a server on this machine only: the program is a
 * test build whose names and connections are the tests' own (tests/doubles/linux/proxy_dial.c).
 */
#include "harness.h"

static char client[1200];

/* Asks from inside with these options; 0: an answer came. The server's port is $PORT. */
static int ask(const char *options, const char *how, const char *host, const char *port)
{
    return sh("ws",
              "rm -f got; CORDON_TEST_PORT=$(cat ../out/port) PORT=$(cat ../out/port) sh -c \"'%s' "
              "run --quiet --audit ../out/audit --audit-all %s -- '%s' %s %s %s got\"",
              cordon, options, client, how, host, port);
}

static bool answered(void)
{
    return sh("ws", "grep -q 'hello from outside' got") == 0;
}

static void test_allow(void)
{
    static const struct {
        const char *what, *list, *how, *host;
        bool works;
    } rows[] = {
        {"a listed name by CONNECT", "good.test", "connect", "good.test", true},
        {"a listed name by SOCKS", "good.test", "socks", "good.test", true},
        {"a listed name from a dual-stack socket", "good.test", "connect-mapped", "good.test",
         true},
        {"a name that is not listed from such a socket", "good.test", "connect-mapped",
         "sub.good.test", false},
        {"a listed name by a plain request", "good.test", "plain", "good.test", true},
        {"a listed name in other letters", "good.test", "connect", "GOOD.test", false},
        {"a name below a listed one", "*.good.test", "connect", "sub.good.test", true},
        {"the second of a list", "other.test,good.test", "socks", "good.test", true},
        {"a private address that was listed", "10.0.0.1", "connect", "10.0.0.1", true},
        {"a name that is not listed", "good.test", "connect", "sub.good.test", false},
        {"a name that is not listed, by SOCKS", "good.test", "socks", "sub.good.test", false},
        {"a name that is not listed, plainly", "good.test", "plain", "sub.good.test", false},
        {"the name above a listed one", "*.good.test", "connect", "good.test", false},
        {"a wrong secret", "good.test", "connect-bad", "good.test", false},
        {"a wrong secret for SOCKS", "good.test", "socks-bad", "good.test", false},
        {"a name that leads to a private network", "inner.test", "connect", "inner.test", false},
        {"a name that leads to this machine", "loop.test", "connect", "loop.test", false},
        {"the same by SOCKS", "loop.test", "socks", "loop.test", false},
        {"the same plainly", "loop.test", "plain", "loop.test", false},
        {"a mapped address of this machine", "mapped.test", "connect", "mapped.test", false},
        {"a mapped private address", "mapped10.test", "connect", "mapped10.test", false},
        {"a link-local address", "meta.test", "connect", "meta.test", false},
        {"a unique local address", "six.test", "connect", "six.test", false},
        {"a link-local address of IPv6", "link.test", "connect", "link.test", false},
        {"a tunnel to this machine", "tunnel.test", "connect", "tunnel.test", false},
        {"the address of nothing", "zero.test", "connect", "zero.test", false},
        {"this machine, listed as an address", "127.0.0.1", "connect", "127.0.0.1", false},
        {"a private network named with the name", "inner.test@10.0.0.0/8", "connect", "inner.test",
         true},
        {"another private network", "inner.test@192.168.0.0/16", "connect", "inner.test", false},
        {"the port of the entry", "good.test:443", "connect", "good.test", true},
        {"another port", "good.test:444", "connect", "good.test", false},
        {"a name that a pattern covers", "*.good.test;deny=x.good.test", "connect", "sub.good.test",
         true},
        {"one that is denied", "*.good.test;deny=sub.good.test", "connect", "sub.good.test", false},
        {"a name that does not exist", "no.test", "connect", "no.test", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char option[200];
        snprintf(option, sizeof option, "'--net=allow=%s'", rows[i].list);
        int code = ask(option, rows[i].how, rows[i].host, "443");
        /* The resolver of the tests knows one spelling: the decision is about the answer's
           event. */
        if (strcmp(rows[i].host, "GOOD.test") == 0)
            ok(sh("out", "grep -q '\"type\":\"allow\".*GOOD.test:443' audit") == 0, "%s is allowed",
               rows[i].what);
        else
            ok(rows[i].works ? code == 0 && answered() : !answered(), "%s: %s",
               rows[i].works ? "allowed" : "denied", rows[i].what);
    }
    ok(sh("out", "grep '\"type\":\"deny\"' audit | grep 'net.connect' | grep 'sub.good.test:443' | "
                 "grep -q net.allow") == 0,
       "a host that is refused is an event");
    ok(sh("out", "grep '\"type\":\"deny\"' audit | grep 'loop.test:443' | grep -q net.private") ==
           0,
       "and so is a name that leads to this machine, with its own rule");
    ok(sh("out", "grep '\"type\":\"allow\"' audit | grep -q '\"good.test:443\"'") == 0,
       "a host that is allowed is one too, with --audit-all");
    ask("--net=allow=good.test", "plain", "good.test", "80");
    ok(sh("ws", "grep -q '^GET /path HTTP/1.1' got && grep -q '^Host: good.test.$' got && grep -q "
                "'X-Kept: yes' got && ! grep -qi 'proxy-' got && ! grep -q other.test got") == 0,
       "a plain request arrives as the host expects it, without the secret");
}

/* The client may say anything about the proxy's 502: the summary names the host and why. */
static void test_unreached(void)
{
    static const struct {
        const char *host, *script, *expect;
    } rows[] = {
        {"no.test", "exit 1",
         "cordon: not reached, although it is allowed: no.test:443: host not found"},
        {"no.test", "exit 0", ""},
        {"good.test", "exit 1", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bool same =
            sh("ws",
               "CORDON_TEST_PORT=$(cat ../out/port) '%s' run --net=allow=%s -- sh -c '\"%s\" "
               "connect %s 443 got > /dev/null 2>&1; %s' 2> ../out/said; test \"$(cat "
               "../out/said)\" "
               "= '%s'",
               cordon, rows[i].host, client, rows[i].host, rows[i].script, rows[i].expect) == 0;
        ok(same, "%s, %s: %s", rows[i].host, rows[i].script,
           *rows[i].expect ? "a line says that it was not reached" : "no line");
    }
    ok(sh("ws",
          "'%s' run --json --net=allow=no.test -- '%s' connect no.test 443 got 2>&1 | grep -q "
          "'\"unreached\":\"no.test:443: host not found\"'",
          cordon, client) == 0,
       "in JSON, too");
}

/* Targets that are spelled to look like another host, and addresses in odd spellings, listed as
   they are so that only the check of the address is left. */
static void test_tricks(void)
{
    static const struct {
        const char *how, *list, *target;
        bool works;
    } rows[] = {
        {"connect-raw", "good.test", "good.test:443", true},
        {"plain-raw", "good.test", "http://good.test/path", true},
        {"connect-raw", "good.test", "good.test@sub.good.test:443", false},
        {"connect-raw", "good.test", "sub.good.test:443/good.test", false},
        {"connect-raw", "good.test", "sub.good.test#good.test:443", false},
        {"connect-raw", "good.test", "sub.good.test?good.test:443", false},
        {"connect-raw", "good.test", "sub.good.test%00good.test:443", false},
        {"connect-raw", "good.test", "good.test:443@sub.good.test:443", false},
        {"connect-raw", "good.test", "good.test,sub.good.test:443", false},
        {"connect-raw", "good.test", "sub.good.test:443:443", false},
        {"connect-raw", "good.test", "good.test:65979", false}, /* 443 in 16 bits */
        {"connect-raw", "good.test:443", "good.test:+443", false},
        {"connect-raw", "127.1", "127.1:443", false},
        {"connect-raw", "2130706433", "2130706433:443", false},
        {"connect-raw", "0x7f000001", "0x7f000001:443", false},
        {"connect-raw", "017700000001", "017700000001:443", false},
        {"connect-raw", "0177.0.0.1", "0177.0.0.1:443", false},
        {"connect-raw", "[::1]", "[::1]:443", false},
        {"connect-raw", "[::ffff:127.0.0.1]", "[::ffff:127.0.0.1]:443", false},
        {"connect-raw", "[::]", "[::]:443", false},
        {"plain-raw", "good.test", "http://sub.good.test/path", false},
        {"plain-raw", "good.test", "http://good.test@sub.good.test/path", false},
        {"plain-raw", "good.test", "http://good.test:80@sub.good.test/path", false},
        {"plain-raw", "good.test", "http://sub.good.test#@good.test/path", false},
        {"plain-raw", "good.test", "http://sub.good.test\\\\@good.test/path", false},
        {"plain-raw", "good.test", "//sub.good.test/path", false},
        {"plain-raw", "good.test", "/path", false},
        {"plain-raw", "good.test", "ftp://good.test/path", false},
        {"plain-raw", "127.1", "http://127.1/path", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char option[200], target[200];
        snprintf(option, sizeof option, "'--net=allow=%s'", rows[i].list);
        snprintf(target, sizeof target, "'%s'", rows[i].target);
        int code = ask(option, rows[i].how, target, "0");
        ok(rows[i].works ? code == 0 && answered() : !answered(), "%s: %s %s",
           rows[i].works ? "control, allowed" : "denied", rows[i].how, rows[i].target);
    }
    ask("--net=allow=good.test", "smuggle", "smug.test", "80");
    ok(sh("ws", "test $(cat got 2>/dev/null | grep -c 'hello from outside') -le 1") == 0 &&
           sh("out", "! grep '\"type\":\"allow\"' audit | grep -q smug.test") == 0,
       "a request behind another one, with two lengths, reaches no other host");
    ok(ask("--net=allow=rebind.test", "connect", "rebind.test", "443") == 0 && answered() &&
           sh("ws", "! grep -q rebound got") == 0,
       "a name that leads elsewhere when asked again: the address that was judged is dialled");
    if (sh(".", "command -v curl") != 0) {
        skip("a redirection", "curl is not installed");
        return;
    }
    const char *follow = "CORDON_TEST_PORT=$(cat ../out/port) '%s' run --quiet --net=allow=%s -- "
                         "curl -sL -m 10 http://good.test/redirect | grep -q 'hello from outside'";
    char line[1600];
    snprintf(line, sizeof line, follow, cordon, "good.test,sub.good.test");
    ok(sh("ws", "%s", line) == 0, "control: a redirection to a listed host is followed");
    snprintf(line, sizeof line, follow, cordon, "good.test");
    ok(sh("ws", "%s", line) != 0, "denied: a redirection to another one");
}

static void test_only_way(void)
{
    int control = ask("--net=loopback", "direct", "127.0.0.1", "\\$PORT");
    ok(control == 0 && answered(), "control: with --net=loopback the server is reached");
    ask("--net=allow=good.test", "direct", "127.0.0.1", "\\$PORT");
    ok(!answered(), "denied: the server itself with --net=allow");
    ask("--net=allow=127.0.0.1", "direct", "127.0.0.1", "\\$PORT");
    ok(!answered(), "denied: even if its address is listed");
    ask("--net=allow=localhost", "direct", "127.0.0.1", "\\$PORT");
    ok(answered(), "allowed: this machine, if localhost is listed");
    ask("--net=allow=localhost:\\$PORT", "direct", "127.0.0.1", "\\$PORT");
    ok(answered(), "allowed: this port of it");
    ask("--net=allow=localhost:1", "direct", "127.0.0.1", "\\$PORT");
    ok(!answered(), "denied: another port of it");
    ask("--net=allow=good.test", "direct-mapped", "127.0.0.1", "\\$PORT");
    ok(!answered(), "denied: the server itself by its mapped address");
    ask("--net=allow=localhost:\\$PORT", "direct-mapped", "127.0.0.1", "\\$PORT");
    ok(answered(), "allowed: the mapped address of this machine, if localhost is listed");
    ask("--net=proxy=127.0.0.1:\\$PORT", "direct-mapped", "127.0.0.1", "\\$PORT");
    ok(answered(), "allowed: the mapped address of the proxy that was named");
    ask("--net=proxy=127.0.0.1:1", "direct", "127.0.0.1", "\\$PORT");
    ok(!answered(), "denied: the server itself with another proxy");
    ask("--net=proxy=127.0.0.1:\\$PORT", "direct", "127.0.0.1", "\\$PORT");
    ok(answered(), "allowed: the proxy that was named");
    ask("--net=proxy=proxy.test:\\$PORT", "plain", "good.test", "80");
    ok(sh("ws", "grep -q 'GET http://good.test:80/path' got") == 0,
       "allowed: a proxy that was named by its name, through the variables");
    ask("--net=proxy=127.0.0.1:\\$PORT", "direct", "127.0.0.2", "\\$PORT");
    ok(!answered(), "denied: the same port of another address");
}

static void test_environment(void)
{
    ok(sh("ws",
          "no_proxy=x '%s' run --net=allow=good.test -- sh -c 'test -n \"$HTTP_PROXY\" -a "
          "\"$HTTP_PROXY\" = \"$https_proxy\" -a \"$npm_config_proxy\" = \"$ALL_PROXY\" -a -z "
          "\"$no_proxy$NO_PROXY\" -a -z \"$PIP_RETRIES\"'",
          cordon) == 0,
       "the variables of many programs name the proxy");
    ok(sh("ws",
          "for i in 1 2; do '%s' run --net=allow=good.test -- sh -c 'echo $https_proxy' > url$i; "
          "done; ! cmp -s url1 url2",
          cordon) == 0,
       "each run has a secret of its own");
    if (sh(".", "command -v curl") != 0) {
        skip("curl through the proxy", "curl is not installed");
        return;
    }
    ok(sh("ws",
          "CORDON_TEST_PORT=$(cat ../out/port) '%s' run --net=allow=good.test -- curl -s -m 10 "
          "http://good.test/path | grep -q 'hello from outside'",
          cordon) == 0,
       "curl gets a plain page through the proxy");
    ok(sh("ws",
          "CORDON_TEST_PORT=$(cat ../out/port) '%s' run --net=allow=good.test -- sh -c 'curl -s -m "
          "10 -p http://good.test:99/path' | grep -q 'hello from outside'",
          cordon) == 0,
       "and through a tunnel");
    ok(sh("ws",
          "CORDON_TEST_PORT=$(cat ../out/port) '%s' run --net=allow=good.test -- sh -c 'curl -s -m "
          "10 -x socks5h${http_proxy#http} http://good.test/path' | grep -q 'hello from outside'",
          cordon) == 0,
       "and by SOCKS");
    ok(sh("ws",
          "CORDON_TEST_PORT=$(cat ../out/port) '%s' run --net=allow=good.test -- curl -s -m 10 "
          "http://bad.test/ | grep -q 'rule net.allow'",
          cordon) == 0,
       "a refusal says why");
}

/* A question to a name server is refused with the name in it, at once. */
static void test_names(void)
{
    const char *look_up = "getent hosts there.example.com";
    ok(sh("ws", "timeout 4 '%s' run -- %s 2> err", cordon, look_up) == 2, "no name is found");
    ok(sh("ws", "grep -q 'denied: resolve there.example.com (rule net.off); allow with "
                "--net=allow=there.example.com$' err") == 0,
       "the refusal names the host and how to allow it");
    ok(sh("ws", "[ \"$(grep -c '^cordon: ' err)\" = 1 ]") == 0, "in one line");
    ok(sh("ws", "timeout 4 '%s' run --net=allow=a.test -- %s 2> err", cordon, look_up) == 2 &&
           sh("ws", "grep -q 'resolve there.example.com (rule net.allow)' err") == 0,
       "where a proxy is the only way, too");
    ok(sh("ws", "timeout 4 '%s' run --net=allow=there.example.com -- %s 2> err", cordon, look_up) ==
               2 &&
           sh("ws", "grep -q 'resolve there.example.com .*; this program does not use the proxy "
                    "that HTTPS_PROXY names; it needs --net=on, or' err") == 0,
       "a listed host: the line says that the program does not use the proxy");
    static const struct {
        const char *address;
        bool quiet;
    } asked[] = {{"127.0.0.77", true}, {"10.1.2.3", true}, {"fd00::1", true}, {"8.8.8.8", false}};
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        sh("ws",
           "rm -f ../out/back; timeout 4 '%s' run --audit ../out/back -- sh -c 'getent hosts %s; "
           "exit 1' 2> err",
           cordon, asked[i].address);
        ok(sh("ws", "grep -q 'denied: resolve .*arpa' err") == (asked[i].quiet ? 1 : 0) &&
               sh("out", "grep -q 'net.resolve.*arpa' back") == 0,
           "the name of %s: %s", asked[i].address,
           asked[i].quiet ? "in the audit alone" : "control, said");
    }
    ok(sh("ws", "'%s' run -- getent hosts localhost 2> err && ! grep -q '^cordon: ' err", cordon) ==
           0,
       "control: a name of this machine is found without a word");
}

/* With the network off and somebody to ask: the questions go to out/question and out/second. */
static void ask_person(const char *answer, const char *second, const char *how, const char *host)
{
    sh("ws", "rm -f in back ../out/question ../out/second; mkfifo in back");
    sh("ws",
       "(exec 5>in; exec 6<back; read -r q <&6; echo \"$q\" > ../out/question; echo "
       "'{\"id\":1,\"answer\":%s}' >&5; read -r q <&6 && echo \"$q\" > ../out/second && echo "
       "'{\"id\":2,\"answer\":%s}' >&5; cat <&6) & rm -f got; cat in | CORDON_TEST_PORT=$(cat "
       "../out/port) "
       "'%s' run --quiet --ask-fd 3,4 --audit ../out/audit -- '%s' %s %s 443 got 3<&0 4>&1 "
       "</dev/null "
       ">/dev/null | cat > back; wait",
       answer, second, cordon, client, how, host);
}

/* A name that somebody allows and that leads into a private network is asked about again. */
static void test_asked_private(void)
{
    static const struct {
        const char *host, *address, *second;
        bool works;
    } rows[] = {
        {"inner.test", "10.0.0.1", "\"once\"", true}, {"inner.test", "10.0.0.1", "\"no\"", false},
        {"six.test", "fd00::1", "\"once\"", true},    {"good.test", NULL, "\"no\"", true},
        {"meta.test", NULL, "\"once\"", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ask_person("\"once\"", rows[i].second, "connect", rows[i].host);
        bool again =
            sh("out", "grep -q '\"target\":\"%s:443 (%s)\".*\"rule\":\"net.private\"' second",
               rows[i].host, rows[i].address ? rows[i].address : "") == 0;
        ok(again == (rows[i].address != NULL) && answered() == rows[i].works,
           "%s, allowed, then %s: %s", rows[i].host, rows[i].address ? rows[i].second : "not asked",
           rows[i].works ? "reached" : "refused");
    }
}

static void test_asked(void)
{
    static const struct {
        const char *what, *how, *host, *answer;
        bool works;
    } rows[] = {
        {"a name, once", "connect", "good.test", "\"once\"", true},
        {"a name by SOCKS, once", "socks", "good.test", "\"once\"", true},
        {"a name, its host for the run", "plain", "good.test", "\"run\",\"scope\":\"host\"", true},
        {"a name, no", "connect", "good.test", "\"no\"", false},
        {"a name, never", "socks", "good.test", "\"never\"", false},
        {"a name that leads to this machine, whatever is answered", "connect", "loop.test",
         "\"run\",\"scope\":\"host\"", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ask_person(rows[i].answer, "\"once\"", rows[i].how, rows[i].host);
        bool asked = sh("out",
                        "grep '\"op\":\"net.connect\"' question | grep '\"%s:' | grep -q "
                        "'\"rule\":\"net.off\"'",
                        rows[i].host) == 0;
        ok(asked && answered() == rows[i].works, "asked about %s", rows[i].what);
    }
    ask("--net=off", "connect", "good.test", "443");
    ok(!answered(), "where nobody is asked the network is off");
    ok(sh("ws",
          "true | { '%s' run --ask-fd 3,4 -- sh -c 'test -n \"$https_proxy\" -a -z "
          "\"$PIP_RETRIES\"' "
          "3<&0 4>&1 </dev/null; echo $? > ../out/code; } | cat; test $(cat ../out/code) = 0",
          cordon) == 0 &&
           sh("ws", "'%s' run -- sh -c 'test -z \"$https_proxy\" -a -n \"$PIP_RETRIES\"'",
              cordon) == 0,
       "tools are not told to stay offline when somebody can be asked");
}

int main(void)
{
    if (!box_make("net-test"))
        return box_done();
    snprintf(cordon, sizeof cordon, "%s/%s", project, CORDON_NET);
    snprintf(client, sizeof client, "%s/%s", project, NET_PROBE);
    sh(".",
       "mkdir ws out; cd ws; '%s' serve ../out/port & echo $! > out/pid; i=0; while [ ! -s "
       "out/port -a $i -lt 100 ]; do sleep 0.02; i=$((i+1)); done",
       client);
    test_allow();
    test_unreached();
    test_tricks();
    test_only_way();
    test_environment();
    test_names();
    test_asked();
    test_asked_private();
    sh("out", "kill $(cat pid)");
    return box_done();
}
