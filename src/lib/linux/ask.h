/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the questions of a run, from a thread of its own: over two descriptors, or by calling a
   function of the host. */
#ifndef CORDON_LIB_LINUX_ASK_H
#define CORDON_LIB_LINUX_ASK_H

#include <sys/types.h>

#include "lib/asking.h"
#include "lib/system.h"

struct asker;

/* NULL in *out if the run asks nobody. Returns a code with a sentence in the policy's error. */
int asker_open(struct run *run, struct asker **out);
struct desk *asker_desk(struct asker *a); /* NULL for NULL */

/* The command's terminal, if it gets one of its own; 0: it does not. */
int asker_slave(const struct asker *a, dev_t *device);

/* Starts its thread; after the fork. Events come from threads that wait for answers. */
int asker_start(struct asker *a, pid_t command,
                void (*event)(void *context, const struct audit_event *event), void *context,
                uint64_t (*now)(void));

/* No function is called any more when it returns. NULL is fine. */
void asker_close(struct asker *a);

#endif
