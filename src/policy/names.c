/* Protected names, in every spelling that could reach them. */
#include "policy/names.h"

#include "policy/casefold.h"

static const struct str names[PROTECTED_COUNT] = {
    {"", 0},
#define POLICY_PROTECTED(name, spelled) {spelled, sizeof(spelled) - 1},
#include "policy/protected.def"
#undef POLICY_PROTECTED
};

const char *protected_spelled(enum protected_name name)
{
    return name < PROTECTED_COUNT ? names[name].p : "";
}

/*
 * 8.3 aliases of a name that starts with a dot. Dots and spaces are dropped, the rest is cut:
 *
 *   Windows   .claude   CLAUDE~1  CLAUD~12  CLA1B2~1 (four hex digits of a hash after four clashes)
 *             .git      GIT~1     GI9F3C~1
 *             .mcp.json MCP~1.JSO
 *   Wine      .claude   _CLA~XYZ  .mcp.json _MCP~XYZ.JSO
 *
 * What could be one is taken for one: nobody needs a file called GIT~7.
 */
static bool is_hex(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (ascii_hex(s.p[i]) < 0)
            return false;
    return s.n > 0;
}

static bool is_alias_stem(struct str stem, struct str digits, struct str base)
{
    struct str six = str_slice(base, 0, 6);
    if (str_eqi(stem, six))
        return true;
    /* More digits leave less room for the name. */
    if (stem.n > 0 && stem.n + 1 + digits.n >= 8 && str_startsi(six, stem))
        return true;
    for (size_t kept = 1; kept <= 2 && kept < stem.n; kept++) {
        struct str hash = str_from(stem, kept);
        if (str_startsi(base, str_slice(stem, 0, kept)) && hash.n >= 3 && hash.n <= 4 &&
            is_hex(hash))
            return true;
    }
    return false;
}

static bool is_wine_alias(struct str component, struct str spelled)
{
    /* The first four characters with _ for the dot, a tilde, three characters of a hash. */
    if (component.n < 8 || component.p[0] != '_' || component.p[4] != '~' ||
        (component.n > 8 && component.p[8] != '.'))
        return false;
    struct str three = str_slice(spelled, 1, 4);
    return three.n == 3 && str_eqi(str_slice(component, 1, 4), three);
}

static enum protected_name find_alias(struct str folded)
{
    size_t tilde = str_find_char(folded, '~', 0), end = tilde + 1;
    while (end < folded.n && ascii_is_digit(folded.p[end]))
        end++;
    bool numbered = end > tilde + 1 && (end == folded.n || folded.p[end] == '.');
    struct str stem = str_slice(folded, 0, tilde), digits = str_slice(folded, tilde + 1, end);
    for (int i = 1; i < PROTECTED_COUNT; i++) {
        struct str spelled = names[i], base = str_from(spelled, 1);
        base = str_slice(base, 0, str_find_char(base, '.', 0));
        if ((numbered && is_alias_stem(stem, digits, base)) || is_wine_alias(folded, spelled))
            return (enum protected_name)i;
    }
    return PROTECTED_NONE;
}

enum protected_name protected_find(enum path_dialect dialect, struct str component)
{
    enum { LONGEST = 16 };
    char folded[LONGEST];
    if (component.n == 0 || component.n > 3 * LONGEST)
        return PROTECTED_NONE;
    bool dotted = component.p[0] == '.';
    if (!dotted && (dialect == PATH_POSIX || !memchr(component.p, '~', component.n)))
        return PROTECTED_NONE;
    size_t n = fold_text(dialect, FOLD_WIDE, component, folded, sizeof folded);
    if (n == SIZE_MAX)
        return PROTECTED_NONE;
    struct str name = {folded, n};
    if (!dotted)
        return find_alias(name);
    for (int i = 1; i < PROTECTED_COUNT; i++)
        if (dialect == PATH_POSIX ? str_eq(name, names[i]) : str_eqi(name, names[i]))
            return (enum protected_name)i;
    return PROTECTED_NONE;
}
