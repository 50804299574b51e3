/* cordon run: a command under a policy. stdin, stdout and stderr are the command's own. */
#include "lib/run.h"
#include "cli/cli.h"

static void print_summary(const struct run_options *o, const struct run_result *result, bool json)
{
    auto_buf struct buf out = {0};
    if (json)
        summary_json(&result->summary,
                     &(struct summary_end){str_of(result->reason), str_of(result->boundary),
                                           result->exit, result->duration_ms},
                     &out);
    else
        summary_lines(&result->summary, str_of(o->audit), &out);
    fwrite(out.p ? out.p : "", 1, out.n, stderr);
}

static void print_plan(const struct cordon_policy *p)
{
    const struct policy_settings *s = policy_settings_of(p->policy);
    auto_buf struct buf boundary = {0};
    if (s->mode == POLICY_FULL_ACCESS)
        buf_add(&boundary, STR("none (full-access)"));
    else
        run_describe(&boundary);
    print_error("boundary: %s", buf_cstr(&boundary));
    for (size_t i = 0; i < s->roots.count; i++)
        print_error("can be changed: %.*s", STR_ARG(s->roots.items[i].path));
}

enum { MOST_UNSET = 256 };

static int run(struct cordon_policy *p, struct arguments *args)
{
    struct run_options o = {0};
    struct run_result result = {0};
    const char *unset[MOST_UNSET];
    bool json = false, quiet = false, verbose = false, help = false, dashes = false, kernel = false;
    const struct option own[] = {
        {.name = "json", .flag = &json},
        {.name = "quiet", .flag = &quiet},
        {.name = "verbose", .flag = &verbose},
        {.name = "help", .flag = &help},
        {.name = "require-kernel", .flag = &kernel},
        {.name = "audit", .value = &o.audit},
        {.name = "audit-all", .flag = &o.audit_all},
        {.name = "audit-raw", .flag = &o.audit_raw},
        {.name = "unset", .value = unset, .count = &o.unset_count, .most = MOST_UNSET}};
    int rc = options_take(args, own, sizeof own / sizeof *own, p, &dashes);
    if (rc)
        return rc;
    if (help)
        return cmd_help(&(struct arguments){(const char *[]){"run"}, 1, 0});
    if (args->next >= args->count)
        return print_failure("there is no command; type: cordon run -- PROGRAM ARG…");
    if (!dashes)
        return print_failure("put -- in front of the command: cordon run -- %s%s",
                             args->items[args->next], args->count - args->next > 1 ? " …" : "");
    o.argv = args->items + args->next;
    o.argc = args->count - args->next;
    o.unset = unset;
    if (run_prepare(p, &o) || handle_prepare(p, STR_NONE)) {
        run_finish(p, &result);
        return print_failure("%s", cordon_policy_error(p));
    }
    bool full = policy_settings_of(p->policy)->mode == POLICY_FULL_ACCESS;
    if (full && kernel) {
        run_finish(p, &result);
        return print_failure("--require-kernel and --mode full-access contradict each other");
    }
    if (verbose && !quiet)
        print_plan(p);
    rc = run_confined(p, &o, &result);
    if (rc) {
        print_error("%s", cordon_policy_error(p));
        result.exit = rc == CORDON_E_NOTFOUND ? EXIT_NOT_FOUND : EXIT_FAILED;
        result.reason = "failed";
    }
    run_finish(p, &result);
    if (result.temp_had_files && !quiet && !json)
        print_error("the private temp folder had files in it, which are gone with it");
    if (result.audit_failure)
        print_error("--audit %s: %s: events are missing", o.audit,
                    cordon_strerror(result.audit_failure));
    if (json || !quiet)
        print_summary(&o, &result, json);
    summary_free(&result.summary);
    return (int)result.exit;
}

int cmd_run(struct arguments *args)
{
    struct cordon_policy *p;
    if (cordon_policy_new(&p))
        return print_failure("out of memory");
    int code = run(p, args);
    cordon_policy_free(p);
    return code;
}
