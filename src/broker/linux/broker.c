/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the policy and reports its answers. */
#include "broker/linux/broker.h"
#include "broker/linux/caller.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "broker/desk.h"
#include "broker/linux/park.h"
#include "launch/linux/kernel.h"

void broker_free(struct broker *b)
{
    id_set_free(&b->linked);
    id_set_free(&b->sockets);
    id_set_free(&b->listeners);
    id_set_free(&b->repositories);
    for (size_t i = 0; i < b->made_count; i++)
        free(b->made[i]);
    id_set_free(&b->ended);
    id_set_free(&b->taken);
    id_set_free(&b->temp.made);
}

struct file_id broker_id(const struct resolved *where)
{
    struct kernel_statx x;
    struct file_id id = {where->st.st_dev, where->st.st_ino, 0};
    if (syscall(SYS_statx, where->parent, where->leaf, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW,
                KERNEL_STATX_INO | KERNEL_STATX_BTIME, &x) == 0 &&
        x.ino == id.id && (x.mask & KERNEL_STATX_BTIME))
        id.birth = (uint64_t)x.btime.sec * 1000000000 + x.btime.nsec;
    return id;
}

bool broker_id_at(const char *path, struct file_id *out)
{
    struct kernel_statx x;
    if (syscall(SYS_statx, AT_FDCWD, path, AT_SYMLINK_NOFOLLOW,
                KERNEL_STATX_INO | KERNEL_STATX_BTIME, &x))
        return false;
    *out = (struct file_id){makedev(x.dev_major, x.dev_minor), x.ino, 0};
    if (x.mask & KERNEL_STATX_BTIME)
        out->birth = (uint64_t)x.btime.sec * 1000000000 + x.btime.nsec;
    return true;
}

void broker_forget(struct broker *b, struct file_id id, const struct stat *st)
{
    if (S_ISDIR(st->st_mode) || st->st_nlink <= 1)
        id_set_drop(&b->temp.made, id);
    id_set_drop(&b->sockets, id);
    id_set_drop(&b->repositories, id);
    /* We cannot know which of its names was removed: with one name fewer, the file is trusted only
       if that name was ours. */
    id_set_take(&b->linked, id);
}

void broker_made(struct broker *b, const struct resolved *where)
{
    struct resolved made = *where;
    own_temp_made(b, where);
    if (str_eqi(str_of(where->leaf), STR(".git")) &&
        fstatat(where->parent, where->leaf, &made.st, AT_SYMLINK_NOFOLLOW) == 0)
        /* out of memory: protected like any other */
        id_set_add(&b->repositories, broker_id(&made));
}

/* True if every .git on the path was created by this run. Checked by inode: a path would still be
   trusted after the folder above it was exchanged for another. */
static bool in_own_repository(const struct broker *b, struct str path)
{
    bool own = false;
    char prefix[PATH_MAX];
    for (size_t end, at = 0; b->repositories.used && at < path.n; at = end) {
        struct str name;
        struct file_id git;
        end = str_find_char(path, '/', at + 1);
        name = str_slice(path, at + 1, end);
        if (!str_eqi(name, STR(".git")))
            continue;
        if (snprintf(prefix, sizeof prefix, "%.*s", (int)end, path.p) >= (int)sizeof prefix ||
            !broker_id_at(prefix, &git) || !id_set_count(&b->repositories, git))
            return false;
        own = true;
    }
    return own;
}

void broker_question(struct broker *b, const struct resolved *where, enum policy_access access,
                     struct policy_request *question)
{
    struct str path = str_of(where->path);
    *question = (struct policy_request){
        .path = {.class = PATH_FILE, .text = path, .base = path, .folder = where->folder_wanted},
        .access = access};
    struct policy_facts *facts = &question->facts;
    facts->seen = true;
    facts->exists = where->exists;
    facts->created_by_run = in_own_repository(b, path);
    facts->entry = own_temp_entry(b, where);
    facts->takes_head = true;
    facts->guards_new = true;
    facts->symlink = S_ISLNK(where->st.st_mode);
    facts->existing = path_parent(PATH_POSIX, path);
    facts->git_end = nested_found(b, where->path);
    facts->revives_git = !where->exists && nested_ended(b, where);
    if (!where->exists)
        return;
    facts->directory = S_ISDIR(where->st.st_mode);
    facts->links = facts->directory ? 1 : record_links(b, &where->st);
    facts->links_inside = facts->links > 1 && b->linked.used &&
                          id_set_count(&b->linked, broker_id(where)) + 1 == facts->links;
}

struct str broker_image(const struct request *r, char *out, size_t capacity)
{
    return caller_image(r->pid, out, capacity);
}

void broker_report_text(struct broker *b, const struct request *r, enum audit_op op,
                        struct str target, enum audit_type type, struct str rule, struct str why,
                        struct str fix)
{
    char image[PATH_MAX];
    b->event(b->context,
             &(struct audit_event){.type = type,
                                   .op = op,
                                   .time = b->now(),
                                   .pid = process_caller(b, r),
                                   .image = broker_image(r, image, sizeof image),
                                   .target = target,
                                   .verdict = type == AUDIT_ASK ? CORDON_ASK : CORDON_DENY,
                                   .rule = rule,
                                   .why = why,
                                   .fix = fix});
}

void broker_report(struct broker *b, const struct request *r, const struct policy_request *question,
                   const struct policy_answer *answer, enum audit_op op, const char *target2)
{
    auto_buf struct buf why = {0}, fix = {0};
    char image[PATH_MAX];
    struct policy_request explained = *question;
    if (answer->rule == RULE_ROOTS_OUTSIDE)
        explained.facts.bare = nested_bare(question->path.text);
    policy_explain(b->policy, &explained, answer, &why, &fix);
    b->event(b->context, &(struct audit_event){.type = AUDIT_DENY,
                                               .op = op,
                                               .time = b->now(),
                                               .pid = process_caller(b, r),
                                               .image = broker_image(r, image, sizeof image),
                                               .target = question->path.text,
                                               .target2 = str_of(target2),
                                               .verdict = CORDON_DENY,
                                               .rule = str_of(policy_rule_id(answer->rule)),
                                               .why = buf_str(&why),
                                               .fix = buf_str(&fix),
                                               .unasked = b->asks.desk && b->asks.silent});
}

bool broker_allows(struct broker *b, struct request *r, const struct resolved *where,
                   enum policy_access access, enum audit_op op)
{
    enum policy_rule rule;
    return broker_allows_by(b, r, where, access, op, &rule);
}

static void report_grant(struct broker *b, const struct request *r, enum audit_op op,
                         struct str target, enum policy_rule rule)
{
    char image[PATH_MAX];
    bool notable = rule == RULE_GIT_NEW;
    if (!b->report_grants && !notable)
        return;
    /* Judged again after a copy was made for --undo. */
    if (r->parked && target.n && str_eq(target, str_of(r->parked->granted)))
        return;
    if (notable)
        nested_remember(b, target);
    snprintf(b->told, sizeof b->told, "%.*s", STR_ARG(target));
    b->event(b->context, &(struct audit_event){.type = AUDIT_ALLOW,
                                               .op = op,
                                               .time = b->now(),
                                               .pid = process_caller(b, r),
                                               .image = broker_image(r, image, sizeof image),
                                               .target = target,
                                               .verdict = CORDON_ALLOW,
                                               .notable = notable,
                                               .rule = str_of(policy_rule_id(rule))});
}

void broker_report_repository(struct broker *b, const struct request *r, struct str folder)
{
    report_grant(b, r, AUDIT_FILE_CREATE, folder, RULE_GIT_NEW);
}

void broker_report_headless(struct broker *b, const struct request *r, struct str folder)
{
    char image[PATH_MAX];
    b->event(b->context, &(struct audit_event){.type = AUDIT_ALLOW,
                                               .op = AUDIT_FILE_DELETE,
                                               .time = b->now(),
                                               .pid = process_caller(b, r),
                                               .image = broker_image(r, image, sizeof image),
                                               .target = folder,
                                               .verdict = CORDON_ALLOW,
                                               .notable = true,
                                               .rule = str_of(policy_rule_id(RULE_GIT_REMOVED))});
}

bool broker_allows_by(struct broker *b, struct request *r, const struct resolved *where,
                      enum policy_access access, enum audit_op op, enum policy_rule *rule)
{
    struct policy_request question;
    struct policy_answer answer = {0};
    broker_question(b, where, access, &question);
    policy_decide(b->policy, &question, &answer);
    if (answer.verdict != CORDON_ALLOW && b->asks.desk)
        switch (broker_ask_change(b, r, where, &question, &answer, op)) {
        case BROKER_GRANTS: policy_decide(b->asks.desk->wide, &question, &answer); break;
        case BROKER_WAITS: return false;
        case BROKER_DENIES: break;
        }
    *rule = answer.rule;
    if (answer.verdict == CORDON_ALLOW) {
        report_grant(b, r, op, question.path.text, answer.rule);
        return true;
    }
    broker_report(b, r, &question, &answer, op, NULL);
    request_fail(r, EACCES);
    return false;
}

bool broker_allows_mode(struct broker *b, struct request *r, struct str path, mode_t mode,
                        bool folder)
{
    if (folder || !(mode & (S_ISUID | S_ISGID)))
        return true;
    broker_report_text(
        b, r, AUDIT_FILE_SECURITY, path, AUDIT_DENY, str_of(policy_rule_id(RULE_FILE_SETUID)),
        STR("a set-user-id program would lend your rights to whoever starts it, outside the run"),
        STR(POLICY_NO_REMEDY));
    request_fail(r, EPERM);
    return false;
}
