/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of libraries that no other command needs: loaded when they are made, so that every start of
   the program does not pay for them. */
#ifndef CORDON_SELFTEST_WINDOWS_LATE_H
#define CORDON_SELFTEST_WINDOWS_LATE_H

#include <windows.h>

static inline void *late_find(const wchar_t *library, const char *name)
{
    HMODULE module = LoadLibraryExW(library, NULL, LOAD_LIBRARY_SEARCH_SYSTEM32);
    return module ? (void *)GetProcAddress(module, name) : NULL;
}

/* The call, of its declared type. */
#define LATE(library, name) ((__typeof__(&name))late_find(library, #name))
#define WS(name) LATE(L"ws2_32.dll", name)

/* To and from the order of the network. */
#define NET16(x) __builtin_bswap16((unsigned short)(x))
#define NET32(x) __builtin_bswap32(x)

#endif
