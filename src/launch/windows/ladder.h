/* SPDX-License-Identifier: Apache-2.0 */
/* The rung of the ladder that this Windows gets, found by trying or remembered. */
#ifndef CORDON_LAUNCH_WINDOWS_LADDER_H
#define CORDON_LAUNCH_WINDOWS_LADDER_H

#include "launch/ladder.h"

/* The strongest rung that starts: the top where the token enforces nothing (then nothing can fail
   because of it) or where it is remembered, otherwise as ladder_find. False if none starts. */
bool ladder_settle(ladder_trial *trial, void *context, struct ladder_rung *out);

#endif
