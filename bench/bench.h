/* SPDX-License-Identifier: Apache-2.0 */
/* Measurements: each part adds its figures, main.c prints and writes them. */
#ifndef CORDON_BENCH_H
#define CORDON_BENCH_H

#include <stddef.h>
#include <stdint.h>

enum { BENCH_MAX_RESULTS = 64, BENCH_MAX_ROUNDS = 201 };

struct bench_result {
    const char *name;
    double value; /* the minimum */
    double median;
    const char *unit;
    const char *how;
};

struct bench {
    struct bench_result results[BENCH_MAX_RESULTS];
    size_t count;
};

/* The strings must outlive the bench. */
void bench_add(struct bench *bench, const char *name, double value, double median, const char *unit,
               const char *how);

/* Seconds of a clock that never jumps. */
double bench_now(void);

/* Calls work(context, times) in rounds and adds microseconds per call. */
void bench_time_us(struct bench *bench, const char *name, const char *how, unsigned rounds,
                   unsigned times, void (*work)(void *context, unsigned times), void *context);

void bench_policy(struct bench *bench);
void bench_guard(struct bench *bench);
void bench_system(struct bench *bench);
void bench_hook(struct bench *bench);

/* One piece of work for bench_system, in a process of its own: an exit code. */
int bench_work(const char *what, const char *how);

#endif
