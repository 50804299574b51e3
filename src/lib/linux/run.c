/* Running a command on Linux: guard, spawn, serve, audit, summary. */
#include "lib/run.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "audit/audit.h"
#include "broker/linux/broker.h"
#include "launch/disk.h"
#include "launch/linux/spawn.h"
#include "lib/linux/environment.h"
#include "lib/linux/temp.h"

struct run {
    struct audit *audit;
    struct summary *summary;
    int audit_file;
};

static uint64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static int write_line(void *context, struct str line)
{
    const struct run *run = context;
    if (run->audit_file < 0)
        return 0;
    ssize_t n = write(run->audit_file, line.p, line.n);
    return n == (ssize_t)line.n ? 0 : CORDON_E_WRITE;
}

static void take_event(void *context, const struct audit_event *event)
{
    struct run *run = context;
    audit_add(run->audit, event);
    summary_add(run->summary, event);
}

static void tick(void *context)
{
    const struct run *run = context;
    audit_tick(run->audit, now_ms());
}

void run_describe(struct buf *out)
{
    buf_fmt(out, "kernel (Landlock ABI %d)", confine_landlock_abi());
}

/* What cannot be held here is refused: nothing runs less confined than asked. */
static const char *unsupported(const struct policy_settings *s)
{
    if (s->mode == POLICY_FULL_ACCESS)
        return "--mode full-access is not built yet for run";
    if (s->net == POLICY_NET_PROXY || s->net == POLICY_NET_ALLOW)
        return "--net=proxy and --net=allow are not built yet; use off, loopback or on";
    if (s->deny_read.count)
        return "--deny-read is not built yet for run";
    if (s->limits.processes || s->limits.memory)
        return "--max-procs and --max-memory are not built yet";
    return NULL;
}

void run_finish(struct cordon_policy *p, struct run_result *result)
{
    const struct policy_settings *s = &p->settings.policy;
    if (s->temp == POLICY_TEMP_PRIVATE && s->temp_path.n)
        result->temp_had_files = temp_remove(s->temp_path.p);
}

int run_prepare(struct cordon_policy *p, const struct run_options *o)
{
    p->settings.make_temp = temp_make;
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self);
    int rc = n > 0 ? settings_protect(&p->settings, (struct str){self, (size_t)n}) : 0;
    if (rc == 0 && o->audit)
        rc = settings_protect(&p->settings, str_of(o->audit));
    return rc ? handle_fail(p, rc, cordon_strerror(rc)) : 0;
}

/* The program as exec will find it: a path as it is, a name along PATH. */
static bool find_program(const char *name, char *out, size_t capacity)
{
    if (strchr(name, '/'))
        return snprintf(out, capacity, "%s", name) < (int)capacity && access(out, F_OK) == 0;
    const char *path = getenv("PATH");
    for (const char *p = path ? path : "/usr/local/bin:/usr/bin:/bin"; *p;) {
        size_t n = strcspn(p, ":");
        struct stat st;
        if (n && snprintf(out, capacity, "%.*s/%s", (int)n, p, name) < (int)capacity &&
            access(out, X_OK) == 0 && stat(out, &st) == 0 && S_ISREG(st.st_mode))
            return true;
        p += n + (p[n] == ':');
    }
    return false;
}

static void refuse(struct run *run, struct run_result *result, struct str rule, struct str why,
                   struct str fix, struct str target)
{
    take_event(run, &(struct audit_event){.type = AUDIT_DENY,
                                          .op = AUDIT_GUARD,
                                          .time = now_ms(),
                                          .target = target,
                                          .rule = rule,
                                          .why = why,
                                          .fix = fix});
    result->reason = "refused";
    result->exit = 126;
}

/* True if the guard lets the command start. */
static bool guard_passes(struct cordon_policy *p, const struct run_options *o, struct run *run,
                         struct run_result *result)
{
    auto_arena struct arena arena = {0};
    struct str *argv = ARENA_ARRAY(&arena, o->argc, struct str);
    struct guard_answer answer;
    for (size_t i = 0; argv && i < o->argc; i++)
        argv[i] = str_of(o->argv[i]);
    struct guard_question q = {
        .argv = argv, .argc = o->argc, .policy = p->policy, .cwd = p->settings.cwd};
    if (!argv || guard_check(p->guard, &q, &answer)) {
        refuse(run, result, STR("opaque.limit"), STR("out of memory"), STR_NONE, STR("command"));
        return false;
    }
    bool strict = policy_settings_of(p->policy)->strict;
    if (answer.verdict == CORDON_ALLOW || (answer.verdict == CORDON_ASK && !strict))
        return true;
    for (size_t i = 0; i < answer.finding_count; i++)
        if (answer.findings[i].verdict == answer.verdict) {
            const struct guard_finding *f = &answer.findings[i];
            refuse(run, result, guard_rules[f->rule].id, f->why, f->fix, answer.text);
            return false;
        }
    return false;
}

static volatile int control_of_handler = -1;

/* Asked to end: the reaper sees the end of its control and ends the tree. */
static void on_end(int signal)
{
    (void)signal;
    shutdown(control_of_handler, SHUT_WR);
}

static void wait_for_status(const struct spawn *s, struct run_result *result)
{
    int status;
    struct pollfd watch = {s->control, POLLIN, 0};
    while (poll(&watch, 1, -1) < 0 && errno == EINTR)
        ;
    if (!spawn_status(s, &status)) {
        result->reason = "failed";
        result->exit = 125;
    } else if (WIFSIGNALED(status)) {
        result->reason = "signal";
        result->exit = 128 + (uint32_t)WTERMSIG(status);
    } else {
        result->reason = "exited";
        result->exit = (uint32_t)WEXITSTATUS(status);
    }
}

static int serve(struct cordon_policy *p, struct run *run, struct spawn *s,
                 struct run_result *result)
{
    const struct policy_settings *settings = policy_settings_of(p->policy);
    struct broker broker = {.policy = p->policy,
                            .guard = p->guard,
                            .listener = s->listener,
                            .landlock_abi = confine_landlock_abi(),
                            .reaper = s->reaper,
                            .event = take_event,
                            .context = run,
                            .now = now_ms};
    bool timed_out;
    struct sigaction end = {.sa_handler = on_end}, ignore = {.sa_handler = SIG_IGN};
    control_of_handler = s->control;
    sigaction(SIGTERM, &end, NULL);
    sigaction(SIGHUP, &end, NULL);
    sigaction(SIGINT, &ignore, NULL); /* the command has it from the terminal too */
    sigaction(SIGQUIT, &ignore, NULL);
    int rc = broker_serve(&broker, s->control, (int)settings->limits.timeout_ms, tick, &timed_out);
    if (timed_out) {
        result->reason = "timeout";
        result->exit = 124;
    } else {
        wait_for_status(s, result);
    }
    spawn_end(s);
    broker_free(&broker);
    return rc;
}

static void start_event(const struct cordon_policy *p, struct run *run, struct run_result *result)
{
    static const char *const modes[] = {"read-only", "workspace-write", "full-access"};
    static const char *const nets[] = {"off", "loopback", "proxy", "allow", "on"};
    const struct policy_settings *s = policy_settings_of(p->policy);
    struct str roots[64];
    size_t count = s->roots.count < 64 ? s->roots.count : 64;
    for (size_t i = 0; i < count; i++)
        roots[i] = s->roots.items[i].path;
    take_event(run, &(struct audit_event){.type = AUDIT_START,
                                          .time = now_ms(),
                                          .version = str_of(cordon_version()),
                                          .mode = str_of(modes[s->mode]),
                                          .roots = roots,
                                          .root_count = count,
                                          .net = str_of(nets[s->net]),
                                          .git = s->git == POLICY_GIT_COMMIT ? STR("commit")
                                                                             : STR("protect"),
                                          .boundary = str_of(result->boundary),
                                          .boundary_detail = str_of(result->boundary_detail)});
}

static int start_and_serve(struct cordon_policy *p, const struct run_options *o, struct run *run,
                           struct run_result *result)
{
    auto_arena struct arena arena = {0};
    const struct policy_settings *settings = policy_settings_of(p->policy);
    char program[4096], message[256];
    if (!guard_passes(p, o, run, result))
        return 0;
    if (!find_program(o->argv[0], program, sizeof program)) {
        result->reason = "failed";
        result->exit = 127;
        snprintf(message, sizeof message, "%s: there is no such program", o->argv[0]);
        return handle_fail(p, CORDON_E_NOTFOUND, message);
    }
    struct str cwd = arena_copy(&arena, p->settings.cwd);
    struct spawn_plan plan = {
        .program = program,
        .argv = o->argv,
        .environ = environment_make(&arena, settings, o->unset, o->unset_count),
        .cwd = cwd.p,
        .confine = {.landlock_abi = confine_landlock_abi(), .tcp_off = false}};
    struct spawn s;
    if (!plan.environ || !cwd.p)
        return handle_fail(p, CORDON_E_NOMEM, "out of memory");
    int rc = spawn_start(&plan, &s, message, sizeof message);
    if (rc)
        return handle_fail(p, rc, message);
    return serve(p, run, &s, result);
}

static int open_audit(struct cordon_policy *p, const struct run_options *o, struct run *run)
{
    char id[33] = "", text[1200];
    unsigned char random[16] = {0};
    FILE *f = fopen("/dev/urandom", "re");
    bool got = f && fread(random, 1, sizeof random, f) == sizeof random;
    if (f)
        fclose(f);
    for (size_t i = 0; got && i < sizeof random; i++)
        snprintf(id + 2 * i, 3, "%02x", random[i]);
    if (o->audit) {
        run->audit_file =
            open(o->audit, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0600);
        if (run->audit_file < 0) {
            snprintf(text, sizeof text, "--audit %s: %s", o->audit, strerror(errno));
            return handle_fail(p, CORDON_E_OPEN, text);
        }
    }
    struct audit_options options = {write_line, run, str_of(id), o->audit_all, o->audit_raw};
    return audit_new(&options, &run->audit) ? handle_fail(p, CORDON_E_NOMEM, "out of memory") : 0;
}

int run_confined(struct cordon_policy *p, const struct run_options *o, struct run_result *result)
{
    struct run run = {.summary = &result->summary, .audit_file = -1};
    uint64_t begin = now_ms();
    int rc = handle_prepare(p, STR_NONE);
    if (rc)
        return rc;
    if (p->settings.foreign)
        return handle_fail(p, CORDON_E_VALUE,
                           "the roots are Windows paths; name folders of this system");
    const char *missing = unsupported(policy_settings_of(p->policy));
    if (missing)
        return handle_fail(p, CORDON_E_CONFINE, missing);
    rc = open_audit(p, o, &run);
    if (rc == 0) {
        result->reason = "failed";
        result->exit = 125;
        result->boundary = "kernel";
        snprintf(result->boundary_detail, sizeof result->boundary_detail, "Landlock ABI %d",
                 confine_landlock_abi());
        start_event(p, &run, result);
        rc = start_and_serve(p, o, &run, result);
        result->duration_ms = now_ms() - begin;
        audit_end(run.audit, &(struct audit_event){.type = AUDIT_END,
                                                   .time = now_ms(),
                                                   .code = result->exit,
                                                   .duration_ms = result->duration_ms});
        result->audit_failure = audit_failure(run.audit);
    }
    audit_free(run.audit);
    if (run.audit_file >= 0)
        close(run.audit_file);
    return rc;
}
