/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that wait for a person or a program to answer. Such a call gets an event to wait for instead
 * of an answer: it occupies neither a slot nor a worker. With the decision the agent makes the same
 * request again, and it is judged from its start: whatever it names by then is allowed only if it is
 * what was asked about, the same object under the same final path.
 */
#include "broker/windows/ask.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/sha256.h"
#include "broker/windows/index.h"

enum {
    MOST_ANSWERS = 4, /* of one call */
    MOST_HELD = 256,
    MOST_PASSES = 64,
    LOOK_MS = 500,
    KEPT_MS = 60000 /* a decision for a call that does not come back for it */
};

typedef char key_text[65];

/* A call that waits, or has its answer and comes again. Known by its thread: one calls at a time. */
struct parked {
    struct broker_client *client;
    DWORD thread_id;
    HANDLE thread, ready; /* ready: what the thread waits for */
    uint64_t question;    /* at the desk, while it waits */
    uint64_t decided;     /* when */
    bool waits;
    size_t answers;
    struct {
        key_text key;   /* of the subject and its place */
        HANDLE held[2]; /* the objects, so that their numbers go to no others; NULL: not held */
        bool allowed;
        enum audit_op op; /* of the question */
        char *target;     /* owned; NULL: out of memory */
    } said[MOST_ANSWERS];
};

struct broker_asks {
    struct desk *desk;
    struct broker *broker;
    CRITICAL_SECTION lock; /* taken before the desk's and the broker's */
    struct parked *items[ASK_MOST_WAITING];
    size_t count;
    /* Answers for one call that the agent makes in two steps: to ask and to do. */
    struct {
        DWORD pid;
        key_text key;
    } passes[MOST_PASSES];
    size_t next_pass;
};

struct desk *broker_ask_desk(const struct broker *b)
{
    return b->asks ? b->asks->desk : NULL;
}

static void spell_key(const struct ask_subject *s, key_text out)
{
    auto_buf struct buf text = {0}, hex = {0};
    /* A command is known by its name alone: its text is cut for people. */
    struct str target = s->kind == ASK_COMMAND ? STR_NONE : s->target;
    const struct str parts[] = {target,  s->other,       s->command, s->name,
                                s->link, s->detail.text, s->exact};
    buf_fmt(&text, "%d %d ", (int)s->kind, (int)s->op);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        buf_fmt(&text, "%u ", (unsigned)parts[i].n);
        buf_add(&text, parts[i]);
    }
    sha256_hex(&hex, buf_str(&text));
    snprintf(out, sizeof(key_text), "%s", text.failed ? "" : buf_cstr(&hex));
}

/* Which objects there are, and of what kind: a folder can become a link without changing its
   number. False if there is no telling. */
static bool spell_objects(struct buf *out, const struct ask_objects *o)
{
    for (int i = 0; i < 2; i++) {
        struct file_id id = {0};
        struct facts facts = {0};
        if (o->files[i] && (!facts_id(o->files[i], &id) || facts_of(o->files[i], &facts) < 0))
            return false;
        buf_fmt(out, "%d%d%d %llx %llx %llx ", (int)o->exists[i], (int)facts.directory,
                (int)facts.reparse, (unsigned long long)id.volume, (unsigned long long)id.id,
                (unsigned long long)id.birth);
    }
    return !out->failed;
}

/* ---- with the lock ---- */

static struct parked *find(struct broker_asks *a, const struct request *r)
{
    for (size_t i = 0; i < a->count; i++)
        if (a->items[i]->client == r->client && a->items[i]->thread_id == r->thread)
            return a->items[i];
    return NULL;
}

static void drop_answer(struct parked *p)
{
    const HANDLE *held = p->said[--p->answers].held;
    free(p->said[p->answers].target);
    for (int i = 0; i < 2; i++)
        if (held[i])
            CloseHandle(held[i]);
}

static void forget(struct broker_asks *a, struct parked *p)
{
    for (size_t i = 0; i < a->count; i++)
        if (a->items[i] == p)
            a->items[i] = a->items[--a->count];
    if (p->waits)
        desk_leave(a->desk, p->question);
    while (p->answers)
        drop_answer(p);
    if (p->ready) {
        SetEvent(p->ready);
        CloseHandle(p->ready);
    }
    if (p->thread)
        CloseHandle(p->thread);
    free(p);
}

static bool take_pass(struct broker_asks *a, DWORD pid, const char *key)
{
    for (size_t i = 0; i < MOST_PASSES; i++)
        if (a->passes[i].pid == pid && strcmp(a->passes[i].key, key) == 0) {
            a->passes[i].pid = 0;
            return true;
        }
    return false;
}

static struct parked *parked_new(struct broker_asks *a, struct request *r)
{
    struct parked *p = a->count < ASK_MOST_WAITING ? calloc(1, sizeof *p) : NULL;
    if (!p)
        return NULL;
    p->client = r->client;
    p->thread_id = r->thread;
    p->ready = CreateEventW(NULL, TRUE, FALSE, NULL);
    p->thread = OpenThread(SYNCHRONIZE | THREAD_QUERY_LIMITED_INFORMATION, FALSE, r->thread);
    a->items[a->count++] = p;
    if (p->ready && p->thread && GetProcessIdOfThread(p->thread) == r->client->pid)
        return p;
    forget(a, p);
    return NULL;
}

static char *copy_text(struct str text)
{
    char *copy = malloc(text.n + 1);
    if (copy)
        snprintf(copy, text.n + 1, "%.*s", STR_ARG(text));
    return copy;
}

/* Sets the call aside; false if it cannot. */
static bool park(struct broker_asks *a, struct request *r, struct parked *p,
                 const struct ask_subject *s, const char *key, const struct ask_objects *o)
{
    HANDLE there;
    uint64_t question;
    struct broker_client *c = r->client;
    struct ask_subject full = *s;
    if (!c->command.n)
        process_show_command(c->process, &c->command);
    full.cmdline = buf_str(&c->command);
    if (!p)
        p = parked_new(a, r);
    if (!p || p->answers == MOST_ANSWERS || desk_join(a->desk, &full, &question) != ASK_NO)
        return false;
    p->waits = true;
    p->question = question;
    ResetEvent(p->ready);
    snprintf(p->said[p->answers].key, sizeof(key_text), "%s", key);
    p->said[p->answers].allowed = false;
    p->said[p->answers].op = s->op;
    p->said[p->answers].target = copy_text(s->target);
    for (int i = 0; i < 2; i++) {
        HANDLE *held = &p->said[p->answers].held[i];
        *held = NULL;
        if (o->files[i] && a->count < MOST_HELD)
            DuplicateHandle(GetCurrentProcess(), o->files[i], GetCurrentProcess(), held, 0, FALSE,
                            DUPLICATE_SAME_ACCESS);
    }
    p->answers++;
    if (!DuplicateHandle(GetCurrentProcess(), p->ready, r->client->process, &there, SYNCHRONIZE,
                         FALSE, 0)) {
        forget(a, p);
        return false;
    }
    r->waits = true;
    r->answer.handle = (uint64_t)(uintptr_t)there;
    return true;
}

static enum ask_ruling rule(struct broker_asks *a, struct request *r, const struct ask_subject *s,
                            const struct ask_objects *o, const char *key)
{
    struct parked *p = find(a, r);
    if (p && p->waits) {
        /* No agent asks while it waits. */
        forget(a, p);
        p = NULL;
    }
    for (size_t i = 0; p && i < p->answers; i++)
        if (strcmp(p->said[i].key, key) == 0)
            return p->said[i].allowed ? ASK_GRANTS : ASK_DENIES;
    if (take_pass(a, r->client->pid, key))
        return ASK_GRANTS;
    desk_lock(a->desk);
    enum ask_answer said = ask_remembered(a->desk->ask, s);
    desk_unlock(a->desk);
    if (said != ASK_NO || r->silent)
        return said == ASK_RUN ? ASK_GRANTS : ASK_DENIES;
    return park(a, r, p, s, key, o) ? ASK_WAITS : ASK_DENIES;
}

/* ---- for the handlers ---- */

enum ask_ruling broker_ask_rule(struct request *r, const struct ask_subject *subject,
                                const struct ask_objects *objects)
{
    struct broker_asks *a = r->broker->asks;
    struct ask_subject s = *subject;
    auto_buf struct buf exact = {0};
    key_text key;
    if (!a || r->waits)
        return r->waits ? ASK_WAITS : ASK_DENIES;
    bool known = spell_objects(&exact, objects);
    buf_add(&exact, s.exact);
    s.exact = buf_str(&exact);
    spell_key(&s, key);
    if (!known || exact.failed || !key[0])
        return ASK_DENIES;
    s.pid = r->client->pid;
    s.image = r->client->image;
    EnterCriticalSection(&a->lock);
    enum ask_ruling ruling = rule(a, r, &s, objects, key);
    if (ruling == ASK_GRANTS && r->two_steps) {
        a->passes[a->next_pass % MOST_PASSES].pid = r->client->pid;
        memcpy(a->passes[a->next_pass++ % MOST_PASSES].key, key, sizeof key);
    }
    LeaveCriticalSection(&a->lock);
    return ruling;
}

bool broker_ask_may_change(struct request *r, const struct policy_request *question,
                           const struct policy_answer *answer)
{
    struct desk *desk = broker_ask_desk(r->broker);
    return desk && question->path.class == PATH_FILE &&
           !place_is_remote(r->broker, &question->path) &&
           drives_of(r->broker, question->path.text) &&
           ask_can_change(desk->wide, answer->rule, question) &&
           !ask_holds_root(r->broker->policy, question->path.text);
}

static enum ask_ruling ask_end(struct request *r, const struct ask_objects *objects,
                               const struct policy_request *question, struct policy_answer *answer,
                               enum audit_op op, struct str other, bool arrives)
{
    auto_buf struct buf why = {0}, fix = {0};
    if (!broker_ask_may_change(r, question, answer) ||
        desk_keeps(r->broker->asks->desk, op, question->path.text))
        return ASK_DENIES;
    policy_explain(r->broker->policy, question, answer, &why, &fix);
    struct ask_subject s = {.kind = ASK_CHANGE,
                            .op = op,
                            .target = question->path.text,
                            .other = other,
                            .arrives = arrives,
                            .link = r->link,
                            .detail = r->detail ? *r->detail : (struct ask_detail){0},
                            .folder = ask_folder_of(r->broker->policy, question->path.text),
                            .rule = str_of(policy_rule_id(answer->rule)),
                            .why = buf_str(&why),
                            .fix = buf_str(&fix)};
    return broker_ask_rule(r, &s, objects);
}

enum ask_ruling broker_ask_change(struct request *r, HANDLE file,
                                  const struct policy_request *question,
                                  struct policy_answer *answer, enum audit_op op)
{
    const struct ask_objects one = {.files = {file}, .exists = {question->facts.exists}};
    enum ask_ruling ruling = ask_end(r, &one, question, answer, op, STR_NONE, false);
    if (ruling == ASK_GRANTS)
        policy_decide(r->broker->asks->desk->wide, question, answer);
    return ruling;
}

/* Where somebody allowed changes for the whole run, a file can be changed anyway. */
static bool is_open(struct request *r, const struct policy_request *end)
{
    return desk_allows(r->broker->asks->desk,
                       &(struct ask_subject){.kind = ASK_CHANGE, .target = end->path.text});
}

/* True if a copy would lack something: content that lies elsewhere and reads as zeros here (a file in a
   cloud, deduplicated), encryption, where a link leads, extended attributes; and if the file could not
   be deleted afterwards. */
static bool is_special(HANDLE file)
{
    enum {
        FILE_EA = 7, /* FileEaInformation */
        RECALL_ON_OPEN = 0x40000,
        RECALL_ON_DATA = 0x400000
    };
    const ULONG special = FILE_ATTRIBUTE_READONLY | FILE_ATTRIBUTE_REPARSE_POINT |
                          FILE_ATTRIBUTE_OFFLINE | FILE_ATTRIBUTE_ENCRYPTED | RECALL_ON_OPEN |
                          RECALL_ON_DATA;
    FILE_BASIC_INFORMATION basic;
    IO_STATUS_BLOCK io;
    ULONG ea = 0;
    if (NtQueryInformationFile(file, &io, &basic, sizeof basic, FileBasicInformation) < 0)
        return true;
    bool known =
        NtQueryInformationFile(file, &io, &ea, sizeof ea, (FILE_INFORMATION_CLASS)FILE_EA) >= 0;
    return (basic.FileAttributes & special) || (known && ea);
}

/* False for a file that is too large to be copied here, or of which something would be lost: its
   program copies it. */
static bool can_leave(HANDLE file)
{
    enum { STREAMS = 22 /* FileStreamInformation */ };
    FILE_STANDARD_INFORMATION standard;
    IO_STATUS_BLOCK io;
    union {
        ULONG next; /* 0: it is the only one */
        uint64_t bytes[64];
    } streams = {0};
    if (NtQueryInformationFile(file, &io, &standard, sizeof standard, FileStandardInformation) <
            0 ||
        standard.EndOfFile.QuadPart > INDEX_MOST_LEAVING || is_special(file))
        return false;
    NTSTATUS status = NtQueryInformationFile(file, &io, &streams, sizeof streams,
                                             (FILE_INFORMATION_CLASS)STREAMS);
    bool unknown = status == STATUS_NOT_IMPLEMENTED || status == STATUS_INVALID_INFO_CLASS ||
                   status == STATUS_INVALID_PARAMETER;
    return unknown || (status >= 0 && streams.next == 0);
}

/* The caller copies it itself, and every file of it is judged. */
static const struct policy_answer copied = {
    .rule = RULE_LINK_PLACE, .other_device = true, .target = true};

enum ask_ruling broker_ask_pair(struct request *r, const HANDLE files[2],
                                const struct policy_request questions[2],
                                struct policy_answer *answer)
{
    bool granted[2] = {false, false}, folder = questions[0].facts.directory;
    const struct ask_objects both = {
        .files = {files[0], files[1]},
        .exists = {questions[0].facts.exists, questions[1].facts.exists}};
    r->leaves = false;
    if (!r->broker->asks)
        return ASK_DENIES;
    for (int i = 0; i < 2; i++) {
        struct policy_answer one = {0};
        policy_decide(r->broker->policy, &questions[i], &one);
        if (one.verdict == CORDON_ALLOW)
            continue;
        /* By a handle or a view that is open the run could go on changing a file that left. */
        r->leaves = i == 1 && !folder && !is_open(r, &questions[1]);
        if (r->leaves && broker_ask_may_change(r, &questions[1], &one) && !can_leave(files[0])) {
            *answer = copied;
            return ASK_DENIES;
        }
        enum ask_ruling ruling = ask_end(r, &both, &questions[i], &one, AUDIT_FILE_RENAME,
                                         questions[1 - i].path.text, i == 1);
        if (ruling != ASK_GRANTS) {
            *answer = one;
            answer->target = i == 1;
            return ruling;
        }
        granted[i] = true;
    }
    policy_decide_pair(r->broker->asks->desk->wide, &questions[0], &questions[1], answer);
    if (answer->verdict == CORDON_ALLOW && folder && granted[0] != granted[1])
        *answer = copied;
    return answer->verdict == CORDON_ALLOW ? ASK_GRANTS : ASK_DENIES;
}

enum ask_ruling broker_ask_read(struct request *r, HANDLE file,
                                const struct policy_request *question,
                                const struct policy_answer *answer)
{
    auto_buf struct buf why = {0}, fix = {0};
    if (!r->broker->asks || !ask_can_lift(ASK_READ, answer->rule))
        return ASK_DENIES;
    policy_explain(r->broker->policy, question, answer, &why, &fix);
    struct ask_subject s = {.kind = ASK_READ,
                            .op = AUDIT_FILE_READ,
                            .target = question->path.text,
                            .rule = str_of(policy_rule_id(answer->rule)),
                            .why = buf_str(&why),
                            .fix = buf_str(&fix)};
    return broker_ask_rule(r, &s, &(struct ask_objects){.files = {file}, .exists = {true}});
}

/* ---- the life of a call that waits ---- */

/* A yes is no success: the summary says what came of it. */
static void tell_failure(const struct broker_asks *a, const struct parked *p,
                         const struct request *r)
{
    char why[32];
    if (r->answer.status < 0xC0000000)
        return;
    snprintf(why, sizeof why, "status 0x%08X", (unsigned)r->answer.status);
    for (size_t i = 0; i < p->answers; i++)
        if (p->said[i].allowed && p->said[i].target)
            desk_failed(a->desk, r->client->pid, p->said[i].op, str_of(p->said[i].target),
                        str_of(why));
}

void broker_ask_served(struct request *r)
{
    struct broker_asks *a = r->broker->asks;
    if (!a || r->waits)
        return;
    EnterCriticalSection(&a->lock);
    struct parked *p = a->count ? find(a, r) : NULL;
    if (p) {
        tell_failure(a, p, r);
        forget(a, p);
    }
    LeaveCriticalSection(&a->lock);
}

void broker_ask_client_gone(struct broker_client *c)
{
    struct broker_asks *a = c->broker->asks;
    if (!a)
        return;
    EnterCriticalSection(&a->lock);
    for (size_t i = a->count; i-- > 0;)
        if (a->items[i]->client == c)
            forget(a, a->items[i]);
    LeaveCriticalSection(&a->lock);
}

/* Wakes the calls whose question is decided, and takes away those whose caller is gone. */
static void look(struct broker_asks *a, bool all)
{
    uint64_t now = gate_clock();
    struct ask_decision decision;
    EnterCriticalSection(&a->lock);
    for (size_t i = a->count; i-- > 0;) {
        struct parked *p = a->items[i];
        if (p->waits && desk_take(a->desk, p->question, &decision)) {
            p->waits = false;
            p->decided = now;
            if (decision.again)
                drop_answer(p); /* as if it had not been asked about yet */
            else
                p->said[p->answers - 1].allowed = decision.allowed;
            SetEvent(p->ready);
        } else if (all && (WaitForSingleObject(p->thread, 0) == WAIT_OBJECT_0 ||
                           (!p->waits && now - p->decided > KEPT_MS))) {
            forget(a, p);
        }
    }
    LeaveCriticalSection(&a->lock);
}

static DWORD WINAPI watch(void *context)
{
    struct broker_asks *a = context;
    struct broker *b = a->broker;
    uint64_t last = 0;
    while (!b->stopping) {
        WaitForSingleObject((HANDLE)a->desk->answered, LOOK_MS);
        bell_hush(a->desk->answered);
        bool all = gate_clock() - last >= LOOK_MS;
        last = all ? gate_clock() : last;
        look(a, all);
    }
    InterlockedDecrement(&b->threads);
    return 0;
}

int broker_ask_start(struct broker *b, struct desk *desk)
{
    struct broker_asks *a = calloc(1, sizeof *a);
    if (!a)
        return CORDON_E_NOMEM;
    InitializeCriticalSection(&a->lock);
    a->desk = desk;
    a->broker = b;
    b->asks = a;
    return broker_thread(b, watch, a) ? 0 : CORDON_E_NOMEM;
}

void broker_ask_stop(struct broker *b)
{
    struct broker_asks *a = b->asks;
    if (!a)
        return;
    while (a->count)
        forget(a, a->items[0]);
    DeleteCriticalSection(&a->lock);
    free(a);
    b->asks = NULL;
}
