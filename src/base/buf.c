/* SPDX-License-Identifier: Apache-2.0 */
/* Growing buffer: doubles, and stops growing for good at the first failure. */
#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void buf_free(struct buf *b)
{
    free(b->p);
    *b = (struct buf){0};
}

bool buf_reserve(struct buf *b, size_t count)
{
    if (b->failed)
        return false;
    if (count <= b->capacity - b->n)
        return true;
    size_t capacity = b->capacity ? b->capacity : 64;
    while (capacity - b->n < count) {
        if (capacity > SIZE_MAX / 4) {
            b->failed = true;
            return false;
        }
        capacity *= 2;
    }
    char *p = realloc(b->p, capacity);
    if (!p) {
        b->failed = true;
        return false;
    }
    b->p = p;
    b->capacity = capacity;
    return true;
}

void buf_add(struct buf *b, struct str s)
{
    if (s.n == 0 || !buf_reserve(b, s.n))
        return;
    str_copy(b->p + b->n, s);
    b->n += s.n;
}

void buf_char(struct buf *b, char c)
{
    if (!buf_reserve(b, 1))
        return;
    b->p[b->n++] = c;
}

void buf_fill(struct buf *b, char c, size_t count)
{
    if (count == 0 || !buf_reserve(b, count))
        return;
    memset(b->p + b->n, c, count);
    b->n += count;
}

void buf_fmt(struct buf *b, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (length < 0)
        b->failed = true;
    else if (buf_reserve(b, (size_t)length + 1)) {
        vsnprintf(b->p + b->n, (size_t)length + 1, format, again);
        b->n += (size_t)length;
    }
    va_end(again);
}

void buf_reset(struct buf *b)
{
    b->n = 0;
    b->failed = false;
}

const char *buf_cstr(struct buf *b)
{
    if (!buf_reserve(b, 1))
        return "";
    b->p[b->n] = '\0';
    return b->p;
}
