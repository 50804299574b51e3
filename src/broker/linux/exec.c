/* Programs that the tree starts: judged by guard and tool rules before they begin. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/syscall.h>

#include "broker/linux/broker.h"

enum { MOST_ARGUMENTS = 4096, LONGEST_ARGUMENTS = 1024 * 1024 };

/* The argument list of the caller, copied once. Negative errno; E2BIG is judged as unreadable. */
static int read_arguments(const struct request *r, uint64_t address, struct arena *arena,
                          struct str *out, size_t *count)
{
    size_t total = 0;
    *count = 0;
    while (address) {
        uint64_t pointer;
        int rc = request_read(r, address + 8 * *count, &pointer, sizeof pointer);
        if (rc)
            return rc;
        if (pointer == 0)
            return 0;
        if (*count == MOST_ARGUMENTS)
            return -E2BIG;
        static char text[131072];
        ssize_t n = request_read_string(r, pointer, text, sizeof text);
        if (n < 0)
            return n == -ENAMETOOLONG ? -E2BIG : (int)n;
        total += (size_t)n;
        if (total > LONGEST_ARGUMENTS)
            return -E2BIG;
        out[*count] = arena_copy(arena, (struct str){text, (size_t)n});
        if (!out[*count].p)
            return -ENOMEM;
        (*count)++;
    }
    return 0;
}

/* Reports what the guard found; true if the program must not start. */
static bool guard_refuses(struct broker *b, struct request *r, const struct str *argv, size_t count)
{
    struct guard_question question = {
        .argv = argv, .argc = count, .policy = b->policy, .cwd = STR_NONE};
    struct guard_answer answer;
    char cwd[PATH_MAX];
    auto_resolved struct resolved here = {.parent = -1};
    if (resolve(r, AT_FDCWD, ".", true, &here) == 0) {
        snprintf(cwd, sizeof cwd, "%s", here.path);
        question.cwd = str_of(cwd);
    }
    if (guard_check(b->guard, &question, &answer))
        return true;
    bool strict = policy_settings_of(b->policy)->strict;
    for (size_t i = 0; i < answer.finding_count; i++) {
        const struct guard_finding *f = &answer.findings[i];
        if (f->verdict != answer.verdict)
            continue;
        bool deny = f->verdict == CORDON_DENY || strict;
        broker_report_text(b, r, AUDIT_GUARD, answer.text, deny ? AUDIT_DENY : AUDIT_ASK,
                           guard_rules[f->rule].id, f->why, f->fix);
        return deny;
    }
    return false;
}

static bool tool_refused(struct broker *b, struct request *r, const struct resolved *where,
                         struct str name)
{
    struct str path = str_of(where->path);
    struct policy_program program = {
        .name = name, .path = {.class = PATH_FILE, .text = path, .base = path}, .seen = true};
    struct policy_answer answer = {0};
    policy_tool_decide(b->policy, &program, &answer);
    if (answer.verdict == CORDON_ALLOW)
        return false;
    auto_buf struct buf why = {0}, fix = {0};
    policy_tool_explain(b->policy, &program, &answer, &why, &fix);
    broker_report_text(b, r, AUDIT_PROCESS_START, path, AUDIT_DENY,
                       str_of(policy_rule_id(answer.rule)), buf_str(&why), buf_str(&fix));
    return true;
}

static void do_exec(struct broker *b, struct request *r, int dirfd, uint64_t path, uint64_t argv)
{
    auto_arena struct arena arena = {0};
    auto_resolved struct resolved where = {.parent = -1};
    static struct str words[MOST_ARGUMENTS + 1];
    size_t count = 0;
    char given[PATH_MAX];
    ssize_t n = request_read_string(r, path, given, sizeof given);
    if (n < 0) {
        request_fail(r, (int)-n);
        return;
    }
    if (n == 0) {
        /* An open descriptor: what it holds cannot be named, so it is judged by its arguments. */
        snprintf(where.path, sizeof where.path, "/proc/self/fd/%d", dirfd);
    } else {
        int rc = resolve(r, dirfd, given, true, &where);
        if (rc == 0 && !where.exists)
            rc = -ENOENT;
        if (rc) {
            request_fail(r, -rc);
            return;
        }
    }
    int rc = read_arguments(r, argv, &arena, words, &count);
    if (rc) {
        request_fail(r, -rc);
        return;
    }
    if (count == 0)
        words[count++] = str_of(given);
    struct str called = words[0];
    /* The file decides, not what the caller says it is called. */
    words[0] = str_of(where.path);
    if (tool_refused(b, r, &where, called) || guard_refuses(b, r, words, count)) {
        request_fail(r, EACCES);
        return;
    }
    char image[PATH_MAX];
    snprintf(image, sizeof image, "%s", where.path);
    b->event(b->context, &(struct audit_event){.type = AUDIT_SPAWN,
                                               .op = AUDIT_PROCESS_START,
                                               .time = b->now(),
                                               .pid = (uint32_t)r->pid,
                                               .image = str_of(image)});
    request_continue(r);
}

bool exec_handle(struct broker *b, struct request *r)
{
    if (r->number == SYS_execve)
        do_exec(b, r, AT_FDCWD, r->args[0], r->args[1]);
    else if (r->number == SYS_execveat)
        do_exec(b, r, (int)r->args[0], r->args[1], r->args[2]);
    else
        return false;
    return true;
}
