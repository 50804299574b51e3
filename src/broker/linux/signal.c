/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signals and priorities: only for processes of this run, that is, the reaper's descendants. Where
 * Landlock scopes signals (ABI 6) the kernel decides, and only kill of one process comes here, so
 * that the refusal is told.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "broker/linux/broker.h"
#include "launch/linux/process.h"

bool broker_family(pid_t pid, pid_t *parent, pid_t *group)
{
    static const int fields[] = {PROCESS_PARENT, PROCESS_GROUP};
    uint64_t numbers[2];
    if (!process_stat(pid, fields, 2, numbers))
        return false;
    *parent = (pid_t)numbers[0];
    *group = (pid_t)numbers[1];
    return true;
}

bool broker_in_run(const struct broker *b, pid_t pid)
{
    pid_t parent = pid, group;
    for (int depth = 0; depth < 100000 && parent > 1; depth++) {
        if (!broker_family(parent, &parent, &group))
            return false;
        if (parent == b->reaper)
            return true;
    }
    return false;
}

static void refuse(struct broker *b, struct request *r, pid_t pid)
{
    char target[64];
    bool tuned = r->number == SYS_setpriority || r->number == SYS_ioprio_set ||
                 r->number == SYS_sched_setparam || r->number == SYS_sched_setscheduler ||
                 r->number == SYS_sched_setaffinity || r->number == SYS_sched_setattr;
    snprintf(target, sizeof target, "process %d to %s", (int)pid,
             tuned ? "schedule it" : "signal it");
    broker_report_text(b, r, AUDIT_PROCESS_OPEN, str_of(target), AUDIT_DENY,
                       str_of(policy_rule_id(RULE_PROCESS_OUTSIDE)),
                       STR("it does not belong to this run"), STR(POLICY_NO_REMEDY));
    request_fail(r, EPERM);
}

/* The process of a thread, or 0. */
static pid_t process_of(pid_t thread)
{
    char path[64], line[128];
    int found = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)thread);
    FILE *f = fopen(path, "re");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "Tgid: %d", &found) == 1)
            break;
    if (f)
        fclose(f);
    return found;
}

/* The pid is in a register, so the call may continue as it is. */
static void to_process(struct broker *b, struct request *r, pid_t pid)
{
    pid_t process = pid > 0 ? process_of(pid) : 0;
    if (pid > 0 && !process)
        request_fail(r, ESRCH);
    else if (process && broker_in_run(b, process))
        request_continue(r);
    else
        refuse(b, r, pid);
}

/* Landlock refuses what is outside. It is told where the caller could have done it without the
   sandbox. */
static void tell_of_kill(struct broker *b, struct request *r, pid_t pid)
{
    pid_t process = process_of(pid);
    if (!process || broker_in_run(b, process) || kill(pid, 0))
        request_continue(r);
    else
        refuse(b, r, pid);
}

/* A group, or everybody (-1), may include processes outside: those of this run are signalled one by
   one. */
static void to_many(struct broker *b, struct request *r, pid_t group, int number)
{
    pid_t parent, found, own = 0;
    int reached = 0;
    struct request_status status;
    if (!request_status(r, &status) || !broker_family(status.process, &parent, &own)) {
        request_fail(r, ESRCH);
        return;
    }
    DIR *all = opendir("/proc");
    for (struct dirent *entry; all && (entry = readdir(all));) {
        pid_t pid = (pid_t)atoi(entry->d_name);
        if (pid <= 0 || !broker_family(pid, &parent, &found) || !broker_in_run(b, pid))
            continue;
        bool meant = group == -1 ? pid != status.process : found == (group ? -group : own);
        if (meant && kill(pid, number) == 0)
            reached++;
    }
    if (all)
        closedir(all);
    if (reached)
        request_succeed(r, 0);
    else
        refuse(b, r, group);
}

static void by_descriptor(struct broker *b, struct request *r)
{
    char path[64], line[128];
    int pid = 0, copy = request_descriptor(r, (int)r->args[0]);
    if (copy < 0 || r->args[3]) {
        request_fail(r, copy < 0 ? -copy : EINVAL);
        if (copy >= 0)
            close(copy);
        return;
    }
    snprintf(path, sizeof path, "/proc/self/fdinfo/%d", copy);
    FILE *f = fopen(path, "re");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "Pid: %d", &pid) == 1)
            break;
    if (f)
        fclose(f);
    if (pid == 0)
        request_fail(r, EBADF);
    else if (!broker_in_run(b, pid))
        refuse(b, r, pid);
    else if (syscall(SYS_pidfd_send_signal, copy, (int)r->args[1], NULL, 0))
        request_fail(r, errno);
    else
        request_succeed(r, 0);
    close(copy);
}

/* A nested sandbox would be void: a process that gave up writing with Landlock could still write
   through the broker, which cannot know its rules. So Landlock is not available inside. */
static void refuse_sandbox(struct broker *b, struct request *r)
{
    char image[PATH_MAX], own[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", own, sizeof own);
    /* A nested cordon run asks too, and does without it. */
    if (n <= 0 || !str_eq(broker_image(r, image, sizeof image), (struct str){own, (size_t)n}))
        broker_report_text(
            b, r, AUDIT_PROCESS_OPEN, STR("a Landlock sandbox of its own"), AUDIT_DENY,
            str_of(policy_rule_id(RULE_PROCESS_SANDBOX)),
            STR("it would not hold for what Cordon writes for the program"),
            STR("narrow this run instead: --mode read-only, --root or --deny-write"));
    request_fail(r, EOPNOTSUPP);
}

static bool handle(struct broker *b, struct request *r)
{
    pid_t first = (pid_t)r->args[0];
    switch (r->number) {
    case SYS_kill:
        if (first > 0 && b->landlock_abi >= 6)
            tell_of_kill(b, r, first);
        else if (first > 0)
            to_process(b, r, first);
        else
            to_many(b, r, first, (int)r->args[1]);
        return true;
    case SYS_tkill:
    case SYS_tgkill:
    case SYS_rt_sigqueueinfo:
    case SYS_rt_tgsigqueueinfo: to_process(b, r, first); return true;
    case SYS_pidfd_send_signal: by_descriptor(b, r); return true;
    case SYS_sched_setparam:
    case SYS_sched_setscheduler:
    case SYS_sched_setaffinity:
    case SYS_sched_setattr: to_process(b, r, first); return true;
    case SYS_setpriority:
    case SYS_ioprio_set: {
        enum { PROCESS = 1 }; /* of ioprio_set */
        bool single = r->number == SYS_setpriority ? first == PRIO_PROCESS : first == PROCESS;
        /* A group or a user may also have processes outside. */
        if (single)
            to_process(b, r, (pid_t)r->args[1]);
        else
            refuse(b, r, (pid_t)r->args[1]);
        return true;
    }
    case SYS_landlock_create_ruleset: refuse_sandbox(b, r); return true;
    default: return false;
    }
}

void signal_serve(struct broker *b, struct request *r)
{
    handle(b, r);
}
