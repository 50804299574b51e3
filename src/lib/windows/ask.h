/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the questions of a run, from a thread of its own: through a named pipe of the caller's, on
   its console, or by calling a function of the host. */
#ifndef CORDON_LIB_WINDOWS_ASK_H
#define CORDON_LIB_WINDOWS_ASK_H

#include "broker/windows/broker.h"
#include "launch/windows/console.h"
#include "lib/asking.h"
#include "lib/system.h"

struct asker;

/* NULL in *out if the run asks nobody. Returns a code with a sentence in the policy's error. Events
   take the broker's lock. */
int asker_open(struct run *run, struct broker *broker, struct console *console, struct asker **out);
struct desk *asker_desk(struct asker *a);     /* NULL for NULL */
struct str asker_pipe(const struct asker *a); /* its full name; empty: none */

/* No function is called any more when it returns. NULL is fine. */
void asker_close(struct asker *a);

#endif
