/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One call fails. Every place in the program that makes a call which can fail (faults.def) is noted
 * with its first call in a table that the processes of a run share; the place that is named in
 * CORDON_FAULT_AT, by its distance from the program's beginning, gets a failure for an answer, the
 * first time it asks. The real sources know nothing of it: the linker's --wrap leads the calls
 * here.
 *
 * With CORDON_FAULT_KILL=N a process ends without a word before the N-th such call.
 */
#ifndef CORDON_TESTS_FAULTS_H
#define CORDON_TESTS_FAULTS_H

#include <stdint.h>

enum { FAULT_PLACES = 4096 };

struct fault_place {
    uint64_t at; /* 0: free */
    char name[40];
};

struct fault_table {
    uint64_t failed; /* how often the named place was answered with a failure */
    struct fault_place places[FAULT_PLACES];
};

#endif
