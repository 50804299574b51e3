/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-1, for the names that git gives to files. */
#ifndef CORDON_BASE_SHA1_H
#define CORDON_BASE_SHA1_H

#include "base/str.h"

enum { SHA1_SIZE = 20 };

void sha1(struct str s, unsigned char out[SHA1_SIZE]);

#endif
