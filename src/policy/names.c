/* SPDX-License-Identifier: Apache-2.0 */
/* Protected names, in every spelling that could reach them. */
#include "policy/names.h"

#include "policy/alias.h"
#include "policy/casefold.h"

static const struct str names[PROTECTED_COUNT] = {
    {"", 0},
#define POLICY_PROTECTED(name, spelled) {spelled, sizeof(spelled) - 1},
#include "policy/protected.def"
#undef POLICY_PROTECTED
};

const char *protected_spelled(enum protected_name name)
{
    return names[name].p;
}

static enum protected_name find_alias(struct str folded)
{
    for (int i = 1; i < PROTECTED_COUNT; i++)
        if (alias_could_be(folded, names[i]))
            return (enum protected_name)i;
    return PROTECTED_NONE;
}

enum protected_name protected_find(enum path_dialect dialect, struct str component)
{
    enum { LONGEST = 16 };
    char folded[LONGEST];
    /* All begin with a dot, but for OpenCode's. */
    bool spelled = component.n && (component.p[0] == '.' || (component.p[0] | 32) == 'o');
    bool alias = dialect != PATH_POSIX && str_has_char(component, '~') && component.p[0] != '.';
    if (!spelled && !alias)
        return PROTECTED_NONE;
    /* Ignoring case in both dialects: a folder on Linux may ignore case too. */
    size_t n = fold_text(PATH_WINDOWS, FOLD_WIDE, component, folded, sizeof folded);
    if (n == SIZE_MAX)
        return PROTECTED_NONE;
    struct str name = {folded, n};
    for (int i = 1; spelled && i < PROTECTED_COUNT; i++)
        if (str_eqi(name, names[i]))
            return (enum protected_name)i;
    return alias ? find_alias(name) : PROTECTED_NONE;
}

static const struct {
    struct str name;
    bool above;
} packages[] = {
#define POLICY_PACKAGES(name, above) {{name, sizeof(name) - 1}, above},
#include "policy/packages.def"
#undef POLICY_PACKAGES
};

enum packages_kind packages_find(enum path_dialect dialect, struct str component)
{
    for (size_t i = 0; i < sizeof packages / sizeof *packages; i++)
        if (dialect == PATH_WINDOWS ? str_eqi(component, packages[i].name)
                                    : str_eq(component, packages[i].name))
            return packages[i].above ? PACKAGES_ABOVE : PACKAGES_BELOW;
    return PACKAGES_NONE;
}
