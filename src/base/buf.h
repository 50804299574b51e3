/* SPDX-License-Identifier: Apache-2.0 */
/* A growing buffer of bytes. Running out of memory is remembered, so callers check once, at the
 * end. */
#ifndef CORDON_BASE_BUF_H
#define CORDON_BASE_BUF_H

#include "base/str.h"

struct buf {
    char *p;
    size_t n, capacity;
    bool failed; /* an append was lost: the content must not be used */
};

void buf_free(struct buf *b);
#define auto_buf __attribute__((cleanup(buf_free)))

void buf_add(struct buf *b, struct str s);
void buf_char(struct buf *b, char c);
void buf_fill(struct buf *b, char c, size_t count);
PRINTF_LIKE(2, 3) void buf_fmt(struct buf *b, const char *format, ...);

/* Makes room for count more bytes without changing n; false (and failed) if there is none. */
bool buf_reserve(struct buf *b, size_t count);

/* Empties the buffer but keeps its memory; clears a failure. */
void buf_reset(struct buf *b);

static inline struct str buf_str(const struct buf *b)
{
    return (struct str){b->p, b->n};
}

/* The content as a NUL-terminated string, valid until the next append; "" after a failure. */
const char *buf_cstr(struct buf *b);

#endif
