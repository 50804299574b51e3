/* SPDX-License-Identifier: Apache-2.0 */
/* cordon_run: a run inside another program. Nothing is printed, nothing exits. */
#include <stdlib.h>

#include "lib/run.h"
#include "lib/system.h"
#include "policy/load.h"

enum { MOST_UNSET = 256 };

struct cordon_run_options {
    struct arena arena;
    struct run_options run;
    const char *unset[MOST_UNSET];
    cordon_output *output;
    void *output_context;
    int ask_fds[2];
};

struct cordon_result {
    struct run_result run;
    bool undo; /* was asked for */
    struct buf json;
};

int cordon_run_options_new(struct cordon_run_options **out)
{
    struct cordon_run_options *o = calloc(1, sizeof *o);
    if (!o)
        return CORDON_E_NOMEM;
    o->run.unset = o->unset;
    *out = o;
    return 0;
}

void cordon_run_options_free(struct cordon_run_options *o)
{
    if (!o)
        return;
    arena_free(&o->arena);
    free(o);
}

static bool *switch_of(struct run_options *run, struct str name)
{
    const struct {
        struct str name;
        bool *place;
    } switches[] = {{STR("audit-all"), &run->audit_all},
                    {STR("audit-raw"), &run->audit_raw},
                    {STR("require-kernel"), &run->require_kernel},
                    {STR("allow-elevated"), &run->allow_elevated}};
    for (size_t i = 0; i < sizeof switches / sizeof *switches; i++)
        if (str_eq(name, switches[i].name))
            return switches[i].place;
    return NULL;
}

static int set_integrity(struct run_options *run, struct str level)
{
    if (!str_eq(level, STR("low")) && !str_eq(level, STR("medium")))
        return CORDON_E_VALUE;
    run->medium_integrity = str_eq(level, STR("medium"));
    return 0;
}

int cordon_run_options_set(struct cordon_run_options *o, const char *option, const char *value)
{
    struct str name = str_of(option);
    bool *place = switch_of(&o->run, name);
    bool audit = str_eq(name, STR("audit")), prefix = str_eq(name, STR("wine-prefix"));
    bool pipe = str_eq(name, STR("ask-pipe"));
    bool unset = str_eq(name, STR("unset")), integrity = str_eq(name, STR("integrity"));
    if (str_eq(name, STR("undo"))) {
        if (value && strcmp(value, "strict") != 0)
            return CORDON_E_VALUE;
        o->run.undo = value ? "strict" : "";
        return 0;
    }
    if (str_eq(name, STR("ask-timeout")))
        return value ? run_read_ask_timeout(value, &o->run.ask_timeout_ms) : CORDON_E_VALUE;
    if (str_eq(name, STR("ask-fd"))) {
        if (!value || run_read_ask_fds(value, o->ask_fds))
            return CORDON_E_VALUE;
        o->run.ask_fds = o->ask_fds;
        return 0;
    }
    if (str_eq(name, STR("undo-limit")))
        return value ? policy_read_memory(str_of(value), &o->run.undo_limit) : CORDON_E_VALUE;
    if (!place && !audit && !prefix && !pipe && !unset && !integrity)
        return CORDON_E_UNKNOWN;
    if ((place != NULL) != (value == NULL))
        return CORDON_E_VALUE;
    if (place) {
        *place = true;
        return 0;
    }
    if (integrity)
        return set_integrity(&o->run, str_of(value));
    if (unset && o->run.unset_count == MOST_UNSET)
        return CORDON_E_TOOBIG;
    const char *copy = arena_copy(&o->arena, str_of(value)).p;
    if (!copy)
        return CORDON_E_NOMEM;
    if (unset)
        o->unset[o->run.unset_count++] = copy;
    else
        *(audit ? &o->run.audit : pipe ? &o->run.ask_pipe : &o->run.wine_prefix) = copy;
    return 0;
}

void cordon_run_options_ask(struct cordon_run_options *o, cordon_ask *ask, void *context)
{
    o->run.ask = ask;
    o->run.ask_context = context;
}

void cordon_run_options_output(struct cordon_run_options *o, cordon_output *output, void *context)
{
    o->output = output;
    o->output_context = context;
}

void cordon_run_options_event(struct cordon_run_options *o, cordon_event *event, void *context)
{
    o->run.event = event;
    o->run.event_context = context;
}

void cordon_result_free(struct cordon_result *r)
{
    if (!r)
        return;
    summary_free(&r->run.summary);
    buf_free(&r->json);
    free(r);
}

const char *cordon_result_reason(const struct cordon_result *r)
{
    return r->run.reason;
}

unsigned cordon_result_exit(const struct cordon_result *r)
{
    return r->run.exit;
}

unsigned long long cordon_result_denied(const struct cordon_result *r)
{
    return r->run.summary.denied;
}

const char *cordon_result_json(const struct cordon_result *r)
{
    return r->json.p;
}

/* Everything between opening and closing the pipes. */
static int run_inside(struct cordon_policy *p, struct run_options *o, struct run_result *result)
{
    int rc = run_prepare(p, o);
    if (rc == 0)
        rc = run_confined(p, o, result);
    run_finish(p, result);
    return rc;
}

static int finish(struct cordon_policy *p, struct cordon_result *r, struct cordon_result **out)
{
    struct summary_end end = {str_of(r->run.reason),
                              str_of(r->run.boundary),
                              r->run.exit,
                              r->run.duration_ms,
                              STR_NONE,
                              r->undo ? &r->run.changes : NULL};
    summary_json(&r->run.summary, &end, &r->json);
    if (r->json.n)
        r->json.n--; /* the line's end */
    if (buf_cstr(&r->json)[0] == '\0') {
        cordon_result_free(r);
        return api_fail(p, CORDON_E_NOMEM, "out of memory");
    }
    *out = r;
    return 0;
}

int cordon_run(struct cordon_policy *p, const struct cordon_run_options *options, size_t argc,
               const char *const *argv, struct cordon_result **out)
{
    struct run_options o = options ? options->run : (struct run_options){0};
    struct system_guest *guest = NULL;
    const char *why = "out of memory";
    if (api_has_answered(p))
        return api_fail(p, CORDON_E_CONFLICT,
                        "this policy was used already; make a new one for each run");
    if (argc == 0)
        return api_fail(p, CORDON_E_VALUE, "no command given");
    struct cordon_result *r = calloc(1, sizeof *r);
    const char **words = calloc(argc + 1, sizeof *words);
    if (!r || !words) {
        free(r);
        free(words);
        return api_fail(p, CORDON_E_NOMEM, why);
    }
    memcpy(words, argv, argc * sizeof *words);
    r->undo = o.undo != NULL;
    o.argv = words;
    o.argc = argc;
    int rc = system_guest_open(options ? options->output : NULL,
                               options ? options->output_context : NULL, &guest, &why);
    if (rc) {
        api_fail(p, rc, why);
    } else {
        o.stdio = system_guest_stdio(guest);
        rc = run_inside(p, &o, &r->run);
        system_guest_close(guest);
    }
    free(words);
    if (rc) {
        cordon_result_free(r);
        return rc;
    }
    return finish(p, r, out);
}
