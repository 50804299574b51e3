/* SPDX-License-Identifier: Apache-2.0 */
/*
 * printf and its family, for cordon.exe alone: these functions take the place of those that MinGW
 * would link, which are ten times as large because they know every way to write a floating-point
 * number. Known here: d i u x X o c s p % and f, with flags, width, precision and lengths. Another
 * conversion is an error (-1), never a wrong text.
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

int __mingw_vsnprintf(char *room, size_t size, const char *format, va_list args);
int __mingw_vfprintf(FILE *file, const char *format, va_list args);
int __mingw_vsnwprintf(wchar_t *room, size_t size, const wchar_t *format, va_list args);

/* Where the text goes: memory, narrow or wide, of which the last unit stays free, or a file by
   pieces. */
struct sink {
    char *room;
    wchar_t *wide;
    size_t size, n, total;
    FILE *file;
    bool failed;
};

struct spec {
    bool left, zero, plus, blank;
    int width, precision; /* precision -1: none */
    char length;          /* 'l': long, 'q': 64 bits, 'h', 'c': char; 0: int */
    char letter;
};

static void put(struct sink *s, wchar_t c)
{
    s->total++;
    if (s->file && s->n == s->size) {
        s->failed = s->failed || fwrite(s->room, 1, s->n, s->file) != s->n;
        s->n = 0;
    }
    if (s->n == s->size)
        return;
    if (s->wide)
        s->wide[s->n++] = c;
    else
        s->room[s->n++] = (char)c;
}

static void fill(struct sink *s, char c, int count)
{
    while (count-- > 0)
        put(s, c);
}

/* text with a sign before it, or none; a number is padded with zeros after the sign. */
static void put_padded(struct sink *s, const struct spec *spec, char sign, const char *text,
                       size_t n)
{
    int missing = n + (sign != 0) < (size_t)spec->width ? spec->width - (int)n - (sign != 0) : 0;
    if (!spec->left && !spec->zero)
        fill(s, ' ', missing);
    if (sign)
        put(s, sign);
    if (!spec->left && spec->zero)
        fill(s, '0', missing);
    for (size_t i = 0; i < n; i++)
        put(s, (unsigned char)text[i]);
    if (spec->left)
        fill(s, ' ', missing);
}

static char sign_of(const struct spec *spec, bool negative)
{
    return negative ? '-' : spec->plus ? '+' : spec->blank ? ' ' : 0;
}

/* Digits to the end of a room; returns the first. */
static char *digits(char *end, uint64_t n, unsigned base, bool upper)
{
    const char *letters = upper ? "0123456789ABCDEF" : "0123456789abcdef";
    do
        *--end = letters[n % base];
    while (n /= base);
    return end;
}

static void put_number(struct sink *s, struct spec *spec, uint64_t n, char sign)
{
    enum { ROOM = 96 };
    char room[ROOM], *end = room + ROOM;
    unsigned base = spec->letter == 'x' || spec->letter == 'X' || spec->letter == 'p' ? 16
                    : spec->letter == 'o'                                             ? 8
                                                                                      : 10;
    char *p = n || spec->precision ? digits(end, n, base, spec->letter == 'X') : end;
    while (spec->precision > end - p && p > room)
        *--p = '0';
    spec->zero = spec->zero && spec->precision < 0;
    put_padded(s, spec, sign, p, (size_t)(end - p));
}

static uint64_t unsigned_of(const struct spec *spec, va_list *args)
{
    switch (spec->length) {
    case 'q': return va_arg(*args, uint64_t);
    case 'l': return va_arg(*args, unsigned long);
    case 'h': return (unsigned short)va_arg(*args, unsigned);
    case 'c': return (unsigned char)va_arg(*args, unsigned);
    default: return va_arg(*args, unsigned);
    }
}

static int64_t signed_of(const struct spec *spec, va_list *args)
{
    switch (spec->length) {
    case 'q': return va_arg(*args, int64_t);
    case 'l': return va_arg(*args, long);
    case 'h': return (short)va_arg(*args, int);
    case 'c': return (signed char)va_arg(*args, int);
    default: return va_arg(*args, int);
    }
}

/* Up to nine places, below 2^63; false beyond. */
static bool put_fixed(struct sink *s, const struct spec *spec, double value)
{
    enum { ROOM = 64 };
    char room[ROOM], *end = room + ROOM, *p;
    int places = spec->precision < 0 ? 6 : spec->precision;
    uint64_t scale = 1;
    bool negative = value < 0;
    value = negative ? -value : value;
    if (!(value < 9e18) || places > 9)
        return false;
    for (int i = 0; i < places; i++)
        scale *= 10;
    uint64_t whole = (uint64_t)value;
    uint64_t part = (uint64_t)((value - (double)whole) * (double)scale + .5);
    whole += part >= scale;
    part -= part >= scale ? scale : 0;
    p = end;
    if (places) {
        p = digits(end, part, 10, false);
        while (end - p < places)
            *--p = '0';
        *--p = '.';
    }
    p = digits(p, whole, 10, false);
    put_padded(s, spec, sign_of(spec, negative), p, (size_t)(end - p));
    return true;
}

static int number_in(const char **p, va_list *args)
{
    int n = 0;
    if (**p == '*') {
        ++*p;
        return va_arg(*args, int);
    }
    for (; **p >= '0' && **p <= '9'; ++*p)
        n = n < 100000 ? n * 10 + (**p - '0') : n;
    return n;
}

static const char *read_spec(const char *p, struct spec *spec, va_list *args)
{
    *spec = (struct spec){.precision = -1};
    for (;; p++) {
        if (*p == '-')
            spec->left = true;
        else if (*p == '0')
            spec->zero = true;
        else if (*p == '+')
            spec->plus = true;
        else if (*p == ' ')
            spec->blank = true;
        else
            break;
    }
    spec->width = number_in(&p, args);
    if (spec->width < 0) {
        spec->left = true;
        spec->width = -spec->width;
    }
    if (*p == '.') {
        p++;
        spec->precision = number_in(&p, args);
    }
    if (strncmp(p, "I64", 3) == 0) {
        spec->length = 'q';
        p += 3;
    }
    for (; *p == 'l' || *p == 'h' || *p == 'z' || *p == 't' || *p == 'j'; p++) {
        char twice = *p == 'l' ? 'q' : 'c';
        spec->length = *p == 'z' || *p == 't' || *p == 'j' ? 'q' : spec->length == *p ? twice : *p;
    }
    spec->letter = *p;
    return *p ? p + 1 : p;
}

/* Wide text goes into wide text only, and unpadded. */
static bool put_wide(struct sink *s, const struct spec *spec, const wchar_t *text)
{
    if (!s->wide || !text || spec->width || spec->precision >= 0)
        return false;
    while (*text)
        put(s, *text++);
    return true;
}

static bool put_spec(struct sink *s, struct spec *spec, va_list *args)
{
    char c;
    switch (spec->letter) {
    case '%': put(s, '%'); return true;
    case 'c':
        c = (char)va_arg(*args, int);
        put_padded(s, spec, 0, &c, 1);
        return true;
    case 's': {
        if (spec->length == 'l')
            return put_wide(s, spec, va_arg(*args, const wchar_t *));
        const char *text = va_arg(*args, const char *);
        text = text ? text : "(null)";
        size_t most = spec->precision < 0 ? SIZE_MAX : (size_t)spec->precision, n = 0;
        while (n < most && text[n])
            n++;
        spec->zero = false;
        put_padded(s, spec, 0, text, n);
        return true;
    }
    case 'd':
    case 'i': {
        int64_t n = signed_of(spec, args);
        put_number(s, spec, n < 0 ? 0 - (uint64_t)n : (uint64_t)n, sign_of(spec, n < 0));
        return true;
    }
    case 'p':
        spec->length = 'q';
        spec->precision = 16;
        __attribute__((fallthrough));
    case 'u':
    case 'x':
    case 'X':
    case 'o': put_number(s, spec, unsigned_of(spec, args), 0); return true;
    case 'f': return put_fixed(s, spec, va_arg(*args, double));
    default: return false;
    }
}

static bool write_all(struct sink *s, const char *format, va_list args)
{
    va_list rest;
    bool good = true;
    va_copy(rest, args);
    for (const char *p = format; *p && good;) {
        struct spec spec;
        if (*p != '%') {
            put(s, *p++);
            continue;
        }
        p = read_spec(p + 1, &spec, &rest);
        good = put_spec(s, &spec, &rest);
    }
    va_end(rest);
    return good && s->total < INT32_MAX;
}

int __mingw_vsnprintf(char *room, size_t size, const char *format, va_list args)
{
    struct sink s = {.room = room, .size = size ? size - 1 : 0};
    bool good = write_all(&s, format, args);
    if (size)
        room[s.n] = '\0';
    return good ? (int)s.total : -1;
}

int __mingw_vfprintf(FILE *file, const char *format, va_list args)
{
    char room[512];
    struct sink s = {.room = room, .size = sizeof room, .file = file};
    bool good = write_all(&s, format, args);
    s.failed = s.failed || fwrite(room, 1, s.n, file) != s.n;
    return good && !s.failed ? (int)s.total : -1;
}

/* The format is plain ASCII; %hs is narrow text, a byte a character. Too little room is an error,
   as it is for swprintf. */
int __mingw_vsnwprintf(wchar_t *room, size_t size, const wchar_t *format, va_list args)
{
    char narrow[256];
    size_t n = 0;
    struct sink s = {.wide = room, .size = size ? size - 1 : 0};
    for (; format[n] && n < sizeof narrow - 1 && format[n] < 0x80; n++)
        narrow[n] = (char)format[n];
    narrow[n] = '\0';
    bool good = size && !format[n] && write_all(&s, narrow, args) && s.total < size;
    if (size)
        room[s.n] = L'\0';
    return good ? (int)s.total : -1;
}
