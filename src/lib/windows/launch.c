/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a run on Windows: token, job, desktop, agent, broker. */
#include "wire/windows/nt.h"

#include "lib/windows/launch.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/utf.h"
#include "broker/proxy.h"
#include "launch/windows/job.h"
#include "launch/windows/second.h"
#include "launch/windows/spawn.h"
#include "launch/windows/wine.h"

NTSYSAPI NTSTATUS NTAPI NtCreateDirectoryObject(HANDLE *, ACCESS_MASK, OBJECT_ATTRIBUTES *);

bool launch_close(struct launch *l)
{
    if (l->job)
        TerminateJobObject(l->job, 125);
    stdio_started(&l->stdio);
    if (l->asker)
        desk_close(asker_desk(l->asker)); /* clients of the proxy may wait there */
    proxy_close(l->proxy);
    bool settled = !l->serving || broker_stop(&l->broker);
    if (settled)
        asker_close(l->asker);
    stdio_finish(&l->stdio);
    console_close(&l->console);
    stubs_remove(&l->stubs);
    if (l->desktop)
        desktop_close(l->desktop);
    stdio_unwatch_console(&l->watch);
    HANDLE handles[] = {l->token, l->job, l->port, l->objects, l->end};
    for (size_t i = 0; i < sizeof handles / sizeof *handles && settled; i++)
        if (handles[i])
            CloseHandle(handles[i]);
    return settled;
}

void launch_end(struct launch **l)
{
    if (*l && launch_close(*l))
        free(*l);
}

static int open_stdio(const intptr_t *given, struct stdio *s, struct launch_failure *f)
{
    HANDLE own[] = {GetStdHandle(STD_INPUT_HANDLE), given ? (HANDLE)given[0] : NULL,
                    given ? (HANDLE)given[1] : NULL};
    return given ? stdio_open_handles(s, own, f) : stdio_open(s, f);
}

/* The only way out, where there is one: another proxy or our own. */
static int open_way_out(struct run *run, struct launch *l, struct launch_failure *f)
{
    const struct policy_settings *s = policy_settings_of(run->policy->policy);
    struct broker *b = &l->broker;
    unsigned char random[PROXY_SECRET / 2];
    char secret[PROXY_SECRET + 1];
    struct policy_peer peer;
    /* With an empty list: names are asked for at the proxy. */
    if (s->net == POLICY_NET_ALLOW || (s->net == POLICY_NET_OFF && l->asker)) {
        if (!machine_random(random, sizeof random))
            return launch_fail_words(f, "cannot read random bytes");
        for (size_t i = 0; i < sizeof random; i++)
            snprintf(secret + 2 * i, 3, "%02x", random[i]);
        l->proxy = proxy_open(b, str_of(secret), asker_desk(l->asker));
        if (!l->proxy)
            return launch_fail(f, "cannot open the filtering proxy's socket");
        b->way_port = proxy_port(l->proxy);
        snprintf(b->way_host, sizeof b->way_host, "127.0.0.1");
        snprintf(l->proxy_url, sizeof l->proxy_url, "http://" PROXY_USER ":%s@127.0.0.1:%u", secret,
                 b->way_port);
    } else if (s->net == POLICY_NET_PROXY && policy_parse_peer(s->proxy, &peer) == 0) {
        /* No name can be resolved inside, so the address is looked up here, once. */
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

/* Where the tree's global objects go: with this token nothing can be created in the global
   directory. It has no name; the tree gets a handle. */
static int make_objects(struct launch *l, struct launch_failure *f)
{
    enum { ALL = 0xF000F };
    struct token_descriptor d;
    OBJECT_ATTRIBUTES object;
    int rc = token_describe(&l->who, ALL, &d, f);
    if (rc)
        return rc;
    InitializeObjectAttributes(&object, NULL, 0, NULL, &d.descriptor);
    NTSTATUS status = NtCreateDirectoryObject(&l->objects, ALL, &object);
    if (status < 0) {
        SetLastError(RtlNtStatusToDosError(status));
        return launch_fail(f, "cannot make a directory for objects (NtCreateDirectoryObject)");
    }
    return 0;
}

/* Console and standard handles. A person at a console gets a console of the run's own for all
   three. */
static int open_ends(const struct launch_plan *plan, struct launch *l, bool confined,
                     struct launch_failure *f)
{
    const intptr_t *given = plan->run->options->stdio;
    unsigned console = plan->rung.level[LADDER_CONSOLE];
    bool pseudo = confined && console == LADDER_PSEUDO && !wine_lacks_pseudoconsoles();
    l->shares_console = confined && console == LADDER_INHERITED;
    /* Any other console than the second's hidden one is the caller's. */
    if (l->shares_console && !second_is_here(NULL))
        return launch_fail_words(f, "no hidden console to share");
    l->on_console = pseudo && !plan->stdio && !given && console_is_caller();
    bool asks = plan->asks && plan->run->options->ask_terminal;
    unsigned how = (l->on_console ? CONSOLE_ATTACHED : 0) | (asks ? CONSOLE_QUESTIONS : 0);
    int rc = pseudo ? console_open(&l->console, how, f) : 0;
    if (rc || l->on_console)
        return rc;
    return plan->stdio ? stdio_open_handles(&l->stdio, plan->stdio, f)
                       : open_stdio(given, &l->stdio, f);
}

int launch_make_token(struct run *run, const struct ladder_rung *rung, struct launch_token *out,
                      struct launch_failure *f)
{
    struct launch_token *tried = run->system, made = {0};
    struct token_options how = {.medium = run->options->medium_integrity,
                                .everyone = rung->level[LADDER_EVERYONE],
                                .interactive = rung->level[LADDER_INTERACTIVE]};
    if (tried && tried->token && ladder_pack(rung) == run->rung) {
        *out = *tried;
        tried->token = NULL;
        return 0;
    }
    int rc = token_run_sid(&made.who, f);
    if (rc == 0)
        rc = token_make(&made.who, &how, &made.token, f);
    if (rc == 0)
        *out = made;
    return rc;
}

int launch_prepare(const struct launch_plan *plan, struct launch *l, struct launch_failure *f)
{
    struct run *run = plan->run;
    /* Nobody is there to close a message box about a missing DLL; children inherit this. */
    SetErrorMode(GetErrorMode() | SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX |
                 SEM_NOOPENFILEERRORBOX);
    const unsigned char *level = plan->rung.level;
    const struct policy *policy = run->policy->policy;
    const struct policy_settings *settings = policy_settings_of(policy);
    bool confined = settings->mode != POLICY_FULL_ACCESS;
    struct launch_token made = {0};
    int rc = token_protect_self(f);
    if (rc == 0)
        rc = confined ? launch_make_token(run, &plan->rung, &made, f) : token_run_sid(&made.who, f);
    l->who = made.who;
    l->token = made.token;
    if (rc == 0 && !wine_desktops_separate_nothing() && !level[LADDER_DESKTOP])
        rc = desktop_make(&l->who, &l->desktop, l->desktop_name, DESKTOP_NAME_UNITS, f);
    if (rc == 0)
        rc = job_make(&settings->limits, &l->job, &l->port, f);
    if (rc == 0 && level[LADDER_WINDOWS])
        job_drop_ui(l->job);
    if (rc == 0)
        rc = make_objects(l, f);
    if (rc == 0)
        rc = open_ends(plan, l, confined, f);
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
                                .event = plan->event,
                                .context = run,
                                .undo = plan->undo,
                                .now = machine_now_ms};
    if (rc == 0)
        rc = inject_plan_make(policy_image(policy), true, &l->who, &l->broker.inject, f);
    l->broker.inject.objects = l->objects;
    l->broker.inject.keep_console = l->console.pseudo || l->shares_console;
    if (rc == 0 && broker_start(&l->broker))
        rc = launch_fail(f, "cannot start the broker (CreateThread)");
    l->serving = rc == 0;
    if (rc == 0 && plan->asks && confined && asker_open(run, &l->broker, &l->console, &l->asker))
        rc = launch_fail_words(f, run->policy->error);
    run->asks = l->asker != NULL;
    l->broker.ask_pipe = asker_pipe(l->asker);
    if (rc == 0 && l->asker && broker_ask_start(&l->broker, asker_desk(l->asker)))
        rc = launch_fail(f, "cannot start the broker (CreateThread)");
    return rc ? rc : open_way_out(run, l, f);
}

void launch_name_stub(struct launch *l)
{
    auto_buf struct buf name = {0};
    size_t units;
    struct inject_plan *plan = &l->broker.inject;
    l->broker.stubs = l->stubs.folder;
    l->broker.stub_maker = l->stubs.maker;
    buf_fmt(&name, "\\??\\%.*s\\" STUBS_NEUTRAL ".exe", STR_ARG(l->stubs.folder));
    if (l->stubs.maker && !name.failed &&
        utf_to16(buf_str(&name), plan->stub, WIRE_STUB_UNITS, &units) == 0)
        plan->stub_size = (uint32_t)(2 * units);
}

/* A process in a job cannot enter one with window limits: found out by trying without them. */
static int spawn(struct launch *l, struct spawn_plan *plan, HANDLE *process, HANDLE *thread,
                 struct launch_failure *f)
{
    BOOL inside = FALSE;
    struct launch_failure again = {{0}};
    int rc = spawn_suspended(plan, process, thread, f);
    if (rc == 0 || GetLastError() != ERROR_ACCESS_DENIED || !job_limits_ui(l->job) ||
        !IsProcessInJob(GetCurrentProcess(), NULL, &inside) || !inside || !job_drop_ui(l->job))
        return rc;
    rc = spawn_suspended(plan, process, thread, &again);
    l->in_job = rc == 0;
    return rc;
}

int launch_start(const struct launch_plan *how, struct launch *l, const struct lookup *found,
                 wchar_t *block, const wchar_t *cwd, HANDLE *process, struct launch_failure *f)
{
    struct spawn_plan plan = {.image = found->image,
                              .cmdline = found->cmdline,
                              .environment = block,
                              .cwd = cwd,
                              .desktop = l->desktop ? l->desktop_name : NULL,
                              .token = l->token,
                              .job = l->job,
                              .stdio = l->stdio.child,
                              .console =
                                  l->shares_console ? SPAWN_INHERITED_CONSOLE : SPAWN_OWN_CONSOLE,
                              .pseudo = l->console.pseudo,
                              .on_console = l->on_console};
    struct injected wire;
    HANDLE first, thread, own;
    auto_buf struct buf image = {0};
    utf_from16(&image, (const uint16_t *)found->image, wcslen(found->image));
    l->broker.first = true;
    int rc = spawn(l, &plan, &first, &thread, f);
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
        how->event(how->run, &(struct audit_event){.type = AUDIT_SPAWN,
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
