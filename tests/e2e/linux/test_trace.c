/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes: those of the run may reach into one another, as debuggers do; nobody reaches out. The
 * kernel keeps both (Landlock), so this holds with every program and every order of calls.
 */
#include "harness.h"

static char tracer[1200];

/* One who holds still outside; what came of an attempt on him stands in out/state. */
static int attempt(const char *before, const char *way)
{
    sh(".", "rm -rf ws out; mkdir ws out");
    return sh("ws",
              "'%s' hold ../out/state & h=$!; i=0; while [ ! -s ../out/state -a $i -lt 100 ]; do "
              "sleep 0.02; i=$((i+1)); done; read p a s < ../out/state; %s '%s' %s $p $a; c=$?; "
              "sleep 0.05; kill -9 $h; exit $c",
              tracer, before, tracer, way);
}

static bool state_is(const char *text)
{
    return sh("out", "grep -q ' %s$' state", text) == 0;
}

int main(void)
{
    static const char *const ways[] = {"read", "write", "attach", "seize", "poke", "mem", "above"};
    char inside[1300];
    if (!box_make("trace-test"))
        return box_done();
    snprintf(tracer, sizeof tracer, "%s/%s", project, TRACE_PROBE);
    snprintf(inside, sizeof inside, "'%s' run --quiet --", cordon);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        bool writes = strcmp(ways[i], "write") == 0 || strcmp(ways[i], "poke") == 0 ||
                      strcmp(ways[i], "mem") == 0;
        int control = attempt("", ways[i]);
        bool happened = control == 0 && (!writes || state_is("new"));
        int code = attempt(inside, ways[i]);
        bool nothing = code == 1 && state_is("old");
        if (!happened)
            skip(ways[i], "it does not work on this machine without the sandbox either");
        else if (!ok(nothing, "refused: %s a process outside", ways[i]))
            note("inside %d", code);
    }
    sh(".", "rm -rf ws; mkdir ws");
    ok(sh("ws", "'%s' run -- '%s' own got && grep -q ok got", cordon, tracer) == 0,
       "allowed: the same among processes of the run");
    if (sh(".", "command -v strace") == 0)
        ok(sh("ws",
              "'%s' run -- strace -f -o trace sh -c 'echo x > made; echo x > ../out/made'; test -s "
              "made -a ! -e ../out/made && grep -q 'made.*EACCES' trace",
              cordon) == 0,
           "strace works inside and sees the refusal");
    else
        skip("strace", "the program is not installed");
    /* A lie that a tracer tells at the start comes out with the first call that could change
       something. */
    sh("ws", "rm -f new; '%s' flip new", tracer);
    bool control = sh("ws", "test -e new") == 0;
    sh("ws", "rm -f new; '%s' run --quiet --deny-tool touch -- '%s' flip new", cordon, tracer);
    if (control)
        ok(sh("ws", "test ! -e new") == 0, "denied: a tool by a flipped path, hidden by a tracer");
    else
        skip("a tool hidden by a tracer", "the control fails on this machine");
    /* The command asks its parent to trace it: that is the reaper, who must not take a stop for an
       end, and must end it all the same. */
    ok(sh("ws",
          "timeout 20 '%s' run --timeout 1 -- python3 -c 'import ctypes,os,signal; "
          "ctypes.CDLL(None).ptrace(0, 0, 0, 0); os.kill(os.getpid(), signal.SIGSTOP)'; c=$?; test "
          "$c = 124 -o $c = 127",
          cordon) == 0,
       "a command that stops itself for a tracer is ended by the time-out");
    return box_done();
}
