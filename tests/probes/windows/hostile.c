/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hostile client: code inside the sandbox that leaves the agent aside and speaks the wire itself.
 * It finds the shared memory as any code in the process can, takes slots for itself and writes into
 * them what it likes.
 *
 *   hostile broken KIND            one message that no agent would write; ends this process
 *   hostile requests N SEED OUT    N well-formed requests with hostile content, each answered
 *   hostile race N OUT             names exchanged in the slot while the broker reads it
 *   hostile replay N               old messages again, states turned around, the semaphore flooded
 *   hostile held                   slots of threads that do not go on, and a request beside them
 *   hostile unasked HOW OUT        a child without the agent's knowledge, that would write OUT
 * late; HOW: asked (START, then never STARTED), silent (not even that), resumed (made suspended and
 * let go), after (one that stands still first, to keep the broker waiting) hostile family KINDS
 * OUT       starts one child per kind of broken message and works meanwhile
 */
#include "wire/windows/nt.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe.h"
#include "wire/wire.h"

enum { FIRST_SLOT = WIRE_SLOTS / 2, PATIENCE_MS = 20000 };

static struct wire_shared *wire;

/* The broker gives more slots while a thread waits for one: this one says so. */
static void ask_for_slots(void)
{
    __atomic_add_fetch(&wire->waiting, 1, __ATOMIC_ACQ_REL);
    for (int i = 0; i < 2 * WIRE_SLOTS && wire->slots < WIRE_SLOTS; i++)
        CreateDirectoryA(".", NULL);
    __atomic_sub_fetch(&wire->waiting, 1, __ATOMIC_ACQ_REL);
}

static bool find_wire(bool whole)
{
    MEMORY_BASIC_INFORMATION m;
    for (const char *at = NULL; VirtualQuery(at, &m, sizeof m) == sizeof m;
         at = (const char *)m.BaseAddress + m.RegionSize) {
        if (m.State != MEM_COMMIT || m.Type != MEM_MAPPED || m.Protect != PAGE_READWRITE ||
            m.RegionSize < sizeof(struct wire_shared))
            continue;
        struct wire_shared *s = m.BaseAddress;
        if (s->magic == WIRE_MAGIC && s->slots > 0 && s->slots <= WIRE_SLOTS) {
            wire = s;
            if (whole)
                ask_for_slots();
            return !whole || wire->slots == WIRE_SLOTS;
        }
    }
    return false;
}

/* The agent leaves slots alone that have an owner who lives. */
static void take_slots(void)
{
    for (unsigned i = FIRST_SLOT; i < WIRE_SLOTS; i++)
        wire->slot[i].owner = GetCurrentThreadId();
}

static void raise_hand(unsigned slot)
{
    __atomic_store_n(&wire->slot[slot].state, WIRE_ASKED, __ATOMIC_RELEASE);
    ReleaseSemaphore((HANDLE)(uintptr_t)wire->requests, 1, NULL);
}

/* False if no answer came. */
static bool wait_answer(unsigned slot)
{
    return WaitForSingleObject((HANDLE)(uintptr_t)wire->answered[slot], PATIENCE_MS) ==
           WAIT_OBJECT_0;
}

static struct wire_message *message_in(unsigned slot)
{
    return (struct wire_message *)wire->slot[slot].message;
}

/* A well-formed message; texts in bytes. */
static void compose(unsigned slot, uint32_t op, const uint64_t *numbers, const void *first,
                    uint32_t first_size, const void *second, uint32_t second_size)
{
    struct wire_message *m = message_in(slot);
    uint32_t sizes[WIRE_TEXTS] = {first_size, second_size};
    m->op = op;
    m->sequence++;
    memcpy(m->numbers, numbers, sizeof m->numbers);
    memcpy(m->text_size, sizes, sizeof sizes);
    if (first_size)
        memcpy((char *)m + wire_text_at(sizes, 0), first, first_size);
    if (second_size)
        memcpy((char *)m + wire_text_at(sizes, 1), second, second_size);
    wire->slot[slot].size = (uint32_t)wire_text_at(sizes, WIRE_TEXTS);
}

/* One question as the agent would ask it, past the agent. */
bool wire_say(uint32_t op, const uint64_t *numbers, const void *first, uint32_t first_size,
              const void *second, uint32_t second_size, struct wire_answer *answer)
{
    unsigned slot = FIRST_SLOT;
    if (!wire && !find_wire(true))
        return false;
    take_slots();
    compose(slot, op, numbers, first, first_size, second, second_size);
    raise_hand(slot);
    bool answered = wait_answer(slot);
    *answer = wire->slot[slot].answer;
    return answered;
}

/* ---- broken messages ---- */

enum { BROKEN_KINDS = 16 };

static int broken(int kind)
{
    static const wchar_t name[] = L"\\??\\C:\\x";
    uint64_t numbers[WIRE_NUMBERS] = {0};
    unsigned slot = FIRST_SLOT;
    compose(slot, WIRE_DELETE, numbers, name, sizeof name - 2, NULL, 0);
    struct wire_message *m = message_in(slot);
    uint32_t *size = &wire->slot[slot].size;
    switch (kind) {
    case 0: *size = 0; break;
    case 1: *size -= 1; break;
    case 2: *size += 1; break;
    case 3: *size += 4; break;
    case 4: *size = sizeof *m - 1; break;
    case 5: *size = WIRE_MAX_MESSAGE; break;
    case 6: *size = WIRE_MAX_MESSAGE + 1; break;
    case 7: *size = 0xFFFFFFFF; break;
    case 8: m->op = WIRE_NOTHING; break;
    case 9: m->op = WIRE_OPS; break;
    case 10: m->op = 0x80000001; break;
    case 11: m->numbers[WIRE_NUMBERS - 1] = 1; break;
    case 12: m->text_size[0] = WIRE_MAX_TEXT + 1; break;
    case 13: m->text_size[1] = 2; break;
    case 14: m->text_size[0] = 0xFFFFFFFC; break;
    default: m->op = WIRE_REFUSED, m->numbers[1] = 0, m->numbers[0] = WIRE_REFUSED_COUNT; break;
    }
    raise_hand(slot);
    WaitForSingleObject((HANDLE)(uintptr_t)wire->answered[slot], PATIENCE_MS);
    Sleep(PATIENCE_MS); /* an answer would be wrong: the process must not live on */
    return 3;
}

/* ---- well-formed, hostile content ---- */

static uint64_t seed;

static uint32_t next(uint32_t below)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)((seed >> 33) % below);
}

enum { MOST_HANDLES = 24, OUTSIDE_NAMES = 24, NAMES = 30 };
static uint64_t handles[MOST_HANDLES];
static unsigned handle_count;
static wchar_t names[NAMES][600];
static unsigned name_count;

static void add_handle(HANDLE h)
{
    if (h && handle_count < MOST_HANDLES)
        handles[handle_count++] = (uint64_t)(uintptr_t)h;
}

/* Handles of every type, pseudo-handles, and numbers that are none. */
static void collect(const wchar_t *out)
{
    enum { SHARE = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE };
    wchar_t path[600], full[600];
    HANDLE token, near_end, far_end;
    HKEY key;
    swprintf(path, 600, L"%ls\\file", out);
    add_handle(CreateFileW(path, GENERIC_READ, SHARE, NULL, OPEN_EXISTING, 0, NULL));
    add_handle(CreateFileW(out, 0, SHARE, NULL, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, NULL));
    add_handle(CreateFileW(L"file", GENERIC_READ, SHARE, NULL, OPEN_EXISTING, 0, NULL));
    add_handle(CreateFileW(L".", 0, SHARE, NULL, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, NULL));
    add_handle(CreateEventW(NULL, FALSE, FALSE, NULL));
    add_handle(CreateMutexW(NULL, FALSE, NULL));
    add_handle(CreateFileMappingW(INVALID_HANDLE_VALUE, NULL, PAGE_READWRITE, 0, 4096, NULL));
    if (CreatePipe(&near_end, &far_end, NULL, 0))
        add_handle(near_end), add_handle(far_end);
    if (OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &token))
        add_handle(token);
    if (RegOpenKeyExW(HKEY_CURRENT_USER, L"Software", 0, KEY_READ, &key) == 0)
        add_handle((HANDLE)key);
    add_handle(OpenThread(THREAD_QUERY_INFORMATION, FALSE, GetCurrentThreadId()));
    add_handle((HANDLE)(uintptr_t)wire->requests);
    for (intptr_t pseudo = -1; pseudo >= -6; pseudo--)
        add_handle((HANDLE)pseudo);
    add_handle((HANDLE)(uintptr_t)0x7FFFFFFC);
    add_handle((HANDLE)(uintptr_t)0xFFFFFFFF);
    add_handle((HANDLE)(uintptr_t)5);
    static const wchar_t *const forms[] = {
        L"\\??\\%ls\\hostile", L"\\??\\%ls\\file", L"\\??\\%ls\\file:s", L"\\??\\%ls\\empty",
        L"\\??\\%ls", L"\\??\\%ls\\..\\out\\file", L"\\DosDevices\\%ls\\hostile",
        L"\\GLOBAL??\\%ls\\file", L"\\??\\GLOBALROOT\\??\\%ls\\file",
        L"\\??\\UNC\\localhost\\c$\\x", L"\\Device\\Nothing\\x", L"\\??\\pipe\\cordon-hostile",
        L"..\\out\\hostile", L"..\\..\\out\\file", L"file", L"sub\\new", L".git\\config",
        L"repo\\.git\\hooks\\h", L":s", L"\\", L"\\??\\C:", L"\\??\\", L"%ls\\file", L"",
        /* inside: what is granted must not lead out */
        L"\\??\\%ls\\file", L"\\??\\%ls\\sub\\new", L"\\??\\%ls\\hard", L"\\??\\%ls\\sub",
        L"\\??\\%ls\\new.txt", L"\\??\\%ls\\.git"};
    GetFullPathNameW(out, 600, full, NULL);
    GetCurrentDirectoryW(600, path);
    for (unsigned i = 0; i < NAMES; i++)
        swprintf(names[i], 600, forms[i], i < OUTSIDE_NAMES ? full : path);
    name_count = NAMES;
}

/* A text: a name, a changed name, noise, or the longest there is. */
static uint32_t text(wchar_t *to)
{
    uint32_t units = 0;
    if (next(200) == 0) {
        for (units = 0; units < WIRE_MAX_TEXT / 2; units++)
            to[units] = units % 9 ? L'a' : L'\\';
        memcpy(to, L"\\??\\C:", 12);
        return 2 * units;
    }
    if (next(8) == 0) {
        for (units = next(30); units > 0; units--)
            to[units - 1] = (wchar_t)next(65536);
        return next(61);
    }
    const wchar_t *name = names[next(name_count)];
    for (; name[units]; units++)
        to[units] = name[units];
    if (units && next(6) == 0)
        to[next(units)] = (wchar_t)next(next(2) ? 128 : 65536);
    return 2 * units - (units && next(40) == 0);
}

/* Stand-ins for a socket address, a reparse buffer and a descriptor. */
static uint32_t bytes(unsigned char *to)
{
    uint32_t size = next(64);
    for (uint32_t i = 0; i < size; i++)
        to[i] = (unsigned char)next(next(3) ? 4 : 256);
    return size;
}

/* An access list, whole or not. */
static uint32_t list(void *to)
{
    unsigned char *at = to;
    uint32_t size = bytes(at) & ~3u;
    if (size >= 8 && next(3)) {
        ACL head = {.AclRevision = ACL_REVISION,
                    .AclSize = (WORD)(next(4) ? size : next(200)),
                    .AceCount = (WORD)next(3)};
        memcpy(at, &head, sizeof head);
    }
    return size;
}

static uint64_t number(void)
{
    switch (next(6)) {
    case 0: return handles[next(handle_count)];
    case 1: return next(64);
    case 2: return 1ull << next(64);
    case 3: return ~0ull >> next(64);
    default: return ((uint64_t)next(0x7FFFFFFF) << 33) ^ next(0x7FFFFFFF);
    }
}

static const struct {
    unsigned numbers, texts;
} shapes[] = {
    {0, 0},
#define REQUEST(name, numbers, texts) {numbers, texts},
#include "wire/requests.def"
#undef REQUEST
};

/* True for what asks about the tree itself, where a yes could end or stall a sibling. */
static bool is_about_children(uint32_t op)
{
    return op == WIRE_START || op == WIRE_STARTED;
}

static int requests(unsigned count, const wchar_t *out)
{
    static wchar_t first[WIRE_MAX_TEXT / 2 + 2], second[WIRE_MAX_TEXT / 2 + 2];
    unsigned granted = 0;
    collect(out);
    for (unsigned n = 0; n < count; n++) {
        uint64_t numbers[WIRE_NUMBERS] = {0};
        uint32_t op = 1 + next(WIRE_OPS - 1), sizes[2] = {0};
        unsigned slot = FIRST_SLOT + next(WIRE_SLOTS - FIRST_SLOT);
        if (is_about_children(op) && next(50))
            op = WIRE_OPEN;
        for (unsigned i = 0; i < shapes[op].numbers; i++)
            numbers[i] = number();
        if (next(3)) /* handles where handles belong, so that it gets further */
            numbers[0] = next(3) ? handles[next(handle_count)] : 0;
        if (op == WIRE_OPEN && next(4)) {
            if (next(2))
                numbers[0] = 0;
            static const uint32_t accesses[] = {
                GENERIC_WRITE, FILE_WRITE_DATA, FILE_APPEND_DATA, DELETE,
                GENERIC_ALL,   MAXIMUM_ALLOWED, WRITE_DAC,        FILE_WRITE_ATTRIBUTES};
            numbers[1] = accesses[next(8)] | SYNCHRONIZE;
            numbers[2] = next(8);
            numbers[3] = next(7);
            numbers[4] = next(3) ? FILE_SYNCHRONOUS_IO_NONALERT : next(0x10000);
            numbers[5] = next(3) ? 0 : next(0x10000);
            numbers[6] = next(3) ? 0 : next(32);
            numbers[7] = 0;
        }
        if (op == WIRE_REFUSED)
            numbers[0] = 1 + next(WIRE_REFUSED_COUNT - 1);
        if (op == WIRE_STARTED && numbers[0] == 0)
            numbers[0] = 5;
        if (shapes[op].texts > 0)
            sizes[0] = op == WIRE_NETWORK || op == WIRE_CONTROL || op == WIRE_SECURITY
                           ? bytes((unsigned char *)first)
                           : text(first);
        if (shapes[op].texts > 1)
            sizes[1] = op == WIRE_OPEN && next(2) ? list(second) : text(second);
        compose(slot, op, numbers, first, sizes[0], second, sizes[1]);
        raise_hand(slot);
        if (!wait_answer(slot)) {
            printf("request %u (%s) was not answered\n", n, wire_op_name(op));
            return 1;
        }
        const struct wire_answer *answer = &wire->slot[slot].answer;
        if (op == WIRE_OPEN && (int32_t)answer->status >= 0 && answer->handle) {
            granted++;
            CloseHandle((HANDLE)(uintptr_t)answer->handle);
        }
    }
    printf("answered %u, granted %u\n", count, granted);
    return 0;
}

/* ---- handles that are no files ---- */

static int handles_by_kind(void)
{
    enum { SHARE = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE };
    HANDLE near_end, far_end;
    CreatePipe(&near_end, &far_end, NULL, 0);
    const struct {
        const char *kind;
        HANDLE handle;
    } rows[] = {
        {"own file",
         CreateFileW(L"file", GENERIC_WRITE | DELETE, SHARE, NULL, OPEN_EXISTING, 0, NULL)},
        {"current process", GetCurrentProcess()},
        {"current thread", GetCurrentThread()},
        {"odd", (HANDLE)(uintptr_t)5},
        {"zero", NULL},
        {"beyond", (HANDLE)(uintptr_t)0x7FFFFFFC},
        {"event", CreateEventW(NULL, FALSE, FALSE, NULL)},
        {"pipe", near_end},
        {"process", OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, FALSE, GetCurrentProcessId())},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t numbers[WIRE_NUMBERS] = {(uint64_t)(uintptr_t)rows[i].handle};
        compose(FIRST_SLOT, WIRE_DISPOSITION, numbers, NULL, 0, NULL, 0);
        raise_hand(FIRST_SLOT);
        if (!wait_answer(FIRST_SLOT))
            return 1;
        printf("%s %08x\n", rows[i].kind, (unsigned)wire->slot[FIRST_SLOT].answer.status);
    }
    return 0;
}

/* ---- exchanged while the broker reads ---- */

static volatile bool racing = true;

/* Turns the name in the slot from inside to outside and back, both of one length. */
static DWORD WINAPI exchange_names(void *context)
{
    wchar_t *at = context;
    while (racing) {
        memcpy(at, L"\\ws\\a-", 12);
        for (volatile int i = 0; i < 100; i++)
            __atomic_thread_fence(__ATOMIC_SEQ_CST);
        memcpy(at, L"\\out\\-", 12);
        for (volatile int i = 0; i < 100; i++)
            __atomic_thread_fence(__ATOMIC_SEQ_CST);
    }
    return 0;
}

static int race(unsigned count, const wchar_t *out)
{
    wchar_t full[600], name[700];
    unsigned slot = FIRST_SLOT, granted = 0, refused = 0;
    uint64_t numbers[WIRE_NUMBERS] = {0, GENERIC_WRITE | SYNCHRONIZE, 7, FILE_OPEN_IF,
                                      FILE_SYNCHRONOUS_IO_NONALERT};
    GetFullPathNameW(out, 600, full, NULL);
    wchar_t *last = wcsrchr(full, L'\\');
    if (!last)
        return 2;
    *last = 0;
    size_t at = (size_t)swprintf(name, 700, L"\\??\\%ls", full);
    swprintf(name + at, 100, L"\\ws\\a-raced");
    uint32_t size = 2 * (uint32_t)wcslen(name);
    compose(slot, WIRE_OPEN, numbers, name, size, NULL, 0);
    wchar_t *in_slot = (wchar_t *)(void *)((char *)message_in(slot) + sizeof(struct wire_message));
    HANDLE thread = CreateThread(NULL, 0, exchange_names, in_slot + at, 0, NULL);
    for (unsigned n = 0; n < count; n++) {
        message_in(slot)->sequence++;
        raise_hand(slot);
        if (!wait_answer(slot))
            return 1;
        const struct wire_answer *answer = &wire->slot[slot].answer;
        if ((int32_t)answer->status >= 0 && answer->handle) {
            granted++;
            CloseHandle((HANDLE)(uintptr_t)answer->handle);
        } else {
            refused++;
        }
    }
    racing = false;
    WaitForSingleObject(thread, INFINITE);
    printf("granted %u, refused %u\n", granted, refused);
    return 0;
}

/* ---- out of order ---- */

static int replay(unsigned count)
{
    static const wchar_t name[] = L"\\??\\C:\\cordon-nothing\\x";
    uint64_t numbers[WIRE_NUMBERS] = {0};
    unsigned answered = 0, ahead = 0;
    for (unsigned n = 0; n < count; n++) {
        unsigned slot = FIRST_SLOT + n % (WIRE_SLOTS - FIRST_SLOT);
        struct wire_slot *s = &wire->slot[slot];
        compose(slot, WIRE_DELETE, numbers, name, sizeof name - 2, NULL, 0);
        switch (n % 5) {
        case 0: message_in(slot)->sequence = 7; break; /* always the same */
        case 1: message_in(slot)->sequence -= 9; break;
        case 2: s->state = WIRE_TAKEN; break; /* as if somebody had it */
        case 3: s->answer.sequence = message_in(slot)->sequence; break;
        default: /* more hands than requests */
            ReleaseSemaphore((HANDLE)(uintptr_t)wire->requests, 50, NULL);
            ahead += 50;
        }
        raise_hand(slot);
        if (!wait_answer(slot))
            return 1;
        answered++;
        s->state = n % 2 ? WIRE_TAKEN : WIRE_ANSWERED;
    }
    /* All slots at once, and taken back while they are served. */
    for (unsigned n = 0; n < count / 10; n++) {
        for (unsigned i = FIRST_SLOT; i < WIRE_SLOTS; i++) {
            compose(i, WIRE_DELETE, numbers, name, sizeof name - 2, NULL, 0);
            raise_hand(i);
        }
        for (unsigned i = FIRST_SLOT; i < WIRE_SLOTS; i++)
            __atomic_store_n(&wire->slot[i].state, n % 4, __ATOMIC_RELEASE);
    }
    printf("answered %u, ahead %u\n", answered, ahead);
    return 0;
}

/* ---- children of one's own ---- */

static bool ask_start(const wchar_t *image, const wchar_t *line)
{
    wchar_t name[700];
    uint64_t numbers[WIRE_NUMBERS] = {0};
    swprintf(name, 700, L"\\??\\%ls", image);
    compose(FIRST_SLOT, WIRE_START, numbers, name, 2 * (uint32_t)wcslen(name), line,
            2 * (uint32_t)wcslen(line));
    raise_hand(FIRST_SLOT);
    return wait_answer(FIRST_SLOT) && (int32_t)wire->slot[FIRST_SLOT].answer.status >= 0;
}

/* Exits with 0 if the child was made; whether it came to write is looked up on the disk. */
static int unasked(const wchar_t *how, const wchar_t *out)
{
    wchar_t self[600], line[1400];
    STARTUPINFOW startup = {.cb = sizeof startup};
    PROCESS_INFORMATION decoy, child;
    GetModuleFileNameW(NULL, self, 600);
    swprintf(line, 1400, L"\"%ls\" late-write 1000 %ls", self, out);
    bool resumed = wcscmp(how, L"resumed") == 0, behind = wcscmp(how, L"behind") == 0;
    if (!take_hook_away("NtCreateUserProcess") ||
        (wire && wcscmp(how, L"silent") != 0 && !ask_start(self, line)))
        return 2;
    if (behind && !CreateProcessW(NULL, line, NULL, NULL, FALSE, CREATE_SUSPENDED, NULL, NULL,
                                  &startup, &decoy))
        return last_error();
    if (!CreateProcessW(NULL, line, NULL, NULL, FALSE, resumed ? CREATE_SUSPENDED : 0, NULL, NULL,
                        &startup, &child))
        return last_error();
    if (resumed) {
        Sleep(100); /* while the broker waits for it to get its agent */
        ResumeThread(child.hThread);
    }
    WaitForSingleObject(child.hProcess, 5000);
    if (behind)
        TerminateProcess(decoy.hProcess, 0);
    return 0;
}

/* ---- a family ---- */

/* Each child dies of its message; this process is served all the while. */
static int family(int kinds)
{
    int died = 0, worked = 0;
    for (int kind = 0; kind < kinds; kind++) {
        wchar_t line[1200], self[600], name[40];
        STARTUPINFOW startup = {.cb = sizeof startup};
        PROCESS_INFORMATION child;
        DWORD code = 0, n;
        GetModuleFileNameW(NULL, self, 600);
        swprintf(line, 1200, L"\"%ls\" hostile broken %d", self, kind);
        if (!CreateProcessW(NULL, line, NULL, NULL, FALSE, 0, NULL, NULL, &startup, &child))
            return 4;
        for (int i = 0; i < 5; i++) {
            swprintf(name, 40, L"sub\\family-%d-%d", kind, i);
            HANDLE file = CreateFileW(name, GENERIC_WRITE, 0, NULL, CREATE_NEW,
                                      FILE_FLAG_DELETE_ON_CLOSE, NULL);
            worked += file != INVALID_HANDLE_VALUE && WriteFile(file, "x", 1, &n, NULL);
            CloseHandle(file);
        }
        WaitForSingleObject(child.hProcess, PATIENCE_MS);
        GetExitCodeProcess(child.hProcess, &code);
        if (code != 125)
            printf("kind %d: %lu\n", kind, (unsigned long)code);
        died += code == 125;
        CloseHandle(child.hProcess);
        CloseHandle(child.hThread);
    }
    printf("died %d of %d, worked %d\n", died, kinds, worked);
    return died == kinds && worked == 5 * kinds ? 0 : 1;
}

/* Every slot there is belongs to a thread that does not go on, as if it were suspended: another slot is given. */
static int held(void)
{
    char name[40];
    for (unsigned i = 0; i < WIRE_SLOTS && wire->slots < WIRE_SLOTS; i++) {
        for (unsigned k = 0; k < wire->slots; k++)
            wire->slot[k].owner = GetCurrentThreadId();
        snprintf(name, sizeof name, "held-%u", i);
        if (!CreateDirectoryA(name, NULL))
            return 4;
    }
    printf("held, %u slots\n", wire->slots);
    return wire->slots == WIRE_SLOTS ? 0 : 5;
}

int do_hostile(void)
{
    const wchar_t *what = word(0);
    unsigned count = (unsigned)_wtoi(word(1));
    bool found = find_wire(wcscmp(what, L"held") != 0);
    if (wcscmp(what, L"unasked") == 0) {
        if (found)
            take_slots();
        return unasked(word(1), word(2)); /* without the sandbox, too: the control */
    }
    if (!found) {
        printf("no wire\n");
        return 2;
    }
    if (wcscmp(what, L"held") == 0)
        return held();
    if (wcscmp(what, L"family") == 0)
        return family(BROKEN_KINDS);
    take_slots();
    seed = 0x9E3779B97F4A7C15u ^ (uint64_t)_wtoi(word(2));
    if (wcscmp(what, L"broken") == 0)
        return broken((int)count);
    if (wcscmp(what, L"requests") == 0)
        return requests(count, word(3));
    if (wcscmp(what, L"race") == 0)
        return race(count, word(3));
    if (wcscmp(what, L"handles") == 0)
        return handles_by_kind();
    if (wcscmp(what, L"replay") == 0)
        return replay(count);
    return 99;
}

/*
 * An honest process that stays while others come and go: runs the command line that a file outside
 * holds whenever it changes, what it prints goes to ws\done; "end" ends.
 */
int do_serve_lines(void)
{
    enum { SHARE = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE };
    SECURITY_ATTRIBUTES inherit = {sizeof inherit, NULL, TRUE};
    char last[1200] = "";
    for (;; Sleep(10)) {
        char line[1200] = "", text[64];
        DWORD n = 0, code = 1;
        HANDLE file = CreateFileW(word(0), GENERIC_READ, SHARE, NULL, OPEN_EXISTING, 0, NULL);
        if (file == INVALID_HANDLE_VALUE)
            continue;
        BOOL read = ReadFile(file, line, sizeof line - 1, &n, NULL);
        CloseHandle(file);
        if (!read || strcmp(line, last) == 0)
            continue;
        if (strcmp(line, "end") == 0)
            return 0;
        memcpy(last, line, sizeof last);
        /* The child holds this one and may do to it what it likes; the answer is a file of ours. */
        wchar_t said[40];
        swprintf(said, 40, L"said-%llu", (unsigned long long)GetTickCount64());
        HANDLE out = CreateFileW(said, GENERIC_READ | GENERIC_WRITE, SHARE, &inherit, CREATE_ALWAYS,
                                 FILE_FLAG_DELETE_ON_CLOSE, NULL);
        STARTUPINFOA startup = {.cb = sizeof startup,
                                .dwFlags = STARTF_USESTDHANDLES,
                                .hStdOutput = out,
                                .hStdError = out};
        PROCESS_INFORMATION child;
        if (CreateProcessA(NULL, line, NULL, NULL, TRUE, 0, NULL, NULL, &startup, &child)) {
            WaitForSingleObject(child.hProcess, INFINITE);
            GetExitCodeProcess(child.hProcess, &code);
            CloseHandle(child.hProcess);
            CloseHandle(child.hThread);
        }
        char back[1200];
        DWORD length = 0;
        SetFilePointer(out, 0, NULL, FILE_BEGIN);
        ReadFile(out, back, sizeof back, &length, NULL);
        CloseHandle(out);
        int size = snprintf(text, sizeof text, "code %lu\n", (unsigned long)code);
        HANDLE done = CreateFileW(L"done.new", GENERIC_WRITE, SHARE, NULL, CREATE_ALWAYS, 0, NULL);
        WriteFile(done, back, length, &n, NULL);
        WriteFile(done, text, (DWORD)size, &n, NULL);
        CloseHandle(done);
        MoveFileExW(L"done.new", L"done", MOVEFILE_REPLACE_EXISTING);
    }
}

static DWORD WINAPI rename_held(void *moved)
{
    *(volatile LONG *)moved = MoveFileW(L"held", L"moved");
    return 0;
}

/* One thread's request stands still in the broker; the others must be served. */
int do_stand_still(void)
{
    volatile LONG moved = 0;
    HANDLE held = CreateFileW(L"held", GENERIC_WRITE, 0, NULL, CREATE_NEW, 0, NULL);
    CloseHandle(held);
    CloseHandle(CreateThread(NULL, 0, rename_held, (void *)&moved, 0, NULL));
    Sleep(500);
    uint64_t begin = GetTickCount64();
    BOOL made = CreateDirectoryW(L"beside", NULL);
    printf("made %d after %llu ms, moved %ld\n", made,
           (unsigned long long)(GetTickCount64() - begin), moved);
    fflush(stdout);
    TerminateProcess(GetCurrentProcess(), made && !moved ? 0 : 1);
    return 1;
}

static DWORD WINAPI storm(void *context)
{
    for (int i = _wtoi(word(1)); i > 0; i--)
        DeleteFileW(L"nothing-of-that-name");
    return context != NULL;
}

/* Threads that ask without a pause, by way of the agent: each request must find a worker. */
int do_storm(void)
{
    HANDLE threads[16];
    DWORD count = (DWORD)_wtoi(word(0));
    for (DWORD i = 0; i < count && i < 16; i++)
        threads[i] = CreateThread(NULL, 0, storm, NULL, 0, NULL);
    return WaitForMultipleObjects(count, threads, TRUE, 60000) == WAIT_OBJECT_0 ? 0 : 1;
}
