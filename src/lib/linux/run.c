/* Running a command on Linux: spawn and serve. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "broker/linux/broker.h"
#include "launch/linux/spawn.h"
#include "lib/environment.h"
#include "lib/system.h"

extern char **environ;

uint64_t system_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

bool system_random(void *out, size_t count)
{
    return getrandom(out, count, 0) == (ssize_t)count;
}

intptr_t system_append_open(const char *path, char *why, size_t capacity)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0600);
    if (fd < 0)
        snprintf(why, capacity, "%s", strerror(errno));
    return fd < 0 ? SYSTEM_NO_FILE : fd;
}

bool system_append(intptr_t file, struct str bytes)
{
    return write((int)file, bytes.p, bytes.n) == (ssize_t)bytes.n;
}

void system_append_close(intptr_t file)
{
    close((int)file);
}

bool system_own_path(struct buf *out)
{
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self);
    if (n > 0)
        buf_add(out, (struct str){self, (size_t)n});
    return n > 0 && !out->failed;
}

static void tick(void *context)
{
    const struct run *run = context;
    audit_tick(run->audit, system_now_ms());
}

const char *system_boundary(char *detail, size_t capacity)
{
    snprintf(detail, capacity, "Landlock ABI %d", confine_landlock_abi());
    return "kernel";
}

const char *system_lacks(const struct policy_settings *s)
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

static int serve(struct run *run, struct spawn *s)
{
    struct cordon_policy *p = run->policy;
    struct run_result *result = run->result;
    const struct policy_settings *settings = policy_settings_of(p->policy);
    struct broker broker = {.policy = p->policy,
                            .guard = p->guard,
                            .listener = s->listener,
                            .landlock_abi = confine_landlock_abi(),
                            .reaper = s->reaper,
                            .event = run_event,
                            .context = run,
                            .now = system_now_ms};
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

int system_run(struct run *run)
{
    auto_arena struct arena arena = {0};
    struct cordon_policy *p = run->policy;
    const struct run_options *o = run->options;
    const struct policy_settings *settings = policy_settings_of(p->policy);
    char program[4096], message[256];
    struct str *argv = ARENA_ARRAY(&arena, o->argc, struct str);
    struct str cwd = arena_copy(&arena, p->settings.cwd);
    struct environment_plan variables = {(const char *const *)environ, o->unset, o->unset_count,
                                         false};
    struct spawn_plan plan = {
        .program = program,
        .stdio = o->stdio,
        .argv = o->argv,
        .environ = environment_make(&arena, settings, &variables),
        .cwd = cwd.p,
        .confine = {.landlock_abi = confine_landlock_abi(), .tcp_off = false}};
    struct spawn s;
    if (!argv || !plan.environ || !cwd.p)
        return handle_fail(p, CORDON_E_NOMEM, "out of memory");
    for (size_t i = 0; i < o->argc; i++)
        argv[i] = str_of(o->argv[i]);
    if (!run_guard(run, &(struct guard_question){.argv = argv, .argc = o->argc}))
        return 0;
    if (!find_program(o->argv[0], program, sizeof program))
        return run_not_found(run, o->argv[0]);
    int rc = spawn_start(&plan, &s, message, sizeof message);
    if (rc)
        return handle_fail(p, rc, message);
    return serve(run, &s);
}
