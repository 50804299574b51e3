/*
 * Windows programs on Linux: `cordon run -- program.exe` runs them under Wine, with a wineserver of
 * the run's own inside the box. The prefix is private and removed at the end, or the one that was
 * named.
 *
 * A new prefix takes Wine many seconds. So the first run makes one, confined, and keeps it in the
 * cache folder; a private prefix has the same programs as second names of those files, which the
 * policy lets nobody write to, and its own registry.
 */
#ifndef CORDON_LIB_LINUX_WINE_H
#define CORDON_LIB_LINUX_WINE_H

#include "lib/run.h"

/* Before the policy is compiled: adds the prefix to what can be changed and maps Windows paths of
   roots. Does nothing for other programs. */
int wine_prepare(struct cordon_policy *p, const struct run_options *o);

/* True for a denial that every program under Wine meets and does without. */
bool wine_is_harmless(const struct audit_event *event);

/* Removes a private prefix and the server's folders. */
void wine_finish(struct cordon_policy *p);

#endif
