/* SPDX-License-Identifier: Apache-2.0 */
/* One function for each handler that tables/ps_cmdlets.def names; it gets its parameters bound. */
#ifndef CORDON_GUARD_POWERSHELL_CMDLETS_H
#define CORDON_GUARD_POWERSHELL_CMDLETS_H

#include "guard/powershell/run.h"

#define CMDLET(name, handler, spec) struct ps_value cmdlet_##handler(struct ps_bound *b);
#include "guard/tables/ps_cmdlets.def"
#undef CMDLET

#endif
