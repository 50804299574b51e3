/* SPDX-License-Identifier: Apache-2.0 */
/* Wildcard patterns, as the shells that are read have them. */
#ifndef CORDON_BASE_GLOB_H
#define CORDON_BASE_GLOB_H

#include "base/str.h"

enum glob_kind {
    GLOB_BASH,       /* * ? [a-z] [!a-z]; a [ that is not closed is itself */
    GLOB_POWERSHELL, /* * ? [a-z], in any case; a [ that is not closed matches nothing */
    GLOB_STARS       /* * alone, in any case */
};

/* The whole text. Only the last star is tried again, and a pattern that takes 100,000 steps matches
   nothing. */
bool glob_match(enum glob_kind kind, struct str pattern, struct str text);

#endif
