/* SPDX-License-Identifier: Apache-2.0 */
/* cordon run: a command under a policy. stdin, stdout and stderr are the command's own. */
#include "lib/run.h"
#include "cli/cli.h"
#include "guard/effects.h"
#include "launch/disk.h"
#include "learn/learn.h"
#include "policy/load.h"

static void print_summary(const struct run_options *o, const struct run_result *result, bool json,
                          const char *message)
{
    auto_buf struct buf out = {0};
    if (json)
        summary_json(&result->summary,
                     &(struct summary_end){str_of(result->reason), str_of(result->boundary),
                                           result->exit, result->duration_ms, str_of(message),
                                           o->undo ? &result->changes : NULL},
                     &out);
    else {
        summary_lines(&result->summary, str_of(o->audit), result->exit != 0, &out);
        summary_changes_lines(&result->changes, &out);
    }
    fwrite(out.p ? out.p : "", 1, out.n, stderr);
}

/* Those who watch a run: --learn, --live, which says each different denial once, and --undo, which
   says at once what it could not keep. */
enum { MOST_LIVE = 64, MOST_LOST = 5 };

struct watchers {
    struct learn *learn;
    bool live;
    bool lost;
    unsigned lost_said;
    uint64_t said[MOST_LIVE];
    size_t count;
};

static uint64_t hash_of(const struct audit_event *e)
{
    uint64_t hash = 14695981039346656037u ^ (uint64_t)e->op;
    for (size_t i = 0; i < e->target.n; i++)
        hash = (hash ^ (unsigned char)e->target.p[i]) * 1099511628211u;
    return hash;
}

static void say_lost(struct watchers *w, const struct audit_event *e)
{
    auto_buf struct buf line = {0};
    if (w->lost_said++ < MOST_LOST)
        summary_lost_line(e, &line);
    else if (w->lost_said == MOST_LOST + 1)
        buf_add(&line, STR("cordon: and more that cannot be taken back\n"));
    fwrite(line.p ? line.p : "", 1, line.n, stderr);
    fflush(stderr);
}

static void watch(void *context, const struct audit_event *e)
{
    struct watchers *w = context;
    if (w->learn)
        learn_add(w->learn, e);
    if (w->lost && summary_is_lost(e))
        say_lost(w, e);
    if (!w->live || e->type != AUDIT_DENY || e->quiet || e->minor || w->count == MOST_LIVE)
        return;
    uint64_t hash = hash_of(e);
    for (size_t i = 0; i < w->count; i++)
        if (w->said[i] == hash)
            return;
    w->said[w->count++] = hash;
    auto_buf struct buf line = {0};
    summary_line(e, &line);
    /* In one piece: the command writes there, too. */
    fwrite(line.p ? line.p : "", 1, line.n, stderr);
    fflush(stderr);
}

static void print_plan(const struct cordon_policy *p)
{
    const struct policy_settings *s = policy_settings_of(p->policy);
    auto_buf struct buf boundary = {0};
    if (s->mode == POLICY_FULL_ACCESS) {
        print_error("boundary: none (full-access); files, programs and the network are open");
        return;
    }
    run_describe(&boundary);
    static const char *const nets[] = {"off", "loopback only", "the proxy only",
                                       "the listed names only", "on"};
    static const char *const temps[] = {
        [POLICY_TEMP_PRIVATE] = "",
        [POLICY_TEMP_SHARED] = ", shared",
        [POLICY_TEMP_SESSION] = "",
        [POLICY_TEMP_OWN] = ", new entries only",
    };
    print_error("boundary: %s", buf_cstr(&boundary));
    if (s->mode == POLICY_READ_ONLY)
        print_error("can be changed: nothing");
    for (size_t i = 0; s->mode == POLICY_WORKSPACE_WRITE && i < s->roots.count; i++)
        print_error("can be changed: %.*s", STR_ARG(s->roots.items[i].path));
    if (s->mode == POLICY_WORKSPACE_WRITE && s->temp_path.n && !s->no_temp)
        print_error("can be changed: %.*s (temp%s)", STR_ARG(s->temp_path), temps[s->temp]);
    if (s->large_root.n)
        print_error(
            "%.*s has many folders: files that the git repositories in the last of them name "
            "elsewhere are not protected",
            STR_ARG(s->large_root));
    if (s->deny_read.count == 0)
        print_error(
            "can be read: everything; --deny-read @credentials closes keys and tokens (every "
            "open then costs more)");
    size_t credentials = 0;
    for (size_t i = 0; i < s->deny_read.count; i++) {
        const struct policy_entry *e = &s->deny_read.items[i];
        if (str_eq(e->given, STR("@credentials")))
            credentials++;
        else
            print_error("cannot be read: %.*s", STR_ARG(e->path.n ? e->path : e->given));
    }
    if (credentials)
        print_error("cannot be read: %u files and folders of keys and tokens (@credentials; cordon "
                    "why --list names them)",
                    (unsigned)credentials);
    print_error("network: %s", nets[s->net]);
    print_error("git: %s", s->git == POLICY_GIT_FULL ? "everything works but hooks and config"
                           : s->git == POLICY_GIT_COMMIT
                               ? "commits work, hooks and config are closed"
                               : "closed");
}

/* The words after "--", as they were typed: cmd has quotes of its own. */
static const char *typed_command(struct arena *arena, const struct arguments *args)
{
    /* The line begins with our own name; what follows "--" is at the end of both. */
    size_t count, behind = args->count - args->next;
    struct str line = str_of(args->raw);
    const struct word *words = line.n ? winargv_split(arena, line, &count) : NULL;
    return words && behind < count ? line.p + words[count - behind].start : NULL;
}

enum { MOST_UNSET = 256 };

/* One call of run: what was typed, what it becomes, and how it ended. */
struct typed_run {
    struct run_options o;
    struct run_result result;
    struct watchers watchers;
    struct learn *lessons; /* NULL without --learn */
    struct arena arena;
    struct buf message; /* why it failed or was ended, for --json */
    const char *unset[MOST_UNSET];
    const char *integrity, *learned, *learn_how, *strict, *limit, *ask_fd, *ask_pipe, *ask_timeout;
    bool json, quiet, verbose, help, dashes, learn, learn_allow, undo;
    bool told; /* the object of --json is printed */
};

static int take_options(struct typed_run *t, struct cordon_policy *p, struct arguments *args)
{
    const struct cli_option own[] = {
        {.name = "json", .flag = &t->json},
        {.name = "quiet", .flag = &t->quiet},
        {.name = "verbose", .flag = &t->verbose},
        {.name = "live", .flag = &t->watchers.live},
        {.name = "help", .flag = &t->help},
        {.name = "learn", .value = &t->learn_how, .flag = &t->learn},
        {.name = "output", .letter = 'o', .value = &t->learned},
        {.name = "require-kernel", .flag = &t->o.require_kernel},
        {.name = "allow-elevated", .flag = &t->o.allow_elevated},
        {.name = "integrity", .value = &t->integrity},
        {.name = "audit", .value = &t->o.audit},
        {.name = "audit-all", .flag = &t->o.audit_all},
        {.name = "audit-raw", .flag = &t->o.audit_raw},
        {.name = "wine-prefix", .value = &t->o.wine_prefix},
        {.name = "undo", .value = &t->strict, .flag = &t->undo},
        {.name = "undo-limit", .value = &t->limit},
        {.name = "ask", .flag = &t->o.ask_terminal},
        {.name = "ask-fd", .value = &t->ask_fd},
        {.name = "ask-pipe", .value = &t->ask_pipe},
        {.name = "ask-timeout", .value = &t->ask_timeout},
        {.name = "unset", .value = t->unset, .count = &t->o.unset_count, .most = MOST_UNSET}};
    int rc = options_take(args, own, sizeof own / sizeof *own, p, &t->dashes);
    for (size_t i = 0; rc && i < args->count && strcmp(args->items[i], "--") != 0; i++)
        t->json = t->json || strcmp(args->items[i], "--json") == 0;
    return rc;
}

static int check_undo(struct typed_run *t)
{
    if (t->undo && *t->strict && strcmp(t->strict, "strict") != 0)
        return print_failure("--undo is given alone or as --undo=strict");
    if (t->limit && !t->undo)
        return print_failure("--undo-limit belongs to --undo; add --undo");
    if (t->limit && policy_read_memory(str_of(t->limit), &t->o.undo_limit))
        return print_failure("--undo-limit takes a size like 512M or 4G");
    t->o.undo = t->undo ? t->strict : NULL;
    return 0;
}

static int check_learn(struct typed_run *t, const char *name)
{
    t->learn_allow = strcmp(t->learn_how, "allow") == 0;
    if (t->learn && *t->learn_how && !t->learn_allow)
        return print_failure("--learn is given alone or as --learn=allow");
    if (t->learn_allow && strcmp(name, "run") != 0)
        return print_failure("--learn=allow is for cordon run");
    if (t->learn_allow && (t->o.ask_terminal || t->ask_fd || t->ask_pipe))
        return print_failure("--learn=allow answers by itself: leave out --ask");
    if (t->learned && !t->learn)
        return print_failure("-o names the policy file that --learn writes; add --learn");
    return 0;
}

static int check_options(struct typed_run *t, const char *name)
{
    t->o.medium_integrity = strcmp(t->integrity, "medium") == 0;
    if (!t->o.medium_integrity && strcmp(t->integrity, "low") != 0)
        return print_failure("--integrity is low or medium");
    for (size_t i = 0; i < t->o.unset_count; i++)
        if (t->unset[i][0] == '@' && strcmp(t->unset[i], "@secrets") != 0)
            return print_failure("--unset %s: unknown set; there is @secrets", t->unset[i]);
    int rc = check_undo(t);
    if (rc == 0)
        rc = check_learn(t, name);
    if (rc == 0 && (t->o.ask_terminal || t->ask_fd || t->ask_pipe || t->ask_timeout))
        rc = cli_ask(&t->o, t->ask_fd, t->ask_pipe, t->ask_timeout);
    return rc;
}

/* Somebody who mistypes a name believes that it is closed. The runs of a session are an agent's. */
static void warn_of_names(struct typed_run *t, const struct policy_settings *s)
{
    const struct policy_list *list = &s->deny_read;
    struct disk_facts facts;
    for (size_t i = 0; i < list->count && !t->quiet && !t->json && !s->session.n; i++) {
        const struct policy_entry *e = &list->items[i];
        if (str_eq(e->from, STR("--deny-read")) && !str_starts(e->given, STR("@")) && e->path.n &&
            disk_look(&t->arena, e->path, &facts) == 0 && !facts.exists && !facts.link)
            print_error("--deny-read %.*s: nothing has this name yet; if it appears, it cannot be "
                        "read",
                        STR_ARG(e->given));
    }
}

/* The policy is built, and everything that the run tells of itself has its listener. */
static int prepare(struct typed_run *t, struct cordon_policy *p, const struct arguments *args)
{
    struct run_options *o = &t->o;
    /* The file is Cordon's own: a link that the run makes of it must not be written through. */
    if ((t->learned && settings_protect(&p->settings, str_of(t->learned))) ||
        (t->learn && learn_new(&t->lessons)))
        return print_failure("out of memory");
    t->watchers.learn = t->lessons;
    t->watchers.lost = t->undo && !t->quiet && !t->json;
    if (t->learn || t->watchers.live || t->watchers.lost) {
        o->observe = watch;
        o->observe_context = &t->watchers;
    }
    o->argv = args->items + args->next;
    o->argc = args->count - args->next;
    o->unset = t->unset;
    o->probes = true;
    o->tells_policy = t->verbose;
    o->own_process = true;
    o->raw = typed_command(&t->arena, args);
    if (run_prepare(p, o))
        return print_failure("%s", cordon_policy_error(p));
    if (o->require_kernel && policy_settings_of(p->policy)->mode == POLICY_FULL_ACCESS)
        return print_failure("--require-kernel and --mode full-access contradict each other");
    if (!cli_is_second())
        warn_of_names(t, policy_settings_of(p->policy));
    return t->learn_allow ? cli_learn_allow(p, o, t->lessons) : 0;
}

/* An end that the command did not choose: for the object of --json, and as a line. */
static void explain_end(struct typed_run *t, struct cordon_policy *p)
{
    uint64_t seconds = policy_settings_of(p->policy)->limits.timeout_ms / 1000;
    const char *remedy = "";
    if (strcmp(t->result.reason, "timeout") == 0) {
        buf_fmt(&t->message, "the run was ended after %llu %s (--timeout)",
                (unsigned long long)seconds, seconds == 1 ? "second" : "seconds");
        remedy = "; use a higher --timeout if it needs longer";
    } else if (t->result.told_by) {
        buf_fmt(&t->message, "the run was ended, because cordon got %s", t->result.told_by);
    }
    if (t->message.n && !t->json && !t->quiet)
        print_error("%s%s", buf_cstr(&t->message), remedy);
}

static void start(struct typed_run *t, struct cordon_policy *p)
{
    struct run_result *result = &t->result;
    cli_restore_signals(); /* the command inherits them */
    int rc = run_confined(p, &t->o, result);
    cli_ignore_signals();
    if (rc) {
        const char *hint = rc == CORDON_E_NOTFOUND ? mistake_program(t->o.argv[0]) : "";
        buf_fmt(&t->message, "%s%s%s", cordon_policy_error(p), *hint ? "; " : "", hint);
        print_error("%s", buf_cstr(&t->message));
        result->exit = rc == CORDON_E_NOTFOUND        ? EXIT_NOT_FOUND
                       : result->exit == EXIT_REFUSED ? EXIT_REFUSED
                                                      : EXIT_FAILED;
        result->reason = "failed";
        t->learn = false; /* there is nothing to learn from */
    } else {
        explain_end(t, p);
    }
}

static void tell(struct typed_run *t, struct cordon_policy *p)
{
    struct run_result *result = &t->result;
    bool speaks = !t->quiet && !t->json;
    if (result->note && speaks)
        print_error("%s", result->note);
    if (result->lost && t->verbose && !t->quiet)
        print_error("without %s", result->lost);
    if (result->temp_had_files && speaks)
        print_error("the private temp folder was removed with the files in it");
    if (result->audit_failure)
        print_error("--audit %s: %s: events are missing", t->o.audit,
                    cordon_strerror(result->audit_failure));
    if (t->learn_allow)
        result->summary.answered_count = 0; /* what was learned says it */
    if (t->learn) {
        bool written =
            cli_learned(p, t->lessons, t->learned, t->learn_allow, result->exit != 0, t->quiet);
        if (!written && result->exit == 0)
            result->exit = EXIT_FAILED;
        if (!t->json)
            summary_hush(&result->summary);
    }
    if (t->json || !t->quiet)
        print_summary(&t->o, result, t->json, buf_cstr(&t->message));
    t->told = true;
}

static int run(struct typed_run *t, struct cordon_policy *p, struct arguments *args,
               const char *name)
{
    int rc = take_options(t, p, args);
    if (rc)
        return rc;
    if (t->help) {
        t->told = true;
        return cli_help(name);
    }
    if (args->next >= args->count)
        return print_failure("no command given; type: cordon %s -- PROGRAM ARG…", name);
    if (!t->dashes && !p->settings.codex)
        return mistake_dashes(args, name);
    rc = check_options(t, name);
    if (rc)
        return rc;
    rc = prepare(t, p, args);
    if (rc) {
        run_finish(p, &t->result);
        return rc;
    }
    if (t->verbose && !t->quiet && !cli_is_second())
        print_plan(p);
    start(t, p);
    run_finish(p, &t->result);
    if (t->result.elsewhere)
        t->told = true;
    else
        tell(t, p);
    return (int)t->result.exit;
}

/* Nothing has run: the sentence was said, and the object of --json repeats it. */
static void tell_failure(void)
{
    struct run_options o = {0};
    struct run_result result = {.reason = "failed", .exit = EXIT_FAILED, .boundary = "none"};
    print_summary(&o, &result, true, print_last());
}

int cli_run(struct cordon_policy *p, struct arguments *args, const char *name)
{
    static struct typed_run run_of_this_process; /* large, and most of it is never touched */
    struct typed_run *t = &run_of_this_process;
    t->integrity = "low";
    t->learn_how = t->strict = "";
    int code = run(t, p, args, name);
    if (t->json && !t->told)
        tell_failure();
    return code;
}

/* Nothing is freed: the process ends, and the kernel takes its memory back faster in one piece. */
int command_run(struct arguments *args)
{
    static struct cordon_policy *p;
    if (cordon_policy_new(&p))
        return print_failure("out of memory");
    return cli_run(p, args, "run");
}
