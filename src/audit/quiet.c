/* Which refusals are known noise. */
#include "audit/audit.h"

static const struct {
    enum audit_op op;
    const char *program, *target;
} quiet[] = {
#define QUIET(op, program, target, reason) {op, program, target},
#include "audit/quiet.def"
#undef QUIET
};

/* Linear in the text for each star: after a star only the last one is tried again. */
static bool matches(struct str pattern, struct str text)
{
    size_t p = 0, t = 0, star = SIZE_MAX, mark = 0;
    while (t < text.n) {
        if (p < pattern.n && pattern.p[p] == '*') {
            star = p++;
            mark = t;
        } else if (p < pattern.n && ascii_lower(pattern.p[p]) == ascii_lower(text.p[t])) {
            p++;
            t++;
        } else if (star != SIZE_MAX) {
            p = star + 1;
            t = ++mark;
        } else {
            return false;
        }
    }
    while (p < pattern.n && pattern.p[p] == '*')
        p++;
    return p == pattern.n;
}

bool audit_is_quiet(const struct audit_event *event)
{
    if (event->type != AUDIT_DENY)
        return false;
    for (size_t i = 0; i < sizeof quiet / sizeof *quiet; i++)
        if ((quiet[i].op == AUDIT_NO_OP || quiet[i].op == event->op) &&
            (!quiet[i].program[0] || matches(str_of(quiet[i].program), event->image)) &&
            matches(str_of(quiet[i].target), event->target))
            return true;
    return false;
}
