/* SPDX-License-Identifier: Apache-2.0 */
/* The start of the agent's image: what the launcher needs to place the hooks, room for the
   trampolines, and the few C library functions that the compiler expects. */
#include "agent/windows/agent.h"

struct wire_shared *agent_shared;
void *agent_addresses[CALL_COUNT];

#define TEXT_OF(x) #x
#define VALUE_OF(x) TEXT_OF(x)

/* struct wire_agent_header. */
__asm__(".section .text\n"
        ".balign 64\n"
        ".globl agent_header\n"
        "agent_header:\n"
        ".long 0x31415243\n"
        ".long (agent_entries_end - agent_entries) / 4\n"
        ".long (agent_calls_end - agent_calls)\n"
        ".rva agent_shared\n"
        ".rva agent_addresses\n"
        ".rva agent_trampolines\n"
        "agent_entries:\n"
#define HOOK(name, needed) ".rva hook_" #name "\n"
#include "wire/hooks.def"
#undef HOOK
        "agent_entries_end:\n"
        "agent_calls:\n"
#undef CALL
#define CALL(name) ".byte 0\n"
#include "wire/calls.def"
#undef CALL
        "agent_calls_end:\n"
        ".balign 64\n"
        ".globl agent_trampolines\n"
        "agent_trampolines:\n"
#define HOOK(name, needed) ".fill 64, 1, 0xCC\n"
#include "wire/hooks.def"
#undef HOOK
);

void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
    unsigned char *t = to;
    const unsigned char *f = from;
    __asm__ volatile("rep movsb" : "+D"(t), "+S"(f), "+c"(n) : : "memory");
    return to;
}

void *memmove(void *to, const void *from, size_t n)
{
    unsigned char *t = to;
    const unsigned char *f = from;
    if (t <= f || t >= f + n)
        return memcpy(to, from, n);
    while (n--)
        t[n] = f[n];
    return to;
}

void *memset(void *to, int value, size_t n)
{
    unsigned char *t = to;
    __asm__ volatile("rep stosb" : "+D"(t), "+c"(n) : "a"(value) : "memory");
    return to;
}

int memcmp(const void *a, const void *b, size_t n)
{
    const unsigned char *p = a, *q = b;
    for (size_t i = 0; i < n; i++)
        if (p[i] != q[i])
            return p[i] < q[i] ? -1 : 1;
    return 0;
}

void *memchr(const void *s, int c, size_t n)
{
    const unsigned char *p = s;
    for (size_t i = 0; i < n; i++)
        if (p[i] == (unsigned char)c)
            return (void *)(p + i);
    return NULL;
}

size_t strlen(const char *s)
{
    size_t n = 0;
    while (s[n])
        n++;
    return n;
}
