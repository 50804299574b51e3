/* SPDX-License-Identifier: Apache-2.0 */
/* Counted strings: a pointer and a length, never owned, NULs allowed. */
#ifndef CORDON_BASE_STR_H
#define CORDON_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Checks arguments by the C standard's rules; mingw would use those of the old CRT. */
#if defined(__MINGW32__) && !defined(__clang__)
#define PRINTF_LIKE(format_at, args_at) __attribute__((format(gnu_printf, format_at, args_at)))
#else
#define PRINTF_LIKE(format_at, args_at) __attribute__((format(printf, format_at, args_at)))
#endif

struct str {
    const char *p;
    size_t n;
};

#define STR(literal) ((struct str){(literal), sizeof(literal) - 1})
#define STR_NONE ((struct str){NULL, 0})
/* For printf's "%.*s". */
#define STR_ARG(s) (int)(s).n, (s).p ? (s).p : ""

static inline struct str str_of(const char *cstr)
{
    return (struct str){cstr, cstr ? strlen(cstr) : 0};
}

/* At most so many bytes, cut between two characters. */
struct str str_cut(struct str s, size_t most);
/* Bytes [from, to); both are cut to the string's length. */
static inline struct str str_slice(struct str s, size_t from, size_t to)
{
    if (to > s.n)
        to = s.n;
    if (from > to)
        from = to;
    return (struct str){s.p ? s.p + from : NULL, to - from};
}

static inline struct str str_from(struct str s, size_t from)
{
    return str_slice(s, from, s.n);
}

static inline char ascii_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

static inline bool ascii_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Whether it equals one of the given strings. */
static inline bool ascii_is_in(char c, const char *list)
{
    for (; *list; list++)
        if (*list == c)
            return true;
    return false;
}

static inline bool ascii_is_alpha(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static inline bool ascii_is_alnum(char c)
{
    return ascii_is_alpha(c) || ascii_is_digit(c);
}

/* 0 to 15, or -1. */
static inline int ascii_hex(char c)
{
    if (ascii_is_digit(c))
        return c - '0';
    c = ascii_lower(c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/*
 * The i-functions ignore the case of ASCII letters only. Those that end in _parts take a string as
 * its pointer and its length: the convention of Windows passes a structure of this size in memory,
 * which makes every call twice as long.
 */
bool str_eq_parts(const char *a, size_t a_n, const char *b, size_t b_n);
bool str_eqi_parts(const char *a, size_t a_n, const char *b, size_t b_n);
bool str_starts_parts(const char *s, size_t n, const char *prefix, size_t prefix_n);
bool str_startsi_parts(const char *s, size_t n, const char *prefix, size_t prefix_n);
bool str_ends_parts(const char *s, size_t n, const char *suffix, size_t suffix_n);
bool str_endsi_parts(const char *s, size_t n, const char *suffix, size_t suffix_n);
size_t str_find_char_parts(const char *s, size_t n, char c, size_t from);
size_t str_find_parts(const char *s, size_t n, const char *needle, size_t needle_n, size_t from);
size_t str_findi_parts(const char *s, size_t n, const char *needle, size_t needle_n, size_t from);

/* For Windows the size counts, elsewhere the speed: the readers compare at every character. */
static inline bool str_eq(struct str a, struct str b)
{
#ifdef _WIN32
    return str_eq_parts(a.p, a.n, b.p, b.n);
#else
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
#endif
}

static inline bool str_eqi(struct str a, struct str b)
{
    return str_eqi_parts(a.p, a.n, b.p, b.n);
}

/* The same with a C string. */
bool str_is_parts(const char *a, size_t a_n, const char *b);
static inline bool str_is(struct str a, const char *b)
{
    return str_is_parts(a.p, a.n, b);
}

int str_cmp(struct str a, struct str b);
int str_cmpi(struct str a, struct str b);

static inline bool str_starts(struct str s, struct str prefix)
{
    return str_starts_parts(s.p, s.n, prefix.p, prefix.n);
}

static inline bool str_startsi(struct str s, struct str prefix)
{
    return str_startsi_parts(s.p, s.n, prefix.p, prefix.n);
}

static inline bool str_ends(struct str s, struct str suffix)
{
    return str_ends_parts(s.p, s.n, suffix.p, suffix.n);
}

static inline bool str_endsi(struct str s, struct str suffix)
{
    return str_endsi_parts(s.p, s.n, suffix.p, suffix.n);
}

/* Index of the first match at or after from, or s.n. */
static inline size_t str_find_char(struct str s, char c, size_t from)
{
    return str_find_char_parts(s.p, s.n, c, from);
}

static inline size_t str_find(struct str s, struct str needle, size_t from)
{
    return str_find_parts(s.p, s.n, needle.p, needle.n, from);
}

static inline size_t str_findi(struct str s, struct str needle, size_t from)
{
    return str_findi_parts(s.p, s.n, needle.p, needle.n, from);
}

static inline bool str_has_char(struct str s, char c)
{
    return str_find_char_parts(s.p, s.n, c, 0) < s.n;
}

/* Without ASCII blanks, tabs, CRs and LFs at both ends. */
struct str str_trim(struct str s);

/* Copies its bytes to a place with enough room. For the few bytes that are usual, a call costs more
   than the copy. */
static inline void str_copy(char *to, struct str s)
{
    enum { FEW = 16 };
    if (s.n > FEW)
        memcpy(to, s.p, s.n);
    else
        for (size_t i = 0; i < s.n; i++)
            to[i] = s.p[i];
}

/* Formats a number in decimal at the end of the given room. */
enum { STR_NUMBER_ROOM = 24 };
struct str str_of_number(long long number, char *room);

/* Number of single-character edits between a and b, at most max + 1; for "did you mean". */
size_t str_distance(struct str a, struct str b, size_t max);

#endif
