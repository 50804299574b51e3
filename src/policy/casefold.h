/* SPDX-License-Identifier: Apache-2.0 */
/* Case folding by Windows' rule: one UTF-16 unit to one, no locale, no length rules. */
#ifndef CORDON_POLICY_CASEFOLD_H
#define CORDON_POLICY_CASEFOLD_H

#include "policy/path.h"

/*
 * Sources differ on some characters: Unicode upper-cases a dotless i and a long s to ASCII letters,
 * Windows does not. An allowing rule must not be fooled by a generous reading, nor a denying rule
 * by a narrow one.
 */
enum casefold {
    FOLD_NARROW = 0, /* for allowing rules: as NTFS does, nothing becomes ASCII */
    FOLD_WIDE        /* for denying rules: equal under any reading */
};

uint16_t fold_unit(uint16_t unit, enum casefold fold);

/* Folds WTF-8 into out; returns the length, or SIZE_MAX if capacity is too small. Malformed bytes
   are copied, and in the posix dialect everything is. */
size_t fold_text(enum path_dialect dialect, enum casefold fold, struct str s, char *out,
                 size_t capacity);

bool fold_equal(enum path_dialect dialect, enum casefold fold, struct str a, struct str b);

#endif
