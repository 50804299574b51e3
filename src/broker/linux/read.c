/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading, where deny-read rules are set. The broker opens with its own rights, so besides applying
 * the rules it must refuse what only the tree's lesser rights refused before: /proc files of other
 * processes.
 */
#include <errno.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/vfs.h>

#include "broker/linux/broker.h"

/* /proc files of any process that everybody may read without the right to trace it. */
static bool is_plain_proc_file(const char *name)
{
    static const char *const names[] = {"stat",   "status", "cmdline",   "comm",   "statm",
                                        "cgroup", "limits", "oom_score", "sched",  "loginuid",
                                        "task",   "net",    "uid_map",   "gid_map"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* False for what belongs to a process outside the run and is not readable by everybody. */
static bool proc_allows(struct broker *b, const struct request *r, const struct resolved *where)
{
    int pid, thread, n = 0;
    struct request_status status;
    struct statfs system;
    const char *path = where->path;
    /* In a second mount of procfs its files have other paths. */
    if (!resolve_in_proc(path))
        return where->parent < 0 || fstatfs(where->parent, &system) ||
               system.f_type != PROC_SUPER_MAGIC;
    if (sscanf(path, "/proc/%d%n", &pid, &n) != 1 || pid <= 0)
        return true;
    if (pid == r->pid || (request_status(r, &status) && pid == status.process) ||
        broker_in_run(b, pid))
        return true;
    const char *rest = path + n;
    n = 0;
    if (sscanf(rest, "/task/%d%n", &thread, &n) == 1 && n > 0)
        rest += n;
    return rest[0] == '\0' ||
           (rest[0] == '/' && (is_plain_proc_file(rest + 1) || strncmp(rest, "/net/", 5) == 0));
}

/* The rule that names this very object, or a folder above it, under another name. */
static const struct secret *find_secret(const struct broker *b, struct str path,
                                        const struct stat *st)
{
    for (size_t i = 0; i < b->secrets->count; i++) {
        const struct secret *secret = &b->secrets->items[i];
        if (secret->exists && secret->device == st->st_dev && secret->inode == st->st_ino)
            return secret;
        if (!path_is_below(PATH_POSIX, secret->path, path))
            continue;
        bool lifted = false;
        for (size_t j = 0; j < b->secrets->allowed_count; j++)
            lifted = lifted || (path_is_below(PATH_POSIX, b->secrets->allowed[j], path) &&
                                b->secrets->allowed[j].n > secret->path.n);
        if (!lifted)
            return secret;
    }
    return NULL;
}

static void decide(struct broker *b, const struct request *r, const struct resolved *where,
                   struct policy_request *question, struct policy_answer *answer)
{
    const struct secret *secret = find_secret(b, str_of(where->path), &where->st);
    broker_question(b, where, POLICY_READ, question);
    policy_decide(b->policy, question, answer);
    if (answer->verdict != CORDON_ALLOW || S_ISDIR(where->st.st_mode))
        answer->verdict = answer->rule == RULE_READ_DENIED && S_ISDIR(where->st.st_mode)
                              ? CORDON_ALLOW /* names may be seen */
                              : answer->verdict;
    else if (secret)
        *answer = (struct policy_answer){.rule = RULE_READ_DENIED, .entry = secret->entry};
    /* A raw disk contains everything, including denied files. */
    else if (S_ISBLK(where->st.st_mode))
        *answer = (struct policy_answer){.rule = RULE_READ_DENIED};
    if (path_is_below(PATH_POSIX, b->secrets->hidden, str_of(where->path)) && b->secrets->hidden.n)
        *answer = (struct policy_answer){.rule = RULE_PROTECTED_SELF};
    if (answer->verdict == CORDON_ALLOW && !proc_allows(b, r, where))
        *answer = (struct policy_answer){.rule = RULE_PROCESS_OUTSIDE};
}

bool read_refuses(struct broker *b, const struct request *r, const struct resolved *where)
{
    struct policy_request question;
    struct policy_answer answer = {0};
    decide(b, r, where, &question, &answer);
    return answer.verdict != CORDON_ALLOW;
}

static enum broker_ruling ask_about(struct broker *b, struct request *r,
                                    const struct resolved *where,
                                    const struct policy_request *question,
                                    const struct policy_answer *answer)
{
    auto_buf struct buf why = {0}, fix = {0};
    if (!b->asks.desk || !ask_can_lift(ASK_READ, answer->rule) || S_ISBLK(where->st.st_mode))
        return BROKER_DENIES;
    policy_explain(b->policy, question, answer, &why, &fix);
    return broker_ask_rule(b, r,
                           &(struct ask_subject){.kind = ASK_READ,
                                                 .op = AUDIT_FILE_READ,
                                                 .target = question->path.text,
                                                 .rule = str_of(policy_rule_id(answer->rule)),
                                                 .why = buf_str(&why),
                                                 .fix = buf_str(&fix)},
                           where);
}

bool read_allows(struct broker *b, struct request *r, const struct resolved *where)
{
    struct policy_request question;
    struct policy_answer answer = {0};
    decide(b, r, where, &question, &answer);
    if (answer.verdict == CORDON_ALLOW)
        return true;
    switch (ask_about(b, r, where, &question, &answer)) {
    case BROKER_GRANTS: return true;
    case BROKER_WAITS: return false;
    case BROKER_DENIES: break;
    }
    if (answer.rule == RULE_PROCESS_OUTSIDE)
        broker_report_text(b, r, AUDIT_PROCESS_OPEN, str_of(where->path), AUDIT_DENY,
                           str_of(policy_rule_id(answer.rule)),
                           STR("it belongs to a process outside the run"), STR(POLICY_NO_REMEDY));
    else
        broker_report(b, r, &question, &answer, AUDIT_FILE_READ, NULL);
    request_fail(r, EACCES);
    return false;
}
