/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-16 at the edge: text from and to Windows, without loss. */
#ifndef CORDON_LAUNCH_WINDOWS_WIDE_H
#define CORDON_LAUNCH_WINDOWS_WIDE_H

#include <windows.h>

#include "base/arena.h"

/* A NUL-terminated UTF-16 copy; NULL if the text is malformed, holds a NUL or memory is used up. */
wchar_t *wide_of(struct arena *arena, struct str s);

/* A NUL-terminated WTF-8 copy of count units; p is NULL when memory is used up. */
struct str wide_narrow(struct arena *arena, const wchar_t *text, size_t count);

#endif
