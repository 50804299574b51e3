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
static const char *const texts[] = {
#define TEXTS(text) text,
#include "guard/tables/texts.def"
#undef TEXTS
};
static const char *const loading[] = {
#define LOADING(name) name,
#include "guard/tables/loading.def"
#undef LOADING
};
static const char *const plants[] = {
#define PLANT(part) part,
#include "guard/tables/plants.def"
#undef PLANT
};
static const char *const wrappers[] = {
#define WRAPPER(name, options, skip, flags) name,
#define WRAPPER_UNIX(name, options, skip, flags) name,
#include "guard/tables/wrappers.def"
#undef WRAPPER
};
static const char *const handlers[] = {
#define HANDLER(name, judge) name,
#define HANDLER_UNIX(name, judge) name,
#include "guard/tables/handlers.def"
#undef HANDLER
};
static const char *const programs[] = {
#define PROGRAM(name, condition, reason, fix) name,
#define PROGRAM_UNIX(name, condition, reason, fix) name,
#include "guard/tables/programs.def"
#undef PROGRAM
};

#define LEAVES(name, condition) name,
#define STARTS(name, condition) name,
#define PASSES(name, condition) name,
#define RUNS_CODE(name, condition) name,
#define LOADS(name, condition) name,
#define CARRIES(name, condition) name,
#define BUILDS(name, condition) name,
#define CHILD(name) name,
#define ELSEWHERE(name) name,
static const char *const lolbas[] = {
#include "guard/tables/lolbas.def"
};
#undef LEAVES
#undef STARTS
#undef PASSES
#undef RUNS_CODE
#undef LOADS
#undef CARRIES
#undef BUILDS
#undef CHILD
#undef ELSEWHERE
#define LEAVES(name, condition)
#define STARTS(name, condition)
#define PASSES(name, condition)
#define RUNS_CODE(name, condition)
#define LOADS(name, condition)
#define CARRIES(name, condition)
#define BUILDS(name, condition)
#define CHILD(name)
#define ELSEWHERE(name) name,
static const char *const elsewhere[] = {
#include "guard/tables/lolbas.def"
};
static const char *const libraries[] = {
#define ENTRY(library, entry, verdict) library,
#include "guard/tables/rundll32.def"
#undef ENTRY
};

static bool listed(const char *const *names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        struct str listed = str_of(names[i]), whole = str_of(name);
        if (str_eqi(listed, whole) || (str_endsi(whole, STR(".dll")) && whole.n == listed.n + 4 &&
                                       str_startsi(whole, listed)))
            return true;
    }
    return false;
}
#define LISTED(table, name) listed(table, sizeof table / sizeof *table, name)

/* Every name of the public list is decided, by that table or by another. */
static void check_lolbas(void)
{
    size_t names = 0;
    for (size_t i = 0; i < sizeof lolbas / sizeof *lolbas; i++)
        names += i == 0 || !str_eq(str_of(lolbas[i - 1]), str_of(lolbas[i]));
    ok(names >= 166, "%u programs of the public list are decided", (unsigned)names);
    for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++)
        ok(LISTED(programs, elsewhere[i]) || LISTED(handlers, elsewhere[i]) ||
               LISTED(wrappers, elsewhere[i]) || LISTED(browsers, elsewhere[i]) ||
               LISTED(libraries, elsewhere[i]),
           "%s is decided by another table", elsewhere[i]);
}

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
    CHECK(texts, false);
    CHECK(loading, false);
    CHECK(plants, false);
    CHECK(wrappers, false);
    CHECK(handlers, false);
    CHECK(programs, true);
    CHECK(lolbas, true);
    check_lolbas();
    for (size_t i = 0; i < GUARD_RULE_COUNT; i++) {
        const struct guard_rule_info *r = &guard_rules[i];
        ok(r->id.n && r->verdict != CORDON_ALLOW && r->why[0] && r->fix[0] && r->about[0] &&
               r->examples[0][0] && r->examples[1][0],
           "rule %s has a reason, a suggestion and two examples", r->id.p);
    }
    return tap_done();
}
