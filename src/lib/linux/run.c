/* SPDX-License-Identifier: Apache-2.0 */
/* Running a command on Linux: spawn and serve. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "broker/linux/broker.h"
#include "broker/linux/proxy_serve.h"
#include "launch/environment.h"
#include "launch/linux/noise.h"
#include "launch/linux/signals.h"
#include "launch/linux/spawn.h"
#include "launch/linux/worker.h"
#include "launch/temp.h"
#include "lib/linux/ask.h"
#include "lib/linux/prepare.h"
#include "lib/undo.h"
#include "policy/narrow.h"
#include "undo/store.h"

extern char **environ;

/* The resources that a run holds. */
struct own {
    struct run *run;
    int (*work)(struct run *run);
    int rc;
    pthread_mutex_t events; /* the broker and the proxy's threads report to the same audit */
    struct signals_given signals;
};

static void run_here(void *context, const sigset_t *mask)
{
    struct own *own = context;
    own->signals.mask = *mask;
    own->rc = own->work(own->run);
}

int system_apart(struct run *run, int (*work)(struct run *run))
{
    struct own own = {.run = run, .work = work};
    pthread_mutex_init(&own.events, NULL);
    run->system = &own;
    int error =
        run->options->own_process ? worker_here(run_here, &own) : worker_run(run_here, &own);
    pthread_mutex_destroy(&own.events);
    return error ? api_fail(run->policy, CORDON_E_CONFINE, "cannot start a thread for the run")
                 : own.rc;
}

static void event(void *context, const struct audit_event *event)
{
    const struct run *run = context;
    struct own *own = run->system;
    struct audit_event copy = *event;
    /* Accesses that Wine tries at every start and can do without. */
    copy.quiet = copy.quiet || (run->policy->prepared->wine.argv && wine_is_harmless(event));
    noise_mark(&copy);
    pthread_mutex_lock(&own->events);
    run_event(context, &copy);
    pthread_mutex_unlock(&own->events);
}

static void began(void *context, const struct str *words, size_t count)
{
    struct run *run = context;
    struct own *own = run->system;
    pthread_mutex_lock(&own->events);
    run_program(run, words, count);
    pthread_mutex_unlock(&own->events);
}

static void denials(void *context, bool json, struct buf *out)
{
    struct run *run = context;
    struct own *own = run->system;
    pthread_mutex_lock(&own->events);
    if (json)
        summary_json(&run->result->summary,
                     &(struct summary_end){.reason = STR("running"),
                                           .boundary = str_of(run->result->boundary)},
                     out);
    else
        summary_lines(&run->result->summary, STR_NONE, true, out);
    pthread_mutex_unlock(&own->events);
}

static void tick(void *context)
{
    const struct run *run = context;
    struct own *own = run->system;
    pthread_mutex_lock(&own->events);
    audit_tick(run->audit, machine_now_ms());
    pthread_mutex_unlock(&own->events);
}

int system_choose(struct run *run)
{
    (void)run;
    return 0;
}

const char *system_boundary(struct run *run, char *detail, size_t capacity)
{
    (void)run;
    snprintf(detail, capacity, "Landlock ABI %d", confine_landlock_abi());
    return "kernel";
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

static bool is_program(const char *path)
{
    struct stat st;
    return access(path, X_OK) == 0 && stat(path, &st) == 0 && !S_ISDIR(st.st_mode);
}

/* How the command ended, in wait's encoding, goes to *status. */
static int wait_for_end(struct spawn *s, struct run *run, struct signals_run *signals, int *status)
{
    struct run_result *result = run->result;
    struct spawn_end end = {0};
    /* Calls that wait are not answered any more, and are refused only when the tree is dead: a
       program would go on after the refusal until it is killed. */
    bool ended = spawn_result(s, &end);
    spawn_refuse_calls(s);
    if (!ended || end.error)
        return api_fail(run->policy, CORDON_E_CONFINE,
                        "the reaper failed; the process tree was killed");
    if (end.timed_out) {
        result->reason = "timeout";
        result->exit = 124;
        end.status = SIGKILL;
    } else if (end.asked && atomic_load(&signals->ended)) {
        /* As if the signal had ended the command itself. */
        result->reason = "signal";
        result->exit = 128 + (uint32_t)atomic_load(&signals->ended);
        result->told_by = atomic_load(&signals->ended) == SIGHUP ? "SIGHUP" : "SIGTERM";
        end.status = SIGKILL;
    } else if (WIFSIGNALED(end.status)) {
        result->reason = "signal";
        result->exit = 128 + (uint32_t)WTERMSIG(end.status);
    } else {
        result->reason = "exited";
        result->exit = (uint32_t)WEXITSTATUS(end.status);
    }
    *status = end.status;
    return 0;
}

/* Where nothing serves the tree, the audit records its first program only. */
static void tell_of_command(struct broker *b, const struct spawn *s, const struct spawn_plan *plan)
{
    auto_arena struct arena arena = {0};
    char image[PATH_MAX];
    size_t count = 0;
    while (plan->argv[count])
        count++;
    struct str *words = ARENA_ARRAY(&arena, count, struct str);
    for (size_t i = 0; words && i < count; i++)
        words[i] = str_of(plan->argv[i]);
    process_began(b, s->command, 0, str_of(realpath(plan->program, image) ? image : plan->program),
                  words, words ? count : 0);
}

/* The only way out, where there is one: another proxy or our own. */
struct way_out {
    struct sockaddr_storage address;
    struct proxy_server *server; /* of --net=allow */
    char url[128];               /* empty: none */
    int record;                  /* what the session created in temp; -1: there is none */
    struct keep *undo;           /* the journal of --undo; NULL: none */
    struct asker *asker;         /* whoever is asked; NULL: nobody */
    dev_t terminal;              /* of the command, if it has one of its own; 0: it has not */
};

static int open_way_out(struct run *run, struct way_out *out)
{
    const struct policy_settings *s = policy_settings_of(run->policy->policy);
    char secret[PROXY_SECRET + 1], host[INET6_ADDRSTRLEN], name[PROXY_LONGEST_HOST + 1];
    unsigned char random[PROXY_SECRET / 2];
    struct policy_peer peer;
    /* With an empty list: names are asked for at the proxy. */
    bool asks = s->net == POLICY_NET_OFF && out->asker;
    if (s->net == POLICY_NET_ALLOW || asks) {
        if (!machine_random(random, sizeof random))
            return api_fail(run->policy, CORDON_E_CONFINE, "cannot read random bytes");
        for (size_t i = 0; i < sizeof random; i++)
            snprintf(secret + 2 * i, 3, "%02x", random[i]);
        out->server = proxy_open(run->policy->policy, str_of(secret));
        if (!out->server)
            return api_fail(run->policy, CORDON_E_CONFINE,
                            "cannot open the filtering proxy's socket");
        struct sockaddr_in *here = (void *)&out->address;
        *here =
            (struct sockaddr_in){AF_INET, htons(out->server->port), {htonl(INADDR_LOOPBACK)}, {0}};
        snprintf(out->url, sizeof out->url, "http://" PROXY_USER ":%s@127.0.0.1:%u", secret,
                 out->server->port);
    } else if (s->net == POLICY_NET_PROXY && policy_parse_peer(s->proxy, &peer) == 0) {
        /* No name can be resolved inside, so the address is looked up here, once. */
        snprintf(name, sizeof name, "%.*s", STR_ARG(peer.host));
        if (proxy_resolve(name, peer.port, &out->address, 1) == 0)
            return api_fail(run->policy, CORDON_E_CONFINE, "--net=proxy: host not found");
        bool six = out->address.ss_family == AF_INET6;
        inet_ntop(out->address.ss_family,
                  six ? (void *)&((struct sockaddr_in6 *)(void *)&out->address)->sin6_addr
                      : &((struct sockaddr_in *)(void *)&out->address)->sin_addr,
                  host, sizeof host);
        snprintf(out->url, sizeof out->url, six ? "http://[%s]:%u" : "http://%s:%u", host,
                 peer.port);
    }
    return 0;
}

static int serve(struct run *run, struct spawn *s, const struct spawn_plan *plan,
                 const struct way_out *way)
{
    struct cordon_policy *p = run->policy;
    /* Large, but most of it stays untouched, and untouched memory costs nothing. */
    struct broker *broker =
        mmap(NULL, sizeof *broker, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (broker == MAP_FAILED) {
        spawn_close(s);
        return api_fail(p, CORDON_E_NOMEM, "out of memory");
    }
    broker->policy = p->policy;
    broker->report_grants = run->options->audit_all;
    broker->guard = run->options->trusted ? NULL : p->guard;
    broker->listener = s->listener;
    broker->secrets = plan->confine.secrets;
    broker->granted = str_of(plan->confine.granted);
    broker->stubs = str_of(plan->stubs);
    broker->judges_reads = plan->confine.secrets->count > 0;
    broker->landlock_abi = plan->confine.landlock_abi;
    broker->command = s->command;
    broker->reaper = s->reaper;
    broker->event = event;
    broker->began = began;
    broker->denials = denials;
    broker->context = run;
    broker->now = machine_now_ms;
    broker->proxy = way->address;
    broker->own_proxy = way->server;
    broker->undo = way->undo;
    broker->asks.desk = asker_desk(way->asker);
    broker->terminal = way->terminal;
    const struct policy_settings *settings = policy_settings_of(p->policy);
    if (settings->temp == POLICY_TEMP_OWN)
        broker->temp.folder = settings->temp_path;
    broker->temp.own = settings->temp_own;
    broker->temp.record = way->record;
    own_temp_begin(broker);
    struct signals_run signals;
    signals_enter(&signals, s->control,
                  !run->options->own_process ? SIGNALS_HOST
                  : plan->timeout_ms         ? SIGNALS_OWN_TIMED
                                             : SIGNALS_OWN);
    int rc = way->asker ? asker_start(way->asker, s->command, event, run, machine_now_ms) : 0;
    if (rc == 0 && way->server)
        rc = proxy_start(way->server, asker_desk(way->asker), event, run, machine_now_ms);
    confine_lower_supervisor();
    if (run->options->audit || run->options->event)
        processes_open(&broker->processes);
    if (rc == 0 && s->listener >= 0)
        rc = broker_serve(broker, s->control, tick);
    else if (rc == 0)
        tell_of_command(broker, s, plan);
    int status = SIGKILL;
    if (rc == 0)
        rc = wait_for_end(s, run, &signals, &status);
    if (rc == 0) { /* the reaper meanwhile removes what it has to */
        run_remove_own_temp(p);
        own_temp_end(broker);
    }
    signals_leave(&signals);
    spawn_close(s);
    processes_close(broker, s->command, status);
    broker_free(broker);
    munmap(broker, sizeof *broker);
    return rc;
}

/* A temp folder of this run alone in which no rule denies anything: Landlock can grant all of
   it. */
static const char *granted_folder(struct arena *arena, const struct policy_settings *s)
{
    const struct policy_list *const lists[] = {&s->deny_write, &s->deny_read, &s->self,
                                               &s->roots,      &s->git_dirs,  &s->git_obeys};
    switch (s->temp) {
    case POLICY_TEMP_PRIVATE: break;
    case POLICY_TEMP_SHARED:
    case POLICY_TEMP_SESSION: /* holds what other runs left */
    case POLICY_TEMP_OWN: return NULL;
    }
    if (!s->temp_path.n || s->no_temp || s->mode != POLICY_WORKSPACE_WRITE)
        return NULL;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        for (size_t j = 0; j < lists[i]->count; j++)
            if (path_is_below(PATH_POSIX, s->temp_path, lists[i]->items[j].path) ||
                path_is_below(PATH_POSIX, lists[i]->items[j].path, s->temp_path))
                return NULL;
    return arena_copy(arena, s->temp_path).p;
}

/* A command ended by a limit is hard to understand without a message. */
static void report_limit(struct run *run, enum policy_rule rule, const char *what, const char *why,
                         const char *option)
{
    auto_buf struct buf fix = {0};
    buf_fmt(&fix, "use a higher %s", option);
    event(run, &(struct audit_event){.type = AUDIT_DENY,
                                     .op = AUDIT_PROCESS_START,
                                     .time = machine_now_ms(),
                                     .target = str_of(what),
                                     .rule = str_of(policy_rule_id(rule)),
                                     .why = str_of(why),
                                     .fix = buf_str(&fix)});
}

/*
 * A process can have one listener only, so inside another run of Cordon there is no second one. The
 * outer broker tells what it allows; if that is no more than is wanted here, its sandbox suffices.
 * *inside is false if there is none around.
 */
static int look_around(struct run *run, bool *inside)
{
    auto_buf struct buf outline = {0}, why = {0}, text = {0};
    int fd = run->policy->prepared->inside ? prepare_outer_policy() : -1;
    *inside = fd >= 0;
    if (fd < 0)
        return 0;
    for (ssize_t n = 1; n > 0;) {
        n = buf_reserve(&outline, 4096) ? read(fd, outline.p + outline.n, 4096) : -1;
        outline.n += n > 0 ? (size_t)n : 0;
    }
    close(fd);
    if (policy_is_narrow(buf_str(&outline), run->policy->policy, &why)) {
        snprintf(run->result->boundary_detail, sizeof run->result->boundary_detail,
                 "the run of Cordon around it");
        return 0;
    }
    buf_fmt(&text,
            "this runs inside another run of Cordon, which cannot be made narrower from within: %s",
            buf_cstr(&why));
    return api_fail(run->policy, CORDON_E_CONFINE, buf_cstr(&text));
}

/* True if a tool rule refuses the first program: reported, 126. */
static bool tool_refused(struct run *run, const char *found)
{
    char path[PATH_MAX];
    if (!realpath(found, path))
        return false;
    struct policy_program program = {
        .name = str_of(run->options->argv[0]),
        .path = {.class = PATH_FILE, .text = str_of(path), .base = str_of(path)},
        .seen = true};
    return run_refuse_tool(run, &program);
}

static void make_temp(void *context)
{
    temp_make_own(context);
}

static int start(struct run *run, struct spawn_plan *plan, const struct way_out *way)
{
    const struct policy_settings *settings = policy_settings_of(run->policy->policy);
    static const struct limits_source source = {"/proc/self/mountinfo", "/proc/self/cgroup"};
    struct own *own = run->system;
    struct limits limits;
    struct limits_reached reached;
    struct spawn s;
    char message[256];
    int rc = limits_open(&settings->limits, &source, &limits, message, sizeof message);
    if (rc)
        return api_fail(run->policy, rc, message);
    plan->limits = &limits;
    plan->signals = &own->signals;
    signals_read(&own->signals, run->options->own_process);
    rc = spawn_start(plan, &s, message, sizeof message);
    rc = rc ? api_fail(run->policy, rc, message) : serve(run, &s, plan, way);
    limits_close(&limits, &reached);
    if (reached.processes)
        report_limit(run, RULE_LIMIT_PROCESSES, "one more process",
                     "as many ran as --max-procs allows", "--max-procs");
    if (reached.memory)
        report_limit(run, RULE_LIMIT_MEMORY, "a process that takes more memory",
                     "the kernel ended a process when all of --max-memory was used",
                     "--max-memory");
    return rc;
}

/* npm and pip can work from their caches. With these settings they try a missing package once, and
   do not look for new versions of themselves, which would look like the reason of every failure;
   the refused lookup is recorded, so both their message and Cordon's are right. */
static const char *const once[] = {"npm_config_prefer_offline=true",
                                   "npm_config_update_notifier=false",
                                   "PIP_DISABLE_PIP_VERSION_CHECK=1", NULL};

/* For root the files' modes close nothing. */
static void hide_journals(struct arena *arena, struct secrets *secrets)
{
    char path[PATH_MAX], real[PATH_MAX], why[512];
    if (geteuid() == 0 && store_path(false, path, sizeof path, why, sizeof why))
        secrets->hidden = arena_copy(arena, str_of(realpath(path, real) ? real : path));
}

/* The program to start. False in *starts: none is, because it is refused (0) or not there. */
static int find_command(struct run *run, const char *name, char *program, size_t capacity,
                        bool *starts)
{
    auto_arena struct arena arena = {0};
    const struct run_options *o = run->options;
    struct str *argv = ARENA_ARRAY(&arena, o->argc, struct str);
    if (!argv)
        return api_fail(run->policy, CORDON_E_NOMEM, "out of memory");
    for (size_t i = 0; i < o->argc; i++)
        argv[i] = str_of(o->argv[i]);
    if (!run_guard(run, &(struct guard_question){.argv = argv, .argc = o->argc}))
        return 0;
    if (!find_program(name, program, capacity))
        return run_not_found(run, name);
    if (!is_program(program))
        return run_not_executable(run, name);
    /* Where a question can be asked, it is asked when the program starts. */
    bool asks = o->ask || o->ask_fds || o->ask_terminal;
    bool confined = policy_settings_of(run->policy->policy)->mode != POLICY_FULL_ACCESS;
    *starts = !confined || asks || !tool_refused(run, program);
    return 0;
}

/* Whatever the run needs besides its program: whoever answers, a journal, a proxy, the record of
   its temp folder. */
static int open_ways(struct run *run, struct arena *arena, bool confined, bool inside,
                     struct secrets *secrets, struct way_out *way)
{
    struct cordon_policy *p = run->policy;
    const struct policy_settings *settings = policy_settings_of(p->policy);
    bool broker = confined && !inside;
    int rc = broker ? asker_open(run, &way->asker) : 0;
    run->asks = way->asker != NULL;
    if (rc == 0 && run->options->undo)
        rc = run_undo_begin(run, confined, inside, arena, &way->undo);
    if (rc == 0 && run->options->undo)
        hide_journals(arena, secrets);
    if (rc == 0 && broker)
        rc = open_way_out(run, way);
    if (rc == 0 && broker && settings->temp_path.n &&
        (rc = temp_record(&p->settings, settings->temp_path.p, &way->record)))
        api_fail(p, rc, buf_cstr(&p->settings.error));
    return rc;
}

static void close_ways(struct run *run, struct way_out *way)
{
    if (way->asker)
        desk_close(asker_desk(way->asker)); /* clients of the proxy may wait there */
    proxy_close(way->server);
    asker_close(way->asker);
    if (way->undo)
        run_undo_finish(run, way->undo);
    if (way->record >= 0)
        close(way->record);
}

int system_run(struct run *run)
{
    auto_arena struct arena arena = {0};
    struct cordon_policy *p = run->policy;
    const struct run_options *o = run->options;
    const struct policy_settings *settings = policy_settings_of(p->policy);
    char program[4096];
    struct way_out way = {.record = -1};
    struct secrets secrets;
    const struct wine_run *wine = &p->prepared->wine;
    const char *const *command = wine->argv ? wine->argv : o->argv;
    struct str cwd = arena_copy(&arena, p->settings.cwd);
    if (!cwd.p || !secrets_find(&arena, settings, &secrets))
        return api_fail(p, CORDON_E_NOMEM, "out of memory");
    bool confined = settings->mode != POLICY_FULL_ACCESS, inside = false;
    bool starts = false;
    int rc = find_command(run, command[0], program, sizeof program, &starts);
    if (!starts)
        return rc;
    rc = confined ? look_around(run, &inside) : 0;
    if (rc == 0)
        rc = open_ways(run, &arena, confined, inside, &secrets, &way);
    /* A stub would answer in place of whoever is asked. */
    const char *stubs = confined && !inside && !way.asker ? p->prepared->stubs : NULL;
    struct environment_plan variables = {.inherited = (const char *const *)environ,
                                         .unset = o->unset,
                                         .unset_count = o->unset_count,
                                         .offline = once,
                                         .tools = &p->settings.variables,
                                         .set = wine->argv ? wine->set : o->set,
                                         .set_count = wine->argv ? wine->set_count : o->set_count,
                                         .stubs = str_of(stubs),
                                         .proxy = way.url[0] ? way.url : NULL};
    struct spawn_plan plan = {.meanwhile = make_temp,
                              .context = &p->settings,
                              .program = program,
                              .stdio = o->stdio,
                              .argv = command,
                              .environ = environment_make(&arena, settings, &variables),
                              .cwd = cwd.p,
                              .unconfined = !confined || inside,
                              .timeout_ms = settings->limits.timeout_ms,
                              .stamp = way.undo ? (int)keep_lock(way.undo) : 0,
                              .stubs = stubs,
                              .terminal = asker_slave(way.asker, &way.terminal),
                              .policy = p->policy,
                              .confine = {.landlock_abi = confine_landlock_abi(),
                                          .secrets = &secrets,
                                          .datagrams = settings->net == POLICY_NET_ON,
                                          .granted = granted_folder(&arena, settings)}};
    if (rc == 0)
        rc = plan.environ ? start(run, &plan, &way) : api_fail(p, CORDON_E_NOMEM, "out of memory");
    close_ways(run, &way);
    return rc;
}
