/* SPDX-License-Identifier: Apache-2.0 */
/* Which file a command's first word denotes, and the command line it gets. */
#ifndef CORDON_LAUNCH_WINDOWS_LOOKUP_H
#define CORDON_LAUNCH_WINDOWS_LOOKUP_H

#include <stdbool.h>
#include <windows.h>

#include "base/arena.h"
#include "base/buf.h"

struct lookup {
    wchar_t *image;   /* final path of the file that CreateProcess gets */
    wchar_t *cmdline; /* for CreateProcess, which may write to it */
    wchar_t *script;  /* the batch file that cmd reads; NULL: none */
    bool through_cmd; /* image is cmd, on behalf of a batch file */
};

/*
 * A name with a separator is a path, relative to cwd. A bare name is searched for along path, with
 * pathext's extensions where it has none of them, then in the system folder; never in the current
 * directory, whose content the agent wrote: write .\x for that. Relative and empty entries of path
 * are skipped for the same reason. raw_tail is what the caller typed after "--", verbatim (empty:
 * unknown). Where it parses as argv it is passed on unchanged, because cmd and others have quoting
 * rules of their own. CORDON_E_NOTFOUND, CORDON_E_VALUE, CORDON_E_TOOBIG, CORDON_E_ENCODING or
 * CORDON_E_NOMEM, with a sentence in error.
 */
int lookup_program(struct arena *arena, const char *const *argv, size_t argc, struct str raw_tail,
                   struct str cwd, const char *path, const char *pathext, struct lookup *out,
                   struct buf *error);

#endif
