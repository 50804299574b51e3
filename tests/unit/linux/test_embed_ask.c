/* SPDX-License-Identifier: Apache-2.0 */
/* A host that is asked: now, later, from other threads, wrongly, too late and never. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "cordon.h"
#include "tap.h"

enum how { NOW, LATER, WRONG_FIRST, AFTER_THE_RUN, BY_OTHERS };

struct host {
    enum how how;
    const char *answer, *scope, *timeout;
    atomic_uint asked;
    atomic_int codes; /* of answers that did not count */
    struct cordon_question *kept;
    pthread_t thread;
    bool joined;
    char json[8192];
    struct buf events;
};

static void *answer_later(void *context)
{
    struct host *h = context;
    usleep(200000);
    if (cordon_question_answer(h->kept, h->answer, h->scope))
        atomic_fetch_add(&h->codes, 1);
    return NULL;
}

/* Questions of all runs, answered by threads that belong to none of them. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t more;
    struct cordon_question *items[256];
    size_t count;
    bool over;
    unsigned taken, late; /* late: no longer open */
} hall = {.lock = PTHREAD_MUTEX_INITIALIZER, .more = PTHREAD_COND_INITIALIZER};

static void hand_over(struct cordon_question *q)
{
    pthread_mutex_lock(&hall.lock);
    hall.items[hall.count++ % 256] = q;
    pthread_cond_signal(&hall.more);
    pthread_mutex_unlock(&hall.lock);
}

/* A file name with "no" is denied; one with "slow" waits for longer than its question does. */
static void *answer_all(void *context)
{
    (void)context;
    for (;;) {
        pthread_mutex_lock(&hall.lock);
        while (hall.count == 0 && !hall.over)
            pthread_cond_wait(&hall.more, &hall.lock);
        struct cordon_question *q = hall.count ? hall.items[--hall.count] : NULL;
        pthread_mutex_unlock(&hall.lock);
        if (!q)
            return NULL;
        const char *target = strstr(cordon_question_json(q), "\"target\":\"") + 10;
        struct str name = {target, strcspn(target, "\"")};
        bool no = str_find(name, STR("-no"), 0) < name.n;
        usleep(str_find(name, STR("-slow"), 0) < name.n ? 1500000 : 3000);
        int rc = cordon_question_answer(q, no ? "no" : "once", NULL);
        pthread_mutex_lock(&hall.lock);
        hall.taken += rc == 0;
        hall.late += rc == CORDON_E_CONFLICT;
        pthread_mutex_unlock(&hall.lock);
    }
}

static void on_ask(void *context, struct cordon_question *q)
{
    struct host *h = context;
    snprintf(h->json, sizeof h->json, "%s", cordon_question_json(q));
    atomic_fetch_add(&h->asked, 1);
    switch (h->how) {
    case WRONG_FIRST:
        if (cordon_question_answer(q, "yes", NULL) != CORDON_E_VALUE ||
            cordon_question_answer(q, "run", "host") != CORDON_E_VALUE)
            atomic_fetch_add(&h->codes, 100);
        /* fall through */
    case NOW:
        if (cordon_question_answer(q, h->answer, h->scope))
            atomic_fetch_add(&h->codes, 1);
        break;
    case LATER:
        h->kept = q;
        if (h->joined)
            pthread_join(h->thread, NULL);
        h->joined = pthread_create(&h->thread, NULL, answer_later, h) == 0;
        break;
    case AFTER_THE_RUN: h->kept = q; break;
    case BY_OTHERS: hand_over(q); break;
    }
}

static void on_event(void *context, const char *json)
{
    struct host *h = context;
    buf_add(&h->events, str_of(json));
    buf_char(&h->events, '\n');
}

/* Runs a line of sh in build/embed-ask/ws; its exit code. */
static int run(struct host *h, const char *script)
{
    struct cordon_policy *p = NULL;
    struct cordon_run_options *o = NULL;
    struct cordon_result *r = NULL;
    const char *argv[] = {"sh", "-c", script};
    if (cordon_policy_new(&p) || cordon_run_options_new(&o))
        exit(1);
    cordon_policy_set(p, "root", ".");
    cordon_policy_set(p, "cwd", "build/embed-ask/ws");
    cordon_policy_set(p, "temp", "private");
    if (h->timeout)
        cordon_run_options_set(o, "ask-timeout", h->timeout);
    cordon_run_options_ask(o, on_ask, h);
    cordon_run_options_event(o, on_event, h);
    int rc = cordon_run(p, o, 3, argv, &r);
    if (rc) {
        printf("Bail out! %s\n", cordon_policy_error(p));
        exit(1);
    }
    int code = (int)cordon_result_exit(r);
    if (h->joined)
        pthread_join(h->thread, NULL);
    cordon_result_free(r);
    cordon_run_options_free(o);
    cordon_policy_free(p);
    return code;
}

static bool there(const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "build/embed-ask/%s", name);
    bool is = access(path, F_OK) == 0;
    unlink(path);
    return is;
}

static void test_ways(void)
{
    static const struct {
        const char *what;
        enum how how;
        const char *answer, *scope, *timeout;
        unsigned asked;
        int codes;
        bool first, second;
    } rows[] = {
        {"now, once", NOW, "once", NULL, NULL, 2, 0, true, true},
        {"now, no", NOW, "no", NULL, NULL, 2, 0, false, false},
        {"now, for the folder", NOW, "run", "folder", NULL, 1, 0, true, true},
        {"now, for the path", NOW, "run", "path", NULL, 2, 0, true, true},
        {"later, once", LATER, "once", "call", NULL, 2, 0, true, true},
        {"later, never", LATER, "never", NULL, NULL, 2, 0, false, false},
        {"wrong answers first", WRONG_FIRST, "once", NULL, NULL, 2, 0, true, true},
        {"too late", AFTER_THE_RUN, "once", NULL, "1", 2, 0, false, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct host h = {.how = rows[i].how,
                         .answer = rows[i].answer,
                         .scope = rows[i].scope,
                         .timeout = rows[i].timeout};
        struct cordon_question *before = NULL;
        /* The second question replaces the first in kept: one run for each. */
        if (rows[i].how == AFTER_THE_RUN) {
            run(&h, "echo x > ../first");
            before = h.kept;
            run(&h, "echo x > ../second");
        } else {
            run(&h, "echo x > ../first; echo x > ../second");
        }
        bool one = there("first"), two = there("second");
        if (!ok(atomic_load(&h.asked) == rows[i].asked && atomic_load(&h.codes) == rows[i].codes &&
                    one == rows[i].first && two == rows[i].second,
                "%s", rows[i].what))
            note("asked %u, codes %d, %d %d, %s", atomic_load(&h.asked), atomic_load(&h.codes), one,
                 two, h.json);
        if (rows[i].how == AFTER_THE_RUN)
            ok(cordon_question_answer(before, "once", NULL) == CORDON_E_CONFLICT &&
                   cordon_question_answer(h.kept, "once", NULL) == CORDON_E_CONFLICT,
               "an answer after the run does nothing");
        const char *by =
            rows[i].how == AFTER_THE_RUN ? "\"by\":\"time-out\"" : "\"by\":\"callback\"";
        ok(h.events.n && strstr(buf_cstr(&h.events), by) &&
               strstr(buf_cstr(&h.events), "\"type\":\"answer\""),
           "the event says who");
        buf_free(&h.events);
    }
}

/* The function may take as long as it likes; the command goes on. */
static void test_end(void)
{
    struct host h = {.how = AFTER_THE_RUN};
    int code = run(&h, "(echo x > ../first) & sleep 0.5; exit 7");
    ok(code == 7 && atomic_load(&h.asked) == 1 && !there("first"),
       "a run ends although a question is open");
    ok(cordon_question_answer(h.kept, "once", NULL) == CORDON_E_CONFLICT && !there("first"),
       "and its answer comes too late");
    buf_free(&h.events);
}

/* Several hosts at once, each with its own questions. */
static void *one_host(void *context)
{
    struct host *h = context;
    char script[256];
    snprintf(script, sizeof script,
             "for i in 1 2 3 4 5 6 7 8; do (echo x > ../%.8s-$i) & done; wait; "
             "ls .. | grep -c '^%.8s-' | grep -qx %s",
             h->json, h->json, h->answer[0] == 'n' ? "0" : "8");
    return (void *)(intptr_t)run(h, script);
}

static void test_threads(void)
{
    enum { HOSTS = 4 };
    struct host hosts[HOSTS];
    pthread_t threads[HOSTS];
    unsigned wrong = 0;
    for (int i = 0; i < HOSTS; i++) {
        hosts[i] = (struct host){.how = NOW, .answer = i % 2 ? "no" : "once"};
        snprintf(hosts[i].json, sizeof hosts[i].json, "host%d", i);
        pthread_create(&threads[i], NULL, one_host, &hosts[i]);
    }
    for (int i = 0; i < HOSTS; i++) {
        void *code;
        pthread_join(threads[i], &code);
        wrong += (intptr_t)code != 0 || atomic_load(&hosts[i].asked) != 8;
        buf_free(&hosts[i].events);
    }
    ok(wrong == 0, "four runs at once, eight questions each");
}

/* Runs at once whose callers are killed, whose questions time out, whose names are asked for at the
   proxy, and whose answers come from threads of nobody. */
static void *one_mixed(void *context)
{
    struct host *h = context;
    char script[512];
    snprintf(
        script, sizeof script,
        "n=%.8s; for i in 1 2 3 4; do (echo x > ../$n-$i) & (echo x > ../$n-no$i) & done 2>&-; "
        "(echo x > ../$n-slow-killed) & k=$!; (echo x > ../$n-slow-late) 2>&- & "
        "curl -s -m 3 http://$n.invalid/ > answer & sleep 0.3; kill -9 $k; wait; "
        "test $(ls .. | grep -c \"^$n-[1-4]$\") = 4 && test $(ls .. | grep -c \"^$n-\") = 4",
        h->json);
    return (void *)(intptr_t)run(h, script);
}

static void test_mixed(void)
{
    enum { HOSTS = 3, THREADS = 8 };
    struct host hosts[HOSTS];
    char names[HOSTS][16];
    pthread_t runs[HOSTS], threads[THREADS];
    unsigned wrong = 0;
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, answer_all, NULL);
    for (int i = 0; i < HOSTS; i++) {
        hosts[i] = (struct host){.how = BY_OTHERS, .timeout = "1"};
        snprintf(names[i], sizeof names[i], "mix%d", i);
        snprintf(hosts[i].json, sizeof hosts[i].json, "%s", names[i]);
        pthread_create(&runs[i], NULL, one_mixed, &hosts[i]);
    }
    for (int i = 0; i < HOSTS; i++) {
        void *code;
        pthread_join(runs[i], &code);
        bool told = hosts[i].events.n && strstr(buf_cstr(&hosts[i].events), "time-out");
        if ((intptr_t)code != 0 || !told || atomic_load(&hosts[i].asked) < 10) {
            wrong++;
            note("code %d, asked %u, time-out told %d", (int)(intptr_t)code,
                 atomic_load(&hosts[i].asked), told);
        }
        buf_free(&hosts[i].events);
    }
    pthread_mutex_lock(&hall.lock);
    hall.over = true;
    pthread_cond_broadcast(&hall.more);
    pthread_mutex_unlock(&hall.lock);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    ok(wrong == 0 && hall.taken >= 8 * HOSTS && hall.late >= 2 * HOSTS,
       "three runs at once: answers from other threads (%u), too late (%u), killed callers",
       hall.taken, hall.late);
}

int main(void)
{
    struct cordon_policy *p;
    struct cordon_result *r;
    const char *good[] = {"true"};
    mkdir("build/embed-ask", 0755);
    mkdir("build/embed-ask/ws", 0755);
    if (cordon_policy_new(&p))
        return 1;
    cordon_policy_set(p, "root", "build/embed-ask/ws");
    if (cordon_run(p, NULL, 1, good, &r)) {
        skip("cordon_run", cordon_policy_error(p));
        cordon_policy_free(p);
        return tap_done();
    }
    cordon_result_free(r);
    cordon_policy_free(p);
    test_ways();
    test_end();
    test_threads();
    test_mixed();
    return system("rm -rf build/embed-ask") || tap_done();
}
