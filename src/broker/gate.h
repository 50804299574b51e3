/* SPDX-License-Identifier: Apache-2.0 */
/* The locks, bells and clock of desk.h: one implementation in linux/ and one in windows/. */
#ifndef CORDON_BROKER_GATE_H
#define CORDON_BROKER_GATE_H

#include <stdint.h>

/* A lock, and a place to wait in until somebody calls. */
struct gate;
struct gate *gate_new(void); /* NULL if it cannot */
void gate_free(struct gate *g);
void gate_lock(struct gate *g);
void gate_unlock(struct gate *g);
void gate_call(struct gate *g);         /* everybody who waits; with the lock */
void gate_wait(struct gate *g, int ms); /* for a call, at most so long; with the lock */

/* Something that a thread can wait for among other things: an eventfd or an event; -1: none. It
   stays rung until it is hushed. */
intptr_t bell_new(void);
void bell_free(intptr_t bell);
void bell_ring(intptr_t bell);
void bell_hush(intptr_t bell);

/* Milliseconds of the monotonic clock. */
uint64_t gate_clock(void);

#endif
