/* SPDX-License-Identifier: Apache-2.0 */
/* How many system calls a program makes: a figure that does not depend on the machine. */
#ifndef CORDON_BENCH_COUNT_H
#define CORDON_BENCH_COUNT_H

/* Runs the program on one CPU and counts the calls of its own threads, not those of its children;
   output goes nowhere. -1 if it cannot be traced or fails. */
long count_calls(const char *const *argv);

#endif
