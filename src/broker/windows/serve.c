/* SPDX-License-Identifier: Apache-2.0 */
/* Processes, their workers, and job notifications. */
#include <stdio.h>
#include <stdlib.h>

#include "base/utf.h"
#include "broker/windows/ask.h"
#include "launch/windows/wide.h"
#include "undo/keep.h"

enum { WORKER_WAIT_MS = 1000 };

static DWORD WINAPI work(void *context);

static void end_process(struct broker_client *c, const char *why)
{
    struct broker *b = c->broker;
    struct request r = {.broker = b, .client = c};
    request_event(&r, &(struct audit_event){.type = AUDIT_DENY,
                                            .op = AUDIT_PROCESS_OPEN,
                                            .target = STR("broker"),
                                            .verdict = CORDON_DENY,
                                            .rule = str_of(policy_rule_id(RULE_PROCESS_MALFORMED)),
                                            .why = str_of(why),
                                            .fix = STR(POLICY_NO_REMEDY)});
    TerminateProcess(c->process, 125);
}

/* The message is copied once; the shared memory is not read again afterwards. */
static void serve_slot(struct broker_client *c, unsigned index, unsigned char *copy)
{
    struct wire_slot *slot = &c->wire.shared->slot[index];
    struct request r = {.broker = c->broker,
                        .client = c,
                        .thread = __atomic_load_n(&slot->owner, __ATOMIC_RELAXED)};
    uint32_t size = __atomic_load_n(&slot->size, __ATOMIC_ACQUIRE);
    if (size > WIRE_MAX_MESSAGE)
        size = 0;
    memcpy(copy, slot->message, size);
    r.malformed = !wire_decode(copy, size, &r.wire);
    r.answer.sequence = r.wire.sequence;
    if (!r.malformed)
        broker_dispatch(&r);
    arena_free(&r.arena);
    if (r.malformed) {
        end_process(c, "the program sent a request that the agent never makes");
        return;
    }
    slot->answer = r.answer;
    __atomic_store_n(&slot->state, WIRE_ANSWERED, __ATOMIC_RELEASE);
    SetEvent(c->wire.answered[index]);
}

static bool is_asked(struct broker_client *c, unsigned index)
{
    return __atomic_load_n(&c->wire.shared->slot[index].state, __ATOMIC_ACQUIRE) == WIRE_ASKED;
}

bool broker_thread(struct broker *b, LPTHREAD_START_ROUTINE run, void *context)
{
    InterlockedIncrement(&b->threads);
    HANDLE thread = CreateThread(NULL, 0, run, context, 0, NULL);
    if (thread)
        CloseHandle(thread);
    else
        InterlockedDecrement(&b->threads);
    return thread != NULL;
}

static bool start_worker(struct broker_client *c)
{
    InterlockedIncrement(&c->workers);
    bool started = broker_thread(c->broker, work, c);
    if (!started)
        InterlockedDecrement(&c->workers);
    return started;
}

/* While another worker of the client lives; the last one frees it. */
static void start_beside(struct broker_client *c)
{
    LONG workers = c->workers;
    if (workers <= 0 || workers >= BROKER_MOST_WORKERS ||
        InterlockedCompareExchange(&c->workers, workers + 1, workers) != workers)
        return;
    if (!broker_thread(c->broker, work, c))
        InterlockedDecrement(&c->workers);
}

void broker_tend(struct broker *b)
{
    for (struct broker_client *c = b->clients; c; c = c->next) {
        bool asked = __atomic_load_n(&c->wire.shared->waiting, __ATOMIC_ACQUIRE) != 0;
        for (unsigned i = 0; i < WIRE_SLOTS; i++)
            asked = asked || is_asked(c, i);
        if (asked && c->idle == 0)
            start_beside(c);
    }
}

/* Most processes ask from one thread: they get more slots as soon as another thread waits for one. */
static void add_slot(struct broker_client *c)
{
    if (!__atomic_load_n(&c->wire.shared->waiting, __ATOMIC_ACQUIRE) ||
        c->wire.slots == WIRE_SLOTS || InterlockedCompareExchange(&c->adding, 1, 0))
        return;
    injected_add_slot(c->process, &c->wire);
    SetEvent(c->wire.freed);
    InterlockedExchange(&c->adding, 0);
}

/* Serves the slots that have requests, each by one worker. */
static void serve_slots(struct broker_client *c, unsigned char *copy)
{
    for (unsigned i = 0; i < WIRE_SLOTS; i++)
        /* A request arrived while we held the slot, and the worker woken for it has passed it
           by. */
        while (is_asked(c, i) && !InterlockedCompareExchange(&c->busy[i], 1, 0)) {
            uint32_t asked = WIRE_ASKED;
            if (__atomic_compare_exchange_n(&c->wire.shared->slot[i].state, &asked, WIRE_TAKEN,
                                            false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
                unsigned more = i + 1;
                while (more < WIRE_SLOTS && !is_asked(c, more))
                    more++;
                if (more < WIRE_SLOTS && c->idle == 0 && c->workers < BROKER_MOST_WORKERS)
                    start_worker(c);
                serve_slot(c, i, copy);
                add_slot(c);
            }
            InterlockedExchange(&c->busy[i], 0);
        }
}

/* The last worker frees the client. */
static void leave(struct broker_client *c)
{
    struct broker *b = c->broker;
    if (InterlockedDecrement(&c->workers) > 0)
        return;
    DWORD code = 0;
    broker_ask_client_gone(c);
    GetExitCodeProcess(c->process, &code);
    struct request r = {.broker = b, .client = c};
    request_event(&r, &(struct audit_event){.type = AUDIT_EXIT, .code = code});
    EnterCriticalSection(&b->lock);
    for (struct broker_client **at = &b->clients; *at; at = &(*at)->next)
        if (*at == c) {
            *at = c->next;
            break;
        }
    LeaveCriticalSection(&b->lock);
    times_end(c);
    buf_free(&c->command);
    injected_free(&c->wire);
    CloseHandle(c->process);
    free(c);
}

static DWORD WINAPI work(void *context)
{
    struct broker_client *c = context;
    struct broker *b = c->broker;
    unsigned char *copy = malloc(WIRE_MAX_MESSAGE);
    HANDLE events[] = {c->wire.requests, c->process};
    while (copy) {
        InterlockedIncrement(&c->idle);
        DWORD got = WaitForMultipleObjects(2, events, FALSE, INFINITE);
        InterlockedDecrement(&c->idle);
        if (got != WAIT_OBJECT_0)
            break;
        serve_slots(c, copy);
        add_slot(c);
    }
    if (!copy)
        end_process(c, "there is no memory left to serve the program");
    free(copy);
    leave(c);
    InterlockedDecrement(&b->threads);
    return 0;
}

int broker_add(struct broker *b, HANDLE process, struct injected *wire, struct str image)
{
    struct broker_client *c = calloc(1, sizeof *c);
    if (!c)
        return CORDON_E_NOMEM;
    c->broker = b;
    c->process = process;
    c->pid = GetProcessId(process);
    c->wire = *wire;
    snprintf(c->image_text, sizeof c->image_text, "%.*s", STR_ARG(image));
    c->image = str_of(c->image_text);
    EnterCriticalSection(&b->lock);
    c->next = b->clients;
    b->clients = c;
    LeaveCriticalSection(&b->lock);
    if (start_worker(c))
        return 0;
    EnterCriticalSection(&b->lock);
    b->clients = c->next;
    LeaveCriticalSection(&b->lock);
    free(c);
    return CORDON_E_NOMEM;
}

static DWORD WINAPI watch(void *context)
{
    struct broker *b = context;
    DWORD message, pause = INFINITE;
    ULONG_PTR key;
    OVERLAPPED *value;
    for (;;) {
        BOOL news = GetQueuedCompletionStatus(b->port, &message, &key, &value, pause);
        if (news ? message == JOB_OBJECT_MSG_ACTIVE_PROCESS_ZERO || b->stopping
                 : GetLastError() != WAIT_TIMEOUT)
            break;
        bool begins = news && message == JOB_OBJECT_MSG_NEW_PROCESS && !b->unconfined;
        pause = process_watch(b, begins ? (DWORD)(uintptr_t)value : 0);
    }
    InterlockedDecrement(&b->threads);
    return 0;
}

static bool open_root(struct broker *b, struct str path)
{
    auto_arena struct arena arena = {0};
    auto_buf struct buf verbatim = {0};
    buf_fmt(&verbatim, str_starts(path, STR("\\\\")) ? "\\\\?\\UNC%.*s" : "\\\\?\\%.*s",
            STR_ARG(str_starts(path, STR("\\\\")) ? str_from(path, 1) : path));
    wchar_t *name = wide_of(&arena, buf_str(&verbatim));
    HANDLE folder = name ? CreateFileW(name, FILE_TRAVERSE | FILE_READ_ATTRIBUTES,
                                       FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
                                       OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, NULL)
                         : INVALID_HANDLE_VALUE;
    if (folder == INVALID_HANDLE_VALUE)
        return false;
    b->roots[b->root_count++] = (struct broker_root){path, folder};
    b->remote_roots = b->remote_roots || str_starts(path, STR("\\\\"));
    return true;
}

static bool open_roots(struct broker *b)
{
    const struct policy_settings *s = policy_settings_of(b->policy);
    b->roots = calloc(s->roots.count + 1, sizeof *b->roots);
    bool good = b->roots != NULL;
    for (size_t i = 0; i < s->roots.count && good; i++)
        good = open_root(b, s->roots.items[i].path);
    if (good && s->temp_path.n)
        open_root(b, s->temp_path); /* a shared one may already be gone */
    return good;
}

int broker_start(struct broker *b)
{
    InitializeCriticalSection(&b->lock);
    InitializeCriticalSection(&b->undo_lock);
    drives_read(b);
    return open_roots(b) && b->port && broker_thread(b, watch, b) ? 0 : CORDON_E_CONFINE;
}

bool broker_stop(struct broker *b)
{
    enum { PATIENCE_MS = 1000, PATIENCE_UNDO_MS = 30000 };
    uint64_t begin = GetTickCount64();
    b->stopping = true;
    PostQueuedCompletionStatus(b->port, 0, 0, NULL);
    if (b->undo) {
        EnterCriticalSection(&b->undo_lock);
        keep_stop_copies(b->undo);
        LeaveCriticalSection(&b->undo_lock);
    }
    if (b->asks)
        bell_ring(broker_ask_desk(b)->answered);
    /* The tree is dead: each worker notices that at once, or when a file is kept. */
    while (b->threads > 0 && GetTickCount64() - begin < (b->undo ? PATIENCE_UNDO_MS : PATIENCE_MS))
        Sleep(1);
    if (b->threads > 0)
        return false;
    inject_plan_free(&b->inject);
    for (size_t i = 0; i < b->root_count; i++)
        CloseHandle(b->roots[i].folder);
    free(b->roots);
    id_set_free(&b->linked);
    id_set_free(&b->repositories);
    id_set_free(&b->probes);
    free(b->pipes.hashes);
    broker_ask_stop(b);
    DeleteCriticalSection(&b->lock);
    DeleteCriticalSection(&b->undo_lock);
    return true;
}
