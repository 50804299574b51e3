/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORDON_UNDO_WINDOWS_FS_H
#define CORDON_UNDO_WINDOWS_FS_H

#include "wire/windows/nt.h"

#include "undo/fs.h"

/* The facts of an open object. */
int fs_stat_of(HANDLE object, struct fs_stat *out);

/* A whole path with '/' or '\' as Windows' functions take it, of any length; NULL: out of
   memory. */
wchar_t *fs_wide_path(struct arena *arena, struct str path);

#endif
