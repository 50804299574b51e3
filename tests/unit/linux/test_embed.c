/* SPDX-License-Identifier: Apache-2.0 */
/* cordon_run as another program calls it: output, events, how it ended, what stays as it was. */
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "cordon.h"
#include "tap.h"

struct seen {
    struct buf out[3];
    struct buf events;
    unsigned event_count;
};

static void on_output(void *context, int stream, const char *bytes, size_t count)
{
    struct seen *seen = context;
    buf_add(&seen->out[stream == 1 || stream == 2 ? stream : 0], (struct str){bytes, count});
}

static void on_event(void *context, const char *json)
{
    struct seen *seen = context;
    buf_add(&seen->events, str_of(json));
    buf_char(&seen->events, '\n');
    seen->event_count++;
}

static void drop(struct seen *seen)
{
    for (int i = 0; i < 3; i++)
        buf_free(&seen->out[i]);
    buf_free(&seen->events);
}

static bool has(const struct buf *text, const char *words)
{
    return str_find(buf_str(text), str_of(words), 0) < text->n;
}

/* Runs a line of sh in build/embed/ws; the code of cordon_run. */
static int run(const char *script, struct seen *seen, struct cordon_result **result)
{
    struct cordon_policy *p = NULL;
    struct cordon_run_options *o = NULL;
    const char *argv[] = {"sh", "-c", script};
    if (cordon_policy_new(&p) || cordon_run_options_new(&o))
        return CORDON_E_NOMEM;
    cordon_policy_set(p, "root", ".");
    cordon_policy_set(p, "cwd", "build/embed/ws");
    cordon_policy_set(p, "temp", "private");
    cordon_run_options_output(o, on_output, seen);
    cordon_run_options_event(o, on_event, seen);
    int rc = cordon_run(p, o, 3, argv, result);
    if (rc) {
        printf("Bail out! %s\n", cordon_policy_error(p));
        exit(1);
    }
    cordon_run_options_free(o);
    cordon_policy_free(p);
    return rc;
}

static void test_run(void)
{
    struct seen seen = {0};
    struct cordon_result *r = NULL;
    struct sigaction before = {.sa_handler = SIG_IGN}, after;
    sigaction(SIGTERM, &before, NULL);
    int rc = run("echo out; echo err >&2; echo x > in; echo x > ../out; exit 7", &seen, &r);
    sigaction(SIGTERM, NULL, &after);
    ok(rc == 0 && strcmp(cordon_result_reason(r), "exited") == 0 && cordon_result_exit(r) == 7,
       "the command's own code");
    ok(strcmp(buf_cstr(&seen.out[1]), "out\n") == 0, "stdout");
    ok(str_starts(buf_str(&seen.out[2]), STR("err\n")) && seen.out[0].n == 0, "stderr");
    ok(access("build/embed/ws/in", F_OK) == 0 && access("build/embed/out", F_OK) != 0,
       "confined: inside and not outside");
    ok(cordon_result_denied(r) == 1 && has(&seen.events, "\"type\":\"deny\"") &&
           has(&seen.events, "roots.outside"),
       "the denial is an event");
    ok(has(&seen.events, "\"type\":\"start\"") && has(&seen.events, "\"type\":\"end\""),
       "start and end too");
    ok(str_starts(str_of(cordon_result_json(r)), STR("{\"type\":\"summary\"")), "the summary");
    ok(after.sa_handler == SIG_IGN, "signals are as they were");
    cordon_result_free(r);
    drop(&seen);
}

static void test_volume(void)
{
    struct seen seen = {0};
    struct cordon_result *r = NULL;
    int rc = run("i=0; while [ $i -lt 64 ]; do head -c 32768 /dev/zero | tr '\\0' a; "
                 "head -c 32768 /dev/zero | tr '\\0' b >&2; i=$((i+1)); done",
                 &seen, &r);
    bool pure = true;
    for (size_t i = 0; i < seen.out[1].n; i++)
        pure = pure && seen.out[1].p[i] == 'a';
    ok(rc == 0 && seen.out[1].n == 2u << 20 && seen.out[2].n == 2u << 20 && pure,
       "two MiB on each stream, nothing lost or mixed");
    cordon_result_free(r);
    drop(&seen);
}

static void test_ends(void)
{
    struct seen seen = {0};
    struct cordon_result *r = NULL;
    int rc = run("xdg-open https://x.test", &seen, &r);
    ok(rc == 0 && strcmp(cordon_result_reason(r), "refused") == 0 && cordon_result_exit(r) == 126,
       "refused by the guard");
    cordon_result_free(r);
    r = NULL;
    rc = run("kill -9 $$", &seen, &r);
    ok(rc == 0 && strcmp(cordon_result_reason(r), "signal") == 0 && cordon_result_exit(r) == 137,
       "a signal");
    cordon_result_free(r);
    drop(&seen);
}

static void test_mistakes(void)
{
    struct cordon_policy *p = NULL;
    struct cordon_run_options *o = NULL;
    struct cordon_answer *a = NULL;
    struct cordon_result *r = NULL;
    const char *missing[] = {"no-such-program-of-ours"}, *path[] = {"x"}, *good[] = {"true"};
    if (cordon_policy_new(&p) || cordon_run_options_new(&o))
        return;
    cordon_policy_set(p, "root", "build/embed/ws");
    ok(cordon_run(p, NULL, 0, missing, &r) == CORDON_E_VALUE, "no command");
    ok(cordon_run(p, NULL, 1, missing, &r) == CORDON_E_NOTFOUND &&
           strstr(cordon_policy_error(p), "program not found"),
       "no such program");
    ok(cordon_run(p, NULL, 1, good, &r) == CORDON_E_CONFLICT, "a policy serves one run");
    cordon_policy_free(p);
    if (cordon_policy_new(&p))
        return;
    cordon_why(p, "write", 1, path, &a);
    cordon_answer_free(a);
    ok(cordon_run(p, NULL, 1, good, &r) == CORDON_E_CONFLICT && r == NULL,
       "and none that has answered");
    cordon_policy_free(p);
    if (cordon_policy_new(&p))
        return;
    cordon_policy_set(p, "root", "build/embed/nowhere");
    ok(cordon_run(p, o, 1, good, &r) == CORDON_E_VALUE && r == NULL, "a root that is not there");
    cordon_policy_free(p);
    ok(cordon_run_options_set(o, "nonsense", "x") == CORDON_E_UNKNOWN, "an unknown option");
    ok(cordon_run_options_set(o, "audit-all", "x") == CORDON_E_VALUE, "a switch with a value");
    ok(cordon_run_options_set(o, "audit", NULL) == CORDON_E_VALUE, "a value that is missing");
    ok(cordon_run_options_set(o, "audit", "build/embed/a.jsonl") == 0 &&
           cordon_run_options_set(o, "unset", "SECRET_*") == 0 &&
           cordon_run_options_set(o, "audit-all", NULL) == 0,
       "options");
    cordon_run_options_free(o);
}

/* Every option of `cordon run` but those that say what it prints. */
static void test_options(void)
{
    static const char *const printed[] = {"learn",   "output", "json", "quiet",
                                          "verbose", "live",   "ask"};
    static const struct {
        const char *command, *name, *value;
    } all[] = {
#define COMMAND_OPTION(command, name, letter, value, help) {#command, name, value},
#include "cli/options.def"
#undef COMMAND_OPTION
    };
    struct cordon_run_options *o = NULL;
    if (cordon_run_options_new(&o))
        return;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        bool skipped = strcmp(all[i].command, "run") != 0;
        for (size_t j = 0; j < sizeof printed / sizeof *printed; j++)
            skipped = skipped || strcmp(all[i].name, printed[j]) == 0;
        if (skipped)
            continue;
        const char *value = strcmp(all[i].value, "SIZE") == 0     ? "1G"
                            : strcmp(all[i].value, "S") == 0      ? "5"
                            : strcmp(all[i].value, "IN,OUT") == 0 ? "3,4"
                                                                  : "low";
        int rc = cordon_run_options_set(o, all[i].name, all[i].value[0] ? value : NULL);
        ok(rc == 0, "--%s can be set", all[i].name);
    }
    ok(cordon_run_options_set(o, "integrity", "high") == CORDON_E_VALUE, "a value that is wrong");
    ok(cordon_run_options_set(o, "ask-fd", "2,3") == CORDON_E_VALUE &&
           cordon_run_options_set(o, "ask-fd", "3") == CORDON_E_VALUE &&
           cordon_run_options_set(o, "ask-fd", NULL) == CORDON_E_VALUE &&
           cordon_run_options_set(o, "ask-timeout", "0") == CORDON_E_VALUE &&
           cordon_run_options_set(o, "ask-timeout", "1s") == CORDON_E_VALUE,
       "and others that are");
    cordon_run_options_free(o);
}

/* ---- journals ---- */

static char why[256];

/* A run with the option undo; its id. */
static void run_kept(const char *script, char id[64])
{
    struct cordon_policy *p = NULL;
    struct cordon_run_options *o = NULL;
    struct cordon_result *r = NULL;
    const char *argv[] = {"sh", "-c", script};
    id[0] = '\0';
    if (cordon_policy_new(&p) || cordon_run_options_new(&o))
        return;
    cordon_policy_set(p, "root", ".");
    cordon_policy_set(p, "cwd", "build/embed/ws");
    cordon_run_options_set(o, "undo", NULL);
    if (cordon_run(p, o, 3, argv, &r) == 0) {
        const char *undo = strstr(cordon_result_json(r), "\"undo\":{\"run\":\"");
        if (undo)
            sscanf(undo, "\"undo\":{\"run\":\"%60[^\"]", id);
    }
    cordon_result_free(r);
    cordon_run_options_free(o);
    cordon_policy_free(p);
}

static void test_journals(void)
{
    static const char *const one[] = {"b"};
    struct seen seen = {0};
    char id[64], other[64];
    char folder[4096];
    if (realpath("build/embed", folder))
        setenv("XDG_STATE_HOME", folder, 1);
    ok(system("echo one > build/embed/ws/a; echo two > build/embed/ws/b") == 0, "two files");
    run_kept("echo more >> a; rm b; echo x > c", id);
    ok(id[0] != '\0', "a run with the option undo has an id: %s", id);
    int rc = cordon_changes(id, NULL, CORDON_DIFF, on_event, &seen, why, sizeof why);
    ok(rc == 0 && seen.event_count == 3 &&
           has(&seen.events, "\"kind\":\"deleted\",\"path\":\"b\"") && has(&seen.events, "+more"),
       "cordon_changes tells each, with the lines (%d, %s)", rc, why);
    drop(&seen);
    seen = (struct seen){0};
    rc = cordon_undo(NULL, "build/embed/ws", 0, NULL, CORDON_DRY_RUN, on_event, &seen, why,
                     sizeof why);
    ok(rc == 0 && seen.event_count == 3 && access("build/embed/ws/b", F_OK) != 0,
       "a dry run tells what it would do and does nothing (%d, %s)", rc, why);
    rc = cordon_undo(id, "build/embed/ws", 1, one, 0, NULL, NULL, NULL, 0);
    ok(rc == 0 && access("build/embed/ws/b", F_OK) == 0 && access("build/embed/ws/c", F_OK) == 0,
       "one path is restored alone (%d)", rc);
    ok(system("echo mine > build/embed/ws/a") == 0, "a person changes a file");
    drop(&seen);
    seen = (struct seen){0};
    rc = cordon_undo(id, NULL, 0, NULL, 0, on_event, &seen, why, sizeof why);
    ok(rc == 1 && has(&seen.events, "\"result\":\"conflict\",\"path\":\"a\"") &&
           access("build/embed/ws/c", F_OK) != 0 && system("grep -qx mine build/embed/ws/a") == 0,
       "what was changed since is left alone and told (%d)", rc);
    rc = cordon_undo(id, NULL, 0, NULL, CORDON_FORCE, NULL, NULL, why, sizeof why);
    ok(rc == 0 && system("grep -qx one build/embed/ws/a") == 0, "unless forced (%d, %s)", rc, why);
    drop(&seen);
    seen = (struct seen){0};
    rc = cordon_runs(on_event, &seen, why, sizeof why);
    ok(rc == 0 && seen.event_count >= 2 && has(&seen.events, id), "cordon_runs tells of them (%u)",
       seen.event_count);
    ok(cordon_runs_drop(id, why, sizeof why) == 0 &&
           cordon_undo(id, NULL, 0, NULL, 0, NULL, NULL, why, sizeof why) == CORDON_E_UNKNOWN &&
           strstr(why, "no run"),
       "a dropped run is unknown: %s", why);
    ok(cordon_changes("../x", NULL, 0, NULL, NULL, why, sizeof why) == CORDON_E_UNKNOWN &&
           cordon_runs_drop("all", why, 4) == CORDON_E_UNKNOWN && strcmp(why, "run") == 0,
       "an id that is none; the sentence is cut");
    run_kept("true", other);
    ok(other[0] == '\0', "control: a run that changes nothing has none");
    drop(&seen);
}

int main(void)
{
    struct cordon_policy *p;
    struct cordon_result *r;
    const char *good[] = {"true"};
    mkdir("build/embed", 0755);
    mkdir("build/embed/ws", 0755);
    if (cordon_policy_new(&p))
        return 1;
    cordon_policy_set(p, "root", "build/embed/ws");
    int rc = cordon_run(p, NULL, 1, good, &r);
    if (rc) {
        skip("cordon_run", cordon_policy_error(p));
        cordon_policy_free(p);
        return tap_done();
    }
    cordon_result_free(r);
    cordon_policy_free(p);
    test_run();
    test_volume();
    test_ends();
    test_mistakes();
    test_options();
    test_journals();
    return system("rm -rf build/embed") || tap_done();
}
