/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256, for comparing with what another program has written down. */
#ifndef CORDON_BASE_SHA256_H
#define CORDON_BASE_SHA256_H

#include "base/buf.h"

enum { SHA256_SIZE = 32 };

void sha256(struct str s, unsigned char out[SHA256_SIZE]);

/* The same in 64 lower-case digits, appended. */
void sha256_hex(struct buf *out, struct str s);

#endif
