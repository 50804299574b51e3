/* SPDX-License-Identifier: Apache-2.0 */
/* The guard's tables are searched by halving: each must be sorted, without case, without
   repeats. */
#include "base/str.h"
#include "guard/guard.h"
#include "tap.h"

static const char *const documents[] = {
#define EXTENSION(text) text,
#include "guard/tables/documents.def"
#undef EXTENSION
};
static const char *const program_extensions[] = {
#define EXTENSION(text) text,
#include "guard/tables/program_extensions.def"
#undef EXTENSION
};
static const char *const browsers[] = {
#define BROWSER(text) text,
#include "guard/tables/browsers.def"
#undef BROWSER
};
static const char *const wrappers[] = {
#define WRAPPER(name, options, skip, flags) name,
#include "guard/tables/wrappers.def"
#undef WRAPPER
};
static const char *const handlers[] = {
#define HANDLER(name, judge) name,
#include "guard/tables/handlers.def"
#undef HANDLER
};
static const char *const programs[] = {
#define PROGRAM(name, condition, rule, why, fix) name,
#include "guard/tables/programs.def"
#undef PROGRAM
};

static void check(const char *what, const char *const *names, size_t count, bool repeats)
{
    bool sorted = true;
    for (size_t i = 1; i < count; i++) {
        int order = str_cmpi(str_of(names[i - 1]), str_of(names[i]));
        if (order > 0 || (order == 0 && !repeats)) {
            sorted = false;
            note("%s stands before %s", names[i - 1], names[i]);
        }
    }
    ok(sorted, "%s: %u lines, sorted", what, (unsigned)count);
}

#define CHECK(table, repeats) check(#table, table, sizeof table / sizeof *table, repeats)

int main(void)
{
    CHECK(documents, false);
    CHECK(program_extensions, false);
    CHECK(browsers, false);
    CHECK(wrappers, false);
    CHECK(handlers, false);
    CHECK(programs, true);
    for (size_t i = 0; i < GUARD_RULE_COUNT; i++) {
        const struct guard_rule_info *r = &guard_rules[i];
        ok(r->id.n && r->verdict != CORDON_ALLOW && r->why[0] && r->fix[0] && r->about[0] &&
               r->examples[0][0] && r->examples[1][0],
           "rule %s has a reason, a suggestion and two examples", r->id.p);
    }
    return tap_done();
}
