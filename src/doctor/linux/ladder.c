/* SPDX-License-Identifier: Apache-2.0 */
/* There is one way to start a program on Linux. */
#include "doctor/doctor.h"

bool doctor_ladder(void (*each)(void *context, const struct doctor_rung *rung), void *context)
{
    (void)each, (void)context;
    return false;
}
