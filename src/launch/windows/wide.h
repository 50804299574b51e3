/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-16 at the boundary: text to and from Windows, without loss. */
#ifndef CORDON_LAUNCH_WINDOWS_WIDE_H
#define CORDON_LAUNCH_WINDOWS_WIDE_H

#include <windows.h>

#include "base/arena.h"

/* A NUL-terminated UTF-16 copy; NULL if the text is malformed, contains a NUL or memory runs
   out. */
wchar_t *wide_of(struct arena *arena, struct str s);

/* A NUL-terminated WTF-8 copy of count units; p is NULL if memory runs out. */
struct str wide_narrow(struct arena *arena, const wchar_t *text, size_t count);

#endif
