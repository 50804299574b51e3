/* SPDX-License-Identifier: Apache-2.0 */
/* A desktop of the run's own: its windows, hooks and messages reach no other. */
#ifndef CORDON_LAUNCH_WINDOWS_DESKTOP_H
#define CORDON_LAUNCH_WINDOWS_DESKTOP_H

#include <stddef.h>
#include <windows.h>

#include "launch/windows/token.h"

enum { DESKTOP_NAME_UNITS = 128 };

/* Creates a desktop with a random name on the launcher's window station. name receives
   "WinSta0\cordon-…" for STARTUPINFO.lpDesktop, at most DESKTOP_NAME_UNITS units. */
int desktop_make(const struct token_run *r, HANDLE *out, wchar_t *name, size_t capacity,
                 struct launch_failure *f);

/* Windows removes it when no process of the tree is left on it. CloseHandle does not work here. */
void desktop_close(HANDLE desktop);

#endif
