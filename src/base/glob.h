/* SPDX-License-Identifier: Apache-2.0 */
/* Wildcard patterns of the shells that the guard reads. */
#ifndef CORDON_BASE_GLOB_H
#define CORDON_BASE_GLOB_H

#include "base/str.h"

enum glob_kind {
    GLOB_BASH,       /* * ? [a-z] [!a-z]; an unclosed [ stands for itself */
    GLOB_POWERSHELL, /* * ? [a-z], ignoring case; an unclosed [ matches nothing */
    GLOB_STARS       /* * alone, ignoring case */
};

/* Matches the whole text. Only the last star backtracks, and a match that takes 100,000 steps
   fails. */
bool glob_match(enum glob_kind kind, struct str pattern, struct str text);

#endif
