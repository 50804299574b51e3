/* SPDX-License-Identifier: Apache-2.0 */
/* See inject.h. The order: recognise the stubs, make the wire, place the agent, place the hooks. */
#include "wire/windows/nt.h"

#include "launch/windows/inject.h"

#include <stdio.h>
#include <stdlib.h>

#include "cordon.h"

NTSYSAPI NTSTATUS NTAPI NtMapViewOfSection(HANDLE, HANDLE, PVOID *, ULONG_PTR, SIZE_T,
                                           LARGE_INTEGER *, SIZE_T *, DWORD, ULONG, ULONG);

/* The agent's image as it was linked: see CMakeLists.txt. */
extern const unsigned char agent_image_begin[], agent_image_end[];
__asm__(".section .rdata,\"dr\"\n"
        ".balign 16\n"
        ".globl agent_image_begin, agent_image_end\n"
        "agent_image_begin:\n"
        ".incbin \"" CORDON_AGENT_IMAGE "\"\n"
        "agent_image_end:\n"
        ".byte 0\n"
        ".text\n");

static const char *const hook_names[] = {
#define HOOK(name, needed) #name,
#include "wire/hooks.def"
#undef HOOK
};
static const bool hook_needed[] = {
#define HOOK(name, needed) needed,
#include "wire/hooks.def"
#undef HOOK
};
static const char *const call_names[] = {
#define CALL(name) #name,
#include "wire/calls.def"
#undef CALL
};
enum {
    HOOKS = sizeof hook_names / sizeof *hook_names,
    CALLS = sizeof call_names / sizeof *call_names,
    STUB = 32,           /* the most bytes compared */
    STUB_HEAD = 21,      /* common to all known shapes, apart from the call number */
    STUB_SYSCALL = 18,   /* the offset of "syscall" */
    STUB_OTHER_WAY = 21, /* where the stub continues if the flag at 0x7FFE0308 is set */
    MOST_STUBS = 1 << 20 /* bytes between the first and the last stub */
};

/*
 * mov r10,rcx; mov eax,N; test byte [7FFE0308],1; jne +3; syscall; ret. What follows is Windows'
 * "int 2e; ret" or Wine's call of its dispatcher.
 */
static const unsigned char stub_head[STUB_HEAD] = {0x4C, 0x8B, 0xD1, 0xB8, 0,    0,    0,
                                                   0,    0xF6, 0x04, 0x25, 0x08, 0x03, 0xFE,
                                                   0x7F, 0x01, 0x75, 0x03, 0x0F, 0x05, 0xC3};
static const struct {
    unsigned char size, bytes[STUB - STUB_HEAD];
} stub_tails[] = {
    {3, {0xCD, 0x2E, 0xC3}},
    {11, {0xEB, 0x01, 0xC3, 0xFF, 0x14, 0x25, 0x00, 0x10, 0xFE, 0x7F, 0xC3}},
};

static bool is_stub(const unsigned char *code)
{
    for (size_t i = 0; i < STUB_HEAD; i++)
        if (code[i] != stub_head[i] && i != 4 && i != 5)
            return false;
    for (size_t i = 0; i < sizeof stub_tails / sizeof *stub_tails; i++)
        if (memcmp(code + STUB_HEAD, stub_tails[i].bytes, stub_tails[i].size) == 0)
            return true;
    return false;
}

/* The stub's own beginning, then a jump to its syscall: system calls from private memory look like
   an attack to security products. */
static void write_trampoline(unsigned char *out, const unsigned char *code, uint64_t stub)
{
    uint64_t syscall = stub + STUB_SYSCALL, other = stub + STUB_OTHER_WAY;
    static const unsigned char jump[] = {0xFF, 0x25, 0, 0, 0, 0}; /* jmp [rip+0] */
    memcpy(out, code, 16);
    out[16] = 0x75; /* jne */
    out[17] = sizeof jump + sizeof syscall;
    memcpy(out + 18, jump, sizeof jump);
    memcpy(out + 24, &syscall, sizeof syscall);
    memcpy(out + 32, jump, sizeof jump);
    memcpy(out + 38, &other, sizeof other);
}

/* mov rax,hook; jmp rax. */
static void write_jump(unsigned char *stub, uint64_t hook)
{
    stub[0] = 0x48;
    stub[1] = 0xB8;
    memcpy(stub + 2, &hook, sizeof hook);
    stub[10] = 0xFF;
    stub[11] = 0xE0;
}

/* ---- the run's policy image ---- */

int inject_plan_make(struct str policy_image, bool check_reads, const struct token_run *who,
                     struct inject_plan *out, struct launch_failure *f)
{
    HANDLE section = CreateFileMappingW(INVALID_HANDLE_VALUE, NULL, PAGE_READWRITE, 0,
                                        (DWORD)(policy_image.n ? policy_image.n : 1), NULL);
    void *view = section ? MapViewOfFile(section, FILE_MAP_WRITE, 0, 0, 0) : NULL;
    if (!view) {
        int rc = launch_fail(f, "cannot share the policy (CreateFileMapping)");
        if (section)
            CloseHandle(section);
        return rc;
    }
    memcpy(view, policy_image.p, policy_image.n);
    UnmapViewOfFile(view);
    *out = (struct inject_plan){
        .image = section, .image_size = policy_image.n, .check_reads = check_reads, .who = who};
    return 0;
}

void inject_plan_free(struct inject_plan *plan)
{
    if (plan->image)
        CloseHandle(plan->image);
    plan->image = NULL;
}

/* ---- the wire ---- */

void injected_free(struct injected *wire)
{
    if (wire->shared)
        UnmapViewOfFile(wire->shared);
    if (wire->requests)
        CloseHandle(wire->requests);
    if (wire->freed)
        CloseHandle(wire->freed);
    for (size_t i = 0; i < WIRE_SLOTS; i++)
        if (wire->answered[i])
            CloseHandle(wire->answered[i]);
    *wire = (struct injected){0};
}

static bool lend(HANDLE process, HANDLE handle, DWORD access, uint64_t *out)
{
    HANDLE there;
    if (!handle || !DuplicateHandle(GetCurrentProcess(), handle, process, &there, access, FALSE, 0))
        return false;
    *out = (uint64_t)(uintptr_t)there;
    return true;
}

void injected_add_slot(HANDLE process, struct injected *wire)
{
    unsigned i = wire->slots;
    HANDLE event = i < WIRE_SLOTS ? CreateEventW(NULL, FALSE, FALSE, NULL) : NULL;
    if (!event)
        return;
    if (!lend(process, event, SYNCHRONIZE, &wire->shared->answered[i])) {
        CloseHandle(event);
        return;
    }
    wire->answered[i] = event;
    wire->slots = i + 1;
    __atomic_store_n(&wire->shared->slots, wire->slots, __ATOMIC_RELEASE);
}

static void *map_there(HANDLE process, HANDLE section, DWORD protection)
{
    void *address = NULL;
    SIZE_T size = 0;
    NTSTATUS status = NtMapViewOfSection(section, process, &address, 0, 0, NULL, &size,
                                         2 /* unmap */, 0, protection);
    return status >= 0 ? address : NULL;
}

/* Creates the shared memory and its events; *there is its address in the process. */
static int make_wire(HANDLE process, const struct inject_plan *plan, struct injected *wire,
                     void **there, struct launch_failure *f)
{
    HANDLE section = CreateFileMappingW(INVALID_HANDLE_VALUE, NULL, PAGE_READWRITE, 0,
                                        sizeof(struct wire_shared), NULL);
    wire->shared = section ? MapViewOfFile(section, FILE_MAP_WRITE, 0, 0, 0) : NULL;
    *there = wire->shared ? map_there(process, section, PAGE_READWRITE) : NULL;
    if (section)
        CloseHandle(section);
    if (!*there)
        return launch_fail(f, "cannot share memory with the program (NtMapViewOfSection)");
    struct wire_shared *s = wire->shared;
    wire->requests = CreateSemaphoreW(NULL, 0, 1 << 20, NULL);
    wire->freed = CreateEventW(NULL, FALSE, FALSE, NULL);
    bool good = lend(process, wire->requests, SEMAPHORE_MODIFY_STATE, &s->requests) &&
                lend(process, wire->freed, EVENT_MODIFY_STATE | SYNCHRONIZE, &s->freed);
    if (good)
        injected_add_slot(process, wire);
    good = good && wire->slots;
    enum { IN_DIRECTORY = 0xF /* query, traverse, create objects and directories */ };
    if (good && plan->objects)
        good = lend(process, plan->objects, IN_DIRECTORY, &s->objects);
    if (!good)
        return launch_fail(f, "cannot lend events to the program (DuplicateHandle)");
    s->magic = WIRE_MAGIC;
    s->process = GetProcessId(process);
    BOOL narrow = FALSE;
    if (IsWow64Process(process, &narrow) && narrow)
        s->flags |= WIRE_NARROW;
    if (plan->keep_console)
        s->flags |= WIRE_KEEP_CONSOLE;
    s->local_drives = plan->local_drives;
    memcpy(s->stub, plan->stub, sizeof s->stub);
    s->stub_size = plan->stub_size;
    memcpy(s->drives, plan->drives, sizeof s->drives);
    CopySid(WIRE_SID, s->run_sid, (PSID)plan->who->sid);
    CopySid(WIRE_SID, s->user_sid, (PSID)plan->who->user);
    if (plan->check_reads) {
        s->flags |= WIRE_CHECK_READS;
        s->image = (uint64_t)(uintptr_t)map_there(process, plan->image, PAGE_READONLY);
        s->image_size = plan->image_size;
        if (!s->image)
            return launch_fail(f, "cannot share the policy with the program (NtMapViewOfSection)");
    }
    return 0;
}

/* ---- the stubs ---- */

struct system_calls {
    unsigned char *first; /* the same address in every process of this boot */
    size_t size;
    unsigned char *code[HOOKS];
    unsigned char *copy; /* of [first, first + size) in the process */
};

static int find_system_calls(HANDLE process, struct system_calls *s, struct launch_failure *f)
{
    HMODULE ntdll = GetModuleHandleW(L"ntdll.dll");
    unsigned char *last = NULL;
    SIZE_T n;
    for (size_t i = 0; i < HOOKS; i++) {
        s->code[i] = (unsigned char *)(void *)GetProcAddress(ntdll, hook_names[i]);
        if (!s->code[i] && !hook_needed[i])
            continue;
        if (!s->code[i]) {
            snprintf(f->text, sizeof f->text, "ntdll has no %s: unsupported Windows version",
                     hook_names[i]);
            return CORDON_E_CONFINE;
        }
        if (!s->first || s->code[i] < s->first)
            s->first = s->code[i];
        if (s->code[i] > last)
            last = s->code[i];
    }
    s->size = (size_t)(last - s->first) + STUB;
    s->copy = s->size < MOST_STUBS ? malloc(s->size) : NULL;
    if (!s->copy || !ReadProcessMemory(process, s->first, s->copy, s->size, &n) || n != s->size)
        return launch_fail(f, "cannot read the program's ntdll (ReadProcessMemory)");
    for (size_t i = 0; i < HOOKS; i++)
        if (s->code[i] && !is_stub(s->copy + (s->code[i] - s->first))) {
            snprintf(f->text, sizeof f->text,
                     "the beginning of %s is not as Windows made it: another program has changed "
                     "it, or unsupported Windows version",
                     hook_names[i]);
            return CORDON_E_CONFINE;
        }
    return 0;
}

static int patch_stubs(HANDLE process, struct system_calls *s,
                       const struct wire_agent_header *header, unsigned char *base,
                       struct launch_failure *f)
{
    DWORD before, ignored;
    SIZE_T n;
    for (size_t i = 0; i < HOOKS; i++)
        if (s->code[i])
            write_jump(s->copy + (s->code[i] - s->first),
                       (uint64_t)(uintptr_t)base + header->entries[i]);
    if (!VirtualProtectEx(process, s->first, s->size, PAGE_READWRITE, &before) ||
        !WriteProcessMemory(process, s->first, s->copy, s->size, &n) || n != s->size ||
        !VirtualProtectEx(process, s->first, s->size, before, &ignored))
        return launch_fail(f, "cannot place the hooks (WriteProcessMemory)");
    FlushInstructionCache(process, s->first, s->size);
    return 0;
}

/* ---- the image ---- */

static const IMAGE_NT_HEADERS64 *headers_of(const unsigned char *file)
{
    const IMAGE_DOS_HEADER *dos = (const void *)file;
    return (const void *)(file + dos->e_lfanew);
}

/* Relocates the few addresses in the agent's tables. */
static void relocate(const IMAGE_NT_HEADERS64 *nt, unsigned char *image, uint64_t by)
{
    const IMAGE_DATA_DIRECTORY *all =
        &nt->OptionalHeader.DataDirectory[IMAGE_DIRECTORY_ENTRY_BASERELOC];
    for (DWORD at = 0; at + sizeof(IMAGE_BASE_RELOCATION) <= all->Size;) {
        const IMAGE_BASE_RELOCATION *block = (const void *)(image + all->VirtualAddress + at);
        const WORD *items = (const void *)(block + 1);
        for (size_t i = 0; i < (block->SizeOfBlock - sizeof *block) / sizeof *items; i++) {
            uint64_t value;
            unsigned char *place = image + block->VirtualAddress + (items[i] & 0xFFF);
            if (items[i] >> 12 != IMAGE_REL_BASED_DIR64)
                continue;
            memcpy(&value, place, sizeof value);
            value += by;
            memcpy(place, &value, sizeof value);
        }
        at += block->SizeOfBlock;
    }
}

/* Builds the image as it will be at base in the process; malloc'ed. */
static unsigned char *build_image(const IMAGE_NT_HEADERS64 *nt, const struct system_calls *stubs,
                                  const unsigned char *base, const void *shared_there,
                                  struct launch_failure *f)
{
    const unsigned char *file = agent_image_begin;
    const IMAGE_SECTION_HEADER *sections = IMAGE_FIRST_SECTION(nt);
    unsigned char *image = calloc(1, nt->OptionalHeader.SizeOfImage);
    if (!image) {
        SetLastError(ERROR_OUTOFMEMORY);
        launch_fail(f, "cannot build the agent");
        return NULL;
    }
    for (WORD i = 0; i < nt->FileHeader.NumberOfSections; i++)
        memcpy(image + sections[i].VirtualAddress, file + sections[i].PointerToRawData,
               sections[i].SizeOfRawData < sections[i].Misc.VirtualSize
                   ? sections[i].SizeOfRawData
                   : sections[i].Misc.VirtualSize);
    relocate(nt, image, (uint64_t)(uintptr_t)base - nt->OptionalHeader.ImageBase);
    const struct wire_agent_header *header =
        (const void *)(image + nt->OptionalHeader.AddressOfEntryPoint);
    HMODULE ntdll = GetModuleHandleW(L"ntdll.dll");
    memcpy(image + header->shared, &shared_there, sizeof shared_there);
    for (size_t i = 0; i < CALLS; i++) {
        void *address = (void *)GetProcAddress(ntdll, call_names[i]);
        memcpy(image + header->addresses + i * sizeof address, &address, sizeof address);
    }
    for (size_t i = 0; i < HOOKS; i++)
        if (stubs->code[i])
            write_trampoline(image + header->trampolines + i * WIRE_TRAMPOLINE,
                             stubs->copy + (stubs->code[i] - stubs->first),
                             (uint64_t)(uintptr_t)stubs->code[i]);
    return image;
}

/* Code is executable and not writable, data writable and not executable. */
static bool protect_image(HANDLE process, const IMAGE_NT_HEADERS64 *nt, unsigned char *base)
{
    const IMAGE_SECTION_HEADER *sections = IMAGE_FIRST_SECTION(nt);
    DWORD before;
    bool good = true;
    for (WORD i = 0; i < nt->FileHeader.NumberOfSections && good; i++)
        if (sections[i].Characteristics & IMAGE_SCN_MEM_EXECUTE)
            good = VirtualProtectEx(process, base + sections[i].VirtualAddress,
                                    sections[i].Misc.VirtualSize, PAGE_EXECUTE_READ, &before);
    return good;
}

static int place_image(HANDLE process, struct inject_plan *plan, struct system_calls *stubs,
                       void *shared_there, struct launch_failure *f)
{
    const IMAGE_NT_HEADERS64 *nt = headers_of(agent_image_begin);
    SIZE_T size = nt->OptionalHeader.SizeOfImage, n;
    unsigned char *base =
        VirtualAllocEx(process, plan->address, size, MEM_COMMIT | MEM_RESERVE, PAGE_READWRITE);
    if (!base && plan->address)
        base = VirtualAllocEx(process, NULL, size, MEM_COMMIT | MEM_RESERVE, PAGE_READWRITE);
    if (!base)
        return launch_fail(f, "cannot place the agent (VirtualAllocEx)");
    unsigned char *image = build_image(nt, stubs, base, shared_there, f);
    if (!image)
        return CORDON_E_NOMEM;
    const struct wire_agent_header *header =
        (const void *)(image + nt->OptionalHeader.AddressOfEntryPoint);
    int rc = 0;
    if (!WriteProcessMemory(process, base, image, size, &n) || n != size ||
        !protect_image(process, nt, base))
        rc = launch_fail(f, "cannot place the agent (WriteProcessMemory)");
    if (rc == 0)
        rc = patch_stubs(process, stubs, header, base, f);
    if (rc == 0 && !plan->address)
        plan->address = base;
    free(image);
    return rc;
}

int inject(HANDLE process, struct inject_plan *plan, struct injected *out, struct launch_failure *f)
{
    struct injected wire = {0};
    struct system_calls stubs = {0};
    void *there = NULL;
    int rc = find_system_calls(process, &stubs, f);
    if (rc == 0)
        rc = make_wire(process, plan, &wire, &there, f);
    if (rc == 0)
        rc = place_image(process, plan, &stubs, there, f);
    free(stubs.copy);
    if (rc)
        injected_free(&wire);
    else
        *out = wire;
    return rc;
}
