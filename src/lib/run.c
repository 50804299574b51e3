/* SPDX-License-Identifier: Apache-2.0 */
/* Running a command: what is common to all systems. Guard, audit, summary, private temp. */
#include "lib/run.h"

#include <stdio.h>

#include "guard/effects.h"
#include "guard/refusal.h"
#include "launch/disk.h"
#include "launch/temp.h"
#include "launch/worktree.h"
#include "lib/check.h"
#include "lib/system.h"
#include "policy/presets.h"

static int write_line(void *context, struct str line)
{
    const struct run *run = context;
    const struct run_options *o = run->options;
    if (o->event) {
        auto_buf struct buf json = {0};
        buf_add(&json, str_slice(line, 0, line.n - 1));
        o->event(o->event_context, buf_cstr(&json));
    }
    if (run->audit_file == MACHINE_NO_FILE)
        return 0;
    return machine_append(run->audit_file, line) ? 0 : CORDON_E_WRITE;
}

/* True if a word of the command holds the path, its last two names, or a last name with a dot. */
static bool is_named(const struct run_options *o, struct str target)
{
    size_t leaf = target.n, above;
    while (leaf > 0 && target.p[leaf - 1] != '/' && target.p[leaf - 1] != '\\')
        leaf--;
    for (above = leaf ? leaf - 1 : 0; above > 0; above--)
        if (target.p[above - 1] == '/' || target.p[above - 1] == '\\')
            break;
    struct str last = str_from(target, leaf), both = str_from(target, above);
    bool dotted = last.n > 2 && str_has_char(last, '.');
    for (size_t i = 0; i < o->argc && last.n; i++) {
        struct str word = str_of(o->argv[i]);
        if (str_find(word, both, 0) < word.n || (dotted && str_find(word, last, 0) < word.n))
            return true;
    }
    return false;
}

void run_program(struct run *run, const struct str *words, size_t count)
{
    bool gives_up;
    const struct preset *tool = preset_of(words, count, disk_dialect(), &gives_up);
    if (tool)
        run->tool = tool;
    if (tool && gives_up)
        run->told = tool;
}

/* True if the target is a cache of this tool. */
static bool is_cache_of(const struct preset *tool, const struct policy_settings *s,
                        struct str target)
{
    struct str home = s->machine.home, folder;
    auto_buf struct buf cache = {0};
    for (size_t at = 0; home.n && preset_word(tool->caches[s->paths.dialect], &at, &folder);) {
        buf_reset(&cache);
        bool shared = str_starts(folder, STR("/"));
        buf_fmt(&cache, "%.*s%s%.*s", STR_ARG(shared ? STR_NONE : home), shared ? "" : "/",
                STR_ARG(folder));
        for (size_t i = home.n; s->paths.dialect == PATH_WINDOWS && i < cache.n; i++)
            if (cache.p[i] == '/')
                cache.p[i] = '\\';
        if (!cache.failed && str_startsi(target, buf_str(&cache)) &&
            (target.n == cache.n || target.p[cache.n] == '/' || target.p[cache.n] == '\\'))
            return true;
    }
    return false;
}

/* True if --for names the tool already. */
static bool is_given(const struct run *run)
{
    const struct policy_list *tools = &run->policy->settings.tools;
    for (size_t i = 0; i < tools->count; i++)
        if (str_eq(tools->items[i].given, str_of(run->tool->name)))
            return true;
    return false;
}

/* Whether the preset of the tool that ran would have allowed it. */
static bool is_of_tool(const struct run *run, const struct audit_event *event)
{
    const struct policy_settings *s = policy_settings_of(run->policy->policy);
    if (!run->tool || event->type != AUDIT_DENY || is_given(run))
        return false;
    if (str_eq(event->rule, str_of(policy_rule_id(RULE_NET_OFF))))
        return event->op == AUDIT_NET_RESOLVE && preset_has_host(run->tool, event->target);
    return (str_eq(event->rule, str_of(policy_rule_id(RULE_ROOTS_OUTSIDE))) ||
            str_eq(event->rule, str_of(policy_rule_id(RULE_TEMP_FOREIGN)))) &&
           is_cache_of(run->tool, s, event->target);
}

/* The network that a tool like ssh was denied: it asks no proxy, so a list of hosts does not help. */
static bool is_of_login(const struct audit_event *event)
{
    struct str image = event->image;
    size_t leaf = image.n;
    while (leaf > 0 && image.p[leaf - 1] != '/' && image.p[leaf - 1] != '\\')
        leaf--;
    return event->type == AUDIT_DENY && event->op == AUDIT_NET_RESOLVE &&
           str_starts(event->fix, STR("--net=")) && policy_tool_logs_in(str_from(image, leaf));
}

static void spawned(struct run *run, struct str cmdline)
{
    auto_arena struct arena arena = {0};
    size_t count = 0;
    const struct word *words = cmdline.n ? winargv_split(&arena, cmdline, &count) : NULL;
    struct str *texts = words ? ARENA_ARRAY(&arena, count, struct str) : NULL;
    for (size_t i = 0; texts && i < count; i++)
        texts[i] = words[i].text;
    if (texts)
        run_program(run, texts, count);
}

static void spawned_command(struct run *run)
{
    const struct run_options *o = run->options;
    struct str words[8];
    size_t count = o->argc < 8 ? o->argc : 8;
    for (size_t i = 0; i < count; i++)
        words[i] = str_of(o->argv[i]);
    run_program(run, words, count);
}

void run_event(void *context, const struct audit_event *event)
{
    struct run *run = context;
    struct audit_event copy = *event;
    char fix[64];
    if (copy.type == AUDIT_SPAWN)
        spawned(run, copy.cmdline);
    if (is_of_tool(run, &copy)) {
        snprintf(fix, sizeof fix, "--for %s", run->tool->name);
        copy.fix = str_of(fix);
        copy.minor = true;
        if (copy.op == AUDIT_NET_RESOLVE)
            run->offline = run->tool;
    }
    if (is_of_login(&copy))
        copy.fix = STR("--net=on");
    if (copy.type == AUDIT_DENY && is_named(run->options, copy.target)) {
        copy.named = true;
        copy.minor = false;
    }
    audit_add(run->audit, &copy);
    summary_add(&run->result->summary, &copy);
    if (run->options->observe)
        run->options->observe(run->options->observe_context, &copy);
}

/* Reports a refusal: the command has not run. */
void run_refuse(struct run *run, struct str rule, struct str why, struct str fix, struct str target)
{
    run_event(run, &(struct audit_event){.type = AUDIT_DENY,
                                         .op = AUDIT_GUARD,
                                         .time = machine_now_ms(),
                                         .target = target,
                                         .rule = rule,
                                         .why = why,
                                         .fix = fix});
    run->result->reason = "refused";
    run->result->exit = 126;
}

bool run_refuse_tool(struct run *run, const struct policy_program *program)
{
    const struct policy *policy = run->policy->policy;
    struct policy_answer answer = {0};
    auto_buf struct buf why = {0}, fix = {0};
    policy_tool_decide(policy, program, &answer);
    if (answer.verdict == CORDON_ALLOW)
        return false;
    policy_tool_explain(policy, program, &answer, &why, &fix);
    run_refuse(run, str_of(policy_rule_id(answer.rule)), buf_str(&why), buf_str(&fix),
               program->path.text);
    return true;
}

bool run_judge(struct run *run, struct guard_question *question, struct guard_answer *answer)
{
    const struct cordon_policy *p = run->policy;
    question->policy = p->policy;
    question->confined = policy_settings_of(p->policy)->mode != POLICY_FULL_ACCESS;
    question->cwd = p->settings.cwd;
    question->read_file = check_read_script;
    question->context = (void *)&p->settings;
    if (guard_check(p->guard, question, answer) == 0)
        return true;
    run_refuse(run, guard_rules[GUARD_OPAQUE_LIMIT].id, STR("out of memory"), STR_NONE,
               STR("command"));
    return false;
}

bool run_guard(struct run *run, struct guard_question *question)
{
    const struct cordon_policy *p = run->policy;
    struct guard_answer answer;
    if (!run_judge(run, question, &answer))
        return false;
    bool strict = policy_settings_of(p->policy)->strict;
    if (answer.verdict == CORDON_ALLOW || (answer.verdict == CORDON_ASK && !strict))
        return true;
    auto_buf struct buf target = {0}, fix = {0};
    const struct guard_finding *f = guard_refusal(&answer, p->policy, &target, &fix);
    if (f)
        run_refuse(run, f->id, f->why, buf_str(&fix), buf_str(&target));
    return false;
}

int run_not_found(struct run *run, const char *program)
{
    char message[512];
    run->result->reason = "failed";
    run->result->exit = 127;
    snprintf(message, sizeof message, "%.400s: program not found", program);
    return api_fail(run->policy, CORDON_E_NOTFOUND, message);
}

int run_not_executable(struct run *run, const char *program)
{
    char message[640];
    run->result->reason = "failed";
    run->result->exit = 126;
    snprintf(
        message, sizeof message,
        "%.400s: not executable; make it so with chmod +x, or name its shell: cordon run -- sh "
        "FILE",
        program);
    return api_fail(run->policy, CORDON_E_VALUE, message);
}

void run_describe(struct buf *out)
{
    char detail[128] = "";
    buf_fmt(out, "%s", system_boundary(NULL, detail, sizeof detail));
    buf_fmt(out, detail[0] ? " (%s)" : "%s", detail);
}

void run_remove_own_temp(struct cordon_policy *p)
{
    struct policy_settings *s = &p->settings.policy;
    if (s->temp == POLICY_TEMP_OWN && s->temp_own.n && !s->session.n) {
        temp_remove(s->temp_own.p);
        /* Some file systems remove the folder from the disk only now, while the reaper still works. */
        temp_release(&p->settings);
    }
    s->temp_own = STR_NONE;
}

void run_finish(struct cordon_policy *p, struct run_result *result)
{
    const struct policy_settings *s = &p->settings.policy;
    system_finish(p);
    if (s->temp == POLICY_TEMP_PRIVATE && s->temp_path.n)
        result->temp_had_files = temp_remove(s->temp_path.p);
    run_remove_own_temp(p);
    temp_release(&p->settings);
    settings_unmake(&p->settings);
}

int run_prepare(struct cordon_policy *p, const struct run_options *o)
{
    auto_buf struct buf self = {0};
    p->settings.make_temp = temp_make;
    int rc = machine_own_path(&self) ? settings_protect(&p->settings, buf_str(&self)) : 0;
    if (rc == 0 && o->audit)
        rc = settings_protect(&p->settings, str_of(o->audit));
    if (rc)
        return api_fail(p, rc, cordon_strerror(rc));
    rc = system_prepare(p, o);
    return rc ? rc : api_prepare(p, STR_NONE);
}

enum { LONGEST_COMMAND = 4096 }; /* of the command in the audit, in bytes */

static void start_event(struct run *run)
{
    static const char *const modes[] = {"read-only", "workspace-write", "full-access"};
    static const char *const nets[] = {"off", "loopback", "proxy", "allow", "on"};
    const struct policy_settings *s = policy_settings_of(run->policy->policy);
    const struct run_options *o = run->options;
    auto_buf struct buf typed = {0};
    for (size_t i = 0; i < o->argc && typed.n < LONGEST_COMMAND; i++) {
        if (i)
            buf_char(&typed, ' ');
        winargv_quote(&typed, str_of(o->argv[i]));
    }
    struct str roots[64];
    size_t count = s->roots.count < 64 ? s->roots.count : 64;
    for (size_t i = 0; i < count; i++)
        roots[i] = s->roots.items[i].path;
    run_event(run, &(struct audit_event){.type = AUDIT_START,
                                         .time = machine_now_ms(),
                                         .cmdline = str_cut(buf_str(&typed), LONGEST_COMMAND),
                                         .version = str_of(cordon_version()),
                                         .mode = str_of(modes[s->mode]),
                                         .roots = roots,
                                         .root_count = count,
                                         .net = str_of(nets[s->net]),
                                         .git = str_of(policy_git_word(s->git)),
                                         .boundary = str_of(run->result->boundary),
                                         .boundary_detail = str_of(run->result->boundary_detail)});
}

static int open_audit(struct run *run)
{
    const struct run_options *o = run->options;
    char id[33] = "", text[1200], why[256];
    unsigned char random[16] = {0};
    if (!o->audit && !o->event)
        return 0;
    bool got = machine_random(random, sizeof random);
    for (size_t i = 0; got && i < sizeof random; i++)
        snprintf(id + 2 * i, 3, "%02x", random[i]);
    if (o->audit) {
        run->audit_file = machine_append_open(o->audit, why, sizeof why);
        if (run->audit_file == MACHINE_NO_FILE) {
            snprintf(text, sizeof text, "--audit %.800s: %s", o->audit, why);
            return api_fail(run->policy, CORDON_E_OPEN, text);
        }
    }
    struct audit_options options = {write_line, run, str_of(id), o->audit_all, o->audit_raw};
    return audit_new(&options, &run->audit) ? api_fail(run->policy, CORDON_E_NOMEM, "out of memory")
                                            : 0;
}

static bool is_there(struct arena *arena, struct str path)
{
    struct disk_facts facts = {0};
    return disk_look(arena, path, &facts) || facts.exists || facts.link;
}

/* Tests create repositories and delete them again: those are mentioned briefly. A folder without a HEAD
   is of interest while it has none. */
static void set_apart_gone_repositories(struct summary_repositories *list, bool headless)
{
    auto_arena struct arena arena = {0};
    for (size_t i = 0; i + list->gone < list->count;) {
        struct str path = list->items[i];
        struct str head = worktree_join(&arena, disk_dialect(), path, STR("HEAD"));
        if (is_there(&arena, path) && !(headless && head.n && is_there(&arena, head))) {
            i++;
            continue;
        }
        size_t last = list->count - ++list->gone;
        list->items[i] = list->items[last];
        list->items[last] = path;
    }
}

/* Tools fail in many ways without the network. A tool that asked for a name needs it; for one that
   was only told that it is offline, that need not have been the reason. */
static void explain_offline(struct run *run)
{
    const struct policy_settings *s = policy_settings_of(run->policy->policy);
    const struct preset *tool = run->offline ? run->offline : run->told;
    struct run_result *result = run->result;
    struct str host;
    char fix[64];
    if (!tool || run->asks || result->exit == 0 || s->mode == POLICY_FULL_ACCESS ||
        s->net != POLICY_NET_OFF || strcmp(result->reason, "exited") != 0)
        return;
    snprintf(fix, sizeof fix, "--for %s", tool->name);
    snprintf(result->summary.hint, sizeof result->summary.hint,
             run->offline
                 ? "the network is off, and %s needs it; allow with %s"
                 : "%s was told that the network is off; if it failed for that, allow with %s",
             tool->name, fix);
    for (size_t at = 0; preset_word(tool->hosts, &at, &host);)
        run_event(run,
                  &(struct audit_event){.type = AUDIT_DENY,
                                        .op = AUDIT_NET_RESOLVE,
                                        .time = machine_now_ms(),
                                        .target = host,
                                        .quiet = true,
                                        .rule = str_of(policy_rule_id(RULE_NET_OFF)),
                                        .why = STR("the tool was told that the network is off"),
                                        .fix = str_of(fix)});
}

/* Remedies name these options with a value of their own. */
static void tell_given(struct run *run)
{
    static const struct str names[] = {STR("mode"), STR("git"), STR("net"), STR("temp")};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct str value = settings_value(&run->policy->settings, names[i]);
        if (value.n)
            summary_give(&run->result->summary, names[i], value);
    }
    const struct policy_settings *s = policy_settings_of(run->policy->policy);
    if (s->machine.home.n)
        summary_keep_out(&run->result->summary, s->machine.home);
    for (size_t i = 0; i < s->roots.count; i++)
        summary_keep_out(&run->result->summary, s->roots.items[i].path);
}

static int run_apart(struct run *run)
{
    struct cordon_policy *p = run->policy;
    const struct run_options *o = run->options;
    struct run_result *result = run->result;
    uint64_t begin = machine_now_ms();
    bool full = policy_settings_of(p->policy)->mode == POLICY_FULL_ACCESS;
    int rc = full ? 0 : system_choose(run);
    if (result->elsewhere)
        return rc;
    if (rc == 0)
        rc = open_audit(run);
    if (rc == 0) {
        result->reason = "failed";
        result->exit = 125;
        result->boundary =
            full ? "none"
                 : system_boundary(run, result->boundary_detail, sizeof result->boundary_detail);
        tell_given(run);
        start_event(run);
        spawned_command(run);
        if (o->require_kernel && strcmp(result->boundary, "kernel") != 0)
            rc = api_fail(p, CORDON_E_CONFINE,
                          "--require-kernel: the kernel does not confine here, only Cordon's own "
                          "hooks would; nothing was started");
        else
            rc = system_run(run);
        explain_offline(run);
        set_apart_gone_repositories(&result->summary.made, false);
        set_apart_gone_repositories(&result->summary.headless, true);
        result->duration_ms = machine_now_ms() - begin;
        const struct summary_changes *c = &result->changes;
        audit_end(run->audit, &(struct audit_event){.type = AUDIT_END,
                                                    .time = machine_now_ms(),
                                                    .code = result->exit,
                                                    .duration_ms = result->duration_ms,
                                                    .undo = str_of(c->run),
                                                    .created = c->created,
                                                    .modified = c->modified,
                                                    .deleted = c->deleted,
                                                    .renamed = c->renamed});
        result->audit_failure = audit_failure(run->audit);
    }
    audit_free(run->audit);
    if (run->audit_file != MACHINE_NO_FILE)
        machine_append_close(run->audit_file);
    return rc;
}

int run_confined(struct cordon_policy *p, const struct run_options *o, struct run_result *result)
{
    struct run run = {.policy = p, .options = o, .result = result, .audit_file = MACHINE_NO_FILE};
    if (p->settings.foreign)
        return api_fail(p, CORDON_E_VALUE,
                        "the roots are paths of another system; name folders of this one");
    return system_apart(&run, run_apart);
}
