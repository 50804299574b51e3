/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that wait for a person or a program to answer. Such a call is set aside, unanswered, while
 * the broker serves others. With the answer it is judged again from its start: whatever it names by
 * then is allowed only if it is what was asked about, the same object under the same final path.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/sha256.h"
#include "broker/desk.h"
#include "broker/linux/broker.h"
#include "broker/linux/caller.h"
#include "broker/linux/park.h"
#include "launch/linux/noise.h"

enum { MOST_ROUNDS = 8, MOST_HELD = 256 };

static void spell_key(const struct ask_subject *s, char out[65])
{
    auto_buf struct buf text = {0}, hex = {0};
    /* A command is known by its name alone: its text is cut for people. */
    struct str target = s->kind == ASK_COMMAND ? STR_NONE : s->target;
    const struct str parts[] = {target,  s->other,       s->command, s->name,
                                s->link, s->detail.text, s->exact};
    buf_fmt(&text, "%d %d ", (int)s->kind, (int)s->op);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        buf_fmt(&text, "%zu ", parts[i].n);
        buf_add(&text, parts[i]);
    }
    sha256_hex(&hex, buf_str(&text));
    snprintf(out, 65, "%s", text.failed ? "" : buf_cstr(&hex));
}

/* Which objects there are under the names; of a name that is free, its folder. */
static void spell_objects(struct buf *out, const struct resolved *const ends[2])
{
    for (int i = 0; i < 2; i++) {
        struct file_id id = {0};
        struct stat st;
        if (ends[i] && ends[i]->exists)
            id = broker_id(ends[i]);
        else if (ends[i] && fstat(ends[i]->parent, &st) == 0)
            id = (struct file_id){st.st_dev, st.st_ino, 0};
        buf_fmt(out, "%d %llx %llx %llx ", ends[i] && ends[i]->exists,
                (unsigned long long)id.volume, (unsigned long long)id.id,
                (unsigned long long)id.birth);
    }
}

/* All of an attribute's value, of which the question shows the beginning. */
static void spell_value(const struct broker *b, const struct ask_detail *detail, struct buf *out)
{
    sha256_hex(out, (struct str){b->value, detail->value_bytes});
}

static int hold(const struct resolved *where)
{
    if (!where)
        return -1;
    const char *leaf = where->exists && where->leaf[0] ? where->leaf : NULL;
    return leaf ? openat(where->parent, leaf, O_PATH | O_NOFOLLOW | O_CLOEXEC)
                : fcntl(where->parent, F_DUPFD_CLOEXEC, 3);
}

/* As if it had not been asked about yet. */
static void take_back(struct broker_parked *p)
{
    parked_forget_answer(p);
    p->rounds--;
}

/* The earlier answer about this call, for the same subject and the same objects. */
static enum broker_ruling answered_before(const struct request *r, const char *key)
{
    const struct broker_parked *p = r->parked;
    for (size_t i = 0; p && i < p->answers; i++)
        if (strcmp(p->said[i].key, key) == 0)
            return p->said[i].allowed ? BROKER_GRANTS : BROKER_DENIES;
    return BROKER_WAITS;
}

/* Sets the call aside until the question is answered; false if it cannot. */
static bool wait_for(struct broker *b, struct request *r, uint64_t question, const char *key,
                     const struct ask_subject *s, const struct resolved *const ends[2])
{
    struct broker_parked *p = parked_take(b, r);
    if (!p)
        return false;
    if (p->rounds == MOST_ROUNDS || p->answers == PARKED_MOST_ANSWERS) {
        parked_drop(r, p);
        return false;
    }
    bool holds = b->parked.count < MOST_HELD;
    p->rounds++;
    p->question = question;
    snprintf(p->said[p->answers].key, sizeof p->said[0].key, "%s", key);
    p->said[p->answers].allowed = false;
    p->said[p->answers].op = s->op;
    p->said[p->answers].target = strndup(s->target.p, s->target.n);
    for (int i = 0; i < 2; i++)
        p->said[p->answers].held[i] = holds ? hold(ends[i]) : -1;
    p->answers++;
    parked_add(b, r, p);
    return true;
}

/* ends: the objects that the subject names, each of which may be NULL. */
static enum broker_ruling ask_about(struct broker *b, struct request *r,
                                    const struct ask_subject *subject,
                                    const struct resolved *const ends[2])
{
    struct desk *desk = b->asks.desk;
    struct ask_subject s = *subject;
    auto_buf struct buf cmdline = {0}, exact = {0};
    char key[65], image[PATH_MAX];
    uint64_t question;
    if (!desk || r->answered)
        return BROKER_DENIES;
    spell_objects(&exact, ends);
    buf_add(&exact, s.exact);
    if (s.detail.value.n)
        spell_value(b, &s.detail, &exact);
    s.exact = buf_str(&exact);
    spell_key(&s, key);
    if (exact.failed || !key[0])
        return BROKER_DENIES;
    enum broker_ruling before = answered_before(r, key);
    if (before != BROKER_WAITS)
        return before;
    if (b->asks.silent)
        return desk_allows(desk, &s) ? BROKER_GRANTS : BROKER_DENIES;
    s.pid = process_caller(b, r);
    s.image = broker_image(r, image, sizeof image);
    caller_cmdline(r->pid, &cmdline);
    s.cmdline = buf_str(&cmdline);
    switch (desk_join(desk, &s, &question)) {
    case ASK_RUN:
    case ASK_ONCE: return BROKER_GRANTS;
    case ASK_NEVER: return BROKER_DENIES;
    case ASK_NO: break;
    }
    if (wait_for(b, r, question, key, &s, ends))
        return BROKER_WAITS;
    desk_leave(desk, question);
    return BROKER_DENIES;
}

enum broker_ruling broker_ask_rule(struct broker *b, struct request *r,
                                   const struct ask_subject *subject, const struct resolved *where)
{
    return ask_about(b, r, subject, (const struct resolved *const[]){where, NULL});
}

bool broker_ask_decided(struct broker *b, struct broker_parked *p)
{
    struct ask_decision decision;
    if (!desk_take(b->asks.desk, p->question, &decision))
        return false;
    if (decision.again)
        take_back(p);
    else
        p->said[p->answers - 1].allowed = decision.allowed;
    return true;
}

/* A write that programs do not miss, and that a run without questions does not mention. */
static bool is_unmissed(struct broker *b, const struct request *r,
                        const struct ask_subject *subject)
{
    char image[PATH_MAX];
    struct audit_event event = {.type = AUDIT_DENY,
                                .op = subject->op,
                                .pid = process_caller(b, r),
                                .image = broker_image(r, image, sizeof image),
                                .target = subject->target,
                                .verdict = CORDON_DENY,
                                .rule = subject->rule};
    noise_mark(&event);
    return event.quiet;
}

void broker_tell_made(const struct broker *b, struct request *r, mode_t mode,
                      struct broker_told *out)
{
    const char *kind = S_ISDIR(mode)    ? ", a folder"
                       : S_ISFIFO(mode) ? ", a pipe"
                       : S_ISSOCK(mode) ? ", a socket"
                                        : "";
    if (!b->asks.desk)
        return;
    int n = snprintf(out->text, sizeof out->text, "%04o%s", mode & 07777 & ~request_umask(r), kind);
    out->detail = (struct ask_detail){.key = "mode", .text = {out->text, (size_t)n}};
    r->detail = &out->detail;
}

void broker_tell_replaced(const struct broker *b, struct request *r, const struct resolved *file,
                          struct broker_told *out)
{
    if (!b->asks.desk || S_ISDIR(file->st.st_mode))
        return;
    int n = snprintf(out->text, sizeof out->text, "%lld", (long long)file->st.st_size);
    out->detail = (struct ask_detail){.key = "replaces", .text = {out->text, (size_t)n}};
    r->detail = &out->detail;
}

/* The text of a symbolic link that would be made here, or of one that is moved. */
static struct str link_of(const struct resolved *where, const struct resolved *moved,
                          enum audit_op op, char text[PATH_MAX])
{
    if (where->link_text)
        return str_of(where->link_text);
    if (op != AUDIT_FILE_RENAME || !S_ISLNK(moved->st.st_mode))
        return STR_NONE;
    ssize_t n = readlinkat(moved->parent, moved->leaf, text, PATH_MAX);
    return n < 0 ? STR("?") : (struct str){text, (size_t)n};
}

/* far: the other end, if there is one, and other its path. */
static enum broker_ruling ask_end(struct broker *b, struct request *r, const struct resolved *where,
                                  const struct policy_request *question,
                                  const struct policy_answer *answer, enum audit_op op,
                                  const struct resolved *far, struct str other, bool arrives)
{
    auto_buf struct buf why = {0}, fix = {0};
    char text[PATH_MAX];
    if (where->exists && (S_ISCHR(where->st.st_mode) || S_ISBLK(where->st.st_mode)))
        return BROKER_DENIES;
    if (!b->asks.desk || !ask_can_change(b->asks.desk->wide, answer->rule, question) ||
        ask_holds_root(b->policy, question->path.text) ||
        desk_keeps(b->asks.desk, op, question->path.text))
        return BROKER_DENIES;
    policy_explain(b->policy, question, answer, &why, &fix);
    struct ask_subject subject = {.kind = ASK_CHANGE,
                                  .op = op,
                                  .target = question->path.text,
                                  .other = other,
                                  .arrives = arrives,
                                  .link = link_of(where, arrives ? far : where, op, text),
                                  .detail = r->detail ? *r->detail : (struct ask_detail){0},
                                  .folder = ask_folder_of(b->policy, question->path.text),
                                  .rule = str_of(policy_rule_id(answer->rule)),
                                  .why = buf_str(&why),
                                  .fix = buf_str(&fix)};
    /* Not worth a question; an answer that covers it still counts. */
    if (is_unmissed(b, r, &subject))
        return desk_allows(b->asks.desk, &subject) ? BROKER_GRANTS : BROKER_DENIES;
    return ask_about(b, r, &subject, (const struct resolved *const[]){where, far});
}

enum broker_ruling broker_ask_change(struct broker *b, struct request *r,
                                     const struct resolved *where,
                                     const struct policy_request *question,
                                     const struct policy_answer *answer, enum audit_op op)
{
    return ask_end(b, r, where, question, answer, op, NULL, STR_NONE, false);
}

/* Where somebody allowed changes for the whole run, a file can be changed anyway. */
static bool is_open(const struct broker *b, const struct policy_request *end)
{
    return desk_allows(b->asks.desk,
                       &(struct ask_subject){.kind = ASK_CHANGE, .target = end->path.text});
}

/* The caller copies it itself, and every file of it is judged. */
static const struct policy_answer copied = {
    .rule = RULE_LINK_PLACE, .other_device = true, .target = true};

enum broker_ruling broker_ask_pair(struct broker *b, struct request *r,
                                   const struct resolved *const ends[2],
                                   const struct policy_request questions[2],
                                   struct policy_answer *answer)
{
    bool granted[2] = {false, false}, folder = questions[0].facts.directory;
    r->leaves = false;
    if (!b->asks.desk)
        return BROKER_DENIES;
    for (int i = 0; i < 2; i++) {
        struct policy_answer one = {0};
        policy_decide(b->policy, &questions[i], &one);
        if (one.verdict == CORDON_ALLOW)
            continue;
        if (i == 1 && !folder && !is_open(b, &questions[1]) &&
            ask_can_change(b->asks.desk->wide, one.rule, &questions[1])) {
            /* A journal has both ends of a rename, or a file that goes. */
            r->leaves = (!b->undo || granted[0]) && leave_can(b, ends[0], ends[1]);
            *answer = copied;
            if (!r->leaves)
                return BROKER_DENIES;
        }
        enum broker_ruling ruling = ask_end(b, r, ends[i], &questions[i], &one, AUDIT_FILE_RENAME,
                                            ends[1 - i], questions[1 - i].path.text, i == 1);
        if (ruling != BROKER_GRANTS) {
            *answer = one;
            answer->target = i == 1;
            return ruling;
        }
        granted[i] = true;
    }
    policy_decide_pair(b->asks.desk->wide, &questions[0], &questions[1], answer);
    if (answer->verdict == CORDON_ALLOW && folder && granted[0] != granted[1])
        *answer = copied;
    return answer->verdict == CORDON_ALLOW ? BROKER_GRANTS : BROKER_DENIES;
}
