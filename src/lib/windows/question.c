/* SPDX-License-Identifier: Apache-2.0 */
/* Nothing is asked on Windows yet. */
#include "lib/run.h"

bool question_supported(void)
{
    return false;
}
