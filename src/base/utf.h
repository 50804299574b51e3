/* SPDX-License-Identifier: Apache-2.0 */
/*
 * WTF-8 and UTF-16, both ways, without loss: unpaired surrogates and NULs survive.
 *
 * WTF-8 here is UTF-8 plus three-byte forms of unpaired surrogates. A surrogate pair spelled as two
 * three-byte forms is malformed, so every sequence of UTF-16 units has exactly one spelling.
 */
#ifndef CORDON_BASE_UTF_H
#define CORDON_BASE_UTF_H

#include "base/buf.h"

/* Reads one code point (a surrogate if unpaired) at *pos and advances *pos past it. A malformed
   byte gives -1 and advances *pos by one. *pos must be below s.n. */
int32_t utf_decode(struct str s, size_t *pos);

/* Writes the (generalised) UTF-8 form of a code point up to U+10FFFF; returns 1 to 4. */
size_t utf_encode(uint32_t code, char out[4]);

bool utf_valid(struct str s);

/* Appends the WTF-8 form of count units. */
void utf_from16(struct buf *out, const uint16_t *units, size_t count);

/* Number of UTF-16 units that s needs, or CORDON_E_ENCODING. */
int utf_length16(struct str s, size_t *count);

/* Converts s; CORDON_E_ENCODING if malformed, CORDON_E_TOOBIG if capacity is too small. */
int utf_to16(struct str s, uint16_t *out, size_t capacity, size_t *count);

#endif
