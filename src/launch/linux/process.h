/* SPDX-License-Identifier: Apache-2.0 */
/* Facts about a process, from /proc. */
#ifndef CORDON_LAUNCH_LINUX_PROCESS_H
#define CORDON_LAUNCH_LINUX_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Fields of /proc/PID/stat, numbered as in proc(5). */
enum { PROCESS_PARENT = 4, PROCESS_GROUP = 5, PROCESS_THREADS = 20, PROCESS_STACK = 28 };

/* values[i] is field fields[i]; fields ascend. False if the process is gone or hidden. */
bool process_stat(pid_t pid, const int *fields, size_t count, uint64_t *values);

#endif
