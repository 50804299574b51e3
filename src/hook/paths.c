/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files that a patch of apply_patch names:
 *   *** Add File: PATH | *** Update File: PATH | *** Delete File: PATH | *** Move to: PATH
 * Tools cut blanks off such a line before they look at it, so a line of context that reads like
 * one is taken for one: judged once too often, never too seldom.
 */
#include "hook/hook.h"

enum { MOST_PATHS = 4096 };

static const struct {
    struct str marker;
    const char *action;
} markers[] = {{STR("*** Add File:"), "write"},
               {STR("*** Update File:"), "write"},
               {STR("*** Delete File:"), "delete"},
               {STR("*** Move to:"), "write"}};

int hook_patch_paths(struct arena *arena, struct str patch, struct hook_path **out, size_t *count)
{
    struct hook_path *paths = NULL;
    size_t found = 0, capacity = 0;
    for (size_t pos = 0; pos < patch.n;) {
        size_t end = pos;
        while (end < patch.n && patch.p[end] != '\n' && patch.p[end] != '\r')
            end++;
        struct str line = str_trim(str_slice(patch, pos, end));
        pos = end + 1;
        for (size_t i = 0; i < sizeof markers / sizeof *markers; i++) {
            if (!str_startsi(line, markers[i].marker))
                continue;
            if (found == MOST_PATHS)
                return CORDON_E_TOOBIG;
            if (found == capacity) {
                void *grown = arena_grow(arena, paths, &capacity, sizeof *paths);
                if (!grown)
                    return CORDON_E_NOMEM;
                paths = grown;
            }
            paths[found++] = (struct hook_path){str_trim(str_from(line, markers[i].marker.n)),
                                                markers[i].action};
            break;
        }
    }
    if (found == 0)
        return CORDON_E_SYNTAX;
    *out = paths;
    *count = found;
    return 0;
}
