/* SPDX-License-Identifier: Apache-2.0 */
/* Environment blocks: UTF-16, sorted, an empty string at the end. */
#ifndef CORDON_LAUNCH_WINDOWS_BLOCK_H
#define CORDON_LAUNCH_WINDOWS_BLOCK_H

#include <windows.h>

#include "base/arena.h"

/* The block for CreateProcess with CREATE_UNICODE_ENVIRONMENT. variables are NAME=VALUE with NULL
   at the end; CORDON_E_VALUE if one has no name, CORDON_E_ENCODING, CORDON_E_NOMEM. */
int block_make(struct arena *arena, const char *const *variables, wchar_t **out);

/* The launcher's own environment, NAME=VALUE, NULL-terminated, including the hidden =C: entries;
   NULL if memory runs out. */
const char *const *block_read(struct arena *arena);

#endif
