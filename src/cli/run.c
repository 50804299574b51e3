/* SPDX-License-Identifier: Apache-2.0 */
/* cordon run: a command under a policy. stdin, stdout and stderr are the command's own. */
#include "lib/run.h"
#include "cli/cli.h"
#include "guard/effects.h"
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

/* Nothing has run: the sentence was said, and the object of --json repeats it. */
static void tell_failure(void)
{
    struct run_options o = {0};
    struct run_result result = {.reason = "failed", .exit = EXIT_FAILED, .boundary = "none"};
    print_summary(&o, &result, true, print_last());
}

static void print_plan(const struct cordon_policy *p)
{
    const struct policy_settings *s = policy_settings_of(p->policy);
    auto_buf struct buf boundary = {0};
    if (s->mode == POLICY_FULL_ACCESS)
        buf_add(&boundary, STR("none (full-access)"));
    else
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

/* What follows "--", as it was typed: cmd has quotes of its own. */
static const char *typed_command(struct arena *arena, const struct arguments *args)
{
    /* The line begins with our own name; what follows "--" is at the end of both. */
    size_t count, behind = args->count - args->next;
    struct str line = str_of(args->raw);
    const struct word *words = line.n ? winargv_split(arena, line, &count) : NULL;
    return words && behind < count ? line.p + words[count - behind].start : NULL;
}

enum { MOST_UNSET = 256 };

/* *json: whether --json was given and its object is still to be printed. */
static int run(struct cordon_policy *p, struct arguments *args, const char *name, bool *json)
{
    auto_arena struct arena arena = {0};
    struct run_options o = {0};
    static struct run_result result; /* large, and most of it is never touched */
    struct learn *lessons = NULL;
    struct watchers watchers = {0};
    auto_buf struct buf message = {0};
    const char *unset[MOST_UNSET];
    const char *integrity = "low", *learned = NULL, *strict = "", *limit = NULL, *learn_how = "";
    const char *ask_fd = NULL, *ask_timeout = NULL;
    bool undo = false;
    bool quiet = false, verbose = false, help = false, dashes = false, learn = false;
    const struct option own[] = {
        {.name = "json", .flag = json},
        {.name = "quiet", .flag = &quiet},
        {.name = "verbose", .flag = &verbose},
        {.name = "live", .flag = &watchers.live},
        {.name = "help", .flag = &help},
        {.name = "learn", .value = &learn_how, .flag = &learn},
        {.name = "output", .letter = 'o', .value = &learned},
        {.name = "require-kernel", .flag = &o.require_kernel},
        {.name = "allow-elevated", .flag = &o.allow_elevated},
        {.name = "integrity", .value = &integrity},
        {.name = "audit", .value = &o.audit},
        {.name = "audit-all", .flag = &o.audit_all},
        {.name = "audit-raw", .flag = &o.audit_raw},
        {.name = "wine-prefix", .value = &o.wine_prefix},
        {.name = "undo", .value = &strict, .flag = &undo},
        {.name = "undo-limit", .value = &limit},
        {.name = "ask", .flag = &o.ask_terminal},
        {.name = "ask-fd", .value = &ask_fd},
        {.name = "ask-timeout", .value = &ask_timeout},
        {.name = "unset", .value = unset, .count = &o.unset_count, .most = MOST_UNSET}};
    int rc = options_take(args, own, sizeof own / sizeof *own, p, &dashes);
    for (size_t i = 0; rc && i < args->count && strcmp(args->items[i], "--") != 0; i++)
        *json = *json || strcmp(args->items[i], "--json") == 0;
    if (rc)
        return rc;
    if (help) {
        *json = false;
        return cli_help(name);
    }
    if (args->next >= args->count)
        return print_failure("no command given; type: cordon %s -- PROGRAM ARG…", name);
    if (!dashes && !p->settings.codex)
        return mistake_dashes(args, name);
    o.argv = args->items + args->next;
    o.argc = args->count - args->next;
    o.unset = unset;
    o.medium_integrity = strcmp(integrity, "medium") == 0;
    if (!o.medium_integrity && strcmp(integrity, "low") != 0)
        return print_failure("--integrity is low or medium");
    o.undo = undo ? strict : NULL;
    if (undo && *strict && strcmp(strict, "strict") != 0)
        return print_failure("--undo is given alone or as --undo=strict");
    if (limit && (!undo || policy_read_memory(str_of(limit), &o.undo_limit)))
        return print_failure(undo ? "--undo-limit takes a size like 512M or 4G"
                                  : "--undo-limit belongs to --undo; add --undo");
    bool learn_allow = strcmp(learn_how, "allow") == 0;
    if (learn && *learn_how && !learn_allow)
        return print_failure("--learn is given alone or as --learn=allow");
    if (learn_allow && (strcmp(name, "run") != 0 || o.ask_terminal || ask_fd))
        return print_failure("--learn=allow is for cordon run, and answers by itself: leave out %s",
                             strcmp(name, "run") != 0 ? "--learn=allow" : "--ask");
    if ((o.ask_terminal || ask_fd || ask_timeout) && (rc = cli_ask(&o, ask_fd, ask_timeout)))
        return rc;
    if (learned && !learn)
        return print_failure("-o names the policy file that --learn writes; add --learn");
    /* The file is Cordon's own: a link that the run makes of it must not be written through. */
    if ((learned && settings_protect(&p->settings, str_of(learned))) ||
        (learn && learn_new(&lessons)))
        return print_failure("out of memory");
    if (learn) {
        watchers.learn = lessons;
    }
    watchers.lost = undo && !quiet && !*json;
    if (learn || watchers.live || watchers.lost) {
        o.observe = watch;
        o.observe_context = &watchers;
    }
    o.probes = true;
    o.raw = typed_command(&arena, args);
    if (run_prepare(p, &o)) {
        run_finish(p, &result);
        learn_free(lessons);
        return print_failure("%s", cordon_policy_error(p));
    }
    bool full = policy_settings_of(p->policy)->mode == POLICY_FULL_ACCESS;
    if (full && o.require_kernel) {
        run_finish(p, &result);
        learn_free(lessons);
        return print_failure("--require-kernel and --mode full-access contradict each other");
    }
    if (learn_allow && (rc = system_learn_allow(p, &o, lessons))) {
        run_finish(p, &result);
        learn_free(lessons);
        return rc;
    }
    if (verbose && !quiet)
        print_plan(p);
    o.own_process = true;
    system_restore_signals(); /* the command inherits them */
    rc = run_confined(p, &o, &result);
    system_ignore_signals();
    if (rc) {
        const char *hint = rc == CORDON_E_NOTFOUND ? mistake_program(o.argv[0]) : "";
        buf_fmt(&message, "%s%s%s", cordon_policy_error(p), *hint ? "; " : "", hint);
        print_error("%s", buf_cstr(&message));
        result.exit = rc == CORDON_E_NOTFOUND ? EXIT_NOT_FOUND : EXIT_FAILED;
        result.reason = "failed";
    }
    if (rc == 0 && strcmp(result.reason, "timeout") == 0 && !quiet) {
        buf_fmt(&message, "the run was ended after %llu seconds (--timeout)",
                (unsigned long long)(policy_settings_of(p->policy)->limits.timeout_ms / 1000));
        if (!*json)
            print_error("%s; take a higher --timeout if it needs longer", buf_cstr(&message));
    }
    run_finish(p, &result);
    if (result.note && !quiet && !*json)
        print_error("%s", result.note);
    if (result.lost && verbose && !quiet)
        print_error("without %s", result.lost);
    if (result.temp_had_files && !quiet && !*json)
        print_error("the private temp folder was removed with the files in it");
    if (result.audit_failure)
        print_error("--audit %s: %s: events are missing", o.audit,
                    cordon_strerror(result.audit_failure));
    if (learn_allow)
        result.summary.answered_count = 0; /* what was learned says it */
    if (learn && rc == 0)
        cli_learned(p, lessons, learned, learn_allow, quiet);
    learn_free(lessons);
    if (*json || !quiet)
        print_summary(&o, &result, *json, buf_cstr(&message));
    *json = false;
    summary_free(&result.summary);
    return (int)result.exit;
}

int cli_run(struct cordon_policy *p, struct arguments *args, const char *name)
{
    bool json = false;
    int code = run(p, args, name, &json);
    if (json)
        tell_failure();
    return code;
}

int command_run(struct arguments *args)
{
    struct cordon_policy *p;
    if (cordon_policy_new(&p))
        return print_failure("out of memory");
    int code = cli_run(p, args, "run");
    cordon_policy_free(p);
    return code;
}
