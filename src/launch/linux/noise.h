/* SPDX-License-Identifier: Apache-2.0 */
/* Refusals that programs do not miss. */
#ifndef CORDON_LAUNCH_LINUX_NOISE_H
#define CORDON_LAUNCH_LINUX_NOISE_H

#include "audit/event.h"

/* Sets quiet or minor of a refusal that is known (noise.def), or that the caller could not have
   done outside the sandbox either. */
void noise_mark(struct audit_event *event);

#endif
