/* SPDX-License-Identifier: Apache-2.0 */
/* Many runs at the same time in one process, each with a policy of its own. */
#ifndef CORDON_TESTS_CONCURRENT_H
#define CORDON_TESTS_CONCURRENT_H

#include <stdlib.h>

#include "base/buf.h"
#include "cordon.h"
#include "tap.h"

enum { RUNS = 16, MOST_SETTINGS = 6 };

struct one_run {
    const char *settings[2 * MOST_SETTINGS]; /* option, value, …, NULL */
    const char *argv[8];                     /* NULL at the end */
    size_t argc;                             /* 0: count argv; else of many */
    const char *const *many;
    struct buf out[3], events;
    int rc;
    unsigned exit;
    unsigned long long denied;
    char reason[16], error[512];
};

static void on_output(void *context, int stream, const char *bytes, size_t count)
{
    struct one_run *run = context;
    buf_add(&run->out[stream == 1 || stream == 2 ? stream : 0], (struct str){bytes, count});
}

static void on_event(void *context, const char *json)
{
    struct one_run *run = context;
    buf_add(&run->events, str_of(json));
    buf_char(&run->events, '\n');
}

static void do_run(struct one_run *run)
{
    struct cordon_policy *p = NULL;
    struct cordon_run_options *o = NULL;
    struct cordon_result *result = NULL;
    size_t argc = run->argc;
    while (!run->many && run->argv[argc])
        argc++;
    run->rc = cordon_policy_new(&p) || cordon_run_options_new(&o) ? CORDON_E_NOMEM : 0;
    for (size_t i = 0; run->rc == 0 && run->settings[i]; i += 2)
        run->rc = cordon_policy_set(p, run->settings[i], run->settings[i + 1]);
    if (run->rc == 0) {
        cordon_run_options_output(o, on_output, run);
        cordon_run_options_event(o, on_event, run);
        run->rc = cordon_run(p, o, argc, run->many ? run->many : run->argv, &result);
    }
    snprintf(run->error, sizeof run->error, "%s", p ? cordon_policy_error(p) : "");
    if (run->rc == 0) {
        run->exit = cordon_result_exit(result);
        run->denied = cordon_result_denied(result);
        snprintf(run->reason, sizeof run->reason, "%s", cordon_result_reason(result));
        cordon_result_free(result);
    }
    cordon_run_options_free(o);
    cordon_policy_free(p);
}

static bool has(const struct buf *text, const char *words)
{
    return str_find(buf_str(text), str_of(words), 0) < text->n;
}

static size_t count_of(const struct buf *text, const char *words)
{
    size_t count = 0;
    for (size_t at = 0; (at = str_find(buf_str(text), str_of(words), at)) < text->n; at++)
        count++;
    return count;
}

static void run_free(struct one_run *run)
{
    for (int i = 0; i < 3; i++)
        buf_free(&run->out[i]);
    buf_free(&run->events);
}

static void run_note(struct one_run *run)
{
    note("rc %d, exit %u, %s, denied %llu: %s", run->rc, run->exit, run->reason, run->denied,
         run->error);
    note("stdout: %.300s", buf_cstr(&run->out[1]));
    note("stderr: %.300s", buf_cstr(&run->out[2]));
    note("events: %.1500s", buf_cstr(&run->events));
}

#endif
