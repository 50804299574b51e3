/* SPDX-License-Identifier: Apache-2.0 */
/* Names handed to the desktop's shell: URLs, documents and folders leave the sandbox. */
#include "guard/names.h"
#include "guard/state.h"

static bool is_scheme_char(char c)
{
    return ascii_is_alnum(c) || c == '+' || c == '-' || c == '.';
}

/* PowerShell's own drives look like schemes and are none. */
static bool is_powershell_drive(struct str name)
{
    static const char *const drives[] = {"alias", "cert", "env", "function", "hkcc",     "hkcr",
                                         "hkcu",  "hklm", "hku", "temp",     "variable", "wsman"};
    for (size_t i = 0; i < sizeof drives / sizeof *drives; i++)
        if (str_eqi(name, str_of(drives[i])))
            return true;
    return false;
}

bool guard_is_url(struct str text)
{
    static const bool around[256] = {
        [' '] = true, ['\t'] = true, ['\r'] = true, ['\n'] = true, ['"'] = true, ['\''] = true};
    size_t from = 0;
    while (from < text.n && around[(unsigned char)text.p[from]])
        from++;
    text = str_trim(str_from(text, from));
    if (str_startsi(text, STR("www.")) || str_starts(text, STR("::{")) ||
        str_startsi(text, STR("shell:")))
        return true;
    size_t colon = str_find_char(text, ':', 0);
    if (colon == text.n)
        return false;
    /* A scheme that is partly unknown still ends in "://". */
    if (str_starts(str_from(text, colon), STR("://")))
        return true;
    /* One letter is a drive; a provider path (Registry::HKLM) has two colons. */
    if (colon < 2 || !ascii_is_alpha(text.p[0]) || str_starts(str_from(text, colon), STR("::")))
        return false;
    for (size_t i = 0; i < colon; i++)
        if (!is_scheme_char(text.p[i]))
            return false;
    /* Name:\\ is a drive that a script made itself; only these take a backslash for a slash. */
    struct str scheme = str_slice(text, 0, colon);
    if (colon + 1 < text.n && text.p[colon + 1] == '\\' &&
        !name_is_one_of(scheme, STR("file|http|https|ftp|shell|search-ms")))
        return false;
    return !is_powershell_drive(scheme);
}

bool name_is_document(struct str name)
{
    static const struct document_pool {
#define EXTENSION(text) char ROW(n)[sizeof text];
#include "guard/tables/documents.def"
#undef EXTENSION
    } pool = {
#define EXTENSION(text) text,
#include "guard/tables/documents.def"
#undef EXTENSION
    };
    static const uint16_t extensions[] = {
#define EXTENSION(text) PLACE(document_pool, ROW(n)),
#include "guard/tables/documents.def"
#undef EXTENSION
    };
    struct str extension = name_extension(name);
    return extension.n && NAME_KNOWN(pool, extensions, extension);
}

bool name_is_program(struct str name)
{
    static const struct program_pool {
#define EXTENSION(text) char ROW(n)[sizeof text];
#include "guard/tables/program_extensions.def"
#undef EXTENSION
    } pool = {
#define EXTENSION(text) text,
#include "guard/tables/program_extensions.def"
#undef EXTENSION
    };
    static const uint16_t extensions[] = {
#define EXTENSION(text) PLACE(program_pool, ROW(n)),
#include "guard/tables/program_extensions.def"
#undef EXTENSION
    };
    struct str extension = name_extension(name);
    /* python3.11 and tool-1.2 have a version, not an extension. */
    return extension.n == 0 || ascii_is_digit(extension.p[0]) ||
           NAME_KNOWN(pool, extensions, extension);
}

static bool is_folder(struct str path)
{
    if (str_ends(path, STR("\\")) || str_ends(path, STR("/")))
        return true;
    if (path.n == 2 && path.p[1] == ':')
        return true;
    struct str leaf = name_leaf(path);
    return str_eq(leaf, STR(".")) || str_eq(leaf, STR("..")) || str_eq(leaf, STR("~"));
}

void guard_open(struct guard *g, struct str who, struct word target, const struct word *args,
                size_t count, enum guard_shell from)
{
    struct word trimmed = target;
    trimmed.text = str_trim(target.text);
    if (guard_is_url(trimmed.text)) {
        guard_find(g, GUARD_LAUNCH_URL, trimmed, who,
                   "hands this URL to the shell, which opens it outside the sandbox", NULL);
        return;
    }
    if (guard_is_share(trimmed.text)) {
        guard_find(g, GUARD_LAUNCH_URL, trimmed, who,
                   "hands this, which lies on another machine, to the shell", NULL);
        return;
    }
    if (is_folder(trimmed.text)) {
        guard_find(g, GUARD_LAUNCH_OUTSIDE, trimmed, who,
                   "hands this folder to the desktop's own process, outside the sandbox",
                   "list it with dir or ls");
        return;
    }
    struct str leaf = name_leaf(trimmed.text);
    if (!name_is_program(leaf)) {
        guard_find(g, GUARD_LAUNCH_URL, trimmed, who,
                   "hands this document to the shell, which opens it outside the sandbox",
                   "name the program that should read it, or open it yourself");
        return;
    }
    struct word *words = ARENA_ARRAY(&g->arena, count + 1, struct word);
    if (!words) {
        guard_limit(g, target);
        return;
    }
    words[0] = trimmed;
    if (count)
        memcpy(words + 1, args, count * sizeof *words);
    guard_program(g, &(struct guard_call){.from = from, .words = words, .count = count + 1});
}
