/* SPDX-License-Identifier: Apache-2.0 */
/* Tries ways out of the sandbox, one a call: escape_probe TRICK [WORD…]. 0: it said yes; 1: no. */
#ifndef CORDON_TESTS_ESCAPE_H
#define CORDON_TESTS_ESCAPE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/types.h>

struct trick {
    const char *name;
    bool (*run)(const char *const *words); /* at least four, empty where none was given */
};

/* One list per file, each ended by an empty name. */
extern const struct trick file_tricks[], race_tricks[], socket_tricks[], process_tricks[],
    call_tricks[];

bool put(int fd); /* one byte */

/* Repetitions: more in the long form (CORDON_SOAK), fewer on a slow machine. */
int rounds(int usual);

/* Memory that a second process changes while the first one's calls are looked at. */
void *shared_page(void);

/* Starts a process that calls turn for ever; ended by turner_stop. */
pid_t turner_start(void (*turn)(void *context), void *context);
void turner_stop(pid_t turner);

/* Each state must last a little, or no call ever meets it whole. */
void dwell(void);

#endif
