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

enum { MOST_ROUNDS = 8, MOST_ANSWERS = 4, MOST_HELD = 256 };

/* Where something is, and what: of a name that is free, the folder. */
struct place {
    bool exists;
    struct file_id id;
    int held; /* so that the number does not go to another object; -1: not held */
};

struct broker_parked {
    struct request request;
    uint64_t question; /* at the desk */
    unsigned rounds;
    bool waits; /* it is in the list */
    size_t answers;
    struct {
        char key[65]; /* of the subject */
        struct place place;
        bool allowed;
    } said[MOST_ANSWERS];
};

static void spell_key(const struct ask_subject *s, char out[65])
{
    auto_buf struct buf text = {0}, hex = {0};
    /* A command is known by its name alone: its text is cut for people. */
    struct str target = s->kind == ASK_COMMAND ? STR_NONE : s->target;
    buf_fmt(&text, "%d %d %zu ", (int)s->kind, (int)s->op, target.n);
    buf_add(&text, target);
    buf_fmt(&text, "%zu %zu ", s->other.n, s->command.n);
    buf_add(&text, s->other);
    buf_add(&text, s->command);
    buf_add(&text, s->name);
    sha256_hex(&hex, buf_str(&text));
    snprintf(out, 65, "%s", text.failed ? "" : buf_cstr(&hex));
}

static struct place place_of(const struct resolved *where)
{
    struct place p = {.held = -1};
    struct stat st;
    if (!where)
        return p;
    p.exists = where->exists;
    if (where->exists)
        p.id = broker_id(where);
    else if (fstat(where->parent, &st) == 0)
        p.id = (struct file_id){st.st_dev, st.st_ino, 0};
    return p;
}

static bool same_place(const struct place *a, const struct place *b)
{
    return a->exists == b->exists && a->id.volume == b->id.volume && a->id.id == b->id.id &&
           a->id.birth == b->id.birth;
}

static void hold(struct place *p, const struct resolved *where)
{
    if (!where)
        return;
    const char *leaf = where->exists && where->leaf[0] ? where->leaf : NULL;
    p->held = leaf ? openat(where->parent, leaf, O_PATH | O_NOFOLLOW | O_CLOEXEC)
                   : fcntl(where->parent, F_DUPFD_CLOEXEC, 3);
}

/* As if it had not been asked about yet. */
static void take_back(struct broker_parked *p)
{
    int held = p->said[--p->answers].place.held;
    if (held >= 0)
        close(held);
    p->rounds--;
}

static void forget(struct broker_parked *p)
{
    for (size_t i = 0; i < p->answers; i++)
        if (p->said[i].place.held >= 0)
            close(p->said[i].place.held);
    free(p);
}

/* The earlier answer about this call, for the same subject. */
static enum broker_ruling answered_before(const struct request *r, const char *key,
                                          const struct place *place)
{
    const struct broker_parked *p = r->parked;
    for (size_t i = 0; p && i < p->answers; i++)
        if (strcmp(p->said[i].key, key) == 0 && same_place(&p->said[i].place, place))
            return p->said[i].allowed ? BROKER_GRANTS : BROKER_DENIES;
    return BROKER_WAITS;
}

/* Sets the call aside; false if it cannot. */
static bool park(struct broker *b, struct request *r, uint64_t question, const char *key,
                 struct place place, const struct resolved *where)
{
    struct broker_asks *asks = &b->asks;
    struct broker_parked *p = r->parked ? r->parked : calloc(1, sizeof *p);
    if (!p)
        return false;
    if (asks->count == ASK_MOST_WAITING || p->rounds == MOST_ROUNDS || p->answers == MOST_ANSWERS) {
        if (!r->parked)
            forget(p);
        return false;
    }
    if (asks->count < MOST_HELD)
        hold(&place, where);
    p->rounds++;
    p->waits = true;
    p->question = question;
    snprintf(p->said[p->answers].key, sizeof p->said[0].key, "%s", key);
    p->said[p->answers].allowed = false;
    p->said[p->answers++].place = place;
    p->request = *r;
    p->request.parked = NULL;
    asks->items[asks->count++] = p;
    r->answered = true; /* later */
    return true;
}

enum broker_ruling broker_ask_rule(struct broker *b, struct request *r,
                                   const struct ask_subject *subject, const struct resolved *where)
{
    struct desk *desk = b->asks.desk;
    struct ask_subject s = *subject;
    struct place place = place_of(where);
    auto_buf struct buf cmdline = {0};
    char key[65], image[PATH_MAX];
    uint64_t question;
    if (!desk || r->answered)
        return BROKER_DENIES;
    spell_key(&s, key);
    enum broker_ruling before = answered_before(r, key, &place);
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
    if (park(b, r, question, key, place, where))
        return BROKER_WAITS;
    desk_leave(desk, question);
    return BROKER_DENIES;
}

void broker_ask_resume(struct broker *b, void (*serve)(struct broker *b, struct request *r))
{
    struct broker_asks *asks = &b->asks;
    size_t ready = 0, left = 0;
    bell_hush(asks->desk->answered);
    for (size_t i = 0; i < asks->count; i++) {
        struct broker_parked *p = asks->items[i];
        struct ask_decision decision;
        if (!desk_take(asks->desk, p->question, &decision)) {
            asks->items[left++] = p;
            continue;
        }
        p->waits = false;
        if (decision.again)
            take_back(p);
        else
            p->said[p->answers - 1].allowed = decision.allowed;
        asks->ready[ready++] = p;
    }
    asks->count = left;
    for (size_t i = 0; i < ready; i++) {
        struct broker_parked *p = asks->ready[i];
        struct request r = p->request;
        r.parked = p;
        r.answered = false;
        if (request_alive(&r))
            serve(b, &r);
        if (!p->waits)
            forget(p);
    }
}

void broker_ask_look(struct broker *b, bool all)
{
    struct broker_asks *asks = &b->asks;
    size_t left = 0;
    for (size_t i = 0; i < asks->count; i++) {
        struct broker_parked *p = asks->items[i];
        if (!all && request_alive(&p->request)) {
            asks->items[left++] = p;
            continue;
        }
        desk_leave(asks->desk, p->question);
        forget(p);
    }
    asks->count = left;
}

/* other: the other end, if there is one. */
static enum broker_ruling ask_end(struct broker *b, struct request *r, const struct resolved *where,
                                  const struct policy_request *question,
                                  const struct policy_answer *answer, enum audit_op op,
                                  struct str other, bool arrives)
{
    auto_buf struct buf why = {0}, fix = {0};
    if (where->exists && (S_ISCHR(where->st.st_mode) || S_ISBLK(where->st.st_mode)))
        return BROKER_DENIES;
    if (!b->asks.desk || !ask_can_change(b->asks.desk->wide, answer->rule, question) ||
        ask_holds_root(b->policy, question->path.text))
        return BROKER_DENIES;
    policy_explain(b->policy, question, answer, &why, &fix);
    return broker_ask_rule(
        b, r,
        &(struct ask_subject){.kind = ASK_CHANGE,
                              .op = op,
                              .target = question->path.text,
                              .other = other,
                              .arrives = arrives,
                              .folder = ask_folder_of(b->policy, question->path.text),
                              .rule = str_of(policy_rule_id(answer->rule)),
                              .why = buf_str(&why),
                              .fix = buf_str(&fix)},
        where);
}

enum broker_ruling broker_ask_change(struct broker *b, struct request *r,
                                     const struct resolved *where,
                                     const struct policy_request *question,
                                     const struct policy_answer *answer, enum audit_op op)
{
    return ask_end(b, r, where, question, answer, op, STR_NONE, false);
}

enum broker_ruling broker_ask_pair(struct broker *b, struct request *r,
                                   const struct resolved *const ends[2],
                                   const struct policy_request questions[2], enum audit_op op,
                                   struct policy_answer *answer)
{
    bool granted[2] = {false, false};
    if (!b->asks.desk)
        return BROKER_DENIES;
    for (int i = 0; i < 2; i++) {
        struct policy_answer one = {0};
        policy_decide(b->policy, &questions[i], &one);
        if (one.verdict == CORDON_ALLOW)
            continue;
        /* A second name inside would open the file for good. */
        bool opens = i == 0 && op == AUDIT_FILE_LINK;
        enum broker_ruling ruling = opens ? BROKER_DENIES
                                          : ask_end(b, r, ends[i], &questions[i], &one, op,
                                                    questions[1 - i].path.text, i == 1);
        if (ruling != BROKER_GRANTS) {
            *answer = one;
            answer->target = i == 1;
            return ruling;
        }
        granted[i] = true;
    }
    policy_decide_pair(b->asks.desk->wide, &questions[0], &questions[1], answer);
    /* A folder that enters or leaves a root is copied, and every file in it is judged. */
    if (answer->verdict == CORDON_ALLOW && questions[0].facts.directory && granted[0] != granted[1])
        *answer =
            (struct policy_answer){.rule = RULE_LINK_PLACE, .other_device = true, .target = true};
    return answer->verdict == CORDON_ALLOW ? BROKER_GRANTS : BROKER_DENIES;
}
