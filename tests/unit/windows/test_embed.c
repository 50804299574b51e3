/* SPDX-License-Identifier: Apache-2.0 */
/* cordon_run on Windows as another program calls it: output, events, how it ended. */
#include <stdlib.h>
#include <windows.h>

#include "base/buf.h"
#include "cordon.h"
#include "tap.h"

#define FOLDER "C:\\users\\Public\\cordon-embed"

struct seen {
    struct buf out[3], events;
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
}

static bool has(const struct buf *text, const char *words)
{
    return str_find(buf_str(text), str_of(words), 0) < text->n;
}

static int run(const char *script, struct seen *seen, struct cordon_result **result)
{
    struct cordon_policy *p = NULL;
    struct cordon_run_options *o = NULL;
    const char *argv[] = {"cmd", "/c", script};
    if (cordon_policy_new(&p) || cordon_run_options_new(&o))
        return CORDON_E_NOMEM;
    cordon_policy_set(p, "root", ".");
    cordon_policy_set(p, "cwd", FOLDER "\\ws");
    cordon_run_options_output(o, on_output, seen);
    cordon_run_options_event(o, on_event, seen);
    int rc = cordon_run(p, o, 3, argv, result);
    if (rc)
        note("%s", cordon_policy_error(p));
    cordon_run_options_free(o);
    cordon_policy_free(p);
    return rc;
}

int main(void)
{
    struct seen seen = {0};
    struct cordon_result *r = NULL;
    CreateDirectoryA("C:\\users\\Public", NULL);
    CreateDirectoryA(FOLDER, NULL);
    CreateDirectoryA(FOLDER "\\ws", NULL);
    DeleteFileA(FOLDER "\\out.txt");
    DeleteFileA(FOLDER "\\ws\\in.txt");
    if (run("echo out& echo err 1>&2& echo x> in.txt& echo x> ..\\out.txt& exit 7", &seen, &r)) {
        skip("cordon_run", "this machine cannot confine");
        return tap_done();
    }
    ok(strcmp(cordon_result_reason(r), "exited") == 0 && cordon_result_exit(r) == 7,
       "the command's own code");
    if (!ok(has(&seen.out[1], "out") && !has(&seen.out[1], "err"), "stdout"))
        note("%s", buf_cstr(&seen.out[1]));
    if (!ok(has(&seen.out[2], "err") && seen.out[0].n == 0, "stderr"))
        note("%s", buf_cstr(&seen.out[2]));
    ok(GetFileAttributesA(FOLDER "\\ws\\in.txt") != INVALID_FILE_ATTRIBUTES, "written inside");
    ok(GetFileAttributesA(FOLDER "\\out.txt") == INVALID_FILE_ATTRIBUTES, "and not outside");
    ok(has(&seen.events, "\"type\":\"deny\"") && has(&seen.events, "\"type\":\"end\"") &&
           cordon_result_denied(r) > 0,
       "events");
    cordon_result_free(r);
    r = NULL;
    ok(run("start https://x.test", &seen, &r) == 0 &&
           strcmp(cordon_result_reason(r), "refused") == 0 && cordon_result_exit(r) == 126,
       "refused by the guard");
    cordon_result_free(r);
    for (int i = 0; i < 3; i++)
        buf_free(&seen.out[i]);
    buf_free(&seen.events);
    DeleteFileA(FOLDER "\\ws\\in.txt");
    RemoveDirectoryA(FOLDER "\\ws");
    RemoveDirectoryA(FOLDER);
    return tap_done();
}
