/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 8.3 names. Dots and spaces are dropped, the rest is cut, a number is added:
 *
 *   Windows   .claude    CLAUDE~1  CLAUD~12  CL1B2C~1 (hex digits of a hash after four clashes)
 *             .git       GIT~1     GI9F3C~1
 *             .mcp.json  MCP~1.JSO
 *   Wine      .claude    _CLA~XYZ  .mcp.json _MCP~XYZ.JSO   a.b.c A_B~~XYZ.C
 *
 * Anything that could be one counts as one: nobody needs a file called GIT~7. No libc: the agent
 * links it.
 */
#include "policy/alias.h"

enum { LONGEST_ALIAS = 12, STEM = 6 };

bool alias_like(struct str component)
{
    if (component.n > LONGEST_ALIAS)
        return false;
    for (size_t i = 1; i < component.n; i++)
        if (component.p[i] == '~')
            return true;
    return false;
}

static char upper(char c)
{
    return c >= 'a' && c <= 'z' ? (char)(c - 32) : c;
}

/* The character that Windows writes for one in a short name; 0: none. */
static char short_character(char c)
{
    static const char replaced[] = "+,;=[]";
    if (c == '.' || c == ' ')
        return 0;
    for (size_t i = 0; i < sizeof replaced - 1; i++)
        if (c == replaced[i])
            return '_';
    return upper(c);
}

/* The characters of the name before its extension that a short name can hold; false if the name has
   letters whose short form is not known. */
static bool short_stem(struct str name, char stem[STEM], size_t *length)
{
    size_t end = name.n;
    for (size_t i = name.n; i-- > 1;)
        if (name.p[i] == '.') {
            end = i;
            break;
        }
    *length = 0;
    for (size_t i = 0; i < end && *length < STEM; i++) {
        if ((unsigned char)name.p[i] >= 0x80)
            return false;
        char c = short_character(name.p[i]);
        if (c)
            stem[(*length)++] = c;
    }
    return true;
}

/* s has length characters at least. */
static bool starts(struct str s, const char *prefix, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (upper(s.p[i]) != prefix[i])
            return false;
    return true;
}

static bool is_hex(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (ascii_hex(s.p[i]) < 0)
            return false;
    return s.n > 0;
}

static bool is_windows_alias(struct str component, struct str name)
{
    size_t tilde = 0, length;
    char stem[STEM];
    while (tilde < component.n && component.p[tilde] != '~')
        tilde++;
    size_t end = tilde + 1;
    while (end < component.n && ascii_is_digit(component.p[end]))
        end++;
    if (end == tilde + 1 || (end < component.n && component.p[end] != '.'))
        return false;
    if (!short_stem(name, stem, &length))
        return true;
    struct str given = str_slice(component, 0, tilde);
    if (given.n == length && starts(given, stem, length))
        return true;
    /* More digits leave less room for the name. */
    if (given.n > 0 && given.n < length && end >= 8 && starts(given, stem, given.n))
        return true;
    for (size_t kept = 1; kept <= 2 && kept <= length && kept < given.n; kept++) {
        struct str hash = str_from(given, kept);
        if (starts(given, stem, kept) && hash.n >= 3 && hash.n <= 4 && is_hex(hash))
            return true;
    }
    return false;
}

/* The first four characters with _ for what DOS does not take, padded with ~, and three of a
   hash. */
static bool is_wine_alias(struct str component, struct str name)
{
    static const char refused[] = "*?<>|\"+=,;[] .~";
    if (component.n < 8 || (component.n > 8 && component.p[8] != '.') || component.p[4] != '~')
        return false;
    size_t end = name.n;
    for (size_t i = 1; i + 1 < name.n; i++)
        if (name.p[i] == '.')
            end = i;
    for (size_t i = 0; i < 4; i++) {
        char wanted = i < end ? upper(name.p[i]) : '~';
        if ((unsigned char)wanted >= 0x80)
            return true;
        for (size_t k = 0; i < end && k < sizeof refused - 1; k++)
            if (wanted == refused[k])
                wanted = '_';
        if (upper(component.p[i]) != wanted)
            return false;
    }
    return true;
}

bool alias_could_be(struct str component, struct str name)
{
    return alias_like(component) &&
           (is_windows_alias(component, name) || is_wine_alias(component, name));
}
