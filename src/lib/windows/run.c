/* SPDX-License-Identifier: Apache-2.0 */
/* Running a command on Windows: token, job, desktop, agent, broker. */
#include <stdio.h>
#include <stdlib.h>

#include "audit/jsonl.h"
#include "guard/refusal.h"
#include "launch/disk.h"
#include "launch/environment.h"
#include "launch/windows/block.h"
#include "launch/windows/boundary.h"
#include "launch/windows/version.h"
#include "launch/windows/wide.h"
#include "launch/windows/wine.h"
#include "lib/undo.h"
#include "lib/windows/launch.h"
#include "undo/store.h"

/* ---- what git obeys, found when a change is judged first ---- */

static SRWLOCK finding = SRWLOCK_INIT;

/* A look into every root and into the folders in it, for which a command that changes nothing does not wait. The
   tree cannot have changed anything before: this is asked before its first change is made. */
static const struct policy *find_whole(void *context)
{
    struct cordon_policy *p = context;
    AcquireSRWLockExclusive(&finding);
    if (!p->whole && !p->whole_failed)
        p->whole_failed = settings_complete(&p->settings, &p->whole);
    const struct policy *whole = p->whole;
    ReleaseSRWLockExclusive(&finding);
    return whole;
}

static bool whole_is_missing(struct cordon_policy *p)
{
    AcquireSRWLockShared(&finding);
    bool failed = p->whole_failed != 0;
    ReleaseSRWLockShared(&finding);
    return failed;
}

/* Journals hold what files held: no tree may read or write any of them. */
int system_prepare(struct cordon_policy *p, const struct run_options *o)
{
    char path[UNDO_LONGEST_PATH], why[512];
    /* The policy of questions to somebody is made of the run's, before it runs. */
    p->settings.policy.git_later =
        !p->policy && !o->tells_policy && !o->ask && !o->ask_pipe && !o->ask_terminal;
    if (o->undo && !store_path(true, path, sizeof path, why, sizeof why))
        return api_fail(p, CORDON_E_OPEN, why);
    /* Closed before there are any: a tree must not make the folder and fill it. */
    if (!o->undo && !store_path(false, path, sizeof path, why, sizeof why) &&
        !store_name(path, sizeof path))
        return 0;
    struct settings *s = &p->settings;
    struct disk_facts facts;
    struct str store = arena_copy(&s->arena, str_of(path));
    /* Looked up once for both lists. */
    bool found = store.p && disk_look(&s->arena, store, &facts) == 0;
    struct policy_entry entry = {
        .given = store, .path = found ? facts.final : STR_NONE, .from = STR("cordon")};
    int rc = !store.p ? CORDON_E_NOMEM : policy_list_add(&s->arena, &s->policy.self, entry);
    if (rc == 0)
        rc = policy_list_add(&s->arena, &s->policy.deny_read, entry);
    return rc ? api_fail(p, rc, cordon_strerror(rc)) : 0;
}

bool system_is_inside(void)
{
    return false; /* there the folder of journals cannot be opened */
}

void system_finish(struct cordon_policy *p)
{
    (void)p;
}

const char *system_boundary(struct run *run, char *detail, size_t capacity)
{
    struct launch_failure failure;
    struct boundary tried = {0};
    struct launch_token made = {0};
    struct ladder_rung rung = run ? launch_rung(run) : (struct ladder_rung){{0}};
    struct run_options none = {0};
    struct run nobody = {.options = &none};
    auto_buf struct buf weaker = {0};
    if (launch_make_token(run ? run : &nobody, &rung, &made, &failure) == 0) {
        boundary_try(made.token, &tried);
        if (run && run->system)
            *(struct launch_token *)run->system = made;
        else
            CloseHandle(made.token);
    }
    ladder_words(&rung, &weaker);
    if (boundary_is_kernel(&tried)) {
        snprintf(detail, capacity, "the token of the run%s%s", weaker.n ? "; " : "",
                 buf_cstr(&weaker));
        return "kernel";
    }
    snprintf(detail, capacity, "the token holds: files %s, delete %s, processes %s",
             tried.files ? "yes" : "no", tried.deletes ? "yes" : "no",
             tried.processes ? "yes" : "no");
    return "interposed";
}

int system_apart(struct run *run, int (*work)(struct run *run))
{
    struct launch_token tried = {0};
    struct cordon_policy *p = run->policy;
    run->system = &tried;
    policy_find_later(p->policy, find_whole, p);
    int rc = work(run);
    if (rc == 0 && whole_is_missing(p))
        rc = api_fail(p, p->whole_failed, buf_cstr(&p->settings.error));
    run->system = NULL;
    if (tried.token)
        CloseHandle(tried.token);
    return rc;
}

/* A program that died before it could say why. */
static const char *start_failure_words(uint32_t code)
{
    static const struct {
        uint32_t code;
        const char *words;
    } known[] = {
        {0xC0000142,
         "the program could not start: one of its DLLs was refused its console, desktop or "
         "cryptography (STATUS_DLL_INIT_FAILED); cordon doctor --ladder shows what this "
         "Windows allows, and in session 0 (ssh, services) programs with windows cannot run"},
        {0xC0000022,
         "the program could not start: Windows refused it something at its start "
         "(STATUS_ACCESS_DENIED); cordon doctor --ladder shows what this Windows allows"},
        {0xC0000135, "the program could not start: one of its DLLs was not found "
                     "(STATUS_DLL_NOT_FOUND); does it start without cordon?"},
        {0xC000007B,
         "the program could not start: it, or one of its DLLs, is for another processor "
         "(STATUS_INVALID_IMAGE_FORMAT)"},
        {0xE0434352,
         "the program ended with an unhandled .NET exception; if it ended at once, run it "
         "with --audit and look at what was denied"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].code == code)
            return known[i].words;
    return NULL;
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
        if (got != WAIT_TIMEOUT || whole_is_missing(run->policy))
            return;
        if (limit && machine_now_ms() - begin >= limit) {
            run->result->reason = "timeout";
            run->result->exit = 124;
            return;
        }
        EnterCriticalSection(&l->broker.lock);
        audit_tick(run->audit, machine_now_ms());
        broker_tend(&l->broker);
        LeaveCriticalSection(&l->broker.lock);
    }
}

/* The first program, as tool rules judge it. */
static struct policy_program first_program(const struct run *run, struct arena *arena,
                                           const struct lookup *found)
{
    const wchar_t *file = found->script ? found->script : found->image;
    struct str path = wide_narrow(arena, file, wcslen(file));
    return (struct policy_program){.name = str_of(run->options->argv[0]),
                                   .path = {.class = PATH_FILE, .text = path, .base = path},
                                   .original = version_original_name(arena, path),
                                   .seen = true};
}

/* True if a tool rule refuses the first program: reported, 126. */
static bool tool_refused(struct run *run, struct arena *arena, const struct lookup *found)
{
    struct policy_program program = first_program(run, arena, found);
    return run_refuse_tool(run, &program);
}

static bool stays(void *context)
{
    (void)context;
    return false;
}

/* What the broker asks about every other program when it starts. */
static bool first_refused(struct run *run, struct asker *asker, struct arena *arena,
                          const struct lookup *found, struct guard_question *command)
{
    struct policy_program program = first_program(run, arena, found);
    const struct policy *policy = run->policy->policy;
    struct policy_answer tool = {0};
    struct guard_answer guard = {0};
    auto_buf struct buf why = {0}, fix = {0}, target = {0}, shown = {0};
    struct str words = wide_narrow(arena, found->cmdline, wcslen(found->cmdline));
    audit_mask(&shown, words);
    policy_tool_decide(policy, &program, &tool);
    if (tool.verdict != CORDON_ALLOW) {
        policy_tool_explain(policy, &program, &tool, &why, &fix);
        struct str rule = str_of(policy_rule_id(tool.rule));
        if (!ask_can_lift(ASK_TOOL, tool.rule) ||
            !desk_ask(asker_desk(asker),
                      &(struct ask_subject){.kind = ASK_TOOL,
                                            .op = AUDIT_PROCESS_START,
                                            .target = program.path.text,
                                            .command = buf_str(&shown),
                                            .name = rule,
                                            .rule = rule,
                                            .why = buf_str(&why),
                                            .fix = buf_str(&fix)},
                      stays, NULL))
            return run_refuse_tool(run, &program);
    }
    buf_reset(&fix);
    if (!run_judge(run, command, &guard))
        return true;
    if (guard.verdict != CORDON_ASK)
        return false; /* what is denied, run_guard has refused */
    const struct guard_finding *f = guard_refusal(&guard, policy, &target, &fix);
    if (!f || f->rule == GUARD_DESTROY_OUTSIDE ||
        desk_ask(asker_desk(asker),
                 &(struct ask_subject){.kind = ASK_COMMAND,
                                       .op = AUDIT_GUARD,
                                       .target = buf_str(&target),
                                       .command = buf_str(&shown),
                                       .name = words,
                                       .rule = f->id,
                                       .why = f->why,
                                       .fix = buf_str(&fix)},
                 stays, NULL))
        return false;
    run_refuse(run, f->id, f->why, buf_str(&fix), buf_str(&target));
    return true;
}

static bool is_on_drive(char drive, struct str path)
{
    return drive && path.n > 1 && path.p[1] == ':' && (path.p[0] & ~0x20) == drive;
}

/* The command could not even read its folder there. */
static bool lies_on_unix_drive(const struct cordon_policy *p)
{
    const struct policy_settings *s = policy_settings_of(p->policy);
    char drive = wine_unix_drive();
    bool found = is_on_drive(drive, p->settings.cwd);
    for (size_t i = 0; i < s->roots.count; i++)
        found = found || is_on_drive(drive, s->roots.items[i].path);
    return found && s->mode != POLICY_FULL_ACCESS;
}

/* Where a lookup is not seen, tools are told instead of let try. */
static const char *const told[] = {"npm_config_offline=true", "PIP_NO_INDEX=1", NULL};

/* Machines and folders on which nothing is started. */
static int refuse_place(struct run *run)
{
    if (lies_on_unix_drive(run->policy))
        return api_fail(
            run->policy, CORDON_E_REFUSED,
            "Wine's drive Z: is the Unix file system, which is closed; run from a folder "
            "on C:, or use the native cordon");
    if (token_is_elevated() && !run->options->allow_elevated && !wine_is_always_elevated())
        return api_fail(run->policy, CORDON_E_REFUSED,
                        "this console is elevated, and the command would be too; use one that is "
                        "not, or --allow-elevated");
    return 0;
}

/* A command that was judged by its words, and the program that it names. */
struct first_command {
    struct arena *arena;
    struct str *argv;
    struct lookup found;
};

static struct guard_question question_of(const struct run *run, const struct first_command *c)
{
    return (struct guard_question){.argv = c->argv, .argc = run->options->argc};
}

/* Starts it with the launch that is prepared, and waits for its end. */
static int start_command(struct run *run, struct launch_plan *plan, struct launch *launch,
                         const struct first_command *c, struct launch_failure *failure)
{
    const struct run_options *o = run->options;
    const struct policy_settings *s = policy_settings_of(run->policy->policy);
    wchar_t *block = NULL, *cwd = wide_of(c->arena, run->policy->settings.cwd);
    HANDLE process;
    struct environment_plan variables = {.inherited = block_read(c->arena),
                                         .unset = o->unset,
                                         .unset_count = o->unset_count,
                                         .ignore_case = true,
                                         .offline = told,
                                         .tools = &run->policy->settings.variables,
                                         .set = o->set,
                                         .set_count = o->set_count,
                                         .proxy = launch->proxy_url[0] ? launch->proxy_url : NULL};
    struct guard_question question = question_of(run, c);
    /* In the path, a stub would answer in place of whoever is asked. */
    if (!launch->asker)
        variables.stubs = launch->stubs.folder;
    else if (first_refused(run, launch->asker, c->arena, &c->found, &question))
        return 0;
    const char *const *environment =
        variables.inherited ? environment_make(c->arena, s, &variables) : NULL;
    if (!cwd || !environment || block_make(c->arena, environment, &block))
        return launch_fail_words(failure, "cannot make the environment: out of memory");
    int rc = launch_start(plan, launch, &c->found, block, cwd, &process, failure);
    if (rc)
        return rc;
    stdio_started(&launch->stdio);
    wait_for(run, launch, process);
    CloseHandle(process);
    return 0;
}

static int run_command(struct run *run, const struct first_command *c)
{
    struct cordon_policy *p = run->policy;
    struct launch_failure failure = {{0}};
    struct launch_plan plan = {
        .run = run, .event = run_event, .rung = launch_rung(run), .asks = true};
    bool confined = policy_settings_of(p->policy)->mode != POLICY_FULL_ACCESS;
    auto_launch struct launch *launch = calloc(1, sizeof *launch);
    if (!launch)
        return api_fail(p, CORDON_E_NOMEM, "out of memory");
    int rc = run->options->undo ? run_undo_begin(run, confined, false, c->arena, &plan.undo) : 0;
    if (rc)
        return rc;
    if (confined)
        stubs_make(&launch->stubs, c->arena, p->policy);
    rc = launch_prepare(&plan, launch, &failure);
    launch_name_stub(launch);
    if (rc == 0)
        rc = start_command(run, &plan, launch, c, &failure);
    bool in_job = launch->in_job;
    bool settled = launch_close(launch);
    if (settled)
        free(launch);
    launch = NULL;
    /* A thread that still waits for the system could write to the journal: then its lock lasts as
       long as this process. */
    if (plan.undo && settled)
        run_undo_finish(run, plan.undo);
    if (rc)
        return api_fail(p, rc, failure.text);
    if (strcmp(run->result->reason, "exited") == 0)
        run->result->note = start_failure_words(run->result->exit);
    if (in_job)
        run->result->lost = "the job's window limits (Cordon runs inside a job)";
    return 0;
}

int system_run(struct run *run)
{
    auto_arena struct arena arena = {0};
    auto_buf struct buf error = {0};
    struct cordon_policy *p = run->policy;
    const struct run_options *o = run->options;
    struct str path = STR_NONE, extensions = STR_NONE;
    struct first_command c = {.arena = &arena, .argv = ARENA_ARRAY(&arena, o->argc, struct str)};
    if (!c.argv)
        return api_fail(p, CORDON_E_NOMEM, "out of memory");
    for (size_t i = 0; i < o->argc; i++)
        c.argv[i] = str_of(o->argv[i]);
    struct guard_question question = question_of(run, &c);
    if (!run_guard(run, &question))
        return 0;
    disk_variable(&arena, STR("PATH"), &path);
    disk_variable(&arena, STR("PATHEXT"), &extensions);
    int rc = lookup_program(&arena, o->argv, o->argc, str_of(o->raw), p->settings.cwd, path.p,
                            extensions.p, &c.found, &error);
    if (rc == CORDON_E_NOTFOUND)
        return run_not_found(run, o->argv[0]);
    if (rc)
        return api_fail(p, rc, buf_cstr(&error));
    if (!(o->ask || o->ask_pipe || o->ask_terminal) && tool_refused(run, &arena, &c.found))
        return 0;
    rc = refuse_place(run);
    return rc ? rc : run_command(run, &c);
}
