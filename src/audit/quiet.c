/* SPDX-License-Identifier: Apache-2.0 */
/* Which refusals are known noise. */
#include "audit/audit.h"
#include "base/glob.h"

static const struct {
    enum audit_op op;
    const char *program, *target;
} quiet[] = {
#define QUIET(op, program, target, reason) {op, program, target},
#include "audit/quiet.def"
#undef QUIET
};

bool audit_is_quiet(const struct audit_event *event)
{
    if (event->type != AUDIT_DENY)
        return false;
    for (size_t i = 0; i < sizeof quiet / sizeof *quiet; i++)
        if ((quiet[i].op == AUDIT_NO_OP || quiet[i].op == event->op) &&
            (!quiet[i].program[0] ||
             glob_match(GLOB_STARS, str_of(quiet[i].program), event->image)) &&
            glob_match(GLOB_STARS, str_of(quiet[i].target), event->target))
            return true;
    return false;
}
