/* SPDX-License-Identifier: Apache-2.0 */
/* Git folders in the roots that are not called .git, and files elsewhere that git obeys. */
#ifndef CORDON_LAUNCH_REPOSITORIES_H
#define CORDON_LAUNCH_REPOSITORIES_H

#include "launch/settings.h"

/* Looks at the roots, which are final, and at the folders directly in them. Adds to the policy's
   git_dirs and git_obeys; CORDON_E_NOMEM. */
int repositories_find(struct settings *s);

#endif
