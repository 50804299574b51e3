/* SPDX-License-Identifier: Apache-2.0 */
/* Slots of the shared memory: taken, filled, sent, freed. No thread spins; a slot whose thread died
   goes to the next one that needs it. */
#include "agent/windows/agent.h"

static uint32_t own_thread(void)
{
    uint32_t id;
    __asm__ volatile("movl %%gs:0x48, %0" : "=r"(id)); /* TEB.ClientId.UniqueThread */
    return id;
}

static bool swap(uint32_t *word, uint32_t from, uint32_t to)
{
    return __atomic_compare_exchange_n(word, &from, to, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

static bool is_idle(struct wire_slot *slot)
{
    uint32_t state = __atomic_load_n(&slot->state, __ATOMIC_ACQUIRE);
    return state == WIRE_FREE || state == WIRE_ANSWERED;
}

/* True if the thread of this process has ended. */
static bool is_dead(uint32_t thread)
{
    HANDLE handle;
    OBJECT_ATTRIBUTES none = {.Length = sizeof none};
    CLIENT_ID id = {(HANDLE)(uintptr_t)agent_shared->process, (HANDLE)(uintptr_t)thread};
    struct nt_thread_basic info;
    NTSTATUS status = REAL(NtOpenThread)(&handle, THREAD_QUERY_LIMITED_INFORMATION, &none, &id);
    if (status < 0) /* one that may not be opened lives */
        return status == STATUS_INVALID_CID || status == STATUS_INVALID_PARAMETER;
    status = CALL(NtQueryInformationThread)(handle, 0, &info, sizeof info, NULL);
    REAL(NtClose)(handle);
    return status >= 0 && info.exit != STATUS_PENDING;
}

static int try_slots(uint32_t me, bool from_the_dead)
{
    uint32_t slots = __atomic_load_n(&agent_shared->slots, __ATOMIC_ACQUIRE);
    for (int i = 0; i < WIRE_SLOTS && (uint32_t)i < slots; i++) {
        struct wire_slot *slot = &agent_shared->slot[i];
        uint32_t owner = __atomic_load_n(&slot->owner, __ATOMIC_ACQUIRE);
        if (!is_idle(slot) || (owner && !(from_the_dead && is_dead(owner))))
            continue;
        if (swap(&slot->owner, owner, me))
            return i;
    }
    return -1;
}

/* The broker is told as long as it can add a slot: the owner of the last one may be suspended. */
static NTSTATUS wait_freed(LARGE_INTEGER *pause)
{
    HANDLE requests = (HANDLE)(uintptr_t)agent_shared->requests;
    HANDLE freed = (HANDLE)(uintptr_t)agent_shared->freed;
    return __atomic_load_n(&agent_shared->slots, __ATOMIC_ACQUIRE) < WIRE_SLOTS
               ? CALL(NtSignalAndWaitForSingleObject)(requests, freed, FALSE, pause)
               : CALL(NtWaitForSingleObject)(freed, FALSE, pause);
}

static int take_slot(void)
{
    uint32_t me = own_thread();
    int slot = try_slots(me, false);
    if (slot >= 0)
        return slot;
    __atomic_add_fetch(&agent_shared->waiting, 1, __ATOMIC_ACQ_REL);
    LARGE_INTEGER pause = {.QuadPart = -500000}; /* 50 ms, then longer: many may wait */
    while ((slot = try_slots(me, false)) < 0) {
        NTSTATUS status = wait_freed(&pause);
        if (status == STATUS_TIMEOUT && (slot = try_slots(me, true)) >= 0)
            break;
        if (status < 0)
            break;
        if (status == STATUS_TIMEOUT && pause.QuadPart > -10000000)
            pause.QuadPart *= 2;
    }
    __atomic_sub_fetch(&agent_shared->waiting, 1, __ATOMIC_ACQ_REL);
    return slot;
}

static void free_slot(struct wire_slot *slot)
{
    __atomic_store_n(&slot->owner, 0, __ATOMIC_RELEASE);
    if (__atomic_load_n(&agent_shared->waiting, __ATOMIC_ACQUIRE))
        CALL(NtSetEvent)((HANDLE)(uintptr_t)agent_shared->freed, NULL);
}

static NTSTATUS exchange(int index, uint32_t sequence, struct wire_answer *answer)
{
    struct wire_slot *slot = &agent_shared->slot[index];
    HANDLE event = (HANDLE)(uintptr_t)agent_shared->answered[index];
    __atomic_store_n(&slot->state, WIRE_ASKED, __ATOMIC_RELEASE);
    /* One call. Wine may signal twice: then a worker finds nothing to take. */
    NTSTATUS status = CALL(NtSignalAndWaitForSingleObject)(
        (HANDLE)(uintptr_t)agent_shared->requests, event, FALSE, NULL);
    while (status >= 0 && (__atomic_load_n(&slot->state, __ATOMIC_ACQUIRE) != WIRE_ANSWERED ||
                           slot->answer.sequence != sequence))
        status = CALL(NtWaitForSingleObject)(event, FALSE, NULL);
    if (status < 0) {
        /* If the broker already has it, the slot stays busy until it answers. */
        swap(&slot->state, WIRE_ASKED, WIRE_FREE);
        return STATUS_ACCESS_DENIED;
    }
    *answer = slot->answer;
    return (NTSTATUS)answer->status;
}

static NTSTATUS ask_once(enum wire_op op, const uint64_t numbers[WIRE_NUMBERS], struct piece first,
                         struct piece second, struct wire_answer *answer)
{
    uint32_t sizes[WIRE_TEXTS] = {(uint32_t)first.n, (uint32_t)second.n};
    if (first.n > WIRE_MAX_TEXT || second.n > WIRE_MAX_TEXT)
        return STATUS_NAME_TOO_LONG;
    size_t size = wire_size(op, sizes);
    int index = size ? take_slot() : -1;
    if (index < 0)
        return STATUS_ACCESS_DENIED;
    struct wire_slot *slot = &agent_shared->slot[index];
    struct wire_message *message = (struct wire_message *)slot->message;
    uint32_t sequence = __atomic_add_fetch(&agent_shared->sequence, 1, __ATOMIC_ACQ_REL);
    message->op = op;
    message->sequence = sequence;
    memcpy(message->numbers, numbers, sizeof message->numbers);
    memcpy(message->text_size, sizes, sizeof sizes);
    memcpy(slot->message + wire_text_at(sizes, 0), first.p, first.n);
    memcpy(slot->message + wire_text_at(sizes, 1), second.p, second.n);
    slot->size = (uint32_t)size;
    NTSTATUS status = exchange(index, sequence, answer);
    free_slot(slot);
    return status;
}

NTSTATUS agent_ask(enum wire_op op, const uint64_t numbers[WIRE_NUMBERS], struct piece first,
                   struct piece second, struct wire_answer *answer)
{
    for (;;) {
        answer->flags = 0;
        NTSTATUS status = ask_once(op, numbers, first, second, answer);
        if (!(answer->flags & WIRE_WAITS))
            return status;
        /* Without a slot: others go on meanwhile. */
        HANDLE decided = (HANDLE)(uintptr_t)answer->handle;
        status = CALL(NtWaitForSingleObject)(decided, FALSE, NULL);
        REAL(NtClose)(decided);
        if (status < 0)
            return STATUS_ACCESS_DENIED;
    }
}
