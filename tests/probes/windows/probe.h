/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the probe's files: the words of the command line, results, and actions that have a file
   of their own. */
#ifndef CORDON_TESTS_WINDOWS_PROBE_H
#define CORDON_TESTS_WINDOWS_PROBE_H

#include <stdbool.h>
#include <stdint.h>
#include <wchar.h>
#include <windows.h>

/* The i-th word after the action; empty if there is none. */
const wchar_t *word(int i);

/* Print what went wrong and return the exit code. */
int last_error(void);
int result(BOOL good);
int status_result(LONG status); /* an NTSTATUS */

/* Puts a stub of ntdll back as the file on disk has it. */
bool take_hook_away(const char *name);

/* Asks the broker past the agent; false if there is none. */
struct wire_answer;
bool wire_say(uint32_t op, const uint64_t *numbers, const void *first, uint32_t first_size,
              const void *second, uint32_t second_size, struct wire_answer *answer);

#define ACTION(name, function) int do_##function(void);
#include "actions.def"

#endif
