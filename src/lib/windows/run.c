/* Running a command on Windows: token, job, desktop, agent, broker. */
#include <stdio.h>
#include <stdlib.h>

#include "base/utf.h"
#include "broker/proxy.h"
#include "broker/windows/broker.h"
#include "broker/windows/proxy_serve.h"
#include "launch/disk.h"
#include "launch/environment.h"
#include "launch/windows/block.h"
#include "launch/windows/boundary.h"
#include "launch/windows/desktop.h"
#include "launch/windows/job.h"
#include "launch/windows/lookup.h"
#include "launch/windows/spawn.h"
#include "launch/windows/stdio.h"
#include "launch/windows/stubs.h"
#include "launch/windows/token.h"
#include "launch/windows/version.h"
#include "launch/windows/wide.h"
#include "launch/windows/wine.h"
#include "lib/system.h"

int system_prepare(struct cordon_policy *p, const struct run_options *o)
{
    (void)p, (void)o;
    return 0;
}

void system_finish(struct cordon_policy *p)
{
    (void)p;
}

const char *system_lacks(const struct policy_settings *s)
{
    (void)s;
    return NULL;
}

const char *system_boundary(char *detail, size_t capacity)
{
    struct token_run who;
    struct launch_failure failure;
    struct boundary tried = {0};
    HANDLE token;
    if (token_run_sid(&who, &failure) == 0 && token_make(&who, false, &token, &failure) == 0) {
        boundary_try(token, &tried);
        CloseHandle(token);
    }
    if (boundary_is_kernel(&tried)) {
        snprintf(detail, capacity, "the token of the run");
        return "kernel";
    }
    snprintf(detail, capacity, "the token holds: files %s, delete %s, processes %s",
             tried.files ? "yes" : "no", tried.deletes ? "yes" : "no",
             tried.processes ? "yes" : "no");
    return "interposed";
}

int system_apart(struct run *run, int (*work)(struct run *run))
{
    return work(run);
}

/* What a run holds while it lasts; zero is "not made yet". */
struct launch {
    struct token_run who;
    HANDLE token, job, port, end, desktop;
    wchar_t desktop_name[DESKTOP_NAME_UNITS];
    struct stdio_watch watch;
    struct stdio stdio;
    struct broker broker;
    bool serving;
    struct stubs stubs;
    struct proxy_server *proxy; /* of --net=allow */
    char proxy_url[160];        /* the only way out; empty: none */
};

static void launch_close(struct launch *l)
{
    if (l->job)
        TerminateJobObject(l->job, 125);
    stdio_started(&l->stdio);
    proxy_close(l->proxy);
    if (l->serving)
        broker_stop(&l->broker);
    stdio_finish(&l->stdio);
    stubs_remove(&l->stubs);
    if (l->desktop)
        desktop_close(l->desktop);
    stdio_unwatch_console(&l->watch);
    HANDLE handles[] = {l->token, l->job, l->port, l->end};
    for (size_t i = 0; i < sizeof handles / sizeof *handles; i++)
        if (handles[i])
            CloseHandle(handles[i]);
}
#define auto_launch __attribute__((cleanup(launch_close)))

static int open_stdio(const intptr_t *given, struct stdio *s, struct launch_failure *f)
{
    HANDLE own[] = {GetStdHandle(STD_INPUT_HANDLE), given ? (HANDLE)given[0] : NULL,
                    given ? (HANDLE)given[1] : NULL};
    return given ? stdio_open_handles(s, own, f) : stdio_open(s, f);
}

/* The only way out, where there is one: somebody else's proxy or an own one. */
static int open_way_out(struct run *run, struct launch *l, struct launch_failure *f)
{
    const struct policy_settings *s = policy_settings_of(run->policy->policy);
    struct broker *b = &l->broker;
    unsigned char random[PROXY_SECRET / 2];
    char secret[PROXY_SECRET + 1];
    struct policy_peer peer;
    if (s->net == POLICY_NET_ALLOW) {
        if (!machine_random(random, sizeof random))
            return launch_fail_words(f, "cannot read random bytes");
        for (size_t i = 0; i < sizeof random; i++)
            snprintf(secret + 2 * i, 3, "%02x", random[i]);
        l->proxy = proxy_open(b->policy, str_of(secret), run_event, run, machine_now_ms, &b->lock);
        if (!l->proxy)
            return launch_fail(f, "--net=allow: no proxy can listen");
        b->way_port = proxy_port(l->proxy);
        snprintf(b->way_host, sizeof b->way_host, "127.0.0.1");
        snprintf(l->proxy_url, sizeof l->proxy_url, "http://" PROXY_USER ":%s@127.0.0.1:%u", secret,
                 b->way_port);
    } else if (s->net == POLICY_NET_PROXY && policy_parse_peer(s->proxy, &peer) == 0) {
        /* Inside no name can be resolved, so the address is looked up here, once. */
        auto_buf struct buf address = {0};
        if (!proxy_lookup(peer.host, &address))
            return launch_fail_words(f, "--net=proxy: host not found");
        b->way_port = peer.port;
        snprintf(b->way_host, sizeof b->way_host, "%s", buf_cstr(&address));
        snprintf(l->proxy_url, sizeof l->proxy_url,
                 strchr(b->way_host, ':') ? "http://[%s]:%u" : "http://%s:%u", b->way_host,
                 b->way_port);
    }
    return 0;
}

static int prepare(struct run *run, struct launch *l, struct launch_failure *f)
{
    const struct policy *policy = run->policy->policy;
    const struct policy_settings *settings = policy_settings_of(policy);
    bool confined = settings->mode != POLICY_FULL_ACCESS;
    int rc = token_protect_self(f);
    if (rc == 0)
        rc = token_run_sid(&l->who, f);
    if (rc == 0 && confined)
        rc = token_make(&l->who, run->options->medium_integrity, &l->token, f);
    if (rc == 0 && !wine_desktops_separate_nothing())
        rc = desktop_make(&l->who, &l->desktop, l->desktop_name, DESKTOP_NAME_UNITS, f);
    if (rc == 0)
        rc = job_make(&settings->limits, &l->job, &l->port, f);
    if (rc == 0)
        rc = open_stdio(run->options->stdio, &l->stdio, f);
    l->end = CreateEventW(NULL, TRUE, FALSE, NULL);
    if (rc == 0)
        rc = l->end ? stdio_watch_console(&l->watch, l->end)
                    : launch_fail(f, "cannot make an event");
    l->broker = (struct broker){.policy = policy,
                                .guard = run->policy->guard,
                                .unconfined = !confined,
                                .report_grants = run->options->audit_all,
                                .who = &l->who,
                                .job = l->job,
                                .port = l->port,
                                .event = run_event,
                                .context = run,
                                .now = machine_now_ms};
    if (rc == 0)
        rc = inject_plan_make(policy_image(policy), true, &l->who, &l->broker.inject, f);
    if (rc == 0 && broker_start(&l->broker))
        rc = launch_fail(f, "cannot start the broker (CreateThread)");
    l->serving = rc == 0;
    return rc ? rc : open_way_out(run, l, f);
}

/* Starts the program, confined from its first instruction on. */
static int start(struct run *run, struct launch *l, const struct lookup *found, wchar_t *block,
                 const wchar_t *cwd, HANDLE *process, struct launch_failure *f)
{
    struct spawn_plan plan = {.image = found->image,
                              .cmdline = found->cmdline,
                              .environment = block,
                              .cwd = cwd,
                              .desktop = l->desktop ? l->desktop_name : NULL,
                              .token = l->token,
                              .job = l->job,
                              .stdio = l->stdio.child};
    struct injected wire;
    HANDLE first, thread, own;
    auto_buf struct buf image = {0};
    utf_from16(&image, (const uint16_t *)found->image, wcslen(found->image));
    l->broker.first = true;
    int rc = spawn_suspended(&plan, &first, &thread, f);
    if (rc)
        return rc;
    if (!l->token) {
        /* --mode full-access: no token and no agent; the job still ends the tree with the run. */
        l->broker.first = false;
        ResumeThread(thread);
        CloseHandle(thread);
        *process = first;
        return 0;
    }
    rc = token_open_up(&l->who, first, f);
    if (rc == 0)
        rc = inject(first, &l->broker.inject, &wire, f);
    if (rc == 0 && !DuplicateHandle(GetCurrentProcess(), first, GetCurrentProcess(), &own, 0, FALSE,
                                    DUPLICATE_SAME_ACCESS))
        rc = launch_fail(f, "cannot watch the program (DuplicateHandle)");
    if (rc == 0 && broker_add(&l->broker, own, &wire, buf_str(&image)))
        rc = launch_fail(f, "cannot serve the program (CreateThread)");
    l->broker.first = false;
    if (rc == 0) {
        run_event(run, &(struct audit_event){.type = AUDIT_SPAWN,
                                             .op = AUDIT_PROCESS_START,
                                             .time = machine_now_ms(),
                                             .pid = GetProcessId(first),
                                             .image = buf_str(&image)});
        if (ResumeThread(thread) == (DWORD)-1)
            rc = launch_fail(f, "cannot let the program run (ResumeThread)");
    }
    CloseHandle(thread);
    if (rc) {
        TerminateProcess(first, 125);
        CloseHandle(first);
    } else {
        *process = first;
    }
    return rc;
}

static void wait_for(struct run *run, struct launch *l, HANDLE process)
{
    const struct policy_settings *settings = policy_settings_of(run->policy->policy);
    uint64_t begin = machine_now_ms(), limit = settings->limits.timeout_ms;
    HANDLE events[] = {process, l->end};
    for (;;) {
        uint64_t passed = machine_now_ms() - begin;
        DWORD left = !limit                  ? 1000
                     : passed >= limit       ? 0
                     : limit - passed < 1000 ? (DWORD)(limit - passed)
                                             : 1000;
        DWORD got = WaitForMultipleObjects(2, events, FALSE, left);
        if (got == WAIT_OBJECT_0) {
            DWORD code = 125;
            GetExitCodeProcess(process, &code);
            run->result->reason = "exited";
            run->result->exit = code;
            return;
        }
        if (got == WAIT_OBJECT_0 + 1) {
            run->result->reason = "signal";
            run->result->exit = 130;
            return;
        }
        if (got != WAIT_TIMEOUT)
            return;
        if (limit && machine_now_ms() - begin >= limit) {
            run->result->reason = "timeout";
            run->result->exit = 124;
            return;
        }
        EnterCriticalSection(&l->broker.lock);
        audit_tick(run->audit, machine_now_ms());
        LeaveCriticalSection(&l->broker.lock);
    }
}

/* True if a tool rule refuses the first program: reported, 126. */
static bool tool_refused(struct run *run, struct arena *arena, const struct lookup *found)
{
    const wchar_t *file = found->script ? found->script : found->image;
    struct str path = wide_narrow(arena, file, wcslen(file));
    struct policy_program program = {.name = str_of(run->options->argv[0]),
                                     .path = {.class = PATH_FILE, .text = path, .base = path},
                                     .original = version_original_name(arena, path),
                                     .seen = true};
    return run_refuse_tool(run, &program);
}

int system_run(struct run *run)
{
    auto_arena struct arena arena = {0};
    auto_buf struct buf error = {0};
    struct cordon_policy *p = run->policy;
    const struct run_options *o = run->options;
    struct launch_failure failure = {{0}};
    struct lookup found;
    struct str path = STR_NONE, extensions = STR_NONE;
    wchar_t *block = NULL, *cwd = wide_of(&arena, p->settings.cwd);
    struct environment_plan variables = {.inherited = block_read(&arena),
                                         .unset = o->unset,
                                         .unset_count = o->unset_count,
                                         .ignore_case = true,
                                         .set = o->set,
                                         .set_count = o->set_count};
    struct str *argv = ARENA_ARRAY(&arena, o->argc, struct str);
    if (!variables.inherited || !argv || !cwd)
        return api_fail(p, CORDON_E_NOMEM, "out of memory");
    for (size_t i = 0; i < o->argc; i++)
        argv[i] = str_of(o->argv[i]);
    if (!run_guard(run, &(struct guard_question){.argv = argv, .argc = o->argc}))
        return 0;
    disk_variable(&arena, STR("PATH"), &path);
    disk_variable(&arena, STR("PATHEXT"), &extensions);
    int rc = lookup_program(&arena, o->argv, o->argc, str_of(o->raw), p->settings.cwd, path.p,
                            extensions.p, &found, &error);
    if (rc == CORDON_E_NOTFOUND)
        return run_not_found(run, o->argv[0]);
    if (rc)
        return api_fail(p, rc, buf_cstr(&error));
    if (tool_refused(run, &arena, &found))
        return 0;
    if (token_is_elevated() && !o->allow_elevated && !wine_is_always_elevated())
        return api_fail(p, CORDON_E_REFUSED,
                        "this console is elevated, and the command would be too; use one that is "
                        "not, or --allow-elevated");
    HANDLE process;
    auto_launch struct launch launch = {0};
    if (policy_settings_of(p->policy)->mode != POLICY_FULL_ACCESS)
        stubs_make(&launch.stubs, &arena, p->policy);
    rc = prepare(run, &launch, &failure);
    variables.stubs = launch.stubs.folder;
    launch.broker.stubs = launch.stubs.folder;
    variables.proxy = launch.proxy_url[0] ? launch.proxy_url : NULL;
    const char *const *environment =
        environment_make(&arena, policy_settings_of(p->policy), &variables);
    if (rc == 0 && (!environment || block_make(&arena, environment, &block)))
        rc = launch_fail_words(&failure, "cannot make the environment: out of memory");
    if (rc == 0)
        rc = start(run, &launch, &found, block, cwd, &process, &failure);
    if (rc)
        return api_fail(p, rc, failure.text);
    stdio_started(&launch.stdio);
    wait_for(run, &launch, process);
    CloseHandle(process);
    return 0;
}
