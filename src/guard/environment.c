/* SPDX-License-Identifier: Apache-2.0 */
/* Environment variables that have the same value on every Windows machine. */
#include "guard/effects.h"

bool guard_environment(struct str name, struct str *value)
{
    static const struct {
        struct str name, value;
    } known[] = {
#define VARIABLE(name, value) {{name, sizeof(name) - 1}, {value, sizeof(value) - 1}},
#include "guard/tables/environment.def"
#undef VARIABLE
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (str_eqi(name, known[i].name)) {
            *value = known[i].value;
            return true;
        }
    return false;
}
