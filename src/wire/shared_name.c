/* SPDX-License-Identifier: Apache-2.0 */
/* See shared_name.h. */
#include "wire/shared_name.h"

static bool begins(const uint16_t *name, size_t units, const char *with, size_t *end)
{
    size_t i = 0;
    for (; with[i] && i < units; i++) {
        uint16_t c = name[i] >= 'A' && name[i] <= 'Z' ? (uint16_t)(name[i] + 32) : name[i];
        if (c != (unsigned char)with[i])
            return false;
    }
    *end = i;
    return !with[i];
}

enum shared_name shared_name_read(const uint16_t *name, size_t units, bool relative, size_t *start)
{
    size_t at, more, ignored;
    bool linked = false; /* of a session: only msys' and Cygwin's */
    if (relative) {
        if (!begins(name, units, "global\\", &at))
            return SHARED_NAME_NONE;
    } else if (!begins(name, units, "\\basenamedobjects\\", &at)) {
        bool links = begins(name, units, "\\sessions\\bnolinks\\", &at);
        linked = links || begins(name, units, "\\sessions\\", &at);
        while (linked && at < units && name[at] != '\\')
            at++;
        if (!linked || at >= units)
            return SHARED_NAME_NONE;
        if (!links && !begins(name + at, units - at, "\\basenamedobjects\\", &more))
            return SHARED_NAME_NONE;
        at += links ? 1 : more;
    }
    if (at >= units)
        return SHARED_NAME_NONE;
    *start = at;
    if (begins(name + at, units - at, "msys-", &ignored) ||
        begins(name + at, units - at, "cygwin", &ignored))
        return SHARED_NAME_ALWAYS;
    return linked ? SHARED_NAME_NONE : SHARED_NAME_GLOBAL;
}
