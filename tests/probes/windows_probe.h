/* What the probe's files share: the words of the command line, results, and actions that have a
   file of their own. */
#ifndef CORDON_TESTS_WINDOWS_PROBE_H
#define CORDON_TESTS_WINDOWS_PROBE_H

#include <stdbool.h>
#include <wchar.h>
#include <windows.h>

/* The i-th word behind the action; empty if there is none. */
const wchar_t *word(int i);

/* Print what went wrong and return the exit code. */
int last_error(void);
int result(BOOL good);
int status_result(NTSTATUS status);

int do_rights(void);
int do_hold(void);
int do_pipe_who(void);
/* Puts a stub of ntdll back as the file on disk has it. */
bool take_hook_away(const char *name);

int do_hostile(void);
int do_serve_lines(void);
int do_storm(void);
int do_crowd(void);
int do_short(void);
int do_race(void);
int do_churn(void);
int do_killer(void);
int do_nt_write(void);
int do_nt_volume(void);
int do_short_write(void);
int do_unix_write(void);
int do_unroot_write(void);
int do_use_handle(void);
int do_reopen(void);
int do_relative_up(void);
int do_replace_file(void);
int do_reboot_move(void);
int do_reach(void);
int do_reach_thread(void);
int do_debug(void);
int do_winexec(void);
int do_system(void);
int do_with_token(void);
int do_env_child(void);
int do_registry_value(void);
int do_registry_volatile(void);
int do_pipe_second(void);
int do_pipe_call(void);
int do_unhook(void);
int do_late_write(void);
int do_fresh(void);
int do_trampoline(void);

#endif
