/* SPDX-License-Identifier: Apache-2.0 */
/* SipHash-2-4: a short hash with a key. Without the key nobody can make two texts with the same
   one. */
#ifndef CORDON_BASE_SIPHASH_H
#define CORDON_BASE_SIPHASH_H

#include "base/str.h"

uint64_t siphash(const uint64_t key[2], struct str s);

#endif
