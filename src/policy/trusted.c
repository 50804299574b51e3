/* SPDX-License-Identifier: Apache-2.0 */
/* Names that other programs trust in a shared temp folder. */
#include "base/glob.h"
#include "policy/names.h"

const char *trusted_find(struct str component)
{
    static const char *const patterns[] = {
#define POLICY_TRUSTED(pattern) pattern,
#include "policy/trusted.def"
#undef POLICY_TRUSTED
    };
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        if (glob_match(GLOB_STARS, str_of(patterns[i]), component))
            return patterns[i];
    return NULL;
}
