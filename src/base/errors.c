/* SPDX-License-Identifier: Apache-2.0 */
/* The words for the codes of cordon.h. */
#include "cordon.h"

const char *cordon_strerror(int error)
{
    switch (error) {
    case CORDON_OK: return "no error";
#define ERROR_TEXT(name, value, text) \
    case name: return text;
        CORDON_ERRORS(ERROR_TEXT)
#undef ERROR_TEXT
    default: return "unknown error";
    }
}
