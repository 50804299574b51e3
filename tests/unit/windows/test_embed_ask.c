/* SPDX-License-Identifier: Apache-2.0 */
/* A host that is asked, on Windows: now, later, from another thread, wrongly, too late and
   never. */
#include <stdlib.h>
#include <windows.h>

#include "base/buf.h"
#include "cordon.h"
#include "tap.h"

#define PLACE "C:\\users\\Public\\cordon-embed-ask"

enum how { NOW, LATER, WRONG_FIRST, AFTER_THE_RUN };

struct host {
    enum how how;
    const char *answer, *scope, *timeout;
    volatile LONG asked, codes; /* codes: answers that did not count */
    struct cordon_question *kept;
    HANDLE thread;
    char json[8192];
    struct buf events;
};

static void settle(struct host *h, struct cordon_question *q)
{
    if (cordon_question_answer(q, h->answer, h->scope))
        InterlockedIncrement(&h->codes);
}

static DWORD WINAPI answer_later(void *context)
{
    struct host *h = context;
    Sleep(200);
    settle(h, h->kept);
    return 0;
}

static void on_ask(void *context, struct cordon_question *q)
{
    struct host *h = context;
    snprintf(h->json, sizeof h->json, "%s", cordon_question_json(q));
    InterlockedIncrement(&h->asked);
    if (h->how == WRONG_FIRST && (cordon_question_answer(q, "yes", NULL) != CORDON_E_VALUE ||
                                  cordon_question_answer(q, "run", "host") != CORDON_E_VALUE))
        h->codes += 100;
    if (h->how == NOW || h->how == WRONG_FIRST) {
        settle(h, q);
        return;
    }
    h->kept = q;
    if (h->how == LATER) {
        if (h->thread)
            WaitForSingleObject(h->thread, INFINITE);
        h->thread = CreateThread(NULL, 0, answer_later, h, 0, NULL);
    }
}

static void on_event(void *context, const char *json)
{
    struct host *h = context;
    buf_add(&h->events, str_of(json));
    buf_char(&h->events, '\n');
}

static bool there(const char *path)
{
    bool is = GetFileAttributesA(path) != INVALID_FILE_ATTRIBUTES;
    DeleteFileA(path);
    return is;
}

static void run(struct host *h)
{
    struct cordon_policy *p = NULL;
    struct cordon_run_options *o = NULL;
    struct cordon_result *r = NULL;
    const char *argv[] = {"cmd", "/c", "echo 1> ..\\a.txt& echo 2> ..\\b.txt"};
    if (cordon_policy_new(&p) || cordon_run_options_new(&o))
        exit(1);
    cordon_policy_set(p, "root", ".");
    cordon_policy_set(p, "cwd", PLACE "\\ws");
    if (h->timeout)
        cordon_run_options_set(o, "ask-timeout", h->timeout);
    cordon_run_options_ask(o, on_ask, h);
    cordon_run_options_event(o, on_event, h);
    if (cordon_run(p, o, 3, argv, &r)) {
        printf("Bail out! %s\n", cordon_policy_error(p));
        exit(1);
    }
    if (h->thread) {
        WaitForSingleObject(h->thread, INFINITE);
        CloseHandle(h->thread);
    }
    cordon_result_free(r);
    cordon_run_options_free(o);
    cordon_policy_free(p);
}

int main(void)
{
    static const struct {
        const char *what;
        enum how how;
        const char *answer, *scope, *timeout;
        LONG asked, codes;
        bool first, second;
        const char *event;
    } rows[] = {
        {"now, once", NOW, "once", NULL, NULL, 2, 0, true, true, "\"choice\":\"once\""},
        {"now, no", NOW, "no", NULL, NULL, 2, 0, false, false, "\"choice\":\"no\""},
        {"now, for the folder", NOW, "run", "folder", NULL, 1, 0, true, true,
         "\"scope\":\"folder\""},
        {"now, for the path", NOW, "run", "path", NULL, 2, 0, true, true, "\"scope\":\"path\""},
        {"later, by another thread", LATER, "once", NULL, NULL, 2, 0, true, true,
         "\"by\":\"callback\""},
        {"with wrong words first", WRONG_FIRST, "once", NULL, NULL, 2, 0, true, true,
         "\"choice\":\"once\""},
        {"never", NOW, "never", NULL, NULL, 2, 0, false, false, "\"choice\":\"never\""},
        {"not before the run has ended", AFTER_THE_RUN, "once", NULL, "1", 2, 0, false, false,
         "\"by\":\"time-out\""},
    };
    CreateDirectoryA("C:\\users\\Public", NULL);
    CreateDirectoryA(PLACE, NULL);
    CreateDirectoryA(PLACE "\\ws", NULL);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct host h = {.how = rows[i].how,
                         .answer = rows[i].answer,
                         .scope = rows[i].scope,
                         .timeout = rows[i].timeout};
        there(PLACE "\\a.txt");
        there(PLACE "\\b.txt");
        run(&h);
        int late = h.how == AFTER_THE_RUN ? cordon_question_answer(h.kept, "once", NULL)
                                          : CORDON_E_CONFLICT;
        bool first = there(PLACE "\\a.txt"), second = there(PLACE "\\b.txt");
        if (!ok(h.asked == rows[i].asked && h.codes == rows[i].codes && first == rows[i].first &&
                    second == rows[i].second && late == CORDON_E_CONFLICT &&
                    strstr(h.json, "\"op\":\"file.create\"") &&
                    str_find(buf_str(&h.events), str_of(rows[i].event), 0) < h.events.n,
                "answered %s", rows[i].what)) {
            note("asked %ld, codes %ld, %d %d, late %d", h.asked, h.codes, first, second, late);
            note("%s", h.json);
        }
        buf_free(&h.events);
    }
    return tap_done();
}
