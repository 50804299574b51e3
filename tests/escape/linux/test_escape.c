/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ways out of the sandbox on Linux, by door. Each is tried inside, where it must have no effect,
 * and without the sandbox, where it must have it. CORDON_SOAK=1 is the long form of the races.
 * Words as arguments: only the attempts whose door or name holds one of them.
 */
#include <signal.h>

#include "harness.h"

enum needs { NOTHING, ROOT, LUCK /* what the machine may not have */ };

struct attempt {
    const char *door, *what;
    const char *options; /* NULL: script is a line that calls $C run by itself */
    const char *script, *effect;
    enum needs needs;
};

static const struct attempt attempts[] = {
#define ATTEMPT(door, what, options, script, effect) {door, what, options, script, effect, NOTHING},
#define ATTEMPT_ROOT(door, what, options, script, effect) \
    {door, what, options, script, effect, ROOT},
#define ATTEMPT_LUCK(door, what, options, script, effect) \
    {door, what, options, script, effect, LUCK},
#define ATTEMPT_LINE(door, what, line, effect) {door, what, NULL, line, effect, NOTHING},
#include "attempts.def"
};

static char escape[1200];
static const char *build = "";

static bool text(const char *name, const char *content)
{
    char path[1300];
    snprintf(path, sizeof path, "%s/%s", top, name);
    FILE *f = fopen(path, "w");
    return f && fputs(content, f) >= 0 && fclose(f) == 0;
}

/* The workspace, what lies outside, a home, and what runs outside all the time. */
static void fresh(void)
{
    sh(".",
       "chmod -R u+rwx ws out temp home 2>/dev/null; rm -rf ws out temp home got srv/mark; mkdir "
       "-p ws/sub out/.empty "
       "temp home/.ssh temp/sibling/.git/hooks out/folder && cd ws && printf old > file && "
       "printf old > ../out/file && "
       "chmod 644 file ../out/file && mkdir -p repo/.git/hooks sub/.claude linked && "
       "printf '[core]\\n' > repo/.git/config && printf 'ref: x\\n' > repo/.git/HEAD && "
       "printf x > repo/.git/hooks/kept && printf x > linked/.git && printf '{}' > "
       "sub/.claude/settings.json && "
       "ln -s ../out away && ln -s ../out/file filelink && ln ../out/file hard && ln hard hard2 && "
       "printf TOPSECRET > secret && mkdir keys && printf TOPSECRET > keys/one && "
       "printf TOPSECRET > ../out/secret && printf TOPSECRET > ../home/.ssh/id_rsa && "
       "printf old > ../temp/theirs && mkdir ../temp/theirs.d && printf old > "
       "../temp/theirs.d/file && "
       "touch -d 2020-01-01 ../out/file file ../temp/theirs && chmod 755 ../temp");
}

/* One try: with cordon, or without it as the control. The exit code. */
static int run(const struct attempt *a, bool confined)
{
    char plain[1300], line[3000];
    snprintf(plain, sizeof plain, "%s/plain", top);
    text("script", a->script);
    text("effect", a->effect);
    if (a->options)
        snprintf(line, sizeof line, "\"$C\" run --quiet %s -- sh ../script", a->options);
    else
        snprintf(line, sizeof line, ". ../script");
    return sh(
        "ws",
        "C='%s' P='%s' TOP='%s' V=$(cat ../victim) PORT=$(cat ../srv/port) T=$(cat "
        "../srv/name) HOME='%s/home'; export C P TOP V PORT T HOME %s; timeout -s KILL %d sh -c "
        "'%s'",
        confined ? cordon : plain, escape, top, top, confined ? "" : "CORDON_TEST_CONTROL=1",
        getenv("CORDON_SOAK") ? 600 : 60, line);
}

static bool has_effect(const struct attempt *a, int code)
{
    if (a->effect[0] == '#')
        return code == 0;
    if (strstr(a->effect, "mark"))
        usleep(100000); /* the server leaves it */
    return sh("ws", "TOP='%s' V=$(cat ../victim) HOME='%s/home'; export TOP V HOME; sh ../effect",
              top, top) == 0;
}

/* The server may still leave the mark of the last control: until it has been quiet for a while. */
static void settle(void)
{
    for (int i = 0; i < 100; i++) {
        usleep(300000);
        if (sh(".", "rm srv/mark 2>/dev/null") != 0)
            return;
    }
}

static void try_one(const struct attempt *a)
{
    if (a->needs == ROOT && geteuid() != 0) {
        skip(a->what, "only root could do it anyway");
        return;
    }
    fresh();
    if (strstr(a->effect, "mark"))
        settle();
    text("effect", a->effect);
    bool already = a->effect[0] != '#' && has_effect(a, 1);
    int code = run(a, true);
    bool through = has_effect(a, code);
    fresh();
    int control_code = run(a, false);
    bool control = has_effect(a, control_code);
    if (!control && !through && a->needs == LUCK) {
        skip(a->what, "nothing happens on this machine without the sandbox either");
        return;
    }
    if (!ok(!already && !through && control, "%s%s: %s", build, a->door, a->what))
        note("already %d, through %d (%d), control %d (%d)", already, through, code, control,
             control_code);
}

static bool is_asked_for(const struct attempt *a, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strstr(a->door, argv[i]) || strstr(a->what, argv[i]))
            return true;
    return argc < 2;
}

/* Servers, a terminal and a process outside. */
static bool surroundings(void)
{
    text("plain", "#!/bin/sh\nwhile [ \"$1\" != -- ]; do shift; done\nshift\nexec \"$@\"\n");
    return sh(".",
              "chmod +x plain; mkdir srv; '%s' serve srv cordon-escape-%d & echo $! > pids; "
              "'%s' terminal-serve srv & echo $! >> pids; '%s' give-serve srv/give & echo $! >> "
              "pids; "
              "setsid '%s' rest & echo $! | tee -a "
              "pids > "
              "victim; i=0; while [ ! -s srv/port -o ! -s srv/name ] && [ $i -lt 200 ]; do sleep "
              "0.02; "
              "i=$((i+1)); done; test -s srv/port -a -s srv/name",
              escape, (int)getpid(), escape, escape, escape) == 0;
}

int main(int argc, char **argv)
{
    size_t through = 0, tried = 0;
    if (!box_make("escape-test"))
        return box_done();
    snprintf(escape, sizeof escape, "%s/%s", project, ESCAPE_PROBE);
    ok(surroundings(), "servers, a terminal and a process outside");
    fresh();
    ok(sh("ws",
          "'%s' run --quiet --allow-socket '%s/srv/give' -- '%s' given-read '%s/srv/give' r "
          "'%s/out/file'",
          cordon, top, escape, top, top) == 0,
       "control: a descriptor of an allowed server arrives inside");
    for (size_t i = 0; i < sizeof attempts / sizeof *attempts; i++) {
        int failed = tap_failed;
        if (!is_asked_for(&attempts[i], argc, argv))
            continue;
        try_one(&attempts[i]);
        through += tap_failed > failed;
        tried++;
    }
    note("%zu attempts, %zu through or without a control", tried, through);
    sh(".", "kill $(cat pids)");
    return box_done();
}
