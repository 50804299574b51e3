/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A rung of the ladder is tried by starting this very program on it, which does what real programs
 * do at their start (cli/windows/probe.c).
 */
#include "wire/windows/nt.h"

#include "lib/windows/launch.h"

#include <stdio.h>

#include "base/utf.h"
#include "launch/environment.h"
#include "launch/windows/block.h"
#include "launch/windows/ladder.h"
#include "launch/windows/second.h"
#include "launch/windows/wide.h"

enum { PATIENCE_MS = 20000, LONGEST_LINE = 400 };

struct ladder_rung launch_rung(const struct run *run)
{
    return ladder_unpack(run->rung);
}

static void ignore(void *context, const struct audit_event *event)
{
    (void)context, (void)event;
}

/* The probe's last words, from its output file. */
static void read_said(HANDLE file, struct buf *said)
{
    char text[LONGEST_LINE];
    DWORD n = 0;
    SetFilePointer(file, 0, NULL, FILE_BEGIN);
    if (ReadFile(file, text, sizeof text, &n, NULL))
        while (n && (text[n - 1] == '\n' || text[n - 1] == '\r'))
            n--;
    buf_add(said, (struct str){text, n});
}

static bool command_of(struct run *run, struct arena *arena, struct lookup *found)
{
    auto_buf struct buf self = {0}, line = {0};
    wchar_t system[MAX_PATH + 1];
    *found = (struct lookup){0};
    if (run->options->probes && machine_own_path(&self)) {
        buf_fmt(&line, "\"%.*s\" start-probe", STR_ARG(buf_str(&self)));
    } else {
        /* Inside another program: starting that one again is no probe. */
        UINT n = GetSystemDirectoryW(system, MAX_PATH);
        utf_from16(&self, (const uint16_t *)system, n < MAX_PATH ? n : 0);
        buf_add(&self, STR("\\cmd.exe"));
        buf_fmt(&line, "\"%.*s\" /d /c exit", STR_ARG(buf_str(&self)));
    }
    found->image = wide_of(arena, buf_str(&self));
    found->cmdline = wide_of(arena, buf_str(&line));
    return !self.failed && !line.failed && found->image && found->cmdline;
}

/* The console is inherited from a second process, so the probe is started there. */
static enum ladder_result try_second(struct run *run, const struct ladder_rung *rung,
                                     HANDLE nothing, HANDLE output, struct buf *said)
{
    const struct run_options *o = run->options;
    struct launch_failure failure = {{0}};
    struct second_plan plan = {.rung = rung,
                               .arguments = o->medium_integrity ? L"start-probe try medium"
                                                                : L"start-probe try",
                               .stdio = (const HANDLE[]){nothing, output, nothing},
                               .patience_ms = 2 * PATIENCE_MS,
                               .cancelled = &run->cancelled};
    DWORD code = LADDER_FAILS;
    if (!o->probes || o->ask_terminal || second_is_here(NULL)) {
        buf_add(said, !o->probes ? STR("only cordon.exe can share a hidden console")
                                 : STR("questions need the caller's console"));
        return LADDER_FAILS;
    }
    if (second_run(&plan, &code, &failure)) {
        buf_fmt(said, "%s", failure.text);
        return LADDER_FAILS;
    }
    read_said(output, said);
    return code == STILL_ACTIVE   ? LADDER_HANGS
           : code <= LADDER_HANGS ? (enum ladder_result)code
                                  : LADDER_FAILS;
}

struct cordon_policy *launch_probe_policy(void)
{
    struct cordon_policy *p;
    if (cordon_policy_new(&p))
        return NULL;
    if (cordon_policy_set(p, "mode", "read-only") == 0 &&
        cordon_policy_set(p, "allow-broad-root", NULL) == 0 && api_prepare(p, STR_NONE) == 0)
        return p;
    cordon_policy_free(p);
    return NULL;
}

enum ladder_result launch_try(struct run *run, const struct ladder_rung *rung, struct buf *said)
{
    auto_arena struct arena arena = {0};
    auto_launch struct launch *l = calloc(1, sizeof *l);
    struct launch_failure failure = {{0}};
    struct launch_plan plan = {.run = run, .rung = *rung, .event = ignore};
    struct lookup found;
    struct environment_plan variables = {.inherited = block_read(&arena), .ignore_case = true};
    wchar_t folder[MAX_PATH + 1], name[MAX_PATH + 1], *block = NULL;
    enum ladder_result result = LADDER_FAILS;
    HANDLE process;
    if (!l || !GetTempPathW(MAX_PATH, folder) || !GetTempFileNameW(folder, L"crd", 0, name))
        return LADDER_HANGS;
    HANDLE output = CreateFileW(name, GENERIC_READ | GENERIC_WRITE, SHARE_ALL, NULL, CREATE_ALWAYS,
                                FILE_FLAG_DELETE_ON_CLOSE, NULL);
    HANDLE nothing = CreateFileW(L"NUL", GENERIC_READ, SHARE_ALL, NULL, OPEN_EXISTING, 0, NULL);
    plan.stdio = (const HANDLE[]){nothing, output, output};
    if (rung->level[LADDER_CONSOLE] == LADDER_INHERITED && !second_is_here(NULL)) {
        result = try_second(run, rung, nothing, output, said);
        CloseHandle(nothing);
        CloseHandle(output);
        return result;
    }
    int rc = launch_prepare(&plan, l, &failure);
    const char *const *environment =
        environment_make(&arena, policy_settings_of(run->policy->policy), &variables);
    if (rc == 0 && (!environment || block_make(&arena, environment, &block) ||
                    !command_of(run, &arena, &found)))
        rc = launch_fail_words(&failure, "out of memory");
    if (rc == 0)
        rc = launch_start(&plan, l, &found, block, folder, &process, &failure);
    if (rc) {
        buf_fmt(said, "%s", failure.text);
    } else {
        DWORD code = 1;
        HANDLE events[] = {process, l->end};
        DWORD got = WaitForMultipleObjects(2, events, FALSE, PATIENCE_MS);
        bool ended = got == WAIT_OBJECT_0;
        run->cancelled = got == WAIT_OBJECT_0 + 1;
        GetExitCodeProcess(process, &code);
        CloseHandle(process);
        result = !ended ? LADDER_HANGS : code == 0 ? LADDER_STARTS : LADDER_FAILS;
        read_said(output, said);
        if (result == LADDER_FAILS && !said->n)
            buf_fmt(said, "exit code 0x%lx", (unsigned long)code);
        if (result == LADDER_HANGS && !run->cancelled)
            buf_add(said, STR("no end within 20 seconds"));
    }
    CloseHandle(nothing);
    CloseHandle(output);
    return result;
}

struct trial {
    struct run *run;
    struct buf said; /* by the top, the last time */
};

static enum ladder_result trial(void *context, const struct ladder_rung *rung)
{
    struct trial *t = context;
    auto_buf struct buf said = {0};
    if (t->run->cancelled)
        return LADDER_FAILS;
    enum ladder_result result = launch_try(t->run, rung, &said);
    if (ladder_is_top(rung)) {
        t->said.n = 0;
        buf_add(&t->said, buf_str(&said));
    }
    return result;
}

/* All of this run, in a second process. */
static int run_second(struct run *run, const struct ladder_rung *rung)
{
    struct launch_failure failure = {{0}};
    DWORD code = 125;
    if (second_run(&(struct second_plan){.rung = rung, .patience_ms = INFINITE}, &code, &failure))
        return api_fail(run->policy, CORDON_E_CONFINE, failure.text);
    run->result->elsewhere = true;
    run->result->reason = "exited";
    run->result->exit = code == STILL_ACTIVE ? 125 : code; /* waiting for it failed */
    return 0;
}

int system_choose(struct run *run)
{
    struct trial t = {.run = run};
    struct ladder_rung rung;
    char why[512];
    if (second_is_here(&rung)) {
        run->rung = ladder_pack(&rung);
        return 0;
    }
    bool found = ladder_settle(trial, &t, &rung);
    if (run->cancelled) {
        buf_free(&t.said);
        run->result->elsewhere = true; /* nothing has begun that the audit could tell of */
        run->result->reason = "signal";
        run->result->exit = 130;
        return 0;
    }
    if (found)
        run->rung = ladder_pack(&rung);
    else
        snprintf(why, sizeof why,
                 "no program can be started in the sandbox of this Windows: %.200s; cordon doctor "
                 "--ladder shows every way that was tried",
                 buf_cstr(&t.said));
    buf_free(&t.said);
    if (found && rung.level[LADDER_CONSOLE] == LADDER_INHERITED)
        return run_second(run, &rung);
    return found ? 0 : api_fail(run->policy, CORDON_E_CONFINE, why);
}
