/* SPDX-License-Identifier: Apache-2.0 */
/* Members of COM objects that a PowerShell script made. */
#ifndef CORDON_GUARD_POWERSHELL_COM_H
#define CORDON_GUARD_POWERSHELL_COM_H

#include "guard/powershell/run.h"

struct value com_call(struct ps_run *r, struct ps_node *node, struct value object,
                      struct str member, struct value *args, size_t count);

#endif
