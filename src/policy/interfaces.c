/* SPDX-License-Identifier: Apache-2.0 */
/* Finding an RPC interface by its id. */
#include "policy/interfaces.h"

#include <stddef.h>

#include "base/str.h"

static const struct {
    char id[INTERFACE_ID_TEXT + 1];
    uint8_t kind;
} rows[] = {
#define INTERFACE(id, kind, name, why) {id, INTERFACE_##kind},
#define INTERFACE_LOOK(procedure)
#include "policy/interfaces.def"
};

static const uint8_t looks[] = {
#define INTERFACE(id, kind, name, why)
#define INTERFACE_LOOK(procedure) procedure,
#include "policy/interfaces.def"
};

void interface_text(const unsigned char id[16], char out[INTERFACE_ID_TEXT + 1])
{
    /* The first three numbers of a GUID are little-endian. */
    static const unsigned char order[16] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            *out++ = '-';
        *out++ = digits[id[order[i]] >> 4];
        *out++ = digits[id[order[i]] & 15];
    }
    *out = '\0';
}

int interface_find(const unsigned char id[16])
{
    char text[INTERFACE_ID_TEXT + 1];
    interface_text(id, text);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (memcmp(rows[i].id, text, INTERFACE_ID_TEXT) == 0)
            return (int)i;
    return -1;
}

enum interface_kind interface_kind_of(int row)
{
    return (enum interface_kind)rows[row].kind;
}

bool interface_only_looks(uint32_t procedure)
{
    for (size_t i = 0; i < sizeof looks; i++)
        if (looks[i] == procedure)
            return true;
    return false;
}
