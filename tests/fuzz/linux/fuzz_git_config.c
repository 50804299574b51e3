/* SPDX-License-Identifier: Apache-2.0 */
/* Configs of git: one that names a folder of hooks is never harmless; one that only lacks branches,
   or names them differently, has no line that begins no branch and was not there before. */
#include <stdlib.h>

#include "policy/git_config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t lines_with(struct str text, struct str start)
{
    size_t count = 0;
    for (size_t at = 0, end; at < text.n; at = end + 1) {
        end = str_find_char(text, '\n', at);
        count += str_starts(str_slice(text, at, end), start);
    }
    return count;
}

static void adds(struct str old, struct str new)
{
    char key[GIT_CONFIG_KEY];
    static const struct str lines[] = {STR("\tsshCommand"), STR("\thooksPath"), STR("\texternal")};
    if (!git_config_only_adds(old, new, NULL, key))
        return;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (lines_with(new, lines[i]) != lines_with(old, lines[i]))
            abort();
}

static void ignore(void *context, enum git_config_named kind, struct str path)
{
    (void)context;
    if (kind > GIT_CONFIG_INCLUDE || !path.n)
        abort();
}

/* The text before the first 0xFF becomes the text behind it. */
static void compare(struct str text)
{
    size_t middle = str_find_char(text, (char)0xFF, 0);
    struct str old = str_slice(text, 0, middle), new = str_from(text, middle + 1);
    if (!git_config_keeps_all_but_branches(old, old))
        abort();
    adds(old, new);
    if (!git_config_keeps_all_but_branches(old, new))
        return;
    static const struct str starts[] = {STR("[core"), STR("\tsshCommand"), STR("[include"),
                                        STR("[branch \"")};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (lines_with(new, starts[i]) > lines_with(old, starts[i]))
            abort();
    if (lines_with(new, STR("[core")) != lines_with(old, STR("[core")))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char key[GIT_CONFIG_KEY];
    struct str text = {(const char *)data, size};
    if (git_config_is_harmless(text, NULL, key) && str_findi(text, STR("\nhookspath="), 0) < size)
        abort();
    compare(text);
    git_config_names(text, &(struct git_config_use){.named = ignore});
    return 0;
}
