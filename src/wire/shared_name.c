/* Shared names become the run's own; see shared_name.h. */
#include "wire/shared_name.h"

#include <stdbool.h>
#include <string.h>

static bool begins(const uint16_t *name, size_t units, const char *with)
{
    size_t i = 0;
    for (; with[i] && i < units; i++) {
        uint16_t c = name[i] >= 'A' && name[i] <= 'Z' ? (uint16_t)(name[i] + 32) : name[i];
        if (c != (unsigned char)with[i])
            return false;
    }
    return !with[i];
}

size_t shared_name_of_run(const uint16_t *name, size_t units, uint32_t run, uint16_t *out,
                          size_t room)
{
    size_t last = units;
    while (last > 0 && name[last - 1] != '\\')
        last--;
    if (!begins(name + last, units - last, "msys-") && !begins(name + last, units - last, "cygwin"))
        return 0;
    if (units > room || room - units < SHARED_NAME_TAG)
        return 0;
    memcpy(out, name, 2 * units);
    out[units] = '-';
    for (unsigned i = 1; i < SHARED_NAME_TAG; i++)
        out[units + i] = (uint16_t) "0123456789abcdef"[run >> (32 - 4 * i) & 15];
    return units + SHARED_NAME_TAG;
}
